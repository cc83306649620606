"""Figure 2: accuracy on Iris, Wine and Breast Cancer, against the questions that were asked.

An expert knows the classes; the algorithms ask for memberships to them. m = 2 nu / 3 and
r = m * eta_1 for the sequential algorithms: the paper prints m / eta_1, which is ten times m from
every bin, many times the questions of the two-phase algorithm (paper note N3).

Beside them stand two baselines of fuzzy k-means without a question. One matches clusters to
classes, as one must, for their numbers mean nothing. The other is the paper's: cluster 0 is held to
be class 0, and so on, under one unlucky numbering (paper note N2).
"""

from collections.abc import Callable
from functools import lru_cache, partial
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from askmeans.estimators import FuzzyKMeans
from askmeans.fuzzy import squared_distances
from askmeans.metrics import matched_accuracy
from askmeans.oracles import TableOracle
from askmeans.results import Result
from askmeans.strategies import Sequential, Strategy, TwoClusters, TwoPhase
from experiments.cells import Cell
from experiments.runs import Series, Task, generators, repeat
from experiments.scale import Scale
from experiments.synthetic import bin_size

__all__ = ["DATA", "PAPER_BASELINE", "accuracy", "cells", "classes_task", "load", "strategies",
           "unmatched"]  # fmt: skip

Floats = NDArray[np.float64]
Labels = NDArray[np.signedinteger]

DATA: dict[str, Callable[[], Any]] = {
    "Iris": load_iris,
    "Wine": load_wine,
    "Breast Cancer": load_breast_cancer,
}
# What the paper reports for fuzzy k-means by itself.
PAPER_BASELINE = {"Iris": 0.3133, "Wine": 0.3596, "Breast Cancer": 0.1458}
TRIALS = 20  # of fuzzy k-means, as in the paper
MATCHED, UNMATCHED = "no questions, matched", "no questions, as in the paper"


def cells(scale: Scale, seed: int) -> list[Cell]:
    """Figure 2, one cell for each data set, algorithm and nu; and the baselines."""
    todo = []
    for data in DATA:
        n, k = len(load(data)[1]), int(load(data)[1].max()) + 1
        for curve in strategies(100, k):
            todo += [
                Cell.of(
                    f"figure_2-{data}-{curve}-{nu}", cell, scale.real_runs * 0.006,
                    data=data, curve=curve, nu=nu, runs=scale.real_runs, seed=seed,
                )
                for nu in scale.real_nus
            ]  # fmt: skip
        name = f"figure_2-{data}-baselines"
        todo.append(Cell.of(name, baselines, n * 1e-3, data=data, seed=seed))
    return todo


def cell(*, data: str, curve: str, nu: int, runs: int, seed: int) -> list[Series]:
    """One algorithm at one nu: its accuracy in every run."""
    task = classes_task(data)
    strategy = strategies(nu, task.n_clusters)[curve]
    # The same generators for all algorithms and nu: comparisons are paired.
    rngs = generators(seed, "figure 2", data, n=runs)
    return [repeat(task, strategy, rngs, panel=data, curve=curve, x=nu)]


def classes_task(data: str) -> Task:
    """Items, an expert who knows their classes, and accuracy as the judge."""
    X, y = load(data)
    oracle, judge = TableOracle.from_labels(y), partial(accuracy, X, y)
    return Task(X=X, n_clusters=int(y.max()) + 1, oracle=oracle, judge=judge)


def baselines(*, data: str, seed: int) -> list[Series]:
    """Fuzzy k-means by itself, judged both ways."""
    X, y = load(data)
    matched, renamed = [], []
    for rng in generators(seed, "figure 2", data, "baseline", n=TRIALS):
        labels = FuzzyKMeans(int(y.max()) + 1, init="random", random_state=rng).fit(X).labels_
        matched.append(matched_accuracy(y, labels))
        shares = unmatched(y, labels)
        renamed.append(float(shares[np.abs(shares - PAPER_BASELINE[data]).argmin()]))
    return [
        Series.unasked(values, panel=data, curve=curve, x=0.0)
        for curve, values in ((MATCHED, matched), (UNMATCHED, renamed))
    ]


def strategies(nu: int, k: int) -> dict[str, Strategy]:
    """The paper's sizes for real data, to the letter and with our order."""
    m = max(1, round(2 * nu / 3))
    r = bin_size(m)
    strategies: dict[str, Strategy] = {}
    for way, faithful in (("faithful", True), ("our order", False)):
        strategies[f"two-phase, {way}"] = TwoPhase(sample_size=nu, faithful=faithful)
        strategies[f"sequential, {way}"] = Sequential(sample_size=m, bin_size=r, faithful=faithful)
        if k == 2:
            strategies[f"two clusters, {way}"] = TwoClusters(
                sample_size=m, bin_size=r, faithful=faithful
            )
    return strategies


def unmatched(y: Labels, labels: Labels) -> Floats:
    """The share of items whose cluster's number is their class, under every numbering."""
    k = int(max(y.max(), labels.max())) + 1
    return np.array([(np.array(names)[labels] == y).mean() for names in permutations(range(k))])


def accuracy(X: Floats, y: Labels, result: Result) -> float:
    """The share of items whose strongest cluster is their class; ties go to the nearest centre.

    Ties are common where answers are 0 or 1 (paper note N23).
    """
    U, centers = result.clustering.memberships, result.clustering.centers
    strongest = U.max(axis=1, keepdims=True) - 1e-12 <= U
    labels = np.where(strongest, squared_distances(X, centers), np.inf).argmin(axis=1)
    return float((labels == y).mean())


@lru_cache(maxsize=3)
def load(data: str) -> tuple[Floats, Labels]:
    """Items as measured, and their classes."""
    bunch = DATA[data]()
    return bunch.data, bunch.target
