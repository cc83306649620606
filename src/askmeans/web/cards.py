"""The display of a question: its items, their differences, and the groups with examples."""

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from askmeans.sessions import Group, Item, Question, Session
from askmeans.tables.texts import language_of
from askmeans.web.looks import Look

UNNAMED = re.compile("Group [A-Z]+")  # a group's name before anybody gave it one
_SAMPLE = 2000  # items from which columns are read
_ID = re.compile(r"(^|[\W_])(id|ID|Id)$|[a-z]I[dD]$")  # "id", "product_id", "Order ID", "productId"
_DIFFERENT = 0.1  # of that range, from which two numbers differ
_SHOWN = 12  # fields shown at once; the others unfold
_BESIDE = 3  # the same, beside a picture or a text
_IN_LINE = 4  # fields of an example in a line
_EXAMPLES = 3  # of a group, on its tile
_KEYS = 9  # groups that have a key of their own
_PRACTICE = 3  # cards to practise on
_TO_PRACTISE = 5  # examples of a group, the last of which is practised on: others are on its tile
_READ = 500  # characters of a text that its language is known by
_SCRIPTS = {
    "ARABIC": "ar",
    "HEBREW": "he",
    "GREEK": "el",
    "HANGUL": "ko",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "CJK": "zh",
    "THAI": "th",
}  # those of one large language


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A field of an item."""

    name: str
    value: str
    differs: bool = False
    place: float | None = None  # of a number between the smallest and the largest, 0 to 1
    others: tuple[float, ...] = ()  # places of the numbers it is compared with


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemView:
    """An item with its fields as text."""

    row: int
    name: str
    text: str | None
    language: str  # of the text, as HTML names it; "" where it is not clear
    image: str | None
    cells: tuple[Cell, ...]
    n_first: int = _SHOWN

    @property
    def first_cells(self) -> tuple[Cell, ...]:
        """Those shown at once."""
        return self.cells[: self.n_first]

    @property
    def more_cells(self) -> tuple[Cell, ...]:
        """Those that unfold."""
        return self.cells[self.n_first :]

    @property
    def speaks(self) -> bool:
        """Whether the displayed values add to the name, which may repeat them."""
        return bool(self.text or self.image) or " = " in self.name

    @property
    def line(self) -> str:
        """The item in a line, as an example of its group."""
        if self.text:
            return self.name
        values = " · ".join(
            cell.value if cell.place is None else f"{cell.name} {cell.value}"
            for cell in self.cells[:_IN_LINE]
        )
        if " = " in self.name:  # it stands for the same values
            return values
        return f"{self.name}: {values}" if values else self.name


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
        self._ranges, self._naming = _columns_of(session)

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
            return replace(card, items=self._marked(items))
        number = question.cluster or 0
        group = Group(number=number, name=self._session.groups.all_names[number])
        tile = self._tile(group, "", "", question.items)
        marked = self._marked((items[0], *tile.examples), against_first=True)
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

    def item(self, row: int) -> ItemView:
        """An item with its fields as text, and the places of its numbers."""
        item = self._session.item(row)
        cells = [
            Cell(name=name, value=_as_text(value), place=self._place(name, value))
            for name, value in item.fields.items()
        ]
        n_first = _SHOWN
        if item.text or item.image:  # which say more than numbers: those unfold
            cells.sort(key=lambda cell: cell.name in self._ranges)
            n_first = min(_BESIDE, sum(name not in self._ranges for name in item.fields))
        return ItemView(
            row=item.row, name=item.label, text=item.text or None,
            language=_language(item.text or ""), image=item.image or None, cells=tuple(cells),
            n_first=n_first,
        )  # fmt: skip

    def label(self, question: Question) -> str:
        """A question in a line."""
        labels = [self._session.item(row).label for row in question.items]
        if question.kind == "relative":
            return f"{labels[0]} between {labels[1]} and {labels[2]}"
        names = " and ".join(labels)
        if question.cluster is None:
            return names
        return f"{names} in {self._session.groups.all_names[question.cluster]}"

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

    def _marked(
        self, items: tuple[ItemView, ...], *, against_first: bool = False
    ) -> tuple[ItemView, ...]:
        """Items with those cells marked that differ from all the others, or from the first item's.

        What names an item always differs, so it is never marked.
        """
        marked = []
        for place, item in enumerate(items):
            others = items[:place] + items[place + 1 :]
            if against_first and place > 0:
                others = items[:1]
            by_name = [{cell.name: cell for cell in other.cells} for other in others]
            cells = tuple(
                cell
                if cell.name in self._naming
                else _compared(cell, [each[cell.name] for each in by_name if cell.name in each])
                for cell in item.cells
            )
            marked.append(replace(item, cells=cells))
        return tuple(marked)

    def _place(self, name: str, value: Any) -> float | None:
        """Where a number lies in its column; None for one that only names an item."""
        span = self._ranges.get(name)
        if span is None or not is_number(value) or name in self._naming:
            return None
        low, high = span
        return min(1.0, max(0.0, (float(value) - low) / (high - low)))


def sample(session: Session, n: int) -> tuple[list[Item], dict[str, list[Any]]]:
    """A sample of the first n items, and the values of each field; None where one has no such."""
    rows = range(0, n, max(1, math.ceil(n / _SAMPLE)))
    items = [session.item(row) for row in rows]
    names = dict.fromkeys(name for item in items for name in item.fields)
    return items, {name: [item.fields.get(name) for item in items] for name in names}


def _columns_of(session: Session) -> tuple[dict[str, tuple[float, float]], frozenset[str]]:
    """Smallest and largest of every column of numbers; columns that name items. From a sample.

    A column names items where it is called an id, repeats their ids, or has another word for every
    item.
    """
    items, columns = sample(session, len(session.rows))
    ids = [item.id for item in items]
    numbers = {name: list(filter(is_number, values)) for name, values in columns.items()}
    naming = frozenset(
        name
        for name, values in columns.items()
        if _ID.search(name)
        or list(map(str, values)) == ids
        or (not numbers[name] and len(set(values)) == len(values) > 1)
    )
    spans = {name: (min(values), max(values)) for name, values in numbers.items() if values}
    return {name: (low, high) for name, (low, high) in spans.items() if high > low}, naming


def _compared(cell: Cell, others: Sequence[Cell]) -> Cell:
    """A cell beside those of the same name."""
    places = tuple(other.place for other in others if other.place is not None)
    differs = bool(others) and all(_differ(cell, other) for other in others)
    return replace(cell, differs=differs, others=places)


def _differ(a: Cell, b: Cell) -> bool:
    """Whether two cells differ: numbers by a good part of their range."""
    if a.place is not None and b.place is not None:
        return abs(a.place - b.place) > _DIFFERENT
    return a.value != b.value


def is_number(value: Any) -> bool:
    """Whether a value is a number that can be compared."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _language(text: str) -> str:
    """The language of a text by its common words, or else by its script."""
    beginning = text[:_READ]
    language = language_of(beginning)
    if language or beginning.isascii():
        return language
    scripts = (unicodedata.name(char, "").partition(" ")[0] for char in beginning)
    by_script = [_SCRIPTS[script] for script in scripts if script in _SCRIPTS]
    return "ja" if "ja" in by_script else next(iter(by_script), "")


def _as_text(value: Any) -> str:
    """Format a field."""
    if value is None:
        return "no value"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
