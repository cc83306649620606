"""The groups of a session: numbers that never shift, and answers as the groups of now see them.

Rules of this file:
- A group keeps its number for ever. A merged one redirects to another; one that was removed, or
  whose adding was taken back, is gone, and its number is not given again. The columns of a result
  are the living groups.
- A row of shares has one number for each group there was when it was given. What it says of groups
  that came later, and what is asked again, `askmeans.policy.growing` has.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from askmeans._util.checks import parse_digits
from askmeans.exceptions import AnswerError
from askmeans.policy.advisers import Advice
from askmeans.policy.growing import filled, without_replaced
from askmeans.queries import Answer, Question
from askmeans.queries.values import SHARES_EXCEED_1, Row, as_row, to_scale
from askmeans.sessions.events import Adjudicate, Reply, Value

RESERVED = "id"  # a column of every table of memberships, so no group's name
NO_SUCH_GROUP = (
    "This group is not there any more: it was merged, removed or taken back, so nothing was "
    "saved. Reload the page, and choose one of the groups there are now."
)

_ROUNDED = 0.005  # how far from a point of a scale people write it: 33% of 1/3


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupNumbers:
    """Which groups there are."""

    n: int  # numbers that were given
    into: Mapping[int, int] = field(default_factory=dict)  # a merged group -> what it is part of
    gone: frozenset[int] = frozenset()  # removed, or added and taken back

    @property
    def living(self) -> list[int]:
        """Numbers of the groups that are there, in the order of a result's columns."""
        return [j for j in range(self.n) if j not in self.into and j not in self.gone]

    @property
    def is_plain(self) -> bool:
        """Whether every number is a column."""
        return not self.into and not self.gone

    def resolve(self, number: int) -> int | None:
        """The living group that a number stands for; None for one that is gone, or never was."""
        while number in self.into:
            number = self.into[number]
        return number if 0 <= number < self.n and number not in self.gone else None

    def column(self, number: int) -> int | None:
        """The column of a result that a number stands for."""
        group = self.resolve(number)
        return None if group is None else self.living.index(group)

    def members(self, number: int) -> list[int]:
        """The numbers that stand for a living group."""
        return [j for j in range(self.n) if self.resolve(j) == number]

    def to_columns(self, question: Question) -> Question | None:
        """A question with the column of its group in place of the number; None for one gone."""
        if question.cluster is None:
            return question
        column = self.column(question.cluster)
        return None if column is None else question._replace(cluster=column)

    def to_numbers(self, question: Question) -> Question:
        """A question of a policy with the number of its group in place of the column."""
        if question.cluster is None:
            return question
        return question._replace(cluster=self.living[question.cluster])

    def row_now(self, row: Row) -> Row:
        """A row by the columns of now: NaN where it is silent."""
        if len(row) == self.n and self.is_plain:
            return row
        row = filled(row, self.n)
        return tuple(math.fsum(row[j] for j in self.members(group)) for group in self.living)

    def row_from(self, value: Any, names: Sequence[str]) -> Row:
        """An answer as a row of shares by the columns of now; `values.as_row` says what is one."""
        if isinstance(value, Integral | str):
            value = {value: 1.0}
        if isinstance(value, Mapping):
            shares: dict[Any, Any] = {}
            for group, share in value.items():
                column = self._column_or_name(group, names)
                shares[column] = share + shares[column] if column in shares else share
            value = shares
        return as_row(value, len(self.living), names)

    def _column_or_name(self, group: Any, names: Sequence[str]) -> Any:
        """The column of a group that goes by its number; a name stays one."""
        number = group
        if isinstance(group, str):
            number = None if group.strip() in names else parse_digits(group.strip())
        if type(number) is bool or not isinstance(number, Integral):
            return group
        column = self.column(int(number))
        if column is None:
            raise AnswerError(
                f"A group must be one of the numbers {', '.join(map(str, self.living))}. "
                f"Got {group} instead; () is none of these.",
                user_message=NO_SUCH_GROUP,
            )
        return column

    def row_by_number(self, row: Row) -> Row:
        """A row of the columns of now by the groups' numbers."""
        shares = [0.0] * self.n
        for group, share in zip(self.living, row, strict=True):
            shares[group] = share
        return tuple(shares)


