"""The log of a session in one process: reading, writing, questions and leases.

Rules of this file:
- Nothing is computed here: `fold` only updates the state, so it may be called inside both a write
  transaction and `lock`, which guards the folded log and the numbers of questions for short times.
- An invitation (`checking`) is checked again inside every write transaction, so that a request that
  began before the invitation ended, and writes after it, is refused.
- The cost of an answer does not grow with their number: counts are updated, and made again only
  when the log is read again.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from askmeans._util.message import Message
from askmeans.exceptions import QueryError, StoreMovedError
from askmeans.queries import Question
from askmeans.sessions.config import Config
from askmeans.sessions.events import AddGroup, Event, Pseudonym, Refine
from askmeans.sessions.group_numbers import GroupNumbers
from askmeans.sessions.reports import Question as NumberedQuestion
from askmeans.sessions.rows import Rows
from askmeans.sessions.state import State
from askmeans.sessions.store.records import Lease, SessionRecord, as_written, check

if TYPE_CHECKING:
    from askmeans.sessions.store.sql import Store, Transaction

T = TypeVar("T")
Check = Callable[["Transaction"], None]  # raises an error if the person may not write any more

# The repeat of a gold question that is to be copied. Copies, which make gold questions look as new
# as others, have this plus their number.
GOLD_COPY = 1 << 30
_CLOCK_SLIP = 5.0  # seconds by which a clock may be set back without ending a lease


@dataclass(slots=True)
class Moment:
    """A block of `reading_once`."""

    is_read: bool = False
    is_taught: bool = False  # whether the policy has learnt what was read
    leases: tuple[float, list[Lease]] | None = None


class Runtime:
    """Log, questions and leases of one session, in one process."""

    def __init__(self, store: "Store", record: SessionRecord, config: Config, rows: Rows) -> None:
        self.store = store
        self.record = record
        self.config = config
        self.rows = rows
        self.lock = threading.RLock()
        self.state = self._new_state()
        self._groups: tuple[tuple[State, int, tuple[int, ...]] | None, GroupNumbers | None]
        self._groups = None, None  # the last ones, and what they follow from
        self._questions: dict[int, Question] = {}
        self._numbers: dict[Question, int] = {}
        self._about: dict[tuple[int, ...], list[int]] = {}
        self._moment: ContextVar[Moment | None] = ContextVar("moment", default=None)
        self._permission: ContextVar[Check | None] = ContextVar("check", default=None)
        self._unsettled: set[int] = set()  # questions, up to the events in `_scanned`
        self._scanned: tuple[State, int] = (self.state, 0)
        self.remember_questions(store.questions(record.id))
        self.refresh()

    def _new_state(self) -> State:
        """The state before the first event."""
        config = self.config
        return State(config.annotations, config.budget, config.most_annotations)

    @contextmanager
    def reading_once(self) -> Iterator[None]:
        """Read the log once within this block, in this thread or task."""
        before = self._moment.set(self.moment or Moment())
        try:
            yield
        finally:
            self._moment.reset(before)

    @property
    def moment(self) -> Moment | None:
        """The block of `reading_once` that this thread or task is in."""
        return self._moment.get()

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
        moment = self.moment
        if moment is None or not moment.is_read:
            with self.lock:
                self.fold(self.store.events(self.record.id, self.state.last))

    def catch_up(self) -> None:
        """Fold new events, and load new questions and rows; within `reading_once` only once."""
        moment = self.moment
        with self.lock:
            if moment is None or not moment.is_read:
                self.refresh()
                self.remember_questions(self.store.questions(self.record.id, self.n_questions))
            if self.rows.n_parts < self.state.n_parts:
                self.rows.load()

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
                    self.fold(self._since(transaction))
                    done = work(transaction)
                moment = self.moment
                if moment is not None:
                    moment.leases = None
                    moment.is_taught = moment.is_taught and not transaction.appended
                self.fold(transaction.appended)
                return done

        return self.store.retry_lost(once)

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
                user_message=Message(
                    "The database of this session was put back to an older state while the page "
                    "was open, so this was not saved. Whoever runs the session has to start it "
                    "again."
                ),
            )
        return events[1:]

    def leases(self) -> tuple[float, list[Lease]]:
        """The database's time and all leases; within `reading_once` those read before."""
        moment = self.moment
        if moment is not None and moment.leases is not None:
            return moment.leases
        return self.cache_leases(*self.store.leases(self.record.id))

    def leases_in_force(self, leases: Iterable[Lease], now: float) -> list[Lease]:
        """The leases that have not ended.

        One that ends later than the session allows dates from before the clock was set back.
        """
        latest = now + self.config.lease_seconds + _CLOCK_SLIP
        return [lease for lease in leases if now < lease.until <= latest]

    def cache_leases(self, now: float, leases: list[Lease]) -> tuple[float, list[Lease]]:
        """Cache the leases for the rest of a `reading_once` block; return them."""
        moment = self.moment
        if moment is not None:
            moment.leases = now, leases
        return now, leases

    def fold(self, events: Sequence[Event]) -> None:
        """Fold events; after a pseudonym the whole log again."""
        moment = self.moment
        if moment is not None:
            moment.is_read = True
        if any(isinstance(event, Pseudonym) for event in events) and self.state.last:
            self.state = self._new_state()
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
        changes = tuple(change.id for change in state.group_changes)
        last, groups = self._groups
        if groups is None or last != (state, n, changes):
            groups = GroupNumbers.of(n, state.group_changes, state.withdrawn)
            self._groups = (state, n, changes), groups
        return groups

    @property
    def budget_left(self) -> int | None:
        """Questions that the budget still allows; None without a limit."""
        if self.state.budget is None:
            return None
        return max(0, self.state.budget - self.state.n_spent)

    def is_open(self, number: int) -> bool:
        """Whether a question wants an answer: it is not settled, and its group exists."""
        return not self.state.is_settled(number) and self.has_group(self.question(number))

    def has_group(self, question: Question) -> bool:
        """Whether a question's group exists, with sub-groups where these are asked for."""
        if question.cluster is None:
            return True
        groups = self.groups
        group = groups.resolve(question.cluster)
        if question.kind == "group":  # to which sub-group
            return group is not None and bool(groups.children(group))
        return group is not None

    def awaiting_opinion(self) -> list[int]:
        """Answered questions that want another opinion."""
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
        state, n_scanned = self._scanned
        if state is not self.state:  # the log was read again
            self._unsettled, n_scanned = set(self._questions), 0
        for number in dict.fromkeys(self.state.touched[n_scanned:]):
            if self.state.is_settled(number):
                self._unsettled.discard(number)
            else:
                self._unsettled.add(number)
        self._scanned = self.state, len(self.state.touched)
        return self._unsettled

    def remember_questions(self, pairs: Iterable[tuple[int, Question]]) -> None:
        """Add questions with their numbers to those in memory."""
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
            self.remember_questions(self.store.questions(self.record.id, self.n_questions))
            question = self._questions.get(number)
        if question is None:
            raise QueryError(
                f"There must be a question {number!r} in session {self.record.name!r}. Got none; "
                "only questions that were asked have a number.",
                user_message=Message(
                    "There is no such question in this session. Go on with the next one."
                ),
            )
        return question

    def original_question(self, number: int) -> Question:
        """A question by its number; for a copy the gold question."""
        question = self.question(number)
        return question if question.repeat < GOLD_COPY else question._replace(repeat=0)

    def numbered_question(self, number: int) -> NumberedQuestion:
        """A question by its number, as a record for callers."""
        with self.lock:
            kind, items, cluster, repeat = self.original_question(number)
        return NumberedQuestion(
            id=int(number), kind=kind, items=items, cluster=cluster, repeat=repeat
        )

    def pinned(self, group: int) -> list[int]:
        """Rows that were pinned as examples of a group, or of one merged into it."""
        return [row for j in self.groups.members(group) for row in self.state.pins.get(j, ())]

    def questions_about(self, items: tuple[int, ...]) -> list[int]:
        """Numbers of the questions about exactly these items."""
        return list(self._about.get(items, ()))


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
