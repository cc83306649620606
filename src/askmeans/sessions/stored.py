"""What a database holds is checked as it is read: after an edit by hand it may be anything.

A check raises a ValueError; `as_written` makes one error of it and of whatever else such values
lead to while they are read, with a remedy. What was read is then what askmeans writes.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from askmeans.exceptions import AskmeansError, StoreDamagedError
from askmeans.queries import Question
from askmeans.queries.questions import KINDS

__all__ = ["as_written", "check", "check_question", "is_number", "is_whole"]

_TOLD = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError,
         RecursionError, StopIteration)  # fmt: skip


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
