"""Requests to a language model: cached, counted, and never beyond the budget."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from askmeans._util.checks import check_number
from askmeans.exceptions import ModelError, ParameterError
from askmeans.llm.cache import Account, ModelCost, ReplyCache, key_of
from askmeans.llm.prompts import Messages
from askmeans.llm.replies import Reply

__all__ = ["BudgetSpentError", "Caller", "Limits", "RefusedError", "estimated_tokens",
           "largest_reply"]  # fmt: skip

_POLL = 0.2  # seconds between two looks at the budget and at `stopped`
_CHARACTERS = 4.0  # per token of English text, OpenAI's rule of thumb
_PICTURE = 3000  # tokens of a picture at most, as endpoints count them
_COUNTABLE = 10**9  # tokens; an endpoint that counts more in one request miscounts
_TEMPLATE = 64  # tokens around messages at most: roles and marks of the chat template


class BudgetSpentError(Exception):
    """The next request could cost more than what is left of the budget."""


class RefusedError(ModelError):
    """The endpoint refuses one request, such as one that is too long; others may be accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """A budget of money or tokens, and the prices of a million tokens (read, written)."""

    max_cost: float | None = None
    max_tokens: int | None = None
    prices: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        owner = "ModelOracle"
        for name, value in (("max_cost", self.max_cost), ("max_tokens", self.max_tokens)):
            if value is not None:
                check_number(value, name, owner, minimum=0)
        if self.max_cost is not None and self.prices is None:
            raise ParameterError(
                f"The 'max_cost' parameter of {owner} needs 'prices', of a million tokens read and "
                f"written. Got {self.max_cost} without; pass prices=(in, out), or max_tokens."
            )

    @property
    def are_set(self) -> bool:
        """Whether there is a budget."""
        return self.max_cost is not None or self.max_tokens is not None

    def money(self, tokens_in: float, tokens_out: float) -> float:
        """The price of tokens."""
        price_in, price_out = self.prices or (0.0, 0.0)
        return (tokens_in * price_in + tokens_out * price_out) / 1e6

    def cost(self, account: Account, cached: int = 0) -> ModelCost:
        """An account with its price."""
        money = self.money(account.tokens_in, account.tokens_out) if self.prices else None
        return ModelCost(
            calls=account.calls, remembered=cached, tokens_in=account.tokens_in,
            tokens_out=account.tokens_out, money=money, failed=account.failed,
            estimated=account.estimated,
        )  # fmt: skip

    def allow(self, tokens_in: float, tokens_out: float) -> bool:
        """Whether so many tokens are within the budget."""
        if self.max_tokens is not None and tokens_in + tokens_out > self.max_tokens:
            return False
        return self.max_cost is None or self.money(tokens_in, tokens_out) <= self.max_cost

    def refusal(self, account: Account, most: tuple[int, int]) -> str:
        """Why a request that takes so many tokens at most is not made."""
        read, written = account.tokens_in, account.tokens_out
        if self.max_tokens is not None and read + written + sum(most) > self.max_tokens:
            left = max(0, self.max_tokens - read - written)
            return (
                "the next card could take more tokens than are left: up to "
                f"{sum(most)}, and {left} of {self.max_tokens} are left"
            )
        left_money = max(0.0, (self.max_cost or 0.0) - self.money(read, written))
        return (
            "the next card could cost more than what is left: up to "
            f"{self.money(*most):.4g}, and {left_money:.4g} of {self.max_cost or 0.0:g} is left"
        )


