"""Own vectors and embeddings: matched by order or id, of one length, and never run unasked."""

import json
import logging
import sys

import numpy as np
import pandas as pd
import pytest

from askmeans.exceptions import DataError, ParameterError
from askmeans.tables import Recipe, apply_recipe, read_items

N = 12
RNG = np.random.default_rng(0)
V = RNG.normal(size=(N, 5)).astype(np.float32)
TABLE = pd.DataFrame({"key": [f"k{row}" for row in range(N)], "x": RNG.normal(size=N)})


def lengths_and_vowels(texts):
    """An embedding, of a sort."""
    return [[len(text), sum(letter in "aeiou" for letter in text), 1.0] for text in texts]


def test_vectors_replace_the_tables_features_unless_some_are_named(tmp_path):
    np.save(tmp_path / "v.npy", V)
    items = read_items(TABLE, vectors=tmp_path / "v.npy")
    np.testing.assert_array_equal(items.features, V)
    assert items.shown.columns.tolist() == ["key", "x"]
    both = read_items(TABLE, vectors=V, features=["x"])
    assert both.features.shape == (N, 6)
    totals = both.features.var(axis=0)
    assert totals[0] == pytest.approx(1, rel=1e-4)
    assert totals[1:].sum() == pytest.approx(1, rel=1e-4)


def test_vectors_are_matched_by_id_where_the_file_has_ids(tmp_path):
    order = RNG.permutation(N)
    ids = TABLE["key"].to_numpy()[order]
    np.savez(tmp_path / "v.npz", ids=ids.astype(str), vectors=V[order])
    pd.DataFrame({"key": ids, "emb": V[order].tolist()}).to_parquet(tmp_path / "v.parquet")
    pd.DataFrame(V[order]).assign(key=ids).to_csv(tmp_path / "v.csv", index=False)
    for name in ("v.npz", "v.parquet", "v.csv"):
        items = read_items(TABLE, id="key", vectors=tmp_path / name)
        np.testing.assert_allclose(items.features, V, rtol=1e-5)
    np.savez(tmp_path / "v.npz", ids=ids[1:].astype(str), vectors=V[order][1:])
    with pytest.raises(DataError, match=rf"Missing are 1 of 12 \({ids[0]}\)"):
        read_items(TABLE, id="key", vectors=tmp_path / "v.npz")


def test_a_column_of_lists_is_vectors_when_it_is_named(tmp_path):
    table = TABLE.assign(emb=V.tolist())
    table.to_parquet(tmp_path / "d.parquet")
    items = read_items(tmp_path / "d.parquet", vectors="emb", metric="cosine")
    np.testing.assert_allclose(items.features, V / np.linalg.norm(V, axis=1, keepdims=True), 1e-5)
    unnamed = {c.name: c for c in read_items(tmp_path / "d.parquet").recipe.columns}["emb"]
    assert (unnamed.kind, unnamed.use) == ("vector", "shown")
    again = apply_recipe(items.recipe, table.iloc[:3])
    np.testing.assert_allclose(again.features, items.features[:3])


def test_a_missing_vector_is_taken_for_average():
    table = TABLE.assign(emb=pd.Series([None, *V[1:].tolist()], dtype=object))
    items = read_items(table, vectors="emb")
    np.testing.assert_allclose(items.features[0], V[1:].mean(axis=0), atol=1e-6)
    assert "1 missing, replaced by the mean" in items.recipe.columns[-1].why


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (V[:-1], "one row for each of the 12 items, in their order. Got 11 rows"),
        (V[0], r"Got shape \(5,\)"),
        (np.where(V > 1, np.nan, V), "Got NaN or infinity"),
        ([["a"]] * N, "must hold numbers in rows of equal length"),
        ("nowhere.npy", r"must be a \.npy file of numbers"),
        ("key", "Column 'key' must have lists of numbers"),
    ],
)
def test_vectors_that_do_not_fit_are_refused_with_a_sentence(vectors, message):
    with pytest.raises(DataError, match=message):
        read_items(TABLE, vectors=vectors)


