"""Answers to group questions as rows of shares: parsing, formatting and means.

A row has one share for each group, with a sum of at most 1. The rest belongs to none of the groups.
A row of zeros is "none of these", a row of NaN is "cannot say".
"""

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from askmeans._util.checks import whole_number
from askmeans.exceptions import AnswerError

__all__ = ["NONE", "SHARES_EXCEED_1", "Row", "as_row", "difference", "group_of",
           "largest_difference", "mean_row", "numbered_text", "parse_numbered", "parse_row",
           "row_text"]  # fmt: skip

NONE = "none"  # of these
SHARES_EXCEED_1 = (
    "The shares sum to more than 100 %, so nothing was saved. Lower them; the rest to 100 % is in "
    "none of these."
)
Row = tuple[float, ...]

# Tolerances for a sum of shares above 1.
_SLACK = 1e-6  # shares that were written with six digits
_LAST_BITS = 1e-12  # shares that were divided by their sum
_ROUNDED = 0.02  # shares that people typed: 33%, 33% and 34.5%
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?"
_QUOTED = r'"(?:[^"]|"")*"'
_PART = re.compile(
    rf"\s*({_QUOTED}|.+?)\s*[:=]\s*({_NUMBER})\s*(%?)\s*(?:,|;|$)", re.DOTALL
)  # fmt: skip
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
            user_message="This answer names no group, so it was not saved. Choose a group, “None "
            "of these” or “Cannot say”.",
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


def mean_row(rows: Sequence[Sequence[float]], n_clusters: int) -> Row:
    """Return the mean of the known shares of each group; NaN for a group without any.

    Groups missing in a shorter row, from before they were added, are unknown.

    >>> mean_row([(1.0, 0.0), (0.5, 0.5), (math.nan, math.nan)], 2)
    (0.75, 0.25)
    """
    means = []
    for group in range(n_clusters):
        shares = [row[group] for row in rows if group < len(row) and not math.isnan(row[group])]
        means.append(math.fsum(shares) / len(shares) if shares else math.nan)
    return tuple(means)


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
    number = whole_number(text)
    if number is not None:
        return number - first if first <= number < first + len(names) else None
    matches = [j for j, name in enumerate(names) if name.casefold() == f"group {text}".casefold()]
    return matches[0] if matches else None


def difference(one: float | Row, other: float | Row) -> float:
    """The difference of two answers, from 0 to 1; of rows the total variation, with "none"."""
    if not isinstance(one, tuple) or not isinstance(other, tuple):
        assert not isinstance(one, tuple)
        assert not isinstance(other, tuple)
        return abs(one - other)
    gaps = [a - b for a, b in itertools.zip_longest(one, other, fillvalue=0.0)]
    return 0.5 * float(sum(map(abs, gaps)) + abs(sum(gaps)))


def largest_difference(answers: Iterable[float | Row]) -> float:
    """The largest difference between two of the answers; 0 for one answer."""
    return max((difference(a, b) for a, b in itertools.combinations(answers, 2)), default=0.0)
