"""Geometry of memberships: least squares on the simplex, rotations, extreme rows, tensors."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from askmeans.wrappers.geometry import (
    constrained_rotation,
    extreme_rows,
    fit_tensor,
    rotation_from_tensor,
    simplex_least_squares,
)


def loss(design, target, x):
    return float(np.square(design @ x - target).sum())


def frame(k, seed):
    """A random orthogonal Q, and the w with Q 1 = w."""
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(k, k)))[0]
    return Q, Q.sum(axis=1)


def tensor(Q):
    """The sum of q_r x q_r x q_r over the columns of Q."""
    return np.einsum("ir,jr,lr->ijl", Q, Q, Q)


def asked(Q, n_items, seed):
    """Items in the embedding that Q turns into memberships, all triplets, and their answers."""
    F = np.random.default_rng(seed).dirichlet(np.ones(len(Q)), size=n_items)
    triplets = np.array(list(itertools.combinations(range(n_items), 3)))
    return F @ Q.T, triplets, F[triplets].prod(axis=1).sum(axis=1)


# ---- least squares on the simplex -------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_no_point_of_a_fine_grid_on_the_simplex_is_better(seed):
    rng = np.random.default_rng(seed)
    design, target = rng.random((6, 3)), 2.0 * rng.normal(size=6)
    found = simplex_least_squares(design, target)
    ticks = np.arange(101)
    grid = [(a, b, 100 - a - b) for a in ticks for b in ticks if a + b <= 100]
    best = min(loss(design, target, np.array(x) / 100) for x in grid)
    assert loss(design, target, found) <= best + 1e-12


@pytest.mark.parametrize("k", [2, 5, 8])
def test_a_general_solver_finds_no_better_point(k):
    rng = np.random.default_rng(k)
    for _ in range(10):
        design, target = rng.normal(size=(2 * k, k)), rng.normal(size=2 * k)
        found = simplex_least_squares(design, target)
        other = minimize(
            lambda x, d=design, t=target: loss(d, t, x), np.full(k, 1 / k), method="SLSQP",
            bounds=[(0, 1)] * k, constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
            options={"ftol": 1e-14, "maxiter": 500},
        ).x  # fmt: skip
        assert loss(design, target, found) <= loss(design, target, other) + 1e-8
        assert_allclose(found, other, atol=1e-4)


def test_the_nearest_point_to_a_target_outside_is_the_known_projection():
    assert_allclose(simplex_least_squares(np.eye(2), np.array([2.0, 0.0])), [1.0, 0.0], atol=1e-15)
    found = simplex_least_squares(np.eye(3), np.array([0.6, 0.6, -1.0]))
    assert_allclose(found, [0.5, 0.5, 0.0], atol=1e-15)


@pytest.mark.parametrize("k", range(2, 11))
@pytest.mark.parametrize("alpha", [0.1, 1.0, 10.0])
def test_memberships_are_found_exactly_from_exact_comparisons_with_k_others(k, alpha):
    rng = np.random.default_rng(k)
    for _ in range(20):
        others = np.eye(k) + 0.1 * rng.random((k, k))
        row = rng.dirichlet(np.full(k, alpha))
        assert_allclose(simplex_least_squares(others, others @ row), row, atol=1e-12)


def test_scaling_the_system_does_not_move_the_minimiser():
    rng = np.random.default_rng(3)
    design, target = rng.random((8, 4)), rng.random(8)
    found = simplex_least_squares(design, target)
    for scale in (1e-6, 1e6):
        assert_allclose(simplex_least_squares(scale * design, scale * target), found, atol=1e-9)


def test_a_point_of_the_simplex_comes_out_whatever_the_target():
    rng = np.random.default_rng(4)
    for _ in range(200):
        design = rng.random((rng.integers(3, 9), 3))
        found = simplex_least_squares(design, 10.0 * rng.normal(size=len(design)))
        assert found.min() >= 0.0
        assert found.sum() == pytest.approx(1.0, abs=1e-14)


# ---- rotations --------------------------------------------------------------------------------


@pytest.mark.parametrize("k", range(2, 9))
def test_a_constrained_rotation_is_orthogonal_and_takes_ones_along_w(k):
    rng = np.random.default_rng(k)
    for _ in range(20):
        w = rng.normal(size=k)
        Q = constrained_rotation(rng.normal(size=(k, k)), w)
        assert_allclose(Q @ Q.T, np.eye(k), atol=1e-12)
        assert_allclose(Q.sum(axis=1), w / np.linalg.norm(w) * k**0.5, atol=1e-12)


@pytest.mark.parametrize("k", range(2, 9))
def test_a_rotation_that_meets_the_constraint_stays(k):
    Q, w = frame(k, seed=k)
    assert_allclose(constrained_rotation(Q, w), Q, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_no_other_rotation_under_the_constraint_is_nearer(k):
    rng = np.random.default_rng(k)
    V, w = rng.normal(size=(k, k)), rng.normal(size=k)
    nearest = np.linalg.norm(constrained_rotation(V, w) - V)
    others = [constrained_rotation(rng.normal(size=(k, k)), w) for _ in range(300)]
    distances = [np.linalg.norm(Q - V) for Q in others]
    assert min(distances) >= nearest - 1e-12
    assert max(distances) > nearest + 0.1  # they do differ


# ---- extreme rows -----------------------------------------------------------------------------


def test_pure_rows_are_the_first_to_be_chosen():
    rng = np.random.default_rng(0)
    F = np.vstack([rng.dirichlet(np.full(4, 5.0), size=30), np.eye(4)])
    assert sorted(extreme_rows(F, 4).tolist()) == [30, 31, 32, 33]


@pytest.mark.parametrize("size", [1, 3, 5, 9, 12])
def test_as_many_different_rows_are_chosen_as_wanted(size):
    Z = np.random.default_rng(1).normal(size=(12, 3))
    chosen = extreme_rows(Z, size)
    assert len(set(chosen.tolist())) == size
    assert set(chosen.tolist()) <= set(range(12))


def test_all_rows_are_chosen_where_there_are_fewer_than_wanted():
    assert sorted(extreme_rows(np.eye(3), 7).tolist()) == [0, 1, 2]


def test_of_rows_that_span_as_much_the_first_are_chosen_however_they_are_rounded():
    rng = np.random.default_rng(0)
    F = np.repeat(np.concatenate([np.eye(3), rng.dirichlet(np.ones(3), size=9)]), 4, axis=0)
    for _ in range(10):
        turned = F @ frame(3, int(rng.integers(1000)))[0]  # rounded otherwise, in another place
        assert extreme_rows(turned, 6).tolist() == [0, 4, 8, 1, 5, 9]


def test_chosen_rows_span_more_than_random_ones():
    rng = np.random.default_rng(2)
    better = 0
    for _ in range(50):
        F = rng.dirichlet(np.ones(3), size=20)
        random = rng.choice(20, size=3, replace=False)
        volume = [abs(np.linalg.det(F[rows])) for rows in (extreme_rows(F, 3), random)]
        better += volume[0] >= volume[1]
    assert better >= 49


# ---- tensors ----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", range(2, 8))
def test_an_exact_tensor_is_found_from_the_triplets_of_2k_items(k):
    for seed in range(10):
        Q, w = frame(k, seed)
        Z, triplets, answers = asked(Q, 2 * k, seed)
        assert_allclose(fit_tensor(Z, triplets, answers, w), tensor(Q), atol=1e-6)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_a_fitted_tensor_is_symmetric_and_meets_its_constraint_whatever_the_answers(k):
    rng = np.random.default_rng(k)
    Q, w = frame(k, seed=k)
    Z, triplets, _ = asked(Q, 2 * k, seed=k)
    S = fit_tensor(Z, triplets, rng.random(len(triplets)), w)
    for order in itertools.permutations(range(3)):
        assert_allclose(S.transpose(order), S, atol=1e-12)
    assert_allclose(S @ w, np.eye(k), atol=1e-9)


@pytest.mark.parametrize("k", range(2, 11))
def test_the_rotation_of_an_exact_tensor_is_found_up_to_the_order_of_clusters(k):
    for seed in range(10):
        Q, w = frame(k, seed)
        found, score = rotation_from_tensor(tensor(Q), w, np.random.default_rng(seed))
        assert score == pytest.approx(1.0, abs=1e-10)
        assert_allclose(np.sort(np.abs(found.T @ Q), axis=0)[-1], 1.0, atol=1e-9)
        assert sorted((found.T @ Q).argmax(axis=0).tolist()) == list(range(k))


def test_the_score_of_a_tensor_that_no_rotation_explains_is_not_one():
    Q, w = frame(3, seed=0)
    Z, triplets, answers = asked(Q, 6, seed=0)
    shuffled = np.random.default_rng(0).permutation(answers)
    S = fit_tensor(Z, triplets, shuffled, w)
    _, score = rotation_from_tensor(S, w, np.random.default_rng(0))
    assert abs(score - 1.0) > 1e-3


def test_a_design_that_says_nothing_gives_some_point_of_the_simplex():
    x = simplex_least_squares(np.zeros((4, 3)), np.zeros(4))
    assert np.isfinite(x).all()
    assert x.min() >= 0.0
    assert abs(x.sum() - 1.0) < 1e-12
