"""Matrices of columns that are no plain values: pictures, vectors, embeddings."""

import importlib
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import DataError, MissingExtraError, ParameterError
from askmeans.tables.columns import Column
from askmeans.tables.pictures import describe_pictures
from askmeans.tables.reading import RawTable
from askmeans.tables.recipe import GIVEN, Recipe
from askmeans.tables.vectors import Vectors, column_vectors, embedded

__all__ = ["embed_by_column", "matrices_of", "new_matrices"]

Matrices = dict[str, NDArray[np.float32]]
Embed = Callable[[list[Any]], Any]
Functions = Mapping[str, tuple[Embed, str]]

_NAMED = 3  # images in a message


def embed_by_column(embed: Any, columns: Sequence[Column]) -> dict[str, tuple[Embed, str]]:
    """Return the embedding of each column: as named, else of all texts, else of all images."""
    if embed is None:
        return {}
    kinds = {column.name: column.kind for column in columns}
    if not isinstance(embed, Mapping):
        wanted = [name for name, kind in kinds.items() if kind == "text"]
        wanted = wanted or [name for name, kind in kinds.items() if kind == "image"]
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


def matrices_of(
    table: RawTable, columns: Sequence[Column], functions: Functions, notes: list[str]
) -> Matrices:
    """Return a matrix with one row per item for each such column; NaN for missing values."""
    matrices: Matrices = {}
    for column in columns:
        name = column.name
        if name not in table.frame.columns:
            continue
        if name in functions:
            function, word = functions[name]
            values = table.frame[name]
            if column.kind == "image" and table.folder is not None:
                values = values.map(partial(_in_folder, table.folder), na_action="ignore")
            matrices[name] = embedded(values, function, word)
        elif column.kind == "image":
            matrices[name] = _pictures(table, name, notes)
        elif column.kind == "vector":
            matrices[name] = column_vectors(table.frame[name])
    return matrices


def new_matrices(recipe: Recipe, table: RawTable, embed: Any, notes: list[str]) -> Matrices:
    """Return the matrices of new rows; only the caller's embedding is called."""
    kinds = {column.name: column for column in recipe.columns}
    wanted = {e.column: e.embed for e in recipe.encoders if isinstance(e, Vectors)}
    used = [kinds[name] for name in wanted if name != GIVEN]
    functions = embed_by_column(embed, used)
    for name, word in wanted.items():
        got = functions.get(name, (None, None))[1]
        if got != word:
            raise ParameterError(
                f"The 'embed' parameter must be {word or 'left out'} for {name!r}, as for the "
                f"first rows. Got {got or 'nothing'} instead."
            )
    lacking = [name for name in wanted if name != GIVEN and name not in table.frame.columns]
    if lacking:
        raise DataError(
            f"New rows must have the columns of the features. {', '.join(lacking)} is missing."
        )
    return matrices_of(table, used, functions, notes)


def _embedding(embed: Any) -> tuple[Embed, str]:
    """Return the function, imported if it is `package.module:function`, and its name."""
    if callable(embed):
        name = f"{getattr(embed, '__module__', '')}:{getattr(embed, '__qualname__', 'function')}"
        return embed, name
    if embed == "wordllama":
        return _wordllama(), "wordllama"
    module, _, function = str(embed).partition(":")
    if not module or not function:
        raise ParameterError(
            "The 'embed' parameter must be a function, 'wordllama', or 'package.module:function'. "
            f"Got {embed!r:.60} instead."
        )
    try:
        function = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ParameterError(
            f"The 'embed' parameter must name a function that can be imported. Got '{error}'; "
            "install its package, or put its file where Python looks (PYTHONPATH=.)."
        ) from error
    return function, str(embed)


def _wordllama() -> Embed:
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

    def embed(texts: Sequence[Any]) -> Any:
        return model.embed([str(text) for text in texts])

    return embed


def _pictures(table: RawTable, name: str, notes: list[str]) -> NDArray[np.float32]:
    """Describe the pictures of a column; a note lists unreadable ones."""
    matrix, wrong = describe_pictures(table.frame[name].tolist(), table.folder)
    if wrong:
        values = table.frame[name].astype(str)
        some = [f"{values.iloc[row]:.60}: {why}" for row, why in list(wrong.items())[:_NAMED]]
        more = ", ..." if len(wrong) > _NAMED else ""
        where = f"in {table.folder} " if table.folder is not None else ""
        message = (
            f"Column {name!r} must have images {where}that Pillow can read. {len(wrong):,} of "
            f"{len(values):,} cannot be read ({'; '.join(some)}{more})"
        )
        if len(wrong) == len(values):
            raise DataError(f"{message}; put them there, or leave the column out.")
        notes.append(f"{message}; they count as missing.")
    return matrix


def _in_folder(folder: Path, value: Any) -> Any:
    """The path of a value in the folder."""
    return str(folder / value) if isinstance(value, str) else value
