"""Numbers of groups, which never change, and answers in terms of the present groups.

Rules of this file:
- A group keeps its number for ever. A merged one redirects to another. The number of a removed
  group, or of one whose addition was taken back, is not used again. The columns of a result are the
  living groups without sub-groups.
- A row of shares has a number for each group that existed when it was given; about later groups see
  `askmeans.policy.growing`.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np

from askmeans._util.checks import parse_digits
from askmeans._util.message import Message, Number
from askmeans.exceptions import AnswerError
from askmeans.policy.advisers import Advice
from askmeans.policy.growing import WHOLE, without_replaced
from askmeans.policy.nested import Tree, normalized
from askmeans.queries import Answer, Question
from askmeans.queries.values import SHARES_EXCEED_1, Row, as_row, to_scale
from askmeans.sessions.events import (
    Adjudicate,
    Flatten,
    GroupChange,
    Merge,
    MoveGroup,
    Refine,
    RemoveGroup,
    Reply,
    Value,
)

RESERVED = "id"  # a column of every table of memberships, so no group's name
NO_SUCH_GROUP = Message(
    "This group is not there any more: it was merged, removed or taken back, so nothing was "
    "saved. Reload the page, and choose one of the groups there are now."
)

_ROUNDED = 0.005  # rounding of a point of a scale: 33% of 1/3


@dataclass(frozen=True, kw_only=True)
class GroupNumbers:
    """The groups and their sub-groups.

    What follows from them is kept: every answer is read in terms of the present groups.
    """

    n: int  # number of used numbers
    into: Mapping[int, int] = field(
        default_factory=dict
    )  # a merged group -> the group it is part of
    gone: frozenset[int] = frozenset()  # removed, or added and taken back
    parents: Mapping[int, int] = field(default_factory=dict)  # a sub-group -> its group
    ended: frozenset[int] = frozenset()  # sub-groups that were flattened or taken back

    @classmethod
    def of(
        cls, n: int, changes: Iterable[GroupChange], withdrawn: Mapping[int, int | None]
    ) -> "GroupNumbers":
        """The groups after these changes; `withdrawn` are additions that were taken back."""
        into: dict[int, int] = {}
        parents: dict[int, int] = {}
        gone = {number for number, parent in withdrawn.items() if parent is None}
        for number, parent in withdrawn.items():
            if parent is not None:
                into[number] = parents[number] = parent
        ended = set(into)
        for change in changes:
            match change:
                case Merge(group=group):
                    into[group] = change.into
                case RemoveGroup(group=group):
                    gone.add(group)
                case Refine(group=group):
                    parents |= dict.fromkeys(change.numbers, group)
                case MoveGroup(group=group, into=None):
                    parents.pop(group, None)
                case MoveGroup(group=group, into=int(parent)):
                    parents[group] = parent
                case Flatten(group=group):
                    below = _below(group, parents | into)
                    merged = cls(n=n, into=into)._merged  # not those merged into the group itself
                    ended.update(j for j in below if merged(j) != group)
                    into |= dict.fromkeys(below, group)
        return cls(n=n, into=into, gone=frozenset(gone), parents=parents, ended=frozenset(ended))

    @cached_property
    def living(self) -> list[int]:
        """Numbers of the present groups in their order, each before its sub-groups."""
        if not self.parents:
            return [j for j in range(self.n) if j not in self.into and j not in self.gone]
        order: list[int] = []
        below = list(reversed(self.children(None)))
        while below:
            order.append(below.pop())
            below += reversed(self.children(order[-1]))
        return order

    @cached_property
    def leaves(self) -> list[int]:
        """Numbers of the groups without sub-groups, in the order of a result's columns."""
        return [j for j in self.living if not self.children(j)] if self.parents else self.living

    @property
    def is_plain(self) -> bool:
        """Whether every number is a column."""
        return not self.into and not self.gone and not self.parents

    def children(self, number: int | None) -> list[int]:
        """The living sub-groups of a living group; of None the groups at the top."""
        return list(self._children.get(number, ()))

    @cached_property
    def _children(self) -> dict[int | None, list[int]]:
        """The living sub-groups of each living group, by number."""
        children: dict[int | None, list[int]] = {}
        for number in range(self.n):
            if self.resolve(number) == number:
                children.setdefault(self.parent(number), []).append(number)
        return children

    @cached_property
    def tree(self) -> Tree:
        """The tree of the present groups."""
        children = {number: tuple(self.children(number)) for number in self.inner}
        return Tree(top=tuple(self.children(None)), children=children)

    @property
    def inner(self) -> list[int]:
        """Groups that have sub-groups, each before its sub-groups."""
        return [j for j in self.living if self.children(j)] if self.parents else []

    def parent(self, number: int) -> int | None:
        """The group that a living one is a sub-group of; None at the top."""
        parent = self.parents.get(number)
        return None if parent is None else self._merged(parent)

    def path(self, number: int) -> list[int]:
        """A group after all groups above it, from the top, removed ones included.

        A merged number is replaced by its group.
        """
        path = [self._merged(number)]
        while (parent := self.parent(path[-1])) is not None:
            path.append(parent)
        return path[::-1]

    def place(self, number: int) -> tuple[list[int], bool]:
        """The path of the living group in which shares of a number count, and if it was removed.

        Items of a removed sub-group are in none of the sub-groups.
        """
        return self._places[number]

    @cached_property
    def _places(self) -> list[tuple[list[int], bool]]:
        """The place of each number."""
        places = []
        for path in map(self.path, range(self.n)):
            there = next((i for i, j in enumerate(path) if j in self.gone), len(path))
            places.append((path[:there], there < len(path)))
        return places

    def resolve(self, number: int) -> int | None:
        """The living group of a number; None for a removed or unknown one."""
        if not 0 <= number < self.n:
            return None
        path, removed = self.place(number)
        return None if removed else path[-1]

    def _merged(self, number: int) -> int:
        """The group that a number is merged into."""
        while number in self.into:
            number = self.into[number]
        return number

    def column(self, number: int) -> int | None:
        """The place of a number's group among the groups at the top."""
        group, top = self.resolve(number), self.children(None)
        return top.index(group) if group in top else None

    def members(self, number: int) -> list[int]:
        """The numbers of a living group and of its sub-groups."""
        there = (j for j in range(self.n) if self.resolve(j) is not None)
        return [j for j in there if number in self.path(j)]

    def share(self, row: Row, number: int) -> float:
        """The share of a living group and its sub-groups in a row; NaN if unknown."""
        rest = 0.0 if math.fsum(row) >= WHOLE else math.nan
        return math.fsum(row[j] if j < len(row) else rest for j in self.members(number))

    def to_columns(self, question: Question) -> Question | None:
        """A question with the column of its group for the number; None for a removed group."""
        if question.cluster is None:
            return question
        column = self.column(question.cluster)
        return None if column is None else question._replace(cluster=column)

    def to_numbers(self, question: Question) -> Question:
        """A question of a policy with the number of its group for the column."""
        if question.cluster is None:
            return question
        return question._replace(cluster=self.children(None)[question.cluster])

    def row_now(self, row: Row) -> Row:
        """A row by the groups at the top; NaN for unknown shares."""
        if len(row) == self.n and self.is_plain:
            return row
        shares: dict[int, list[float]] = {group: [] for group in self.children(None)}
        later = range(len(row), 0 if math.fsum(row) >= WHOLE else self.n)
        unknown = {j: math.nan for j in later if j not in self.parents}  # sub-groups are part of
        for j, share in (*enumerate(row), *unknown.items()):  # the named group
            path = self.place(j)[0] if share else ()
            if path:
                shares[path[0]].append(share)
        return tuple(map(math.fsum, shares.values()))

    def row_at_top(self, row: Row) -> Row:
        """A row by the groups' numbers, with the shares of sub-groups at those at the top."""
        shares = [0.0] * self.n
        for j, share in enumerate(row):
            path, _ = self.place(j)
            if path:
                shares[path[0]] += share
        return tuple(shares)

    def row_within(self, row: Row, group: int, *, is_about: bool) -> Row | None:
        """A row by the sub-groups of a group; None where it is silent, () for an item elsewhere.

        A share of the group itself is in none of the sub-groups if the question `is_about` these;
        else its sub-group is unknown.
        """
        shares = dict.fromkeys(self.children(group), 0.0)
        total = none = 0.0
        for j, share in enumerate(row):
            if share <= 0.0:
                continue
            path, removed = self.place(j)
            if group in path:
                total += share
                if path[-1] != group:
                    shares[path[path.index(group) + 1]] += share
                elif is_about or removed:
                    none += share
        if not total:
            return ()
        known = none + math.fsum(shares.values())
        if not known:
            return None
        rest = 0.0 if none < (1.0 - WHOLE) * known else math.nan
        return tuple(
            rest if number >= len(row) and not share else share / known
            for number, share in shares.items()
        )

    def row_from(self, value: Any, names: Sequence[str]) -> Row:
        """An answer as a row of shares by the living groups; `values.as_row` says what is one."""
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
        """Convert the number of a group to its column; names do not change."""
        number = group
        if isinstance(group, str):
            number = None if group.strip() in names else parse_digits(group.strip())
        if type(number) is bool or not isinstance(number, Integral):
            return group
        there = self.resolve(int(number))
        if there is None:
            raise AnswerError(
                f"A group must be one of the numbers {', '.join(map(str, self.living))}. "
                f"Got {group} instead; () is none of these.",
                user_message=NO_SUCH_GROUP,
            )
        return self.living.index(there)

    def row_by_number(self, row: Row) -> Row:
        """A row of the living groups by their numbers."""
        shares = [0.0] * self.n
        for group, share in zip(self.living, row, strict=True):
            shares[group] = share
        return tuple(shares)


