"""Clients that are killed, and many at once: nothing lost, nothing twice, the same questions.

`make soak` runs the same with ASKMEANS_SOAK=1: 200 kills, and 8 clients of 100 answers.
"""

import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import clients
from last_bits import same_but_for_rounding

from askmeans import sessions

LONG = bool(os.environ.get("ASKMEANS_SOAK"))
CLIENTS = Path(clients.__file__)


def run(*arguments):
    """What the clients report."""
    done = subprocess.run(
        [sys.executable, CLIENTS, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=3600,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def answers_in(path):
    """Question and value of every answer in the log, as it is on disk."""
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT question, value FROM askmeans_events WHERE kind='answer'")
        found = rows.fetchall()
    connection.close()
    return found


def test_a_client_killed_at_random_moments_loses_nothing_and_repeats_nothing(tmp_path):
    kills = 200 if LONG else 20
    report = run("kill", tmp_path, kills, 0)
    assert report["killed"] == kills  # none had finished before
    told = answers_in(report["path"])
    assert len(told) > report["most"]  # so that none could finish, however busy the machine
    acknowledged = [line.split() for line in Path(report["journal"]).read_text().splitlines()]
    assert {(int(q), float(v)) for q, v in acknowledged} <= set(told)
    assert max(Counter(question for question, _ in told).values()) == 1
    # An uninterrupted run, by one process, asks exactly the same.
    folder = tmp_path / "whole"
    folder.mkdir()
    path = clients.make(folder, report["n"], report["n"] // 2)
    clients.answer_until_killed(path, folder / "journal")
    assert told == answers_in(path)
    with sessions.open(report["path"]) as broken, sessions.open(path) as whole:
        assert broken._store.questions(1) == whole._store.questions(1)
        same_but_for_rounding(broken.result().memberships, whole.result().memberships)
        assert broken.status().state == whole.status().state == "all done"


def test_many_clients_at_once_make_no_error_and_never_hold_the_same_question(tmp_path):
    clients, each = 8, 100 if LONG else 20
    report = run("crowd", tmp_path, clients, each)
    assert report["failed"] == 0
    leased = [question for questions in report["leased"] for question in questions]
    assert len(leased) == len(set(leased)) == clients * each
    assert report["late"] == 0
    told = answers_in(report["path"])
    assert sorted(question for question, _ in told) == sorted(leased)
