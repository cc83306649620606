"""The monotone map from an item's score to its membership, taught by answers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from askmeans.fuzzy.compiled import compiled

__all__ = ["Link", "largest_inversion", "learn_link"]

Floats = NDArray[np.float64]

_MANY = 1 << 12  # coordinates from which on another way than numpy's is quicker
_CELLS = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A non-decreasing, piecewise linear function of the coordinate, constant beyond its ends.

    Without knots it is the coordinate itself, cut to [0, 1]: what the closed form says.
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
    knots, where, counts = np.unique(coordinates[known], return_inverse=True, return_counts=True)
    means = np.bincount(where, weights=answers[known], minlength=len(knots)) / np.maximum(counts, 1)
    if len(knots) > 1:
        means = isotonic_regression(means, weights=counts.astype(np.float64)).x
    return Link(knots=knots, values=np.clip(means, 0.0, 1.0))


def largest_inversion(ranks: NDArray[np.intp], answers: Floats) -> float:
    """The most by which an answer at a worse rank exceeds one at a better rank."""
    known = ~np.isnan(answers)
    if not known.any():
        return 0.0
    in_order = answers[known][np.argsort(ranks[known], kind="stable")]
    return float((in_order - np.minimum.accumulate(in_order)).max())


@compiled
def interpolate(x: Floats, knots: Floats, values: Floats) -> Floats:
    """What numpy.interp returns, several times as quick where x is in no order.

    A table of equal cells tells where among the knots to look; numpy halves all of them.
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
