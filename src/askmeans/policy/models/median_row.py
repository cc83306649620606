"""The same row for every item: what remains where features explain nothing."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats
from askmeans.policy.models.training import Fitted, Training
from askmeans.policy.pool import Pool


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """The same row for every item."""

    row: Floats

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return np.repeat(self.row[None], len(X), axis=0)


def median_row(pool: Pool, training: Training) -> Fitted:
    """Medians of the answered rows, which have the least absolute error."""
    Y, n = training.Y, len(training.Y)
    row = _scaled_to_one(np.median(Y, axis=0, keepdims=True))[0]
    # Without one of n values the median is the middle one of the others: by ranks, for all at once.
    order = np.sort(Y, axis=0)
    rank = np.argsort(np.argsort(Y, axis=0, kind="stable"), axis=0)
    low, high = (n - 2) // 2, (n - 1) // 2  # the middle of n - 1 values
    held_out = np.full_like(Y, 1.0 / Y.shape[1])
    if n > 1:
        columns = np.arange(Y.shape[1])
        middle = [order[place + (rank <= place), columns] for place in (low, high)]
        held_out = _scaled_to_one(np.mean(middle, axis=0))
    model = Constant(row=row)
    return Fitted(name="median_row", pool=model(pool.X), held_out=held_out, predict=model)


def _scaled_to_one(rows: Floats) -> Floats:
    """Rows that sum to one; even ones where there is nothing."""
    rows = rows + 1e-9
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))
