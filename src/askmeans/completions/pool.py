"""The items that completions learn from: all of them, or an even part of many."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.spatial import cKDTree

from askmeans.fuzzy import lloyd
from askmeans.items import Items

__all__ = ["Pool", "Scale"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_LARGEST = 2500  # items at most; of more a random part is taken
_WIDEST = 16  # principal axes that mixtures and graphs look along


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The common scale: every feature of the pool has mean 0 and spread 1 in it."""

    middle: Floats
    spread: Floats

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Items in the common scale."""
        Z: Floats = (np.asarray(X, dtype=np.float64) - self.middle) / self.spread
        return Z


class Pool:
    """Some items by number, in the scale given and in a common scale, and what is known unasked."""

    def __init__(
        self, items: Items, n_clusters: int, fuzzifier: float, rng: np.random.Generator
    ) -> None:
        self.items = items
        self.n_clusters = n_clusters
        self.fuzzifier = fuzzifier
        self.rng = rng
        everything = items.n <= _LARGEST
        rows = np.arange(items.n) if everything else rng.choice(items.n, _LARGEST, replace=False)
        self.rows: Rows = np.sort(rows).astype(np.intp)
        self.X = items.take(self.rows)
        spread = self.X.std(axis=0)
        self.scaled = Scale(middle=self.X.mean(axis=0), spread=np.where(spread > 0.0, spread, 1.0))
        self.Z = self.scaled(self.X)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def axes(self) -> Floats:
        """The principal axes of the common scale, the widest first (d x at most 16)."""
        d = self.Z.shape[1]
        if d <= _WIDEST:
            return np.eye(d)
        _, vectors = eigh(self.Z.T @ self.Z / len(self.Z), subset_by_index=(d - _WIDEST, d - 1))
        return np.ascontiguousarray(vectors[:, ::-1])

    @cached_property
    def free(self) -> tuple[Floats, float]:
        """Centres and fuzzifier of the fit without questions."""
        found = self._fit(self.X)
        if len(self) == self.items.n:
            return found.centers, found.fuzzifier
        return self.items.refine_centers(found.centers, found.fuzzifier), found.fuzzifier

    @cached_property
    def free_scaled(self) -> tuple[Floats, float] | None:
        """The same in the common scale; None where the items are in it already."""
        if float(self.scaled.spread.max()) < 1.1 * float(self.scaled.spread.min()):
            return None
        found = self._fit(self.Z)
        return found.centers, found.fuzzifier

    def _fit(self, X: Floats) -> lloyd.Fit:
        """The best of several starts, less fuzzy where clusters would merge."""
        usual: float | Literal["auto"] = min(max(self.fuzzifier, 1.05), 2.0)
        for fuzzifier in (usual, "auto"):
            found = lloyd.fit(
                X, self.n_clusters, fuzzifier=fuzzifier, init="k-means++", n_init=5, max_iter=200,
                tol=1e-5, weights=np.empty(0), rng=self.rng,
            )  # fmt: skip
            if not found.merged:
                break
        return found

    @cached_property
    def tree(self) -> cKDTree:
        """Neighbours in the common scale, along the principal axes."""
        return cKDTree(self.Z @ self.axes)
