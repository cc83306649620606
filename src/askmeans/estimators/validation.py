"""What estimators check in scikit-learn's way."""

import copy
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_random_state, validate_data

from askmeans._util.checks import check_choice, check_seed
from askmeans.exceptions import DataError, DataTypeError, ParameterError

__all__ = ["as_generator", "check_items", "check_metric", "check_new_items"]


_NAMED = 8  # columns in a message
_SEEN = ("n_features_in_", "feature_names_in_")


def check_metric(estimator: BaseEstimator) -> None:
    """Refuse a metric that is none."""
    check_choice(estimator.metric, ("euclidean", "cosine"), "metric", type(estimator).__name__)


def check_items(estimator: BaseEstimator, X: Any) -> tuple[NDArray[np.floating], dict[str, Any]]:
    """Items to fit, as a float64 or float32 matrix without NaN, and what to remember of them.

    The second is `n_features_in_` and, where the features have names, `feature_names_in_`: to be
    set once the fit is done, so that a refused one changes nothing.
    """
    probe = copy.copy(estimator)
    items = _validate(probe, X, reset=True)
    seen = {key: vars(probe)[key] for key in _SEEN if key in vars(probe)}
    return items, seen


def check_new_items(estimator: BaseEstimator, X: Any) -> NDArray[np.floating]:
    """Items that have the features of those fitted."""
    return _validate(estimator, X, reset=False)


def as_generator(random_state: Any, owner: str) -> np.random.Generator:
    """A numpy Generator from whatever scikit-learn accepts as random_state."""
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    if isinstance(random_state, Integral):
        check_seed(random_state, "random_state", owner)
        return np.random.default_rng(int(random_state))
    try:
        legacy = check_random_state(random_state)
    except ValueError as error:
        raise ParameterError(
            f"The 'random_state' parameter of {owner} must be an int, a numpy Generator or "
            f"RandomState, or None. Got {random_state!r} instead."
        ) from error
    return np.random.default_rng(legacy.randint(np.iinfo(np.int32).max, size=4))


def _holds_float32(X: Any) -> bool:
    """Whether a table's columns are all float32: scikit-learn sees that of arrays only."""
    kinds = getattr(X, "dtypes", None)
    if kinds is None:
        kinds = getattr(getattr(X, "schema", None), "types", None)
    if kinds is None or len(kinds) == 0:
        return False
    return all(str(kind).lower() in ("float", "float32") for kind in kinds)  # pyarrow says float


def _validate(estimator: BaseEstimator, X: Any, *, reset: bool) -> NDArray[np.floating]:
    """scikit-learn's own check, whose words are familiar, with our type of error."""
    try:
        items: NDArray[np.floating] = validate_data(
            estimator, X, reset=reset, dtype=(np.float64, np.float32)
        )
    except TypeError as error:
        raise DataTypeError(str(error)) from error
    except (ValueError, OverflowError) as error:
        raise DataError(_about_frame(X) or str(error)) from error
    if _holds_float32(X):
        items = items.astype(np.float32, copy=False)
    return directions(items) if getattr(estimator, "metric", None) == "cosine" else items


def _about_frame(X: Any) -> str | None:
    """What is wrong with a table that cannot be used as it is: empty, or with words in it."""
    names = getattr(X, "column_names", None) or getattr(X, "columns", None)  # pyarrow's, others'
    if names is None:
        return None
    if len(X) == 0 or len(names) == 0:
        return f"X must have rows and columns of numbers. Got an empty table of shape {X.shape}."
    words = [str(name) for name in names if _has_words(X[name])]
    if not words:
        return None
    return (
        f"X must have numbers only. Got words or dates in {', '.join(words[:_NAMED])}; make "
        "features of all columns with askmeans.tables.read_items(X).features, or leave these out."
    )


def _has_words(column: Any) -> bool:
    """Whether there are words or dates in a column."""
    values = np.asarray(column)
    is_text = values.dtype.kind == "O" and any(isinstance(value, str) for value in values)
    return is_text or values.dtype.kind in "SUTmM"


def directions(items: NDArray[np.floating]) -> NDArray[np.floating]:
    """Items scaled to length 1, in their float type; a row of zeros stays one."""
    largest = np.abs(items).max(axis=1, keepdims=True)  # first, so that no square overflows
    items = items / np.where(largest > 0.0, largest, 1.0).astype(items.dtype)
    lengths = np.linalg.norm(items, axis=1, keepdims=True)
    return items / np.where(lengths > 0.0, lengths, 1.0).astype(items.dtype)
