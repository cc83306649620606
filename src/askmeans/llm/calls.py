"""Requests to a language model: remembered, tried again, paced, and never beyond the budget."""

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from askmeans._util.checks import check_number
from askmeans.exceptions import ModelBusyError, ModelError, ParameterError
from askmeans.llm.cache import Account, ModelCost, ReplyCache, key_of
from askmeans.llm.prompts import Messages
from askmeans.llm.replies import Reply
from askmeans.llm.tokens import counted, lost, most_read, most_written

__all__ = ["Caller", "Clock", "Limits", "RefusedError", "Spent"]

# As openai's own retries (half a second, doubled), but longer at most: a batch has time.
_FIRST, _MOST = 0.5, 60.0  # seconds to wait before the second try, and at most
_LOOK = 0.2  # seconds after which whoever waits looks whether all has ended
_HONOURED = 600.0  # seconds that a server may ask for; rate limits are by the minute
_FOR_NOW = (ModelBusyError, TimeoutError, ConnectionError)  # another try may help


class Spent(Exception):  # noqa: N818 - a message: the budget ends here
    """The next request could cost more than what is left of the budget."""


class RefusedError(ModelError):
    """The endpoint refuses one request, such as one that is too long; others may be taken."""


class Clock(Protocol):
    """Time as callers see it; tests bring one that does not wait."""

    def now(self) -> float:
        """Seconds that only grow."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class RealClock:
    """The machine's own; who sleeps is woken when all shall end."""

    def __init__(self, ended: threading.Event) -> None:
        self._ended = ended

    def now(self) -> float:
        """Seconds that only grow."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        self._ended.wait(seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What requests may cost, what a million tokens cost (in, out), how often to try again."""

    max_cost: float | None = None
    max_tokens: int | None = None
    prices: tuple[float, float] | None = None
    retries: int = 6

    def __post_init__(self) -> None:
        owner = "ModelOracle"
        check_number(self.retries, "retries", owner, integer=True, minimum=0)
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
        """What tokens cost."""
        price_in, price_out = self.prices or (0.0, 0.0)
        return (tokens_in * price_in + tokens_out * price_out) / 1e6

    def cost(self, account: Account, remembered: int = 0) -> ModelCost:
        """An account with what it comes to."""
        money = self.money(account.tokens_in, account.tokens_out) if self.prices else None
        return ModelCost(
            calls=account.calls, remembered=remembered, tokens_in=account.tokens_in,
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
        assert self.max_cost is not None
        left_money = max(0.0, self.max_cost - self.money(read, written))
        return (
            "the next card could cost more than what is left: up to "
            f"{self.money(*most):.4g}, and {left_money:.4g} of {self.max_cost:g} is left"
        )


class Caller:
    """One client, one cache, one budget; for several threads."""

    def __init__(
        self, client: Callable[..., str], cache: ReplyCache, limits: Limits, clock: Clock | None
    ) -> None:
        self.client = client
        self.cache = cache
        self.limits = limits
        self.ended = threading.Event()  # nothing more shall be tried
        self.clock = clock or RealClock(self.ended)
        self.model = str(getattr(client, "name", "model"))
        self.who = (self.model, str(getattr(client, "url", "")))  # the same model elsewhere differs
        self.n_retried = 0
        self._lock = threading.Lock()
        self._returned = threading.Condition(self._lock)  # a request, and what it set aside
        self._remembered = 0
        self._account = Account()  # of this run
        self._held = [0, 0]  # the most that requests under way may take
        self._not_before = 0.0
        self._under_way: dict[str, threading.Lock] = {}
        if limits.are_set and not most_written(self.sent({"max_tokens": 1})):
            raise ParameterError(
                "The 'max_cost' and 'max_tokens' parameters need a limit of what is written, which "
                "is set aside before each request. Got a client whose 'extra' sends none; add for "
                "example 'max_completion_tokens': 2000 to it."
            )

    @property
    def spent(self) -> ModelCost:
        """What was asked in this run, and what it cost."""
        with self._lock:
            return self.limits.cost(self._account, self._remembered)

    @property
    def spent_in_all(self) -> ModelCost:
        """What asking this model cost so far, in earlier runs with this cache, too."""
        return self.limits.cost(self.cache.account(self.who))

    def key(self, messages: Messages, options: Mapping[str, Any], vote: tuple[int, ...]) -> str:
        """What identifies a request."""
        return key_of(self.who, messages, self.sent(options), vote)

    def sent(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options as the client sends them."""
        return dict(options) | dict(getattr(self.client, "extra", None) or {})

    def __call__(
        self, messages: Messages, options: Mapping[str, Any], vote: tuple[int, ...]
    ) -> Reply:
        """The reply, from the cache or from the model; on disk before it is returned.

        Raises
        ------
        Spent
            If it might cost more than is left.
        ModelBusyError, TimeoutError, ConnectionError
            If every try failed.
        """
        key = self.key(messages, options, vote)
        with self._lock:
            under_way = self._under_way.setdefault(key, threading.Lock())
        with under_way:  # the same request at the same time waits for the first one's reply
            return self._asked(key, messages, options)

    def _asked(self, key: str, messages: Messages, options: Mapping[str, Any]) -> Reply:
        """The reply to one request, which nobody else makes: tried again where it may help."""
        known = self.cache.get(key)
        if known is not None:
            with self._lock:
                self._remembered += 1
            return known
        for attempt in range(self.limits.retries + 1):
            self._pace()
            if self.ended.is_set():
                raise ModelBusyError("nothing more shall be tried")
            try:
                return self._try(key, messages, options)
            except _FOR_NOW as error:
                if attempt == self.limits.retries:
                    raise
                self._back_off(attempt, getattr(error, "retry_after", None))
        raise AssertionError

    def _try(self, key: str, messages: Messages, options: Mapping[str, Any]) -> Reply:
        """Ask once, and keep the reply and what it cost, or what a failure may cost."""
        written = most_written(self.sent(options))
        most = most_read(messages), written
        self._hold(most)
        try:
            reply, estimated = counted(self.client(messages, **options), messages)
        except Exception as error:
            read, wrote, estimated = lost(error, messages, written)
            self._pay(Account(failed=1, tokens_in=read, tokens_out=wrote, estimated=estimated))
            raise
        else:
            read, wrote = reply.tokens_in or 0, reply.tokens_out or 0
            cost = Account(calls=1, tokens_in=read, tokens_out=wrote, estimated=estimated)
            self._pay(cost, key, reply)
        finally:
            with self._returned:
                self._held = [held - part for held, part in zip(self._held, most, strict=True)]
                self._returned.notify_all()
        return reply

    def _pay(self, cost: Account, key: str = "", reply: Reply | None = None) -> None:
        """Note what a request cost, on disk together with the reply."""
        with self._lock:
            self._account += cost
        self.cache.put(self.who, cost, key, reply)

    def _hold(self, most: tuple[int, int]) -> None:
        """Set aside what a request may cost; refused where that may exceed the budget.

        Requests under way set aside far more than they will cost: they are waited for. What earlier
        runs with the same cache cost counts, and what other processes do.
        """
        with self._returned:
            while self.limits.are_set:
                so_far = self.cache.account(self.who)
                spent = so_far.tokens_in, so_far.tokens_out
                total = [a + b + c for a, b, c in zip(spent, self._held, most, strict=True)]
                if self.limits.allow(*total):
                    break
                if self.ended.is_set() or not any(self._held):
                    raise Spent(self.limits.refusal(so_far, most))
                self._returned.wait(_LOOK)
            self._held = [held + part for held, part in zip(self._held, most, strict=True)]

    def _pace(self) -> None:
        """Wait as long as the server asked everybody to."""
        while (left := self._not_before - self.clock.now()) > 0.0 and not self.ended.is_set():
            self.clock.sleep(left)

    def _back_off(self, attempt: int, retry_after: float | None) -> None:
        """Wait before another try: twice as long each time, a part of it by lot."""
        with self._lock:
            self.n_retried += 1
        part = random.uniform(0.5, 1.0)
        if retry_after is not None:  # a rate limit is for all requests
            after = self.clock.now() + min(retry_after, _HONOURED)
            with self._lock:
                self._not_before = max(self._not_before, after)
            self.clock.sleep(part * _FIRST)
            return
        self.clock.sleep(part * min(_FIRST * 2.0**attempt, _MOST))
