"""Values of answers: rows of shares of groups, points of a scale, several values combined.

A row has one share for each group, with a sum of at most 1. The rest belongs to none of the groups.
A row of zeros is "none of these", a row of NaN is "cannot say". A scale has evenly spaced points
from 0 to 1.
"""

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import parse_digits
from askmeans._util.message import Message, Percent
from askmeans.exceptions import AnswerError

NONE = "none"  # of these
SHARES_EXCEED_1 = Message(
    "The shares sum to more than {all}, so nothing was saved. Lower them; the rest to {all} is in "
    "none of these.",
    all=Percent(1.0),
)
Row = tuple[float, ...]
Value = float | Row

# Tolerances for a sum of shares above 1.
_SLACK = 1e-6  # shares that were written with six digits
_LAST_BITS = 1e-12  # shares that were divided by their sum
_ROUNDED = 0.02  # shares that people typed: 33%, 33% and 34.5%
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?"
_QUOTED = r'"(?:[^"]|"")*"'
_PART = re.compile(
    rf"\s*({_QUOTED}|.+?)\s*[:=]\s*({_NUMBER})\s*(%?)\s*(?:,|;|$)", re.DOTALL
)  # fmt: skip
_LISTED = 11  # points of a scale that are all listed, at most
_TYPED = 0.005  # by which an answer may be off a point: 33% of 1/3
_NUMBERED = re.compile(rf"(\d+):({_NUMBER})", re.ASCII)


def as_row(value: Any, n_clusters: int, names: Sequence[str] = ()) -> Row:
    """Convert an answer to a group question to a row.

    `value` is a group's number or name, a mapping of groups to shares, or a row; an empty one is
    "none of these", None is "cannot say". Anything else is an AnswerError.

    >>> as_row(1, 2), as_row({"big": 0.7}, 2, ["small", "big"]), as_row((), 2), as_row(None, 2)
    ((0.0, 1.0), (0.0, 0.7), (0.0, 0.0), (nan, nan))
    """
    if value is None or (isinstance(value, Real) and math.isnan(value)):
        return (math.nan,) * n_clusters
    if isinstance(value, Integral | str):
        value = {value: 1.0}
    row = [0.0] * n_clusters
    if isinstance(value, Mapping):
        for group, share in value.items():
            row[_number(group, n_clusters, names)] += _share(share)
    elif isinstance(value, Real) or not hasattr(value, "__len__"):
        raise AnswerError(
            "An answer to a group question must be a group's number or name, a mapping of groups "
            f"to shares, () for none of these or None for 'cannot say'. Got {value!r:.60} instead.",
            user_message=Message(
                "This answer names no group, so it was not saved. Choose a group, “None "
                "of these” or “Cannot say”."
            ),
        )
    elif len(value):
        if len(value) != n_clusters:
            raise AnswerError(
                f"A row must have one share for each of the {n_clusters} groups. "
                f"Got {len(value)} instead; () is none of these."
            )
        if all(isinstance(share, Real) and math.isnan(share) for share in value):
            return (math.nan,) * n_clusters
        row = [_share(share) for share in value]
    total = sum(row)
    if total > 1.0 + _SLACK:
        raise AnswerError(
            f"Shares must sum to at most 1; the rest is in none of these. Got {total:g} "
            "instead; divide them by their sum.",
            user_message=SHARES_EXCEED_1,
        )
    return _scaled(row)


def parse_row(text: str, names: Sequence[str], first: int = 0) -> Row | None:
    """Parse a typed answer: ``2``, a name, ``A:.7,B:.3``, ``none`` or ``?``; None for other text.

    `first` is the number of the first group: 0 in files, 1 in typed answers, in which 0 is "none".
    ``none`` and ``?`` are reserved: a group of this name must be quoted (``"none"``), as any group
    may be; a quote in a name is doubled.

    >>> names = ["Group A", "Group B"]
    >>> parse_row("1", names), parse_row("group b", names), parse_row("A:.7,B:.3", names)
    ((0.0, 1.0), (0.0, 1.0), (0.7, 0.3))
    >>> parse_row("none", names), parse_row("?", names), parse_row("what", names)
    ((0.0, 0.0), (nan, nan), None)
    >>> parse_row('"none"', ["none", "some"]), parse_row("none", ["none", "some"])
    ((1.0, 0.0), (0.0, 0.0))
    """
    k, text = len(names), text.strip()
    if text == "?":
        return as_row(None, k)
    if text.lower() == NONE or (first == 1 and text == "0"):  # as on the page
        return as_row((), k)
    one = _typed(text, names, first)
    if one is not None:
        return as_row(one, k)
    shares, end = [0.0] * k, 0
    while match := _PART.match(text, end):
        group = _typed(match[1], names, first)
        if group is None:
            return None
        shares[group] += float(match[2]) / (100.0 if match[3] else 1.0)
        end = match.end()
    if end != len(text) or not end or sum(shares) > 1.0 + _ROUNDED:
        return None
    return _scaled(shares)


