"""Weights by squared error, calibration by log loss, both on held-out answers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from askmeans.policy.calibration import calibrating_power, sharpened
from askmeans.policy.ensemble import Ensemble
from askmeans.policy.models.training import Fitted, Training
from askmeans.policy.stacking import stack_models, stacked


def test_the_weights_are_those_of_a_fine_grid():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(2, 5))
    A, prior = B @ B.T, np.array([0.3, 0.7])
    w = stacked(A[None], prior, np.array([0.4]))[0]
    grid = np.linspace(1e-6, 1 - 1e-6, 20_001)
    W = np.stack([grid, 1 - grid])
    loss = np.einsum("in,ij,jn->n", W, A, W) + 0.4 * (W * np.log(W / prior[:, None])).sum(axis=0)
    assert w[0] == pytest.approx(grid[loss.argmin()], abs=1e-3)


def test_without_evidence_the_prior_stands():
    prior = np.array([0.2, 0.5, 0.3])
    found = stacked(np.ones((1, 3, 3)), prior, np.ones(1))
    assert_allclose(found[0], prior, atol=1e-4)


@given(st.integers(0, 1000), st.floats(-3.0, 1.0))
def test_many_weights_at_once_are_each_the_best(seed, log_caution):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(3, 6, 8)) * np.exp(rng.normal(size=(6, 1)))
    A, prior, caution = B @ B.transpose(0, 2, 1), rng.dirichlet(np.ones(6)), 10.0**log_caution
    unit = np.array([np.diag(a).min() for a in A])
    W = stacked(A, prior, caution * unit)
    assert_allclose(W.sum(axis=1), 1.0)
    for a, u, w in zip(A, unit, W, strict=True):
        # Of a convex loss: it is nowhere lower on the way to any model alone.
        ways = np.vstack([w, 0.999 * w + 0.001 * np.eye(6)])
        losses = np.einsum("si,ij,sj->s", ways, a, ways) / u
        losses += caution * (ways * np.log(ways / prior)).sum(axis=1)
        assert losses[0] <= losses.min() + 1e-6 * (1.0 + abs(losses[0]))


@given(st.floats(0.5, 50.0), st.integers(0, 1000))
def test_sharpening_keeps_rows_and_their_order(power, seed):
    U = np.random.default_rng(seed).dirichlet([0.5] * 3, size=20)
    V = sharpened(U, power)
    assert_allclose(V.sum(axis=1), 1.0)
    assert (V.argmax(axis=1) == U.argmax(axis=1)).all()


def drawn(P, rng):
    """Hard answers, each drawn from its row of probabilities."""
    return np.eye(P.shape[1])[[rng.choice(len(p), p=p) for p in P]]


def everywhere(Y):
    return np.ones(Y.shape, dtype=bool)


@pytest.mark.parametrize("off", [0.4, 1.0, 2.5])
def test_probabilities_that_are_too_sure_or_not_sure_enough_are_calibrated(off):
    rng = np.random.default_rng(0)
    P = rng.dirichlet([0.7] * 4, size=2000)
    rows = P**off / (P**off).sum(axis=1, keepdims=True)
    power = calibrating_power(rows, drawn(P, rng), everywhere(P), np.ones(len(P)), hard=True)
    assert power == pytest.approx(1 / off, rel=0.15)


def test_shares_that_are_expected_stay_as_they_are():
    U = np.random.default_rng(0).dirichlet([1.0] * 3, size=200)
    near = pytest.approx(1.0, abs=0.03)
    assert calibrating_power(U, U, everywhere(U), np.ones(200), hard=True) == near


def test_few_answers_leave_probabilities_nearly_as_they_are():
    P, Y = np.array([[0.7, 0.3]]), np.array([[1.0, 0.0]])
    assert 1.0 < calibrating_power(P, Y, everywhere(Y), np.ones(1), hard=True) < 1.5


def test_entries_that_were_not_answered_count_together_whatever_they_were_filled_with():
    rng = np.random.default_rng(1)
    P = rng.dirichlet([0.7] * 4, size=300)
    Y = drawn(P, rng)
    known = np.zeros(P.shape, dtype=bool)
    known[:, :2] = True
    other = Y.copy()
    other[:, 2:] = other[:, :1:-1]
    powers = [calibrating_power(P, each, known, np.ones(300), hard=True) for each in (Y, other)]
    assert powers[0] == powers[1]


def single(P, Y):
    """A stack of one model, which says the same of the first items, answered, held out."""
    n = len(Y)
    training = Training.of(np.arange(n), Y, np.ones(n), np.ones(n))
    model = Fitted(name="lda", pool=P, held_out=P[:n], predict=lambda X: X)
    return stack_models([model], training)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("off", [0.5, 1.0, 2.0])
def test_of_the_items_nobody_was_asked_about_as_many_are_wrong_as_expected(k, off):
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(k, 0.6), size=6000)
    Y = drawn(P, rng)
    stack = single(P**off / (P**off).sum(axis=1, keepdims=True), Y[:1000])
    U = stack.pool[1000:]
    wrong = (U.argmax(axis=1) != Y[1000:].argmax(axis=1)).mean()
    assert 1.0 - stack.confidence(U).mean() == pytest.approx(wrong, rel=0.15)
    assert stack.expected[1000:].mean() == pytest.approx(np.abs(U - Y[1000:]).mean(), rel=0.15)


def test_a_cluster_that_no_answer_has_met_may_have_items_nevertheless():
    Y = np.hstack([np.eye(2)[np.random.default_rng(0).integers(2, size=18)], np.zeros((18, 2))])
    training = Training.of(np.arange(18), Y, np.ones(18), np.ones(18))
    model = Fitted(name="lda", pool=Y, held_out=Y, predict=lambda X: X)
    plain, stack = (stack_models([model], training, some_unmet=unmet) for unmet in (False, True))
    assert_allclose(stack.pool[:, 2:] - plain.pool[:, 2:], 1.0 / 22.0, atol=1e-4)
    assert_allclose(stack.pool.sum(axis=1), 1.0)
    assert_allclose(stack.predict(Y), stack.pool)
    assert (stack.pool.argmax(axis=1) == Y.argmax(axis=1)).all()


def test_models_that_were_wrong_on_answers_are_not_trusted_on_other_items():
    truth = np.random.default_rng(0).integers(2, size=500)
    sure = np.where(np.eye(2)[truth] > 0, 0.99, 0.01)
    right, wrong = single(sure, np.eye(2)[truth[:60]]), single(sure, np.eye(2)[1 - truth[:60]])
    assert right.confidence(right.pool).mean() > 0.98
    assert wrong.confidence(wrong.pool).mean() < 0.65


def test_confidence_in_soft_shares_is_how_often_their_strongest_cluster_is_right():
    rng = np.random.default_rng(0)
    U = rng.dirichlet([1.0] * 3, size=1500)
    noisy = U + 0.25 * rng.normal(size=U.shape)
    expected = np.clip(noisy, 0.01, None)
    expected /= expected.sum(axis=1, keepdims=True)
    stack = single(expected, U[:300])
    right = (stack.pool[300:].argmax(axis=1) == U[300:].argmax(axis=1)).mean()
    confidence = stack.confidence(stack.pool[300:])
    assert confidence.mean() == pytest.approx(right, abs=0.06)
    assert confidence.mean() > stack.pool[300:].max(axis=1).mean() + 0.05


def test_a_model_that_predicts_nothing_gets_hardly_any_weight():
    rng = np.random.default_rng(0)
    Y = rng.dirichlet([0.3] * 3, size=60)
    outs = np.stack([0.9 * Y + 0.1 / 3, rng.permutation(Y)])
    training = Training.of(np.arange(60), Y, np.ones(60), np.ones(60))
    models = [
        Fitted(name=name, pool=out, held_out=out, predict=lambda X: X)
        for name, out in zip(("lda", "gaussian_mixture"), outs, strict=True)
    ]
    assert stack_models(models, training).weights[0] > 0.95


def test_the_stack_is_no_worse_held_out_than_the_unsupervised_fit(study):
    pool, training, U = study
    fitted = Ensemble(pool).learn(training)
    found = stack_models(fitted, training)
    assert found.weights.sum() == pytest.approx(1.0)
    error = np.abs(found.pool - U).mean()
    assert error < np.abs(fitted[0].pool - U).mean()
    assert found.expected[24:].mean() < 0.1
    assert error < 3 * found.expected.mean()
    assert_allclose(found.predict(pool.X), found.pool, atol=1e-6)


def test_an_answer_that_stands_for_many_items_weighs_models_like_any_other(study):
    pool, training, _ = study
    fitted = Ensemble(pool).learn(training)
    sizes = np.where(np.arange(len(training.rows)) == 0, 1000.0, 1.0)
    found = stack_models(fitted, replace(training, stratum_size=sizes))
    assert_allclose(found.weights, stack_models(fitted, training).weights)
