"""How wrong expected shares are, by how wrong they were on answers held out."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["error_by_uncertainty"]

Floats = NDArray[np.float64]
_ADDED = 0.25  # items whose error is added to what was seen
_POWERS = (0.25, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0)  # of uncertainty, for errors
_USUAL_POWER = 1.4  # errors come where models agree, too


def error_by_uncertainty(
    uncertainty: Floats, errors: Floats, weight: Floats, k: int
) -> Callable[[Floats], Floats]:
    """The error to expect at an uncertainty u: c u^p, as wrong as answers were where they came.

    So it does not matter that uncertain items are asked more. The error of a fraction of an item is
    added on both sides of c: none among n does not mean that there is none. The power is the
    likeliest, errors taken for counts of mistakes, near the usual while answers are few; so
    errors at small uncertainties let expect many at large ones, which is on the safe side.
    """
    total, mass = float(weight @ errors), float(weight @ uncertainty)
    one = max(float(weight @ errors**2) / max(total, 1e-12), 1e-9)  # the error of one mistake
    best, best_fit = (1.0, 1.0), -np.inf
    for power in _POWERS:
        by = uncertainty**power
        level = mass / float(weight @ by)
        c = level * (total + _ADDED * one) / (mass + _ADDED * one)
        fit = float(weight @ (errors * np.log(c * by) - c * by)) / one
        fit -= 0.5 * (math.log(power / _USUAL_POWER) / 0.3) ** 2
        if fit > best_fit:
            best, best_fit = (c, power), fit
    c, power = best
    return lambda new: np.minimum(c * new**power, 2.0 / k)  # no row is more wrong
