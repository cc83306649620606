"""A user's table as items: features to cluster by, columns to show, ids, and the recipe."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import check_choice
from askmeans.exceptions import DataError
from askmeans.tables.columns import Column, Roles, describe_columns
from askmeans.tables.matrices import embed_by_column, matrices_of, new_matrices
from askmeans.tables.reading import check_column, read_table
from askmeans.tables.recipe import GIVEN, Recipe, Settings, learn_recipe, recipe_features
from askmeans.tables.vectors import given_vectors

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Items", "apply_recipe", "item_ids", "read_items"]

_OWNER = "read_items"
_NAMED = 8  # columns or rows in a message


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Items:
    """What clusters, what people see, what items are called, and how it was made.

    Parameters
    ----------
    features : ndarray of shape (n_items, n_features)
        Numbers in comparable units, none missing.
    shown : pandas.DataFrame
        The columns that people see, one row per item.
    ids : list of str
        What the items are called: the id column's values, or row numbers.
    recipe : Recipe
        What was done; `apply_recipe` does the same to new rows.
    rows : ndarray of shape (n_items,)
        The table's rows that became items: all of them, unless some were dropped.
    notes : list of str
        What a person should know, in sentences.
    folder : Path or None
        Where paths of images start from.
    blank : list of int, default=[]
        Items whose texts are empty or a single character, where only texts count: they are asked
        about last.

    Examples
    --------
    >>> items = read_items({"size": [1.0, 2.0, 8.0], "name": ["pea", "bean", "leek"]}, id="name")
    >>> items.ids, items.features.shape
    (['pea', 'bean', 'leek'], (3, 1))
    """

    features: NDArray[np.floating]
    shown: "pd.DataFrame"
    ids: list[str]
    recipe: Recipe
    rows: NDArray[np.intp]
    notes: list[str]
    folder: Path | None
    blank: list[int] = field(default_factory=list)

    def __repr__(self) -> str:
        shown = ", ".join(self.shown.columns[:_NAMED]) + ", ..." * (self.shown.shape[1] > _NAMED)
        n_items, n_features = self.features.shape
        return f"Items({n_items} items, {n_features} features, shown: {shown or 'nothing'})"

    @property
    def session_options(self) -> dict[str, Any]:
        """What `sessions.create` takes beside the features; it finds this itself.

        Examples
        --------
        >>> items = read_items({"size": [1.0, 2.0, 8.0], "name": ["pea", "bean", "leek"]})
        >>> items.session_options["feature_names"]
        ['size']
        """
        numbered = self.recipe.id is None and len(self.ids) == self.rows[-1] + 1
        kinds = {c.kind: c.name for c in reversed(self.recipe.columns) if c.name in self.shown}
        return {
            "items": self.shown,
            "ids": None if numbered else self.ids,
            "text": kinds.get("text"),
            "image": kinds.get("image"),
            "folder": self.folder,
            "feature_names": self.recipe.feature_names,
            "units": self.recipe.units,
            "recipe": self.recipe,
        }


def read_items(
    data: Any,
    *,
    id: str | None = None,  # noqa: A002 - the pinned name
    text: str | Sequence[str] = (),
    image: str | Sequence[str] = (),
    vectors: Any = None,
    show: Sequence[str] | None = None,
    features: Sequence[str] | Mapping[str, str | None] | None = None,
    embed: Any = None,
    metric: str = "euclidean",
    scale: str = "robust",
    missing: str = "fill",
) -> Items:
    """Items from a file or data frame: columns by kind, as features that weigh alike.

    Parameters
    ----------
    data : path, data frame, list of str, list of dict, or dict of columns
        A CSV (its separator and encoding are found out), Parquet, Arrow, JSON, JSON lines or Excel
        file, a folder of images, or a frame of pandas, polars, pyarrow or datasets.
    id : str or None, default=None
        The column that names the items; None for row numbers.
    text : str or sequence of str, default=()
        Columns of running text. Others that look like it are found.
    image : str or sequence of str, default=()
        Columns with paths of images.
    vectors : str, path, array-like of shape (n_items, n_features) or None, default=None
        Vectors of your own: a column of lists, an array, or a file: .npy (one row per item, in
        their order), .npz with `ids` and `vectors`, or a table with the id column. They replace
        the table's features, unless `features` names some.
    show : sequence of str or None, default=None
        The columns that people see; None for all.
    features : sequence of str, mapping of str to kind, or None, default=None
        The columns to cluster by; None for all that are fit for it. A mapping also says of what
        kind they are: number, category, boolean, date, text or image; None for what is found.
    embed : function, str, mapping of column to either, or None, default=None
        What makes vectors of texts (of images, where there is no text): takes a list, returns an
        array. A name is "wordllama" (with the extra [text]) or "package.module:function".
    metric : {"euclidean", "cosine"}, default="euclidean"
        Whether the length of `vectors` counts; embeddings are always scaled to length 1.
    scale : {"robust", "standard", "none"}, default="robust"
        How numbers are made comparable: by mean and deviation, after those far out are pulled in
        (robust) or as they are, or not at all.
    missing : {"fill", "drop", "refuse"}, default="fill"
        What becomes of missing values: filled in, their rows left out, or an error.

    Returns
    -------
    Items
        Features, what is shown, ids, and the recipe.

    Raises
    ------
    DataError
        If the data cannot be read, or has nothing to cluster by.
    ParameterError
        If a parameter breaks its rule.

    Examples
    --------
    >>> from askmeans.tables import read_items
    >>> items = read_items({"price": [1.0, None, 9.0, 8.0], "kind": ["a", "b", "b", "a"]})
    >>> items.recipe.feature_names
    ['price', 'kind=a', 'kind=b']
    >>> items.recipe.columns[0].why
    '1 missing, filled with the median, 8'
    """
    check_choice(metric, ("euclidean", "cosine"), "metric", _OWNER)
    check_choice(scale, ("robust", "standard", "none"), "scale", _OWNER)
    check_choice(missing, ("fill", "drop", "refuse"), "missing", _OWNER)
    table = read_table(data, id)
    named = vectors if isinstance(vectors, str) and vectors in table.frame.columns else None
    roles = Roles(
        id=id, text=_names(text), image=_names(image), vectors=named,
        show=None if show is None else tuple(show), features=_kinds(features),
        others=vectors is None,
    )  # fmt: skip
    columns = describe_columns(table.frame, roles, table.folder)
    table = table.with_texts(column.name for column in columns if column.kind == "text")
    if vectors is not None and named is None:
        columns.append(Column(name=GIVEN, kind="vector", use="feature", why="beside the table"))
    features_of = [column for column in columns if column.use == "feature"]
    if not features_of:
        told = "; ".join(f"{c.name} ({c.kind}: {c.why})" for c in columns[:_NAMED])
        raise DataError(
            f"The data must have a column to cluster by. Got {told}; name columns as features, and "
            f"check that the columns are separated as you think. {' '.join(table.notes)}".rstrip()
        )
    ids = item_ids(table.frame, id)
    functions = embed_by_column(embed, features_of)
    notes = list(table.notes)
    matrices = matrices_of(table, features_of, functions, notes)
    if vectors is not None and named is None:
        matrices[GIVEN] = given_vectors(vectors, ids, id)
    rows = _whole_rows(table.frame, features_of, matrices, ids, missing)
    frame = table.frame
    if len(rows) < len(ids):
        notes.append(f"{len(ids) - len(rows):,} of {len(ids):,} rows lack values and are left out.")
        frame = frame.iloc[rows].reset_index(drop=True)
        matrices = {name: matrix[rows] for name, matrix in matrices.items()}
    settings = Settings(
        scale=scale, metric=metric, embed={name: word for name, (_, word) in functions.items()}
    )
    recipe, matrix = learn_recipe(frame, columns, matrices, settings)
    seen = [c.name for c in columns if c.use != "left out" and _can_be_shown(frame, c)]
    shown = seen if show is None else [name for name in seen if name in show]
    return Items(
        features=matrix, shown=frame[shown], ids=[ids[row] for row in rows],
        recipe=replace(recipe, shown=shown, id=id), rows=rows, notes=notes, folder=table.folder,
        blank=_blank(frame, features_of),
    )  # fmt: skip


def apply_recipe(
    recipe: Recipe,
    data: Any,
    *,
    id: str | None = None,  # noqa: A002 - as in read_items
    vectors: Any = None,
    embed: Any = None,
) -> Items:
    """Items from new rows, with features made as those of the first ones were.

    Parameters
    ----------
    recipe : Recipe
        Of the first items.
    data : path or data frame
        As in `read_items`; it must have the columns that features are made of and people see.
    id : str or None, default=None
        The column that names the new items; None for the recipe's, where the data has it.
    vectors : path, array-like of shape (n_items, n_features) or None, default=None
        The new items' own vectors, where the first ones had some beside the table.
    embed : function, str, mapping of column to either, or None, default=None
        The embedding, where the first ones had one: a recipe has its name only, and runs nothing.

    Returns
    -------
    Items
        The new items; their recipe is the one given.

    Raises
    ------
    DataError
        If the data cannot be read, or lacks a column.

    Examples
    --------
    >>> from askmeans.tables import apply_recipe, read_items
    >>> first = read_items({"size": [1.0, 2.0, 8.0, 9.0]}, scale="none")
    >>> apply_recipe(first.recipe, {"size": [5.0]}).features.tolist()
    [[5.0]]
    """
    table = read_table(data, id or recipe.id)
    table = table.with_texts(column.name for column in recipe.columns if column.kind == "text")
    frame = table.frame
    if id is None and recipe.id in frame.columns:
        id = recipe.id  # noqa: A001 - the same
    lacking = [name for name in recipe.shown if name not in frame.columns]
    if lacking:
        raise DataError(
            f"New rows must have the columns people see. Got none called {', '.join(lacking)}."
        )
    ids = item_ids(frame, id)
    notes = list(table.notes)
    matrices = new_matrices(recipe, table, embed, notes)
    if vectors is not None:
        matrices[GIVEN] = given_vectors(vectors, ids, id)
    matrix = recipe_features(recipe, frame, matrices)
    for encoder in recipe.encoders:
        gaps = 0 if encoder.column in matrices else int(frame[encoder.column].isna().sum())
        if gaps:
            notes.append(f"{gaps:,} values of {encoder.column} are missing: {encoder.filled}.")
    return Items(
        features=matrix, shown=frame[recipe.shown], ids=ids, recipe=recipe,
        rows=np.arange(len(frame)), notes=notes, folder=table.folder,
    )  # fmt: skip


def _blank(frame: "pd.DataFrame", features: Sequence[Column]) -> list[int]:
    """Rows of which all that counts is a text that is empty or a single character."""
    if any(column.kind != "text" for column in features):
        return []
    short = [
        frame[column.name].fillna("").astype(str).str.strip().str.len() <= 1 for column in features
    ]
    return [int(row) for row in np.flatnonzero(np.all(short, axis=0))]


def item_ids(frame: "pd.DataFrame", column: str | None) -> list[str]:
    """What the items are called: a column's values, which must differ, or row numbers."""
    if column is None:
        return [str(row) for row in range(len(frame))]
    check_column(frame, column)
    ids = [str(value) for value in frame[column]]
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = next(name for name in ids if name in seen or seen.add(name))  # type: ignore[func-returns-value]  # add returns None, which is the point
        raise DataError(
            f"Column {column!r} must name every item differently. Got {twice!r} twice; "
            "use another id column."
        )
    return ids


