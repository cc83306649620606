"""A client for endpoints that speak OpenAI's protocol: theirs, vLLM, llama.cpp, Ollama.

Rules of this file:
- The key comes from the environment and goes into one header. It is in no attribute, no message
  and no log of ours; what a server sends back with it in it, an answer or an error, is passed on
  without it.
- A failure says what it may cost: as the server counts, unknown where it was cut off or too slow.
- Nothing is tried again here: `ModelOracle` does that, for every client alike.
"""

import json
import os
import time
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from askmeans._util.checks import check_positive
from askmeans.exceptions import MissingExtraError, ModelBusyError, ModelError, ParameterError
from askmeans.llm.calls import RefusedError
from askmeans.llm.replies import Reply

__all__ = ["ModelClient", "model_client"]

_AGAIN = frozenset({408, 409, 425, 429})  # and what a server fails with
_OF_THE_ITEM = frozenset({400, 413, 422})  # too long, or not wanted: this request's own matter
_TOP = 10  # tokens whose probabilities are asked for: all letters that may be likely
_SECRET = 8  # characters from which on a key is one: local servers take any word
_UNKNOWN = (None, None)  # tokens read and written


class ModelClient:
    """Asks an endpoint; `model_client` makes one.

    Parameters
    ----------
    api : openai.OpenAI
        The endpoint, with its key.
    name : str
        The model's name there.
    extra : dict of str to object
        Sent with every request in place of options of the same name; None for not at all.

    Examples
    --------
    >>> client = model_client("http://localhost:11434/v1", "llama3.2")
    >>> client
    ModelClient('llama3.2' at http://localhost:11434/v1/)
    """

    def __init__(self, api: Any, name: str, extra: dict[str, Any]) -> None:
        self.name = name
        self.extra = extra
        self._api = api

    def __repr__(self) -> str:
        return f"ModelClient({self.name!r} at {self.url})"

    @property
    def url(self) -> str:
        """Where the endpoint is."""
        return str(self._api.base_url)

    def __call__(self, messages: list[dict[str, Any]], **options: Any) -> Reply:
        """What the model writes to these messages, as OpenAI has them, with its cost.

        `options` are temperature, max_tokens, seed and the like. A ModelBusyError is raised where
        another try may help (time-outs, rate limits, failures of the server), a ModelError where it
        would not: no such model, a wrong key, a request that is refused.
        """
        import openai

        from askmeans.llm.bodies import LongBodyError

        ours = {name: value for name, value in options.items() if name not in self.extra}
        more = {name: value for name, value in self.extra.items() if value is not None}
        if not self._api.api_key:
            ours["extra_headers"] = {"Authorization": openai.Omit()}
        found = None
        try:
            found = self._api.chat.completions.create(
                model=self.name, messages=messages, extra_body=more, **ours
            )
            return self._without_key(_reply(found))
        except openai.APIStatusError as error:
            told, tokens = self._clean(f"{error.status_code}: {error.message}"), _usage(error)
            if error.status_code in _AGAIN or error.status_code >= 500:
                after = _retry_after(error.response.headers)
                raise ModelBusyError(told, after, tokens=tokens) from None
            kind = RefusedError if error.status_code in _OF_THE_ITEM else ModelError
            raise kind(
                f"The endpoint must take the request. Got {told}; check the model's name, the key "
                "in the environment, the options, and what is shown of the item.",
                tokens=tokens,
            ) from None
        except (openai.APIError, LongBodyError) as error:  # time-outs, what is no answer
            for cause in (error, error.__cause__):  # openai before version 3 wraps it
                if isinstance(cause, LongBodyError):
                    raise ModelError(
                        f"The endpoint must {cause}; check its address, the model's name and the "
                        "options.",
                        tokens=_UNKNOWN,
                    ) from None
            told = self._clean(str(error) or type(error).__name__)
            tokens = None if "Connect" in type(error.__cause__).__name__ else _UNKNOWN
            raise ModelBusyError(told, tokens=tokens) from None
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
            told = self._clean(f"not of the protocol ({error})")
            raise ModelBusyError(told, tokens=_tokens(found)) from None

    def _clean(self, text: str) -> str:
        """A message without the key."""
        return self._redacted(text, self._api.api_key)[:500]

    def _without_key(self, reply: Reply) -> Reply:
        """An answer without the key, if it is a secret; its letters have no probabilities then."""
        key = self._api.api_key
        text = self._redacted(reply, key) if len(key) >= _SECRET else reply
        if text == reply:
            return reply
        return Reply(text, tokens_in=reply.tokens_in, tokens_out=reply.tokens_out)

    @staticmethod
    def _redacted(text: str, key: str) -> str:
        """A text without the key, plain or as a JSON string has it."""
        for form in {key, json.dumps(key)[1:-1]} - {""}:
            text = text.replace(form, "***")
        return text


