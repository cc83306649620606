"""Seeds by name, runs by seed, and sizes that cost what is wanted."""

from functools import partial

import numpy as np
import pytest

from askmeans import Sequential, TwoPhase, oracles
from askmeans.datasets import make_cores_and_arms
from askmeans.experiments.runs import Task, calibrated, generators, repeat, seeds


def draws(rngs):
    return [rng.random() for rng in rngs]


@pytest.fixture(scope="module")
def task():
    data = make_cores_and_arms([600, 400, 200], rng=np.random.default_rng(0))

    def judge(result):
        return float(np.linalg.norm(result.clustering.centers - data.centers, axis=1).max())

    return Task(X=data.X, n_clusters=3, oracle=oracles.TableOracle(data.memberships), judge=judge)


def test_a_runs_randomness_depends_on_its_names_and_number_alone():
    assert draws(generators(0, "a", 3, n=5))[:2] == draws(generators(0, "a", 3, n=2))
    for other in ((1, "a", 3), (0, "a", 4), (0, "b", 3)):
        assert draws(generators(0, "a", 3, n=2)) != draws(generators(*other, n=2))


def test_seeds_are_the_same_on_every_machine():
    assert seeds(0, "figure 1").entropy[:2] == [0, 638285285]


def test_a_series_has_the_error_and_the_cost_of_every_run(task):
    series = repeat(
        task, TwoPhase(sample_size=30), generators(0, "r", n=4),
        panel="p", setting="s", curve="c", x=30,
    )  # fmt: skip
    assert len(series.values) == len(series.queries) == len(series.raw) == 4
    result = task.once(TwoPhase(sample_size=30), next(generators(0, "r", n=1)))
    assert series.values[0] == task.judge(result)
    assert (series.queries[0], series.raw[0]) == (result.n_queries, result.n_queries_raw)


@pytest.mark.parametrize("wanted", [300, 500, 900])
def test_calibration_finds_the_size_that_asks_as_many_questions(task, wanted):
    pilots = partial(generators, 0, "pilot", n=2)
    for make in (
        lambda m: TwoPhase(sample_size=m, faithful=True),
        lambda r: Sequential(sample_size=20, bin_size=r),
    ):
        strategy = calibrated(task, make, wanted, start=5, rngs=pilots)
        asked = np.mean([task.once(strategy, rng).n_queries for rng in pilots()])
        assert asked == pytest.approx(wanted, rel=0.05)


def test_calibration_stops_where_there_is_nothing_left_to_ask(task):
    strategy = calibrated(
        task, lambda r: Sequential(sample_size=5, bin_size=r), 10**6, start=2000,
        rngs=partial(generators, 0, "pilot", n=1),
    )  # fmt: skip
    assert strategy.bin_size >= 2000