class Caller:
    """One client, one cache, one budget; for several threads."""

    def __init__(self, client: Callable[..., str], cache: ReplyCache, limits: Limits) -> None:
        self.client = client
        self.cache = cache
        self.limits = limits
        self.stopped = threading.Event()  # no further request is made
        self.model = str(getattr(client, "name", "model"))
        self.who = (self.model, str(getattr(client, "url", "")))  # one model per endpoint
        self._lock = threading.Lock()
        self._returned = threading.Condition(self._lock)  # a request has ended
        self._cached = 0
        self._account = Account()  # of this run
        self._reserved = [0, 0]  # the most tokens that open requests may read and write
        self._open: dict[str, threading.Lock] = {}
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
            return self.limits.cost(self._account, self._cached)

    @property
    def spent_in_all(self) -> ModelCost:
        """Cost of this model so far, including earlier runs with this cache."""
        return self.limits.cost(self.cache.account(self.who))

    def key(self, messages: Messages, options: Mapping[str, Any], vote: tuple[int, ...]) -> str:
        """Identifier of a request."""
        return key_of(self.who, messages, self.sent(options), vote)

    def sent(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options as the client sends them."""
        return dict(options) | dict(getattr(self.client, "extra", None) or {})

    def __call__(
        self, messages: Messages, options: Mapping[str, Any], vote: tuple[int, ...]
    ) -> Reply:
        """Return the reply from the cache or from the model; it is on disk before it is returned.

        Raises
        ------
        BudgetSpentError
            If it might cost more than is left.
        ModelBusyError, TimeoutError, ConnectionError
            If the client gave up.
        """
        key = self.key(messages, options, vote)
        with self._lock:
            same_request = self._open.setdefault(key, threading.Lock())
        with same_request:  # wait for the reply to an equal request
            reply = self.cache.get(key)
            if reply is None:
                return self._request(key, messages, options)
        with self._lock:
            self._cached += 1
        return reply

    def _request(self, key: str, messages: Messages, options: Mapping[str, Any]) -> Reply:
        """Make one request, and store its reply and cost, or what a failure may cost."""
        written = largest_reply(self.sent(options))
        text, pictures = _measured(messages)  # no token is shorter than a byte
        read = len(text.encode("utf-8", "surrogatepass")) + _PICTURE * pictures + _TEMPLATE
        most = read, written
        self._reserve(most)
        try:
            reply, cost = _counted(self.client(messages, **options), messages, written)
        except Exception as error:
            self._pay(_cost_of_failure(error, messages, written))
            raise
        else:
            self._pay(cost, key, reply)
        finally:
            with self._returned:
                self._reserved = [a - b for a, b in zip(self._reserved, most, strict=True)]
                self._returned.notify_all()
        return reply

    def _pay(self, cost: Account, key: str = "", reply: Reply | None = None) -> None:
        """Add a request to the account, on disk together with its reply."""
        with self._lock:
            self._account += cost
        self.cache.put(self.who, cost, key, reply)

    def _reserve(self, most: tuple[int, int]) -> None:
        """Reserve what a request may cost; a BudgetSpentError where that may exceed the budget.

        Open requests reserve far more than they will cost, so their end is awaited first. Earlier
        runs with the same cache count, and so do other processes.
        """
        with self._returned:
            while self.limits.are_set:
                so_far = self.cache.account(self.who)
                spent = so_far.tokens_in, so_far.tokens_out
                total = [a + b + c for a, b, c in zip(spent, self._reserved, most, strict=True)]
                if self.limits.allow(*total):
                    break
                if self.stopped.is_set() or not any(self._reserved):
                    raise BudgetSpentError(self.limits.refusal(so_far, most))
                self._returned.wait(_POLL)
            self._reserved = [a + b for a, b in zip(self._reserved, most, strict=True)]


def estimated_tokens(messages: Messages) -> int:
    """Estimate how many tokens a prompt has."""
    text, pictures = _measured(messages)
    return round(len(text) / _CHARACTERS) + _PICTURE * pictures + 8


def largest_reply(sent: Mapping[str, Any]) -> int:
    """The most tokens that a reply may have by the options sent; 0 where they set no limit."""
    return max(int(sent.get(name) or 0) for name in ("max_tokens", "max_completion_tokens"))


def _counted(text: str, messages: Messages, written: int) -> tuple[Reply, Account]:
    """The reply with its tokens, counted or estimated, and the cost of all tries."""
    raw = text if isinstance(text, Reply) else Reply(text)
    reply = Reply(
        raw.encode("utf-8", "replace").decode(),  # lone surrogates cannot be stored
        tokens_in=_plausible(raw.tokens_in), tokens_out=_plausible(raw.tokens_out),
        logprobs=raw.logprobs,
    )  # fmt: skip
    estimated = 0
    if reply.tokens_in is None:
        reply.tokens_in = estimated_tokens(messages)
        estimated += reply.tokens_in
    if reply.tokens_out is None:
        reply.tokens_out = max(1, round(len(reply) / _CHARACTERS))
        estimated += reply.tokens_out
    cost = Account(
        calls=1, tokens_in=reply.tokens_in, tokens_out=reply.tokens_out, estimated=estimated
    )
    return reply, cost + _cost_of_lost(raw.lost_tries, messages, written)


def _cost_of_failure(error: Exception, messages: Messages, written: int) -> Account:
    """What a request that failed may cost, with its earlier tries.

    After a broken connection or a time-out the model may have written as much as it was allowed.
    """
    unknown = isinstance(error, TimeoutError | ConnectionError)
    unknown &= not isinstance(error, ConnectionRefusedError)  # the endpoint is not running
    lost = _cost_of_lost(getattr(error, "lost_tries", 0), messages, written)
    counted = getattr(error, "tokens", (None, None) if unknown else None)
    if counted is None:
        return lost + Account(failed=1)
    parts = [_plausible(part) for part in counted]
    estimates = [estimate if part is None else 0 for part, estimate in
                 zip(parts, (estimated_tokens(messages), written), strict=True)]  # fmt: skip
    read, wrote = ((part or 0) + more for part, more in zip(parts, estimates, strict=True))
    return lost + Account(failed=1, tokens_in=read, tokens_out=wrote, estimated=sum(estimates))


def _cost_of_lost(tries: int, messages: Messages, written: int) -> Account:
    """The estimated cost of tries that a client made again after no reply came."""
    read = tries * estimated_tokens(messages)
    return Account(failed=tries, tokens_in=read, tokens_out=tries * written,
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
