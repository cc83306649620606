"""Items as people see them: tables, texts, images, records; ids; typical items."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from askmeans.exceptions import DataError
from askmeans.results import Clustering
from askmeans.sessions.display import as_display, exemplars_of, shortened
from askmeans.sessions.group_numbers import unique_names


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


def test_exemplars_are_a_groups_own_strongest_and_of_equals_those_nearest_to_its_centre():
    X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0]])
    U = np.array([[0.98, 0.02], [0.4, 0.6], [0.96, 0.04], [0.0, 0.9], [0.0, 1.0]])
    found = Clustering(
        centers=np.array([[1.1], [8.6]]), memberships=U, predictor=lambda X: X, complete=False
    )
    assert [exemplars_of(found, X, cluster, 3) for cluster in (0, 1)] == [[2, 0], [4, 3, 1]]


def test_of_items_with_the_same_features_one_tells_what_a_group_is():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [9.0]])
    U = np.array([[1.0, 0.0]] * 4 + [[0.0, 1.0]])
    found = Clustering(
        centers=np.array([[0.0], [9.0]]), memberships=U, predictor=lambda X: X, complete=False
    )
    assert [exemplars_of(found, X, cluster, 3) for cluster in (0, 1)] == [[0, 3, 1], [4]]


def test_names_are_letters_and_never_the_same():
    assert unique_names({}, 28)[24:] == ["Group Y", "Group Z", "Group AA", "Group AB"]
    assert unique_names({1: "Group A"}, 3) == ["Group D", "Group A", "Group C"]
    # What an older version may have left in a database.
    assert unique_names({0: "x", 1: "x", 2: "id"}, 3) == ["x", "x (2)", "id (2)"]


@pytest.mark.parametrize(
    ("items", "options"),
    [
        (["a", "b\ud800"], {}),
        ([{"x": "\udcff"}, {"x": 1}], {}),
        ([{"x\ud800": 1}, {"x\ud800": 2}], {}),
        (None, {"ids": ["a", "b\ud800"]}),
    ],
)
def test_half_a_character_is_refused_in_a_sentence(items, options):
    with pytest.raises(DataError, match="must be whole characters"):
        shown(items, **options)


def test_numbers_in_a_name_have_few_digits():
    frame = pd.DataFrame({"a": [0.12883614637495544, 1.0], "b": [3, 4], "c": [2.0, 2.0]})
    one, _ = shown(frame)
    assert one.label == "a = 0.1288, b = 3, c = 2"


def test_a_picture_without_an_id_is_called_by_its_file():
    frame = pd.DataFrame({"size": [1, 2], "i": ["cats/tom.png", None]})
    one, two = shown(frame, image="i")
    assert (one.label, two.label) == ("tom", "size = 2")


def test_an_image_is_a_file_in_the_folder_that_a_page_can_show(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("in/a.png", "in/a.txt", "out.png"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "in" / "link.png").symlink_to(tmp_path / "out.png")
    images = ["a.png", "a.txt", "none.png", "../out.png", "link.png", "a\0.png", "", None]
    display = as_display(
        [{"i": image} for image in images], len(images), 1, ids=None, feature_names=None,
        text=None, image="i", folder=str(tmp_path / "in"),
    )  # fmt: skip
    found = [display.image_file(place) for place in range(len(images))]
    assert found == [tmp_path / "in" / "a.png", *[None] * 7]


def test_items_are_found_by_parts_of_ids_and_texts_whatever_the_case():
    fields = {"feature_names": None, "image": None, "folder": None}
    display = as_display(
        [{"t": "Straße", "n": "x"}, {"t": None, "n": "x"}], 2, 1, ids=["One", "two"], text="t",
        **fields,
    )  # fmt: skip
    assert [display.matches(words) for words in ("STRASSE", "o", "x")] == [[0], [0, 1], []]
