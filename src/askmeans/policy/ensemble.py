"""All models together: each learns from the same answers, with no memory of other answers."""

from contextlib import AbstractContextManager
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from askmeans.policy.models.closed_form import (
    ClosedForm,
    in_metric,
    local,
    local_centers,
    named,
    scaled,
)
from askmeans.policy.models.discriminant import discriminant, learn_discriminant
from askmeans.policy.models.forest import forest
from askmeans.policy.models.graph import Graph, spread
from askmeans.policy.models.kernel import ridge, smooth
from askmeans.policy.models.logistic import learn_logistic, logistic
from askmeans.policy.models.mixture import mixture
from askmeans.policy.models.training import (
    MANY,
    Fitted,
    Predict,
    Training,
    WithEmpty,
    with_empty,
)
from askmeans.policy.models.typical import typical
from askmeans.policy.pool import Pool

__all__ = ["Ensemble", "one_thread"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

FEW, _SOME = 3, 5  # answers from which on models learn, and those with more to learn


@cache
def _controller() -> ThreadpoolController:
    """Knows the thread pools of the libraries in use; looking for them takes a while."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """For matrices that are small, and since the same answers must give the same numbers."""
    limit: AbstractContextManager[object] = _controller().limit(limits=1)
    return limit


class Ensemble:
    """Every model, over one pool.

    Parameters
    ----------
    pool : Pool
        The items to learn from.
    clusters : ndarray of int, or None
        Which clusters the pool's are, where some that there are have no members: models know
        nothing of these, so that what they expect is the same without them.
    """

    def __init__(self, pool: Pool, clusters: Rows | None = None) -> None:
        self.pool = pool
        self.clusters = clusters

    @cached_property
    def graph(self) -> Graph:
        """The pool's graph of neighbours."""
        return Graph(self.pool)

    def free_memberships(self, n_clusters: int) -> Floats:
        """Those of the pool by the fit without questions."""
        free = self.pool.free_memberships
        return free if self.clusters is None else with_empty(free, self.clusters, n_clusters)

    def sketch(self, training: Training) -> list[Floats]:
        """Memberships of the pool by quick models, to fill in rows that are told in part."""
        if self.clusters is not None:
            sketches = self._sketch(training.among(self.clusters))
            return [with_empty(U, self.clusters, training.Y.shape[1]) for U in sketches]
        return self._sketch(training)

    def learn(self, training: Training) -> list[Fitted]:
        """Fit every model that so many answers of this kind allow."""
        if self.clusters is not None:
            fitted = self._learn(training.among(self.clusters))
            return [self._of_all(model, training.Y.shape[1]) for model in fitted]
        return self._learn(training)

    def _of_all(self, model: Fitted, n_clusters: int) -> Fitted:
        """A model of the pool's clusters as one of all."""
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
        pool = self.pool
        learnt = [
            learn_discriminant(pool, training).of(pool.Z),
            learn_logistic(pool, training, looseness=1.0).of(pool.Z),
            spread(pool, training, self.graph).pool,
        ]
        optimum = ClosedForm.of(local_centers(pool, training))
        return [np.asarray(np.mean(learnt, axis=0)), optimum(pool.X)]

    def _learn(self, training: Training) -> list[Fitted]:
        """The same of the pool's clusters."""
        pool, count = self.pool, len(training.rows)
        fitted = [named(pool, training), local(pool, training)]
        if pool.free_scaled is not None:
            fitted.append(scaled(pool, training, pool.free_scaled))
        if count >= FEW and len(pool) > FEW:
            fitted += [
                discriminant(pool, training),
                smooth(pool, training),
                spread(pool, training, self.graph),
            ]
        if count >= _SOME:
            fitted += [logistic(pool, training, looseness=30.0), mixture(pool, training)]
        if count >= MANY:
            fitted.append(forest(pool, training))
        if count >= MANY and not training.is_hard:
            fitted += [
                in_metric(pool, training),
                ridge(pool, training),
                typical(pool, training),
            ]
        return fitted
