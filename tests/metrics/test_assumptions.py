"""The theorems' quantities: values by hand, all pairs, and three data sets."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.cluster import kmeans_plusplus
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from askmeans.exceptions import DataError, ParameterError
from askmeans.fuzzy import closed_form_memberships, objective, squared_distances, weighted_centers
from askmeans.metrics import beta, gamma, largest_inversion, rho_pure, rho_weight

seeds = st.integers(0, 2**32 - 1)

# Note N1's own example: the farther item belongs more to the first cluster.
X, CENTERS, U = [[5.0], [-10.0]], [[0.0], [10.0]], [[0.5, 0.5], [0.8, 0.2]]


def clusterings(seed, n=9, k=3, d=2):
    rng = np.random.default_rng(seed)
    # On a coarse grid, so that rows, distances and memberships repeat.
    items = rng.integers(0, 4, (n, d)).astype(float)
    return items, rng.integers(0, 8, (k, d)) / 2, rng.dirichlet(np.ones(k), n).round(1)


# ---- beta and the two rhos ------------------------------------------------------------------


def test_beta_by_hand():
    # Sizes 2.5 and .5 of 3 items: 2 / 3 * .5
    assert beta([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]]) == pytest.approx(1 / 3)


def test_beta_is_one_for_clusters_of_equal_size_and_zero_for_an_empty_one():
    assert beta(np.eye(5)) == pytest.approx(1.0)
    assert beta([[1.0, 0.0]]) == 0.0


def test_rho_weight_by_hand():
    memberships = [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [1.0, 0.0]]
    assert rho_weight(memberships) == pytest.approx(1.25 / 4)
    assert rho_weight(memberships, 1.0) == pytest.approx(1.5 / 4)
    assert rho_weight(memberships, 3.0) == pytest.approx(1.125 / 4)


def test_rho_pure_by_hand():
    memberships = [[1.0, 0.0], [1.0, 0.0], [0.3, 0.7], [0.0, 1.0], [0.1, 0.9]]
    assert rho_pure(memberships) == pytest.approx(1 / 5)
    assert rho_pure(memberships, tolerance=0.1) == pytest.approx(2 / 5)
    assert rho_pure(memberships, tolerance=0.05) == pytest.approx(1 / 5)
    assert rho_pure([[0.9, 0.1], [0.0, 1.0]]) == 0.0


@pytest.mark.parametrize("tolerance", [0.1, 0.3, 0.7])
def test_rho_pure_counts_an_item_at_the_threshold_despite_rounding(tolerance):
    assert rho_pure([[round(1 - tolerance, 1)]], tolerance=tolerance) == 1.0
    assert rho_pure([[round(1 - tolerance, 1) - 1e-9]], tolerance=tolerance) == 0.0


@given(seeds)
def test_renaming_clusters_and_shuffling_items_change_nothing(seed):
    items, centers, memberships = clusterings(seed)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(9), rng.permutation(3)
    shuffled = items[rows], centers[columns], memberships[rows][:, columns]
    for quantity in (beta, rho_weight, rho_pure):
        assert quantity(shuffled[2]) == pytest.approx(quantity(memberships))
    assert gamma(*shuffled[:2]) == pytest.approx(gamma(items, centers))
    for order in ("distance", "relative"):
        # The clusters stay: summed in another order, equal relative ranks may differ by rounding.
        assert largest_inversion(items[rows], centers, memberships[rows], order=order) == (
            largest_inversion(items, centers, memberships, order=order)
        )
    assert largest_inversion(*shuffled) == largest_inversion(items, centers, memberships)


# ---- gamma ----------------------------------------------------------------------------------


def gamma_over_all_pairs(items, centers):
    squared = squared_distances(items, centers)
    ratios = [
        np.abs(squared[a] - squared[b]).min() / (2 * np.linalg.norm(items[a] - items[b]))
        for a, b in itertools.combinations(range(len(items)), 2)
        if (items[a] != items[b]).any()
    ]
    return min(ratios, default=math.inf)


def test_gamma_on_a_line_is_the_distance_to_the_nearest_midpoint():
    # Midpoints .5, 2 and 2.5.
    assert gamma([[0.0], [1.0], [4.0]], [[2.125]]) == pytest.approx(0.125)
    assert gamma([[0.0], [1.0], [4.0]], [[7.0], [1.0]]) == pytest.approx(0.5)


def test_gamma_in_the_plane_by_hand():
    # Squared distances 9 and 16 to the origin, 5 apart.
    assert gamma([[3.0, 0.0], [0.0, 4.0]], [[0.0, 0.0]]) == pytest.approx(0.7)


def test_gamma_is_how_far_a_center_moves_before_the_order_changes():
    items, center = np.random.default_rng(3).normal(size=(8, 2)), np.array([[0.2, -0.1]])
    ranking = np.argsort(squared_distances(items, center)[:, 0])
    angles = np.linspace(0, 2 * np.pi, 2000)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])

    def keeps_order(radius):
        orders = np.argsort(squared_distances(items, center + radius * circle), axis=0)
        return (orders == ranking[:, None]).all()

    assert keeps_order(0.99 * gamma(items, center))
    assert not keeps_order(1.01 * gamma(items, center))


def test_gamma_skips_repeated_rows_and_not_other_ties():
    assert gamma([[1.0], [1.0], [3.0]], [[0.0]]) == pytest.approx(2.0)
    assert gamma([[1.0], [1.0], [-1.0]], [[0.0]]) == 0.0


def test_gamma_of_items_that_are_all_alike_is_infinite():
    assert gamma([[1.0, 2.0]], [[0.0, 0.0]]) == math.inf
    assert gamma([[0.0, 2.0], [-0.0, 2.0]], [[0.0, 0.0]]) == math.inf


@given(seeds, st.integers(1, 12), st.integers(1, 3), st.booleans())
def test_gamma_is_the_smallest_over_all_pairs(seed, n, d, tied):
    rng = np.random.default_rng(seed)
    if tied:
        items, centers, _ = clusterings(seed, n=n, d=d)
        centers = centers + [0.3, 0.01, 0.07][:d]
    else:
        # Far from the centres too, where many pairs have nearly the same ratio.
        items, centers = rng.normal(size=(n, d)) + rng.integers(0, 50), rng.normal(size=(2, d))
    expected = gamma_over_all_pairs(items, centers)
    assert gamma(items, centers) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(seeds)
def test_gamma_is_the_smallest_over_all_pairs_when_rank_follows_a_chain(seed):
    # Items strung along a ray: neighbours in rank lie close, the ends of the chain far apart.
    rng = np.random.default_rng(seed)
    items = rng.uniform(0, 1e-2, (12, 3)).cumsum(axis=0) + 1.0
    centers = np.zeros((1, 3))
    assert gamma(items, centers) == pytest.approx(gamma_over_all_pairs(items, centers), rel=1e-9)


def test_gamma_of_many_items_needs_no_table_of_pairs():
    rng = np.random.default_rng(0)
    items, centers = rng.normal(size=(20_000, 3)), rng.normal(size=(4, 3))
    tracemalloc.start()
    assert 0 < gamma(items, centers) < 1e-6
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * items.nbytes  # the pairs would be 3 GB


# ---- largest_inversion ------------------------------------------------------------------------


def largest_inversion_over_all_pairs(ranks, memberships):
    n, k = ranks.shape
    return max(
        memberships[b, j] - memberships[a, j]
        for j in range(k)
        for a in range(n)
        for b in range(n)
        if ranks[a, j] <= ranks[b, j]
    )


def test_largest_inversion_of_the_notes_example():
    assert largest_inversion(X, CENTERS, U) == pytest.approx(0.3)
    assert largest_inversion(X, CENTERS, U, order="relative") == 0.0


def test_largest_inversion_compares_items_of_equal_rank_both_ways():
    # Both lie 1 from the centre, in either order of the rows.
    for memberships in ([[0.9], [0.4]], [[0.4], [0.9]]):
        assert largest_inversion([[1.0], [-1.0]], [[0.0]], memberships) == pytest.approx(0.5)


def test_largest_inversion_reaches_over_items_between_and_takes_the_worst_cluster():
    items, centers = [[1.0], [2.0], [3.0]], [[0.0], [0.5]]
    memberships = [[0.2, 0.9], [0.1, 0.3], [0.7, 0.4]]
    assert largest_inversion(items, centers, memberships) == pytest.approx(0.6)
    assert largest_inversion(items, centers[1:], np.array(memberships)[:, 1:]) == pytest.approx(0.1)


def test_a_monotone_clustering_has_no_inversion():
    memberships = [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
    assert largest_inversion([[0.0], [5.0], [10.0]], CENTERS, memberships) == 0.0


@given(seeds, st.sampled_from([1.2, 2.0, 3.0]))
def test_largest_inversion_is_the_largest_over_all_pairs(seed, fuzzifier):
    items, centers, memberships = clusterings(seed)
    by_distance = largest_inversion_over_all_pairs(squared_distances(items, centers), memberships)
    assert largest_inversion(items, centers, memberships) == by_distance
    relative = -closed_form_memberships(items, centers, fuzzifier)
    assert largest_inversion(
        items, centers, memberships, order="relative", fuzzifier=fuzzifier
    ) == largest_inversion_over_all_pairs(relative, memberships)


def test_relative_order_depends_on_the_fuzzifier_beyond_two_clusters():
    rng = np.random.default_rng(0)
    items, centers = rng.normal(size=(50, 2)), rng.normal(size=(3, 2))
    memberships = closed_form_memberships(items, centers, 1.2)
    relative = {"order": "relative"}
    assert largest_inversion(items, centers, memberships, fuzzifier=1.2, **relative) == 0.0
    assert largest_inversion(items, centers, memberships, fuzzifier=2.0, **relative) > 0.01


# ---- on data ----------------------------------------------------------------------------------


def fuzzy_kmeans(items, k, n_starts=3):
    """Best of a few runs of Lloyd's iterations at fuzzifier 2, written out plainly."""
    best = (math.inf, None)
    for seed in range(n_starts):
        centers, _ = kmeans_plusplus(items, k, random_state=seed)
        for _ in range(500):
            previous = centers
            centers = weighted_centers(items, closed_form_memberships(items, centers))
            if np.abs(centers - previous).max() < 1e-12:
                break
        cost = objective(items, centers, closed_form_memberships(items, centers))
        best = min(best, (cost, centers), key=lambda found: found[0])
    return best[1], closed_form_memberships(items, best[1])


