"""Choosing among floats that are equal but for rounding.

The last bits of a sum are not the same on every processor, so a choice by them is not, either. Here
values that differ by about a millionth or less are as good as equal, and the first is taken.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["first_lowest", "without_last_bits"]

# Relative. Sums of a million items are rounded to about 1e-12, differences that matter are larger.
_SAME = 1e-9
_BITS = 20  # binary digits that are kept: six decimal ones


def first_lowest(values: ArrayLike) -> int:
    """Index of the first value that is the lowest but for rounding; 0 if none is a number."""
    array = np.asarray(values, dtype=np.float64)
    if np.isnan(array).all():
        return 0
    lowest = float(np.nanmin(array))
    return int(np.argmax(array <= lowest + _SAME * abs(lowest)))


def without_last_bits(values: ArrayLike) -> NDArray[np.float64]:
    """Values rounded to 20 binary digits, so that those equal but for rounding are equal."""
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    rounded: NDArray[np.float64] = np.ldexp(np.rint(np.ldexp(mantissa, _BITS)), exponent - _BITS)
    return rounded
