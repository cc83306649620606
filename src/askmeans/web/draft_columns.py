"""The columns of a new project's file: first values, possible kinds and uses."""

from dataclasses import dataclass
from typing import Any

from askmeans._util.message import Message
from askmeans.tables.columns import Column
from askmeans.tables.reading import RawTable

USES = {
    "feature": Message("Sort by it"),
    "shown": Message("Show it"),
    "left out": Message("Hide it"),
    "id": Message("Name of the item"),
}
KIND_NAMES = {
    "number": Message("Number"), "category": Message("Category"), "boolean": Message("Yes or no"),
    "date": Message("Date"), "text": Message("Text"), "image": Message("Picture"),
    "vector": Message("Vector"),
}  # fmt: skip
_CHOICES = ("number", "category", "boolean", "date", "text")  # kinds that a column may be given
SAMPLES, _LONGEST_SAMPLE = 3, 160


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftColumn:
    """A column of the page: its first values, and the choices."""

    column: Column
    samples: list[str]
    use: str  # a key of USES
    kinds: dict[str, str]  # that it may be given, with their names; the first is its own

    @property
    def is_usable(self) -> bool:
        """Whether the column may be a feature."""
        return bool(self.kinds)


def described_column(column: Column, table: RawTable, id_name: str | None) -> DraftColumn:
    """Describe a column for the page."""
    values = table.frame[column.name].head(SAMPLES)
    return DraftColumn(
        column=column,
        samples=[_sample(value) for value in values],
        use="id" if column.name == id_name else column.use,
        kinds=possible_kinds(column),
    )


def possible_kinds(column: Column) -> dict[str, str]:
    """The possible kinds of a column, its own first; none if it cannot be a feature."""
    if column.kind in ("image", "vector"):
        return {column.kind: KIND_NAMES[column.kind]}
    if column.kind in ("empty", "constant", "other"):
        return {}
    own = own_kind(column)
    return {kind: KIND_NAMES[kind] for kind in (own, *(c for c in _CHOICES if c != own))}


def own_kind(column: Column) -> str:
    """The kind of a column that is a feature."""
    return column.kind if column.kind in KIND_NAMES else "category"


def names_items(column: Column, table: RawTable) -> bool:
    """Whether a column names the items."""
    return column.kind == "id" and bool(table.frame[column.name].is_unique)


def _sample(value: Any) -> str:
    """Shorten a value."""
    if isinstance(value, bytes | dict):
        return Message("(a picture)")
    text = " ".join(str(value).split())
    if text in ("nan", "None", "NaT", "<NA>"):
        return ""
    return text if len(text) <= _LONGEST_SAMPLE else f"{text[: _LONGEST_SAMPLE - 1]}…"
