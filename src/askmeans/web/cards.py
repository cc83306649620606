"""What a person sees of a question: its items side by side, what differs, the row it belongs to."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from askmeans.sessions import Item, Question, Session
from askmeans.web.drawing import colors_of

__all__ = ["Card", "Cards", "Cell", "Choice", "Entry", "ItemView", "PracticeCard", "is_number",
           "practice_card", "practice_items", "sample", "spread"]  # fmt: skip

_SAMPLE = 2000  # items from which columns are told
_ID = re.compile(r"(^|[\W_])(id|ID|Id)$|[a-z]I[dD]$")  # "id", "product_id", "Order ID", "productId"
_DIFFERENT = 0.1  # of that range, from which two numbers differ
_SHOWN = 12  # fields shown at once; the others unfold
_BESIDE = 3  # the same, beside a picture or a text
_IN_LINE = 4  # fields of an example in a line
_TYPICAL = 3
_KEYS = 9  # groups that have a key of their own
_PRACTICE = 3  # cards to practise on
_EXAMPLES = 5  # of a group, the last of which is practised on: the first are shown beside it


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A field of an item."""

    name: str
    value: str
    differs: bool = False
    place: float | None = None  # of a number between the smallest and the largest, 0 to 1
    others: tuple[float, ...] = ()  # where the numbers it is compared with lie


def _columns_of(session: Session) -> tuple[dict[str, tuple[float, float]], frozenset[str]]:
    """Smallest and largest of every column of numbers; columns that name items. From a sample.

    A column names items where it is called an id, repeats their ids, or has another word for every
    item.
    """
    items, values = sample(session, spread(len(session.rows)))
    ids = [item.id for item in items]
    numbers = {name: list(filter(is_number, told)) for name, told in values.items()}
    naming = frozenset(
        name
        for name, told in values.items()
        if _ID.search(name)
        or list(map(str, told)) == ids
        or (not numbers[name] and len(set(told)) == len(told) > 1)
    )
    spans = {name: (min(told), max(told)) for name, told in numbers.items() if told}
    return {name: (low, high) for name, (low, high) in spans.items() if high > low}, naming


def spread(n: int) -> range:
    """Rows of a sample of the first n items."""
    return range(0, n, max(1, math.ceil(n / _SAMPLE)))


def sample(session: Session, rows: Iterable[int]) -> tuple[list[Item], dict[str, list[Any]]]:
    """Items, and the values of each of their fields; None where one has no such field."""
    items = [session.item(row) for row in rows]
    names = dict.fromkeys(name for item in items for name in item.fields)
    return items, {name: [item.fields.get(name) for item in items] for name in names}


def _compared(cell: Cell, others: Sequence[Cell | None]) -> Cell:
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


