"""Choices do not hang on the last bits, which are not the same on every processor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askmeans.fuzzy.ties import first_lowest, without_last_bits

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
