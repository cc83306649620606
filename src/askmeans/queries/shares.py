"""What people say to a group question, as a row of shares: one number for each group.

A row of one group has 1 there; several groups have shares, which sum to at most 1. What is left of
1 is in none of these; a row of zeros is in none at all, a row of NaN is "cannot say".
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
    "The shares are more than 100 % together, so nothing was saved. Lower them; what is left of "
    "100 % is in none of these."
)
Row = tuple[float, ...]

_SLACK = 1e-6  # by which shares may exceed 1 together: they were rounded
_LAST_BITS = 1e-12  # by which they may after they were divided by their sum
_ROUNDED = 0.02  # by which shares that people typed may: 33%, 33% and 34.5%
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?"
_QUOTED = r'"(?:[^"]|"")*"'
_PART = re.compile(
    rf"\s*({_QUOTED}|.+?)\s*[:=]\s*({_NUMBER})\s*(%?)\s*(?:,|;|$)", re.DOTALL
)  # fmt: skip
_NUMBERED = re.compile(rf"(\d+):({_NUMBER})", re.ASCII)


def as_row(value: Any, n_clusters: int, names: Sequence[str] = ()) -> Row:
    """The row that an answer to a group question means, or an AnswerError.

    `value` is a group's number or name, a mapping of groups to shares, or the whole row; an empty
    one for "none of these", None for "cannot say".

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
                f"A row of shares must have one for each of the {n_clusters} groups. "
                f"Got {len(value)} instead; () is none of these."
            )
        if all(isinstance(share, Real) and math.isnan(share) for share in value):
            return (math.nan,) * n_clusters
        row = [_share(share) for share in value]
    total = sum(row)
    if total > 1.0 + _SLACK:
        raise AnswerError(
            f"Shares must sum to at most 1; what is left is in none of these. Got {total:g} "
            "instead; divide them by their sum.",
            user_message=SHARES_EXCEED_1,
        )
    return _scaled(row)


def parse_row(text: str, names: Sequence[str], first: int = 0) -> Row | None:
    """The row that somebody typed: ``2``, a name, ``A:.7,B:.3``, ``none`` or ``?``; or None.

    `first` is the number of the first group: 0 in files, 1 where people type, whose 0 is "none".
    ``none`` and ``?`` are reserved: a group that is called so is named in quotes, as any may be
    (``"none"``; a quote in a name is doubled).

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
    while found := _PART.match(text, end):
        group = _typed(found[1], names, first)
        if group is None:
            return None
        shares[group] += float(found[2]) / (100.0 if found[3] else 1.0)
        end = found.end()
    if end != len(text) or not end or sum(shares) > 1.0 + _ROUNDED:
        return None
    return _scaled(shares)


def parse_numbered(text: str, n_clusters: int) -> Row | None:
    """The row that `numbered_text` wrote, whatever groups are called; None for another text.

    >>> parse_numbered("0:0.75,1:0.25", 2), parse_numbered("none", 2), parse_numbered("2", 2)
    ((0.75, 0.25), (0.0, 0.0), None)
    """
    shares = [0.0] * n_clusters
    for part in text.split(",") if text != NONE else ():
        found = _NUMBERED.fullmatch(part)
        if found is None or int(found[1]) >= n_clusters:
            return None
        shares[int(found[1])] += float(found[2])
    return None if sum(shares) > 1.0 + _ROUNDED else _scaled(shares)


def row_text(row: Sequence[float], names: Sequence[str]) -> str:
    """A row as people type it; it may be shorter, from before a group was added.

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
    """A row as files keep it, by the groups' numbers, which never change; "" for "cannot say".

    >>> numbered_text((0.0, 1.0)), numbered_text((0.75, 0.25)), numbered_text((0.0, 0.0))
    ('1:1', '0:0.75,1:0.25', 'none')
    """
    if all(math.isnan(share) for share in row):
        return ""
    parts = [f"{group}:{_digits(share)}" for group, share in enumerate(row) if share > 0.0]
    return ",".join(parts) or NONE


