"""What comes out: a clustering, and the account of how it was found."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans.floats import default_float_errors
from askmeans.fuzzy.simplex import onto_simplex
from askmeans.links import Link
from askmeans.queries import History, MembershipQueries
from askmeans.scores import Scorer

__all__ = ["Clustering", "Predictor", "Result", "with_names", "without_traces"]

Floats = NDArray[np.float64]

_TRACE = 1e-6  # less is the rounding of a model, not what anybody said


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictor:
    """Memberships of any items: their scores for the centres, through the learnt links."""

    scorer: Scorer
    links: tuple[Link, ...]

    def __repr__(self) -> str:
        return f"Predictor({len(self.links)} clusters, order={self.scorer.order!r})"

    @default_float_errors()
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
    again : (MembershipQueries, ndarray) or None
        What was asked, and how much asking each once more would bring; None where it cannot tell.
    """

    centers: Floats
    memberships: Floats
    predictor: Callable[[NDArray[np.floating]], Floats]
    complete: bool
    diagnostics: dict[str, Any] = field(default_factory=dict)
    again: tuple[MembershipQueries, Floats] | None = None

    def __repr__(self) -> str:
        n_items, n_clusters = self.memberships.shape
        whole = "complete" if self.complete else "not complete"
        return f"Clustering({n_items} items, {n_clusters} clusters, {whole})"


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
    history : History
        Every answer in the order given.
    """

    clustering: Clustering
    complete: bool
    n_queries: int
    n_queries_raw: int
    n_rounds: int
    history: History

    def __repr__(self) -> str:
        n_items, n_clusters = self.clustering.memberships.shape
        whole = "complete" if self.complete else "not complete"
        return (
            f"Result({n_items} items, {n_clusters} clusters, {self.n_queries} questions in "
            f"{self.n_rounds} rounds, {whole})"
        )


def without_traces(memberships: Floats) -> Floats:
    """Memberships as they are written to files: 0 for what is below 1e-6."""
    return np.where(memberships < _TRACE, 0.0, memberships)


def with_names(text: str, names: Sequence[str]) -> str:
    """A message that tells clusters by number ("cluster 0, 2"), with their names instead.

    Parameters
    ----------
    text : str
        A warning of a plan.
    names : sequence of str
        What the clusters are called.

    Returns
    -------
    str
        The same in people's words.

    Examples
    --------
    >>> with_names("Nothing belongs to cluster 0, 2.", ["small", "medium", "large"])
    'Nothing belongs to small, large.'
    """

    def named(found: re.Match[str]) -> str:
        numbers = [int(number) for number in found[1].split(", ")]
        return ", ".join(names[j] if j < len(names) else f"cluster {j}" for j in numbers)

    return re.sub(r"\bcluster (\d{1,6}(?:, \d{1,6})*)\b", named, text)
