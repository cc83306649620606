"""The answering pages: a form leads to a redirect, a script asks for the part that changes."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from fastapi import APIRouter, HTTPException, Query, Request
from starlette.responses import RedirectResponse, Response

from askmeans._util.message import Message
from askmeans.sessions import Session
from askmeans.spec import SIMILARITIES
from askmeans.web.cards import GroupTile
from askmeans.web.context import AppContext, redirect
from askmeans.web.forms import SentForm, annotator_of, is_script
from askmeans.web.history_pages import add_history
from askmeans.web.item_pages import add_items
from askmeans.web.model_pages import add_models
from askmeans.web.owner_pages import add_owner
from askmeans.web.result_pages import RESULT_TIMEOUT, add_results
from askmeans.web.scale import scale_of
from askmeans.web.signin import add_signin, is_unnamed

_SAMPLE = 500  # items among which the worked example is chosen
_TOO_QUICK = Message(
    "That came just after the question appeared, so nothing was saved. Please look again."
)

Number = Annotated[int | None, Query(ge=1, le=2**53)]


def make_router(context: AppContext) -> APIRouter:
    """The routes of one session's pages."""
    router = APIRouter(include_in_schema=False)
    _add_answering(router, context)
    _add_person(router, context)
    add_history(router, context)
    add_signin(router, context)
    add_results(router, context)
    add_items(router, context)
    add_owner(router, context)
    add_models(router, context)
    return router


def _add_answering(router: APIRouter, context: AppContext) -> None:
    """The question, answers and undo."""
    assignments = context.assignments

    @router.get("/")
    @context.in_turn
    def answer_page(request: Request, question: Number = None) -> Response:
        annotator = annotator_of(request) or "me"
        view = assignments.view(annotator, question, by_script=is_script(request))
        return context.question_page(request, view)

    @router.post("/answer")
    @context.in_turn
    def answer(request: Request, form: SentForm) -> Response:
        annotator = context.annotator_in(form)
        is_new = form.get("value") == "new"
        if is_new and not context.is_owner(request):
            raise HTTPException(
                403, Message("Only owners of the session add groups. Ask one of them.")
            )
        value = None if is_new else form.value()
        is_timed = form.get("shown") is not None and not is_script(request)
        if is_timed and assignments.is_too_quick(form.number("shown")):
            return context.go_on(request, annotator, _TOO_QUICK)

        def save() -> str:
            question, key = form.integer("question"), form.text("key")
            context.check_assigned(request, question)
            if is_new:
                return assignments.into_new_group(question, annotator, key, form.group_name())
            move = assignments.change if form.get("change") else assignments.give
            return move(question, annotator, key, value)

        return context.go_on(request, annotator, *context.attempt(save))

    @router.post("/undo")
    @context.in_turn
    def undo(request: Request, form: SentForm) -> Response:
        annotator = context.annotator_in(form)
        question = form.integer("question") if form.get("question") else None
        event = form.integer("event") if form.get("event") else None
        key = form.text("key")
        outcome = context.attempt(lambda: assignments.undo(annotator, key, question, event))
        return context.go_on(request, annotator, *outcome)

    @router.post("/stop")
    def stop(request: Request, form: SentForm) -> Response:
        context.session.leave(annotator=context.annotator_in(form))
        if not context.sees_results(request):
            text = Message("Thank you. Your answers are saved; come back at any time.")
            return redirect("/history", text)
        return RedirectResponse("/results?stopped=1", 303)

    @router.post("/renew")
    def renew(form: SentForm) -> Response:
        """A page is still open."""
        assignments.renew(context.annotator_in(form))
        return Response(status_code=204)

    @router.post("/leave")
    def leave(form: SentForm) -> Response:
        """A page was left: a beacon, whose reply is not read."""
        assignments.leave(context.annotator_in(form), form.text("key"))
        return Response(status_code=204)


def _add_person(router: APIRouter, context: AppContext) -> None:
    """Who answers, what they answered, and what answers mean."""
    session, cards = context.session, context.cards

    @router.get("/name")
    def name_page(request: Request) -> Response:
        people = list(session.status().people)
        unnamed = is_unnamed(request.state.person)
        return context.page(request, "name.html", people=people, unnamed=unnamed)

    @router.get("/welcome")
    async def welcome(request: Request) -> Response:
        """The purpose, the groups, and cards to practise on; the owner names groups of a guess."""
        tiles: tuple[GroupTile, ...] = ()
        if session.config.ask == "group":
            tiles = await context.in_background(lambda: cards.tiles())
        view = None
        if context.is_owner(request) and any(tile.is_unnamed for tile in tiles):
            view = await context.newest_result(RESULT_TIMEOUT)
        return await context.in_background(
            lambda: context.page(
                request, "welcome.html", options=session.settings.options, tiles=tiles,
                n_practice=len(cards.practice_items()),
                unnamed=[each for each in view.groups if each.is_unnamed] if view else [],
            )
        )  # fmt: skip

    @router.get("/practice")
    def practice(request: Request, card: Number = 1) -> Response:
        return practice_page(request, card or 1, None)

    @router.post("/practice")
    def practised(request: Request, form: SentForm) -> Response:
        """Feedback; nothing is saved."""
        context.check_form(form)
        return practice_page(request, form.integer("card"), form.value())

    def practice_page(request: Request, number: int, answer: int | None) -> Response:
        items = cards.practice_items()
        if not 1 <= number <= len(items):
            return RedirectResponse("/", 303)
        row, group = items[number - 1]
        tiles = cards.tiles((row,))
        chosen = next((t.group for t in tiles if t.group.number == answer), None)
        return context.page(
            request, "practice.html", number=number, n=len(items), item=cards.item(row),
            tiles=tiles, group=group, chosen=chosen,
        )  # fmt: skip

    @router.get("/help")
    def help_page(request: Request) -> Response:
        example = worked_example(session)
        return context.page(request, "help.html", example=example, **scale_of(session))


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Items of the data that show the ends of the scale."""

    one: str
    near: str
    far: str
    group: str | None  # the group of the first answer


def worked_example(session: Session) -> Example:
    """An item, the one nearest to it, and the one farthest from it."""
    X = np.asarray(session.rows.base[:_SAMPLE], dtype=np.float64)
    group = session.groups[0]
    placed = session.exemplars(group.number, placed_only=True)
    rows = placed or session.exemplars(group.number)
    first = next((row for row in rows if row < len(X)), 0)
    distances = np.linalg.norm(X - X[first], axis=1)
    far = int(distances.argmax())
    distances[first] = np.inf
    one, near, far_label = (
        session.item(row).label for row in (first, int(distances.argmin()), far)
    )
    is_named = session.config.ask not in SIMILARITIES and first in placed
    return Example(one=one, near=near, far=far_label, group=group.name if is_named else None)
