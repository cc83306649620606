"""A plan as a policy: the plan is replayed over the evidence, as far as the answers allow.

Rules of this file:
- A plan is told one number per question: the median of those who could say, NaN if nobody could.
- While all it was told still holds, the same generator goes on; else it is started anew. Answers
  belong to questions, not to rounds: what was answered is never asked again.
- A plan waits until its whole round is answered. Until then there may be nothing to propose.
- Besides this adapter and the driver only the paper's own wrappers send answers into plans.
"""

import math
import threading
from collections.abc import Callable, Set
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from askmeans._util.guards import default_float_errors
from askmeans.exceptions import AskmeansError, PlanError, StopAsking
from askmeans.paper.plan import Plan
from askmeans.policy.asked import digest
from askmeans.queries import ME, Answers, Ledger, Queries, Question
from askmeans.results import Clustering, Result

__all__ = ["PlanPolicy"]

Floats = NDArray[np.float64]
Told = dict[Question, float]


class PlanPolicy:
    """Proposes what a plan asks next.

    Parameters
    ----------
    make_plan : callable
        Makes the plan from its beginning; the same at every call.
    n_clusters : int
        Number of clusters.
    """

    def __init__(self, make_plan: Callable[[], Plan], n_clusters: int) -> None:
        self.n_clusters = n_clusters
        self._make_plan = make_plan
        self._told: Told = {}
        self._learnt = 0, digest(Answers())  # how many answers, and which
        self._replay: _Replay | None = None
        self._stepping = threading.Lock()
        self.learn(Answers())

    def learn(self, answers: Answers) -> None:
        """Let the plan go on as far as these answers allow."""
        told = self._medians(answers)
        with self._stepping:
            if self._replay is not None and not self._replay.holds(told):
                self._replay.close()
                self._replay = None
            self._told = told
            try:
                if self._replay is None:
                    self._replay = _Replay(self._make_plan)
                self._replay.advance(told)
            except BaseException:  # Ctrl-C within a step: the plan is dead, not at its end
                self._replay = None
                raise

    def _medians(self, answers: Answers) -> Told:
        """One number per question; where these are those before and more, only the rest costs."""
        count, learnt = self._learnt
        known = digest(answers.first(count)) == learnt
        self._learnt = len(answers), digest(answers)
        if known:
            rest = [each for each in answers[count:] if not isinstance(each.value, tuple)]
            told = {each.question: each.number for each in rest}
            if len(told) == len(rest) and not told.keys() & self._told.keys():
                return self._told | told
        return _medians(answers)

    def propose(
        self,
        n: int,
        pending: Set[Question] = frozenset(),
        annotator: str = ME,  # noqa: ARG002 - everybody is asked alike
    ) -> list[Question]:
        """The next questions of the open round; none while the rest of it is with others.

        Raises
        ------
        AskmeansError
            If the answers do not allow the plan to go on.
        """
        if self.failure is not None:
            raise self.failure.with_traceback(None)
        told = self._told
        return list(islice((q for q in self.open if q not in told and q not in pending), n))

    def clustering(self) -> Clustering:
        """The best result from all answers."""
        return self.result().clustering

    def result(self, answers: Answers | None = None) -> Result:
        """The best result from all answers, with the account of a run over them.

        Parameters
        ----------
        answers : Answers or None, default=None
            More than were learnt: a session's questions may have answers before they have all that
            are wanted.
        """
        replay, told = self._current, self._told
        if answers is not None:
            told = _medians(answers) | told
        if replay.clustering is None:  # a fresh plan is stopped: the one at hand goes on
            until = replay.round if replay.failure is not None else None
            replay = _Replay(self._make_plan)
            replay.advance(told, until)
            stopped = replay.clustering is None
            clustering = replay.stop(told) if stopped else replay.clustering
        else:
            clustering, stopped = replay.clustering, False
        assert clustering is not None
        return Result(
            clustering=replace(clustering, complete=clustering.complete and not stopped),
            n_queries=replay.ledger.n_distinct,
            n_queries_raw=replay.ledger.n_raw,
            n_rounds=replay.ledger.n_rounds,
            history=replay.ledger.history,
        )

    @property
    def settled(self) -> bool:
        """Whether the plan has ended."""
        return self._current.clustering is not None

    @property
    def stopped(self) -> str | None:
        """Why it is settled: a plan ends at its precision."""
        return "precision" if self.settled else None

    @property
    def batch_size(self) -> int:
        """How many questions of the open round are not answered."""
        return sum(question not in self._told for question in self.open)

    @property
    def failure(self) -> AskmeansError | None:
        """Why the answers do not allow the plan to go on; None where they do."""
        return self._current.failure

    @property
    def round(self) -> int:
        """The number of the open round, from 1."""
        return self._current.round

    @property
    def open(self) -> dict[Question, None]:
        """The questions of the open round, answered or not, in the plan's order."""
        return self._current.questions

    def about(self, items: tuple[int, ...]) -> list[Question]:
        """The questions of the open round about just these items."""
        return self._current.about.get(items, [])

    def later_than(self, question: Question) -> list[Question]:
        """Questions of the rounds that followed from the answer to this one."""
        replay = self._current
        own = replay.rounds.get(question)
        if own is None or question not in replay.sent:
            return []
        return [asked for asked, round_ in list(replay.rounds.items()) if round_ > own]

    @property
    def _current(self) -> "_Replay":
        """The plan, where the answers learnt last left it."""
        if self._replay is None:  # a step was interrupted
            with self._stepping:
                replay = _Replay(self._make_plan)
                replay.advance(self._told)
                self._replay = replay
        return self._replay


