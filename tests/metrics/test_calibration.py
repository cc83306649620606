"""The expected calibration error: values by hand, its properties, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askmeans.exceptions import DataError, ParameterError
from askmeans.metrics import expected_calibration_error

seeds = st.integers(0, 2**32 - 1)
bins = st.integers(1, 30)


def predictions(seed, n=40, k=4):
    rng = np.random.default_rng(seed)
    return rng.integers(k, size=n), rng.dirichlet(np.ones(k), n)


def test_it_is_the_gap_of_each_bin_weighted_by_its_items():
    proba = [[0.9, 0.1]] * 3 + [[0.45, 0.55]]
    # .9 beside 2 of 3 right, for 3 of 4 items; .55 beside none right.
    expected = 0.75 * (0.9 - 2 / 3) + 0.25 * 0.55
    assert expected_calibration_error([0, 0, 1, 0], proba, n_bins=10) == pytest.approx(expected)


def test_certain_answers_that_are_right_have_no_error_and_wrong_ones_the_largest():
    assert expected_calibration_error([0, 1, 2], np.eye(3)) == 0.0
    assert expected_calibration_error([1, 2, 0], np.eye(3)) == 1.0


def test_drawing_the_truth_from_the_probabilities_leaves_next_to_no_error():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(3), 50_000)
    y = (proba.cumsum(axis=1) > rng.random((50_000, 1))).argmax(axis=1)
    assert expected_calibration_error(y, proba) < 0.01
    sharp = proba**3 / (proba**3).sum(axis=1, keepdims=True)
    assert expected_calibration_error(y, sharp) > 0.1


@given(seeds, bins)
def test_it_lies_between_the_gap_of_all_items_and_one(seed, n_bins):
    y, proba = predictions(seed)
    whole = abs((proba.argmax(axis=1) == y).mean() - proba.max(axis=1).mean())
    error = expected_calibration_error(y, proba, n_bins=n_bins)
    assert whole - 1e-12 <= error <= 1.0
    assert expected_calibration_error(y, proba, n_bins=1) == pytest.approx(whole)


@given(seeds, bins)
def test_names_and_order_change_nothing(seed, n_bins):
    y, proba = predictions(seed)
    error = expected_calibration_error(y, proba, n_bins=n_bins)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(y)), rng.permutation(proba.shape[1])
    shuffled = expected_calibration_error(
        np.argsort(columns)[y[rows]], proba[rows][:, columns], n_bins=n_bins
    )
    assert shuffled == pytest.approx(error)


@given(seeds)
def test_a_weight_counts_an_item_so_often(seed):
    y, proba = predictions(seed)
    times = np.random.default_rng(seed).integers(0, 4, size=len(y))
    times[0] = 1
    repeated = expected_calibration_error(np.repeat(y, times), np.repeat(proba, times, axis=0))
    assert expected_calibration_error(y, proba, sample_weight=times) == pytest.approx(repeated)


def test_labels_are_the_columns_in_sorted_order():
    proba = [[0.8, 0.2], [0.4, 0.6]]
    named = expected_calibration_error(["cat", "dog"], proba)
    assert named == expected_calibration_error([0, 1], proba) == pytest.approx(0.3)


def test_rows_may_leave_something_to_no_cluster():
    assert expected_calibration_error([0], [[0.5, 0.1]]) == 0.5


def test_arguments_are_left_alone():
    y, proba = predictions(0)
    before = y.copy(), proba.copy()
    expected_calibration_error(y, proba)
    np.testing.assert_array_equal(y, before[0])
    np.testing.assert_array_equal(proba, before[1])


@pytest.mark.parametrize("n_bins", [0, 2.5, True, "ten"])
def test_bins_must_be_a_whole_number_above_zero(n_bins):
    with pytest.raises(ParameterError, match="'n_bins' parameter"):
        expected_calibration_error([0, 1], np.eye(2), n_bins=n_bins)


@pytest.mark.parametrize(
    ("y_true", "proba", "message"),
    [
        ([0, 1, 1], np.eye(2), r"one entry for each of the 2 rows of proba. Got shape \(3,\)"),
        ([[0], [1]], np.eye(2), r"flatten a column with .ravel\(\)"),
        ([0, 2], np.eye(2), "must be columns of proba, 0 to 1. Got 2 instead"),
        ([0.0, 0.5], np.eye(2), "must be columns of proba, 0 to 1. Got 0.5 instead"),
        ([0.0, np.nan], np.eye(2), "a label for every item"),
        (["a", None], np.eye(2), "a label for every item"),
        (["a", "a"], np.eye(2), "as many different labels as proba has columns, 2. Got 1"),
        ([0, 1], [[0.9, 0.9], [0.5, 0.5]], "sum to one at most. Got a sum of 1.8"),
        ([0, 1], [[1.5, -0.5], [0.5, 0.5]], "between 0 and 1"),
        ([0], [0.5, 0.5], "two-dimensional"),
    ],
)
def test_what_fits_no_column_is_refused(y_true, proba, message):
    with pytest.raises(DataError, match=message):
        expected_calibration_error(y_true, proba)


def test_weights_must_be_one_per_item():
    with pytest.raises(DataError, match="sample_weight"):
        expected_calibration_error([0, 1], np.eye(2), sample_weight=[1.0])
