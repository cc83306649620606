"""Questions about out-of-core data: only candidates, a random sample of its rows, are asked about.

Policies and plans see the candidates as their data; oracles and histories see row numbers of all
data. The fitted model predicts all other rows, a block at a time.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats, Rows
from askmeans.exceptions import AskmeansError

if TYPE_CHECKING:
    from askmeans.queries import Answers, Queries
    from askmeans.results import Result


MOST = 50_000  # candidates: their ranks are within 1 % of those among all rows (rank_bound, k=100)
_RISK = 0.05  # conventional: 95 % confidence


def candidate_rows(n_rows: int, seed: int) -> Rows:
    """Return ascending row numbers of the candidates: a random sample if there are many rows."""
    if n_rows <= MOST:
        return np.arange(n_rows)
    rng = np.random.default_rng([seed, 22])
    rows: Rows = np.sort(rng.choice(n_rows, MOST, replace=False, shuffle=False))
    return rows


def rank_bound(n_candidates: int, n_rows: int, n_clusters: int) -> float:
    """Bound the difference between an item's relative rank among candidates and among all rows.

    It holds in the orders of all clusters at once with 95 % confidence (the inequality of
    Dvoretzky, Kiefer and Wolfowitz with Massart's constant).
    """
    if n_candidates == n_rows:
        return 0.0
    return math.sqrt(math.log(2.0 * n_clusters / _RISK) / (2.0 * n_candidates))


class AboutCandidates:
    """Translates numbers of candidates to row numbers for an oracle."""

    def __init__(self, oracle: Any, rows: Rows) -> None:
        self.oracle = oracle
        self.rows = rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self.oracle, name)

    def answer(self, queries: "Queries") -> Floats:
        """Return the answers to a batch, in its order."""
        answers: Floats = self.oracle.answer(queries.renumbered(self.rows))
        return answers

    def who(self, queries: "Queries") -> list[str] | None:
        """Return the annotator of each question; None where the oracle names none."""
        named = getattr(self.oracle, "who", None)
        names: list[str] | None = None if named is None else named(queries.renumbered(self.rows))
        return names


def run_about_candidates(run: Callable[[Any], "Result"], oracle: Any, rows: Rows) -> "Result":
    """Run with this oracle; return row numbers of all data, also in the results of errors."""
    try:
        return _renumbered(run(AboutCandidates(oracle, rows)), rows)
    except AskmeansError as error:
        if error.result is not None:
            error.result = _renumbered(error.result, rows)
        if error.history is not None:
            error.history = _renumbered_answers(error.history, rows)
        raise


def _renumbered(result: "Result", rows: Rows) -> "Result":
    """Return the result with row numbers of all data in its history."""
    return replace(result, history=_renumbered_answers(result.history, rows))


def _renumbered_answers(answers: "Answers", rows: Rows) -> "Answers":
    """Return the answers with row numbers of all data."""
    batches = [replace(batch, queries=batch.queries.renumbered(rows)) for batch in answers.batches]
    return type(answers)(batches)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPredictor:
    """Predicts memberships of rows; queried rows keep theirs."""

    predictor: Callable[[NDArray[np.floating]], Floats]
    queried: Rows  # ascending
    memberships: Floats

    def __call__(self, items: NDArray[np.floating], numbers: NDArray[np.integer]) -> Floats:
        """Return memberships of these items, which have these row numbers."""
        numbers = np.ravel(numbers)
        U = self.predictor(np.asarray(items, dtype=np.float64))
        places = np.searchsorted(self.queried, numbers)
        places[places == len(self.queried)] = 0
        own = self.queried[places] == numbers if len(self.queried) else np.zeros(len(items), bool)
        U[own] = self.memberships[places[own]]
        return U
