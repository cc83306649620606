"""SQLite as a store: write-ahead log, full durability, one writer at a time.

A file that was removed or replaced can be written to while it is open, and these writes are lost.
So every connection remembers which files it opened (device and inode), and `_check_files` compares
them with the files that are at these paths now.

A file that is overwritten, truncated or restored in place stays the same file, and SQLite does not
notice: it continues from its cache and the write-ahead log. But only checkpoints write to the file,
and ours happen at known moments. If the file's size or time differ from those after the last one,
another program made a checkpoint, or the file was overwritten. Then a new connection, without a
cache, must see every known row, and the file alone every row of the last checkpoint
(`_check_content`). A number that grows with every write (`user_version`) distinguishes states with
the same rows.

Only SQLite opens these files: closing another handle would release the locks that SQLite has on
them in this process.
"""

import errno
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Float, event, literal_column, select
from sqlalchemy.dialects.sqlite import insert

from askmeans._util.message import Message
from askmeans.exceptions import (
    StoreDamagedError,
    StoreError,
    StoreMovedError,
    StoreReadOnlyError,
)
from askmeans.sessions.store import backend
from askmeans.sessions.store.backend import Backend, busy_seconds, disk_full_error, lock_error

# Writes between checkpoints: a copy of the database file alone lacks a handful of answers at most.
CHECKPOINT_WRITES = 8
_ROOM = 64 * 1024  # bytes that the disk must have: an answer takes about seven pages of 4 KiB
_LAST_VERSION = 2**31 - 1  # the largest that SQLite stores
_TRIES, _PAUSE = (
    5,
    0.02,
)  # checks of a file while others write to it, and seconds between them
_APPENDED = ("askmeans_events", "askmeans_questions")  # tables whose rows are never deleted
# Levels of synchronisation: commits of answers wait for the disk, those of leases do not.
DURABLE, PASSING = "FULL", "NORMAL"
# Error codes of a full disk besides SQLITE_FULL.
_NO_ROOM = (
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_SHMMAP,
    sqlite3.SQLITE_IOERR_TRUNCATE,
)
FileId = tuple[int, int] | None  # device and inode; None where there is no file


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    """The known content of a database: its sessions, number and last id of rows by table."""

    version: int = 0  # number of writes
    sessions: frozenset[tuple[Any, ...]] = frozenset()
    rows: tuple[tuple[int, int], ...] = ((0, 0),) * len(_APPENDED)


class Opened(sqlite3.Connection):
    """A connection with the files that it opened: the database and its write-ahead log."""

    files: tuple[FileId, FileId] = (None, None)
    synchronous = ""  # as set last


