"""A client for endpoints that speak OpenAI's protocol: OpenAI, vLLM, llama.cpp, Ollama.

Rules of this file:
- The key is read from the environment and sent in one header. No attribute, message or log of ours
  contains it, and it is removed from replies and errors of the server.
- The openai package times requests out and repeats those that failed for now.
- A failure states what it may cost: as counted by the server, or unknown after a time-out.
- The body of a reply has at most one megabyte, counted while it is read, and is not packed.
"""

import importlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from askmeans._util.checks import check_number, check_positive
from askmeans.exceptions import MissingExtraError, ModelBusyError, ModelError, ParameterError
from askmeans.llm.cost import RefusedError
from askmeans.llm.prompts import Reply

_TRANSIENT = frozenset({408, 409, 425, 429})  # besides 5xx: the request may succeed later
_ITEM_ERRORS = frozenset({400, 413, 422})  # the request itself is too long or is not accepted
_TOP = 10  # alternatives per token: a reply names one of few labels
_SECRET = 8  # characters of the shortest secret key: local servers accept any word
_UNKNOWN = (None, None)  # tokens read and written
_MAX_BODY = 1_000_000  # bytes: a reply is one line; 1,000 tokens with alternatives need 700 kB
_UNPACKED = "identity"  # the content coding that is asked for


class BodyError(Exception):
    """The body of a reply is too long, or packed."""


class ModelClient:
    """Client of an endpoint; `model_client` makes one.

    `extra` is sent with every request in place of options of the same name; None removes an option.
    """

    def __init__(self, api: Any, name: str, extra: dict[str, Any]) -> None:
        self.name = name
        self.extra = extra
        self._api = api

    def __repr__(self) -> str:
        return f"ModelClient({self.name!r} at {self.url})"

    @property
    def url(self) -> str:
        """The endpoint's address."""
        return str(self._api.base_url)

    def __call__(self, messages: list[dict[str, Any]], **options: Any) -> Reply:
        """Send messages in OpenAI's format and return the model's reply with its cost.

        `options` are temperature, max_tokens, seed and the like. A ModelBusyError is raised where
        a later request may succeed (time-outs, rate limits, failures of the server), a ModelError
        where it would not: an unknown model, a wrong key, a request that is refused.
        """
        import openai

        replaced = {name: value for name, value in options.items() if name not in self.extra}
        extra = {name: value for name, value in self.extra.items() if value is not None}
        if not self._api.api_key:
            replaced["extra_headers"] = {"Authorization": openai.Omit()}
        completion = None
        with self._failures(lambda: _tokens(completion)):
            completion = self._api.chat.completions.create(
                model=self.name, messages=messages, extra_body=extra, **replaced
            )
            return self._without_key(_reply(completion))

    def embed(self, texts: list[str]) -> tuple[list[list[float]], int]:
        """Return a vector for each text, and the number of tokens; errors as of a call."""
        import openai

        options: dict[str, Any] = {}
        if not self._api.api_key:
            options["extra_headers"] = {"Authorization": openai.Omit()}
        reply = None
        with self._failures(lambda: _tokens(reply)):
            reply = self._api.embeddings.create(model=self.name, input=texts, **options)
            rows = sorted(reply.data, key=lambda row: row.index)
            if len(rows) != len(texts):
                raise ValueError(f"{len(rows)} vectors of {len(texts)} texts")
            return [row.embedding for row in rows], _tokens(reply)[0] or 0

    @contextmanager
    def _failures(self, tokens: Callable[[], tuple[int | None, int | None]]) -> Iterator[None]:
        """Raise a failure of a request as a ModelError; `tokens` are those of an unusable reply."""
        import openai

        _tries.unanswered = 0
        try:
            yield
        except openai.APIStatusError as error:
            message, used = self._clean(f"{error.status_code}: {error.message}"), _usage(error)
            lost = _tries.unanswered
            if error.status_code in _TRANSIENT or error.status_code >= 500:
                raise ModelBusyError(message, tokens=used, lost_tries=lost) from None
            kind = RefusedError if error.status_code in _ITEM_ERRORS else ModelError
            raise kind(
                f"The endpoint must accept the request. Got {message}; check the model's name, the "
                "key in the environment, the options, and the text of the item.",
                tokens=used, lost_tries=lost,
            ) from None  # fmt: skip
        except (openai.APIError, BodyError) as error:  # also time-outs and broken connections
            for cause in (error, error.__cause__):  # openai before version 3 wraps it
                if isinstance(cause, BodyError):
                    raise ModelError(
                        f"The endpoint must {cause}; check its address, the model's name and the "
                        "options.",
                        tokens=_UNKNOWN,
                    ) from None
            message = self._clean(str(error) or type(error).__name__)
            if "Connect" in type(error.__cause__).__name__:  # no try reached the endpoint
                raise ModelBusyError(message) from None
            lost = max(_tries.unanswered - 1, 0)  # the last one is in `tokens`
            raise ModelBusyError(message, tokens=_UNKNOWN, lost_tries=lost) from None
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
            message = self._clean(f"not of the protocol ({error})")
            raise ModelBusyError(message, tokens=tokens()) from None

    def _clean(self, text: str) -> str:
        """Return a message without the key."""
        return self._redacted(text, self._api.api_key)[:500]

    def _without_key(self, reply: Reply) -> Reply:
        """Return a reply without the key; where it was removed, without probabilities."""
        key = self._api.api_key
        text = self._redacted(reply, key) if len(key) >= _SECRET else reply
        if text == reply:
            return reply
        return Reply(
            text, tokens_in=reply.tokens_in, tokens_out=reply.tokens_out,
            lost_tries=reply.lost_tries,
        )  # fmt: skip

    @staticmethod
    def _redacted(text: str, key: str) -> str:
        """Replace the key, plain or encoded in a JSON string."""
        for form in {key, json.dumps(key)[1:-1]} - {""}:
            text = text.replace(form, "***")
        return text


