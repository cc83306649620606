"""Who gets which question, and how answers are taken in: leases, keys, legal moves.

Rules of this file:
- A write transaction holds no computing: questions are chosen before it; in it events are folded,
  what was chosen is checked, and rows are written. Where somebody was quicker, it is tried again.
- What is checked is checked inside the transaction, against all events there are. Nothing is
  changed in memory before the commit.
- Two hold the same question at once only if several annotations of it are wanted. Nobody holds more
  than MOST_HELD; and who has nothing to do takes a question over from somebody who holds several:
  that lease ends, as if its time were over.
- The budget limits what is handed out. An answer to a question that was handed out is always kept.
- Where the connection to the database is lost, the whole move is tried again with the same key:
  whether it was kept before is found in the log.
"""

import itertools
import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from askmeans.exceptions import BudgetError, KeyConflictError, SessionError
from askmeans.queries import Question as Asked
from askmeans.queries.values import numbered_text
from askmeans.sessions.group_numbers import as_number, as_shares
from askmeans.sessions.log import (
    ANSWERS,
    GOLD,
    Event,
    EventKind,
    NewEvent,
    Standing,
    State,
    Value,
    as_key,
    check_annotator,
    key_of_group,
    key_of_split,
)
from askmeans.sessions.reports import Question, Receipt, SessionState, Undone
from askmeans.sessions.runtime import GOLD_COPY, Runtime
from askmeans.sessions.store.contract import Lease, Transaction

__all__ = ["Assignment", "receipt_of"]

SPARE = 16  # questions chosen beside those wanted: as many may be quicker before all is done anew
MOST_HELD = 48  # questions of one annotator: three times what a page prepares for (`web/ahead.py`)
# Questions of which one is gold, at a random place: a tenth of the work, as is usual in crowds.
GOLD_EVERY = 10
_SLIP = 5.0  # seconds that a clock may be set back without ending a lease


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leases:
    """Who holds what, as one annotator sees it."""

    annotator: str
    own: Set[int]  # theirs, in force
    once: Set[int]  # theirs, in force or ended
    others: Counter[int]  # how many others hold a question
    theirs: list[Lease]  # the leases of others in force
    reserved: Set[int]  # what others hold and nobody has answered: it will cost budget


