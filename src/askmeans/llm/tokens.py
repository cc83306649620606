"""How many tokens a request to a language model takes: as told, about, and at most."""

from collections.abc import Mapping
from typing import Any

from askmeans.llm.prompts import Messages
from askmeans.llm.replies import Reply

__all__ = ["about", "counted", "lost", "most_read", "most_written"]

_CHARACTERS = 4.0  # of a token in English, by OpenAI's rule of thumb
_PICTURE = 3000  # tokens of a picture at most, as endpoints count them
_COUNTABLE = 10**9  # tokens; an endpoint that counts more in one request miscounts
_AROUND = 64  # tokens around messages at most: roles and marks of the chat template


def about(messages: Messages) -> int:
    """About how many tokens a prompt has."""
    text, pictures = _measured(messages)
    return round(len(text) / _CHARACTERS) + _PICTURE * pictures + 8


def most_read(messages: Messages) -> int:
    """As many tokens as a prompt can have: no token is less than a byte."""
    text, pictures = _measured(messages)
    return len(text.encode("utf-8", "surrogatepass")) + _PICTURE * pictures + _AROUND


def most_written(sent: Mapping[str, Any]) -> int:
    """As many tokens as may be written by the options sent; 0 where they do not say."""
    return max(int(sent.get(name) or 0) for name in ("max_tokens", "max_completion_tokens"))


def counted(text: str, messages: Messages) -> tuple[Reply, int]:
    """The reply with its tokens, as told or estimated, and how many of them are estimated."""
    told = text if isinstance(text, Reply) else Reply(text)
    reply = Reply(
        told.encode("utf-8", "replace").decode(),  # halves of letters cannot be kept
        tokens_in=_believed(told.tokens_in), tokens_out=_believed(told.tokens_out),
        logprobs=told.logprobs,
    )  # fmt: skip
    estimated = 0
    if reply.tokens_in is None:
        reply.tokens_in = about(messages)
        estimated += reply.tokens_in
    if reply.tokens_out is None:
        reply.tokens_out = max(1, round(len(reply) / _CHARACTERS))
        estimated += reply.tokens_out
    return reply, estimated


def lost(error: Exception, messages: Messages, written: int) -> tuple[int, int, int]:
    """Tokens read and written that a request may cost that failed, and how many are estimated.

    A model that was cut off or too slow may have written as many as it might.
    """
    unknown = isinstance(error, TimeoutError | ConnectionError)
    unknown &= not isinstance(error, ConnectionRefusedError)  # nobody was there
    told = getattr(error, "tokens", (None, None) if unknown else None)
    if told is None:
        return 0, 0, 0
    told = [_believed(part) for part in told]
    guessed = [guess if part is None else 0 for part, guess in
               zip(told, (about(messages), written), strict=True)]  # fmt: skip
    read, wrote = ((part or 0) + guess for part, guess in zip(told, guessed, strict=True))
    return read, wrote, sum(guessed)


def _believed(count: int | None) -> int | None:
    """A number of tokens; None where it is none that a request can take."""
    return count if count is not None and 0 <= count <= _COUNTABLE else None


def _measured(messages: Messages) -> tuple[str, int]:
    """The text of messages, and how many pictures there are."""
    text, pictures = "", 0
    for message in messages:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        text += "".join(part.get("text", "") for part in parts)
        pictures += sum(part["type"] != "text" for part in parts)
    return text, pictures
