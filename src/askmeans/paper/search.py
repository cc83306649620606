"""Algorithms 2 and 3 for all clusters and thresholds at once: where memberships fall below s * eta.

In each round every open search selects one item, and all are asked in one batch, so that it takes
about log2(n) rounds. Answers narrow all searches of their cluster, not only the one that asked
(paper note N25).
"""

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats, Rows
from askmeans.fuzzy.items import Ranking
from askmeans.paper.known import KnownMemberships
from askmeans.paper.plan import Asking

# 3 * .1 exceeds .3, and answers on a scale of eleven points hit the thresholds (paper note N13).
_SLACK = 1e-12
ATTEMPTS = 3  # items beside one without an answer that are tried before a search gives up


def n_thresholds(precision: float) -> int:
    """S = floor(1 / eta): thresholds eta, 2 eta, ... up to 1 (paper note N13)."""
    return int(1.0 / precision + 1e-9)


def search_cuts(
    ranking: Ranking,
    columns: Rows,
    clusters: Rows,
    known: KnownMemberships,
    precision: float,
    phase: str,
) -> Asking[Rows]:
    """Find l_s = max{rank : membership >= s * eta} for s = 1 .. S, one row for each cluster.

    `columns` are the clusters' columns of the ranking. l_0 = n costs nothing. In a faithful run
    every threshold is searched separately and to the end, as listed. Otherwise known answers narrow
    the search, and a search ends once the memberships at its ends differ by at most eta: then every
    item between them is known to eta.
    """
    S = n_thresholds(precision)
    thresholds = np.linspace(precision, S * precision, S) - _SLACK
    bounds = Bounds(ranking.n, len(clusters), S)
    if not known.faithful:
        for place, cluster in enumerate(clusters):
            values = known.values[:, cluster]
            answered = ~np.isnan(values)
            ranks = ranking.ranks(columns[place], known.items[answered])
            bounds.learn(np.full(len(ranks), place), ranks, values[answered], thresholds)
    while True:
        open_ = bounds.is_open(None if known.faithful else precision)
        if not open_.any():
            return bounds.low
        places, s = np.nonzero(open_)
        middle = bounds.middles(places, s)
        distinct = back = np.arange(len(places))
        if not known.faithful:
            pairs = np.column_stack([places, middle])
            _, distinct, back = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
            back = back.ravel()  # numpy 2.0 keeps the axis
        ranks = middle[distinct]
        items = ranking.select(columns[places[distinct]], ranks)
        values = yield from known.ask(items, clusters[places[distinct]], phase)
        if known.faithful:
            bounds.learn_alone(places, s, middle, values[back], thresholds)
        else:
            bounds.learn(places[distinct], ranks, values, thresholds)


class Bounds:
    """For each cluster and threshold, bounds of the rank of the last item above it."""

    def __init__(self, n_items: int, n_clusters: int, n_levels: int) -> None:
        self.low = np.zeros((n_clusters, n_levels), dtype=np.intp)  # from 0, not 1: paper note N14
        self.high = np.full((n_clusters, n_levels), n_items, dtype=np.intp)
        # Memberships at the ends: of the last item known to be above, the first known below.
        self.above = np.ones((n_clusters, n_levels))
        self.below = np.zeros((n_clusters, n_levels))
        self.silent: set[tuple[int, int]] = set()  # (cluster, rank) without an answer
        self.abandoned = np.zeros((n_clusters, n_levels), dtype=bool)

    def is_open(self, precision: float | None) -> NDArray[np.bool_]:
        """Which searches continue."""
        open_ = (self.low < self.high) & ~self.abandoned
        if precision is not None:
            open_ &= self.above - self.below > precision + _SLACK
        return open_

    def middles(self, places: Rows, s: Rows) -> Rows:
        """ceil((low + high) / 2), or the nearest rank that is not silent."""
        middle = (self.low[places, s] + self.high[places, s] + 1) // 2
        if self.silent:
            for i, place in enumerate(places.tolist()):
                low, high = self.low[place, s[i]], self.high[place, s[i]]
                tries = [middle[i] + step for d in range(ATTEMPTS) for step in (d, -d)]
                free = [r for r in tries if low < r <= high and (place, int(r)) not in self.silent]
                if free:
                    middle[i] = free[0]
                else:
                    self.abandoned[place, s[i]] = True
        return middle

    def learn(self, places: Rows, ranks: Rows, values: Floats, thresholds: Floats) -> None:
        """Narrow all searches of the clusters in the answers."""
        for place in np.unique(places):
            mine = places == place
            answered = mine & ~np.isnan(values)
            self.silent.update((int(place), int(r)) for r in ranks[mine & np.isnan(values)])
            if answered.any():
                self._narrow(int(place), ranks[answered], values[answered], thresholds)

    def _narrow(self, place: int, ranks: Rows, values: Floats, thresholds: Floats) -> None:
        """Move the ends of a cluster's searches to the last rank above and the first below."""
        passed = values[:, None] >= thresholds
        last = np.where(passed, ranks[:, None], 0)
        best = last.argmax(axis=0)
        raised = last.max(axis=0) > self.low[place]
        self.low[place, raised] = ranks[best[raised]]
        self.above[place, raised] = values[best[raised]]
        first = np.where(passed, np.iinfo(np.intp).max, ranks[:, None])
        best = first.argmin(axis=0)
        lowered = first.min(axis=0) - 1 < self.high[place]
        self.high[place, lowered] = ranks[best[lowered]] - 1
        self.below[place, lowered] = values[best[lowered]]

    def learn_alone(
        self, places: Rows, s: Rows, ranks: Rows, values: Floats, thresholds: Floats
    ) -> None:
        """Narrow each search by its own answer only (Algorithm 3, lines 5 to 9)."""
        answered = ~np.isnan(values)
        self.silent.update(zip(places[~answered].tolist(), ranks[~answered].tolist(), strict=True))
        passed = answered & (values >= thresholds[s])
        failed = answered & ~passed
        self.low[places[passed], s[passed]] = ranks[passed]
        self.high[places[failed], s[failed]] = ranks[failed] - 1
