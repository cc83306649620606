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

from askmeans.exceptions import AskmeansError
from askmeans.sessions import Session, SessionResult, Status
from askmeans.sessions.agreement import Agreement
from askmeans.web.drawing import Plane, error_curve, scatter
from askmeans.web.errors import explain
from askmeans.web.forecasting import Outlook, outlook_of
from askmeans.web.group_views import (
    GroupView,
    Outside,
    Review,
    asked_rows,
    group_views,
    outside_of,
    reviews,
)
from askmeans.web.people import Contributor, Dispute, Doubt, disputes_of, doubts_of, people_of
from askmeans.web.profiles import Profiles

__all__ = ["ResultView", "ResultViews"]

_NOW_AND_THEN = 10.0  # seconds after which people who answer get a newer estimate
_LAST_WILL_DO = (TimeoutError, AskmeansError)  # and the page looks again
_REST = 20.0  # times as long as the last took, so that answering is not slowed down
_YIELD = 5.0  # the same where many people answer at once, whoever reads the results


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultView:
    """The result at an event."""

    event: int
    status: Status
    result: SessionResult
    groups: tuple[GroupView, ...]
    outside: Outside | None  # items in none of the groups
    reviews: tuple[Review, ...]
    people: tuple[Contributor, ...]
    agreement: Agreement
    disputes: tuple[Dispute, ...]
    outlook: Outlook | None
    doubts: tuple[Doubt, ...]
    scatter: str
    curve: str
    n_drawn: int  # items that the scatter shows
    n_profiled: int  # items that words and numbers were read from

    @property
    def tag(self) -> str:
        """What tells this view from others; the state may change by itself."""
        return f'"{self.event}-{len(self.result.ids)}"'


class ResultViews:
    """Makes views of the results of one session in a thread of its own."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._plane: Plane | None = None
        self._profiles: Profiles | None = None
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
        event = self._session.history.last_event
        with self._lock:
            if self._latest is not None and (self._latest.event == event or self._yields):
                return None
            if self._coming is None or self._coming.done():
                self._coming = self._worker.submit(self._make)
            return self._coming

    @property
    def _yields(self) -> bool:
        """Whether the last view has to do for now, since many people answer."""
        rests = time.monotonic() - self._made < _YIELD * self._took
        return rests and self._session.is_busy

    def close(self) -> None:
        """Stop the thread."""
        self._worker.shutdown(wait=True, cancel_futures=True)

    def _make(self) -> ResultView:
        """Make a view, and note how that went."""
        began = time.monotonic()
        try:
            result_view = self._draw()
        except AskmeansError as error:
            self.trouble = explain(error)
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
        event = session.history.last_event
        result = session.result()
        status = session.status(estimate=True)
        plane, profiles = self._read(len(result.memberships))
        asked = asked_rows(session)
        groups = group_views(session, result, profiles, asked)
        drawn = [session.item(row) for row in plane.rows]
        outlook = self._outlook(result)
        agreement = session.people.agreement()
        return ResultView(
            event=event,
            status=status,
            result=result,
            groups=groups,
            outside=outside_of(session, result),
            reviews=reviews(session, result, groups, asked),
            people=people_of(session, status, agreement),
            agreement=agreement,
            disputes=disputes_of(session),
            outlook=outlook,
            doubts=doubts_of(session, status),
            scatter=scatter(
                plane, result.memberships, drawn, names=result.cluster_names,
                centers=result.clustering.centers,
            ),
            curve="" if outlook is None else error_curve(outlook),
            n_drawn=len(plane.rows),
            n_profiled=len(profiles.rows),
        )  # fmt: skip

    def _read(self, n: int) -> tuple[Plane, Profiles]:
        """The first n items as drawings and profiles need them; read anew where there are more."""
        if self._plane is None or self._profiles is None or self._plane.n_items != n:
            self._plane = Plane(self._session.rows.matrix[:n])
            self._profiles = Profiles(self._session, n)
        return self._plane, self._profiles

    def _outlook(self, result: SessionResult) -> Outlook | None:
        """The wrong items so far, and how many of them more cards would fix."""
        diagnostics = result.clustering.diagnostics
        n, k = result.memberships.shape
        return outlook_of(
            self._session.error_curve(),
            n_items=n,
            n_questions=n if self._session.config.ask == "group" else n * max(1, k - 1),
            target=diagnostics.target,
            is_good=diagnostics.stopped == "precision",
        )
