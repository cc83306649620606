"""Strata: which items stand for the rest, and how many each stands for."""

import numpy as np
from numpy.typing import NDArray

from askmeans.fuzzy.model import squared_distances

__all__ = ["Strata"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


class Strata:
    """Every item of the pool belongs to the stratum of the nearest item asked about."""

    def __init__(self, Z: Floats) -> None:
        self.Z = Z
        D = squared_distances(Z, Z).astype(np.float32)
        self.D = D
        self.sorted = np.sort(D, axis=1)[:, : max(2, len(Z))]

    def cells(self, rows: Rows) -> Floats:
        """How many items are nearest to each of these."""
        nearest = self.D[:, rows].argmin(axis=1)
        return np.bincount(nearest, minlength=len(rows)).astype(np.float64)

    def width(self, count: int) -> float:
        """Squared radius of a stratum, when there are so many."""
        n = len(self.Z)
        place = min(n - 1, max(1, n // max(1, count)))
        return max(float(np.median(self.sorted[:, place])), 1e-12)

    def choose(self, asked: Rows, doubt: Floats, count: int) -> Rows:
        """Items that would settle the most doubt, one after the other; each settles its kind."""
        K = np.exp(-self.D / np.float32(self.width(len(asked) + count)))
        left = doubt.astype(np.float32).copy()
        if len(asked):
            left *= 1.0 - K[:, asked].max(axis=1)
        free = np.ones(len(left), dtype=bool)
        free[asked] = False
        chosen: list[int] = []
        gain = K @ left
        for _ in range(min(count, int(free.sum()))):
            best = int(np.where(free, gain, -1.0).argmax())
            chosen.append(best)
            free[best] = False
            settled = left * K[best]
            left -= settled
            gain -= K @ settled
        return np.array(chosen, dtype=np.intp)
