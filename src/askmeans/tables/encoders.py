"""Columns of numbers, dates, categories and booleans as features that weigh about the same.

An encoder learns from a column once (`fit`), is JSON, and does the same to any later column. In its
features two random items of the table differ by about 2, squared: as two draws of a variable of
variance 1 do. So a category weighs as much as a number.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import check_magnitude
from askmeans.exceptions import DataError
from askmeans.tables.dates import as_days, date_format
from askmeans.tables.numerals import Notation, as_numbers, notation

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Boolean", "Category", "Date", "Encoder", "Number", "Scaling"]

Floats = NDArray[np.floating]

_CATEGORIES = 50  # that get a feature each; of more, the most frequent do
_NORMAL_QUARTILES = 1.349  # standard deviations between the quartiles of a normal variable
_FAR = 3.0  # such standard deviations from the median, beyond which a number is pulled in
_RAREST = 0.1  # least chance that two items differ by which a category is scaled up


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """What turns a column into features."""

    column: str

    @property
    def names(self) -> list[str]:
        """What the features are called."""
        return [self.column]

    @property
    def units(self) -> tuple[list[float], list[float]]:
        """Middle and width of each feature: times width plus middle it is in the data's own."""
        return [0.0] * len(self.names), [1.0] * len(self.names)

    @property
    def filled(self) -> str:
        """What becomes of a missing value, in words."""
        raise NotImplementedError

    def transform(self, values: Any) -> Floats:
        """The features of a column's values."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """How numbers become a feature: pulled in to [low, high], less the middle, by the width."""

    low: float | None
    high: float | None
    middle: float
    width: float
    fill: float  # in place of a missing number: the median

    @classmethod
    def fit(cls, numbers: NDArray[np.float64], name: str, how: str) -> "Scaling":
        """The mean is 0 and the deviation 1 afterwards; "robust" pulls in what is far out before.

        Of the scalings that were tried on skewed numbers, outliers and many zeros, this was at
        least as good everywhere as those by quartiles or by mean and deviation alone.
        """
        there = numbers[~np.isnan(numbers)]
        if not len(there):
            raise DataError(f"Column {name!r} must have values. Got none; leave it out.")
        check_magnitude(there, f"Column {name!r}")
        low = high = None
        first, median, last = (float(x) for x in np.percentile(there, [25, 50, 75]))
        if how == "robust":
            spread = (last - first) / _NORMAL_QUARTILES or float(there.std())
            low, high = median - _FAR * spread, median + _FAR * spread
        kept = np.clip(there, low, high) if how == "robust" else there
        middle, width = (0.0, 1.0) if how == "none" else (float(kept.mean()), float(kept.std()))
        return cls(low=low, high=high, middle=middle, width=width or 1.0, fill=median)

    def __call__(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """One feature, without gaps."""
        whole = np.where(np.isnan(numbers), self.fill, numbers)
        if self.low is not None:
            whole = np.clip(whole, self.low, self.high)
        scaled: NDArray[np.float64] = (whole - self.middle) / self.width
        return scaled[:, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scaled(Encoder):
    """One feature, in comparable units."""

    scaling: Scaling

    @property
    def units(self) -> tuple[list[float], list[float]]:
        """Middle and width."""
        return [self.scaling.middle], [self.scaling.width]


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(_Scaled):
    """A number in comparable units."""

    notation: Notation | None = None  # of numbers that are written as words

    @classmethod
    def fit(cls, values: "pd.Series[Any]", scale: str) -> "Number":
        """Middle and width of a column of numbers."""
        name, how = str(values.name), None
        if values.dtype.kind not in "fiub":
            how = notation(values.dropna().astype(str))
        scaling = Scaling.fit(_as_numbers(values, how), name, scale)
        return cls(column=name, scaling=scaling, notation=how)

    @property
    def filled(self) -> str:
        """With the median."""
        return f"filled with the median, {self.scaling.fill:.4g}"

    def transform(self, values: "pd.Series[Any]") -> Floats:
        """One feature."""
        return self.scaling(_as_numbers(values, self.notation))


@dataclass(frozen=True, slots=True, kw_only=True)
class Date(_Scaled):
    """A date as a number of days."""

    pattern: str | None

    @classmethod
    def fit(cls, values: "pd.Series[Any]", scale: str) -> "Date":
        """How the dates are written, and their middle and width."""
        pattern = None
        if values.dtype.kind != "M":
            words = values.dropna().astype(str)
            found = date_format(words.iloc[:1000])
            if found is None:
                raise DataError(
                    f"Column {values.name!r} must have dates, all written alike (2024-01-31). "
                    f"Got {words.iloc[0]!r:.60}; write them so, or leave it out of the features."
                )
            pattern = found.pattern
        days = as_days(values, pattern)
        name = str(values.name)
        return cls(column=name, pattern=pattern, scaling=Scaling.fit(days, name, scale))

    @property
    def names(self) -> list[str]:
        """The column's name, and what the number is."""
        return [f"{self.column} (days since 1970)"]

    @property
    def filled(self) -> str:
        """With the median."""
        return f"filled with the median, {np.datetime64(round(self.scaling.fill), 'D')}"

    def transform(self, values: "pd.Series[Any]") -> Floats:
        """One feature."""
        return self.scaling(as_days(values, self.pattern))


