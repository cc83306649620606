"""Known similarities of pairs: each is asked once, and answers before a stop count."""

import itertools
import math
from collections import Counter

import numpy as np

from askmeans._util.arrays import Floats, Rows
from askmeans.exceptions import StopAsking
from askmeans.paper.plan import Asking
from askmeans.queries import PairQueries, TripletQueries


class Similarities:
    """Known similarities of pairs, and the numbers of questions by part."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter(bootstrap_pairs=0, triplets=0, row_pairs=0)
        self._values: dict[tuple[int, int], float] = {}
        self.notes: list[str] = []  # messages of warnings

    def __call__(self, p: int, q: int) -> float:
        """The similarity of a pair; NaN if it is unknown."""
        return self._values.get((min(p, q), max(p, q)), math.nan)

    def ask(self, pairs: Rows, part: str) -> Asking[None]:
        """Ask pairs that were not asked before, and store the answers."""
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
        """Ask triplets; the answers are not stored."""
        try:
            answers = yield TripletQueries(triplets)
        except StopAsking as stop:
            self.counts["triplets"] += int((~np.isnan(stop.answers)).sum())
            raise
        self.counts["triplets"] += len(triplets)
        return answers

    @property
    def items(self) -> list[int]:
        """Items of the queried pairs, in their order."""
        return list(dict.fromkeys(item for pair in self._values for item in pair))

    def count(self, items: list[int]) -> int:
        """Number of queried pairs among these items."""
        return sum(tuple(sorted(pair)) in self._values for pair in itertools.combinations(items, 2))

    def matrix(self, items: Rows) -> Floats:
        """All similarities among items; the diagonal cannot be asked and is 0."""
        G = np.zeros((len(items), len(items)))
        for a, b in itertools.combinations(range(len(items)), 2):
            G[a, b] = G[b, a] = self(int(items[a]), int(items[b]))
        return G

    def comparable(self, items: Rows) -> Rows:
        """The items without those with more than half of their comparisons missing."""
        while len(items) > 1:
            gaps = np.isnan(self.matrix(items)).sum(axis=1)
            if gaps.max() <= (len(items) - 1) / 2:
                break
            items = np.delete(items, len(gaps) - 1 - gaps[::-1].argmax())  # of several, the last
        return items

    def _keep(self, batch: PairQueries, answers: Floats) -> None:
        """Store similarities."""
        for (p, q), value in zip(batch.pairs.tolist(), answers.tolist(), strict=True):
            self._values[min(p, q), max(p, q)] = value


def square_by_square(items: Rows) -> Rows:
    """All pairs, each item with all before it: at a stop the answered pairs form a square."""
    pairs = [(items[a], items[b]) for b in range(len(items)) for a in range(b)]
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)
