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
- A kernel has its own copy of those it calls (compiled.py), and so rounds alike in every process.
"""

import math

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats, Items
from askmeans.fuzzy.compiled import compiled, compiled_sums
from askmeans.fuzzy.powers import as_halves, half_powers, powers

Labels = NDArray[np.int32]

BLOCK = 64  # items: whole vectors of any width, and few enough for the first-level cache
WIDTH = BLOCK + 8  # of scratch rows: at a power of two, all rows would compete for few cache lines
WIDE = 48  # features from which on loops run over them: a tenth quicker at 64, a quarter at 200


@compiled
def load(X: Items, start: int, m: int, shift: Floats, scale: float, block: Floats) -> None:
    """Read m items into the columns of the block, in inner coordinates."""
    for b in range(m):
        for c in range(X.shape[1]):
            block[c, b] = (X[start + b, c] - shift[c]) * scale


@compiled_sums
def measure(block: Floats, m: int, centers: Floats, distances: Floats) -> None:
    """Squared distances of the block's items (columns) to the centres (rows)."""
    k, d = centers.shape
    even = d - d % 4
    for j in range(k):
        row = distances[j]
        for b in range(m):
            row[b] = 0.0
        for c in range(0, even, 4):  # four features a pass: a quarter of the loads and stores
            x0, x1, x2, x3 = block[c], block[c + 1], block[c + 2], block[c + 3]
            c0, c1, c2, c3 = (
                centers[j, c],
                centers[j, c + 1],
                centers[j, c + 2],
                centers[j, c + 3],
            )
            for b in range(m):
                a0, a1, a2, a3 = x0[b] - c0, x1[b] - c1, x2[b] - c2, x3[b] - c3
                row[b] += (a0 * a0 + a1 * a1) + (a2 * a2 + a3 * a3)
        for c in range(even, d):
            x0, c0 = block[c], centers[j, c]
            for b in range(m):
                a0 = x0[b] - c0
                row[b] += a0 * a0


@compiled
def soften(
    distances: Floats, m: int, fuzzifier: float, nearest: Floats, shares: Floats, sums: Floats
) -> None:
    """Turn squared distances into unnormalised memberships (equation 3), in place.

    After it, `nearest` holds each item's smallest squared distance D_min, `distances` the ratios
    D_min / D_j, `shares` those ratios to the power 1 / (alpha - 1), and `sums` the shares' sum:
    membership = share / sum. Where D_j = D_min the ratio is 1, so 0 / 0 never arises (note N6).
    """
    k = distances.shape[0]
    exponent = 1.0 / (fuzzifier - 1.0)
    halves = as_halves(exponent)
    for b in range(m):
        nearest[b] = distances[0, b]
        sums[b] = 0.0
    for j in range(1, k):
        row = distances[j]
        for b in range(m):
            nearest[b] = min(nearest[b], row[b])
    for j in range(k):
        row, share = distances[j], shares[j]
        for b in range(m):
            row[b] = 1.0 if row[b] == nearest[b] else nearest[b] / row[b]
        if halves == 0:
            powers(row, exponent, share, m)
        else:
            half_powers(row, halves, share, m)
        for b in range(m):
            sums[b] += share[b]


@compiled
def normalize(shares: Floats, sums: Floats, m: int) -> None:
    """Divide shares by their sums, in place, by rows: that vectorises."""
    for j in range(shares.shape[0]):
        share = shares[j]
        for b in range(m):
            share[b] /= sums[b]


@compiled
def parts(
    sums: Floats, fuzzifier: float, weights: Floats, start: int, m: int, factor: Floats
) -> None:
    """Write each item's weight divided by the sum of its shares to the power alpha."""
    if fuzzifier == 2.0:
        for b in range(m):
            factor[b] = 1.0 / (sums[b] * sums[b])
    else:
        for b in range(m):
            factor[b] = 1.0 / sums[b]
        powers(factor, fuzzifier, factor, m)
    if weights.size:
        for b in range(m):
            factor[b] *= weights[start + b]


