"""What a store keeps of a session besides its events, and checks of what is read from a database.

After an edit by hand a database may hold anything. A check raises a ValueError; `as_written` makes
one error of it and of whatever else such values lead to while they are read, with a remedy. What
was read is then what askmeans writes.
"""

import dataclasses
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from askmeans.exceptions import AskmeansError, StoreDamagedError
from askmeans.queries import Question
from askmeans.queries.questions import KINDS

T = TypeVar("T")

_READING_ERRORS = (
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError,
    RecursionError, StopIteration,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """A session as it was made: `config` and `display` are JSON, and never change."""

    id: int
    name: str
    config: dict[str, Any]
    fingerprint: str
    made_by: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPart:
    """Rows of a session: a matrix in raw bytes or a file's path, and what people see of them.

    Part 0 is what the session began with; later parts are rows added since.
    """

    part: int
    dtype: str
    shape: tuple[int, int]
    fingerprint: str
    path: str | None
    display: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Somebody holds a question until a time of the database's clock."""

    question: int
    annotator: str
    until: float


@dataclass(frozen=True, slots=True, kw_only=True)
class InviteRecord:
    """Somebody may come in with a token, of which the digest is known; times are the database's."""

    id: int
    digest: str  # SHA-256 of the token, in hexadecimal
    name: str
    role: str
    made_by: str
    at: float
    until: float
    used: float | None  # when last, to the minute
    revoked: float | None


def from_stored(kind: type[T], values: dict[str, Any]) -> T:
    """A record from its values; what an older version lacks is None, what a newer has is left."""
    fields: Any = kind
    known = {field.name: None for field in dataclasses.fields(fields)}
    return kind(**(known | {name: values[name] for name in known.keys() & values.keys()}))


@contextmanager
def as_written(url: str) -> Iterator[None]:
    """Within this, values that askmeans never writes are a StoreDamagedError."""
    try:
        yield
    except AskmeansError:
        raise
    except _READING_ERRORS as error:
        raise StoreDamagedError(
            f"{url} must hold what askmeans wrote. Got something else, as after an edit by hand "
            f"({type(error).__name__}: {error!s:.100}); put a backup in its place."
        ) from error


def check(condition: object, what: str) -> None:
    """Refuse what cannot have been written."""
    if not condition:
        raise ValueError(what)


def is_number(value: object, low: float = -math.inf, high: float = math.inf) -> bool:
    """Whether it is a finite number within bounds."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and low <= value <= high  # type: ignore[arg-type, operator]  # it is one


def is_whole(value: object, low: int = 0) -> bool:
    """Whether it is a whole number, from a lowest up."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= low


def check_question(number: Any, question: Question) -> None:
    """Refuse a question that was never asked."""
    where = f"question {number!r:.20}"
    check(is_whole(number, 1) and question.kind in KINDS, where)
    width = KINDS[question.kind].width
    check(len(set(question.items)) == len(question.items) == width, where)
    check(all(is_whole(item) for item in question.items) and is_whole(question.repeat), where)
    may_name = ("membership", "group")  # to a group question the one whose sub-groups are asked for
    is_named = is_whole(question.cluster) and question.kind in may_name
    check(is_named or (question.cluster is None and question.kind != "membership"), where)
