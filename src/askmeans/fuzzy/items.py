"""The data as plans see it: rows by number, ranks for given centres, links applied to all.

A plan never reads the whole matrix. It asks for a few rows, for the item at a rank, for the rank of
an item, and in the end for the memberships of all.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats, Rows
from askmeans._util.checks import as_matrix, check_magnitude
from askmeans.fuzzy import lloyd
from askmeans.fuzzy.arrays import even_rows, onto_simplex
from askmeans.fuzzy.compiled import compiled
from askmeans.fuzzy.passes import RowThreads
from askmeans.fuzzy.scores import Link, Scorer

_BLOCK = 1 << 14  # rows
_WORK = 16  # multiplications, roughly, to sort a score into its bucket, or to apply a link to it
_BUCKETS = 2048  # as many places to write to in turn as a processor's caches take
FEW = 20_000  # numbers that are sorted at once: one bucket
_SAMPLE = 10_000  # numbers from which the width of a bucket is estimated
_OUTLIERS = 1e-3  # the share, at either end, that one bucket takes


class ItemSet:
    """Items in an array or a memory map; `blank` ones, as empty texts, are asked about last."""

    def __init__(self, X: NDArray[np.floating], blank: Iterable[int] = ()) -> None:
        self.X = X
        self.n = len(X)
        self.blank = frozenset(blank)

    def take(self, rows: Rows) -> Floats:
        """Some items, by number."""
        return self.X[rows].astype(np.float64)

    def rank(self, scorer: Scorer) -> "Ranking":
        """All items in order, for each of the scorer's centres."""
        return Ranking(scorer, scorer.scores(self.X))

    def unsupervised_centers(
        self, n_clusters: int, fuzzifier: float, rng: np.random.Generator
    ) -> Floats:
        """The centres of a fit without questions."""
        alpha = max(fuzzifier, 1.05)  # the closed form needs more than 1
        return lloyd.fit(self.X, n_clusters, fuzzifier=alpha, max_iter=100, rng=rng).centers

    def refine_centers(self, centers: Floats, fuzzifier: float) -> Floats:
        """The optimum of fuzzy k-means, of all items, that Lloyd's iterations reach from these."""
        rng = np.random.default_rng(0)  # not used: the start is given
        return lloyd.fit(
            self.X, len(centers), fuzzifier=fuzzifier, init=centers, max_iter=100, tol=1e-6, rng=rng
        ).centers


class Ranking:
    """Items in the order of their scores, for each cluster; ranks count from 1, the best."""

    def __init__(self, scorer: Scorer, scores: Floats) -> None:
        self.scorer = scorer
        self.scores = scores
        self.n, k = scores.shape
        # Stable: equal scores keep the order of the rows (paper note N13).
        with RowThreads(k, _WORK * self.n) as threads:
            runs = threads.map(lambda columns: [*map(LazyOrder, columns)], (scores.T,))
        self.orders = [order for run in runs for order in run]

    def select(self, clusters: Rows, ranks: Rows) -> Rows:
        """The item at each rank of each cluster's order."""
        rows = np.empty(len(ranks), dtype=np.intp)
        for j in np.unique(clusters):
            rows[clusters == j] = self.orders[j].at(ranks[clusters == j] - 1)
        return rows

    def ranks(self, cluster: int, rows: Rows) -> Rows:
        """The rank of items in a cluster's order."""
        return self.orders[cluster].places(rows) + 1

    def coordinates(self, cluster: int, rows: Rows) -> Floats:
        """The coordinates of items on a cluster's scale (Scorer.coordinates)."""
        return self.scorer.coordinates(self.scores[rows, cluster])

    def levels(self, cluster: int, cuts: Rows) -> Rows:
        """For every item, how many of the cuts (last ranks of levels 1, 2, ...) it is within."""
        cuts = np.minimum.accumulate(cuts)
        by_rank = np.bincount(cuts, minlength=self.n + 1)
        # The item at rank r has level s when r <= cut_s: count the cuts at r or after it.
        counts = np.cumsum(by_rank[::-1])[::-1][1:]
        levels = np.empty(len(counts), dtype=np.intp)
        levels[self.orders[cluster].cut_at(cuts)] = counts
        return levels

    def memberships(self, links: list[Link]) -> Floats:
        """The links applied to all items, rows made to sum to one."""
        memberships = np.empty(self.scores.shape)
        with RowThreads(self.n, _WORK * len(links)) as threads:
            threads.map(_fill_linked, (self.scores, memberships), self.scorer, links)
        return memberships


def _fill_linked(scores: Floats, out: Floats, scorer: Scorer, links: list[Link]) -> None:
    """Write the links applied to these items, in blocks that stay in the cache."""
    for start in range(0, len(scores), _BLOCK):
        some = slice(start, start + _BLOCK)
        for j, link in enumerate(links):
            out[some, j] = link(scorer.coordinates(scores[some, j]))
        onto_simplex(out[some])


