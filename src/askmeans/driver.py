"""The loop between a plan and whoever answers: budget, progress, interruption."""

from collections.abc import Generator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from askmeans.checks import check_number
from askmeans.exceptions import (
    AnswerError,
    AskmeansError,
    OracleError,
    ParameterError,
    PlanError,
    StopAsking,
)
from askmeans.floats import default_float_errors
from askmeans.interrupts import Interrupts
from askmeans.queries import Ledger, Queries
from askmeans.results import Clustering, Result

__all__ = ["Oracle", "run"]

Floats = NDArray[np.float64]


class Oracle(Protocol):
    """Whoever answers.

    `answer` takes a batch and returns as many numbers in [0, 1], NaN for "cannot say". It may raise
    StopAsking with the answers so far. An attribute `noisy = True` allows answers outside [0, 1].
    """

    def answer(self, queries: Queries) -> Floats:
        """Answers to a batch, in its order."""


def run(
    plan: Generator[Queries, Floats, Clustering],
    oracle: Oracle,
    *,
    budget: int | None = None,
    progress: bool = False,
    ledger: Ledger | None = None,
) -> Result:
    """Let an oracle answer a plan's questions, each once, and return what the plan makes of them.

    Ctrl-C, a spent budget and an oracle that has had enough all end with the best clustering from
    the answers so far and `complete=False`; the clustering's ``diagnostics["stopped"]`` says which.

    Parameters
    ----------
    plan : generator
        A plan, from a strategy's `plan` method or written by yourself.
    oracle : object
        Has a method ``answer(queries)``, see `askmeans.oracles`.
    budget : int or None, default=None
        Most different questions to ask, remembered ones not counted; None for as many as the plan
        wants.
    progress : bool, default=False
        Show a progress bar, where there is a terminal.
    ledger : Ledger or None, default=None
        Answers held already: they are not asked again, and cost nothing.

    Returns
    -------
    Result
        The clustering, and what it cost.

    Raises
    ------
    ParameterError
        If the budget is not a whole number from 0 up.
    AnswerError
        If the oracle's answers are none; its `result` is the best clustering before them.
    OracleError
        If the oracle fails; its `result` is the best clustering so far.

    Examples
    --------
    >>> import numpy as np
    >>> from askmeans import TwoPhase, oracles, run
    >>> X = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> oracle = oracles.TableOracle.from_labels([0, 0, 1, 1])
    >>> plan = TwoPhase(sample_size=6).plan(X, 2, fuzzifier=2.0, rng=np.random.default_rng(0))
    >>> result = run(plan, oracle)
    >>> result.complete, result.clustering.memberships.argmax(axis=1).tolist()
    (True, [0, 0, 1, 1])
    """
    if not hasattr(plan, "send"):
        raise ParameterError(
            "The 'plan' parameter of run must be a plan, which is a generator. "
            f"Got {plan!r} instead; a strategy's plan() makes one."
        )
    if budget is not None:
        check_number(budget, "budget", "run", integer=True, minimum=0)
    ledger = Ledger() if ledger is None else ledger
    driver = _Driver(plan, oracle, ledger, budget)
    with _bar(progress, budget) as advance:
        return driver.run(advance)