class Assignment:
    """Hands out questions and takes in answers."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.lock = runtime.lock

    def ask(
        self, n: int, annotator: str, *, whole_row: bool = False, seconds: float | None = None
    ) -> list[Question]:
        """Questions for somebody, leased; none where `state_for` says why."""
        annotator = check_annotator(annotator, person=True)
        while True:
            self.runtime.catch_up()
            chosen, spare = self.choose(min(n, MOST_HELD), annotator, whole_row=whole_row)
            if not chosen:
                return []
            until = self._lease_seconds(seconds)
            numbers = self.hand_out(chosen, spare, annotator, until)
            if numbers is not None:
                return [self.question(number) for number in numbers]

    def upcoming(self, n: int, annotator: str) -> list[Asked]:
        """Questions that somebody would get now, at most n; nothing is leased."""
        annotator = check_annotator(annotator, person=True)
        self.runtime.catch_up()
        return self.choose(n, annotator)[0]

    def choose(
        self, n: int, annotator: str, *, whole_row: bool = False
    ) -> tuple[list[Asked], list[Asked]]:
        """Questions for somebody, at most n, in the order they should get them.

        What they hold comes first, then what they held, then what others answered or hold and
        wants more opinions, then the policy's proposals; last what they skipped, the longest ago
        first. And the proposals after those, for where somebody else is quicker.
        """
        runtime = self.runtime
        with self.lock:
            if runtime.state.paused:
                return [], []
            now, listed = runtime.leases()
            leases = self._leases(annotator, listed, now)
            first = [runtime.question(number) for number in self._begun(leases)]
            skipped = [runtime.question(number) for number in self._skipped(leases)]
            pending = self._pending(leases)
        chosen = self._affordable(first, n, leases)
        left = self._budget(leases) - sum(self._costs(question, leases) for question in chosen)
        room, spare = int(min(n - len(chosen), left)), list[Asked]()
        if room > 0:
            found = runtime.propose(room + SPARE, pending | set(chosen), annotator)
            with self.lock:  # what nobody may have would be refused at every attempt
                found = [question for question in found if self._is_free(question, leases)]
            chosen, spare = [*chosen, *found[:room]], found[room:]
        if len(chosen) < n:
            chosen = self._affordable([*chosen, *skipped], n, leases)
        if not chosen:
            with self.lock:
                over = self._to_take_over(leases)
            return ([] if over is None else [runtime.question(over.question)]), []
        if whole_row and chosen:
            free = {question for question in pending if question.items != chosen[0].items}
            same = runtime.row(chosen[0], free, annotator)
            with self.lock:
                same = [q for q in same if q not in skipped and self._is_free(q, leases)]
            chosen = self._affordable([*chosen, *same], n + len(same), leases)
            spare = [] if same else spare  # a row is handed out as a whole
        with self.lock:
            mixed = self._with_gold(chosen, n, leases, whole_row=whole_row)
        return mixed, [] if whole_row and mixed != chosen else spare

    def _with_gold(
        self, chosen: list[Asked], n: int, leases: _Leases, *, whole_row: bool
    ) -> list[Asked]:
        """The chosen questions, with gold ones at their places among those not leased before.

        One in ten is gold, at a place in each ten that follows from the seed and the person.
        """
        runtime, state, name = self.runtime, self.runtime.state, leases.annotator
        if not state.gold or not chosen:
            return chosen
        mine = [event.asked for event in state.given_by(name)]
        held = [q for q in chosen if runtime.number(q) in leases.own]
        is_gold = [number in state.gold for number in mine]
        is_gold += [runtime.number(question) in state.gold for question in held]
        left = self._gold_left(leases)
        mixed, others = list(held), iter(chosen[len(held) :])
        while len(mixed) < (1 if whole_row else n):
            block, place = divmod(len(is_gold), GOLD_EVERY)
            rng = np.random.default_rng([runtime.config.seed, zlib.crc32(name.encode()), block])
            due = (
                len(left) > 0
                and sum(is_gold) <= block
                and not any(is_gold[block * GOLD_EVERY :])
                and place >= int(rng.integers(GOLD_EVERY))
            )
            question = next(others, None)
            if question is None:  # no gold question is the last one there is
                break
            if due:
                others = itertools.chain([question], others)
                question = runtime.question(left.pop(0))._replace(repeat=GOLD_COPY)
            mixed.append(question)
            is_gold.append(due)
        if not whole_row:
            return mixed
        if held or not is_gold[-1]:
            return chosen
        row = [runtime.question(number)._replace(repeat=GOLD_COPY) for number in left]
        return mixed + [question for question in row if question.items == mixed[0].items]

    def _gold_left(self, leases: _Leases) -> list[int]:
        """Gold questions that somebody neither answered nor holds, in an order of their own."""
        state = self.runtime.state
        known = {event.asked for event in state.given_by(leases.annotator)} | leases.own
        seen = {state.original(number) for number in known}
        originals = sorted({state.original(number) for number in state.gold})
        name = zlib.crc32(leases.annotator.encode())
        order = np.random.default_rng([self.runtime.config.seed, name]).permutation(len(originals))
        return [number for number in np.array(originals)[order].tolist() if number not in seen]

    def _copied(self, taken: list[Asked], leases: _Leases) -> list[Asked] | None:
        """The questions, with a copy for each gold one; None where they got one meanwhile."""
        runtime, copied = self.runtime, list[Asked]()
        left = set(self._gold_left(leases)) if runtime.state.gold else set()
        for question in taken:
            if question.repeat == GOLD_COPY:
                if runtime.number(question._replace(repeat=0)) not in left:
                    return None
                repeat = GOLD_COPY + runtime.n_questions + 1 + len(copied)
                question = question._replace(repeat=repeat)
            copied.append(question)
        return copied

    def hand_out(
        self, chosen: list[Asked], spare: list[Asked], annotator: str, seconds: float
    ) -> list[int] | None:
        """Lease the questions, or spare ones for those that somebody else has got meanwhile.

        None where there are not enough: then all is chosen anew.
        """
        runtime = self.runtime
        with self.lock:
            now, listed = runtime.leases()
            known = self._leases(annotator, listed, now).once
            first = any(runtime.number(question) not in known for question in chosen)

        def lease(
            transaction: Transaction,
        ) -> tuple[list[Asked], list[int], float, list[Lease]] | None:
            runtime.know(transaction.questions(runtime.n_questions))
            now, listed = transaction.leases()
            leases = self._leases(annotator, listed, now)
            free = (q for q in (*chosen, *spare) if self._is_free(q, leases))
            taken = list(itertools.islice(free, len(chosen)))
            ended = list[Lease]()
            over = None if taken else self._to_take_over(leases)
            if over is not None and runtime.question(over.question) in chosen:
                taken, ended = chosen, [replace(over, until=now)]
            copied = self._copied(taken, leases)
            if copied is None:
                return None
            taken = copied
            unknown = [question for question in taken if runtime.number(question) is None]
            affordable = len(self._affordable(taken, len(chosen), leases)) == len(chosen)
            is_first = any(runtime.number(question) not in leases.once for question in taken)
            if not affordable or (is_first and not first):
                return None
            added = transaction.add_questions(unknown, after=runtime.n_questions)
            numbered = dict(zip(unknown, added, strict=True))
            numbers = [numbered.get(q) or runtime.number(q) or 0 for q in taken]
            given = [Lease(question=number, annotator=annotator, until=now + seconds)
                     for number in numbers]  # fmt: skip
            for question, number in numbered.items():
                if question.repeat > GOLD_COPY:
                    original = runtime.number(question._replace(repeat=0)) or 0
                    known = runtime.state.gold[original]
                    transaction.append(
                        NewEvent(kind=EventKind.GOLD, annotator=GOLD, question=number,
                                 value=known.value, target=original)
                    )  # fmt: skip
            transaction.lease(*given, *ended)
            return taken, numbers, now, _with(listed, given + ended)

        # That somebody was asked must survive the machine, or their answer would be refused
        # afterwards; that they hold it a little longer need not.
        done = runtime.write(lease, durable=first)
        if done is None:
            return None
        taken, numbers, now, held = done
        with self.lock:
            runtime.know(zip(numbers, taken, strict=True))
            runtime.keep_leases(now, held)
        return numbers

    def hand_over(self, question: Asked, annotator: str) -> Question:
        """A question that somebody wants, leased to them, whatever the policy proposes."""
        annotator, runtime = check_annotator(annotator, person=True), self.runtime

        def lease(transaction: Transaction) -> int:
            runtime.know(transaction.questions(runtime.n_questions))
            (number,) = transaction.add_questions([question])
            until = transaction.now() + self._lease_seconds(None)
            transaction.lease(Lease(question=number, annotator=annotator, until=until))
            return number

        number = runtime.write(lease)
        with self.lock:
            runtime.know([(number, question)])
        return self.question(number)

    def give(
        self, kind: EventKind, number: int, value: Value | None, annotator: str, key: str | None,
        *, instead: bool = False,
    ) -> Receipt:  # fmt: skip
        """Append an answer, an unsure or a skip, unless it is there already.

        Or put it in the place of what they said: both are appended, or none.
        """
        new = NewEvent(
            kind=kind, key=as_key(key), value=value,
            annotator=check_annotator(annotator, person=True),
            question=self.question(number).id,  # refuses what is no question
        )  # fmt: skip
        if instead:
            self.runtime.catch_up()
        read: list[tuple[float, list[Lease]]] = []  # who holds what afterwards, where it is known

        def keep(transaction: Transaction) -> tuple[Event, bool]:
            known, state = self._known(new), self.runtime.state
            used = (new.annotator, new.key) in state.by_key
            old = state.mine(number, new.annotator) if instead else None
            if known is not None:
                if key is not None and not used:  # the key is used up, too
                    transaction.append(replace(new, kind=EventKind.AGAIN))
                return known, True
            if old is None or old.kind not in ANSWERS:
                event, *read[:] = self._append(transaction, new)
                return event, False
            transaction.append(_undo_event(old, as_key(None)))
            return transaction.append(replace(new, late=old.late)), False

        event, repeated = self.runtime.write(keep)
        for leases in read:  # the next question need not read them again
            self.runtime.keep_leases(*leases)
        with self.lock:
            return self.receipt(event, repeated=repeated)

    def undo(
        self, number: int | None, annotator: str, key: str | None, event: int | None = None
    ) -> Undone:
        """Append an undo of somebody's last answer or skip, or of that to a question."""
        annotator, key, runtime = check_annotator(annotator), as_key(key), self.runtime
        runtime.catch_up()

        def take_back(transaction: Transaction) -> tuple[Event, bool]:
            known = runtime.state.by_key.get((annotator, key))
            if known is not None:
                regroup = known.kind is EventKind.REGROUP and number is None
                kind = EventKind.REGROUP if regroup else EventKind.UNDO
                _check_same(known, kind, number, None)
                return known, True
            last = self._regrouping(number, annotator, event)
            if last is not None:
                new = NewEvent(kind=EventKind.REGROUP, key=key, annotator=annotator, target=last.id)
                return transaction.append(new), False
            taken = self._to_undo(number, annotator, event)
            made = runtime.state.group_made_with(taken)
            undo = transaction.append(_undo_event(taken, key))
            if made is not None:
                new = NewEvent(
                    kind=EventKind.REGROUP,
                    key=key_of_group(key),
                    annotator=annotator,
                    target=made.id,
                )
                transaction.append(new)
            self._lease_back(transaction, taken)
            return undo, False

        undo, repeated = runtime.write(take_back)
        if undo.kind is EventKind.REGROUP:
            self._restore_split_answers()
        with self.lock:
            return self._undone(undo, repeated=repeated)

    def _restore_split_answers(self) -> None:
        """Answers that a split changed are as they were before, where its group was taken back."""
        with self.lock:
            state = self.runtime.state
            withdrawn = tuple(key_of_split(group) for group in state.withdrawn)
            moved = [
                event
                for (_, key), event in state.by_key.items()
                if key.startswith(withdrawn) and state.stands(event)
            ]
            before = [_replaced(event, list(state.by_key.values())) for event in moved]
        for event, old in zip(moved, before, strict=True):
            if old is not None:
                self.give(old.kind, event.asked, old.value, event.annotator, None, instead=True)

    def renew(self, annotator: str, wanted: float | None) -> None:
        """Let somebody's leases in force end so many seconds from now; 0: others may have them."""
        annotator, seconds = check_annotator(annotator, person=True), self._lease_seconds(wanted)

        def end(transaction: Transaction) -> None:
            now, listed = transaction.leases()
            mine = [e for e in self.in_force(listed, now) if e.annotator == annotator]
            transaction.lease(*(replace(lease, until=now + seconds) for lease in mine))

        self.runtime.write(end, durable=False)

    def append(
        self,
        make: Callable[[Transaction], Iterable[NewEvent]],
        key: str | None = None,
        annotator: str = "",
    ) -> Event:
        """Append events that are made of all that happened before them; the first of them.

        With a key that this annotator used before, what was appended then.
        """
        first, by = as_key(key), annotator

        def append(transaction: Transaction) -> Event:
            nonlocal by
            done = self.runtime.state.by_key.get((by, first))
            if done is not None:  # perhaps the connection was lost after the commit
                return done
            for place, event in enumerate(make(transaction)):
                who, key = check_annotator(event.annotator), f"{first}-{place}" if place else first
                by = by if place else who
                transaction.append(replace(event, annotator=who, key=key))
            return transaction.appended[0]

        return self.runtime.write(append)

    def log(self, make: Callable[[], NewEvent]) -> Receipt:
        """Append an event that is made of all that happened before it."""
        event = self.append(lambda _: [make()])
        with self.lock:
            return self.receipt(event)

    def state_for(self, annotator: str | None) -> SessionState:
        """What the session is doing, for somebody or for anybody."""
        runtime = self.runtime
        if runtime.is_over:
            return SessionState.DONE
        with self.lock:
            if runtime.left == 0 and not runtime.wanting():
                return SessionState.SPENT
            if runtime.state.paused:
                return SessionState.PAUSED
        if annotator is None or self.choose(1, annotator)[0]:
            return SessionState.ASKING
        return SessionState.WAITING

    def question(self, number: int) -> Question:
        """A question by its number."""
        with self.lock:
            kind, items, cluster, repeat = self.runtime.plain_question(number)
        return Question(id=int(number), kind=kind, items=items, cluster=cluster, repeat=repeat)

    def checked_value(self, number: int, value: Any, names: Callable[[], list[str]]) -> Value:
        """An answer to a question: a number, or a row of shares by the groups' numbers."""
        kind, levels = self.question(number).kind, self.runtime.config.levels
        if kind != "group":
            return as_number(value, 3 if kind == "relative" else levels)
        with self.runtime.up_to_date():
            return as_shares(value, self.runtime.groups, names(), levels)

    def receipt(self, event: Event, *, repeated: bool = False) -> Receipt:
        """That an event was kept."""
        return receipt_of(event, self.runtime.state, repeated=repeated)

    def _lease_seconds(self, wanted: float | None) -> float:
        """How long a lease lasts: as wanted, at most as long as those of the session."""
        most = self.runtime.config.lease_seconds
        return most if wanted is None else min(wanted, most)

    def in_force(self, leases: Iterable[Lease], now: float) -> list[Lease]:
        """Those of the leases that have not ended, and are no longer than the session's.

        One that reaches farther was given before the clock was set back; it would last too long.
        """
        latest = now + self.runtime.config.lease_seconds + _SLIP
        return [lease for lease in leases if now < lease.until <= latest]

    def _leases(self, annotator: str, listed: list[Lease], now: float) -> _Leases:
        """Who holds what, as an annotator sees it."""
        state, held = self.runtime.state, self.in_force(listed, now)
        theirs = [lease for lease in held if lease.annotator != annotator]
        others = Counter(lease.question for lease in theirs)
        return _Leases(
            annotator=annotator,
            own={lease.question for lease in held if lease.annotator == annotator},
            once={lease.question for lease in listed if lease.annotator == annotator},
            others=others,
            theirs=theirs,
            reserved={n for n in others if n not in state.gold and not state.count(n)},
        )

    def _begun(self, leases: _Leases) -> list[int]:
        """Open questions that somebody holds, or held, or that want another opinion."""
        state, runtime = self.runtime.state, self.runtime
        wanting: set[int] = set()
        if state.wants_several:
            wanting = {*runtime.wanting(), *(n for n in leases.others if state.wanted(n) > 1)}
        found = [
            number
            for group in (leases.own, leases.once - leases.own, wanting - leases.once)
            for number in sorted(group)
        ]
        return [
            number
            for number in found
            if (number in leases.own or state.mine(number, leases.annotator) is None)
            and self._is_free(runtime.question(number), leases)
        ]

    def _skipped(self, leases: _Leases) -> list[int]:
        """Open questions that somebody skipped, the longest ago first."""
        return [
            number
            for number in self.runtime.state.skipped_by(leases.annotator)
            if number not in leases.own and self._is_free(self.runtime.question(number), leases)
        ]

    def _to_take_over(self, leases: _Leases) -> Lease | None:
        """The lease that ends for somebody who has nothing else to do: the oldest there is.

        Of whoever holds questions about one thing only, which they are looking at, none is taken.
        """
        runtime, about = self.runtime, dict[str, set[tuple[int, ...]]]()
        open_ = [
            lease
            for lease in leases.theirs
            if lease.question not in runtime.state.gold and runtime.is_open(lease.question)
        ]
        for lease in open_:
            about.setdefault(lease.annotator, set()).add(runtime.question(lease.question).items)
        may = [
            lease
            for lease in open_
            if len(about[lease.annotator]) > 1
            and runtime.state.mine(lease.question, leases.annotator) is None
        ]
        # Of those that one call handed out the last: its holder answers in their order.
        return min(may, key=lambda lease: (lease.until, -lease.question), default=None)

    def _pending(self, leases: _Leases) -> set[Asked]:
        """Questions that nobody new shall get: leased by anybody, or answered and not settled."""
        state, runtime = self.runtime.state, self.runtime
        numbers = {*leases.own, *leases.others, *state.skipped_by(leases.annotator)}
        if state.wants_several:
            numbers |= {*runtime.wanting()}
        return {runtime.plain_question(number) for number in numbers}

    def _is_free(self, question: Asked, leases: _Leases) -> bool:
        """Whether somebody may have a question: it is open, and not with others or answered."""
        number = self.runtime.number(question)
        if number is None:
            return True
        state = self.runtime.state
        mine = state.mine(number, leases.annotator)
        if number in state.gold:
            return mine is None
        if not self.runtime.is_open(number) or (mine is not None and mine.kind in ANSWERS):
            return False
        wanted = state.wanted(number) - len(state.answers(number))
        return number in leases.own or leases.others[number] < wanted

    def _costs(self, question: Asked, leases: _Leases) -> bool:
        """Whether an answer to a question will cost budget that is not kept for it already."""
        number = self.runtime.number(question)
        if question.repeat >= GOLD_COPY or number in self.runtime.state.gold:
            return False
        if number is None:
            return True
        return number not in leases.reserved and not self.runtime.state.count(number)

    def _affordable(self, questions: list[Asked], n: int, leases: _Leases) -> list[Asked]:
        """The first n different questions that the budget allows."""
        left, chosen = self._budget(leases), dict[Asked, None]()
        for question in questions:
            if len(chosen) == n:
                break
            cost = self._costs(question, leases) and question not in chosen
            if not cost or left > 0:
                chosen.setdefault(question)
                left -= cost
        return list(chosen)

    def _budget(self, leases: _Leases) -> float:
        """Questions that the budget allows somebody; what others hold is kept for them."""
        left = self.runtime.left
        return math.inf if left is None else max(0, left - len(leases.reserved))

    def _known(self, new: NewEvent) -> Event | None:
        """The event that is this one already: by its key, or the same said again."""
        known = self.runtime.state.by_key.get((new.annotator, new.key))
        if known is not None:
            _check_same(known, new.kind, new.asked, new.value)
            if known.id in self.runtime.state.undone:
                raise KeyConflictError(
                    f"Nothing was saved: this {known.kind.value} to question {known.question} was "
                    "given before and taken back since. Answer the question anew (with a new key).",
                    user_message="Nothing was saved: you took this answer back since. "
                    "Answer the question that is shown now.",
                )
            return known
        mine = self.runtime.state.mine(new.asked, new.annotator)
        same = mine is not None and (mine.kind, mine.value) == (new.kind, new.value)
        return mine if same and new.kind in ANSWERS else None

    def _append(
        self, transaction: Transaction, new: NewEvent
    ) -> tuple[Event, tuple[float, list[Lease]]]:
        """Keep an answer, an unsure or a skip, and let go of its lease; the leases afterwards."""
        (now, leases), number, annotator = transaction.leases(), new.asked, new.annotator
        mine = [each for each in leases if (each.question, each.annotator) == (number, annotator)]
        self._check_move(new.kind, number, annotator, leased=bool(mine))
        late = new.kind in ANSWERS and self._is_late(number, annotator, mine, now)
        event = transaction.append(replace(new, late=late))
        kept = [lease for lease in leases if lease not in mine]
        if new.kind is EventKind.SKIP and mine:  # they may come back to it
            kept.append(Lease(question=number, annotator=annotator, until=now))
            transaction.lease(kept[-1])
        elif mine:
            transaction.release(number, annotator)
        return event, (now, kept)

    def _check_move(self, kind: EventKind, number: int, annotator: str, *, leased: bool) -> None:
        """Refuse what is not legal, and what was not handed out and the budget does not allow."""
        runtime = self.runtime
        if not runtime.state.may(kind, number, annotator):
            mine = runtime.state.mine(number, annotator)
            assert mine is not None
            said = "'cannot say'" if mine.value is None else said_as_text(mine.value)
            raise KeyConflictError(
                f"Question {number} must be answered once by {annotator!r}. Got another "
                f"{kind.value} after {said}; change it, or undo that first.",
                user_message="You have answered this question before, so this answer was not "
                "saved. Change that one under History, or undo that first.",
            )
        if kind in ANSWERS and not leased and self._is_beyond(number):
            raise BudgetError(
                f"The budget of {runtime.state.budget} questions must not be exceeded. Got an "
                f"answer to question {number} beyond it; raise it first (`askmeans budget DB N`, "
                "Settings.set_budget).",
                user_message="The budget is spent, so this answer was not saved. An owner of the "
                "session can raise it.",
            )

    def _is_beyond(self, number: int) -> bool:
        """Whether an answer to a question would exceed the budget."""
        state = self.runtime.state
        return self.runtime.left == 0 and number not in state.gold and not state.answers(number)

    def _is_late(self, number: int, annotator: str, mine: list[Lease], now: float) -> bool:
        """Whether an answer comes after its lease, the settling of its question or the budget."""
        state = self.runtime.state
        settled = state.is_settled(number) and number not in state.gold
        if settled and not state.has_place(number, annotator):
            return True
        return self._is_beyond(number) or (bool(mine) and not self.in_force(mine, now))

    def _to_undo(self, number: int | None, annotator: str, meant: int | None) -> Event:
        """The event that an undo is about, which must be the one that is meant."""
        state = self.runtime.state
        event = state.last_of(annotator) if number is None else state.mine(number, annotator)
        if event is None:
            where = "" if number is None else f" to question {number}"
            raise SessionError(
                f"There must be an answer or a skip of {annotator!r}{where} to undo. Got none.",
                user_message=f"You have no answer{where} that could be taken back. History lists "
                "those you have.",
            )
        if meant is not None and event.id != meant:
            raise SessionError(
                f"What is taken back must still stand as it was seen (event {meant}). Got event "
                f"{event.id} to question {event.asked} by now; look at the history again.",
                user_message="You have changed this answer since the page was loaded, so nothing "
                "was taken back: look at the history again.",
            )
        assert state.standing(event.asked, annotator) is not Standing.OPEN
        return event

    def _regrouping(self, number: int | None, annotator: str, meant: int | None) -> Event | None:
        """What was done to groups that an undo is about; None where it is about an answer."""
        done = self.runtime.state.regroupings
        if number is not None or not done:
            return None
        last, answer = done[-1], self.runtime.state.last_of(annotator)
        if meant is not None:
            event = next((each for each in done if each.id == meant), None)
            if event is not None and event != last and event.kind is not EventKind.REMOVE:
                raise SessionError(
                    f"What was done to groups must be taken back in turn, the last first "
                    f"(event {last.id}). Got event {meant} instead.",
                    user_message="Groups were added or merged after this one. Take those back "
                    "first, the last one before the others.",
                )
            return event
        theirs = last.annotator == annotator and (answer is None or answer.id < last.id)
        return last if theirs else None

    def _lease_back(self, transaction: Transaction, event: Event) -> None:
        """Lease the question to the person who took the answer back, unless another holds it."""
        now, leases = transaction.leases()
        others = [
            lease
            for lease in leases
            if lease.question == event.asked and lease.annotator != event.annotator
        ]
        until = now if self.in_force(others, now) else now + self.runtime.config.lease_seconds
        transaction.lease(Lease(question=event.asked, annotator=event.annotator, until=until))

    def _undone(self, undo: Event, *, repeated: bool = False) -> Undone:
        """What an undo took back."""
        taken = next(e for e in self.runtime.state.by_key.values() if e.id == undo.target)
        receipt = self.receipt(undo, repeated=repeated)
        if undo.kind is EventKind.REGROUP:
            return Undone(receipt=receipt, question=None, kind=str(taken.kind), value=None)
        state = self.runtime.state
        settled, value = state.is_settled(undo.asked), state.value(undo.asked)
        made = None  # the group that went with the answer
        if (undo.annotator, key_of_group(undo.key)) in state.by_key:
            made = state.by_key.get((taken.annotator, key_of_group(taken.key)))
        silent = isinstance(value, float) and math.isnan(value)
        return Undone(
            receipt=receipt,
            question=self.question(undo.asked),
            kind=str(taken.kind),
            value=taken.value,
            reopened=not settled,
            value_now=value if settled and not silent else None,
            group=None if made is None else made.text,
        )


