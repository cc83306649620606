"""The items to cluster as the kernels see them, and the coordinates to compute in."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import DataError
from askmeans.fuzzy import kernels
from askmeans.fuzzy.threads import RowThreads

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
        return cls.around(shift, float(np.abs(mu - shift).max()))

    def inner(self, points: Items) -> Floats:
        """Points in inner coordinates."""
        return np.ascontiguousarray((np.asarray(points, np.float64) - self.shift) * self.scale)

    def outer(self, points: Floats) -> Floats:
        """Points in the data's own coordinates."""
        return points / self.scale + self.shift


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Items, what each weighs (empty: all alike), their frame, and the threads to pass over them.

    `spread` is the root of the mean variance per feature, in inner coordinates.
    """

    X: Items
    weights: Floats
    frame: Frame
    spread: float
    threads: RowThreads

    @classmethod
    def of(cls, X: Items, weights: Floats, threads: RowThreads) -> "Problem":
        """Centre the frame on the weighted mean, in two passes: the second mends rounding."""
        mean = np.zeros(X.shape[1])
        for _ in range(2):
            parts = threads.map(kernels.first_moment, (X, weights), mean)
            total = sum(part[1] for part in parts)
            with np.errstate(over="ignore", invalid="ignore"):  # told below
                mean = mean + sum(part[0] for part in parts) / total
        width = max(threads.map(kernels.largest_deviation, (X, weights), mean))
        if not (np.isfinite(mean).all() and np.isfinite(width)):
            raise DataError(
                "X must have a mean that a float64 can hold. "
                f"Got values up to {np.abs(X).max():.3g} in size; divide X by a constant first."
            )
        wide = Frame.around(mean, width)  # squares within it neither vanish nor overflow
        squares = sum(threads.map(kernels.second_moment, (X, weights), mean, wide.scale))
        spread = float(np.sqrt(squares / (total * X.shape[1]))) / wide.scale
        frame = Frame.around(mean, spread)
        return cls(X=X, weights=weights, frame=frame, spread=spread * frame.scale, threads=threads)
