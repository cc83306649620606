"""The API: what the pages do, for programs; JSON, described by OpenAPI."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, Header, HTTPException, Path, Query, Request
from fastapi.security import HTTPBearer
from starlette.responses import Response, StreamingResponse

from askmeans.exceptions import AnswerError
from askmeans.sessions import Item, Person, Question, Receipt, Status, Undone
from askmeans.web.context import AppContext
from askmeans.web.exporting import pieces, result_json
from askmeans.web.guard import check_token
from askmeans.web.models import (
    Annotator,
    AnswerIn,
    AskIn,
    ErrorOut,
    ItemOut,
    QuestionsOut,
    ReceiptOut,
    ReceiptsOut,
    ResultOut,
    StatusOut,
    UndoIn,
    UndoneOut,
)

__all__ = ["make_api"]

_WAIT = 30.0
_Told = Annotated[
    str | None,
    Header(
        alias="X-CSRF-Token",
        description="Needed by whoever signs in by cookie: the cookie askmeans_token, which any "
        "GET sets.",
    ),
]


def _token(request: Request, told: _Told = None) -> None:
    """Refuse a request without the page's token."""
    check_token(request, told)


def _errors(*statuses: int) -> dict[int | str, dict[str, type[ErrorOut]]]:
    """What else an operation may answer."""
    everywhere = (401, 403, 422, 429, 500, 503)
    return {status: {"model": ErrorOut} for status in (*statuses, *everywhere)}


def _signed_in(
    request: Request,
    _: Annotated[object, Depends(HTTPBearer(auto_error=False, scheme_name="invitation"))],
) -> Person:
    """Who asks; `signin.py` has looked already, this tells it to OpenAPI."""
    person: Person = request.state.person
    return person


_CHANGES = [Depends(_token)]
_Person = Annotated[Person, Depends(_signed_in)]


def _name_of(person: Person, told: str | None) -> str:
    """Under which name something is done: the token's, whatever else is told."""
    if told is not None and told != person.name:
        raise HTTPException(403, f"The annotator must be the person signed in, {person.name!r}.")
    return person.name


def _may_see(person: Person, told: str | None) -> str | None:
    """Of whom something is shown: owners see everybody, others themselves."""
    return told if person.role == "owner" else _name_of(person, told)


def make_api(context: AppContext) -> APIRouter:
    """The routes of one session's API."""
    router = APIRouter(prefix="/api", tags=["session"])
    session = context.session

    @router.get("/status", response_model=StatusOut, responses=_errors())
    def status(person: _Person, annotator: Annotated[Annotator | None, Query()] = None) -> Status:
        """Where the session stands, for somebody or, where an owner asks, for anybody."""
        found = session.status(annotator=_may_see(person, annotator))
        return found if person.role == "owner" else found.without_gold()

    @router.post(
        "/ask", response_model=QuestionsOut, dependencies=_CHANGES,
        responses=_errors(400, 403, 409, 413),
    )  # fmt: skip
    @context.in_turn
    def ask(person: _Person, asked: AskIn) -> list[Question]:
        """Questions for whoever asks, leased to them; empty where `status` says why."""
        return session.ask(asked.n, annotator=_name_of(person, asked.annotator))

    @router.post(
        "/answers", response_model=ReceiptOut, dependencies=_CHANGES,
        responses=_errors(400, 403, 404, 409, 413),
    )  # fmt: skip
    @context.in_turn
    def answer(request: Request, person: _Person, told: AnswerIn) -> Receipt:
        """Keep an answer, a "cannot say" or a skip; it is on disk when this returns."""
        who = {"annotator": _name_of(person, told.annotator), "key": told.key}
        if (told.kind == "answer") != (told.value is not None):
            raise HTTPException(409, "A value must come with the kind 'answer', and only with it.")
        session.question(told.question)  # refuses what is none
        context.check_asked(request, told.question)
        if told.value is not None:
            try:
                return session.tell(told.question, told.value, **who)
            except AnswerError as error:  # a number for a group, or the other way round
                raise HTTPException(409, str(error)) from error
        if told.kind == "skip":
            return session.skip(told.question, **who)
        return session.unsure(told.question, **who)

    @router.post(
        "/undo", response_model=UndoneOut, dependencies=_CHANGES,
        responses=_errors(400, 403, 404, 409, 413),
    )  # fmt: skip
    @context.in_turn
    def undo(person: _Person, told: UndoIn) -> Undone:
        """Take back an answer or a skip."""
        who = _name_of(person, told.annotator)
        return session.undo(told.question, annotator=who, key=told.key)

    @router.get("/history", response_model=ReceiptsOut, responses=_errors())
    def history(
        person: _Person, annotator: Annotated[Annotator | None, Query()] = None
    ) -> list[Receipt]:
        """Answers and skips that stand, in the order given; annotators see their own."""
        return session.history.answers(annotator=_may_see(person, annotator))

    @router.get("/items/{row}", response_model=ItemOut, responses=_errors(404))
    def item(request: Request, _: _Person, row: Annotated[int, Path(ge=0, le=2**53)]) -> Item:
        """An item as people see it; `image` is where its image can be had.

        Annotators get those that they were asked about or that are shown as examples.
        """
        context.check_shown(request, row)
        if row >= len(session.rows):
            raise HTTPException(404, f"There is no item {row}.")
        found = session.item(row)
        return replace(found, image=f"/image/{row}" if found.image else None)

    _add_result(router, context)
    return router


def _add_result(router: APIRouter, context: AppContext) -> None:
    """The result, computed aside and told apart by its tag."""

    @router.get(
        "/result",
        response_model=ResultOut,
        responses=_errors() | {304: {"description": "Nothing new since the tag sent."}},
    )
    async def result(request: Request, _: _Person) -> Response:
        """The clustering so far: the newest that is ready."""
        result_view = await context.newest_result(_WAIT)
        if result_view is None:
            raise HTTPException(503, "The first result is not ready yet. Ask again in a moment.")
        headers = {"etag": result_view.tag}
        if request.headers.get("if-none-match") == result_view.tag:
            return Response(status_code=304, headers=headers)
        body = await context.aside(
            lambda: context.bodies.get("result", result_view.tag, lambda: result_json(result_view))
        )
        headers["content-length"] = str(len(body))
        return StreamingResponse(pieces(body), media_type="application/json", headers=headers)
