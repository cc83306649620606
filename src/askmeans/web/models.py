"""What the API takes and gives, as OpenAPI describes it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from askmeans.text import UNSEEN

__all__ = ["Annotator", "AnswerIn", "AskIn", "ErrorOut", "EstimateOut", "ItemOut", "QuestionOut",
           "ReceiptOut", "ResultOut", "StatusOut", "UndoIn", "UndoneOut"]  # fmt: skip


def _as_whole(value: object) -> object:
    """JSON knows one kind of number: 3.0 is whole, too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_NAME = rf"^[^\s{UNSEEN}][^{UNSEEN}]*$"
Annotator = Annotated[
    str, Field(min_length=1, max_length=80, pattern=_NAME, description="Who answers.")
]
Number = Annotated[int, Field(ge=1, le=2**53, examples=[1]), BeforeValidator(_as_whole)]
Key = Annotated[
    str,
    Field(
        min_length=1, max_length=180, pattern=r"^[\w.:-]+$",
        description="The client's own key of this move: the same again is harmless.",
    ),
]  # fmt: skip


Share = Annotated[float, Field(ge=0, le=1)]
Group = Annotated[int, Field(ge=0, le=2**31)]
GroupName = Annotated[str, Field(min_length=1, max_length=200)]


class _In(BaseModel):
    """What is sent: nothing but what is described, and no guessing of types."""

    model_config = ConfigDict(strict=True, extra="forbid")


class AskIn(_In):
    """Questions for somebody."""

    annotator: Annotator | None = None
    n: Annotated[
        int, Field(ge=1, le=100, description="How many at most."), BeforeValidator(_as_whole)
    ] = 1


class AnswerIn(_In):
    """An answer; without a value, "cannot say" or a skip."""

    annotator: Annotator | None = None
    question: Number
    key: Key
    kind: Literal["answer", "unsure", "skip"] = "answer"
    value: Annotated[
        Share | Group | GroupName | dict[GroupName, Share] | list[Share] | None,
        BeforeValidator(_as_whole),
        Field(
            description="From 0 to 1; with kind answer only. To a group question a group's number "
            "or name, shares by group, or an empty list for none of these."
        ),
    ] = None


class UndoIn(_In):
    """What is taken back: the last answer or skip, or that to a question."""

    annotator: Annotator | None = None
    key: Key
    question: Number | None = None


class ErrorOut(BaseModel):
    """What went wrong, in a sentence."""

    detail: str


class _Out(BaseModel):
    """What is given, from our records."""

    model_config = ConfigDict(from_attributes=True)


class QuestionOut(_Out):
    """A question."""

    id: int
    kind: Literal["membership", "group", "pair", "triplet", "relative"]
    items: list[int]
    cluster: int | None
    repeat: int


class ReceiptOut(_Out):
    """That something was kept."""

    event: int
    kind: str
    question: int | None
    value: float | list[float] | None
    annotator: str
    key: str
    at: float
    late: bool
    undone: bool
    repeated: bool


class UndoneOut(_Out):
    """What was taken back, and which later questions followed from it."""

    receipt: ReceiptOut
    question: QuestionOut | None
    kind: str
    value: float | list[float] | None
    void: list[QuestionOut]


class EstimateOut(_Out):
    """Questions and minutes left, as a range with its basis."""

    low: int
    high: int
    minutes: tuple[float, float]
    basis: str


class HoldingOut(_Out):
    """Who has an open question, and for how many seconds at most."""

    question: int
    annotator: str
    seconds: float


class StatusOut(_Out):
    """Where the session stands."""

    name: str
    state: str
    answered: int
    held: Annotated[int, Field(description="Answers known before; 0 for annotators.")]
    budget: int | None
    open: int
    leased: int
    holding: list[HoldingOut]
    round: int
    settled: bool
    left: EstimateOut
    annotators: dict[str, dict[str, int]]
    estimated_error: float | None
    error_basis: str
    notes: list[str]
    suggested_clusters: int | None
    suggestion: str | None


class ItemOut(_Out):
    """An item as people see it."""

    row: int
    id: str
    label: str
    fields: dict[str, Any]
    text: str | None
    image: str | None


class ResultOut(BaseModel):
    """The clustering so far."""

    complete: bool
    state: str
    event: Annotated[int, Field(description="The last event that went in.")]
    n_queries: int
    cluster_names: list[str]
    ids: list[str]
    memberships: list[list[float]]
