"""Answers as completions learn from them, and what a fitted completion offers."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askmeans.completions.pool import Pool
from askmeans.fuzzy.ties import without_last_bits
from askmeans.items import Items

__all__ = ["Evidence", "Fitted", "Learner", "cross_validated"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Predict = Callable[[NDArray[np.floating]], Floats]
_FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Rows of the pool with their memberships, how much each is worth, and its fold."""

    rows: Rows
    Y: Floats
    trust: Floats
    cells: Floats
    folds: Rows

    @classmethod
    def of(cls, rows: Rows, Y: Floats, trust: Floats, cells: Floats) -> "Evidence":
        """Evidence with folds that share out every cluster evenly."""
        near = without_last_bits(Y)
        order = np.lexsort((-near.max(axis=1), near.argmax(axis=1)))  # ties: as asked
        folds = np.empty(len(rows), dtype=np.intp)
        folds[order] = np.arange(len(rows)) % (len(rows) if len(rows) <= 10 else _FOLDS)
        return cls(rows=rows, Y=Y, trust=trust, cells=cells, folds=folds)

    def part(self, chosen: NDArray[np.bool_]) -> "Evidence":
        """Some of it."""
        return Evidence(
            rows=self.rows[chosen], Y=self.Y[chosen], trust=self.trust[chosen],
            cells=self.cells[chosen], folds=self.folds[chosen],
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A completion that has learnt: memberships of the pool, held-out ones of the answered items.

    `refine` makes the same of all items, where that is more than of the pool.
    """

    name: str
    pool: Floats
    held_out: Floats
    predict: Predict
    refine: Callable[[Items], Predict] | None = None


Learner = Callable[[Pool, Evidence], Predict]


def cross_validated(name: str, learn: Learner, pool: Pool, evidence: Evidence) -> Fitted:
    """Learn from all of the evidence, and from all but each fold."""
    predict = learn(pool, evidence)
    held_out = np.empty_like(evidence.Y)
    for fold in np.unique(evidence.folds):
        inside = evidence.folds == fold
        if inside.all():
            held_out[:] = 1.0 / evidence.Y.shape[1]
            break
        held_out[inside] = learn(pool, evidence.part(~inside))(pool.X[evidence.rows[inside]])
    return Fitted(name=name, pool=predict(pool.X), held_out=held_out, predict=predict)
