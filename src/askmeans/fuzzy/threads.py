"""Sharing rows among threads: how many, and which rows each takes.

Kernels release the interpreter's lock, so plain Python threads run them side by side. The number
is scikit-learn's: OMP_NUM_THREADS, `threadpoolctl.threadpool_limits` or one per core.
"""

import functools
import itertools
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self, TypeVar

import threadpoolctl
from numpy.typing import NDArray

__all__ = ["RowThreads"]

Part = TypeVar("Part")

# Below so many multiplications (a millisecond) a pass is over before a second thread has got going.
_WORTHWHILE = 1 << 22


class RowThreads:
    """A few threads that each take a run of rows; used in a `with` block."""

    def __init__(self, n_rows: int, work_per_row: int) -> None:
        n_threads = 1
        if n_rows * work_per_row >= _WORTHWHILE:
            n_threads = min(n_rows, thread_limit())
        bounds = [n_rows * t // n_threads for t in range(n_threads + 1)]
        self.rows = [slice(low, high) for low, high in itertools.pairwise(bounds)]
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def map(
        self, kernel: Callable[..., Part], per_row: tuple[NDArray[Any], ...], *shared: Any
    ) -> list[Part]:
        """Call the kernel on every run of rows of the first arrays; results in row order."""

        def call(rows: slice) -> Part:
            return kernel(*(array[rows] for array in per_row), *shared)

        return self._each(call)

    def map_numbered(
        self, kernel: Callable[..., Part], per_row: tuple[NDArray[Any], ...], *shared: Any
    ) -> list[Part]:
        """The same, with the number of the run's first row before what all share."""

        def call(rows: slice) -> Part:
            return kernel(*(array[rows] for array in per_row), rows.start, *shared)

        return self._each(call)

    def _each(self, call: Callable[[slice], Part]) -> list[Part]:
        """Call with every run of rows, on a thread each."""
        if self._pool is None:
            return [call(rows) for rows in self.rows]
        return list(self._pool.map(call, self.rows))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()


def thread_limit() -> int:
    """How many threads a numerical library may use in this process now."""
    pools = _controller(len(sys.modules)).info()
    limits = [int(pool["num_threads"]) for pool in pools if pool["user_api"] == "openmp"]
    if limits:
        return max(1, min(limits))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.lru_cache(maxsize=1)
def _controller(_: int) -> threadpoolctl.ThreadpoolController:
    """The libraries that are loaded, looked for again when modules have come: it takes a while."""
    return threadpoolctl.ThreadpoolController()
