"""`askmeans init`: what is told of a table's columns and images."""

import json

import pandas as pd
import pytest

from askmeans import sessions


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
    (tmp_path / "0.png").write_bytes(b"")
    return tmp_path


def test_init_and_fit_tell_what_becomes_of_each_column(askmeans, table):
    out = askmeans("init", "s.db", "d.csv", "-k", 2, "--show", "size,sold", cwd=table).stdout
    assert "features: size\n" in out
    assert "shown: sold (true or false; name it in --features to cluster by it)\n" in out
    assert "left out: customer_id (an id); batch (constant); colour (categorical, 2 values" in out
    with sessions.open(table / "s.db") as session:
        assert session.config.feature_names == ["size"]
    done = askmeans("fit", "d.csv", "-k", 2, "--expert", "labels:colour", cwd=table)
    assert done.stdout.startswith("features: size\nleft out: customer_id (an id); ")
    assert "colour (what the expert knows)" in done.stdout
    assert list(pd.read_csv(table / "d.centers.csv").columns) == ["cluster", "size"]
    told = json.loads((table / "d.summary.json").read_text())["columns"]
    assert told[0] == {"name": "customer_id", "use": "left out", "why": "an id"}


def test_columns_that_are_named_are_features_whatever_they_are(askmeans, table):
    done = askmeans(
        "init", "s.db", "d.csv", "-k", 2, "--features", "sold,customer_id", "--json", cwd=table
    )
    report = json.loads(done.stdout)
    assert report["features"] == ["sold", "customer_id"]
    uses = {column["name"]: column["use"] for column in report["columns"]}
    assert (uses["sold"], uses["customer_id"], uses["size"]) == ("feature", "feature", "shown")


def test_images_that_are_not_there_are_told_at_init(askmeans, table):
    done = askmeans("init", "s.db", "d.csv", "-k", 2, "--image", "photo", cwd=table)
    assert "Got 11 of 12 that are not there (1: 1.png, 2: 2.png, 3: 3.png, ...)" in done.stderr
    for row in range(12):
        (table / f"{row}.png").write_bytes(b"")
    done = askmeans("init", "t.db", "d.csv", "-k", 2, "--image", "photo", cwd=table)
    assert "not there" not in done.stderr
