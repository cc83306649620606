"""Anderson mixing: the optimum of plain Lloyd in fewer passes, and never a step up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits, load_iris, make_blobs

from askmeans.fuzzy import lloyd
from askmeans.fuzzy.lloyd import Mixing


def fit(X, k, *, mixing, fuzzifier=2.0, tol=1e-4, max_iter=2000, seed=0):
    return lloyd.fit(
        X, k, fuzzifier=fuzzifier, init="k-means++", n_init=1, max_iter=max_iter, tol=tol,
        weights=np.empty(0), rng=np.random.default_rng(seed), mixing=mixing,
    )  # fmt: skip


def test_a_linear_map_is_solved_in_as_many_steps_as_it_has_dimensions():
    A, fixed = np.diag([0.9, 0.5, 0.99]), np.array([[1.0, -2.0, 3.0]])
    centers = np.zeros((1, 3))
    mixing = Mixing()
    for _ in range(8):
        moved = fixed + (centers - fixed) @ A
        proposal = mixing.propose(centers, moved)
        centers = moved if proposal is None else proposal
    assert_allclose(centers, fixed, atol=1e-8)


def test_the_first_steps_and_those_after_forgetting_are_plain():
    mixing = Mixing()
    assert mixing.propose(np.zeros((1, 1)), np.ones((1, 1))) is None
    assert mixing.propose(np.ones((1, 1)), np.full((1, 1), 1.5)) is None
    assert mixing.propose(np.full((1, 1), 1.5), np.full((1, 1), 1.75)) is not None
    mixing.forget()
    assert mixing.propose(np.zeros((1, 1)), np.ones((1, 1))) is None


@pytest.mark.parametrize("fuzzifier", [1.2, 1.5, 2.0])
@pytest.mark.parametrize("name", ["iris", "digits", "overlapping"])
def test_mixing_reaches_the_optimum_of_plain_lloyd_in_fewer_iterations(name, fuzzifier):
    X, k = {
        "iris": (load_iris().data, 3),
        "digits": (load_digits().data[:600], 6),
        "overlapping": (make_blobs(2000, 5, centers=4, cluster_std=3.0, random_state=0)[0], 4),
    }[name]
    plain, mixed = [0, 0]
    for seed in range(3):
        a = fit(X, k, mixing=False, fuzzifier=fuzzifier, tol=1e-6, seed=seed)
        b = fit(X, k, mixing=True, fuzzifier=fuzzifier, tol=1e-6, seed=seed)
        assert b.converged
        assert b.objective <= a.objective * (1 + 1e-7)
        assert_allclose(b.centers, a.centers, atol=1e-3 * X.std())
        plain, mixed = plain + a.n_iter, mixed + b.n_iter
    assert mixed < 0.8 * plain


@settings(max_examples=30, deadline=None)
@given(fuzzifier=st.floats(1.05, 5.0), k=st.integers(1, 6), seed=st.integers(0, 100))
def test_no_mixed_iteration_raises_the_objective(fuzzifier, k, seed):
    X = np.random.default_rng(seed).normal(size=(80, 3))
    found = fit(X, k, mixing=True, fuzzifier=fuzzifier, max_iter=40, seed=seed)
    assert (np.diff(found.history) <= 1e-12 * found.history[0]).all()
    assert len(found.history) == found.n_iter + 1 <= 41


def test_a_guess_that_raises_the_objective_is_taken_back(monkeypatch):
    X = np.random.default_rng(0).normal(size=(200, 2))
    plain = fit(X, 3, mixing=False, tol=1e-8)

    monkeypatch.setattr(Mixing, "propose", lambda _, centers, moved: centers + 100.0 * moved.std())
    found = fit(X, 3, mixing=True, tol=1e-8)
    assert_allclose(found.centers, plain.centers, atol=1e-6)
    assert (np.diff(found.history) <= 1e-12 * found.history[0]).all()
