"""The default strategy with noisy answers: the bounds of benchmarks/noise.py on fewer targets."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, metrics
from askmeans.contradictions import find_suspects
from askmeans.oracles import CrowdOracle, HostileOracle, NoisyOracle, QuantizedOracle, TableOracle

SEEDS = range(3)


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


TARGETS = [wine_hidden, cancer_fuzzy, wine_mixture]
