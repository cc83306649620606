"""An oracle that asks a language model, through any client."""

import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import check_number
from askmeans.driver import bar
from askmeans.exceptions import (
    AnswerError,
    DataError,
    ModelBusyError,
    ModelError,
    ParameterError,
    StopAsking,
)
from askmeans.llm.cache import ModelCost, ReplyCache
from askmeans.llm.calls import Caller, Clock, Limits, RefusedError, Spent
from askmeans.llm.prompts import Messages, Prompts
from askmeans.llm.replies import Reply, parsed, spread
from askmeans.llm.tokens import about, most_written
from askmeans.queries import GroupQueries, MembershipQueries, Queries, Question

__all__ = ["ModelOracle"]

Floats = NDArray[np.float64]
Value = float | tuple[float, ...]

_WRITTEN = 200  # tokens that an answer may have: the longest valid one is far shorter
_EACH = 12  # and more for each group: "A": 0.25 has about ten
_USUAL = 10  # tokens that one has as a rule: {"group": "A"} has seven or so
_WARM = 0.7  # temperature of several votes: as Wang et al. (2023), "Self-consistency", have it
# Failures after which others may still be asked: for now, or because of the item itself.
_OF_ONE_QUESTION = (ModelBusyError, TimeoutError, ConnectionError, RefusedError, DataError)
_IN_A_ROW = 10  # questions that fail one after the other, from which on nothing more is tried


