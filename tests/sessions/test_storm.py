"""Kills, crashes and revocations under load, and a checker that reads the log in the database."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import storm
from soaking import in_soak

SCRIPT = Path(storm.__file__)


@pytest.mark.parametrize(
    ("store", "acts"),
    [
        ("sqlite", 4),
        in_soak("sqlite", 40),
        in_soak("postgresql", 4),
        in_soak("postgresql", 40),
    ],
)
def test_every_confirmed_move_is_kept_once_and_none_after_a_revocation(
    store, acts, tmp_path, request
):
    place, more = tmp_path / "s.db", []
    if store == "postgresql":
        place = request.getfixturevalue("postgres_url")
        more = [str(request.getfixturevalue("postgres").folder)]
    done = subprocess.run(
        [sys.executable, SCRIPT, tmp_path, place, str(acts), "0", *more],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout)
    assert report["wrong"] == []
    assert report["happened"].keys() == {"kill", "revoke"} | ({"crash"} if more else set())
    moves = Counter(line["move"] for line in report["lines"] if line.get("status") == 200)
    assert sum(moves.values()) > 5 * acts
    assert moves["answer"] > acts
    if acts > 4:
        assert moves.keys() >= {"answer", "unsure", "skip", "undo", "rename", "pin", "invite"}


@pytest.fixture
def log(monkeypatch):
    """Let the checker see a log, and say what it finds wrong."""

    def seen(events, lines, invites=((1, "Ada", None), (2, "Bo", None))):
        monkeypatch.setattr(storm, "raw_log", lambda _: (events, list(invites)))
        return storm.check("", lines)

    return seen


ANSWER = (1, "answer", "a", "Ada", 7, None, None, "[0.0, 1.0, 0.0]")
LINE = {"who": "Ada", "move": "answer", "key": "a", "question": 7, "value": 1, "status": 200,
        "sent": 1.0}  # fmt: skip
RENAME = (2, "rename", "x", "Bo", None, None, 0, "new")
NAMED = {"who": "Bo", "move": "rename", "name": "new", "status": 200, "sent": 1.0}
REVOKE = (3, "revoke", "r", "me", None, None, 1, None)


def test_the_checker_finds_a_good_log_good(log):
    assert log([ANSWER, RENAME, REVOKE], [LINE, NAMED, {"revoked": "Ada", "at": 2.0}]) == []


@pytest.mark.parametrize(("events", "lines", "says"), [
    ([], [LINE], "is not there"),
    ([(*ANSWER[:4], 8, *ANSWER[5:])], [LINE], "is not there"),
    ([(*ANSWER[:7], "[1.0, 0.0, 0.0]")], [LINE], "is not there"),
    ([ANSWER, (2, *ANSWER[1:])], [LINE], "2 times"),
    ([ANSWER, (2, "answer", "b", *ANSWER[3:])], [LINE], "once more"),
    ([(0, *REVOKE[1:]), ANSWER], [LINE], "which revoked its author"),
    ([ANSWER], [LINE, {"revoked": "Ada", "at": 0.5}], "sent after a revocation"),
    ([ANSWER], [LINE | {"status": 403, "text": "This was not asked of you."}], "was asked"),
    ([ANSWER], [NAMED], "0 times"),
    ([RENAME, (3, *RENAME[1:2], "y", *RENAME[3:])], [NAMED], "2 times"),
    ([(1, "undo", "u", "Ada", 7, None, 5, "[]")], [], "which does not stand"),
])  # fmt: skip
def test_the_checker_finds_what_is_wrong(log, events, lines, says):
    assert any(says in sentence for sentence in log(events, lines))
