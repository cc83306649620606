"""Collects the package's warnings (AskmeansWarning) as notes instead of showing them.

Sessions fit the same answers again and again: a shown warning would repeat, and a filter that turns
it into an error would stop the session.
"""

import threading
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from askmeans.exceptions import AskmeansWarning

T = TypeVar("T")


class _Collector:
    """Collects the warnings of threads between `begin` and `end`.

    Warning filters are global to the process: the first thread to begin replaces them, and the last
    one to end restores them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # By thread, a list for each nested `begin`, the innermost last.
        self._notes: dict[int, list[list[AskmeansWarning]]] = {}
        self._saved_filters: warnings.catch_warnings[Any] | None = None
        self._show: Callable[..., Any] = warnings.showwarning

    def begin(self) -> list[AskmeansWarning]:
        """Collect the warnings of this thread from now on."""
        notes: list[AskmeansWarning] = []
        with self._lock:
            if not self._notes:
                self._saved_filters = warnings.catch_warnings()
                self._saved_filters.__enter__()
                self._show = warnings.showwarning
                warnings.simplefilter("always", AskmeansWarning)
                warnings.showwarning = self._collect
            self._notes.setdefault(threading.get_ident(), []).append(notes)
        return notes

    def end(self) -> None:
        """Stop collecting the warnings of this thread since its last `begin`."""
        with self._lock:
            nested = self._notes[threading.get_ident()]
            nested.pop()
            if not nested:
                del self._notes[threading.get_ident()]
            if not self._notes:
                assert self._saved_filters is not None
                self._saved_filters.__exit__(None, None, None)

    def _collect(
        self, message: Warning | str, category: type[Warning], *rest: Any, **named: Any
    ) -> None:
        """Collect an AskmeansWarning of a collecting thread, each text once; show others."""
        nested = self._notes.get(threading.get_ident())
        if nested and isinstance(message, AskmeansWarning):
            if str(message) not in map(str, nested[-1]):
                nested[-1].append(message)
        else:
            self._show(message, category, *rest, **named)


_COLLECTOR = _Collector()


def collect_warnings(work: Callable[[], T]) -> tuple[T, list[AskmeansWarning]]:
    """Call a function; return its result and the AskmeansWarnings it raised."""
    notes = _COLLECTOR.begin()
    try:
        return work(), notes
    finally:
        _COLLECTOR.end()
