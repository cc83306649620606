"""Which annotator gets which question: choice, leases, gold questions.

Rules of this file:
- Questions are chosen before the write transaction. Inside it the choice is checked against all
  events and leases, and leases are written. If another annotator was faster, a spare question is
  used, or the choice is repeated.
- Two annotators hold the same question at once only if several annotations of it are wanted. An
  annotator holds at most MOST_HELD. One for whom nothing is left takes a question over from one who
  holds several, whose lease of it ends.
- The budget limits the questions that are handed out; those that others hold are reserved.
- Gold questions are mixed in as copies, so that they look as new as the others.
"""

import itertools
import math
import zlib
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from askmeans._util.message import Message
from askmeans.exceptions import ParameterError, SessionError
from askmeans.queries import Question
from askmeans.queries.questions import KINDS, ordered
from askmeans.sessions.authors import GOLD, check_annotator
from askmeans.sessions.events import Gold, Skip
from askmeans.sessions.learning import Learning
from askmeans.sessions.reports import Question as NumberedQuestion
from askmeans.sessions.reports import SessionState
from askmeans.sessions.runtime import GOLD_COPY, Runtime
from askmeans.sessions.store.records import Lease
from askmeans.spec import SIMILARITIES

if TYPE_CHECKING:
    from askmeans.sessions.store.sql import Transaction

SPARE = 16  # further questions chosen, in case other annotators are faster
MOST_HELD = 48  # questions of one annotator: three times as many as a page prepares
# One of so many questions is gold, at a random place: a tenth of the work, usual in crowdsourcing.
GOLD_EVERY = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leases:
    """The leases, from the point of view of one annotator."""

    annotator: str
    own: Set[int]  # questions leased to the annotator now
    once: Set[int]  # questions leased to the annotator now or before
    others: Counter[int]  # number of others who hold a question
    theirs: list[Lease]  # leases of others in force
    reserved: Set[int]  # unanswered questions that others hold: they will cost budget


