"""The loop between a plan or a policy and an oracle: budget, progress, interruption."""

import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from types import FrameType
from typing import Any, Protocol, Self

import numpy as np

from askmeans._util.arrays import Floats
from askmeans._util.checks import check_number, default_float_errors
from askmeans.exceptions import (
    AnswerError,
    AskmeansError,
    AskmeansWarning,
    OracleError,
    ParameterError,
    ParameterTypeError,
    PlanError,
    StopAsking,
)
from askmeans.paper.plan import Plan, stop_plan
from askmeans.policy import Policy, failure_of
from askmeans.queries import Ledger, Queries, batches_of
from askmeans.results import Clustering, Result


class Oracle(Protocol):
    """A source of answers: any object with a method `answer`.

    An attribute ``noisy = True`` allows answers outside [0, 1]. A method ``who(queries)`` may name
    the annotators: a str for each question, or None.

    Examples
    --------
    >>> import numpy as np
    >>> from askmeans.queries import PairQueries
    >>> class Undecided:
    ...     def answer(self, queries):
    ...         return np.full(queries.shape, 0.5)
    >>> Undecided().answer(PairQueries([[0, 1]]))
    array([0.5])
    """

    def answer(self, queries: Queries) -> Floats:
        """Answer a batch, in its order.

        Parameters
        ----------
        queries : MembershipQueries, GroupQueries, PairQueries, TripletQueries or RelativeQueries
            The questions.

        Returns
        -------
        ndarray of shape (n_questions,), or (n_questions, n_clusters) for group questions
            Numbers in [0, 1]; NaN for "cannot say".

        Raises
        ------
        StopAsking
            When the annotator stops, or the source fails; with the answers so far.
        QueryError
            If an item or a cluster does not exist, or this kind of question is not supported.
        """