class ModelOracle:
    r"""Asks a language model, each question in a prompt of its own.

    What it writes must be a JSON object of the form asked for; after one more try it is "cannot
    say". Every raw answer is on disk before it counts, so a run that was stopped or killed goes on
    where it was, and the same run again costs nothing.

    Parameters
    ----------
    client : callable
        ``client(messages, **options)`` returns the text that a model writes: messages as OpenAI
        has them, options `temperature`, `max_tokens` and, for votes, `seed`. `model_client` makes
        one; an attribute `name` says which model it is. It raises `ModelBusyError`, `TimeoutError`
        or `ConnectionError` where another try may help.
    guidelines : str
        What belongs where, by the owner of the items.
    show : callable or sequence
        ``show(row)``, or a list or a data frame: what people see of an item, a text or a mapping
        of names to values. A `pathlib.Path` in it is a picture.
    names : sequence of str or None, default=None
        What the groups are called.
    exemplars : sequence of sequences of int or None, default=None
        For each group, rows of items that show what it is. They are in the prompts of other
        items: choose items that you have read.
    votes : int, default=1
        How often each question is asked; the shares of the answers are the answer.
    temperature : float or None, default=None
        How freely the model writes; None for 0, of several votes 0.7.
    cache : path or None, default=None
        A file for the raw answers, and for what they cost; None to keep them in memory only.
    max_cost : float or None, default=None
        Money that may be spent on this model at most, in the currency of `prices`, in earlier runs
        with the same cache, too: a run that goes on has what is left.
    max_tokens : int or None, default=None
        Tokens that may be used at most, read and written, likewise.
    prices : (float, float) or None, default=None
        What a million tokens cost that are read, and written.
    concurrency : int, default=8
        Requests at a time.
    retries : int, default=6
        How often a request is tried again that fails.
    progress : bool, default=False
        Show a progress bar, where there is a terminal.
    clock : object or None, default=None
        Has ``now()`` and ``sleep(seconds)``; None for the machine's own.

    Raises
    ------
    ParameterError
        If a parameter breaks its rule.

    Examples
    --------
    >>> from askmeans.queries import GroupQueries
    >>> def client(messages, **options):
    ...     return '{"group": "B"}' if "pear" in messages[1]["content"] else '{"group": "A"}'
    >>> oracle = ModelOracle(client, guidelines="A: round. B: not.", show=["apple", "pear"])
    >>> oracle.answer(GroupQueries([0, 1], 2))
    array([[1., 0.],
           [0., 1.]])
    >>> oracle.spent.calls
    2
    """

    def __init__(
        self,
        client: Callable[..., str],
        *,
        guidelines: str,
        show: Callable[[int], Any] | Sequence[Any],
        names: Sequence[str] | None = None,
        exemplars: Sequence[Sequence[int]] | None = None,
        votes: int = 1,
        temperature: float | None = None,
        cache: Path | str | None = None,
        max_cost: float | None = None,
        max_tokens: int | None = None,
        prices: tuple[float, float] | None = None,
        concurrency: int = 8,
        retries: int = 6,
        progress: bool = False,
        clock: Clock | None = None,
    ) -> None:
        owner = type(self).__name__
        if not callable(client):
            raise ParameterError(
                f"The 'client' parameter of {owner} must be callable. Got {client!r:.60} instead; "
                "llm.model_client makes one for an endpoint."
            )
        check_number(votes, "votes", owner, integer=True, minimum=1)
        check_number(concurrency, "concurrency", owner, integer=True, minimum=1)
        self.client = client
        self.votes = int(votes)
        self.temperature = temperature
        self.concurrency = int(concurrency)
        self.progress = progress
        self.failed: set[Question] = set()
        self.is_spent = False
        self.refusal = ""  # why the last request was not made, where it could cost too much
        self.prompts = Prompts(guidelines, show, names, exemplars)
        limits = Limits(max_cost=max_cost, max_tokens=max_tokens, prices=prices, retries=retries)
        self._caller = Caller(client, ReplyCache(cache), limits, clock)

    def __repr__(self) -> str:
        return f"ModelOracle({self.name!r}, votes={self.votes})"

    @property
    def name(self) -> str:
        """What the model is called."""
        return self._caller.model

    @property
    def spent(self) -> ModelCost:
        """What was asked so far in this run, and what it cost."""
        return self._caller.spent

    @property
    def spent_in_all(self) -> ModelCost:
        """What the model cost so far, in earlier runs with the same cache, too."""
        return self._caller.spent_in_all

    def who(self, queries: Queries) -> list[str]:
        """The name of the model, for each question."""
        return [self.name] * len(queries)

    def forecast(self, queries: Queries) -> ModelCost:
        """About what a batch will cost, without asking anything, if no request fails.

        Parameters
        ----------
        queries : MembershipQueries, GroupQueries, PairQueries, TripletQueries or RelativeQueries
            The questions.

        Returns
        -------
        ModelCost
            Requests that are left, answers that are known already, tokens and money.

        Examples
        --------
        >>> from askmeans.queries import PairQueries
        >>> oracle = ModelOracle(lambda m: "", guidelines="", show=["a", "b"])
        >>> oracle.forecast(PairQueries([[0, 1]])).calls
        1
        """
        k, calls, tokens = self._n_clusters(queries), 0, 0
        known: list[Reply] = []
        for question in dict.fromkeys(queries.questions()):
            messages = self.prompts.messages(question, k)
            for vote in range(self.votes):
                key = self._caller.key(messages, self._options(k, vote), _vote(question, vote, 0))
                reply = self._caller.cache.get(key)
                if reply is not None:
                    known.append(reply)
                else:
                    calls, tokens = calls + 1, tokens + about(messages)
        written = round(calls * self._usually_written(known))
        limits = self._caller.limits
        return ModelCost(
            calls=calls, remembered=len(known), tokens_in=tokens, tokens_out=written,
            money=limits.money(tokens, written) if limits.prices else None,
        )  # fmt: skip

    def _usually_written(self, known: Sequence[Reply]) -> float:
        """Tokens of an answer: as those known, else few, or as many as the client lets it write."""
        if known:
            return sum(reply.tokens_out or 0 for reply in known) / len(known)
        return most_written(self._caller.sent({})) or _USUAL  # a limit of its own: it thinks first

    def answer(self, queries: Queries) -> Floats:
        """What the model says; NaN also for what could not be asked (`failed`).

        It stops when the budget is spent, on Ctrl-C, or when the model cannot be asked; all that it
        said is in the cache.
        """
        if not callable(self.prompts.shown) and len(queries):
            queries.check_items(len(self.prompts.shown))
        asked, k = queries.questions(), self._n_clusters(queries)
        batch = _Batch(partial(self._card, k=k), self._caller.ended, self.failed)
        with (
            bar(self.progress, len(asked)) as advance,
            ThreadPoolExecutor(self.concurrency) as pool,
        ):
            try:
                done: SimpleQueue[Any] = SimpleQueue()
                for question in (distinct := list(dict.fromkeys(asked))):
                    pool.submit(batch.ask, question).add_done_callback(done.put)
                for _ in distinct:
                    _wait_for(done)
                    advance(1)
            except KeyboardInterrupt:
                batch.ended.set()
        self.is_spent |= batch.is_spent
        self.refusal = batch.refusal
        answers, said = np.full(queries.shape, np.nan), batch.said
        for row, question in enumerate(asked):
            answers[row] = said.get(question, np.nan)  # what failed, too
        if batch.ended.is_set():
            reached = np.array([question in said for question in asked], dtype=bool)
            raise StopAsking(answers, reached) from batch.cause
        return answers

    def _card(self, question: Question, k: int) -> Value:
        """One question's answer: the mean of its votes, of those that could say."""
        votes = [self._vote(question, k, vote) for vote in range(self.votes)]
        told = np.array([vote for vote in votes if not np.isnan(vote).any()])
        if not len(told):
            return self._nothing(question, k)
        mean = told.mean(axis=0)
        return tuple(mean.tolist()) if mean.ndim else float(mean)

    def _vote(self, question: Question, k: int, vote: int) -> Value:
        """What the model says once; asked again where it is no answer, then "cannot say"."""
        for attempt in range(2):
            messages: Messages = self.prompts.messages(question, k, again=attempt > 0)
            options = self._options(k, vote)
            reply: Reply = self._caller(messages, options, _vote(question, vote, attempt))
            try:
                value = parsed(reply, question, k)
            except AnswerError:
                continue
            if isinstance(value, tuple) and reply.logprobs:
                return spread(reply, question, k, value)
            return value
        return self._nothing(question, k)

    def _options(self, k: int, vote: int) -> dict[str, Any]:
        """How the model shall write."""
        usual = 0.0 if self.votes == 1 else _WARM
        options: dict[str, Any] = {
            "temperature": usual if self.temperature is None else float(self.temperature),
            "max_tokens": _WRITTEN + _EACH * k,
        }
        return options | ({"seed": vote} if self.votes > 1 else {})

    def _n_clusters(self, queries: Queries) -> int:
        """How many groups there are, as far as questions are about groups."""
        if isinstance(queries, GroupQueries):
            return queries.n_clusters
        if isinstance(queries, MembershipQueries):
            names = self.prompts.names
            return int(queries.clusters.max(initial=0)) + 1 if names is None else len(names)
        return 1

    def _nothing(self, question: Question, k: int) -> Value:
        """No answer."""
        return (math.nan,) * k if question.kind == "group" else math.nan


