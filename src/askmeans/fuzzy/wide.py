"""Kernels' inner loops for many features: blocks of items as they stand, not transposed.

The loops run over features, four items at a time; kernels.py has those that run over items,
and the rules.
"""

import numpy as np
from numpy.typing import NDArray

from askmeans.fuzzy.compiled import compiled, compiled_sums

__all__ = ["WIDE", "add_moments_of_rows", "load_rows", "measure_rows"]

Items = NDArray[np.floating]
Floats = NDArray[np.float64]

WIDE = 48  # features from which on these are quicker: by a tenth at 64, by a quarter at 200


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
