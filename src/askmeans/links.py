"""The monotone map from an item's score to its membership, taught by answers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

__all__ = ["Link", "largest_inversion", "learn_link"]

Floats = NDArray[np.float64]


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
        return np.interp(coordinates, self.knots, self.values)


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
