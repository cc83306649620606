"""What every display asks of its arguments before it draws."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans.exceptions import DataError, ParameterError

# Memberships computed in float32 may leave [0, 1] by this much.
_ROUNDING = 1e-6


def as_matrix(array: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return the array in two dimensions as finite float64."""
    try:
        matrix = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{name} must hold numbers in rows of equal length. Got {error}; "
            "encode or drop what is not a number first."
        ) from error
    if matrix.ndim != 2 or matrix.size == 0:
        raise DataError(
            f"{name} must be two-dimensional and not empty. Got shape {matrix.shape} instead; "
            "a single column is reshaped with .reshape(-1, 1)."
        )
    finite = np.isfinite(matrix)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise DataError(
            f"{name} must be finite. Got {matrix[row, column]} in row {row}, column {column}; "
            "drop such rows or fill them in."
        )
    return matrix


def as_memberships(array: ArrayLike) -> NDArray[np.float64]:
    """Return memberships as a matrix of numbers in [0, 1]."""
    matrix = as_matrix(array, "memberships")
    if matrix.min() < -_ROUNDING or matrix.max() > 1 + _ROUNDING:
        raise DataError(
            "memberships must lie in [0, 1]. "
            f"Got values from {matrix.min():g} to {matrix.max():g}; divide each row by its sum."
        )
    clipped: NDArray[np.float64] = matrix.clip(0.0, 1.0)
    return clipped


def as_names(names: Sequence[str] | None, n_clusters: int) -> list[str]:
    """Return one name per cluster; their numbers when none are given."""
    if names is None:
        return [str(cluster) for cluster in range(n_clusters)]
    if isinstance(names, str) or len(names) != n_clusters:
        raise ParameterError(
            f"The 'cluster_names' parameter must be a list of {n_clusters} names, one for each "
            f"column of memberships. Got {names!r} instead."
        )
    return [str(name) for name in names]


def fitted_attribute(estimator: Any, attribute: str) -> Any:
    """Return what a fitted estimator learned under this name."""
    kind = type(estimator).__name__
    if not hasattr(estimator, "cluster_centers_"):
        raise ParameterError(f"This {kind} instance is not fitted yet; call fit first.")
    if not hasattr(estimator, attribute):
        raise ParameterError(
            f"The estimator must have the attribute '{attribute}' once fitted. "
            f"Got a {kind}, which keeps none; build the display from an array instead."
        )
    return getattr(estimator, attribute)