def run(
    plan: Plan | Policy,
    oracle: Oracle,
    *,
    budget: int | None = None,
    progress: bool = False,
    ledger: Ledger | None = None,
) -> Result:
    """Run a plan or a policy with an oracle; every question is asked once.

    After Ctrl-C, a spent budget or an oracle that stops, the result is the best clustering from the
    answers so far with `complete=False`; ``clustering.diagnostics.stopped`` names the reason.

    Parameters
    ----------
    plan : generator or policy
        A plan or a policy, from a strategy's `plan` or `policy` method or your own.
    oracle : object
        An object with a method ``answer(queries)``, see `askmeans.oracles`.
    budget : int or None, default=None
        Maximum number of different new questions; None leaves it to the plan.
    progress : bool, default=False
        Show a progress bar in a terminal.
    ledger : Ledger or None, default=None
        Known answers: these questions are not asked again and cost nothing.

    Returns
    -------
    Result
        The clustering and its cost.

    Raises
    ------
    ParameterTypeError
        If the oracle is no oracle, such as labels or a function.
    ParameterError
        If the budget is not an integer from 0.
    AnswerError
        If an answer is invalid; its attribute `result` is the best clustering before it.
    OracleError
        If the oracle fails; its attribute `result` is the best clustering so far.

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
    if not hasattr(plan, "send") and not hasattr(plan, "propose"):
        raise ParameterError(
            "The 'plan' parameter of run must be a plan, which is a generator, or a policy. "
            f"Got {plan!r} instead; call plan() or policy() of a strategy."
        )
    check_oracle(oracle, "run")
    if budget is not None:
        check_number(budget, "budget", "run", integer=True, minimum=0)
    ledger = Ledger() if ledger is None else ledger
    driver = _Driver(oracle, ledger, budget)
    with bar(progress, budget) as advance, driver.interrupts:
        driver.advance = advance
        try:
            if isinstance(plan, Generator):
                result = driver.run_plan(plan)
            else:
                result = driver.run_policy(plan)
        except Exception as error:  # the answers so far are in the error
            error.history = ledger.history  # type: ignore[attr-defined]  # of any class
            raise
    driver.raise_failure(result)
    return result


def check_oracle(oracle: object, owner: str) -> None:
    """Refuse an object that is no oracle."""
    if callable(getattr(oracle, "answer", None)) and not isinstance(oracle, type):
        return
    shape = getattr(oracle, "shape", None)
    got = f"an array of shape {shape}" if shape is not None else f"{oracle!r:.60}"
    raise ParameterTypeError(
        f"The 'oracle' parameter of {owner} must be an object with a method answer(queries), see "
        f"askmeans.oracles. Got {got}; use TableOracle.from_labels(y) for labels, "
        "CallbackOracle(group=...) or CallbackOracle(membership=...) for a function."
    )


class Interrupts:
    """Defers Ctrl-C within a `with` block, except inside `allowed`.

    A plan is a generator: an exception raised inside its computation would end it, and lose the
    result. So while a driver runs, the first Ctrl-C takes effect at the next question; a second one
    takes effect at once.
    """

    def __init__(self) -> None:
        self._pending = False
        self._allowed = False
        self._installed = False

    def __enter__(self) -> Self:
        # Only Python's own handler is replaced; a custom handler stays.
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)
            self._installed = True
        return self

    def __exit__(self, *error: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let Ctrl-C through; a pending one is raised first."""
        if self._pending:
            self._pending = False
            raise KeyboardInterrupt
        self._allowed = True
        try:
            yield
        finally:
            self._allowed = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt now, or at the next question."""
        if self._allowed or self._pending:
            signal.default_int_handler(number, frame)
        self._pending = True


class _Driver:
    """One oracle, one ledger, one budget."""

    def __init__(self, oracle: Oracle, ledger: Ledger, budget: int | None) -> None:
        self.oracle = oracle
        self.ledger = ledger
        self.left = budget
        self.n_asked = 0
        self.raw_before, self.rounds_before = ledger.n_raw, ledger.n_rounds
        self.failure: Exception | None = None
        self.stop_reason: str | None = None  # "budget" or "interrupted"
        self.interrupts = Interrupts()
        self.advance: Callable[[int], None] = lambda _: None

    def run_plan(self, plan: Plan) -> Result:
        """Send answers until the plan returns."""
        try:
            with default_float_errors():
                queries = next(plan)
            while True:
                self._answer(queries)
                answers = self.ledger.answers(queries)
                with default_float_errors(), self._without_advice():
                    if self.stop_reason is not None:
                        stop_plan(plan, answers, self.ledger.is_answered(queries))
                    queries = plan.send(answers)
        except StopIteration as end:
            return self._result(end.value)
        except StopAsking as stop:
            raise PlanError(
                "A plan must return when StopAsking is thrown into it. Got it back instead; catch "
                "it and return the best Clustering so far."
            ) from self.failure or stop
        finally:
            plan.close()

    def run_policy(self, policy: Policy) -> Result:
        """Ask what the policy proposes until it is settled."""
        while True:
            with default_float_errors():
                policy.learn(self.ledger.history)
                if self.stop_reason is not None or policy.settled or failure_of(policy):
                    break
                proposed = policy.propose(policy.batch_size)
            for queries in batches_of(proposed, policy.n_clusters):
                if self.stop_reason is None:
                    self._answer(queries)
        with default_float_errors(), self._without_advice():
            result = self._result(policy.clustering())
        if self.stop_reason is None:
            self.failure = failure_of(policy)
        return result

    @contextmanager
    def _without_advice(self) -> Iterator[None]:
        """Suppress our warnings after a failure of the oracle: more questions would not help."""
        if self.failure is None:
            yield
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AskmeansWarning)
            yield

    def raise_failure(self, result: Result) -> None:
        """Raise the oracle's error with the result so far."""
        if self.failure is None:
            return
        if isinstance(self.failure, AskmeansError):
            self.failure.result, self.failure.history = result, result.history
            raise self.failure
        kind, who = type(self.failure).__name__, type(self.oracle).__name__
        raise OracleError(
            f"{who} failed after {self.n_asked} answers ({kind}: {self.failure}). "
            "The result so far is in this error's 'result'.",
            result,
        ) from self.failure

    def _answer(self, queries: Queries) -> None:
        """Ask the new questions of a batch, and count those that have an answer afterwards."""
        self._ask(self.ledger.unanswered(queries))
        is_whole = self.stop_reason is None
        self.ledger.n_raw += (
            len(queries) if is_whole else int(self.ledger.is_answered(queries).sum())
        )

    def _ask(self, queries: Queries) -> None:
        """Ask new questions up to the budget, and record the answers."""
        if self.left is not None and len(queries) > self.left:
            queries, self.stop_reason = queries.take(slice(self.left)), "budget"
        if len(queries) == 0:
            return
        try:
            with self.interrupts.allowed():
                answers = self.oracle.answer(queries)
            answers = checked_answers(answers, queries, self.oracle)
        except StopAsking as stop:
            self.stop_reason = "interrupted"
            try:
                answers = checked_answers(stop.answers, queries, self.oracle)
            except AskmeansError as error:
                self.failure = error
                return
            queries, answers = queries.take(stop.reached), answers[stop.reached]
            if isinstance(stop.__cause__, Exception):
                self.failure = stop.__cause__
            if len(queries) == 0:
                return
        except KeyboardInterrupt:
            self.stop_reason = "interrupted"
            return
        except Exception as error:  # the plan still returns its result so far
            self.failure, self.stop_reason = error, "interrupted"
            return
        self.ledger.n_rounds += 1
        self.ledger.record(queries, answers, annotators=annotators_of(self.oracle, queries))
        if self.left is not None:
            self.left -= len(queries)
        self.n_asked += len(queries)
        self.advance(len(queries))

    def _result(self, clustering: Clustering) -> Result:
        """Return the clustering with its cost and the reason of its end."""
        reason = clustering.diagnostics.stopped or "precision"  # the paper's strategies
        return Result(
            clustering=replace(
                clustering,
                complete=clustering.complete and self.stop_reason is None,
                diagnostics=replace(clustering.diagnostics, stopped=self.stop_reason or reason),
            ),
            n_queries=self.n_asked,
            n_queries_raw=self.ledger.n_raw - self.raw_before,
            n_rounds=self.ledger.n_rounds - self.rounds_before,
            history=self.ledger.history,
        )


