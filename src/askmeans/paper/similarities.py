"""Similarities of pairs told so far: each is asked once, and what was told before a stop counts."""

import itertools
import math
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import StopAsking
from askmeans.paper.plan import Asking
from askmeans.queries import PairQueries, TripletQueries

__all__ = ["Similarities", "square_by_square"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


class Similarities:
    """What is known of pairs, and how many questions it took, by part."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter(bootstrap_pairs=0, triplets=0, row_pairs=0)
        self._values: dict[tuple[int, int], float] = {}
        self.notes: list[str] = []  # what the answers made somebody warn of

    def __call__(self, p: int, q: int) -> float:
        """What is known of a pair; NaN where nothing is."""
        return self._values.get((min(p, q), max(p, q)), math.nan)

    def ask(self, pairs: Rows, part: str) -> Asking[None]:
        """Ask pairs that were not asked before, and keep the answers."""
        new = np.array([p for p in pairs.tolist() if tuple(sorted(p)) not in self._values])
        if not len(new):
            return
        batch = PairQueries(new)
        try:
            answers = yield batch
        except StopAsking as stop:
            self._keep(batch, stop.answers)
            self.counts[part] += int((~np.isnan(stop.answers)).sum())
            raise
        self._keep(batch, answers)
        self.counts[part] += len(new)

    def ask_triplets(self, triplets: Rows) -> Asking[Floats]:
        """Ask triplets; they are used at once, and not kept."""
        try:
            answers = yield TripletQueries(triplets)
        except StopAsking as stop:
            self.counts["triplets"] += int((~np.isnan(stop.answers)).sum())
            raise
        self.counts["triplets"] += len(triplets)
        return answers

    @property
    def items(self) -> list[int]:
        """Items of the pairs asked, in the order in which they came."""
        return list(dict.fromkeys(item for pair in self._values for item in pair))

    def count(self, items: list[int]) -> int:
        """How many pairs among these items were asked."""
        return sum(tuple(sorted(pair)) in self._values for pair in itertools.combinations(items, 2))

    def matrix(self, items: Rows) -> Floats:
        """All similarities among items; the diagonal cannot be asked and is 0."""
        G = np.zeros((len(items), len(items)))
        for a, b in itertools.combinations(range(len(items)), 2):
            G[a, b] = G[b, a] = self(int(items[a]), int(items[b]))
        return G

    def comparable(self, items: Rows) -> Rows:
        """The items without those of which more than half of the comparisons are missing."""
        while len(items) > 1:
            gaps = np.isnan(self.matrix(items)).sum(axis=1)
            if gaps.max() <= (len(items) - 1) / 2:
                break
            items = np.delete(items, len(gaps) - 1 - gaps[::-1].argmax())  # of several, the last
        return items

    def _keep(self, batch: PairQueries, answers: Floats) -> None:
        """Write similarities down."""
        for (p, q), value in zip(batch.pairs.tolist(), answers.tolist(), strict=True):
            self._values[min(p, q), max(p, q)] = value


def square_by_square(items: Rows) -> Rows:
    """All pairs in an order in which every item joins those before it: a stop leaves a square."""
    pairs = [(items[a], items[b]) for b in range(len(items)) for a in range(b)]
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)
