"""Checks of arguments that no other room's tests reach."""

import numpy as np
import pytest

from askmeans._util import checks
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


def test_the_first_cell_that_is_not_finite_is_named():
    with pytest.raises(DataError, match=r"X must be finite. Got nan in row 1, column 0"):
        checks.as_matrix([[1.0, 2.0], [np.nan, np.inf]], "X")


def test_no_weights_are_an_empty_array():
    assert checks.as_weights(None, 5).size == 0
    assert checks.as_weights(2.0, 3).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "\x1b[2J", "\ud800", "x" * 201, 5, None])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(ParameterError, match="'annotator' parameter of Owner must be a name"):
        checks.check_name(name, "annotator", "Owner")


def test_a_name_is_composed_and_has_no_spaces_around_it():
    assert checks.check_name(" Zoe\u0308 ", "annotator") == "Zo\u00eb"


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("007", 7), ("²", None), ("٣", None), ("-1", None), ("", None), ("1" * 5000, None)],
)
def test_a_whole_number_is_told_in_plain_digits(text, number):
    assert checks.parse_digits(text) == number


def test_numbers_too_large_for_a_float_are_refused_in_a_sentence():
    huge = 10**400
    with pytest.raises(DataError, match="X must hold numbers"):
        checks.as_matrix([[huge]], "X")
    with pytest.raises(DataError, match="sample_weight must be one number"):
        checks.as_weights([huge], 1)
    with pytest.raises(ParameterError, match=r"an int in the range \[1, 2\*\*63\)"):
        checks.check_number(huge, "budget", "Owner", integer=True, minimum=1)
    with pytest.raises(ParameterError, match=r"a float in the range"):
        checks.check_number(huge, "size", "Owner")
    with pytest.raises(ParameterError, match=r"\(0, inf\)"):
        checks.check_positive(huge, "seconds", "Owner")
    checks.check_seed(huge, "seed", "Owner")
    with pytest.raises(ParameterError, match=r"'seed' parameter of Owner must be an int"):
        checks.check_seed(-1, "seed", "Owner")


def test_values_whose_squares_overflow_are_refused():
    checks.check_magnitude(np.array([[-1e149, 1e149]]), "X")
    with pytest.raises(DataError, match=r"X must have no values above 5e\+153. Got 1e\+160"):
        checks.check_magnitude(np.array([[1.0, -1e160]]), "X")
