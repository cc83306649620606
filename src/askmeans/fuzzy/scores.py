"""How items rank for a cluster: by distance (the paper) or relative to all centres (ours).

A small score ranks first. In the distance order it is the distance to the centre. In the relative
order (paper note N1) it is s = log D_j + log(sum over l != j of D_l^-p) / p, with D the squared
distances and p = 1 / (alpha - 1). The closed-form membership is then 1 / (1 + exp(p s)): s orders
items as the membership does, but without ties where memberships round to 0 or 1. At fuzzifier 1 it
is log(D_j / min over l != j of D_l).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit

from askmeans.fuzzy import kernels, lloyd
from askmeans.fuzzy.model import memberships_from_distances, squared_distances

__all__ = ["Order", "Scorer", "fit_fuzzifier"]

Items = NDArray[np.floating]
Floats = NDArray[np.float64]
Order = Literal["distance", "relative"]

# Where the fuzzifier of the relative score is looked for.
_LOWEST, _HIGHEST = 1.02, 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """Scores of items for given centres; and coordinates, in which memberships grow smoothly."""

    centers: Floats
    order: Order
    fuzzifier: float = 2.0

    @property
    def exponent(self) -> float:
        """The closed form's p = 1 / (alpha - 1); infinite in the hard case."""
        return np.inf if self.fuzzifier == 1.0 else 1.0 / (self.fuzzifier - 1.0)

    def scores(self, X: Items) -> Floats:
        """Scores (n x k, by columns); the smaller, the more an item should belong."""
        if self.order == "distance" or len(self.centers) == 1:
            return lloyd.distances(X, self.centers).astype(np.float64, order="F", copy=False)
        out = np.empty((len(X), len(self.centers)), order="F")
        lloyd.fill(kernels.fill_scores, X, self.centers, out, self.exponent)
        return out

    def coordinates(self, scores: Floats) -> Floats:
        """Where to interpolate: grows with membership, and equals it for a fuzzy k-means target."""
        if self.order == "distance" or len(self.centers) == 1:
            return -scores
        steepness = self.exponent if np.isfinite(self.exponent) else 1.0
        with np.errstate(invalid="ignore"):
            return expit(-steepness * scores)


def fit_fuzzifier(X: Items, centers: Floats, memberships: Floats) -> float:
    """The fuzzifier at which closed-form memberships come closest to known ones.

    Rows with an unknown entry (NaN) count by their known ones. Looked for between 1.02 and 20.
    """
    known = ~np.isnan(memberships)
    if not known.any() or len(centers) < 2:
        return 2.0

    distances = squared_distances(X, centers)

    def loss(log_excess: float) -> float:
        U = memberships_from_distances(distances, 1.0 + np.exp(log_excess))
        return float(np.square(U - memberships)[known].sum())

    grid = np.linspace(np.log(_LOWEST - 1.0), np.log(_HIGHEST - 1.0), 29)
    best = int(np.argmin([loss(point) for point in grid]))
    around = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    minimum = minimize_scalar(loss, bounds=around, method="bounded", options={"xatol": 1e-4})
    return float(1.0 + np.exp(minimum.x))