class SqliteBackend(Backend):
    """An SQLite database."""

    # Seconds since 1970 with thousandths; unixepoch('subsec') is too new for SQLite 3.40.
    now = select(literal_column("(julianday('now') - 2440587.5) * 86400.0", Float(53)).label("now"))
    insert = staticmethod(insert)

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = log = f"{os.path.realpath(path)}-wal"  # SQLite keeps it beside the real file
        self._opened = opened = _file_id(path)

        def make() -> Opened:
            _check_same(path, _file_id(path), opened)  # before another file is touched
            connection = connect(path)
            try:
                _prepare(connection)
                connection.files = _file_id(path), _file_id(log)
                _check_same(path, connection.files[0], opened)
            except BaseException:
                connection.close()
                raise
            return connection

        self._marks: _Marks | None = None  # as after our last checkpoint
        self._content = self._in_file = _Content()  # in all, and in the file without its log
        self._writes = 0
        super().__init__(str(path), "sqlite://", make)
        event.listen(self.engine, "begin", _begin)  # transactions are begun by us, not the driver

    def translate_errors(self) -> AbstractContextManager[None]:
        return translate_errors(self.url)

    @contextmanager
    def begin(
        self, connection: Connection, session: int | None, *, durable: bool  # noqa: ARG002 - one writer for all sessions
    ) -> Iterator[Connection]:  # fmt: skip
        """A transaction, the only one that writes; commits unless an exception is raised.

        A file that was removed, replaced or overwritten is detected before the commit is confirmed.
        """
        writing = connection.execution_options(askmeans_write=DURABLE if durable else PASSING)
        raw: Any = connection.connection.dbapi_connection
        with writing.begin():
            self._check_content()
            if self._writes % CHECKPOINT_WRITES == 0:
                self._checkpoint(raw)
            self._writes += 1
            yield writing
            _check_files(writing, self._path, self._log)
            raw.execute(f"PRAGMA user_version = {min(_version(raw) + 1, _LAST_VERSION)}")
            content = _read_content(raw, self._content)
        _check_files(writing, self._path, self._log)
        self._content = content
        if self._is_written():  # since the transaction began
            with writing.begin():
                self._check_content()

    @contextmanager
    def begin_tables(self, connection: Connection) -> Iterator[Connection]:
        writing = connection.execution_options(askmeans_write=DURABLE)
        with writing.begin():  # a new file has no write-ahead log yet to be recognised by
            yield writing

    def check_room(self) -> None:
        try:
            with tempfile.TemporaryFile(dir=self._path.parent, buffering=0) as file:
                file.write(bytes(_ROOM))
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise disk_full_error(self.url, str(error)) from error
            raise _read_only(self.url, str(error)) from error

    def close(self) -> None:
        if self.engine.pool.checkedin():  # type: ignore[attr-defined]  # of QueuePool, ours
            lent = self.engine.raw_connection()  # else nothing was done, or it is in use
            raw: Any = lent.dbapi_connection
            # While another program writes, the log stays, and is safe.
            with suppress(StoreError, sqlite3.Error, OSError):
                raw.execute("PRAGMA busy_timeout = 1000")
                raw.execute("BEGIN IMMEDIATE")
                self._check_content()
                self._checkpoint(raw)
            with suppress(sqlite3.Error):
                raw.execute("ROLLBACK")
            lent.close()
        super().close()

    def _checkpoint(self, raw: Any) -> None:
        """Move the write-ahead log into the database, except pages that are being read.

        Inside the writer's transaction, so that none of our connections reads the file meanwhile.
        """
        content = _read_content(raw, self._content)
        with closing(connect(self._path)) as other, suppress(sqlite3.Error):
            busy, in_log, moved = other.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            if not busy and in_log == moved:
                self._in_file = content
        self._marks = _marks(self._path, self._log)

    def _is_written(self) -> bool:
        """Whether the file was written to since the last check, or its log was shortened."""
        known = self._marks
        try:
            now = _marks(self._path, self._log)
        except OSError:  # it was removed just now
            return True
        return known is not None and (now.file != known.file or now.log < known.log)

    def _check_content(self) -> None:
        """Refuse a file that was overwritten, truncated or restored; inside a write transaction."""
        _check_same(self._path, _file_id(self._path), self._opened)
        try:
            now = _marks(self._path, self._log)
            if self._is_written():
                _check_whole(self._path, self._content, self._in_file)
        except OSError:  # it was removed just now
            _check_same(self._path, None, self._opened)
            raise
        self._marks = now


def connect(path: Path) -> Opened:
    """Connect to an existing file, without changing it."""
    return sqlite3.connect(
        f"{path.as_uri()}?mode=rw", uri=True, timeout=busy_seconds(), isolation_level=None,
        check_same_thread=False, factory=Opened,
    )  # fmt: skip


