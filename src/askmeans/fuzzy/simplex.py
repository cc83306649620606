"""Rows made to lie in [0, 1] and sum to one."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["onto_simplex"]

Floats = NDArray[np.float64]


def onto_simplex(rows: Floats) -> Floats:
    """Shift every row evenly to its sum (Alg 1, line 6), in place; project where one leaves [0, 1].

    The even shift is the nearest point of the plane where rows sum to one; where an entry would be
    negative, the nearest point of the simplex is taken instead (paper note N11).
    """
    rows += ((1.0 - rows.sum(axis=1)) / rows.shape[1])[:, None]
    outside = np.flatnonzero((rows < 0.0).any(axis=1))
    if len(outside):
        rows[outside] = _project(rows[outside])
    return rows


def _project(rows: Floats) -> Floats:
    """Nearest points of the simplex: subtract what leaves the positive parts summing to one."""
    descending = -np.sort(-rows, axis=1)
    excess = (np.cumsum(descending, axis=1) - 1.0) / np.arange(1, rows.shape[1] + 1)
    last = np.count_nonzero(descending > excess, axis=1) - 1
    projected: Floats = np.maximum(rows - excess[np.arange(len(rows)), last][:, None], 0.0)
    return projected
