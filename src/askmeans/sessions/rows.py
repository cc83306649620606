"""The rows of a session: numbers, what people see, ids; those it began with and those added since.

The default policy asks about all rows. A plan clusters those that the session began with; the
others get their memberships from what the answers taught, so that no answer is lost.
"""

import bisect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import DataError
from askmeans.sessions.data import chunks_of, fingerprint, load_matrix, prepare_matrix
from askmeans.sessions.display import Display, Item, as_display
from askmeans.sessions.store.contract import DataPart, SessionRecord, Store
from askmeans.sessions.stored import from_stored

__all__ = ["Rows", "chunks_at_rest", "make_part"]

Matrix = NDArray[np.floating]


def make_part(
    X: Any,
    part: int,
    *,
    items: Any,
    ids: Any,
    feature_names: list[str] | None,
    text: str | None = None,
    image: str | None = None,
    folder: str | None = None,
) -> tuple[Matrix, DataPart]:
    """Numbers and display of new rows, checked, as they are stored."""
    if feature_names is None and hasattr(X, "columns"):
        feature_names = [str(name) for name in X.columns]
    if ids is None and items is None and hasattr(X, "columns"):
        items = X
    matrix, path = prepare_matrix(X)
    display = as_display(
        items, len(matrix), matrix.shape[1], ids=ids, feature_names=feature_names, text=text,
        image=image, folder=folder,
    )  # fmt: skip
    return matrix, DataPart(
        part=part,
        dtype="<f4" if matrix.dtype == np.float32 else "<f8",
        shape=(matrix.shape[0], matrix.shape[1]),
        fingerprint=fingerprint(matrix),
        path=path,
        display=display.to_json(),
    )


def chunks_at_rest(matrix: Matrix, part: DataPart) -> Iterator[bytes]:
    """What of a part goes into the database: nothing where a file's path does."""
    return chunks_of(matrix) if part.path is None else iter(())


class Rows:
    """All rows of one session."""

    def __init__(self, store: Store, record: SessionRecord) -> None:
        self._store = store
        self._record = record
        self._matrices: list[Matrix] = []
        self._displays: list[Display] = []
        self._ends: list[int] = []
        self._matrix: Matrix | None = None
        self.load()

    @property
    def base(self) -> Matrix:
        """What the session began with."""
        return self._matrices[0]

    @property
    def matrix(self) -> Matrix:
        """All rows; added ones make a copy in memory."""
        if self._matrix is None or len(self._matrix) < len(self):
            self._matrix = self.base if len(self._matrices) == 1 else np.concatenate(self._matrices)
        return self._matrix

    @property
    def added(self) -> list[Matrix]:
        """What was added since."""
        return self._matrices[1:]

    @property
    def n_parts(self) -> int:
        """How many parts are loaded."""
        return len(self._matrices)

    @property
    def folder(self) -> str | None:
        """Where image paths start from."""
        return self._displays[0].folder

    @property
    def columns(self) -> list[str]:
        """What people see of an item."""
        return self._displays[0].columns

    def __len__(self) -> int:
        return self._ends[-1]

    def load(self) -> None:
        """Take in parts that are not loaded yet."""
        for part in self._store.parts(self._record.id)[len(self._matrices) :]:
            self._matrices.append(load_matrix(self._store, self._record.id, part))
            self._displays.append(from_stored(Display, part.display))
            self._ends.append((self._ends[-1] if self._ends else 0) + part.shape[0])

    def ids(self) -> list[str]:
        """What the items are called, in the order of the rows."""
        names: list[str] = []
        for display in self._displays:
            shift = len(names)
            names += display.ids or [str(shift + row) for row in range(display.n)]
        return names

    def item(self, row: int) -> Item:
        """One item as a person should see it."""
        part, place = self._place(row)
        return self._displays[part].item(place, self._matrices[part][place], row)

    def image_file(self, row: int) -> Path | None:
        """The file of an item's image; None where none that a page can show is in the folder."""
        part, place = self._place(row)
        return self._displays[part].image_file(place)

    def find(self, words: str) -> list[int]:
        """Rows of the items whose id or text has these words in it, whatever the case."""
        starts = [0, *self._ends]
        return [
            start + place
            for start, display in zip(starts, self._displays, strict=False)
            for place in display.matches(words)
        ]

    def _place(self, row: int) -> tuple[int, int]:
        """Where an item is: its part, and its place there."""
        if row >= len(self):
            self.load()  # another process may have added it
        if not 0 <= row < len(self):
            raise DataError(f"There must be an item {row}. Got items 0 to {len(self) - 1} only.")
        part = bisect.bisect_right(self._ends, row)
        return part, row - (self._ends[part - 1] if part else 0)

    def prepare(self, X: Any, *, items: Any, ids: Any) -> tuple[Matrix, DataPart]:
        """More rows, checked, as they are stored."""
        self.load()
        first = self._displays[0]
        matrix, part = make_part(
            X, len(self._matrices), items=items, ids=ids, feature_names=self._feature_names(),
            text=first.text if items is not None else None,
            image=first.image if items is not None else None, folder=first.folder,
        )  # fmt: skip
        if matrix.shape[1] != self.base.shape[1]:
            raise DataError(
                f"X must have the {self.base.shape[1]} features of the session. "
                f"Got {matrix.shape[1]} instead."
            )
        there, ids = self.ids(), part.display["ids"]
        if ids is None and first.ids is not None:
            raise DataError(
                "New items must have ids (the 'ids' parameter, --id), as the session's items have. "
                "Got none."
            )
        twice = set(there) & set(ids or (str(len(there) + row) for row in range(len(matrix))))
        if twice:
            raise DataError(
                f"New items must have new ids. Got {min(twice)!r}, which is there already."
            )
        return matrix, part

    def _feature_names(self) -> list[str] | None:
        """What the features are called."""
        names = self._record.config.get("feature_names")
        return None if names is None else list(names)