def checked_answers(answers: Any, queries: Queries, oracle: Oracle) -> Floats:
    """Return an oracle's answers as floats in [0, 1] or NaN; refuse others."""
    values, name = np.asarray(answers, dtype=np.float64), type(oracle).__name__
    if values.shape != queries.shape:
        raise AnswerError(
            f"{name}.answer must return one answer for each of the {len(queries)} questions. "
            f"Got shape {values.shape} instead of {queries.shape}."
        )
    wrong = np.isinf(values)
    if not getattr(oracle, "noisy", False):
        wrong |= (values < 0.0) | (values > 1.0)
    if wrong.any():
        raise AnswerError(
            "An answer must lie in [0, 1], or be NaN for 'cannot say'. "
            f"Got {values[wrong][0]} from {name}; "
            "set noisy = True for an oracle whose answers may leave that range."
        )
    return values


def annotators_of(oracle: Oracle, queries: Queries) -> list[str] | None:
    """Return the annotator of each question; None if the oracle names none."""
    who = getattr(oracle, "who", None)
    if who is None:
        return None
    named = who(queries)
    return None if named is None else [str(name) for name in named]


def bar(progress: bool, budget: int | None) -> AbstractContextManager[Any]:
    """Return a context with a function that advances the progress bar; without a bar in a pipe."""
    if not progress:
        return nullcontext(lambda _: None)
    from askmeans._util.progress import answers_bar

    return answers_bar(budget)
