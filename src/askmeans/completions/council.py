"""All completions together: each learns from the same answers, what is slow only now and then."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from askmeans.completions.closed_form import in_metric, local, local_centers, named, scaled
from askmeans.completions.discriminant import discriminant
from askmeans.completions.evidence import Evidence, Fitted
from askmeans.completions.graph import Graph, spread
from askmeans.completions.kernel import linear, smooth
from askmeans.completions.logistic import logistic
from askmeans.completions.mixture import mixture
from askmeans.completions.pool import Pool

__all__ = ["Council", "one_thread"]

Floats = NDArray[np.float64]

_ANEW = 1.4  # optima are looked for again when there is so much more evidence
_FEW, _SOME = 3, 5  # answers from which on models learn, and those with more to learn


@cache
def _controller() -> ThreadpoolController:
    """Knows the thread pools of the libraries in use; looking for them takes a while."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """For matrices that are small, and since the same answers must give the same numbers."""
    limit: AbstractContextManager[object] = _controller().limit(limits=1)
    return limit


class Council:
    """Every completion, and what it remembers between rounds."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._graph: Graph | None = None
        self._memory: dict[str, Any] = {"count": 0}

    def learn(self, evidence: Evidence) -> list[Fitted]:
        """Fit every completion that so much evidence allows."""
        pool, count = self.pool, len(evidence.rows)
        memory = self._memory
        if count >= _ANEW * memory["count"]:
            memory = {"count": count, "local": local_centers(pool, evidence)}
        fitted = [named(pool, evidence), local(pool, evidence, memory["local"])]
        if pool.free_scaled is not None:
            fitted.append(scaled(pool, evidence, pool.free_scaled))
        if count >= _FEW and len(pool) > _FEW:
            if self._graph is None:
                self._graph = Graph(pool)
            fitted += [
                discriminant(pool, evidence),
                smooth(pool, evidence),
                linear(pool, evidence),
                logistic(pool, evidence, looseness=1.0),
                spread(pool, evidence, self._graph),
            ]
        if count >= _SOME:
            fitted += [
                logistic(pool, evidence, looseness=30.0),
                in_metric(pool, evidence, memory),
                mixture(pool, evidence),
            ]
        self._memory = memory
        return fitted
