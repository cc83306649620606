"""What a session has come to: its result so far, what is left, what clusters are called."""

import math
import threading
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from askmeans.budgets import Forecast, forecast
from askmeans.driver import run
from askmeans.exceptions import AskmeansError, AskmeansWarning, StopAsking
from askmeans.queries import Queries
from askmeans.results import Result, with_names
from askmeans.sessions.config import Config
from askmeans.sessions.display import RESERVED, unique_names
from askmeans.sessions.live import Live
from askmeans.sessions.notes import quietly
from askmeans.sessions.pace import pace_of
from askmeans.sessions.placements import Placements
from askmeans.sessions.replay import keys_of
from askmeans.sessions.reports import Estimate, Holding, SessionResult, SessionState, Status
from askmeans.sessions.rows import Rows
from askmeans.sessions.store.contract import Lease, QuestionKey

__all__ = ["Outcome", "expected", "run_plan"]

Floats = NDArray[np.float64]

_MARGIN = 1.25  # how much longer than forecast a plan may take


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What a result is made of, copied so that it can be computed while people go on answering."""

    told: dict[QuestionKey, float]
    config: Config
    state: SessionState
    missing: Estimate
    names: dict[int, str]
    anchors: dict[int, tuple[int, str]]
    ids: Sequence[str]
    added: list[Any]


class Outcome:
    """Reports of one session."""

    def __init__(self, live: Live, rows: Rows) -> None:
        self._live = live
        self._rows = rows
        self._placements = Placements(live)
        self._lock = threading.Lock()
        # The last result, with the answers and parameters it is from.
        self._found: tuple[Any, Result, list[str]] | None = None
        config = live.config
        self._forecast = expected(config.make_strategy(), len(rows.base), config)

    def prepare(self, state: SessionState) -> _Work:
        """Copy what a result needs."""
        live = self._live
        told = {live.key(number): live.state.value(number) for number in live.state.answered}
        if self._rows.n_parts < live.state.n_parts:
            self._rows.load()
        return _Work(
            told=told,
            config=live.plan_config,
            state=state,
            missing=self.left(state),
            names=dict(live.state.names),
            anchors=dict(live.state.anchors),
            ids=self._rows.ids(),
            added=self._rows.added,
        )

    def result(self, work: _Work) -> SessionResult:
        """Run a fresh plan over the answers, and let it finish with what there is."""
        with self._lock:
            made_of = (work.told, work.config)
            if self._found is None or self._found[0] != made_of:
                X = self._rows.base
                self._found = (made_of, *quietly(lambda: run_plan(work.config, X, work.told)))
            _, found, notes = self._found
        clustering = found.clustering
        if work.state is SessionState.SPENT:  # the stored answers end there, and so did the plan
            diagnostics = replace(clustering.diagnostics, stopped="budget")
            clustering = replace(clustering, diagnostics=diagnostics)
        parts = [clustering.memberships]
        parts += [clustering.predictor(np.asarray(X)) for X in work.added]
        memberships = np.concatenate(parts) if len(parts) > 1 else parts[0]
        names = tuple(self._names(work.names, work.anchors, memberships))
        return SessionResult(
            clustering=clustering,
            memberships=memberships,
            complete=found.complete,
            state=work.state,
            n_queries=found.n_queries,
            n_rounds=found.n_rounds,
            history=found.history,
            missing=work.missing,
            cluster_names=names,
            ids=work.ids,
            notes=_notes([*self._live.notes, *notes], names),
        )

    def status(self, state: SessionState, held: list[Lease], now: float) -> Status:
        """Where the session stands, without computing a result."""
        live = self._live
        is_open = live.unsettled()
        holding = tuple(
            Holding(question=each.question, annotator=each.annotator, seconds=each.until - now)
            for each in sorted(held, key=lambda lease: (lease.annotator, lease.question))
            if each.question in is_open
        )
        counts = {name: dict(count) for name, count in live.state.counts().items()}
        error, basis = None, "no forecast for this strategy"
        if self._forecast is not None:
            # The error falls with the root of the questions, so a budget below the forecast costs.
            wanted = max(1, self._forecast.n_queries)
            share = min(1.0, (live.state.budget or wanted) / wanted)
            error = self._forecast.expected_error / math.sqrt(share)
            basis = "forecast for the end, of an expert whose clusters follow distance"
        return Status(
            name=live.record.name,
            state=state,
            answered=live.state.n_spent,
            held=len(live.state.answered) - live.state.n_spent,
            budget=live.state.budget,
            open=len(is_open) if live.replay.numbers is not None else len(set(live.replay.keys)),
            leased=len({each.question for each in holding}),
            holding=holding,
            round=live.replay.batch,
            left=self.left(state),
            annotators=counts,
            estimated_error=error,
            error_basis=basis,
            contradictions=None,
            notes=_notes([*live.notes, *live.replay.notes], self.cluster_names()),
        )

    def with_error(self, report: Status, result: SessionResult) -> Status:
        """The status with what the result says of its own error."""
        diagnostics = result.clustering.diagnostics
        similarity = diagnostics.similarity or {}
        error, basis = report.estimated_error, report.error_basis
        if diagnostics.estimated_error is not None:
            error, basis = diagnostics.estimated_error, "the answers so far"
        elif similarity.get("predicted_rmse") is not None:
            error, basis = similarity["predicted_rmse"], "how well the answers so far fit together"
        return replace(
            report,
            estimated_error=None if error is None else float(error),
            error_basis=basis,
            notes=tuple(dict.fromkeys([*report.notes, *result.notes])),
        )

    def left(self, state: SessionState) -> Estimate:
        """Questions and minutes left, as a range."""
        live = self._live
        seconds, pace = pace_of(live.state)
        if state in (SessionState.DONE, SessionState.SPENT, SessionState.STUCK):
            return Estimate(low=0, high=0, seconds_per_question=seconds, basis=str(state))
        each = live.config.annotations
        owed, new = 0, len(live.unsettled())
        if each > 1:
            begun = [live.state.count(number) for number in live.unsettled()]
            owed = sum(each - count for count in begun if count)  # by second annotators
            new = begun.count(0)
        if live.replay.numbers is None:
            new = len(set(live.replay.keys))
        low = high = new
        basis = "questions of this round"
        if self._forecast is not None:
            done, in_all = len(live.state.answered), self._forecast.n_queries
            low = max(new, in_all - done)
            high = max(low, math.ceil(_MARGIN * in_all) - done)
            basis = f"a forecast of {in_all} questions in all"
        if live.left >= 0:
            low, high = min(low, live.left), min(high, live.left)
            basis += f", at most {live.left} by the budget"
        low, high = owed + each * low, owed + each * high
        if each > 1:
            basis += f", {each} answers each"
        return Estimate(low=low, high=high, seconds_per_question=seconds, basis=f"{basis}; {pace}")

    def cluster_names(self) -> list[str]:
        """What the clusters are called now; similarities leave them unnamed until a result."""
        memberships = None if self._found is None else self._found[1].clustering.memberships
        return self._names(self._live.state.names, self._live.state.anchors, memberships)

    def anchor(self, cluster: int) -> int | None:
        """The row that a cluster's name goes with; None where clusters keep their numbers.

        Clusters that similarities show are numbered anew by every result.
        """
        if self._live.config.ask == "membership" or self._found is None:
            return None
        memberships = self._found[1].clustering.memberships
        there = _placed(list(self._live.state.anchors), memberships)
        # A name that the cluster has is replaced.
        return there.get(cluster, int(memberships[:, cluster].argmax()))

    def taken_names(self, cluster: int) -> set[str]:
        """Names that a cluster may not have: the others', now or in a later result."""
        names = {name for j, name in enumerate(self.cluster_names()) if j != cluster}
        row = self.anchor(cluster)  # its name is the one that is replaced
        anchors = self._live.state.anchors
        return names | {RESERVED} | {anchors[r][1] for r in anchors if r != row}

    def exemplars(self, cluster: int, n: int, without: Collection[int]) -> list[int]:
        """Items that tell what a cluster is: those that answers place in it most come first."""
        rows = self._placements.rows(cluster, n + len(without))
        more: list[int] = []
        if self._live.config.typical is not None:
            more = self._live.config.typical[cluster]
        elif self._found is not None:
            column = self._found[1].clustering.memberships[:, cluster]
            more = np.argsort(-column, kind="stable")[: n + len(without)].tolist()
        rows += [row for row in more if not self._placements.is_elsewhere(row, cluster)]
        return [row for row in dict.fromkeys(rows) if row not in without][:n]

    def _names(
        self,
        given: dict[int, str],
        anchors: dict[int, tuple[int, str]],
        memberships: Floats | None,
    ) -> list[str]:
        """Names as given, all different; short ones for clusters that have none."""
        config = self._live.config
        named = dict(enumerate(config.cluster_names or ())) | given
        if memberships is None:
            named |= dict(anchors.values())
        else:
            placed = _placed(list(anchors), memberships)
            named |= {cluster: anchors[row][1] for cluster, row in placed.items()}
        return unique_names(named, config.n_clusters)