def _check_files(connection: Connection, path: Path, log: str) -> None:
    """Refuse to continue if the open files are no longer those at their paths."""
    opened: Any = connection.connection.dbapi_connection
    _check_same(path, _file_id(path), opened.files[0])
    now = _file_id(log)
    if now != opened.files[1]:
        raise StoreMovedError(
            f"{path}-wal must stay beside its database as long as that is open. Got "
            f"{'no file' if now is None else 'another file'} at its place; stop every program "
            "that has the database open, so that it writes what it holds, and start again. The "
            "last answer was not confirmed.",
            user_message=Message(
                "A file that belongs to {file} was removed or replaced while the page was open, so "
                "this was not saved. Whoever runs the session has to start it again.",
                file=path.name,
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Marks:
    """Sizes and times that change when a database is written to, or its log is shortened."""

    file: tuple[int, int]  # size, and time of the last change
    log: int  # its size, which only grows while it is open


def _marks(path: Path, log: str) -> _Marks:
    """The marks of a database."""
    size = 0
    with suppress(FileNotFoundError):
        size = os.stat(log).st_size
    status = os.stat(path)
    return _Marks(file=(status.st_size, status.st_mtime_ns), log=size)


def _read_content(raw: sqlite3.Connection, known: _Content) -> _Content:
    """Read the content of a database, counting only rows after the known ones."""
    rows = []
    for table, (n, last) in zip(_APPENDED, known.rows, strict=True):
        query = f"SELECT count(*), max(rowid) FROM {table} WHERE rowid > ?"
        more, newest = raw.execute(query, (last,)).fetchone()
        rows.append((n + more, newest or last))
    return _Content(version=_version(raw), sessions=_sessions(raw), rows=tuple(rows))


def _version(raw: sqlite3.Connection) -> int:
    """The number of writes to a database."""
    (version,) = raw.execute("PRAGMA user_version").fetchone()
    return int(version)


def _sessions(raw: sqlite3.Connection) -> frozenset[tuple[Any, ...]]:
    """The sessions of a database, by their constant columns."""
    return frozenset(raw.execute("SELECT id, name, fingerprint, at FROM askmeans_sessions"))


def _has(raw: sqlite3.Connection, content: _Content, *, with_log: bool) -> bool:
    """Whether a database is intact and has this content.

    Without its log a file may be in the middle of a checkpoint that waits for a reader. Its version
    is then that of the last checkpoint or later, but tables may refer to missing pages.
    """
    try:
        if _version(raw) < content.version or not content.sessions <= _sessions(raw):
            return False
        for table, (n, last) in zip(_APPENDED, content.rows, strict=True):
            query = f"SELECT count(*) FROM {table} NOT INDEXED WHERE rowid <= ?"
            if raw.execute(query, (last,)).fetchone() != (n,):
                return False
        return not with_log or raw.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_BUSY:
            raise
        return code == sqlite3.SQLITE_CORRUPT and not with_log


def _check_whole(path: Path, content: _Content, in_file: _Content) -> None:
    """Refuse an overwritten database, by new connections, which have no cache."""
    alone = f"{path.as_uri()}?mode=ro&immutable=1"  # without its log
    for _ in range(_TRIES):  # another program may be making a checkpoint
        if os.stat(path).st_size == 0:  # of an empty file SQLite would remove the log
            break
        with closing(connect(path)) as fresh, closing(sqlite3.connect(alone, uri=True)) as raw:
            if _has(fresh, content, with_log=True) and _has(raw, in_file, with_log=False):
                return
        time.sleep(_PAUSE)
    raise StoreMovedError(
        f"{path} must not be written to by others while it is open. Got a file that was "
        "overwritten, truncated or restored in its place; stop every program that has it open, "
        f"put the backup there once more, without {path.name}-wal and {path.name}-shm beside it "
        "(keep these where nothing was restored), and start again. The last answer was not "
        "confirmed.",
        user_message=Message(
            "{file} was changed by another program while the page was open, so this was not "
            "saved. Whoever runs the session has to put it right, and start it again.",
            file=path.name,
        ),
    )


def _file_id(path: str | Path) -> FileId:
    """The device and inode of a file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _check_same(path: Path, now: FileId, opened: FileId) -> None:
    """Refuse a database that is not the one opened."""
    if now is None or now != opened:
        raise StoreMovedError(
            f"{path} must be the file that was opened, and stay where it is. Got "
            f"{'no file' if now is None else 'another file'} at its place; put the old one back, "
            "or export what this program still has, stop it, and start again with the database "
            "you want. The last answer was not confirmed.",
            user_message=Message(
                "{file} was moved, removed or replaced while the page was open, so this was not "
                "saved. Whoever runs the session has to put it back.",
                file=path.name,
            ),
        )


def _prepare(connection: sqlite3.Connection) -> None:
    """Settings of every connection."""
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if "readonly" not in str(error):  # it can still be read
            raise
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA wal_autocheckpoint = 0")  # see CHECKPOINT_WRITES


def _begin(connection: Connection) -> None:
    """BEGIN; a writer waits here for BEGIN IMMEDIATE, not at its first write."""
    how = connection.get_execution_options().get("askmeans_write")
    raw: Any = connection.connection.dbapi_connection
    if how is None:
        raw.execute("BEGIN")
        return
    (timeout,) = raw.execute("PRAGMA busy_timeout").fetchone()
    if raw.synchronous != how:
        raw.execute(f"PRAGMA synchronous = {how}")
        raw.synchronous = how
    raw.execute("PRAGMA busy_timeout = 0")
    try:
        _wait_for_turn(raw, time.monotonic() + timeout / 1000.0)
    finally:
        raw.execute(f"PRAGMA busy_timeout = {timeout}")


def _wait_for_turn(raw: Any, end: float) -> None:
    """BEGIN IMMEDIATE as soon as no other connection writes.

    SQLite itself would sleep up to a tenth of a second between attempts, many times the duration
    of a write here.
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


def translate_errors(path: str) -> AbstractContextManager[None]:
    """Convert errors of SQLite to StoreErrors."""
    return backend.translate_errors(path, sqlite3.Error, _as_store_error)


def _as_store_error(path: str, cause: BaseException) -> StoreError:
    """Convert an error of SQLite."""
    extended = getattr(cause, "sqlite_errorcode", 0)
    code = extended & 0xFF  # the primary code
    message = str(cause)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return lock_error(path, message)
    if code == sqlite3.SQLITE_FULL or extended in _NO_ROOM:
        return disk_full_error(path, message)
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return _read_only(path, message)
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return StoreDamagedError(
            f"{path} must be an SQLite database. Got '{message}'; name another file, or go back "
            "to a backup."
        )
    return StoreError(
        f"{path} must be on a disk that can be read and written. Got '{message}'; look after the "
        "disk, and try again."
    )


def _read_only(path: str, message: str) -> StoreReadOnlyError:
    """The error of a file or folder without write permission."""
    return StoreReadOnlyError(
        f"{path} and its folder must be writable. Got '{message}'; allow writing to both (chmod "
        "u+w), or copy the database elsewhere, and try again. Nothing was changed."
    )