def _vote(question: Question, vote: int, attempt: int) -> tuple[int, ...]:
    """What tells requests of the same content apart: asked again, voted again, repaired."""
    return question.repeat, vote, attempt


def _wait_for(done: "SimpleQueue[Any]") -> None:
    """Wait for one more, waking up now and then: another thread may have got the Ctrl-C."""
    while True:
        try:
            done.get(timeout=0.2)
            return
        except Empty:
            continue


class _Batch:
    """Asks questions, until somebody says that it has ended; for several threads.

    `card` answers a question; `failed` are the questions that could not be asked, of this batch
    and before.
    """

    def __init__(
        self, card: Callable[[Question], Value], ended: threading.Event, failed: set[Question]
    ) -> None:
        self.said: dict[Question, Value] = {}
        self.failed = failed
        self.cause: Exception | None = None
        self.is_spent = False
        self.refusal = ""
        self.ended = ended
        self.ended.clear()
        self._card = card
        self._in_a_row = 0
        self._lock = threading.Lock()

    def ask(self, question: Question) -> None:
        """Have a question answered, unless all has ended."""
        if self.ended.is_set():
            return
        try:
            value = self._card(question)
        except _OF_ONE_QUESTION as error:
            self._note(question, error)
        except Spent as error:
            if not self.ended.is_set():
                self.is_spent, self.refusal = True, str(error)
            self.ended.set()
        except Exception as error:  # what was answered is not thrown away with it
            self.cause = self.cause or error
            self.ended.set()
        else:
            with self._lock:
                self._in_a_row = 0
                self.failed.discard(question)
                self.said[question] = value

    def _note(self, question: Question, error: Exception) -> None:
        """Note a question that could not be asked; of many in a row, give up."""
        with self._lock:
            if self.ended.is_set():
                return  # it was not tried as often as it might have been
            self._in_a_row += 1
            self.failed.add(question)
            if self._in_a_row >= _IN_A_ROW:
                self.cause = ModelError(
                    f"The model must answer. Got {self._in_a_row} questions in a row that failed "
                    f"in spite of several tries, the last with: {error}. What it said is kept; try "
                    "again later."
                )
                self.ended.set()
