"""Requests to a language model: cached on disk, counted, and never beyond the budget.

The cache is one SQLite file; several processes may use it. A key is a digest of endpoint, model,
messages and options, so neither prompts nor credentials are stored.
"""

import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from askmeans._util.checks import check_number
from askmeans.exceptions import DataError, ModelError, ParameterError
from askmeans.llm.prompts import Messages, Reply

_POLL = 0.2  # seconds between two looks at the budget and at `stopped`
_CHARACTERS = 4.0  # per token of English text, OpenAI's rule of thumb
_PICTURE = 3000  # tokens of a picture at most, as endpoints count them
_COUNTABLE = 10**9  # tokens; an endpoint that counts more in one request miscounts
_TEMPLATE = 64  # tokens around messages at most: roles and marks of the chat template
_BUSY_TIMEOUT = 30.0  # seconds to wait for another process; a write takes milliseconds
_COUNTS = ("calls", "failed", "tokens_in", "tokens_out", "estimated")
_TABLES = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, text TEXT NOT NULL, tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL, logprobs TEXT, at TEXT DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE IF NOT EXISTS accounts (
    model TEXT PRIMARY KEY, calls INTEGER NOT NULL, failed INTEGER NOT NULL,
    tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, estimated INTEGER NOT NULL
);
"""
_ADD_COST = """INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (model) DO UPDATE SET
    calls = calls + excluded.calls, failed = failed + excluded.failed,
    tokens_in = tokens_in + excluded.tokens_in, tokens_out = tokens_out + excluded.tokens_out,
    estimated = estimated + excluded.estimated
