"""The quantities of the paper's theorems.

They describe a target clustering. None can be known before the questions are answered, and no
algorithm waits for one (paper note N7).
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans._util.checks import check_choice, check_number, default_float_errors
from askmeans.fuzzy.model import (
    as_clustering,
    as_items_and_centers,
    as_memberships,
    check_fuzzifier,
    closed_form_memberships,
    squared_distances,
)


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
    """Largest amount by which an item that ranks no nearer belongs more to a cluster.

    The paper assumes 0 by distance: the nearer item has the larger membership. A monotone fit
    misses some membership by at least half of this. Fuzzy k-means optima have large inversions
    by distance and none by relative order (paper note N1).

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


def _inversion(rank: NDArray[np.float64], memberships: NDArray[np.float64]) -> float:
    """Largest rise of the memberships over any earlier one, along ascending rank."""
    # Ascending within equal rank: its largest membership is compared with its smallest.
    along = memberships[np.lexsort((memberships, rank))]
    return float((along - np.minimum.accumulate(along)).max())
