"""Answers to group questions: what people say, as rows of shares."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from askmeans.exceptions import AnswerError
from askmeans.queries.values import as_row, difference, largest_difference, parse_row, row_text

NAMES = ["Group A", "Group B", "2", "a, b: c"]


@pytest.mark.parametrize(
    ("value", "row"),
    [
        (1, (0, 1, 0, 0)),
        (np.int64(3), (0, 0, 0, 1)),
        ("group b", (0, 1, 0, 0)),
        ("2", (0, 0, 1, 0)),
        ({0: 0.25, "Group B": 0.5}, (0.25, 0.5, 0, 0)),
        ((), (0, 0, 0, 0)),
        ({}, (0, 0, 0, 0)),
        ((0.5, 0.5, 0, 0), (0.5, 0.5, 0, 0)),
        (np.array([0.0, 0, 1, 0]), (0, 0, 1, 0)),
    ],
)
def test_a_group_a_name_shares_or_a_row_is_a_row(value, row):
    assert as_row(value, 4, NAMES) == row


def test_none_and_nan_are_cannot_say():
    for value in (None, math.nan, (math.nan, math.nan)):
        assert np.isnan(as_row(value, 2)).all()


@pytest.mark.parametrize(
    "value", [4, -1, True, 0.5, "kale", {0: 1.5}, {0: -0.1}, {0: True}, {0: 0.6, 1: 0.6}, (1.0,),
              {0: math.nan}, {5: 0.5}, (0.5, math.nan, 0, 0), object()],
)  # fmt: skip
def test_what_is_no_row_is_refused(value):
    with pytest.raises(AnswerError, match="Got"):
        as_row(value, 4, NAMES)


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("0", (1, 0, 0, 0)),
        ("b", (0, 1, 0, 0)),
        ("Group B", (0, 1, 0, 0)),
        ("a, b: c", (0, 0, 0, 1)),
        ("A:.7,B:.3", (0.7, 0.3, 0, 0)),
        ("a, b: c:50%; B=25%", (0, 0.25, 0, 0.5)),
        ("A:.33,B:.34,2:.34", (0.33 / 1.01, 0.34 / 1.01, 0.34 / 1.01, 0)),
        ("NONE", (0, 0, 0, 0)),
    ],
)
def test_what_people_type_is_a_row(text, row):
    assert_allclose(parse_row(text, NAMES), row)


@pytest.mark.parametrize(
    "text", ["", "9", "kale", "A:.7,kale:.3", "A:.7,B", "A:.9,B:.9", ".5", ":"]
)
def test_what_is_no_answer_is_none(text):
    assert parse_row(text, NAMES) is None


def test_where_people_type_groups_are_numbered_from_one():
    names = ["red", "blue", "4"]
    assert parse_row("1", names, first=1) == (1.0, 0.0, 0.0)
    assert parse_row("1:.5,3:.5", names, first=1) == (0.5, 0.0, 0.5)
    assert parse_row("4", names, first=1) == (0.0, 0.0, 1.0)  # a name comes before a number
    assert parse_row("0", names, first=1) == (0.0, 0.0, 0.0)  # as on the page
    assert parse_row("0:.5", names, first=1) is None


def test_one_of_two_names_that_differ_in_case_only_is_named_to_the_letter():
    assert parse_row("polish", ["Polish", "polish"]) == (0.0, 1.0)
    assert parse_row("POLISH", ["Polish", "polish"]) is None


@given(st.lists(st.integers(0, 100), min_size=4, max_size=4))
def test_a_row_is_read_as_it_is_written(counts):
    row = tuple(count / max(sum(counts), 100) for count in counts)
    assert_allclose(parse_row(row_text(row, NAMES), NAMES), row, atol=1e-5)


def test_cannot_say_is_written_as_a_question_mark():
    assert row_text(as_row(None, 2), NAMES) == "?"


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        (0.25, 1.0, 0.75),
        ((1.0, 0.0), (0.0, 1.0), 1.0),
        ((1.0, 0.0), (0.5, 0.5), 0.5),
        ((1.0, 0.0), (0.0, 0.0), 1.0),  # in none of these
        ((0.5, 0.0), (0.5, 0.5), 0.5),
        ((1.0, 0.0), (0.0, 0.0, 1.0), 1.0),  # said after there was a group more
    ],
)
def test_answers_differ_by_what_they_put_elsewhere(one, other, apart):
    assert difference(one, other) == difference(other, one) == pytest.approx(apart)
    assert difference(one, one) == 0.0


def test_the_largest_difference_is_that_of_the_two_farthest_apart():
    assert largest_difference([0.25, 0.5, 1.0]) == 0.75
    assert largest_difference([0.25]) == 0.0
