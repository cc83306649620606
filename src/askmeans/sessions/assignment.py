"""Which annotator gets which question: choice, leases, gold questions.

Rules of this file:
- Questions are chosen before the write transaction. Inside it the choice is checked against all
  events and leases, and leases are written. If another annotator was faster, a spare question is
  used, or the choice is repeated.
- To hold a question is to have a lease of it that has not ended. Two annotators hold the same
  question at once only if several annotations of it are wanted. An annotator holds at most
  MAX_HELD. If no question is left for an annotator, they take one over from an annotator who holds
  several, whose lease of it ends.
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
from askmeans.queries.questions import KINDS, canonical_items
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

N_SPARE = 16  # further questions proposed, in case other annotators lease the first ones meanwhile
MAX_HELD = 48  # questions of one annotator: three times as many as a page prepares
# One of so many questions is gold, at a random place: a tenth of the work, usual in crowdsourcing.
GOLD_EVERY = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leases:
    """The leases, from the point of view of one annotator."""

    annotator: str
    own: Set[int]  # questions leased to the annotator now
    ever_own: Set[int]  # questions leased to the annotator now or before
    n_others: Counter[int]  # number of other annotators with a lease, by question
    of_others: list[Lease]  # other annotators' leases in force
    reserved: Set[int]  # unanswered questions that others hold: budget is reserved for them


class Assignment:
    """Hands out questions."""

    def __init__(self, runtime: Runtime, learning: Learning) -> None:
        self.runtime = runtime
        self.learning = learning
        self.lock = runtime.lock

    def ask(self, n: int, annotator: str, seconds: float | None = None) -> list[NumberedQuestion]:
        """Lease questions to an annotator; if there is none, `state_for` has the reason."""
        annotator = check_annotator(annotator, person=True)
        while True:
            self.learning.catch_up()
            chosen, spare = self.choose(min(n, MAX_HELD), annotator)
            if not chosen:
                return []
            numbers = self.hand_out(chosen, spare, annotator, self._lease_seconds(seconds))
            if numbers is not None:
                return [self.runtime.numbered_question(number) for number in numbers]

    def upcoming(self, n: int, annotator: str) -> list[Question]:
        """At most n questions that an annotator would get now, without leasing them."""
        annotator = check_annotator(annotator, person=True)
        self.learning.catch_up()
        return self.choose(n, annotator)[0]

    def choose(self, n: int, annotator: str) -> tuple[list[Question], list[Question]]:
        """At most n questions for an annotator, in order; and spare ones.

        The order is: the sub-group of the item that the annotator answered last, questions leased
        to the annotator, questions leased to them before, questions of others that want more
        opinions, the policy's proposals, and questions that the annotator skipped, the earliest
        first. Spare questions are further proposals.
        """
        runtime = self.runtime
        follow_ups = self.learning.follow_up(annotator)
        with self.lock:
            if runtime.state.paused:
                return [], []
            now, every_lease = runtime.leases()
            leases = self._leases(annotator, every_lease, now)
            first = [question for question in follow_ups if self._is_free(question, leases)]
            first += [runtime.question(number) for number in self._started_questions(leases)]
            skipped = [runtime.question(number) for number in self._skipped_questions(leases)]
            pending = self._pending(leases)
        chosen = self._affordable(first, n, leases)
        needed = sum(self._needs_budget(question, leases) for question in chosen)
        left = self._unreserved_budget(leases) - needed
        room, spare = int(min(n - len(chosen), left)), list[Question]()
        if room > 0:
            proposed = self.learning.propose(room + N_SPARE, pending | set(chosen), annotator)
            with self.lock:  # others would be refused at every attempt
                proposed = [question for question in proposed if self._is_free(question, leases)]
            chosen, spare = [*chosen, *proposed[:room]], proposed[room:]
        if len(chosen) < n:
            chosen = self._affordable([*chosen, *skipped], n, leases)
        if not chosen:
            with self.lock:
                lease = self._lease_to_take_over(leases)
            return ([] if lease is None else [runtime.question(lease.question)]), []
        with self.lock:
            return self._mix_in_gold(chosen, n, leases), spare

    def _mix_in_gold(self, chosen: list[Question], n: int, leases: _Leases) -> list[Question]:
        """Mix gold questions into the chosen ones that are not leased yet.

        One in ten is gold; its place among the ten is drawn from the seed and the annotator.
        """
        runtime, state, name = self.runtime, self.runtime.state, leases.annotator
        if not state.gold or not chosen:
            return chosen
        own = [q for q in chosen if runtime.number(q) in leases.own]
        is_gold = [event.question in state.gold for event in state.replies(name)]
        is_gold += [runtime.number(question) in state.gold for question in own]
        left = self._remaining_gold(leases)
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

    def _remaining_gold(self, leases: _Leases) -> list[int]:
        """Gold questions that an annotator neither answered nor holds, in a random order."""
        state = self.runtime.state
        before = {event.question for event in state.replies(leases.annotator)} | leases.own
        before = {state.original(number) for number in before}
        originals = sorted({state.original(number) for number in state.gold})
        name = zlib.crc32(leases.annotator.encode())
        order = np.random.default_rng([self.runtime.config.seed, name]).permutation(len(originals))
        return [number for number in np.array(originals)[order].tolist() if number not in before]

    def _copy_gold(self, taken: list[Question], leases: _Leases) -> list[Question] | None:
        """Replace gold questions by new copies; None if the annotator got one of them meanwhile."""
        runtime, copied = self.runtime, list[Question]()
        left = set(self._remaining_gold(leases)) if runtime.state.gold else set()
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
        """Lease the questions, or spare ones in place of those that others got meanwhile.

        Returns None if there are not enough: the caller chooses again.
        """
        runtime = self.runtime
        with self.lock:
            now, every_lease = runtime.leases()
            leased = self._leases(annotator, every_lease, now).ever_own
            is_new = any(runtime.number(question) not in leased for question in chosen)

        def lease(
            transaction: "Transaction",
        ) -> tuple[dict[int, Question], float, list[Lease]] | None:
            runtime.remember_questions(transaction.questions(runtime.n_questions))
            now, every_lease = transaction.leases()
            leases = self._leases(annotator, every_lease, now)
            taken, ended = self._still_free(chosen, spare, leases, now)
            if taken is None or len(self._affordable(taken, len(chosen), leases)) < len(chosen):
                return None
            if not is_new and any(runtime.number(q) not in leases.ever_own for q in taken):
                return None  # these need a durable write
            numbered = self._numbered(taken, transaction)
            new = [Lease(question=number, annotator=annotator, until=now + seconds)
                   for number in numbered]  # fmt: skip
            transaction.lease(*new, *ended)
            return numbered, now, _update_leases(every_lease, new + ended)

        # A new lease must survive a crash of the machine, or its answer would be refused
        # afterwards; a renewed one need not.
        written = runtime.write(lease, durable=is_new)
        if written is None:
            return None
        numbered, now, every_lease = written
        with self.lock:
            runtime.remember_questions(numbered.items())
            runtime.cache_leases(now, every_lease)
        return list(numbered)

    def _still_free(
        self, chosen: list[Question], spare: list[Question], leases: _Leases, now: float
    ) -> tuple[list[Question] | None, list[Lease]]:
        """As many free questions as were chosen, gold ones as new copies; and leases to end.

        None in place of the questions if the annotator got one of the gold questions meanwhile.
        """
        free = (question for question in (*chosen, *spare) if self._is_free(question, leases))
        taken, ended = list(itertools.islice(free, len(chosen))), list[Lease]()
        other = None if taken else self._lease_to_take_over(leases)
        if other is not None and self.runtime.question(other.question) in chosen:
            taken, ended = chosen, [replace(other, until=now)]
        return self._copy_gold(taken, leases), ended

    def _numbered(self, taken: list[Question], transaction: "Transaction") -> dict[int, Question]:
        """Questions by their numbers; new ones are added, and copies of gold ones noted as gold."""
        runtime = self.runtime
        unknown = [question for question in taken if runtime.number(question) is None]
        added = transaction.add_questions(unknown, after=runtime.n_questions)
        numbers = dict(zip(unknown, added, strict=True))
        for question, number in numbers.items():
            if question.repeat > GOLD_COPY:
                original = runtime.number(question._replace(repeat=0)) or 0
                value = runtime.state.gold[original].value
                transaction.append(
                    Gold(annotator=GOLD, question=number, value=value, original=original)
                )
        return {numbers.get(q) or runtime.number(q) or 0: q for q in taken}

    def add(
        self, kind: str, items: tuple[int, ...], cluster: int | None, annotator: str
    ) -> NumberedQuestion:
        """Lease a question that an annotator chose, checked."""
        runtime = self.runtime
        asks_similarity = runtime.config.ask in SIMILARITIES
        allowed = [name for name, each in KINDS.items() if each.width == 1 or asks_similarity]
        if kind not in allowed:
            raise SessionError(
                "The 'kind' parameter of Session.add_question must be a kind that a session with "
                f"ask={runtime.config.ask!r} allows: {', '.join(allowed)}. Got {kind!r:.40}.",
                user_message=Message(
                    "Items cannot be put into groups by hand in this session: it asks its own "
                    "questions only. Answer those."
                ),
            )
        rows, width = canonical_items(kind, map(int, items)), KINDS[kind].width
        known = all(0 <= row < len(runtime.rows) for row in rows)
        if len(set(rows)) != width or len(rows) != width or not known:
            raise ParameterError(
                f"The 'items' parameter of Session.add_question must have {width} different rows "
                f"below {len(runtime.rows)}. Got {items!r:.60} instead."
            )
        groups: list[Any] = [None]
        if kind == "membership":
            groups = runtime.groups.children(None)
        elif kind == "group":  # its sub-groups are asked for
            groups = [None, *runtime.groups.inner]
        if cluster not in groups:
            raise ParameterError(
                "The 'cluster' parameter of Session.add_question must be the number of a group at "
                "the top for a membership, None or the number of a group with sub-groups for a "
                f"group, and None for other kinds. Got {cluster!r:.40} instead."
            )
        return self._lease_chosen(Question(kind, rows, cluster), annotator)

    def _lease_chosen(self, question: Question, annotator: str) -> NumberedQuestion:
        """Lease a question that an annotator chose."""
        annotator, runtime = check_annotator(annotator, person=True), self.runtime

        def lease(transaction: "Transaction") -> int:
            runtime.remember_questions(transaction.questions(runtime.n_questions))
            (number,) = transaction.add_questions([question])
            until = transaction.now() + self._lease_seconds(None)
            transaction.lease(Lease(question=number, annotator=annotator, until=until))
            return number

        number = runtime.write(lease)
        with self.lock:
            runtime.remember_questions([(number, question)])
        return runtime.numbered_question(number)

    def renew(self, annotator: str, wanted: float | None) -> None:
        """Let an annotator's leases end in `wanted` seconds; with 0 they end at once."""
        annotator, seconds = check_annotator(annotator, person=True), self._lease_seconds(wanted)

        def end(transaction: "Transaction") -> None:
            now, every_lease = transaction.leases()
            in_force = self.runtime.leases_in_force(every_lease, now)
            own = [lease for lease in in_force if lease.annotator == annotator]
            transaction.lease(*(replace(lease, until=now + seconds) for lease in own))

        self.runtime.write(end, durable=False)

    def state_for(self, annotator: str | None) -> SessionState:
        """The state of the session for one annotator, or for all with None."""
        runtime = self.runtime
        if self.learning.is_over:
            return SessionState.DONE
        with self.lock:
            if runtime.budget_left == 0 and not runtime.awaiting_opinion():
                return SessionState.SPENT
            if runtime.state.paused:
                return SessionState.PAUSED
        if annotator is None or self.choose(1, annotator)[0]:
            return SessionState.ASKING
        return SessionState.WAITING

    def _lease_seconds(self, wanted: float | None) -> float:
        """The duration of a lease: as wanted, at most that of the session."""
        longest = self.runtime.config.lease_seconds
        return longest if wanted is None else min(wanted, longest)

    def _leases(self, annotator: str, every_lease: list[Lease], now: float) -> _Leases:
        """The leases, from the point of view of an annotator."""
        state, in_force = self.runtime.state, self.runtime.leases_in_force(every_lease, now)
        of_others = [lease for lease in in_force if lease.annotator != annotator]
        n_others = Counter(lease.question for lease in of_others)
        return _Leases(
            annotator=annotator,
            own={lease.question for lease in in_force if lease.annotator == annotator},
            ever_own={lease.question for lease in every_lease if lease.annotator == annotator},
            n_others=n_others,
            of_others=of_others,
            reserved={n for n in n_others if n not in state.gold and not state.count(n)},
        )

    def _started_questions(self, leases: _Leases) -> list[int]:
        """Open questions that an annotator holds, or held, or that want another opinion."""
        state, runtime = self.runtime.state, self.runtime
        shared: set[int] = set()
        if state.wants_several:
            shared.update(runtime.awaiting_opinion())
            shared.update(number for number in leases.n_others if state.wanted(number) > 1)
        numbers = [
            number
            for part in (leases.own, leases.ever_own - leases.own, shared - leases.ever_own)
            for number in sorted(part)
        ]
        return [
            number
            for number in numbers
            if (number in leases.own or state.reply(number, leases.annotator) is None)
            and self._is_free(runtime.question(number), leases)
        ]

    def _skipped_questions(self, leases: _Leases) -> list[int]:
        """Open questions that an annotator skipped, the earliest first."""
        return [
            number
            for number in self.runtime.state.skipped_by(leases.annotator)
            if number not in leases.own and self._is_free(self.runtime.question(number), leases)
        ]

    def _lease_to_take_over(self, leases: _Leases) -> Lease | None:
        """The oldest lease of another annotator, for an annotator with no other question.

        An annotator who holds questions about one item only is looking at it, and keeps them.
        """
        runtime, items_held = self.runtime, dict[str, set[tuple[int, ...]]]()
        open_leases = [
            lease
            for lease in leases.of_others
            if lease.question not in runtime.state.gold and runtime.is_open(lease.question)
        ]
        for lease in open_leases:
            items = runtime.question(lease.question).items
            items_held.setdefault(lease.annotator, set()).add(items)
        candidates = [
            lease
            for lease in open_leases
            if len(items_held[lease.annotator]) > 1
            and runtime.state.reply(lease.question, leases.annotator) is None
        ]
        # Among leases of one call the last question: questions are answered in their order.
        return min(candidates, key=lambda lease: (lease.until, -lease.question), default=None)

    def _pending(self, leases: _Leases) -> set[Question]:
        """Questions that the policy must not propose: leased, skipped, or not settled."""
        state, runtime = self.runtime.state, self.runtime
        numbers = {*leases.own, *leases.n_others, *state.skipped_by(leases.annotator)}
        if state.wants_several:
            numbers |= {*runtime.awaiting_opinion()}
        return {runtime.original_question(number) for number in numbers}

    def _is_free(self, question: Question, leases: _Leases) -> bool:
        """Whether an annotator may lease a question: open, not answered, not held by others."""
        number = self.runtime.number(question)
        if number is None:  # groups may have changed since it was proposed
            return self.runtime.has_group(question)
        state = self.runtime.state
        mine = state.reply(number, leases.annotator)
        if number in state.gold:
            return mine is None
        if not self.runtime.is_open(number) or (mine is not None and not isinstance(mine, Skip)):
            return False
        wanted = state.wanted(number) - len(state.answers(number))
        return number in leases.own or leases.n_others[number] < wanted

    def _needs_budget(self, question: Question, leases: _Leases) -> bool:
        """Whether an answer to a question will use budget that is not reserved for it."""
        number = self.runtime.number(question)
        if question.repeat >= GOLD_COPY or number in self.runtime.state.gold:
            return False
        if number is None:
            return True
        return number not in leases.reserved and not self.runtime.state.count(number)

    def _affordable(self, questions: list[Question], n: int, leases: _Leases) -> list[Question]:
        """The first n different questions that the budget allows."""
        left, chosen = self._unreserved_budget(leases), dict[Question, None]()
        for question in questions:
            if len(chosen) == n:
                break
            needs_budget = self._needs_budget(question, leases) and question not in chosen
            if not needs_budget or left > 0:
                chosen.setdefault(question)
                left -= needs_budget
        return list(chosen)

    def _unreserved_budget(self, leases: _Leases) -> float:
        """Questions that the budget allows, without those reserved for others."""
        left = self.runtime.budget_left
        return math.inf if left is None else max(0, left - len(leases.reserved))


def _update_leases(leases: list[Lease], new: list[Lease]) -> list[Lease]:
    """Replace leases by new ones of the same question and annotator; add the others."""
    return list({(lease.question, lease.annotator): lease for lease in (*leases, *new)}.values())
