"""Ctrl-C that never lands in the middle of a plan's work.

A plan is a generator: an exception raised inside its computation would end it, and with it the
result. So while a driver runs, Ctrl-C is let through only while somebody is being asked; at other
times it waits for the next question. A second one is let through at once.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

__all__ = ["Interrupts"]


class Interrupts:
    """Holds Ctrl-C back within a `with` block, except inside `welcome`."""

    def __init__(self) -> None:
        self._waiting = False
        self._welcome = False
        self._installed = False

    def __enter__(self) -> Self:
        # Only Python's own handler is replaced: whoever set another one wants that one.
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)
            self._installed = True
        return self

    def __exit__(self, *error: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    @contextmanager
    def welcome(self) -> Iterator[None]:
        """Let Ctrl-C through; one that has been waiting comes first."""
        if self._waiting:
            self._waiting = False
            raise KeyboardInterrupt
        self._welcome = True
        try:
            yield
        finally:
            self._welcome = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """What Ctrl-C does meanwhile."""
        if self._welcome or self._waiting:
            signal.default_int_handler(number, frame)
        self._waiting = True
