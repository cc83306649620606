"""Seeds by name, runs by seed, and sizes that cost what is wanted."""

import numpy as np
import pytest
from soaking import in_soak

from askmeans import Sequential, TwoPhase, oracles
from askmeans.datasets import make_cores_and_arms
from experiments.runs import Task, generators, repeat, seeds, size_for


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


@pytest.mark.parametrize("wanted", [300, in_soak(500), in_soak(900)])
def test_the_size_found_asks_as_many_questions_as_wanted(task, wanted):
    for make in (
        lambda m: TwoPhase(sample_size=m, faithful=True),
        lambda r: Sequential(sample_size=20, bin_size=r),
    ):

        def asked(size, make=make):
            rngs = generators(0, "pilot", n=2)
            return np.mean([task.once(make(size), rng).n_queries for rng in rngs])

        size = size_for(asked, wanted, start=5)
        assert asked(size) == pytest.approx(wanted, rel=0.05)


def test_a_size_is_sought_along_the_line_through_what_was_measured():
    tried = []

    def asked(size):
        tried.append(size)
        return 400.0 + 3.0 * size

    assert size_for(asked, 1000.0, start=100) == 200
    assert len(tried) == 3  # the first line begins at nothing asked, the second is the true one


def test_no_size_is_tried_twice_and_the_nearest_is_kept():
    tried = []

    def asked(size):
        tried.append(size)
        return 10.0 * size

    assert size_for(asked, 26.0, start=1) == 3
    assert len(tried) == len(set(tried))


def test_a_size_is_sought_no_further_where_there_is_nothing_left_to_ask():
    tried = []

    def asked(size):
        tried.append(size)
        return 50.0

    assert size_for(asked, 1e6, start=2000) in tried
    assert len(tried) == 2
