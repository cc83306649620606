"""Simulated language models beside people: the bars of benchmarks/panel.py on sets at hand.

The sets are scikit-learn's, with noise, so that 60 cards do not settle them; nothing in the panel
was chosen by them. Ten runs of each kind are few: the mean ratio of a model at chance has a
standard error of about .02, so its bar of 1.05 has that much on top. The others are far below.
"""

import importlib
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)
from threadpoolctl import threadpool_limits

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CARDS, SEEDS = 60, (0, 1)


def noisy(load, std, n=400):
    X, y = load(return_X_y=True)
    if load is load_diabetes:  # a number: thirds of it
        y = np.searchsorted(np.quantile(y, [1 / 3, 2 / 3]), y)
    rng = np.random.default_rng(7)
    rows = rng.permutation(len(X))[:n]
    X, y = X[rows][:, X[rows].std(axis=0) > 0.0], y[rows]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X + std * rng.normal(size=X.shape), y


SETS = {"iris": (load_iris, 0.7), "wine": (load_wine, 1.5), "breast": (load_breast_cancer, 2.0),
        "digits": (load_digits, 0.5), "diabetes": (load_diabetes, 0.0)}  # fmt: skip


@pytest.fixture(scope="module")
def errors():
    """Mean errors of people alone, of the good model alone, and beside each kind of model."""
    pytest.importorskip("pandas")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        panel = importlib.import_module("panel")
    rows = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for load, std in SETS.values():
            X, y = noisy(load, std)
            for seed in SEEDS:
                said = {kind: panel.said_by(kind, X, y, seed) for kind in panel.KINDS}
                beside = [panel.error_after(X, y, each, CARDS, seed) for each in said.values()]
                alone = panel.error_after(X, y, None, CARDS, seed)
                rows.append([alone, float((said["good"] != y).mean()), *beside])
    return dict(zip(("people", "model", *panel.KINDS), np.mean(rows, axis=0), strict=True))


@pytest.mark.soak
def test_a_good_model_and_people_are_better_than_either_alone(errors):
    assert errors["good"] <= 0.7 * errors["people"]
    assert errors["good"] <= 0.8 * errors["model"]


@pytest.mark.soak
@pytest.mark.parametrize(("kind", "bar"), [("chance", 1.07), ("hostile", 1.1), ("sly", 1.1),
                                           ("hard", 1.0)])  # fmt: skip
def test_a_model_that_is_bad_in_some_way_does_little_harm(errors, kind, bar):
    assert errors[kind] <= bar * errors["people"]
