"""The matrix a session clusters: raw little-endian bytes at rest, or a large file's path.

A fingerprint (type, shape and bytes) tells whether data is the data of a session.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
    path: Path | None = None
    if isinstance(X, str | Path):
        path = Path(X).expanduser().absolute()
        X = _mapped(path)
    elif isinstance(X, np.memmap) and X.filename is not None and X.offset > 0:
        candidate = Path(str(X.filename)).absolute()
        if candidate.suffix == ".npy" and _mapped(candidate).shape == X.shape:
            path = candidate
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    items = getattr(as_items(X), "X", None)
    if items is None:
        raise DataError("X must be an array or a file of one. Got items of another kind instead.")
    matrix: Matrix = items if items.dtype == np.float32 else as_matrix(items, "X")
    if matrix.nbytes <= LARGE:
        return matrix, None
    if path is None or matrix.dtype != _mapped(path).dtype:
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
        matrix = _mapped(path)
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


def _mapped(path: Path) -> Matrix:
    """A .npy file, mapped."""
    try:
        mapped: Matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataError(f"{path} must be a .npy file of numbers. Got '{error}'.") from error
    return mapped