def _replaced(event: Event, events: list[Event]) -> Event | None:
    """The answer in whose place an event was put."""
    undos = [
        each.target or 0
        for each in events
        if each.kind is EventKind.UNDO and each.id < event.id
        and (each.question, each.annotator) == (event.question, event.annotator)
    ]  # fmt: skip
    return next((each for each in events if undos and each.id == max(undos)), None)


def receipt_of(event: Event, state: State, *, repeated: bool = False) -> Receipt:
    """That an event was kept."""
    known = None
    if state.options.get("gold_feedback"):  # the known answer, for whoever answered
        known = state.gold.get(event.question or 0)
    return Receipt(
        event=event.id,
        kind=str(event.kind),
        question=event.question,
        value=event.value,
        annotator=event.annotator,
        key=event.key,
        at=event.at,
        late=event.late,
        undone=event.id in state.undone,
        repeated=repeated,
        counts=event.question is not None and state.stands(event),
        gold=None if known is None or event.kind not in ANSWERS else known.value,
    )


def _undo_event(event: Event, key: str) -> NewEvent:
    """The undo of an answer or a skip."""
    return NewEvent(
        kind=EventKind.UNDO, key=key, annotator=event.annotator, question=event.asked,
        target=event.id,
    )  # fmt: skip


def said_as_text(value: Value) -> str:
    """An answer in a message: a number, or shares by the groups' numbers."""
    return numbered_text(value) if isinstance(value, tuple) else f"{value:g}"


def _with(leases: list[Lease], given: list[Lease]) -> list[Lease]:
    """Leases, with those that were given since."""
    found = {(lease.question, lease.annotator): lease for lease in (*leases, *given)}
    return list(found.values())


def _check_same(known: Event, kind: EventKind, number: int | None, value: Value | None) -> None:
    """Refuse a key that was used for something else."""
    same = (known.kind, known.value) == (kind, value)
    if same and (number is None or known.question == number):
        return
    raise KeyConflictError(
        f"A key must be used for one answer only. Got {known.key!r:.60} again for something else "
        f"({known.kind.value} {known.value} to question {known.question} came first); use a new "
        "key.",
        user_message="This page sent another answer before, so this one was not saved. Reload the "
        "page, and answer the question that is shown then.",
    )
