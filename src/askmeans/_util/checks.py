"""The entry of public computations: checks of arguments, and numpy's default float errors.

A failed check is a typed error, whose message names the parameter, the rule, the value received and
the remedy.
"""

from collections.abc import Iterable
from contextlib import suppress
from numbers import Integral, Real
from pathlib import Path
from unicodedata import normalize

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans._util.message import Message, Number
from askmeans._util.text import is_clean
from askmeans.exceptions import DataError, ParameterError

Matrix = NDArray[np.float64]

LONGEST_NAME = 200
_TOO_LARGE = 2**63
_DIGITS = 15  # of an integer that is exact as a float, too


def default_float_errors() -> np.errstate:
    """Return a context, or a decorator, in which underflow is 0 and other errors are warnings.

    Some libraries call `numpy.seterr(all="raise")` when they are imported. A membership that
    underflows to 0 is a valid result, so public computations run under numpy's defaults. Oracles
    and other code of the caller run under the caller's own settings.
    """
    return np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")


def as_matrix(array: ArrayLike, name: str) -> Matrix:
    """Return the array in two dimensions as finite float64."""
    try:
        if np.iscomplexobj(array):
            raise TypeError("complex numbers")
        matrix = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"{name} must hold numbers in rows of equal length. Got {error}; "
            "encode or drop what is not a number first."
        ) from error
    if matrix.ndim != 2 or matrix.size == 0:
        raise DataError(
            f"{name} must be two-dimensional and not empty. Got shape {matrix.shape} instead; "
            "a single column is reshaped with .reshape(-1, 1)."
        )
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise DataError(
            f"{name} must be finite. Got {matrix[row, column]} in row {row}, column {column} "
            "instead; drop such rows or fill them in first."
        )
    return matrix


def check_magnitude(X: NDArray[np.floating], name: str) -> None:
    """Refuse numbers so large that the sum of squared distances overflows."""
    largest = float(max(X.max(), -X.min()))
    limit = float(np.sqrt(np.finfo(np.float64).max / (4.0 * X.size)))
    if largest > limit:
        raise DataError(
            f"{name} must have no values above {limit:.0e}. Got {largest:g} instead; divide the "
            "feature by a constant, or leave it out."
        )


def check_text(text: str, what: str) -> None:
    """Refuse text that cannot be encoded: a lone surrogate is half a character."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"{what} must be whole characters. Got {text!r:.60}, with half of one in it; decode "
            "the text anew, with errors='replace'."
        ) from error


def check_file(path: Path) -> None:
    """Refuse a path at which there is no file."""
    if not path.is_file():
        got = "a folder" if path.is_dir() else "nothing there"
        raise DataError(f"{path} must be a file. Got {got}; give the path of your data.")


def as_weights(sample_weight: ArrayLike | None, n_items: int) -> NDArray[np.float64]:
    """The weight of each item; an empty array for equal weights, as the kernels expect."""
    if sample_weight is None:
        return np.empty(0)
    try:
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"sample_weight must be one number per row of X. Got {sample_weight!r:.60} instead."
        ) from error
    if weights.ndim == 0:
        weights = np.full(n_items, weights)
    if weights.shape != (n_items,):
        raise DataError(
            f"sample_weight must have shape ({n_items},), one number per row of X. "
            f"Got shape {weights.shape} instead."
        )
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise DataError(
            "sample_weight must be finite, and so must its sum. "
            f"Got a sum of {total}; drop such rows, or divide by a constant."
        )
    if weights.min() < 0.0:
        raise DataError(
            f"sample_weight must not be negative. Got {weights.min():g} instead; "
            "a weight of 0 leaves a row out."
        )
    if weights.max() == 0.0:
        raise DataError(
            "sample_weight must be above 0 for some row. Got zeros only; None counts all alike."
        )
    return weights


def check_number(
    value: object, parameter: str, owner: str, *, integer: bool = False, minimum: int = 0
) -> None:
    """Refuse values that are not such a number, or below its minimum; floats may be infinite.

    Integers are at most 2**63 - 1, as in numpy and SQLite; `check_seed` has no such limit.
    """
    number = _is_number(value, integer=integer)
    if not (number and value >= minimum and (not integer or value < _TOO_LARGE)):  # type: ignore[operator]  # mypy sees no numbers ABC
        large = number and integer and value >= _TOO_LARGE  # type: ignore[operator]  # as above
        range_ = f"[{minimum}, {'2**63' if large else 'inf'}{')' if integer else ']'}"
        error = _out_of_range(value, parameter, owner, range_, "an int" if integer else "a float")
        error.user_message = (
            Message("Type a whole number from {minimum} up.", minimum=int(minimum))
            if integer
            else Message("Type a number from {minimum} up.", minimum=Number(minimum))
        )
        raise error


def check_seed(value: object, parameter: str, owner: str) -> None:
    """Refuse values that are not integers from 0; they may be arbitrarily large."""
    if not (_is_number(value, integer=True) and value >= 0):  # type: ignore[operator]  # as above
        raise _out_of_range(value, parameter, owner, "[0, inf)", "an int")


def check_positive(value: object, parameter: str, owner: str) -> None:
    """Refuse values that are not numbers above 0."""
    if not (_is_number(value) and 0 < value < np.inf):  # type: ignore[operator]  # as above
        raise _out_of_range(value, parameter, owner, "(0, inf)")


def check_share(value: object, parameter: str, owner: str) -> None:
    """Refuse values that are not numbers in (0, 1]."""
    if not (_is_number(value) and 0 < value <= 1):  # type: ignore[operator]  # as above
        raise _out_of_range(value, parameter, owner, "(0, 1]")


def _is_number(value: object, *, integer: bool = False) -> bool:
    """Whether it is a number; not bool, nor an integer too large for a float."""
    number = isinstance(value, Integral if integer else Real) and not isinstance(value, bool)
    if integer or not number:
        return number
    with suppress(OverflowError):
        float(value)  # type: ignore[arg-type]  # as above
        return True
    return False


def _out_of_range(
    value: object, parameter: str, owner: str, range_: str, kind: str = "a float"
) -> ParameterError:
    """The error for a value out of its range."""
    return ParameterError(
        f"The {parameter!r} parameter of {owner} must be {kind} in the range {range_}. "
        f"Got {value!r:.60} instead."
    )


def parse_digits(text: str) -> int | None:
    """Parse a text of up to 15 ASCII digits; None for any other text (²)."""
    plain = text.isascii() and text.isdigit() and len(text) <= _DIGITS
    return int(text) if plain else None


def check_choice(value: object, choices: Iterable[str], parameter: str, owner: str) -> None:
    """Refuse values other than these words."""
    if isinstance(value, str) and value in choices:
        return
    words = ", ".join(repr(choice) for choice in choices)
    raise ParameterError(
        f"The {parameter!r} parameter of {owner} must be a str among {{{words}}}. "
        f"Got {value!r} instead."
    )


def check_name(name: object, parameter: str, owner: str = "") -> str:
    """The name of a person or group in Unicode's composed form (NFC), without spaces around it."""
    if isinstance(name, str):
        composed = normalize("NFC", name).strip()
        if 0 < len(composed) <= LONGEST_NAME and is_clean(composed):
            return composed
    of = f" of {owner}" if owner else ""
    raise ParameterError(
        f"The {parameter!r} parameter{of} must be a name of 1 to {LONGEST_NAME} characters, "
        f"without line breaks and other control characters. Got {name!r:.60} instead.",
        user_message=Message(
            "A name has 1 to {most} characters and no line breaks. Type another.",
            most=LONGEST_NAME,
        ),
    )
