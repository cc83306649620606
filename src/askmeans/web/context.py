"""What all routes share: the session, its assignments, its results, and how a page is drawn."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from urllib.parse import quote, unquote

from fastapi import HTTPException, Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)

from askmeans.exceptions import AskmeansError, InvitationError, StoreError
from askmeans.results import rounded
from askmeans.sessions import Session
from askmeans.web.ahead import Ahead
from askmeans.web.answering import Assignments, QuestionView
from askmeans.web.errors import explain, status_of, tell
from askmeans.web.exporting import Bodies
from askmeans.web.forms import Form, annotator_of, is_script
from askmeans.web.limits import RateLimit
from askmeans.web.result_views import ResultView, ResultViews
from askmeans.web.scale import points_of, say, slider_step

__all__ = ["STATIC", "AppContext", "said_at", "scale_of", "templates"]

P = ParamSpec("P")
T = TypeVar("T")

_FAILED_RATE, _FAILED_BURST = 0.5, 30.0  # wrong tokens from one address
_EXAMPLES = 12  # of each group: those of a card, and those that were before others answered
_DEEPEST = 6  # of HTML's headings
_TURNS = 2  # answers taken at once: one is written to the disk while the other is checked
_TURN_SECONDS = 30.0  # after which somebody no longer waits for their turn
_markdown = MarkdownIt("commonmark", {"html": False}).disable("image")
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
        session.learn_aside()
        self._turns = asyncio.Semaphore(_TURNS)  # the first to wait is the first to go
        # Answers are taken by the server's own threads: results never hold those up.
        self._results = ThreadPoolExecutor(max_workers=2, thread_name_prefix="results")

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
        """A sentence as a page, as text for our script, or as JSON under /api."""
        if request.scope["path"].startswith("/api"):
            return JSONResponse({"detail": text}, status)
        if is_script(request):
            return PlainTextResponse(text, status)
        title = HTTPStatus.NOT_FOUND.phrase if status == 404 else "That did not work"
        return self.page(request, "error.html", status_code=status, title=title, text=text)

    def failure(self, request: Request, error: AskmeansError) -> Response:
        """An error of ours as a refusal; programs read its message, people a sentence."""
        sentence = explain(error)
        is_api = request.scope["path"].startswith("/api")
        text = tell(error, self.session) if is_api else sentence
        return self.refusal(request, status_of(error), text)

    def question_page(
        self, request: Request, view: QuestionView, said: str = "", status: int = 200
    ) -> Response:
        """The answering page, or the part of it that changes."""
        self.ahead.look(view.annotator)
        if not self.is_owner(request):
            view = replace(view, status=view.status.without_gold())
        told: dict[str, Any] = {}  # by the cookie, where nothing is said here
        if said:
            told = {"said": said, "failed": status >= 400}
        return self.page(
            request, "question.html" if is_script(request) else "answer.html", status_code=status,
            view=view, result_view=self.result_views.glance(),
            options=self.session.settings.options, **told, **self.scale,
        )  # fmt: skip

    def go_on(self, request: Request, annotator: str, text: str, status: int = 200) -> Response:
        """After a move: the next question, as a page or as the part that changes."""
        if is_script(request):
            view = self.assignments.view(annotator, by_script=True)
            return self.question_page(request, view, text, status)
        return said_at("/", text, failed=status >= 400)

    def attempt(self, work: Callable[[], str]) -> tuple[str, int]:
        """What work says, or what went wrong, and the status that tells which."""
        try:
            return work(), 200
        except InvitationError:  # there is no next question for them either
            raise
        except AskmeansError as error:
            return explain(error), status_of(error)

    @property
    def scale(self) -> dict[str, Any]:
        """The answers' scale."""
        return scale_of(self.session)

    def check_mark(self, form: Form) -> None:
        """Refuse a form of another session, which may have had this address, or person."""
        if form.text("session") != self.assignments.mark:
            raise HTTPException(409, "This page shows another session than the server. Reload it.")
        if form.get("annotator") not in (None, form.sender):
            raise HTTPException(409, "This page is another person's. Reload it to see yours.")

    def annotator_in(self, form: Form) -> str:
        """Who sent a form, which must be of this session, and drawn up for the same person."""
        self.check_mark(form)
        if form.sender is None:
            raise HTTPException(409, "This page is another person's. Reload it to see yours.")
        return form.sender

    def check_row(self, row: int) -> None:
        """Refuse what is no item."""
        if not 0 <= row < len(self.session.rows):
            raise HTTPException(404, f"There is no item {row}. Look for it by name under Results.")

    def is_owner(self, request: Request) -> bool:
        """Whether an owner asks."""
        person = getattr(request.state, "person", None)
        return person is not None and person.role == "owner"

    def sees_results(self, request: Request, options: dict[str, Any] | None = None) -> bool:
        """Whether whoever asks may see the result; the session's options where they are at hand."""
        if annotator_of(request) is None or self.is_owner(request):
            return self.is_owner(request)
        with suppress(StoreError):
            return bool((options or self.session.settings.options)["annotators_see_results"])
        return False

    def check_asked(self, request: Request, question: int) -> None:
        """Refuse an answer to a question that an annotator was not asked."""
        name = annotator_of(request)
        if not self.is_owner(request) and question not in self.session.history.questions_of(
            name or ""
        ):
            raise HTTPException(403, "This question was not asked of you. Reload the page.")

    def check_shown(self, request: Request, row: int) -> None:
        """Refuse an item that an annotator was neither asked about nor shown as an example."""
        if self.is_owner(request) or self.sees_results(request):
            return
        session = self.session
        asked = session.history.questions_of(annotator_of(request) or "")
        if any(row in session.question(number).items for number in asked):
            return
        if any(row in session.exemplars(group.number, _EXAMPLES) for group in session.groups):
            return
        raise HTTPException(403, "This item was not shown to you. An owner can show it to you.")

    def render(self, template: str, **values: Any) -> str:
        """A template with these values."""
        return templates.get_template(template).render(values)

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

    def in_turn(self, route: Callable[P, T]) -> Callable[P, Awaitable[T]]:
        """A route of those who answer: few at a time, and who comes first is first.

        Many threads at once would wait for each other's locks at every step, some of them long.
        Where those whose turn it is wait themselves, for a database, others need not.
        """

        @functools.wraps(route)
        async def waits(*given: P.args, **named: P.kwargs) -> T:
            is_in_turn = False
            with suppress(TimeoutError):
                is_in_turn = await asyncio.wait_for(self._turns.acquire(), _TURN_SECONDS)
            try:
                return await run_in_threadpool(route, *given, **named)
            finally:
                if is_in_turn:
                    self._turns.release()

        return waits

    async def newest_result(self, wait: float) -> ResultView | None:
        """The newest result; one of the last event where it is ready within so many seconds."""
        return await self.result_views.wait(await self.aside(self.result_views.order), wait)

    async def result_to_export(self) -> ResultView:
        """The result of all answers so far, however long it takes.

        Where many people answer at once it is the last view: an export does not hold them up.

        Raises
        ------
        AskmeansError
            If the answers allow no result.
        """
        event = await self.aside(lambda: self.session.history.last_event)
        while (coming := await self.aside(self.result_views.order)) is not None:
            made = await asyncio.shield(asyncio.wrap_future(coming))
            if made.event >= event:
                return made
        last = self.result_views.glance()
        assert last is not None  # nothing was ordered: there is one
        return last

    def close(self) -> None:
        """Let go of the threads and the database."""
        self.result_views.close()
        self.ahead.close()
        self._results.shutdown(wait=True, cancel_futures=True)
        self.session.close()