def _below(group: int, edges: Mapping[int, int]) -> set[int]:
    """All numbers below a group, by the group directly above each."""
    below: set[int] = set()
    while more := {j for j, above in edges.items() if above in {group, *below}} - below:
        below |= more
    return below


def as_evidence(
    events: Iterable[Reply | Adjudicate],
    question_of: Callable[[int], Question],
    groups: GroupNumbers,
    within: int | None = None,
) -> list[Answer]:
    """Answers in terms of the present groups, in their order.

    Those that say something of the groups at the top, or of the sub-groups of the one `within`.
    """
    plain = groups.is_plain
    silent = (math.nan,) * len(groups.children(within))
    answers, several = [], set[tuple[int, ...]]()
    decided: dict[tuple[int, ...], int] = {}  # items -> the place of the last decision that speaks
    for event in events:
        question = question_of(event.question)
        value: float | Row | None = math.nan if event.value is None else event.value
        cluster = question.cluster
        if question.kind == "group":
            is_about = (cluster is None) == (within is None)
            if cluster is not None:
                group = groups.resolve(cluster)
                is_about = group == within if within is not None else group in groups.tree.children
                several.add(question.items)
                cluster = None
            if not isinstance(event.value, tuple):
                value = silent if is_about else None
            elif within is None:
                value = groups.row_now(event.value)
            else:
                value = groups.row_within(event.value, within, is_about=is_about)
        elif within is not None:  # a membership of a group at the top
            value = None
        elif not plain:
            assert cluster is not None
            cluster = groups.column(cluster)
            value = None if cluster is None else value  # of a removed group
        if value is not None:
            answers.append(
                Answer(
                    round=0, kind=question.kind, items=question.items, cluster=cluster,
                    repeat=question.repeat, annotator=event.annotator, value=value,
                )
            )  # fmt: skip
            if isinstance(event, Adjudicate) and not _is_silent(answers[-1]):
                decided[question.items] = len(answers) - 1
    if several or within is not None:
        answers = _without_decided(answers, {j: decided[j] for j in several & decided.keys()})
        answers = _last_of_each(answers, several)
    return without_replaced(answers)


