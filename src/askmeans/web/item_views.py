"""An item as people see it: fields as text, places of numbers, the language, differences."""

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from askmeans._util.message import Message
from askmeans.sessions import Item, Session
from askmeans.tables.texts import language_of

_SAMPLE = 2000  # items from which columns are read
_ID = re.compile(r"(^|[\W_])(id|ID|Id)$|[a-z]I[dD]$")  # "id", "product_id", "Order ID", "productId"
_DIFFERENT = 0.1  # of that range, from which two numbers differ
_SHOWN = 12  # fields shown at once; the others unfold
_BESIDE = 3  # the same, beside a picture or a text
_IN_LINE = 4  # fields of an example in a line
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


class ItemViews:
    """Makes views of the items of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._ranges, self._naming = _columns_of(session)

    def view(self, row: int) -> ItemView:
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

    def marked(
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
        return Message("no value")
    return f"{value:.6g}" if isinstance(value, float) else str(value)
