"""A cache of a language model's raw replies on disk, with what each model cost.

One SQLite file; several processes may use it. A key is a digest of endpoint, model, messages and
options, so neither prompts nor credentials are stored.
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
_BUSY_TIMEOUT = 30.0  # seconds to wait for another process; a write takes milliseconds

Who = tuple[str, str]  # a model's name, and where it is


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCost:
    """The cost of requests to a language model, or its forecast.

    Parameters
    ----------
    calls : int
        Requests that were answered.
    remembered : int
        Replies from the cache, which cost nothing.
    tokens_in : int
        Tokens of the prompts.
    tokens_out : int
        Tokens written.
    money : float or None
        Their price; None without prices.
    failed : int, default=0
        Requests that failed, and tries without a reply that the client made again.
    estimated : int, default=0
        Tokens among these that no endpoint counted: of clients that count none, and of tries
        without a reply, which may be billed.

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
    """Requests of one model and their tokens."""

    calls: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    estimated: int = 0

    def __add__(self, other: "Account") -> "Account":
        """Return the sum of both."""
        return Account(
            calls=self.calls + other.calls, failed=self.failed + other.failed,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            estimated=self.estimated + other.estimated,
        )  # fmt: skip


class ReplyCache:
    """Replies by the digest of the request."""

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

    def put(self, who: Who, cost: Account, key: str = "", reply: Reply | None = None) -> None:
        """Store the cost of a request and its reply, if any; both are on disk on return."""
        with self._lock, self._connection:  # commits, or leaves nothing
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute(_PAY, (_digest(who), *astuple(cost)))
            if reply is not None:
                logprobs = json.dumps(reply.logprobs) if reply.logprobs else None
                self._connection.execute(
                    "INSERT OR IGNORE INTO replies (key, text, tokens_in, tokens_out, logprobs) "
                    "VALUES (?, ?, ?, ?, ?)",
                    (key, str(reply), reply.tokens_in, reply.tokens_out, logprobs),
                )

    def account(self, who: Who) -> Account:
        """Return the account of a model over all runs with this cache."""
        with self._lock:
            row = self._connection.execute(
                "SELECT calls, failed, tokens_in, tokens_out, estimated FROM accounts "
                "WHERE model = ?", (_digest(who),),
            ).fetchone() or (0, 0, 0, 0, 0)  # fmt: skip
        names = ("calls", "failed", "tokens_in", "tokens_out", "estimated")
        return Account(**dict(zip(names, row, strict=True)))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()


def key_of(who: Who, messages: Messages, options: Mapping[str, Any], vote: tuple[int, ...]) -> str:
    """Return the digest of a request: equal content has equal keys."""
    return _digest([who, messages, dict(options), vote])


def _digest(value: Any) -> str:
    """Return the SHA-256 of a value as JSON."""
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
