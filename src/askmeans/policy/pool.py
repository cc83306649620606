"""The items that models learn from: all of them, or a random part of many."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.spatial import cKDTree

from askmeans._util.arrays import Floats, Rows
from askmeans.fuzzy import lloyd
from askmeans.fuzzy.arrays import without_last_bits
from askmeans.fuzzy.items import ItemSet
from askmeans.fuzzy.model import memberships_from_distances

_NONE = np.empty(0, dtype=np.intp)
LARGEST = 2500  # largest number of items in a pool: their distances take 25 MB
_WIDEST = 16  # principal axes of mixtures and graphs: a normal density has 153 terms along them
_WIDE = 96  # features above which the unsupervised fit uses as many principal axes, to save time
_SEVERAL = 5  # features from which on a lack of correlation is no chance
_LESS_THAN_CHANCE = 0.5  # ratio to the mean squared correlation of independent features, 1 / n
_BLOCK = 2**22  # distances in memory at a time: 32 MB
_ROWS = 64  # of a matrix of distances at a time, which is faster
_TWINS = 1e-3  # rounding in single precision, as a share of the mean distance
_FEW = 1000  # items for iterations of cross-validation, to save time
_NEAR = 5  # neighbours, by which an item is clear or like no other


def principal_axes(Z: Floats, count: int) -> Floats:
    """The directions of the largest variance of centred items, the largest first (d x count)."""
    d = Z.shape[1]
    _, vectors = eigh(Z.T @ Z / len(Z), subset_by_index=(d - count, d - 1))
    return np.ascontiguousarray(vectors[:, ::-1])


def quadratic(P: Floats) -> Floats:
    """One, every coordinate, and the products of each two: all that normal densities depend on."""
    a, b = np.triu_indices(P.shape[1])
    return np.hstack([np.ones((len(P), 1)), P, P[:, a] * P[:, b]])


def quick_distances(Z: Floats, W: Floats) -> Floats:
    """Squared distances by a matrix product, which is precise for centred points."""
    D = np.asarray(Z @ W.T, dtype=np.float64)
    D *= -2.0
    D += (Z**2).sum(axis=1)[:, None]
    D += (W**2).sum(axis=1)
    return np.maximum(D, 0.0, out=D)


def nearest_distances(Z: Floats, W: Floats, folds: Rows | None = None) -> Floats:
    """Squared distances to the nearest point of W; with `folds`, of another fold (Z is W then)."""
    nearest = np.empty(len(Z))
    step = max(1, _BLOCK // max(len(W), 1))
    for start in range(0, len(Z), step):
        some = slice(start, start + step)
        D = quick_distances(Z[some], W)
        if folds is not None:
            D[folds[some, None] == folds] = np.inf
        nearest[some] = D.min(axis=1)
    return nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrow:
    """Items along few principal axes, and their squared lengths along all.

    These make up for what the axes leave out of squared distances to means of many items: across
    the axes such means are hardly away from the middle.
    """

    middle: Floats
    axes: Floats | None  # None for few features
    points: Floats
    norms: Floats

    @classmethod
    def of(cls, X: Floats) -> "Narrow":
        """Of these items."""
        middle = X.mean(axis=0)
        centred = X - middle
        axes = None if X.shape[1] <= _WIDE else principal_axes(centred, _WIDE)
        points = centred if axes is None else centred @ axes
        return cls(middle=middle, axes=axes, points=points, norms=(centred**2).sum(axis=1))

    def __call__(self, X: Floats) -> Floats:
        """Other items along the same axes."""
        return X - self.middle if self.axes is None else (X - self.middle) @ self.axes


@dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    """The common scale, in which every feature of the pool has mean 0 and spread 1.

    Principal components are in a common scale already: their variances are their weights.
    """

    middle: Floats
    spread: Floats

    @classmethod
    def of(cls, X: Floats) -> "Standard":
        """The common scale of these items."""
        spread = X.std(axis=0)
        if _are_principal(X, spread):
            spread = np.full_like(spread, np.sqrt(np.mean(spread**2)))
        return cls(middle=X.mean(axis=0), spread=np.where(spread > 0.0, spread, 1.0))

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Items in the common scale."""
        Z: Floats = (np.asarray(X, dtype=np.float64) - self.middle) / self.spread
        return Z


def _are_principal(X: Floats, spread: Floats) -> bool:
    """Whether features are correlated less than by chance."""
    there = spread > 0.0
    n, d = len(X), int(there.sum())
    if d < _SEVERAL or n < d:
        return False
    correlations = np.asarray(np.corrcoef(X[:, there], rowvar=False))
    off_diagonal = float(np.mean(correlations[~np.eye(d, dtype=bool)] ** 2))
    return off_diagonal < _LESS_THAN_CHANCE / n


