"""The items to cluster as the kernels see them, and the coordinates to compute in."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import DataError
from askmeans.fuzzy import kernels
from askmeans.fuzzy.engines import Engine

__all__ = ["Frame", "Problem"]

Items = NDArray[np.floating]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Inner coordinates, (x - shift) * scale, in which arithmetic on the data stays exact.

    The scale is a power of two, so that it changes no digit.
    """

    shift: Floats
    scale: float

    @classmethod
    def around(cls, shift: Floats, width: float) -> "Frame":
        """The frame with this origin in which the width given is about 1."""
        exponent = int(np.frexp(width)[1]) if width > 0.0 else 0
        return cls(shift=shift, scale=float(np.ldexp(1.0, -exponent)))

    @classmethod
    def of_centers(cls, centers: Items) -> "Frame":
        """A frame for given centres: what predicting needs, without a pass over the items."""
        mu = np.asarray(centers, dtype=np.float64)
        shift = mu.mean(axis=0)
        return cls.around(shift, float(np.abs(mu - shift).max() or np.abs(mu).max()))

    def inner(self, points: Items) -> Floats:
        """Points in inner coordinates."""
        return np.ascontiguousarray((np.asarray(points, np.float64) - self.shift) * self.scale)

    def outer(self, points: Floats) -> Floats:
        """Points in the data's own coordinates."""
        return points / self.scale + self.shift


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Items in an engine, and the frame to compute in.

    `spread` is the root of the mean variance per feature, in inner coordinates.
    """

    engine: Engine
    frame: Frame
    spread: float

    @classmethod
    def of(cls, engine: Engine, sample: Items | None = None) -> "Problem":
        """Centre the frame on the weighted mean.

        With a sample of the items one pass is enough: its mean is near that of all. Without, or
        where numbers are too large to be squared, it takes four, and nothing overflows.
        """
        moments = None if sample is None else _in_one_pass(engine, sample)
        mean, spread = moments or _in_four_passes(engine)
        frame = Frame.around(mean, spread)
        return cls(engine=engine, frame=frame, spread=spread * frame.scale)


def _in_one_pass(engine: Engine, sample: Items) -> tuple[Floats, float] | None:
    """Mean and spread of all items; None where a sum is not finite."""
    near = np.asarray(sample, dtype=np.float64).mean(axis=0)
    if not np.isfinite(near).all():
        return None
    parts = engine.map(kernels.both_moments, near)
    total = sum(part[2] for part in parts)
    with np.errstate(over="ignore", invalid="ignore"):
        away = sum(part[0] for part in parts) / total
        variance = float(sum(part[1] for part in parts) / total - np.square(away).sum())
    if not (np.isfinite(away).all() and 0.0 < variance < np.inf):
        return None
    return near + away, float(np.sqrt(variance / engine.n_features))


def _in_four_passes(engine: Engine) -> tuple[Floats, float]:
    """Mean and spread of all items: the second pass mends what the first rounded."""
    mean = np.zeros(engine.n_features)
    for _ in range(2):
        parts = engine.map(kernels.both_moments, mean)
        total = sum(part[2] for part in parts)
        with np.errstate(over="ignore", invalid="ignore"):  # told below
            mean = mean + sum(part[0] for part in parts) / total
    width = max(engine.map(kernels.largest_deviation, mean))
    if not (np.isfinite(mean).all() and np.isfinite(width)):
        raise DataError(
            "X must have a mean that a float64 can hold. Got NaN, infinity or numbers near the "
            "largest float; drop such rows, or divide X by a constant first."
        )
    wide = Frame.around(mean, width)  # squares within it neither vanish nor overflow
    squares = sum(engine.map(kernels.second_moment, mean, wide.scale))
    return mean, float(np.sqrt(squares / (total * engine.n_features))) / wide.scale