def as_items(X: Any, blank: Iterable[int] = ()) -> ItemSet:
    """Convert rows of numbers to items; float32 and memory maps keep their kind."""
    if isinstance(X, ItemSet):
        return X
    if getattr(X, "dtype", None) != np.float32:
        matrix = as_matrix(X, "X")
        check_magnitude(matrix, "X")
        return ItemSet(matrix, blank)
    array = np.asarray(X)
    if array.ndim != 2 or array.size == 0 or not np.isfinite(array).all():
        as_matrix(array, "X")  # raises the error that fits
    return ItemSet(array, blank)


# ---- an order that is sorted where it is read ---------------------------------------------------


class LazyOrder:
    """Positions of values in ascending order, in numpy's stable order; no NaN.

    A search reads some hundred ranks, so sorting millions of numbers is mostly wasted. They are
    put into buckets, from low to high, and a bucket is sorted when it is read.
    """

    def __init__(self, values: Floats) -> None:
        n = len(values)
        self._values = values
        self._low, self._per_unit = _scale(values)
        narrow = n <= np.iinfo(np.int32).max
        self._positions: NDArray[Any] = np.empty(n, dtype=np.int32 if narrow else np.intp)
        self._starts = np.zeros(_BUCKETS + 1, dtype=np.intp)
        into_buckets(values, self._low, self._per_unit, self._starts, self._positions)
        self._is_sorted = np.diff(self._starts) <= 1

    def at(self, places: Rows) -> Rows:
        """Positions of the values at these places of the order, which count from 0."""
        for bucket in np.unique(np.searchsorted(self._starts, places, side="right") - 1):
            self._sorted(bucket)
        return self._positions[places].astype(np.intp)

    def places(self, positions: Rows) -> Rows:
        """Places in the order of the values at these positions."""
        buckets = buckets_of(self._values[positions], self._low, self._per_unit)
        places = np.empty(len(positions), dtype=np.intp)
        for bucket in np.unique(buckets):
            here = np.flatnonzero(buckets == bucket)
            members = self._sorted(bucket)
            by_position = np.argsort(members)
            at = np.searchsorted(members, positions[here], sorter=by_position)
            places[here] = self._starts[bucket] + by_position[at]
        return places

    def cut_at(self, places: Rows) -> NDArray[Any]:
        """All positions, sorted as far as needed for each of these places to part the order."""
        self.at(np.unique(places[(places > 0) & (places < len(self._values))]))
        return self._positions

    def _sorted(self, bucket: int) -> NDArray[Any]:
        """The positions in a bucket, in order."""
        members = self._positions[self._starts[bucket] : self._starts[bucket + 1]]
        if not self._is_sorted[bucket]:
            members[:] = members[np.argsort(self._values[members], kind="stable")]
            self._is_sorted[bucket] = True
        return members


def _scale(values: Floats) -> tuple[float, float]:
    """The lower end of the second bucket, and buckets per unit; 0 for all in one bucket."""
    if len(values) < FEW:
        return 0.0, 0.0
    few = np.sort(values[even_rows(len(values), _SAMPLE)])
    low, high = few[int(_OUTLIERS * len(few))], few[int((1.0 - _OUTLIERS) * len(few))]
    with np.errstate(all="ignore"):
        per_unit = (_BUCKETS - 2) / (high - low)
    return (low, per_unit) if np.isfinite(low) and 0.0 < per_unit < np.inf else (0.0, 0.0)


@compiled
def bucket_of(value: float, low: float, per_unit: float) -> int:
    """The bucket of a value, which grows with it."""
    if per_unit == 0.0:
        return 0
    place = (value - low) * per_unit
    if place < 0.0:
        return 0
    return int(place) + 1 if place < _BUCKETS - 2 else _BUCKETS - 1


@compiled
def buckets_of(values: Floats, low: float, per_unit: float) -> Rows:
    """The bucket of every value."""
    buckets = np.empty(len(values), dtype=np.intp)
    for i in range(len(values)):
        buckets[i] = bucket_of(values[i], low, per_unit)
    return buckets


@compiled
def into_buckets(
    values: Floats, low: float, per_unit: float, starts: Rows, positions: NDArray[Any]
) -> None:
    """Write positions by bucket, within a bucket ascending; and the bounds of the buckets.

    `starts` has zeros before.
    """
    for value in values:
        starts[bucket_of(value, low, per_unit) + 1] += 1
    for bucket in range(_BUCKETS):
        starts[bucket + 1] += starts[bucket]
    after = starts[:-1].copy()
    for i in range(len(values)):
        bucket = bucket_of(values[i], low, per_unit)
        positions[after[bucket]] = i
        after[bucket] += 1
