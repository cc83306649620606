"""Moves of annotators and owners, appended to the log: answers, skips, undos, changes.

Rules of this file:
- A move is checked inside the write transaction that appends it, against all events. Memory does
  not change before the commit.
- A repeated key or answer appends nothing; the stored event is returned. After a lost connection
  the whole move is retried with the same key.
- The budget limits the questions that are handed out. An answer to such a question is always
  stored, marked `late` if its lease had ended or the question was settled.
- An undo takes back the annotator's last move, or their answer to a question. Changes of the groups
  are undone in reverse order.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from askmeans._util.message import Message
from askmeans.exceptions import BudgetError, KeyConflictError, SessionError
from askmeans.fuzzy.model import check_enough_items
from askmeans.queries import Question
from askmeans.queries.values import numbered_text
from askmeans.sessions.authors import as_key, check_annotator, key_of_group
from askmeans.sessions.events import (
    AddGroup,
    Answer,
    Event,
    GroupChange,
    Refine,
    RemoveGroup,
    Repeat,
    Reply,
    Skip,
    Undo,
    UndoGroupChange,
    Value,
)
from askmeans.sessions.group_names import GroupNames
from askmeans.sessions.group_numbers import GroupNumbers, as_number, as_shares
from askmeans.sessions.reports import Undone
from askmeans.sessions.runtime import Runtime
from askmeans.sessions.store.records import Lease

if TYPE_CHECKING:
    from askmeans.sessions.store.sql import Transaction


class Moves:
    """Appends events to the log of one session."""

    def __init__(self, runtime: Runtime, names: GroupNames) -> None:
        self._runtime = runtime
        self._names = names

    def append(
        self,
        make: Callable[["Transaction"], Iterable[Event]],
        key: str | None = None,
        annotator: str = "",
    ) -> Event:
        """Append events that `make` derives from the state; return the first.

        With a key that this annotator used before, what was appended then.
        """
        first, by = as_key(key), annotator

        def append(transaction: "Transaction") -> Event:
            nonlocal by
            stored = self._runtime.state.by_key.get((by, first))
            if stored is not None:  # the connection may have been lost after the commit
                return stored
            for place, event in enumerate(make(transaction)):
                who, key = check_annotator(event.annotator), f"{first}-{place}" if place else first
                by = by if place else who
                transaction.append(replace(event, annotator=who, key=key))
            return transaction.appended[0]

        return self._runtime.write(append)

    def log(self, make: Callable[[], Event]) -> Event:
        """Append an event that `make` derives from the state."""
        event = self.append(lambda _: [make()])
        with self._runtime.lock:
            return self._runtime.state.as_of_now(event)

    def checked_value(self, number: int, value: Any) -> Value:
        """Check an answer; return a number, or a row of shares by the groups' numbers."""
        runtime = self._runtime
        kind, levels = runtime.question(number).kind, runtime.config.levels
        if kind != "group":
            return as_number(value, 3 if kind == "relative" else levels)
        with runtime.up_to_date():
            return as_shares(value, runtime.groups, self._names.present(), levels)

    def reply(
        self,
        kind: type[Reply],
        number: int,
        value: Value | None,
        annotator: str,
        key: str | None,
        *,
        instead: bool = False,
    ) -> Reply:
        """Append an answer, an unsure or a skip, unless it was stored before.

        With `instead` it replaces the annotator's answer: both events are appended, or none.
        """
        runtime = self._runtime
        annotator, number = check_annotator(annotator, person=True), int(number)
        runtime.question(number)  # refuses what is no question
        new = kind(annotator=annotator, key=as_key(key), question=number, value=value)
        if instead:
            runtime.catch_up()
        read: list[tuple[float, list[Lease]]] = []  # the leases afterwards, if known

        def append(transaction: "Transaction") -> tuple[Reply, bool]:
            stored, state = self._stored(new, instead=instead), runtime.state
            is_used = (new.annotator, new.key) in state.by_key
            old = state.reply(number, new.annotator) if instead else None
            if stored is not None:
                if key is not None and not is_used:  # the key cannot be used again
                    transaction.append(
                        Repeat(annotator=new.annotator, key=new.key, question=number, value=value)
                    )
                return stored, True
            if old is None or isinstance(old, Skip):
                event, *read[:] = self._append(transaction, new)
                return event, False
            transaction.append(undo_of(old, as_key(None)))
            return transaction.append(replace(new, late=old.late)), False

        event, repeated = runtime.write(append)
        for leases in read:  # for the next question
            runtime.cache_leases(*leases)
        with runtime.lock:
            return runtime.state.as_of_now(event, repeated=repeated)

    def place(self, rows: Iterable[int], value: Value, annotator: str, key: str | None) -> int:
        """Append the same answer about each of these items, all or none.

        Where the annotator had another answer it is replaced. How many answers there are with
        this key.
        """
        annotator, prefix = check_annotator(annotator, person=True), key_of_batch(as_key(key))
        questions = [Question("group", (row,), None) for row in dict.fromkeys(rows)]
        numbers: list[int] = []

        def append(transaction: "Transaction") -> int:
            state, stored = self._runtime.state, self._batch(annotator, prefix)
            if stored:  # perhaps the connection was lost after the commit
                for event in stored:
                    _check_same(event, Answer, None, value)
                return len(stored)
            n_appended = 0
            numbers[:] = transaction.add_questions(questions)
            for number in numbers:
                old = state.reply(number, annotator)
                same = old is not None and (old.kind, old.value) == (Answer.kind, value)
                if old is not None and same and not self._later(old):
                    continue
                late = self._is_late(number, annotator, [], 0.0)
                if old is not None and not isinstance(old, Skip):
                    transaction.append(undo_of(old, f"{prefix}{number}-before"))
                    late = old.late
                transaction.append(
                    Answer(annotator=annotator, key=f"{prefix}{number}", question=number,
                           value=value, late=late)
                )  # fmt: skip
                n_appended += 1
            return n_appended

        n_answers = self._runtime.write(append)
        with self._runtime.lock:
            self._runtime.remember_questions(zip(numbers, questions, strict=False))
        return n_answers

    def take_back_placed(self, annotator: str, key: str) -> int:
        """Append undos of all valid answers of a `place`, and the answers that they replaced."""
        annotator, prefix = check_annotator(annotator, person=True), key_of_batch(as_key(key))

        def append(transaction: "Transaction") -> int:
            for event in self._restored(annotator, prefix):
                transaction.append(event)
            return len(self._standing(annotator, prefix))

        return self._runtime.write(append)

    def _restored(self, annotator: str, prefix: str) -> Iterator[Event]:
        """Undos of the valid answers with this prefix of their keys, and what they replaced."""
        state = self._runtime.state
        by_id = {event.id: event for event in state.by_key.values()}
        replaced = {
            event.question: by_id.get(event.taken_back)
            for (who, key), event in state.by_key.items()
            if who == annotator and key.startswith(prefix) and isinstance(event, Undo)
        }
        for event in self._standing(annotator, prefix):
            yield undo_of(event, as_key(None))
            old = replaced.get(event.question)
            if isinstance(old, Reply):
                yield _copy_of(old)
                for later in self._later(old):  # they are to stay the last
                    yield undo_of(later, as_key(None))
                    yield _copy_of(later)

    def _batch(self, annotator: str, prefix: str) -> list[Reply]:
        """Answers that were stored together, by the prefix of their keys."""
        return [
            event
            for (who, key), event in self._runtime.state.by_key.items()
            if who == annotator and key.startswith(prefix) and isinstance(event, Reply)
        ]

    def _standing(self, annotator: str, prefix: str) -> list[Reply]:
        """Those of them that are still valid."""
        state = self._runtime.state
        batch = self._batch(annotator, prefix)
        return [event for event in batch if state.reply(event.question, annotator) is event]

    def undo(
        self, number: int | None, annotator: str, key: str | None, event: int | None = None
    ) -> Undone:
        """Append an undo of an annotator's last move, or of their answer to a question.

        With `event`, the answer must still be this one.
        """
        annotator, key, runtime = check_annotator(annotator), as_key(key), self._runtime
        runtime.catch_up()

        def append(transaction: "Transaction") -> tuple[Undo | UndoGroupChange, bool]:
            stored = runtime.state.by_key.get((annotator, key))
            if isinstance(stored, UndoGroupChange) and number is event is None:
                return stored, True
            if stored is not None:
                return _check_same(stored, Undo, number, None), True
            if number is event is None and (change := self._own_group_change(annotator)):
                undo = UndoGroupChange(annotator=annotator, key=key, taken_back=change.id)
                undo = transaction.append(undo)
                for each in self._restored_after(change):
                    transaction.append(each)
                return undo, False
            reply = self._reply_to_undo(number, annotator, event)
            group = runtime.state.group_made_with(reply)
            undone = transaction.append(undo_of(reply, key))
            if group is not None:
                transaction.append(
                    UndoGroupChange(annotator=annotator, key=key_of_group(key), taken_back=group.id)
                )
            self._lease_back(transaction, reply)
            return undone, False

        undo, repeated = runtime.write(append)
        with runtime.lock:
            return self._undone(undo, repeated=repeated)

    def undo_group_change(self, event: int, annotator: str) -> Event:
        """Append the reversal of a change of the groups by anyone."""

        def undone(_: "Transaction") -> Iterable[Event]:
            changes = self._runtime.state.group_changes
            change = next((each for each in changes if each.id == event), None)
            if change is None:
                raise not_to_take_back(event)
            if change != changes[-1] and not isinstance(change, RemoveGroup):
                raise SessionError(
                    "Changes of the groups must be taken back in turn, the last first "
                    f"(event {changes[-1].id}). Got event {event} instead.",
                    user_message=Message(
                        "Groups were added or merged after this one. Take those back "
                        "first, the last one before the others."
                    ),
                )
            if isinstance(change, RemoveGroup):
                self.check_room([each for each in changes if each != change], "History.take_back")
            undo = UndoGroupChange(annotator=annotator, taken_back=event)
            return [undo, *self._restored_after(change)]

        stored = self.append(undone)
        with self._runtime.lock:
            return self._runtime.state.as_of_now(stored)

    def check_room(self, changes: Iterable[GroupChange], owner: str) -> None:
        """Refuse these changes of the groups if there would be more groups than items."""
        runtime = self._runtime
        groups = GroupNumbers.of(runtime.groups.n, changes, runtime.state.withdrawn)
        check_enough_items(len(runtime.rows), len(groups.leaves), owner)

    def _restored_after(self, change: Event) -> Iterator[Event]:
        """The answers as before a change of the groups that is undone: those that a split moved."""
        if change.key.startswith(key_of_split("")):
            yield from self._restored(change.annotator, f"{change.key}-")

    def _own_group_change(self, annotator: str) -> Event | None:
        """The last change of the groups, if it is the annotator's and after their last reply.

        The answers that a split moved are a part of it.
        """
        state = self._runtime.state
        last = state.group_changes[-1] if state.group_changes else None
        if last is None or last.annotator != annotator:
            return None
        reply = state.last_of(annotator)
        is_split = last.key.startswith(key_of_split(""))
        moved = is_split and reply is not None and reply.key.startswith(f"{last.key}-")
        return last if reply is None or moved or reply.id < last.id else None

    def _later(self, reply: Reply) -> list[Reply]:
        """Valid answers of its annotator that stand instead of a reply about the same item.

        Where there are questions about sub-groups, the last answer about an item stands.
        """
        runtime = self._runtime
        items = runtime.question(reply.question).items
        questions = {number: runtime.question(number) for number in runtime.questions_about(items)}
        if all(q.kind != "group" or q.cluster is None for q in questions.values()):
            return []
        others = (
            runtime.state.reply(number, reply.annotator)
            for number in questions
            if number != reply.question
        )
        later = [
            other
            for other in others
            if other is not None and other.id > reply.id and not isinstance(other, Skip)
        ]
        return sorted(later, key=lambda other: other.id)

    def _stored(self, new: Reply, *, instead: bool) -> Reply | None:
        """The stored event with the same key, or the same answer; None without one."""
        state = self._runtime.state
        by_key = state.by_key.get((new.annotator, new.key))
        if by_key is not None:
            stored: Reply = _check_same(by_key, type(new), new.question, new.value)
            if stored.id in state.undone:
                raise KeyConflictError(
                    f"Nothing was saved: this {stored.kind} to question {stored.question} was "
                    "given before and taken back since. Answer the question anew (with a new key).",
                    user_message=Message(
                        "Nothing was saved: you took this answer back since. "
                        "Answer the question that is shown now."
                    ),
                )
            return stored
        old = state.reply(new.question, new.annotator)
        same = old is not None and (old.kind, old.value) == (new.kind, new.value)
        if old is None or not same or isinstance(new, Skip) or (instead and self._later(old)):
            return None
        return old

    def _append(
        self, transaction: "Transaction", new: Reply
    ) -> tuple[Reply, tuple[float, list[Lease]]]:
        """Append a reply and end its lease; return the leases afterwards."""
        (now, leases), place = transaction.leases(), (new.question, new.annotator)
        own = [lease for lease in leases if (lease.question, lease.annotator) == place]
        self._check_move(new, is_leased=bool(own))
        late = not isinstance(new, Skip) and self._is_late(*place, own, now)
        event = transaction.append(replace(new, late=late))
        left = [lease for lease in leases if lease not in own]
        if isinstance(new, Skip) and own:  # the annotator may return to it
            left.append(Lease(question=new.question, annotator=new.annotator, until=now))
            transaction.lease(left[-1])
        elif own:
            transaction.release(*place)
        return event, (now, left)

    def _check_move(self, new: Reply, *, is_leased: bool) -> None:
        """Refuse illegal moves, and answers that the budget does not allow."""
        state, number = self._runtime.state, new.question
        if not state.may(type(new), number, new.annotator):
            old = state.reply(number, new.annotator)
            before = "'cannot say'" if old is None or old.value is None else _text(old.value)
            raise KeyConflictError(
                f"Question {number} must be answered once by {new.annotator!r}. Got another "
                f"{new.kind} after {before}; change it, or undo that first.",
                user_message=Message(
                    "You have answered this question before, so this answer was not "
                    "saved. Change that one under History, or undo that first."
                ),
            )
        if not isinstance(new, Skip) and not is_leased and self._exceeds_budget(number):
            raise BudgetError(
                f"The budget of {state.budget} questions must not be exceeded. Got an answer to "
                f"question {number} beyond it; raise it first (`askmeans budget DB N`, "
                "Settings.set_budget).",
                user_message=Message(
                    "The budget is spent, so this answer was not saved. An owner of the "
                    "session can raise it."
                ),
            )

    def _exceeds_budget(self, number: int) -> bool:
        """Whether an answer to a question would exceed the budget."""
        state = self._runtime.state
        return (
            self._runtime.budget_left == 0
            and number not in state.gold
            and not state.answers(number)
        )

    def _is_late(self, number: int, annotator: str, own: list[Lease], now: float) -> bool:
        """Whether the lease has ended, the question is settled or the budget is spent."""
        state = self._runtime.state
        settled = state.is_settled(number) and number not in state.gold
        if settled and not state.has_place(number, annotator):
            return True
        return self._exceeds_budget(number) or (
            bool(own) and not self._runtime.leases_in_force(own, now)
        )

    def _reply_to_undo(self, number: int | None, annotator: str, meant: int | None) -> Reply:
        """The reply that an undo takes back; it must be `event`, if given."""
        state = self._runtime.state
        event = state.last_of(annotator) if number is None else state.reply(number, annotator)
        if event is None:
            where = "" if number is None else f" to question {number}"
            raise SessionError(
                f"There must be an answer or a skip of {annotator!r}{where} to undo. Got none.",
                user_message=Message(
                    "You have no answer that could be taken back. History lists those you have."
                )
                if number is None
                else Message(
                    "You have no answer to question {number} that could be taken back. History "
                    "lists those you have.",
                    number=str(number),
                ),
            )
        if meant is not None and event.id != meant:
            raise SessionError(
                f"What is taken back must still stand as it was seen (event {meant}). Got event "
                f"{event.id} to question {event.question} by now; look at the history again.",
                user_message=Message(
                    "You have changed this answer since the page was loaded, so nothing "
                    "was taken back: look at the history again."
                ),
            )
        return event

    def _lease_back(self, transaction: "Transaction", reply: Reply) -> None:
        """Lease the question of an undone answer to its annotator, unless another has it."""
        now, leases = transaction.leases()
        others = [
            lease
            for lease in leases
            if lease.question == reply.question and lease.annotator != reply.annotator
        ]
        runtime = self._runtime
        until = now if runtime.leases_in_force(others, now) else now + runtime.config.lease_seconds
        transaction.lease(Lease(question=reply.question, annotator=reply.annotator, until=until))

    def _undone(self, undo: Undo | UndoGroupChange, *, repeated: bool) -> Undone:
        """The result of an undo."""
        runtime, state = self._runtime, self._runtime.state
        event = next(each for each in state.by_key.values() if each.id == undo.taken_back)
        receipt = state.as_of_now(undo, repeated=repeated)
        if isinstance(undo, UndoGroupChange) or not isinstance(event, Reply):
            return Undone(receipt=receipt, question=None, kind=event.kind, value=None)
        settled, value = state.is_settled(undo.question), state.value(undo.question)
        group = None  # that went with the answer
        if (undo.annotator, key_of_group(undo.key)) in state.by_key:
            group = state.by_key.get((event.annotator, key_of_group(event.key)))
        silent = isinstance(value, float) and math.isnan(value)
        return Undone(
            receipt=receipt,
            question=runtime.numbered_question(undo.question),
            kind=event.kind,
            value=event.value,
            reopened=not settled,
            value_now=value if settled and not silent else None,
            group=_name_of(group),
        )


