"""Embeddings of texts by an OpenAI-compatible endpoint."""

import hashlib
from types import SimpleNamespace

import numpy as np
import pytest
from model_server import Broken, serving
from numpy.testing import assert_array_equal

from askmeans.exceptions import ModelError
from askmeans.llm import text_embedding
from askmeans.tables import apply_recipe, read_items

TEXTS = [f"message {number}" for number in range(40)]


def numbers(text):
    return list(hashlib.sha256(text.encode()).digest()[:3])


def vectors(request, _):
    """Three numbers of each text, the last text first."""
    rows = [
        {
            "object": "embedding",
            "index": j,
            "embedding": list(hashlib.sha256(text.encode()).digest()[:3]),
        }
        for j, text in enumerate(request.body["input"])
    ]
    usage = {"prompt_tokens": 2 * len(rows), "completion_tokens": 0, "total_tokens": 2 * len(rows)}
    return {"object": "list", "model": "small", "data": rows[::-1], "usage": usage}


@pytest.fixture
def endpoint(tmp_path, monkeypatch):
    """A server, and embeddings that use it."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-key")
    with serving(vectors) as server:
        yield SimpleNamespace(
            server=server,
            embedding=lambda: text_embedding(
                "small", url=server.url, cache=tmp_path / "c" / "e.db"
            ),
        )


def test_texts_are_sent_once_and_the_cost_is_counted(endpoint):
    first = endpoint.embedding()
    rows = first([*TEXTS, TEXTS[0]])
    assert rows.shape == (41, 3)
    assert_array_equal(rows[0], rows[40])
    assert_array_equal(rows[:40], np.array([numbers(text) for text in TEXTS]))
    assert (first.new, first.tokens) == (40, 80)
    n_requests = len(endpoint.server.trace)
    again = endpoint.embedding()
    assert_array_equal(again([*TEXTS, "new"])[:40], rows[:40])
    assert (again.new, again.tokens) == (1, 2)
    assert len(endpoint.server.trace) == n_requests + 1


def test_recipes_keep_the_name_of_the_model_only(endpoint):
    items = read_items({"text": TEXTS}, text="text", embed=endpoint.embedding())
    assert "openai:small" in str(items.recipe)
    assert "secret" not in str(items.recipe.to_json())
    again = apply_recipe(items.recipe, {"text": TEXTS}, embed=endpoint.embedding())
    assert_array_equal(again.features, items.features)


def test_what_was_paid_for_is_kept_where_a_later_request_fails(endpoint):
    sent = []

    def fails_later(request, n):
        sent.append(request)
        return vectors(request, n) if len(sent) < 2 else Broken(400)

    endpoint.server.script = fails_later
    with pytest.raises(ModelError) as refused:
        endpoint.embedding()(TEXTS)
    assert "secret" not in str(refused.value)
    endpoint.server.script = vectors
    rest = endpoint.embedding()
    rest(TEXTS)
    assert 0 < rest.new < 40
