"""Confidence radii of centres, from the answers to a sample."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans._util.checks import as_matrix, check_number
from askmeans._util.guards import default_float_errors
from askmeans.exceptions import ParameterError
from askmeans.fuzzy.model import as_memberships, check_fuzzifier, check_rows
from askmeans.paper.sampling import estimate_center

__all__ = ["center_radii"]


@default_float_errors()
def center_radii(
    X: ArrayLike, memberships: ArrayLike, fuzzifier: float = 2.0, *, delta: float = 0.05
) -> NDArray[np.float64]:
    """Bounds of the distance of each estimated centre from the true one.

    An empirical Bernstein bound (paper note N29): the variance of the answers replaces the unknown
    constants of the theorems.

    Parameters
    ----------
    X : array-like of shape (n_sampled, n_features)
        Items drawn at random, with replacement.
    memberships : array-like of shape (n_sampled, n_clusters)
        Their memberships, as answered; NaN for "cannot say".
    fuzzifier : float, default=2.0
        Alpha, at least 1.
    delta : float, default=0.05
        Probability that a bound does not hold.

    Returns
    -------
    ndarray of shape (n_clusters,)
        Distances; infinite for a cluster to which no item belongs.

    Raises
    ------
    ParameterError
        If delta is not in (0, 1), or the fuzzifier is below 1.
    DataError
        If the arrays do not fit.

    Examples
    --------
    >>> center_radii(np.zeros((50, 2)), np.full((50, 2), 0.5))  # all items are alike
    array([0., 0.])
    """
    owner = "center_radii"
    check_fuzzifier(fuzzifier, owner, strict=False)
    check_number(delta, "delta", owner)
    if not 0.0 < delta < 1.0:
        raise ParameterError(
            f"The 'delta' parameter of {owner} must be a float in the range (0, 1). "
            f"Got {delta!r} instead."
        )
    items = as_matrix(X, "X")
    answers = np.asarray(memberships, dtype=np.float64)
    U = as_memberships(np.nan_to_num(answers))
    check_rows(U, len(items))
    U[np.isnan(answers)] = np.nan  # "cannot say" does not count
    k = U.shape[1]
    estimates = [
        estimate_center(
            [(len(items), items, column)],
            fuzzifier,
            k,
            with_replacement=True,
            confidence=1.0 - delta,
        )
        for column in U.T
    ]
    return np.array([math.inf if e is None else e.radius for e in estimates])
