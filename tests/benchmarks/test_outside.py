"""The benchmark on data of others: one protocol for all methods, and tables that the docs quote."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.outside.__main__ import main
from benchmarks.outside.protocol import ByQuery, Task, play, replay
from benchmarks.outside.report import markdown, standing
from benchmarks.outside.results import FOLDER

LABELS = np.arange(20) % 2
TASK = Task(X=np.random.default_rng(0).normal(size=(20, 2)), n_clusters=2, budget=5, seed=0,
            kind="pair")  # fmt: skip


def same(items):
    return bool(LABELS[items[0]] == LABELS[items[1]])


class FirstPairs:
    """Asks about 0 and every other; like 0 or not is the result."""

    def __init__(self, task):
        self.labels, self.next = np.zeros(len(task.X), dtype=int), 1

    def ask(self):
        return 0, self.next

    def tell(self, items, answer):
        self.labels[items[1]], self.next = not answer, self.next + 1

    def result(self):
        return self.labels


class ByCalls(ByQuery):
    """The same, as a function that calls for answers."""

    def solve(self, task):
        return [0, *(not self.query(0, i) for i in range(1, 6)), *[0] * (len(task.X) - 6)]


def test_a_method_that_calls_for_answers_is_as_one_that_is_asked():
    labels, record = play(FirstPairs, TASK, same)
    others, calls = play(ByCalls, TASK, same)
    assert labels.tolist() == others.tolist() == [0, 1, 0, 1, 0, 1] + [0] * 14
    assert record == calls == [((0, i), i % 2 == 0) for i in range(1, 6)]


def test_questions_beyond_the_budget_or_about_no_items_are_errors():
    class Greedy(ByQuery):
        def solve(self, task):
            return [self.query(0, 1) for _ in range(task.budget + 1)]

    class Lost(FirstPairs):
        def ask(self):
            return 0, 20

    with pytest.raises(ValueError, match="asks more than 5 questions"):
        play(Greedy, TASK, same)
    with pytest.raises(ValueError, match="items from 0 to 19"):
        play(Lost, TASK, same)


def test_a_failure_within_a_method_is_raised():
    class Broken(ByQuery):
        def solve(self, task):
            raise ZeroDivisionError(task)

    with pytest.raises(ZeroDivisionError):
        play(Broken, TASK, same)


def test_a_replay_has_the_same_result_unless_a_method_knows_more_than_the_answers():
    labels, record = play(FirstPairs, TASK, same)
    assert (replay(FirstPairs, TASK, record) == labels).all()
    runs = []

    class Cheating(FirstPairs):
        def result(self):
            runs.append(LABELS if not runs else np.zeros(20))
            return runs[-1]

    labels, record = play(Cheating, TASK, same)
    assert (replay(Cheating, TASK, record) != labels).any()


def test_a_method_of_the_users_runs_in_the_harness_and_goes_on_where_it_stopped(
    tmp_path, monkeypatch, capsys
):
    X = np.random.default_rng(0).normal(size=(40, 2)) + 9.0 * (np.arange(40) % 2)[:, None]
    np.savez(tmp_path / "pairs.npz", blobs_X=X, blobs_y=np.arange(40) % 2)
    (tmp_path / "mine.py").write_text(
        "class Mine:\n"
        "    def __init__(self, task):\n        self.X, self.n = task.X, 0\n"
        "    def ask(self):\n        self.n += 1\n        return 0, self.n % 40\n"
        "    def tell(self, items, answer):\n        pass\n"
        "    def result(self):\n        return (self.X[:, 0] > 0.0).astype(int)\n"
    )
    command = ["outside", "pairs", str(tmp_path), "--add", f"{tmp_path}/mine.py:Mine", "--methods",
               "Mine", "--budgets", "20", "--seeds", "2", "--out", str(tmp_path / "mine.csv"),
               "--record", str(tmp_path / "record")]  # fmt: skip
    monkeypatch.setattr("sys.argv", command)
    for _ in range(2):
        main()
    runs = pd.read_csv(tmp_path / "mine.csv")
    assert runs[["set", "method", "budget", "seed", "asked", "ari"]].values.tolist() == [
        ["blobs", "Mine", 20, 0, 20, 1.0], ["blobs", "Mine", 20, 1, 20, 1.0],
    ]  # fmt: skip
    assert runs[["date", "version", "machine"]].notna().all(axis=None)
    assert len(list((tmp_path / "record").iterdir())) == 2
    monkeypatch.setattr("sys.argv", [*command, "--check"])
    capsys.readouterr()
    main()
    assert capsys.readouterr().out.count("passes") == 2


def test_the_page_quotes_the_tables_of_the_results():
    page = (Path(__file__).parents[2] / "docs" / "compare.md").read_text()
    tables = list(markdown(FOLDER))
    assert len(tables) >= 4
    for text in (*tables, *standing(FOLDER)):
        assert text in page
