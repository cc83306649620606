"""What all routes share: the session, its assignments, its results, and how a page is drawn."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from fastapi import HTTPException, Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, JSONResponse, Response

from askmeans.exceptions import StoreError
from askmeans.sessions import Session
from askmeans.web.ahead import Ahead
from askmeans.web.answering import Assignments
from askmeans.web.exporting import Bodies
from askmeans.web.forms import annotator_of
from askmeans.web.guidelines import as_html
from askmeans.web.limits import RateLimit
from askmeans.web.result_views import ResultView, ResultViews
from askmeans.web.scale import say, say_error

__all__ = ["STATIC", "AppContext"]

T = TypeVar("T")

_FAILED_RATE, _FAILED_BURST = 0.5, 30.0  # wrong tokens from one address
_EXAMPLES = 12  # of each group: those of a card, and those that were before others answered
STATIC = Path(__file__).parent / "static"


class AppContext:
    """One session being served."""

    def __init__(self, session: Session, settle_seconds: float) -> None:
        self.session = session
        self.assignments = Assignments(session, settle_seconds)
        self.result_views = ResultViews(session)
        self.ahead = Ahead(session)
        self.bodies = Bodies()
        self.failed_signins = RateLimit(_FAILED_RATE, _FAILED_BURST)
        self.assignments.cards.predict = self._predict
        # Answers are taken by the server's own threads: results never hold those up.
        self._results = ThreadPoolExecutor(max_workers=2, thread_name_prefix="results")
        self._templates = Environment(
            loader=PackageLoader("askmeans.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals |= {"is_owner": False, "sees_results": False}  # unless a page says
        self._templates.filters |= {"say": say, "error": say_error, "markdown": as_html}

    def page(
        self,
        request: Request,
        template: str,
        *,
        status_code: int = 200,
        headers: dict[str, str] | None = None,
        **values: Any,
    ) -> Response:
        """A page; a sentence left for it by the last request is shown once."""
        left = unquote(request.cookies.get("askmeans_said", ""))
        told = {"said": left.removeprefix("!"), "failed": left.startswith("!")}
        own = {
            "session": self.session,
            "annotator": annotator_of(request),
            "token": request.state.token,
            "mark": self.assignments.mark,
            "path": request.scope["path"],
            "is_owner": self.is_owner(request),
            "sees_results": self.sees_results(request, values.get("options")),
        }
        html = self.render(template, **{**own, **told, **values})
        response = HTMLResponse(html, status_code, headers=headers)
        if left:
            response.delete_cookie("askmeans_said")
        return response

    def refusal(self, request: Request, status: int, text: str) -> Response:
        """A sentence as a page, or as JSON under /api."""
        if request.scope["path"].startswith("/api"):
            return JSONResponse({"detail": text}, status)
        title = HTTPStatus(status).phrase
        return self.page(request, "error.html", status_code=status, title=title, text=text)

    def is_owner(self, request: Request) -> bool:
        """Whether an owner asks."""
        person = getattr(request.state, "person", None)
        return person is not None and person.role == "owner"

    def sees_results(self, request: Request, options: dict[str, Any] | None = None) -> bool:
        """Whether whoever asks may see the result; the session's options where they are at hand."""
        if annotator_of(request) is None or self.is_owner(request):
            return self.is_owner(request)
        with suppress(StoreError):
            return bool((options or self.session.options)["annotators_see_results"])
        return False

    def check_asked(self, request: Request, question: int) -> None:
        """Refuse an answer to a question that an annotator was not asked."""
        name = annotator_of(request)
        if not self.is_owner(request) and question not in self.session.asked_of(name or ""):
            raise HTTPException(403, "This question was not asked of you. Reload the page.")

    def check_shown(self, request: Request, row: int) -> None:
        """Refuse an item that an annotator was neither asked about nor shown as an example."""
        if self.is_owner(request) or self.sees_results(request):
            return
        session = self.session
        asked = session.asked_of(annotator_of(request) or "")
        if any(row in session.question(number).items for number in asked):
            return
        if any(row in session.exemplars(group.number, _EXAMPLES) for group in session.groups):
            return
        raise HTTPException(403, "This item was not shown to you.")

    def render(self, template: str, **values: Any) -> str:
        """A template with these values."""
        return self._templates.get_template(template).render(values)

    def _predict(self, row: int) -> Sequence[float] | None:
        """How likely each group is for an item, by the last result there is."""
        view = self.result_views.glance()
        if view is None or row >= len(view.result.memberships):  # it may have been added since
            return None
        found: list[float] = view.result.memberships[row].tolist()
        return found

    async def aside(self, work: Callable[[], T]) -> T:
        """Do what concerns results in their own two threads."""
        return await asyncio.get_running_loop().run_in_executor(self._results, work)

    async def newest_result(self, wait: float) -> ResultView | None:
        """The newest result; one of the last event where it is ready within so many seconds."""
        return await self.result_views.wait(await self.aside(self.result_views.order), wait)

    def close(self) -> None:
        """Let go of the threads and the database."""
        self.result_views.close()
        self.ahead.close()
        self._results.shutdown(wait=True, cancel_futures=True)
        self.session.close()