def items_within(
    events: Iterable[Reply | Adjudicate],
    question_of: Callable[[int], Question],
    groups: GroupNumbers,
) -> dict[int, set[tuple[int, ...]]]:
    """The items of which an answer may say something within a group, by group."""
    inside: dict[int, set[tuple[int, ...]]] = {group: set() for group in groups.inner}
    for event in events:
        question = question_of(event.question)
        row = event.value if isinstance(event.value, tuple) else ()
        named = [j for j, share in enumerate(row) if share > 0.0]
        for number in named if question.cluster is None else (*named, question.cluster):
            for group in groups.place(number)[0]:
                if group in inside:
                    inside[group].add(question.items)
    return inside


def _without_decided(answers: list[Answer], decided: Mapping[tuple[int, ...], int]) -> list[Answer]:
    """Answers without those about an item with a decision, but for that and later repeats."""
    return [
        answer
        for place, answer in enumerate(answers)
        if (by := decided.get(answer.items, place)) == place or answer.repeat > answers[by].repeat
    ]


def _last_of_each(answers: list[Answer], several: set[tuple[int, ...]]) -> list[Answer]:
    """Of each annotator's answers about an item that has several questions the last that speaks.

    Without those that put an item elsewhere.
    """
    last: dict[tuple[str, tuple[int, ...]], int] = {}
    for place, answer in enumerate(answers):
        key = answer.annotator, answer.items
        if key not in last or not _is_silent(answer):
            last[key] = place
    return [
        answer
        for place, answer in enumerate(answers)
        if answer.value != ()
        and (answer.items not in several or last[answer.annotator, answer.items] == place)
    ]


