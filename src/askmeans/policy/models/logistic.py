"""Multinomial logistic regression on soft labels."""

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from askmeans.policy.models.rows import LogLinear
from askmeans.policy.models.training import Fitted, Predict, Training, cross_validated
from askmeans.policy.pool import Pool

__all__ = ["learn_logistic", "logistic"]

Floats = NDArray[np.float64]


def logistic(pool: Pool, training: Training, *, looseness: float) -> Fitted:
    """Logistic regression; `looseness` is the inverse of its ridge."""
    name = f"logistic {looseness:g}"
    return cross_validated(name, partial(learn_logistic, looseness=looseness), pool, training)


def learn_logistic(pool: Pool, training: Training, *, looseness: float) -> Predict:
    """Coefficients by L-BFGS."""
    Z, Y, w = pool.Z[training.rows], training.Y, training.sample_weight
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
                     options={"maxiter": 40, "ftol": 1e-6})  # fmt: skip
    B = found.x.reshape(d + 1, k)
    return LogLinear(scale=pool.scaled, slope=B[:d], intercept=B[d] + masked)
