"""The default strategy with noisy answers: the bounds of benchmarks/noise.py on fewer targets.

All in `make soak`; tests/estimators/test_active_noisy.py is the quick part.
"""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler
from strange_oracles import hostile

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, metrics
from askmeans.contradictions import find_suspects
from askmeans.oracles import CrowdOracle, NoisyOracle, QuantizedOracle, TableOracle

SEEDS = range(3)

pytestmark = pytest.mark.soak


def standardised(load):
    return StandardScaler().fit_transform(load().data)


def fuzzy(X, k):
    model = FuzzyKMeans(k, n_init=5, tol=1e-8, random_state=0).fit(X)
    return model.memberships_.astype(float)


def wine_hidden():
    X = standardised(load_wine)
    return X[:, ::2], fuzzy(X, 3)


def cancer_fuzzy():
    X = standardised(load_breast_cancer)
    return X, fuzzy(X, 2)


def wine_mixture():
    X = standardised(load_wine)
    model = GaussianMixture(3, covariance_type="diag", n_init=3, random_state=0).fit(X)
    return X, model.predict_proba(X)


TARGETS = [cancer_fuzzy, wine_hidden, wine_mixture]


def off(X, U, oracle, seed, **parameters):
    """Mean error of a membership, and the fit."""
    model = ActiveFuzzyKMeans(U.shape[1], oracle=oracle, random_state=seed, **parameters).fit(X)
    return metrics.membership_error(U, model.memberships_, how="mean"), model


@pytest.mark.parametrize("target", TARGETS)
def test_repeats_within_the_same_budget_do_not_hurt(target):
    X, U = target()
    errors = []
    for seed in SEEDS:
        oracle = NoisyOracle(TableOracle(U), std=0.1, random_state=seed)
        errors.append([off(X, U, oracle, seed, repeats=r, budget=200)[0] for r in (1, 3)])
    once, thrice = np.mean(errors, axis=0)
    assert thrice <= once + 0.005


@pytest.mark.parametrize("target", [cancer_fuzzy, wine_mixture])
def test_more_answers_on_five_points_do_not_hurt(target):
    X, U = target()
    errors = []
    for seed in SEEDS:
        oracle = QuantizedOracle(NoisyOracle(TableOracle(U), std=0.1, random_state=seed), levels=5)
        few = off(X, U, oracle, seed, levels=5, budget=60)[0]
        errors.append([few, off(X, U, oracle, seed, levels=5, repeats=3, budget=180)[0]])
    once, thrice = np.mean(errors, axis=0)
    assert thrice <= once


@pytest.mark.parametrize("how", ["random", "flipped"])
def test_one_hostile_annotator_in_ten_bends_little_and_is_found(how):
    X, U = cancer_fuzzy()
    errors, hostile_flags, honest_flags = [], [], []
    for seed in SEEDS:
        honest = NoisyOracle(TableOracle(U), std=0.1, random_state=seed)
        crowd = CrowdOracle([honest] * 9 + [hostile(U, how, seed)], random_state=seed)
        clean = off(X, U, honest, seed, repeats=3, budget=200)[0]
        bent, model = off(X, U, crowd, seed, repeats=3, budget=200)
        errors.append([clean, bent])
        is_hostile = np.array([one.annotator == "annotator 9" for one in model.history_])
        suspects = find_suspects(model.history_, model.memberships_)
        hostile_flags.append(suspects.answers[is_hostile].mean())
        honest_flags.append(suspects.answers[~is_hostile].mean())
    clean, bent = np.mean(errors, axis=0)
    assert bent <= 1.5 * clean + 0.02
    assert np.mean(hostile_flags) >= 0.5
    assert np.mean(honest_flags) < 0.05


@pytest.mark.filterwarnings("ignore::askmeans.exceptions.AskmeansWarning")
@pytest.mark.parametrize("ask", ["similarity", "pairwise"])
@pytest.mark.parametrize("sigma", [0.0, 0.1])
def test_one_hostile_annotator_in_ten_bends_similarities_little(ask, sigma):
    X = standardised(load_iris)[::2]
    U = fuzzy(X, 3)
    errors = []
    for seed in range(2):
        honest = NoisyOracle(TableOracle(U), std=sigma, random_state=seed)
        crowd = CrowdOracle([honest] * 9 + [hostile(U)], random_state=seed)
        errors.append([off(X, U, one, seed, ask=ask, repeats=3)[0] for one in (honest, crowd)])
    clean, bent = np.mean(errors, axis=0)
    assert bent <= 1.5 * clean + 0.02


@pytest.mark.parametrize("ask", ["similarity", "pairwise"])
def test_exact_similarities_asked_again_cost_what_they_must_and_change_nothing(ask):
    X = standardised(load_iris)
    U = fuzzy(X, 3)
    once, one = off(X, U, TableOracle(U), 0, ask=ask)
    again, three = off(X, U, TableOracle(U), 0, ask=ask, repeats=3)
    assert three.n_queries_ <= 3.3 * one.n_queries_
    assert again <= once + 0.005