def model_client(
    url: str,
    model: str,
    *,
    key_variable: str = "OPENAI_API_KEY",
    timeout: float = 60.0,
    retries: int = 6,
    logprobs: bool = False,
    extra: dict[str, Any] | None = None,
) -> ModelClient:
    """Make a client for an OpenAI-compatible endpoint.

    Parameters
    ----------
    url : str
        Address, such as "https://api.openai.com/v1" or "http://localhost:11434/v1", without a
        key, name or password: the key is in the environment.
    model : str
        The model's name there.
    key_variable : str, default="OPENAI_API_KEY"
        The environment variable that contains the key. Without it no key is sent; local servers
        need none.
    timeout : float, default=60.0
        Seconds to wait for a reply.
    retries : int, default=6
        Further tries after a time-out, a rate limit or a failure of the server. The openai package
        makes them: pauses double from 0.5 s to 8 s, and a `Retry-After` of the server up to two
        minutes is respected.
    logprobs : bool, default=False
        Ask for the probabilities of alternative tokens. They become the shares of an answer.
    extra : dict of str to object or None, default=None
        Sent with every request, such as ``{"response_format": {"type": "json_object"}}``; None as
        a value removes an option. Reasoning models need
        ``{"temperature": None, "max_tokens": None, "max_completion_tokens": 2000}``.

    Returns
    -------
    ModelClient
        Client to pass to `ModelOracle`.

    Raises
    ------
    MissingExtraError
        If the package openai is not installed.
    ParameterError
        If the URL is not valid or contains a key.

    Examples
    --------
    >>> model_client("http://localhost:8000/v1", "qwen").name
    'qwen'
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None \
            or parts.query:  # fmt: skip
        raise ParameterError(
            "The 'url' parameter of model_client must be http(s)://HOST/..., without names, "
            f"passwords and parameters. Got one of {parts.hostname!r}; set the key in the "
            f"environment variable {key_variable}."
        )
    check_positive(timeout, "timeout", "model_client")
    check_number(retries, "retries", "model_client", integer=True)
    try:
        import openai
    except ImportError as error:
        raise MissingExtraError(
            'Language models need the package openai. Run: pip install "askmeans[llm]"'
        ) from error
    key = os.environ.get(key_variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ParameterError(
            f"The environment variable {key_variable} must contain a key of printable ASCII "
            "characters. Got other characters; set it again."
        )
    hooks: dict[str, list[Callable[..., Any]]] = {
        "request": [_count_try],
        "response": [_note_status, _limited_body()],
    }
    http = openai.DefaultHttpxClient(
        event_hooks=hooks, timeout=timeout, headers={"Accept-Encoding": _UNPACKED}
    )
    api = openai.OpenAI(
        base_url=url, api_key=key or "none", timeout=timeout, max_retries=int(retries),
        http_client=http,
    )  # fmt: skip
    api.api_key = key  # the constructor needs one; __call__ omits the header where it is empty
    options: dict[str, Any] = {"logprobs": True, "top_logprobs": _TOP} if logprobs else {}
    return ModelClient(api, model, options | (extra or {}))


class _Tries(threading.local):
    """Tries of this thread's request that no status answered: they may be billed."""

    unanswered = 0


