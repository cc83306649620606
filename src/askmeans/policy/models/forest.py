"""Randomised trees: the flexible model, for many answers."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from askmeans._util.arrays import Floats
from askmeans.policy.models.training import FOLDS, Fitted, InCommonScale, Training
from askmeans.policy.pool import Pool

# With 30, 60 and 100 trees the log loss of 14 tables is .372, .362 and .358, the error .129, .127
# and .125 (50 and 100 answers); a forest of 30 bootstrap samples has .376 and .131.
_TREES = 100
_FEATURES = 24  # largest number of features for a split


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """The mean of many trees."""

    trees: tuple[Any, ...]  # scikit-learn's trees themselves: its estimators check what is checked
    n_clusters: int

    def __call__(self, Z: Floats) -> Floats:
        """Memberships of items in the common scale."""
        Z = Z.astype(np.float32)
        total = np.zeros((len(Z), self.n_clusters))
        for tree in self.trees:
            total += tree.predict(Z).reshape(total.shape)
        return total / len(self.trees)


def load() -> None:
    """Import scikit-learn's trees in advance, which takes a second."""
    from sklearn import tree  # noqa: F401 - it stays loaded


def forest(pool: Pool, training: Training) -> Fitted:
    """Extremely randomised trees, each fitted without one fold of the answers.

    Since trees are fitted to nine tenths of the answers, not to bootstrap samples, those without an
    answer are nearly as good as all of them, and their probabilities calibrate the forest.
    """
    from sklearn import config_context
    from sklearn.tree import ExtraTreeRegressor

    Z, Y, rng = pool.Z[training.rows].astype(np.float32), training.Y, np.random.default_rng(0)
    (n, k), weight = Y.shape, training.sample_weight
    unseen = np.zeros((_TREES, n), dtype=bool)
    n_folds = min(n, FOLDS)
    for number in range(_TREES):
        if number % n_folds == 0:  # new folds, each with answers of every cluster
            fold = np.empty(n, dtype=np.intp)
            fold[np.lexsort((rng.random(n), Y.argmax(axis=1)))] = np.arange(n) % n_folds
        unseen[number] = fold == number % n_folds
    # Answers with less weight are in fewer trees.
    seen = ~unseen & (rng.random(unseen.shape) < weight / weight.max())
    seen[~seen.any(axis=1)] = ~unseen[~seen.any(axis=1)]
    most = max(1, min(Z.shape[1] // 2, _FEATURES))
    everything = pool.Z.astype(np.float32)
    trees, total, held_out = [], np.zeros((len(everything), k)), np.zeros((n, k))
    with config_context(skip_parameter_validation=True, assume_finite=True):
        for i, (out, rows) in enumerate(zip(unseen, seen, strict=True)):
            tree = ExtraTreeRegressor(max_features=most, random_state=i)
            fitted = tree.fit(Z[rows], Y[rows], check_input=False)
            trees.append(fitted.tree_)
            shares = fitted.tree_.predict(everything).reshape(total.shape)
            total += shares
            held_out[out] += shares[training.rows[out]]
    return Fitted(
        name="forest",
        pool=total / _TREES,
        held_out=held_out / unseen.sum(axis=0)[:, None],
        predict=InCommonScale(scale=pool.scaled, model=Forest(trees=tuple(trees), n_clusters=k)),
    )
