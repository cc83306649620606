"""What all routes share: the session, its questions, its results, and how a page is rendered."""

import asyncio
import contextvars
import functools
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar
from urllib.parse import quote, unquote

from fastapi import HTTPException, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)

from askmeans._util.background import background_pool
from askmeans._util.message import Message
from askmeans.exceptions import AskmeansError, InvitationError, StoreError
from askmeans.sessions import Session
from askmeans.web.answering import Assignments, QuestionView
from askmeans.web.errors import explain, message_for_program, status_of
from askmeans.web.files import ResponseCache, Thumbnails
from askmeans.web.forms import Form, annotator_of, is_script
from askmeans.web.items import ItemTable
from askmeans.web.languages import localize
from askmeans.web.limits import RateLimit
from askmeans.web.rendering import templates
from askmeans.web.result_views import ResultView, ResultViews
from askmeans.web.scale import scale_of

P = ParamSpec("P")
T = TypeVar("T")

FAILED_RATE, FAILED_BURST = 0.5, 30.0  # wrong tokens from one address
# Quick hands answer three questions a second, a program on the same machine forty: more than
# twice that, and ten seconds of it at once.
_PERSON_RATE, _PERSON_BURST = 100.0, 1000.0
_EXAMPLES = 12  # of each group: those of a card, and those that were before others answered
_TURNS = 2  # answers at once: one is written to the disk while the other is checked
_TURN_SECONDS = 30.0  # after which a request no longer waits for its turn
_MESSAGE_COOKIE, _UNDO_COOKIE = "askmeans_said", "askmeans_undo"
NO_PAGE = Message(
    "There is no page at this address. Follow a link of the page, or start at the beginning."
)
TITLES = {  # of refusals
    403: Message("This is not for you to do"),
    404: Message("There is no such page"),
}
NO_TITLE = Message("That did not work")

_OTHER_PERSON = Message("This page is another person's. Reload it to see yours.")