class _Driver:
    """One plan, one oracle, one ledger."""

    def __init__(
        self,
        plan: Generator[Queries, Floats, Clustering],
        oracle: Oracle,
        ledger: Ledger,
        budget: int | None,
    ) -> None:
        self.plan = plan
        self.oracle = oracle
        self.ledger = ledger
        self.left = budget
        self.n_asked = 0
        self.raw_before, self.rounds_before = ledger.n_raw, ledger.n_rounds
        self.failure: Exception | None = None
        self.interrupted = False
        self.interrupts = Interrupts()

    def run(self, advance: Any) -> Result:
        """Send answers until the plan returns."""
        stopped = False
        try:
            with self.interrupts:
                with default_float_errors():
                    queries = next(self.plan)
                while True:
                    stopped = self._answer(queries, advance)
                    answers = self.ledger.answers(queries)
                    if stopped:
                        with default_float_errors():
                            self.plan.throw(StopAsking(answers, self._reached(queries)))
                        raise PlanError("A plan must return when StopAsking is thrown into it. "
                                        "Got more questions instead.")  # fmt: skip
                    with default_float_errors():
                        queries = self.plan.send(answers)
        except StopIteration as end:
            result = self._result(end.value, stopped)
        except StopAsking as stop:
            raise PlanError(
                "A plan must return when StopAsking is thrown into it. Got it back instead; catch "
                "it and return the best Clustering so far."
            ) from self.failure or stop
        except Exception as error:  # the plan cannot go on; what was answered is in the error
            error.history = self.ledger.history  # type: ignore[attr-defined]  # of any class
            raise
        finally:
            self.plan.close()
        if self.failure is None:
            return result
        if isinstance(self.failure, AskmeansError):
            self.failure.result, self.failure.history = result, result.history
            raise self.failure
        kind, who = type(self.failure).__name__, type(self.oracle).__name__
        raise OracleError(
            f"{who} failed after {self.n_asked} answers ({kind}: {self.failure}). "
            "The result so far is in this error's 'result'.",
            result,
        ) from self.failure

    def _answer(self, queries: Queries, advance: Any) -> bool:
        """Have what is new in the batch answered and recorded; True when it is time to stop."""
        self.ledger.n_raw += len(queries)
        new = self.ledger.unanswered(queries)
        stopped = False
        if self.left is not None and len(new) > self.left:
            new, stopped = new.take(slice(self.left)), True
        if len(new) == 0:
            return stopped
        self.ledger.n_rounds += 1
        try:
            with self.interrupts.welcome():
                answers = self.oracle.answer(new)
            answers = self._checked(answers, new)
        except StopAsking as stop:
            try:
                answers = self._checked(stop.answers, new)
            except AskmeansError as error:
                self.failure = error
                return self._interrupt()
            stopped = self._interrupt()
            # What was not reached was not asked.
            new, answers = new.take(stop.asked), answers[stop.asked]
            if isinstance(stop.__cause__, Exception):
                self.failure = stop.__cause__
        except KeyboardInterrupt:
            return self._interrupt()
        except Exception as error:  # the plan still gets to say what it has: nothing is lost
            self.failure = error
            return self._interrupt()
        self.ledger.record(new, answers)
        if self.left is not None:
            self.left -= len(new)
        self.n_asked += len(new)
        advance(len(new))
        return stopped

    def _interrupt(self) -> bool:
        """Note that it was not the budget that ended it."""
        self.interrupted = True
        return True

    def _reached(self, queries: Queries) -> NDArray[np.bool_]:
        """Which questions somebody was asked, whether or not they could say."""
        still_open = set(self.ledger.unanswered(queries).identities())
        return np.array([one not in still_open for one in queries.identities()], dtype=bool)

    def _checked(self, answers: Any, queries: Queries) -> Floats:
        """Answers as floats in [0, 1] or NaN, one for each question."""
        values = np.asarray(answers, dtype=np.float64)
        if values.shape != (len(queries),):
            raise AnswerError(
                f"{type(self.oracle).__name__}.answer must return one number for each of the "
                f"{len(queries)} questions. Got shape {values.shape} instead."
            )
        wrong = np.isinf(values) | (values < 0.0) | (values > 1.0)
        if getattr(self.oracle, "noisy", False):
            wrong = np.isinf(values)
        if wrong.any():
            raise AnswerError(
                "An answer must lie in [0, 1], or be NaN for 'cannot say'. "
                f"Got {values[wrong][0]} from {type(self.oracle).__name__}; "
                "an oracle whose answers may leave that range sets noisy = True."
            )
        return values

    def _result(self, clustering: Clustering, stopped: bool) -> Result:
        """The clustering with its account, and with what ended it."""
        why = clustering.diagnostics.get("stopped", "precision")  # the paper's end with theirs
        if stopped:
            why = "interrupted" if self.interrupted else "budget"
        diagnostics = {**clustering.diagnostics, "stopped": why}
        clustering = replace(clustering, diagnostics=diagnostics)
        return Result(
            clustering=clustering,
            complete=clustering.complete and not stopped,
            n_queries=self.n_asked,
            n_queries_raw=self.ledger.n_raw - self.raw_before,
            n_rounds=self.ledger.n_rounds - self.rounds_before,
            history=self.ledger.history,
        )


def _bar(progress: bool, budget: int | None) -> AbstractContextManager[Any]:
    """A function that moves the bar on by so many answers; nothing in a pipe."""
    if not progress:
        return nullcontext(lambda _: None)
    from askmeans.progress import answers_bar

    return answers_bar(budget)
