"""Silhouettes of soft clusterings: how much nearer items are to their own cluster than to the next.

Both weigh an item by how clearly it belongs to its cluster (Campello and Hruschka, 2006: A fuzzy
extension of the silhouette width criterion for cluster analysis).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans._util.checks import as_matrix, check_number
from askmeans._util.guards import default_float_errors
from askmeans.exceptions import DataError
from askmeans.fuzzy.model import as_clustering, as_memberships, check_rows

__all__ = ["fuzzy_silhouette", "simplified_silhouette"]

Floats = NDArray[np.float64]

_NUMBERS = 1 << 22  # distances held at once: 32 MiB


@default_float_errors()
def fuzzy_silhouette(X: ArrayLike, memberships: ArrayLike, *, weight: float = 1.0) -> float:
    """Fuzzy silhouette: the higher the better; time grows with the square of the items.

    An item's silhouette is (b - a) / max(a, b), with a its mean distance to the other items of its
    strongest cluster and b that to the items of the nearest other cluster; 0 where it is alone.

    Parameters
    ----------
    X : array-like of shape (n_items, n_features)
        The items.
    memberships : array-like of shape (n_items, n_clusters)
        Memberships in [0, 1].
    weight : float, default=1.0
        The power of the difference between an item's two largest memberships that it counts with;
        0 counts all alike, which is the silhouette of the strongest clusters.

    Returns
    -------
    float
        The mean, from -1 to 1; NaN where no item belongs to one cluster more than to others.

    Raises
    ------
    ParameterError
        If `weight` is negative.
    DataError
        If fewer than two clusters are anybody's strongest, the shapes do not fit, an entry is not
        finite or a membership lies outside [0, 1].

    Examples
    --------
    >>> X = [[0.0], [1.0], [9.0], [10.0]]
    >>> round(fuzzy_silhouette(X, [[1, 0], [0.9, 0.1], [0.1, 0.9], [0, 1]]), 2)
    0.89
    """
    check_number(weight, "weight", "fuzzy_silhouette")
    items, U = as_matrix(X, "X"), as_memberships(memberships)
    check_rows(U, len(items))
    labels = U.argmax(axis=1)
    sizes = np.bincount(labels, minlength=U.shape[1]).astype(np.float64)
    if np.count_nonzero(sizes) < 2:
        raise DataError(
            "memberships must have at least 2 clusters that are the strongest of some item, for "
            "fuzzy_silhouette. Got 1; simplified_silhouette needs centres only."
        )
    widths = np.empty(len(items))
    step = max(1, _NUMBERS // len(items))
    member = np.zeros((len(items), U.shape[1]))
    member[np.arange(len(items)), labels] = 1.0
    for start in range(0, len(items), step):
        rows = np.arange(start, min(start + step, len(items)))
        widths[rows] = _widths(_distances(items[rows], items) @ member, labels[rows], sizes)
    return _weighed(widths, U, weight)


@default_float_errors()
def simplified_silhouette(
    X: ArrayLike, centers: ArrayLike, memberships: ArrayLike, *, weight: float = 1.0
) -> float:
    """Fuzzy silhouette by distances to centres: time grows with the items only.

    An item's silhouette is (b - a) / max(a, b), with a its distance to the centre of its strongest
    cluster and b that to the nearest other centre.

    Parameters
    ----------
    X : array-like of shape (n_items, n_features)
        The items.
    centers : array-like of shape (n_clusters, n_features)
        The centres, two at least.
    memberships : array-like of shape (n_items, n_clusters)
        Memberships in [0, 1].
    weight : float, default=1.0
        The power of the difference between an item's two largest memberships that it counts with.

    Returns
    -------
    float
        The mean, from -1 to 1; NaN where no item belongs to one cluster more than to others.

    Raises
    ------
    ParameterError
        If `weight` is negative.
    DataError
        If there is a single centre, the shapes do not fit, an entry is not finite or a membership
        lies outside [0, 1].

    Examples
    --------
    >>> X, centers = [[0.0], [1.0], [9.0], [10.0]], [[0.5], [9.5]]
    >>> round(simplified_silhouette(X, centers, [[1, 0], [0.9, 0.1], [0.1, 0.9], [0, 1]]), 2)
    0.94
    """
    check_number(weight, "weight", "simplified_silhouette")
    items, mu, U = as_clustering(X, centers, memberships)
    if len(mu) < 2:
        raise DataError(
            "centers must have at least 2 rows for simplified_silhouette. "
            f"Got {len(mu)} instead; one cluster has no other to be apart from."
        )
    labels = U.argmax(axis=1)
    widths = np.empty(len(items))
    step = max(1, _NUMBERS // len(mu))
    for start in range(0, len(items), step):
        D = _distances(items[start : start + step], mu)
        here = labels[start : start + step, None]
        own = np.take_along_axis(D, here, axis=1)[:, 0]
        np.put_along_axis(D, here, np.inf, axis=1)
        widths[start : start + step] = _ratio(own, D.min(axis=1))
    return _weighed(widths, U, weight)


def _distances(A: Floats, B: Floats) -> Floats:
    """Euclidean distances of every row to every other."""
    from scipy.spatial.distance import cdist

    distances: Floats = cdist(A, B)
    return distances


def _widths(sums: Floats, labels: NDArray[np.intp], sizes: Floats) -> Floats:
    """Silhouettes of items from their summed distances to each cluster's items."""
    here = labels[:, None]
    own = np.take_along_axis(sums, here, axis=1)[:, 0]
    count = sizes[labels]
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(sizes > 0.0, sums / sizes, np.inf)
    np.put_along_axis(means, here, np.inf, axis=1)
    widths = _ratio(own / np.maximum(count - 1.0, 1.0), means.min(axis=1))
    return np.where(count > 1.0, widths, 0.0)


def _ratio(own: Floats, other: Floats) -> Floats:
    """(b - a) / max(a, b), and 0 where both are 0."""
    largest = np.maximum(own, other)
    return np.divide(other - own, largest, out=np.zeros_like(own), where=largest > 0.0)


def _weighed(widths: Floats, U: Floats, weight: float) -> float:
    """The mean silhouette, items weighed by how far their largest membership is ahead."""
    first, second = np.partition(U, -2, axis=1)[:, [-1, -2]].T
    weights = (first - second) ** weight
    total = float(weights.sum())
    return float(weights @ widths / total) if total > 0.0 else float("nan")
