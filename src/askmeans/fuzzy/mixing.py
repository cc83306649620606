"""Anderson mixing of the centres: where the next step goes, from the last few.

Lloyd's iterations are a fixed-point map g. Near the end its steps shrink by a constant factor, so
the last few tell where they lead: the combination of points whose steps cancel best (Anderson,
1965: Iterative procedures for nonlinear integral equations; Walker and Ni, 2011). It is a guess.
Lloyd's own step never raises the objective, so whoever uses the guess keeps that step at hand.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Mixing"]

Floats = NDArray[np.float64]

DEPTH = 6  # earlier points that are combined; benchmarks/scale.py: 4 to 8 are alike
_PLAIN = 2  # steps before the first guess, and after one that was refused
_SINGULAR = 1e-10  # relative; what is smaller in the differences is rounding


class Mixing:
    """The last few points and Lloyd's steps from them."""

    def __init__(self) -> None:
        self._points: list[Floats] = []
        self._steps: list[Floats] = []

    def guess(self, centers: Floats, moved: Floats) -> Floats | None:
        """Where to go from these centres, which Lloyd moves so; None to follow Lloyd."""
        self._points.append(centers.ravel())
        self._steps.append((moved - centers).ravel())
        if len(self._points) <= _PLAIN:
            return None
        del self._points[: -DEPTH - 1], self._steps[: -DEPTH - 1]
        steps = np.diff(self._steps, axis=0).T
        points = np.diff(self._points, axis=0).T
        weights = np.linalg.lstsq(steps, self._steps[-1], rcond=_SINGULAR)[0]
        guess: Floats = moved - ((points + steps) @ weights).reshape(moved.shape)
        return guess if np.isfinite(guess).all() else None

    def forget(self) -> None:
        """Begin anew, after a guess that was refused."""
        self._points.clear()
        self._steps.clear()
