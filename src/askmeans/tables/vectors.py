"""Columns of vectors: own vectors, embeddings of texts or images, and descriptors of pictures."""

import importlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from askmeans._util.arrays import Single
from askmeans._util.files import broken_as_value_errors
from askmeans._util.message import Message
from askmeans._util.progress import tracked
from askmeans.exceptions import DataError, MissingExtraError, ParameterError
from askmeans.tables.columns import Column
from askmeans.tables.encoders import Encoder, pack, unpack
from askmeans.tables.pictures import describe_pictures
from askmeans.tables.reading import RawTable, read_table

if TYPE_CHECKING:
    import pandas as pd

Embed = Any  # a function from a list to an array, or an object with such: texts and images

WORDLLAMA = "wordllama"
_NAMED = 3  # ids or images in a message
_BATCH = 1000  # texts that a model embeds at a time
_PICTURE_AXES = 32  # principal axes of picture descriptors, as many as topics of texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors(Encoder):
    """Vectors, scaled to length 1 for cosine distances; pictures on their principal axes."""

    missing_treatment: ClassVar[str] = "replaced by the mean"
    source: str  # "column", "given", "image" or "embed"
    embed: str | None  # the function's name
    cosine: bool
    mean: dict[str, Any]  # packed; replaces a missing vector
    axes: dict[str, Any] | None  # packed; one column for each feature

    @classmethod
    def fit(
        cls, name: str, matrix: Single, *, source: str, cosine: bool, embed: str | None = None
    ) -> "Vectors":
        """Learn the mean and, of pictures, the first principal axes."""
        present = _normalised(matrix[~np.isnan(matrix).any(axis=1)], cosine=cosine)
        if not len(present):
            raise DataError(
                f"Column {name!r} must have vectors or images. Got none.",
                user_message=Message(
                    "The column “{column}” is empty. Choose another use for it.", column=name
                ),
            )
        mean = present.mean(axis=0, dtype=np.float64)
        axes = None
        if source == "image":
            centred = present - mean
            n = min(_PICTURE_AXES, *centred.shape)
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

    def transform(self, values: Single) -> Single:
        """Return the features; a row of NaN is a missing vector."""
        mean = unpack(self.mean)
        if values.shape[1] != len(mean):
            raise DataError(
                f"The vectors of {self.column!r} must have {len(mean)} components, as the first "
                f"ones had. Got {values.shape[1]} instead."
            )
        gaps = np.isnan(values).any(axis=1, keepdims=True)
        filled = np.where(gaps, mean, _normalised(values, cosine=self.cosine))
        features = filled if self.axes is None else (filled - mean) @ unpack(self.axes)
        return features.astype(np.float32, copy=False)

    def moved_to_mean(self, texts: Single) -> Single:
        """Move vectors of several texts to the mean of the pictures."""
        rows = _normalised(texts, cosine=self.cosine)
        return rows - rows.mean(axis=0) + unpack(self.mean) if len(rows) > 1 else rows

    def missing(self, n: int) -> Single:
        """Return the mean."""
        return self.transform(np.full((n, self.mean["shape"][0]), np.nan, dtype=np.float32))


def _normalised(matrix: Single, *, cosine: bool) -> Single:
    """Rows of length 1 for cosine distances, else the rows themselves."""
    if not cosine:
        return matrix
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    scaled: Single = matrix / np.maximum(lengths, np.finfo(np.float32).tiny)
    return scaled


def column_values(
    table: RawTable, column: Column, embed: tuple[Embed, str] | None, notes: list[str]
) -> Any:
    """The values to encode: a matrix of vectors with NaN for missing ones, else the column."""
    values = table.frame[column.name]
    if embed is not None:
        folder = table.folder
        if column.kind == "image" and folder is not None:
            values = values.map(lambda path: str(folder / path), na_action="ignore")
        return embed_column(values, *embed, image=column.kind == "image")
    if column.kind == "image":
        return _pictures(values, table.folder, notes)
    return _column_vectors(values) if column.kind == "vector" else values


def embeddings(embed: Any, columns: Sequence[Column]) -> dict[str, tuple[Embed, str]]:
    """The embedding of each column and its name: as named, else of all texts, else of all images.

    A name is "wordllama", "sentence-transformers:MODEL" or "package.module:function".
    """
    if embed is None:
        return {}
    kinds = {column.name: column.kind for column in columns}
    if not isinstance(embed, Mapping):
        texts, images = (
            [name for name, kind in kinds.items() if kind == wanted] for wanted in ("text", "image")
        )
        wanted = [*texts, *images] if hasattr(embed, "images") else texts or images
        if not wanted:
            raise ParameterError(
                "The 'embed' parameter needs a text or image feature. The features are "
                f"{', '.join(kinds)}; name a column as text."
            )
        embed = dict.fromkeys(wanted, embed)
    for name in embed:
        if kinds.get(name) not in ("text", "image"):
            raise ParameterError(
                "The 'embed' parameter must name text or image features. Got "
                f"{name!r} instead; name it as text or image."
            )
    return {name: _embedding(function) for name, function in embed.items()}


