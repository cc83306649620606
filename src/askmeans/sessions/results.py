"""Reports of a session: result, status, questions left, exemplars of groups."""

import math
import statistics
from bisect import bisect_left, insort
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from heapq import merge
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats
from askmeans._util.message import Message, Number, plural_message
from askmeans.exceptions import AskmeansWarning
from askmeans.policy.nested import Level, Tree, levels_of
from askmeans.results import Clustering
from askmeans.sessions.display import exemplars_of
from askmeans.sessions.events import Answer, Unsure
from askmeans.sessions.group_names import GroupNames
from askmeans.sessions.learning import ComputedResult, Learning
from askmeans.sessions.reports import (
    NO_ANSWERS,
    Basis,
    Estimate,
    Holding,
    SessionResult,
    SessionState,
    Status,
)
from askmeans.sessions.runtime import Runtime
from askmeans.sessions.state import State
from askmeans.sessions.store.records import Lease
from askmeans.spec import SIMILARITIES

SECONDS_PER_QUESTION = 5.0  # as in `askmeans plan`, until people's own pace is known
_KNOWN = 5  # answers from which on it is known
_LAST = 20  # answers of each annotator that count: people get faster
_BREAK = 120.0  # seconds after which an annotator was away
_MARGIN = 1.25  # upper limit of the questions, relative to the forecast
_PLACED = 0.5  # membership from which on an item exemplifies a cluster


class _Exemplars:
    """Items that answers place in each cluster, the strongest first; updated by each answer.

    Every question on the page shows them, so their cost must not grow with the number of answers.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._state: State | None = None
        self._seen = 0
        self._entries: dict[int, tuple[int, tuple[float, int, int]]] = {}  # by question
        self._sorted: dict[int, list[tuple[float, int, int]]] = {}  # by cluster
        self._gold: tuple[int, set[int]] = (0, set())  # how many gold questions, and their items

    def rows(self, cluster: int, n: int) -> list[int]:
        """At most n different items that answers place in a cluster."""
        self._catch_up()
        rows: dict[int, None] = {}
        groups = self._runtime.groups
        numbers = [cluster] if groups.is_plain else groups.members(cluster)
        hidden = self.hidden
        for _, row, _ in merge(*(self._sorted.get(number, ()) for number in numbers)):
            if row not in hidden:
                rows[row] = None
            if len(rows) == n:
                break
        return list(rows)

    @property
    def hidden(self) -> set[int]:
        """Items of gold questions: as examples they would reveal the tests."""
        gold = self._runtime.state.gold
        if self._gold[0] != len(gold):
            items = {row for number in gold for row in self._runtime.question(number).items}
            self._gold = (len(gold), items)
        return self._gold[1]

    def is_elsewhere(self, row: int, cluster: int) -> bool:
        """Whether answers place an item in another cluster or in none, or are all "cannot say"."""
        groups, state = self._runtime.groups, self._runtime.state
        for number in self._runtime.questions_about((row,)):
            group = self._runtime.question(number).cluster
            answers = state.answers(number)
            if answers and all(event.value is None for event in answers):
                return True
            value = state.value(number)  # NaN where it has no answer
            if isinstance(value, tuple):
                away = groups.share(value, cluster) < _PLACED
            else:
                away = value < _PLACED if group == cluster else value >= _PLACED
            if away:
                return True
        return False

    def _catch_up(self) -> None:
        """Update by the questions of new events."""
        state = self._runtime.state
        if self._state is not state:  # the log was read again
            self._state, self._seen = state, 0
            self._entries, self._sorted = {}, {}
        touched = dict.fromkeys(state.touched[self._seen :])
        self._seen = len(state.touched)
        for number in touched:
            self._place(number, state)

    def _place(self, number: int, state: State) -> None:
        """Place a question's item by its present answer."""
        old = self._entries.pop(number, None)
        if old is not None:
            cluster, entry = old
            del self._sorted[cluster][bisect_left(self._sorted[cluster], entry)]
        question, value = self._runtime.question(number), state.value(number)
        group = question.cluster
        if isinstance(value, tuple):
            group = max(range(len(value)), key=value.__getitem__)
            value = value[group]
        if group is not None and value >= _PLACED:
            entry = (-value, question.items[0], number)
            insort(self._sorted.setdefault(group, []), entry)
            self._entries[number] = (group, entry)


