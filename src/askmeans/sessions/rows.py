"""The rows of a session: features, display and ids, of the first rows and of added ones.

Features are stored as raw little-endian bytes, or as a large file's path. A fingerprint (type,
shape and bytes) identifies the data of a session. A file is read once: into memory or, if it is
large, into an unnamed copy on disk, which is mapped. So data may be larger than memory, and later
changes of the file have no effect. (Truncating a mapped file would kill the process.)
"""

import bisect
import hashlib
import mmap
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import as_matrix
from askmeans._util.files import broken_as_value_errors
from askmeans._util.message import Message
from askmeans.exceptions import DataError, OtherDataError
from askmeans.fuzzy.items import as_items
from askmeans.sessions.display import Display, Item, as_display
from askmeans.sessions.store.records import DataPart, SessionRecord, as_written, check, from_stored

if TYPE_CHECKING:
    from askmeans.sessions.store.sql import Store

Matrix = NDArray[np.floating]

LARGE = 256 * 2**20  # bytes above which a file is referred to instead of copied
CHUNK = 8 * 2**20


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
    hidden: Sequence[str] = (),
) -> tuple[Matrix, DataPart]:
    """Check new rows; return their features and their record."""
    if feature_names is None and hasattr(X, "columns"):
        feature_names = [str(name) for name in X.columns]
    if ids is None and items is None and hasattr(X, "columns"):
        items = X
    matrix, path = prepare_matrix(X)
    display = as_display(
        items, len(matrix), matrix.shape[1], ids=ids, feature_names=feature_names, text=text,
        image=image, folder=folder, hidden=hidden,
    )  # fmt: skip
    return matrix, DataPart(
        part=part,
        dtype=_dtype(matrix),
        shape=(matrix.shape[0], matrix.shape[1]),
        fingerprint=fingerprint(matrix),
        path=path,
        display=display.to_json(),
    )


def blank_rows(display: Display, matrix: Matrix, columns: Collection[str] | None) -> list[int]:
    """Rows whose text says nothing, or has no word of the others; the columns are a recipe's."""
    if columns is None:
        return display.blank()
    if display.text not in columns or display.image is not None:
        return []
    without_words = np.flatnonzero(~matrix.any(axis=1)).tolist()
    return sorted({*display.blank(), *without_words})


