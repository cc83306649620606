"""The result so far, computed in a background thread: at most once for every event.

A request gets the newest view that is ready, and starts a newer one where events came since.
All requests that wait for it wait for the same one, and hold no thread while they do.
"""

import asyncio
import functools
import math
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from askmeans._util.background import background_pool
from askmeans.exceptions import AskmeansError
from askmeans.sessions import Session, SessionResult, Status
from askmeans.sessions.agreement import Agreement
from askmeans.sessions.reports import PATH_SEPARATOR
from askmeans.web.drawing import Plane, colors_of, error_curve, scatter
from askmeans.web.errors import explain
from askmeans.web.forecasting import Outlook, outlook_of
from askmeans.web.group_views import (
    GroupView,
    Level,
    Outside,
    Review,
    answered_rows,
    group_views,
    levels_of,
    outside_of,
    result_colors,
    reviews,
    to_check,
)
from askmeans.web.languages import current, speaking
from askmeans.web.looks import Look
from askmeans.web.people_views import (
    Contradiction,
    Contributor,
    Dispute,
    contradictions_of,
    disputes_of,
    people_of,
)
from askmeans.web.profiles import Profiles

_GLANCE_SECONDS = 10.0  # after which people who answer get a newer estimate
_USE_THE_LAST = (TimeoutError, AskmeansError)  # and the page looks again
_GLANCE_REST = 20.0  # times as long as the last took, so that answers are not slowed down
_BUSY_REST = 5.0  # the same while many people answer


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultView:
    """The result at an event, as the page shows it."""

    event: int
    status: Status
    result: SessionResult
    groups: tuple[GroupView, ...]
    outside: Outside | None  # items in none of the groups
    reviews: tuple[Review, ...]
    to_check: tuple[int, ...]  # rows that nobody decided, those first where a decision helps most
    levels: tuple[Level, ...]
    people: tuple[Contributor, ...]
    agreement: Agreement
    disputes: tuple[Dispute, ...]
    outlook: Outlook | None
    contradictions: tuple[Contradiction, ...]
    scatter: str
    upper: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]  # of each level above: a map, legend
    plane: Plane  # of the scatter
    n_drawn: int  # items that the scatter shows
    n_profiled: int  # items that words and numbers were read from

    @property
    def curve(self) -> str:
        """The error curve, in the language of the request."""
        return "" if self.outlook is None else _curve_in(self.outlook, current().code)

    @property
    def branches(self) -> tuple[tuple[str, tuple[GroupView, ...]], ...]:
        """The groups by those at the top that they are within, by name; "" for all without such."""
        tops = [view.group.path.split(PATH_SEPARATOR)[0] for view in self.groups]
        if not self.upper:
            tops = [""] * len(tops)
        pairs = zip(tops, self.groups, strict=True)
        parts = groupby(pairs, key=itemgetter(0))
        return tuple((top, tuple(view for _, view in views)) for top, views in parts)

    @property
    def tag(self) -> str:
        """Differs between views; the state may change without an event."""
        return f'"{self.event}-{len(self.result.ids)}"'


@functools.lru_cache(16)
def _curve_in(outlook: Outlook, code: str) -> str:
    """An error curve in a language, drawn once for all requests."""
    with speaking(code):
        return error_curve(outlook)