class Assignment:
    """Hands out questions."""

    def __init__(self, runtime: Runtime, learning: Learning) -> None:
        self.runtime = runtime
        self.learning = learning
        self.lock = runtime.lock

    def ask(self, n: int, annotator: str, seconds: float | None = None) -> list[NumberedQuestion]:
        """Lease questions to an annotator; none for the reason that `state_for` gives."""
        annotator = check_annotator(annotator, person=True)
        while True:
            self.learning.catch_up()
            chosen, spare = self.choose(min(n, MOST_HELD), annotator)
            if not chosen:
                return []
            until = self._lease_seconds(seconds)
            numbers = self.hand_out(chosen, spare, annotator, until)
            if numbers is not None:
                return [self.runtime.numbered_question(number) for number in numbers]

    def upcoming(self, n: int, annotator: str) -> list[Question]:
        """At most n questions that an annotator would get now, without leasing them."""
        annotator = check_annotator(annotator, person=True)
        self.learning.catch_up()
        return self.choose(n, annotator)[0]

    def choose(self, n: int, annotator: str) -> tuple[list[Question], list[Question]]:
        """At most n questions for an annotator, in order; and spare ones.

        The sub-group of the item that the annotator answered last comes first, then the leased
        questions, then those leased before, then those of others that want more opinions, then the
        policy's proposals, and last the questions that the annotator skipped, the earliest first.
        Spare ones are further proposals.
        """
        runtime = self.runtime
        further = self.learning.follow_up(annotator)
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
        room, spare = int(min(n - len(chosen), left)), list[Question]()
        if room > 0:
            proposed = self.learning.propose(room + SPARE, pending | set(chosen), annotator)
            with self.lock:  # others would be refused at every attempt
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

    def _with_gold(self, chosen: list[Question], n: int, leases: _Leases) -> list[Question]:
        """Mix gold questions into the chosen ones that are not leased yet.

        One in ten is gold, at a place in each ten that follows from the seed and the annotator.
        """
        runtime, state, name = self.runtime, self.runtime.state, leases.annotator
        if not state.gold or not chosen:
            return chosen
        own = [q for q in chosen if runtime.number(q) in leases.own]
        is_gold = [event.question in state.gold for event in state.replies(name)]
        is_gold += [runtime.number(question) in state.gold for question in own]
        left = self._gold_left(leases)
        mixed, others = list(own), iter(chosen[len(own) :])
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
            if question is None:  # a gold question never comes alone
                break
            if due:
                others = itertools.chain([question], others)
                question = runtime.question(left.pop(0))._replace(repeat=GOLD_COPY)
            mixed.append(question)
            is_gold.append(due)
        return mixed

    def _gold_left(self, leases: _Leases) -> list[int]:
        """Gold questions that an annotator neither answered nor holds, in an order by annotator."""
        state = self.runtime.state
        before = {event.question for event in state.replies(leases.annotator)} | leases.own
        before = {state.original(number) for number in before}
        originals = sorted({state.original(number) for number in state.gold})
        name = zlib.crc32(leases.annotator.encode())
        order = np.random.default_rng([self.runtime.config.seed, name]).permutation(len(originals))
        return [number for number in np.array(originals)[order].tolist() if number not in before]

    def _copied(self, taken: list[Question], leases: _Leases) -> list[Question] | None:
        """Replace gold questions by new copies; None if the annotator got one meanwhile."""
        runtime, copied = self.runtime, list[Question]()
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
        self, chosen: list[Question], spare: list[Question], annotator: str, seconds: float
    ) -> list[int] | None:
        """Lease the questions, or spare ones for those that others got meanwhile.

        Returns None if there are not enough: the caller chooses again.
        """
        runtime = self.runtime
        with self.lock:
            now, listed = runtime.leases()
            known = self._leases(annotator, listed, now).once
            first = any(runtime.number(question) not in known for question in chosen)

        def lease(
            transaction: "Transaction",
        ) -> tuple[list[Question], list[int], float, list[Lease]] | None:
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
            new = [Lease(question=number, annotator=annotator, until=now + seconds)
                   for number in numbers]  # fmt: skip
            for question, number in numbered.items():
                if question.repeat > GOLD_COPY:
                    original = runtime.number(question._replace(repeat=0)) or 0
                    known = runtime.state.gold[original]
                    transaction.append(
                        Gold(annotator=GOLD, question=number, value=known.value, original=original)
                    )
            transaction.lease(*new, *ended)
            return taken, numbers, now, _with(listed, new + ended)

        # A first lease must survive a crash of the machine, or its answer would be refused
        # afterwards; a renewed one need not.
        done = runtime.write(lease, durable=first)
        if done is None:
            return None
        taken, numbers, now, listed = done
        with self.lock:
            runtime.know(zip(numbers, taken, strict=True))
            runtime.keep_leases(now, listed)
        return numbers

    def add(
        self, kind: str, items: tuple[int, ...], cluster: int | None, annotator: str
    ) -> NumberedQuestion:
        """Lease a question that an annotator chose, checked."""
        runtime = self.runtime
        compares = runtime.config.ask in SIMILARITIES
        taken = [name for name, each in KINDS.items() if each.width == 1 or compares]
        if kind not in taken:
            raise SessionError(
                "The 'kind' parameter of Session.add_question must be a question that a session "
                f"with ask={runtime.config.ask!r} takes: {', '.join(taken)}. Got {kind!r:.40}.",
                user_message=Message(
                    "Items cannot be put into groups by hand in this session: it asks its own "
                    "questions only. Answer those."
                ),
            )
        rows, width = ordered(kind, map(int, items)), KINDS[kind].width
        known = all(0 <= row < len(runtime.rows) for row in rows)
        if len(set(rows)) != width or len(rows) != width or not known:
            raise ParameterError(
                "The 'items' parameter of Session.add_question must be so many different rows "
                f"below {len(runtime.rows)}: {width}. Got {items!r:.60} instead."
            )
        groups: list[Any] = [None]
        if kind == "membership":
            groups = runtime.groups.children(None)
        elif kind == "group":  # its sub-groups are asked for
            groups = [None, *runtime.groups.inner]
        if cluster not in groups:
            raise ParameterError(
                "The 'cluster' parameter of Session.add_question must be the number of a group at "
                "the top for a membership, None or that of one with sub-groups for a group, else "
                f"None. Got {cluster!r:.40} instead."
            )
        return self._hand_over(Question(kind, rows, cluster), annotator)

    def _hand_over(self, question: Question, annotator: str) -> NumberedQuestion:
        """Lease a question that an annotator chose."""
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
        return runtime.numbered_question(number)

    def renew(self, annotator: str, wanted: float | None) -> None:
        """Let an annotator's leases end so many seconds from now; with 0 others may have them."""
        annotator, seconds = check_annotator(annotator, person=True), self._lease_seconds(wanted)

        def end(transaction: "Transaction") -> None:
            now, listed = transaction.leases()
            mine = [e for e in self.runtime.in_force(listed, now) if e.annotator == annotator]
            transaction.lease(*(replace(lease, until=now + seconds) for lease in mine))

        self.runtime.write(end, durable=False)

    def state_for(self, annotator: str | None) -> SessionState:
        """The state of the session, for one annotator or for all."""
        runtime = self.runtime
        if self.learning.is_over:
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
        """The duration of a lease: as wanted, at most the session's."""
        most = self.runtime.config.lease_seconds
        return most if wanted is None else min(wanted, most)

    def _leases(self, annotator: str, listed: list[Lease], now: float) -> _Leases:
        """The leases, from the point of view of an annotator."""
        state, in_force = self.runtime.state, self.runtime.in_force(listed, now)
        theirs = [lease for lease in in_force if lease.annotator != annotator]
        others = Counter(lease.question for lease in theirs)
        return _Leases(
            annotator=annotator,
            own={lease.question for lease in in_force if lease.annotator == annotator},
            once={lease.question for lease in listed if lease.annotator == annotator},
            others=others,
            theirs=theirs,
            reserved={n for n in others if n not in state.gold and not state.count(n)},
        )

    def _begun(self, leases: _Leases) -> list[int]:
        """Open questions that an annotator holds, or held, or that want another opinion."""
        state, runtime = self.runtime.state, self.runtime
        wanting: set[int] = set()
        if state.wants_several:
            wanting = {*runtime.wanting(), *(n for n in leases.others if state.wanted(n) > 1)}
        numbers = [
            number
            for group in (leases.own, leases.once - leases.own, wanting - leases.once)
            for number in sorted(group)
        ]
        return [
            number
            for number in numbers
            if (number in leases.own or state.reply(number, leases.annotator) is None)
            and self._is_free(runtime.question(number), leases)
        ]

    def _skipped(self, leases: _Leases) -> list[int]:
        """Open questions that an annotator skipped, the earliest first."""
        return [
            number
            for number in self.runtime.state.skipped_by(leases.annotator)
            if number not in leases.own and self._is_free(self.runtime.question(number), leases)
        ]

    def _to_take_over(self, leases: _Leases) -> Lease | None:
        """The oldest lease of another annotator, to end for one who has no other question.

        An annotator who holds questions about one item only is looking at it, and keeps them.
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
        # Of the leases of one call the last: questions are answered in their order.
        return min(may, key=lambda lease: (lease.until, -lease.question), default=None)

    def _pending(self, leases: _Leases) -> set[Question]:
        """Questions that no further annotator gets: leased, or answered and not settled."""
        state, runtime = self.runtime.state, self.runtime
        numbers = {*leases.own, *leases.others, *state.skipped_by(leases.annotator)}
        if state.wants_several:
            numbers |= {*runtime.wanting()}
        return {runtime.plain_question(number) for number in numbers}

    def _is_free(self, question: Question, leases: _Leases) -> bool:
        """Whether an annotator may have a question: open, not answered, not with others."""
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

    def _costs(self, question: Question, leases: _Leases) -> bool:
        """Whether an answer to a question will cost budget that is not reserved for it."""
        number = self.runtime.number(question)
        if question.repeat >= GOLD_COPY or number in self.runtime.state.gold:
            return False
        if number is None:
            return True
        return number not in leases.reserved and not self.runtime.state.count(number)

    def _affordable(self, questions: list[Question], n: int, leases: _Leases) -> list[Question]:
        """The first n different questions that the budget allows."""
        left, chosen = self._budget(leases), dict[Question, None]()
        for question in questions:
            if len(chosen) == n:
                break
            cost = self._costs(question, leases) and question not in chosen
            if not cost or left > 0:
                chosen.setdefault(question)
                left -= cost
        return list(chosen)

    def _budget(self, leases: _Leases) -> float:
        """Questions that the budget allows, without those reserved for others."""
        left = self.runtime.left
        return math.inf if left is None else max(0, left - len(leases.reserved))


def _with(leases: list[Lease], new: list[Lease]) -> list[Lease]:
    """Leases, updated by new ones."""
    return list({(lease.question, lease.annotator): lease for lease in (*leases, *new)}.values())
