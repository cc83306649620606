"""Centres from sampled answers: Algorithm 8, its stratified form, and confidence radii."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans._util.arrays import Floats
from askmeans._util.checks import as_matrix, check_number, default_float_errors
from askmeans.exceptions import ParameterError
from askmeans.fuzzy.model import as_memberships, check_fuzzifier, check_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class CenterEstimate:
    """A centre with its confidence radius.

    `weight` estimates the cluster's sum of U^alpha over all items; `effective_size` is the
    effective sample size; `radius` bounds the distance to the true centre with the given confidence
    (paper note N29).
    """

    center: Floats
    weight: float
    effective_size: float
    radius: float


def estimate_center(
    strata: list[tuple[int, Floats, Floats]],
    fuzzifier: float,
    n_clusters: int,
    *,
    with_replacement: bool = False,
    confidence: float = 0.95,
) -> CenterEstimate | None:
    """The paper's self-normalised estimator over strata: None if no item belongs at all.

    Each stratum is its size, the queried items (with repetition) and their memberships, NaN for
    missing answers. An item represents size / queried items of its stratum (paper note N15). One
    stratum of all items is Algorithm 8.

    The radius is an empirical Bernstein bound on mu_hat - mu = mean[w (x - mu)] / mean[w], whose
    numerator has mean zero (paper note N29). Strata queried in full add nothing to it, unless their
    items were drawn with replacement: then some may be missing, however many were drawn.
    """
    sizes, points, weights, owner = [], [], [], []
    for number, (size, items, memberships) in enumerate(strata):
        known = ~np.isnan(memberships)
        count = int(known.sum())
        if count == 0:
            continue
        sizes.append((number, size, count))
        points.append(items[known])
        weights.append(np.clip(memberships[known], 0.0, None) ** fuzzifier * (size / count))
        owner.append(np.full(count, number))
    if not points:
        return None
    x, w, stratum = np.concatenate(points), np.concatenate(weights), np.concatenate(owner)
    total = float(w.sum())
    if total <= 0.0:
        return None
    center = w @ x / total
    influence = w[:, None] * (x - center)  # of each item on the numerator, in units of the total
    variance, largest = 0.0, 0.0
    for number, size, count in sizes:
        if count >= size and not with_replacement:
            continue  # queried in full: no sampling error
        mine = influence[stratum == number]
        spread = mine - mine.mean(axis=0)
        # A variance needs two items.
        variance += count * float(np.square(spread).sum()) / (count - 1) if count > 1 else math.inf
        largest = max(largest, float(np.linalg.norm(mine, axis=1).max()))
    log_term = math.log(2.0 * n_clusters / (1.0 - confidence))
    radius = (math.sqrt(2.0 * variance * log_term) + 7.0 / 3.0 * largest * log_term) / total
    return CenterEstimate(
        center=center,
        weight=total,
        effective_size=(total / w.max()) ** 2 / float(np.square(w / w.max()).sum()),
        radius=radius,
    )


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
