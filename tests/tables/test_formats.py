"""Numbers in strings: their format, and their values."""

import pandas as pd
import pytest

from askmeans.exceptions import DataError
from askmeans.tables import Recipe, apply_recipe, read_items
from askmeans.tables.formats import NumberFormat, as_numbers, number_format


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["$1,234.50", "$ 7"], [1234.5, 7]),
        (["1.234,50 €", "7 €"], [1234.5, 7]),
        (["EUR 1'000", "EUR -20"], [1000, -20]),
        (["5 %", "12.5%"], [5, 12.5]),
        (["1,234", "17"], [1234, 17]),
        (["2,5", "1,25"], [2.5, 1.25]),
        (["3 km", "\u22124 km"], [3, -4]),
        (["80 m2", "120 m2"], [80, 120]),
    ],
)
def test_numbers_are_read_in_the_one_notation_that_fits_all(words, expected):
    how = number_format(words)
    assert how is not None
    assert as_numbers(pd.Series(words), how).tolist() == expected


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["12", "13"],  # digits alone
        ["$1", "€2"],
        ["01067 DE", "81541 DE"],  # codes
        ["a1", "a2"],
        ["1.2.3", "1.2.4"],
        ["12 apples", "9 apples"],
        ["5 %", "some"],
    ],
)
def test_what_is_not_written_alike_or_no_number_has_no_notation(words):
    assert number_format(words) is None


def test_new_rows_are_read_as_the_first_were_and_refused_where_they_cannot():
    first = read_items({"price": ["1.234,5 €", "20,25 €", None, "7,5 €"]}, scale="none")
    assert first.features.ravel().tolist() == [1234.5, 20.25, 20.25, 7.5]
    recipe = Recipe.from_json(first.recipe.to_json())
    assert apply_recipe(recipe, {"price": ["1.234 €"]}).features.tolist() == [[1234.0]]
    assert first.shown["price"].tolist()[:2] == ["1.234,5 €", "20,25 €"]
    with pytest.raises(DataError, match=r"must have numbers written as '1,5€'. Got 'cheap'"):
        apply_recipe(recipe, {"price": ["cheap"]})


def test_an_error_shows_what_the_format_looks_like():
    with pytest.raises(DataError, match=r"Column 'x' must have numbers written as '\$1.5'"):
        as_numbers(pd.Series(["?"], name="x"), NumberFormat(before="$", after="", decimal="."))
