"""Theorem 10: the whole solver several times, each time with new answers, results averaged."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans import TwoPhase, metrics, run
from askmeans.exceptions import MissingClusterWarning, ParameterError
from askmeans.fuzzy import closed_form_memberships, weighted_centers
from askmeans.fuzzy.arrays import onto_simplex
from askmeans.oracles import NoisyOracle, TableOracle
from askmeans.paper import by_similarity
from experiments.theorem_10 import repeated_solver

RNG = np.random.default_rng(0)
CENTERS = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
X = CENTERS[RNG.integers(3, size=90)] + RNG.normal(size=(90, 2))
U = closed_form_memberships(X, CENTERS, 2.0)
NOISY = NoisyOracle(TableOracle(U), std=0.15)


def make_plan(**parameters):
    strategy = TwoPhase(sample_size=30, **parameters)
    return strategy.plan(X, 3, fuzzifier=2.0, rng=np.random.default_rng(0))


def runs_of(found, times):
    """The solver's runs one by one, each with the answers it had in a repeated run."""
    told = {(a.items[0], a.cluster, a.repeat): a.value for a in found.history}
    for number in range(times):
        plan, answers = make_plan(), None
        try:
            while True:
                queries = plan.send(answers)
                keys = zip(queries.items.tolist(), queries.clusters.tolist(), strict=True)
                answers = np.array([told[item, cluster, number] for item, cluster in keys])
        except StopIteration as end:
            yield end.value


def test_every_run_asks_anew_and_results_are_averaged():
    found = run(repeated_solver(make_plan, X, 5, batches=1), NOISY)
    assert {answer.repeat for answer in found.history} == {0, 1, 2, 3, 4}
    assert len(found.clustering.predictor.members) == 5
    assert_allclose(found.clustering.memberships.sum(axis=1), 1.0)
    once = run(make_plan(), NOISY)
    assert found.n_queries > 4 * once.n_queries
    off = [np.abs(one.clustering.memberships - U).mean() for one in (found, once)]
    assert off[0] < 0.9 * off[1]


@pytest.mark.parametrize("fuzzifier", [1.5, 2.0])
def test_centers_are_computed_from_the_averaged_memberships(fuzzifier):
    found = run(repeated_solver(make_plan, X, 4, fuzzifier=fuzzifier), NOISY).clustering
    assert_allclose(found.centers, weighted_centers(X, found.memberships, fuzzifier))


def test_memberships_are_the_median_of_six_log_n_batches():
    for batches, count in ((None, 27), (7, 7)):  # 6 ln(90) = 26.999
        found = run(repeated_solver(make_plan, X, 30, batches=batches), NOISY)
        tables = np.array([one.memberships for one in runs_of(found, 30)])
        means = [part.mean(axis=0) for part in np.array_split(tables, count)]
        expected = onto_simplex(np.median(means, axis=0))
        assert_allclose(found.clustering.memberships, expected)


def test_fewer_runs_than_batches_are_a_batch_each():
    found = run(repeated_solver(make_plan, X, 5), NOISY)
    tables = np.array([one.memberships for one in runs_of(found, 5)])
    assert_allclose(found.clustering.memberships, onto_simplex(np.median(tables, axis=0)))


def test_exact_answers_give_the_memberships_of_one_run():
    once, found = (
        run(plan, TableOracle(U)).clustering
        for plan in (make_plan(), repeated_solver(make_plan, X))
    )
    assert_allclose(found.memberships, once.memberships)
    assert_allclose(found.predictor(X), once.predictor(X))


def test_a_cluster_without_members_keeps_the_center_of_a_run():
    told = np.zeros((90, 3))
    told[:, 0] = 1.0  # nobody belongs to the others
    with pytest.warns(MissingClusterWarning):
        found = run(
            repeated_solver(lambda: make_plan(faithful=True), X), TableOracle(told)
        ).clustering
    assert (found.memberships[:, 1:] == 0.0).all()
    assert np.isfinite(found.centers).all()


@pytest.mark.parametrize("budget", [10, 60, 130, 200])
def test_a_stop_averages_the_runs_that_are_complete(budget):
    found = run(repeated_solver(make_plan, X, 4), NOISY, budget=budget)
    assert found.n_queries == budget
    assert not found.complete
    assert len(found.clustering.predictor.members) == max(
        1, budget // len(run(make_plan(), NOISY).history)
    )


def test_runs_that_number_the_clusters_otherwise_are_matched():
    seeds = iter(range(10))

    def similar():
        rng = np.random.default_rng(next(seeds))
        plan = TwoPhase(sample_size=30).plan(X, 3, fuzzifier=2.0, rng=rng)
        return by_similarity(plan, len(X), 3, rng=rng)

    found = run(repeated_solver(similar, X, 3), TableOracle(U))
    memberships = found.clustering.memberships
    assert metrics.membership_error(U, memberships, how="mean") < 0.03
    assert np.abs(found.clustering.predictor(X) - memberships).mean() < 0.03


@pytest.mark.parametrize("batches", [0, 4, 1.5])
def test_batches_that_the_runs_cannot_fill_are_refused(batches):
    with pytest.raises(ParameterError, match=f"'batches' parameter of repeated_solver.*{batches}"):
        repeated_solver(make_plan, X, 3, batches=batches)
