"""The pages: every form is sent and answered by a redirect; a script may ask for the part alone."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request
from starlette.responses import RedirectResponse, Response

from askmeans.sessions import Receipt, Session
from askmeans.web.cards import practice_card, practice_items
from askmeans.web.context import AppContext, said_at
from askmeans.web.explaining import worked_example
from askmeans.web.forms import SentForm, annotator_of, is_script
from askmeans.web.owner_pages import add_owner
from askmeans.web.result_pages import add_files, add_results
from askmeans.web.scale import say_fully
from askmeans.web.signin import add_signin

__all__ = ["make_router"]

_HISTORY = 200  # answers on one page
_TOO_QUICK = "That came just after the question appeared, so nothing was saved. Please look again."

Number = Annotated[int | None, Query(ge=1, le=2**53)]


def make_router(context: AppContext) -> APIRouter:
    """The routes of one session's pages."""
    router = APIRouter(include_in_schema=False)
    _add_answering(router, context)
    _add_person(router, context)
    add_signin(router, context)
    add_results(router, context)
    add_files(router, context)
    add_owner(router, context)
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
            raise HTTPException(403, "Only owners of the session add groups. Ask one of them.")
        value = None if is_new else form.value()
        timed = form.get("shown") is not None and not is_script(request)
        if timed and assignments.is_too_quick(form.number("shown")):
            return context.go_on(request, annotator, _TOO_QUICK)

        def give() -> str:
            question, key = form.integer("question"), form.text("key")
            context.check_asked(request, question)
            if is_new:
                return assignments.into_new_group(question, annotator, key, form.group_name())
            move = assignments.change if form.get("change") else assignments.give
            return move(question, annotator, key, value)

        return context.go_on(request, annotator, *context.attempt(give))

    @router.post("/undo")
    @context.in_turn
    def undo(request: Request, form: SentForm) -> Response:
        annotator = context.annotator_in(form)
        question = form.integer("question") if form.get("question") else None
        event = form.integer("event") if form.get("event") else None
        if question is None and event is not None and not context.is_owner(request):
            raise HTTPException(403, "Only owners of the session take groups back. Ask one.")
        key = form.text("key")
        told = context.attempt(lambda: assignments.undo(annotator, key, question, event))
        return context.go_on(request, annotator, *told)

    @router.post("/stop")
    def stop(request: Request, form: SentForm) -> Response:
        context.session.leave(annotator=context.annotator_in(form))
        if not context.sees_results(request):
            return said_at("/history", "Thank you. Your answers are saved; come back at any time.")
        return RedirectResponse("/results?stopped=1", 303)

    @router.post("/renew")
    def renew(form: SentForm) -> Response:
        """A page is still open."""
        assignments.renew(context.annotator_in(form))
        return Response(status_code=204)

    @router.post("/leave")
    def leave(form: SentForm) -> Response:
        """A page was left: a beacon, whose reply nobody reads."""
        assignments.leave(context.annotator_in(form), form.text("key"))
        return Response(status_code=204)


def _add_person(router: APIRouter, context: AppContext) -> None:
    """Who answers, what they answered, and what answers mean."""
    assignments = context.assignments

    @router.get("/name")
    def name_page(request: Request) -> Response:
        return context.page(request, "name.html", people=list(context.session.status().people))

    @router.get("/welcome")
    def welcome(request: Request) -> Response:
        """What this is for, what the groups are, and cards to practise on."""
        session = context.session
        return context.page(
            request, "welcome.html", options=session.settings.options,
            practice=practice_items(session),
            choices=assignments.cards.choices(()) if session.config.ask == "group" else (),
        )  # fmt: skip

    @router.get("/practice")
    def practice(request: Request, card: Number = 1) -> Response:
        return _practice_page(context, request, card or 1, None)

    @router.post("/practice")
    def practised(request: Request, form: SentForm) -> Response:
        """Feedback; nothing is kept."""
        context.check_mark(form)
        return _practice_page(context, request, form.integer("card"), form.value())

    @router.get("/history")
    def history(request: Request) -> Response:
        receipts = context.session.history.answers(annotator=annotator_of(request))
        rows = [
            {
                "receipt": receipt,
                "label": assignments.cards.label(context.session.question(receipt.question)),
                "said": _said(receipt, context.session),
            }
            for receipt in reversed(receipts[-_HISTORY:])
            if receipt.question is not None
        ]
        return context.page(request, "history.html", rows=rows, n=len(receipts), most=_HISTORY)

    @router.get("/help")
    def help_page(request: Request) -> Response:
        example = worked_example(context.session)
        return context.page(request, "help.html", example=example, **context.scale)


def _said(receipt: Receipt, session: Session) -> str:
    """What somebody answered, as the history tells it."""
    if receipt.kind == "skip":
        return "skipped"
    return say_fully(receipt.value, session.config.ask, session.groups.all_names)


def _practice_page(
    context: AppContext, request: Request, number: int, answer: int | None
) -> Response:
    """A card to practise on, with what is to be said of an answer."""
    session = context.session
    card = practice_card(session, context.assignments.cards, number)
    if card is None:
        return RedirectResponse("/", 303)
    told = next((c.name for c in card.choices if c.group == answer), None)
    return context.page(request, "practice.html", card=card, told=told, right=answer == card.group)
