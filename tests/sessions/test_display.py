"""Items as people see them: tables, texts, images, records; ids; typical items."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from askmeans.exceptions import DataError
from askmeans.results import Clustering
from askmeans.sessions.display import as_display, shortened, strongest_items, unique_names


def shown(items, n=2, **options):
    """The items, as they come back from JSON."""
    fields = {"ids": None, "feature_names": None, "text": None, "image": None, "folder": None}
    display = as_display(items, n, 1, **(fields | options))
    return [display.item(row, np.array([0.5 + row]), row) for row in range(n)]


def test_a_table_keeps_its_columns_and_types():
    frame = pd.DataFrame(
        {
            "n": [1, 2],
            "x": [0.5, np.nan],
            "day": pd.to_datetime(["2020-01-02", None]),
            "ok": [True, False],
            "word": ["a", None],
        }
    )
    one, two = shown(frame)
    assert one.fields == {
        "n": 1, "x": 0.5, "day": "2020-01-02 00:00:00", "ok": True, "word": "a",
    }  # fmt: skip
    assert [type(value) for value in one.fields.values()] == [int, float, str, bool, str]
    assert two.fields == {"n": 2, "x": None, "day": None, "ok": False, "word": None}
    assert one.id == "0"


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, lambda d: pd.DataFrame(d)])
def test_frames_of_every_kind_are_shown_alike(make):
    items = shown(make({"a": [1, 2], "b": ["x", "y"]}))
    assert [item.fields for item in items] == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def test_a_list_of_words_is_text():
    one, _ = shown(["a long story", "another"])
    assert (one.text, one.label, one.fields) == ("a long story", "a long story", {})


def test_records_may_lack_fields():
    one, two = shown([{"a": 1}, {"b": dt.date(2020, 1, 2)}])
    assert one.fields == {"a": 1, "b": None}
    assert two.fields == {"a": None, "b": "2020-01-02"}


def test_without_items_the_numbers_are_shown():
    one, two = shown(None, feature_names=["size"])
    assert (one.fields, two.label) == ({"size": 0.5}, "size = 1.5")


def test_text_and_image_columns_stand_apart_from_the_others():
    frame = pd.DataFrame({"a": [1, 2], "t": ["one", "two"], "i": ["1.png", "2.png"]})
    one, two = shown(frame, text="t", image="i", ids=["x", "y"])
    assert (one.fields, one.text, one.image, one.id) == ({"a": 1}, "one", "1.png", "x")
    assert two.label == "two"


@pytest.mark.parametrize(
    ("items", "options", "message"),
    [
        (["a"], {}, "one row for each of the 2"),
        (None, {"ids": ["a", "a"]}, "differently"),
        (None, {"ids": ["a"]}, "differently"),
        (None, {"text": "t"}, "There must be a column 't'"),
        ([[1], [1, 2]], {}, "equal length"),
    ],
)
def test_what_does_not_fit_is_refused(items, options, message):
    with pytest.raises(DataError, match=message):
        shown(items, **options)


def test_long_labels_are_cut():
    assert shortened("word " * 50).endswith("…")
    assert len(shortened("word " * 50)) <= 60
    assert shortened(" two\n words ") == "two words"


def test_the_strongest_items_of_a_group_are_its_own_nearest_to_its_centre():
    X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0]])
    U = np.array([[1.0, 0.0], [0.4, 0.6], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
    found = Clustering(
        centers=np.array([[1.0], [8.6]]), memberships=U, predictor=lambda X: X, complete=False,
        diagnostics={},
    )  # fmt: skip
    assert strongest_items(found, X, 2) == [[0, 2], [4, 3]]


def test_names_are_letters_and_never_the_same():
    assert unique_names({}, 28)[24:] == ["Group Y", "Group Z", "Group AA", "Group AB"]
    assert unique_names({1: "Group A"}, 3) == ["Group D", "Group A", "Group C"]
    # What an older version may have left in a database.
    assert unique_names({0: "x", 1: "x", 2: "id"}, 3) == ["x", "x (2)", "id (2)"]
