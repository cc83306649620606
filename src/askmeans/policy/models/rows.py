"""Rows of memberships from logits that are linear in the features."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askmeans.policy.pool import Standard

__all__ = ["LogLinear", "softmax", "span"]

Floats = NDArray[np.float64]


def softmax(logits: Floats) -> Floats:
    """Rows that sum to one; a logit of minus infinity makes 0."""
    odds: Floats = np.exp(logits - logits.max(axis=1, keepdims=True))
    odds /= odds.sum(axis=1, keepdims=True)
    return odds


def span(Z: Floats) -> Floats:
    """Axes of the space that these items span: a ridge leaves no slope across it."""
    n, d = Z.shape
    return np.eye(d) if d <= n else np.linalg.qr(Z.T)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLinear:
    """Logits that are linear in the features; an intercept of minus infinity leaves one out."""

    scale: Standard
    slope: Floats
    intercept: Floats

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return self.of(self.scale(X))

    def of(self, Z: Floats) -> Floats:
        """Memberships of items in the common scale."""
        return softmax(Z @ self.slope + self.intercept)
