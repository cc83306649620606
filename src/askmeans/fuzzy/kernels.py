"""Compiled passes over the items, in blocks small enough to stay in the cache.

Rules of this file:
- No validation and no objects: arrays in, arrays out. model.py is the reference for their tests.
- A block of items is transposed while it is read, so that every inner loop runs over items and
  vectorises; no array of n_items x n_clusters exists unless it is the result.
- Coordinates inside are (x - shift) * scale. The shift keeps data that lies far out exact, the
  scale (a power of two) keeps squares of very small or large data from vanishing or overflowing.
- All arithmetic is in float64, whatever the items are stored in.
- Arrays with a row per item come first, arguments that all items share after them (RowThreads).
- An empty `weights` means that every item counts once.
- With many features, loops run over features instead, over blocks that are not transposed.
- With many centres, plain loops wait for loads and stores: tiles of four centres by four features
  use every number that is loaded four times.
- A kernel has its own copy of those it calls (compiled.py), and so rounds alike in every process.
"""

import math

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats, Items
from askmeans.fuzzy.blocks import (
    BLOCK,
    LARGE,
    MANY,
    WIDTH,
    add_moments,
    add_moments_of_rows,
    add_moments_of_tiles,
    in_tiles,
    load,
    load_rows,
    measure,
    measure_rows,
    measure_tiles,
    measured,
    normalize,
    parts,
    scratch,
    soften,
    weigh,
    write,
)
from askmeans.fuzzy.compiled import compiled, compiled_sums

Labels = NDArray[np.int32]

WIDE = 48  # features from which on loops run over them: a tenth quicker at 64, a quarter at 200
MANY_WIDE = 16  # centres from which on tiles are quicker than these loops; 8 with fewer features


def accumulate(
    X: Items, weights: Floats, centers: Floats, shift: Floats, scale: float, fuzzifier: float
) -> tuple[Floats, Floats, float]:
    """One of Lloyd's iterations over these items, as sums that add up over parts of the items.

    Returns sum_i U_ij^alpha x_i (k x d), sum_i U_ij^alpha (k) and the objective, with U the
    closed-form memberships for the centres given. Since share^alpha = share * ratio, one power per
    entry and one per item suffice, and an item's part of the objective is D_min * sums^(1 - alpha).
    """
    k, d = centers.shape
    many = k * d >= LARGE and k >= (MANY_WIDE if d >= WIDE else MANY)
    kernel = accumulate_many if many else accumulate_few
    sums: tuple[Floats, Floats, float] = kernel(X, weights, centers, shift, scale, fuzzifier)
    return sums


@compiled_sums
def accumulate_few(
    X: Items, weights: Floats, centers: Floats, shift: Floats, scale: float, fuzzifier: float
) -> tuple[Floats, Floats, float]:
    """`accumulate` in plain loops over items, or over features."""
    n, d = X.shape
    k = centers.shape[0]
    wide = d >= WIDE
    block = np.empty((BLOCK, d) if wide else (d, WIDTH))
    distances = np.empty((k, WIDTH))
    shares = np.empty((k, WIDTH))
    nearest = np.empty(BLOCK)
    sums = np.empty(BLOCK)
    inverse, factor = np.empty(BLOCK), np.empty(BLOCK)
    moments = np.zeros((k, d))
    totals = np.zeros(k)
    objective = 0.0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        if wide:
            load_rows(X, start, m, shift, scale, block)
            measure_rows(block, m, centers, distances)
        else:
            load(X, start, m, shift, scale, block)
            measure(block, m, centers, distances)
        soften(distances, m, fuzzifier, nearest, shares, sums)
        parts(sums, fuzzifier, weights, start, m, inverse, factor)
        for b in range(m):
            objective += nearest[b] * sums[b] * factor[b]
        weigh(shares, distances, factor, m, totals)
        if wide:
            add_moments_of_rows(block, m, shares, moments)
        else:
            add_moments(block, m, shares, moments)
    return moments, totals, objective


