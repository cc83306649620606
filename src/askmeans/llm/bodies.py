"""Bodies of HTTP replies, at most a megabyte each, counted while they come and are unpacked."""

import importlib
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import openai

__all__ = ["LongBodyError", "limit_body"]

_MOST = 1_000_000  # bytes: an answer is one line, with the probabilities of its words some thousand
_PACKED = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}  # for zlib, by the header


class LongBodyError(Exception):
    """A reply is too long, or packed in a way that we do not unpack."""


def limit_body() -> Callable[[Any], None]:
    """What a client calls with every response, before it reads the body."""
    # openai comes with httpx, from version 3 on with httpx2; both look at a stream's class.
    client: type = openai.DefaultHttpxClient.__bases__[0]
    http: Any = importlib.import_module(client.__module__.partition(".")[0])

    class Body(http.SyncByteStream):  # type: ignore[misc]  # known when it runs
        def __init__(self, raw: Any, coding: str) -> None:
            self._raw = raw
            self._coding = coding

        def __iter__(self) -> Iterator[bytes]:
            return _unpacked(self._raw, self._coding)

        def close(self) -> None:
            self._raw.close()

    def limit(response: Any) -> None:
        coding = response.headers.pop("content-encoding", "identity")
        response.stream = Body(response.stream, coding.strip().lower())

    return limit


def _unpacked(pieces: Any, coding: str) -> Iterator[bytes]:
    """The pieces of a body, unpacked; a LongBodyError where they are too many."""
    if coding != "identity" and coding not in _PACKED:
        raise LongBodyError(f"reply as text, gzip or deflate. Got {coding[:40]!r}")
    unpacker = zlib.decompressobj(_PACKED[coding]) if coding in _PACKED else None
    left = _MOST
    for piece in pieces:
        try:
            whole = piece if unpacker is None else unpacker.decompress(piece, left + 1)
        except zlib.error as error:
            raise LongBodyError(f"reply in {coding} as it says. Got {error}") from error
        left -= len(whole)
        if left < 0:
            raise LongBodyError("reply with at most 1 MB. Got more")
        yield whole
