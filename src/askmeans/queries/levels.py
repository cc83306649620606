"""The scale of answers: evenly spaced points from 0 to 1."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["on_scale", "scale_text", "to_scale"]

_LISTED = 11  # points of a scale that are all listed, at most
_TYPED = 0.005  # by which an answer may be off a point: 33% of 1/3
_LAST_BITS = 1e-12


def to_scale(values: Any, levels: int) -> NDArray[np.float64]:
    """The nearest points of a scale; NaN stays.

    >>> to_scale([0.3, 0.375, 1.2], 5)
    array([0.25, 0.5 , 1.  ])
    """
    inside = np.clip(np.asarray(values, np.float64), 0.0, 1.0)
    # Half a step rounds up, always: numpy would round it to even.
    points: NDArray[np.float64] = np.floor(inside * (levels - 1) + 0.5 + _LAST_BITS) / (levels - 1)
    return points


def on_scale(value: float, levels: int) -> float | None:
    """The point of a scale that was typed; None between two of them.

    >>> on_scale(0.33, 4), on_scale(0.4, 4)
    (0.3333333333333333, None)
    """
    point = float(to_scale(value, levels))
    tolerance = min(_TYPED, 0.25 / (levels - 1))
    return point if abs(point - value) <= tolerance + _LAST_BITS else None


def scale_text(levels: int) -> str:
    """The points of a scale in words: all of a few, or the first and the last.

    >>> scale_text(3), scale_text(21)
    ('0, 0.5 or 1', '0, 0.05, 0.1, and so on in steps of 0.05 to 1')
    """
    points = [f"{point / (levels - 1):.3g}" for point in range(levels)]
    if levels > _LISTED:
        points = [*points[:3], f"and so on in steps of {points[1]}"]
        return f"{', '.join(points)} to 1"
    return f"{', '.join(points[:-1])} or {points[-1]}"