"""

ModelId = tuple[str, str]  # a model's name, and its endpoint


class BudgetSpentError(Exception):
    """The next request could cost more than what is left of the budget."""


class RefusedError(ModelError):
    """The endpoint refuses one request, such as one that is too long; others may be accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCost:
    """The cost of requests to a language model, or its forecast.

    Parameters
    ----------
    calls : int, default=0
        Requests that were answered.
    remembered : int, default=0
        Replies from the cache, which cost nothing.
    tokens_in : int, default=0
        Tokens of the prompts.
    tokens_out : int, default=0
        Tokens written.
    money : float or None, default=None
        Their price; None without prices.
    failed : int, default=0
        Requests that failed, and tries without a reply that the client made again.
    estimated : int, default=0
        Tokens among these that no endpoint counted: of clients that count none, and of tries
        without a reply, which may be billed.
    """

    calls: int = 0
    remembered: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float | None = None
    failed: int = 0
    estimated: int = 0

    def __add__(self, other: "ModelCost") -> "ModelCost":
        """The sum of both, without a price."""
        names = [field.name for field in fields(self) if field.name != "money"]
        return ModelCost(**{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """A budget of money or tokens, and the prices of a million tokens (read, written)."""

    max_cost: float | None = None
    max_tokens: int | None = None
    prices: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for name in ("max_cost", "max_tokens"):
            if getattr(self, name) is not None:
                check_number(getattr(self, name), name, "ModelOracle", minimum=0)
        if self.max_cost is not None and self.prices is None:
            raise ParameterError(
                "The 'max_cost' parameter of ModelOracle needs 'prices', of a million tokens read "
                f"and written. Got {self.max_cost} without; pass prices=(in, out), or max_tokens."
            )

    @property
    def are_set(self) -> bool:
        """Whether there is a budget."""
        return self.max_cost is not None or self.max_tokens is not None

    def priced(self, cost: ModelCost) -> ModelCost:
        """A cost with its price."""
        money = self._money(cost.tokens_in, cost.tokens_out) if self.prices else None
        return replace(cost, money=money)

    def refusal(self, spent: ModelCost, reserved: tuple[int, int], most: tuple[int, int]) -> str:
        """Why a request of so many tokens at most is not made; "" where the budget allows it."""
        read, written = spent.tokens_in + reserved[0], spent.tokens_out + reserved[1]
        if self.max_tokens is not None and read + written + sum(most) > self.max_tokens:
            left = max(0, self.max_tokens - read - written)
            return (
                "the next request could take more tokens than are left: up to "
                f"{sum(most)}, and {left} of {self.max_tokens} are left"
            )
        if self.max_cost is not None:
            left_money = self.max_cost - self._money(read, written)
            if self._money(*most) > left_money:
                return (
                    "the next request could cost more than what is left: up to "
                    f"{self._money(*most):.4g}, and {max(0.0, left_money):.4g} of "
                    f"{self.max_cost:g} is left"
                )
        return ""

    def _money(self, tokens_in: float, tokens_out: float) -> float:
        """The price of tokens."""
        price_in, price_out = self.prices or (0.0, 0.0)
        return (tokens_in * price_in + tokens_out * price_out) / 1e6


class ReplyCache:
    """Replies by the digest of the request, and what each model cost."""

    def __init__(self, path: Path | str | None) -> None:
        self.path = None if path is None else Path(path)
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(
                ":memory:" if path is None else str(path), timeout=_BUSY_TIMEOUT,
                isolation_level=None, check_same_thread=False,
            )  # fmt: skip
            if path is not None:
                self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.executescript(_TABLES)
        except sqlite3.DatabaseError as error:
            raise DataError(
                f"The 'cache' parameter of ModelOracle must be a new file or an existing cache. "
                f"Got {str(path)!r} ({error}); name another."
            ) from error

    def get(self, key: str) -> Reply | None:
        """Return the stored reply, or None."""
        with self._lock:
            row = self._connection.execute(
                "SELECT text, tokens_in, tokens_out, logprobs FROM replies WHERE key = ?", (key,)
            ).fetchone()
        if row is None:
            return None
        text, tokens_in, tokens_out, logprobs = row
        pairs = [(token, alternatives) for token, alternatives in json.loads(logprobs or "[]")]
        return Reply(text, tokens_in=tokens_in, tokens_out=tokens_out, logprobs=pairs)

    def put(self, model: ModelId, cost: ModelCost, key: str, reply: Reply | None) -> None:
        """Store the cost of a request and its reply, if any; both are on disk on return."""
        counts = [getattr(cost, name) for name in _COUNTS]
        with self._lock, self._connection:  # commits, or leaves nothing
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute(_ADD_COST, (_digest(model), *counts))
            if reply is not None:
                logprobs = json.dumps(reply.logprobs) if reply.logprobs else None
                self._connection.execute(
                    "INSERT OR IGNORE INTO replies (key, text, tokens_in, tokens_out, logprobs) "
                    "VALUES (?, ?, ?, ?, ?)",
                    (key, str(reply), reply.tokens_in, reply.tokens_out, logprobs),
                )

    def cost(self, model: ModelId) -> ModelCost:
        """Return the cost of a model over all runs with this cache."""
        with self._lock:
            row = self._connection.execute(
                f"SELECT {', '.join(_COUNTS)} FROM accounts WHERE model = ?", (_digest(model),)
            ).fetchone()
        return ModelCost(**dict(zip(_COUNTS, row or [0] * len(_COUNTS), strict=True)))


class CachedClient:
    """One client, one cache, one budget; for several threads."""

    def __init__(self, client: Callable[..., str], cache: ReplyCache, limits: Limits) -> None:
        self.client = client
        self.cache = cache
        self.limits = limits
        self.stopped = threading.Event()  # no further request is made
        self.name = str(getattr(client, "name", "model"))
        self.model = (self.name, str(getattr(client, "url", "")))  # one model per endpoint
        self._lock = threading.Lock()
        self._returned = threading.Condition(self._lock)  # a request has ended
        self._spent = ModelCost()  # in this run
        self._reserved = (0, 0)  # the most tokens that open requests may read and write
        self._open: dict[str, threading.Lock] = {}  # by the key of the request
        if limits.are_set and not largest_reply(self.sent({"max_tokens": 1})):
            raise ParameterError(
                "The 'max_cost' and 'max_tokens' parameters need a limit on the length of a reply, "
                "which is reserved before each request. Got a client whose 'extra' removes it; add "
                "for example 'max_completion_tokens': 2000 to it."
            )

    @property
    def spent(self) -> ModelCost:
        """Requests of this run, and their cost."""
        with self._lock:
            return self.limits.priced(self._spent)

    @property
    def spent_in_all(self) -> ModelCost:
        """Cost of this model so far, including earlier runs with this cache."""
        return self.limits.priced(self.cache.cost(self.model))

    def key(self, messages: Messages, options: Mapping[str, Any], vote: tuple[int, ...]) -> str:
        """The digest of a request: equal content has equal keys."""
        return _digest([self.model, messages, self.sent(options), vote])

    def sent(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options as the client sends them."""
        return dict(options) | dict(getattr(self.client, "extra", None) or {})

    def __call__(
        self, messages: Messages, options: Mapping[str, Any], vote: tuple[int, ...]
    ) -> Reply:
        """Return the reply from the cache or from the model; it is on disk before it is returned.

        A BudgetSpentError is raised if it might cost more than is left, and what the client raises
        where it gives up.
        """
        key = self.key(messages, options, vote)
        with self._lock:
            same_request = self._open.setdefault(key, threading.Lock())
        with same_request:  # wait for the reply to an equal request
            reply = self.cache.get(key)
            if reply is None:
                return self._request(key, messages, options)
        with self._lock:
            self._spent += ModelCost(remembered=1)
        return reply

    def _request(self, key: str, messages: Messages, options: Mapping[str, Any]) -> Reply:
        """Make one request, and store its reply and cost, or what a failure may cost."""
        written = largest_reply(self.sent(options))
        text, pictures = _measured(messages)  # no token is shorter than a byte
        most = len(text.encode("utf-8", "surrogatepass")) + _PICTURE * pictures + _TEMPLATE, written
        self._reserve(most)
        try:
            reply, cost = _counted(self.client(messages, **options), messages, written)
        except Exception as error:
            self._pay(_cost_of_failure(error, messages, written), key, None)
            raise
        else:
            self._pay(cost, key, reply)
        finally:
            with self._returned:
                self._reserved = self._reserved[0] - most[0], self._reserved[1] - most[1]
                self._returned.notify_all()
        return reply

    def _pay(self, cost: ModelCost, key: str, reply: Reply | None) -> None:
        """Add the cost of a request, on disk together with its reply."""
        with self._lock:
            self._spent += cost
        self.cache.put(self.model, cost, key, reply)

    def _reserve(self, most: tuple[int, int]) -> None:
        """Reserve what a request may cost; a BudgetSpentError where that may exceed the budget.

        Open requests reserve far more than they will cost, so their end is awaited first. Earlier
        runs with the same cache count, and so do other processes.
        """
        with self._returned:
            while self.limits.are_set:
                spent = self.cache.cost(self.model)
                if not self.limits.refusal(spent, self._reserved, most):
                    break
                if self.stopped.is_set() or not any(self._reserved):
                    raise BudgetSpentError(self.limits.refusal(spent, (0, 0), most))
                self._returned.wait(_POLL)
            self._reserved = self._reserved[0] + most[0], self._reserved[1] + most[1]


def estimated_tokens(messages: Messages) -> int:
    """Estimate how many tokens a prompt has."""
    text, pictures = _measured(messages)
    return round(len(text) / _CHARACTERS) + _PICTURE * pictures + 8


def largest_reply(sent: Mapping[str, Any]) -> int:
    """The most tokens that a reply may have by the options sent; 0 where they set no limit."""
    return max(int(sent.get(name) or 0) for name in ("max_tokens", "max_completion_tokens"))


def _counted(text: str, messages: Messages, written: int) -> tuple[Reply, ModelCost]:
    """The reply with its tokens, counted or estimated, and the cost of all tries."""
    raw = text if isinstance(text, Reply) else Reply(text)
    read, wrote = _plausible(raw.tokens_in), _plausible(raw.tokens_out)
    reply = Reply(
        raw.encode("utf-8", "replace").decode(),  # lone surrogates cannot be stored
        tokens_in=estimated_tokens(messages) if read is None else read,
        tokens_out=max(1, round(len(raw) / _CHARACTERS)) if wrote is None else wrote,
        logprobs=raw.logprobs,
    )
    tokens_in, tokens_out = reply.tokens_in or 0, reply.tokens_out or 0
    cost = ModelCost(
        calls=1, tokens_in=tokens_in, tokens_out=tokens_out,
        estimated=(tokens_in if read is None else 0) + (tokens_out if wrote is None else 0),
    )  # fmt: skip
    return reply, cost + _cost_of_lost(raw.lost_tries, messages, written)


def _cost_of_failure(error: Exception, messages: Messages, written: int) -> ModelCost:
    """What a request that failed may cost, with its earlier tries.

    After a broken connection or a time-out the model may have written as much as it was allowed.
    """
    unknown = isinstance(error, TimeoutError | ConnectionError)
    unknown &= not isinstance(error, ConnectionRefusedError)  # the endpoint is not running
    lost = _cost_of_lost(getattr(error, "lost_tries", 0), messages, written)
    counted = getattr(error, "tokens", (None, None) if unknown else None)
    if counted is None:
        return lost + ModelCost(failed=1)
    read, wrote = (_plausible(count) for count in counted)
    more_read = estimated_tokens(messages) if read is None else 0
    more_written = written if wrote is None else 0
    return lost + ModelCost(
        failed=1, tokens_in=(read or 0) + more_read, tokens_out=(wrote or 0) + more_written,
        estimated=more_read + more_written,
    )  # fmt: skip


def _cost_of_lost(tries: int, messages: Messages, written: int) -> ModelCost:
    """The estimated cost of tries that a client made again after no reply came."""
    read = tries * estimated_tokens(messages)
    return ModelCost(failed=tries, tokens_in=read, tokens_out=tries * written,
                     estimated=read + tries * written)  # fmt: skip


def _plausible(count: int | None) -> int | None:
    """A number of tokens; None where no request can take so many."""
    return count if count is not None and 0 <= count <= _COUNTABLE else None


def _measured(messages: Messages) -> tuple[str, int]:
    """The text of messages, and the number of pictures."""
    text, pictures = "", 0
    for message in messages:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        text += "".join(part.get("text", "") for part in parts)
        pictures += sum(part["type"] != "text" for part in parts)
    return text, pictures


def _digest(value: Any) -> str:
    """The SHA-256 of a value as JSON."""
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
