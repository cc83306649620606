"""Read a table as items: features, shown columns, ids, and the recipe of the features."""

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
from askmeans.tables.vectors import vectors_beside

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Items", "apply_recipe", "item_ids", "read_items"]

_OWNER = "read_items"
_NAMED = 8  # columns or rows in a message


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Items:
    """Items of a table.

    Parameters
    ----------
    features : ndarray of shape (n_items, n_features)
        Numbers on comparable scales, without missing values.
    shown : pandas.DataFrame
        The columns that annotators see, one row per item.
    ids : list of str
        Values of the id column, or row numbers.
    recipe : Recipe
        How the features were made; `apply_recipe` makes those of new rows.
    rows : ndarray of shape (n_items,)
        Row numbers of the items in the table.
    notes : list of str
        Remarks for the user, in sentences.
    folder : Path or None
        The folder of relative image paths.
    blank : list of int, default=[]
        Items whose texts are empty or a single character, where only texts are features. Sessions
        ask about them last.

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
        """Parameters of `sessions.create`, which reads them from the items itself.

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
    """Read items from a file or data frame and make features of comparable weight.

    Parameters
    ----------
    data : path, data frame, list of str, list of dict, or dict of columns
        A CSV (separator and encoding are detected), Parquet, Arrow, JSON, JSON lines or Excel
        file, a folder of images, or a frame of pandas, polars, pyarrow or datasets.
    id : str or None, default=None
        The id column; None for row numbers.
    text : str or sequence of str, default=()
        Text columns. Further ones are detected.
    image : str or sequence of str, default=()
        Columns with paths of images.
    vectors : str, path, array-like of shape (n_items, n_features) or None, default=None
        Precomputed vectors: a column of lists, an array, or a file: .npy (one row per item, in
        their order), .npz with `ids` and `vectors`, or a table with the id column. They replace
        the table's features, unless `features` names some.
    show : sequence of str or None, default=None
        The columns that annotators see; None for all but columns that look like labels.
    features : sequence of str, mapping of str to kind, or None, default=None
        The feature columns; None for all usable ones. A mapping also sets their kinds: number,
        category, boolean, date, text or image; None detects the kind.
    embed : function, str, mapping of column to either, or None, default=None
        Embedding of texts (of images, where there is no text): a function from a list to an array.
        A name is "wordllama" (with the extra [text]) or "package.module:function".
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" scales `vectors` to length 1; embeddings are always scaled.
    scale : {"robust", "standard", "none"}, default="robust"
        Scaling of numbers: "standard" to mean 0 and deviation 1, "robust" the same after values
        beyond three robust standard deviations are winsorised.
    missing : {"fill", "drop", "refuse"}, default="fill"
        Missing values are filled, their rows dropped, or an error is raised.

    Returns
    -------
    Items
        Features, shown columns, ids, and the recipe.

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
        listed = "; ".join(f"{c.name} ({c.kind}: {c.why})" for c in columns[:_NAMED])
        raise DataError(
            f"The data must have a usable feature column. Got {listed}; name columns as features, "
            f"and check the separator of the columns. {' '.join(table.notes)}".rstrip()
        )
    ids = item_ids(table.frame, id)
    functions = embed_by_column(embed, features_of)
    notes = list(table.notes)
    matrices = matrices_of(table, features_of, functions, notes)
    if vectors is not None and named is None:
        matrices[GIVEN] = vectors_beside(vectors, ids, id)
    rows = _kept_rows(table.frame, features_of, matrices, ids, missing)
    frame = table.frame
    if len(rows) < len(ids):
        notes.append(f"{len(ids) - len(rows):,} of {len(ids):,} rows lack values and are left out.")
        frame = frame.iloc[rows].reset_index(drop=True)
        matrices = {name: matrix[rows] for name, matrix in matrices.items()}
    settings = Settings(
        scale=scale, metric=metric, embed={name: word for name, (_, word) in functions.items()}
    )
    recipe, matrix = learn_recipe(frame, columns, matrices, settings)
    visible = [c.name for c in columns if c.use != "left out" and _can_be_shown(frame, c)]
    shown = visible if show is None else [name for name in visible if name in show]
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
    """Read new rows as items with the features of an existing recipe.

    Parameters
    ----------
    recipe : Recipe
        Recipe of the first items.
    data : path or data frame
        As in `read_items`, with the recipe's feature columns and shown columns.
    id : str or None, default=None
        The id column of the new items; None for the recipe's, if the data has it.
    vectors : path, array-like of shape (n_items, n_features) or None, default=None
        Vectors of the new items, where the first items had some beside the table.
    embed : function, str, mapping of column to either, or None, default=None
        The embedding of the first items. A recipe stores its name only and calls no function.

    Returns
    -------
    Items
        The new items, with the same recipe.

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
            f"New rows must have the columns that are shown. {', '.join(lacking)} is missing."
        )
    ids = item_ids(frame, id)
    notes = list(table.notes)
    matrices = new_matrices(recipe, table, embed, notes)
    if vectors is not None:
        matrices[GIVEN] = vectors_beside(vectors, ids, id)
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
    """Rows whose only features are texts that are empty or a single character."""
    if any(column.kind != "text" for column in features):
        return []
    short = [
        frame[column.name].fillna("").astype(str).str.strip().str.len() <= 1 for column in features
    ]
    return [int(row) for row in np.flatnonzero(np.all(short, axis=0))]


def item_ids(frame: "pd.DataFrame", column: str | None) -> list[str]:
    """Return the values of the id column, which must differ, or row numbers."""
    if column is None:
        return [str(row) for row in range(len(frame))]
    check_column(frame, column)
    ids = [str(value) for value in frame[column]]
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = next(name for name in ids if name in seen or seen.add(name))  # type: ignore[func-returns-value]  # add returns None, which is the point
        raise DataError(
            f"Column {column!r} must have a different id for every item. Got {twice!r} twice; "
            "use another id column."
        )
    return ids


def _kept_rows(
    frame: "pd.DataFrame",
    columns: Sequence[Column],
    matrices: Mapping[str, NDArray[np.float32]],
    ids: Sequence[str],
    missing: str,
) -> NDArray[np.intp]:
    """Return the rows that become items."""
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
    kept = np.setdiff1d(everything, broken)
    if not len(kept):
        raise DataError(
            f"Some rows must have no missing values. Got some in all {len(frame)}; fill them in, "
            "or leave out columns."
        )
    return kept


def _can_be_shown(frame: "pd.DataFrame", column: Column) -> bool:
    """Whether a column can be shown: not vectors, nor images without a file."""
    if column.kind != "image":
        return column.kind != "vector"
    return all(isinstance(value, str) for value in frame[column.name].dropna())


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)


def _kinds(
    features: Sequence[str] | Mapping[str, str | None] | None,
) -> dict[str, str | None] | None:
    """Return the columns named as features, with their kinds."""
    if features is None or isinstance(features, Mapping):
        return None if features is None else dict(features)
    names = _names(features)
    if len(set(names)) < len(names):
        raise DataError(f"Columns must differ by name. Got {', '.join(names)}; name each one once.")
    return dict.fromkeys(names)