def _whole_rows(
    frame: "pd.DataFrame",
    columns: Sequence[Column],
    matrices: Mapping[str, NDArray[np.float32]],
    ids: Sequence[str],
    missing: str,
) -> NDArray[np.intp]:
    """The rows that become items."""
    everything = np.arange(len(frame))
    if missing == "fill":
        return everything
    gaps = {
        c.name: np.isnan(matrices[c.name]).any(axis=1)
        if c.name in matrices else frame[c.name].isna().to_numpy()
        for c in columns
    }  # fmt: skip
    broken = np.flatnonzero(np.any(list(gaps.values()), axis=0))
    if missing == "refuse" and len(broken):
        shown = ", ".join(ids[row] for row in broken[:10]) + (" ..." if len(broken) > 10 else "")
        where = ", ".join(name for name, gap in gaps.items() if gap.any())
        raise DataError(
            f"Column {where} must have no missing values. Got some in {len(broken)} rows "
            f"({shown}); fill them in, or leave out these rows or columns."
        )
    whole = np.setdiff1d(everything, broken)
    if not len(whole):
        raise DataError(
            f"Some rows must have no missing values. Got some in all {len(frame)}; fill them in, "
            "or leave out columns."
        )
    return whole


def _can_be_shown(frame: "pd.DataFrame", column: Column) -> bool:
    """Whether people can look at a column: not at vectors, nor at images without a file."""
    if column.kind != "image":
        return column.kind != "vector"
    return all(isinstance(value, str) for value in frame[column.name].dropna())


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    """One name or several."""
    return (names,) if isinstance(names, str) else tuple(names)


def _kinds(
    features: Sequence[str] | Mapping[str, str | None] | None,
) -> dict[str, str | None] | None:
    """The columns named as features, with their kinds."""
    if features is None or isinstance(features, Mapping):
        return None if features is None else dict(features)
    names = _names(features)
    if len(set(names)) < len(names):
        raise DataError(f"Columns must differ by name. Got {', '.join(names)}; name each one once.")
    return dict.fromkeys(names)
