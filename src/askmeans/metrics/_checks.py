"""What the metrics ask of their arguments before they compute anything."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans.exceptions import DataError, ParameterError

# Private to the package, not to its room: one set of shape rules serves the model and its metrics.
from askmeans.fuzzy.model import _items_and_centers, _matrix, _memberships_for

Matrix = NDArray[np.float64]


def finite_matrix(array: ArrayLike, name: str) -> Matrix:
    """Return the array in two dimensions, every entry a finite number."""
    return _finite(_matrix(array, name), name)


def membership_matrix(memberships: ArrayLike, name: str = "memberships") -> Matrix:
    """Return memberships as a matrix in [0, 1]; what rounding put outside is clipped."""
    array = np.asarray(memberships)
    matrix = finite_matrix(array, name)
    slack = 1e-6 if array.dtype in (np.float16, np.float32) else 1e-9
    low, high = float(matrix.min()), float(matrix.max())
    if low < -slack or high > 1.0 + slack:
        raise DataError(
            f"{name} must lie between 0 and 1. Got {low if low < -slack else high!r} instead; "
            "weights or percentages are divided by the sum of their row first."
        )
    return np.clip(matrix, 0.0, 1.0)  # a power of -1e-10 would be NaN


def items_and_centers(X: ArrayLike, centers: ArrayLike) -> tuple[Matrix, Matrix]:
    """Return both as finite matrices with the same features."""
    items, mu = _items_and_centers(X, centers)
    return _finite(items, "X"), _finite(mu, "centers")


def clustering(
    X: ArrayLike, centers: ArrayLike, memberships: ArrayLike
) -> tuple[Matrix, Matrix, Matrix]:
    """Return items, centres and memberships whose shapes fit."""
    items, mu = items_and_centers(X, centers)
    U = _memberships_for(items, membership_matrix(memberships))
    check_columns(U, mu)
    return items, mu, U


def check_columns(memberships: Matrix, centers: Matrix) -> None:
    """Refuse memberships in another number of clusters than there are centres."""
    if memberships.shape[1] != len(centers):
        raise DataError(
            f"memberships must have one column for each of the {len(centers)} centers. "
            f"Got {memberships.shape[1]} columns instead."
        )


def check_same_shape(reference: Matrix, estimate: Matrix, name: str, other: str) -> None:
    """Refuse an estimate that has not the shape of its reference."""
    if reference.shape != estimate.shape:
        raise DataError(
            f"{other} must have the shape of {name}, {reference.shape}. "
            f"Got {estimate.shape} instead; both need the same items or features in the same "
            "order, and as many clusters."
        )


def check_choice(value: object, choices: tuple[str, ...], parameter: str, owner: str) -> None:
    """Refuse a name that is not among the choices."""
    if not (isinstance(value, str) and value in choices):
        raise ParameterError(
            f"The '{parameter}' parameter of {owner} must be a str among "
            f"{{{', '.join(map(repr, choices))}}}. Got {value!r} instead."
        )


def check_tolerance(value: float, parameter: str, owner: str) -> None:
    """Refuse a tolerance that is not a number from zero up."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not (number and value >= 0):
        raise ParameterError(
            f"The '{parameter}' parameter of {owner} must be a float in the range [0, inf]. "
            f"Got {value!r} instead. Zero allows no deviation at all."
        )


def _finite(matrix: Matrix, name: str) -> Matrix:
    """Return the matrix unless an entry is infinite or not a number."""
    wrong = np.argwhere(~np.isfinite(matrix))
    if len(wrong):
        row, column = (int(index) for index in wrong[0])
        raise DataError(
            f"{name} must be finite. Got {float(matrix[row, column])} in row {row}, "
            f"column {column} instead; drop such rows or fill them in first."
        )
    return matrix
