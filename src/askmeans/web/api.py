"""The API for programs: JSON, described by OpenAPI."""

from collections.abc import Callable
from dataclasses import fields, replace
from types import GenericAlias
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, HTTPException, Path, Query, Request
from fastapi.security import HTTPBearer
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model
from starlette.responses import Response

from askmeans._util.text import UNSEEN
from askmeans.exceptions import AnswerError
from askmeans.sessions import Estimate, Item, Person, Question, Reply, Status, Undone
from askmeans.sessions.reports import Holding
from askmeans.web.context import AppContext
from askmeans.web.files import result_json, stream
from askmeans.web.guard import check_token

Work = Callable[..., Any]

RESULT_TIMEOUT = 30.0  # seconds to wait for the newest result


def _as_integer(value: object) -> object:
    """JSON has one kind of number: 3.0 is an integer, too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_NAME = rf"^[^\s{UNSEEN}][^{UNSEEN}]*$"
Annotator = Annotated[
    str, Field(min_length=1, max_length=80, pattern=_NAME, description="Who answers.")
]
Number = Annotated[int, Field(ge=1, le=2**53, examples=[1]), BeforeValidator(_as_integer)]
Key = Annotated[
    str,
    Field(
        min_length=1, max_length=180, pattern=r"^[\w.:-]+$",
        description="The client's own key of this move: the same again is harmless.",
    ),
]  # fmt: skip
Share = Annotated[float, Field(ge=0, le=1)]
GroupNumber = Annotated[int, Field(ge=0, le=2**31)]
GroupName = Annotated[str, Field(min_length=1, max_length=200)]


class _In(BaseModel):
    """A request: only the fields described, and no guessing of types."""

    model_config = ConfigDict(strict=True, extra="forbid")
    annotator: Annotator | None = None


class AskIn(_In):
    """A request for questions."""

    n: Annotated[
        int, Field(ge=1, le=100, description="How many at most."), BeforeValidator(_as_integer)
    ] = 1


class AnswerIn(_In):
    """An answer; without a value, "cannot say" or a skip."""

    question: Number
    key: Key
    kind: Literal["answer", "unsure", "skip"] = "answer"
    value: Annotated[
        Share | GroupNumber | GroupName | dict[GroupName, Share] | list[Share] | None,
        BeforeValidator(_as_integer),
        Field(
            description="From 0 to 1; with kind answer only. To a group question a group's number "
            "or name, shares by group, or an empty list for none of these."
        ),
    ] = None


class UndoIn(_In):
    """An undo of the last answer or skip, or of that to a question."""

    key: Key
    question: Number | None = None


class ErrorOut(BaseModel):
    """What went wrong, in a sentence."""

    detail: str


class _Out(BaseModel):
    """A response, from our records."""

    model_config = ConfigDict(from_attributes=True)


def _model_of(record: type, about: str, *without: str, **otherwise: Any) -> Any:
    """A model with the fields of a record, but for some; others have another type."""
    types = {each.name: each.type for each in fields(record) if each.name not in without}
    described: Any = {name: (kind, ...) for name, kind in (types | otherwise).items()}
    return create_model(f"{record.__name__}Out", __base__=_Out, __doc__=about, **described)


QuestionOut = _model_of(
    Question, "A question.", kind=Literal["membership", "group", "pair", "triplet", "relative"]
)
QuestionsOut: Any = GenericAlias(list, (QuestionOut,))


class ReceiptOut(_Out):
    """The stored event."""

    event: int
    kind: str
    question: int | None = None
    value: float | tuple[float, ...] | None = None
    annotator: str
    key: str
    at: float
    late: bool = False
    undone: bool
    repeated: bool


ReceiptsOut: Any = GenericAlias(list, (ReceiptOut,))
UndoneOut = _model_of(
    Undone, "What was taken back.", "reopened", "value_now", "group", receipt=ReceiptOut,
    question=QuestionOut | None,
)  # fmt: skip
EstimateOut = _model_of(
    Estimate, "Questions and minutes left, as a range with its basis.", "seconds_per_question",
    minutes=tuple[float, float],
)  # fmt: skip
HoldingOut = _model_of(Holding, "Who has an open question, and for how many seconds at most.")
StatusOut = _model_of(
    Status, "Where the session stands.", "contradictions", "checked", "n_items", "expected_wrong",
    "expected_wrong_band", "good_enough", state=str, left=EstimateOut,
    held=Annotated[int, Field(description="Answers known before; 0 for annotators.")],
    holding=GenericAlias(list, (HoldingOut,)),
)  # fmt: skip
ItemOut = _model_of(Item, "An item as people see it.")


class ResultOut(BaseModel):
    """The clustering so far."""

    complete: bool
    state: str
    event: Annotated[int, Field(description="The last event that went in.")]
    n_queries: int
    cluster_names: list[str]
    ids: list[str]
    expected_wrong: Annotated[
        float | None,
        Field(description="How many items are probably in the wrong group; null for no estimate."),
    ]
    expected_wrong_band: Annotated[
        list[int] | None, Field(description="The 80 % interval of their number: low, high.")
    ]
    confidence: Annotated[
        list[float] | None,
        Field(description="The probability that each item's strongest group is right."),
    ]
    unassigned: Annotated[
        list[float] | None,
        Field(description="The probability that each item belongs to none of the groups."),
    ]
    memberships: list[list[float]]


def _check_form_token(
    request: Request,
    token: Annotated[
        str | None,
        Header(
            alias="X-CSRF-Token",
            description="Needed with a sign-in by cookie: the cookie askmeans_token, which any "
            "GET sets.",
        ),
    ] = None,
) -> None:
    check_token(request, token)


def _signed_in(
    request: Request,
    _: Annotated[object, Depends(HTTPBearer(auto_error=False, scheme_name="invitation"))],
) -> Person:
    """Who sent a request; `signin.py` has checked it, this describes it to OpenAPI."""
    person: Person = request.state.person
    return person


_Person = Annotated[Person, Depends(_signed_in)]


def _errors(*statuses: int) -> dict[int | str, dict[str, type[ErrorOut]]]:
    """The statuses of an operation's errors."""
    everywhere = (401, 403, 422, 429, 500, 503)
    return {status: {"model": ErrorOut} for status in (*statuses, *everywhere)}


