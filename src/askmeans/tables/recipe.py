"""A recipe: the fitted encoders of a table's columns as JSON, for later rows."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.progress import part_of_progress
from askmeans.exceptions import DataError
from askmeans.tables.columns import Column, listed_columns
from askmeans.tables.encoders import Boolean, Category, Date, Encoder, Features, Number, Scaling
from askmeans.tables.formats import NumberFormat
from askmeans.tables.texts import Text
from askmeans.tables.vectors import Vectors

Values = Mapping[str, Any]  # of each feature column: a series, or a matrix of vectors

GIVEN = "vectors"  # name of vectors beside the table

_VERSION = 1
_SHOWN = 8  # columns in a representation
_ENCODERS: dict[str, type[Any]] = {
    "number": Number, "date": Date, "boolean": Boolean, "category": Category, "text": Text,
    "vectors": Vectors,
}  # fmt: skip
_TABLE = (Number, Date, Boolean, Category)  # columns that are one block in the weighting


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Recipe:
    """The fitted encoders of a table, for the features of new rows.

    Parameters
    ----------
    columns : list of Column
        Kind and use of each column.
    encoders : list of Encoder
        Encoders in the order of the features.
    weights : list of float
        A factor per encoder: texts, pictures and the other columns together get equal variances.
    shown : list of str
        The columns that annotators see.
    id : str or None
        The id column.

    Examples
    --------
    >>> from askmeans.tables import read_items
    >>> recipe = read_items({"size": [1.0, 2.0, 8.0, 9.0], "kind": ["a", "b", "b", "a"]}).recipe
    >>> recipe.feature_names
    ['size', 'kind=a', 'kind=b']
    >>> Recipe.from_json(recipe.to_json()) == recipe
    True
    """

    columns: list[Column]
    encoders: list[Encoder]
    weights: list[float]
    shown: list[str]
    id: str | None

    def __repr__(self) -> str:
        used = ", ".join(encoder.column for encoder in self.encoders[:_SHOWN])
        more = ", ..." * (len(self.encoders) > _SHOWN)
        return f"Recipe({len(self.columns)} columns, features of {used}{more})"

    def __str__(self) -> str:
        return listed_columns(self.columns)

    @property
    def feature_names(self) -> list[str]:
        """Names of the features."""
        return [name for encoder in self.encoders for name in encoder.names]

    @property
    def units(self) -> NDArray[np.float64]:
        """Centre and scale of each feature: value * scale + centre is in the data's own units."""
        parts = [
            (np.array(encoder.units[0]), np.array(encoder.units[1]) / weight)
            for encoder, weight in zip(self.encoders, self.weights, strict=True)
        ]
        return np.array([np.concatenate(half) for half in zip(*parts, strict=True)])

    def to_json(self) -> dict[str, Any]:
        """Convert the recipe to plain values, which `from_json` reads.

        Returns
        -------
        dict
            Values for `json.dumps`; arrays are encoded in base64.
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
        """Read a recipe from the values of `to_json`.

        Parameters
        ----------
        values : dict
            Values of this version.

        Returns
        -------
        Recipe
            An equal recipe.
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

    def features(self, values: Values) -> Features:
        """The features of these columns, those of all encoders side by side.

        Parameters
        ----------
        values : mapping of str to pandas.Series or ndarray
            The columns of the encoders; of vectors, embeddings and pictures a matrix. In columns
            that are not among them all values are missing.

        Returns
        -------
        ndarray of shape (n_items, n_features)
            In single precision if an encoder's features are.
        """
        n = len(next(iter(values.values())))
        blocks = [
            e.transform(values[e.column]) if e.column in values else e.missing(n)
            for e in self.encoders
        ]
        return _side_by_side(blocks, self.weights)


def _from_json(values: dict[str, Any]) -> Any:
    """Read an encoder from its values."""
    fields = {name: value for name, value in values.items() if name != "kind"}
    if "scaling" in fields:
        fields["scaling"] = Scaling(**fields["scaling"])
    if fields.get("notation") is not None:
        fields["notation"] = NumberFormat(**fields["notation"])
    return _ENCODERS[values["kind"]](**fields)