def _is_silent(answer: Answer) -> bool:
    """Whether an answer has no known share."""
    return bool(answer.value) and bool(np.isnan(answer.value).all())


def as_advice(
    advice: Mapping[str, Mapping[int, Row | None]], groups: GroupNumbers
) -> tuple[Advice, ...]:
    """Advice by the present groups without sub-groups; they share alike in what names a group."""
    tables, tree = [], groups.tree
    for name, rows in sorted(advice.items()):
        known: dict[int, Row] = {}
        for item, shares in rows.items():
            if shares is None:
                continue
            parts: dict[int | None, Row] = {None: groups.row_now(shares)}
            for group in tree.children:
                row = groups.row_within(shares, group, is_about=False)
                if row and (row := normalized(row)):
                    parts[group] = row
            known[item] = tree.row(parts, even=True)
        if known:
            items, table = np.array(list(known), dtype=np.intp), np.array(list(known.values()))
            tables.append(Advice.of_table(name, items, table))
    return tuple(tables)


def as_shares(value: Any, groups: GroupNumbers, names: list[str], levels: int | None) -> Value:
    """Convert an answer to a row of shares by the groups' numbers."""
    row = groups.row_from(value, names)
    if any(map(math.isnan, row)):
        raise AnswerError(
            "An answer to a group question must be a group or shares, () for none of these. "
            f"Got {value!r:.60} instead; unsure() says that one cannot say.",
            user_message=Message(
                "This answer names no group, so it was not saved. Choose a group, “None "
                "of these” or “Cannot say”."
            ),
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
    """Check a number from 0 to 1; round it to the scale."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= value <= 1:  # type: ignore[operator]  # mypy sees no numbers ABC
        raise AnswerError(
            f"An answer must be a number in [0, 1]. Got {value!r:.60} instead; unsure() says that "
            "one cannot say.",
            user_message=Message(
                "An answer lies between 0 and 1, and this one does not, so it was not "
                "saved. Choose another, or “Cannot say”."
            ),
        )
    if levels is None:
        return float(value) + 0.0  # -0.0 is 0.0
    point = float(to_scale(value, levels))
    if abs(point - float(value)) > _ROUNDED:
        raise AnswerError(
            f"An answer must be one of the {levels} points of the session's scale, 0, "
            f"{1 / (levels - 1):.3g} and so on to 1. Got {value!r} instead; the nearest is "
            f"{point:.3g}.",
            user_message=Message(
                "Answers here have {levels} steps, and this one lies between two of them, so it "
                "was not saved. The nearest is {point}.",
                levels=levels,
                point=Number(point),
            ),
        )
    return point


def taken_name(name: str) -> str:
    """The message for a name that another group has."""
    if name == RESERVED:
        return Message(
            "No group can be called “{name}”: tables use it for the items. Choose another name.",
            name=name,
        )
    return Message("Another group is called “{name}” already. Choose another name.", name=name)


def unique_names(known: Mapping[int, str], n_clusters: int) -> list[str]:
    """Known names, and "Group A" and so on for others; all different, and none is "id"."""
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
