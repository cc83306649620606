"""Items from tables: features that weigh alike, and a recipe that does the same to new rows."""

import json
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, sessions
from askmeans.exceptions import DataError, ParameterError
from askmeans.metrics import matched_accuracy
from askmeans.oracles import TableOracle
from askmeans.tables import Recipe, apply_recipe, read_items

N = 40
ALL = ["size", "colour", "sold", "on", "note", "photo"]  # columns of the frame to cluster by
RNG = np.random.default_rng(0)


@pytest.fixture
def frame(tmp_path):
    """Every kind of column, some values missing, and images in the folder."""
    table = pd.DataFrame(
        {
            "key": [f"k{row}" for row in range(N)],
            "size": RNG.normal(50, 10, N),
            "colour": RNG.choice(["red", "green", "blue"], N),
            "sold": RNG.random(N) < 0.3,
            "on": pd.date_range("2020-01-01", periods=N).astype(str),
            "note": RNG.choice(["late parcel again", "screen is broken", "card was charged"], N),
            "photo": [f"{row}.png" for row in range(N)],
        }
    )
    table["note"] += [f" number {row}" for row in range(N)]
    for row in range(N):
        Image.fromarray(RNG.integers(0, 255, (8, 8, 3), dtype=np.uint8)).save(
            tmp_path / f"{row}.png"
        )
    table.to_csv(tmp_path / "d.csv", index=False)
    return table


def through_json(recipe):
    """A recipe as it comes out of a database."""
    return Recipe.from_json(json.loads(json.dumps(recipe.to_json(), allow_nan=False)))


def test_a_recipe_is_json_and_does_the_same_to_the_same_rows(frame, tmp_path):
    items = read_items(tmp_path / "d.csv", id="key")
    kinds = {column.name: column.kind for column in items.recipe.columns}
    assert list(kinds.values()) == ["id", "number", "category", "boolean", "date", "text", "image"]
    frame.iloc[5:9].to_csv(tmp_path / "more.csv", index=False)
    again = apply_recipe(through_json(items.recipe), tmp_path / "more.csv")
    assert again.ids == ["k5", "k6", "k7", "k8"]
    np.testing.assert_allclose(again.features, items.features[5:9], atol=1e-6)
    pd.testing.assert_frame_equal(
        again.shown, items.shown.iloc[5:9].reset_index(drop=True), check_dtype=False
    )


def test_blocks_of_several_kinds_have_the_same_variance_in_total(tmp_path, frame):
    items = read_items(tmp_path / "d.csv", features=ALL)
    assert len(items.ids) == len(frame)
    names = [name.partition(" [")[0] for name in items.recipe.feature_names]
    variance = pd.Series(items.features.var(axis=0)).groupby(names).sum()
    assert variance["note"] == pytest.approx(1, rel=1e-4)
    assert variance["photo"] == pytest.approx(1, rel=1e-4)
    assert variance.drop(["note", "photo"]).sum() == pytest.approx(1, rel=1e-4)


def test_a_category_and_a_number_weigh_about_the_same():
    items = read_items({"x": RNG.normal(size=400), "c": RNG.choice(list("abcd"), 400)})
    variance = items.features.var(axis=0)
    assert variance[0] == pytest.approx(1, abs=0.15)
    assert variance[1:].sum() == pytest.approx(1, abs=0.01)


def test_few_values_far_out_neither_drown_the_others_nor_make_them_equal():
    values = np.concatenate([RNG.normal(size=99), [1e6]])
    features = read_items({"x": values}).features
    assert features.var() == pytest.approx(1)
    assert features[:99].var() > 0.8
    assert features[99] < 4


def test_features_in_their_units_are_the_numbers_of_the_table(frame):
    items = read_items(frame, features=ALL[:-1])
    middle, width = items.recipe.units
    own = dict(zip(items.recipe.feature_names, (items.features * width + middle).T, strict=True))
    np.testing.assert_allclose(own["size"], frame["size"], rtol=1e-5)  # none is far out
    np.testing.assert_allclose(own["colour=red"], frame["colour"] == "red", atol=1e-5)
    np.testing.assert_allclose(own["sold"], frame["sold"], atol=1e-5)
    days = (pd.to_datetime(frame["on"]) - pd.Timestamp(0)).dt.days
    np.testing.assert_allclose(own["on (days since 1970)"], days, rtol=1e-5)


def test_missing_values_are_told_and_filled_for_every_kind(frame, tmp_path):
    for column in ("size", "colour", "sold", "on", "note", "photo"):
        frame[column] = frame[column].astype(object)
        frame.loc[0, column] = None
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    items = read_items(tmp_path / "gaps.csv", features=ALL)
    assert np.isfinite(items.features).all()
    told = {column.name: column.why for column in items.recipe.columns}
    for column, what in {
        "size": "median", "colour": "3 values; 1 missing, encoded as zeros", "sold": "mean",
        "on": "median, 2020-01", "note": "empty texts", "photo": "replaced by the mean",
    }.items():  # fmt: skip
        assert what in told[column], column
    dropped = read_items(tmp_path / "gaps.csv", features=ALL, missing="drop")
    assert dropped.rows.tolist() == list(range(1, N))
    assert dropped.ids[0] == "1"
    with pytest.raises(DataError, match=r"Column size, .* Got some in 1 rows \(0\)"):
        read_items(tmp_path / "gaps.csv", features=ALL, missing="refuse")