class Pool:
    """Some items, in their own scale and in a common one, and the fit without questions."""

    def __init__(
        self,
        items: ItemSet,
        n_clusters: int,
        fuzzifier: float,
        rng: np.random.Generator,
        also: Rows = _NONE,
    ) -> None:
        self.items = items
        self.n_clusters = n_clusters
        self.fuzzifier = fuzzifier
        self.rng = rng
        everything = items.n <= LARGEST
        rows = np.arange(items.n) if everything else rng.choice(items.n, LARGEST, replace=False)
        self.rows: Rows = np.union1d(rows, also).astype(np.intp)
        self.few: Rows = np.sort(rng.permutation(len(self.rows))[:_FEW])
        self.X = items.take(self.rows)
        self.scaled = Standard.of(self.X)
        self.Z = self.scaled(self.X)

    def __len__(self) -> int:
        return len(self.X)

    @cached_property
    def axes(self) -> Floats:
        """The principal axes of the common scale, the widest first (d x at most 16)."""
        d = self.Z.shape[1]
        if d <= _WIDEST:
            return np.eye(d)
        return principal_axes(self.Z, _WIDEST)

    @cached_property
    def principal(self) -> Floats:
        """The pool along the principal axes of the common scale."""
        return self.Z @ self.axes

    @cached_property
    def quadratic(self) -> Floats:
        """The terms that normal densities along the principal axes depend on."""
        return quadratic(self.principal)

    @cached_property
    def narrow(self) -> "Narrow":
        """The pool along the principal axes of the scale given, few enough to iterate over."""
        return Narrow.of(self.X)

    @cached_property
    def unsupervised_fit(self) -> tuple[Floats, float]:
        """Centres and fuzzifier of the fit without questions."""
        fit = self._fit(self.X)
        if len(self) == self.items.n:
            return fit.centers, fit.fuzzifier
        return self.items.refine_centers(fit.centers, fit.fuzzifier), fit.fuzzifier

    @cached_property
    def scaled_fit(self) -> tuple[Floats, float] | None:
        """The same in the common scale; None if the items are in it already."""
        if float(self.scaled.spread.max()) < 1.1 * float(self.scaled.spread.min()):
            return None
        fit = self._fit(self.Z)
        return fit.centers, fit.fuzzifier

    @cached_property
    def unsupervised_distances(self) -> Floats:
        """Squared distances of the pool to the centres of the fit without questions."""
        middle = self.narrow.middle
        return quick_distances(self.X - middle, self.unsupervised_fit[0] - middle)

    @cached_property
    def unsupervised_memberships(self) -> Floats:
        """Memberships of the pool by the fit without questions."""
        return memberships_from_distances(self.unsupervised_distances, self.unsupervised_fit[1])

    def with_log_odds(self, X: NDArray[np.floating]) -> Floats:
        """Items in the common scale, and the log odds of two clusters by the fit without questions.

        The odds count as much as all other features together.
        """
        odds = [self._log_odds(rows) for rows in (self.X, X)]
        spread = float(odds[0].std()) or 1.0
        width = np.sqrt(self.Z.shape[1])
        return np.column_stack([self.scaled(X) / width, (odds[1] - odds[0].mean()) / spread])

    def _log_odds(self, X: NDArray[np.floating]) -> Floats:
        """Log odds of the first two clusters by the fit without questions."""
        (centers, fuzzifier), middle = self.unsupervised_fit, self.narrow.middle
        distances = quick_distances(X - middle, centers - middle)
        first, second = np.log(np.maximum(distances[:, :2], 1e-12)).T
        return np.asarray((second - first) / (fuzzifier - 1.0))

    @cached_property
    def typical(self) -> list[int]:
        """A clear item of each cluster of that fit, the largest cluster first.

        It has the largest membership of those with near neighbours: an item that is like no other
        may be nonsense, and one between two clusters that were fitted as one is hard to judge.
        """
        U = without_last_bits(self.unsupervised_memberships)
        own = U.argmax(axis=1)
        own[np.isin(self.rows, list(self.items.blank))] = -1
        different = np.unique(self.principal, axis=0)  # many of the same are no neighbourhood
        n = min(_NEAR + 1, len(different))
        distances = np.asarray(cKDTree(different).query(self.principal, n)[0])
        spread = without_last_bits(distances.reshape(len(self), n).mean(axis=1))
        sizes = without_last_bits(self.unsupervised_memberships.sum(axis=0))
        chosen = []
        for cluster in np.argsort(-sizes, kind="stable"):
            places = np.flatnonzero(own == cluster)
            if len(places):
                places = places[spread[places] <= np.median(spread[places])]
                chosen.append(int(places[U[places, cluster].argmax()]))
        return chosen

    def _fit(self, X: Floats, *, wide: bool = False) -> lloyd.Fit:
        """The best of several starts, with a smaller fuzzifier if clusters would merge.

        Of many features the starts are made along the principal axes, and the best is moved to its
        optimum in all of them.
        """
        middle = X.mean(axis=0)
        if X.shape[1] > _WIDE:
            axes = principal_axes(X - middle, _WIDE)
            near = self._fit((X - middle) @ axes, wide=True)
            fit = lloyd.fit(
                X, self.n_clusters, fuzzifier=near.fuzzifier, init=near.centers @ axes.T + middle,
                n_init=1, max_iter=20, tol=1e-4, weights=np.empty(0), rng=self.rng,
            )  # fmt: skip
            if not fit.merged or near.fuzzifier <= lloyd.LOWEST_FUZZIFIER:
                return fit
        if wide:  # the usual fuzzifier makes clusters merge; one start shows at which they do not
            separate = lloyd.fit(
                X, self.n_clusters, fuzzifier="auto", init="k-means++", n_init=1, max_iter=200,
                tol=1e-5, weights=np.empty(0), rng=self.rng,
            )  # fmt: skip
            return lloyd.fit(
                X, self.n_clusters, fuzzifier=separate.fuzzifier, init="k-means++", n_init=5,
                max_iter=60, tol=1e-4, weights=np.empty(0), rng=self.rng,
            )  # fmt: skip
        usual = min(max(self.fuzzifier, 1.05), 2.0)
        tries: list[float | Literal["auto"]] = [usual, "auto"]
        for fuzzifier in tries:
            fit = lloyd.fit(
                X, self.n_clusters, fuzzifier=fuzzifier, init="k-means++", n_init=5, max_iter=200,
                tol=1e-5, weights=np.empty(0), rng=self.rng,
            )  # fmt: skip
            if not fit.merged:
                break
        return fit

    @cached_property
    def tree(self) -> cKDTree:
        """Neighbours in the common scale, along the principal axes."""
        return cKDTree(self.principal)