class ResultViews:
    """Makes views of the results of one session in a thread of its own."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._plane: Plane | None = None
        self._profiles: Profiles | None = None
        self._worker = background_pool(1, "results")
        self._lock = threading.Lock()
        self._latest: ResultView | None = None
        self._coming: Future[ResultView] | None = None
        self._made_at, self._took = -math.inf, 0.0
        self.trouble: str | None = None  # why there is no newer view, if the answers allow none

    def glance(self) -> ResultView | None:
        """The last view, however old; a newer one is started now and then, not every time."""
        with self._lock:
            made_at = self._made_at
        if time.monotonic() - made_at > max(_GLANCE_SECONDS, _GLANCE_REST * self._took):
            return self.latest(0.0)
        return self._latest

    def latest(self, wait: float | None) -> ResultView | None:
        """The newest view; that of the last event, if it is ready within so many seconds."""
        coming = self.order()
        if coming is not None:
            with suppress(*_USE_THE_LAST):
                coming.result(timeout=wait)
        return self._latest

    async def wait(self, coming: Future[ResultView] | None, seconds: float) -> ResultView | None:
        """The newest view, once the one ordered is ready or so many seconds have passed."""
        if coming is not None:
            with suppress(*_USE_THE_LAST):
                await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(coming)), seconds)
        return self._latest

    def order(self) -> Future[ResultView] | None:
        """Start a view of the last event; None if it exists."""
        event = self._session.history.last_event
        with self._lock:
            if self._latest is not None and (self._latest.event == event or self._is_resting):
                return None
            if self._coming is None or self._coming.done():
                self._coming = self._worker.submit(self._make)
            return self._coming

    @property
    def _is_resting(self) -> bool:
        """Whether the last view has to do for now, since many people answer."""
        is_new = time.monotonic() - self._made_at < _BUSY_REST * self._took
        return is_new and self._session.is_busy

    def close(self) -> None:
        """Stop the thread."""
        self._worker.shutdown(wait=True, cancel_futures=True)

    def _make(self) -> ResultView:
        """Make a view, and note how long that took."""
        began = time.monotonic()
        try:
            view = self._compute()
        except AskmeansError as error:
            self.trouble = explain(error)
            raise
        finally:
            with self._lock:
                self._made_at = time.monotonic()
                self._took = self._made_at - began
        with self._lock:
            self._latest, self.trouble = view, None
        return view

    def _compute(self) -> ResultView:
        """Compute a result and draw it."""
        session = self._session
        event = session.history.last_event
        result = session.result()
        status = session.status(estimate=True)
        n, k = result.memberships.shape
        if self._plane is None or self._profiles is None or self._plane.n_items != n:
            self._plane = Plane(session.rows.matrix[:n])  # there are more items
            self._profiles = Profiles(session, n)
        plane, replies = self._plane, session.history.answers()
        answered, unsure = answered_rows(session, replies)
        groups = group_views(session, result, self._profiles, answered, unsure)
        diagnostics = result.clustering.diagnostics
        outlook = outlook_of(
            session.error_curve(),
            n_items=n,
            n_questions=n if session.config.ask == "group" else n * max(1, k - 1),
            target=diagnostics.target,
            is_good=diagnostics.stopped == "precision",
        )
        agreement = session.people.agreement()
        return ResultView(
            event=event,
            status=status,
            result=result,
            groups=tuple(
                Look.of(session).arranged(session, groups, lambda view: view.group.number)
            ),
            outside=outside_of(session, result),
            reviews=reviews(session, result, groups, answered),
            to_check=to_check(session, result, answered),
            levels=levels_of(result, answered),
            people=people_of(session, status, agreement, replies),
            agreement=agreement,
            disputes=disputes_of(session),
            outlook=outlook,
            contradictions=contradictions_of(session, status),
            scatter=scatter(
                plane, result.memberships, list(map(session.item, plane.rows)),
                names=result.group_names, centers=result.clustering.centers,
                hues=result_colors(session, result),
            ),
            upper=tuple(_upper_map(session, plane, result.at_level(level))
                        for level in range(1, len(result.upper) + 1)),
            plane=plane,
            n_drawn=len(plane.rows),
            n_profiled=len(self._profiles.rows),
        )  # fmt: skip


def _upper_map(
    session: Session, plane: Plane, result: SessionResult
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The map coloured by the groups of a level above, and their names and colours."""
    names = result.group_names
    drawn = scatter(
        plane, result.memberships, list(map(session.item, plane.rows)),
        names=names, centers=result.clustering.centers,
    )  # fmt: skip
    return drawn, tuple(zip(names, colors_of(len(names)), strict=True))
