"""Records of a store besides its events, and checks of values that are read from a database.

After an edit by hand a database may hold any values. A check raises a ValueError; `as_written`
converts it, and other errors that such values cause while they are read, to a StoreDamagedError.
"""

import dataclasses
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from askmeans.exceptions import AskmeansError, StoreDamagedError
from askmeans.queries import Question
from askmeans.queries.questions import KINDS

T = TypeVar("T")
Role = Literal["owner", "annotator"]

_READING_ERRORS = (
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError,
    RecursionError, StopIteration,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """A session as it was created; `config` is JSON. It never changes."""

    id: int
    name: str
    config: dict[str, Any]
    fingerprint: str
    made_by: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPart:
    """Rows of a session: a matrix in raw bytes or a file's path, and their display to people.

    Part 0 has the rows that the session was created with; later parts have added rows.
    """

    part: int
    dtype: str
    shape: tuple[int, int]
    fingerprint: str
    path: str | None
    display: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A question is reserved for an annotator until a time of the database's clock."""

    question: int
    annotator: str
    until: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Invite:
    """An invitation; times are seconds since 1970 by the database's clock.

    Parameters
    ----------
    number : int
        By which it is revoked.
    name : str
        Whom it is for.
    role : {"owner", "annotator"}
        What they may do.
    made_by : str
        Who made it.
    at : float
        When it was made.
    until : float
        When it ends.
    used : float or None
        When it was last used, to the minute; None if never.
    state : {"valid", "expired", "revoked"}
        Whether it is valid.
    """

    number: int
    name: str
    role: Role
    made_by: str
    at: float
    until: float
    used: float | None
    state: Literal["valid", "expired", "revoked"]


def from_stored(kind: type[T], values: dict[str, Any]) -> T:
    """Make a record of stored values; missing fields are None, unknown ones are ignored."""
    fields: Any = kind
    known = {field.name: None for field in dataclasses.fields(fields)}
    return kind(**(known | {name: values[name] for name in known.keys() & values.keys()}))


@contextmanager
def as_written(url: str) -> Iterator[None]:
    """Convert errors of reading values that askmeans never writes to a StoreDamagedError."""
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
    """Raise a ValueError unless the condition holds."""
    if not condition:
        raise ValueError(what)


def is_number(value: object, low: float = -math.inf, high: float = math.inf) -> bool:
    """Whether a value is a finite number within bounds."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and low <= value <= high  # type: ignore[arg-type, operator]  # it is one


def is_whole(value: object, low: int = 0) -> bool:
    """Whether a value is an integer of at least `low`."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= low


def check_question(number: Any, question: Question) -> None:
    """Raise a ValueError unless this is a valid question."""
    where = f"question {number!r:.20}"
    check(is_whole(number, 1) and question.kind in KINDS, where)
    width = KINDS[question.kind].width
    check(len(set(question.items)) == len(question.items) == width, where)
    check(all(is_whole(item) for item in question.items) and is_whole(question.repeat), where)
    may_name = ("membership", "group")  # to a group question the one whose sub-groups are asked for
    is_named = is_whole(question.cluster) and question.kind in may_name
    check(is_named or (question.cluster is None and question.kind != "membership"), where)
