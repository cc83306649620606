"""The display of items to people, the user's ids, and exemplars of clusters."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import check_text
from askmeans._util.text import is_blank
from askmeans.exceptions import DataError
from askmeans.fuzzy import lloyd
from askmeans.results import Clustering, strongest_clusters

IMAGE_TYPES = {
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
    ".webp": "image/webp", ".avif": "image/avif", ".bmp": "image/bmp", ".svg": "image/svg+xml",
}  # fmt: skip

_TWINS = 10  # times as many items are compared, to skip duplicates
_LABEL = 60  # maximum number of characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item, for display.

    Parameters
    ----------
    row : int
        Its row number.
    id : str
        What the user calls it; the row number where no ids were given.
    label : str
        A few words that stand for it.
    fields : dict of str to object
        Columns and values.
    text : str or None
        The value of the text column, if there is one.
    image : str or None
        The value of the image column, if there is one: a path in the session's folder.
    """

    row: int
    id: str
    label: str
    fields: dict[str, Any]
    text: str | None
    image: str | None

    @property
    def shown(self) -> dict[str, Any]:
        """What people see of it, but for its id and picture."""
        text = {} if self.text is None else {"text": self.text}
        return {**text, **self.fields}


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """Columns and rows of items; without rows the features are displayed."""

    n: int
    ids: list[str] | None
    columns: list[str]
    rows: list[list[Any]] | None
    text: str | None
    image: str | None
    folder: str | None
    hidden: list[str] | None  # columns that only exports have; None in older sessions

    def to_json(self) -> dict[str, Any]:
        """Convert to plain values."""
        return {name: getattr(self, name) for name in self.__slots__}

    def item(self, place: int, numbers: NDArray[np.floating], row: int) -> Item:
        """The item at a place of this part, which is a row of the session."""
        fields = self.values(place, numbers)
        for name in self.hidden or ():
            del fields[name]
        text = None if self.text is None else _word(fields.pop(self.text))
        image = None if self.image is None else _word(fields.pop(self.image))
        name = str(row) if self.ids is None else self.ids[place]
        if text:
            label = shortened(text)
        elif self.ids is not None:
            label = shortened(name)
        elif image:
            label = shortened(Path(image).stem)
        else:
            brief = (f"{v:.4g}" if isinstance(v, float) else str(v) for v in fields.values())
            pairs = zip(fields, brief, strict=True)
            label = shortened(", ".join(f"{name} = {value}" for name, value in pairs))
        return Item(row=row, id=name, label=label or name, fields=fields, text=text, image=image)

    def values(self, place: int, numbers: NDArray[np.floating]) -> dict[str, Any]:
        """What all columns have of an item, the hidden ones, too."""
        plain = [_plain(x) for x in numbers.tolist()] if self.rows is None else self.rows[place]
        return dict(zip(self.columns, plain, strict=True))

    def image_file(self, place: int) -> Path | None:
        """The file of an item's image; None without one in the folder that a page can show."""
        if self.image is None or self.folder is None or self.rows is None:
            return None
        name = _word(self.rows[place][self.columns.index(self.image)])
        root = Path(self.folder).resolve()
        if not name or "\0" in name:
            return None
        path = (root / name).resolve()  # follows links, so that none leads out
        inside = path.is_relative_to(root) and path.suffix.lower() in IMAGE_TYPES
        return path if inside and path.is_file() else None

    def blank(self) -> list[int]:
        """Places of items whose displayed text says nothing."""
        if self.rows is None or self.text is None or self.image is not None:
            return []
        column = self.columns.index(self.text)
        return [j for j, row in enumerate(self.rows) if is_blank(_word(row[column]))]

    def matches(self, words: str) -> list[int]:
        """Places of items whose id or text contains these words, ignoring case."""
        wanted = words.casefold()
        texts: list[list[str]] = [] if self.ids is None else [self.ids]
        if self.rows is not None and self.text is not None:
            column = self.columns.index(self.text)
            texts.append([_word(row[column]) for row in self.rows])
        return [
            place for place in range(self.n)
            if any(wanted in text[place].casefold() for text in texts)
        ]  # fmt: skip


