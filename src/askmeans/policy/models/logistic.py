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
    Z, Y, w = pool.Z[training.rows] @ axes, training.Y, training.sample_weight
    d, k = Z.shape[1], Y.shape[1]
    seen = (w @ Y) > 1e-9
    masked = np.where(seen, 0.0, -np.inf)
    mass = np.where(seen, w @ Y, 1.0)
    start = np.zeros((d + 1, k))
    start[d] = np.log(mass / mass.sum())

    def loss(flat: Floats) -> tuple[float, Floats]:
        B = flat.reshape(d + 1, k)
        logits = Z @ B[:d] + B[d] + masked
        logits -= logits.max(axis=1, keepdims=True)
        odds = np.exp(logits)
        total = odds.sum(axis=1, keepdims=True)
        logs = np.where(seen, logits, 0.0) - np.log(total)
        value = -float(w @ (Y * logs).sum(axis=1)) + 0.5 / looseness * float((B[:d] ** 2).sum())
        g = w[:, None] * (odds / total - Y)
        grad = np.vstack([Z.T @ g + B[:d] / looseness, g.sum(axis=0)])
        return value, grad.ravel()

    found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B",
                     options={"maxiter": _STEPS, "ftol": 1e-6})  # fmt: skip
    B = found.x.reshape(d + 1, k)
    return LogLinear(scale=pool.scaled, slope=axes @ B[:d], intercept=B[d] + masked)
