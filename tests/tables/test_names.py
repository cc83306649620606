"""Names of groups, encoded as the items of a table are."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image

from askmeans import sessions
from askmeans.exceptions import MissingExtraError, ParameterError
from askmeans.tables import read_items
from askmeans.tables.names import encode_names, sentences

COLOURS = {"red": (200, 30, 30), "green": (30, 200, 30), "blue": (30, 30, 200)}


class TwoTowers:
    """Vectors of pictures and texts in one space, apart from each other as those of CLIP are."""

    def images(self, paths):
        pixels = [np.asarray(Image.open(path)).mean(axis=(0, 1)) / 255 for path in paths]
        return np.hstack([pixels, np.full((len(paths), 1), 0.5)])

    def texts(self, texts):
        rows = [[0.2 + 0.3 * (colour in text) for colour in COLOURS] for text in texts]
        return np.hstack([rows, np.full((len(texts), 1), -0.9)])


@pytest.fixture
def pictures(tmp_path):
    """Thirty pictures of three colours."""
    rng = np.random.default_rng(0)
    for row in range(30):
        colour = np.clip(list(COLOURS.values())[row % 3] + rng.normal(0, 25, 3), 0, 255)
        Image.new("RGB", (4, 4), tuple(int(c) for c in colour)).save(tmp_path / f"{row}.png")
    return {"picture": [str(tmp_path / f"{row}.png") for row in range(30)]}


def test_names_place_pictures_where_the_embedding_takes_texts_too(pictures, tmp_path):
    items = read_items(pictures, image="picture", embed=TwoTowers())
    names = ["red things", "green things", "blue things"]
    url = tmp_path / "s.db"
    with sessions.create(url, items, n_clusters=3, cluster_names=names, random_state=0) as session:
        before = session.result()
        assert before.basis == "names"
        assert (before.memberships.argmax(axis=1) == np.arange(30) % 3).mean() > 0.9
    with sessions.open(url) as session:  # the embedding is not there
        assert_allclose(session.result().memberships, before.memberships)
        session.groups.rename(0, "crimson things")
        assert session.result().basis == "nothing"


def test_an_embedding_of_pictures_alone_takes_no_names(pictures):
    items = read_items(pictures, image="picture", embed=TwoTowers().images)
    assert np.isnan(encode_names(items.recipe, ["red"], items.functions)).all()


def test_a_function_of_the_users_own_is_not_imported_for_names():
    items = read_items({"text": [f"word {row}" for row in range(9)]}, text="text",
                       embed=lambda texts: [[len(text), 1.0] for text in texts])  # fmt: skip
    assert np.isnan(encode_names(items.recipe, ["word"])).all()
    assert np.isfinite(encode_names(items.recipe, ["word"], items.functions)).all()


def test_models_of_sentence_transformers_go_by_name(monkeypatch):
    class Model:
        def __init__(self, name):
            self.name = name

        def encode(self, texts):
            return np.array([[len(text), len(self.name)] for text in texts], dtype=float)

    monkeypatch.setitem(
        sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=Model)
    )
    texts = {"text": ["a word", "two words", "three more words"]}
    items = read_items(texts, text="text", embed="sentence-transformers:tiny/model")
    assert "sentence-transformers:tiny/model" in str(items.recipe)
    assert items.features.shape == (3, 2)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"askmeans\[sentence-transformers\]"):
        read_items(texts, text="text", embed="sentence-transformers:tiny/model")


def test_what_is_no_embedding_is_refused():
    with pytest.raises(ParameterError, match="methods texts and images"):
        read_items({"text": ["a word", "two words"]}, text="text", embed=3)


@pytest.mark.parametrize("name", ["hi", "IT", "type of card", "topic: news", "Gruppe von Karten"])
def test_short_names_are_names(name):
    assert sentences(name) == [name]


@pytest.mark.parametrize("name", ["Group A", "group AB", "cluster_3", "C", "12", "Topic 1", ""])
def test_default_names_are_none(name):
    assert sentences(name) == []


def test_without_pandas_names_say_nothing(monkeypatch):
    items = read_items({"text": [f"a word {row}" for row in range(9)]}, text="text")
    assert np.isfinite(encode_names(items.recipe, ["word"])).all()
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert np.isnan(encode_names(items.recipe, ["word"])).all()
