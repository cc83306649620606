"""What a plan knows from its answers: memberships of items, and similarities of pairs.

Both count the questions by phase, ask nothing that they know, and keep answers before a stop.
"""

import itertools
import math
from collections import Counter

import numpy as np

from askmeans._util.arrays import Floats, Rows
from askmeans.exceptions import StopAsking
from askmeans.fuzzy.arrays import ROUNDING
from askmeans.paper.plan import Asking
from askmeans.queries import MembershipQueries, PairQueries, TripletQueries


class KnownMemberships:
    """Memberships as they become known; a row's last entry follows from the others.

    With `faithful` all entries are asked, as in the paper's listings.
    """

    def __init__(self, n_clusters: int, *, faithful: bool) -> None:
        self.n_clusters = n_clusters
        self.faithful = faithful
        self._places: dict[int, int] = {}
        self._values = np.empty((0, n_clusters))
        self._queried: set[tuple[int, int]] = set()
        self.raw: Counter[str] = Counter()
        self.distinct: Counter[str] = Counter()
        self.rounds: Counter[str] = Counter()

    @property
    def items(self) -> Rows:
        """Items with answers, in the order of their first questions."""
        return np.fromiter(self._places, dtype=np.intp, count=len(self._places))

    @property
    def values(self) -> Floats:
        """Their known memberships, one row per item, NaN for others."""
        return self._values[: len(self._places)]

    def look_up(self, items: Rows, clusters: Rows) -> Floats:
        """Return known entries, NaN for others."""
        if self.n_clusters == 1 and not self.faithful:
            return np.ones(len(items))  # the only entry of its row follows from no other
        places = np.array([self._places.get(item, -1) for item in items.tolist()], dtype=np.intp)
        known = np.full(len(items), np.nan)
        seen = places >= 0
        known[seen] = self._values[places[seen], clusters[seen]]
        return known

    def ask(self, items: Rows, clusters: Rows, phase: str) -> Asking[Floats]:
        """Ask about entries, except those that follow from the rest of their row."""
        values = self.look_up(items, clusters)
        new = np.full(len(items), True) if self.faithful else np.isnan(values)
        if not self.faithful:  # "cannot say" is not asked again
            new &= np.array(
                [
                    entry not in self._queried
                    for entry in zip(items.tolist(), clusters.tolist(), strict=True)
                ],
                dtype=bool,
            )
        if not new.any():
            return values
        batch = MembershipQueries(items[new], clusters[new])
        try:
            answers = yield batch
        except StopAsking as stop:
            self._record(batch.take(stop.reached), stop.answers[stop.reached], phase)
            raise
        self._record(batch, answers, phase)
        return self.look_up(items, clusters)

    def ask_rows(self, items: Rows, clusters: Rows, phase: str) -> Asking[Floats]:
        """Ask about all these clusters for each item (n x c), except entries that follow."""
        implies_last = len(clusters) == self.n_clusters and not self.faithful
        columns = clusters[:-1] if implies_last and self.n_clusters > 1 else clusters
        yield from self.ask(np.repeat(items, len(columns)), np.tile(columns, len(items)), phase)
        flat = self.look_up(np.repeat(items, len(clusters)), np.tile(clusters, len(items)))
        return flat.reshape(len(items), len(clusters))

    def _record(self, batch: MembershipQueries, answers: Floats, phase: str) -> None:
        """Count a batch of questions and store the answers."""
        before = len(self._queried)
        self._queried.update(zip(batch.items.tolist(), batch.clusters.tolist(), strict=True))
        self.raw[phase] += len(batch)
        self.distinct[phase] += len(self._queried) - before
        self.rounds[phase] += len(self._queried) > before
        self._store(batch, answers)

    def _store(self, batch: MembershipQueries, answers: Floats) -> None:
        """Store answers, and the entries that follow from them."""
        for item in batch.items.tolist():
            self._places.setdefault(item, len(self._places))
        if len(self._places) > len(self._values):
            room = np.full((2 * len(self._places), self.n_clusters), np.nan)
            room[: len(self._values)] = self._values
            self._values = room
        places = np.array([self._places[item] for item in batch.items.tolist()], dtype=np.intp)
        answered = ~np.isnan(answers)
        self._values[places[answered], batch.clusters[answered]] = answers[answered]
        if not self.faithful:
            rows = np.unique(places)
            unknown = np.isnan(self._values[rows])
            rows = rows[unknown.sum(axis=1) == 1]  # one entry left: the row sums to one
            missing = np.isnan(self._values[rows]).argmax(axis=1)
            rest = 1.0 - np.nansum(self._values[rows], axis=1)
            # A rest within rounding is 0: a cluster must not be made of it.
            self._values[rows, missing] = np.where(rest > ROUNDING, np.minimum(rest, 1.0), 0.0)


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