def _embedding(embed: Any) -> tuple[Embed, str]:
    """Import an embedding, and name it."""
    if not isinstance(embed, str):
        if not callable(embed) and not hasattr(embed, "texts") and not hasattr(embed, "images"):
            raise ParameterError(
                "The 'embed' parameter must be a function, an object with the methods texts and "
                f"images, or a name. Got {type(embed).__name__} instead."
            )
        named = embed if hasattr(embed, "__qualname__") else type(embed)
        return embed, getattr(embed, "name", f"{named.__module__}:{named.__qualname__}")
    if embed == WORDLLAMA:
        return wordllama(), embed
    module, _, function = embed.partition(":")
    if not module or not function:
        raise ParameterError(
            "The 'embed' parameter must be a function, 'wordllama', 'sentence-transformers:MODEL' "
            f"or 'package.module:function'. Got {embed!r:.60} instead."
        )
    if module == "sentence-transformers":
        return _sentence_transformers(function), embed
    try:
        return getattr(importlib.import_module(module), function), embed
    except (ImportError, AttributeError) as error:
        raise ParameterError(
            f"The 'embed' parameter must name a function that can be imported. Got '{error}'; "
            "install its package, or put its file where Python looks (PYTHONPATH=.)."
        ) from error


def _sentence_transformers(model: str) -> Embed:
    """Sentence embeddings of a model, which is downloaded where it is not on this machine."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingExtraError(
            "Embedding by sentence-transformers needs that package. Install it with: "
            'pip install "askmeans[sentence-transformers]"'
        ) from error
    return _in_batches(SentenceTransformer(model).encode)


@cache
def wordllama() -> Embed:
    """Sentence embeddings whose weights are in the package: nothing is downloaded."""
    root = logging.getLogger()
    before = root.level, list(root.handlers)
    try:
        import wordllama
    except ImportError as error:
        raise MissingExtraError(
            "Embedding by wordllama needs the package wordllama. Install it with: "
            'pip install "askmeans[text]"'
        ) from error
    # wordllama does not find the tokenizer in its own wheel unless the folder is its cache.
    model = wordllama.WordLlama.load(
        cache_dir=Path(wordllama.__file__).parent, disable_download=True
    )
    root.setLevel(before[0])  # importing it switches on the logs of all libraries
    root.handlers[:] = before[1]
    return _in_batches(lambda texts: model.embed([str(text) for text in texts]))


def _in_batches(embed: Callable[[list[Any]], Any]) -> Embed:
    """An embedding that reports its progress."""

    def in_batches(values: list[Any]) -> Any:
        starts = range(0, max(len(values), 1), _BATCH)
        return np.concatenate([embed(values[row : row + _BATCH]) for row in tracked(starts)])

    return in_batches


def embed_column(
    values: "pd.Series[Any]", embed: Embed, name: str, *, image: bool = False
) -> Single:
    """Embed the values of a column; NaN for missing ones."""
    function = getattr(embed, "images" if image else "texts", embed)
    if not callable(function):
        raise ParameterError(
            f"The 'embed' parameter must take {'images' if image else 'texts'}. Got {name}, which "
            "does not."
        )
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


def _pictures(values: "pd.Series[Any]", folder: Path | None, notes: list[str]) -> Single:
    """Describe the pictures of a column; a note lists unreadable ones."""
    matrix, wrong = describe_pictures(values.tolist(), folder)
    if wrong:
        some = [f"{values.iloc[row]!s:.60}: {why}" for row, why in list(wrong.items())[:_NAMED]]
        more = ", ..." if len(wrong) > _NAMED else ""
        where = f"in {folder} " if folder is not None else ""
        message = (
            f"Column {values.name!r} must have images {where}that Pillow can read. {len(wrong):,} "
            f"of {len(values):,} cannot be read ({'; '.join(some)}{more})"
        )
        if len(wrong) == len(values):
            raise DataError(f"{message}; put them there, or leave the column out.")
        notes.append(f"{message}; they count as missing.")
    return matrix


def _column_vectors(values: "pd.Series[Any]") -> Single:
    """Convert a column of lists of numbers to a matrix; NaN for missing ones."""
    rows = values.dropna()
    if rows.empty or not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        got = "nothing" if rows.empty else f"{rows.iloc[0]!r:.60}"
        raise DataError(
            f"Column {values.name!r} must have lists of numbers to be vectors. Got {got} instead; "
            "name another column, or a .npy file.",
            user_message=Message(
                "The column “{column}” is not of vectors. Choose another use for it.",
                column=values.name,
            ),
        )
    lengths = rows.map(len)
    other = lengths[lengths != lengths.iloc[0]]
    if len(other):
        raise DataError(
            f"Vectors must be of one length. Got {lengths.iloc[0]} and, in row {other.index[0]} of "
            f"column {values.name!r}, {other.iloc[0]} numbers; mend or leave out such rows.",
            user_message=Message(
                "The vectors of the column “{column}” are not all of one length. Correct them, or "
                "choose another use.",
                column=values.name,
            ),
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
        return (_column_vectors(frame[lists[0]]) if lists else frame.to_numpy()), names, str(path)
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