@dataclass(frozen=True, slots=True, kw_only=True)
class Boolean(Encoder):
    """True or false as a number."""

    filled: ClassVar[str] = "filled with the mean"
    mean: float
    width: float

    @classmethod
    def fit(cls, values: "pd.Series[Any]", scale: str) -> "Boolean":
        """The share of true."""
        del scale  # it has none
        mean = float(np.nanmean(_as_truths(values)))
        spread = np.sqrt(max(mean * (1.0 - mean), _RAREST / 2.0))
        return cls(column=str(values.name), mean=mean, width=float(spread))

    @property
    def units(self) -> tuple[list[float], list[float]]:
        """Middle and width."""
        return [self.mean], [self.width]

    def transform(self, values: "pd.Series[Any]") -> Floats:
        """One feature."""
        truths = _as_truths(values)
        return ((np.where(np.isnan(truths), self.mean, truths) - self.mean) / self.width)[:, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Category(Encoder):
    """One feature for each value: how much of it there is; none where it is missing or new."""

    filled: ClassVar[str] = "counted as none of its values"
    values: list[str]
    n_values: int
    width: float

    @classmethod
    def fit(cls, values: "pd.Series[Any]", scale: str) -> "Category":
        """The values, the most frequent first."""
        del scale  # it has none
        counts = _as_words(values.dropna()).value_counts()
        n = int(counts.sum())
        if len(counts) > _CATEGORIES and int(counts.iloc[0]) == 1:
            raise DataError(
                f"Column {values.name!r} must have values that repeat to be a category. Got "
                f"{len(counts):,} in {n:,} rows; make it a text, or leave it out of the features."
            )
        shares = counts.to_numpy(dtype=np.float64) / n
        listed = sorted(counts.index.tolist(), key=lambda value: (-counts[value], value))
        return cls(
            column=str(values.name),
            values=listed[:_CATEGORIES],
            n_values=len(counts),
            width=float(np.sqrt(max(1.0 - (shares**2).sum(), _RAREST))),
        )

    @property
    def names(self) -> list[str]:
        """The column and the value."""
        return [f"{self.column}={value}" for value in self.values]

    @property
    def units(self) -> tuple[list[float], list[float]]:
        """Shares of the values."""
        return [0.0] * len(self.values), [self.width] * len(self.values)

    def transform(self, values: "pd.Series[Any]") -> Floats:
        """One feature for each value."""
        import pandas as pd

        codes = pd.Index(self.values).get_indexer(_as_words(values).to_numpy(dtype=object))
        codes = np.where(values.isna(), -1, codes)
        found = np.zeros((len(values), len(self.values)))
        rows = np.flatnonzero(codes >= 0)
        found[rows, codes[rows]] = 1.0 / self.width
        return found


def _as_numbers(values: "pd.Series[Any]", how: Notation | None) -> NDArray[np.float64]:
    """A column of numbers; NaN for what is missing."""
    if values.dtype.kind not in "fiub":
        if how is not None:
            return as_numbers(values, how)
        raise DataError(
            f"Column {values.name!r} must be numeric to be a number. Got {values.dtype} instead; "
            "write its values as plain numbers, or call it another kind."
        )
    numbers: NDArray[np.float64] = values.to_numpy(dtype=np.float64, na_value=np.nan)
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        raise DataError(
            f"Column {values.name!r} must be finite. Got infinity in row {infinite[0]}; drop or "
            "mend such rows."
        )
    return numbers


def _as_words(values: "pd.Series[Any]") -> "pd.Series[Any]":
    """Values as words: 3 and 3.0, which a gap makes of whole numbers, are the same."""
    there = values.dropna()
    if values.dtype.kind == "f" and bool((there == there.round()).all()):
        values = values.astype("Int64")
    return values.astype("str")


def _as_truths(values: "pd.Series[Any]") -> NDArray[np.float64]:
    """1 for true, 0 for false, NaN for what is missing."""
    if values.dtype.kind in "fiub":
        numbers: NDArray[np.float64] = values.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        numbers = values.map({True: 1.0, False: 0.0}).to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~np.isnan(numbers) & (numbers != 0) & (numbers != 1))
    if len(wrong) or np.isnan(numbers).all():
        got = values.iloc[wrong[0]] if len(wrong) else values.iloc[0]
        raise DataError(
            f"Column {values.name!r} must be true or false to be a boolean. Got {got!r:.60}; call "
            "it another kind."
        )
    return numbers
