"""Validity indices: values by hand, the formula itself, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import silhouette_score

from askmeans import metrics
from askmeans.exceptions import DataError, ParameterError
from askmeans.fuzzy import closed_form_memberships
from askmeans.metrics.validity import (
    fuzzy_silhouette,
    partition_coefficient,
    partition_entropy,
    xie_beni,
)

# Worked by hand: objective 1 + .25 * 9 + .25 * 1 + 1 = 4.5, centres 2 apart, grand mean 2.
X = [[0.0], [4.0], [4.0]]
CENTERS = [[1.0], [3.0]]
U = [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]


def clusterings(seed, n=12, k=3, d=2):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(k, d)), rng.dirichlet(np.ones(k), n)


seeds = st.integers(0, 2**32 - 1)


def test_everything_public_is_sorted_and_there():
    assert metrics.__all__ == sorted(metrics.__all__)
    assert all(callable(getattr(metrics, name)) for name in metrics.__all__)


def test_xie_beni_divides_by_the_items_and_the_paper_by_the_clusters_too():
    assert xie_beni(X, CENTERS, U) == pytest.approx(4.5 / (3 * 4))
    assert xie_beni(X, CENTERS, U, variant="paper") == pytest.approx(4.5 / (3 * 2 * 4))


def test_xie_beni_weighs_by_the_fuzzifier():
    # alpha = 1: 1 + .5 * 9 + .5 * 1 + 1 = 7
    assert xie_beni(X, CENTERS, U, 1.0) == pytest.approx(7 / 12)


def test_xie_beni_takes_the_nearest_two_of_three_centers():
    far = xie_beni([[0.0]], [[0.0], [3.0], [10.0]], [[0.0, 1.0, 0.0]])
    assert far == pytest.approx(9 / 9)


def test_xie_beni_is_infinite_when_centers_coincide():
    assert xie_beni(X, [[1.0], [1.0]], U) == math.inf
    assert xie_beni([[1.0]], [[1.0], [1.0]], [[0.5, 0.5]]) == math.inf


def test_partition_coefficient_by_hand_and_at_its_ends():
    assert partition_coefficient(U) == pytest.approx((1 + 0.5 + 1) / 3)
    assert partition_coefficient(np.eye(4)) == 1.0
    assert partition_coefficient(np.full((5, 4), 0.25)) == 0.25


def test_partition_entropy_by_hand_and_at_its_ends():
    assert partition_entropy(U) == pytest.approx(math.log(2) / 3)
    assert partition_entropy(np.full((5, 4), 0.25)) == pytest.approx(math.log(4))


@pytest.mark.parametrize("sure", [np.eye(4), np.ones((3, 1))])
def test_partition_entropy_of_sure_items_is_a_positive_zero(sure):
    assert math.copysign(1.0, partition_entropy(sure)) == 1.0
    assert partition_entropy(sure) == 0.0


@given(seeds)
def test_renaming_clusters_and_shuffling_items_change_nothing(seed):
    items, centers, memberships = clusterings(seed)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(12), rng.permutation(3)
    shuffled = items[rows], centers[columns], memberships[rows][:, columns]
    assert xie_beni(*shuffled) == pytest.approx(xie_beni(items, centers, memberships))
    for index in (partition_coefficient, partition_entropy):
        assert index(shuffled[2]) == pytest.approx(index(memberships))


def test_xie_beni_ignores_the_unit_of_the_data():
    items, centers, memberships = clusterings(0)
    assert xie_beni(1000 * items, 1000 * centers, memberships) == pytest.approx(
        xie_beni(items, centers, memberships)
    )


def test_rounding_outside_the_unit_interval_is_taken_for_its_end():
    # A power of a negative number would be NaN.
    assert xie_beni(X, CENTERS, [[1.0, -1e-10], [0.5, 0.5], [0.0, 1.0]], 1.5) == xie_beni(
        X, CENTERS, U, 1.5
    )
    assert partition_entropy([[1.0 + 1e-10, -1e-10]]) == 0.0
    assert partition_coefficient(np.array([[1.0 + 1e-7, 0.0]], dtype=np.float32)) == 1.0


def test_the_callers_arrays_are_left_alone():
    memberships = np.array([[1.0 + 1e-10, -1e-10]])
    before = memberships.copy()
    partition_coefficient(memberships)
    np.testing.assert_array_equal(memberships, before)


@pytest.mark.parametrize("index", [partition_coefficient, partition_entropy])
@pytest.mark.parametrize(
    ("memberships", "message"),
    [
        ([[0.5, 0.6], [-0.1, 1.0]], r"memberships must lie between 0 and 1\. Got -0\.1 instead; "),
        ([[50.0, 50.0]], r"Got 50\.0 instead; weights or percentages are divided by the sum"),
        ([[1.0 + 1e-7, 0.0]], r"Got 1\.0000001 instead"),
        ([[1.0, 0.0], [0.0, np.nan]], r"memberships must be finite\. Got nan in row 1, column 1"),
        ([[np.inf, 0.0]], r"memberships must be finite\. Got inf in row 0, column 0 instead; drop"),
        ([1.0, 0.0], r"memberships must be two-dimensional and not empty\. Got shape \(2,\)"),
        (np.empty((0, 2)), r"Got shape \(0, 2\) instead"),
    ],
)
def test_memberships_that_are_none_are_refused(index, memberships, message):
    with pytest.raises(DataError, match=message):
        index(memberships)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0.0, 0.0]], CENTERS, [[1.0, 0.0]]), r"centers must have the 2 features of X\. Got 1"),
        ((X, CENTERS, U[:2]), r"memberships must have one row for each of the 3 rows of X\. Got 2"),
        ((X, [*CENTERS, [9.0]], U), r"one column for each of the 3 centers\. Got 2 columns"),
        ((X, CENTERS, [[2.0, 0.0]] * 3), r"memberships must lie between 0 and 1\. Got 2\.0"),
        (([[np.nan], [1.0], [2.0]], CENTERS, U), r"X must be finite\. Got nan in row 0, column 0"),
        ((X, [[1.0], [np.inf]], U), r"centers must be finite\. Got inf in row 1, column 0"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        xie_beni(*arguments)


def test_a_fuzzifier_below_one_is_refused_by_name():
    message = r"The 'fuzzifier' parameter of xie_beni must be .* \[1, inf\)\. Got 0\.5"
    with pytest.raises(ParameterError, match=message):
        xie_beni(X, CENTERS, U, 0.5)


def test_xie_beni_of_a_single_center_is_refused():
    with pytest.raises(DataError, match=r"centers must have at least 2 rows .* Got 1 instead"):
        xie_beni(X, [[1.0]], [[1.0]] * 3)


@pytest.mark.parametrize("variant", ["x", None, ["classic"]])
def test_xie_beni_refuses_an_unknown_variant(variant):
    with pytest.raises(ParameterError) as caught:
        xie_beni(X, CENTERS, U, variant=variant)
    assert str(caught.value) == (
        "The 'variant' parameter of xie_beni must be a str among {'classic', 'paper'}. "
        f"Got {variant!r} instead."
    )


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    return rng.normal(size=(120, 2)) + np.array([[0, 0], [5, 0], [0, 5]])[y], y


def test_hard_memberships_have_the_silhouette_of_scikit_learn(blobs):
    X, y = blobs
    assert fuzzy_silhouette(X, np.eye(3)[y]) == pytest.approx(silhouette_score(X, y))
    assert fuzzy_silhouette(X + 1e6, np.eye(3)[y]) == pytest.approx(silhouette_score(X, y))


def test_items_between_clusters_count_less(blobs):
    X, _ = blobs
    U = closed_form_memberships(X, np.array([[0, 0], [5, 0], [0, 5]]), 2.0)
    assert fuzzy_silhouette(X, U) > silhouette_score(X, U.argmax(axis=1))


def test_a_silhouette_needs_two_clusters():
    with pytest.raises(DataError, match="at least 2 strongest clusters"):
        fuzzy_silhouette([[0.0], [1.0]], [[1.0, 0.0], [0.9, 0.1]])
    with pytest.raises(DataError, match="one row for each"):
        fuzzy_silhouette([[0.0], [1.0]], np.eye(3))
