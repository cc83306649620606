"""What the compiled passes do with one block of items: distances, memberships, sums.

A block is read from the items into scratch arrays of BLOCK columns, in rows of WIDTH. The rules of
kernels.py hold here, too.
"""

import numpy as np

from askmeans._util.arrays import Floats, Items
from askmeans.fuzzy.compiled import compiled, compiled_sums
from askmeans.fuzzy.powers import as_halves, half_powers, powers

Four = tuple[float, float, float, float]
Scratch = tuple[Floats, Floats, Floats, Floats, Floats]

BLOCK = 64  # items: whole vectors of any width, and few enough for the first-level cache
WIDTH = BLOCK + 8  # of scratch rows: at a power of two, all rows would compete for few cache lines
TILE = 4  # centres, and features; eight need more registers than processors have
MANY, LARGE = 8, 128  # centres, and centres times features, from which on tiles are quicker


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
        if fuzzifier == 2.0:  # a share is the ratio
            for b in range(m):
                ratio = 1.0 if row[b] == nearest[b] else nearest[b] / row[b]
                row[b] = ratio
                share[b] = ratio
                sums[b] += ratio
            continue
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
    sums: Floats,
    fuzzifier: float,
    weights: Floats,
    start: int,
    m: int,
    inverse: Floats,
    factor: Floats,
) -> None:
    """Write each item's weight divided by the sum of its shares to the power alpha.

    `inverse` is scratch: in place, powers would not vectorise.
    """
    if fuzzifier == 2.0:
        for b in range(m):
            factor[b] = 1.0 / (sums[b] * sums[b])
    else:
        for b in range(m):
            inverse[b] = 1.0 / sums[b]
        powers(inverse, fuzzifier, factor, m)
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


# ---- many centres: tiles ------------------------------------------------------------------------


@compiled
def in_tiles(values: Floats) -> Floats:
    """The values, with zeros up to whole tiles."""
    rows, columns = values.shape
    padded = np.zeros((-(-rows // TILE) * TILE, -(-columns // TILE) * TILE))
    padded[:rows, :columns] = values
    return padded


@compiled_sums
def four(values: Floats, row: int, column: int) -> Four:
    """Four numbers of a row."""
    return (
        values[row, column],
        values[row, column + 1],
        values[row, column + 2],
        values[row, column + 3],
    )


@compiled_sums
def plus_squares(total: float, x: Four, center: Four) -> float:
    """The total plus the squared differences of four features."""
    a0, a1, a2, a3 = x[0] - center[0], x[1] - center[1], x[2] - center[2], x[3] - center[3]
    return total + a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3


@compiled_sums
def measure_tiles(x: Floats, centers: Floats, distances: Floats) -> None:
    """Squared distances as in `measure`; scratch rows stand one after the other.

    In one dimension, and with loops that count tiles, the compiler knows that rows do not overlap
    and that no index is negative: otherwise it would not vectorise.
    """
    k, d = centers.shape
    distances[:] = 0.0
    for tile in range(k // TILE):
        j = TILE * tile
        for features in range(d // TILE):
            c = TILE * features
            c0, c1 = four(centers, j, c), four(centers, j + 1, c)
            c2, c3 = four(centers, j + 2, c), four(centers, j + 3, c)
            for b in range(BLOCK):
                of, to = c * WIDTH + b, j * WIDTH + b
                item = x[of], x[of + WIDTH], x[of + 2 * WIDTH], x[of + 3 * WIDTH]
                distances[to] = plus_squares(distances[to], item, c0)
                distances[to + WIDTH] = plus_squares(distances[to + WIDTH], item, c1)
                distances[to + 2 * WIDTH] = plus_squares(distances[to + 2 * WIDTH], item, c2)
                distances[to + 3 * WIDTH] = plus_squares(distances[to + 3 * WIDTH], item, c3)


@compiled_sums
def plus_products(totals: Four, weight: float, x: Four) -> Four:
    """The totals plus four features times a weight."""
    return (
        totals[0] + weight * x[0],
        totals[1] + weight * x[1],
        totals[2] + weight * x[2],
        totals[3] + weight * x[3],
    )


@compiled_sums
def add_four(values: Floats, row: int, column: int, more: Four) -> None:
    """Add four numbers to those of a row."""
    values[row, column] += more[0]
    values[row, column + 1] += more[1]
    values[row, column + 2] += more[2]
    values[row, column + 3] += more[3]


@compiled_sums
def add_moments_of_tiles(x: Floats, m: int, weights: Floats, moments: Floats) -> None:
    """Add to the moments as in `add_moments`; scratch rows stand one after the other."""
    k, d = moments.shape
    zeros = 0.0, 0.0, 0.0, 0.0
    for features in range(d // TILE):
        c = TILE * features
        for tile in range(k // TILE):
            j = TILE * tile
            t0, t1, t2, t3 = zeros, zeros, zeros, zeros
            for b in range(m):
                of, by = c * WIDTH + b, j * WIDTH + b
                item = x[of], x[of + WIDTH], x[of + 2 * WIDTH], x[of + 3 * WIDTH]
                t0 = plus_products(t0, weights[by], item)
                t1 = plus_products(t1, weights[by + WIDTH], item)
                t2 = plus_products(t2, weights[by + 2 * WIDTH], item)
                t3 = plus_products(t3, weights[by + 3 * WIDTH], item)
            add_four(moments, j, c, t0)
            add_four(moments, j + 1, c, t1)
            add_four(moments, j + 2, c, t2)
            add_four(moments, j + 3, c, t3)


# ---- rows of results ----------------------------------------------------------------------------


@compiled
def scratch(centers: Floats) -> Scratch:
    """The centres in tiles, a block for items and one for distances, each flat and as rows."""
    k, d = centers.shape
    mu = in_tiles(centers)
    block, distances = np.zeros((mu.shape[1], WIDTH)), np.empty((mu.shape[0], WIDTH))
    return mu, block.ravel(), block[:d], distances.ravel(), distances[:k]


@compiled
def measured(
    X: Items, start: int, m: int, centers: Floats, shift: Floats, scale: float, into: Scratch
) -> Floats:
    """Squared distances of m items to the centres (k x WIDTH)."""
    mu, x, block, apart, distances = into
    k, d = centers.shape
    load(X, start, m, shift, scale, block)
    if k >= MANY and k * d >= LARGE:
        measure_tiles(x, mu, apart)
    else:
        measure(block, m, centers, distances)
    return distances


@compiled
def write(rows: Floats, m: int, out: Items, start: int) -> None:
    """Write the columns of scratch rows to the rows of m items."""
    for b in range(m):
        for j in range(rows.shape[0]):
            out[start + b, j] = rows[j, b]
