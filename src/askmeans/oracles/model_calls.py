"""Requests to a language model: remembered, tried again, paced, and never beyond the budget."""

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from askmeans.exceptions import ModelBusyError, ModelError
from askmeans.oracles.model_answers import Reply
from askmeans.oracles.model_cache import ModelCost, ReplyCache, key_of
from askmeans.oracles.model_prompts import Messages

__all__ = ["Caller", "Clock", "Limits", "Spent", "about"]

_FIRST, _MOST = 0.5, 60.0  # seconds to wait before the second try, and at most
_HONOURED = 600.0  # seconds that a server may ask for
_CHARACTERS = 4.0  # of a token, as a rule
_PICTURE = 3000  # tokens of a picture at most, as endpoints count them
_AROUND = 64  # tokens around messages at most


class Spent(Exception):  # noqa: N818 - a message: the budget ends here
    """The next request might exceed the budget."""


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

    def money(self, tokens_in: float, tokens_out: float) -> float:
        """What tokens cost."""
        price_in, price_out = self.prices or (0.0, 0.0)
        return (tokens_in * price_in + tokens_out * price_out) / 1e6

    def allow(self, tokens_in: float, tokens_out: float) -> bool:
        """Whether so many tokens are within the budget."""
        if self.max_tokens is not None and tokens_in + tokens_out > self.max_tokens:
            return False
        return self.max_cost is None or self.money(tokens_in, tokens_out) <= self.max_cost


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
        self.n_retried = 0
        self._lock = threading.Lock()
        self._calls = self._remembered = 0
        self._spent = [0, 0]  # tokens in and out
        self._held = [0, 0]  # the most that requests under way may take
        self._not_before = 0.0
        self._under_way: dict[str, threading.Lock] = {}

    @property
    def spent(self) -> ModelCost:
        """What was asked, and what it cost."""
        with self._lock:
            tokens_in, tokens_out = self._spent
            money = self.limits.money(tokens_in, tokens_out) if self.limits.prices else None
            return ModelCost(
                calls=self._calls, remembered=self._remembered, tokens_in=tokens_in,
                tokens_out=tokens_out, money=money,
            )  # fmt: skip

    def key(self, messages: Messages, options: Mapping[str, Any], vote: tuple[int, ...]) -> str:
        """What identifies a request."""
        return key_of(self.model, messages, self._sent(options), vote)

    def _sent(self, options: Mapping[str, Any]) -> dict[str, Any]:
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
        """The reply to one request, which nobody else makes."""
        known = self.cache.get(key)
        if known is not None:
            with self._lock:
                self._remembered += 1
            return known
        sent = self._sent(options)
        written = [int(sent.get(name) or 0) for name in ("max_tokens", "max_completion_tokens")]
        most = _most(messages), max(written)
        self._hold(most)
        try:
            reply = _with_tokens(self._tried(messages, options), messages)
            with self._lock:
                self._calls += 1
                self._spent[0] += reply.tokens_in or 0
                self._spent[1] += reply.tokens_out or 0
            self.cache.put(key, reply)
        finally:
            with self._lock:
                self._held = [held - part for held, part in zip(self._held, most, strict=True)]
        return reply

    def _hold(self, most: tuple[int, int]) -> None:
        """Set aside what a request may cost; refused where that may exceed the budget."""
        with self._lock:
            total = [a + b + c for a, b, c in zip(self._spent, self._held, most, strict=True)]
            if not self.limits.allow(*total):
                raise Spent
            self._held = [held + part for held, part in zip(self._held, most, strict=True)]

    def _tried(self, messages: Messages, options: Mapping[str, Any]) -> str:
        """What the client returns, tried again where it fails for a while."""
        for attempt in range(self.limits.retries + 1):
            self._pace()
            if self.ended.is_set():
                raise ModelBusyError("nothing more shall be tried")
            try:
                return self.client(messages, **options)
            except (ModelBusyError, TimeoutError, ConnectionError) as error:
                if attempt == self.limits.retries:
                    raise
                self._back_off(attempt, getattr(error, "retry_after", None))
        raise AssertionError

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


def about(messages: Messages) -> int:
    """About how many tokens a prompt has."""
    text, pictures = _measured(messages)
    return round(len(text) / _CHARACTERS) + _PICTURE * pictures + 8


def _most(messages: Messages) -> int:
    """As many tokens as a prompt can have: no token is less than a byte."""
    text, pictures = _measured(messages)
    return len(text.encode("utf-8", "surrogatepass")) + _PICTURE * pictures + _AROUND


def _measured(messages: Messages) -> tuple[str, int]:
    """The text of messages, and how many pictures there are."""
    text, pictures = "", 0
    for message in messages:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        text += "".join(part.get("text", "") for part in parts)
        pictures += sum(part["type"] != "text" for part in parts)
    return text, pictures


def _with_tokens(text: str, messages: Messages) -> Reply:
    """The reply with its tokens: as told, or about as many as it must have."""
    told = text if isinstance(text, Reply) else Reply(text)
    reply = Reply(
        told.encode("utf-8", "replace").decode(),  # halves of letters cannot be kept
        tokens_in=told.tokens_in, tokens_out=told.tokens_out, logprobs=told.logprobs,
    )  # fmt: skip
    if reply.tokens_in is None:
        reply.tokens_in = about(messages)
    if reply.tokens_out is None:
        reply.tokens_out = max(1, round(len(reply) / _CHARACTERS))
    return reply
