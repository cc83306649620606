"""How items rank for a cluster, and the monotone link from that score to a membership.

A small score ranks first. In the distance order (the paper's) it is the distance to the centre. In
the relative order (paper note N1) it is s = log D_j + log(sum over l != j of D_l^-p) / p, with D
the squared distances and p = 1 / (alpha - 1). The closed-form membership is then
1 / (1 + exp(p s)): s orders items as the membership does, but without ties where memberships round
to 0 or 1. At fuzzifier 1 it is log(D_j / min over l != j of D_l).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression, minimize_scalar
from scipy.special import expit

from askmeans._util.arrays import Floats, Items
from askmeans.fuzzy import kernels, lloyd
from askmeans.fuzzy.compiled import compiled
from askmeans.fuzzy.model import memberships_from_distances, squared_distances

Order = Literal["distance", "relative"]

_LOWEST, _HIGHEST = 1.02, 20.0  # range of the fitted fuzzifier: nearly hard to nearly even
_MANY = 1 << 12  # coordinates from which on `interpolate` is quicker than numpy.interp
_CELLS = 1024  # of the table in `interpolate`: more than knots, and few enough for the cache
_ZERO = 1e-290  # smaller coordinates count as 0: between them slopes would overflow


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
    """The fuzzifier, from 1.02 to 20, at which closed-form memberships are closest to known ones.

    Rows with an unknown entry (NaN) count by their known ones.
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


# ---- links --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A non-decreasing, piecewise linear function of the coordinate, constant beyond its ends.

    Without knots it is the coordinate itself, cut to [0, 1], as in the closed form.
    """

    knots: Floats
    values: Floats

    def __call__(self, coordinates: Floats) -> Floats:
        """Memberships at these coordinates."""
        if len(self.knots) == 0:
            return np.clip(coordinates, 0.0, 1.0)
        if len(coordinates) < _MANY:
            return np.interp(coordinates, self.knots, self.values)
        return interpolate(coordinates, self.knots, self.values)


def learn_link(coordinates: Floats, answers: Floats) -> Link:
    """The link through the answers; where they contradict the order, their isotonic regression.

    Answers at one coordinate are averaged first; unknown ones (NaN) are left out.
    """
    known = ~np.isnan(answers)
    at = np.where(np.abs(coordinates[known]) < _ZERO, 0.0, coordinates[known])
    knots, where, counts = np.unique(at, return_inverse=True, return_counts=True)
    means = np.bincount(where, weights=answers[known], minlength=len(knots)) / np.maximum(counts, 1)
    if len(knots) > 1:
        means = isotonic_regression(means, weights=counts.astype(np.float64)).x
    return Link(knots=knots, values=np.clip(means, 0.0, 1.0))


def largest_inversion(ranks: NDArray[np.intp], answers: Floats) -> float:
    """The largest difference by which an answer at a worse rank exceeds one at a better rank."""
    known = ~np.isnan(answers)
    if not known.any():
        return 0.0
    in_order = answers[known][np.argsort(ranks[known], kind="stable")]
    return float((in_order - np.minimum.accumulate(in_order)).max())


@compiled
def interpolate(x: Floats, knots: Floats, values: Floats) -> Floats:
    """The result of numpy.interp, several times as quick where x is in no order.

    A table of equal cells bounds the search among the knots; numpy bisects all of them.
    """
    last = len(knots) - 1
    slopes = np.diff(values) / np.diff(knots)
    width = knots[last] - knots[0]
    per_unit = _CELLS / width if width > 0.0 else 0.0
    per_unit = per_unit if per_unit < np.inf else 0.0
    at = np.zeros(_CELLS + 1, dtype=np.intp)  # the last knot in each cell, or before it
    for j in range(last + 1):
        at[int((knots[j] - knots[0]) * per_unit)] = j
    for cell in range(1, _CELLS + 1):
        at[cell] = max(at[cell], at[cell - 1])
    out = np.empty(len(x))
    for i in range(len(x)):
        if x[i] < knots[0]:
            out[i] = values[0]
        elif not x[i] < knots[last]:
            out[i] = x[i] if np.isnan(x[i]) else values[last]
        else:
            cell = int((x[i] - knots[0]) * per_unit)
            low, high = at[cell - 1] if cell else 0, at[cell]
            while low < high:  # the last knot that is not above x
                middle = (low + high + 1) // 2
                if knots[middle] <= x[i]:
                    low = middle
                else:
                    high = middle - 1
            out[i] = slopes[low] * (x[i] - knots[low]) + values[low]
    return out
