"""How the fields of events are stored: in `value` (a number), `target` (a whole number) or `text`.

A row is checked when it is read: after an edit by hand it may hold any values.
"""

import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from askmeans.sessions.store.records import check, is_number, is_whole

_SLACK = 1e-3  # by which shares may exceed 1 together


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
