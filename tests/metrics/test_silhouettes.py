"""Silhouettes: those of scikit-learn where memberships are hard, and what softness changes."""

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from askmeans.exceptions import DataError, ParameterError
from askmeans.fuzzy import closed_form_memberships
from askmeans.metrics import fuzzy_silhouette, silhouettes, simplified_silhouette


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    return rng.normal(size=(120, 2)) + np.array([[0, 0], [5, 0], [0, 5]])[y], y


def test_hard_memberships_have_the_silhouette_of_scikit_learn(blobs):
    X, y = blobs
    assert fuzzy_silhouette(X, np.eye(3)[y]) == pytest.approx(silhouette_score(X, y))


def test_blocks_change_nothing(blobs, monkeypatch):
    X, y = blobs
    whole = fuzzy_silhouette(X, np.eye(3)[y]), simplified_silhouette(X, X[:3], np.eye(3)[y])
    monkeypatch.setattr(silhouettes, "_NUMBERS", 500)
    parts = fuzzy_silhouette(X, np.eye(3)[y]), simplified_silhouette(X, X[:3], np.eye(3)[y])
    assert parts == pytest.approx(whole)


def test_items_between_clusters_count_less_the_higher_the_weight(blobs):
    X, _ = blobs
    U = closed_form_memberships(X, np.array([[0, 0], [5, 0], [0, 5]]), 2.0)
    even, soft = (fuzzy_silhouette(X, U, weight=weight) for weight in (0.0, 1.0))
    assert even == pytest.approx(silhouette_score(X, U.argmax(axis=1)))
    assert soft > even


def test_an_item_alone_in_its_cluster_has_silhouette_zero():
    X = np.array([[0.0], [1.0], [9.0]])
    assert fuzzy_silhouette(X, np.eye(2)[[0, 0, 1]]) == pytest.approx(
        silhouette_score(X, [0, 0, 1])
    )


def test_the_simplified_one_looks_at_centers_only():
    X, centers = np.array([[0.0], [4.0]]), np.array([[1.0], [5.0]])
    # (5 - 1) / 5 and (3 - 1) / 3
    assert simplified_silhouette(X, centers, np.eye(2)) == pytest.approx((4 / 5 + 2 / 3) / 2)
    assert simplified_silhouette(X, np.array([[0.0], [4.0]]), np.eye(2)) == 1.0


def test_even_memberships_say_nothing():
    assert np.isnan(simplified_silhouette([[0.0], [1.0]], [[0.0], [1.0]], np.full((2, 2), 0.5)))


def test_one_cluster_and_a_negative_weight_are_refused():
    with pytest.raises(DataError, match="at least 2 clusters"):
        fuzzy_silhouette([[0.0], [1.0]], [[1.0, 0.0], [0.9, 0.1]])
    with pytest.raises(DataError, match="at least 2 rows"):
        simplified_silhouette([[0.0]], [[0.0]], [[1.0]])
    with pytest.raises(ParameterError, match="'weight' parameter"):
        fuzzy_silhouette([[0.0], [1.0]], np.eye(2), weight=-1)
    with pytest.raises(DataError, match="one row for each"):
        fuzzy_silhouette([[0.0], [1.0]], np.eye(3))
