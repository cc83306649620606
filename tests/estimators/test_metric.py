"""metric="cosine": only directions count, in everything that takes items."""

import numpy as np
import pytest

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans
from askmeans.exceptions import ParameterError
from askmeans.oracles import TableOracle

RNG = np.random.default_rng(0)
Y = RNG.integers(3, size=90)
X = np.eye(3)[Y] + RNG.normal(0, 0.1, (90, 3))
LENGTHS = RNG.uniform(0.1, 1000.0, (90, 1))


def made(kind, **more):
    """An estimator of a kind."""
    if kind is FuzzyKMeans:
        return FuzzyKMeans(3, n_init=3, random_state=0, **more)
    oracle = TableOracle.from_labels(Y)
    return ActiveFuzzyKMeans(3, oracle=oracle, ask="group", budget=12, random_state=0, **more)


@pytest.mark.parametrize("kind", [FuzzyKMeans, ActiveFuzzyKMeans])
def test_the_lengths_of_items_do_not_count(kind):
    model = made(kind, metric="cosine").fit(X)
    longer = made(kind, metric="cosine").fit(X * LENGTHS)
    np.testing.assert_allclose(longer.memberships_, model.memberships_, atol=1e-6)
    np.testing.assert_allclose(longer.cluster_centers_, model.cluster_centers_, atol=1e-6)
    for method in ("predict", "predict_proba", "transform", "score"):
        np.testing.assert_allclose(
            getattr(model, method)(X * LENGTHS), getattr(model, method)(X), atol=1e-6
        )


@pytest.mark.parametrize("kind", [FuzzyKMeans, ActiveFuzzyKMeans])
def test_cosine_is_euclidean_on_items_of_length_one(kind):
    units = X / np.linalg.norm(X, axis=1, keepdims=True)
    cosine = made(kind, metric="cosine").fit(X * LENGTHS)
    euclidean = made(kind).fit(units)
    np.testing.assert_allclose(cosine.memberships_, euclidean.memberships_, atol=1e-6)
    assert (np.linalg.norm(cosine.cluster_centers_, axis=1) <= 1).all()


def test_rows_of_zeros_and_huge_numbers_have_finite_memberships_in_the_same_type():
    items = np.vstack([X * 1e30, np.zeros((1, 3))]).astype(np.float32)
    model = made(FuzzyKMeans, metric="cosine").fit(items)
    assert model.memberships_.dtype == np.float32
    assert np.isfinite(model.memberships_).all()
    assert items.max() > 1e29  # the caller's array is left alone


@pytest.mark.parametrize("kind", [FuzzyKMeans, ActiveFuzzyKMeans])
def test_a_metric_that_is_none_is_refused_by_name(kind):
    with pytest.raises(ParameterError, match=f"The 'metric' parameter of {kind.__name__}"):
        made(kind, metric="manhattan").fit(X)
