"""Multinomial logistic regression on soft labels."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from askmeans.policy.models.rows import LogLinear, span
from askmeans.policy.models.training import Fitted, Training, cross_validated
from askmeans.policy.pool import Pool

__all__ = ["learn_logistic", "logistic"]

Floats = NDArray[np.float64]
_STEPS = 25  # of L-BFGS


def logistic(pool: Pool, training: Training, *, looseness: float) -> Fitted:
    """Logistic regression; `looseness` is the inverse of its ridge."""
    name = f"logistic {looseness:g}"
    axes = span(pool.Z[training.rows])

    def learn(part: Training) -> LogLinear:
        return _learn(pool, part, axes, looseness)

    return cross_validated(name, learn, pool, training)


def learn_logistic(pool: Pool, training: Training, *, looseness: float) -> LogLinear:
    """Logistic regression on all of the training."""
    return _learn(pool, training, span(pool.Z[training.rows]), looseness)


def _learn(pool: Pool, training: Training, axes: Floats, looseness: float) -> LogLinear:
    """Coefficients by L-BFGS, along axes that all items to learn from lie in."""
    Y = (training.Y * training.sample_weight[:, None]).T  # sums over few clusters are quicker so
    seen = Y.sum(axis=1) > 1e-9
    Y = Y[seen]
    weight, mass = Y.sum(axis=0), Y.sum(axis=1)
    Z = pool.Z[training.rows] @ axes
    Z = np.vstack([Z.T, np.ones(len(Z))])  # the last is for the intercept
    d = len(Z) - 1
    ridge = np.append(np.full(d, 1.0 / looseness), 0.0)
    start = np.zeros((len(Y), d + 1))
    start[:, d] = np.log(mass / mass.sum())

    def loss(flat: Floats) -> tuple[float, Floats]:
        B = flat.reshape(start.shape)
        logits = B @ Z
        logits -= logits.max(axis=0)
        odds = np.exp(logits)
        total = odds.sum(axis=0)
        value = weight @ np.log(total) - np.vdot(Y, logits) + 0.5 * np.vdot(B * ridge, B)
        odds *= weight / total
        odds -= Y
        return float(value), (odds @ Z.T + B * ridge).ravel()

    found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B",
                     options={"maxiter": _STEPS, "ftol": 1e-6})  # fmt: skip
    B = found.x.reshape(start.shape)
    slope, intercept = np.zeros((len(axes), len(seen))), np.full(len(seen), -np.inf)
    slope[:, seen] = axes @ B[:, :d].T
    intercept[seen] = B[:, d]
    return LogLinear(scale=pool.scaled, slope=slope, intercept=intercept)
