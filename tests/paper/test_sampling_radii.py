"""The empirical Bernstein rule: covers the truth, and stops."""

import numpy as np
import pytest

from askmeans import budgets, datasets
from askmeans.exceptions import DataError, ParameterError


@pytest.fixture(scope="module")
def planted():
    return datasets.make_cores_and_arms([400, 200, 100], rng=np.random.default_rng(0))


def draw(planted, size, seed):
    rows = np.random.default_rng(seed).integers(len(planted.X), size=size)
    return planted.X[rows], planted.memberships[rows]


def estimate(X, U):
    weights = U**2
    return weights.T @ X / weights.sum(axis=0)[:, None]


@pytest.mark.parametrize("size", [60, 400])
def test_radii_cover_the_true_centers_as_often_as_they_say(planted, size):
    # 300 seeds; the bound is on the safe side, so that 95 % is exceeded.
    covered = []
    for seed in range(300):
        X, U = draw(planted, size, seed)
        errors = np.linalg.norm(estimate(X, U) - planted.centers, axis=1)
        covered.append((errors <= budgets.center_radii(X, U)).all())
    assert np.mean(covered) >= 0.95


def test_radii_shrink_about_with_the_root_of_the_sample(planted):
    few = np.mean([budgets.center_radii(*draw(planted, 500, s)) for s in range(20)], axis=0)
    many = np.mean([budgets.center_radii(*draw(planted, 8000, s)) for s in range(20)], axis=0)
    assert ((few / many > 3.5) & (few / many < 8.0)).all()


def test_radii_fall_below_a_limit_once_and_for_all_beyond_some_size(planted):
    sizes = [100, 300, 1000, 3000, 10_000, 30_000]
    enough = [(budgets.center_radii(*draw(planted, size, 1)) <= 0.1).all() for size in sizes]
    assert enough == sorted(enough)
    assert not enough[0]
    assert enough[-1]


def test_less_certainty_is_had_for_less(planted):
    X, U = draw(planted, 300, 0)
    assert (budgets.center_radii(X, U, delta=0.3) < budgets.center_radii(X, U, delta=0.01)).all()


def test_a_cluster_without_members_is_never_pinned_down():
    radii = budgets.center_radii([[0.0], [1.0]], [[1.0, 0.0], [1.0, 0.0]])
    assert np.isinf(radii[1])


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, 2.0])
def test_a_probability_out_of_range_is_refused(delta):
    with pytest.raises(ParameterError, match="'delta' parameter"):
        budgets.center_radii([[0.0]], [[1.0]], delta=delta)


def test_arrays_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="one row for each"):
        budgets.center_radii([[0.0], [1.0]], [[1.0]])


def test_cannot_say_counts_for_nothing(planted):
    X, U = draw(planted, 200, 0)
    with_gaps = np.vstack([U, np.full((50, 3), np.nan)])
    found = budgets.center_radii(np.vstack([X, X[:50]]), with_gaps)
    np.testing.assert_allclose(found, budgets.center_radii(X, U))
