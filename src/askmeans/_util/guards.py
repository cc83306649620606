"""Contexts that shield a computation: from the caller's float errors, and from Ctrl-C."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

import numpy as np

__all__ = ["Interrupts", "default_float_errors"]


def default_float_errors() -> np.errstate:
    """Return a context, or a decorator, in which underflow is 0 and other errors are warnings.

    Some libraries call `numpy.seterr(all="raise")` when they are imported. A membership that
    underflows to 0 is a valid result, so public computations run under numpy's defaults. Oracles
    and other code of the caller run under the caller's own settings.
    """
    return np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")


class Interrupts:
    """Defers Ctrl-C within a `with` block, except inside `allowed`.

    A plan is a generator: an exception raised inside its computation would end it, and lose the
    result. So while a driver runs, the first Ctrl-C takes effect at the next question; a second one
    takes effect at once.
    """

    def __init__(self) -> None:
        self._pending = False
        self._allowed = False
        self._installed = False

    def __enter__(self) -> Self:
        # Only Python's own handler is replaced; a custom handler stays.
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)
            self._installed = True
        return self

    def __exit__(self, *error: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let Ctrl-C through; a pending one is raised first."""
        if self._pending:
            self._pending = False
            raise KeyboardInterrupt
        self._allowed = True
        try:
            yield
        finally:
            self._allowed = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt now, or at the next question."""
        if self._allowed or self._pending:
            signal.default_int_handler(number, frame)
        self._pending = True
