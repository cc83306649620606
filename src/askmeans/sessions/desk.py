"""Where questions are handed out and answers taken in: leases, keys, legal moves.

Rules of this file:
- A write transaction holds no computing: events are folded, a question is chosen, rows are written.
  Where the plan must step first, the transaction is left and tried again.
- What is checked is checked inside the transaction, against all events there are. Nothing is
  changed in memory before the commit.
- Two hold the same question at once only if several annotations of it are wanted.
- The budget limits what is handed out. An answer to a question that was handed out is always kept.
"""

import json
import math
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Set
from dataclasses import replace

from askmeans.checks import check_name
from askmeans.exceptions import BudgetError, KeyConflictError, ParameterError, SessionError
from askmeans.sessions.events import ANSWERS, Event, EventKind, NewEvent, Standing
from askmeans.sessions.held import HOLDER
from askmeans.sessions.leases import in_force
from askmeans.sessions.live import Live
from askmeans.sessions.reports import Question, Receipt, SessionState, Undone
from askmeans.sessions.store.contract import Lease, Transaction
from askmeans.text import is_clean

__all__ = ["Desk", "as_key", "check_annotator"]


class Desk:
    """Hands out questions and takes in answers."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.lock = threading.RLock()

    def ask(
        self, n: int, annotator: str, *, whole_row: bool = False, seconds: float | None = None
    ) -> list[Question]:
        """Questions for somebody, leased; none where `state_for` says why."""
        annotator = check_annotator(annotator, person=True)
        live = self.live
        with self.lock:
            while True:
                live.refresh()
                live.advance()
                if live.replay.failure is not None:
                    raise live.replay.failure.with_traceback(None)
                if live.state.paused or not self._is_anything_for(annotator):
                    return []
                with live.store.write(live.record.id, durable=False) as transaction:
                    live.take(transaction.events(live.state.last))
                    if live.must_advance:
                        continue  # somebody was quicker
                    now, leases = transaction.now(), transaction.leases()
                    held_now = self._in_force(leases, now)
                    chosen = self._choose(n, annotator, held_now, leases)
                    if whole_row and chosen:
                        chosen += self._same_row(chosen[0], annotator, held_now, leases)
                    until = now + self._lease_seconds(seconds)
                    for number in chosen:
                        transaction.lease(Lease(question=number, annotator=annotator, until=until))
                return [self.question(number) for number in chosen]

    def give(
        self, kind: EventKind, number: int, value: float | None, annotator: str, key: str | None
    ) -> Receipt:
        """Append an answer, an unsure or a skip, unless it is there already."""
        annotator = check_annotator(annotator, person=True)
        live, own_key = self.live, key is not None
        key = as_key(key)
        with self.lock:
            number = self.question(number).id  # refuses what is no question
            new = NewEvent(kind=kind, key=key, annotator=annotator, question=number, value=value)
            with live.store.write(live.record.id) as transaction:
                live.take(transaction.events(live.state.last))
                known = self._known(new)
                if known is None:
                    event = self._append(transaction, new)
                elif own_key and key not in live.state.by_key:  # the key is used up, too
                    event = transaction.append(replace(new, kind=EventKind.AGAIN))
                else:
                    return self.receipt(known, repeated=True)
            live.take([event])
            return self.receipt(known or event, repeated=known is not None)

    def change(
        self, kind: EventKind, number: int, value: float | None, annotator: str, key: str | None
    ) -> Receipt:
        """Put an answer or an unsure in the place of somebody's own, in one transaction."""
        annotator = check_annotator(annotator, person=True)
        live, own_key = self.live, key is not None
        key = as_key(key)
        with self.lock:
            number = self.question(number).id  # refuses what is no question
            new = NewEvent(kind=kind, key=key, annotator=annotator, question=number, value=value)
            while True:
                live.refresh()
                live.advance()
                with live.store.write(live.record.id) as transaction:
                    live.take(transaction.events(live.state.last))
                    old = live.state.mine(number, annotator)
                    answered = old is not None and old.kind in ANSWERS
                    if old is None or not answered or self._known(new) is not None:
                        break  # nothing to replace: as `give` has it
                    if live.must_advance:
                        continue
                    undo = transaction.append(self._undo_event(old, as_key(None)))
                    event = transaction.append(replace(new, late=old.late))
                live.take([undo, event])
                return replace(self.receipt(event), void=tuple(json.loads(undo.text or "[]")))
            return self.give(kind, number, value, annotator, key if own_key else None)

    def undo(
        self, number: int | None, annotator: str, key: str | None, event: int | None = None
    ) -> Undone:
        """Append an undo of somebody's last answer or skip, or of that to a question."""
        annotator = check_annotator(annotator)
        key = as_key(key)
        live = self.live
        with self.lock:
            while True:
                live.refresh()
                live.advance()
                with live.store.write(live.record.id) as transaction:
                    live.take(transaction.events(live.state.last))
                    known = live.state.by_key.get(key)
                    if known is not None:
                        _check_same(known, EventKind.UNDO, number, None, annotator)
                        return self._undone(known, repeated=True)
                    taken = self._to_undo(number, annotator, event)
                    if live.must_advance:
                        continue
                    undo = transaction.append(self._undo_event(taken, key))
                    self._lease_back(transaction, taken)
                live.take([undo])
                return self._undone(undo)

    def renew(self, annotator: str, seconds: float | None) -> None:
        """Let somebody's leases end so many seconds from now."""
        annotator = check_annotator(annotator, person=True)
        with self.lock, self.live.store.write(self.live.record.id, durable=False) as transaction:
            now = transaction.now()
            for lease in self._in_force(transaction.leases(), now):
                if lease.annotator == annotator:
                    transaction.lease(replace(lease, until=now + self._lease_seconds(seconds)))

    def leave(self, annotator: str) -> None:
        """End somebody's leases, so that others may have the questions at once."""
        annotator = check_annotator(annotator, person=True)
        with self.lock, self.live.store.write(self.live.record.id, durable=False) as transaction:
            now = transaction.now()
            for lease in self._in_force(transaction.leases(), now):
                if lease.annotator == annotator:
                    transaction.lease(replace(lease, until=now))

    def log(self, make: Callable[[], NewEvent]) -> Receipt:
        """Append an event that is about no question, made from all that happened before it."""
        with self.lock:
            with self.live.store.write(self.live.record.id) as transaction:
                self.live.take(transaction.events(self.live.state.last))
                event = make()
                done = transaction.append(
                    replace(event, annotator=check_annotator(event.annotator))
                )
            self.live.take([done])
            return self.receipt(done)

    def held(self) -> list[Lease]:
        """Leases in force."""
        return self.held_now()[1]

    def held_now(self) -> tuple[float, list[Lease]]:
        """The database's time, and leases in force."""
        now, leases = self.live.store.leases(self.live.record.id)
        return now, self._in_force(leases, now)

    def state_for(self, annotator: str | None, held: list[Lease]) -> SessionState:
        """What the session is doing, for somebody or for anybody."""
        live = self.live
        if live.replay.failure is not None:
            return SessionState.STUCK
        if live.replay.is_over:
            return SessionState.DONE
        if live.left == 0 and not (live.replay.numbers and live.open()):
            return SessionState.SPENT
        if live.state.paused:
            return SessionState.PAUSED
        anybody = annotator is None or live.replay.numbers is None
        if anybody or self._choose(1, annotator or "", held, held):
            return SessionState.ASKING
        return SessionState.WAITING

    def question(self, number: int) -> Question:
        """A question by its number."""
        kind, items, cluster, repeat = self.live.key(number)
        return Question(
            id=int(number),
            kind=kind,
            items=items,
            cluster=cluster if cluster >= 0 else None,
            repeat=repeat,
        )

    def receipt(self, event: Event, *, repeated: bool = False) -> Receipt:
        """That an event was kept."""
        state = self.live.state
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
            counts=event.question is not None and event in state.answers(event.question),
        )

    def _is_anything_for(self, annotator: str) -> bool:
        """Whether it is worth a write transaction: those who wait must not hold up the others."""
        if not self.live.open():
            return False
        now, leases = self.live.store.leases(self.live.record.id)
        return bool(self._choose(1, annotator, self._in_force(leases, now), leases))

    def _lease_seconds(self, wanted: float | None) -> float:
        """How long a lease lasts: as wanted, at most as long as those of the session."""
        most = self.live.config.lease_seconds
        return most if wanted is None else min(wanted, most)

    def _in_force(self, leases: list[Lease], now: float) -> list[Lease]:
        """Those of the leases that are in force."""
        return in_force(leases, now, self.live.config.lease_seconds)

    def _reserved(self, annotator: str, held: list[Lease]) -> set[int]:
        """Questions that others hold and whose answers will cost budget."""
        others = {lease.question for lease in held if lease.annotator != annotator}
        return {number for number in others if not self.live.state.answers(number)}

    def _choose(
        self,
        n: int,
        annotator: str,
        held_now: list[Lease],
        leases: list[Lease],
        *,
        among: Set[int] | None = None,
    ) -> list[int]:
        """Open questions for somebody, at most n, in the order they should get them.

        Their own leases come first, then those of theirs that ended, then the plan's order; what
        they skipped comes last, the longest ago first.
        """
        state = self.live.state
        once = {lease.question for lease in leases if lease.annotator == annotator}
        own = {lease.question for lease in held_now if lease.annotator == annotator}
        others = Counter(lease.question for lease in held_now if lease.annotator != annotator)
        held, ended, new, skipped = [], [], [], []
        open_ = self.live.open(self._reserved(annotator, held_now))
        if among is not None:
            open_ = [number for number in sorted(among) if number in open_]
        still = {number for number in once if number in open_}  # of one's own, those to come
        for number in open_:
            still.discard(number)
            mine = state.mine(number, annotator)
            if mine is not None and mine.kind in ANSWERS:
                continue
            if number in own:
                held.append(number)
            elif others[number] >= state.annotations - len(state.answers(number)):
                continue
            elif mine is not None:
                skipped.append(mine)
            elif number in once:
                ended.append(number)
            else:
                new.append(number)
            if len(held) + len(ended) + len(new) >= n and not still:
                break  # enough, and nothing that would come before
        skipped.sort(key=lambda event: event.id)
        return [*held, *ended, *new, *(e.question for e in skipped if e.question is not None)][:n]

    def _same_row(
        self, first: int, annotator: str, held_now: list[Lease], leases: list[Lease]
    ) -> list[int]:
        """Other open questions for somebody about the item of a membership question."""
        kind, items, _, _ = self.live.key(first)
        if kind != "membership":
            return []
        state = self.live.state
        about = self.live.book.about(items)
        same = {n for n in about if n != first and state.mine(n, annotator) is None}
        return self._choose(len(same), annotator, held_now, leases, among=same) if same else []

    def _known(self, new: NewEvent) -> Event | None:
        """The event that is this one already: by its key, or the same said again."""
        assert new.question is not None
        known = self.live.state.by_key.get(new.key)
        if known is not None:
            _check_same(known, new.kind, new.question, new.value, new.annotator)
            if known.id in self.live.state.undone:
                raise KeyConflictError(
                    f"Nothing was saved: this {known.kind.value} to question {known.question} was "
                    "given before and taken back since. Answer the question anew (with a new key)."
                )
            return known
        mine = self.live.state.mine(new.question, new.annotator)
        same = mine is not None and (mine.kind, mine.value) == (new.kind, new.value)
        return mine if same and new.kind in ANSWERS else None

    def _append(self, transaction: Transaction, new: NewEvent) -> Event:
        """Keep an answer, an unsure or a skip, and let go of its lease."""
        assert new.question is not None
        now, number, annotator = transaction.now(), new.question, new.annotator
        mine = [
            lease
            for lease in transaction.leases()
            if (lease.question, lease.annotator) == (number, annotator)
        ]
        self._check_move(new.kind, number, annotator, leased=bool(mine))
        late = new.kind in ANSWERS and self._is_late(number, annotator, mine, now)
        event = transaction.append(replace(new, late=late))
        if new.kind is EventKind.SKIP and mine:  # they may come back to it
            transaction.lease(Lease(question=number, annotator=annotator, until=now))
        else:
            transaction.release(number, annotator)
        return event

    def _check_move(self, kind: EventKind, number: int, annotator: str, *, leased: bool) -> None:
        """Refuse what is not legal, and what was not handed out and the budget does not allow."""
        live = self.live
        if not live.state.may(kind, number, annotator):
            mine = live.state.mine(number, annotator)
            assert mine is not None
            said = "'cannot say'" if mine.value is None else f"{mine.value:g}"
            raise KeyConflictError(
                f"Question {number} must be answered once by {annotator!r}. Got another "
                f"{kind.value} after {said}; change it, or undo that first."
            )
        if kind in ANSWERS and not leased and self._is_beyond(number):
            raise BudgetError(
                f"The budget of {live.state.budget} questions must not be exceeded. Got an answer "
                f"to question {number} beyond it; raise it first (`askmeans budget DB N`, "
                "Session.set_budget)."
            )

    def _is_beyond(self, number: int) -> bool:
        """Whether an answer to a question would exceed the budget."""
        return self.live.left == 0 and not self.live.state.answers(number)

    def _is_late(self, number: int, annotator: str, mine: list[Lease], now: float) -> bool:
        """Whether an answer comes after its lease, the settling of its question or the budget."""
        state = self.live.state
        if state.is_settled(number) and not state.has_place(number, annotator):
            return True
        return self._is_beyond(number) or (bool(mine) and not self._in_force(mine, now))

    def _to_undo(self, number: int | None, annotator: str, meant: int | None) -> Event:
        """The event that an undo is about, which must be the one that is meant."""
        state = self.live.state
        event = state.last_of(annotator) if number is None else state.mine(number, annotator)
        if event is None:
            where = "" if number is None else f" to question {number}"
            raise SessionError(
                f"There must be an answer or a skip of {annotator!r}{where} to undo. Got none."
            )
        if meant is not None and event.id != meant:
            raise SessionError(
                f"What is taken back must still stand as it was seen (event {meant}). Got event "
                f"{event.id} to question {event.question} by now; look at the history again."
            )
        assert event.question is not None
        assert state.standing(event.question, annotator) is not Standing.OPEN
        return event

    def _undo_event(self, event: Event, key: str) -> NewEvent:
        """The undo, with the numbers of the questions it makes void."""
        assert event.question is not None
        void = []
        if event in self.live.state.answers(event.question):  # others have no effect
            void = self.live.replay.later_than(event.question)
        return NewEvent(
            kind=EventKind.UNDO,
            key=key,
            annotator=event.annotator,
            question=event.question,
            target=event.id,
            text=json.dumps(void),
        )

    def _lease_back(self, transaction: Transaction, event: Event) -> None:
        """Let whoever undid an answer have the question next, unless somebody else holds it."""
        assert event.question is not None
        now = transaction.now()
        others = [
            lease
            for lease in transaction.leases()
            if lease.question == event.question and lease.annotator != event.annotator
        ]
        until = now if self._in_force(others, now) else now + self.live.config.lease_seconds
        transaction.lease(Lease(question=event.question, annotator=event.annotator, until=until))

    def _undone(self, undo: Event, *, repeated: bool = False) -> Undone:
        """What an undo took back."""
        assert undo.question is not None
        settled = self.live.state.is_settled(undo.question)
        value = self.live.state.value(undo.question)
        taken = next(e for e in self.live.state.by_key.values() if e.id == undo.target)
        return Undone(
            receipt=self.receipt(undo, repeated=repeated),
            question=self.question(undo.question),
            kind=str(taken.kind),
            value=taken.value,
            void=tuple(self.question(number) for number in json.loads(undo.text or "[]")),
            reopened=not settled,
            value_now=None if not settled or math.isnan(value) else value,
        )


def as_key(key: str | None) -> str:
    """The client's key, or a new one."""
    if key is None:
        return uuid.uuid4().hex
    if not isinstance(key, str) or not 0 < len(key) <= 200 or not is_clean(key):
        raise ParameterError(
            "The 'key' parameter must be a str of 1 to 200 characters, without control characters. "
            f"Got {key!r:.60} instead."
        )
    return key


def check_annotator(annotator: object, *, person: bool = False) -> str:
    """The annotator's name; refused where it is none, or is no person's."""
    name = check_name(annotator, "annotator")
    if person and name == HOLDER:
        raise ParameterError(
            "The 'annotator' parameter must be somebody's own name. "
            f"Got {HOLDER!r}, which stands for answers from before the session."
        )
    return name


def _check_same(
    known: Event, kind: EventKind, number: int | None, value: float | None, annotator: str
) -> None:
    """Refuse a key that was used for something else."""
    same = (known.kind, known.value, known.annotator) == (kind, value, annotator)
    if same and (number is None or known.question == number):
        return
    raise KeyConflictError(
        f"A key must be used for one answer only. Got {known.key!r:.60} again for something else "
        f"({known.kind.value} {known.value} to question {known.question} by {known.annotator!r} "
        "came first); use a new key."
    )