def parse_numbered(text: str, n_clusters: int) -> Row | None:
    """Parse a text of `numbered_text`, which has no names; None for other text.

    >>> parse_numbered("0:0.75,1:0.25", 2), parse_numbered("none", 2), parse_numbered("2", 2)
    ((0.75, 0.25), (0.0, 0.0), None)
    """
    shares = [0.0] * n_clusters
    for part in text.split(",") if text != NONE else ():
        match = _NUMBERED.fullmatch(part)
        if match is None or int(match[1]) >= n_clusters:
            return None
        shares[int(match[1])] += float(match[2])
    return None if sum(shares) > 1.0 + _ROUNDED else _scaled(shares)


def row_text(row: Sequence[float], names: Sequence[str]) -> str:
    """Format a row as people type it; it may be shorter than the list of names.

    >>> names = ["small", "big"]
    >>> row_text((0.0, 1.0), names), row_text((0.7, 0.3), names), row_text((0.0, 0.0), names)
    ('big', 'small:0.7,big:0.3', 'none')
    """
    if all(math.isnan(share) for share in row):
        return "?"
    named: dict[str, float] = {}
    for name, share in zip(names, row, strict=False):
        if share > 0.0:  # merged groups have one name
            named[name] = named.get(name, 0.0) + share
    if not named:
        return NONE
    if list(named.values()) == [1.0]:
        return next(iter(named))
    return ",".join(f"{name}:{share:.6g}" for name, share in named.items())


def numbered_text(row: Sequence[float]) -> str:
    """Format a row for files, by the groups' numbers, which never change; "" for "cannot say".

    >>> numbered_text((0.0, 1.0)), numbered_text((0.75, 0.25)), numbered_text((0.0, 0.0))
    ('1:1', '0:0.75,1:0.25', 'none')
    """
    if all(math.isnan(share) for share in row):
        return ""
    parts = [f"{group}:{_digits(share)}" for group, share in enumerate(row) if share > 0.0]
    return ",".join(parts) or NONE


def combined(values: Iterable[Value], n_clusters: int = 0) -> Value:
    """The median of several annotators' answers, of rows the mean of each group's known shares.

    NaN ("cannot say") counts for nothing. Rows from before a group was added are shorter: its
    share is unknown there. With `n_clusters` a row has as many shares at least.

    >>> combined([0.2, 0.9, 0.3, math.nan]), combined([(1.0, 0.0), (0.5, 0.5), (math.nan,) * 2])
    (0.3, (0.75, 0.25))
    """
    values = list(values)
    if len(values) == 1 and not n_clusters:  # as most are
        return values[0]
    rows = [value for value in values if isinstance(value, tuple)]
    if rows:
        width = max(n_clusters, *map(len, rows))
        columns = ([row[j] for row in rows if j < len(row)] for j in range(width))
        known = ([share for share in column if not math.isnan(share)] for column in columns)
        return tuple(math.fsum(shares) / len(shares) if shares else math.nan for shares in known)
    numbers = [v for v in values if not isinstance(v, tuple) and not math.isnan(v)]
    return float(np.median(numbers)) if numbers else math.nan


def _scaled(shares: Sequence[float]) -> Row:
    """Divide shares that sum to more than 1 by their sum; idempotent."""
    total = math.fsum(shares)
    return tuple(shares) if total <= 1.0 + _LAST_BITS else tuple(s / total for s in shares)


def _digits(share: float) -> str:
    """Format a share with the digits that it needs."""
    return f"{share:.6g}" if float(f"{share:.6g}") == share else repr(share)


def _number(group: Any, n_clusters: int, names: Sequence[str]) -> int:
    """Return the number of a group from its number or name."""
    number: int | None = None
    if isinstance(group, str):
        number = group_of(group.strip(), names[:n_clusters])
    elif type(group) is not bool and isinstance(group, Integral):
        number = int(group)
    if number is None or not 0 <= number < n_clusters:
        listed = f" ({', '.join(names)})" if names else ""
        raise AnswerError(
            f"A group must be a number from 0 to {n_clusters - 1} or a name{listed}. "
            f"Got {group!r:.60} instead; () is none of these."
        )
    return number


