"""Asking about data that is not in memory: about candidates, a random sample of its rows.

Policies and plans see the candidates as their data; oracles and histories see row numbers of all
data. What was learnt predicts all other rows, a block at a time.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import AskmeansError

if TYPE_CHECKING:
    from askmeans.queries import Answers, Queries
    from askmeans.results import Result

__all__ = ["AboutCandidates", "Learnt", "candidate_rows", "rank_bound", "run_about_candidates"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

MOST = 50_000  # a rank among them is that among all to within 1 percent (rank_bound, k = 100)
_RISK = 0.05


def candidate_rows(n_rows: int, seed: int) -> Rows:
    """Row numbers of the candidates, ascending: all of few rows, a random sample of many."""
    if n_rows <= MOST:
        return np.arange(n_rows)
    rng = np.random.default_rng([seed, 22])
    rows: Rows = np.sort(rng.choice(n_rows, MOST, replace=False, shuffle=False))
    return rows


def rank_bound(n_candidates: int, n_rows: int, n_clusters: int) -> float:
    """How far an item's rank among the candidates may be from that among all, as a share.

    In all clusters' orders at once, but for one case in twenty (Dvoretzky, Kiefer and Wolfowitz's
    inequality with Massart's constant).
    """
    if n_candidates == n_rows:
        return 0.0
    return math.sqrt(math.log(2.0 * n_clusters / _RISK) / (2.0 * n_candidates))


class AboutCandidates:
    """An oracle that is asked with the candidates' numbers and answers by those of all rows."""

    def __init__(self, oracle: Any, rows: Rows) -> None:
        self.oracle = oracle
        self.rows = rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self.oracle, name)

    def answer(self, queries: "Queries") -> Floats:
        """Answers to a batch, in its order."""
        answers: Floats = self.oracle.answer(queries.renumbered(self.rows))
        return answers

    def who(self, queries: "Queries") -> list[str] | None:
        """Who answers each question; None where nobody is named."""
        named = getattr(self.oracle, "who", None)
        found: list[str] | None = None if named is None else named(queries.renumbered(self.rows))
        return found


def run_about_candidates(run: Callable[[Any], "Result"], oracle: Any, rows: Rows) -> "Result":
    """What `run` finds with this oracle, with row numbers of all data, also in errors."""
    try:
        return _renumbered(run(AboutCandidates(oracle, rows)), rows)
    except AskmeansError as error:
        if error.result is not None:
            error.result = _renumbered(error.result, rows)
        if error.history is not None:
            error.history = _renumbered_answers(error.history, rows)
        raise


def _renumbered(result: "Result", rows: Rows) -> "Result":
    """The same with row numbers of all data in its history."""
    return replace(result, history=_renumbered_answers(result.history, rows))


def _renumbered_answers(answers: "Answers", rows: Rows) -> "Answers":
    """The same answers about rows of all data."""
    batches = [replace(batch, queries=batch.queries.renumbered(rows)) for batch in answers.batches]
    return type(answers)(batches)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """Memberships of rows by what was learnt; those that were asked about have their own."""

    predictor: Callable[[NDArray[np.floating]], Floats]
    asked: Rows  # ascending
    memberships: Floats

    def __call__(self, items: NDArray[np.floating], numbers: NDArray[np.integer]) -> Floats:
        """Memberships of these items, which are the rows of these numbers."""
        numbers = np.ravel(numbers)
        U = self.predictor(np.asarray(items, dtype=np.float64))
        places = np.searchsorted(self.asked, numbers)
        places[places == len(self.asked)] = 0
        own = self.asked[places] == numbers if len(self.asked) else np.zeros(len(items), bool)
        U[own] = self.memberships[places[own]]
        return U
