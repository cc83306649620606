"""Judging a clustering by itself: compactness, separation and fuzziness.

Notation: n items in the rows of X, k centres mu in the rows of `centers`,
memberships U (n x k), fuzzifier alpha.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist
from scipy.special import entr

from askmeans._util.checks import (
    Matrix,
    as_matrix,
    check_choice,
    default_float_errors,
)
from askmeans.exceptions import DataError
from askmeans.fuzzy.model import (
    as_clustering,
    as_memberships,
    check_fuzzifier,
    check_rows,
    objective,
)


@default_float_errors()
def xie_beni(
    X: ArrayLike,
    centers: ArrayLike,
    memberships: ArrayLike,
    fuzzifier: float = 2.0,
    *,
    variant: Literal["classic", "paper"] = "classic",
) -> float:
    """Xie-Beni index: compactness over separation, the lower the better.

    The objective, divided by the smallest squared distance between two
    centres and by n ("classic", Xie and Beni) or n * k ("paper", so that it
    does not grow with k; paper note N9).

    Parameters
    ----------
    X : array-like of shape (n_items, n_features)
        The items.
    centers : array-like of shape (n_clusters, n_features)
        The centres, two at least.
    memberships : array-like of shape (n_items, n_clusters)
        Memberships in [0, 1].
    fuzzifier : float, default=2.0
        Alpha of the paper, at least 1.
    variant : {"classic", "paper"}, default="classic"
        Divide by n, or by n * k.

    Returns
    -------
    float
        The index; infinite when two centres coincide.

    Examples
    --------
    >>> X, centers = [[0.0], [4.0]], [[1.0], [3.0]]
    >>> xie_beni(X, centers, [[1.0, 0.0], [0.0, 1.0]])
    0.25
    >>> xie_beni(X, centers, [[1.0, 0.0], [0.0, 1.0]], variant="paper")
    0.125
    """
    check_choice(variant, ("classic", "paper"), "variant", "xie_beni")
    check_fuzzifier(fuzzifier, "xie_beni", strict=False)
    items, mu, U = as_clustering(X, centers, memberships)
    if len(mu) < 2:
        raise DataError(
            "centers must have at least 2 rows for xie_beni, which divides by the distance "
            f"between two of them. Got {len(mu)} instead; partition_coefficient needs no second."
        )
    separation = float(pdist(mu, "sqeuclidean").min())
    if separation == 0.0:
        return float("inf")
    share = len(items) * (len(mu) if variant == "paper" else 1)
    return objective(items, mu, U, fuzzifier) / (share * separation)


@default_float_errors()
def partition_coefficient(memberships: ArrayLike) -> float:
    """Mean over the items of the sum of squared memberships, the higher the crisper.

    Parameters
    ----------
    memberships : array-like of shape (n_items, n_clusters)
        Memberships in [0, 1]; rows are taken to sum to one.

    Returns
    -------
    float
        From 1/k, every item shared evenly, to 1, every item in one cluster.

    Examples
    --------
    >>> partition_coefficient([[1.0, 0.0], [0.5, 0.5]])
    0.75
    """
    U = as_memberships(memberships)
    return float(np.square(U).sum() / len(U))


def partition_entropy(memberships: ArrayLike) -> float:
    """Mean entropy of the items' memberships in natural units, from 0 (hard) to log(k) (even)."""
    U = as_memberships(memberships)
    return float(entr(U).sum() / len(U))


def fuzzy_silhouette(X: ArrayLike, memberships: ArrayLike) -> float:
    """Mean silhouette of the items, weighted by how clearly each belongs to its cluster.

    Campello and Hruschka (2006), A fuzzy extension of the silhouette width criterion for cluster
    analysis. The silhouettes are scikit-learn's, of the strongest clusters, and take time
    proportional to the square of the number of items. An item's weight is the difference of its two
    largest memberships; NaN where all weights are 0.
    """
    from sklearn.metrics import silhouette_samples

    items, U = as_matrix(X, "X"), as_memberships(memberships)
    check_rows(U, len(items))
    labels = U.argmax(axis=1)
    n_labels = len(np.unique(labels))
    if not 2 <= n_labels < len(items):
        raise DataError(
            "memberships must have at least 2 strongest clusters, and fewer than items, for "
            f"fuzzy_silhouette. Got {n_labels}."
        )
    return clarity_weighted_mean(silhouette_samples(items - items.mean(axis=0), labels), U)


def clarity_weighted_mean(values: Matrix, U: NDArray[np.floating]) -> float:
    """The mean, items weighted by the difference of their two largest memberships."""
    first, second = np.partition(U, -2, axis=1)[:, [-1, -2]].T
    weights = first - second
    total = float(weights.sum())
    return float(weights @ values / total) if total > 0.0 else float("nan")