@compiled_sums
def accumulate_many(
    X: Items, weights: Floats, centers: Floats, shift: Floats, scale: float, fuzzifier: float
) -> tuple[Floats, Floats, float]:
    """`accumulate` in tiles."""
    n, d = X.shape
    k = centers.shape[0]
    mu = in_tiles(centers)
    block = np.zeros((mu.shape[1], WIDTH))
    distances, shares = np.empty((mu.shape[0], WIDTH)), np.zeros((mu.shape[0], WIDTH))
    x, apart, heavy = block.ravel(), distances.ravel(), shares.ravel()  # views
    ratios, weighed = distances[:k], shares[:k]
    nearest, sums = np.empty(BLOCK), np.empty(BLOCK)
    inverse, factor = np.empty(BLOCK), np.empty(BLOCK)
    moments = np.zeros(mu.shape)
    totals = np.zeros(k)
    objective = 0.0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        load(X, start, m, shift, scale, block)
        measure_tiles(x, mu, apart)
        soften(ratios, m, fuzzifier, nearest, weighed, sums)
        parts(sums, fuzzifier, weights, start, m, inverse, factor)
        for b in range(m):
            objective += nearest[b] * sums[b] * factor[b]
        weigh(weighed, ratios, factor, m, totals)
        add_moments_of_tiles(x, m, heavy, moments)
    return moments[:k, :d].copy(), totals, objective


# ---- rows of results ----------------------------------------------------------------------------


@compiled
def fill_memberships(
    X: Items, out: Items, centers: Floats, shift: Floats, scale: float, fuzzifier: float
) -> None:
    """Write the closed-form memberships of these items (n x k)."""
    k = centers.shape[0]
    shares = np.empty((k, WIDTH))
    nearest = np.empty(BLOCK)
    sums = np.empty(BLOCK)
    into = scratch(centers)
    for start in range(0, len(X), BLOCK):
        m = min(BLOCK, len(X) - start)
        distances = measured(X, start, m, centers, shift, scale, into)
        soften(distances, m, fuzzifier, nearest, shares, sums)
        normalize(shares, sums, m)
        write(shares, m, out, start)


@compiled_sums
def fill_assignment(
    X: Items,
    weights: Floats,
    out: Items,
    labels: Labels,
    centers: Floats,
    shift: Floats,
    scale: float,
    fuzzifier: float,
) -> float:
    """Write memberships (n x k) and nearest centres of these items; return their objective."""
    k = centers.shape[0]
    shares = np.empty((k, WIDTH))
    nearest = np.empty(BLOCK)
    sums = np.empty(BLOCK)
    inverse, factor = np.empty(BLOCK), np.empty(BLOCK)
    objective = 0.0
    into = scratch(centers)
    for start in range(0, len(X), BLOCK):
        m = min(BLOCK, len(X) - start)
        distances = measured(X, start, m, centers, shift, scale, into)
        soften(distances, m, fuzzifier, nearest, shares, sums)
        parts(sums, fuzzifier, weights, start, m, inverse, factor)
        for b in range(m):
            objective += nearest[b] * sums[b] * factor[b]
        normalize(shares, sums, m)
        for b in range(m):
            best = 0
            while distances[best, b] < 1.0:  # a ratio now, and 1 for the nearest
                best += 1
            labels[start + b] = best
        write(shares, m, out, start)
    return objective


@compiled
def fill_distances(X: Items, out: Items, centers: Floats, shift: Floats, scale: float) -> None:
    """Write the Euclidean distances of these items to the centres (n x k)."""
    k = centers.shape[0]
    into = scratch(centers)
    for start in range(0, len(X), BLOCK):
        m = min(BLOCK, len(X) - start)
        distances = measured(X, start, m, centers, shift, scale, into)
        for j in range(k):
            row = distances[j]
            for b in range(m):
                row[b] = math.sqrt(row[b]) / scale
        write(distances, m, out, start)


