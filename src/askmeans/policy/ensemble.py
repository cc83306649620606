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
from askmeans.policy.models.training import MANY, Fitted, Training
from askmeans.policy.models.typical import typical
from askmeans.policy.pool import Pool

__all__ = ["Ensemble", "one_thread"]

Floats = NDArray[np.float64]

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
    """Every model, over one pool."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    @cached_property
    def graph(self) -> Graph:
        """The pool's graph of neighbours."""
        return Graph(self.pool)

    def sketch(self, training: Training) -> list[Floats]:
        """Memberships of the pool by quick models, to fill in rows that are told in part."""
        pool = self.pool
        learnt = [
            learn_discriminant(pool, training).of(pool.Z),
            learn_logistic(pool, training, looseness=1.0).of(pool.Z),
            spread(pool, training, self.graph).pool,
        ]
        optimum = ClosedForm.of(local_centers(pool, training))
        return [np.asarray(np.mean(learnt, axis=0)), optimum(pool.X)]

    def learn(self, training: Training) -> list[Fitted]:
        """Fit every model that so many answers of this kind allow."""
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
