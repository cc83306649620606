"""`askmeans init` and `add`: what is told of a table's columns, and what new rows become."""

import json

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from askmeans import sessions

NAMED = ("-k", 2, "--features", "size,colour,sold,photo")  # a picture alone would count


@pytest.fixture
def table(tmp_path):
    """Twelve rows of every kind of column, and one image."""
    frame = pd.DataFrame(
        {
            "customer_id": [1000 + 7 * row for row in range(12)],
            "size": [row * 1.5 for row in range(12)],
            "batch": [3] * 12,
            "colour": ["red", "blue"] * 6,
            "sold": [True, False, False] * 4,
            "photo": [f"{row}.png" for row in range(12)],
        }
    )
    frame.to_csv(tmp_path / "d.csv", index=False)
    for row in range(12):
        Image.new("RGB", (8, 8), (20 * row, 0, 0)).save(tmp_path / f"{row}.png")
    return tmp_path


def test_init_and_fit_tell_what_becomes_of_each_column(askmeans, table):
    out = askmeans("init", "s.db", "d.csv", *NAMED, "--show", "size,sold", cwd=table).stdout
    lines = [line.split(maxsplit=3) for line in out.splitlines()[1:8]]
    assert lines == [
        ["column", "kind", "use"],
        ["customer_id", "id", "left", "out  numbers the rows"],
        ["size", "number", "feature"],
        ["batch", "constant", "left", "out  one value"],
        ["colour", "category", "feature", "2 values"],
        ["sold", "boolean", "feature"],
        ["photo", "image", "feature"],
    ]
    with sessions.open(table / "s.db") as session:
        names = ["size", "colour=blue", "colour=red", "sold", "photo [1]"]
        assert session.config.feature_names[:5] == names
        assert session.rows.shown == ["size", "sold"]
    done = askmeans(
        "fit", "d.csv", "-k", 2, "--expert", "labels:colour", "--features", "size", cwd=table
    )
    assert "colour       category  left out  known to the expert" in done.stdout
    assert list(pd.read_csv(table / "d.centers.csv").columns) == ["cluster", "size"]
    told = json.loads((table / "d.summary.json").read_text())["columns"]
    assert told[0] == {
        "name": "customer_id", "kind": "id", "use": "left out", "why": "numbers the rows"
    }  # fmt: skip


def test_init_says_what_is_shown_and_hidden_beside_a_text(askmeans, tmp_path):
    frame = pd.DataFrame({"message": [f"a red bike number {row}" for row in range(20)],
                          "day": pd.date_range("2024-01-01", periods=20).astype(str),
                          "topic": ["x", "y"] * 10})  # fmt: skip
    frame.to_csv(tmp_path / "d.csv", index=False)
    out = askmeans("init", "s.db", "d.csv", "-k", 2, cwd=tmp_path).stdout
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "day date shown beside the texts; name it as a feature to cluster by it" in lines
    assert "topic category left out looks like labels, so it is hidden; --show shows it" in lines
    with sessions.open(tmp_path / "s.db") as session:
        assert session.rows.shown == ["message", "day"]
        assert {name[:7] for name in session.config.feature_names} == {"message"}


def test_columns_that_are_named_are_features_of_the_kind_that_is_said(askmeans, table):
    done = askmeans(
        "init", "s.db", "d.csv", "-k", 2, "--features", "sold,customer_id,size:category", "--json",
        cwd=table,
    )  # fmt: skip
    report = json.loads(done.stdout)
    assert report["features"][-1] == "sold"
    assert report["features"][:2] == ["customer_id", "size=0.0"]
    uses = {column["name"]: column["use"] for column in report["columns"]}
    assert (uses["sold"], uses["customer_id"], uses["colour"]) == ("feature", "feature", "shown")


def test_images_that_are_none_are_told_by_name_and_refused_if_all_are(askmeans, table):
    (table / "1.png").unlink()
    (table / "2.png").write_bytes(b"no image")
    done = askmeans("init", "s.db", "d.csv", "-k", 2, "--image", "photo", cwd=table)
    assert "2 of 12 cannot be read (1.png: no such file; 2.png: not an image" in done.stderr
    assert "photo        image     feature  2 missing, replaced by the mean" in done.stdout
    for row in range(12):
        (table / f"{row}.png").write_bytes(b"")
    done = askmeans("init", "t.db", "d.csv", "-k", 2, "--image", "photo", cwd=table, ok=False)
    assert (done.returncode, "put them there, or leave the column out" in done.stderr) == (1, True)
    assert not (table / "t.db").exists()


def test_added_rows_get_the_features_that_the_first_rows_would(askmeans, table):
    askmeans("init", "s.db", "d.csv", *NAMED, cwd=table)
    again = pd.read_csv(table / "d.csv").iloc[[3, 5]]
    again["size"] = [4.5, None]
    again.to_csv(table / "more.csv", index=False)
    done = askmeans("add", "s.db", "more.csv", cwd=table)
    assert "1 values of size are missing: filled with the median, 8.25." in done.stderr
    with sessions.open(table / "s.db") as session:
        matrix = session.rows.matrix
        assert len(matrix) == 14
        np.testing.assert_allclose(matrix[12], matrix[3], atol=1e-6)
        np.testing.assert_allclose(matrix[13, 1:], matrix[5, 1:], atol=1e-6)
    again.drop(columns="colour").to_csv(table / "more.csv", index=False)
    done = askmeans("add", "s.db", "more.csv", cwd=table, ok=False)
    assert "New rows must have" in done.stderr


def test_added_rows_have_the_ids_of_the_column_that_named_the_first_though_nobody_sees_it(
    askmeans, table
):
    askmeans("init", "s.db", "d.csv", "-k", 2, "--id", "photo", "--show", "size", cwd=table)
    rows = pd.read_csv(table / "d.csv").iloc[:2]
    rows.assign(photo=["new.png", "newer.png"]).to_csv(table / "more.csv", index=False)
    askmeans("add", "s.db", "more.csv", cwd=table)
    with sessions.open(table / "s.db") as session:
        assert session.item(13).id == "newer.png"


def test_vectors_replace_the_features_and_new_rows_bring_theirs(askmeans, table):
    vectors = np.random.default_rng(0).normal(size=(14, 5))
    np.save(table / "v.npy", vectors[:12])
    np.save(table / "more.npy", vectors[12:])
    words = ("--vectors", "v.npy", "--metric", "cosine", "--image", "photo")
    done = askmeans("init", "s.db", "d.csv", "-k", 2, *words, cwd=table)
    assert "feature  beside the table; 5 components; scaled to length 1 (cosine)" in done.stdout
    pd.read_csv(table / "d.csv").iloc[:2].to_csv(table / "more.csv", index=False)
    done = askmeans("add", "s.db", "more.csv", cwd=table, ok=False)
    assert "vectors" in done.stderr
    askmeans("add", "s.db", "more.csv", "--vectors", "more.npy", cwd=table)
    with sessions.open(table / "s.db") as session:
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.testing.assert_allclose(session.rows.matrix, vectors / lengths, atol=1e-6)
        assert session.item(3).image == "3.png"


def test_init_suggests_a_column_that_could_name_the_items(askmeans, table):
    hint = "hint: items go by the numbers of their rows; --id customer_id names them."
    assert hint in askmeans("init", "s.db", "d.csv", *NAMED, cwd=table).stdout
    named = askmeans("init", "t.db", "d.csv", *NAMED, "--id", "customer_id", cwd=table)
    assert "hint: items" not in named.stdout
