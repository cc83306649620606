"""Rows on the simplex, choices among values equal but for rounding, evenly spread rows."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose

from askmeans.fuzzy.arrays import (
    even_rows,
    first_lowest,
    onto_simplex,
    within_bounds,
    without_last_bits,
)

tables = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.floats(-3.0, 3.0)
)


def nearest_point(row):
    """The nearest point of the simplex, by trying every face."""
    candidates = []
    for size in range(1, len(row) + 1):
        for face in itertools.combinations(range(len(row)), size):
            point = np.zeros(len(row))
            on = list(face)
            point[on] = row[on] + (1.0 - row[on].sum()) / size
            if (point >= 0.0).all():
                candidates.append(point)
    return min(candidates, key=lambda point: np.square(point - row).sum())


@given(tables)
def test_every_row_becomes_the_nearest_point_of_the_simplex(rows):
    expected = np.array([nearest_point(row) for row in rows])
    assert_allclose(onto_simplex(rows.copy()), expected, atol=1e-12)


@given(tables)
def test_rows_lie_in_the_unit_interval_and_sum_to_one(rows):
    made = onto_simplex(rows.copy())
    assert (made >= 0.0).all()
    assert (made <= 1.0 + 1e-12).all()
    assert_allclose(made.sum(axis=1), 1.0, atol=1e-12)


@given(tables)
def test_rows_of_the_simplex_stay(rows):
    once = onto_simplex(rows.copy())
    assert_allclose(onto_simplex(once.copy()), once, atol=1e-12)


def test_what_is_missing_is_shared_evenly_note_n11():
    rows = np.array([[0.5, 0.2, 0.0], [0.7, 0.4, 0.2]])
    assert_allclose(onto_simplex(rows), [[0.6, 0.3, 0.1], [0.6, 0.3, 0.1]])


def test_a_row_that_the_even_shift_would_make_negative_is_projected_note_n11():
    rows = np.array([[1.0, 0.9, 0.0]])  # evenly shifted: .7, .6, -.3
    assert_allclose(onto_simplex(rows), [[0.55, 0.45, 0.0]])


def test_rows_are_changed_in_place():
    rows = np.array([[0.0, 0.0], [2.0, 0.0]])
    assert onto_simplex(rows) is rows
    assert rows.tolist() == [[0.5, 0.5], [1.0, 0.0]]


@given(st.integers(0, 10_000))
def test_rows_within_bounds_are_the_nearest_that_sum_to_one(seed):
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(4), size=5)  # so that there is such a row
    low, high = np.clip(truth - 0.2, 0.0, 1.0), np.clip(truth + 0.2, 0.0, 1.0)
    rows = rng.dirichlet(np.ones(4), size=5)
    found = within_bounds(rows, low, high)
    assert_allclose(found.sum(axis=1), 1.0)
    assert (found >= low - 1e-9).all()
    assert (found <= high + 1e-9).all()
    for share in (0.01, 0.3, 1.0):  # a step towards any other such row leads away
        step = found + share * (truth - found)
        nearer = np.linalg.norm(step - rows, axis=1) < np.linalg.norm(found - rows, axis=1) - 1e-9
        assert not nearer.any()


def test_bounds_that_leave_no_row_give_the_nearest_of_the_simplex():
    found = within_bounds(np.array([[0.5, 0.5]]), np.array([[0.9, 0.9]]), np.array([[1.0, 1.0]]))
    assert_allclose(found, [[0.5, 0.5]])


finite = st.floats(-1e300, 1e300)


def test_of_values_equal_but_for_rounding_the_first_is_lowest():
    assert first_lowest([2.0, 0.3, 0.1 + 0.2 - 1e-16, 0.3 - 1e-13]) == 1
    assert first_lowest([-1.0, -1.0 - 1e-12]) == 0


def test_what_is_lower_by_more_than_rounding_is_lowest():
    assert first_lowest([1.0, 1.0 - 1e-6, 3.0]) == 1
    assert first_lowest([np.nan, 5.0, 4.0]) == 2
    assert first_lowest([0.0, 1e-300]) == 0
    assert first_lowest([np.inf, np.inf]) == first_lowest([np.nan, np.nan]) == 0


@given(finite)
def test_last_bits_are_a_millionth_at_most(value):
    assert without_last_bits(value) == pytest.approx(value, rel=1e-6, abs=1e-300)


@given(finite, finite)
def test_without_last_bits_no_order_is_turned_round(a, b):
    low, high = sorted([a, b])
    assert without_last_bits(low) <= without_last_bits(high)


@given(st.integers(-(2**19), 2**19), st.integers(-60, 60), st.floats(-1e-13, 1e-13))
def test_numbers_of_few_digits_stay_what_they_are_also_with_noise(digits, exponent, noise):
    value = digits * 2.0**exponent
    assert without_last_bits(value * (1.0 + noise)) == value


@pytest.mark.parametrize("n", [10_001, 25_000, 39_999, 40_000, 1_000_000, 1_000_000_000])
def test_rows_are_bounded_ascending_and_spread_over_all(n):
    rows = even_rows(n, 10_000)
    assert len(rows) == 10_000
    assert (np.diff(rows) > 0).all()
    assert rows[-1] < n
    in_tenths = np.histogram(rows, bins=10, range=(0, n))[0]
    assert in_tenths.min() > 0.95 * in_tenths.mean()


@pytest.mark.parametrize("period", [2, 3, 4, 7, 10, 100])
def test_clusters_that_take_turns_are_all_met_alike(period):
    counts = np.bincount(even_rows(1_000_000, 10_000) % period, minlength=period)
    assert counts.min() > 0.7 * counts.mean()


def test_few_rows_are_all_taken():
    assert even_rows(7, 10).tolist() == list(range(7))
