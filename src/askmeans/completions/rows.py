"""Rows of memberships from logits."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["softmax"]

Floats = NDArray[np.float64]


def softmax(logits: Floats) -> Floats:
    """Rows that sum to one; a logit of minus infinity makes 0."""
    odds: Floats = np.exp(logits - logits.max(axis=1, keepdims=True))
    odds /= odds.sum(axis=1, keepdims=True)
    return odds
