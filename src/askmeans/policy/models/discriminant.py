"""Shrunk linear discriminant analysis on soft labels."""

import numpy as np
from numpy.typing import NDArray

from askmeans.policy.models.rows import LogLinear
from askmeans.policy.models.training import Fitted, Predict, Training, cross_validated
from askmeans.policy.pool import Pool

__all__ = ["discriminant", "learn_discriminant"]

Floats = NDArray[np.float64]


def discriminant(pool: Pool, training: Training) -> Fitted:
    """One covariance for all clusters, shrunk towards the unit."""
    return cross_validated("discriminant", learn_discriminant, pool, training)


def learn_discriminant(pool: Pool, training: Training) -> Predict:
    """Means, a pooled covariance after Ledoit and Wolf, and shares."""
    Z, Y = pool.Z[training.rows], training.Y * training.sample_weight[:, None]
    k, d = Y.shape[1], Z.shape[1]
    mass = Y.sum(axis=0)
    there = np.flatnonzero(mass > 1e-9)
    means = (Y.T @ Z)[there] / mass[there, None]
    left = [np.sqrt(Y[:, [j]]) * (Z - means[c]) for c, j in enumerate(there)]
    S = shrunk_covariance(np.concatenate(left), float(mass.sum()), d)
    solved = np.linalg.solve(S, means.T)
    slope, intercept = np.zeros((d, k)), np.full(k, -np.inf)
    slope[:, there] = solved
    intercept[there] = np.log(mass[there] + 0.5) - 0.5 * (means.T * solved).sum(axis=0)
    return LogLinear(scale=pool.scaled, slope=slope, intercept=intercept)


def shrunk_covariance(residuals: Floats, mass: float, d: int) -> Floats:
    """Ledoit and Wolf's estimate from weighted residuals; never singular."""
    S = residuals.T @ residuals / max(mass, 1.0)
    mu = max(np.trace(S) / d, 1e-3)
    target = mu * np.eye(d)
    distance = float(((S - target) ** 2).sum())
    norms = (residuals**2).sum(axis=1)
    quartic = float((norms**2).sum()) / max(mass, 1.0)
    noise = max(0.0, quartic - float((S**2).sum())) / max(mass, 1.0)
    share = 1.0 if distance <= 0.0 else min(1.0, noise / distance)
    share = max(share, 0.01)
    shrunk: Floats = share * target + (1.0 - share) * S
    return shrunk
