"""Every raw answer of a language model on disk, by what was asked, before it counts.

One SQLite file; several processes may use it. A key is a digest of endpoint, model, messages and
options, so neither prompts nor credentials are kept. What each model cost is there, too.
"""

import hashlib
import json
import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from askmeans.exceptions import DataError
from askmeans.llm.prompts import Messages
from askmeans.llm.replies import Reply

__all__ = ["ModelCost", "ReplyCache"]

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
_PAY = """INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (model) DO UPDATE SET
    calls = calls + excluded.calls, failed = failed + excluded.failed,
    tokens_in = tokens_in + excluded.tokens_in, tokens_out = tokens_out + excluded.tokens_out,
    estimated = estimated + excluded.estimated
"""
_BUSY = 30.0  # seconds to wait for another process

Who = tuple[str, str]  # a model's name, and where it is


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
    failed : int, default=0
        Requests that failed, also those that were made again.
    estimated : int, default=0
        Tokens among these that no endpoint counted: of clients that do not say, and of requests
        that were cut off or too slow, which may be billed.

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
    failed: int = 0
    estimated: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What requests took."""

    calls: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    estimated: int = 0

    def __add__(self, other: "Account") -> "Account":
        """Both together."""
        return Account(
            calls=self.calls + other.calls, failed=self.failed + other.failed,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            estimated=self.estimated + other.estimated,
        )  # fmt: skip


class ReplyCache:
    """Replies by what was asked."""

    def __init__(self, path: Path | str | None) -> None:
        self.path = None if path is None else Path(path)
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(
                ":memory:" if path is None else str(path), timeout=_BUSY, isolation_level=None,
                check_same_thread=False,
            )  # fmt: skip
            if path is not None:
                self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.executescript(_TABLES)
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

    def put(self, who: Who, cost: Account, key: str = "", reply: Reply | None = None) -> None:
        """Keep what a request cost and its reply, if any; both are on disk when this returns."""
        with self._lock, self._connection:  # commits, or leaves nothing
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute(_PAY, (_digest(who), *astuple(cost)))
            if reply is not None:
                told = json.dumps(reply.logprobs) if reply.logprobs else None
                self._connection.execute(
                    "INSERT OR IGNORE INTO replies (key, text, tokens_in, tokens_out, logprobs) "
                    "VALUES (?, ?, ?, ?, ?)",
                    (key, str(reply), reply.tokens_in, reply.tokens_out, told),
                )

    def account(self, who: Who) -> Account:
        """What a model cost so far, whoever asked it with this cache."""
        with self._lock:
            row = self._connection.execute(
                "SELECT calls, failed, tokens_in, tokens_out, estimated FROM accounts "
                "WHERE model = ?", (_digest(who),),
            ).fetchone() or (0, 0, 0, 0, 0)  # fmt: skip
        names = ("calls", "failed", "tokens_in", "tokens_out", "estimated")
        return Account(**dict(zip(names, row, strict=True)))

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()


def key_of(who: Who, messages: Messages, options: Mapping[str, Any], vote: tuple[int, ...]) -> str:
    """What identifies a request: the same content has the same key, whoever asks."""
    return _digest([who, messages, dict(options), vote])


def _digest(value: Any) -> str:
    """What stands for a value that is not kept."""
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
