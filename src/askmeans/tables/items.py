"""Read a table as items: features, shown columns, ids, and the recipe of the features."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import check_choice
from askmeans._util.message import Message
from askmeans._util.progress import part_of_progress
from askmeans._util.text import is_blank
from askmeans.exceptions import DataError, ParameterError
from askmeans.tables.columns import Column, Roles, describe_columns
from askmeans.tables.encoders import Features
from askmeans.tables.reading import check_column, read_table
from askmeans.tables.recipe import GIVEN, Recipe, learn_recipe, missing_values
from askmeans.tables.vectors import Embed, Vectors, column_values, embeddings, vectors_beside

if TYPE_CHECKING:
    import pandas as pd

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
        Items whose texts say nothing, as "?", where only texts are features. Sessions
        ask about them last.
    functions : dict of str to function, default={}
        The embedding of each column that has one; it is stored nowhere.
    hidden : pandas.DataFrame or None, default=None
        The other columns, which annotators never see and exports have.
    """

    features: Features
    shown: "pd.DataFrame"
    ids: list[str]
    recipe: Recipe
    rows: NDArray[np.intp]
    notes: list[str]
    folder: Path | None
    blank: list[int] = field(default_factory=list)
    functions: Mapping[str, Embed] = field(default_factory=dict)
    hidden: "pd.DataFrame | None" = None

    def __repr__(self) -> str:
        shown = ", ".join(self.shown.columns[:_NAMED]) + ", ..." * (self.shown.shape[1] > _NAMED)
        n_items, n_features = self.features.shape
        return f"Items({n_items} items, {n_features} features, shown: {shown or 'nothing'})"

    @property
    def table(self) -> "pd.DataFrame":
        """The shown and the hidden columns, in the order of the file."""
        if self.hidden is None:
            return self.shown
        both = self.shown.join(self.hidden)
        return both[[each.name for each in self.recipe.columns if each.name in both]]

    @property
    def session_options(self) -> dict[str, Any]:
        """The columns of the items, as `sessions.create` reads them."""
        numbered = self.recipe.id is None and len(self.ids) == self.rows[-1] + 1
        kinds = {c.kind: c.name for c in reversed(self.recipe.columns) if c.name in self.shown}
        return {
            "items": self.table,
            "hidden": [] if self.hidden is None else list(self.hidden),
            "ids": None if numbered else self.ids,
            "text": kinds.get("text"),
            "image": kinds.get("image"),
            "folder": self.folder,
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
    embed : function, object, str, mapping of column to any, or None, default=None
        Embedding of texts (of images, where there is no text): a function from a list to an array.
        An object with methods `texts` and `images` takes both, as CLIP models do; names of groups
        are then examples for pictures, too. A name is "wordllama" (with the extra [text]),
        "sentence-transformers:MODEL" or "package.module:function".
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
    beside = vectors is not None and not (
        isinstance(vectors, str) and vectors in table.frame.columns
    )
    roles = Roles(
        id=id, text=_names(text), image=_names(image),
        vectors=None if vectors is None or beside else vectors,
        show=None if show is None else tuple(show), features=_kinds(features),
        others=vectors is None,
    )  # fmt: skip
    columns = describe_columns(table.frame, roles, table.folder)
    table = table.with_texts(column.name for column in columns if column.kind == "text")
    chosen = [column for column in columns if column.use == "feature"]
    if beside:
        columns.append(Column(name=GIVEN, kind="vector", use="feature", why="beside the table"))
    if not chosen and not beside:
        listed = "; ".join(f"{c.name} ({c.kind}: {c.why})" for c in columns[:_NAMED])
        raise DataError(
            f"The data must have a usable feature column. Got {listed}; name columns as features, "
            f"and check the separator of the columns. {' '.join(table.notes)}".rstrip()
        )
    frame, notes = table.frame, list(table.notes)
    ids = item_ids(frame, id)
    functions = embeddings(embed, chosen)
    parts, values = _parts_of_work(chosen, functions), {}
    for column in chosen:
        with part_of_progress(*parts.get(column.name, (0.0, 0.0))):
            values[column.name] = column_values(table, column, functions.get(column.name), notes)
    if beside:
        values[GIVEN] = vectors_beside(vectors, ids, id)
    rows = _kept_rows(values, ids, missing)
    if len(rows) < len(ids):
        notes.append(f"{len(ids) - len(rows):,} of {len(ids):,} rows lack values and are left out.")
        frame = frame.iloc[rows].reset_index(drop=True)
        values = {
            name: column[rows] if isinstance(column, np.ndarray) else frame[name]
            for name, column in values.items()
        }
    kept = [c for c in columns if _can_be_kept(frame, c)]
    visible = [c.name for c in kept if c.use != "left out"]
    shown = visible if show is None else [name for name in visible if name in show]
    recipe, matrix = learn_recipe(
        columns, values, scale=scale, metric=metric, shown=shown, id=id, parts=parts,
        embed={name: word for name, (_, word) in functions.items()},
    )  # fmt: skip
    return Items(
        features=matrix, shown=frame[shown], ids=[ids[row] for row in rows], recipe=recipe,
        rows=rows, notes=notes, folder=table.folder,
        blank=[] if beside else _blank(frame, chosen, matrix),
        functions={name: function for name, (function, _) in functions.items()},
        hidden=frame[[c.name for c in kept if c.name not in shown]],
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
    frame, notes = table.frame, list(table.notes)
    if id is None and recipe.id in frame.columns:
        id = recipe.id  # noqa: A001 - the same
    ids = item_ids(frame, id)
    used = [e.column for e in recipe.encoders if e.column != GIVEN or vectors is None]
    lacking = [name for name in dict.fromkeys([*used, *recipe.shown]) if name not in frame.columns]
    if lacking:
        raise DataError(
            "New rows must have the columns that are features or shown. "
            f"{', '.join(lacking)} is missing; the columns are {', '.join(frame.columns)}."
        )
    functions = _same_embeddings(recipe, embed)
    columns = {column.name: column for column in recipe.columns}
    values = {
        # A recipe without columns is of numbers.
        name: column_values(table, columns[name], functions.get(name), notes)
        if name in columns else frame[name]
        for name in used
    }  # fmt: skip
    if vectors is not None:
        values[GIVEN] = vectors_beside(vectors, ids, id)
    matrix = recipe.features(values)
    for encoder in recipe.encoders:
        gaps = 0 if isinstance(encoder, Vectors) else missing_values(values[encoder.column]).sum()
        if gaps:
            notes.append(
                f"{gaps:,} values of {encoder.column} are missing: {encoder.missing_treatment}."
            )
    hidden = [c.name for c in recipe.columns if c.name in frame and c.name not in recipe.shown]
    return Items(
        features=matrix, shown=frame[recipe.shown], ids=ids, recipe=recipe,
        rows=np.arange(len(frame)), notes=notes, folder=table.folder,
        hidden=frame[[name for name in hidden if _can_be_kept(frame, columns[name])]],
    )  # fmt: skip


def _parts_of_work(
    columns: Sequence[Column], functions: Mapping[str, Any]
) -> dict[str, tuple[float, float]]:
    """The shares of the work at which each slow column begins and ends, embeddings first."""
    slow = [c.name for c in columns if c.name in functions or c.kind == "image"]
    slow += [c.name for c in columns if c.kind == "text" and c.name not in functions]
    return {name: (j / len(slow), (j + 1) / len(slow)) for j, name in enumerate(slow)}


def _same_embeddings(recipe: Recipe, embed: Any) -> dict[str, Any]:
    """The caller's embeddings of new rows, which must be those of the first rows."""
    names = {e.column: e.embed for e in recipe.encoders if isinstance(e, Vectors)}
    functions = embeddings(embed, [column for column in recipe.columns if column.name in names])
    for name, word in names.items():
        got = functions.get(name, (None, None))[1]
        if got != word:
            raise ParameterError(
                f"The 'embed' parameter must be {word or 'left out'} for {name!r}, as for the "
                f"first rows. Got {got or 'nothing'} instead."
            )
    return functions


def _blank(frame: "pd.DataFrame", features: Sequence[Column], matrix: Features) -> list[int]:
    """Rows whose only features are texts that say nothing, or have no word of the others."""
    if any(column.kind != "text" for column in features):
        return []
    blank = ~matrix.any(axis=1)
    texts = (frame[column.name].fillna("").astype(str) for column in features)
    blank |= np.all([text.map(is_blank) for text in texts], axis=0)
    return [int(row) for row in np.flatnonzero(blank)]


def item_ids(frame: "pd.DataFrame", column: str | None) -> list[str]:
    """Return the values of the id column, which must differ, or row numbers."""
    if column is None:
        return [str(row) for row in range(len(frame))]
    check_column(frame, column)
    ids = [str(value) for value in frame[column]]
    if len(set(ids)) < len(ids):
        twice = Counter(ids).most_common(1)[0][0]
        raise DataError(
            f"Column {column!r} must have a different id for every item. Got {twice!r} twice; "
            "use another id column.",
            user_message=Message(
                "The column “{column}” calls several items “{value}”, so it does not name "
                "them. Choose another column.",
                column=column,
                value=twice,
            ),
        )
    return ids


def _kept_rows(values: Mapping[str, Any], ids: Sequence[str], missing: str) -> NDArray[np.intp]:
    """Return the rows that become items."""
    everything = np.arange(len(ids))
    if missing == "fill":
        return everything
    gaps = {name: missing_values(column) for name, column in values.items()}
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
            f"Some rows must have no missing values. Got some in all {len(ids)}; fill them in, "
            "or leave out columns."
        )
    return kept


def _can_be_kept(frame: "pd.DataFrame", column: Column) -> bool:
    """Whether a column is of plain values: not vectors, nor images without a file."""
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
