"""PostgreSQL as a store: a row lock for the one writer, its clock, typed errors.

A writer locks its session's row. So several servers on one database write in turn, a session's
events are numbered in the order of their commits, and reads after the lock see all commits. Leases
need no SKIP LOCKED: they are written under that lock, which lasts milliseconds. Readers are not
blocked.

A broken connection becomes a StoreLostError. The writer then does not know whether its commit
succeeded, and retries with the same key (`backend.retry_lost`).
"""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psycopg
from sqlalchemy import Connection, Float, bindparam, literal_column, select, text
from sqlalchemy.dialects.postgresql import insert

from askmeans.exceptions import NoSessionError, StoreError, StoreLostError, StoreReadOnlyError
from askmeans.sessions.store.backend import (
    Backend,
    busy_seconds,
    disk_full_error,
    lock_error,
    translate_errors,
)
from askmeans.sessions.store.urls import connection_string, display_url

_SETTINGS = {"connect_timeout": 10, "application_name": "askmeans", "client_encoding": "utf8"}
_IDLE_SECONDS = 60  # after which a transaction of a vanished client ends
# One statement takes the lock and sets whether the commit waits for the disk.
_LOCK = "SELECT id{} FROM askmeans_sessions WHERE id = :session FOR NO KEY UPDATE"
_DURABLE = text(_LOCK.format("")).bindparams(bindparam("session"))
_PASSING = text(_LOCK.format(", set_config('synchronous_commit', 'off', true)")).bindparams(
    bindparam("session")
)
_TABLES = text("SELECT pg_advisory_xact_lock(725527310)")
# Messages of a server that cannot take connections for the moment.
_SOON = re.compile("starting up|shutting down|recovery|not yet accepting|too many clients|slots")


class PostgresBackend(Backend):
    """A PostgreSQL database."""

    now = select(
        literal_column("extract(epoch FROM clock_timestamp())::float8", Float(53)).label("now")
    )
    insert = staticmethod(insert)

    def __init__(self, url: str) -> None:
        dsn = connection_string(url)
        in_url = psycopg.conninfo.conninfo_to_dict(dsn)  # the URL may say otherwise
        settings: Any = {key: value for key, value in _SETTINGS.items() if key not in in_url}

        def make() -> psycopg.Connection[Any]:
            connection = psycopg.connect(dsn, **settings)
            try:
                _prepare(connection)
            except BaseException:
                connection.close()
                raise
            return connection

        super().__init__(display_url(url), "postgresql+psycopg://", make, use_native_hstore=False)
        # A read is usually one statement: a transaction would add two more.
        self.reading = self.engine.execution_options(isolation_level="AUTOCOMMIT")

    def translate_errors(self) -> AbstractContextManager[None]:
        return translate_errors(self.url, psycopg.Error, _as_store_error)

    @contextmanager
    def begin(
        self, connection: Connection, session: int | None, *, durable: bool
    ) -> Iterator[Connection]:
        with connection.begin():
            if session is not None:
                connection.execute(_DURABLE if durable else _PASSING, {"session": session})
            yield connection

    @contextmanager
    def begin_tables(self, connection: Connection) -> Iterator[Connection]:
        with connection.begin():
            connection.execute(_TABLES)
            encoding = connection.exec_driver_sql("SHOW server_encoding").scalar()
            if encoding != "UTF8":
                raise StoreError(
                    f"{self.url} must keep text as UTF8. Got {encoding}; make a database with: "
                    "createdb --encoding UTF8 --template template0 NAME"
                )
            yield connection


def _prepare(connection: "psycopg.Connection[Any]") -> None:
    """Settings of every connection."""
    connection.autocommit = True
    connection.execute(
        "SELECT set_config('lock_timeout', %s, false),"
        " set_config('idle_in_transaction_session_timeout', %s, false),"
        # A confirmed commit must be on disk, whatever the server's default is.
        " CASE current_setting('synchronous_commit') WHEN 'off'"
        " THEN set_config('synchronous_commit', 'on', false) END",
        (f"{max(0.001, busy_seconds()):.3f}s", f"{_IDLE_SECONDS}s"),
    )
    connection.autocommit = False


def _as_store_error(url: str, cause: BaseException) -> StoreError | NoSessionError:
    """Convert an error of PostgreSQL."""
    state = getattr(cause, "sqlstate", None)
    primary = getattr(getattr(cause, "diag", None), "message_primary", None)
    message = " ".join((primary or str(cause)).split())  # details may quote answers
    if state is None:
        return _unconnected(url, message)
    if state[:2] == "08" or state in ("57P01", "57P02", "57P03", "57P05", "25P03", "25P04"):
        return _lost(url, message)
    if state in ("55P03", "40P01", "40001", "57014", "53300"):
        return lock_error(url, message)
    if state[:2] == "53":
        return disk_full_error(url, message)
    if state in ("25006", "42501"):
        return StoreReadOnlyError(
            f"{url} must be writable for its user. Got '{message}'; grant it the right (GRANT), or "
            "use another user or database. Nothing was changed."
        )
    return StoreError(
        f"{url} must take the statements of askmeans. Got '{message}' ({state}); look after the "
        "database, and try again. Nothing was changed."
    )


def _unconnected(url: str, message: str) -> StoreError | NoSessionError:
    """Convert an error without a code: connecting failed, or a connection broke."""
    if "FATAL" in message and not _SOON.search(message):
        if "does not exist" in message and "database" in message:
            return NoSessionError(
                f"There must be a database at {url}. Got '{message}'; make it first (createdb), "
                "then run 'askmeans init' or askmeans.sessions.create."
            )
        return StoreError(
            f"{url} must let its user in. Got '{message}'; look after the user and the password in "
            "the URL (or PGPASSWORD, ~/.pgpass), and try again."
        )
    return _lost(url, message)


def _lost(url: str, message: str) -> StoreLostError:
    """The error of a broken connection, or of a server that does not answer."""
    return StoreLostError(
        f"{url} must be within reach. Got '{message}'; see that the server runs, and try again: an "
        "answer sent twice with one key is kept once."
    )
