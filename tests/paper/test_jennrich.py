"""Jennrich on disjoint sets: exact without noise, its order of clusters one, rank told."""

import numpy as np
import pytest

from askmeans import metrics
from askmeans.exceptions import RankError
from askmeans.paper.jennrich import memberships_by_jennrich


def tensor(A, B, C):
    return np.einsum("ar,br,cr->abc", A, B, C)


def draw(rng, k, *, least_ratio=1e-2):
    """Three sets of 2 k items, drawn again as a caller would until they are well conditioned."""
    while True:
        sets = rng.dirichlet(np.ones(k), size=(3, 2 * k))
        found = memberships_by_jennrich(tensor(*sets), rng, k)
        if found.ratio >= least_ratio:
            return sets, found


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_exact_without_noise(k):
    for seed in range(20):
        sets, found = draw(np.random.default_rng(seed), k)
        order = metrics.match_clusters(sets[0], found.A)
        # One order for the three sets: it is taken from A alone.
        for truth, rows in zip(sets, (found.A, found.B, found.C), strict=True):
            assert np.abs(rows[:, order] - truth).max() < 1e-8
        assert found.residual < 1e-10


def test_hard_labels_are_exact():
    U = np.eye(3)[[0, 1, 2, 0, 1, 2]]
    found = memberships_by_jennrich(tensor(U, U[::-1], U), np.random.default_rng(0), 3)
    order = metrics.match_clusters(U, found.A)
    np.testing.assert_allclose(found.A[:, order], U, atol=1e-12)
    np.testing.assert_allclose(found.B[:, order], U[::-1], atol=1e-12)
    assert found.ratio == pytest.approx(1.0)


@pytest.mark.parametrize("poor", [0, 1, 2])
def test_coinciding_clusters_in_any_set_raise(poor):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sets = rng.dirichlet(np.ones(4), size=(3, 8))
        sets[poor][:, :2] = sets[poor][:, :2].mean(axis=1, keepdims=True)
        with pytest.raises(RankError, match=r"tell 4 clusters apart\. Got triplets of rank 3; ask"):
            memberships_by_jennrich(tensor(*sets), rng, 4)


def test_the_ratio_is_that_of_the_worst_set():
    rng = np.random.default_rng(0)
    sets, good = draw(rng, 3)
    sets[1][:, :2] = sets[1][:, :2].mean(axis=1, keepdims=True) + 1e-4 * sets[1][:, :2]
    assert memberships_by_jennrich(tensor(*sets), rng, 3).ratio < 1e-3 < good.ratio


def test_sets_that_share_no_cluster_raise():
    with pytest.raises(RankError, match="rank 0"):
        memberships_by_jennrich(np.zeros((4, 4, 4)), np.random.default_rng(0), 2)


def test_sets_may_differ_in_size():
    rng = np.random.default_rng(1)
    sets = [rng.dirichlet(np.ones(3), size=size) for size in (9, 6, 12)]
    found = memberships_by_jennrich(tensor(*sets), rng, 3)
    assert (len(found.A), len(found.B), len(found.C)) == (9, 6, 12)
    assert metrics.membership_error(sets[2], found.C) < 1e-8


def test_noise_is_borne_in_proportion():
    errors = []
    for std in (1e-6, 1e-4, 1e-2):
        rng = np.random.default_rng(3)
        sets, _ = draw(rng, 3, least_ratio=0.05)
        noisy = tensor(*sets) + std * rng.normal(size=(6, 6, 6))
        found = memberships_by_jennrich(noisy, rng, 3)
        errors.append(metrics.membership_error(sets[0], found.A))
        np.testing.assert_allclose(found.A.sum(axis=1), 1.0)
        assert found.A.min() >= 0.0
        assert 0.1 * std < found.residual < 10 * std
    assert errors[0] < 1e-4
    assert errors[0] < errors[1] < errors[2] < 0.5


def test_complex_eigenpairs_give_real_memberships():
    n_complex = 0
    for seed in range(20):  # no signal: many contractions have complex eigenvalues
        core = np.random.default_rng(seed).normal(size=(3, 3, 3))
        a, b = np.random.default_rng(0).normal(size=(2, 3))
        n_complex += np.iscomplex(np.linalg.eigvals(np.linalg.solve(core @ b, core @ a))).any()
        result = memberships_by_jennrich(core, np.random.default_rng(0), 3, n_draws=1)
        assert result.A.dtype == np.float64
        np.testing.assert_allclose(result.A.sum(axis=1), 1.0)
    assert n_complex >= 5


def test_more_draws_never_fit_worse():
    T = np.random.default_rng(5).uniform(size=(6, 6, 6))
    one, many = (
        memberships_by_jennrich(T, np.random.default_rng(0), 3, n_draws=n).residual for n in (1, 20)
    )
    assert many < one


def test_the_answers_are_left_alone():
    T = tensor(*np.random.default_rng(0).dirichlet(np.ones(2), size=(3, 4)))
    before = T.copy()
    memberships_by_jennrich(T, np.random.default_rng(0), 2)
    np.testing.assert_array_equal(T, before)
