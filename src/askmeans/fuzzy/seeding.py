"""Seeding: k-means++, fuzzy++, random items, and k-means|| or a sample of many rows.

Seeds are drawn from the items in a canonical order (sorted by value) in proportion to their
weights. So equal items act as one heavier item: the draw depends neither on the order of the rows
nor on whether an item occurs twice or has weight 2.

Draws from many rows depend on the seed and the row numbers only, not on the blocks in which an
engine reads the rows: every engine draws the same rows.
"""

import math

import numpy as np
from numpy.typing import NDArray

from askmeans.fuzzy import seeding_kernels as kernels
from askmeans.fuzzy.engines import ArrayEngine, Engine
from askmeans.fuzzy.problem import Frame, Problem
from askmeans.fuzzy.threads import RowThreads
from askmeans.fuzzy.ties import first_lowest

__all__ = [
    "canonical_order",
    "draw_far_rows",
    "draw_seeds",
    "far_rows",
    "scalable_seeds",
    "seeding_rows",
]

Items = NDArray[np.floating]
Floats = NDArray[np.float64]

MANY, WIDE = 50_000, 1 << 20  # rows, or numbers, above which a sample is enough to start from
_PART, _LEAST, _MOST = 8, 1 << 11, 1 << 16  # an eighth of the rows, within these bounds
_NUMBERS = 1 << 24  # in a sample: 128 MiB of float64
_ROUNDS = 4  # of k-means||; five are usual (Bahmani et al., 2012), after a first row alone
_OVERSAMPLING = 2  # rows in a round, by the number of clusters


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


def seeding_rows(
    n_rows: int, n_features: int, n_clusters: int, rng: np.random.Generator
) -> NDArray[np.intp] | None:
    """Numbers of the rows to start from, ascending; None for all."""
    if n_rows <= MANY and n_rows * n_features <= WIDE:
        return None
    size = int(np.clip(n_rows // _PART, _LEAST, min(_MOST, max(_NUMBERS // n_features, _LEAST))))
    size = max(size, 50 * n_clusters)
    if size >= n_rows:
        return None
    rows: NDArray[np.intp] = np.sort(rng.choice(n_rows, size, replace=False, shuffle=False))
    return rows


def scalable_seeds(problem: Problem, n_clusters: int, rng: np.random.Generator) -> Floats:
    """Seeds by k-means|| (Bahmani et al., 2012: Scalable k-means++), in inner coordinates.

    Rounds of rows far from those drawn so far, as many passes; then k-means++ among them, each as
    heavy as the rows nearest to it.
    """
    engine, frame = problem.engine, problem.frame
    drawn = draw_far_rows(engine, frame, np.empty((0, engine.n_features)), 1, rng)
    for _ in range(_ROUNDS):
        more = _OVERSAMPLING * n_clusters
        drawn = np.concatenate([drawn, draw_far_rows(engine, frame, drawn, more, rng)])
    inner = frame.inner(drawn)
    weights = np.sum(engine.map(kernels.count_nearest, inner, frame.shift, frame.scale), axis=0)
    with RowThreads(len(drawn), 1) as threads:
        few = Problem(
            engine=ArrayEngine(drawn, weights, threads), frame=frame, spread=problem.spread
        )
        order = canonical_order(drawn)
        return draw_seeds(few, n_clusters, order, rng, how="k-means++", fuzzifier=2.0)


def draw_far_rows(
    engine: Engine, frame: Frame, centers: Floats, count: int, rng: np.random.Generator
) -> Floats:
    """Rows drawn without replacement by weight times squared distance to the nearest centre."""
    seed = int(rng.integers(2**62))
    inner = frame.inner(centers)
    parts = engine.map_numbered(far_rows, inner, frame.shift, frame.scale, seed, count)
    keys = np.concatenate([part[0] for part in parts])
    items = np.concatenate([part[1] for part in parts])
    first = np.argsort(keys, kind="stable")[:count]
    rows: Floats = items[first[np.isfinite(keys[first])]]
    return rows


def far_rows(
    X: Items,
    weights: Floats,
    start: int,
    centers: Floats,
    shift: Floats,
    scale: float,
    seed: int,
    count: int,
) -> tuple[Floats, Floats]:
    """The block's best rows of such a draw: their keys, of which the smallest win, and the rows."""
    keys, rows = kernels.smallest_keys(X, weights, start, centers, shift, scale, seed, count)
    return keys, np.asarray(X[rows], dtype=np.float64)
