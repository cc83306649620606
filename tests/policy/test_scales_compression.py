"""Scales of two clusters that avoid both of their ends."""

import numpy as np
import pytest

from askmeans.policy.scales import compression


def items(seed, n=60, d=4):
    """Features, and memberships that are a logistic function of them."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, 1.0 / (1.0 + np.exp(-X @ np.linspace(0.5, 1.5, d)))


@pytest.mark.parametrize("share", [0.1, 0.25])
@pytest.mark.parametrize("seed", [0, 1])
def test_ends_that_no_answer_reaches_follow_from_features(seed, share):
    X, u = items(seed)
    order = np.argsort(np.abs(u - 0.5))[:40]  # uncertain items alone, as they are asked about
    answers = share + (1.0 - 2.0 * share) * u[order]
    assert np.abs(answers - 0.5).max() < 0.9 * (0.5 - share)
    assert compression(answers, X[order]) == pytest.approx(share, abs=0.011)
    assert compression(u[order], X[order]) == 0.0


def test_without_features_answers_that_pile_up_inside_show_the_ends():
    u = np.random.default_rng(0).beta(0.3, 0.3, size=40)
    assert compression(0.2 + 0.6 * u) == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("seed", range(4))
def test_soft_memberships_by_distances_to_centres_are_believed(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 12)) + np.repeat([[0.7], [-0.7]], 40, axis=0)
    X = X[rng.permutation(80)]
    near, far = (np.square(X - centre).sum(axis=1) for centre in (0.7, -0.7))
    u = far / (near + far)
    assert np.abs(u - 0.5).max() < 0.45
    assert compression(u, X) == 0.0


def test_few_answers_and_answers_at_an_end_show_nothing():
    X, u = items(0)
    assert compression(0.25 + 0.5 * u[:8], X[:8]) == 0.0
    assert compression(np.append(0.25 + 0.5 * u, 0.01), np.append(X, X[:1], axis=0)) == 0.0
