"""Calibration by held-out answers: powers, proximity, and the error of shares."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans import Stratified, oracles, run
from askmeans.policy.calibration import Proximity, error_by_uncertainty
from askmeans.policy.ensemble import Ensemble
from askmeans.policy.pool import Standard, Strata
from askmeans.policy.stacking import stack_models


def near_duplicates(seed, n=50, copies=6, k=4):
    """Items without any order among their groups, each with copies that hardly differ from it."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(n, 8))
    X = np.repeat(centers, copies, axis=0) + 0.01 * rng.normal(size=(n * copies, 8))
    return X, np.repeat(rng.integers(k, size=n), copies)


def test_near_duplicates_of_answered_items_are_not_as_doubtful_as_answers_held_out():
    expected, wrong = 0.0, 0
    for seed in range(3):
        X, y = near_duplicates(seed)
        policy = Stratified(max_items=None).policy(
            X, 4, fuzzifier=2.0, rng=np.random.default_rng(0), ask="group"
        )
        result = run(policy, oracles.TableOracle.from_labels(y), budget=45).clustering
        expected += result.diagnostics.expected_wrong
        wrong += int((result.memberships.argmax(axis=1) != y).sum())
    assert wrong / 2 < expected < 2 * wrong


def test_nearer_items_have_a_larger_power_and_far_ones_none(study):
    pool, training, _ = study
    proximity = Proximity.of(pool, training, 0.0)
    step = np.array([0.0, 0.01, 0.1, 1.0, 1e6])[:, None]
    powers = proximity(pool.X[training.rows[:1]] + step * pool.scaled.spread)
    assert (np.diff(powers) < 0.0).all()
    assert powers[-1] == pytest.approx(1.0)


def test_an_answer_is_as_near_as_the_answers_of_other_folds(study):
    pool, training, _ = study
    proximity = Proximity.of(pool, training, 0.1)
    for inside, others in training.splits():
        without = Proximity.of(pool, others, 0.1)
        nearest = without.Z[:, None] - pool.Z[training.rows[inside]]
        nearest = np.square(nearest).sum(axis=2).min(axis=0)
        order = np.argsort(nearest)
        assert (np.diff(proximity.held_out[inside][order]) <= 1e-12).all()
    assert proximity.held_out.max() < proximity.pool[training.rows].min()


def test_twins_are_no_nearer_than_what_features_tell_apart():
    Z = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    strata = Strata(Z, np.random.default_rng(0))
    assert strata.resolution == pytest.approx(1.0, abs=1e-3)
    assert Strata(np.zeros((4, 2)), np.random.default_rng(0)).resolution == 0.0


def test_a_single_answer_has_no_proximity(study):
    pool, training, _ = study
    first = np.arange(len(training.rows)) == 0
    proximity = Proximity.of(pool, training.part(first), 0.1)
    assert_allclose(proximity.pool, 1.0)
    assert_allclose(proximity.held_out, 1.0)


def test_the_powers_of_many_items_take_little_memory():
    rng = np.random.default_rng(0)
    items, answered = rng.normal(size=(20_000, 4)), rng.normal(size=(2_000, 4))
    proximity = Proximity(
        scale=Standard.of(items), Z=answered, unit=1.0, resolution=0.1,
        pool=np.ones(1), held_out=np.ones(1),
    )  # fmt: skip
    tracemalloc.start()
    powers = proximity(items)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * 2**20  # all distances are 305 MB
    assert_allclose(proximity(items[-5:]), powers[-5:])


def test_new_items_are_predicted_as_those_of_the_pool(study):
    pool, training, _ = study
    stack = stack_models(
        Ensemble(pool).learn(training), training, Proximity.of(pool, training, 0.1)
    )
    assert_allclose(stack.predict(pool.X), stack.pool, atol=1e-6)


@pytest.mark.parametrize("power", [0.7, 1.0, 2.0])
def test_errors_where_uncertainty_is_small_follow_from_those_where_it_is_large(power):
    rng = np.random.default_rng(0)
    uncertainty = np.exp(rng.uniform(-3.0, 0.0, size=3000))  # uncertain items are asked
    mistakes = rng.random(3000) < 0.5 * uncertainty**power
    error_of = error_by_uncertainty(uncertainty, 2 / 3 * mistakes, np.ones(3000), 3)
    left = np.linspace(0.01, 0.1, 50)  # those without much are left
    assert error_of(left).mean() == pytest.approx(2 / 3 * 0.5 * (left**power).mean(), rel=0.5)
    assert error_of(np.array([1e6])) == [2 / 3]  # no row can be more wrong
