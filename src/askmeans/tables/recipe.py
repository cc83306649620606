"""A recipe: what was done to the columns of a table, as JSON, to do the same to new rows."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import DataError
from askmeans.tables.columns import Column
from askmeans.tables.encoders import Boolean, Category, Date, Encoder, Number, Scaling
from askmeans.tables.numerals import Notation
from askmeans.tables.texts import Text
from askmeans.tables.vectors import Vectors

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GIVEN", "Recipe", "Settings", "learn_recipe", "recipe_features"]

Floats = NDArray[np.floating]
Matrices = Mapping[str, NDArray[np.float32]]  # of columns that are pictures, vectors or embedded

GIVEN = "vectors"  # what vectors beside the table are called

_VERSION = 1
_NAMED = 8  # columns that are told
_ENCODERS: dict[str, type[Any]] = {
    "number": Number, "date": Date, "boolean": Boolean, "category": Category, "text": Text,
    "vectors": Vectors,
}  # fmt: skip
_TABLE = (Number, Date, Boolean, Category)  # what weighs as one block, however many there are
_PICTURE_AXES = 32  # principal axes of what pictures are described by


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How columns become features."""

    scale: str = "robust"
    metric: str = "euclidean"  # of vectors
    embed: Mapping[str, str] = dataclasses.field(default_factory=dict)  # names, by column


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Recipe:
    """How features were made of a table, to make them of new rows.

    Parameters
    ----------
    columns : list of Column
        What each column is and became.
    encoders : list of Encoder
        What makes features, in the order of the features.
    weights : list of float
        What the features of each encoder are multiplied by, so that no block drowns the others.
    shown : list of str
        The columns that people see.
    id : str or None
        The column that names the items.

    Examples
    --------
    >>> from askmeans.tables import read_items
    >>> recipe = read_items({"size": [1.0, 2.0, 8.0, 9.0], "kind": ["a", "b", "b", "a"]}).recipe
    >>> recipe.feature_names
    ['size', 'kind=a', 'kind=b']
    """

    columns: list[Column]
    encoders: list[Encoder]
    weights: list[float]
    shown: list[str]
    id: str | None

    def __repr__(self) -> str:
        used = ", ".join(encoder.column for encoder in self.encoders[:_NAMED])
        more = ", ..." * (len(self.encoders) > _NAMED)
        return f"Recipe({len(self.columns)} columns, features of {used}{more})"

    @property
    def feature_names(self) -> list[str]:
        """What the features are called."""
        return [name for encoder in self.encoders for name in encoder.names]

    @property
    def units(self) -> NDArray[np.float64]:
        """Middle and width of each feature; features times width plus middle are in own units."""
        parts = [
            (np.array(encoder.units[0]), np.array(encoder.units[1]) / weight)
            for encoder, weight in zip(self.encoders, self.weights, strict=True)
        ]
        return np.array([np.concatenate(half) for half in zip(*parts, strict=True)])

    def to_json(self) -> dict[str, Any]:
        """Plain values, which `from_json` reads.

        Returns
        -------
        dict
            What `json.dumps` takes; arrays are in it as base64.

        Examples
        --------
        >>> from askmeans.tables import read_items
        >>> read_items({"size": [1.0, 2.0, 8.0]}).recipe.to_json()["encoders"][0]["column"]
        'size'
        """
        kinds = {kind: name for name, kind in _ENCODERS.items()}
        return {
            "version": _VERSION,
            "id": self.id,
            "shown": self.shown,
            "columns": [dataclasses.asdict(column) for column in self.columns],
            "weights": self.weights,
            "encoders": [{"kind": kinds[type(e)], **dataclasses.asdict(e)} for e in self.encoders],
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Recipe":
        """A recipe from what `to_json` made.

        Parameters
        ----------
        values : dict
            Of this version; anything else is refused.

        Returns
        -------
        Recipe
            As it was.

        Raises
        ------
        DataError
            If it is of another version, or no recipe at all.

        Examples
        --------
        >>> from askmeans.tables import Recipe, read_items
        >>> recipe = read_items({"size": [1.0, 2.0, 8.0]}).recipe
        >>> Recipe.from_json(recipe.to_json()) == recipe
        True
        """
        try:
            if values["version"] != _VERSION:
                raise ValueError(f"version {values['version']!r}")
            return cls(
                id=values["id"],
                shown=list(values["shown"]),
                columns=[Column(**column) for column in values["columns"]],
                weights=[float(weight) for weight in values["weights"]],
                encoders=[_from_json(each) for each in values["encoders"]],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(
                f"A recipe must be one that this askmeans (recipes of version {_VERSION}) wrote. "
                f"Got {error!r:.80}; make it anew from the data."
            ) from error


def _from_json(values: dict[str, Any]) -> Any:
    """An encoder from what `to_json` made of it."""
    fields = {name: value for name, value in values.items() if name != "kind"}
    if "scaling" in fields:
        fields["scaling"] = Scaling(**fields["scaling"])
    if fields.get("notation") is not None:
        fields["notation"] = Notation(**fields["notation"])
    return _ENCODERS[values["kind"]](**fields)


def learn_recipe(
    frame: "pd.DataFrame", columns: Sequence[Column], matrices: Matrices, settings: Settings
) -> tuple[Recipe, Floats]:
    """A recipe from a table whose columns are described, and the table's features."""
    encoders: list[Encoder] = []
    blocks: list[Floats] = []
    told = []
    for column in columns:
        if column.use != "feature":
            told.append(column)
            continue
        encoder = _learnt(frame, column, matrices, settings)
        encoders.append(encoder)
        blocks.append(_transformed(encoder, frame, matrices))
        told.append(dataclasses.replace(column, why=_why(column, encoder, frame, matrices)))
    weights = _weights(encoders, blocks)
    recipe = Recipe(columns=told, encoders=encoders, weights=weights, shown=[], id=None)
    return recipe, _side_by_side(blocks, weights)


def recipe_features(recipe: Recipe, frame: "pd.DataFrame", matrices: Matrices) -> Floats:
    """The features of a table's rows, and of what is not in the table itself."""
    names = [encoder.column for encoder in recipe.encoders]
    missing = [name for name in names if name not in frame.columns and name not in matrices]
    if missing:
        raise DataError(
            "New rows must have what the features are made of. Got nothing called "
            f"{', '.join(missing)}; there are {', '.join(frame.columns)}."
        )
    blocks = [_transformed(encoder, frame, matrices) for encoder in recipe.encoders]
    return _side_by_side(blocks, recipe.weights)


def _learnt(
    frame: "pd.DataFrame", column: Column, matrices: Matrices, settings: Settings
) -> Encoder:
    """The encoder of a column."""
    name, kind = column.name, column.kind
    if name in matrices:
        embed = settings.embed.get(name)
        if kind == "image" and embed is None:
            return Vectors.fit(
                name, matrices[name], source="image", cosine=False, n_axes=_PICTURE_AXES
            )
        source = "embed" if embed is not None else "column" if name in frame.columns else "given"
        cosine = embed is not None or settings.metric == "cosine"
        return Vectors.fit(name, matrices[name], source=source, cosine=cosine, embed=embed)
    if kind == "text":
        return Text.fit(frame[name])
    encoder: Encoder = _ENCODERS[kind].fit(frame[name], settings.scale)
    return encoder


def _transformed(encoder: Encoder, frame: "pd.DataFrame", matrices: Matrices) -> Floats:
    """What an encoder makes of its column."""
    if isinstance(encoder, Vectors):
        return encoder.transform(matrices[encoder.column])
    return encoder.transform(frame[encoder.column])


def _side_by_side(blocks: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """The blocks, each times its weight; in single precision where one of them is."""
    single = any(block.dtype == np.float32 for block in blocks)
    found: Floats = np.concatenate(
        [block * weight for block, weight in zip(blocks, weights, strict=True)],
        axis=1, dtype=np.float32 if single else np.float64, casting="same_kind",
    )  # fmt: skip
    return found


def _weights(encoders: Sequence[Encoder], blocks: Sequence[Floats]) -> list[float]:
    """What makes the variance of each block the same, in total: texts, pictures, the rest."""
    names = ["" if isinstance(e, _TABLE) else e.column for e in encoders]
    if len(set(names)) == 1:
        return [1.0] * len(names)
    totals = dict.fromkeys(names, 0.0)
    for name, block in zip(names, blocks, strict=True):
        totals[name] += float(block.var(axis=0, dtype=np.float64).sum())
    return [float(1.0 / np.sqrt(totals[name])) if totals[name] > 0.0 else 1.0 for name in names]


def _why(column: Column, encoder: Encoder, frame: "pd.DataFrame", matrices: Matrices) -> str:
    """What a person should know about a feature."""
    said = [column.why] if column.why else []
    if isinstance(encoder, Category):
        said = [f"{encoder.n_values:,} values"]
        if encoder.n_values > len(encoder.values):
            said.append(f"the {len(encoder.values)} most frequent count")
    if isinstance(encoder, Vectors):
        if encoder.source != "image":
            said.append(f"{len(encoder.names)} components")
        said += [f"by {encoder.embed}"] * (encoder.embed is not None)
        said += ["scaled to length 1 (cosine)"] * encoder.cosine
        missing = int(np.isnan(matrices[column.name]).any(axis=1).sum())
    else:
        missing = int(frame[column.name].isna().sum())
    if missing:
        said.append(f"{missing:,} missing, {encoder.filled}")
    return "; ".join(said)
