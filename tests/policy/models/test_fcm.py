"""Names of clusters, optima, and metrics."""

import numpy as np
from numpy.testing import assert_allclose

from askmeans.fuzzy import lloyd
from askmeans.fuzzy.items import as_items
from askmeans.fuzzy.model import closed_form_memberships
from askmeans.policy.models.fcm import fcm_learned_scale, iterate, name_clusters, seeded_centers
from askmeans.policy.models.training import Training
from askmeans.policy.pool import Pool


def test_names_follow_from_what_is_and_from_what_is_not():
    U = np.eye(3)
    yes = np.array([[np.nan, 1.0, np.nan], [np.nan, np.nan, 1.0], [np.nan] * 3])
    assert name_clusters(U, yes).tolist() == [2, 0, 1]
    no = np.array([[0.0, np.nan, np.nan], [np.nan, 0.0, np.nan], [np.nan] * 3])
    names = name_clusters(U, no)
    assert names[0] != 0
    assert names[1] != 1


def test_iterations_end_where_lloyds_end():
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]], 40, axis=0) + rng.normal(size=(120, 2))
    start = X[[0, 50, 100]]
    found = lloyd.fit(
        X, 3, fuzzifier=1.7, init=start, n_init=1, max_iter=300, tol=1e-9, weights=np.empty(0),
        rng=rng,
    )  # fmt: skip
    starts = np.stack([start[::-1], start])
    ends = iterate(X, (X**2).sum(axis=1), starts, np.array([1.2, 1.7]), 300)
    assert_allclose(ends[1], found.centers, atol=1e-3)
    alone = iterate(X, (X**2).sum(axis=1), starts[:1], 1.2, 300)
    assert_allclose(ends[0], alone[0], atol=1e-3)


def test_with_many_features_few_axes_lead_to_the_same_optimum():
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 3
    X = 6.0 * rng.normal(size=(3, 150))[labels] / np.sqrt(75) + rng.normal(size=(300, 150))
    pool = Pool(as_items(X), 3, 2.0, rng)
    rows = np.arange(12)
    training = Training.of(rows, np.eye(3)[labels[rows]], np.ones(12), np.full(12, 25.0))
    centers, fuzzifier = seeded_centers(pool, training)
    assert pool.narrow.points.shape[1] < 150
    exact = iterate(X, (X**2).sum(axis=1), centers[None], fuzzifier, 100)[0]
    assert_allclose(
        closed_form_memberships(X, centers, fuzzifier),
        closed_form_memberships(X, exact, fuzzifier),
        atol=0.01,
    )


def test_weights_of_features_are_learnt_from_answers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) + 3.0 * rng.integers(0, 2, size=(200, 3))
    weights = np.array([1.0, 6.0, 1.0])
    centers = np.array([[1.0, 0.0, 1.0], [1.0, 3.0, 1.0]])
    U = closed_form_memberships(X * weights, centers * weights, 2.0)
    pool = Pool(as_items(X), 2, 2.0, rng)
    rows = np.arange(40)
    training = Training.of(rows, U[rows], np.ones(40), np.full(40, 5.0))
    fitted = fcm_learned_scale(pool, training)
    assert np.abs(fitted.pool - U).mean() < 0.05
    centers, _ = seeded_centers(pool, training)
    plain = closed_form_memberships(X, centers, 2.0)
    assert np.abs(fitted.pool - U).mean() < np.abs(plain - U).mean()
