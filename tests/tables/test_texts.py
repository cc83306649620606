"""Texts as features: directions of topics, in any language, and the same for new texts."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

from askmeans.exceptions import DataError
from askmeans.metrics import matched_accuracy
from askmeans.tables import Recipe, apply_recipe, read_items
from askmeans.tables.texts import Text, language_of, languages_of

TOPICS = [
    "parcel courier shipping tracking warehouse doorstep",
    "battery charger charging cable power socket",
    "camera photo lens focus flash zoom",
]
COMMON = ["the", "my", "is", "not", "and", "it", "with", "after", "since", "again"]
RNG = np.random.default_rng(0)
LABELS = RNG.integers(3, size=150)
TEXTS = [
    " ".join([*RNG.choice(TOPICS[topic].split(), 2), *RNG.choice(COMMON, 4)]) for topic in LABELS
]


def topic_features(texts):
    """Features of texts alone."""
    return read_items({"t": texts}, text="t").features


def test_texts_of_one_topic_lie_together():
    features = topic_features(TEXTS)
    found = KMeans(3, n_init=5, random_state=0).fit_predict(features)
    assert matched_accuracy(LABELS, found) > 0.9


def test_rows_have_length_one_or_zero_where_there_is_no_word():
    features = topic_features([*TEXTS, "", None, "zzzz"])
    lengths = np.linalg.norm(features, axis=1)
    np.testing.assert_allclose(lengths[:150], 1, atol=1e-5)
    assert not lengths[150:].any()
    assert features.dtype == np.float32


def test_inflected_words_are_alike():
    delivery = ["Lieferung", "Lieferungen", "geliefert", "Lieferant", "liefern", "Auslieferung"]
    display = ["Bildschirm", "Bildschirme", "Bildschirms", "bildschirmlos", "Schirm", "Schirme"]
    texts = [f"{word} {common}" for word in delivery + display for common in COMMON]
    features = topic_features(texts)
    means = features.reshape(12, len(COMMON), -1).mean(axis=1)
    near = means @ means.T
    assert near[0, 1:6].mean() > 1.5 * near[0, 6:].mean()  # words alone: as far as any other


@pytest.mark.parametrize("n", [2, 10])
def test_few_texts_will_do_and_are_apart(n):
    features = topic_features(TEXTS[:n])
    assert len(features) == n
    assert np.isfinite(features).all()
    assert (features @ features.T)[~np.eye(n, dtype=bool)].max() < 0.99


def test_texts_that_are_all_the_same_have_no_topics():
    features = topic_features(["a parcel came late"] * 9)
    assert features.shape == (9, 1)
    assert not features.any()


def effective_components(features):
    """How many components carry the variance, by its participation ratio."""
    variance = features.var(axis=0)
    return variance.sum() ** 2 / (variance**2).sum()


def test_how_many_components_count_follows_the_texts():
    few = [text for text, topic in zip(TEXTS, LABELS, strict=True) if topic < 2]
    assert effective_components(topic_features(few)) < 0.8 * effective_components(
        topic_features(TEXTS)
    )
    assert effective_components(topic_features(TEXTS)) < 8  # of 28, for three topics


def test_a_recipe_made_before_means_were_taken_off_does_what_it_did():
    values = read_items({"t": TEXTS}, text="t").recipe.to_json()
    values["encoders"][0]["means"] = {}
    features = apply_recipe(Recipe.from_json(values), {"t": TEXTS}).features
    lengths = np.linalg.norm(features, axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-5)
    assert np.linalg.norm(features.mean(axis=0)) > 2 * np.linalg.norm(
        topic_features(TEXTS).mean(axis=0)
    )


def test_scripts_without_spaces_are_texts_too():
    texts = ["手机屏幕坏了", "屏幕破裂不亮", "快递迟到三天", "快递还没有到"] * 5
    features = topic_features([text + "。" * (row % 3) for row, text in enumerate(texts)])
    assert features[0] @ features[1] > features[0] @ features[2]


def test_an_encoder_fitted_to_a_sample_of_many_texts_serves_them_all():
    n = 21_000 // len(TEXTS) + 1  # 20,000 are in the fit
    features = topic_features(TEXTS * n)[-len(TEXTS) :]
    assert (np.linalg.norm(features, axis=1) > 0.99).all()
    clusters = KMeans(3, n_init=5, random_state=0).fit_predict(features)
    assert matched_accuracy(LABELS, clusters) > 0.9


def test_the_recipe_of_texts_is_json_and_small():
    items = read_items({"t": TEXTS}, text="t")
    written = json.dumps(items.recipe.to_json())
    assert len(written) < 100_000
    again = apply_recipe(Recipe.from_json(json.loads(written)), {"t": TEXTS[:5]})
    np.testing.assert_allclose(again.features, items.features[:5], atol=1e-6)


def test_texts_without_any_word_are_refused():
    with pytest.raises(DataError, match="Column 't' must have words to be a text"):
        Text.fit_transform(pd.Series(["", "!", "?"] * 20, name="t"))


def test_an_array_that_was_damaged_is_refused():
    values = read_items({"t": TEXTS}, text="t").recipe.to_json()
    values["encoders"][0]["components"]["base64"] = "AAAA"
    with pytest.raises(DataError, match="A recipe's array cannot be read"):
        apply_recipe(Recipe.from_json(values), {"t": TEXTS})


TOPICAL = (
    ("parcel courier email", "battery charger adapter"),
    ("paket kurier email", "akku ladung adapter"),
)
USUAL = ("the is my and with it not", "das ist mein und mit es nicht")


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
    rng = np.random.default_rng(0)
    topics, languages = rng.integers(2, size=200), rng.integers(2, size=200)
    texts = []
    for topic, spoken in zip(topics, languages, strict=True):
        own, common = TOPICAL[spoken][topic].split(), USUAL[spoken].split()
        texts.append(" ".join([*rng.choice(own, 2), *rng.choice(common, 3)]))
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
