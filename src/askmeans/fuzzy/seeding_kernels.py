"""Compiled passes for seeding: the cost of candidate seeds, and draws from many rows.

The rules of kernels.py hold here, too.
"""

import math

import numpy as np
from numpy.typing import NDArray

from askmeans.fuzzy.compiled import compiled
from askmeans.fuzzy.kernels import BLOCK, WIDTH, load, measure

__all__ = ["add_seed", "count_nearest", "seed_totals", "smallest_keys"]

Items = NDArray[np.floating]
Floats = NDArray[np.float64]


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
    """An exponential variable that hangs on the row's number and the seed alone (splitmix64)."""
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
    n, d = X.shape
    k = centers.shape[0]
    block = np.empty((d, WIDTH))
    distances = np.empty((k, WIDTH))
    keys = np.full(count, math.inf)
    rows = np.zeros(count, dtype=np.int64)
    worst = 0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        if k > 0:
            load(X, start, m, shift, scale, block)
            measure(block, m, centers, distances)
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
    """What the items weigh together whose nearest centre is each of these."""
    n, d = X.shape
    k = centers.shape[0]
    block = np.empty((d, WIDTH))
    distances = np.empty((k, WIDTH))
    counts = np.zeros(k)
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        load(X, start, m, shift, scale, block)
        measure(block, m, centers, distances)
        for b in range(m):
            best = 0
            for j in range(1, k):
                if distances[j, b] < distances[best, b]:
                    best = j
            counts[best] += weights[start + b] if weights.size else 1.0
    return counts