class Results:
    """Reports of one session."""

    def __init__(self, runtime: Runtime, learning: Learning, names: GroupNames) -> None:
        self._runtime = runtime
        self._learning = learning
        self._names = names
        self._exemplars = _Exemplars(runtime)
        self._forecast = runtime.config.forecast(len(runtime.rows.base))
        self._levels: tuple[ComputedResult | None, list[Level]] = (None, [])

    def result(self, state: SessionState) -> SessionResult:
        """The result of all valid answers; recomputed after changes."""
        while (result := self._report(self._learning.compute(), state)) is None:
            self._learning.learn_again()
        return result

    def _report(self, computed: ComputedResult, state: SessionState) -> SessionResult | None:
        """The result as users have it; None if groups were added or merged meanwhile."""
        runtime = self._runtime
        clustering, notes = computed.result.clustering, [*self._learning.notes, *computed.notes]
        basis: Basis = "answers"
        if not computed.has_evidence:
            basis = "nothing" if self._has_only_names else "data"
            if computed.examples is not None and computed.examples.covered.all():
                basis = "names"
        if basis == "nothing":  # clusters of an unsupervised fit are not the named groups
            clustering, notes = _even(clustering, computed.tree), self._learning.notes
        if state is SessionState.SPENT:
            diagnostics = replace(clustering.diagnostics, stopped="budget")
            clustering = replace(clustering, diagnostics=diagnostics)
        with runtime.lock:
            groups = runtime.groups
            tree = groups.tree
            if clustering.memberships.shape[1] != len(tree.leaves) or computed.tree != tree:
                return None
            called = dict(
                zip(groups.living, self._names.present(clustering.memberships), strict=True)
            )
            lines = [note.with_names([called[j] for j in tree.leaves]) for note in notes]
            *upper, (clustering, names) = [
                (level.clustering, tuple(called[j] for j in level.groups))
                for level in levels_of(tree, clustering)
            ]
            return SessionResult(
                clustering=clustering,
                n_queries=computed.result.n_queries,
                n_queries_raw=computed.result.n_queries_raw,
                n_rounds=computed.result.n_rounds,
                history=computed.result.history,
                state=state,
                missing=self.left(state),
                group_names=names,
                ids=runtime.rows.ids()[: len(clustering.memberships)],
                notes=tuple(dict.fromkeys(lines)),
                basis=basis,
                upper=tuple(upper),
            )

    @property
    def _has_only_names(self) -> bool:
        """Whether the groups were named by people, and are no clusters of a fit."""
        config, groups = self._runtime.config, self._runtime.groups
        if config.ask in SIMILARITIES:
            return False
        return config.cluster_names is not None or max(groups.children(None)) >= config.n_clusters

    def status(self, state: SessionState, leases: list[Lease], now: float) -> Status:
        """The status, without computing a result."""
        runtime = self._runtime
        settled, (wanted, why) = self._learning.settled, self._learning.suggestion
        with runtime.lock:
            holding = tuple(
                Holding(question=each.question, annotator=each.annotator, seconds=each.until - now)
                for each in sorted(leases, key=lambda lease: (lease.annotator, lease.question))
                if runtime.is_open(each.question)
            )
            counts = {name: dict(count) for name, count in runtime.state.counts().items()}
            checked = runtime.state.n_checked
            return Status(
                name=runtime.record.name,
                state=state,
                answered=runtime.state.n_spent,
                held=len(runtime.state.answered) - runtime.state.n_spent - checked,
                checked=checked,
                budget=runtime.state.budget,
                open=runtime.n_open,
                leased=len({each.question for each in holding}),
                holding=holding,
                round=self._learning.policy.round,
                settled=settled,
                left=self.left(state),
                annotators=counts,
                estimated_error=None,
                error_basis=Message("it comes with a result"),
                n_items=len(runtime.rows),
                contradictions=None,
                notes=_notes(self._learning.notes, self._names.of_columns()),
                suggested_clusters=wanted,
                suggestion=why,
            )

    def with_error(self, report: Status, result: SessionResult) -> Status:
        """The status with the estimated error of a result."""
        diagnostics = result.clustering.diagnostics
        similarity = diagnostics.similarity or {}
        error: float | None = None
        basis: str = NO_ANSWERS
        if result.expected_wrong is not None:
            error, basis = diagnostics.estimated_error, Message("the answers so far")
        elif similarity.get("predicted_rmse") is not None:
            error, basis = (
                similarity["predicted_rmse"],
                Message("how well the answers so far fit together"),
            )
        return replace(
            report,
            estimated_error=None if error is None else float(error),
            error_basis=basis,
            n_items=len(result.memberships),
            expected_wrong=result.expected_wrong,
            expected_wrong_band=result.expected_wrong_band,
            good_enough=diagnostics.stopped == "precision",
            notes=tuple(
                dict.fromkeys(filter(None, [result.without_answers, *report.notes, *result.notes]))
            ),
        )

    def left(self, state: SessionState) -> Estimate:
        """Questions and minutes left, as a range."""
        runtime = self._runtime
        seconds, pace = seconds_per_answer(runtime.state)
        if state in (SessionState.DONE, SessionState.SPENT):
            return Estimate(low=0, high=0, seconds_per_question=seconds, basis=state.described)
        each = runtime.config.annotations
        owed, new = 0, runtime.n_open
        if each > 1:
            begun = [runtime.state.count(n) for n in runtime.state.answered if runtime.is_open(n)]
            owed = sum(each - count for count in begun)  # by second annotators
            new -= len(begun)
        low = high = new
        basis = Message("questions of this round")
        if self._forecast is not None:
            done, in_all = len(runtime.state.answered), self._forecast.n_queries
            low = max(new, in_all - done)
            high = max(low, math.ceil(_MARGIN * in_all) - done)
            basis = plural_message(
                "a forecast of {n} question in all", "a forecast of {n} questions in all", in_all
            )
        if runtime.budget_left is not None:
            # Gold questions cost no budget, but the number must not show which they are.
            left = max(0, runtime.budget_left - runtime.state.n_checked)
            low, high = min(low, left), min(high, left)
            basis = Message("{estimate}, at most {left} by the budget", estimate=basis, left=left)
        low, high = owed + each * low, owed + each * high
        if each > 1:
            basis = Message("{estimate}, {n} answers each", estimate=basis, n=each)
        basis = Message("{estimate}; {pace}", estimate=basis, pace=pace)
        return Estimate(low=low, high=high, seconds_per_question=seconds, basis=basis)

    def exemplars(
        self, cluster: int, n: int, without: Collection[int], *, placed_only: bool = False
    ) -> list[int]:
        """Items that exemplify a cluster: pinned ones, then by answers, then by the model."""
        groups, pinned = self._runtime.groups, self._runtime.pinned(cluster)
        rows = self._exemplars.rows(cluster, n + len(without))
        hidden = self._exemplars.hidden
        if placed_only:
            return [row for row in dict.fromkeys([*pinned, *rows]) if row not in without][:n]
        more: list[int] = []
        typical, last = self._runtime.config.typical, self._learning.last_result
        if typical is not None and cluster < len(typical):
            more = typical[cluster]
        elif typical is not None and self._learning.again:  # items in none of the groups yet
            more = [question.items[0] for question in self._learning.again]
        elif (
            last is not None
            and last.tree == groups.tree  # of the present groups
            # A group with only a name has no column before an answer places an item in it.
            and (rows or self._runtime.config.ask in SIMILARITIES)
        ):
            level = next(each for each in self._levels_of(last) if cluster in each.groups)
            more = exemplars_of(
                level.clustering, self._runtime.rows.matrix,
                level.groups.index(cluster), n + len(without) + len(hidden),
            )  # fmt: skip
        rows += [row for row in more if row not in hidden
                 and not self._exemplars.is_elsewhere(row, cluster)]  # fmt: skip
        return [row for row in dict.fromkeys([*pinned, *rows]) if row not in without][:n]

    def _levels_of(self, computed: ComputedResult) -> list[Level]:
        """The levels of a result; a card shows exemplars of each group, so they are kept."""
        known, levels = self._levels
        if known is not computed:
            levels = levels_of(computed.tree, computed.result.clustering)
            self._levels = computed, levels
        return levels