def scale_of(session: Session) -> dict[str, Any]:
    """The scale of a session's answers, as the templates read it."""
    config = session.config
    return {
        "points": [] if config.ask == "group" else points_of(config.ask, config.levels),
        "step": slider_step(config.levels),
        "ask": config.ask,
    }


def said_at(path: str, text: str, *, failed: bool = False) -> Response:
    """Lead to a page that says a sentence."""
    response = RedirectResponse(path, 303)
    mark = "!" if failed else ""
    response.set_cookie(
        "askmeans_said", quote(mark + text[:500]), max_age=30, httponly=True, samesite="lax"
    )
    return response


def as_html(text: str) -> Markup:
    """Markdown as HTML that can do nothing: no tags of its own, no images, headings below ours."""
    tokens = _markdown.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(_DEEPEST, int(token.tag[1]) + 2)}"
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "noopener noreferrer")
                child.attrSet("target", "_blank")
    html = _markdown.renderer.render(tokens, _markdown.options, {})
    return Markup(f'<div dir="auto">\n{html}</div>')


templates = Environment(  # compiled once, however many sessions are served
    loader=PackageLoader("askmeans.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
# Unless a page says otherwise.
templates.globals |= {"is_owner": False, "sees_results": False, "layout": "base.html"}
templates.filters |= {"say": say, "items": rounded, "markdown": as_html}
