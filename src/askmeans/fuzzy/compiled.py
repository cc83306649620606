"""How kernels are compiled: the one switch for numba's caching, threads and float rules."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

__all__ = ["compiled", "compiled_sums"]

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

# cache: compiled once per machine, kept beside the source or in the user's cache folder.
# nogil: rows are shared among Python threads (passes.RowThreads); numba's own threading layers stay
#   unused, since its fallback aborts the process when two threads call it at once.
# error_model: 0 / 0 is NaN as in numpy, not an exception that would stop vectorisation.
# forceinline: a kernel has its own copy of those it calls. Or it would run whichever was loaded
#   first under their names, which rounds otherwise: a process that compiles unlike the next ones.
# What is changed here reaches kernels that are compiled already only where their file changes, too.
_OPTIONS: dict[str, Any] = {
    "cache": True, "nogil": True, "error_model": "numpy", "forceinline": True,
}  # fmt: skip


def _compile(kernel: Kernel, fastmath: set[str]) -> Kernel:
    """Compile on first call, without a cache where there is no place that can be written to."""
    try:
        return cast(Kernel, numba.njit(fastmath=fastmath, **_OPTIONS)(kernel))
    except RuntimeError:
        return cast(Kernel, numba.njit(fastmath=fastmath, **(_OPTIONS | {"cache": False}))(kernel))


def compiled(kernel: Kernel) -> Kernel:
    """Compile on first call; float operations in the order written, a * b + c rounded once."""
    return _compile(kernel, {"contract"})


def compiled_sums(kernel: Kernel) -> Kernel:
    """Compile on first call; sums may be taken in another order, so that they vectorise.

    Not full fastmath: NaN and infinity keep their meaning.
    """
    return _compile(kernel, {"reassoc", "contract", "nsz"})
