"""Files: exports of the result, pictures of items and their thumbnails."""

import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from starlette.responses import FileResponse, Response, StreamingResponse

from askmeans._util.background import background_pool
from askmeans._util.message import Message
from askmeans.exceptions import AskmeansError
from askmeans.queries import ME
from askmeans.sessions import Session, SessionResult
from askmeans.sessions.display import IMAGE_TYPES
from askmeans.sessions.store import thumbnails_of
from askmeans.sessions.tables import (
    answers_table,
    centers_table,
    memberships_table,
    spreadsheet_table,
    tables_as_json,
)
from askmeans.tables.pictures import thumbnail
from askmeans.web.result_views import ResultView

EXPORTS = {
    "spreadsheet.xlsx": Message("Spreadsheet"),
    "spreadsheet.csv": Message("The same as CSV"),
    "memberships.csv": Message("Memberships"),
    "centers.csv": Message("Centres"),
    "answers.csv": Message("Answers"),
    "all.json": Message("All of it, as JSON"),
}
if find_spec("openpyxl") is None:
    del EXPORTS["spreadsheet.xlsx"]
MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_BOM = "\ufeff".encode()  # by which Excel knows that a CSV file is UTF-8
_BLOCK = 1000  # rows written at a time: other threads have their turn in between
_CHUNK = 2**16  # bytes sent at a time: a slow reader keeps no copy of the whole
_CARDS = 16  # of those to come
_EXAMPLES = 5  # of a group: those on its tile, and one to practise on
# An SVG that is opened by itself is a document: it may do nothing, and is in no origin. A browser
# keeps a picture for a while, for its user alone: the same examples are on every card.
_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "cache-control": "private, max-age=600",
    "vary": "cookie",
}


class ResponseCache:
    """The last body of each name, made once for all requests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bodies: dict[str, tuple[str, bytes]] = {}

    def get(self, name: str, tag: str, make: Callable[[], bytes]) -> bytes:
        """The body of this tag; made if the last one had another."""
        with self._lock:
            if self._bodies.get(name, ("",))[0] != tag:
                self._bodies[name] = (tag, make())
            return self._bodies[name][1]


def stream(body: bytes, media_type: str, headers: dict[str, str]) -> Response:
    """A response that is sent in chunks."""

    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(body), _CHUNK):
            yield body[start : start + _CHUNK]

    length = {"content-length": str(len(body))}
    return StreamingResponse(chunks(), media_type=media_type, headers=headers | length)


def result_json(view: ResultView) -> bytes:
    """The result as the API gives it (`api.ResultOut`)."""
    result, U = view.result, view.result.memberships
    fields = {
        "complete": result.complete,
        "state": str(result.state),
        "event": view.event,
        "n_queries": result.n_queries,
        "cluster_names": list(result.group_names),
        "ids": list(result.ids),
        "expected_wrong": result.expected_wrong,
        "expected_wrong_band": result.expected_wrong_band,
        "confidence": _as_list(result.confidence),
        "unassigned": _as_list(result.unassigned),
    }
    blocks = [U[start : start + _BLOCK].tolist() for start in range(0, len(U), _BLOCK)]
    rows = ", ".join(json.dumps(block)[1:-1] for block in blocks)
    return f'{json.dumps(fields)[:-1]}, "memberships": [{rows}]}}'.encode()


def _as_list(values: NDArray[np.float64] | None) -> list[float] | None:
    return None if values is None else values.tolist()


def export(session: Session, file: str, result: SessionResult | None) -> bytes:
    """One of the files; answers need no result."""
    if file == "answers.csv" or result is None:
        return answers_table(session).to_csv().encode()
    if file == "all.json":
        return tables_as_json(session, result).encode()
    if file.startswith("spreadsheet."):
        items = spreadsheet_table(session, result)
        return items.to_excel() if file.endswith(".xlsx") else _BOM + items.to_csv().encode()
    table = memberships_table if file == "memberships.csv" else centers_table
    return table(session, result).to_csv().encode()


def picture(path: Path) -> FileResponse:
    """The response with a picture."""
    kind = IMAGE_TYPES[path.suffix.lower()]
    return FileResponse(path, media_type=kind, headers=_HEADERS, stat_result=path.stat())


class Thumbnails:
    """Makes thumbnails in a background thread: at the start, and after every card."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._folder = thumbnails_of(session.url)
        self._made: set[int] = set()
        self._is_waiting = self._is_closed = False
        self._worker: ThreadPoolExecutor | None = None
        self._job: Future[None] | None = None
        if session.rows.folder is not None:
            self._worker = background_pool(1, "pictures")

    def make_soon(self, annotator: str = ME) -> Future[None] | None:
        """Make those of the cards that an annotator will likely get; None without pictures."""
        if self._worker is not None and not self._is_waiting:
            self._is_waiting = True
            self._job = self._worker.submit(self._make, annotator)
        return self._job

    def small(self, path: Path) -> Path:
        """The thumbnail of a picture."""
        return thumbnail(path, self._folder)

    def close(self) -> None:
        """End after the one that is being made."""
        self._is_closed = True
        if self._worker is not None:
            self._worker.shutdown(wait=True, cancel_futures=True)

    def _make(self, annotator: str) -> None:
        self._is_waiting = False
        with suppress(AskmeansError):  # a request for the card meets the same error
            for row in self._rows(annotator):
                if self._is_closed:
                    return
                if row not in self._made:
                    path = self._session.rows.image_file(row)
                    if path is not None:
                        self.small(path)
                    self._made.add(row)

    def _rows(self, annotator: str) -> Iterator[int]:
        """Items of the next card, then examples, then items of the cards after it."""
        first, *later = self._session.upcoming(_CARDS, annotator=annotator) or [()]
        yield from first
        for group in self._session.groups:
            yield from self._session.exemplars(group.number, _EXAMPLES)
        for items in later:
            yield from items
