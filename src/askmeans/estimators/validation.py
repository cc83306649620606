"""Checks that estimators share; every refusal is one of our typed errors."""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_random_state, validate_data

from askmeans.exceptions import DataError, ParameterError

__all__ = ["as_generator", "check_items", "check_number", "check_option", "check_sample_weight"]


def check_items(estimator: BaseEstimator, X: Any, *, reset: bool) -> NDArray[np.floating]:
    """Items as a float64 or float32 matrix without NaN, the kind they came in; never copied twice.

    scikit-learn's own check does the work and writes the message, so the words are familiar.
    """
    try:
        items: NDArray[np.floating] = validate_data(
            estimator, X, reset=reset, dtype=(np.float64, np.float32)
        )
    except ValueError as error:
        raise DataError(str(error)) from error
    return items


def check_sample_weight(sample_weight: Any, n_items: int) -> NDArray[np.float64]:
    """What each item weighs as float64; an empty array when all weigh alike."""
    if sample_weight is None:
        return np.empty(0)
    try:
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
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
    if not np.isfinite(weights).all():
        raise DataError("sample_weight must be finite. Got NaN or infinity; drop those rows.")
    if (weights < 0).any():
        raise DataError(
            f"sample_weight must not be negative. Got {weights.min():g} instead; "
            "a weight of 0 leaves a row out."
        )
    if not (weights > 0).any():
        raise DataError("sample_weight must be above 0 for some row. Got zeros only.")
    return weights


def check_number(estimator: BaseEstimator, name: str, *, integer: bool, minimum: int) -> None:
    """Refuse a parameter that is not such a number, or is below its minimum."""
    value = getattr(estimator, name)
    is_number = isinstance(value, Integral if integer else Real) and not isinstance(value, bool)
    if is_number and minimum <= value < np.inf:
        return
    raise ParameterError(
        f"The {name!r} parameter of {type(estimator).__name__} must be "
        f"{'an int' if integer else 'a float'} in the range [{minimum}, inf). "
        f"Got {value!r} instead."
    )


def check_option(estimator: BaseEstimator, name: str, options: Iterable[str]) -> None:
    """Refuse a parameter that is none of the words it may be."""
    value = getattr(estimator, name)
    if isinstance(value, str) and value in options:
        return
    words = ", ".join(repr(option) for option in options)
    raise ParameterError(
        f"The {name!r} parameter of {type(estimator).__name__} must be a str among {{{words}}}. "
        f"Got {value!r} instead."
    )


def as_generator(random_state: Any) -> np.random.Generator:
    """A numpy Generator from whatever scikit-learn accepts as random_state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None or isinstance(random_state, Integral):
        check_random_state(random_state)  # refuses a negative seed in scikit-learn's words
        return np.random.default_rng(None if random_state is None else int(random_state))
    legacy = check_random_state(random_state)
    return np.random.default_rng(legacy.randint(np.iinfo(np.int32).max, size=4))
