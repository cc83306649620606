"""Fitted attributes of ActiveFuzzyKMeans, from a result or from an unsupervised fit.

Of out-of-core data only candidates, a random sample of its rows, are asked about. Policies and
plans see the candidates as their data; oracles and histories see row numbers of all data. The
fitted model predicts all other rows, a block at a time.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats, Rows
from askmeans.estimators.base import check_items
from askmeans.estimators.fuzzy_kmeans import FuzzyKMeans
from askmeans.exceptions import AskmeansError, NoOracleWarning

if TYPE_CHECKING:
    from askmeans.estimators.active_fuzzy_kmeans import ActiveFuzzyKMeans
    from askmeans.queries import Answers, Queries
    from askmeans.results import Result
    from askmeans.sessions import SessionResult

_BLOCK = 1 << 14  # rows at a time, which stay in the cache
_RISK = 0.05  # conventional: 95 % confidence


def take_result(model: "ActiveFuzzyKMeans", X: Any, result: "Result | SessionResult") -> None:
    """Set the attributes of a model from a session's result about X."""
    items, features = check_items(model, X)
    attributes = attributes_of(result)
    attributes["labels_"] = strongest(
        attributes["memberships_"], items, attributes["cluster_centers_"]
    )
    set_attributes(model, X, features | attributes)


def unsupervised(
    model: "ActiveFuzzyKMeans", items: NDArray[np.floating], rng: np.random.Generator, engine: Any
) -> "Result":
    """Fit FuzzyKMeans without questions, with a warning."""
    from askmeans.fuzzy import lloyd
    from askmeans.fuzzy.scores import Link, Scorer
    from askmeans.queries import Answers
    from askmeans.results import Clustering, Diagnostics, Predictor, Result

    note = (
        "ActiveFuzzyKMeans has no oracle, so no question was asked and FuzzyKMeans was fitted. "
        "Pass oracle=..., for instance oracles.ConsoleOracle(X) to answer in the terminal."
    )
    warnings.warn(note, NoOracleWarning, stacklevel=3)
    fuzzifier = max(float(model.fuzzifier), 1.05)  # the closed form needs more than 1
    n_clusters = int(model.n_clusters)  # "auto" has an oracle
    fitted = FuzzyKMeans(n_clusters, fuzzifier=fuzzifier, random_state=rng)
    if engine is None:
        fitted.fit(items)
        centers, memberships = fitted.cluster_centers_.astype(np.float64), fitted.memberships_
    else:
        centers = fitted._fitted(engine, np.empty(0)).centers
        memberships = lloyd.memberships(items, centers, fuzzifier)
    identity = Link(knots=np.empty(0), values=np.empty(0))
    scorer = Scorer(centers=centers, order="relative", fuzzifier=fuzzifier)
    clustering = Clustering(
        centers=centers,
        memberships=memberships.astype(np.float64),
        predictor=Predictor(scorer=scorer, links=(identity,) * n_clusters),
        complete=False,
        diagnostics=Diagnostics(
            beta=float(n_clusters * memberships.mean(axis=0).min()),
            rho=float((memberships**fuzzifier).mean(axis=0).min()),
            notes=(note,),
            effective_sample_size=[0.0] * n_clusters,
            center_radius=[float("inf")] * n_clusters,
        ),
    )
    return Result(
        clustering=clustering, n_queries=0, n_queries_raw=0, n_rounds=0, history=Answers()
    )


def attributes_of(result: "Result | SessionResult") -> dict[str, Any]:
    """Return the attributes of a result."""
    clustering = result.clustering
    return {
        "cluster_centers_": clustering.centers,
        "memberships_": clustering.memberships,
        "confidence_": clustering.confidence,
        "n_queries_": result.n_queries,
        "n_queries_raw_": getattr(result, "n_queries_raw", result.n_queries),
        "n_rounds_": result.n_rounds,
        "complete_": result.complete,
        "history_": result.history,
        "diagnostics_": clustering.diagnostics.to_dict()
        | _contradictions(result, len(clustering.centers)),
        "_predictor": clustering.predictor,
    }


def set_attributes(model: "ActiveFuzzyKMeans", X: Any, attributes: dict[str, Any]) -> None:
    """Set the attributes of a fit and remove those of an earlier one."""
    attributes["n_clusters_"] = len(attributes["cluster_centers_"])
    if hasattr(X, "iloc") and isinstance(attributes["memberships_"], np.ndarray):
        attributes["index_"] = X.index
    for name in ("feature_names_in_", "index_"):
        model.__dict__.pop(name, None)
    model.__dict__.update(attributes)


def attributes_of_all(
    engine: Any, attributes: dict[str, Any], rows: NDArray[np.intp]
) -> dict[str, Any]:
    """Return lazy attributes for all rows of an engine after a fit of the candidate rows."""
    rows_of_answers = [row for answer in attributes["history_"] for row in answer.items]
    queried = np.unique(rows_of_answers).astype(np.intp)
    predictor = RowPredictor(
        predictor=attributes["_predictor"],
        queried=queried,
        memberships=attributes["memberships_"][np.searchsorted(rows, queried)],
    )
    centers = attributes["cluster_centers_"]
    bound = rank_bound(len(rows), engine.n_rows, len(centers))
    return {
        "memberships_": engine.lazy(predictor, len(centers), np.float64),
        "confidence_": None,
        "labels_": engine.lazy(Strongest(predictor, centers), None, np.int32),
        "diagnostics_": attributes["diagnostics_"] | {"candidates": len(rows), "rank_bound": bound},
    }


@dataclass(frozen=True, slots=True)
class Strongest:
    """Predicts the strongest cluster of rows."""

    predictor: "RowPredictor"
    centers: NDArray[np.float64]

    def __call__(
        self, items: NDArray[np.floating], numbers: NDArray[np.integer]
    ) -> NDArray[np.int32]:
        """Return the labels of these items, which have these row numbers."""
        return strongest(self.predictor(items, numbers), items, self.centers)


def _contradictions(result: "Result | SessionResult", n_clusters: int) -> dict[str, Any]:
    """Return the contradictions among noisy answers."""
    from askmeans.contradictions import find_contradictions

    noise = result.clustering.diagnostics.noise
    if noise is None:
        return {}
    contradictions = find_contradictions(result.history, int(n_clusters), noise=noise)
    return {
        "contradictions": [
            {"kind": each.kind, "answers": list(each.answers), "excess": each.excess}
            for each in contradictions
        ]
    }


def strongest(
    memberships: NDArray[np.float64], items: NDArray[np.floating], centers: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Return the strongest cluster of each item; ties go to the nearest centre (paper note N23).

    -1 where the unassigned share is larger than each membership.
    """
    from askmeans.fuzzy import lloyd
    from askmeans.results import strongest_clusters

    labels = np.empty(len(memberships), dtype=np.int32)
    for start in range(0, len(labels), _BLOCK):
        some = slice(start, start + _BLOCK)
        U = memberships[some]
        labels[some] = strongest_clusters(U)
        as_good = U.max(axis=1, keepdims=True) - 1e-12 <= U
        tied = np.flatnonzero((as_good.sum(axis=1) > 1) & (labels[some] >= 0))
        if len(tied):
            distances = lloyd.distances(items[some][tied], centers)
            distances[~as_good[tied]] = np.inf
            labels[start + tied] = distances.argmin(axis=1)
    return labels


# ---- candidates among the rows of out-of-core data ----------------------------------------------


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
