"""Collects our warnings as notes, for work that is repeated over the same answers.

As warnings they would repeat, and a filter that turns one into an error would stop the session.
"""

import threading
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from askmeans.exceptions import AskmeansWarning

T = TypeVar("T")


class _Collector:
    """Collects our warnings of the threads that want it.

    Filters belong to the whole process: the first thread changes them, the last restores them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._notes: dict[int, list[list[AskmeansWarning]]] = {}  # by thread, innermost last
        self._before: warnings.catch_warnings[Any] | None = None
        self._show: Callable[..., Any] = warnings.showwarning

    def begin(self) -> list[AskmeansWarning]:
        """Collect the warnings of this thread from now on."""
        notes: list[AskmeansWarning] = []
        with self._lock:
            if not self._notes:
                self._before = warnings.catch_warnings()
                self._before.__enter__()
                self._show = warnings.showwarning
                warnings.simplefilter("always", AskmeansWarning)
                warnings.showwarning = self._take
            self._notes.setdefault(threading.get_ident(), []).append(notes)
        return notes

    def end(self) -> None:
        """Stop collecting those of this thread."""
        with self._lock:
            mine = self._notes[threading.get_ident()]
            mine.pop()
            if not mine:
                del self._notes[threading.get_ident()]
            if not self._notes:
                assert self._before is not None
                self._before.__exit__(None, None, None)

    def _take(
        self, message: Warning | str, category: type[Warning], *rest: Any, **named: Any
    ) -> None:
        """Collect a warning if it is ours and wanted; else show it."""
        mine = self._notes.get(threading.get_ident())
        if mine and isinstance(message, AskmeansWarning):
            if str(message) not in map(str, mine[-1]):
                mine[-1].append(message)
        else:
            self._show(message, category, *rest, **named)


_COLLECTOR = _Collector()


def collect_warnings(work: Callable[[], T]) -> tuple[T, list[AskmeansWarning]]:
    """Return the result of the work, and our warnings from it."""
    notes = _COLLECTOR.begin()
    try:
        return work(), notes
    finally:
        _COLLECTOR.end()