def test_values_that_are_new_are_no_category_and_texts_of_new_words_are_empty(frame):
    items = read_items(frame[["colour", "note"]])
    new = apply_recipe(items.recipe, {"colour": ["mauve"], "note": ["zzz qqq"]})
    assert not new.features.any()


def test_many_categories_keep_the_most_frequent_ones():
    items = read_items({"town": [f"t{row}" for row in range(200)] * 2 + ["t0"] * 5})
    assert items.recipe.columns[0].why == "200 values; the 50 most frequent are used"
    assert items.features.shape == (405, 50)
    assert items.recipe.feature_names[0] == "town=t0"


def test_a_million_categories_are_refused_with_a_sentence():
    sku = [f"s{row}" for row in range(1_000_000)]
    with pytest.raises(DataError, match=r"values that repeat .* Got 1,000,000 in 1,000,000 rows"):
        read_items({"sku": sku}, features={"sku": "category"})


def test_a_table_with_nothing_to_cluster_by_says_what_each_column_is():
    with pytest.raises(DataError, match=r"Got id \(id: numbers the rows\); x \(constant"):
        read_items({"id": range(N), "x": [1] * N})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, 1e160], r"Column 'x' must have no values above .* Got 1e\+160"),
        ([1.0, np.inf, 2.0], "Column 'x' must be finite. Got infinity in row 1"),
    ],
)
def test_numbers_that_cannot_be_computed_with_are_refused_by_their_column(values, message):
    with pytest.raises(DataError, match=message):
        read_items({"x": values})


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("number", "Column 'colour' must be numeric"),
        ("boolean", "Column 'colour' must be true or false"),
        ("date", "Column 'colour' must have dates"),
        ("vector", "Column 'colour' must have lists of numbers"),
    ],
)
def test_a_kind_that_a_column_is_not_is_refused(frame, kind, message):
    with pytest.raises(DataError, match=message):
        read_items(frame, features={"colour": kind})


@pytest.mark.parametrize(
    "options", [{"scale": "huge"}, {"missing": "ignore"}, {"metric": "manhattan"}, {"embed": 3}]
)
def test_parameters_that_break_their_rule_are_named(frame, options):
    with pytest.raises(ParameterError, match=f"The '{next(iter(options))}' parameter"):
        read_items(frame.drop(columns="photo"), **options)


def test_ids_must_differ(frame):
    with pytest.raises(DataError, match="Column 'colour' must have a different id for every item"):
        read_items(frame, id="colour")


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"encoders": [{"kind": "pickle"}]},
        {"columns": [{"name": "x"}]},
    ],
)
def test_a_recipe_of_another_make_is_refused(frame, change):
    values = read_items(frame[["size"]]).recipe.to_json()
    with pytest.raises(DataError, match="A recipe must be one that this askmeans"):
        Recipe.from_json(values | change)


def test_the_callers_frame_stays_as_it_was(frame):
    before = frame.copy(deep=True)
    read_items(frame.drop(columns="photo"), missing="drop")
    read_items(frame, features=["size"])
    pd.testing.assert_frame_equal(frame, before)


def test_whole_numbers_named_as_a_category_are_the_same_with_and_without_gaps():
    items = read_items({"year": [2020, None, 2021, 2020]}, features={"year": "category"})
    assert items.recipe.feature_names == ["year=2020", "year=2021"]
    again = apply_recipe(items.recipe, {"year": [2020, 2021]})
    np.testing.assert_array_equal(again.features, items.features[[0, 2]])


def test_an_encoding_that_leaves_nothing_to_cluster_by_is_told(tmp_path):
    lines = ["本文", *(f"画面が壊れました番号{row}" for row in range(20))]
    (tmp_path / "d.csv").write_bytes("\n".join(lines).encode("shift_jis"))
    with pytest.raises(DataError, match=r"usable feature column.*d.csv is not UTF-8"):
        read_items(tmp_path / "d.csv")


def test_a_session_takes_items_as_they_are_and_what_is_said_besides_goes_before(tmp_path, frame):
    items = read_items(tmp_path / "d.csv", id="key")
    with closing(sessions.create(tmp_path / "a.db", items, n_clusters=2)) as session:
        assert session.item(3).id == "k3"
        assert session.item(3).image == "3.png"
        assert session.config.feature_names == items.recipe.feature_names
        assert Recipe.from_json(session.config.recipe) == items.recipe
    ids = [f"other{row}" for row in range(len(frame))]
    with closing(sessions.create(tmp_path / "b.db", items, n_clusters=2, ids=ids)) as session:
        assert session.item(3).id == "other3"


