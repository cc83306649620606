"""Randomised trees: the flexible model, for many answers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans.policy.models.training import Fitted, Training
from askmeans.policy.pool import Pool, Standard

__all__ = ["forest", "load"]

Floats = NDArray[np.float64]
_TREES = 30
_FEATURES = 24  # that a split is chosen among at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """The mean of many trees."""

    scale: Standard
    trees: tuple[Any, ...]  # scikit-learn's trees themselves: its estimators check what is checked
    n_clusters: int

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return np.asarray(np.mean(self.each(self.scale(X)), axis=0))

    def each(self, Z: Floats) -> Floats:
        """What every tree says of items in the common scale."""
        single = Z.astype(np.float32)
        shape = (len(self.trees), len(Z), self.n_clusters)
        return np.reshape([tree.predict(single) for tree in self.trees], shape)


def load() -> None:
    """Import what trees are made with, which takes a second, before somebody waits for it."""
    from sklearn import tree  # noqa: F401 - it stays loaded


def forest(pool: Pool, training: Training) -> Fitted:
    """Extremely randomised trees; what each answer gets from trees that did not see it."""
    from sklearn import config_context
    from sklearn.tree import ExtraTreeRegressor

    Z, Y, rng = pool.Z[training.rows].astype(np.float32), training.Y, np.random.default_rng(0)
    (n, k), weight = Y.shape, training.sample_weight
    # Each tree learns from a bootstrap sample, in which answers that weigh more come more often.
    samples = rng.choice(n, (_TREES, n), p=weight / weight.sum())
    most = max(1, min(Z.shape[1] // 2, _FEATURES))
    trees = []
    with config_context(skip_parameter_validation=True, assume_finite=True):
        for i, rows in enumerate(samples):
            tree = ExtraTreeRegressor(max_features=most, random_state=i)
            trees.append(tree.fit(Z[rows], Y[rows], check_input=False).tree_)
    model = Forest(scale=pool.scaled, trees=tuple(trees), n_clusters=k)
    each = model.each(pool.Z)
    unseen = np.ones((_TREES, n), dtype=bool)
    unseen[np.arange(_TREES)[:, None], samples] = False
    held_out = np.full_like(Y, 1.0 / k)  # an answer that every tree saw is told by none
    told = unseen.any(axis=0)
    sums = np.einsum("ti,tik->ik", unseen, each[:, training.rows])
    held_out[told] = sums[told] / unseen.sum(axis=0)[told, None]
    return Fitted(name="forest", pool=each.mean(axis=0), held_out=held_out, predict=model)
