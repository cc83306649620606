"""Numbers written as words: with a currency, a percent sign or a unit, or groups of thousands."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import DataError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Notation", "as_numbers", "notation"]

_CURRENCY = r"[$€£¥₹]|EUR|USD|GBP|CHF|JPY"
_UNIT = rf"{_CURRENCY}|%|°?[A-Za-zµ]{{1,3}}[²³23]?"
_DIGITS = {
    ".": re.compile(r"[-\u2212+]?(?:\d{1,3}(?:[,'\s]\d{3})+|\d+)(?:\.\d+)?"),
    ",": re.compile(r"[-\u2212+]?(?:\d{1,3}(?:[.'\s]\d{3})+|\d+)(?:,\d+)?"),
}
_WRITTEN = re.compile(
    rf"(?P<before>{_CURRENCY})?\s*(?P<digits>[-\u2212+\d.,'\s]+?)\s*(?P<after>{_UNIT})?"
)
_CODE = re.compile(r"0\d")  # a number does not start so, a postal code may


@dataclass(frozen=True, slots=True, kw_only=True)
class Notation:
    """How numbers are written: what is before and after the digits, and the decimal sign."""

    before: str
    after: str
    decimal: str


def notation(values: Iterable[str]) -> Notation | None:
    """The one way in which all of these are numbers; None where there is none, or they are codes.

    Digits alone are none: somebody has kept them as words.
    """
    found = [_WRITTEN.fullmatch(value.strip()) for value in values]
    parts = {(match["before"] or "", match["after"] or "") for match in found if match}
    if not found or not all(found) or len(parts) != 1:
        return None
    digits = [match["digits"].strip() for match in found if match]
    before, after = parts.pop()
    if any(_CODE.match(word) for word in digits):
        return None
    if not before and not after and all(word.isdigit() for word in digits):
        return None
    for decimal, pattern in _DIGITS.items():
        if all(pattern.fullmatch(word) for word in digits):
            return Notation(before=before, after=after, decimal=decimal)
    return None


def as_numbers(values: "pd.Series[Any]", how: Notation) -> NDArray[np.float64]:
    """The numbers that words say; NaN for what is missing, an error for what says none."""
    numbers = np.full(len(values), np.nan)
    for row in np.flatnonzero(values.notna()):
        match = _WRITTEN.fullmatch(str(values.iloc[row]).strip())
        word = match["digits"].strip() if match else ""
        if not _DIGITS[how.decimal].fullmatch(word):
            written = f"{how.before}1{how.decimal}5{how.after}"
            raise DataError(
                f"Column {values.name!r} must have numbers written as {written!r}. Got "
                f"{values.iloc[row]!r:.60} instead; write it so, or leave it empty."
            )
        kept = re.sub(rf"[^\d\-\u2212{re.escape(how.decimal)}]", "", word)
        numbers[row] = float(kept.replace(how.decimal, ".").replace("\u2212", "-"))
    return numbers