def standardised(load):
    data = load().data
    return (data - data.mean(axis=0)) / data.std(axis=0)


@pytest.mark.parametrize(
    ("load", "k", "expected"),
    [(load_iris, 3, 0.64), (load_wine, 3, 0.46), (load_breast_cancer, 2, 0.74)],
)
def test_fuzzy_kmeans_optima_invert_by_distance_but_not_by_relative_order(load, k, expected):
    items = standardised(load)
    centers, memberships = fuzzy_kmeans(items, k)
    assert_allclose(weighted_centers(items, memberships), centers, atol=1e-6)
    assert round(largest_inversion(items, centers, memberships), 2) == expected
    assert largest_inversion(items, centers, memberships, order="relative") < 1e-9


@pytest.mark.parametrize("items", [load_iris().data, standardised(load_iris)])
def test_gamma_is_tiny_on_iris(items):
    centers, _ = fuzzy_kmeans(items, 3)
    found = gamma(items, centers)
    assert 1e-7 < found < 1e-3
    assert found == pytest.approx(gamma_over_all_pairs(items, centers), rel=1e-6)


# ---- refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize("quantity", [beta, rho_weight, rho_pure])
@pytest.mark.parametrize(
    ("memberships", "message"),
    [
        ([[1.5, 0.0]], r"memberships must lie between 0 and 1\. Got 1\.5 instead; weights or perc"),
        ([[np.nan, 0.0]], r"memberships must be finite\. Got nan in row 0, column 0 instead; drop"),
        ([1.0, 0.0], r"memberships must be two-dimensional and not empty\. Got shape \(2,\)"),
    ],
)
def test_memberships_that_are_none_are_refused(quantity, memberships, message):
    with pytest.raises(DataError, match=message):
        quantity(memberships)