class Rows:
    """All rows of one session."""

    def __init__(self, store: "Store", record: SessionRecord) -> None:
        self._store = store
        self._record = record
        self._matrices: list[Matrix] = []
        self._displays: list[Display] = []
        self._ends: list[int] = []
        self._matrix: Matrix | None = None
        self.load()
        with as_written(store.url):
            check(self._matrices, "a session without rows")

    @property
    def base(self) -> Matrix:
        """The features of the first rows."""
        return self._matrices[0]

    @property
    def matrix(self) -> Matrix:
        """The features of all rows; with added ones a copy in memory."""
        if self._matrix is None or len(self._matrix) < len(self):
            self._matrix = self.base if len(self._matrices) == 1 else np.concatenate(self._matrices)
        return self._matrix

    @property
    def n_parts(self) -> int:
        """The number of loaded parts."""
        return len(self._matrices)

    @property
    def folder(self) -> str | None:
        """The folder of the images."""
        return self._displays[0].folder

    @property
    def columns(self) -> list[str]:
        """All columns of the items, also those that annotators do not see."""
        return self._displays[0].columns

    @property
    def shown(self) -> list[str]:
        """The columns that annotators see."""
        hidden = self._displays[0].hidden or ()
        return [name for name in self.columns if name not in hidden]

    @property
    def blank(self) -> list[int]:
        """Rows of which people see a text that says nothing, where items are clustered by it."""
        recipe = self._record.config.get("recipe")
        columns = None if recipe is None else {each["column"] for each in recipe["encoders"]}
        starts = [0, *self._ends]
        return [
            start + row
            for start, display, matrix in zip(starts, self._displays, self._matrices, strict=False)
            for row in blank_rows(display, matrix, columns)
        ]

    def __len__(self) -> int:
        return self._ends[-1]

    def load(self) -> None:
        """Load new parts."""
        for part in self._store.parts(self._record.id)[len(self._matrices) :]:
            with as_written(self._store.url):
                matrix = _load_matrix(self._store, self._record.id, part)
                display = from_stored(Display, part.display)
                _check_display(display, len(matrix))
            self._matrices.append(matrix)
            self._displays.append(display)
            self._ends.append((self._ends[-1] if self._ends else 0) + part.shape[0])

    def ids(self) -> list[str]:
        """The ids of all items, in the order of the rows."""
        names: list[str] = []
        for display in self._displays:
            shift = len(names)
            names += display.ids or [str(shift + row) for row in range(display.n)]
        return names

    def item(self, row: int) -> Item:
        """One item, for display."""
        part, place = self._place(row)
        return self._displays[part].item(place, self._matrices[part][place], row)

    def values(self, row: int) -> list[Any]:
        """What the columns have of an item; None for a column that came without."""
        part, place = self._place(row)
        values = self._displays[part].values(place, self._matrices[part][place])
        return [values.get(name) for name in self.columns]

    def image_file(self, row: int) -> Path | None:
        """The file of an item's image; None without one in the folder that a page can show."""
        part, place = self._place(row)
        return self._displays[part].image_file(place)

    def find(self, words: str) -> list[int]:
        """Rows whose id or text contains these words, ignoring case."""
        starts = [0, *self._ends]
        return [
            start + place
            for start, display in zip(starts, self._displays, strict=False)
            for place in display.matches(words)
        ]

    def _place(self, row: int) -> tuple[int, int]:
        """The part of an item, and its place there."""
        if row >= len(self):
            self.load()  # another process may have added it
        if not 0 <= row < len(self):
            raise DataError(
                f"There must be an item {row}. Got items 0 to {len(self) - 1} only.",
                user_message=Message(
                    "There is no such item here. Look for it by name under Results."
                ),
            )
        part = bisect.bisect_right(self._ends, row)
        return part, row - (self._ends[part - 1] if part else 0)

    def prepare(self, X: Any, *, items: Any, ids: Any) -> tuple[Matrix, DataPart]:
        """Check further rows; return their features and their record."""
        self.load()
        first = self._displays[0]
        matrix, part = make_part(
            X, len(self._matrices), items=items, ids=ids,
            feature_names=self._record.config.get("feature_names"),
            text=first.text if items is not None else None,
            image=first.image if items is not None else None, folder=first.folder,
            hidden=first.hidden or (),
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


def prepare_matrix(X: Any) -> tuple[Matrix, str | None]:
    """Convert items to a float matrix; return it with the path of a large file.

    A .npy file or a memory map of one may be large; other data is copied into the database.
    """
    path = _path_of(X)
    if path is not None:
        X = _read(path)
    dtype = getattr(X, "dtype", None)
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    items = getattr(as_items(X), "X", None)
    if items is None:
        raise DataError("X must be an array or a file of one. Got items of another kind instead.")
    matrix: Matrix = items if items.dtype == np.float32 else as_matrix(items, "X")
    if matrix.nbytes <= LARGE:
        return matrix, None
    if path is None or matrix.dtype != dtype:
        raise DataError(
            f"X must be a .npy file when it is larger than {LARGE // 2**20} MiB. Got "
            f"{matrix.nbytes // 2**20} MiB in memory; numpy.save it as floats and pass the path."
        )
    return matrix, str(path)


def fingerprint(matrix: Matrix) -> str:
    """A digest of type, shape and numbers."""
    digest = hashlib.sha256(f"{_dtype(matrix)} {matrix.shape}".encode())
    for chunk in _chunks_of(matrix):
        digest.update(chunk)
    return digest.hexdigest()


def stored_chunks(matrix: Matrix, part: DataPart) -> Iterator[bytes]:
    """The bytes of a part for the database; none if it refers to a file."""
    return _chunks_of(matrix) if part.path is None else iter(())


def _chunks_of(matrix: Matrix) -> Iterator[bytes]:
    """The numbers row by row, as raw little-endian bytes."""
    rows = max(1, CHUNK // max(1, matrix.shape[1] * matrix.dtype.itemsize))
    for start in range(0, len(matrix), rows):
        yield np.ascontiguousarray(matrix[start : start + rows], dtype=_dtype(matrix)).tobytes()


def _check_display(display: Display, n: int) -> None:
    """Raise a ValueError unless this is a valid display of n rows."""
    columns, rows, ids = display.columns, display.rows, display.ids
    check(display.n == n and isinstance(columns, list), "what is shown")
    check(all(isinstance(name, str) for name in columns), "the columns that are shown")
    hidden = display.hidden
    check(hidden is None or isinstance(hidden, list), "the columns that are hidden")
    check(all(name in columns for name in hidden or ()), "the columns that are hidden")
    check(ids is None or (isinstance(ids, list) and len(ids) == n), "the ids")
    check(all(isinstance(name, str) for name in ids or ()), "the ids")
    check(all(name is None or name in columns for name in (display.text, display.image)), "text")
    check(display.folder is None or isinstance(display.folder, str), "the pictures' folder")
    if rows is not None:
        check(isinstance(rows, list) and len(rows) == n, "the rows that are shown")
        wide = all(isinstance(row, list) and len(row) == len(columns) for row in rows)
        check(wide, "the rows that are shown")


def _load_matrix(store: "Store", session: int, part: DataPart) -> Matrix:
    """Load the features of a part; refuse others than those that were stored."""
    matrix: Matrix
    if part.path is not None:
        path = Path(part.path)
        if not path.exists():
            raise OtherDataError(
                f"{path} must be there: the session's data was too large to copy. Got nothing; "
                "put the file back."
            )
        try:
            matrix = _read(path)
        except DataError as error:
            raise OtherDataError(f"{error} The session's data was there; put it back.") from error
    else:
        raw = b"".join(store.chunks(session, part.part))
        if len(raw) != part.shape[0] * part.shape[1] * np.dtype(part.dtype).itemsize:
            raise OtherDataError(
                f"{store.url} must hold {part.shape} numbers. Got {len(raw)} bytes; go back to a "
                "backup."
            )
        matrix = np.frombuffer(raw, dtype=part.dtype).reshape(part.shape)
    if fingerprint(matrix) != part.fingerprint:
        raise OtherDataError(
            f"{part.path or store.url} must hold the numbers the session was made with. Got other "
            "ones; put the old file back, or make a new session."
        )
    return matrix


def _dtype(matrix: Matrix) -> str:
    """The stored type."""
    return "<f4" if matrix.dtype == np.float32 else "<f8"


def _path_of(X: Any) -> Path | None:
    """The path of the .npy file that X names or maps."""
    if isinstance(X, str | Path):
        return Path(X).expanduser().absolute()
    is_map = isinstance(X, np.memmap) and isinstance(X.base, mmap.mmap)  # no part of one
    if not is_map or X.mode not in ("r", "r+") or X.filename is None or X.offset == 0:
        return None
    path = Path(str(X.filename)).absolute()
    try:
        with broken_as_value_errors():
            there = np.load(path, mmap_mode="r", allow_pickle=False)  # its header only
    except (OSError, ValueError):
        return None  # another format
    return path if (there.shape, there.dtype) == (X.shape, X.dtype) else None


def _read(path: Path) -> Matrix:
    """Read a .npy file."""
    try:
        with broken_as_value_errors(), path.open("rb") as file:
            if os.fstat(file.fileno()).st_size > LARGE:
                return _mapped_copy(file, path)
            matrix: Any = np.load(file, allow_pickle=False)
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} must be a .npy file of numbers. Got '{error}'.") from error
    if not isinstance(matrix, np.ndarray):
        raise DataError(f"{path} must be a .npy file of numbers. Got a file of several arrays.")
    return matrix


def _mapped_copy(file: BinaryIO, path: Path) -> Matrix:
    """Map an unnamed copy on disk of an open .npy file."""
    if np.lib.format.read_magic(file) == (1, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    else:
        shape, fortran, dtype = np.lib.format.read_array_header_2_0(file)
    if dtype.hasobject:
        raise ValueError("an array of objects")
    with _nameless(path.parent) as copy:
        try:
            shutil.copyfileobj(file, copy, CHUNK)
            copy.flush()
        except OSError as error:
            raise DataError(
                f"There must be room for a copy of {path} beside it. Got '{error}'; free some "
                "space on its disk."
            ) from error
        return np.memmap(copy, dtype, "r", shape=shape, order="F" if fortran else "C")


def _nameless(folder: Path) -> Any:
    """An unnamed temporary file, in this folder if it is writable."""
    try:
        return tempfile.TemporaryFile(dir=folder)
    except OSError:  # it is not writable
        return tempfile.TemporaryFile()
