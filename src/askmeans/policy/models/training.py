"""The training data of a model, and a fitted model."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats, Rows
from askmeans.fuzzy.arrays import keep_answers, without_last_bits
from askmeans.fuzzy.items import ItemSet
from askmeans.policy.pool import Pool, Standard

Predict = Callable[[NDArray[np.floating]], Floats]  # memberships of any items
Model = Callable[[Floats], Floats]  # the same of items in the common scale
TRUST = 0.3  # the part of a row with answers from which models learn from it
MANY = 10  # answers from which on flexible models learn: one for each fold
# Over 42 real tables with 50 and 100 answers the log loss is .467 with ten folds, .469 with five.
FOLDS = 10
NO_FOLD = -1  # of examples: they are never held out
# The mean of the strongest memberships from which answers are hard: one slip in 50 leaves them so.
ALL_OR_NOTHING = 0.98


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """Rows of the pool with their memberships, weights and folds.

    `known` marks the entries with answers; the others were filled in. `of_union` marks rows whose
    answer names several clusters together, not only some that the item is not in.
    """

    rows: Rows
    Y: Floats
    sample_weight: Floats
    stratum_size: Floats
    known: NDArray[np.bool_]
    folds: Rows
    of_union: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        rows: Rows,
        Y: Floats,
        sample_weight: Floats,
        stratum_size: Floats,
        known: NDArray[np.bool_] | None = None,
        of_union: NDArray[np.bool_] | None = None,
    ) -> "Training":
        """Training rows with stratified folds."""
        known = np.ones(Y.shape, dtype=bool) if known is None else known
        of_union = np.zeros(len(rows), dtype=bool) if of_union is None else of_union
        near = without_last_bits(Y)
        order = np.lexsort((-near.max(axis=1), near.argmax(axis=1)))  # ties: as asked
        folds = np.empty(len(rows), dtype=np.intp)
        folds[order] = np.arange(len(rows)) % FOLDS
        return cls(
            rows=rows, Y=Y, sample_weight=sample_weight, stratum_size=stratum_size, known=known,
            folds=folds, of_union=of_union,
        )  # fmt: skip

    @property
    def n_answers(self) -> int:
        """The number of rows that are no examples."""
        return int((self.folds != NO_FOLD).sum())

    @property
    def strongest(self) -> float:
        """The mean of the strongest memberships in answers, or in examples where these are all.

        Rows that are known only not to be in some clusters say nothing of it.
        """
        rows = self.placed & (self.folds != NO_FOLD) if self.n_answers else self.placed
        return float(self.Y[rows].max(axis=1).mean()) if rows.any() else 1.0

    @property
    def placed(self) -> NDArray[np.bool_]:
        """Which rows are known to be in some cluster, not only not to be in others."""
        return np.asarray(np.where(self.known, self.Y, 0.0).sum(axis=1) > TRUST)

    @property
    def in_union(self) -> NDArray[np.bool_]:
        """Which rows are known to be in one of several clusters only."""
        return np.asarray(self.of_union & ~self.placed & ((~self.known).sum(axis=1) > 1))

    def filled(self, expected: Floats) -> "Training":
        """The same with other expected values for the rows in unions."""
        Y, rows = self.Y.copy(), np.flatnonzero(self.in_union)
        known = np.where(self.known, self.Y, np.nan)
        Y[rows] = expected[rows]
        keep_answers(Y, rows, known[rows])
        return replace(self, Y=Y)

    @property
    def is_hard(self) -> bool:
        """Whether answers are all or nothing."""
        return self.strongest > ALL_OR_NOTHING

    def supported(self, examples: Floats | float = 0.0) -> NDArray[np.bool_]:
        """Which rows others can predict: their strongest cluster has another row.

        `examples` are the weights of those of each cluster.
        """
        strongest = self.Y.argmax(axis=1)
        own = self.sample_weight * self.Y[np.arange(len(self.Y)), strongest]
        others = (self.sample_weight @ self.Y + examples)[strongest] - own
        return np.asarray((others >= 0.5) | (self.Y.max(axis=1) < 0.5))

    @property
    def weight(self) -> Floats:
        """The weight of each answer by the size of its stratum; 1 on average."""
        weight = self.sample_weight * np.sqrt(self.stratum_size)
        return np.asarray(weight / weight.mean())

    def among(self, clusters: Rows) -> "Training":
        """The same rows of some of the clusters; nothing is in the others."""
        return replace(self, Y=self.Y[:, clusters], known=self.known[:, clusters])

    def splits(self) -> list[tuple[NDArray[np.bool_], "Training"]]:
        """The rows of each fold, and all others to learn from; none of a single row."""
        inside = [self.folds == fold for fold in np.unique(self.folds[self.folds != NO_FOLD])]
        return [(rows, self.part(~rows)) for rows in inside if not rows.all()]

    def with_examples(self, rows: Rows, Y: Floats, sample_weight: Floats) -> "Training":
        """The same and examples, which are never held out."""
        size = np.full(len(rows), self.stratum_size.mean() if len(self.rows) else 1.0)
        return Training(
            rows=np.concatenate([self.rows, rows]),
            Y=np.vstack([self.Y, Y]),
            sample_weight=np.concatenate([self.sample_weight, sample_weight]),
            stratum_size=np.concatenate([self.stratum_size, size]),
            known=np.vstack([self.known, np.ones(Y.shape, dtype=bool)]),
            folds=np.concatenate([self.folds, np.full(len(rows), NO_FOLD)]),
            of_union=np.concatenate([self.of_union, np.zeros(len(rows), dtype=bool)]),
        )

    def sample(self, most: int) -> NDArray[np.bool_]:
        """At most so many rows, of every cluster, to learn from where time grows fast."""
        chosen = np.ones(len(self.rows), dtype=bool)
        if len(self.rows) > most:
            order = np.lexsort((self.folds, without_last_bits(self.Y).argmax(axis=1)))
            chosen[:] = False
            chosen[order[np.linspace(0, len(order) - 1, most).astype(np.intp)]] = True
        return chosen

    def part(self, chosen: NDArray[np.bool_]) -> "Training":
        """Some of it."""
        return Training(
            rows=self.rows[chosen], Y=self.Y[chosen], sample_weight=self.sample_weight[chosen],
            stratum_size=self.stratum_size[chosen], known=self.known[chosen],
            folds=self.folds[chosen], of_union=self.of_union[chosen],
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A fitted model: memberships of the pool, and held-out ones of the answered items.

    `refine` fits it to all items, where the pool is a part of them.
    """

    name: str
    pool: Floats
    held_out: Floats
    predict: Predict
    refine: Callable[[ItemSet], Predict] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WithEmpty:
    """A model of some of the clusters, as one of all: nothing is in the others."""

    predict: Predict
    clusters: Rows
    n_clusters: int

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return with_empty(self.predict(X), self.clusters, self.n_clusters)


def with_empty(U: Floats, clusters: Rows, n_clusters: int) -> Floats:
    """Memberships to these clusters among all, to the others 0."""
    wide = np.zeros((len(U), n_clusters))
    wide[:, clusters] = U
    return wide


@dataclass(frozen=True, slots=True, kw_only=True)
class InCommonScale:
    """A model of items in the common scale, as one of items as they are."""

    scale: Standard
    model: Model

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return self.model(self.scale(X))


def cross_validated(
    name: str, learn: Callable[[Training], Model], pool: Pool, training: Training
) -> Fitted:
    """Learn from all of the training, and from all but each fold, in the common scale."""
    model = learn(training)
    held_out = np.full_like(training.Y, 1.0 / training.Y.shape[1])
    for inside, part in training.splits():
        held_out[inside] = learn(part)(pool.Z[training.rows[inside]])
    predict = InCommonScale(scale=pool.scaled, model=model)
    return Fitted(name=name, pool=model(pool.Z), held_out=held_out, predict=predict)
