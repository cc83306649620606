"""What kind a column is taken for, and what becomes of it."""

import numpy as np
import pandas as pd
import pytest

from askmeans.exceptions import DataError, ParameterError
from askmeans.tables.columns import Column, Roles, describe_columns, listed_columns

N = 20
RNG = np.random.default_rng(0)


def described(frame, **roles):
    """The columns by name."""
    columns = describe_columns(pd.DataFrame(frame), Roles(**roles), None)
    return {column.name: column for column in columns}


def kind(values, name="x"):
    """The kind that a column is taken for."""
    return described({name: values})[name].kind


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("id", range(100, 100 + 3 * N, 3)),
        ("customer_id", [7, 8] * (N // 2)),  # of what the rows belong to: it repeats
        ("CustomerID", [7.0, 8.0, 9.0, np.nan] * (N // 4)),  # floats, for a value is missing
        ("Order No", RNG.permutation(1000)[:N]),
        ("number", RNG.permutation(N) + 5),  # without a gap, in any order
        ("Unnamed: 0", [5, 7] * (N // 2)),
        ("sku", [f"a{row}" for row in range(N)]),
    ],
)
def test_what_names_the_rows_is_an_id_and_no_feature(name, values):
    column = described({name: list(values)})[name]
    assert (column.kind, column.use) == ("id", "shown")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("grid", RNG.integers(0, 9, N)),  # "id" is no word of it
        ("id", RNG.normal(size=N)),
        ("row", [1, 2] * (N // 2)),
        ("price", RNG.permutation(1000)[:N]),
        ("x", [3, 1, 2]),  # few rows are often without a gap
        ("x", [5.0]),  # one row is not constant
    ],
)
def test_other_numbers_are_features(name, values):
    column = described({name: list(values)})[name]
    assert (column.kind, column.use) == ("number", "feature")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([5] * N, "constant"),
        ([5.0, np.nan] * (N // 2), "constant"),
        (["a"] * N, "constant"),
        ([np.nan] * N, "empty"),
        ([None] * N, "empty"),
        ([True, False] * (N // 2), "boolean"),
        ([True, False, None, True] * (N // 4), "boolean"),
        (["a", "b"] * (N // 2), "category"),
        (pd.Categorical([1, 2] * (N // 2)), "category"),
        (["red wine", "white wine"] * (N // 2), "category"),  # words that repeat are no text
        ([f"town{row % 12}" for row in range(N)], "category"),
        ([f"the word {row}" for row in range(N)], "text"),
        ([f"这个手机的屏幕坏了{row}" for row in range(N)], "text"),  # no spaces
        (pd.date_range("2020-01-01", periods=N), "date"),
        ([f"2020-01-{row + 1:02}" for row in range(N)], "date"),
        ([f"{row + 1}.3.2021 10:00" for row in range(N)], "date"),
        ([f"{row + 1:08}" for row in range(N)], "id"),  # digits only are no dates
        ([[row, 1.0] for row in range(N)], "vector"),
        ([["a", "b"]] * N, "other"),  # words in lists
        ([f"${1000 + row:,}.50" for row in range(N)], "number"),
        ([f"{row / 2} %" for row in range(N)], "number"),
        ([f"{row} kg" for row in range(N)], "number"),
        ([f"{row} {('kg', 'g')[row % 2]}" for row in range(N)], "text"),  # not one unit
        ([str(100 + row) for row in range(N)], "id"),  # kept as words by somebody
        ([{"a": 1}] * N, "other"),
        (pd.to_timedelta(range(N), unit="s"), "other"),
        ([10**400, 1] * (N // 2), "other"),
    ],
)
def test_kinds_are_found(values, expected):
    assert kind(values) == expected


def test_days_that_could_be_months_are_told():
    both = described({"when": [f"0{row % 9 + 1}/0{row % 7 + 1}/2020" for row in range(N)]})["when"]
    assert (both.kind, both.why) == ("date", "the day is taken to come before the month")
    american = described({"when": [f"01/{row + 1}/2020" for row in range(N)]})["when"]
    assert (american.kind, american.why) == ("date", "")


def test_columns_are_features_or_shown_or_left_out():
    frame = {"x": RNG.normal(size=N), "name": [f"n{row}" for row in range(N)], "y": [1.5] * N}
    columns = described(frame, id="name", show=("y",))
    assert {name: column.use for name, column in columns.items()} == {
        "x": "feature", "name": "left out", "y": "shown"
    }  # fmt: skip
    columns = described(frame, features={"y": None})
    assert columns["y"].use == "feature"  # who names it gets it, constant or not
    assert (columns["x"].use, columns["x"].why) == ("shown", "not among the features named")
    columns = described(frame, others=False)
    assert (columns["x"].use, columns["x"].why) == ("shown", "the vectors are the features")


def test_what_the_user_says_goes_before_what_is_found():
    frame = {"a": ["x", "y"] * (N // 2), "b": [1, 2] * (N // 2)}
    columns = described(frame, text=("a",), features={"a": None, "b": "category"})
    assert (columns["a"].kind, columns["b"].kind) == ("text", "category")
    with pytest.raises(ParameterError, match=r"column 'b' one of number, .* Got 'colour'"):
        described(frame, features={"b": "colour"})
    with pytest.raises(DataError, match=r"There must be a column 'z'. The columns are a, b"):
        described(frame, show=("z",))


def test_a_text_column_of_numbers_is_refused_with_a_sentence():
    with pytest.raises(DataError, match=r"Column 'x' must have words to be a text. Got float64"):
        described({"x": [1.0, 2.0]}, text=("x",))


def test_the_table_of_columns_ends_before_it_is_long():
    columns = [Column(name=f"x{j}", kind="number", use="feature", why="") for j in range(50)]
    columns += [Column(name="y" * 40, kind="id", use="left out", why="numbers the rows")]
    lines = listed_columns(columns).splitlines()
    assert lines[0].split() == ["column", "kind", "use"]
    assert lines[-1] == "and 11 more columns: 10 feature, 1 left out"
    assert listed_columns(columns[50:]).splitlines()[1].startswith("y" * 29 + "…  id")


def test_paths_of_images_that_are_not_there_are_told(tmp_path):
    frame = pd.DataFrame({"photo": [f"{row}.png" for row in range(N)]})
    [column] = describe_columns(frame, Roles(), tmp_path)
    assert (column.kind, column.why) == ("id", "paths of missing images")
