"""What comes out: a clustering, and the account of how it was found."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans.fuzzy.simplex import onto_simplex
from askmeans.links import Link
from askmeans.queries import Answers
from askmeans.scores import Scorer

__all__ = ["Clustering", "Predictor", "Result", "without_traces"]

Floats = NDArray[np.float64]

_TRACE = 1e-6  # less is the rounding of a model, not what anybody said


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictor:
    """Memberships of any items: their scores for the centres, through the learnt links."""

    scorer: Scorer
    links: tuple[Link, ...]

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships (n x k) of these items; rows sum to one."""
        coordinates = self.scorer.coordinates(self.scorer.scores(X))
        columns = [link(column) for link, column in zip(self.links, coordinates.T, strict=True)]
        return onto_simplex(np.column_stack(columns))


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering:
    """What a plan returns.

    Parameters
    ----------
    centers : ndarray of shape (n_clusters, n_features)
        The centres.
    memberships : ndarray of shape (n_items, n_clusters)
        Memberships; rows lie in [0, 1] and sum to one.
    predictor : callable
        Memberships of other items.
    complete : bool
        Whether the plan asked all it wanted.
    diagnostics : dict
        An account of how sure the result is; keys in the documentation.
    """

    centers: Floats
    memberships: Floats
    predictor: Callable[[NDArray[np.floating]], Floats]
    complete: bool
    diagnostics: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a driver returns: the clustering and what it cost.

    Parameters
    ----------
    clustering : Clustering
        Centres and memberships.
    complete : bool
        Whether the plan asked all it wanted; False after a stop, a spent budget or Ctrl-C.
    n_queries : int
        Different questions that were answered.
    n_queries_raw : int
        Questions the plan asked, repeated ones included.
    n_rounds : int
        Batches in which something new was asked.
    history : Answers
        Every answer in the order given.
    """

    clustering: Clustering
    complete: bool
    n_queries: int
    n_queries_raw: int
    n_rounds: int
    history: Answers


def without_traces(memberships: Floats) -> Floats:
    """Memberships as they are written to files: 0 for what is below 1e-6."""
    return np.where(memberships < _TRACE, 0.0, memberships)
