"""Agreement with a reference: values by hand and the best over all permutations."""

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askmeans.exceptions import DataError, ParameterError
from askmeans.metrics import (
    center_error,
    is_solution,
    match_clusters,
    matched_accuracy,
    membership_error,
)

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 5)


def pair_of_memberships(seed, k, n=7):
    rng = np.random.default_rng(seed)
    # Rounded, so that ties occur.
    return rng.dirichlet(np.ones(k), n).round(1), rng.dirichlet(np.ones(k), n).round(1)


def pair_of_centers(seed, k):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 5, (k, 2)) / 2, rng.integers(0, 5, (k, 2)) / 2


def permutations(k):
    return [list(order) for order in itertools.permutations(range(k))]


# ---- match_clusters -------------------------------------------------------------------------


def test_match_clusters_finds_the_permutation_that_was_applied():
    reference = np.random.default_rng(0).dirichlet(np.ones(4), 30)
    shuffle = np.array([2, 0, 3, 1])
    estimate = reference[:, shuffle]
    found = match_clusters(reference, estimate)
    np.testing.assert_array_equal(estimate[:, found], reference)
    np.testing.assert_array_equal(found, np.argsort(shuffle))


def test_match_clusters_takes_the_best_sum_not_the_best_single_pair():
    # .5 is nearest to .6, but that leaves 1 with 0: 1.1 in all against .9.
    np.testing.assert_array_equal(match_clusters([[0.5, 1.0]], [[0.6, 0.0]]), [1, 0])


@given(seeds, sizes)
def test_match_clusters_has_the_smallest_sum_of_all_permutations(seed, k):
    reference, estimate = pair_of_memberships(seed, k)
    found = match_clusters(reference, estimate)
    assert sorted(found) == list(range(k))
    sums = [np.abs(reference - estimate[:, order]).sum() for order in permutations(k)]
    assert np.abs(reference - estimate[:, found]).sum() == pytest.approx(min(sums))


# ---- center_error ---------------------------------------------------------------------------


def test_center_error_by_hand():
    assert center_error([[0.0, 0.0], [10.0, 0.0]], [[10.0, 4.0], [3.0, 0.0]]) == 4.0


def test_center_error_minimises_the_largest_distance_not_the_sum():
    # Distances [[0, 5], [4, 6.4]]: 0 and 6.4 have the smaller sum, 5 and 4 the smaller largest.
    reference, estimate = [[0.0, 0.0], [4.0, 0.0]], [[0.0, 0.0], [0.0, 5.0]]
    assert center_error(reference, estimate) == 5.0


@given(seeds, sizes)
def test_center_error_is_the_best_of_all_permutations(seed, k):
    reference, estimate = pair_of_centers(seed, k)
    largest = [
        np.linalg.norm(reference - estimate[order], axis=1).max() for order in permutations(k)
    ]
    assert center_error(reference, estimate) == pytest.approx(min(largest))


# ---- membership_error -----------------------------------------------------------------------


def test_membership_error_by_hand():
    reference = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    estimate = [[0.0, 1.0], [0.7, 0.3], [0.6, 0.4]]
    assert membership_error(reference, estimate) == pytest.approx(0.3)
    assert membership_error(reference, estimate, how="mean") == pytest.approx(0.8 / 6)


def test_the_two_errors_may_want_different_permutations():
    # Kept as they are, the columns differ in one row only, but there by 1; swapped, mostly by .5.
    reference = np.array([[1.0, 0.5]] * 9 + [[1.0, 0.0]])
    estimate = np.array([[1.0, 0.5]] * 9 + [[0.5, 1.0]])
    assert membership_error(reference, estimate) == 0.5
    assert membership_error(reference, estimate, how="mean") == pytest.approx(1.5 / 20)


@given(seeds, sizes)
def test_membership_errors_are_the_best_of_all_permutations(seed, k):
    reference, estimate = pair_of_memberships(seed, k)
    differences = [np.abs(reference - estimate[:, order]) for order in permutations(k)]
    assert membership_error(reference, estimate) == pytest.approx(min(d.max() for d in differences))
    assert membership_error(reference, estimate, how="mean") == pytest.approx(
        min(d.mean() for d in differences)
    )


