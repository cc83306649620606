"""Languages by their common words, and topics within them."""

import json

import numpy as np
import pytest

from askmeans.tables import Recipe, apply_recipe, read_items
from askmeans.tables.texts import language_of, languages_of

RNG = np.random.default_rng(0)
OWN = (
    ("parcel courier email", "battery charger adapter"),
    ("paket kurier email", "akku ladung adapter"),
)
COMMON = ("the is my and with it not", "das ist mein und mit es nicht")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The battery is empty and I am not amused", "en"),
        ("Der Akku ist leer und ich bin nicht froh", "de"),
        ("La batterie est vide et je ne suis pas contente", "fr"),
        ("El teléfono no se enciende y la pantalla está rota", "es"),
        ("De batterij is leeg en het scherm niet", "nl"),
        ("battery", ""),
        ("", ""),
        ("手机屏幕坏了", ""),
    ],
)
def test_common_words_tell_the_language(text, language):
    assert language_of(text) == language


def test_a_language_of_few_texts_does_not_count():
    texts = ["the battery is empty"] * 97 + ["der Akku ist nicht leer"] * 3
    many, found = languages_of(texts)
    assert many == ["en"]
    assert found == ["en"] * 97 + [""] * 3


def test_topics_are_compared_within_a_language_and_so_for_new_texts():
    topics, languages = RNG.integers(2, size=200), RNG.integers(2, size=200)
    texts = []
    for topic, spoken in zip(topics, languages, strict=True):
        own, common = OWN[spoken][topic].split(), COMMON[spoken].split()
        texts.append(" ".join([*RNG.choice(own, 2), *RNG.choice(common, 3)]))
    items = read_items({"t": texts}, text="t")
    spread = [
        np.linalg.norm(items.features[half].mean(axis=0))
        for half in (languages == 0, languages == 1)
    ]
    assert max(spread) < 0.2  # the language's own direction is gone
    again = apply_recipe(
        Recipe.from_json(json.loads(json.dumps(items.recipe.to_json()))), {"t": texts[:9]}
    )
    np.testing.assert_allclose(again.features, items.features[:9], atol=1e-5)
    alone = read_items({"t": [t for t, spoken in zip(texts, languages, strict=True) if spoken]})
    assert list(alone.recipe.to_json()["encoders"][0]["means"]) == [""]