def _as_text(value: Any) -> str:
    """A field as people read it."""
    if value is None:
        return "no value"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemView:
    """An item as it is drawn."""

    row: int
    name: str
    text: str | None
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
        """Whether what is shown says more than the name, which repeats it or is a mere label."""
        return bool(self.text or self.image) or " = " in self.name

    @property
    def line(self) -> str:
        """The item in a line, as an example of its group."""
        if self.text:
            return self.name
        values = " · ".join(cell.value for cell in self.cells[:_IN_LINE])
        return f"{self.name}: {values}" if values and "=" not in self.name else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One cluster in the row of an item: asked now, asked too, or answered."""

    cluster: int
    name: str
    question: int | None  # None where nothing is asked
    value: float | None
    answered: bool
    active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A group that an item may belong to."""

    group: int
    name: str
    color: str
    key: str  # that answers with it
    typical: tuple[ItemView, ...]
    guessed: bool  # whether those are what the program guesses: nobody put any item there
    about: str  # what belongs there, in a line


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A question, ready to be drawn."""

    question: Question
    items: tuple[ItemView, ...]
    cluster_name: str | None = None
    typical: tuple[ItemView, ...] = ()
    guessed: bool = False  # as in Choice
    entries: tuple[Entry, ...] = ()
    choices: tuple[Choice, ...] = ()  # of a group question
    before: str | None = None  # what was answered, where an answer is being changed

    @property
    def given(self) -> float:
        """What of the row was given away already."""
        return sum(entry.value or 0.0 for entry in self.entries if entry.answered)


class Cards:
    """Draws up the questions of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.predict: Callable[[int], Sequence[float] | None] = lambda _: None
        self._ranges, self._naming = _columns_of(session)

    def card(
        self,
        question: Question,
        annotator: str,
        row: Sequence[Question] = (),
        *,
        before: Any = None,
    ) -> Card:
        """A question beside what belongs to it; `row` are the open questions about its item."""
        items = tuple(self.item(number) for number in question.items)
        if question.kind == "group":
            likely = None  # the likeliest come first where the owner lets them
            if self._session.settings.options["predicted_first"]:
                likely = self.predict(question.items[0])
            return Card(
                question=question,
                items=items,
                before=before,
                choices=self.choices(question.items, likely),
            )
        if question.kind != "membership":
            return Card(question=question, items=self._marked(items), before=before)
        assert question.cluster is not None
        name = self._session.groups.all_names[question.cluster]
        rows, guessed = self._examples(question.cluster, question.items)
        typical = tuple(self.item(row) for row in rows)
        marked = self._marked((items[0], *typical), against_first=True)
        return Card(
            question=question,
            items=marked[:1],
            cluster_name=name,
            typical=marked[1:],
            guessed=guessed,
            entries=self._entries(question, annotator, row),
            before=before,
        )

    def choices(
        self, items: tuple[int, ...], likely: Sequence[float] | None = None
    ) -> tuple[Choice, ...]:
        """The groups that an item may belong to, each with items that tell what it is.

        The likeliest come first where it is told how likely each is; keys stay with their groups.
        """
        found = []
        groups = list(self._session.groups)
        keys = [str(place + 1) if place < _KEYS else "" for place in range(len(groups))]
        listed = list(zip(groups, colors_of(len(groups)), keys, strict=True))
        if likely is not None and len(likely) == len(groups):
            listed = [listed[j] for j in sorted(range(len(groups)), key=lambda j: -likely[j])]
        for group, color, key in listed:
            rows, guessed = self._examples(group.number, items)
            found.append(
                Choice(
                    group=group.number,
                    name=group.name,
                    color=color,
                    key=key,
                    typical=tuple(self.item(row) for row in rows),
                    guessed=guessed,
                    about=group.description,
                )
            )
        return tuple(found)

    def _examples(self, group: int, without: tuple[int, ...]) -> tuple[list[int], bool]:
        """Items that people put into a group or pinned; where there are none, guesses, and so."""
        placed = self._session.exemplars(group, n=_TYPICAL, without=without, placed_only=True)
        if placed:
            return placed, False
        guesses = self._session.exemplars(group, n=_TYPICAL, without=without)
        return guesses, bool(guesses)

    def item(self, row: int) -> ItemView:
        """One item."""
        return self._view(self._session.item(row))

    def label(self, question: Question) -> str:
        """A question in a line."""
        names = " and ".join(self._session.item(row).label for row in question.items)
        if question.kind == "relative":
            one, left, right = (self._session.item(row).label for row in question.items)
            return f"{one} between {left} and {right}"
        if question.cluster is None:
            return names
        return f"{names} in {self._session.groups.all_names[question.cluster]}"

    def _entries(
        self, question: Question, annotator: str, row: Sequence[Question]
    ) -> tuple[Entry, ...]:
        """The clusters of an item's row, in their order; empty where only one is asked."""
        told: dict[int, tuple[int, float | None]] = {}
        for receipt in self._session.history.answers_about(question.items, annotator=annotator):
            assert receipt.question is not None
            other = self._session.question(receipt.question)
            value = receipt.value
            if receipt.kind != "skip" and other.cluster is not None:
                told[other.cluster] = (other.id, None if isinstance(value, tuple) else value)
        asked = {q.cluster: q.id for q in (question, *row)}
        if len(asked.keys() | told.keys()) < 2:
            return ()
        entries = []
        for cluster, name in ((group.number, group.name) for group in self._session.groups):
            number, value = told.get(cluster, (None, None))
            entries.append(
                Entry(
                    cluster=cluster,
                    name=name,
                    question=asked.get(cluster, number),
                    value=value,
                    answered=cluster in told,
                    active=cluster == question.cluster,
                )
            )
        return tuple(entries)

    def _view(self, item: Item) -> ItemView:
        """An item with its fields as text, and where its numbers lie."""
        cells = [
            Cell(name=name, value=_as_text(value), place=self._place(name, value))
            for name, value in item.fields.items()
        ]
        n_first = _SHOWN
        if item.text or item.image:  # which say more than numbers: those unfold
            cells.sort(key=lambda cell: cell.name in self._ranges)
            words = sum(name not in self._ranges for name in item.fields)
            n_first = min(_BESIDE, words)
        return ItemView(
            row=item.row,
            name=item.label,
            text=item.text or None,
            image=item.image or None,
            cells=tuple(cells),
            n_first=n_first,
        )

    def _marked(
        self, items: tuple[ItemView, ...], *, against_first: bool = False
    ) -> tuple[ItemView, ...]:
        """Items with those cells marked that differ from all the others, or from the first item's.

        What names an item always differs, so it is never marked.
        """
        drawn = []
        for place, item in enumerate(items):
            others = items[:place] + items[place + 1 :]
            if against_first and place > 0:
                others = items[:1]
            by_name = [{cell.name: cell for cell in other.cells} for other in others]
            cells = tuple(
                cell
                if cell.name in self._naming
                else _compared(cell, [b.get(cell.name) for b in by_name])
                for cell in item.cells
            )
            drawn.append(replace(item, cells=cells))
        return tuple(drawn)

    def _place(self, name: str, value: Any) -> float | None:
        """Where a number lies in its column; None for one that only names an item."""
        span = self._ranges.get(name)
        if span is None or not is_number(value) or name in self._naming:
            return None
        low, high = span
        return min(1.0, max(0.0, (float(value) - low) / (high - low)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeCard:
    """A card like a real one, whose answer is known."""

    number: int  # from 1
    of: int
    item: ItemView
    choices: tuple[Choice, ...]
    group: int  # where it belongs
    name: str


def practice_items(session: Session) -> list[tuple[int, int]]:
    """Rows to practise on with their groups, one of each; empty where people placed too few."""
    if session.config.ask != "group":
        return []
    found = []
    for group in session.groups:
        rows = session.exemplars(group.number, n=_EXAMPLES, placed_only=True)
        if len(rows) > 1:
            found.append((rows[-1], group.number))
    return found[:_PRACTICE] if len(found) > 1 else []


def practice_card(session: Session, cards: Cards, number: int) -> PracticeCard | None:
    """The practice card of this number, from 1; None where there is none."""
    items = practice_items(session)
    if not 1 <= number <= len(items):
        return None
    row, group = items[number - 1]
    return PracticeCard(
        number=number, of=len(items), item=cards.item(row), choices=cards.choices((row,)),
        group=group, name=session.groups.all_names[group],
    )  # fmt: skip
