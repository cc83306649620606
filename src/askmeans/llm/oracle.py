"""An oracle that sends each question to a language model, through any client."""

import itertools
import math
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from askmeans._util.arrays import Floats
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
from askmeans.llm.cost import (
    BudgetSpentError,
    CachedClient,
    Limits,
    ModelCost,
    RefusedError,
    ReplyCache,
    estimated_tokens,
    largest_reply,
)
from askmeans.llm.prompts import Prompts, Reply, label_probabilities, parse_reply
from askmeans.queries import GroupQueries, MembershipQueries, Queries, Question

Value = float | tuple[float, ...]

_MAX_REPLY = 200  # tokens of a reply: several times the longest valid one
_MAX_PER_GROUP = 12  # further tokens per group: "A": 0.25 has about ten
_USUAL_REPLY = 10  # tokens: {"group": "A"} has about seven
_VOTE_TEMPERATURE = 0.7  # Wang et al. (2023), "Self-consistency improves chain of thought"
# Errors that concern one question only.
_QUESTION_ERRORS = (ModelBusyError, TimeoutError, ConnectionError, RefusedError, DataError)
_POLL = 0.2  # seconds
_MAX_FAILURES = 10  # consecutive questions that fail: then the endpoint is considered down


class ModelOracle:
    r"""Oracle that sends each question to a language model in a prompt of its own.

    A reply must be a JSON object of the required form. After a second invalid reply the answer is
    "cannot say". Every raw reply is on disk before it counts, so an interrupted run continues, and
    the same run again costs nothing.

    Parameters
    ----------
    client : callable
        ``client(messages, **options)`` returns the text that a model writes: messages in OpenAI's
        format, options `temperature`, `max_tokens` and, for votes, `seed`. `model_client` makes
        one. Its attribute `name` is the model's name. A client repeats failed requests itself and
        then raises `ModelBusyError`, `TimeoutError` or `ConnectionError`; the question has no
        answer then, and the next is asked.
    guidelines : str
        The owner's definition of the groups.
    show : callable or sequence
        ``show(row)``, or a list or a data frame: the text of an item, or a mapping of names to
        values. A `pathlib.Path` in it is a picture.
    names : sequence of str or None, default=None
        Names of the groups.
    exemplars : sequence of sequences of int or None, default=None
        For each group, rows of typical items. They are in the prompts of other items: choose
        items that you have read.
    votes : int, default=1
        Requests per question; the answer is their mean.
    temperature : float or None, default=None
        Sampling temperature; None for 0, with several votes 0.7.
    cache : path or None, default=None
        A file for raw replies and their costs; None keeps them in memory.
    max_cost : float or None, default=None
        Budget in the currency of `prices`. Earlier runs with the same cache count.
    max_tokens : int or None, default=None
        Budget in tokens read and written. Earlier runs with the same cache count.
    prices : (float, float) or None, default=None
        Prices of a million tokens read, and written.
    concurrency : int, default=8
        Simultaneous requests.
    progress : bool, default=False
        Show a progress bar in a terminal.

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
        progress: bool = False,
    ) -> None:
        owner = type(self).__name__
        if not callable(client):
            raise ParameterError(
                f"The 'client' parameter of {owner} must be callable. Got {client!r:.60} instead; "
                "llm.model_client makes one for an endpoint."
            )
        check_number(votes, "votes", owner, integer=True, minimum=1)
        check_number(concurrency, "concurrency", owner, integer=True, minimum=1)
        self.votes = int(votes)
        self.temperature = temperature
        self.concurrency = int(concurrency)
        self.progress = progress
        self.failed: set[Question] = set()
        self.is_spent = False
        self.refusal = ""  # why the budget did not allow the last request
        self.prompts = Prompts(guidelines, show, names, exemplars)
        limits = Limits(max_cost=max_cost, max_tokens=max_tokens, prices=prices)
        self._client = CachedClient(client, ReplyCache(cache), limits)

    def __repr__(self) -> str:
        return f"ModelOracle({self.name!r}, votes={self.votes})"

    @property
    def name(self) -> str:
        """The model's name."""
        return self._client.name

    @property
    def spent(self) -> ModelCost:
        """Requests of this run, and their cost."""
        return self._client.spent

    @property
    def spent_in_all(self) -> ModelCost:
        """Cost of the model so far, including earlier runs with the same cache."""
        return self._client.spent_in_all

    def who(self, queries: Queries) -> list[str]:
        """Return the name of the model for each question."""
        return [self.name] * len(queries)

    def forecast(self, queries: Queries) -> ModelCost:
        """Forecast the cost of a batch without a request, if none fails.

        Parameters
        ----------
        queries : MembershipQueries, GroupQueries, PairQueries, TripletQueries or RelativeQueries
            The questions.

        Returns
        -------
        ModelCost
            Requests to make, cached replies, tokens and money.

        Examples
        --------
        >>> from askmeans.queries import PairQueries
        >>> oracle = ModelOracle(lambda m: "", guidelines="", show=["a", "b"])
        >>> oracle.forecast(PairQueries([[0, 1]])).calls
        1
        """
        k = self._n_clusters(queries)
        known: list[Reply] = []
        new: list[int] = []  # tokens of prompts
        for question in dict.fromkeys(queries.questions()):
            messages = self.prompts.messages(question, k)
            for vote in range(self.votes):
                key = self._client.key(messages, self._options(k, vote), (question.repeat, vote, 0))
                reply = self._client.cache.get(key)
                if reply is not None:
                    known.append(reply)
                else:
                    new.append(estimated_tokens(messages))
        written = round(len(new) * self._usual_reply(known))
        return self._client.limits.priced(
            ModelCost(calls=len(new), remembered=len(known), tokens_in=sum(new), tokens_out=written)
        )

    def _usual_reply(self, known: Sequence[Reply]) -> float:
        """Tokens of a reply: the mean of known ones, else the client's limit, else a few."""
        if known:
            return sum(reply.tokens_out or 0 for reply in known) / len(known)
        return largest_reply(self._client.sent({})) or _USUAL_REPLY  # a reasoning model has a limit

    def answer(self, queries: Queries) -> Floats:
        """Return the model's answers, NaN for "cannot say" and for requests that failed (`failed`).

        StopAsking is raised when the budget is spent, on Ctrl-C, or when the endpoint is down; all
        replies so far are in the cache.
        """
        if not callable(self.prompts.shown) and len(queries):
            queries.check_items(len(self.prompts.shown))
        questions, k = queries.questions(), self._n_clusters(queries)
        batch = _Batch()
        waiting = iter(dict.fromkeys(questions))
        running: dict[Future[Value], Question] = {}
        self._client.stopped.clear()
        with (
            bar(self.progress, len(questions)) as advance,
            ThreadPoolExecutor(self.concurrency) as pool,
        ):
            while True:
                try:
                    free = 0 if batch.is_stopped else self.concurrency - len(running)
                    for question in itertools.islice(waiting, free):
                        running[pool.submit(self._mean_vote, question, k)] = question
                    if not running:
                        break
                    # Wake up regularly, since another thread may receive the Ctrl-C.
                    for future in wait(running, _POLL, FIRST_COMPLETED).done:
                        batch.note(running.pop(future), future)
                        advance(1)
                except KeyboardInterrupt:
                    batch.is_stopped = True
                if batch.is_stopped:
                    self._client.stopped.set()
        self.failed = (self.failed | batch.failed) - set(batch.values)
        self.is_spent |= bool(batch.refusal)
        self.refusal = batch.refusal
        answers = np.full(queries.shape, np.nan)
        for row, question in enumerate(questions):
            answers[row] = batch.values.get(question, np.nan)
        if batch.is_stopped:
            reached = np.array([question in batch.values for question in questions], dtype=bool)
            raise StopAsking(answers, reached) from batch.cause
        return answers

    def _mean_vote(self, question: Question, k: int) -> Value:
        """The mean of the votes that are answers."""
        votes = [self._vote(question, k, vote) for vote in range(self.votes)]
        valid = np.array([vote for vote in votes if not np.isnan(vote).any()])
        if not len(valid):
            return self._cannot_say(question, k)
        mean = valid.mean(axis=0)
        return tuple(mean.tolist()) if mean.ndim else float(mean)

    def _vote(self, question: Question, k: int, vote: int) -> Value:
        """Ask once, and once more after an invalid reply; then "cannot say"."""
        for attempt in range(2):
            messages = self.prompts.messages(question, k, retry=attempt > 0)
            options = self._options(k, vote)
            reply = self._client(messages, options, (question.repeat, vote, attempt))
            try:
                value = parse_reply(reply, question, k)
            except AnswerError:
                continue
            if isinstance(value, tuple) and reply.logprobs:
                return label_probabilities(reply, question, k, value)
            return value
        return self._cannot_say(question, k)

    def _options(self, k: int, vote: int) -> dict[str, Any]:
        """Sampling options of a request."""
        default = 0.0 if self.votes == 1 else _VOTE_TEMPERATURE
        options: dict[str, Any] = {
            "temperature": default if self.temperature is None else float(self.temperature),
            "max_tokens": _MAX_REPLY + _MAX_PER_GROUP * k,
        }
        return options | ({"seed": vote} if self.votes > 1 else {})

    def _n_clusters(self, queries: Queries) -> int:
        """The number of groups; 1 for questions that are not about groups."""
        if isinstance(queries, GroupQueries):
            return queries.n_clusters
        if isinstance(queries, MembershipQueries):
            names = self.prompts.names
            return int(queries.clusters.max(initial=0)) + 1 if names is None else len(names)
        return 1

    def _cannot_say(self, question: Question, k: int) -> Value:
        """NaN, or a row of NaN."""
        return (math.nan,) * k if question.kind == "group" else math.nan


@dataclass(slots=True)
class _Batch:
    """The outcome of a batch of questions so far."""

    values: dict[Question, Value] = field(default_factory=dict)
    failed: set[Question] = field(default_factory=set)
    is_stopped: bool = False
    refusal: str = ""  # why the budget did not allow a request
    cause: Exception | None = None  # of a stop
    n_failures: int = 0  # consecutive

    def note(self, question: Question, future: "Future[Value]") -> None:
        """Take an answer or a failure; after many in a row, and where others would fail, stop."""
        try:
            self.values[question] = future.result()
            self.n_failures = 0
        except _QUESTION_ERRORS as error:
            self.failed.add(question)
            self.n_failures += 1
            if self.n_failures >= _MAX_FAILURES and not self.is_stopped:
                self.is_stopped, self.cause = True, ModelError(
                    f"The model must answer. Got {self.n_failures} failures in a row, the last "
                    f"with: {error}. Its replies so far are in the cache; try again later."
                )  # fmt: skip
        except BudgetSpentError as error:
            self.refusal = self.refusal or ("" if self.is_stopped else str(error))
            self.is_stopped = True
        except Exception as error:  # the answers so far are returned with it
            self.is_stopped, self.cause = True, self.cause or error
