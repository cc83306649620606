"""The policy of a session: taught with the valid answers, for the next questions and the result.

Rules of this file:
- The policy computes outside of write transactions and without the lock of the log. One thread at a
  time teaches it; its lock is taken before that of the log, never inside it.
- One table of answers and one policy serve the next question, the result and the estimate.
- The cost of an answer does not grow with their number: the table is extended, and made again only
  after an undo, a decision or a change of the groups.
"""

import math
import threading
import time
from collections.abc import Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from askmeans._util.background import background_pool
from askmeans._util.message import plural_message
from askmeans._util.warning_notes import collect_warnings
from askmeans.exceptions import AskmeansWarning
from askmeans.policy.examples import Examples
from askmeans.policy.growing import renumbered, to_ask_again
from askmeans.policy.models.forest import load as load_forest
from askmeans.policy.nested import LeafAnswers, NestedPolicy, Tree
from askmeans.policy.ranking import Settings
from askmeans.policy.stratified import StratifiedPolicy
from askmeans.queries import Answer, Answers, Question
from askmeans.queries.answers import AnswerBatch
from askmeans.queries.values import difference
from askmeans.results import ErrorEstimate, Result
from askmeans.sessions.config import Config
from askmeans.sessions.events import Value
from askmeans.sessions.group_numbers import GroupNumbers, as_advice, as_evidence, items_within
from askmeans.sessions.name_examples import NameExamples
from askmeans.sessions.runtime import Runtime
from askmeans.sessions.state import DISAGREEING, State
from askmeans.tables.recipe import Recipe

AUDIT_SHARE = "audit_share"  # option: share of people's questions that are random
GOOD_ENOUGH = "good_enough"  # option: share of wrong items at which to stop; 0.0 for none

# Number of people who asked for questions in the last seconds that makes a crowd: then questions
# have priority, and after a fit no model is fitted for so many times its duration.
_CROWD, _LATELY, _REST = 5, 10.0, 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedResult:
    """A result with its inputs and its warnings."""

    result: Result
    answers: Answers
    policy: StratifiedPolicy
    settings: Settings
    examples: Examples | None
    notes: tuple[AskmeansWarning, ...]
    has_evidence: bool  # whether an answer or advice places an item
    tree: Tree  # the groups


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    """The valid answers as a table."""

    state: State  # another one after the log was read again
    n_changes: int  # events of the log that changed answers
    n_rewrites: int  # those of them that require a new table
    n_given: int  # answers in the log
    answers: Answers  # by the groups without sub-groups
    again: tuple[Question, ...]  # questions about items that may belong to a new group
    tree: Tree  # the groups
    of_leaves: LeafAnswers | None = None  # where groups have sub-groups


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taught:
    """The policy with all that it was taught, replaced at once: other threads read it."""

    policy: StratifiedPolicy
    nested: NestedPolicy | None  # where groups have sub-groups
    groups: GroupNumbers
    answers: Answers


class Fitter:
    """Fits the models of a session's policy when they are due.

    Before `start` it does nothing: models are fitted by whoever asks for questions.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._fit: Future[None] | None = None  # the last one
        self._duration, self._ended = 0.0, -math.inf  # of the last fit
        self._requests: dict[str, float] = {}  # annotator -> time of the last request

    def start(self) -> None:
        """Fit models in a thread of its own from now on."""
        self._pool = self._pool or background_pool(1, "models")

    def close(self) -> None:
        """End the thread."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True)

    def note_request(self, annotator: str) -> None:
        """Note that an annotator asked for questions."""
        self._requests[annotator] = time.monotonic()

    @property
    def is_busy(self) -> bool:
        """Whether many people answer at once."""
        now = time.monotonic()
        return sum(now - at < _LATELY for at in list(self._requests.values())) >= _CROWD

    def learn(self, policy: StratifiedPolicy) -> None:
        """Fit models when due; in a crowd no one waits for them, and they pause.

        One thread takes all memory for fitting: the allocator keeps for each thread what that
        thread once took.
        """
        if self._pool is None:
            return
        policy.learns_aside = True
        policy.propose(0)  # current, unless models are due
        if not policy.is_behind:
            return
        with self._lock:
            is_busy, fit = self.is_busy, self._fit
            if fit is None or fit.done():
                if is_busy and time.monotonic() - self._ended < _REST * self._duration:
                    return
                fit = self._fit = self._pool.submit(self._catch_up, policy)
        if not is_busy:
            fit.result()

    def _catch_up(self, policy: StratifiedPolicy) -> None:
        """Let the policy fit models, and note the duration."""
        began = time.monotonic()
        try:
            collect_warnings(policy.catch_up)
        finally:
            self._ended = time.monotonic()
            self._duration = self._ended - began


