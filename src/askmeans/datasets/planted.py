"""Data with a planted target, for theorems and tests."""

from dataclasses import dataclass

import numpy as np

from askmeans._util.arrays import Floats
from askmeans._util.checks import check_number
from askmeans.exceptions import ParameterError
from askmeans.fuzzy.model import check_fuzzifier, weighted_centers


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
    to it (`metrics.largest_inversion` is 0), and centres are the weighted means of the items,
    however unequal the cores, at every fuzzifier.

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

    Examples
    --------
    >>> planted = make_cores_and_arms([100, 100, 20], rng=np.random.default_rng(0))
    >>> planted.X.shape
    (250, 2)
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


def _simplex_corners(k: int) -> Floats:
    """Corners of a regular simplex around the origin, at distance 1, in k - 1 dimensions."""
    corners = np.eye(k) - 1.0 / k
    basis = np.linalg.svd(corners)[2][: k - 1]
    flat = corners @ basis.T
    scaled: Floats = flat / np.linalg.norm(flat, axis=1, keepdims=True)
    return scaled
