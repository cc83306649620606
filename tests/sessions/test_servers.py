"""Two servers and four clients for a minute, under kills and removals: `make soak` runs it."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import servers

SERVERS = Path(servers.__file__)
SECONDS = 60


@pytest.mark.soak
def test_every_answer_that_was_confirmed_is_in_the_database_that_was_there(tmp_path):
    done = subprocess.run(
        [sys.executable, SERVERS, tmp_path, str(SECONDS), "0"],
        capture_output=True,
        text=True,
        check=False,
        timeout=20 * SECONDS,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    kept = []
    for path in report["files"]:
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            rows = connection.execute("SELECT key FROM askmeans_events WHERE kind = 'answer'")
            kept.append({key for (key,) in rows})
    lost = []
    for key, sent, confirmed in report["told"]:
        there = {
            number
            for number, start, end in report["stays"]
            if start <= float(confirmed) and float(sent) <= end
        }
        if not any(key in kept[number] for number in there):
            lost.append((key, sent, confirmed, [n for n, keys in enumerate(kept) if key in keys]))
    assert lost == []
    assert len(report["told"]) > SECONDS
    assert set(report["happened"]) == {"kill server", "kill client", "put back", "replace"}
    assert report["refused"]  # some came while the database was not there