def _name_of(person: Person, name: str | None) -> str:
    """The name of the signed-in person; refuse a request with another."""
    if name is not None and name != person.name:
        raise HTTPException(403, f"The annotator must be the person signed in, {person.name!r}.")
    return person.name


def _visible_name(person: Person, name: str | None) -> str | None:
    """The visible annotator: owners see all, others themselves."""
    return name if person.role == "owner" else _name_of(person, name)


def make_api(context: AppContext) -> APIRouter:
    """The routes of one session's API."""
    router = APIRouter(prefix="/api", tags=["session"])
    session = context.session

    def change(path: str, model: Any, *statuses: int) -> Callable[[Work], Any]:
        """A route that changes something, which takes its turn."""
        route = router.post(
            path, response_model=model, dependencies=[Depends(_check_form_token)],
            responses=_errors(400, 403, *statuses, 409, 413),
        )  # fmt: skip
        return lambda work: route(context.in_turn(work))

    @router.get("/status", response_model=StatusOut, responses=_errors())
    def status(person: _Person, annotator: Annotated[Annotator | None, Query()] = None) -> Status:
        """The status of the session, for the sender or, for owners, for anyone."""
        report = session.status(annotator=_visible_name(person, annotator))
        return report if person.role == "owner" else report.without_gold()

    @change("/ask", QuestionsOut)
    def ask(person: _Person, wanted: AskIn) -> list[Question]:
        """Questions leased to the sender; empty for the reason that `status` gives."""
        return session.ask(wanted.n, annotator=_name_of(person, wanted.annotator))

    @change("/answers", ReceiptOut, 404)
    def answer(request: Request, person: _Person, sent: AnswerIn) -> Reply:
        """Keep an answer, a "cannot say" or a skip; it is on disk when this returns."""
        annotator = _name_of(person, sent.annotator)
        if (sent.kind == "answer") != (sent.value is not None):
            raise HTTPException(409, "A value must come with the kind 'answer', and only with it.")
        session.question(sent.question)  # refuses a number that is not a question's
        context.check_assigned(request, sent.question)
        if sent.value is not None:
            try:
                return session.tell(sent.question, sent.value, annotator=annotator, key=sent.key)
            except AnswerError as error:  # a number for a group, or the other way round
                raise HTTPException(409, str(error)) from error
        move = session.skip if sent.kind == "skip" else session.unsure
        return move(sent.question, annotator=annotator, key=sent.key)

    @change("/undo", UndoneOut, 404)
    def undo(person: _Person, sent: UndoIn) -> Undone:
        """Take back an answer or a skip."""
        annotator = _name_of(person, sent.annotator)
        return session.undo(sent.question, annotator=annotator, key=sent.key)

    @router.get("/history", response_model=ReceiptsOut, responses=_errors())
    def history(
        person: _Person, annotator: Annotated[Annotator | None, Query()] = None
    ) -> list[Reply]:
        """Valid answers and skips, in their order; annotators see their own."""
        return session.history.answers(annotator=_visible_name(person, annotator))

    @router.get("/items/{row}", response_model=ItemOut, responses=_errors(404))
    def item(request: Request, _: _Person, row: Annotated[int, Path(ge=0, le=2**53)]) -> Item:
        """An item for display; `image` is the path of its image.

        Annotators get those that they were asked about or that are shown as examples.
        """
        context.check_shown(request, row)
        if row >= len(session.rows):
            raise HTTPException(404, f"There is no item {row}.")
        item = session.item(row)
        return replace(item, image=f"/image/{row}" if item.image else None)

    @router.get(
        "/result",
        response_model=ResultOut,
        responses=_errors() | {304: {"description": "Nothing new since the tag sent."}},
    )
    async def result(request: Request, _: _Person) -> Response:
        """The clustering so far: the newest that is ready."""
        view = await context.newest_result(RESULT_TIMEOUT)
        if view is None:
            raise HTTPException(503, "The first result is not ready yet. Ask again in a moment.")
        headers = {"etag": view.tag}
        if request.headers.get("if-none-match") == view.tag:
            return Response(status_code=304, headers=headers)
        body = await context.in_background(
            lambda: context.responses.get("result", view.tag, lambda: result_json(view))
        )
        return stream(body, "application/json", headers)

    return router