def _share(share: Any) -> float:
    """Check a share, from 0 to 1."""
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 <= share <= 1:  # type: ignore[operator]  # mypy sees no numbers ABC
        raise AnswerError(
            f"A share must be a number in [0, 1]. Got {share!r:.60} instead; pass None as the "
            "answer for 'cannot say'."
        )
    return float(share) + 0.0  # -0.0 is 0.0


def _typed(text: str, names: Sequence[str], first: int) -> int | None:
    """Parse a typed group: a name in quotes, or a form of `group_of`."""
    if re.fullmatch(_QUOTED, text):
        name = text[1:-1].replace('""', '"')
        if name in names:
            return names.index(name)
    return group_of(text, names, first)


def group_of(text: str, names: Sequence[str], first: int = 0) -> int | None:
    """Return the index of a group from its name, in any case, or its number; else None.

    Names take precedence over numbers; "B" is short for "Group B". Case matters for groups whose
    names differ in case only.

    >>> names = ["Group A", "Group B"]
    >>> group_of("b", names), group_of("1", names), group_of("1", names, first=1)
    (1, 1, 0)
    """
    for same in (str, str.casefold):
        matches = [j for j, name in enumerate(names) if same(name) == same(text)]
        if len(matches) == 1:
            return matches[0]
    number = parse_digits(text)
    if number is not None:
        return number - first if first <= number < first + len(names) else None
    matches = [j for j, name in enumerate(names) if name.casefold() == f"group {text}".casefold()]
    return matches[0] if matches else None


def difference(one: Value, other: Value) -> float:
    """The difference of two answers, from 0 to 1; of rows the total variation, with "none"."""
    if not isinstance(one, tuple) or not isinstance(other, tuple):
        assert not isinstance(one, tuple)
        assert not isinstance(other, tuple)
        return abs(one - other)
    gaps = [a - b for a, b in itertools.zip_longest(one, other, fillvalue=0.0)]
    return 0.5 * float(sum(map(abs, gaps)) + abs(sum(gaps)))


def largest_difference(answers: Iterable[Value]) -> float:
    """The largest difference between two of the answers; 0 for one answer."""
    return max((difference(a, b) for a, b in itertools.combinations(answers, 2)), default=0.0)


# ---- scales -------------------------------------------------------------------------------------


def to_scale(values: Any, levels: int) -> NDArray[np.float64]:
    """The nearest points of a scale; NaN stays.

    >>> to_scale([0.3, 0.375, 1.2], 5)
    array([0.25, 0.5 , 1.  ])
    """
    inside = np.clip(np.asarray(values, np.float64), 0.0, 1.0)
    # Half a step rounds up, always: numpy would round it to even.
    points: NDArray[np.float64] = np.floor(inside * (levels - 1) + 0.5 + _LAST_BITS) / (levels - 1)
    return points


def on_scale(value: float, levels: int) -> float | None:
    """The point of a scale that was typed; None between two of them.

    >>> on_scale(0.33, 4), on_scale(0.4, 4)
    (0.3333333333333333, None)
    """
    point = float(to_scale(value, levels))
    tolerance = min(_TYPED, 0.25 / (levels - 1))
    return point if abs(point - value) <= tolerance + _LAST_BITS else None


def scale_text(levels: int) -> str:
    """The points of a scale in words: all of a few, or the first and the last.

    >>> scale_text(3), scale_text(21)
    ('0, 0.5 or 1', '0, 0.05, 0.1, and so on in steps of 0.05 to 1')
    """
    points = [f"{point / (levels - 1):.3g}" for point in range(levels)]
    if levels > _LISTED:
        points = [*points[:3], f"and so on in steps of {points[1]}"]
        return f"{', '.join(points)} to 1"
    return f"{', '.join(points[:-1])} or {points[-1]}"


def rounding_noise(levels: int | None) -> float:
    """The standard deviation of the error of rounding to a scale: a uniform error of one step.

    >>> round(rounding_noise(11), 4), rounding_noise(None)
    (0.0289, 0.0)
    """
    return 0.0 if levels is None else 1.0 / (levels - 1) / math.sqrt(12.0)