@compiled_sums
def add_moments(block: Floats, m: int, weights: Floats, moments: Floats) -> None:
    """Add the block's items, weighed by each cluster's row of weights, to its moments (k x d)."""
    k, d = moments.shape
    even = d - d % 4
    for j in range(k):
        weight = weights[j]
        for c in range(0, even, 4):  # four sums at once hide the latency of each
            x0, x1, x2, x3 = block[c], block[c + 1], block[c + 2], block[c + 3]
            t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
            for b in range(m):
                t0 += weight[b] * x0[b]
                t1 += weight[b] * x1[b]
                t2 += weight[b] * x2[b]
                t3 += weight[b] * x3[b]
            moments[j, c] += t0
            moments[j, c + 1] += t1
            moments[j, c + 2] += t2
            moments[j, c + 3] += t3
        for c in range(even, d):
            x0, t0 = block[c], 0.0
            for b in range(m):
                t0 += weight[b] * x0[b]
            moments[j, c] += t0


@compiled_sums
def weigh(shares: Floats, ratios: Floats, factor: Floats, m: int, totals: Floats) -> None:
    """Turn shares into the items' weights in each cluster, in place, and add them to the totals."""
    for j in range(shares.shape[0]):
        weight, ratio = shares[j], ratios[j]
        total = 0.0
        for b in range(m):
            weight[b] = weight[b] * ratio[b] * factor[b]
            total += weight[b]
        totals[j] += total


@compiled
def load_rows(X: Items, start: int, m: int, shift: Floats, scale: float, block: Floats) -> None:
    """Read m items into the rows of the block, in inner coordinates."""
    for b in range(m):
        row = block[b]
        for c in range(X.shape[1]):
            row[c] = (X[start + b, c] - shift[c]) * scale


@compiled_sums
def measure_rows(block: Floats, m: int, centers: Floats, distances: Floats) -> None:
    """Squared distances of the block's items (rows) to the centres (rows)."""
    k, d = centers.shape
    even = m - m % 4
    for b in range(0, even, 4):
        x0, x1, x2, x3 = block[b], block[b + 1], block[b + 2], block[b + 3]
        for j in range(k):
            center = centers[j]
            t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
            for c in range(d):
                a0, a1, a2, a3 = (
                    x0[c] - center[c],
                    x1[c] - center[c],
                    x2[c] - center[c],
                    x3[c] - center[c],
                )
                t0 += a0 * a0
                t1 += a1 * a1
                t2 += a2 * a2
                t3 += a3 * a3
            distances[j, b] = t0
            distances[j, b + 1] = t1
            distances[j, b + 2] = t2
            distances[j, b + 3] = t3
    for b in range(even, m):
        x0 = block[b]
        for j in range(k):
            center, t0 = centers[j], 0.0
            for c in range(d):
                a0 = x0[c] - center[c]
                t0 += a0 * a0
            distances[j, b] = t0


@compiled_sums
def add_moments_of_rows(block: Floats, m: int, weights: Floats, moments: Floats) -> None:
    """Add the block's items, weighed by each cluster's row of weights, to its moments (k x d)."""
    k, d = moments.shape
    even = m - m % 4
    for b in range(0, even, 4):
        x0, x1, x2, x3 = block[b], block[b + 1], block[b + 2], block[b + 3]
        for j in range(k):
            total = moments[j]
            w0, w1, w2, w3 = weights[j, b], weights[j, b + 1], weights[j, b + 2], weights[j, b + 3]
            for c in range(d):
                total[c] += (w0 * x0[c] + w1 * x1[c]) + (w2 * x2[c] + w3 * x3[c])
    for b in range(even, m):
        x0 = block[b]
        for j in range(k):
            total, w0 = moments[j], weights[j, b]
            for c in range(d):
                total[c] += w0 * x0[c]


