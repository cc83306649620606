"""What the API takes and gives, as OpenAPI describes it."""

from dataclasses import fields
from types import GenericAlias
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from askmeans._util.text import UNSEEN
from askmeans.sessions import Estimate, Item, Question, Receipt, Status, Undone
from askmeans.sessions.reports import Holding

__all__ = ["Annotator", "AnswerIn", "AskIn", "ErrorOut", "ItemOut", "QuestionsOut", "ReceiptOut",
           "ReceiptsOut", "ResultOut", "StatusOut", "UndoIn", "UndoneOut"]  # fmt: skip


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
    annotator: Annotator | None = None


class AskIn(_In):
    """Questions for somebody."""

    n: Annotated[
        int, Field(ge=1, le=100, description="How many at most."), BeforeValidator(_as_whole)
    ] = 1


class AnswerIn(_In):
    """An answer; without a value, "cannot say" or a skip."""

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

    key: Key
    question: Number | None = None


class ErrorOut(BaseModel):
    """What went wrong, in a sentence."""

    detail: str


class _Out(BaseModel):
    """What is given, from our records."""

    model_config = ConfigDict(from_attributes=True)


def _out(record: type, about: str, *without: str, **otherwise: Any) -> Any:
    """A model with the fields of a record, but for some; others are described otherwise."""
    told = {each.name: each.type for each in fields(record) if each.name not in without}
    described: Any = {name: (kind, ...) for name, kind in (told | otherwise).items()}
    return create_model(f"{record.__name__}Out", __base__=_Out, __doc__=about, **described)


QuestionOut = _out(
    Question, "A question.", kind=Literal["membership", "group", "pair", "triplet", "relative"]
)
QuestionsOut: Any = GenericAlias(list, (QuestionOut,))
ReceiptOut = _out(Receipt, "That something was kept.", "counts", "gold")
ReceiptsOut: Any = GenericAlias(list, (ReceiptOut,))
UndoneOut = _out(
    Undone, "What was taken back.", "reopened", "value_now", "group", receipt=ReceiptOut,
    question=QuestionOut | None,
)  # fmt: skip
EstimateOut = _out(
    Estimate, "Questions and minutes left, as a range with its basis.", "seconds_per_question",
    minutes=tuple[float, float],
)  # fmt: skip
HoldingOut = _out(Holding, "Who has an open question, and for how many seconds at most.")
StatusOut = _out(
    Status, "Where the session stands.", "contradictions", "checked", "n_items", "expected_wrong",
    "expected_wrong_band", "good_enough", state=str, left=EstimateOut,
    held=Annotated[int, Field(description="Answers known before; 0 for annotators.")],
    holding=GenericAlias(list, (HoldingOut,)),
)  # fmt: skip
ItemOut = _out(Item, "An item as people see it.")


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