@given(seeds, sizes)
def test_renaming_clusters_and_shuffling_items_change_no_error(seed, k):
    reference, estimate = pair_of_memberships(seed, k)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(reference)), rng.permutation(k)
    for how in ("max", "mean"):
        expected = pytest.approx(membership_error(reference, estimate, how=how))
        assert membership_error(reference[:, columns], estimate, how=how) == expected
        assert membership_error(reference[rows], estimate[rows], how=how) == expected
        assert membership_error(estimate, reference, how=how) == expected
    mu, found = pair_of_centers(seed, k)
    assert center_error(mu[columns], found) == pytest.approx(center_error(mu, found))


def test_membership_error_holds_no_array_of_items_by_clusters_twice():
    reference = np.random.default_rng(0).dirichlet(np.ones(40), 2000)
    tracemalloc.start()
    assert membership_error(reference, reference[:, ::-1]) == 0.0
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * reference.nbytes  # n x k x k would be 40 times


# ---- matched_accuracy -----------------------------------------------------------------------


def test_matched_accuracy_by_hand_with_strings():
    y = ["a", "a", "a", "b", "b", "c"]
    assert matched_accuracy(y, [7, 7, 2, 2, 2, 5]) == pytest.approx(5 / 6)


def test_matched_accuracy_gives_every_class_one_cluster_of_its_own():
    # Both clusters are mostly class 0, yet only one of them may be called so.
    assert matched_accuracy([0, 0, 0, 0, 1], [0, 0, 1, 1, 1]) == pytest.approx(3 / 5)


def test_matched_accuracy_takes_the_largest_membership_and_the_first_of_equals():
    memberships = [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]
    assert matched_accuracy(["x", "x", "y"], memberships) == 1.0
    assert matched_accuracy(["x", "y", "y"], memberships) == pytest.approx(2 / 3)


def test_more_clusters_than_classes_and_fewer_are_fine():
    assert matched_accuracy([0, 0, 0, 1], [0, 0, 1, 2]) == pytest.approx(3 / 4)
    assert matched_accuracy([0, 1, 2, 2], [0, 0, 0, 0]) == pytest.approx(2 / 4)


def test_a_cluster_that_no_item_prefers_is_fine():
    assert matched_accuracy([0, 1], [[0.6, 0.0, 0.4], [0.0, 0.3, 0.7]]) == 1.0


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), min_size=1, max_size=12))
def test_matched_accuracy_is_the_best_of_all_namings(items):
    y, labels = zip(*items, strict=True)
    namings = itertools.permutations(["a", "b", "c", "none of them"])
    best = max(
        sum(naming[label] == name for name, label in zip(y, labels, strict=True))
        for naming in namings
    )
    assert matched_accuracy(y, labels) == pytest.approx(best / len(y))


# ---- is_solution ----------------------------------------------------------------------------

MU, U = [[0.0], [10.0]], [[1.0, 0.0], [0.25, 0.75]]


def test_is_solution_up_to_the_names_and_no_further_than_its_tolerances():
    found = [[9.5], [0.25]], [[0.0, 1.0], [0.5, 0.5]]
    assert is_solution(MU, U, *found, center_tolerance=0.5, membership_tolerance=0.25)
    assert not is_solution(MU, U, *found, center_tolerance=0.49, membership_tolerance=0.25)
    assert not is_solution(MU, U, *found, center_tolerance=0.5, membership_tolerance=0.24)


def test_is_solution_wants_one_permutation_for_both():
    swapped = [row[::-1] for row in U]
    assert center_error(MU, MU) == membership_error(U, swapped) == 0.0
    assert not is_solution(MU, U, MU, swapped, center_tolerance=1.0, membership_tolerance=0.1)
    assert is_solution(MU, U, MU[::-1], swapped, center_tolerance=0.0, membership_tolerance=0.0)


def test_an_infinite_tolerance_leaves_the_other_error_to_decide():
    far = [[1e6], [-1e6]]
    assert is_solution(MU, U, far, U, center_tolerance=np.inf, membership_tolerance=0.0)


@given(seeds, sizes, st.floats(0, 2), st.floats(0, 1))
def test_is_solution_agrees_with_all_permutations(seed, k, center_tolerance, membership_tolerance):
    mu, found = pair_of_centers(seed, k)
    reference, _ = pair_of_memberships(seed, k)
    noise = np.random.default_rng(seed).uniform(-0.3, 0.3, reference.shape)
    estimate = np.clip(reference + noise, 0, 1)
    expected = any(
        np.linalg.norm(mu - found[order], axis=1).max() <= center_tolerance
        and np.abs(reference - estimate[:, order]).max() <= membership_tolerance
        for order in permutations(k)
    )
    answer = is_solution(
        mu,
        reference,
        found,
        estimate,
        center_tolerance=center_tolerance,
        membership_tolerance=membership_tolerance,
    )
    assert answer is expected


