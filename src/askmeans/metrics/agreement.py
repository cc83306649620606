"""A clustering compared with a reference, up to a permutation of the clusters.

Clusters have no order (paper note N10), so each error is the smallest over all permutations.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from askmeans._util.checks import (
    Matrix,
    as_matrix,
    check_choice,
    check_number,
    default_float_errors,
)
from askmeans.exceptions import DataError
from askmeans.fuzzy.model import as_memberships, check_columns, squared_distances


@default_float_errors()
def match_clusters(reference: ArrayLike, estimate: ArrayLike) -> NDArray[np.intp]:
    """Permutation that brings the clusters of an estimate into the reference's order.

    Among all permutations it has the smallest sum of absolute differences.

    Parameters
    ----------
    reference, estimate : array-like of shape (n_items, n_clusters)
        Memberships in [0, 1] of the same items.

    Returns
    -------
    ndarray of shape (n_clusters,)
        Permutation p such that ``estimate[:, p]`` is matched to `reference`.

    Examples
    --------
    >>> match_clusters([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0.0, 0.9, 0.1], [0.2, 0.0, 0.8]])
    array([1, 2, 0])
    """
    return _assign(_column_differences(*_memberships_pair(reference, estimate), "mean"))


@default_float_errors()
def center_error(reference: ArrayLike, estimate: ArrayLike) -> float:
    """Largest distance between matched centres, for the pairing that makes it smallest.

    Parameters
    ----------
    reference : array-like of shape (n_clusters, n_features)
        Centres.
    estimate : array-like of shape (n_clusters, n_features)
        As many centres, in any order.

    Returns
    -------
    float
        The first error of the paper's definition 4.

    Examples
    --------
    >>> center_error([[0.0], [10.0]], [[9.0], [0.5]])
    1.0
    """
    mu, centers = as_matrix(reference, "reference"), as_matrix(estimate, "estimate")
    _check_same_shape(mu, centers, "reference", "estimate")
    return _bottleneck(np.sqrt(squared_distances(mu, centers)))


@default_float_errors()
def membership_error(
    reference: ArrayLike, estimate: ArrayLike, *, how: Literal["max", "mean"] = "max"
) -> float:
    """Absolute difference of memberships, for the pairing that makes it smallest.

    Parameters
    ----------
    reference, estimate : array-like of shape (n_items, n_clusters)
        Memberships in [0, 1] of the same items.
    how : {"max", "mean"}, default="max"
        The largest difference, the second error of the paper's definition 4,
        or the mean over items and clusters.

    Returns
    -------
    float
        The error, between 0 and 1.

    Examples
    --------
    >>> membership_error([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.75, 0.25]])
    0.25
    >>> membership_error([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.75, 0.25]], how="mean")
    0.125
    """
    check_choice(how, ("max", "mean"), "how", "membership_error")
    costs = _column_differences(*_memberships_pair(reference, estimate), how)
    if how == "max":
        return _bottleneck(costs)
    return float(costs[np.arange(len(costs)), _assign(costs)].mean())


@default_float_errors()
def matched_accuracy(y_true: ArrayLike, labels: ArrayLike) -> float:
    """Share of items whose cluster is the one matched to their class.

    Each class is matched to one cluster at most, so that the share is largest. Items of unmatched
    clusters or classes count as wrong.

    Parameters
    ----------
    y_true : array-like of shape (n_items,)
        Classes: numbers or strings.
    labels : array-like of shape (n_items,) or (n_items, n_clusters)
        The cluster of each item, or memberships, of which the largest counts.

    Returns
    -------
    float
        The accuracy, above 0 and at most 1.

    Examples
    --------
    >>> matched_accuracy(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    0.75
    >>> matched_accuracy(["cat", "dog"], [[0.2, 0.8], [0.7, 0.3]])
    1.0
    """
    predicted = np.asarray(labels)
    if predicted.ndim == 2:
        memberships = as_memberships(labels, "labels")
        if np.abs(memberships.sum(axis=1) - 1.0).max() > 1e-3:
            raise DataError(
                "labels must be one-dimensional, or memberships whose rows sum to one. "
                f"Got shape {predicted.shape} with other sums; flatten a column with .ravel()."
            )
        predicted = memberships.argmax(axis=1)
    true, clusters = _codes(y_true, "y_true"), _codes(predicted, "labels")
    if len(true) != len(clusters):
        raise DataError(
            f"labels must have one entry for each of the {len(true)} items of y_true. "
            f"Got {len(clusters)} instead."
        )
    table = np.zeros((true.max() + 1, clusters.max() + 1), dtype=np.int64)
    np.add.at(table, (true, clusters), 1)
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / len(true))


@default_float_errors()
def is_solution(
    centers: ArrayLike,
    memberships: ArrayLike,
    estimated_centers: ArrayLike,
    estimated_memberships: ArrayLike,
    *,
    center_tolerance: float,
    membership_tolerance: float,
) -> bool:
    """Whether an estimate is a solution in the sense of the paper's definition 4.

    One permutation of the clusters must bring every centre and every membership within its
    tolerance. Two small errors may need two permutations.

    Parameters
    ----------
    centers : array-like of shape (n_clusters, n_features)
        The target's centres.
    memberships : array-like of shape (n_items, n_clusters)
        The target's memberships in [0, 1].
    estimated_centers : array-like of shape (n_clusters, n_features)
        The estimate's centres.
    estimated_memberships : array-like of shape (n_items, n_clusters)
        The estimate's memberships in [0, 1], clusters in the order of its centres.
    center_tolerance : float
        Epsilon_1 of the paper: largest distance allowed between matched centres.
    membership_tolerance : float
        Epsilon_2 of the paper: largest difference allowed between memberships.

    Returns
    -------
    bool
        True if such a permutation exists.

    Examples
    --------
    >>> is_solution(
    ...     [[0.0], [10.0]], [[1.0, 0.0], [0.0, 1.0]],
    ...     [[9.5], [0.0]], [[0.1, 0.9], [1.0, 0.0]],
    ...     center_tolerance=0.5, membership_tolerance=0.2,
    ... )
    True
    """
    check_number(center_tolerance, "center_tolerance", "is_solution")
    check_number(membership_tolerance, "membership_tolerance", "is_solution")
    mu = as_matrix(centers, "centers")
    estimates = as_matrix(estimated_centers, "estimated_centers")
    _check_same_shape(mu, estimates, "centers", "estimated_centers")
    U, V = _memberships_pair(
        memberships, estimated_memberships, ("memberships", "estimated_memberships")
    )
    check_columns(U, len(mu))
    near = np.sqrt(squared_distances(mu, estimates)) <= center_tolerance
    alike = _column_differences(U, V, "max") <= membership_tolerance
    return _has_perfect_matching(near & alike)


def _memberships_pair(
    reference: ArrayLike,
    estimate: ArrayLike,
    names: tuple[str, str] = ("reference", "estimate"),
) -> tuple[Matrix, Matrix]:
    """Return two membership matrices of the same shape."""
    U, V = as_memberships(reference, names[0]), as_memberships(estimate, names[1])
    _check_same_shape(U, V, *names)
    return U, V


def _column_differences(U: Matrix, V: Matrix, how: Literal["max", "mean"]) -> Matrix:
    """Largest or mean absolute difference of every column of U to every column of V."""
    costs = np.empty((U.shape[1], V.shape[1]))
    for j, column in enumerate(U.T):  # one column at a time: n x k numbers in memory, not n x k x k
        difference = np.abs(V - column[:, None])
        costs[j] = difference.max(axis=0) if how == "max" else difference.mean(axis=0)
    return costs


def _assign(costs: Matrix) -> NDArray[np.intp]:
    """Column of each row in the assignment of least total cost."""
    return linear_sum_assignment(costs)[1]


def _has_perfect_matching(allowed: NDArray[np.bool_]) -> bool:
    """Whether rows and columns can be paired off through allowed entries only."""
    return bool(allowed[linear_sum_assignment(allowed, maximize=True)].all())


def _bottleneck(costs: Matrix) -> float:
    """Smallest, over the assignments, of the largest cost in them."""
    values = np.unique(costs)
    low, high = 0, len(values) - 1  # the answer is one of values[low:high + 1]
    while low < high:
        middle = (low + high) // 2
        if _has_perfect_matching(costs <= values[middle]):
            high = middle
        else:
            low = middle + 1
    return float(values[low])


def _codes(labels: ArrayLike, name: str) -> NDArray[np.intp]:
    """Number the distinct labels from zero in sorted order."""
    values = np.asarray(labels)
    if values.ndim != 1 or values.size == 0:
        raise DataError(
            f"{name} must be one-dimensional and not empty. Got shape {values.shape} instead; "
            "a column is flattened with .ravel()."
        )
    if any(value is None or value != value for value in values.tolist()):
        raise DataError(
            f"{name} must hold a label for every item. Got a missing one instead; "
            "leave such items out of both arguments."
        )
    return np.unique(values, return_inverse=True)[1]


def _check_same_shape(
    reference: NDArray[np.float64], estimate: NDArray[np.float64], name: str, other: str
) -> None:
    """Refuse an estimate that has not the shape of its reference."""
    if reference.shape != estimate.shape:
        raise DataError(
            f"{other} must have the shape of {name}, {reference.shape}. "
            f"Got {estimate.shape} instead; both need the same items or features in the same "
            "order, and as many clusters."
        )
