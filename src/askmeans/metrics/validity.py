"""Judging a clustering by itself: compactness, separation and fuzziness.

Notation: n items in the rows of X, k centres mu in the rows of `centers`,
memberships U (n x k), fuzzifier alpha.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist
from scipy.special import entr

from askmeans._util.checks import check_choice
from askmeans._util.guards import default_float_errors
from askmeans.exceptions import DataError
from askmeans.fuzzy.model import as_clustering, as_memberships, check_fuzzifier, objective

__all__ = [
    "fukuyama_sugeno",
    "objective",
    "partition_coefficient",
    "partition_entropy",
    "xie_beni",
]


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

    Raises
    ------
    ParameterError
        If the fuzzifier is below 1 or the variant is unknown.
    DataError
        If there is a single centre, the shapes do not fit, an entry is not
        finite or a membership lies outside [0, 1].

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

    Raises
    ------
    DataError
        If memberships are not a finite matrix in [0, 1].

    Examples
    --------
    >>> partition_coefficient([[1.0, 0.0], [0.5, 0.5]])
    0.75
    """
    U = as_memberships(memberships)
    return float(np.square(U).sum() / len(U))


@default_float_errors()
def partition_entropy(memberships: ArrayLike) -> float:
    """Mean over the items of the entropy of their memberships, the lower the crisper.

    Parameters
    ----------
    memberships : array-like of shape (n_items, n_clusters)
        Memberships in [0, 1]; rows are taken to sum to one.

    Returns
    -------
    float
        In natural units, 0 log 0 being 0: from 0, every item in one cluster,
        to log(k), every item shared evenly.

    Raises
    ------
    DataError
        If memberships are not a finite matrix in [0, 1].

    Examples
    --------
    >>> round(partition_entropy([[1.0, 0.0], [0.5, 0.5]]), 4)
    0.3466
    """
    U = as_memberships(memberships)
    return float(entr(U).sum() / len(U))


@default_float_errors()
def fukuyama_sugeno(
    X: ArrayLike, centers: ArrayLike, memberships: ArrayLike, fuzzifier: float = 2.0
) -> float:
    """Fukuyama-Sugeno index: compactness less separation, the lower the better.

    The sum over items i and clusters j of
    U_ij^alpha (||x_i - mu_j||^2 - ||mu_j - m||^2), where m is the grand mean
    of the items (other authors take the mean of the centres).

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

    Returns
    -------
    float
        The index; negative when clusters are farther apart than they are wide.

    Raises
    ------
    ParameterError
        If the fuzzifier is below 1.
    DataError
        If the shapes do not fit, an entry is not finite or a membership lies
        outside [0, 1].

    Examples
    --------
    >>> fukuyama_sugeno([[0.0], [6.0]], [[1.0], [5.0]], [[1.0, 0.0], [0.0, 1.0]])
    -6.0
    """
    check_fuzzifier(fuzzifier, "fukuyama_sugeno", strict=False)
    items, mu, U = as_clustering(X, centers, memberships)
    from_mean = np.square(mu - items.mean(axis=0)).sum(axis=1)
    return objective(items, mu, U, fuzzifier) - float((U**fuzzifier).sum(axis=0) @ from_mean)
