"""Clients of a session in processes of their own, forked from one that has loaded everything.

Run as a script: ``python clients.py kill FOLDER DB KILLS SEED`` and ``python clients.py crowd
FOLDER DB CLIENTS EACH`` print what happened as JSON; the session is made in DB, a path or URL.
Tests run them short, `make soak` long.
"""

import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path

import numpy as np

from askmeans import sessions

LARGE = 2400  # items, of which as many questions are asked
LIFE = 10  # answers, then a client waits to be killed: none finishes before all have lived


def make(database: str | Path, n: int, budget: int) -> None:
    """A session about three blobs."""
    rng = np.random.default_rng(0)
    X = 4.0 * np.eye(3)[rng.integers(3, size=n)] + rng.normal(size=(n, 3))
    sessions.create(
        database, X, n_clusters=3, ask="membership", budget=budget, random_state=0,
        cluster_names=["a", "b", "c"],
    ).close()  # fmt: skip


def value(question: sessions.Question) -> float:
    """What every client answers to a question."""
    assert question.cluster is not None
    return ((question.items[0] * 7 + question.cluster * 3) % 11) / 25.0


def answer_until_killed(database: str | Path, journal: Path, at_most: float = float("inf")) -> None:
    """Ask and tell; every answer that was acknowledged is written down, at once."""
    with sessions.open(database) as session:
        file = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        given = 0
        while questions := session.ask():
            (question,) = questions
            told = value(question)
            session.tell(question.id, told, key=f"q{question.id}")
            os.write(file, f"{question.id} {told}\n".encode())
            given += 1
            if given == at_most:
                signal.pause()


def forked(work: object, *arguments: object) -> int:
    """Do work in a child; its process id."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work(*arguments)  # type: ignore[operator]  # a function of this file
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return child


def kill(folder: Path, database: str, kills: int, seed: int) -> dict[str, object]:
    """Kill a client so many times at random moments, then let one finish."""
    n = LARGE if kills > 50 else 150
    make(database, n, n)
    journal = folder / "journal"
    with sessions.open(database) as session:
        session.result()  # compiles what clients will use
    rng = np.random.default_rng(seed)
    lives = []
    for _ in range(kills):
        before = journal.stat().st_size if journal.exists() else 0
        child = forked(answer_until_killed, database, journal, LIFE)
        # At random after the first answer of this life as a rule, and now and then before it.
        patience = time.monotonic() + 20.0
        early = rng.random() < 0.2
        while not early and time.monotonic() < patience:
            if journal.exists() and journal.stat().st_size > before:
                break
            time.sleep(0.001)
        time.sleep(rng.uniform(0.0, 0.05))
        os.kill(child, signal.SIGKILL)
        lives.append(os.waitpid(child, 0)[1])
    os.waitpid(forked(answer_until_killed, database, journal), 0)
    killed = sum(os.WIFSIGNALED(status) for status in lives)
    return {"journal": str(journal), "killed": killed, "n": n, "most": kills * LIFE}


def answer_so_many(database: str, name: str, count: int, report: Path) -> None:
    """Ask and tell so many times, and write down what was leased and how long it took."""
    rows = []
    with sessions.open(database) as session:
        while len(rows) < count:
            began = time.perf_counter()
            questions = session.ask(annotator=name)
            if not questions:  # the open ones are with the others
                time.sleep(0.005)
                continue
            asked = time.perf_counter()
            (question,) = questions
            receipt = session.tell(question.id, value(question), annotator=name)
            told = time.perf_counter()
            rows.append([question.id, receipt.late, asked - began, told - asked])
    report.write_text(json.dumps(rows))


def crowd(folder: Path, database: str, clients: int, each: int) -> dict[str, object]:
    """So many clients at once, each asking and telling so many times."""
    make(database, 4 * clients * each, 2 * clients * each)
    with sessions.open(database) as session:
        session.result()
    began = time.perf_counter()
    children = [
        forked(answer_so_many, database, f"client {i}", each, folder / f"report-{i}")
        for i in range(clients)
    ]
    statuses = [os.waitpid(child, 0)[1] for child in children]
    seconds = time.perf_counter() - began
    reports = [json.loads((folder / f"report-{i}").read_text()) for i in range(clients)]
    return {
        "failed": sum(status != 0 for status in statuses), "seconds": seconds,
        "leased": [[row[0] for row in rows] for rows in reports],
        "late": sum(row[1] for rows in reports for row in rows),
        "asks": [row[2] for rows in reports for row in rows],
        "tells": [row[3] for rows in reports for row in rows],
    }  # fmt: skip


if __name__ == "__main__":
    kind, place, database, *numbers = sys.argv[1:]
    report = {"kill": kill, "crowd": crowd}[kind](Path(place), database, *map(int, numbers))
    json.dump(report, sys.stdout)
