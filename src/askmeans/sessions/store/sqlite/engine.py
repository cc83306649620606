"""SQLite as a store wants it: write-ahead log, full durability, one writer who waits its turn."""

import os
import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from askmeans.exceptions import (
    ParameterError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
)

__all__ = ["DURABLE", "NOW", "PASSING", "make_engine", "translated"]

BUSY_SECONDS = 30.0
# What a writer waits for when it commits: the disk, or, for what is about now, nothing.
DURABLE, PASSING = "FULL", "NORMAL"
# What writing on a full disk may say instead of SQLITE_FULL.
_NO_ROOM = (
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_SHMMAP,
    sqlite3.SQLITE_IOERR_TRUNCATE,
)
# Seconds since 1970 with thousandths; unixepoch('subsec') is too new for SQLite 3.40.
NOW = "(julianday('now') - 2440587.5) * 86400.0"


def make_engine(path: Path) -> Engine:
    """An engine for a file; transactions are begun by us, not by the driver."""
    seconds = _busy_seconds()
    engine = create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(
            path, timeout=seconds, isolation_level=None, check_same_thread=False
        ),
        poolclass=QueuePool,
        pool_size=4,
        max_overflow=28,  # as many threads as a server has
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _busy_seconds() -> float:
    """How long to wait for other writers; ASKMEANS_BUSY_SECONDS says otherwise."""
    text = os.environ.get("ASKMEANS_BUSY_SECONDS", "")
    try:
        return float(text) if text else BUSY_SECONDS
    except ValueError as error:
        raise ParameterError(
            f"ASKMEANS_BUSY_SECONDS must be a number of seconds. Got {text!r} instead."
        ) from error


def _prepare(connection: Any, _record: Any) -> None:
    """What is set once for every connection."""
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if "readonly" not in str(error):  # it can still be read
            raise
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin(connection: Connection) -> None:
    """BEGIN, or BEGIN IMMEDIATE for a writer: it waits here, not at its first write."""
    how = connection.get_execution_options().get("askmeans_write")
    raw: Any = connection.connection.dbapi_connection
    if how is None:
        raw.execute("BEGIN")
        return
    (patience,) = raw.execute("PRAGMA busy_timeout").fetchone()
    raw.execute(f"PRAGMA synchronous = {how}")
    raw.execute("PRAGMA busy_timeout = 0")
    try:
        _wait_for_turn(raw, time.monotonic() + patience / 1000.0)
    finally:
        raw.execute(f"PRAGMA busy_timeout = {patience}")


def _wait_for_turn(raw: Any, end: float) -> None:
    """BEGIN IMMEDIATE as soon as nobody else writes.

    SQLite's own waiting sleeps up to a tenth of a second between tries, many times what a writer
    takes here.
    """
    while True:
        try:
            raw.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() >= end:
                raise
            time.sleep(random.uniform(0.0005, 0.004))
        else:
            return


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Let whatever SQLite complains of become a StoreError that says what to do."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        raise _typed(path, cause or error) from error


def _typed(path: str, cause: BaseException) -> StoreError:
    """The error of ours for one of SQLite's."""
    whole = getattr(cause, "sqlite_errorcode", 0)
    code = whole & 0xFF  # the low byte of an extended code is the plain one
    says = str(cause)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusyError(
            f"{path} must be free to write to. Got a lock that somebody else has held for too long "
            f"({says}); close the program that holds it, and try again. Nothing was changed."
        )
    if code == sqlite3.SQLITE_FULL or whole in _NO_ROOM:
        return StoreFullError(
            f"{path} must have room to grow. Got '{says}'; free some space on its disk, and try "
            "again. Nothing was changed."
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreReadOnlyError(
            f"{path} and its folder must be writable. Got '{says}'; allow writing to both (chmod "
            "u+w), or copy the database elsewhere, and try again. Nothing was changed."
        )
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return StoreDamagedError(
            f"{path} must be an SQLite database. Got '{says}'; name another file, or go back to a "
            "backup."
        )
    return StoreError(
        f"{path} must be on a disk that can be read and written. Got '{says}'; look after the "
        "disk, and try again."
    )
