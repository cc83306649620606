"""Weights by training, sharpness by absolute error."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from askmeans.policy.ensemble import Ensemble
from askmeans.policy.models.training import Fitted, Training
from askmeans.policy.stacking import (
    HeldOut,
    sharpened,
    stack_models,
    stacked,
)


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


def held_out(outs, Y, *, hard):
    n, k = Y.shape
    prior = np.ones(len(outs))
    known = np.ones((n, k), dtype=bool)
    return HeldOut(outs=outs, Y=Y, known=known, weight=np.ones(n), prior=prior, hard=hard)


def test_hard_answers_sharpen_and_exact_ones_do_not():
    U = np.random.default_rng(0).dirichlet([1.0] * 3, size=200)
    Y = np.eye(3)[U.argmax(axis=1)]
    assert held_out(U[None], U, hard=False).sharpness(U) == 1.0
    assert held_out(U[None], Y, hard=True).sharpness(U) == 50.0


def test_a_model_that_predicts_nothing_gets_hardly_any_weight():
    rng = np.random.default_rng(0)
    Y = rng.dirichlet([0.3] * 3, size=60)
    outs = np.stack([0.9 * Y + 0.1 / 3, rng.permutation(Y)])
    w, _ = held_out(outs, Y, hard=False).stack()
    assert w[0] > 0.95


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


def test_a_forest_is_expected_to_be_less_wrong_than_another_model_that_says_the_same():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(3, 0.4), size=300)
    Y = np.eye(3)[[rng.choice(3, p=p) for p in P[:60]]]
    training = Training.of(np.arange(60), Y, np.ones(60), np.ones(60))
    said = Fitted(name="discriminant", pool=P, held_out=P[:60], predict=lambda X: X)
    other, forest = (
        stack_models([replace(said, name=name)], training) for name in ("discriminant", "forest")
    )
    assert_allclose(forest.pool, other.pool)
    assert forest.expected.mean() < 0.7 * other.expected.mean()
