"""Multinomial logistic regression on soft labels."""

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from askmeans.completions.evidence import Evidence, Fitted, Predict, cross_validated
from askmeans.completions.pool import Pool
from askmeans.completions.rows import LogLinear

__all__ = ["logistic"]

Floats = NDArray[np.float64]


def logistic(pool: Pool, evidence: Evidence, *, looseness: float) -> Fitted:
    """Logistic regression; `looseness` is the inverse of its ridge."""
    name = f"logistic {looseness:g}"
    return cross_validated(name, partial(_learn, looseness=looseness), pool, evidence)


def _learn(pool: Pool, evidence: Evidence, *, looseness: float) -> Predict:
    """Coefficients by L-BFGS."""
    Z, Y, w = pool.Z[evidence.rows], evidence.Y, evidence.trust
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
