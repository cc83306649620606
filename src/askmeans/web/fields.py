"""Fields of items as people compare them: what names an item, ranges of numbers, what differs."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from askmeans.sessions import Session

__all__ = ["Cell", "as_text", "columns_of", "compared", "is_number"]

_SAMPLE = 2000  # rows from which the range of a column is told
_ID = re.compile(r"(^|[\W_])(id|ID|Id)$|[a-z]I[dD]$")  # "id", "product_id", "Order ID", "productId"
_DIFFERENT = 0.1  # of that range, from which two numbers differ


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A field of an item."""

    name: str
    value: str
    differs: bool = False
    place: float | None = None  # of a number between the smallest and the largest, 0 to 1
    others: tuple[float, ...] = ()  # where the numbers it is compared with lie


def columns_of(session: Session) -> tuple[dict[str, tuple[float, float]], frozenset[str]]:
    """Smallest and largest of every column of numbers; columns that name items. From a sample.

    A column names items where it is called an id, repeats their ids, or has another word for every
    item.
    """
    n = len(session.rows)
    found: dict[str, tuple[float, float]] = {}
    values: dict[str, list[Any]] = {}
    ids = []
    for row in range(0, n, max(1, math.ceil(n / _SAMPLE))):
        item = session.item(row)
        ids.append(item.id)
        for name, value in item.fields.items():
            values.setdefault(name, []).append(value)
            if is_number(value):
                low, high = found.get(name, (value, value))
                found[name] = (min(low, value), max(high, value))
    naming = frozenset(
        name
        for name, told in values.items()
        if _ID.search(name)
        or list(map(str, told)) == ids
        or (name not in found and len(set(told)) == len(told) > 1)
    )
    ranges = {name: (low, high) for name, (low, high) in found.items() if high > low}
    return ranges, naming


def compared(cell: Cell, others: Sequence[Cell | None]) -> Cell:
    """A cell beside those of the same name."""
    there = [other for other in others if other is not None]
    places = tuple(other.place for other in there if other.place is not None)
    differs = bool(there) and all(_differ(cell, other) for other in there)
    return replace(cell, differs=differs, others=places)


def _differ(a: Cell, b: Cell) -> bool:
    """Whether two cells differ: numbers by a good part of their range."""
    if a.place is not None and b.place is not None:
        return abs(a.place - b.place) > _DIFFERENT
    return a.value != b.value


def is_number(value: Any) -> bool:
    """Whether it is a number that can be compared."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_text(value: Any) -> str:
    """A field as people read it."""
    if value is None:
        return "no value"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
