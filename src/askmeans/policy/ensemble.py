"""The ensemble: all models, fitted to the same answers."""

from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache, cached_property

import numpy as np
from threadpoolctl import ThreadpoolController

from askmeans._util.arrays import Floats, Rows
from askmeans.fuzzy.model import closed_form_memberships
from askmeans.policy.advisers import Advice, smoothed
from askmeans.policy.examples import Examples
from askmeans.policy.models.fcm import (
    fcm,
    fcm_learned_scale,
    fcm_scaled,
    seeded_centers,
    seeded_fcm,
)
from askmeans.policy.models.forest import forest
from askmeans.policy.models.gaussian_process import Graph, gp_graph, gp_rbf, ridge
from askmeans.policy.models.linear import lda, learn_lda, learn_logistic, logistic, median_row
from askmeans.policy.models.mixture import mixture
from askmeans.policy.models.training import (
    MANY,
    Fitted,
    Predict,
    Training,
    WithEmpty,
    with_empty,
)
from askmeans.policy.pool import Pool, WithExamples

# Numbers of answers from which on models are fitted, and those with more parameters: with fewer
# some fold has no answer of another cluster.
FEW, _SOME = 3, 5
_HARDLY = 0.01  # weight of an example below which it is left out, to save time


@cache
def _controller() -> ThreadpoolController:
    """The thread pools of the loaded libraries; cached, since the search is slow."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """One thread: faster for small matrices, and equal answers give equal numbers."""
    limit: AbstractContextManager[object] = _controller().limit(limits=1)
    return limit


class Ensemble:
    """Every model, over one pool.

    Parameters
    ----------
    pool : Pool
        The items to learn from.
    clusters : ndarray of int, or None
        Which clusters the pool's are, where some have no members: models learn nothing of these,
        so that an empty group changes nothing.
    examples : Examples, or None
        Rows with known memberships that are no items: models learn from them, too.
    """

    def __init__(
        self, pool: Pool, clusters: Rows | None = None, examples: Examples | None = None
    ) -> None:
        self.pool = pool
        self.clusters = clusters
        self.examples = examples
        self._smoothed: dict[bytes, Advice | None] = {}
        self._all_rows = pool if examples is None else WithExamples(pool, examples.X)

    @cached_property
    def graph(self) -> Graph:
        """The pool's graph of neighbours."""
        return Graph(self._all_rows)

    def unsupervised_memberships(self, n_clusters: int) -> Floats:
        """Memberships of the pool by the unsupervised fit."""
        U = self.pool.unsupervised_memberships
        return U if self.clusters is None else with_empty(U, self.clusters, n_clusters)

    def sketch(self, training: Training, weights: Floats | float = 1.0) -> list[Floats]:
        """Memberships of the pool by fast models, to fill in incomplete rows."""
        k, n = training.Y.shape[1], len(self.pool)
        if self.clusters is None:
            return [U[:n] for U in self._sketch(self._joined(training, weights))]
        sketches = self._sketch(self._joined(training, weights).among(self.clusters))
        return [with_empty(U[:n], self.clusters, k) for U in sketches]

    def learn(self, training: Training, weights: Floats | float = 1.0) -> list[Fitted]:
        """Fit every model for which there are enough answers of this kind.

        `weights` are those of the examples of each cluster.
        """
        k, n, answers = training.Y.shape[1], len(self.pool), len(training.rows)
        joined = self._joined(training, weights)
        if self.clusters is None:
            fitted = self._learn(joined)
        else:
            fitted = [self._of_all(model, k) for model in self._learn(joined.among(self.clusters))]
        if self.examples is None:
            return fitted
        return [replace(f, pool=f.pool[:n], held_out=f.held_out[:answers]) for f in fitted]

    def smoothed(self, advice: Advice) -> Advice | None:
        """What the features say of an adviser's shares; computed once."""
        if advice.digest not in self._smoothed:
            self._smoothed[advice.digest] = smoothed(advice, self.pool)
        return self._smoothed[advice.digest]

    @cached_property
    def by_examples(self) -> list[Fitted]:
        """Every model, fitted to the examples alone."""
        assert self.examples is not None
        rows, weight = np.empty(0, dtype=np.intp), np.empty(0)
        return self.learn(Training.of(rows, self.examples.Y[:0], weight, weight))

    def _joined(self, training: Training, weights: Floats | float) -> Training:
        """Training data of answers and examples, with these weights of the examples."""
        if self.examples is None:
            return training
        Y = self.examples.Y
        rows = len(self.pool) + np.arange(len(Y))
        weight = (Y * weights).sum(axis=1) * self.examples.weight
        kept = weight > _HARDLY
        return training.with_examples(rows[kept], Y[kept], weight[kept])

    def _of_all(self, model: Fitted, n_clusters: int) -> Fitted:
        """Convert a model of the pool's clusters to one of all clusters."""
        clusters, refine = self.clusters, model.refine
        assert clusters is not None

        def widened(predict: Predict) -> Predict:
            return WithEmpty(predict=predict, clusters=clusters, n_clusters=n_clusters)

        return Fitted(
            name=model.name,
            pool=with_empty(model.pool, clusters, n_clusters),
            held_out=with_empty(model.held_out, clusters, n_clusters),
            predict=widened(model.predict),
            refine=None if refine is None else lambda items: widened(refine(items)),
        )

    def _sketch(self, training: Training) -> list[Floats]:
        """The same of the pool's clusters."""
        pool = self._all_rows
        learnt = [
            learn_lda(pool, training)(pool.Z),
            learn_logistic(pool, training, looseness=1.0)(pool.Z),
            gp_graph(pool, training, self.graph).pool,
        ]
        optimum = closed_form_memberships(pool.X, *seeded_centers(pool, training))
        return [np.asarray(np.mean(learnt, axis=0)), optimum]

    def _learn(self, training: Training) -> list[Fitted]:
        """The same of the pool's clusters."""
        pool, count = self._all_rows, len(training.rows)
        fitted = [fcm(pool, training), seeded_fcm(pool, training)]
        if pool.scaled_fit is not None:
            fitted.append(fcm_scaled(pool, training, pool.scaled_fit))
        if count >= FEW and len(pool) > FEW:
            fitted += [
                lda(pool, training), gp_rbf(pool, training), gp_graph(pool, training, self.graph)
            ]  # fmt: skip
        if count >= _SOME:
            fitted += [logistic(pool, training), mixture(pool, training)]
        if training.n_answers >= MANY:  # one for each fold
            fitted.append(forest(pool, training))
            if not training.is_hard:
                fitted += [
                    fcm_learned_scale(pool, training), ridge(pool, training),
                    median_row(pool, training),
                ]  # fmt: skip
        return fitted
