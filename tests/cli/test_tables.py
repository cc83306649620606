"""What becomes of a table's columns, and what of it is refused."""

import numpy as np
import pandas as pd
import pytest

from askmeans.cli.tables import Column, choose_features, column_kinds, listed_columns, read_table
from askmeans.exceptions import DataError

N = 20
RNG = np.random.default_rng(0)


def kinds(frame, **options):
    """Use and reason of each column, by name."""
    columns = column_kinds(pd.DataFrame(frame), **options)
    return {column.name: (column.use, column.why) for column in columns}


def why(values, name="x"):
    """Why a column is no feature; empty where it is one."""
    return kinds({name: values})[name][1]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("id", range(100, 100 + 3 * N, 3)),
        ("customer_id", [7, 8] * (N // 2)),  # of what the rows belong to: it repeats
        ("CustomerID", [7.0, 8.0, 9.0, np.nan] * (N // 4)),  # floats, for a value is missing
        ("Order No", RNG.permutation(1000)[:N]),
        ("number", RNG.permutation(N) + 5),  # without a gap, in any order
        ("Unnamed: 0", [5, 7] * (N // 2)),
    ],
)
def test_a_numeric_id_is_no_feature(name, values):
    assert why(list(values), name) in ("an id", "a saved index")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("grid", RNG.integers(0, 9, N)),  # "id" is no word of it
        ("id", RNG.normal(size=N)),
        ("row", [1, 2] * (N // 2)),
        ("price", RNG.permutation(1000)[:N]),
        ("x", [3, 1, 2]),  # few rows are often without a gap
    ],
)
def test_other_numbers_are_features(name, values):
    assert why(list(values), name) == ""


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([5] * N, "constant"),
        ([5.0, np.nan] * (N // 2), "constant"),
        ([np.nan] * N, "empty"),
        ([None] * N, "empty"),
        ([True, False] * (N // 2), "true or false; name it in --features"),
        (["a", "b"] * (N // 2), "categorical, 2 values; encode them"),
        (pd.Categorical([1, 2] * (N // 2)), "categorical, 2 values"),
        ([f"word {row}" for row in range(N)], "text"),
        (pd.date_range("2020-01-01", periods=N), "times"),
        ([[row] for row in range(N)], "neither numbers nor words"),
        ([10**400] * N, "numbers too large"),
    ],
)
def test_what_is_no_feature_has_a_reason(values, reason):
    assert why(values).startswith(reason)


def test_one_row_is_not_constant():
    assert why([5.0]) == ""


def test_columns_are_features_or_shown_or_left_out():
    frame = {"x": RNG.normal(size=N), "name": [f"n{row}" for row in range(N)], "kind": ["a"] * N}
    assert kinds(frame, apart={"name": "the items' ids"}, shown=["kind", "x"]) == {
        "x": ("feature", ""),
        "name": ("left out", "the items' ids"),
        "kind": ("shown", "categorical, 1 values; encode them as numbers to cluster by them"),
    }
    assert kinds(frame)["name"] == ("shown", "text")
    assert kinds({"x": [5] * N, "y": [1.5] * N}, features=["x"]) == {
        "x": ("feature", ""),  # who names it gets it
        "y": ("shown", "not among --features"),
    }
    with pytest.raises(DataError, match="There must be a column 'z'"):
        kinds(frame, features=["z"])


def test_columns_are_listed_by_use_and_reason():
    columns = [Column(name=f"x{j}", use="feature", why="") for j in range(10)]
    columns += [Column(name=name, use="left out", why="constant") for name in "ab"]
    columns += [Column(name="c", use="left out", why="an id")]
    assert listed_columns(columns) == (
        "features: x0, x1, x2, x3, x4, x5, x6, x7 and 2 more\nleft out: a, b (constant); c (an id)"
    )


def test_a_table_without_features_says_why_each_column_is_none():
    frame = pd.DataFrame({"id": range(N), "kind": ["a", "b"] * (N // 2)})
    with pytest.raises(DataError, match=r"Got id \(an id\); kind \(categorical, 2 values"):
        choose_features(frame, None, column_kinds(frame), None, [])


def test_values_that_cannot_be_squared_are_refused_by_their_column():
    frame = pd.DataFrame({"x": [1.0, 1e160]})
    with pytest.raises(DataError, match=r"Column 'x' must have no values above .* Got 1e\+160"):
        choose_features(frame, ["x"], [], None, ["a", "b"])


def test_names_of_columns_are_words_that_differ(tmp_path):
    pd.DataFrame({1: [1.0], 2: [2.0]}).to_parquet(tmp_path / "numbers.parquet")
    assert list(read_table(tmp_path / "numbers.parquet", None).columns) == ["1", "2"]
