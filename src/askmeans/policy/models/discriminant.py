"""Shrunk linear discriminant analysis on soft labels; mixtures start from it, too."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from askmeans.policy.models.rows import LogLinear, span
from askmeans.policy.models.training import Fitted, Training, cross_validated
from askmeans.policy.pool import Pool, quick_distances

__all__ = ["discriminant", "learn_discriminant"]

Floats = NDArray[np.float64]


def discriminant(pool: Pool, training: Training) -> Fitted:
    """One covariance for all clusters, shrunk towards the unit."""
    return cross_validated("discriminant", partial(learn_discriminant, pool), pool, training)


def learn_discriminant(pool: Pool, training: Training) -> LogLinear:
    """Means, a pooled covariance after Ledoit and Wolf, and shares."""
    axes = span(pool.Z[training.rows])
    Z, Y = pool.Z[training.rows] @ axes, training.Y * training.sample_weight[:, None]
    k, d = Y.shape[1], len(axes)
    mass = Y.sum(axis=0)
    there = np.flatnonzero(mass > 1e-9)
    Y, mass = Y[:, there], mass[there]
    means = (Y.T @ Z) / mass[:, None]
    S = (Z * Y.sum(axis=1)[:, None]).T @ Z - (means * mass[:, None]).T @ means
    norms = Y * quick_distances(Z, means)  # squared lengths of the residuals
    S = shrunk_covariance(S, float((norms**2).sum()), float(mass.sum()), d)
    solved = np.linalg.solve(S, means.T)
    slope, intercept = np.zeros((d, k)), np.full(k, -np.inf)
    slope[:, there] = axes @ solved
    intercept[there] = np.log(mass + 0.5) - 0.5 * (means.T * solved).sum(axis=0)
    return LogLinear(scale=pool.scaled, slope=slope, intercept=intercept)


def shrunk_covariance(squares: Floats, quartic: float, mass: float, d: int) -> Floats:
    """Ledoit and Wolf's estimate from sums of residuals' squares; never singular.

    `quartic` is the sum of the fourth powers of the residuals' lengths; of d dimensions there are
    those that residuals lie in.
    """
    mass = max(mass, 1.0)
    S = squares / mass
    mu = max(float(np.trace(S)) / d, 1e-3)
    target = mu * np.eye(len(S))
    distance = float(((S - target) ** 2).sum()) + mu**2 * (d - len(S))
    noise = max(0.0, quartic / mass - float((S**2).sum())) / mass
    share = 1.0 if distance <= 0.0 else min(1.0, noise / distance)
    share = max(share, 0.01)
    shrunk: Floats = share * target + (1.0 - share) * S
    return shrunk