def _even(clustering: Clustering, tree: Tree) -> Clustering:
    """A clustering with equal memberships at each level."""
    n, k = clustering.memberships.shape
    row = np.array(tree.row({}, even=True))
    return replace(
        clustering,
        centers=np.tile(clustering.centers.mean(axis=0), (k, 1)),
        memberships=np.tile(row, (n, 1)),
        confidence=None if clustering.confidence is None else np.full(n, row.max()),
        unassigned=None if clustering.unassigned is None else np.zeros(n),
        predictor=partial(_same_rows, row),
    )


def _same_rows(row: Floats, X: NDArray[np.floating]) -> Floats:
    """The same row for each item; a function that can be pickled."""
    return np.tile(row, (len(X), 1))


def _notes(notes: Sequence[AskmeansWarning], names: Sequence[str]) -> tuple[str, ...]:
    """Each note once, with the names of the clusters."""
    return tuple(dict.fromkeys(note.with_names(names) for note in notes))


def seconds_per_answer(state: State) -> tuple[float, str]:
    """Seconds per answer, and the basis of that number."""
    gaps = []
    for stack in state.recent(_LAST + 1):
        gaps += [
            event.at - before.at
            for before, event in pairwise(stack)
            if isinstance(event, Answer | Unsure)
        ]
    gaps = [gap for gap in gaps if 0.0 <= gap < _BREAK]  # a clock may be set back
    if len(gaps) < _KNOWN:
        return SECONDS_PER_QUESTION, Message(
            "{seconds} seconds a question", seconds=Number(SECONDS_PER_QUESTION)
        )
    seconds = statistics.median(gaps)
    return seconds, Message(
        "{seconds} seconds a question, as so far", seconds=Number(round(seconds, 1))
    )