def learn_recipe(
    columns: Sequence[Column],
    values: Values,
    *,
    scale: str,
    metric: str,
    embed: Mapping[str, str],
    shown: list[str],
    id: str | None,  # noqa: A002 - the recipe's name for it
    parts: Mapping[str, tuple[float, float]],
) -> tuple[Recipe, Features]:
    """Fit the encoders of the feature columns; return the recipe and the features.

    `parts` are shares of the work at which a slow column begins and ends, for progress bars.
    """
    encoders: list[Encoder] = []
    blocks, described = [], []
    for column in columns:
        if column.use == "feature":
            mine, word = values[column.name], embed.get(column.name)
            with part_of_progress(*parts.get(column.name, (0.0, 0.0))):
                encoder, block = _fitted(column, mine, scale, metric, word)
            encoders.append(encoder)
            blocks.append(block)
            column = dataclasses.replace(column, why=_why(column, encoder, mine))
        described.append(column)
    weights = _weights(encoders, blocks)
    recipe = Recipe(columns=described, encoders=encoders, weights=weights, shown=shown, id=id)
    return recipe, _side_by_side(blocks, weights)


def missing_values(values: Any) -> NDArray[np.bool_]:
    """Where a column or a matrix of vectors has no value."""
    if isinstance(values, np.ndarray):
        return np.asarray(np.isnan(values).any(axis=1))
    return np.asarray(values.isna())


def _fitted(
    column: Column, values: Any, scale: str, metric: str, embed: str | None
) -> tuple[Encoder, Features]:
    """Fit the encoder of a column; return it with the features."""
    if column.kind == "text" and not isinstance(values, np.ndarray):
        return Text.fit_transform(values)
    if isinstance(values, np.ndarray):
        encoder: Encoder
        source = "embed" if embed else "image" if column.kind == "image" else (
            "given" if column.name == GIVEN else "column"
        )  # fmt: skip
        cosine = source == "embed" or (metric == "cosine" and source != "image")
        encoder = Vectors.fit(column.name, values, source=source, cosine=cosine, embed=embed)
    elif column.kind in ("number", "date"):
        encoder = _ENCODERS[column.kind].fit(values, scale)
    else:
        encoder = _ENCODERS[column.kind].fit(values)
    return encoder, encoder.transform(values)


def _side_by_side(blocks: Sequence[Features], weights: Sequence[float]) -> Features:
    """Concatenate the weighted blocks; in single precision if one of them is."""
    single = any(block.dtype == np.float32 for block in blocks)
    features: Features = np.concatenate(
        [block * weight for block, weight in zip(blocks, weights, strict=True)],
        axis=1, dtype=np.float32 if single else np.float64, casting="same_kind",
    )  # fmt: skip
    return features


def _weights(encoders: Sequence[Encoder], blocks: Sequence[Features]) -> list[float]:
    """Weights for equal total variances of each text, each picture column, and the other columns.

    This is the weighting of multiple factor analysis, by total instead of largest variance.
    """
    names = ["" if isinstance(e, _TABLE) else e.column for e in encoders]
    if len(set(names)) == 1:
        return [1.0] * len(names)
    totals = dict.fromkeys(names, 0.0)
    for name, block in zip(names, blocks, strict=True):
        totals[name] += float(block.var(axis=0, dtype=np.float64).sum())
    return [float(1.0 / np.sqrt(totals[name])) if totals[name] > 0.0 else 1.0 for name in names]


def _why(column: Column, encoder: Encoder, values: Any) -> str:
    """Write a remark about a feature for the user."""
    remarks = [column.why] if column.why else []
    if isinstance(encoder, Category):
        remarks = [f"{encoder.n_values:,} values"]
        if encoder.n_values > len(encoder.values):
            remarks.append(f"the {len(encoder.values)} most frequent are used")
    if isinstance(encoder, Vectors):
        if encoder.source != "image":
            remarks.append(f"{len(encoder.names)} components")
        remarks += [f"by {encoder.embed}"] * (encoder.embed is not None)
        remarks += ["scaled to length 1 (cosine)"] * encoder.cosine
    missing = int(missing_values(values).sum())
    if missing:
        remarks.append(f"{missing:,} missing, {encoder.missing_treatment}")
    return "; ".join(remarks)
