"""Randomised trees: the flexible model, for many answers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from askmeans.policy.models.training import Fitted, Training
from askmeans.policy.pool import Pool, Standard

if TYPE_CHECKING:
    from sklearn.ensemble import ExtraTreesRegressor

__all__ = ["forest"]

Floats = NDArray[np.float64]
_TREES = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """The mean of many trees."""

    scale: Standard
    trees: "ExtraTreesRegressor"
    n_clusters: int

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return self.of(self.scale(X))

    def of(self, Z: Floats) -> Floats:
        """Memberships of items in the common scale."""
        return np.reshape(self.trees.predict(Z), (len(Z), self.n_clusters))


def forest(pool: Pool, training: Training) -> Fitted:
    """Extremely randomised trees; what each answer gets from trees that did not see it."""
    from sklearn.ensemble import ExtraTreesRegressor

    k = training.Y.shape[1]
    trees = ExtraTreesRegressor(
        _TREES, max_features=0.5, bootstrap=True, oob_score=_no_score, random_state=0
    ).fit(pool.Z[training.rows], training.Y, sample_weight=training.sample_weight)
    model = Forest(scale=pool.scaled, trees=trees, n_clusters=k)
    held_out = np.reshape(trees.oob_prediction_, training.Y.shape)
    # An answer that every tree saw is told by none.
    untold = np.abs(held_out.sum(axis=1) - 1.0) > 1e-6
    held_out = np.where(untold[:, None], 1.0 / k, held_out)
    return Fitted(name="forest", pool=model.of(pool.Z), held_out=held_out, predict=model)


def _no_score(truth: Floats, predicted: Floats) -> float:  # noqa: ARG001 - held-out rows are wanted
    """Nothing: only what each answer gets from the trees that did not see it is wanted."""
    return 0.0
