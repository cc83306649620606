"""Seeding: k-means++, fuzzy++, random items, and k-means|| or a sample of many rows.

Seeds are drawn from the items in a canonical order (sorted by value) in proportion to their
weights. So equal items act as one heavier item: the draw depends neither on the order of the rows
nor on whether an item occurs twice or has weight 2.

Draws from many rows depend on the seed and the row numbers only, so every engine draws the same
rows, in whatever blocks it reads them.
"""

import math

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats, Items
from askmeans.fuzzy.arrays import first_lowest
from askmeans.fuzzy.blocks import BLOCK, WIDTH, load, measure, measured, scratch
from askmeans.fuzzy.compiled import compiled
from askmeans.fuzzy.passes import ArrayEngine, Engine, Frame, Problem, RowThreads

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
    assert isinstance(engine, ArrayEngine)  # other engines pass a sample
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
            totals = threads.map(seed_totals, per_row, candidates, *inside)
            best = first_lowest(np.sum(totals, axis=0))
        seeds[j] = candidates[best]
        threads.map(add_seed, (X, nearest, sums), seeds[j : j + 1], *inside)
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
    weights = np.sum(engine.map(count_nearest, inner, frame.shift, frame.scale), axis=0)
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
    parts = engine.map(far_rows, inner, frame.shift, frame.scale, seed, count, numbered=True)
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
    keys, rows = smallest_keys(X, weights, start, centers, shift, scale, seed, count)
    return keys, np.asarray(X[rows], dtype=np.float64)


# ---- compiled passes; the rules of kernels.py hold here, too -------------------------------------


@compiled
def with_seed(new: float, nearest: float, sums: float, fuzzifier: float) -> tuple[float, float]:
    """D_min and the sum of shares of an item, once a seed at squared distance `new` joins."""
    if fuzzifier == 1.0:
        return min(new, nearest), 1.0
    low, high = min(new, nearest), max(new, nearest)
    power = (1.0 if low == high else low / high) ** (1.0 / (fuzzifier - 1.0))
    # The nearest seed has share 1; when the new one is nearer, the others shrink beside it.
    return low, (1.0 + sums * power if new < nearest else sums + power)


@compiled
def seed_totals(
    X: Items,
    weights: Floats,
    nearest: Floats,
    sums: Floats,
    candidates: Floats,
    shift: Floats,
    scale: float,
    fuzzifier: float,
) -> Floats:
    """The objective over these items if a candidate joined the seeds, for each candidate.

    An item's part is D_min * sums^(1 - alpha) with `nearest` = D_min to the seeds so far and
    `sums` = sum_l (D_min / D_l)^(1 / (alpha - 1)). At fuzzifier 1, the limit, it is D_min.
    """
    n, d = X.shape
    t = candidates.shape[0]
    block = np.empty((d, WIDTH))
    distances = np.empty((t, WIDTH))
    totals = np.zeros(t)
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        load(X, start, m, shift, scale, block)
        measure(block, m, candidates, distances)
        for j in range(t):
            for b in range(m):
                i = start + b
                low, total = with_seed(distances[j, b], nearest[i], sums[i], fuzzifier)
                cost = low if fuzzifier == 1.0 else low * total ** (1.0 - fuzzifier)
                totals[j] += cost * (weights[i] if weights.size else 1.0)
    return totals


@compiled
def add_seed(
    X: Items,
    nearest: Floats,
    sums: Floats,
    seed: Floats,
    shift: Floats,
    scale: float,
    fuzzifier: float,
) -> None:
    """Bring `nearest` and `sums` (see seed_totals) of these items up to date for a new seed."""
    n, d = X.shape
    block = np.empty((d, WIDTH))
    distances = np.empty((1, WIDTH))
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        load(X, start, m, shift, scale, block)
        measure(block, m, seed, distances)
        for b in range(m):
            i = start + b
            nearest[i], sums[i] = with_seed(distances[0, b], nearest[i], sums[i], fuzzifier)


@compiled
def exponential(row: int, seed: int) -> float:
    """An exponential variable from the row's number and the seed alone (splitmix64)."""
    z = np.uint64(row + 1) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return -math.log(((z >> np.uint64(11)) + 0.5) * 2.0**-53)


@compiled
def smallest_keys(
    X: Items,
    weights: Floats,
    first: int,
    centers: Floats,
    shift: Floats,
    scale: float,
    seed: int,
    count: int,
) -> tuple[Floats, NDArray[np.int64]]:
    """The `count` rows with the smallest exponential / (weight * D_min), which is their key.

    These are a draw without replacement in proportion to weight * D_min (Efraimidis and Spirakis,
    2006). Without centres D_min is 1. Where fewer rows can be drawn, keys are infinite.
    """
    k = len(centers)
    keys = np.full(count, math.inf)
    rows = np.zeros(count, dtype=np.int64)
    worst = 0
    into = scratch(centers)
    for start in range(0, len(X), BLOCK):
        m = min(BLOCK, len(X) - start)
        distances = measured(X, start, m, centers, shift, scale, into)
        for b in range(m):
            i = start + b
            cost = weights[i] if weights.size else 1.0
            if k > 0:
                nearest = distances[0, b]
                for j in range(1, k):
                    nearest = min(nearest, distances[j, b])
                cost *= nearest
            if cost > 0.0:
                key = exponential(first + i, seed) / cost
                if key < keys[worst]:
                    keys[worst], rows[worst] = key, i
                    worst = int(np.argmax(keys))
    return keys, rows


@compiled
def count_nearest(
    X: Items, weights: Floats, centers: Floats, shift: Floats, scale: float
) -> Floats:
    """The total weight of the items nearest to each of these centres."""
    k = len(centers)
    counts = np.zeros(k)
    into = scratch(centers)
    for start in range(0, len(X), BLOCK):
        m = min(BLOCK, len(X) - start)
        distances = measured(X, start, m, centers, shift, scale, into)
        for b in range(m):
            best = 0
            for j in range(1, k):
                if distances[j, b] < distances[best, b]:
                    best = j
            counts[best] += weights[start + b] if weights.size else 1.0
    return counts
