"""How near items are to answered ones, and how much surer models are of those that are nearer.

Answers are asked about items that differ, so an answer that is held out is predicted from farther
away than most items are. A power that depends on the distance makes up for that, as the temperature
of density-aware calibration does (Tomani et al., ICML 2023).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askmeans.policy.models.training import Training
from askmeans.policy.pool import Pool, Standard, quick_distances

__all__ = ["Proximity"]

Floats = NDArray[np.float64]

# The power is (1 + (c r / d)^2)^e, where d is the distance to the nearest answer, and r that of
# answers to each other. The log loss of 14 tables (benchmarks/calibration.py) is .352 without it,
# and .348 with it; with c from .2 to 1 and e from .1 to .15 it is the same within 1 %. Of messages
# with many near-duplicates it is .255 and .211, of 9 large tables .623 and .622, of texts of 8 to
# 20 groups .831 and .830, of 14 other tables, where twins differ, .585 and .589.
_SHARE, _EXPONENT = 0.5, 0.125


@dataclass(frozen=True, slots=True, kw_only=True)
class Proximity:
    """Powers of models' memberships by the distance to the nearest answered item.

    Parameters
    ----------
    scale : Standard
        The common scale.
    Z : ndarray of shape (n_answers, n_features)
        The answered items in it.
    unit : float
        The median distance of an answered item to the nearest of other folds.
    resolution : float
        The distance below which the features hardly tell items apart.
    pool : ndarray of shape (n_items,)
        The powers of the pool's items.
    held_out : ndarray of shape (n_answers,)
        The powers of the answered items by the answers of other folds.
    """

    scale: Standard
    Z: Floats
    unit: float
    resolution: float
    pool: Floats
    held_out: Floats

    @classmethod
    def of(cls, pool: Pool, training: Training, resolution: float) -> "Proximity":
        """The proximity to these training rows."""
        Z = pool.Z[training.rows]
        D = quick_distances(Z, Z)
        D[training.folds[:, None] == training.folds] = np.inf
        nearest = D.min(axis=1)
        unit = float(np.sqrt(np.median(nearest)))
        unit = unit if np.isfinite(unit) else 0.0
        return cls(
            scale=pool.scaled, Z=Z, unit=unit, resolution=resolution,
            pool=_power(quick_distances(pool.Z, Z).min(axis=1), unit, resolution),
            held_out=_power(nearest, unit, resolution),
        )  # fmt: skip

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """The powers of any items."""
        return _power(
            quick_distances(self.scale(X), self.Z).min(axis=1), self.unit, self.resolution
        )


def _power(nearest: Floats, unit: float, resolution: float) -> Floats:
    """The powers at these squared distances."""
    ratio = (_SHARE * unit) ** 2 / np.maximum(nearest + resolution**2, 1e-12)
    power: Floats = (1.0 + ratio) ** _EXPONENT
    return power
