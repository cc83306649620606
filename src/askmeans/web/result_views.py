"""The result so far, computed aside: at most once for every event, and never by a request.

Whoever asks gets the newest view there is, and sets a newer one going where events came since.
All who wait wait for the same one, and hold no thread while they do.
"""

import asyncio
import math
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import AskmeansError
from askmeans.sessions import Session, SessionResult, Status
from askmeans.web.doubts import Doubt, doubts_of
from askmeans.web.drawing import Plane, colors_of, heat_map, scatter
from askmeans.web.errors import tell

__all__ = ["ClusterView", "ResultView", "ResultViews", "Share"]

_TYPICAL = 4
_AMBIGUOUS = 6
_NOW_AND_THEN = 10.0  # seconds after which people who answer get a newer estimate
_LAST_WILL_DO = (TimeoutError, AskmeansError)  # and the page looks again
_REST = 20.0  # times as long as the last took, so that answering is not slowed down


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How much an item belongs to something."""

    row: int
    name: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterView:
    """A cluster's card."""

    number: int
    name: str
    color: str
    size: float  # the sum of all memberships: items, in parts
    share: float  # of all items
    typical: tuple[Share, ...]
    ambiguous: tuple[Share, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultView:
    """The result at an event."""

    event: int
    status: Status
    result: SessionResult
    clusters: tuple[ClusterView, ...]
    doubts: tuple[Doubt, ...]
    scatter: str
    heat_map: str

    @property
    def tag(self) -> str:
        """What tells this view from others; the state may change by itself."""
        return f'"{self.event}-{len(self.result.ids)}"'


class ResultViews:
    """Makes views of the results of one session in a thread of its own."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._plane = Plane(session.rows.base)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="results")
        self._lock = threading.Lock()
        self._latest: ResultView | None = None
        self._coming: Future[ResultView] | None = None
        self._made, self._took = -math.inf, 0.0
        self.trouble: str | None = None  # why there is no newer view, where the answers allow none

    def glance(self) -> ResultView | None:
        """The last view, however old; a newer one is set going now and then, not every time."""
        with self._lock:
            made = self._made
        if time.monotonic() - made > max(_NOW_AND_THEN, _REST * self._took):
            return self.latest(0.0)
        return self._latest

    def latest(self, wait: float | None) -> ResultView | None:
        """The newest view; one of the last event where it is ready within so many seconds."""
        coming = self.order()
        if coming is not None:
            with suppress(*_LAST_WILL_DO):
                coming.result(timeout=wait)
        return self._latest

    async def wait(self, coming: Future[ResultView] | None, seconds: float) -> ResultView | None:
        """The newest view, once the one ordered is ready or so many seconds have passed."""
        if coming is not None:
            with suppress(*_LAST_WILL_DO):
                await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(coming)), seconds)
        return self._latest

    def order(self) -> Future[ResultView] | None:
        """Have a view of the last event made; None where it is there."""
        event = self._session.last_event
        with self._lock:
            if self._latest is not None and self._latest.event == event:
                return None
            if self._coming is None or self._coming.done():
                self._coming = self._worker.submit(self._make)
            return self._coming

    def close(self) -> None:
        """Stop the thread."""
        self._worker.shutdown(wait=True, cancel_futures=True)

    def _make(self) -> ResultView:
        """Make a view, and note how that went."""
        began = time.monotonic()
        try:
            result_view = self._draw()
        except AskmeansError as error:
            self.trouble = tell(error, self._session)
            raise
        finally:
            with self._lock:
                self._made = time.monotonic()
                self._took = self._made - began
        with self._lock:
            self._latest, self.trouble = result_view, None
        return result_view

    def _draw(self) -> ResultView:
        """Compute a result and draw it."""
        session = self._session
        event = session.last_event
        result = session.result()
        status = session.status(estimate=True)
        colors = colors_of(len(result.cluster_names))
        names = [session.item(row).label for row in self._plane.rows]
        return ResultView(
            event=event,
            status=status,
            result=result,
            clusters=tuple(self._cluster(result, j, colors[j]) for j in range(len(colors))),
            doubts=doubts_of(session, status),
            scatter=scatter(self._plane, result.memberships, names),
            heat_map=heat_map(result.memberships, list(result.cluster_names)),
        )

    def _cluster(self, result: SessionResult, number: int, color: str) -> ClusterView:
        """A cluster's card."""
        memberships = result.memberships
        column = memberships[:, number]
        own = memberships.argmax(axis=1) == number
        doubtful = np.flatnonzero(own & (_gaps(memberships) < 0.5))
        doubtful = doubtful[np.argsort(_gaps(memberships)[doubtful], kind="stable")]
        strongest = np.argsort(-column, kind="stable")
        strongest = strongest[own[strongest]][:_TYPICAL]  # what belongs elsewhere is not typical
        return ClusterView(
            number=number,
            name=result.cluster_names[number],
            color=color,
            size=float(column.sum()),
            share=float(column.mean()),
            typical=self._shares(strongest, column),
            ambiguous=self._shares(doubtful[:_AMBIGUOUS], column),
        )

    def _shares(self, rows: NDArray[np.intp], column: NDArray[np.float64]) -> tuple[Share, ...]:
        """Items by name, with their memberships."""
        return tuple(
            Share(row=int(row), name=self._session.item(int(row)).label, value=float(column[row]))
            for row in rows
        )


def _gaps(memberships: NDArray[np.float64]) -> NDArray[np.float64]:
    """By how much the strongest membership of each item exceeds the next."""
    if memberships.shape[1] == 1:
        return np.ones(len(memberships))
    two = np.sort(memberships, axis=1)[:, -2:]
    gaps: NDArray[np.float64] = two[:, 1] - two[:, 0]
    return gaps
