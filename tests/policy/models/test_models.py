"""Models on soft labels, each where it is the one that should be right."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression

from askmeans.items import as_items
from askmeans.policy.models.discriminant import discriminant, shrunk_covariance
from askmeans.policy.models.graph import Graph, spread
from askmeans.policy.models.logistic import logistic
from askmeans.policy.models.mixture import mixture
from askmeans.policy.models.training import Training
from askmeans.policy.pool import Pool


def known(X, labels, rows, k):
    """A pool, and what is known of some rows."""
    pool = Pool(as_items(X), k, 2.0, np.random.default_rng(0))
    even = np.ones(len(rows))
    return pool, Training.of(np.asarray(rows), np.eye(k)[labels[rows]], even, even)


@pytest.mark.parametrize("looseness", [1.0, 30.0])
def test_logistic_regression_on_labels_is_that_of_scikit_learn(study, looseness):
    pool, training, _ = study
    found = logistic(pool, training, looseness=looseness)
    labels = training.Y.argmax(axis=1)
    model = LogisticRegression(C=looseness, tol=1e-8, max_iter=1000).fit(
        pool.Z[training.rows], labels
    )
    assert_allclose(found.pool, model.predict_proba(pool.Z), atol=0.01)


def test_soft_labels_count_by_their_share(study):
    pool, training, _ = study
    # An item that is a third of each is as three items that are one each.
    thirds = Training.of(
        training.rows,
        np.full_like(training.Y, 1 / 3),
        training.sample_weight,
        training.stratum_size,
    )
    assert_allclose(logistic(pool, thirds, looseness=1.0).pool, 1 / 3, atol=1e-3)
    assert_allclose(discriminant(pool, thirds).pool, 1 / 3, atol=1e-9)


def test_the_covariance_is_shrunk_as_ledoit_and_wolf_do():
    residuals = np.random.default_rng(0).normal(size=(40, 15)) * np.linspace(1.0, 4.0, 15)
    expected, share = ledoit_wolf(residuals, assume_centered=True)
    assert 0.05 < share < 0.95
    assert_allclose(shrunk_covariance(residuals, 40.0, 15), expected, atol=0.02)


def test_a_mixture_learns_shapes_that_one_covariance_cannot():
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 2
    X = rng.normal(size=(400, 2)) * np.where(labels[:, None] == 0, [0.3, 0.3], [3.0, 3.0])
    pool, training = known(X, labels, np.arange(16), 2)
    wrong = {
        model.__name__: (model(pool, training).pool.argmax(axis=1) != labels).mean()
        for model in (mixture, discriminant)
    }
    assert wrong["mixture"] < 0.1 < 0.2 < wrong["discriminant"]


def test_answers_spread_along_moons():
    X, labels = make_moons(300, noise=0.05, random_state=0)
    rows = [int(np.flatnonzero(labels == j)[i]) for j in (0, 1) for i in range(3)]
    pool, training = known(X, labels, rows, 2)
    found = spread(pool, training, Graph(pool))
    assert (found.pool.argmax(axis=1) == labels).mean() > 0.95
    assert (discriminant(pool, training).pool.argmax(axis=1) == labels).mean() < 0.93