class WithExamples(Pool):
    """A pool with the rows of examples after its items; scales and fits are of the items."""

    def __init__(self, pool: Pool, examples: Floats) -> None:
        self.base = pool
        self.items, self.n_clusters, self.few = pool.items, pool.n_clusters, pool.few
        self.scaled = pool.scaled
        self.X = np.vstack([pool.X, examples])
        self.Z = self.scaled(self.X)

    @cached_property
    def axes(self) -> Floats:
        """The principal axes of the items."""
        return self.base.axes

    @cached_property
    def narrow(self) -> Narrow:
        """All along the principal axes of the items."""
        base = self.base.narrow
        norms = ((self.X - base.middle) ** 2).sum(axis=1)
        return replace(base, points=base(self.X), norms=norms)

    @cached_property
    def unsupervised_fit(self) -> tuple[Floats, float]:
        """That of the items."""
        return self.base.unsupervised_fit

    @cached_property
    def scaled_fit(self) -> tuple[Floats, float] | None:
        """That of the items."""
        return self.base.scaled_fit


class Strata:
    """Strata: each item of the pool belongs to the nearest item with an answer."""

    def __init__(self, Z: Floats, rng: np.random.Generator) -> None:
        # The common scale has mean 0, so this form of the distance is precise.
        Z = Z.astype(np.float32)
        norms = (Z**2).sum(axis=1)
        D = Z @ Z.T  # in place: the largest array
        D *= -2.0
        D += norms[:, None]
        D += norms
        np.fill_diagonal(D, 0.0)
        self.D = np.sqrt(np.maximum(D, 0.0, out=D), out=D)
        self.turns = rng.permutation(len(Z)).tolist()

    @cached_property
    def resolution(self) -> float:
        """The lower quartile of the distances to the nearest different item; 0 without one."""
        different = np.where(_TWINS * self.D.mean() < self.D, self.D, np.inf).min(axis=1)
        nearest = float(np.quantile(different, 0.25, method="lower"))
        return nearest if np.isfinite(nearest) else 0.0

    def sizes(self, rows: Rows) -> Floats:
        """The number of items in the stratum of each of these."""
        nearest = self.D[:, rows].argmin(axis=1)
        return np.bincount(nearest, minlength=len(rows)).astype(np.float64)

    def choose(self, covered: Rows, uncertainty: Floats) -> Iterator[int]:
        """All other items, by greedy coverage of the pool, weighted by uncertainty.

        The gain of an item only falls while others are chosen, so old gains are upper bounds. Of
        items with the same gain (twins, or where features have few values) a random one is chosen:
        the order of a table is often that of its groups.
        """
        weight = uncertainty.astype(np.float32)
        far = self.D[:, covered].min(axis=1) if len(covered) else self.D.max(axis=1)
        parts = [np.maximum(far - self.D[start : start + _ROWS], 0.0) @ weight
                 for start in range(0, len(far), _ROWS)]  # fmt: skip
        gains = without_last_bits(np.concatenate(parts))
        gains[covered] = -1.0
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
