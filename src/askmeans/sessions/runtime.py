"""The policy of a session over its log: valid answers, next questions, and the result so far.

Rules of this file:
- The policy computes outside of write transactions and without `lock`. `take` only folds events,
  so it may be called inside both.
- `lock` guards the folded log and the numbers of questions, for short times. One thread at a time
  teaches the policy; its lock is taken before `lock`, never inside it.
- One table of answers and one policy serve the next question, the result and the estimate.
- An invitation (`checking`) is checked again inside every write transaction, so that a request that
  began before the invitation ended, and writes after it, is refused.
- The cost of an answer does not grow with their number: tables and counts are updated, and
  recomputed only after an undo or a decision.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from askmeans._util.warning_notes import collect_warnings
from askmeans.exceptions import AskmeansWarning, QueryError, StoreMovedError
from askmeans.fuzzy.items import ItemSet
from askmeans.policy.examples import Examples
from askmeans.policy.growing import renumbered, to_ask_again
from askmeans.policy.models.forest import load as load_forest
from askmeans.policy.nested import NestedPolicy, Node
from askmeans.policy.ranking import Settings
from askmeans.policy.stratified import StratifiedPolicy
from askmeans.queries import Answers, Question
from askmeans.queries.answers import AnswerBatch
from askmeans.queries.values import difference
from askmeans.results import Clustering, ErrorEstimate, Result
from askmeans.sessions.config import Config
from askmeans.sessions.events import AddGroup, Event, Pseudonym, Refine, Value
from askmeans.sessions.group_numbers import GroupNumbers, as_advice, as_evidence
from askmeans.sessions.learner import Learner
from askmeans.sessions.log import DISAGREEING, State
from askmeans.sessions.name_examples import NameExamples
from askmeans.sessions.reports import Question as AskedQuestion
from askmeans.sessions.rows import Rows
from askmeans.sessions.store.records import Lease, SessionRecord, as_written, check
from askmeans.tables.recipe import Recipe

if TYPE_CHECKING:
    from askmeans.sessions.store.sql import Store, Transaction

T = TypeVar("T")
Check = Callable[["Transaction"], None]  # raises an error if the person may not write any more

# The repeat of a gold question that is to be copied. Copies, which make gold questions look as new
# as others, have this plus their number.
GOLD_COPY = 1 << 30
_CLOCK_SLIP = 5.0  # seconds by which a clock may be set back without ending a lease

AUDIT_SHARE = "audit_share"  # option: share of people's questions that are random
GOOD_ENOUGH = "good_enough"  # option: share of wrong items at which to stop; 0.0 for none


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
    children: Mapping[int, tuple[int, ...]]  # of groups that have sub-groups
    within: Mapping[int, Clustering]  # the results within these
    notes_within: tuple[tuple[int, AskmeansWarning], ...]  # by group


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    """The valid answers as a table."""

    n_changes: int  # events of the log that changed answers
    n_rewrites: int  # those of them that require a new table
    n_given: int  # answers in the log
    answers: Answers  # about the groups at the top
    again: tuple[Question, ...]  # questions about items that may belong to a new group
    nodes: tuple[Node, ...] = ()  # the groups that have sub-groups, with the answers about these


@dataclass(slots=True)
class _Moment:
    """A block of `reading_once`."""

    is_read: bool = False
    is_taught: bool = False  # whether the policy has learnt what was read
    leases: tuple[float, list[Lease]] | None = None


class Runtime:
    """Log, questions and policy of one session, in one process."""

    def __init__(self, store: "Store", record: SessionRecord, config: Config, rows: Rows) -> None:
        self.store = store
        self.record = record
        self.config = config
        self._target = config.target
        self.rows = rows
        self.lock = threading.RLock()
        self.state = self._new_state()
        recipe = config.recipe if config.uses_names else None
        self._name_examples = NameExamples(
            None if recipe is None else Recipe.from_json(recipe),
            config.cluster_names or (),
            encoded=config.encoded_names,
        )
        self.last_result: ComputedResult | None = None
        self._questions: dict[int, Question] = {}
        self._numbers: dict[Question, int] = {}
        self._about: dict[tuple[int, ...], list[int]] = {}
        self._table: _Evidence | None = None
        self._teaching = threading.Lock()
        self._finding = threading.Lock()
        self._policy: StratifiedPolicy | None = None
        self._nested: NestedPolicy | None = None  # where groups have sub-groups
        self._nesting = threading.Lock()
        self._made_with: tuple[Config, int] | None = None
        self._taught = Answers()
        self._notes: list[tuple[int, AskmeansWarning]] = []  # with their round
        self._moment: ContextVar[_Moment | None] = ContextVar("moment", default=None)
        self._permission: ContextVar[Check | None] = ContextVar("check", default=None)
        self._unsettled: set[int] = set()  # questions, up to the events in `_looked`
        self._looked: tuple[State, int] = (self.state, 0)
        self.learner = Learner()
        self.know(store.questions(record.id))
        self.refresh()

    def _new_state(self) -> State:
        """The state before the first event."""
        config = self.config
        return State(config.annotations, config.budget, config.most_annotations)

    @contextmanager
    def reading_once(self) -> Iterator[None]:
        """Read the log once within this block, in this thread or task."""
        before = self._moment.set(self._moment.get() or _Moment())
        try:
            yield
        finally:
            self._moment.reset(before)

    @contextmanager
    def checking(self, check: Check) -> Iterator[None]:
        """Begin every write transaction with a check within this block, in this thread or task."""
        before = self._permission.set(check)
        try:
            yield
        finally:
            self._permission.reset(before)

    def refresh(self) -> None:
        """Fold new events; within `reading_once` only once."""
        moment = self._moment.get()
        if moment is None or not moment.is_read:
            with self.lock:
                self.take(self.store.events(self.record.id, self.state.last))

    @contextmanager
    def up_to_date(self) -> Iterator[State]:
        """The present state, locked."""
        with self.lock:
            self.refresh()
            yield self.state

    def write(self, work: Callable[["Transaction"], T], *, durable: bool = True) -> T:
        """Do work in a write transaction; fold earlier events before it and its own after it.

        After a lost connection it is retried; keys show what was already written. With `checking`,
        an InvitationError is raised and nothing is written once the invitation has ended.
        """
        check = self._permission.get()

        def once() -> T:
            with self.lock:
                with self.store.write(self.record.id, durable=durable) as transaction:
                    if check is not None:
                        check(transaction)
                    self.take(self._since(transaction))
                    done = work(transaction)
                moment = self._moment.get()
                if moment is not None:
                    moment.leases = None
                    moment.is_taught = moment.is_taught and not transaction.appended
                self.take(transaction.appended)
                return done

        return self.store.retried(once)

    def _since(self, transaction: "Transaction") -> list[Event]:
        """New events; a StoreMovedError if the last known event is missing."""
        last = self.state.last_event
        if last is None:
            return transaction.events(0)
        events = transaction.events(last.id - 1)
        renamed = any(isinstance(event, Pseudonym) for event in events)
        there = bool(events) and events[0].id == last.id
        if not there or (events[0].key != last.key and not renamed):
            raise StoreMovedError(
                f"{self.store.url} must keep all that was written to it. Got one without event "
                f"{last.id}: an older state was restored. Stop this program and start it again, to "
                "go on from there. The last answer was not confirmed.",
                user_message="The database of this session was put back to an older state while "
                "the page was open, so this was not saved. Whoever runs the session has to start "
                "it again.",
            )
        return events[1:]

    def leases(self) -> tuple[float, list[Lease]]:
        """The database's time and all leases; within `reading_once` those read before."""
        moment = self._moment.get()
        if moment is not None and moment.leases is not None:
            return moment.leases
        return self.keep_leases(*self.store.leases(self.record.id))

    def in_force(self, leases: Iterable[Lease], now: float) -> list[Lease]:
        """The leases that have not ended.

        One that ends later than the session allows dates from before the clock was set back.
        """
        latest = now + self.config.lease_seconds + _CLOCK_SLIP
        return [lease for lease in leases if now < lease.until <= latest]

    def keep_leases(self, now: float, leases: list[Lease]) -> tuple[float, list[Lease]]:
        """Keep the leases for the rest of a `reading_once` block."""
        moment = self._moment.get()
        if moment is not None:
            moment.leases = now, leases
        return now, leases

    def take(self, events: Sequence[Event]) -> None:
        """Fold events; after a pseudonym the whole log again."""
        moment = self._moment.get()
        if moment is not None:
            moment.is_read = True
        if any(isinstance(event, Pseudonym) for event in events) and self.state.last:
            self.state = self._new_state()
            self._table = None
            events = self.store.events(self.record.id)
        try:
            with as_written(self.store.url):
                self._check(events)
                self.state.fold(events)
                groups = self.groups
                above = {**groups.parents, **groups.into}
                check(_is_forest(above), "groups that are part of each other")
        except BaseException:  # partly folded: the log is read again
            self.state = self._new_state()
            self._table = None
            raise

    def _check(self, events: Sequence[Event]) -> None:
        """Refuse events about unknown groups or rows, or with values of another form."""
        n_groups = self.config.n_clusters + self.state.n_added
        for event in events:
            where = f"event {event.id}: "
            if isinstance(event, Refine):
                check(event.first == n_groups, f"{where}group {event.first}")
                n_groups += len(event.names)
            n_groups += isinstance(event, AddGroup)
            for name in ("group", "into"):
                number = getattr(event, name, None)
                check(number is None or number < n_groups, f"{where}group {number}")
            row = getattr(event, "row", None)
            check(row is None or self._has_row(row), f"{where}item {row}")
            question = self._questions.get(getattr(event, "question", 0))
            value = getattr(event, "value", None)
            if question is not None and value is not None:
                is_row = isinstance(value, tuple)
                check(is_row == (question.kind == "group"), f"{where}value {value}")
                check(not is_row or len(value) <= n_groups, f"{where}its shares")

    def _has_row(self, row: int) -> bool:
        """Whether an item exists; another process may have added it."""
        if row >= len(self.rows):
            self.rows.load()
        return row < len(self.rows)

    @property
    def groups(self) -> GroupNumbers:
        """The groups after the folded events."""
        state = self.state
        n = self.config.n_clusters + state.n_added
        return GroupNumbers.of(n, state.group_changes, state.withdrawn)

    @property
    def policy(self) -> StratifiedPolicy:
        """The policy, as `catch_up` left it."""
        return self._policy or self.catch_up()

    def start_with(self, policy: StratifiedPolicy, notes: Sequence[AskmeansWarning]) -> None:
        """Take the policy that the session was created with, of the same items."""
        self._policy = policy
        self._made_with = self._policy_config(), len(self.rows)
        self._notes = [(0, note) for note in notes]

    def catch_up(self) -> StratifiedPolicy:
        """Fold new events and teach the policy."""
        moment = self._moment.get()
        if moment is not None and moment.is_taught and self._policy is not None:
            return self._policy
        with self._teaching:
            with self.lock:
                if moment is None or not moment.is_read:
                    self.refresh()
                    self.know(self.store.questions(self.record.id, self.n_questions))
                if self.rows.n_parts < self.state.n_parts:
                    self.rows.load()
                config = self._policy_config()
                X = self.rows.matrix
                made_with = config, len(X)
                evidence, groups = self._evidence(), self.groups
                answers, nodes, top = evidence.answers, evidence.nodes, groups.children(None)
                advice = as_advice(self.state.advice, groups)
                names, about = dict(self.state.names), dict(self.state.descriptions)
            if self._policy is not None and self._made_with == made_with:
                policy = self._policy
            else:
                policy, notes = collect_warnings(partial(config.make_policy, X, self.rows.blank))
                self._taught = Answers()
                self._notes = [(0, note) for note in notes]
            policy.advice = advice
            policy.examples = self._name_examples.of(names, about, groups)
            policy.change_settings(
                audit=self.state.options.get(AUDIT_SHARE, 0.0),
                target=self.state.options.get(GOOD_ENOUGH, self._target) or None,
            )
            if self._taught is not answers:
                self._teach(policy, answers)
            with self._nesting:
                self._nested = self._branching(policy, config) if nodes else None
                if self._nested is not None:
                    named = {
                        node.number: self._name_examples.of(names, about, groups, node.number)
                        for node in nodes
                    }
                    self._nested.learn(top, answers, nodes, named)
            # Only now, so that no other thread proposes questions that are answered.
            self._policy, self._made_with = policy, made_with
            if moment is not None:
                moment.is_taught = True
            return policy

    def _branching(self, policy: StratifiedPolicy, config: Config) -> NestedPolicy:
        """The policy of groups within groups: as before, with the same policy at the top."""
        if self._nested is not None and self._nested.root is policy:
            return self._nested

        def make(items: ItemSet, n_clusters: int) -> StratifiedPolicy:
            return replace(config, n_clusters=n_clusters).make_policy(items)

        return NestedPolicy(policy, make)

    def follow_up(self, annotator: str) -> list[Question]:
        """The question about the sub-group of the item that an annotator answered last, if any.

        Where they named only the group, and another answer about its sub-groups is worth more than
        one about another item.
        """
        with self.lock:
            last, groups = self.state.last_of(annotator), self.groups
            if last is None or not isinstance(last.value, tuple) or not groups.parents:
                return []
            question = self.question(last.question)
            group = groups.resolve(max(range(len(last.value)), key=last.value.__getitem__))
        named = group is not None and max(last.value) > DISAGREEING
        if not named or group is None or question.cluster == group:  # in none of the sub-groups
            return []
        row = question.items[0]
        with self._nesting:
            nested = self._nested
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
        self._taught = answers
        known = [pair for pair in self._notes if pair[0] < policy.round]
        self._notes = [*known, *((policy.round - 1, note) for note in notes)]

    def propose(self, n: int, pending: Set[Question], annotator: str) -> list[Question]:
        """The best questions that are neither answered nor pending; fits models when due."""
        policy = self.policy  # first, since it determines `again`
        self.learner.note_request(annotator)
        self.learner.learn(policy)
        with self.lock:
            free = [q for q in self.again if q not in pending]
            first = [q for q in free if not self.state.count(self._numbers.get(q, 0))][:n]
        if len(first) == n:
            return first
        more, groups = n - len(first), self.groups
        busy: Set[Question] = pending | set(first)
        with self._nesting:
            nested = self._nested
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
        moment = self._moment.get()
        if moment is not None:
            moment.is_taught = False

    def compute(self) -> ComputedResult:
        """The result of all valid answers; recomputed after changes."""
        with self._finding:
            policy = self.catch_up()
            answers = self._taught  # not those that came meanwhile
            last, settings, examples = self.last_result, policy.settings, policy.examples
            if (
                last is None or last.answers is not answers or last.policy is not policy
                or last.settings is not settings or last.examples is not examples
            ):  # fmt: skip
                result, notes = collect_warnings(lambda: _result(policy, answers))
                if self._nested is not None:  # some answers are about sub-groups alone
                    with self.lock:
                        numbers = [event.question for event in self.state.evidence()]
                    result = replace(result, n_queries=len({*numbers}), n_queries_raw=len(numbers))
                within: dict[int, Clustering] = {}
                notes_within: list[tuple[int, AskmeansWarning]] = []
                with self._nesting:
                    branches = {} if self._nested is None else self._nested.branches
                    for number, branch in branches.items():
                        within[number], warned = collect_warnings(branch.clustering)
                        notes_within += [(number, note) for note in warned]
                self.last_result = last = ComputedResult(
                    result=result, answers=answers, policy=policy, settings=settings,
                    examples=examples, notes=tuple(notes),
                    has_evidence=bool(policy.advice) or any(map(_places_items, answers.batches)),
                    children={j: branch.node.children for j, branch in branches.items()},
                    within=within, notes_within=tuple(notes_within),
                )  # fmt: skip
            return last

    @property
    def notes(self) -> list[AskmeansWarning]:
        """Warnings of the policy that still hold."""
        return [note for _, note in self._notes]

    @property
    def is_over(self) -> bool:
        """Whether everything was asked."""
        with self.lock:
            if self.wanting():
                return False  # another opinion is wanted
            top = self.groups.children(None)
            if len(top) > 1 and len(self.state.answered) < len(self.rows):
                return False  # an item is left: no need to rank the questions
        return not self.propose(1, frozenset(), "")

    @property
    def settled(self) -> bool:
        """Whether the policy would stop, by the models fitted so far."""
        with self._nesting:
            policy = self._nested or self.policy
            return collect_warnings(lambda: policy.settled)[0]

    def is_surprising(self, number: int, value: Value) -> bool:
        """Whether confident models expected another answer."""
        policy, question = self.policy, self.question(number)
        if question.kind not in ("membership", "group"):
            return False
        expected = collect_warnings(lambda: policy.expected(question.items[0]))[0]
        if expected is None:
            return False
        if isinstance(value, tuple):
            distance = difference(self.groups.row_now(value), expected)
            return max(expected) > DISAGREEING and distance > DISAGREEING
        column = None if question.cluster is None else self.groups.column(question.cluster)
        return column is not None and abs(value - expected[column]) > DISAGREEING

    def error_curve(self) -> tuple[ErrorEstimate, ...]:
        """How the estimated error of the result fell as answers came."""
        return collect_warnings(self.catch_up().error_curve)[0]

    @property
    def suggestion(self) -> tuple[int, str | None]:
        """The number of groups that the answers suggest; and why, if there are fewer."""
        policy = self.policy
        wanted = collect_warnings(lambda: policy.suggested_clusters)[0]
        if wanted <= policy.n_clusters:
            return wanted, None
        lost, answered = collect_warnings(lambda: policy.unassigned)[0]
        return wanted, (
            f"{lost} of the {answered} items asked about belong to none of the {policy.n_clusters} "
            f"groups, so there may be {wanted}."
        )

    @property
    def left(self) -> int | None:
        """Questions that the budget still allows; None without a limit."""
        if self.state.budget is None:
            return None
        return max(0, self.state.budget - self.state.n_spent)

    def is_open(self, number: int) -> bool:
        """Whether a question wants an answer: it is not settled, and its group exists."""
        if self.state.is_settled(number):
            return False
        question, groups = self.question(number), self.groups
        if question.cluster is None:
            return True
        group = groups.resolve(question.cluster)
        if question.kind == "group":  # to which sub-group
            return group is not None and bool(groups.children(group))
        return group is not None

    def wanting(self) -> list[int]:
        """Questions with answers that want another opinion."""
        return [number for number in self.open() if self.state.count(number)]

    def open(self) -> list[int]:
        """Questions with a number that want an answer."""
        return sorted(filter(self.is_open, self._not_settled()))

    @property
    def n_open(self) -> int:
        """How many questions that were handed out want an answer."""
        return len(self._not_settled()) if self.groups.is_plain else len(self.open())

    def _not_settled(self) -> set[int]:
        """Issued questions with fewer answers than wanted."""
        state, seen = self._looked
        if state is not self.state:  # the log was read again
            self._unsettled, seen = set(self._questions), 0
        for number in dict.fromkeys(self.state.touched[seen:]):
            if self.state.is_settled(number):
                self._unsettled.discard(number)
            else:
                self._unsettled.add(number)
        self._looked = self.state, len(self.state.touched)
        return self._unsettled

    def know(self, pairs: Iterable[tuple[int, Question]]) -> None:
        """Add numbered questions."""
        for number, question in pairs:
            if number not in self._questions:
                with as_written(self.store.url):
                    check(all(map(self._has_row, question.items)), f"question {number}: its items")
                self._questions[number] = question
                if not self.state.is_settled(number):
                    self._unsettled.add(number)
                self._numbers[question] = number
                self._about.setdefault(question.items, []).append(number)

    @property
    def n_questions(self) -> int:
        """The number of known questions."""
        return len(self._questions)

    def number(self, question: Question) -> int | None:
        """A question's number; None for an unknown question."""
        return self._numbers.get(question)

    def question(self, number: int) -> Question:
        """A question by its number; a QueryError for an unknown one."""
        question = self._questions.get(number)
        if question is None:  # another process may have handed it out
            self.know(self.store.questions(self.record.id, self.n_questions))
            question = self._questions.get(number)
        if question is None:
            raise QueryError(
                f"There must be a question {number!r} in session {self.record.name!r}. Got none; "
                "ask() returns those that are open.",
                user_message="There is no such question in this session. Go on with the next one.",
            )
        return question

    def plain_question(self, number: int) -> Question:
        """A question by its number; for a copy the gold question."""
        question = self.question(number)
        return question if question.repeat < GOLD_COPY else question._replace(repeat=0)

    def asked_question(self, number: int) -> AskedQuestion:
        """A question by its number, as a record for callers."""
        with self.lock:
            kind, items, cluster, repeat = self.plain_question(number)
        return AskedQuestion(id=int(number), kind=kind, items=items, cluster=cluster, repeat=repeat)

    def about(self, items: tuple[int, ...]) -> list[int]:
        """Numbers of the questions about exactly these items."""
        return list(self._about.get(items, ()))

    def _evidence(self) -> "_Evidence":
        """The valid answers as a table."""
        state = self.state
        if self._table is not None and self._table.n_changes != state.n_changes:
            self._table = self._carried_on(self._table)
        if self._table is None:
            groups = self.groups
            evidence = as_evidence(state.evidence(), self.plain_question, groups)
            answers = Answers.of(renumbered(evidence), len(groups.children(None)))
            again = to_ask_again(evidence) if state.group_changes else []
            nodes = []
            for number in groups.inner:
                node, further = self._node(number)
                nodes.append(node)
                again += further
            self._table = _Evidence(
                n_changes=state.n_changes,
                n_rewrites=state.n_rewrites,
                n_given=len(state.log_answers),
                answers=answers,
                again=tuple(again),
                nodes=tuple(nodes),
            )
        return self._table

    def _node(self, number: int) -> tuple[Node, list[Question]]:
        """A group with sub-groups and what was answered about these, and what to ask again."""
        groups, state = self.groups, self.state
        evidence = as_evidence(state.evidence(), self.plain_question, groups, number)
        children = groups.children(number)
        node = Node(
            number=number,
            parent=groups.parent(number),
            children=tuple(children),
            answers=Answers.of(renumbered(evidence), len(children)),
            advice=as_advice(state.advice, groups, number),
        )
        return node, [q._replace(cluster=number) for q in to_ask_again(evidence)]

    def _carried_on(self, table: "_Evidence") -> "_Evidence | None":
        """The table extended by new answers; None if it must be made again."""
        state, groups = self.state, self.groups
        if table.n_rewrites != state.n_rewrites or state.group_changes:
            return None
        new = state.log_answers[table.n_given :]
        evidence = as_evidence(new, self.plain_question, groups)
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
        config = replace(self.config, n_clusters=len(self.groups.children(None)))
        changed = (config.budget is None) != (self.state.budget is None)
        return replace(config, budget=self.state.budget) if changed else config


def _places_items(batch: AnswerBatch) -> bool:
    """Whether an answer is neither "cannot say" nor "none of these"."""
    if batch.queries.kind == "group":
        return bool((batch.values > 0.0).any())
    return bool(np.isfinite(batch.values).any())


def _result(policy: StratifiedPolicy, answers: Answers) -> Result:
    """The best result from these answers, with its cost."""
    clustering = policy.clustering()
    questions = {question for batch in answers.batches for question in batch.queries.questions()}
    return Result(
        clustering=clustering,
        n_queries=len(questions),
        n_queries_raw=len(answers),
        n_rounds=policy.round,
        history=answers,
    )


def _is_forest(into: Mapping[int, int]) -> bool:
    """Whether merges have no cycle."""
    for number in into:
        for _ in range(len(into) + 1):
            if number not in into:
                break
            number = into[number]
        else:
            return False
    return True