def mean_row(rows: Sequence[Sequence[float]], n_clusters: int) -> Row:
    """The mean of what several people said, of those who could say; NaN where nobody could.

    Shorter rows are from before a group was added, of which they say nothing.

    >>> mean_row([(1.0, 0.0), (0.5, 0.5), (math.nan, math.nan)], 2)
    (0.75, 0.25)
    """
    found = []
    for group in range(n_clusters):
        said = [row[group] for row in rows if group < len(row) and not math.isnan(row[group])]
        found.append(math.fsum(said) / len(said) if said else math.nan)
    return tuple(found)


def _scaled(shares: Sequence[float]) -> Row:
    """Shares that exceed 1 together divided by their sum; done twice, it is as done once."""
    total = math.fsum(shares)
    return tuple(shares) if total <= 1.0 + _LAST_BITS else tuple(s / total for s in shares)


def _digits(share: float) -> str:
    """A share in as many digits as it takes, and no more."""
    return f"{share:.6g}" if float(f"{share:.6g}") == share else repr(share)


def _number(group: Any, n_clusters: int, names: Sequence[str]) -> int:
    """The number of a group that goes by its number or its name."""
    found: int | None = None
    if isinstance(group, str):
        found = group_of(group.strip(), names[:n_clusters])
    elif type(group) is not bool and isinstance(group, Integral):
        found = int(group)
    if found is None or not 0 <= found < n_clusters:
        there = f" ({', '.join(names)})" if names else ""
        raise AnswerError(
            f"A group must be a number from 0 to {n_clusters - 1} or a name{there}. "
            f"Got {group!r:.60} instead; () is none of these."
        )
    return found


def _share(share: Any) -> float:
    """A share, from 0 to 1."""
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 <= share <= 1:  # type: ignore[operator]  # mypy sees no numbers ABC
        raise AnswerError(
            f"A share must be a number in [0, 1]. Got {share!r:.60} instead; None in place of the "
            "whole answer says that one cannot say."
        )
    return float(share) + 0.0  # -0.0 is 0.0


def _typed(text: str, names: Sequence[str], first: int) -> int | None:
    """The group that somebody typed: a name in quotes, or as `group_of` has it."""
    if re.fullmatch(_QUOTED, text):
        name = text[1:-1].replace('""', '"')
        if name in names:
            return names.index(name)
    return group_of(text, names, first)


def group_of(text: str, names: Sequence[str], first: int = 0) -> int | None:
    """The place of the group of this name, in whatever case, or number; or None.

    A name comes before a number; of "Group B" the letter will do. One of several groups whose names
    differ in their case only has to be named to the letter.

    >>> names = ["Group A", "Group B"]
    >>> group_of("b", names), group_of("1", names), group_of("1", names, first=1)
    (1, 1, 0)
    """
    for same in (str, str.casefold):
        found = [j for j, name in enumerate(names) if same(name) == same(text)]
        if len(found) == 1:
            return found[0]
    number = whole_number(text)
    if number is not None:
        return number - first if first <= number < first + len(names) else None
    found = [j for j, name in enumerate(names) if name.casefold() == f"group {text}".casefold()]
    return found[0] if found else None


def difference(one: float | Row, other: float | Row) -> float:
    """How far two answers are apart, from 0 to 1: of rows half the sum, with what is in none."""
    if not isinstance(one, tuple) or not isinstance(other, tuple):
        assert not isinstance(one, tuple)
        assert not isinstance(other, tuple)
        return abs(one - other)
    apart = [a - b for a, b in itertools.zip_longest(one, other, fillvalue=0.0)]
    return 0.5 * float(sum(map(abs, apart)) + abs(sum(apart)))


def largest_difference(answers: Iterable[float | Row]) -> float:
    """How far the two answers are apart that differ most; 0 of one."""
    return max((difference(a, b) for a, b in itertools.combinations(answers, 2)), default=0.0)
