"""What a database holds is checked as it is read: after an edit by hand it may be anything.

A check raises a ValueError; `as_written` makes one error of it and of whatever else such values
lead to while they are read, with a remedy. What was read is then what askmeans writes.
"""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from askmeans.exceptions import AskmeansError, StoreDamagedError
from askmeans.queries import Question
from askmeans.queries.questions import KINDS
from askmeans.sessions.log import Event, EventKind

__all__ = ["as_written", "check", "check_event", "check_question", "is_number", "is_whole"]

_TOLD = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError,
         RecursionError, StopIteration)  # fmt: skip
_ABOUT_QUESTIONS = frozenset({
    EventKind.ANSWER, EventKind.UNSURE, EventKind.HELD, EventKind.GOLD, EventKind.SKIP,
    EventKind.AGAIN, EventKind.UNDO, EventKind.ADJUDICATE, EventKind.OPINIONS,
})  # fmt: skip
_ABOUT_GROUPS = frozenset({
    EventKind.RENAME, EventKind.DESCRIBE, EventKind.GROUP, EventKind.MERGE, EventKind.PIN,
})  # fmt: skip
_ROWS = frozenset({EventKind.RENAME, EventKind.MERGE, EventKind.PIN})  # a row, or a group
_SLACK = 1e-3  # by which shares may exceed 1 together


@contextmanager
def as_written(url: str) -> Iterator[None]:
    """Within this, values that askmeans never writes are a StoreDamagedError."""
    try:
        yield
    except AskmeansError:
        raise
    except _TOLD as error:
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
    needs = question.kind == "membership"
    check(is_whole(question.cluster) if needs else question.cluster is None, where)


def check_event(event: Event) -> None:
    """Refuse an event that was never logged."""
    kind, where = event.kind, f"event {event.id!r:.20} ({event.kind})"
    asks, groups = kind in _ABOUT_QUESTIONS, kind in _ABOUT_GROUPS
    check(is_whole(event.id, 1) and is_number(event.at), where)
    check(isinstance(event.key, str) and isinstance(event.annotator, str), where)
    check(is_whole(event.question, 1) if asks else event.question is None, f"{where}: its question")
    check(event.text is None or isinstance(event.text, str), f"{where}: its text")
    known = is_whole(event.target)
    check(known or (event.target is None and not groups), f"{where}: its target")
    check(_is_value(event), f"{where}: its value")
    if kind is EventKind.OPTION:
        check(isinstance(json.loads(event.text or "{}"), dict), f"{where}: its text")
    elif kind is EventKind.MODEL:
        check(_are_memberships(json.loads(event.text or "[]")), f"{where}: its text")


def _is_value(event: Event) -> bool:
    """Whether an event's value is one of its kind."""
    value = event.value
    if event.kind in _ROWS:
        optional = event.kind is EventKind.RENAME and value is None
        return optional or (is_number(value, 0.0) and float(value).is_integer())  # type: ignore[arg-type]  # it is a number
    if isinstance(value, tuple):
        return all(is_number(share, 0.0, 1.0) for share in value) and sum(value) <= 1.0 + _SLACK
    return value is None or is_number(value, 0.0, 1.0)


def _are_memberships(pairs: Any) -> bool:
    """Whether these are pairs of a row and its shares, or None."""
    return isinstance(pairs, Sequence) and all(
        is_whole(row)
        and (shares is None or all(is_number(share, 0.0, 1.0 + _SLACK) for share in shares))
        for row, shares in pairs
    )
