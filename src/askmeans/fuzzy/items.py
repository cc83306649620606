"""The data as plans see it: rows by number, ranks for given centres, links applied to all.

A plan never touches the whole matrix. It asks for a few rows, for the item at a rank, for the rank
of an item, and in the end for the memberships of all.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import as_matrix, check_magnitude
from askmeans.fuzzy import lloyd
from askmeans.fuzzy.links import Link
from askmeans.fuzzy.scores import Scorer
from askmeans.fuzzy.simplex import onto_simplex
from askmeans.fuzzy.sorting import LazyOrder
from askmeans.fuzzy.threads import RowThreads

__all__ = ["ItemSet", "Ranking", "as_items"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_BLOCK = 1 << 14  # rows
_WORK = 16  # multiplications, or so, that it takes to place a score, or to link it


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
        """What clustering without any question finds."""
        fit = lloyd.fit(
            self.X, n_clusters, fuzzifier=max(fuzzifier, 1.05), init="k-means++", n_init=1,
            max_iter=100, tol=1e-4, weights=np.empty(0), rng=rng,
        )  # fmt: skip
        return fit.centers

    def refine_centers(self, centers: Floats, fuzzifier: float) -> Floats:
        """The optimum of fuzzy k-means, of all items, to which these centres lead."""
        fit = lloyd.fit(
            self.X, len(centers), fuzzifier=fuzzifier, init=centers, n_init=1, max_iter=100,
            tol=1e-6, weights=np.empty(0), rng=np.random.default_rng(0),
        )  # fmt: skip
        return fit.centers


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
        """Where items lie on a cluster's scale (Scorer.coordinates)."""
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
    """Items from whatever holds rows of numbers; float32 and memory maps stay what they are."""
    if isinstance(X, ItemSet):
        return X
    if getattr(X, "dtype", None) != np.float32:
        matrix = as_matrix(X, "X")
        check_magnitude(matrix, "X")
        return ItemSet(matrix, blank)
    array = np.asarray(X)
    if array.ndim != 2 or array.size == 0 or not np.isfinite(array).all():
        as_matrix(array, "X")  # refuses, and says why
    return ItemSet(array, blank)
