"""Results to take away: the tables that `askmeans export` writes, and the API's JSON."""

import json
import threading
from collections.abc import AsyncIterator, Callable

import numpy as np
from numpy.typing import NDArray

from askmeans.sessions import Session, SessionResult
from askmeans.sessions.tables import (
    answers_table,
    centers_table,
    memberships_table,
    tables_as_json,
)
from askmeans.web.result_views import ResultView

__all__ = ["EXPORTS", "Bodies", "export", "pieces", "result_json"]

EXPORTS = {
    "memberships.csv": "Memberships",
    "centers.csv": "Centres",
    "answers.csv": "Answers",
    "all.json": "All of it, as JSON",
}

_BLOCK = 1000  # rows written at a time: other threads have their turn in between
_PIECE = 2**16  # bytes sent at a time: who reads slowly keeps no copy of the whole


class Bodies:
    """The last body of each name, made once for all who want it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[str, tuple[str, bytes]] = {}

    def get(self, name: str, tag: str, make: Callable[[], bytes]) -> bytes:
        """The body of this tag, as it was made before if it was."""
        with self._lock:
            if self._made.get(name, ("",))[0] != tag:
                self._made[name] = (tag, make())
            return self._made[name][1]


async def pieces(body: bytes) -> AsyncIterator[bytes]:
    """A body in pieces."""
    for start in range(0, len(body), _PIECE):
        yield body[start : start + _PIECE]


def result_json(result_view: ResultView) -> bytes:
    """The result as the API gives it (`models.ResultOut`)."""
    found = result_view.result
    account = {
        "complete": found.complete,
        "state": str(found.state),
        "event": result_view.event,
        "n_queries": found.n_queries,
        "cluster_names": list(found.cluster_names),
        "ids": list(found.ids),
        "expected_wrong": found.expected_wrong,
        "expected_wrong_band": found.expected_wrong_band,
        "confidence": _listed(found.confidence),
        "unassigned": _listed(found.unassigned),
    }
    U = found.memberships
    blocks = [U[start : start + _BLOCK].tolist() for start in range(0, len(U), _BLOCK)]
    rows = ", ".join(json.dumps(block)[1:-1] for block in blocks)
    return f'{json.dumps(account)[:-1]}, "memberships": [{rows}]}}'.encode()


def _listed(values: NDArray[np.float64] | None) -> list[float] | None:
    """An array as JSON has it."""
    return None if values is None else values.tolist()


def export(session: Session, file: str, result: SessionResult | None) -> bytes:
    """One of the files; answers need no result."""
    if file == "answers.csv" or result is None:
        return answers_table(session).to_csv().encode()
    if file == "all.json":
        return tables_as_json(session, result).encode()
    table = memberships_table if file == "memberships.csv" else centers_table
    return table(session, result).to_csv().encode()
