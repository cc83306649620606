"""Strata: which items stand for the rest, and how many each stands for."""

import heapq

import numpy as np
from numpy.typing import NDArray

from askmeans.fuzzy.model import squared_distances
from askmeans.fuzzy.ties import without_last_bits

__all__ = ["Strata"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


class Strata:
    """Every item of the pool belongs to the stratum of the nearest item asked about."""

    def __init__(self, Z: Floats) -> None:
        self.D = np.sqrt(squared_distances(Z, Z).astype(np.float32))

    def cells(self, rows: Rows) -> Floats:
        """How many items are nearest to each of these."""
        nearest = self.D[:, rows].argmin(axis=1)
        return np.bincount(nearest, minlength=len(rows)).astype(np.float64)

    def choose(self, asked: Rows, doubt: Floats, count: int) -> Rows:
        """Items one after the other, each the one that brings most of what is doubtful nearer.

        The gain of an item only falls while others are chosen, so old gains are upper bounds.
        Of items with the same gain (twins, say) the first is chosen.
        """
        far = self.D[:, asked].min(axis=1) if len(asked) else self.D.max(axis=1)
        gains = without_last_bits(np.maximum(far - self.D, 0.0) @ doubt)
        gains[asked] = -1.0
        heap = [(-float(gain), item) for item, gain in enumerate(gains) if gain >= 0.0]
        heapq.heapify(heap)
        chosen: list[int] = []
        while heap and len(chosen) < count:
            _, item = heapq.heappop(heap)
            gain = float(without_last_bits(np.maximum(far - self.D[item], 0.0) @ doubt))
            if heap and heap[0] < (-gain, item):
                heapq.heappush(heap, (-gain, item))
                continue
            chosen.append(item)
            far = np.minimum(far, self.D[item])
        return np.array(chosen, dtype=np.intp)
