"""Compilation of kernels: numba's caching, threads and float rules, in one place."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

# cache: compiled once per machine, kept beside the source or in the user's cache folder.
# nogil: rows are shared among Python threads (passes.RowThreads); numba's own threading layers stay
#   unused, since its fallback aborts the process when two threads call it at once.
# error_model: 0 / 0 is NaN as in numpy, not an exception that would stop vectorisation.
# forceinline: a kernel has its own copy of those it calls. Otherwise it would run whichever was
#   loaded first under their names, and a process that compiles would round unlike the next ones.
# A change here takes effect for cached kernels only when their own file changes, too.
_OPTIONS: dict[str, Any] = {
    "cache": True, "nogil": True, "error_model": "numpy", "forceinline": True,
}  # fmt: skip


def _compile(kernel: Kernel, fastmath: set[str]) -> Kernel:
    """Compile on first call, without a cache if no place for it is writable."""
    try:
        return cast(Kernel, numba.njit(fastmath=fastmath, **_OPTIONS)(kernel))
    except RuntimeError:
        return cast(Kernel, numba.njit(fastmath=fastmath, **(_OPTIONS | {"cache": False}))(kernel))


def compiled(kernel: Kernel) -> Kernel:
    """Compile on first call; float operations in the order written, a * b + c rounded once."""
    return _compile(kernel, {"contract"})


def compiled_sums(kernel: Kernel) -> Kernel:
    """Compile on first call; sums may be reordered, so that they vectorise.

    Not full fastmath: NaN and infinity keep their meaning.
    """
    return _compile(kernel, {"reassoc", "contract", "nsz"})
