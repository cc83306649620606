"""The display of a question: its items, the row of answers so far, and groups with examples."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from askmeans._util.message import Message, listed
from askmeans.sessions import Group, Question, Session
from askmeans.web.item_views import ItemView, ItemViews
from askmeans.web.looks import Look

UNNAMED = re.compile("Group [A-Z]+")  # a group's name before anybody gave it one
_EXAMPLES = 3  # of a group, on its tile
_KEYS = 9  # groups that have a key of their own
_PRACTICE = 3  # cards to practise on
_TO_PRACTISE = 5  # examples of a group, the last of which is practised on: others are on its tile


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One cluster in the row of an item: asked now, answered, or neither."""

    name: str
    question: int | None  # None without a question
    value: float | None
    answered: bool
    active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTile:
    """A group with examples."""

    group: Group
    color: str
    key: str  # that answers with it
    examples: tuple[ItemView, ...]
    is_guess: bool  # whether the model chose the examples, since no answer did

    @property
    def is_unnamed(self) -> bool:
        """Whether nobody has named it."""
        return UNNAMED.fullmatch(self.group.name) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A question, ready to be drawn."""

    question: Question
    items: tuple[ItemView, ...]
    tile: GroupTile | None = None  # of the group of a membership question
    entries: tuple[Entry, ...] = ()
    tiles: tuple[GroupTile, ...] = ()  # of a group question
    within: Group | None = None  # the group whose sub-groups are asked for
    before: str | None = None  # the answer, where one is being changed

    @property
    def used(self) -> float:
        """The part of the row that earlier answers used."""
        return sum(entry.value or 0.0 for entry in self.entries if entry.answered)


class Cards:
    """Makes the cards of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.predict: Callable[[int], Sequence[float] | None] = lambda _: None
        self._views = ItemViews(session)
        self.item = self._views.view

    def card(self, question: Question, annotator: str, *, before: Any = None) -> Card:
        """The card of a question."""
        items = tuple(map(self.item, question.items))
        card = Card(question=question, items=items, before=before)
        if question.kind == "group":
            probabilities = None
            if self._session.settings.options["predicted_first"]:
                probabilities = self.predict(question.items[0])
            within = None
            if question.cluster is not None:
                groups = self._session.groups
                number = groups.find(question.cluster)
                within = next((group for group in groups if group.number == number), None)
            tiles = self.tiles(question.items, probabilities, question.cluster)
            return replace(card, tiles=tiles, within=within)
        if question.kind != "membership":
            return replace(card, items=self._views.marked(items))
        number = question.cluster or 0
        group = Group(number=number, name=self._session.groups.all_names[number])
        tile = self._tile(group, "", "", question.items)
        marked = self._views.marked((items[0], *tile.examples), against_first=True)
        return replace(
            card, items=marked[:1], tile=replace(tile, examples=marked[1:]),
            entries=self._entries(question, annotator),
        )  # fmt: skip

    def tiles(
        self,
        without: tuple[int, ...] = (),
        probabilities: Sequence[float] | None = None,
        cluster: int | None = None,
    ) -> tuple[GroupTile, ...]:
        """The groups with examples other than these items, the most probable first if known.

        Those that a question about the sub-groups of `cluster` shows. Keys stay with their groups.
        """
        look, every = Look.of(self._session), list(self._session.groups)
        groups, colors = self._session.groups.choices(cluster), look.colors(self._session)
        if cluster is None:
            groups = look.arranged(self._session, groups, lambda group: group.number)
        keyed = [(group, str(j) if j <= _KEYS else "") for j, group in enumerate(groups, start=1)]
        if probabilities is not None and len(probabilities) == len(every):  # no sub-groups
            expected = dict(zip((group.number for group in every), probabilities, strict=True))
            keyed.sort(key=lambda pair: -expected[pair[0].number])
        return tuple(
            self._tile(
                group, colors[group.number], key, without, with_examples=group.number != cluster
            )
            for group, key in keyed
        )

    def tree(self) -> tuple[GroupTile, ...]:
        """All groups with examples, each before its sub-groups."""
        return tuple(self._tile(each.group, each.color, "", ()) for each in self.buttons())

    def buttons(self) -> tuple[GroupTile, ...]:
        """The groups without examples: their names, colours and keys."""
        look = Look.of(self._session)
        colors = look.colors(self._session)
        groups = look.arranged(self._session, self._session.groups, lambda group: group.number)
        return tuple(
            GroupTile(group=group, color=colors[group.number], examples=(), is_guess=False,
                      key=str(place) if place <= _KEYS else "")
            for place, group in enumerate(groups, start=1)
        )  # fmt: skip

    def _tile(
        self, group: Group, color: str, key: str, without: tuple[int, ...], *,
        with_examples: bool = True,
    ) -> GroupTile:  # fmt: skip
        """A group with its examples: placed by people or pinned; else chosen by the model."""
        rows, is_guess = list[int](), False
        if with_examples:
            rows, is_guess = self.examples(group.number, _EXAMPLES, without)
        return GroupTile(
            group=group, color=color, key=key, examples=tuple(map(self.item, rows)),
            is_guess=is_guess,
        )  # fmt: skip

    def examples(self, group: int, n: int, without: tuple[int, ...] = ()) -> tuple[list[int], bool]:
        """Rows that people placed in a group or pinned; else the model's choice."""
        session = self._session
        placed = session.exemplars(group, n=n, without=without, placed_only=True)
        rows = placed or session.exemplars(group, n=n, without=without)
        return rows, not placed and bool(rows)

    def label(self, question: Question) -> str:
        """A question in a line."""
        labels = [self._session.item(row).label for row in question.items]
        if question.kind == "relative":
            return Message(
                "{one} between {left} and {right}", one=labels[0], left=labels[1], right=labels[2]
            )
        names = listed(labels)
        if question.cluster is None:
            return names
        group = self._session.groups.all_names[question.cluster]
        return Message("{items} in {group}", items=names, group=group)

    def practice_items(self) -> list[tuple[int, Group]]:
        """Rows for practice, one of each group; empty if people placed too few."""
        if self._session.config.ask != "group":
            return []
        items = []
        for group in self._session.groups.choices():
            rows = self._session.exemplars(group.number, n=_TO_PRACTISE, placed_only=True)
            if len(rows) > 1:
                items.append((rows[-1], group))
        return items[:_PRACTICE] if len(items) > 1 else []

    def _entries(self, question: Question, annotator: str) -> tuple[Entry, ...]:
        """The clusters of an item's row, in their order; empty where only one was asked about."""
        session = self._session
        answers: dict[int | None, tuple[int, float | None]] = {}
        for reply in session.history.answers_about(question.items, annotator=annotator):
            other = session.question(reply.question)
            if reply.kind != "skip" and not isinstance(reply.value, tuple):
                answers[other.cluster] = (other.id, reply.value)
        if len({question.cluster, *answers}) < 2:
            return ()
        entries = []
        for group in session.groups:
            number, value = answers.get(group.number, (None, None))
            is_active = group.number == question.cluster
            entries.append(
                Entry(
                    name=group.name,
                    question=question.id if is_active else number,
                    value=value,
                    answered=group.number in answers,
                    active=is_active,
                )
            )
        return tuple(entries)