@compiled
def fill_labels(X: Items, out: Labels, centers: Floats, shift: Floats, scale: float) -> None:
    """Write the nearest centre of each of these items, the lowest index on ties."""
    k = centers.shape[0]
    into = scratch(centers)
    for start in range(0, len(X), BLOCK):
        m = min(BLOCK, len(X) - start)
        distances = measured(X, start, m, centers, shift, scale, into)
        for b in range(m):
            best = 0
            for j in range(1, k):
                if distances[j, b] < distances[best, b]:
                    best = j
            out[start + b] = best


@compiled
def fill_scores(
    X: Items, out: Floats, centers: Floats, shift: Floats, scale: float, exponent: float
) -> None:
    """Write the distance of items to each cluster relative to all others (n x k); see scores.py.

    score_j = log D_j - log M_j + log(sum over l != j of (M_j / D_l)^exponent) / exponent, with
    M_j = min over l != j of D_l; the last term is 0 at an infinite exponent. Terms are at most 1,
    so nothing overflows, and no score is rounded to a tie with another.
    """
    k = centers.shape[0]
    into = scratch(centers)
    for start in range(0, len(X), BLOCK):
        m = min(BLOCK, len(X) - start)
        distances = measured(X, start, m, centers, shift, scale, into)
        for b in range(m):
            first, nearest, second = 0, math.inf, math.inf
            for j in range(k):
                if distances[j, b] < nearest:
                    first, nearest, second = j, distances[j, b], nearest
                elif distances[j, b] < second:
                    second = distances[j, b]
            shares = 0.0  # of all but the nearest, beside the nearest
            others = 0.0  # of all but the nearest, beside the second
            if exponent < math.inf:
                for j in range(k):
                    if j != first:
                        shares += share(nearest, distances[j, b]) ** exponent
                        others += share(second, distances[j, b]) ** exponent
            for j in range(k):
                rival = second if j == first else nearest
                score = log_ratio(distances[j, b], rival)
                if exponent < math.inf and k > 2:
                    rest = others if j == first else 1.0 + shares
                    if j != first:
                        rest -= share(nearest, distances[j, b]) ** exponent
                    score += math.log(max(rest, 1.0)) / exponent
                out[start + b, j] = score


@compiled
def share(nearer: float, farther: float) -> float:
    """The ratio of two squared distances, the first the smaller; 1 where both are 0."""
    return 1.0 if nearer == farther else nearer / farther


@compiled
def log_ratio(mine: float, rival: float) -> float:
    """Log of the ratio of two squared distances; 0 where they are equal, also at 0."""
    if mine == rival:
        return 0.0
    if mine == 0.0:
        return -math.inf
    return math.inf if rival == 0.0 else math.log(mine) - math.log(rival)


@compiled_sums
def shifted_moments(X: Items, weights: Floats, shift: Floats) -> tuple[Floats, float, float]:
    """Sums of x - shift per feature, of its squares over all features, and of the weights."""
    n, d = X.shape
    sums = np.zeros(d)
    squares = 0.0
    total = 0.0
    for i in range(n):
        w = weights[i] if weights.size else 1.0
        if w > 0.0:
            total += w
            row = 0.0
            for c in range(d):
                away = X[i, c] - shift[c]
                sums[c] += w * away
                row += away * away
            squares += w * row
    return sums, squares, total


@compiled
def largest_deviation(X: Items, weights: Floats, shift: Floats) -> float:
    """The largest |x - shift| of any feature of an item with a positive weight."""
    n, d = X.shape
    largest = 0.0
    for i in range(n):
        if weights.size == 0 or weights[i] > 0.0:
            for c in range(d):
                largest = max(largest, abs(X[i, c] - shift[c]))
    return largest


@compiled_sums
def second_moment(X: Items, weights: Floats, shift: Floats, scale: float) -> float:
    """Sum of the squares of (x - shift) * scale over these items and all features."""
    n, d = X.shape
    total = 0.0
    for i in range(n):
        w = weights[i] if weights.size else 1.0
        if w > 0.0:
            row = 0.0
            for c in range(d):
                row += ((X[i, c] - shift[c]) * scale) ** 2
            total += w * row
    return total
