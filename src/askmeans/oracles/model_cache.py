"""Every raw answer of a language model on disk, by what was asked, before it counts.

One SQLite file; several processes may use it. A key is a digest of model, messages and options, so
neither prompts nor credentials are kept.
"""

import hashlib
import json
import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askmeans.exceptions import DataError
from askmeans.oracles.model_answers import Reply
from askmeans.oracles.model_prompts import Messages

__all__ = ["ModelCost", "ReplyCache"]

_TABLE = """CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, text TEXT NOT NULL, tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL, logprobs TEXT, at TEXT DEFAULT CURRENT_TIMESTAMP
)"""
_BUSY = 30.0  # seconds to wait for another process


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCost:
    """What asking a language model cost, or will.

    Parameters
    ----------
    calls : int
        Requests that were answered.
    remembered : int
        Answers that were known already, and cost nothing.
    tokens_in : int
        Tokens of the prompts.
    tokens_out : int
        Tokens written.
    money : float or None
        What they cost by the prices given; None without prices.

    Examples
    --------
    >>> ModelCost(calls=2, remembered=0, tokens_in=300, tokens_out=14, money=None).calls
    2
    """

    calls: int
    remembered: int
    tokens_in: int
    tokens_out: int
    money: float | None


class ReplyCache:
    """Replies by what was asked."""

    def __init__(self, path: Path | str | None) -> None:
        self.path = None if path is None else Path(path)
        self._lock = threading.Lock()
        try:
            # Every statement is a transaction of its own: what was written survives a kill.
            self._connection = sqlite3.connect(
                ":memory:" if path is None else str(path), timeout=_BUSY, isolation_level=None,
                check_same_thread=False,
            )  # fmt: skip
            if path is not None:
                self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute(_TABLE)
        except sqlite3.DatabaseError as error:
            raise DataError(
                f"The 'cache' parameter of ModelOracle must be a file that can be written, or one "
                f"that it wrote. Got {str(path)!r} ({error}); name another."
            ) from error

    def get(self, key: str) -> Reply | None:
        """What was replied; None for what was never asked."""
        with self._lock:
            row = self._connection.execute(
                "SELECT text, tokens_in, tokens_out, logprobs FROM replies WHERE key = ?", (key,)
            ).fetchone()
        if row is None:
            return None
        text, tokens_in, tokens_out, logprobs = row
        told = [(token, likely) for token, likely in json.loads(logprobs or "[]")]
        return Reply(text, tokens_in=tokens_in, tokens_out=tokens_out, logprobs=told)

    def put(self, key: str, reply: Reply) -> None:
        """Keep a reply; it is on disk when this returns."""
        told = json.dumps(reply.logprobs) if reply.logprobs else None
        with self._lock:
            self._connection.execute(
                "INSERT OR IGNORE INTO replies (key, text, tokens_in, tokens_out, logprobs) "
                "VALUES (?, ?, ?, ?, ?)",
                (key, str(reply), reply.tokens_in, reply.tokens_out, told),
            )

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()


def key_of(
    model: str, messages: Messages, options: Mapping[str, Any], vote: tuple[int, ...]
) -> str:
    """What identifies a request: the same content has the same key, whoever asks."""
    asked = json.dumps([model, messages, dict(options), vote], sort_keys=True)
    return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()