# ---- refusals -------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", [match_clusters, membership_error])
def test_memberships_that_do_not_fit_are_refused(measure):
    with pytest.raises(DataError, match=r"estimate must have the shape of reference, \(2, 2\)\. "):
        measure(U, [[1.0, 0.0, 0.0]] * 2)
    with pytest.raises(DataError, match=r"Got \(3, 2\) instead; both need the same items"):
        measure(U, [[1.0, 0.0]] * 3)
    with pytest.raises(DataError, match=r"reference must lie between 0 and 1\. Got -1\.0 instead"):
        measure([[-1.0, 0.0]], [[1.0, 0.0]])
    with pytest.raises(DataError, match=r"estimate must be finite\. Got nan in row 0, column 1"):
        measure([[1.0, 0.0]], [[1.0, np.nan]])
    with pytest.raises(DataError, match=r"reference must be two-dimensional"):
        measure([1.0, 0.0], U)


def test_center_error_refuses_centers_that_do_not_fit():
    with pytest.raises(DataError, match=r"estimate must have the shape of reference, \(2, 1\)\. "):
        center_error(MU, [[1.0]])
    with pytest.raises(DataError, match=r"estimate must be finite\. Got inf in row 1, column 0"):
        center_error(MU, [[1.0], [np.inf]])


@pytest.mark.parametrize("how", ["median", 1])
def test_membership_error_refuses_an_unknown_how(how):
    with pytest.raises(ParameterError) as caught:
        membership_error(U, U, how=how)
    assert str(caught.value) == (
        "The 'how' parameter of membership_error must be a str among {'max', 'mean'}. "
        f"Got {how!r} instead."
    )


@pytest.mark.parametrize(
    ("y", "labels", "message"),
    [
        ([0, 1], [0, 1, 1], r"labels must have one entry for each of the 2 items .* Got 3 instead"),
        (
            [[0], [1]],
            [0, 1],
            r"y_true must be one-dimensional .* Got shape \(2, 1\) instead; .*ravel",
        ),
        ([], [], r"y_true must be one-dimensional and not empty\. Got shape \(0,\)"),
        ([0, 1], [[[0.0]]], r"labels must be one-dimensional .* Got shape \(1, 1, 1\)"),
        ([0, 1], [[2.0, 0.0]] * 2, r"labels must lie between 0 and 1\. Got 2\.0"),
        ([0.0, np.nan], [0, 1], r"y_true must hold a label for every item\. Got a missing one"),
        (np.array(["a", None], dtype=object), [0, 1], r"y_true must hold a label for every item"),
        ([0, 1], [0.0, np.nan], r"labels must hold a label for every item"),
    ],
)
def test_matched_accuracy_refuses_labels_that_do_not_fit(y, labels, message):
    with pytest.raises(DataError, match=message):
        matched_accuracy(y, labels)


@pytest.mark.parametrize("parameter", ["center_tolerance", "membership_tolerance"])
@pytest.mark.parametrize("value", [-0.1, np.nan, None, True, "0.1"])
def test_is_solution_refuses_a_tolerance_that_is_none(parameter, value):
    tolerances = {"center_tolerance": 1.0, "membership_tolerance": 1.0, parameter: value}
    message = rf"The '{parameter}' parameter of is_solution must be a float in the range \[0, inf\]"
    with pytest.raises(ParameterError, match=message):
        is_solution(MU, U, MU, U, **tolerances)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((MU, U, [[1.0]], U), r"estimated_centers must have the shape of centers, \(2, 1\)"),
        ((MU, U, MU, U[:1]), r"estimated_memberships must have the shape of memberships, \(2, 2\)"),
        (([[0.0]], U, [[0.0]], U), r"one column for each of the 1 centers\. Got 2 columns"),
        ((MU, U, MU, [[3.0, 0.0]] * 2), r"estimated_memberships must lie between 0 and 1\. Got 3"),
    ],
)
def test_is_solution_refuses_arrays_that_do_not_fit(arguments, message):
    with pytest.raises(DataError, match=message):
        is_solution(*arguments, center_tolerance=1.0, membership_tolerance=1.0)


def test_a_column_of_labels_is_not_taken_for_memberships():
    with pytest.raises(DataError, match=r"flatten a column with .ravel\(\)"):
        matched_accuracy([0, 1, 1], [[0], [1], [1]])