@pytest.mark.parametrize("tells", ["message", "size"])
def test_answers_teach_which_kind_of_column_tells_the_groups(tells):
    rng = np.random.default_rng(0)
    groups, others = rng.integers(2, size=60), rng.integers(2, size=60)
    words = ["parcel courier late", "battery charger power"]
    topics = groups if tells == "message" else others
    table = {
        "message": [f"{words[topic]} {rng.integers(99)} again" for topic in topics],
        "size": rng.normal(size=60) + 3 * (groups if tells == "size" else others),
        "colour": rng.choice(["red", "blue"], 60),
    }
    model = ActiveFuzzyKMeans(
        2, oracle=TableOracle.from_labels(groups), ask="group", budget=30, random_state=0
    ).fit(read_items(table, features=list(table)).features)
    assert matched_accuracy(groups, model.labels_) > 0.85  # half of them were asked


def test_beside_a_text_or_a_picture_other_columns_are_shown_and_no_features(frame, tmp_path):
    items = read_items(tmp_path / "d.csv")
    used = {column.name: column.use for column in items.recipe.columns}
    assert [name for name, use in used.items() if use == "feature"] == ["note", "photo"]
    assert items.shown.columns.tolist() == frame.columns.tolist()
    assert "name it as a feature" in items.recipe.columns[1].why
    named = read_items(tmp_path / "d.csv", features=["note", "size"])
    assert {name.partition(" [")[0] for name in named.recipe.feature_names} == {"size", "note"}


def test_groups_of_texts_are_found_beside_dates_and_channels():
    rng = np.random.default_rng(0)
    topics = np.repeat([0, 1], 30)
    words = ["parcel courier late", "battery charger power"]
    table = {
        "message": [f"{words[topic]} {row} again" for row, topic in enumerate(topics)],
        "day": pd.date_range("2024-01-01", periods=60)[rng.permutation(60)].astype(str),
        "channel": rng.choice(["mail", "phone", "shop"], 60),
    }
    found = FuzzyKMeans(2, n_init=3, random_state=0).fit_predict(read_items(table).features)
    assert matched_accuracy(topics, found) == 1.0


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_null_and_na_and_a_dash_are_texts_in_a_text_column(tmp_path, suffix):
    texts = ["null", "NA", "-", "", *(f"the parcel number {row} is late" for row in range(20))]
    frame = pd.DataFrame({"message": texts, "price": ["NA", "-", *map(str, range(22))]})
    path = tmp_path / f"d.{suffix}"
    (frame.to_csv if suffix == "csv" else frame.to_excel)(path, index=False)
    items = read_items(path)
    assert items.shown["message"].iloc[:3].tolist() == texts[:3]
    assert items.recipe.columns[0].why == "1 missing, encoded as empty texts"
    again = apply_recipe(items.recipe, path)
    assert again.shown["message"].iloc[:3].tolist() == texts[:3]
    if suffix == "csv":
        assert items.shown["price"].isna().sum() == 2  # of numbers they are signs for missing


@pytest.mark.parametrize("name", ["topic", "Label", "target", "true_class", "productCategory"])
def test_what_looks_like_labels_is_hidden_and_said_so(name):
    table = {"text": [f"a red bike number {row}" for row in range(12)], name: ["x", "y", "z"] * 4}
    column = read_items(table).recipe.columns[1]
    assert (column.use, column.why) == (
        "left out", "looks like labels, so it is hidden; --show shows it"
    )  # fmt: skip
    assert read_items(table).shown.columns.tolist() == ["text"]
    assert read_items(table, show=["text", name]).shown.columns.tolist() == ["text", name]
    assert name in read_items(table, features=["text", name]).shown.columns


def test_what_is_called_like_labels_and_has_many_values_or_is_a_feature_is_shown():
    table = {"text": [f"a red bike number {row}" for row in range(12)], "topic": [*range(5, 17)]}
    assert read_items(table).shown.columns.tolist() == ["text", "topic"]
    items = read_items({"size": [1.0, 2.0, 8.0, 9.0], "class": ["a", "a", "b", "b"]})
    assert items.shown.columns.tolist() == ["size", "class"]
    assert items.recipe.feature_names == ["size"]
    items = read_items({"size": [1.0, 2.0, 8.0, 9.0], "class": [0.5, 0.5, 1.5, 1.5]})
    assert items.recipe.feature_names == ["size", "class"]  # measured, not named
    items = read_items({"class": ["a", "a", "b", "b"]})
    assert items.recipe.feature_names == ["class=a", "class=b"]  # nothing else is there


def test_items_and_recipes_are_told_in_a_line():
    items = read_items({"message": ["a red bike", "a blue car"] * 9, "n": range(18)})
    assert len(repr(items)) < 200
    assert repr(items).startswith("Items(18 items, ")
    assert "message" in repr(items)
    assert len(repr(items.recipe)) < 200


@pytest.mark.parametrize("empty", [pd.DataFrame(), pd.DataFrame({"a": []}), [], {}])
def test_what_is_empty_is_called_so(empty):
    with pytest.raises(DataError, match=r"must have rows and columns\. Got |Got an empty list"):
        read_items(empty)