def test_vectors_of_another_length_are_refused():
    table = TABLE.assign(emb=[*V[1:].tolist(), [1.0, 2.0]])
    with pytest.raises(DataError, match=r"Vectors must be of one length. Got 5 and, in row 11"):
        read_items(table, vectors="emb")
    recipe = read_items(TABLE, vectors=V).recipe
    with pytest.raises(DataError, match=r"must have 5 components, as the first .* Got 4"):
        apply_recipe(recipe, TABLE, vectors=V[:, :4])
    with pytest.raises(DataError, match=r"New rows must have .* vectors is missing"):
        apply_recipe(recipe, TABLE)


def test_an_embedding_by_name_or_as_a_function_makes_the_texts_features(tmp_path, monkeypatch):
    table = {"t": ["one bee", "two gnus here", "three cats", "four eels too"]}
    items = read_items(table, embed=lengths_and_vowels)
    np.testing.assert_allclose(np.linalg.norm(items.features, axis=1), 1, rtol=1e-5)
    assert "lengths_and_vowels; scaled to length 1 (cosine)" in items.recipe.columns[0].why
    (tmp_path / "my_embedding.py").write_text(
        "def f(texts):\n    return [[1.0, 0.0]] * len(texts)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    named = read_items(table, embed={"t": "my_embedding:f"})
    assert named.features.tolist() == [[1.0, 0.0]] * 4


def test_a_recipe_runs_no_embedding_unless_it_is_given_again():
    table = {"t": ["one bee", "two gnus here", "three cats", "four eels too"]}
    items = read_items(table, embed=lengths_and_vowels)
    recipe = Recipe.from_json(json.loads(json.dumps(items.recipe.to_json())))
    with pytest.raises(ParameterError, match=r"must be .*lengths_and_vowels for 't'.* Got nothing"):
        apply_recipe(recipe, table)
    again = apply_recipe(recipe, table, embed=lengths_and_vowels)
    np.testing.assert_allclose(again.features, items.features)
    plain = read_items(table).recipe
    with pytest.raises(ParameterError, match="needs a text or image feature"):
        apply_recipe(plain, table, embed=lengths_and_vowels)


@pytest.mark.parametrize(
    ("embed", "error", "message"),
    [
        ("nothing", ParameterError, "must be a function, 'wordllama', .* or"),
        ("os.path:nothing", ParameterError, "must name a function that can be imported"),
        ("no_such_package:f", ParameterError, "must name a function that can be imported"),
        ({"x": len}, ParameterError, "must name text or image features. Got 'x'"),
        (lambda texts: [[1.0]] * (len(texts) - 1), DataError, "one vector for each of 4 values"),
        (lambda texts: ["a"] * len(texts), DataError, "must hold numbers"),
    ],
)
def test_embeddings_that_are_none_are_refused(embed, error, message):
    table = {"t": ["one bee", "two gnus here", "three cats", "four eels too"]}
    with pytest.raises(error, match=message):
        read_items(table, embed=embed)


def test_images_are_embedded_by_their_paths(tmp_path):
    from PIL import Image

    for row in range(3):
        Image.new("RGB", (4, 4), (row, 0, 0)).save(tmp_path / f"{row}.png")
    seen = []

    def by_path(paths):
        seen.extend(paths)
        return np.eye(3)

    items = read_items(tmp_path, embed=by_path)
    assert seen == [str(tmp_path / f"{row}.png") for row in range(3)]
    np.testing.assert_array_equal(items.features, np.eye(3))


def test_wordllama_does_not_have_other_libraries_logs_printed(monkeypatch):
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])  # as in a process of its own
    for name in [name for name in sys.modules if name.startswith("wordllama")]:
        monkeypatch.delitem(sys.modules, name)
    read_items({"t": ["one bee", "two gnus"]}, text="t", embed="wordllama")
    assert not root.handlers
    assert root.level == logging.WARNING


def test_wordllama_embeds_without_a_download():
    table = {"t": ["the cat sat here", "a small kitten", "stocks fell today", "the market sank"]}
    items = read_items(table, embed="wordllama")
    near = items.features @ items.features.T
    assert near[0, 1] > near[0, 2]
    assert near[2, 3] > near[1, 3]