class Learning:
    """The policy over the log of one session, in one process."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.fitter = Fitter()
        self.last_result: ComputedResult | None = None
        config = runtime.config
        self._target = config.target
        self._name_examples: NameExamples | None = None
        if config.recipe is not None and config.uses_names:
            self._name_examples = NameExamples(
                Recipe.from_json(config.recipe),
                config.cluster_names or (),
                encoded=config.encoded_names,
            )
        self._table: _Evidence | None = None
        self._teaching = threading.Lock()
        self._finding = threading.Lock()
        self._taught: _Taught | None = None
        self._made_with: tuple[Config, int, Tree] | None = None
        self._notes: list[tuple[int, AskmeansWarning]] = []  # with their round

    @property
    def policy(self) -> StratifiedPolicy:
        """The policy, as `catch_up` left it."""
        return self._now().policy

    def _now(self) -> _Taught:
        """The policy with its groups and answers, as `catch_up` left them."""
        if self._taught is None:
            self.catch_up()
        assert self._taught is not None
        return self._taught

    def adopt_policy(self, policy: StratifiedPolicy, notes: Sequence[AskmeansWarning]) -> None:
        """Use a policy that was already fitted to the same items, when the session was created."""
        groups = self.runtime.groups
        self._taught = _Taught(policy=policy, nested=None, groups=groups, answers=Answers())
        self._made_with = self._policy_config(), len(self.runtime.rows), groups.tree
        self._notes = [(0, note) for note in notes]

    def catch_up(self) -> StratifiedPolicy:
        """Read new events, and teach the policy."""
        runtime = self.runtime
        moment = runtime.moment
        if moment is not None and moment.is_taught and self._taught is not None:
            return self._taught.policy
        with self._teaching:
            with runtime.lock:
                runtime.catch_up()
                config, X = self._policy_config(), runtime.rows.matrix
                evidence, groups = self._evidence(), runtime.groups
                answers, tree = evidence.answers, evidence.tree
                made_with = config, len(X), tree
                advice = as_advice(runtime.state.advice, groups)
                names, about = dict(runtime.state.names), dict(runtime.state.descriptions)
                options = dict(runtime.state.options)
            before = self._taught
            if before is not None and self._made_with == made_with:
                policy = before.policy
            else:
                policy, notes = collect_warnings(partial(config.make_policy, X, runtime.rows.blank))
                before = None
                self._notes = [(0, note) for note in notes]
            policy.advice, examples = advice, self._name_examples
            policy.examples = None if examples is None else examples.examples(names, about, groups)
            policy.change_settings(
                audit=options.get(AUDIT_SHARE, 0.0),
                target=options.get(GOOD_ENOUGH, self._target) or None,
            )
            nested = None
            if evidence.of_leaves is not None:
                nested = NestedPolicy(policy, tree)
                nested.learn(evidence.of_leaves)
            if before is None or before.answers is not answers:
                self._teach(policy, answers)
            # Only now, so that no other thread proposes questions that are answered.
            self._taught = _Taught(policy=policy, nested=nested, groups=groups, answers=answers)
            self._made_with = made_with
            if moment is not None:
                moment.is_taught = True
            return policy

    def follow_up(self, annotator: str) -> list[Question]:
        """The question about the sub-group of the item that an annotator answered last, if any.

        Where they named only the group, and another answer about its sub-groups is worth more than
        one about another item.
        """
        with self.runtime.lock:
            last, groups = self.runtime.state.last_of(annotator), self.runtime.groups
            if last is None or not isinstance(last.value, tuple) or not groups.parents:
                return []
            question = self.runtime.question(last.question)
            group = groups.resolve(max(range(len(last.value)), key=last.value.__getitem__))
        named = group is not None and max(last.value) > DISAGREEING
        if not named or group is None or question.cluster == group:  # in none of the sub-groups
            return []
        row = question.items[0]
        nested = self._now().nested
        if nested is None or not collect_warnings(lambda: nested.wants(group, row))[0]:
            return []
        return [Question("group", question.items, group)]

    def warm_up(self) -> None:
        """Load data and models, so that the first question is fast."""
        self.catch_up()
        load_forest()
        self.propose(1, frozenset(), "")

    def _teach(self, policy: StratifiedPolicy, answers: Answers) -> None:
        """Let the policy learn, and keep its warnings."""
        _, notes = collect_warnings(partial(policy.learn, answers))
        known = [pair for pair in self._notes if pair[0] < policy.round]
        self._notes = [*known, *((policy.round - 1, note) for note in notes)]

    def propose(self, n: int, pending: Set[Question], annotator: str) -> list[Question]:
        """The best questions that are neither answered nor pending; fits models when due."""
        taught = self._now()  # first, since it determines `again`
        policy, nested, groups = taught.policy, taught.nested, taught.groups
        self.fitter.note_request(annotator)
        self.fitter.learn(policy)
        with self.runtime.lock:
            state, number = self.runtime.state, self.runtime.number
            free = [q for q in self.again if q not in pending and not state.count(number(q) or 0)]
            first = free[:n]
        if len(first) == n:
            return first
        more = n - len(first)
        busy: Set[Question] = pending | set(first)
        if nested is not None:
            return first + collect_warnings(lambda: nested.propose(more, busy, annotator))[0]
        if groups.is_plain:
            return first + collect_warnings(lambda: policy.propose(more, busy, annotator))[0]
        columns = {q for q in map(groups.to_columns, busy) if q is not None}
        proposed = collect_warnings(lambda: policy.propose(more, columns, annotator))[0]
        return first + [groups.to_numbers(question) for question in proposed]

    @property
    def again(self) -> tuple[Question, ...]:
        """Questions to ask again, by the last table of answers."""
        return () if self._table is None else self._table.again

    def learn_again(self) -> None:
        """Learn what came within this `reading_once` block, too."""
        moment = self.runtime.moment
        if moment is not None:
            moment.is_taught = False

    def compute(self) -> ComputedResult:
        """The result of all valid answers; recomputed after changes."""
        with self._finding:
            self.catch_up()
            taught = self._now()
            policy, answers, nested = taught.policy, taught.answers, taught.nested
            last, settings, examples = self.last_result, policy.settings, policy.examples
            if (
                last is None or last.answers is not answers or last.policy is not policy
                or last.settings is not settings or last.examples is not examples
            ):  # fmt: skip
                result, notes = collect_warnings(lambda: _result(policy, answers, nested))
                if nested is not None:  # some answers are about sub-groups alone
                    with self.runtime.lock:
                        numbers = [event.question for event in self.runtime.state.evidence()]
                    result = replace(result, n_queries=len({*numbers}), n_queries_raw=len(numbers))
                self.last_result = last = ComputedResult(
                    result=result, answers=answers, policy=policy, settings=settings,
                    examples=examples, notes=tuple(notes),
                    has_evidence=bool(policy.advice) or any(map(_places_items, answers.batches))
                    or (nested is not None and nested.has_partly_known),
                    tree=taught.groups.tree,
                )  # fmt: skip
            return last

    @property
    def notes(self) -> list[AskmeansWarning]:
        """Warnings of the policy that still hold."""
        return [note for _, note in self._notes]

    @property
    def is_over(self) -> bool:
        """Whether everything was asked."""
        with self.runtime.lock:
            if self.runtime.awaiting_opinion():
                return False  # another opinion is wanted
            top = self.runtime.groups.children(None)
            if len(top) > 1 and len(self.runtime.state.answered) < len(self.runtime.rows):
                return False  # an item is left: no need to rank the questions
        return not self.propose(1, frozenset(), "")

    @property
    def settled(self) -> bool:
        """Whether the policy would stop, by the models fitted so far."""
        policy = self.policy
        return collect_warnings(lambda: policy.settled)[0]

    def is_surprising(self, number: int, value: Value) -> bool:
        """Whether confident models expected another answer."""
        taught, question = self._now(), self.runtime.question(number)
        if question.kind not in ("membership", "group"):
            return False
        expected = collect_warnings(lambda: taught.policy.expected(question.items[0]))[0]
        if expected is None:
            return False
        groups = taught.groups
        if taught.nested is not None:
            tree = groups.tree
            expected = tuple(tree.summed(np.array([expected]), tree.top)[0].tolist())
        if isinstance(value, tuple):
            distance = difference(groups.row_now(value[: groups.n]), expected)
            return max(expected) > DISAGREEING and distance > DISAGREEING
        column = None if question.cluster is None else groups.column(question.cluster)
        return column is not None and abs(value - expected[column]) > DISAGREEING

    def error_curve(self) -> tuple[ErrorEstimate, ...]:
        """How the estimated error of the result fell as answers came."""
        return collect_warnings(self.catch_up().error_curve)[0]

    @property
    def suggestion(self) -> tuple[int, str | None]:
        """The number of groups that the answers suggest; and why, if there are fewer."""
        policy = self.policy
        more = collect_warnings(lambda: policy.suggested_clusters)[0] - policy.n_clusters
        n_groups = len(self.runtime.groups.children(None))
        if more <= 0:
            return n_groups, None
        lost, answered = collect_warnings(lambda: policy.unassigned)[0]
        return n_groups + more, plural_message(
            "{n} of the {answered} items asked about belongs to none of the {n_clusters} groups, "
            "so there may be {wanted}.",
            "{n} of the {answered} items asked about belong to none of the {n_clusters} groups, "
            "so there may be {wanted}.",
            int(lost),
            answered=int(answered),
            n_clusters=n_groups,
            wanted=n_groups + more,
        )

    def _evidence(self) -> "_Evidence":
        """The valid answers as a table."""
        state = self.runtime.state
        if self._table is not None and self._table.state is not state:
            self._table = None
        if self._table is not None and self._table.n_changes != state.n_changes:
            self._table = self._carried_on(self._table)
        if self._table is None:
            groups = self.runtime.groups
            given, question_of = state.evidence(), self.runtime.original_question
            evidence = as_evidence(given, question_of, groups)
            again = to_ask_again(evidence) if state.group_changes else []
            tree, of_leaves = groups.tree, None
            if tree.children:
                parts: dict[int | None, list[Answer]] = {None: evidence}
                items = items_within(given, question_of, groups)
                for number in tree.children:
                    inside = [e for e in given if question_of(e.question).items in items[number]]
                    parts[number] = own = as_evidence(inside, question_of, groups, number)
                    again += [question._replace(cluster=number) for question in to_ask_again(own)]
                of_leaves = LeafAnswers.of(tree, parts)
                evidence = list(of_leaves.answers)
            self._table = _Evidence(
                state=state,
                n_changes=state.n_changes,
                n_rewrites=state.n_rewrites,
                n_given=len(state.log_answers),
                answers=Answers.of(renumbered(evidence), len(tree.leaves)),
                again=tuple(again),
                tree=tree,
                of_leaves=of_leaves,
            )
        return self._table

    def _carried_on(self, table: "_Evidence") -> "_Evidence | None":
        """The table extended by new answers; None if it must be made again."""
        state, groups = self.runtime.state, self.runtime.groups
        if table.n_rewrites != state.n_rewrites or state.group_changes:
            return None
        new = state.log_answers[table.n_given :]
        evidence = as_evidence(new, self.runtime.original_question, groups)
        if any(answer.repeat for answer in evidence):  # it may replace an earlier one
            return None
        answers = table.answers.extended(evidence, len(groups.children(None)))
        return replace(
            table, n_changes=state.n_changes, n_given=len(state.log_answers), answers=answers
        )

    def _policy_config(self) -> Config:
        """The parameters of the policy, with the present groups and budget.

        The number of items is limited only without a budget.
        """
        config = replace(self.runtime.config, n_clusters=len(self.runtime.groups.leaves))
        changed = (config.budget is None) != (self.runtime.state.budget is None)
        return replace(config, budget=self.runtime.state.budget) if changed else config


def _places_items(batch: AnswerBatch) -> bool:
    """Whether an answer is neither "cannot say" nor "none of these"."""
    if batch.queries.kind == "group":
        return bool((batch.values > 0.0).any())
    return bool(np.isfinite(batch.values).any())


def _result(policy: StratifiedPolicy, answers: Answers, nested: NestedPolicy | None) -> Result:
    """The best result from these answers, with its cost."""
    clustering = (nested or policy).clustering()
    questions = {question for batch in answers.batches for question in batch.queries.questions()}
    return Result(
        clustering=clustering,
        n_queries=len(questions),
        n_queries_raw=len(answers),
        n_rounds=policy.round,
        history=answers,
    )
