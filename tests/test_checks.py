"""Checks of arguments that no other room's tests reach."""

import numpy as np
import pytest

from askmeans import checks
from askmeans.exceptions import DataError, ParameterError


@pytest.mark.parametrize("value", [1, 3, np.int64(4)])
def test_integers_of_every_kind_pass(value):
    checks.check_number(value, "size", "Owner", integer=True, minimum=1)
    with pytest.raises(ParameterError, match=r"'size' parameter of Owner .*\[5, inf\)"):
        checks.check_number(value, "size", "Owner", integer=True, minimum=5)


@pytest.mark.parametrize("value", [None, "1", True, np.nan, [1], 1.5])
def test_what_is_no_integer_is_refused(value):
    with pytest.raises(ParameterError, match="must be an int"):
        checks.check_number(value, "size", "Owner", integer=True)


def test_rounding_outside_the_unit_interval_is_clipped_and_no_more():
    clipped = checks.as_memberships([[1.0 + 1e-10, -1e-10]])
    assert clipped.tolist() == [[1.0, 0.0]]
    with pytest.raises(DataError, match="between 0 and 1"):
        checks.as_memberships([[1.0 + 1e-7, 0.0]])
    checks.as_memberships(np.array([[1.0 + 1e-7, 0.0]], dtype=np.float32))


def test_the_first_cell_that_is_not_finite_is_named():
    with pytest.raises(DataError, match=r"X must be finite. Got nan in row 1, column 0"):
        checks.as_matrix([[1.0, 2.0], [np.nan, np.inf]], "X")


def test_no_weights_are_an_empty_array():
    assert checks.as_weights(None, 5).size == 0
    assert checks.as_weights(2.0, 3).tolist() == [2.0, 2.0, 2.0]
