"""Which annotator gets which question: choice, leases, gold questions.

Rules of this file:
- Nothing is computed inside a write transaction: questions are chosen before it. In it the choice
  is checked against all events and leases, and leases are written. Where another annotator was
  quicker, a spare question is taken, or all is chosen again.
- Two annotators hold the same question at once only if several annotations of it are wanted. Nobody
  holds more than MOST_HELD; an annotator for whom nothing is left takes a question over from one
  who holds several: that lease ends, as if its time were over.
- The budget limits what is handed out; what others hold is reserved for them.
- Gold questions are mixed in as copies, so that they look as new as the others.
"""

import itertools
import math
import zlib
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from askmeans.queries import Question as Asked
from askmeans.sessions.events import Gold, Skip
from askmeans.sessions.log import GOLD, check_annotator
from askmeans.sessions.reports import Question, SessionState
from askmeans.sessions.runtime import GOLD_COPY, Runtime
from askmeans.sessions.store.records import Lease

if TYPE_CHECKING:
    from askmeans.sessions.store.sql import Transaction

SPARE = 16  # questions chosen beside those wanted: as many may be quicker before all is done anew
MOST_HELD = 48  # questions of one annotator: three times what a page prepares for (`web/ahead.py`)
# Questions of which one is gold, at a random place: a tenth of the work, as is usual in crowds.
GOLD_EVERY = 10


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

    def ask(self, n: int, annotator: str, seconds: float | None = None) -> list[Question]:
        """Questions for an annotator, leased; none where `state_for` says why."""
        annotator = check_annotator(annotator, person=True)
        while True:
            self.runtime.catch_up()
            chosen, spare = self.choose(min(n, MOST_HELD), annotator)
            if not chosen:
                return []
            until = self._lease_seconds(seconds)
            numbers = self.hand_out(chosen, spare, annotator, until)
            if numbers is not None:
                return [self.runtime.asked_question(number) for number in numbers]

    def upcoming(self, n: int, annotator: str) -> list[Asked]:
        """Questions that an annotator would get now, at most n; nothing is leased."""
        annotator = check_annotator(annotator, person=True)
        self.runtime.catch_up()
        return self.choose(n, annotator)[0]

    def choose(self, n: int, annotator: str) -> tuple[list[Asked], list[Asked]]:
        """Questions for an annotator, at most n, in order; and spare ones.

        The sub-group of the item that they answered last comes first, then what they hold, then
        what they held, then what others answered or hold and wants more opinions, then the policy's
        proposals; last what they skipped, the longest ago first. Spare are the proposals after
        those, for where another annotator is quicker.
        """
        runtime = self.runtime
        further = runtime.follow_up(annotator)
        with self.lock:
            if runtime.state.paused:
                return [], []
            now, listed = runtime.leases()
            leases = self._leases(annotator, listed, now)
            first = [question for question in further if self._is_free(question, leases)]
            first += [runtime.question(number) for number in self._begun(leases)]
            skipped = [runtime.question(number) for number in self._skipped(leases)]
            pending = self._pending(leases)
        chosen = self._affordable(first, n, leases)
        left = self._budget(leases) - sum(self._costs(question, leases) for question in chosen)
        room, spare = int(min(n - len(chosen), left)), list[Asked]()
        if room > 0:
            proposed = runtime.propose(room + SPARE, pending | set(chosen), annotator)
            with self.lock:  # what nobody may have would be refused at every attempt
                proposed = [question for question in proposed if self._is_free(question, leases)]
            chosen, spare = [*chosen, *proposed[:room]], proposed[room:]
        if len(chosen) < n:
            chosen = self._affordable([*chosen, *skipped], n, leases)
        if not chosen:
            with self.lock:
                over = self._to_take_over(leases)
            return ([] if over is None else [runtime.question(over.question)]), []
        with self.lock:
            return self._with_gold(chosen, n, leases), spare

    def _with_gold(self, chosen: list[Asked], n: int, leases: _Leases) -> list[Asked]:
        """The chosen questions, with gold ones at their places among those not leased before.

        One in ten is gold, at a place in each ten that follows from the seed and the person.
        """
        runtime, state, name = self.runtime, self.runtime.state, leases.annotator
        if not state.gold or not chosen:
            return chosen
        held = [q for q in chosen if runtime.number(q) in leases.own]
        is_gold = [event.question in state.gold for event in state.replies(name)]
        is_gold += [runtime.number(question) in state.gold for question in held]
        left = self._gold_left(leases)
        mixed, others = list(held), iter(chosen[len(held) :])
        while len(mixed) < n:
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
        return mixed

    def _gold_left(self, leases: _Leases) -> list[int]:
        """Gold questions an annotator neither answered nor holds, in an order of their own."""
        state = self.runtime.state
        before = {event.question for event in state.replies(leases.annotator)} | leases.own
        before = {state.original(number) for number in before}
        originals = sorted({state.original(number) for number in state.gold})
        name = zlib.crc32(leases.annotator.encode())
        order = np.random.default_rng([self.runtime.config.seed, name]).permutation(len(originals))
        return [number for number in np.array(originals)[order].tolist() if number not in before]

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
            transaction: "Transaction",
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
                        Gold(annotator=GOLD, question=number, value=known.value, original=original)
                    )
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

        def lease(transaction: "Transaction") -> int:
            runtime.know(transaction.questions(runtime.n_questions))
            (number,) = transaction.add_questions([question])
            until = transaction.now() + self._lease_seconds(None)
            transaction.lease(Lease(question=number, annotator=annotator, until=until))
            return number

        number = runtime.write(lease)
        with self.lock:
            runtime.know([(number, question)])
        return runtime.asked_question(number)

    def renew(self, annotator: str, wanted: float | None) -> None:
        """Let somebody's leases in force end so many seconds from now; 0: others may have them."""
        annotator, seconds = check_annotator(annotator, person=True), self._lease_seconds(wanted)

        def end(transaction: "Transaction") -> None:
            now, listed = transaction.leases()
            mine = [e for e in self.runtime.in_force(listed, now) if e.annotator == annotator]
            transaction.lease(*(replace(lease, until=now + seconds) for lease in mine))

        self.runtime.write(end, durable=False)

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

    def _lease_seconds(self, wanted: float | None) -> float:
        """How long a lease lasts: as wanted, at most as long as those of the session."""
        most = self.runtime.config.lease_seconds
        return most if wanted is None else min(wanted, most)

    def _leases(self, annotator: str, listed: list[Lease], now: float) -> _Leases:
        """Who holds what, as an annotator sees it."""
        state, held = self.runtime.state, self.runtime.in_force(listed, now)
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
            if (number in leases.own or state.reply(number, leases.annotator) is None)
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
            and runtime.state.reply(lease.question, leases.annotator) is None
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
        mine = state.reply(number, leases.annotator)
        if number in state.gold:
            return mine is None
        if not self.runtime.is_open(number) or (mine is not None and not isinstance(mine, Skip)):
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


def _with(leases: list[Lease], given: list[Lease]) -> list[Lease]:
    """Leases, with those that were given since."""
    found = {(lease.question, lease.annotator): lease for lease in (*leases, *given)}
    return list(found.values())