class _Replay:
    """A plan, and what it was told."""

    def __init__(self, make_plan: Callable[[], Plan]) -> None:
        self.round = 0
        self.batch: Queries | None = None
        self.questions: dict[Question, None] = {}
        self.about: dict[tuple[int, ...], list[Question]] = {}
        self.clustering: Clustering | None = None
        self.failure: AskmeansError | None = None
        self.ledger = Ledger()
        self.sent: Told = {}
        self.rounds: dict[Question, int] = {}  # the round in which each was first asked
        self._plan = make_plan()
        self._step(partial(next, self._plan))

    def holds(self, told: Told) -> bool:
        """Whether all that the plan was told is still so."""
        return all(q in told and _same(told[q], value) for q, value in self.sent.items())

    def advance(self, told: Told, until: int | None = None) -> None:
        """Send answers while the whole open round is answered; at most to the end of a round."""
        while (
            self.batch is not None and self.round != until and self.questions.keys() <= told.keys()
        ):
            answers = self._record(self.batch, told)
            self.sent.update((question, told[question]) for question in self.questions)
            self._step(partial(self._plan.send, answers))

    @default_float_errors()
    def stop(self, told: Told) -> Clustering:
        """Let the plan return what it has, with the answers to a part of its round."""
        assert self.batch is not None
        answers = self._record(self.batch, told)
        reached = np.array([question in told for question in self.batch.questions()], dtype=bool)
        try:
            self._plan.throw(StopAsking(answers, reached))
        except StopIteration as end:
            clustering: Clustering = end.value
            return clustering
        except StopAsking as stop:
            raise PlanError(
                "A plan must return when StopAsking is thrown into it. Got it back instead; catch "
                "it and return the best Clustering so far."
            ) from stop
        finally:
            self._plan.close()
        raise PlanError("A plan must return when StopAsking is thrown into it. "
                        "Got more questions instead.")  # fmt: skip

    def close(self) -> None:
        """Let the plan go."""
        self._plan.close()

    def _record(self, batch: Queries, told: Told) -> Floats:
        """Answers to a batch, kept in the account as far as there are any."""
        self.ledger.n_raw += len(batch)
        new = self.ledger.unanswered(batch)
        asked = new.questions()
        new = new.take(np.array([question in told for question in asked], dtype=bool))
        if len(new):
            self.ledger.n_rounds += 1
            self.ledger.record(new, [told[question] for question in new.questions()])
        return self.ledger.answers(batch)

    @default_float_errors()
    def _step(self, work: Callable[[], Queries]) -> None:
        """Let the plan run to its next round or its end."""
        self.batch, self.questions, self.about = None, {}, {}
        try:
            batch = work()
        except StopIteration as end:
            self.clustering = end.value
        except AskmeansError as error:  # the answers do not allow to go on
            self.failure = error
        except Exception as error:
            self.failure = PlanError(
                f"The plan failed in round {self.round + 1} ({type(error).__name__}: {error}); "
                "a version without the fault may go on."
            )
            self.failure.__cause__ = error
        else:
            self.round += 1
            self.questions = dict.fromkeys(batch.questions())
            self.batch = batch
            for question in self.questions:
                self.rounds.setdefault(question, self.round)
                self.about.setdefault(question.items, []).append(question)


def _medians(answers: Answers) -> Told:
    """One number per question: the median of those who could say; NaN where nobody could."""
    found: dict[Question, list[float]] = {}
    for batch in answers.batches:
        if batch.values.ndim == 1:  # no plan asks for whole rows
            for question, value in zip(
                batch.queries.questions(), batch.values.tolist(), strict=True
            ):
                found.setdefault(question, []).append(value)
    return {question: _median(values) for question, values in found.items()}


def _median(values: list[float]) -> float:
    """The median of the numbers among these."""
    if len(values) == 1:  # as most are
        return values[0]
    told = [value for value in values if not math.isnan(value)]
    return float(np.median(told)) if told else math.nan


def _same(a: float, b: float) -> bool:
    """Equal, or both "cannot say"."""
    return a == b or (a != a and b != b)
