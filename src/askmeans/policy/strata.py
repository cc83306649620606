"""Strata: which items stand for the rest, and how many each stands for."""

import heapq
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from askmeans.fuzzy.arrays import without_last_bits

__all__ = ["Strata"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
_ROWS = 64  # that are quicker to go through than all at once
_TWINS = 1e-3  # of the mean distance, which rounding leaves between items that do not differ


class Strata:
    """Every item of the pool belongs to the stratum of the nearest item asked about."""

    def __init__(self, Z: Floats, rng: np.random.Generator) -> None:
        # The common scale has mean 0, so that little is lost by this form of the distance.
        Z = Z.astype(np.float32)
        norms = (Z**2).sum(axis=1)
        D = Z @ Z.T  # in its place: the largest array there is
        D *= -2.0
        D += norms[:, None]
        D += norms
        np.fill_diagonal(D, 0.0)
        self.D = np.sqrt(np.maximum(D, 0.0, out=D), out=D)
        self.turns = rng.permutation(len(Z)).tolist()

    @cached_property
    def resolution(self) -> float:
        """The lower quartile of the distances to the nearest item that differs; 0 if none does."""
        different = np.where(_TWINS * self.D.mean() < self.D, self.D, np.inf).min(axis=1)
        nearest = float(np.quantile(different, 0.25, method="lower"))
        return nearest if np.isfinite(nearest) else 0.0

    def sizes(self, rows: Rows) -> Floats:
        """How many items are nearest to each of these."""
        nearest = self.D[:, rows].argmin(axis=1)
        return np.bincount(nearest, minlength=len(rows)).astype(np.float64)

    def choose(self, asked: Rows, doubt: Floats) -> Iterator[int]:
        """All other items one after the other, each bringing most of what is doubtful nearer.

        The gain of an item only falls while others are chosen, so old gains are upper bounds. Of
        items with the same gain (twins, or where features have few values) a random one is chosen:
        the order of a table is often that of its groups.
        """
        weight = doubt.astype(np.float32)
        far = self.D[:, asked].min(axis=1) if len(asked) else self.D.max(axis=1)
        parts = [np.maximum(far - self.D[start : start + _ROWS], 0.0) @ weight
                 for start in range(0, len(far), _ROWS)]  # fmt: skip
        gains = without_last_bits(np.concatenate(parts))
        gains[asked] = -1.0
        triples = zip(gains.tolist(), self.turns, range(len(gains)), strict=True)
        heap = [(-gain, turn, item) for gain, turn, item in triples if gain >= 0.0]
        heapq.heapify(heap)
        while heap:
            _, turn, item = heapq.heappop(heap)
            gain = float(without_last_bits(np.maximum(far - self.D[item], 0.0) @ weight))
            if heap and heap[0] < (-gain, turn, item):
                heapq.heappush(heap, (-gain, turn, item))
                continue
            yield item
            far = np.minimum(far, self.D[item])