def key_of_split(key: str) -> str:
    """The key of a split: those of the answers that it moved go on from there."""
    return f"split-{key}"


def key_of_batch(key: str) -> str:
    """The prefix of keys of answers that were stored together."""
    return f"batch-{key}-"


def not_to_take_back(event: int) -> SessionError:
    """The error of an event that cannot be taken back."""
    return SessionError(
        "There must be a change of groups or options that nothing changed again. "
        f"Got event {event}.",
        user_message=Message(
            "This change was taken back before, or the same was changed again "
            "since. The newest change is the one to take back."
        ),
    )


def _name_of(made: Event | None) -> str | None:
    """The name of the group that was added for an answer."""
    match made:
        case AddGroup(name=name) | Refine(names=(name, *_)):
            return name
    return None


def undo_of(reply: Reply, key: str) -> Undo:
    """The undo of a reply."""
    return Undo(annotator=reply.annotator, key=key, question=reply.question, taken_back=reply.id)


def _copy_of(reply: Reply) -> Reply:
    """The same reply once more."""
    return type(reply)(
        annotator=reply.annotator, key=as_key(None), question=reply.question, value=reply.value,
        late=reply.late,
    )  # fmt: skip


def _text(value: Value) -> str:
    """Format an answer: a number, or shares by the groups' numbers."""
    return numbered_text(value) if isinstance(value, tuple) else f"{value:g}"


def _check_same(stored: Event, kind: type[Event], number: int | None, value: Value | None) -> Any:
    """The event stored with a key; a KeyConflictError if it differs."""
    question, before = getattr(stored, "question", None), getattr(stored, "value", None)
    if isinstance(stored, kind) and before == value and number in (None, question):
        return stored
    raise KeyConflictError(
        f"A key must be used for one answer only. Got {stored.key!r:.60} again for something else "
        f"({stored.kind} {before} to question {question} came first); use a new key.",
        user_message=Message(
            "This page sent another answer before, so this one was not saved. Reload the "
            "page, and answer the question that is shown then."
        ),
    )
