"""Models on soft labels, each where it is the one that should be right."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression

from askmeans.fuzzy.items import as_items
from askmeans.policy.models.forest import forest
from askmeans.policy.models.gaussian_process import MOST, Graph, gp_graph, gp_rbf, ridge
from askmeans.policy.models.linear import (
    learn_lda,
    learn_logistic,
    shrunk_covariance,
    span,
)
from askmeans.policy.models.mixture import maximise, mixture
from askmeans.policy.models.training import Training
from askmeans.policy.pool import Pool, quadratic


def known(X, labels, rows, k):
    """A pool, and what is known of some rows."""
    pool = Pool(as_items(X), k, 2.0, np.random.default_rng(0))
    even = np.ones(len(rows))
    return pool, Training.of(np.asarray(rows), np.eye(k)[labels[rows]], even, even)


@pytest.mark.parametrize("looseness", [1.0, 30.0])
def test_logistic_regression_on_labels_is_that_of_scikit_learn(study, looseness):
    pool, training, _ = study
    U = learn_logistic(pool, training, looseness=looseness)(pool.Z)
    labels = training.Y.argmax(axis=1)
    model = LogisticRegression(C=looseness, tol=1e-8, max_iter=1000).fit(
        pool.Z[training.rows], labels
    )
    assert_allclose(U, model.predict_proba(pool.Z), atol=0.01)


def test_soft_labels_count_by_their_share(study):
    pool, training, _ = study
    # An item that is a third of each is as three items that are one each.
    thirds = Training.of(
        training.rows,
        np.full_like(training.Y, 1 / 3),
        training.sample_weight,
        training.stratum_size,
    )
    assert_allclose(learn_logistic(pool, thirds, looseness=1.0)(pool.Z), 1 / 3, atol=1e-3)
    assert_allclose(learn_lda(pool, thirds)(pool.Z), 1 / 3, atol=1e-9)


def test_the_covariance_is_shrunk_as_ledoit_and_wolf_do():
    residuals = np.random.default_rng(0).normal(size=(40, 15)) * np.linspace(1.0, 4.0, 15)
    expected, share = ledoit_wolf(residuals, assume_centered=True)
    assert 0.05 < share < 0.95
    quartic = float((np.square(residuals).sum(axis=1) ** 2).sum())
    found = shrunk_covariance(residuals.T @ residuals, quartic, 40.0, 15)
    assert_allclose(found, expected, atol=0.02)
    # Of more dimensions than items the same is found where the items are.
    residuals = np.pad(residuals[:8], ((0, 0), (0, 5)))
    expected, share = ledoit_wolf(residuals, assume_centered=True)
    assert 0.05 < share < 0.95
    axes = span(residuals)
    inside = residuals @ axes
    quartic = float((np.square(inside).sum(axis=1) ** 2).sum())
    found = shrunk_covariance(inside.T @ inside, quartic, 8.0, 20)
    assert_allclose(found, axes.T @ expected @ axes, atol=0.02)


@pytest.mark.parametrize("d", [4, 60])
def test_models_that_are_linear_have_no_slope_across_what_answers_span(d):
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 2
    X = rng.normal(size=(200, d)) + 2.0 * labels[:, None]
    pool, training = known(X, labels, np.arange(12), 2)
    across = np.linalg.svd(pool.Z[:12])[2][12:]  # none where there are few features
    regression = learn_logistic(pool, training, looseness=1.0)
    for model in (learn_lda(pool, training), regression):
        assert_allclose(across @ model.slope, 0.0, atol=1e-6)
        assert (model(pool.Z).argmax(axis=1) == labels).mean() > 0.9


def test_a_mixture_learns_shapes_that_one_covariance_cannot():
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 2
    X = rng.normal(size=(400, 2)) * np.where(labels[:, None] == 0, [0.3, 0.3], [3.0, 3.0])
    pool, training = known(X, labels, np.arange(16), 2)
    found = mixture(pool, training)
    linear = learn_lda(pool, training)(pool.Z)
    assert (found.pool.argmax(axis=1) != labels).mean() < 0.1
    assert (linear.argmax(axis=1) != labels).mean() > 0.2
    assert_allclose(found.predict(pool.X), found.pool, atol=1e-9)


def test_a_mixture_has_the_posteriors_of_normal_densities():
    rng = np.random.default_rng(0)
    P = rng.normal(size=(50, 3)) * [1.0, 2.0, 0.5] + 1.0
    R = rng.dirichlet([1.0, 1.0], size=50)
    logits = quadratic(P) @ maximise(R.T @ quadratic(P), P.var(axis=0)).T
    expected = []
    for r in R.T:
        S = np.cov(P.T, aweights=r, ddof=0)
        share = 4.0 / (r.sum() + 4.0)
        S = (1 - share) * S + np.diag(share * np.diag(S) + 0.02 * P.var(axis=0))
        mean = r @ P / r.sum()
        expected.append(np.log(r.sum()) + multivariate_normal(mean, S).logpdf(P))
    assert_allclose(np.diff(logits, axis=1), np.diff(np.transpose(expected), axis=1), atol=1e-6)


def test_a_forest_is_told_nothing_of_an_answer_by_trees_that_saw_it(study):
    pool, training, U = study
    lots = np.random.default_rng(0).integers(3, size=len(training.rows))  # nothing predicts these
    even = np.ones(len(lots))
    drawn = Training.of(training.rows, np.eye(3)[lots], even, even)
    found = forest(pool, drawn)
    assert (found.pool[drawn.rows].argmax(axis=1) == lots).mean() > 0.9
    assert (found.held_out.argmax(axis=1) == lots).mean() < 0.6
    found = forest(pool, training)
    assert (found.held_out.argmax(axis=1) == training.Y.argmax(axis=1)).mean() > 0.8
    assert (found.pool.argmax(axis=1) == U.argmax(axis=1)).mean() > 0.8
    assert_allclose(found.predict(pool.X), found.pool, atol=1e-9)


def test_answers_that_weigh_nothing_do_not_make_a_tree(study):
    pool, training, _ = study
    weight = np.where(np.arange(24) < 12, 1.0, 1e-9)
    upside_down = np.where(weight[:, None] < 0.5, training.Y[:, ::-1], training.Y)
    found = forest(pool, Training.of(training.rows, upside_down, weight, training.stratum_size))
    right = found.pool[training.rows].argmax(axis=1) == training.Y.argmax(axis=1)
    assert right[12:].mean() > 0.7


def test_answers_spread_along_moons():
    X, labels = make_moons(300, noise=0.05, random_state=0)
    rows = [int(np.flatnonzero(labels == j)[i]) for j in (0, 1) for i in range(3)]
    pool, training = known(X, labels, rows, 2)
    found = gp_graph(pool, training, Graph(pool))
    assert (found.pool.argmax(axis=1) == labels).mean() > 0.95
    assert (learn_lda(pool, training)(pool.Z).argmax(axis=1) == labels).mean() < 0.93


def test_a_graph_learns_the_same_whatever_it_learnt_before():
    X, labels = make_moons(100, noise=0.05, random_state=0)
    pool, training = known(X, labels, np.arange(10), 2)
    graph = Graph(pool)
    gp_graph(pool, known(X, labels, [7, 3, 50], 2)[1], graph)
    assert_allclose(
        gp_graph(pool, training, graph).pool, gp_graph(pool, training, Graph(pool)).pool, atol=1e-9
    )


def test_a_graph_keeps_columns_for_the_last_items_only():
    X, labels = make_moons(100, noise=0.05, random_state=0)
    pool, _ = known(X, labels, np.arange(10), 2)
    graph = Graph(pool)
    graph.columns(np.arange(10))
    assert [columns.shape for columns in graph.columns(np.array([7, 50, 3]))] == [(100, 3)] * 2


@pytest.mark.parametrize("learn", [gp_rbf, ridge, "graph"])
def test_processes_learn_from_a_part_of_many_answers_and_are_as_good(learn):
    X, labels = make_moons(2400, noise=0.2, random_state=0)
    rows = np.arange(2200)
    pool, training = known(X, labels, rows, 2)
    inside = training.sample(MOST)
    assert inside.sum() == MOST
    assert abs(training.Y[inside].mean(axis=0) - training.Y.mean(axis=0)).max() < 0.002
    model = gp_graph(pool, training, Graph(pool)) if learn == "graph" else learn(pool, training)
    assert model.held_out.shape == training.Y.shape
    least = 0.83 if learn is ridge else 0.95
    assert (model.held_out.argmax(axis=1) == labels[rows]).mean() > least
    assert (model.pool[2200:].argmax(axis=1) == labels[2200:]).mean() > least - 0.02
