"""A session in a process's memory, kept in step with the store: events, questions, the live plan.

The plan is stepped here, and never inside a write transaction: `take` only folds events in, so it
may be called within one; `advance` computes, so it may not.
"""

import warnings
from collections.abc import Collection, Sequence, Set
from dataclasses import replace
from typing import Any

from askmeans import __version__
from askmeans.exceptions import AskmeansError, QueryError, ReplayWarning
from askmeans.sessions.config import Config
from askmeans.sessions.events import Event
from askmeans.sessions.replay import QuestionBook, Replay
from askmeans.sessions.state import State
from askmeans.sessions.store.contract import QuestionKey, SessionRecord, Store, StoredBatch

__all__ = ["MADE_BY", "Live"]

MADE_BY = f"askmeans {__version__}"


class Live:
    """State, questions and plan of one session."""

    def __init__(self, store: Store, record: SessionRecord, config: Config, X: Any) -> None:
        self.store = store
        self.record = record
        self.config = config
        self.X = X
        self.state = State(config.annotations, config.budget)
        self.book = QuestionBook()
        self.notes: list[str] = []
        self._batches: dict[str, list[StoredBatch]] = {}
        self._replay: Replay | None = None
        self._planned = config  # what that was made with
        self._unsettled: tuple[Any, int, dict[int, None]] = (None, 0, {})
        self.book.learn(store.questions(record.id))

    @property
    def replay(self) -> Replay:
        """The plan, where `advance` left it."""
        assert self._replay is not None
        return self._replay

    def refresh(self) -> None:
        """Take in what happened since."""
        self.take(self.store.events(self.record.id, self.state.last))

    def take(self, events: Sequence[Event]) -> None:
        """Fold events in; a plan that was told what no longer holds is let go."""
        try:
            self.state.fold(events)
        except BaseException:  # half folded: read the log anew
            self.state = State(self.config.annotations, self.config.budget)
            self._forget()
            raise
        if self._replay is None:
            return
        # An undo, or an answer after one, may change what the plan was told; a budget its sizes.
        changed = {event.question for event in events}
        if self._planned != self.plan_config or not self._replay.holds(self.state, changed):
            self._replay.close()
            self._forget()

    def advance(self, *, write: bool = True) -> None:
        """Step the plan as far as the answers allow, and keep the batch it asks there.

        Without `write` nothing is kept: a batch that is new stays without numbers.
        """
        if self._replay is None:
            config = self._planned = self.plan_config
            start = config.start(self.record.fingerprint)
            self._replay = Replay(lambda: config.make_plan(self.X), start)
        replay = self._replay
        try:
            while not replay.is_over:
                if replay.numbers is None and not self._number(replay, write=write):
                    return
                if self.unsettled():
                    return
                replay.send(self.state)
        except AskmeansError:
            raise
        except BaseException:  # Ctrl-C within a step: the plan is dead, not at its end
            self._forget()
            raise

    def _forget(self) -> None:
        """Let the plan be made anew from the log."""
        self._replay, self._unsettled = None, (None, 0, {})

    @property
    def must_advance(self) -> bool:
        """Whether the plan has to be stepped before anybody is asked."""
        replay = self._replay
        if replay is None or (replay.numbers is None and not replay.is_over):
            return True
        return not replay.is_over and not self.unsettled()

    def unsettled(self) -> Collection[int]:
        """Questions of the open batch that are not settled, in the plan's order.

        A batch may be long, and it is looked at often: what was answered since is taken out, and
        whether a question is among them is known at once.
        """
        state = self.state
        now = (id(self._replay), self.replay.batch, self.replay.numbers is None, id(state))
        before, seen, found = self._unsettled
        changed = [n for n in set(state.touched[seen:]) if state.is_settled(n) == (n in found)]
        if before != now or not all(map(state.is_settled, changed)):  # one may be open again
            found = dict.fromkeys(self.replay.open(state))
        else:
            for number in changed:
                del found[number]
        self._unsettled = (now, len(state.touched), found)
        return found

    def open(self, reserved: Set[int] = frozenset()) -> Collection[int]:
        """Questions that may be answered now: not settled, and within the budget.

        Of the budget, what others hold (`reserved`, in this batch or not) is kept for them.
        """
        left = self.left
        if left < 0:
            return self.unsettled()
        left = max(0, left - len(reserved))
        found: dict[int, None] = {}
        for number in self.unsettled():
            if number not in reserved and not self.state.answers(number):
                if left == 0:
                    continue
                left -= 1
            found[number] = None
        return found

    @property
    def left(self) -> int:
        """Questions the budget still allows; -1 for any number."""
        if self.state.budget is None:
            return -1
        return max(0, self.state.budget - self.state.n_spent)

    @property
    def plan_config(self) -> Config:
        """What the plan is made with: one for similarities has a pool that a larger budget pays."""
        old, now = self.config.budget, self.state.budget
        if self.config.ask == "membership" or old is None or now is None or now <= old:
            return self.config
        return replace(self.config, budget=now)

    def key(self, number: int) -> QuestionKey:
        """A question by its number; refused where there is none."""
        key = self.book.key(number)
        if key is None:  # another process may have issued it
            self.book.learn(self.store.questions(self.record.id))
            key = self.book.key(number)
        if key is None:
            raise QueryError(
                f"There must be a question {number!r} in session {self.record.name!r}. Got none; "
                "ask() returns those that are open."
            )
        return key

    def _number(self, replay: Replay, *, write: bool) -> bool:
        """Find the plan's batch among those stored, or store it; False if that was not allowed."""
        match, others = self._stored(replay)
        if others:
            self._say_diverged(replay, others[-1], new=match is None)
        if match is None:
            if not write:
                return False
            with self.store.write(self.record.id) as transaction:
                match = transaction.add_batch(
                    replay.prefix, replay.batch, replay.digest, replay.keys, made_by=MADE_BY
                )
            self._batches.setdefault(replay.prefix, []).append(match)
        numbers = dict(zip(dict.fromkeys(replay.keys), match.questions, strict=True))
        self.book.learn([(number, key) for key, number in numbers.items()])
        replay.number_with([numbers[key] for key in replay.keys])
        return True

    def _stored(self, replay: Replay) -> tuple[StoredBatch | None, list[StoredBatch]]:
        """The plan's batch as it was stored, if it was; and others stored at its place."""
        for fresh in (False, True):  # another process may have stored it
            if fresh:
                self._batches = {}
                for batch in self.store.batches(self.record.id):
                    self._batches.setdefault(batch.prefix, []).append(batch)
            there = self._batches.get(replay.prefix, [])
            others = [batch for batch in there if batch.digest != replay.digest]
            if len(others) < len(there):
                match = next(batch for batch in there if batch.digest == replay.digest)
                return match, others
        return None, others

    def _say_diverged(self, replay: Replay, stored: StoredBatch, *, new: bool) -> None:
        """Tell that this plan asks otherwise than was stored; aloud when it first does."""
        note = (
            f"Round {replay.batch} was asked otherwise by {stored.made_by}; {MADE_BY} goes on from "
            "the stored answers, none of which is asked again."
        )
        if note not in self.notes:
            self.notes.append(note)
            if new:
                warnings.warn(note, ReplayWarning, stacklevel=2)
