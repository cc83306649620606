"""Data with a planted target: for theorems, tests, and the paper's own experiment."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import check_number
from askmeans.exceptions import ParameterError
from askmeans.fuzzy.model import check_fuzzifier, weighted_centers

__all__ = ["Planted", "make_cores_and_arms", "make_far_cluster"]

Floats = NDArray[np.float64]

_BOX = 200.0  # side of the box of make_far_cluster's means


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """Items and the clustering they were made from.

    Parameters
    ----------
    X : ndarray of shape (n_items, n_features)
        The items.
    centers : ndarray of shape (n_clusters, n_features)
        The target's centres, consistent with its memberships.
    memberships : ndarray of shape (n_items, n_clusters)
        The target's memberships.

    Examples
    --------
    >>> Planted(X=np.eye(2), centers=np.eye(2), memberships=np.eye(2)).X.shape
    (2, 2)
    """

    X: Floats
    centers: Floats
    memberships: Floats


def make_cores_and_arms(
    core_sizes: list[int],
    *,
    arm_size: int | None = None,
    fuzzifier: float = 2.0,
    rng: np.random.Generator,
) -> Planted:
    """Soft clusters that satisfy the paper's assumptions: the nearer item belongs more.

    Each cluster is a core, whose items belong to it wholly, and an arm from the core towards the
    common centroid, along which the membership falls to 1 / k; what an item does not give to its
    own cluster it shares evenly among the others. Cores sit at the corners of a regular simplex,
    and all arms are alike. So the order by distance to a centre is the order of the memberships
    to it (`metrics.is_monotone`), and centres are the weighted means
    (`metrics.are_centers_consistent`), however unequal the cores, at every fuzzifier.

    Parameters
    ----------
    core_sizes : list of int
        Items in the core of each cluster; at least two clusters. Items have as many features as
        there are clusters, less one.
    arm_size : int or None, default=None
        Items in each arm, at most half the smallest core (more would drag its centre into the arm);
        None for just that.
    fuzzifier : float, default=2.0
        Alpha of the target's centres, at least 1.
    rng : numpy.random.Generator
        Where the positions come from.

    Returns
    -------
    Planted
        Items in random order, centres and memberships.

    Raises
    ------
    ParameterError
        If a parameter breaks its rule.

    Examples
    --------
    >>> from askmeans import metrics
    >>> planted = make_cores_and_arms([100, 100, 20], rng=np.random.default_rng(0))
    >>> planted.X.shape, metrics.is_monotone(planted.X, planted.centers, planted.memberships)
    ((250, 2), True)
    """
    owner = "make_cores_and_arms"
    check_fuzzifier(fuzzifier, owner, strict=False)
    k = len(core_sizes)
    if k < 2:
        raise ParameterError(
            f"The 'core_sizes' parameter of {owner} must have a size for each of at least two "
            f"clusters. Got {core_sizes!r} instead."
        )
    for size in core_sizes:
        check_number(size, "core_sizes", owner, integer=True, minimum=1)
    most = min(core_sizes) // 2
    arm = most if arm_size is None else arm_size
    check_number(arm, "arm_size", owner, integer=True)
    if arm > most:
        raise ParameterError(
            f"The 'arm_size' parameter of {owner} must be at most half the smallest core, {most}. "
            f"Got {arm} instead."
        )
    # Places between the centroid (0) and the corner (1): arms up to 1/5, cores from 9/10. Arms
    # weigh at most half their core, so a centre is at .9 / 1.5 or beyond: nearer to all its core.
    along_arm = 0.2 * rng.random(arm)
    own, place, strength = [], [], []
    for j, size in enumerate(core_sizes):
        own.append(np.full(size + arm, j))
        place.append(np.concatenate([0.9 + 0.1 * rng.random(size), along_arm]))
        fallen = 1.0 / k + (1.0 - 1.0 / k) * 5.0 * along_arm
        strength.append(np.concatenate([np.ones(size), fallen]))
    order = rng.permutation(sum(core_sizes) + k * arm)
    cluster = np.concatenate(own)[order]
    t, U_own = np.concatenate(place)[order], np.concatenate(strength)[order]
    memberships = np.repeat(((1.0 - U_own) / (k - 1))[:, None], k, axis=1)
    memberships[np.arange(len(order)), cluster] = U_own
    X = t[:, None] * _simplex_corners(k)[cluster]
    return Planted(
        X=X, centers=weighted_centers(X, memberships, fuzzifier), memberships=memberships
    )


def make_far_cluster(
    n_clusters: int = 4,
    *,
    first_size: int = 5000,
    other_size: int = 5000,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Gaussian clusters in ten dimensions, one far from all others: the paper's synthetic data.

    Every coordinate of the first mean is at least 1000 from every coordinate of the others, and
    items have a standard deviation of 20 in each. The paper does not say where the other means lie
    (paper note N28): here uniformly in a box of side 200, so that they are about 260 apart, four
    times the radius of a cluster, which is 63. The first lies in a like box beyond the gap.

    Parameters
    ----------
    n_clusters : int, default=4
        Number of clusters, at least 2.
    first_size : int, default=5000
        Items of the far cluster (L_1 in the paper).
    other_size : int, default=5000
        Items of each other cluster (L_i; a multiple zeta of L_1 in the paper).
    rng : numpy.random.Generator
        Where positions come from: the means first, so that the same generator gives the same means
        for all sizes.

    Returns
    -------
    X : ndarray of shape (n_items, 10)
        The items, cluster by cluster.
    means : ndarray of shape (n_clusters, 10)
        The means; the far one first.

    Raises
    ------
    ParameterError
        If a parameter breaks its rule.

    Examples
    --------
    >>> X, means = make_far_cluster(first_size=5, other_size=20, rng=np.random.default_rng(0))
    >>> X.shape, bool((means[0] - means[1:].max() >= 1000).all())
    ((65, 10), True)
    """
    owner = "make_far_cluster"
    check_number(n_clusters, "n_clusters", owner, integer=True, minimum=2)
    check_number(first_size, "first_size", owner, integer=True, minimum=1)
    check_number(other_size, "other_size", owner, integer=True, minimum=1)
    means = rng.uniform(0.0, _BOX, size=(n_clusters, 10))
    means[0] += _BOX + 1000.0
    sizes = [first_size] + [other_size] * (n_clusters - 1)
    X = np.repeat(means, sizes, axis=0)
    X += 20.0 * rng.normal(size=X.shape)
    return X, means


def _simplex_corners(k: int) -> Floats:
    """Corners of a regular simplex around the origin, at distance 1, in k - 1 dimensions."""
    corners = np.eye(k) - 1.0 / k
    basis = np.linalg.svd(corners)[2][: k - 1]
    flat = corners @ basis.T
    scaled: Floats = flat / np.linalg.norm(flat, axis=1, keepdims=True)
    return scaled