def model_client(
    url: str,
    model: str,
    *,
    key_variable: str = "OPENAI_API_KEY",
    timeout: float = 60.0,
    logprobs: bool = False,
    extra: dict[str, Any] | None = None,
) -> ModelClient:
    """Make a client for an OpenAI-compatible endpoint.

    Parameters
    ----------
    url : str
        Where it is, such as "https://api.openai.com/v1" or "http://localhost:11434/v1". No key,
        name or password in it: the key is in the environment.
    model : str
        The model's name there.
    key_variable : str, default="OPENAI_API_KEY"
        The environment variable that has the key; without it none is sent, as local servers want.
    timeout : float, default=60.0
        Seconds to wait for an answer.
    logprobs : bool, default=False
        Ask for the probabilities of what might have been written: they are shares then.
    extra : dict of str to object or None, default=None
        Sent with every request, such as ``{"response_format": {"type": "json_object"}}``; an
        option that is None here is not sent. Models that think before they answer want
        ``{"temperature": None, "max_tokens": None, "max_completion_tokens": 2000}``.

    Returns
    -------
    ModelClient
        To be passed to `ModelOracle`.

    Raises
    ------
    MissingExtraError
        If the package openai is not installed.
    ParameterError
        If the URL is none, or has a key in it.

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
    try:
        import openai
    except ImportError as error:
        raise MissingExtraError(
            'Language models need the package openai. Run: pip install "askmeans[llm]"'
        ) from error
    key = os.environ.get(key_variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ParameterError(
            f"The environment variable {key_variable} must hold a key of printable letters. Got "
            "another one; set it again."
        )
    from askmeans.llm.bodies import limit_body

    http = openai.DefaultHttpxClient(event_hooks={"response": [limit_body()]}, timeout=timeout)
    api = openai.OpenAI(
        base_url=url, api_key=key or "none", timeout=timeout, max_retries=0, http_client=http
    )
    api.api_key = key  # the library wants one to begin with; without one no header is sent
    told: dict[str, Any] = {"logprobs": True, "top_logprobs": _TOP} if logprobs else {}
    return ModelClient(api, model, told | (extra or {}))


def _reply(found: Any) -> Reply:
    """The text, tokens and probabilities of a completion."""
    choice = found.choices[0]
    text = choice.message.content
    if choice.finish_reason is None and not text:
        raise ValueError("an empty answer")
    told = [
        (each.token, {other.token: other.logprob for other in each.top_logprobs})
        for each in (choice.logprobs.content or () if choice.logprobs else ())
    ]
    read, written = _tokens(found)
    return Reply(text or "", tokens_in=read, tokens_out=written, logprobs=told)


def _tokens(found: Any) -> tuple[int | None, int | None]:
    """Tokens that an answer counts, also one that is none; None where it does not."""
    usage = getattr(found, "usage", None)
    parts = (getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens"))
    read, written = (part if isinstance(part, int) and part >= 0 else None for part in parts)
    return read, written


def _usage(error: Any) -> tuple[int | None, int | None] | None:
    """Tokens that an error counts; None where it says nothing, and nothing is billed."""
    try:
        usage = error.response.json()["usage"]
        return int(usage["prompt_tokens"]), int(usage["completion_tokens"])
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError):
        return None


def _retry_after(headers: Any) -> float | None:
    """Seconds that the server asks to wait, or until a date by its own clock; None for neither."""
    text = headers.get("retry-after", "")
    try:
        return max(0.0, float(text))
    except ValueError:
        then, now = _date(text), _date(headers.get("date", ""))
    return None if then is None else max(0.0, then - (time.time() if now is None else now))


def _date(text: str) -> float | None:
    """A date of HTTP in seconds; None for another text."""
    try:
        return parsedate_to_datetime(text).timestamp()
    except ValueError:
        return None