def _notes(notes: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Each note once, with the clusters called by their names."""
    return tuple(dict.fromkeys(with_names(note, names) for note in notes))


def _placed(rows: list[int], memberships: Floats) -> dict[int, int]:
    """The cluster of each row, a different one each: where they belong most, taken together."""
    places, clusters = linear_sum_assignment(memberships[rows], maximize=True)
    return {int(j): rows[i] for i, j in zip(places, clusters, strict=True)}


class _Stored:
    """An oracle that knows the stored answers and stops where they end."""

    def __init__(self, told: dict[QuestionKey, float], stop_at: int | None = None) -> None:
        self._told = told
        self._stop_at = stop_at
        self.n_batches = 0

    def answer(self, queries: Queries) -> Floats:
        """The stored answers to a batch."""
        self.n_batches += 1
        keys = keys_of(queries)
        values = np.array([self._told.get(key, math.nan) for key in keys], dtype=np.float64)
        reached = np.array([key in self._told for key in keys], dtype=bool)
        if not reached.all() or self.n_batches == self._stop_at:
            raise StopAsking(values, reached)
        return values


def run_plan(config: Config, X: Any, told: dict[QuestionKey, float]) -> Result:
    """A fresh plan over the answers; where they do not allow it to end, it stops before."""
    oracle = _Stored(told)
    try:
        return run(config.make_plan(X), oracle)
    except Exception as error:  # there is a result at any time, and a note of what is wrong
        warnings.warn(str(error), AskmeansWarning, stacklevel=2)
        return run(config.make_plan(X), _Stored(told, stop_at=oracle.n_batches))


def expected(strategy: Any, n: int, config: Any) -> Forecast | None:
    """What to expect of a strategy; None where there is no forecast for it."""
    similar = config.ask != "membership" and config.n_clusters > 1
    try:
        return forecast(
            strategy, n, config.n_clusters, ask="similarity" if similar else "membership"
        )
    except (AskmeansError, AttributeError, StopIteration):
        return None
