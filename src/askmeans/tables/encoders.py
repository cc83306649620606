"""Encoders of numbers, dates, categories and booleans into features of equal weight.

An encoder is fitted to a column once, is stored as JSON, and transforms any later column alike. The
expected squared distance of two random items is about 2 in its features, as for a variable of
variance 1. So a category weighs as much as a number.
"""

import base64
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import check_magnitude
from askmeans._util.message import Message
from askmeans.exceptions import DataError
from askmeans.tables.formats import NumberFormat, as_days, as_numbers, date_format, number_format

if TYPE_CHECKING:
    import pandas as pd

Features = NDArray[np.floating]  # in single or double precision

_MAX_CATEGORIES = 50  # features of a column; the most frequent values get them
_NORMAL_QUARTILES = 1.349  # standard deviations between the quartiles of a normal variable
_OUTLIER = 3.0  # robust standard deviations from the median; normal variables exceed it in 0.3 %
_MIN_VARIETY = 0.1  # lower limit of the probability that two items differ: bounds the scaling


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """Transforms a column into features."""

    column: str

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        return [self.column]

    @property
    def units(self) -> tuple[list[float], list[float]]:
        """Centre and scale of each feature: value * scale + centre is in the data's own units."""
        return [0.0] * len(self.names), [1.0] * len(self.names)

    @property
    def missing_treatment(self) -> str:
        """How missing values are replaced, in words."""
        raise NotImplementedError

    def transform(self, values: Any) -> Features:
        """Return the features of a column."""
        raise NotImplementedError

    def missing(self, n: int) -> Features:
        """Return the features of `n` missing values."""
        return np.zeros((n, len(self.names)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """Scaling of numbers: winsorised to [low, high], centred, scaled."""

    low: float | None
    high: float | None
    middle: float
    width: float
    fill: float  # the median, for missing numbers

    @classmethod
    def fit(cls, numbers: NDArray[np.float64], name: str, how: str) -> "Scaling":
        """Scale to mean 0 and deviation 1; "robust" winsorises outliers before.

        On skewed numbers, outliers and many zeros this was at least as good as scaling by
        quartiles, or by mean and deviation without winsorising.
        """
        present = numbers[~np.isnan(numbers)]
        if not len(present):
            raise DataError(
                f"Column {name!r} must have values. Got none; leave it out.",
                user_message=Message(
                    "The column “{column}” is empty. Choose another use for it.", column=name
                ),
            )
        check_magnitude(present, f"Column {name!r}")
        low = high = None
        first, median, last = (float(x) for x in np.percentile(present, [25, 50, 75]))
        if how == "robust":
            spread = (last - first) / _NORMAL_QUARTILES or float(present.std())
            low, high = median - _OUTLIER * spread, median + _OUTLIER * spread
        kept = np.clip(present, low, high) if how == "robust" else present
        middle, width = (0.0, 1.0) if how == "none" else (float(kept.mean()), float(kept.std()))
        return cls(low=low, high=high, middle=middle, width=width or 1.0, fill=median)

    def __call__(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return one feature without missing values."""
        filled = np.where(np.isnan(numbers), self.fill, numbers)
        if self.low is not None:
            filled = np.clip(filled, self.low, self.high)
        scaled: NDArray[np.float64] = (filled - self.middle) / self.width
        return scaled[:, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaled(Encoder):
    """Encoder of values that stand for numbers: one feature."""

    scaling: Scaling

    @property
    def units(self) -> tuple[list[float], list[float]]:
        """Centre and scale."""
        return [self.scaling.middle], [self.scaling.width]

    @property
    def missing_treatment(self) -> str:
        """By the median."""
        return f"filled with the median, {self.scaling.fill:.4g}"

    def numbers(self, values: "pd.Series[Any]") -> NDArray[np.float64]:
        """The numbers of a column; NaN for missing ones."""
        raise NotImplementedError

    def transform(self, values: "pd.Series[Any]") -> Features:
        """Return one feature."""
        return self.scaling(self.numbers(values))

    def missing(self, n: int) -> Features:
        """Return what missing values are filled with."""
        return self.scaling(np.full(n, np.nan))


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Scaled):
    """Encoder of numbers."""

    notation: NumberFormat | None = None  # the format of numbers in strings

    @classmethod
    def fit(cls, values: "pd.Series[Any]", scale: str) -> "Number":
        """Learn the notation and the scaling of a column of numbers."""
        is_numeric = values.dtype.kind in "fiub"
        strings = None if is_numeric else number_format(values.dropna().astype(str))
        scaling = Scaling.fit(_as_numbers(values, strings), str(values.name), scale)
        return cls(column=str(values.name), scaling=scaling, notation=strings)

    def numbers(self, values: "pd.Series[Any]") -> NDArray[np.float64]:
        """The numbers, read as the first ones were."""
        return _as_numbers(values, self.notation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Date(Scaled):
    """Encoder of dates as days since 1970."""

    pattern: str | None

    @classmethod
    def fit(cls, values: "pd.Series[Any]", scale: str) -> "Date":
        """Learn the format and the scaling of a column of dates."""
        pattern = None
        if values.dtype.kind != "M":
            words = values.dropna().astype(str)
            date = date_format(words.iloc[:1000])
            if date is None:
                raise DataError(
                    f"Column {values.name!r} must have dates in one format (2024-01-31). Got "
                    f"{words.iloc[0]!r:.60}; reformat them, or leave it out of the features.",
                    user_message=Message(
                        "The column “{column}” is not of dates that are all written alike. Choose "
                        "another kind for it.",
                        column=values.name,
                    ),
                )
            pattern = date.pattern
        days, name = as_days(values, pattern), str(values.name)
        return cls(column=name, pattern=pattern, scaling=Scaling.fit(days, name, scale))

    @property
    def names(self) -> list[str]:
        """The column's name and the unit."""
        return [f"{self.column} (days since 1970)"]

    @property
    def missing_treatment(self) -> str:
        """By the median."""
        return f"filled with the median, {np.datetime64(round(self.scaling.fill), 'D')}"

    def numbers(self, values: "pd.Series[Any]") -> NDArray[np.float64]:
        """The days."""
        return as_days(values, self.pattern)


@dataclass(frozen=True, slots=True, kw_only=True)
class Boolean(Scaled):
    """Encoder of true and false as 1 and 0."""

    missing_treatment: ClassVar[str] = "filled with the mean"

    @classmethod
    def fit(cls, values: "pd.Series[Any]") -> "Boolean":
        """Learn the share of true values."""
        mean = float(np.nanmean(_as_truths(values)))
        width = float(np.sqrt(max(mean * (1.0 - mean), _MIN_VARIETY / 2.0)))
        scaling = Scaling(low=None, high=None, middle=mean, width=width, fill=mean)
        return cls(column=str(values.name), scaling=scaling)

    def numbers(self, values: "pd.Series[Any]") -> NDArray[np.float64]:
        """Zeros and ones."""
        return _as_truths(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Category(Encoder):
    """One-hot encoder; missing and new values are rows of zeros."""

    missing_treatment: ClassVar[str] = "encoded as zeros"
    values: list[str]
    n_values: int
    width: float

    @classmethod
    def fit(cls, values: "pd.Series[Any]") -> "Category":
        """Learn the values, the most frequent first."""
        counts = _as_strings(values.dropna()).value_counts()
        n = int(counts.sum())
        if len(counts) > _MAX_CATEGORIES and int(counts.iloc[0]) == 1:
            raise DataError(
                f"Column {values.name!r} must have values that repeat to be a category. Got "
                f"{len(counts):,} in {n:,} rows; make it a text, or leave it out of the features.",
                user_message=Message(
                    "Hardly any value of the column “{column}” repeats, so it is no category. "
                    "Choose another kind for it.",
                    column=values.name,
                ),
            )
        shares = counts.to_numpy(dtype=np.float64) / n
        listed = sorted(counts.index.tolist(), key=lambda value: (-counts[value], value))
        return cls(
            column=str(values.name),
            values=listed[:_MAX_CATEGORIES],
            n_values=len(counts),
            width=float(np.sqrt(max(1.0 - (shares**2).sum(), _MIN_VARIETY))),
        )

    @property
    def names(self) -> list[str]:
        """The column's name and the value."""
        return [f"{self.column}={value}" for value in self.values]

    @property
    def units(self) -> tuple[list[float], list[float]]:
        """Centres of 0 and the scale."""
        return [0.0] * len(self.values), [self.width] * len(self.values)

    def transform(self, values: "pd.Series[Any]") -> Features:
        """Return one feature for each value."""
        import pandas as pd

        codes = pd.Index(self.values).get_indexer(_as_strings(values).to_numpy(dtype=object))
        codes = np.where(values.isna(), -1, codes)
        features = np.zeros((len(values), len(self.values)))
        rows = np.flatnonzero(codes >= 0)
        features[rows, codes[rows]] = 1.0 / self.width
        return features


def _as_numbers(values: "pd.Series[Any]", strings: NumberFormat | None) -> NDArray[np.float64]:
    """Convert a column to numbers; NaN for missing ones."""
    if values.dtype.kind not in "fiub":
        if strings is not None:
            return as_numbers(values, strings)
        raise DataError(
            f"Column {values.name!r} must be numeric. Got {values.dtype} instead; write its values "
            "as plain numbers, or name another kind.",
            user_message=Message(
                "The column “{column}” is not of numbers. Choose another kind for it.",
                column=values.name,
            ),
        )
    numbers: NDArray[np.float64] = values.to_numpy(dtype=np.float64, na_value=np.nan)
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        raise DataError(
            f"Column {values.name!r} must be finite. Got infinity in row {infinite[0]}; drop or "
            "correct such rows.",
            user_message=Message(
                "The column “{column}” has an infinite number, in row {row}. Correct it, and "
                "choose the file again.",
                column=values.name,
                row=int(infinite[0]) + 1,
            ),
        )
    return numbers


def _as_strings(values: "pd.Series[Any]") -> "pd.Series[Any]":
    """Convert values to strings; integers that pandas made floats for a gap stay integers."""
    present = values.dropna()
    if values.dtype.kind == "f" and bool((present == present.round()).all()):
        values = values.astype("Int64")
    return values.astype("str")


def _as_truths(values: "pd.Series[Any]") -> NDArray[np.float64]:
    """Convert true to 1, false to 0 and missing values to NaN."""
    if values.dtype.kind in "fiub":
        numbers: NDArray[np.float64] = values.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        numbers = values.map({True: 1.0, False: 0.0}).to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~np.isnan(numbers) & (numbers != 0) & (numbers != 1))
    if len(wrong) or np.isnan(numbers).all():
        got = values.iloc[wrong[0]] if len(wrong) else values.iloc[0]
        raise DataError(
            f"Column {values.name!r} must be true or false to be a boolean. Got {got!r:.60}; name "
            "another kind.",
            user_message=Message(
                "The column “{column}” is not of two values such as yes and no. Choose another "
                "kind for it.",
                column=values.name,
            ),
        )
    return numbers


def pack(array: NDArray[np.floating]) -> dict[str, Any]:
    """Write an array of half or single precision as JSON: compressed bytes in base64."""
    kind = "<f2" if array.dtype == np.float16 else "<f4"
    raw = np.ascontiguousarray(array, dtype=kind).tobytes()
    return {
        "dtype": kind,
        "shape": list(array.shape),
        "base64": base64.b64encode(zlib.compress(raw, 1)).decode(),
    }


def unpack(packed: dict[str, Any]) -> NDArray[np.float32]:
    """Read an array that `pack` wrote, in single precision."""
    try:
        raw = zlib.decompress(base64.b64decode(packed["base64"], validate=True))
        if packed["dtype"] not in ("<f2", "<f4"):
            raise ValueError(f"numbers of type {packed['dtype']!r}")
        array = np.frombuffer(raw, dtype=packed["dtype"]).reshape(packed["shape"])
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise DataError(
            f"A recipe's array cannot be read ({error}); take the recipe from a backup, or make it "
            "anew from the data."
        ) from error
    return array.astype(np.float32)
