"""Passes over rows in blocks that return small sums: one interface, and its form for arrays.

An engine calls a function on every block of rows and returns what it returned, in row order.
Lloyd's iterations, seeding and memberships know data only through that. Data on disk and Dask
arrays join in `disk.py` and `dask_engine.py`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from askmeans.fuzzy.threads import RowThreads

__all__ = ["FEW_FEATURES", "ArrayEngine", "Engine", "pick", "read_only", "watcher", "watching"]

Items = NDArray[np.floating]
Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Part = TypeVar("Part")
Watch = Callable[[float], None]

# |x|^2 - 2 <x, c> + |c|^2 loses digits where many centres crowd in few dimensions: up to so many,
# engines that take matrix products take distances from differences.
FEW_FEATURES = 32

_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


class Engine(Protocol):
    """Rows in blocks, with what each row weighs (empty: all alike)."""

    n_rows: int
    n_features: int
    dtype: np.dtype[Any]

    def map(self, function: Callable[..., Part], *shared: Any) -> list[Part]:
        """function(items, weights, *shared) of every block, in row order."""

    def map_numbered(self, function: Callable[..., Part], *shared: Any) -> list[Part]:
        """function(items, weights, number of the first row, *shared) of every block."""

    def take(self, rows: Rows) -> tuple[Items, Floats]:
        """A few rows by number, ascending, in memory; and what they weigh."""


class ArrayEngine:
    """Rows of an array or a memory map, shared among threads."""

    def __init__(self, X: Items, weights: Floats, threads: RowThreads) -> None:
        self.X = read_only(X)
        self.weights = weights
        self.threads = threads
        self.n_rows, self.n_features = X.shape
        self.dtype = X.dtype

    def map(self, function: Callable[..., Part], *shared: Any) -> list[Part]:
        """function(items, weights, *shared) of every thread's rows."""
        return self.threads.map(function, (self.X, self.weights), *shared)

    def map_numbered(self, function: Callable[..., Part], *shared: Any) -> list[Part]:
        """function(items, weights, number of the first row, *shared) of every thread's rows."""
        return self.threads.map_numbered(function, (self.X, self.weights), *shared)

    def take(self, rows: Rows) -> tuple[Items, Floats]:
        """A few rows by number, and what they weigh."""
        return self.X[rows], self.weights[rows] if self.weights.size else self.weights


def pick(X: Items, weights: Floats, start: int, rows: Rows) -> tuple[Items, Floats]:
    """Those of the rows, ascending, that are in this block; and what they weigh."""
    low, high = np.searchsorted(rows, (start, start + len(X)))
    here = rows[low:high] - start
    return np.asarray(X[here]), weights[here] if weights.size else weights


def read_only(X: Items) -> Items:
    """The same items, not to be written to: kernels are compiled once for all, memory maps too."""
    view = np.asarray(X).view()
    view.flags.writeable = False
    return view


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Call it with the share of a pass that is done, in passes over data that is not in memory."""
    token = _WATCH.set(watch)
    try:
        yield
    finally:
        _WATCH.reset(token)


def watcher() -> Watch | None:
    """What to call as a pass goes on; None where nobody watches."""
    return _WATCH.get()
