"""Sessions: answers per second of clients and of a team, resuming, how long a question takes.

The clients are those of tests/helpers/clients.py, in processes of their own. With --crowds only
those are measured, in a file and in PostgreSQL.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans import FuzzyKMeans, Stratified, oracles, run, sessions
from askmeans.queries import MembershipQueries

CLIENTS = Path(__file__).parent.parent / "tests" / "helpers" / "clients.py"
N, D, K = 100_000, 10, 4
ROUNDS = 5
THINKING = 0.2  # seconds over a question


def crowds(clients: int, each: int) -> None:
    """Print how many answers clients give at once, in a file and in PostgreSQL.

    PostgreSQL runs on this machine, in a scratch folder, and waits for the disk as SQLite does.
    """
    with tempfile.TemporaryDirectory() as folder:
        crowd("SQLite", f"{folder}/s.db", clients, each)
    sys.path.insert(0, str(CLIENTS.parent))
    import postgres  # type: ignore[import-not-found]  # of the tests

    if postgres.binaries() is None:
        print("PostgreSQL is not installed (tools/install-postgres.sh): not measured")
        return
    with postgres.running(safe=True) as server:
        crowd("PostgreSQL", server.create(), clients, each)


def crowd(store: str, database: str, clients: int, each: int) -> None:
    """Print how many answers clients give at once."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(CLIENTS), "crowd", folder, database]
        done = subprocess.run(
            [*command, str(clients), str(each)], capture_output=True, text=True, check=True
        )
    report = json.loads(done.stdout)
    leased = [question for questions in report["leased"] for question in questions]
    assert report["failed"] == 0
    assert len(leased) == len(set(leased)) == clients * each
    print(
        f"{store}, {clients} processes x {each} ask-and-tell: "
        f"{len(leased) / report['seconds']:.0f} answers per second, no error, "
        "no question leased twice"
    )
    for kind in ("asks", "tells"):
        times = np.array(report[kind]) * 1000.0
        middle, high = np.percentile(times, [50, 99])
        print(f"  {kind[:-1]}: median {middle:.0f} ms, p99 {high:.0f} ms")


def replay(name: str, strategy: Any, X: NDArray[np.float64], answers: int, folder: Path) -> None:
    """Print how long it takes to go on with a session of so many answers, and to ask then.

    The log is filled by `hold`, which is quick; replay reads answers that were told the same way.
    """
    target = FuzzyKMeans(K, fuzzifier=1.5, random_state=0).fit(X)
    oracle = oracles.TableOracle(target.memberships_)
    plan = strategy.plan(X, K, fuzzifier=1.5, rng=np.random.default_rng(0))
    known = run(plan, oracle, budget=answers)
    path = folder / f"{name}.db"
    with sessions.create(
        path, X, n_clusters=K, ask="membership", strategy=strategy, fuzzifier=1.5, random_state=0,
        cluster_names=[f"c{j}" for j in range(K)],
    ) as session:  # fmt: skip
        held = session.import_answers(known.history).new
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        session = sessions.open(path)
        state = session.status().state
        times.append(time.perf_counter() - began)
        session.close()
    print(
        f"replay of {name}, n={len(X):,}, {held} answers held: "
        f"median {statistics.median(times):.2f} s, longest {max(times):.2f} s "
        f"(opened, replayed; then: {state})"
    )


def asking(X: NDArray[np.float64], folder: Path) -> None:
    """Print how long a question takes once a session is open."""
    oracle = oracles.TableOracle(FuzzyKMeans(K, random_state=0).fit(X).memberships_)
    asks, tells = [], []
    with sessions.create(
        folder / "asking.db", X, n_clusters=K, ask="membership", budget=200, random_state=0
    ) as session:
        session.ask()
        while True:
            began = time.perf_counter()
            questions = session.ask()
            asks.append(1000.0 * (time.perf_counter() - began))
            if not questions:
                break
            (question,) = questions
            assert question.cluster is not None
            batch = MembershipQueries(question.items, [question.cluster])
            value = float(oracle.answer(batch)[0])
            began = time.perf_counter()
            session.tell(question.id, value)
            tells.append(1000.0 * (time.perf_counter() - began))
    print(
        f"ask, n={len(X):,}, {len(tells)} questions to the end: median "
        f"{statistics.median(asks):.1f} ms, longest {max(asks):.0f} ms (the plan steps); "
        f"tell: median {statistics.median(tells):.1f} ms"
    )


def team(annotators: int, each: int, folder: Path) -> None:
    """Print the answers per second of a team that thinks 200 ms over each question.

    The default strategy, memberships; threads of one process, as the page has them. Whoever gets
    no question while the budget lasts looks again after 5 ms, and is counted.
    """
    rng = np.random.default_rng(0)
    X = 4.0 * np.eye(4)[rng.integers(4, size=1000)] + rng.normal(size=(1000, 4))
    oracle = oracles.TableOracle(FuzzyKMeans(4, random_state=0).fit(X).memberships_)
    waited = [0] * annotators
    asks: list[float] = []

    def work(number: int, session: sessions.Session) -> None:
        name, told = f"annotator {number}", 0
        while told < each:
            began = time.perf_counter()
            questions = session.ask(annotator=name)
            asks.append(time.perf_counter() - began)
            if not questions:
                waited[number] += 1
                time.sleep(0.005)
                continue
            (question,) = questions
            time.sleep(THINKING)
            assert question.cluster is not None
            value = float(oracle.answer(MembershipQueries(question.items, [question.cluster]))[0])
            session.tell(question.id, value, annotator=name)
            told += 1

    with sessions.create(
        folder / "team.db", X, n_clusters=4, budget=annotators * each, random_state=0,
        cluster_names=list("abcd"), ask="membership",
    ) as session:  # fmt: skip
        session.ask()  # the first ranking is there when people come
        session.leave()
        threads = [
            threading.Thread(target=work, args=(number, session)) for number in range(annotators)
        ]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - began
    middle, high = np.percentile(1000.0 * np.array(asks), [50, 99])
    print(
        f"{annotators} annotators x {each} questions, {1000 * THINKING:.0f} ms each, by default: "
        f"{annotators * each / seconds:.1f} answers per second of {annotators / THINKING:.0f} at "
        f"most; no question for somebody: {sum(waited)} times; ask: median {middle:.0f} ms, "
        f"p99 {high:.0f} ms"
    )


def main() -> None:
    """Print all of it."""
    warnings.simplefilter("ignore")
    crowds(8, 100)
    if "--crowds" in sys.argv:
        return
    with tempfile.TemporaryDirectory() as folder:
        team(10, 20, Path(folder))
    rng = np.random.default_rng(0)
    truth = 2.0 * rng.normal(size=(K, D))
    X = truth[rng.integers(K, size=N)] + rng.normal(size=(N, D))
    with tempfile.TemporaryDirectory() as folder:
        asking(X, Path(folder))
        endless = Stratified(precision=1e-6, max_items=None)  # or it would stop before
        replay("stratified", endless, X, 500, Path(folder))


if __name__ == "__main__":
    main()
