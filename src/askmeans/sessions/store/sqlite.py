"""SQLite as a store wants it: write-ahead log, full durability, one writer who waits its turn.

A file that was removed or replaced can be written to as long as it is open, and all of that is gone
afterwards. So every connection remembers which files it has open (device and inode), and
`_check_files` compares them with what is at their place now.
"""

import os
import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Float, event, literal_column, select
from sqlalchemy.dialects.sqlite import insert

from askmeans.exceptions import (
    StoreDamagedError,
    StoreError,
    StoreMovedError,
    StoreReadOnlyError,
)
from askmeans.sessions.store import backend
from askmeans.sessions.store.backend import Backend, locked, no_room
from askmeans.sessions.store.patience import busy_seconds

__all__ = ["SqliteBackend", "connect", "translated"]

# Pages in the write-ahead log after which it is moved into the database: an answer takes about
# seven, so a copy of the database file alone lacks a handful of answers at most.
CHECKPOINT_PAGES = 50
# What a writer waits for when it commits: the disk, or, for what is about now, nothing.
DURABLE, PASSING = "FULL", "NORMAL"
# What writing on a full disk may say instead of SQLITE_FULL.
_NO_ROOM = (
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_SHMMAP,
    sqlite3.SQLITE_IOERR_TRUNCATE,
)
FileId = tuple[int, int] | None  # device and inode; None where there is no file


class Opened(sqlite3.Connection):
    """A connection that knows which files it has open: the database and its write-ahead log."""

    files: tuple[FileId, FileId] = (None, None)


class SqliteBackend(Backend):
    """An SQLite database, the file that is there now."""

    # Seconds since 1970 with thousandths; unixepoch('subsec') is too new for SQLite 3.40.
    now = select(literal_column("(julianday('now') - 2440587.5) * 86400.0", Float(53)).label("now"))
    insert = staticmethod(insert)

    def __init__(self, path: Path) -> None:
        self._path = path
        opened = _files(path)[0]

        def make() -> Opened:
            _check_same(path, _files(path)[0], opened)  # before another file is touched
            connection = connect(path)
            try:
                _prepare(connection)
                connection.files = _files(path)
                _check_same(path, connection.files[0], opened)
            except BaseException:
                connection.close()
                raise
            return connection

        super().__init__(str(path), "sqlite://", make)
        event.listen(self.engine, "begin", _begin)  # transactions are begun by us, not the driver

    def translated(self) -> AbstractContextManager[None]:
        return translated(self.url)

    @contextmanager
    def begin(
        self, connection: Connection, session: int | None, *, durable: bool  # noqa: ARG002 - one writer for all sessions
    ) -> Iterator[Connection]:  # fmt: skip
        """A transaction, the only one that writes; left well, it is in the database.

        In the one at its place, that is: a file removed or replaced is noticed before the commit,
        or before anybody is told of it.
        """
        writing = connection.execution_options(askmeans_write=DURABLE if durable else PASSING)
        with writing.begin():
            yield writing
            _check_files(writing, self._path)
        _check_files(writing, self._path)

    @contextmanager
    def begin_tables(self, connection: Connection) -> Iterator[Connection]:
        writing = connection.execution_options(askmeans_write=DURABLE)
        with writing.begin():  # a new file has no write-ahead log yet to be recognised by
            yield writing

    def close(self) -> None:
        _checkpoint(self.engine)
        super().close()


def connect(path: Path) -> Opened:
    """A connection to a file that is there; none is made, nothing is changed."""
    return sqlite3.connect(
        f"{path.as_uri()}?mode=rw", uri=True, timeout=busy_seconds(), isolation_level=None,
        check_same_thread=False, factory=Opened,
    )  # fmt: skip


def _check_files(connection: Connection, path: Path) -> None:
    """Refuse to go on where the files that are open are no longer those at their place."""
    opened: Any = connection.connection.dbapi_connection
    now = _files(path)
    _check_same(path, now[0], opened.files[0])
    if now[1] != opened.files[1]:
        raise StoreMovedError(
            f"{path}-wal must stay beside its database as long as that is open. Got "
            f"{'no file' if now[1] is None else 'another file'} at its place; stop every program "
            "that has the database open, so that it writes what it holds, and start again. The "
            "last answer was not confirmed."
        )


def _checkpoint(engine: Engine) -> None:
    """Move what is in the write-ahead log into the database, as far as nobody else reads it."""
    if engine.pool.checkedin() == 0:  # type: ignore[attr-defined]  # of QueuePool, ours
        return  # nothing was done here, or somebody is at it
    lent = engine.raw_connection()
    try:
        with suppress(sqlite3.Error):  # what is in the log stays there, and is safe
            lent.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)")
    finally:
        lent.close()


def _files(path: Path) -> tuple[FileId, FileId]:
    """What a database and its write-ahead log are."""
    real = os.path.realpath(path)  # SQLite keeps the log beside it
    return _file_id(real), _file_id(f"{real}-wal")


def _file_id(path: str) -> FileId:
    """What a file is."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _check_same(path: Path, now: FileId, opened: FileId) -> None:
    """Refuse a database that is not the one opened."""
    if now is None or now != opened:
        raise StoreMovedError(
            f"{path} must be the file that was opened, and stay where it is. Got "
            f"{'no file' if now is None else 'another file'} at its place; put the old one back, "
            "or export what this program still has, stop it, and start again with the database "
            "you want. The last answer was not confirmed.",
            user_message=f"{path.name} was moved, removed or replaced while the page was open, so "
            "this was not saved. Whoever runs the session has to put it back.",
        )


def _prepare(connection: sqlite3.Connection) -> None:
    """What is set once for every connection."""
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if "readonly" not in str(error):  # it can still be read
            raise
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")


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


def translated(path: str) -> AbstractContextManager[None]:
    """Let whatever SQLite complains of become a StoreError that says what to do."""
    return backend.translated(path, sqlite3.Error, _typed)


def _typed(path: str, cause: BaseException) -> StoreError:
    """The error of ours for one of SQLite's."""
    whole = getattr(cause, "sqlite_errorcode", 0)
    code = whole & 0xFF  # the low byte of an extended code is the plain one
    says = str(cause)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return locked(path, says)
    if code == sqlite3.SQLITE_FULL or whole in _NO_ROOM:
        return no_room(path, says)
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
