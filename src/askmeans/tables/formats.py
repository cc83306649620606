"""Formats of dates and numbers in strings."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.message import Message
from askmeans.exceptions import DataError

if TYPE_CHECKING:
    import pandas as pd

_ISO = "ISO8601"
_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d.%m.%y", "%m/%d/%y")
_TIMES = ("", " %H:%M", " %H:%M:%S")
_MIN_DATE, _MAX_DATE = 8, 35  # characters: from 2024-1-1 to a timestamp with a time zone
_CURRENCY = r"[$€£¥₹]|EUR|USD|GBP|CHF|JPY"
_UNIT = rf"{_CURRENCY}|%|°?[A-Za-zµ]{{1,3}}[²³23]?"
_DIGITS = {
    ".": re.compile(r"[-\u2212+]?(?:\d{1,3}(?:[,'\s]\d{3})+|\d+)(?:\.\d+)?"),
    ",": re.compile(r"[-\u2212+]?(?:\d{1,3}(?:[.'\s]\d{3})+|\d+)(?:,\d+)?"),
}
_NUMBER = re.compile(
    rf"(?P<before>{_CURRENCY})?\s*(?P<digits>[-\u2212+\d.,'\s]+?)\s*(?P<after>{_UNIT})?"
)
_CODE = re.compile(r"0\d")  # a leading zero: a postal code, not a number


@dataclass(frozen=True, slots=True, kw_only=True)
class DateFormat:
    """A format for `pandas.to_datetime`, and whether it is the only one that fits."""

    pattern: str
    is_unambiguous: bool


def date_format(values: Iterable[str]) -> DateFormat | None:
    """Return the format in which all strings are dates, or None."""
    import pandas as pd

    texts = [value.strip() for value in values]
    if not all(_MIN_DATE <= len(t) <= _MAX_DATE and t[0].isdigit() for t in texts) or not texts:
        return None
    if all(text.isdigit() for text in texts):
        return None
    column = pd.Series(texts)
    for day in (_ISO, *_DAYS):
        for time in ("",) if day == _ISO else _TIMES:
            dates = pd.to_datetime(column, format=day + time, errors="coerce", utc=True)
            if not dates.isna().any():
                return DateFormat(
                    pattern=day + time, is_unambiguous=not _month_may_come_first(column, day, time)
                )
    return None


def _month_may_come_first(column: "pd.Series[Any]", day: str, time: str) -> bool:
    """Whether dates that were read with the day first also fit with the month first."""
    if day != "%d/%m/%Y":
        return False
    import pandas as pd

    other = pd.to_datetime(column, format="%m/%d/%Y" + time, errors="coerce")
    return not bool(other.isna().any())


def as_days(column: "pd.Series[Any]", pattern: str | None) -> NDArray[np.float64]:
    """Convert dates to days since 1970; NaN for missing or other values."""
    import pandas as pd

    if pattern is None:
        stamps = pd.to_datetime(column, errors="coerce", utc=True)
    else:
        texts = column.astype("str").str.strip()
        stamps = pd.to_datetime(texts, format=pattern, errors="coerce", utc=True)
    since = stamps - pd.Timestamp(0, tz="UTC")
    days: NDArray[np.float64] = (since / pd.Timedelta(days=1)).to_numpy(dtype=np.float64)
    return days


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberFormat:
    """A format of numbers: the texts before and after the digits, and the decimal sign."""

    before: str
    after: str
    decimal: str


def number_format(values: Iterable[str]) -> NumberFormat | None:
    """Return the format in which all strings are numbers; None without one, and for codes.

    Strings of digits only are codes: their file stores them as strings on purpose.
    """
    matches = [_NUMBER.fullmatch(value.strip()) for value in values]
    parts = {(match["before"] or "", match["after"] or "") for match in matches if match}
    if not matches or not all(matches) or len(parts) != 1:
        return None
    digits = [match["digits"].strip() for match in matches if match]
    before, after = parts.pop()
    if any(_CODE.match(text) for text in digits):
        return None
    if not before and not after and all(text.isdigit() for text in digits):
        return None
    for decimal, pattern in _DIGITS.items():
        if all(pattern.fullmatch(text) for text in digits):
            return NumberFormat(before=before, after=after, decimal=decimal)
    return None


def as_numbers(values: "pd.Series[Any]", format_: NumberFormat) -> NDArray[np.float64]:
    """Convert strings to numbers; NaN for missing ones, a DataError for those of another format."""
    numbers = np.full(len(values), np.nan)
    for row in np.flatnonzero(values.notna()):
        match = _NUMBER.fullmatch(str(values.iloc[row]).strip())
        digits = match["digits"].strip() if match else ""
        if not _DIGITS[format_.decimal].fullmatch(digits):
            example = f"{format_.before}1{format_.decimal}5{format_.after}"
            raise DataError(
                f"Column {values.name!r} must have numbers written as {example!r}. Got "
                f"{values.iloc[row]!r:.60} instead; rewrite it, or leave it empty.",
                user_message=Message(
                    "The column “{column}” has a number that is not written as the others are: "
                    "“{value}”. Correct it, or choose another kind.",
                    column=values.name,
                    value=str(values.iloc[row])[:60],
                ),
            )
        plain = re.sub(rf"[^\d\-\u2212{re.escape(format_.decimal)}]", "", digits)
        numbers[row] = float(plain.replace(format_.decimal, ".").replace("\u2212", "-"))
    return numbers
