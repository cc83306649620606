"""Dates written as words: which of the usual ways it is."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DateFormat", "as_days", "date_format"]

_ISO = "ISO8601"
_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d.%m.%y", "%m/%d/%y")
_TIMES = ("", " %H:%M", " %H:%M:%S")
_SHORTEST, _LONGEST = 8, 35  # characters of a date: 20240131 is a number, 2024-1-1 is none


@dataclass(frozen=True, slots=True, kw_only=True)
class DateFormat:
    """How dates are written, for pandas.to_datetime; whether another way would not do as well."""

    pattern: str
    sure: bool


def date_format(values: Iterable[str]) -> DateFormat | None:
    """The way in which all of these are dates; None where there is none."""
    import pandas as pd

    texts = [value.strip() for value in values]
    if not all(_SHORTEST <= len(t) <= _LONGEST and t[0].isdigit() for t in texts) or not texts:
        return None
    if all(text.isdigit() for text in texts):
        return None
    column = pd.Series(texts)
    for day in (_ISO, *_DAYS):
        for time in ("",) if day == _ISO else _TIMES:
            found = pd.to_datetime(column, format=day + time, errors="coerce", utc=True)
            if not found.isna().any():
                return DateFormat(pattern=day + time, sure=not _also_american(column, day, time))
    return None


def _also_american(column: "pd.Series[Any]", day: str, time: str) -> bool:
    """Whether what was read with the day first could as well have the month first."""
    if day != "%d/%m/%Y":
        return False
    import pandas as pd

    other = pd.to_datetime(column, format="%m/%d/%Y" + time, errors="coerce")
    return not bool(other.isna().any())


def as_days(column: "pd.Series[Any]", pattern: str | None) -> NDArray[np.float64]:
    """Days since 1970 began; NaN where there is no date."""
    import pandas as pd

    if pattern is None:
        stamps = pd.to_datetime(column, errors="coerce", utc=True)
    else:
        words = column.astype("str").str.strip()
        stamps = pd.to_datetime(words, format=pattern, errors="coerce", utc=True)
    since = stamps - pd.Timestamp(0, tz="UTC")
    days: NDArray[np.float64] = (since / pd.Timedelta(days=1)).to_numpy(dtype=np.float64)
    return days
