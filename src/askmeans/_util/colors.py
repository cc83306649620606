"""A palette that colour-blind readers can tell apart, and weighted mixtures of its colours."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Okabe and Ito's set ("Color Universal Design", 2008); black last, for it darkens every mixture.
_OKABE_ITO = (
    "#0072B2",  # blue
    "#E69F00",  # orange
    "#009E73",  # bluish green
    "#CC79A7",  # reddish purple
    "#D55E00",  # vermillion
    "#56B4E9",  # sky blue
    "#F0E442",  # yellow
    "#000000",  # black
)


def blend(weights: NDArray[np.float64], palette: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mix the colours of the palette by the weights in each row, in linear light.

    Rows need not sum to one; a row of zeros gets the even mixture.
    """
    totals = weights.sum(axis=1, keepdims=True)
    even = np.full_like(weights, 1.0 / weights.shape[1])
    shares = np.divide(weights, totals, out=even, where=totals > 0)
    # Mixed as plain sRGB numbers, blue and orange would meet in green, a third cluster's colour.
    mixed: NDArray[np.float64] = _to_srgb(shares @ _to_linear(palette)).clip(0.0, 1.0)
    return mixed


def as_hex(colors: NDArray[np.float64]) -> list[str]:
    """Rows of RGB as HTML writes them."""
    return [f"#{bytes(row).hex()}" for row in np.rint(colors * 255).astype(np.uint8)]


def from_hex(colors: Sequence[str]) -> NDArray[np.float64]:
    """The inverse of `as_hex`."""
    return np.array([list(bytes.fromhex(color[1:])) for color in colors]) / 255.0


def _to_linear(srgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """SRGB values to light intensities (IEC 61966-2-1)."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def _to_srgb(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """Light intensities to sRGB values, the inverse."""
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)


PALETTE: NDArray[np.float64] = from_hex(_OKABE_ITO)