def test_gamma_refuses_arrays_that_do_not_fit():
    with pytest.raises(DataError, match=r"centers must have the 1 features of X\. Got 2 features"):
        gamma([[0.0]], [[0.0, 1.0]])
    with pytest.raises(DataError, match=r"X must be finite\. Got inf in row 0, column 0"):
        gamma([[np.inf]], [[0.0]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, [[0.0, 1.0]], U), r"centers must have the 1 features of X\. Got 2 features"),
        ((X, CENTERS, U[:1]), r"memberships must have one row for each of the 2 rows of X\. Got 1"),
        ((X, CENTERS[:1], U), r"one column for each of the 1 centers\. Got 2 columns"),
        ((X, CENTERS, [[-1.0, 0.0]] * 2), r"memberships must lie between 0 and 1\. Got -1\.0"),
        ((X, [[0.0], [np.nan]], U), r"centers must be finite\. Got nan in row 1, column 0"),
    ],
)
def test_clusterings_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        largest_inversion(*arguments)


@pytest.mark.parametrize("order", ["nearest", None])
def test_largest_inversion_refuses_an_unknown_order(order):
    with pytest.raises(ParameterError) as caught:
        largest_inversion(X, CENTERS, U, order=order)
    assert str(caught.value) == (
        "The 'order' parameter of largest_inversion must be a str among {'distance', 'relative'}. "
        f"Got {order!r} instead."
    )


def test_a_fuzzifier_out_of_range_is_refused_by_name():
    with pytest.raises(ParameterError, match=r"of rho_weight must be .* \[1, inf\)\. Got 0\.9"):
        rho_weight(U, 0.9)
    with pytest.raises(ParameterError, match=r"of largest_inversion must be .* \(1, inf\)\. Got 1"):
        largest_inversion(X, CENTERS, U, order="relative", fuzzifier=1.0)
    with pytest.raises(ParameterError, match=r"of largest_inversion must be .* \[1, inf\)\. Got 0"):
        largest_inversion(X, CENTERS, U, fuzzifier=0)
    assert largest_inversion(X, CENTERS, U, fuzzifier=1.0) == pytest.approx(0.3)


@pytest.mark.parametrize("value", [-1e-3, math.nan, None])
def test_a_tolerance_that_is_none_is_refused_by_name(value):
    message = r"The 'tolerance' parameter of rho_pure must be a float in the range \[0, inf\]\. Got"
    with pytest.raises(ParameterError, match=message):
        rho_pure(U, tolerance=value)
