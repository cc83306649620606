"""Clients that are killed, and many at once: nothing lost, nothing twice, the same questions.

`make soak` runs the same with ASKMEANS_SOAK=1: 200 kills, and 8 clients of 100 answers.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import clients
import pytest
from last_bits import same_but_for_rounding
from soaking import in_soak

from askmeans import sessions
from askmeans.sessions.events import Answer
from askmeans.sessions.store import open_store

LONG = bool(os.environ.get("ASKMEANS_SOAK"))
CLIENTS = Path(clients.__file__)
STORES = pytest.mark.parametrize("database_at", ["sqlite", in_soak("postgresql")], indirect=True)


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


def answers_in(database):
    """Question and value of every answer in the log, as it is on disk."""
    store = open_store(database)
    found = [(e.question, e.value) for e in store.events(1) if isinstance(e, Answer)]
    store.close()
    return found


@STORES
def test_a_client_killed_at_random_moments_loses_nothing_and_repeats_nothing(tmp_path, database_at):
    kills = 200 if LONG else 3
    broken, whole = database_at("broken"), database_at("whole")
    report = run("kill", tmp_path, broken, kills, 0)
    assert report["killed"] == kills  # none had finished before
    told = answers_in(broken)
    assert len(told) > report["most"]  # so that none could finish, however busy the machine
    acknowledged = [line.split() for line in Path(report["journal"]).read_text().splitlines()]
    assert {(int(q), float(v)) for q, v in acknowledged} <= set(told)
    assert max(Counter(question for question, _ in told).values()) == 1
    # An uninterrupted run, by one process, asks exactly the same.
    clients.make(whole, report["n"], report["n"])
    clients.answer_until_killed(whole, tmp_path / "whole journal")
    assert told == answers_in(whole)
    with sessions.open(broken) as one, sessions.open(whole) as other:
        assert one.runtime.store.questions(1) == other.runtime.store.questions(1)
        same_but_for_rounding(one.result().memberships, other.result().memberships)
        assert one.status().state == other.status().state == "budget spent"


@STORES
def test_many_clients_at_once_make_no_error_and_never_hold_the_same_question(tmp_path, database_at):
    clients, each = (8, 100) if LONG else (3, 10)
    database = database_at("crowd")
    report = run("crowd", tmp_path, database, clients, each)
    assert report["failed"] == 0
    leased = [question for questions in report["leased"] for question in questions]
    assert len(leased) == len(set(leased)) == clients * each
    assert report["late"] == 0
    told = answers_in(database)
    assert sorted(question for question, _ in told) == sorted(leased)
