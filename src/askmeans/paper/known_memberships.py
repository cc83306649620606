"""The answers to a plan: memberships by item and cluster, and numbers of questions by phase."""

from collections import Counter

import numpy as np

from askmeans._util.arrays import Floats, Rows
from askmeans.exceptions import StopAsking
from askmeans.fuzzy.arrays import ROUNDING
from askmeans.paper.plan import Asking
from askmeans.queries import MembershipQueries


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
