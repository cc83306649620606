"""The quantities and conditions that the paper's theorems speak of.

They describe a target clustering: none of them can be known before the
questions are answered, and none of them gates an algorithm (paper note N7).
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans._util.checks import check_choice, check_number
from askmeans._util.guards import default_float_errors
from askmeans.fuzzy.model import (
    as_clustering,
    as_items_and_centers,
    as_memberships,
    check_fuzzifier,
    closed_form_memberships,
    squared_distances,
    weighted_centers,
)

__all__ = [
    "are_centers_consistent",
    "beta",
    "gamma",
    "is_monotone",
    "largest_inversion",
    "rho_pure",
    "rho_weight",
]


@default_float_errors()
def beta(memberships: ArrayLike) -> float:
    """Size of the smallest cluster, as a multiple of an even share n/k.

    Parameters
    ----------
    memberships : array-like of shape (n_items, n_clusters)
        Memberships in [0, 1]; rows are taken to sum to one.

    Returns
    -------
    float
        Beta of the paper, from 0 to 1: it is 1 when all clusters have the
        same size (paper note N8).

    Raises
    ------
    DataError
        If memberships are not a finite matrix in [0, 1].

    Examples
    --------
    >>> beta([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5], [0.5, 0.5]])
    0.5
    """
    U = as_memberships(memberships)
    return float(U.mean(axis=0).min() * U.shape[1])


@default_float_errors()
def rho_weight(memberships: ArrayLike, fuzzifier: float = 2.0) -> float:
    """Smallest mean weight U^alpha of a cluster, the rho of theorem 10.

    The paper calls a second quantity rho: see `rho_pure` (paper note N8b).

    Parameters
    ----------
    memberships : array-like of shape (n_items, n_clusters)
        Memberships in [0, 1].
    fuzzifier : float, default=2.0
        Alpha of the paper, at least 1.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ParameterError
        If the fuzzifier is below 1.
    DataError
        If memberships are not a finite matrix in [0, 1].

    Examples
    --------
    >>> rho_weight([[1.0, 0.0], [0.5, 0.5]])
    0.125
    """
    check_fuzzifier(fuzzifier, "rho_weight", strict=False)
    return float((as_memberships(memberships) ** fuzzifier).mean(axis=0).min())


@default_float_errors()
def rho_pure(memberships: ArrayLike, *, tolerance: float = 0.0) -> float:
    """Smallest share of pure items of a cluster, the rho of the similarity appendix.

    The paper calls a second quantity rho: see `rho_weight` (paper note N8b).

    Parameters
    ----------
    memberships : array-like of shape (n_items, n_clusters)
        Memberships in [0, 1].
    tolerance : float, default=0.0
        An item is pure if its membership is at least 1 - tolerance, up to
        rounding (1e-12).

    Returns
    -------
    float
        Between 0, some cluster has no pure item, and 1.

    Raises
    ------
    ParameterError
        If the tolerance is negative or not a number.
    DataError
        If memberships are not a finite matrix in [0, 1].

    Examples
    --------
    >>> U = [[1.0, 0.0], [1.0, 0.0], [0.1, 0.9], [0.0, 1.0]]
    >>> rho_pure(U)
    0.25
    >>> rho_pure(U, tolerance=0.1)
    0.5
    """
    check_number(tolerance, "tolerance", "rho_pure")
    pure = as_memberships(memberships) >= 1.0 - tolerance - 1e-12
    return float(pure.mean(axis=0).min())


@default_float_errors()
def gamma(X: ArrayLike, centers: ArrayLike) -> float:
    """How far every centre may move before the order of the items around it changes.

    The smallest, over centres mu and pairs of different items a and b, of
    | ||a - mu||^2 - ||b - mu||^2 | / (2 ||a - b||), the distance from mu to
    the plane midway between them. It is tiny on real data (about 1e-5 on
    Iris): a diagnostic, never a condition to wait for (paper note N7).

    Parameters
    ----------
    X : array-like of shape (n_items, n_features)
        The items; repeated rows count once.
    centers : array-like of shape (n_clusters, n_features)
        The centres.

    Returns
    -------
    float
        Gamma of the paper: 0 when two different items are equally far from a
        centre, infinite when no two items differ.

    Raises
    ------
    DataError
        If the shapes do not fit or an entry is not finite.

    Examples
    --------
    >>> gamma([[0.0], [1.0], [4.0]], [[1.75]])
    0.25
    """
    items, mu = as_items_and_centers(X, centers)
    rows = np.unique(items, axis=0)
    smallest = float("inf")
    for squared in squared_distances(rows, mu).T:
        order = np.argsort(squared, kind="stable")
        # Neighbours in rank suffice: the gap of a farther pair is the sum of the gaps between, and
        # its distance at most the sum of theirs, so its ratio is never the only smallest.
        gaps = np.diff(squared[order])
        distances = np.linalg.norm(np.diff(rows[order], axis=0), axis=1)
        smallest = min(smallest, float((gaps / (2.0 * distances)).min(initial=np.inf)))
    return smallest


@default_float_errors()
def largest_inversion(
    X: ArrayLike,
    centers: ArrayLike,
    memberships: ArrayLike,
    *,
    order: Literal["distance", "relative"] = "distance",
    fuzzifier: float = 2.0,
) -> float:
    """The most by which an item that ranks no nearer belongs more to a cluster.

    Memberships that only fall along the order, as a search assumes, miss a
    true one by half of this at least. Fuzzy k-means optima have large
    inversions by distance and none by relative order (paper note N1).

    Parameters
    ----------
    X : array-like of shape (n_items, n_features)
        The items.
    centers : array-like of shape (n_clusters, n_features)
        The centres.
    memberships : array-like of shape (n_items, n_clusters)
        Memberships in [0, 1].
    order : {"distance", "relative"}, default="distance"
        Rank the items around a centre by their distance to it, or by the
        closed-form membership computed from all centres.
    fuzzifier : float, default=2.0
        Alpha of that closed form, above 1; "distance" does not depend on it
        and lets 1 pass.

    Returns
    -------
    float
        Largest inversion over all clusters and pairs of items, 0 if there is
        none. Items of equal rank are compared both ways.

    Raises
    ------
    ParameterError
        If the order is unknown or the fuzzifier is out of range.
    DataError
        If the shapes do not fit, an entry is not finite or a membership lies
        outside [0, 1].

    Examples
    --------
    >>> X, centers = [[5.0], [-10.0]], [[0.0], [10.0]]
    >>> U = [[0.5, 0.5], [0.75, 0.25]]
    >>> largest_inversion(X, centers, U)
    0.25
    >>> largest_inversion(X, centers, U, order="relative")
    0.0
    """
    check_choice(order, ("distance", "relative"), "order", "largest_inversion")
    check_fuzzifier(fuzzifier, "largest_inversion", strict=order == "relative")
    items, mu, U = as_clustering(X, centers, memberships)
    if order == "distance":
        ranks = squared_distances(items, mu)
    else:
        ranks = -closed_form_memberships(items, mu, fuzzifier)
    return max(_inversion(rank, column) for rank, column in zip(ranks.T, U.T, strict=True))


@default_float_errors()
def are_centers_consistent(
    X: ArrayLike,
    centers: ArrayLike,
    memberships: ArrayLike,
    fuzzifier: float = 2.0,
    *,
    tolerance: float = 1e-6,
) -> bool:
    """Whether the centres are those that the memberships imply.

    The first of the paper's two conditions on a consistent center-based
    clustering.

    Parameters
    ----------
    X : array-like of shape (n_items, n_features)
        The items.
    centers : array-like of shape (n_clusters, n_features)
        The centres.
    memberships : array-like of shape (n_items, n_clusters)
        Memberships in [0, 1].
    fuzzifier : float, default=2.0
        Alpha of the paper, at least 1.
    tolerance : float, default=1e-6
        Largest distance allowed between a centre and the weighted mean of the
        items, as a multiple of their spread: the root of the mean squared
        distance of the items to their mean.

    Returns
    -------
    bool
        True if every centre is; False if a cluster has no member at all.

    Raises
    ------
    ParameterError
        If the fuzzifier is below 1, or the tolerance negative or not a number.
    DataError
        If the shapes do not fit, an entry is not finite or a membership lies
        outside [0, 1].

    Examples
    --------
    >>> X, U = [[0.0], [4.0], [10.0]], [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    >>> are_centers_consistent(X, [[2.0], [10.0]], U)
    True
    >>> are_centers_consistent(X, [[2.1], [10.0]], U)
    False
    """
    check_fuzzifier(fuzzifier, "are_centers_consistent", strict=False)
    check_number(tolerance, "tolerance", "are_centers_consistent")
    items, mu, U = as_clustering(X, centers, memberships)
    spread = np.sqrt(np.square(items - items.mean(axis=0)).sum(axis=1).mean())
    # Where the spread is nothing beside the data's size, a centre is exact only up to rounding.
    rounding = 8.0 * np.finfo(np.float64).eps * np.linalg.norm(np.abs(items).max(axis=0))
    off = np.linalg.norm(weighted_centers(items, U, fuzzifier) - mu, axis=1)
    return bool((off <= tolerance * spread + rounding).all())


@default_float_errors()
def is_monotone(
    X: ArrayLike, centers: ArrayLike, memberships: ArrayLike, *, tolerance: float = 1e-9
) -> bool:
    """Whether the nearer item always has the larger membership.

    The second of the paper's two conditions on a consistent center-based
    clustering. Contrary to the paper's lemma, fuzzy k-means optima break it
    (paper note N1).

    Parameters
    ----------
    X : array-like of shape (n_items, n_features)
        The items.
    centers : array-like of shape (n_clusters, n_features)
        The centres.
    memberships : array-like of shape (n_items, n_clusters)
        Memberships in [0, 1].
    tolerance : float, default=1e-9
        Largest inversion that still passes.

    Returns
    -------
    bool
        True if `largest_inversion` by distance is within the tolerance.

    Raises
    ------
    ParameterError
        If the tolerance is negative or not a number.
    DataError
        If the shapes do not fit, an entry is not finite or a membership lies
        outside [0, 1].

    Examples
    --------
    >>> is_monotone([[0.0], [5.0], [10.0]], [[0.0], [10.0]], [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    True
    >>> is_monotone([[5.0], [-10.0]], [[0.0], [10.0]], [[0.5, 0.5], [0.8, 0.2]])
    False
    """
    check_number(tolerance, "tolerance", "is_monotone")
    return largest_inversion(X, centers, memberships) <= tolerance


def _inversion(rank: NDArray[np.float64], memberships: NDArray[np.float64]) -> float:
    """Largest rise of the memberships over any earlier one, along ascending rank."""
    # Ascending within equal rank: its largest membership is compared with its smallest.
    along = memberships[np.lexsort((memberships, rank))]
    return float((along - np.minimum.accumulate(along)).max())
