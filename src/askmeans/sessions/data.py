"""The matrix a session clusters: raw little-endian bytes at rest, or a large file's path.

A fingerprint (type, shape and bytes) tells whether data is the data of a session. A file is read
once, into memory or, where it is large, into a copy on disk without a name, which is mapped: data
may be larger than memory, and whoever changes or shortens the file later changes nothing here.
(Shortening a file that is mapped kills the process.)
"""

import hashlib
import mmap
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from askmeans.checks import as_matrix
from askmeans.exceptions import DataError, OtherDataError
from askmeans.items import as_items
from askmeans.sessions.store.contract import DataPart, Store

__all__ = ["chunks_of", "fingerprint", "load_matrix", "prepare_matrix"]

Matrix = NDArray[np.floating]

LARGE = 256 * 2**20  # bytes above which a file is referred to, not copied
CHUNK = 8 * 2**20


def prepare_matrix(X: Any) -> tuple[Matrix, str | None]:
    """The items as a float matrix, and the path to refer to when they are a large file's.

    A path to a .npy file, or a memory map of one, may be large; everything else is copied into the
    database.
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
    for chunk in chunks_of(matrix):
        digest.update(chunk)
    return digest.hexdigest()


def chunks_of(matrix: Matrix) -> Iterator[bytes]:
    """The numbers row by row, as raw little-endian bytes."""
    rows = max(1, CHUNK // max(1, matrix.shape[1] * matrix.dtype.itemsize))
    for start in range(0, len(matrix), rows):
        yield np.ascontiguousarray(matrix[start : start + rows], dtype=_dtype(matrix)).tobytes()


def load_matrix(store: Store, session: int, part: DataPart) -> Matrix:
    """The numbers of a part; refused when they are not those that were stored."""
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
    """The type at rest."""
    return "<f4" if matrix.dtype == np.float32 else "<f8"


def _path_of(X: Any) -> Path | None:
    """The .npy file that X is, or is a map of."""
    if isinstance(X, str | Path):
        return Path(X).expanduser().absolute()
    whole = isinstance(X, np.memmap) and isinstance(X.base, mmap.mmap)  # and no part of one
    if not whole or X.mode not in ("r", "r+") or X.filename is None or X.offset == 0:
        return None
    path = Path(str(X.filename)).absolute()
    try:
        there = np.load(path, mmap_mode="r", allow_pickle=False)  # its header only
    except (OSError, EOFError, ValueError):
        return None  # it is no .npy file
    return path if (there.shape, there.dtype) == (X.shape, X.dtype) else None


def _read(path: Path) -> Matrix:
    """The numbers of a .npy file as they are now."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size > LARGE:
                return _mapped_copy(file, path)
            matrix: Any = np.load(file, allow_pickle=False)
    except (OSError, EOFError, ValueError) as error:
        raise DataError(f"{path} must be a .npy file of numbers. Got '{error}'.") from error
    if not isinstance(matrix, np.ndarray):
        raise DataError(f"{path} must be a .npy file of numbers. Got a file of several arrays.")
    return matrix


def _mapped_copy(file: BinaryIO, path: Path) -> Matrix:
    """The numbers of an open .npy file, in a copy on disk that nobody else can reach."""
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
    """A file that goes with the process: in this folder, or where files for a while go."""
    try:
        return tempfile.TemporaryFile(dir=folder)
    except OSError:  # it may not be written to
        return tempfile.TemporaryFile()