@compiled_sums
def accumulate(
    X: Items, weights: Floats, centers: Floats, shift: Floats, scale: float, fuzzifier: float
) -> tuple[Floats, Floats, float]:
    """One of Lloyd's iterations over these items, as sums that add up over parts of the items.

    Returns sum_i U_ij^alpha x_i (k x d), sum_i U_ij^alpha (k) and the objective, with U the
    closed-form memberships for the centres given. Since share^alpha = share * ratio, one power per
    entry and one per item suffice, and an item's part of the objective is D_min * sums^(1 - alpha).
    """
    n, d = X.shape
    k = centers.shape[0]
    wide = d >= WIDE
    block = np.empty((BLOCK, d) if wide else (d, WIDTH))
    distances = np.empty((k, WIDTH))
    shares = np.empty((k, WIDTH))
    nearest = np.empty(BLOCK)
    sums = np.empty(BLOCK)
    factor = np.empty(BLOCK)
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
        parts(sums, fuzzifier, weights, start, m, factor)
        for b in range(m):
            objective += nearest[b] * sums[b] * factor[b]
        weigh(shares, distances, factor, m, totals)
        if wide:
            add_moments_of_rows(block, m, shares, moments)
        else:
            add_moments(block, m, shares, moments)
    return moments, totals, objective


@compiled
def fill_memberships(
    X: Items, out: Items, centers: Floats, shift: Floats, scale: float, fuzzifier: float
) -> None:
    """Write the closed-form memberships of these items (n x k)."""
    n, d = X.shape
    k = centers.shape[0]
    block = np.empty((d, WIDTH))
    distances = np.empty((k, WIDTH))
    shares = np.empty((k, WIDTH))
    nearest = np.empty(BLOCK)
    sums = np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        load(X, start, m, shift, scale, block)
        measure(block, m, centers, distances)
        soften(distances, m, fuzzifier, nearest, shares, sums)
        normalize(shares, sums, m)
        for b in range(m):
            for j in range(k):
                out[start + b, j] = shares[j, b]


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
    n, d = X.shape
    k = centers.shape[0]
    block = np.empty((d, WIDTH))
    distances = np.empty((k, WIDTH))
    shares = np.empty((k, WIDTH))
    nearest = np.empty(BLOCK)
    sums = np.empty(BLOCK)
    factor = np.empty(BLOCK)
    objective = 0.0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        load(X, start, m, shift, scale, block)
        measure(block, m, centers, distances)
        soften(distances, m, fuzzifier, nearest, shares, sums)
        parts(sums, fuzzifier, weights, start, m, factor)
        for b in range(m):
            objective += nearest[b] * sums[b] * factor[b]
        normalize(shares, sums, m)
        for b in range(m):
            best = 0
            while distances[best, b] < 1.0:  # a ratio now, and 1 for the nearest
                best += 1
            labels[start + b] = best
            for j in range(k):
                out[start + b, j] = shares[j, b]
    return objective


@compiled
def fill_distances(X: Items, out: Items, centers: Floats, shift: Floats, scale: float) -> None:
    """Write the Euclidean distances of these items to the centres (n x k)."""
    n, d = X.shape
    k = centers.shape[0]
    block = np.empty((d, WIDTH))
    distances = np.empty((k, WIDTH))
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        load(X, start, m, shift, scale, block)
        measure(block, m, centers, distances)
        for b in range(m):
            for j in range(k):
                out[start + b, j] = math.sqrt(distances[j, b]) / scale


@compiled
def fill_labels(X: Items, out: Labels, centers: Floats, shift: Floats, scale: float) -> None:
    """Write the nearest centre of each of these items, the lowest index on ties."""
    n, d = X.shape
    k = centers.shape[0]
    block = np.empty((d, WIDTH))
    distances = np.empty((k, WIDTH))
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        load(X, start, m, shift, scale, block)
        measure(block, m, centers, distances)
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
    n, d = X.shape
    k = centers.shape[0]
    block = np.empty((d, WIDTH))
    distances = np.empty((k, WIDTH))
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        load(X, start, m, shift, scale, block)
        measure(block, m, centers, distances)
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
