"""Where Lloyd's iterations start: k-means++, its fuzzy kin, or items at random.

Seeds are drawn from the items in a canonical order (sorted by value), each as often as it weighs.
So equal items act as one heavier item: permuting the rows, or writing an item twice instead of
giving it weight 2, leaves the draw as it is.
"""

import math

import numpy as np
from numpy.typing import NDArray

from askmeans.fuzzy import kernels
from askmeans.fuzzy.engines import ArrayEngine
from askmeans.fuzzy.problem import Problem
from askmeans.fuzzy.ties import first_lowest

__all__ = ["canonical_order", "draw_seeds"]

Items = NDArray[np.floating]
Floats = NDArray[np.float64]


def draw_seeds(
    problem: Problem,
    n_clusters: int,
    order: NDArray[np.intp],
    rng: np.random.Generator,
    *,
    how: str,
    fuzzifier: float,
) -> Floats:
    """Draw items as starting centres, in inner coordinates.

    "k-means++" draws each next seed in proportion to its squared distance to the seeds so far;
    "fuzzy++" in proportion to its part of the fuzzy objective with the seeds so far, of which
    k-means++ is the limit at fuzzifier 1. Both draw a few candidates and keep the best, as
    scikit-learn does. "random" draws among the items that are no seed yet.
    """
    engine, frame = problem.engine, problem.frame
    assert isinstance(engine, ArrayEngine)  # others hand over a sample
    X, weights, threads = engine.X, engine.weights, engine.threads
    alpha = fuzzifier if how == "fuzzy++" else 1.0
    inside = frame.shift, frame.scale, alpha
    n_trials = 1 if how == "random" else 2 + int(math.log(n_clusters))
    nearest = np.full(len(X), np.inf)
    sums = np.zeros(len(X))
    costs = np.ones(len(X))
    seeds = np.empty((n_clusters, X.shape[1]))
    for j in range(n_clusters):
        drawn = _draw(costs, weights, n_trials if j else 1, order, rng)
        candidates = frame.inner(X[drawn])
        best = 0
        if len(candidates) > 1:
            per_row = X, weights, nearest, sums
            totals = threads.map(kernels.seed_totals, per_row, candidates, *inside)
            best = first_lowest(np.sum(totals, axis=0))
        seeds[j] = candidates[best]
        threads.map(kernels.add_seed, (X, nearest, sums), seeds[j : j + 1], *inside)
        if how == "k-means++":
            costs = nearest
        elif how == "fuzzy++":
            costs = nearest * sums ** (1.0 - alpha)
        else:
            costs = (nearest > 0.0).astype(np.float64)
    return seeds


def canonical_order(X: Items) -> NDArray[np.intp]:
    """Row numbers sorted by the rows' values, first feature first; equal rows stand together.

    Later features are looked at only for rows that tie in all earlier ones, so that on continuous
    data this is one sort.
    """
    first = np.ascontiguousarray(X[:, 0])
    order: NDArray[np.intp] = np.argsort(first)
    starts = np.ones(len(X), dtype=bool)  # a run of equal rows starts here
    starts[1:] = first[order[1:]] != first[order[:-1]]
    if not starts.all():
        order = np.argsort(first, kind="stable")  # takes twice as long
    for c in range(1, X.shape[1]):
        tied = ~starts
        tied[:-1] |= ~starts[1:]
        if not tied.any():
            break
        rows, runs = order[tied], np.cumsum(starts)[tied]
        order[tied] = rows[np.lexsort((X[rows, c], runs))]
        starts[1:] |= X[order[1:], c] != X[order[:-1], c]
    return order


def _draw(
    costs: Floats,
    weights: Floats,
    size: int,
    order: NDArray[np.intp],
    rng: np.random.Generator,
) -> NDArray[np.intp]:
    """Draw items in proportion to cost times weight, by inverting the sum in canonical order."""
    heights = np.cumsum((costs * weights if weights.size else costs)[order])
    if heights[-1] == 0.0:  # every item is a seed already: fewer distinct items than clusters
        heights = np.cumsum(weights[order]) if weights.size else np.arange(1.0, len(order) + 1.0)
    drawn = np.searchsorted(heights, rng.random(size) * heights[-1], side="right")
    rows: NDArray[np.intp] = order[np.minimum(drawn, len(order) - 1)]
    return rows
