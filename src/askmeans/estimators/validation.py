"""What estimators check in scikit-learn's way."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_random_state, validate_data

from askmeans.exceptions import DataError

__all__ = ["as_generator", "check_items"]


def check_items(estimator: BaseEstimator, X: Any, *, reset: bool) -> NDArray[np.floating]:
    """Items as a float64 or float32 matrix without NaN; no copy where they are one already.

    scikit-learn's own check does the work and writes the message, so the words are familiar.
    """
    try:
        items: NDArray[np.floating] = validate_data(
            estimator, X, reset=reset, dtype=(np.float64, np.float32)
        )
    except ValueError as error:
        raise DataError(str(error)) from error
    return items


def as_generator(random_state: Any) -> np.random.Generator:
    """A numpy Generator from whatever scikit-learn accepts as random_state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None or isinstance(random_state, Integral):
        check_random_state(random_state)  # refuses a negative seed in scikit-learn's words
        return np.random.default_rng(None if random_state is None else int(random_state))
    legacy = check_random_state(random_state)
    return np.random.default_rng(legacy.randint(np.iinfo(np.int32).max, size=4))
