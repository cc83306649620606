"""Rows of memberships from logits that are linear in the features."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askmeans.policy.pool import Standard

__all__ = ["LogLinear", "quick_distances", "softmax"]

Floats = NDArray[np.float64]


def softmax(logits: Floats) -> Floats:
    """Rows that sum to one; a logit of minus infinity makes 0."""
    odds: Floats = np.exp(logits - logits.max(axis=1, keepdims=True))
    odds /= odds.sum(axis=1, keepdims=True)
    return odds


def quick_distances(Z: Floats, W: Floats) -> Floats:
    """Squared distances by a matrix product: for the common scale, where little is lost by it."""
    D: Floats = (Z**2).sum(axis=1)[:, None] - 2.0 * (Z @ W.T) + (W**2).sum(axis=1)
    return np.maximum(D, 0.0, out=D)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLinear:
    """Logits that are linear in the features; an intercept of minus infinity leaves one out."""

    scale: Standard
    slope: Floats
    intercept: Floats

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return softmax(self.scale(X) @ self.slope + self.intercept)
