"""The groups of a session: numbers that never shift, and answers as the groups of now see them.

Rules of this file:
- A group keeps its number for ever. A merged one redirects to another; one whose adding was taken
  back is gone, and its number is not given again. The columns of a result are the living groups.
- A row of shares has one number for each group there was when it was given. It is silent about
  groups that came later, unless it sums to one: then nothing is left for them.
- What was in none of the groups, when there were fewer, is asked again; the new answer takes the
  place of the old.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

from askmeans.checks import whole_number
from askmeans.exceptions import AnswerError
from askmeans.queries import Answer, Question
from askmeans.sessions.log import Event
from askmeans.shares import Row, as_row

__all__ = ["Groups", "as_evidence", "renumbered", "to_ask_again"]

_WHOLE = 1.0 - 1e-6  # shares that sum to one
_NOWHERE = 0.5  # of a row: less is in none of the groups, as `askmeans.policy.evidence` has it


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Which groups there are."""

    n: int  # numbers that were given
    into: Mapping[int, int] = field(default_factory=dict)  # a merged group -> what it is part of
    gone: frozenset[int] = frozenset()  # added, and taken back

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
        whole = math.fsum(row) >= _WHOLE
        found = []
        for group in self.living:
            parts = [
                row[j] if j < len(row) else 0.0 if whole else math.nan for j in self.members(group)
            ]
            found.append(math.fsum(parts))
        return tuple(found)

    def told_row(self, value: Any, names: Sequence[str]) -> Row:
        """The row by the columns of now that somebody told, as `askmeans.shares.as_row` has it."""
        if isinstance(value, Integral | str):
            value = {value: 1.0}
        if isinstance(value, Mapping):
            shares: dict[Any, Any] = {}
            for group, share in value.items():
                column = self._told(group, names)
                shares[column] = share + shares[column] if column in shares else share
            value = shares
        return as_row(value, len(self.living), names)

    def _told(self, group: Any, names: Sequence[str]) -> Any:
        """The column of a group that goes by its number; a name stays one."""
        number = group
        if isinstance(group, str):
            number = None if group.strip() in names else whole_number(group.strip())
        if type(number) is bool or not isinstance(number, Integral):
            return group
        column = self.column(int(number))
        if column is None:
            raise AnswerError(
                f"A group must be one of the numbers {', '.join(map(str, self.living))}. "
                f"Got {group} instead; () is none of these."
            )
        return column

    def row_by_number(self, row: Row) -> Row:
        """A row of the columns of now by the groups' numbers."""
        found = [0.0] * self.n
        for group, share in zip(self.living, row, strict=True):
            found[group] = share
        return tuple(found)

    def added(self) -> "Groups":
        """With one group more."""
        return replace(self, n=self.n + 1)

    def merged(self, group: int, into: int) -> "Groups":
        """With a group that is part of another from now on."""
        return replace(self, into={**self.into, group: into})

    def without(self, group: int) -> "Groups":
        """With a group that is gone."""
        return replace(self, gone=self.gone | {group})


def as_evidence(
    events: Iterable[Event], question_of: Callable[[int], Question], groups: Groups
) -> list[Answer]:
    """Answers as the groups of now see them, in their order."""
    listed = [(event, question_of(event.question)) for event in events if event.question]
    plain = groups.is_plain
    later = _last_repeats(listed)
    silent = (math.nan,) * len(groups.living)
    found = []
    for event, question in listed:
        answer = Answer(
            round=0, kind=question.kind, items=question.items, cluster=question.cluster,
            repeat=question.repeat, annotator=event.annotator,
            value=_value(event, question, groups, silent),
        )  # fmt: skip
        if question.kind == "group":
            assert isinstance(answer.value, tuple)
            if later.get(question.items, 0) > question.repeat and _is_open(answer.value):
                continue  # it was asked again
        elif question.kind == "membership" and not plain:
            assert question.cluster is not None
            column = groups.column(question.cluster)
            if column is None:
                continue  # of a group that is gone
            answer = replace(answer, cluster=column)
        found.append(answer)
    return found


def to_ask_again(answers: Iterable[Answer]) -> list[Question]:
    """Questions about items that were in none of the groups before there were others."""
    last: dict[tuple[int, ...], Answer] = {}
    for answer in answers:
        if answer.kind == "group":
            known = last.get(answer.items)
            if known is None or answer.repeat >= known.repeat:
                last[answer.items] = answer
    return [
        Question("group", items, None, answer.repeat + 1)
        for items, answer in last.items()
        if isinstance(answer.value, tuple) and _is_open(answer.value)
    ]


def renumbered(answers: Iterable[Answer]) -> list[Answer]:
    """Answers whose repeats count what is kept: what was asked again is the question it replaced.

    So a policy knows that the question was asked.
    """
    listed = list(answers)
    kept: dict[tuple[int, ...], set[int]] = {}
    for answer in listed:
        if answer.kind == "group":
            kept.setdefault(answer.items, set()).add(answer.repeat)
    places = {items: sorted(repeats) for items, repeats in kept.items()}
    return [
        replace(answer, repeat=places[answer.items].index(answer.repeat))
        if answer.kind == "group" and answer.repeat
        else answer
        for answer in listed
    ]


def _value(event: Event, question: Question, groups: Groups, silent: Row) -> float | Row:
    """What an event says, by the columns of now."""
    if isinstance(event.value, tuple):
        return groups.row_now(event.value)
    if question.kind == "group":
        return silent
    return math.nan if event.value is None else event.value


def _is_open(row: Row) -> bool:
    """Whether a row leaves an item in none of the groups, and is silent about another."""
    silent = sum(map(math.isnan, row))
    told = math.fsum(share for share in row if not math.isnan(share))
    return 0 < silent < len(row) and told < _NOWHERE


def _last_repeats(listed: list[tuple[Event, Question]]) -> dict[tuple[int, ...], int]:
    """The last asking of each item that anybody could answer."""
    found: dict[tuple[int, ...], int] = {}
    for event, question in listed:
        if question.kind == "group" and event.value is not None:
            found[question.items] = max(found.get(question.items, 0), question.repeat)
    return found
