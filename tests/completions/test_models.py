"""Models on soft labels, each where it is the one that should be right."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression

from askmeans.completions.discriminant import discriminant, shrunk_covariance
from askmeans.completions.evidence import Evidence
from askmeans.completions.graph import Graph, spread
from askmeans.completions.logistic import logistic
from askmeans.completions.mixture import mixture
from askmeans.completions.pool import Pool
from askmeans.items import as_items


def known(X, labels, rows, k):
    """A pool, and what is known of some rows."""
    pool = Pool(as_items(X), k, 2.0, np.random.default_rng(0))
    even = np.ones(len(rows))
    return pool, Evidence.of(np.asarray(rows), np.eye(k)[labels[rows]], even, even)


@pytest.mark.parametrize("looseness", [1.0, 30.0])
def test_logistic_regression_on_labels_is_that_of_scikit_learn(study, looseness):
    pool, evidence, _ = study
    found = logistic(pool, evidence, looseness=looseness)
    labels = evidence.Y.argmax(axis=1)
    model = LogisticRegression(C=looseness, tol=1e-8, max_iter=1000).fit(
        pool.Z[evidence.rows], labels
    )
    assert_allclose(found.pool, model.predict_proba(pool.Z), atol=0.01)


def test_soft_labels_count_by_their_share(study):
    pool, evidence, _ = study
    # An item that is a third of each is as three items that are one each.
    thirds = Evidence.of(
        evidence.rows, np.full_like(evidence.Y, 1 / 3), evidence.trust, evidence.cells
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
    pool, evidence = known(X, labels, np.arange(16), 2)
    wrong = {
        model.__name__: (model(pool, evidence).pool.argmax(axis=1) != labels).mean()
        for model in (mixture, discriminant)
    }
    assert wrong["mixture"] < 0.1 < 0.2 < wrong["discriminant"]


def test_answers_spread_along_moons():
    X, labels = make_moons(300, noise=0.05, random_state=0)
    rows = [int(np.flatnonzero(labels == j)[i]) for j in (0, 1) for i in range(3)]
    pool, evidence = known(X, labels, rows, 2)
    found = spread(pool, evidence, Graph(pool))
    assert (found.pool.argmax(axis=1) == labels).mean() > 0.95
    assert (discriminant(pool, evidence).pool.argmax(axis=1) == labels).mean() < 0.93