def as_evidence(
    events: Iterable[Reply | Adjudicate],
    question_of: Callable[[int], Question],
    groups: GroupNumbers,
) -> list[Answer]:
    """Answers as the groups of now see them, in their order."""
    plain = groups.is_plain
    silent = (math.nan,) * len(groups.living)
    answers = []
    for event in events:
        question = question_of(event.question)
        answer = Answer(
            round=0, kind=question.kind, items=question.items, cluster=question.cluster,
            repeat=question.repeat, annotator=event.annotator,
            value=_value(event, question, groups, silent),
        )  # fmt: skip
        if question.kind == "membership" and not plain:
            assert question.cluster is not None
            column = groups.column(question.cluster)
            if column is None:
                continue  # of a group that is gone
            answer = replace(answer, cluster=column)
        answers.append(answer)
    return without_replaced(answers)


def as_advice(
    advice: Mapping[str, Mapping[int, Row | None]], groups: GroupNumbers
) -> tuple[Advice, ...]:
    """What advisers say of items, by the groups of now."""
    tables = []
    for name, rows in sorted(advice.items()):
        known = {row: groups.row_now(shares) for row, shares in rows.items() if shares is not None}
        if known:
            items, table = np.array(list(known), dtype=np.intp), np.array(list(known.values()))
            tables.append(Advice.of_table(name, items, table))
    return tuple(tables)


def _value(
    event: Reply | Adjudicate, question: Question, groups: GroupNumbers, silent: Row
) -> float | Row:
    """An answer, by the columns of now."""
    if isinstance(event.value, tuple):
        return groups.row_now(event.value)
    if question.kind == "group":
        return silent
    return math.nan if event.value is None else event.value


def as_shares(value: Any, groups: GroupNumbers, names: list[str], levels: int | None) -> Value:
    """A row of shares by the groups' numbers."""
    row = groups.row_from(value, names)
    if any(map(math.isnan, row)):
        raise AnswerError(
            "An answer to a group question must be a group or shares, () for none of these. "
            f"Got {value!r:.60} instead; unsure() says that one cannot say.",
            user_message="This answer names no group, so it was not saved. Choose a group, “None "
            "of these” or “Cannot say”.",
        )
    if levels is not None:
        row = tuple(as_number(share, levels) for share in row)
        if sum(row) > 1.0 + 1e-9:
            raise AnswerError(
                f"Shares must sum to at most 1 on the session's scale. Got {sum(row):g} instead.",
                user_message=SHARES_EXCEED_1,
            )
    return groups.row_by_number(row)


def as_number(value: Any, levels: int | None) -> float:
    """A number from 0 to 1, one of the scale's points where there is a scale."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= value <= 1:  # type: ignore[operator]  # mypy sees no numbers ABC
        raise AnswerError(
            f"An answer must be a number in [0, 1]. Got {value!r:.60} instead; unsure() says that "
            "one cannot say.",
            user_message="An answer lies between 0 and 1, and this one does not, so it was not "
            "saved. Choose another, or “Cannot say”.",
        )
    if levels is None:
        return float(value) + 0.0  # -0.0 is 0.0
    point = float(to_scale(value, levels))
    if abs(point - float(value)) > _ROUNDED:
        raise AnswerError(
            f"An answer must be one of the {levels} points of the session's scale, 0, "
            f"{1 / (levels - 1):.3g} and so on to 1. Got {value!r} instead; the nearest is "
            f"{point:.3g}.",
            user_message=f"Answers here have {levels} steps, and this one lies between two of "
            f"them, so it was not saved. The nearest is {point:.3g}.",
        )
    return point


def taken_name(name: str) -> str:
    """What people read where a group has the name already that they gave to another."""
    if name == RESERVED:
        return f"No group can be called “{name}”: tables use it for the items. Choose another name."
    return f"Another group is called “{name}” already. Choose another name."


def unique_names(known: Mapping[int, str], n_clusters: int) -> list[str]:
    """Known names, "Group A" and so on for the others; all different, and none is "id"."""
    names: dict[int, str] = {}
    taken = {RESERVED}
    for j, name in sorted(known.items()):  # an old database may have the same name twice
        counted = (f"{name} ({count})" for count in itertools.count(2))
        names[j] = next(each for each in itertools.chain([name], counted) if each not in taken)
        taken.add(names[j])
    for j in range(n_clusters):
        if j not in names:
            letters = map(_group_name, itertools.chain([j], itertools.count(n_clusters)))
            names[j] = next(each for each in letters if each not in taken)
            taken.add(names[j])
    return [names[j] for j in range(n_clusters)]


def _group_name(number: int) -> str:
    """Group A to Group Z, then Group AA and so on."""
    letters = ""
    number += 1
    while number:
        number, place = divmod(number - 1, 26)
        letters = chr(ord("A") + place) + letters
    return f"Group {letters}"