_tries = _Tries()


def _count_try(_: Any) -> None:
    """Count a try before it is sent."""
    _tries.unanswered += 1


def _note_status(response: Any) -> None:
    """Take back a try that the server refused: it is not billed."""
    if response.status_code >= 400:
        _tries.unanswered -= 1


def _limited_body() -> Callable[[Any], None]:
    """Return a hook that limits the body of a response before it is read."""
    import openai

    # openai depends on httpx, from version 3 on httpx2; both check the class of a stream.
    client: type = openai.DefaultHttpxClient.__bases__[0]
    http: Any = importlib.import_module(client.__module__.partition(".")[0])

    class Body(http.SyncByteStream):  # type: ignore[misc]  # the base is known at run time
        def __init__(self, raw: Any) -> None:
            self._raw = raw

        def __iter__(self) -> Iterator[bytes]:
            left = _MAX_BODY
            for chunk in self._raw:
                left -= len(chunk)
                if left < 0:
                    raise BodyError("reply with at most 1 MB. Got more")
                yield chunk

        def close(self) -> None:
            self._raw.close()

    def limit(response: Any) -> None:
        coding = response.headers.get("content-encoding", _UNPACKED)
        if coding.strip().lower() != _UNPACKED:  # it could be any number of bytes
            raise BodyError(f"reply without compression. Got {coding[:40]!r}")
        response.stream = Body(response.stream)

    return limit


def _reply(completion: Any) -> Reply:
    """Read the text, tokens and probabilities of a completion."""
    choice = completion.choices[0]
    text = choice.message.content
    if choice.finish_reason is None and not text:
        raise ValueError("an empty answer")
    logprobs = [
        (each.token, {other.token: other.logprob for other in each.top_logprobs})
        for each in (choice.logprobs.content or () if choice.logprobs else ())
    ]
    read, written = _tokens(completion)
    lost = max(_tries.unanswered - 1, 0)  # this one was answered
    return Reply(text or "", tokens_in=read, tokens_out=written, logprobs=logprobs, lost_tries=lost)


def _tokens(completion: Any) -> tuple[int | None, int | None]:
    """Tokens that a reply counts, also an unusable one; None where it does not."""
    usage = getattr(completion, "usage", None)
    parts = (getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens"))
    read, written = (part if isinstance(part, int) and part >= 0 else None for part in parts)
    return read, written


def _usage(error: Any) -> tuple[int | None, int | None] | None:
    """Tokens that an error counts; None where it counts none, and nothing is billed."""
    try:
        usage = error.response.json()["usage"]
        return int(usage["prompt_tokens"]), int(usage["completion_tokens"])
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError):
        return None
