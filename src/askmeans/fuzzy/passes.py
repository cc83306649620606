"""Passes over the items: blocks of rows on threads, and coordinates in which sums stay exact.

An engine calls a function on every block of rows and returns the results in row order. Lloyd's
iterations, seeding and memberships access data only through it. `engines/` has those for data on
disk, in Dask, in arrays of other libraries and on a GPU.
"""

import functools
import itertools
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import threadpoolctl
from numpy.typing import NDArray

from askmeans._util.arrays import Floats, Items, Rows
from askmeans.exceptions import DataError

Part = TypeVar("Part")

_WORTHWHILE = 1 << 22  # multiplications: a millisecond, in which a second thread starts


# ---- threads ------------------------------------------------------------------------------------


class RowThreads:
    """A few threads that each take a run of rows; used in a `with` block.

    Kernels release the interpreter's lock, so plain Python threads run them side by side.
    """

    def __init__(self, n_rows: int, work_per_row: int) -> None:
        n_threads = 1
        if n_rows * work_per_row >= _WORTHWHILE:
            n_threads = min(n_rows, thread_limit())
        bounds = [n_rows * t // n_threads for t in range(n_threads + 1)]
        self.rows = [slice(low, high) for low, high in itertools.pairwise(bounds)]
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def map(
        self,
        kernel: Callable[..., Part],
        per_row: tuple[NDArray[Any], ...],
        *shared: Any,
        numbered: bool = False,
    ) -> list[Part]:
        """Call the kernel on every run of rows of the first arrays; results in row order.

        If `numbered`, the number of the run's first row comes before the shared arguments.
        """

        def call(rows: slice) -> Part:
            number = (rows.start,) if numbered else ()
            return kernel(*(array[rows] for array in per_row), *number, *shared)

        if self._pool is None:
            return [call(rows) for rows in self.rows]
        return list(self._pool.map(call, self.rows))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()


def thread_limit() -> int:
    """The number of threads that scikit-learn would use in this process now.

    OMP_NUM_THREADS, `threadpoolctl.threadpool_limits` or one per core.
    """
    pools = _controller(len(sys.modules)).info()
    limits = [int(pool["num_threads"]) for pool in pools if pool["user_api"] == "openmp"]
    if limits:
        return max(1, min(limits))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.lru_cache(maxsize=1)
def _controller(_: int) -> threadpoolctl.ThreadpoolController:
    """The loaded libraries, cached until further modules are loaded: the search takes a while."""
    return threadpoolctl.ThreadpoolController()


# ---- engines ------------------------------------------------------------------------------------


class Engine(Protocol):
    """Rows in blocks, with their weights (empty: all equal)."""

    n_rows: int
    n_features: int
    dtype: np.dtype[Any]

    def map(
        self, function: Callable[..., Part], *shared: Any, numbered: bool = False
    ) -> list[Part]:
        """function(items, weights, *shared) of every block, in row order.

        If `numbered`, function(items, weights, number of the first row, *shared).
        """

    def take(self, rows: Rows) -> tuple[Items, Floats]:
        """A few rows by number, ascending, in memory; and their weights."""


class ArrayEngine:
    """Rows of an array or a memory map, shared among threads."""

    def __init__(self, X: Items, weights: Floats, threads: RowThreads) -> None:
        self.X = read_only(X)
        self.weights = weights
        self.threads = threads
        self.n_rows, self.n_features = X.shape
        self.dtype = X.dtype

    def map(
        self, function: Callable[..., Part], *shared: Any, numbered: bool = False
    ) -> list[Part]:
        """function(items, weights, *shared) of every thread's rows."""
        return self.threads.map(function, (self.X, self.weights), *shared, numbered=numbered)

    def take(self, rows: Rows) -> tuple[Items, Floats]:
        """A few rows by number, and their weights."""
        return self.X[rows], self.weights[rows] if self.weights.size else self.weights


def pick(X: Items, weights: Floats, start: int, rows: Rows) -> tuple[Items, Floats]:
    """Those of the rows, ascending, that are in this block; and their weights."""
    low, high = np.searchsorted(rows, (start, start + len(X)))
    here = rows[low:high] - start
    return np.asarray(X[here]), weights[here] if weights.size else weights


def read_only(X: Items) -> Items:
    """A read-only view: one compiled kernel serves arrays and memory maps."""
    view = np.asarray(X).view()
    view.flags.writeable = False
    return view


# ---- coordinates --------------------------------------------------------------------------------


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
        """A frame for given centres: enough for predictions, without a pass over the items."""
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
    from askmeans.fuzzy import kernels  # loads numba, which reading from disk does not need

    near = np.asarray(sample, dtype=np.float64).mean(axis=0)
    if not np.isfinite(near).all():
        return None
    parts = engine.map(kernels.shifted_moments, near)
    total = sum(part[2] for part in parts)
    with np.errstate(over="ignore", invalid="ignore"):
        away = sum(part[0] for part in parts) / total
        variance = float(sum(part[1] for part in parts) / total - np.square(away).sum())
    if not (np.isfinite(away).all() and 0.0 < variance < np.inf):
        return None
    return near + away, float(np.sqrt(variance / engine.n_features))


def _in_four_passes(engine: Engine) -> tuple[Floats, float]:
    """Mean and spread of all items: the second pass corrects the rounding of the first."""
    from askmeans.fuzzy import kernels

    mean = np.zeros(engine.n_features)
    for _ in range(2):
        parts = engine.map(kernels.shifted_moments, mean)
        total = sum(part[2] for part in parts)
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
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
