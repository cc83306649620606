"""Vectors of items: precomputed, of an embedding, or descriptors of pictures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from askmeans._util.files import broken_as_value_errors
from askmeans.exceptions import DataError
from askmeans.tables.encoders import Encoder, pack, unpack
from askmeans.tables.reading import read_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Vectors", "column_vectors", "embedded", "vectors_beside"]

Single = NDArray[np.float32]

_NAMED = 3  # ids in a message


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors(Encoder):
    """Vectors, scaled to length 1 for cosine distances; pictures on their principal axes."""

    filled: ClassVar[str] = "replaced by the mean"
    source: str  # "column", "given", "image" or "embed"
    embed: str | None  # the function's name
    cosine: bool
    mean: dict[str, Any]  # packed; replaces a missing vector
    axes: dict[str, Any] | None  # packed; one column for each feature

    @classmethod
    def fit(
        cls, name: str, matrix: Single, *, source: str, cosine: bool, embed: str | None = None,
        n_axes: int | None = None,
    ) -> "Vectors":  # fmt: skip
        """Learn the mean and the first principal axes."""
        present = _normalised(matrix[~np.isnan(matrix).any(axis=1)], cosine=cosine)
        if not len(present):
            raise DataError(f"Column {name!r} must have vectors or images. Got none.")
        mean = present.mean(axis=0, dtype=np.float64)
        axes = None
        if n_axes is not None:
            centred = present - mean
            n = min(n_axes, *centred.shape)
            _, vectors = np.linalg.eigh(centred.T @ centred)
            turned = vectors[:, ::-1][:, :n]
            signs = np.sign(turned[np.abs(turned).argmax(axis=0), np.arange(n)])
            axes = pack((turned * signs).astype(np.float32))
        return cls(
            column=name, source=source, embed=embed, cosine=cosine,
            mean=pack(mean.astype(np.float32)), axes=axes,
        )  # fmt: skip

    @property
    def names(self) -> list[str]:
        """The column's name and the number of the component."""
        n = self.mean["shape"][0] if self.axes is None else self.axes["shape"][1]
        return [f"{self.column} [{j + 1}]" for j in range(n)]

    def transform(self, matrix: Single) -> Single:
        """Return the features; a row of NaN is a missing vector."""
        mean = unpack(self.mean)
        if matrix.shape[1] != len(mean):
            raise DataError(
                f"The vectors of {self.column!r} must have {len(mean)} components, as the first "
                f"ones had. Got {matrix.shape[1]} instead."
            )
        gaps = np.isnan(matrix).any(axis=1, keepdims=True)
        filled = np.where(gaps, mean, _normalised(matrix, cosine=self.cosine))
        features = filled if self.axes is None else (filled - mean) @ unpack(self.axes)
        return features.astype(np.float32, copy=False)


def _normalised(matrix: Single, *, cosine: bool) -> Single:
    """Scale rows to length 1 for cosine distances; a row of zeros stays."""
    if not cosine:
        return matrix
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    scaled: Single = matrix / np.maximum(lengths, np.finfo(np.float32).tiny)
    return scaled


def column_vectors(values: "pd.Series[Any]") -> Single:
    """Convert a column of lists of numbers to a matrix; NaN for missing ones."""
    rows = values.dropna()
    if rows.empty or not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        got = "nothing" if rows.empty else f"{rows.iloc[0]!r:.60}"
        raise DataError(
            f"Column {values.name!r} must have lists of numbers to be vectors. Got {got} instead; "
            "name another column, or a .npy file."
        )
    lengths = rows.map(len)
    if lengths.nunique() > 1:
        raise DataError(
            f"Vectors must be of one length. Got {lengths.iloc[0]} and, in row "
            f"{lengths.index[lengths != lengths.iloc[0]][0]} of column {values.name!r}, "
            f"{lengths[lengths != lengths.iloc[0]].iloc[0]} numbers; mend or leave out such rows."
        )
    matrix = np.full((len(values), int(lengths.iloc[0])), np.nan, dtype=np.float32)
    matrix[values.notna().to_numpy()] = _numbers(rows.tolist(), f"{values.name!r}")
    return matrix


def vectors_beside(vectors: Any, ids: Sequence[str], id_column: str | None) -> Single:
    """Read vectors of an array or a file in the items' order; rows are matched by order or id."""
    names: list[str] | None = None
    what = "The vectors"
    if isinstance(vectors, str | Path):
        vectors, names, what = _read(Path(vectors).expanduser(), id_column)
    matrix = _numbers(vectors, what)
    if names is not None:
        places = {name: row for row, name in enumerate(names)}
        lacking = [name for name in ids if name not in places]
        if lacking:
            raise DataError(
                f"{what} must have a vector for every item. Missing are {len(lacking)} of "
                f"{len(ids)} ({', '.join(lacking[:_NAMED])}); add them, or leave out these items."
            )
        return matrix[[places[name] for name in ids]]
    if len(matrix) != len(ids):
        raise DataError(
            f"{what} must have one row for each of the {len(ids)} items, in their order. Got "
            f"{len(matrix)} rows instead; save one vector per row, or match them by id (a .npz "
            "with ids and vectors, or a table with the id column)."
        )
    return matrix


def _read(path: Path, id_column: str | None) -> tuple[Any, list[str] | None, str]:
    """Read vectors of a file, and its ids if it has some."""
    kind = path.suffix.lower()
    if kind not in (".npy", ".npz"):
        frame = read_table(path, id_column).frame
        names = None
        if id_column is not None and id_column in frame.columns:
            names = [str(name) for name in frame[id_column]]
            frame = frame.drop(columns=id_column)
        lists = [name for name in frame.columns if not np.isscalar(frame[name].iloc[0])]
        return (column_vectors(frame[lists[0]]) if lists else frame.to_numpy()), names, str(path)
    try:
        with broken_as_value_errors():
            loaded = np.load(path, allow_pickle=False)
            if kind == ".npy":
                return loaded, None, str(path)
            with loaded:
                return loaded["vectors"], [str(name) for name in loaded["ids"]], str(path)
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path} must be a .npy file of numbers, or a .npz file with 'ids' and 'vectors'. "
            f"Got '{error}'; save it with numpy.save."
        ) from error


def _numbers(vectors: Any, what: str) -> Single:
    """Convert vectors to a finite matrix."""
    try:
        matrix = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{what} must hold numbers in rows of equal length. Got '{error}'; save them as one "
            "array."
        ) from error
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
        got = f"shape {matrix.shape}" if matrix.ndim != 2 or not matrix.size else "NaN or infinity"
        raise DataError(
            f"{what} must be finite numbers, one row for each item. Got {got}; mend such rows, or "
            "leave them out."
        )
    return matrix


def embedded(values: "pd.Series[Any]", function: Callable[[list[Any]], Any], name: str) -> Single:
    """Embed the values of a column with the user's function; NaN for missing values."""
    present = values.notna().to_numpy()
    vectors = _numbers(function(values[present].tolist()), f"What {name} returns")
    if len(vectors) != present.sum():
        raise DataError(
            f"{name} must return one vector for each of {present.sum()} values. Got {len(vectors)} "
            "instead; it takes a list and returns an array with as many rows."
        )
    matrix = np.full((len(values), vectors.shape[1]), np.nan, dtype=np.float32)
    matrix[present] = vectors
    return matrix
