"""Records of a store besides its events, how fields of events are stored, and checks of both.

An event's fields are in the columns `value` (a number), `target` (a whole number) and `text`. After
an edit by hand a database may hold any values. A check raises a ValueError; `as_written` converts
it, and other errors that such values cause while they are read, to a StoreDamagedError.
"""

import dataclasses
import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

from askmeans.exceptions import AskmeansError, StoreDamagedError
from askmeans.queries import Question
from askmeans.queries.questions import KINDS

T = TypeVar("T")
Role = Literal["owner", "annotator"]
_SLACK = 1e-3  # by which shares may exceed 1 together

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


class Codec(NamedTuple):
    """The storage of a field."""

    write: Callable[[Any], dict[str, Any]]  # the columns
    read: Callable[[Any], Any]  # from a row; a ValueError for invalid values


def _read_target(row: Any) -> int:
    check(is_whole(row.target), "its target")
    return int(row.target)


def _read_number(row: Any) -> int:
    check(is_number(row.value, 0.0) and row.value == int(row.value), "its value")
    return int(row.value)


def _read_text(row: Any) -> str:
    check(row.text is None or isinstance(row.text, str), "its text")
    return row.text or ""


def _read_value(row: Any) -> float | tuple[float, ...] | None:
    if row.value is not None or not row.text:
        check(row.value is None or is_number(row.value, 0.0, 1.0), "its value")
        return None if row.value is None else float(row.value)
    shares = tuple(json.loads(row.text))
    check(_are_shares(shares), "its value")
    return shares


def _write_value(value: float | tuple[float, ...] | None) -> dict[str, Any]:
    if isinstance(value, tuple):
        return {"text": json.dumps(value, allow_nan=False)}
    assert value is None or math.isfinite(value)
    return {"value": value}


def _read_names(row: Any) -> tuple[str, ...]:
    names = tuple(json.loads(row.text or "[]"))
    check(bool(names) and all(isinstance(name, str) for name in names), "its text")
    return names


def _read_option(row: Any) -> dict[str, Any]:
    options = json.loads(row.text or "{}")
    check(isinstance(options, dict) and len(options) == 1, "its text")
    return dict(options)


def _read_advice(row: Any) -> tuple[tuple[int, tuple[float, ...] | None], ...]:
    pairs = tuple(
        (item, None if shares is None else tuple(shares))
        for item, shares in json.loads(row.text or "[]")
    )
    check(all(is_whole(item) for item, _ in pairs), "its text")
    known = [shares for _, shares in pairs if shares is not None]
    check(all(is_number(x, 0.0, 1.0 + _SLACK) for shares in known for x in shares), "its text")
    return pairs


def _are_shares(shares: tuple[Any, ...]) -> bool:
    """Whether the values are a row of shares."""
    return all(is_number(share, 0.0, 1.0) for share in shares) and sum(shares) <= 1.0 + _SLACK


TARGET = Codec(lambda number: {"target": number}, _read_target)
ANY_TARGET = Codec(TARGET.write, lambda row: None if row.target is None else _read_target(row))
NUMBER = Codec(lambda number: {"value": float(number)}, _read_number)
ANY_NUMBER = Codec(
    lambda number: {} if number is None else {"value": float(number)},
    lambda row: None if row.value is None else _read_number(row),
)
TEXT = Codec(lambda text: {"text": text}, _read_text)
NAMES = Codec(lambda names: {"text": json.dumps(names)}, _read_names)
IS_ON = Codec(lambda on: {"text": None if on else "off"}, lambda row: row.text != "off")
VALUE = Codec(_write_value, _read_value)
OPTION = Codec(lambda options: {"text": json.dumps(options)}, _read_option)
ADVICE = Codec(lambda pairs: {"text": json.dumps(pairs, allow_nan=False)}, _read_advice)
