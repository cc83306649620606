"""Theorem 10: the whole solver several times, each time with new answers, results averaged."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans import TwoPhase, metrics, run
from askmeans.exceptions import ParameterError
from askmeans.fuzzy import closed_form_memberships
from askmeans.oracles import NoisyOracle, TableOracle
from askmeans.wrappers import by_similarity, repeated_solver

RNG = np.random.default_rng(0)
CENTERS = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
X = CENTERS[RNG.integers(3, size=90)] + RNG.normal(size=(90, 2))
U = closed_form_memberships(X, CENTERS, 2.0)
NOISY = NoisyOracle(TableOracle(U), std=0.15)


def make_plan():
    return TwoPhase(sample_size=30).plan(X, 3, fuzzifier=2.0, rng=np.random.default_rng(0))


def test_every_run_asks_anew_and_results_are_averaged():
    found = run(repeated_solver(make_plan, 5, how="mean"), NOISY)
    assert {answer.repeat for answer in found.history} == {0, 1, 2, 3, 4}
    assert found.clustering.diagnostics["runs"] == 5
    assert_allclose(found.clustering.memberships.sum(axis=1), 1.0)
    once = run(make_plan(), NOISY)
    assert found.n_queries > 4 * once.n_queries
    off = [np.abs(one.clustering.memberships - U).mean() for one in (found, once)]
    assert off[0] < 0.9 * off[1]


def test_exact_answers_give_the_result_of_one_run():
    once, found = run(make_plan(), TableOracle(U)), run(repeated_solver(make_plan), TableOracle(U))
    assert_allclose(found.clustering.memberships, once.clustering.memberships)
    assert_allclose(found.clustering.centers, once.clustering.centers)
    assert_allclose(found.clustering.predictor(X), once.clustering.predictor(X))


@pytest.mark.parametrize("budget", [10, 60, 130, 200])
def test_a_stop_averages_the_runs_that_are_complete(budget):
    found = run(repeated_solver(make_plan, 4), NOISY, budget=budget)
    assert found.n_queries == budget
    assert not found.complete
    assert found.clustering.diagnostics["runs"] == max(
        1, budget // len(run(make_plan(), NOISY).history)
    )


def test_runs_that_number_the_clusters_otherwise_are_matched():
    seeds = iter(range(10))

    def similar():
        rng = np.random.default_rng(next(seeds))
        plan = TwoPhase(sample_size=30).plan(X, 3, fuzzifier=2.0, rng=rng)
        return by_similarity(plan, len(X), 3, rng=rng)

    found = run(repeated_solver(similar, 3), TableOracle(U))
    memberships = found.clustering.memberships
    assert metrics.membership_error(U, memberships, how="mean") < 0.03
    assert np.abs(found.clustering.predictor(X) - memberships).mean() < 0.03


def test_what_is_no_average_is_refused():
    with pytest.raises(ParameterError, match="'how' parameter of repeated_solver"):
        repeated_solver(make_plan, how="best")