def as_display(
    items: Any,
    n: int,
    n_features: int,
    *,
    ids: Sequence[Any] | None,
    feature_names: Sequence[str] | None,
    text: str | None,
    image: str | None,
    folder: str | None,
    hidden: Sequence[str] = (),
) -> Display:
    """Convert a description of the items to columns and rows of plain values."""
    columns, rows = _table(items)
    if ids is None and hasattr(items, "columns"):
        index = getattr(items, "index", None)
        if index is not None and type(index).__name__ != "RangeIndex":
            ids = list(index)
    if rows is None:
        columns = list(feature_names or [f"x{j}" for j in range(n_features)])
    elif len(rows) != n:
        raise DataError(
            f"The 'items' parameter must have one row for each of the {n} rows of X. "
            f"Got {len(rows)} instead."
        )
    names = None if ids is None else [str(name) for name in ids]
    for each in names or ():
        check_text(each, "An id")
    for column in columns:
        check_text(column, "The name of a column")
    for row, values in enumerate(rows or ()):
        for column, value in zip(columns, values, strict=True):
            if isinstance(value, str):
                check_text(value, f"Column {column!r} of row {row}")
    if names is not None and (len(names) != n or len(set(names)) != n):
        raise DataError(
            f"The 'ids' parameter must name each of the {n} items differently. "
            f"Got {len(names)} names, {len(set(names))} of them different."
        )
    if isinstance(items, Sequence) and columns == ["text"] and text is None:
        text = "text"
    for name in (text, image):
        if name is not None and name not in columns:
            raise DataError(f"There must be a column {name!r} to show. Got {', '.join(columns)}.")
    return Display(
        n=n, ids=names, columns=columns, rows=rows, text=text, image=image, folder=folder,
        hidden=[name for name in columns if name in hidden],
    )  # fmt: skip


def exemplars_of(
    clustering: Clustering, X: NDArray[np.floating], cluster: int, n: int
) -> list[int]:
    """At most n items that exemplify a cluster: those with the largest membership in tenths.

    Ties are ordered by the distance to the centre; items with equal features come last.
    """
    U = clustering.memberships
    own = np.flatnonzero(strongest_clusters(U) == cluster)
    tenths = np.round(U[own, cluster], 1)
    wanted = _TWINS * n
    if len(own) > wanted:
        least = np.partition(tenths, -wanted)[-wanted]
        own, tenths = own[tenths >= least], tenths[tenths >= least]
    centers = clustering.centers[cluster : cluster + 1]
    distances = lloyd.distances(np.asarray(X[own]), centers)[:, 0] if len(own) else tenths
    own = own[np.lexsort((distances, -tenths))][:wanted]
    features = [np.asarray(X[row]).tobytes() for row in own]
    twin = np.array([same in features[:place] for place, same in enumerate(features)], dtype=bool)
    rows: list[int] = own[np.argsort(twin, kind="stable")][:n].tolist()
    return rows


def _table(items: Any) -> tuple[list[str], list[list[Any]] | None]:
    """Columns and rows of a frame, of texts, of records, or of sequences."""
    if items is None:
        return [], None
    if hasattr(items, "columns") and hasattr(items, "itertuples"):
        frame = items.itertuples(index=False, name=None)  # a row as a series would lose its types
        return [str(name) for name in items.columns], [[_plain(v) for v in row] for row in frame]
    for name in ("to_dicts", "to_pylist"):  # polars, pyarrow
        items = getattr(items, name)() if hasattr(items, name) else items
    listed = list(items)
    if all(isinstance(value, Mapping) for value in listed):
        columns = list(dict.fromkeys(str(key) for record in listed for key in record))
        return columns, [[_plain(record.get(name)) for name in columns] for record in listed]
    if any(isinstance(value, str) or not np.iterable(value) for value in listed):
        return ["text"], [[_word(_plain(value))] for value in listed]
    rows = [[_plain(value) for value in row] for row in listed]
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise DataError(
            f"The 'items' parameter must have rows of equal length. Got lengths {sorted(widths)}."
        )
    return [f"x{j}" for j in range(widths.pop() if widths else 0)], rows


def _plain(value: Any) -> Any:
    """Convert a value to a number, a str or None for JSON."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    text = str(value)
    return None if text in ("NaT", "<NA>") else text


def _word(value: Any) -> str:
    """A value as text; "" for a missing one."""
    return "" if value is None else str(value)


def shortened(text: str) -> str:
    """The first words of a text."""
    text = " ".join(text.split())
    return text if len(text) <= _LABEL else text[: _LABEL - 1].rstrip() + "…"
