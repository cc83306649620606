"""Figure 3: accuracy against the fuzzifier on Iris, the hard approach (alpha = 1) included.

The paper does not say what the expert answers here, so there are two readings. If the answers are
the classes, as in figure 2, every U^alpha is U: the faithful algorithms cannot depend on alpha at
all, and ours only through its order at alpha = 1. If they are the memberships of the fuzzy k-means
optimum at that alpha (of k-means at alpha = 1), clusters named by the classes they fit best, the
fuzzifier matters; accuracy is then limited by that of the target itself.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans

from askmeans.estimators import FuzzyKMeans
from askmeans.oracles import TableOracle
from experiments.cells import Cell
from experiments.real import classes_task, load, strategies
from experiments.runs import Series, generators, repeat
from experiments.scale import Scale

__all__ = ["FUZZY", "LABELS", "cells"]

Floats = NDArray[np.float64]

LABELS, FUZZY = "the expert knows the classes", "the expert knows a fuzzy optimum"
TARGET = "the target itself"


def cells(scale: Scale, seed: int) -> list[Cell]:
    """Figure 3, one cell for each reading, algorithm, fuzzifier and nu."""
    todo = [
        Cell.of(
            f"figure_3-{reading}-{curve}-{fuzzifier:g}-{nu}", cell, scale.real_runs * 0.006,
            reading=reading, curve=curve, fuzzifier=fuzzifier, nu=nu, runs=scale.real_runs,
            seed=seed,
        )
        for reading in (LABELS, FUZZY)
        for curve in strategies(100, 3)
        for fuzzifier in scale.fuzzifiers
        for nu in scale.fuzzifier_nus
    ]  # fmt: skip
    return [*todo, Cell.of("figure_3-targets", targets, 0.1, fuzzifiers=list(scale.fuzzifiers))]


def cell(
    *, reading: str, curve: str, fuzzifier: float, nu: int, runs: int, seed: int
) -> list[Series]:
    """One algorithm at one fuzzifier and nu: its accuracy in every run."""
    task = replace(classes_task("Iris"), fuzzifier=fuzzifier)
    if reading != LABELS:
        task = replace(task, oracle=TableOracle(target(fuzzifier)))
    strategy, rngs = strategies(nu, 3)[curve], generators(seed, "figure 3", n=runs)
    point = {"panel": reading, "setting": f"nu = {nu}", "curve": curve, "x": fuzzifier}
    return [repeat(task, strategy, rngs, **point)]


def targets(*, fuzzifiers: list[float]) -> list[Series]:
    """The accuracy of the fuzzy optima themselves."""
    y = load("Iris")[1]
    return [
        Series.unasked(
            [float((target(fuzzifier).argmax(axis=1) == y).mean())],
            panel=FUZZY, curve=TARGET, x=fuzzifier,
        )
        for fuzzifier in fuzzifiers
    ]  # fmt: skip


@lru_cache(maxsize=8)
def target(fuzzifier: float) -> Floats:
    """Memberships of the optimum at this fuzzifier, columns in the order of the classes."""
    X, y = load("Iris")
    if fuzzifier == 1.0:
        U = np.eye(3)[KMeans(3, n_init=10, random_state=0).fit(X).labels_]
    else:
        U = FuzzyKMeans(3, fuzzifier=fuzzifier, n_init=10, tol=1e-6, random_state=0).fit(X)
        U = U.memberships_
    matched: Floats = U[:, linear_sum_assignment(np.eye(3)[y].T @ U, maximize=True)[1]]
    return matched