class AppContext:
    """One session being served."""

    def __init__(
        self, session: Session, settle_seconds: float, root: str = "", home: str = ""
    ) -> None:
        self.session = session
        self.root = root  # the path under which the session is served
        self.home = home  # the start page, where several sessions are served
        self.at_end: list[Callable[[], None]] = []  # of routes that have threads of their own
        self.assignments = Assignments(session, settle_seconds)
        self.cards = self.assignments.cards
        self.result_views = ResultViews(session)
        self.thumbnails = Thumbnails(session)
        self.responses = ResponseCache()
        self.failed_signins = RateLimit(FAILED_RATE, FAILED_BURST)
        self.requests_of_people = RateLimit(_PERSON_RATE, _PERSON_BURST)
        self.cards.predict = self._predict
        self._item_table: tuple[object, ItemTable] | None = None
        session.learn_aside()
        self._turns = asyncio.Semaphore(_TURNS)  # the first to wait is the first to go
        self._background = background_pool(2, "results")  # answers have the server's own threads

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
        left = unquote(request.cookies.get(_MESSAGE_COOKIE, ""))
        what, _, which = unquote(request.cookies.get(_UNDO_COOKIE, "")).partition("=")
        here = f"{request.scope['path']}?{request.url.query}".rstrip("?")
        common = {
            "said": left.removeprefix("!"),
            "failed": left.startswith("!"),
            "undo": {"name": what, "value": which} if left and which else None,
            "session": self.session,
            "annotator": annotator_of(request),
            "token": request.state.token,
            "mark": self.assignments.mark,
            "root": self.root,
            "home": self.home,
            "path": request.scope["path"],
            "here": here,
            "self_link": self.root + (here if request.method == "GET" else "/"),
            "is_owner": self.is_owner(request),
            "sees_results": self.sees_results(request, values.get("options")),
        }
        html = templates.get_template(template).render({**common, **values})
        response = HTMLResponse(html, status_code, headers=headers)
        for name in (_MESSAGE_COOKIE, _UNDO_COOKIE):
            if name in request.cookies:
                response.delete_cookie(name)
        return response

    def refusal(self, request: Request, status: int, text: str) -> Response:
        """A sentence as a page, as text for our script, or as JSON under /api."""
        if is_api(request):
            return JSONResponse({"detail": text}, status)
        if is_script(request):
            return PlainTextResponse(localize(text), status)
        layout = "plain.html" if annotator_of(request) is None else "base.html"
        title = TITLES.get(status, NO_TITLE)
        return self.page(request, "error.html", status_code=status, title=title, text=text,
                         layout=layout)  # fmt: skip

    def failure(self, request: Request, error: AskmeansError) -> Response:
        """An error as a refusal; programs read its message, people a sentence."""
        text = explain(error)  # logs it, too
        if is_api(request):
            text = message_for_program(error, self.session)
        return self.refusal(request, status_of(error), text)

    def question_page(
        self, request: Request, view: QuestionView, message: str = "", status: int = 200
    ) -> Response:
        """The answering page, or the part of it that changes."""
        self.thumbnails.make_soon(view.annotator)
        if not self.is_owner(request):
            view = replace(view, status=view.status.without_gold())
        # Without a message the cookie's is shown.
        messages: dict[str, Any] = {}
        if message:
            messages = {"said": message, "failed": status >= 400}
        return self.page(
            request, "question.html" if is_script(request) else "answer.html", status_code=status,
            view=view, result_view=self.result_views.glance(),
            options=self.session.settings.options, **messages, **scale_of(self.session),
        )  # fmt: skip

    def go_on(self, request: Request, annotator: str, message: str, status: int = 200) -> Response:
        """After a move: the next question, as a page or as the part that changes."""
        if is_script(request):
            view = self.assignments.view(annotator, by_script=True)
            return self.question_page(request, view, message, status)
        return redirect("/", message, failed=status >= 400)

    def attempt(self, work: Callable[[], str]) -> tuple[str, int]:
        """The sentence that work returns, or why it failed; and the HTTP status."""
        try:
            return work(), 200
        except InvitationError:  # there is no next question for them either
            raise
        except AskmeansError as error:
            return explain(error), status_of(error)

    def item_table(self, view: ResultView | None) -> ItemTable:
        """What every item is in, by a result and the answers since."""
        of = (view and view.event, self.session.history.last_event)
        if self._item_table is None or self._item_table[0] != of:
            self._item_table = (of, ItemTable(self.session, view))
        return self._item_table[1]

    def check_form(self, form: Form) -> None:
        """Refuse a form of another session, which may have had this address, or person."""
        if form.text("session") != self.assignments.mark:
            raise HTTPException(
                409, Message("This page shows another session than the server. Reload it.")
            )
        if form.get("annotator") not in (None, form.sender):
            raise HTTPException(409, _OTHER_PERSON)

    def annotator_in(self, form: Form) -> str:
        """Who sent a form, which must be of this session, and made for the same person."""
        self.check_form(form)
        if form.sender is None:
            raise HTTPException(409, _OTHER_PERSON)
        return form.sender

    def check_row(self, row: int) -> None:
        """Refuse a row that is not an item's."""
        if not 0 <= row < len(self.session.rows):
            raise HTTPException(
                404,
                Message("There is no item {row}. Look for it by name under Results.", row=str(row)),
            )

    def is_owner(self, request: Request) -> bool:
        """Whether an owner sent a request."""
        person = getattr(request.state, "person", None)
        return person is not None and person.role == "owner"

    def sees_results(self, request: Request, options: dict[str, Any] | None = None) -> bool:
        """Whether the sender may see the result; the session's options where they are at hand."""
        if annotator_of(request) is None or self.is_owner(request):
            return self.is_owner(request)
        with suppress(StoreError):
            return bool((options or self.session.settings.options)["annotators_see_results"])
        return False

    def check_assigned(self, request: Request, question: int) -> None:
        """Refuse an annotator's answer to a question that was not theirs."""
        name = annotator_of(request) or ""
        if not self.is_owner(request) and question not in self.session.history.questions_of(name):
            raise HTTPException(
                403, Message("This question was not asked of you. Reload the page.")
            )

    def check_shown(self, request: Request, row: int) -> None:
        """Refuse an annotator an item that was neither in a question nor an example."""
        if self.is_owner(request) or self.sees_results(request):
            return
        session = self.session
        numbers = session.history.questions_of(annotator_of(request) or "")
        if any(row in session.question(number).items for number in numbers):
            return
        if any(row in session.exemplars(group.number, _EXAMPLES) for group in session.groups):
            return
        raise HTTPException(
            403, Message("This item was not shown to you. An owner can show it to you.")
        )

    def _predict(self, row: int) -> Sequence[float] | None:
        """Memberships of an item in the last result."""
        view = self.result_views.glance()
        if view is None or row >= len(view.result.memberships):  # it may have been added since
            return None
        memberships: list[float] = view.result.memberships[row].tolist()
        return memberships

    async def in_background(self, work: Callable[[], T]) -> T:
        """Do work that concerns results in their own two threads."""
        request = contextvars.copy_context()  # whose language the work writes
        return await asyncio.get_running_loop().run_in_executor(self._background, request.run, work)

    def in_turn(self, route: Callable[P, T]) -> Callable[P, Awaitable[T]]:
        """A route for answers: few at a time, first come, first served.

        Many threads at once would wait for each other's locks at every step. A request that waits
        for the database does not hold up others for long.
        """

        @functools.wraps(route)
        async def wait_and_call(*args: P.args, **kwargs: P.kwargs) -> T:
            is_in_turn = False
            with suppress(TimeoutError):
                is_in_turn = await asyncio.wait_for(self._turns.acquire(), _TURN_SECONDS)
            try:
                return await run_in_threadpool(route, *args, **kwargs)
            finally:
                if is_in_turn:
                    self._turns.release()

        return wait_and_call

    async def newest_result(self, wait: float) -> ResultView | None:
        """The newest result; one of the last event where it is ready within so many seconds."""
        return await self.result_views.wait(await self.in_background(self.result_views.order), wait)

    async def result_to_export(self) -> ResultView:
        """The result of all answers so far, however long it takes.

        Where many people answer at once it is the last view: an export does not hold them up.

        Raises
        ------
        AskmeansError
            If the answers allow no result.
        """
        event = await self.in_background(lambda: self.session.history.last_event)
        while (coming := await self.in_background(self.result_views.order)) is not None:
            view = await asyncio.shield(asyncio.wrap_future(coming))
            if view.event >= event:
                return view
        last = self.result_views.glance()
        assert last is not None  # nothing was ordered, so there is one
        return last

    def close(self) -> None:
        """End the threads, and close the session."""
        for end in self.at_end:
            end()
        self.result_views.close()
        self.thumbnails.close()
        self._background.shutdown(wait=True, cancel_futures=True)
        self.session.close()


def is_api(request: Request) -> bool:
    """Whether a program sent a request."""
    return str(request.scope["path"]).startswith("/api/")


def redirect(
    path: str, message: str, *, failed: bool = False, undo: tuple[str, str] | None = None
) -> Response:
    """Lead to a page that shows a sentence; `undo` is a field of the form that takes it back."""
    response = RedirectResponse(path, 303)
    mark = "!" if failed else ""
    left = {_MESSAGE_COOKIE: mark + localize(message)[:500]}
    if undo is not None:
        left[_UNDO_COOKIE] = "=".join(undo)
    for name, text in left.items():
        response.set_cookie(name, quote(text), max_age=30, httponly=True, samesite="lax")
    return response
