"""The interface of a database to the store: connections, transactions, locks, errors, retries."""

import os
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Select, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import QueuePool

from askmeans.exceptions import (
    ParameterError,
    StoreBusyError,
    StoreFullError,
    StoreLostError,
)

T = TypeVar("T")

BUSY_SECONDS = 30.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0  # seconds between two attempts; doubled each time


class Backend(ABC):
    """One kind of database."""

    now: Select[float]  # selects the time in seconds since 1970
    insert: Callable[[Any], Any]  # the dialect's insert, which has ON CONFLICT

    def __init__(self, url: str, dialect: str, connect: Callable[[], Any], **options: Any) -> None:
        self.url = url  # without secrets
        self.engine: Engine = create_engine(
            dialect,
            creator=connect,
            poolclass=QueuePool,
            pool_size=4,
            max_overflow=28,  # as many threads as a server has
            hide_parameters=True,  # logged errors must not contain answers
            **options,
        )
        self.reading = self.engine  # for reads; a subclass may set other options

    @abstractmethod
    def translate_errors(self) -> AbstractContextManager[None]:
        """Convert errors of the database to StoreErrors."""

    @abstractmethod
    def begin(
        self, connection: Connection, session: int | None, *, durable: bool
    ) -> AbstractContextManager[Connection]:
        """Begin a transaction with the only write access to a session; commit, or roll back."""

    @abstractmethod
    def begin_tables(self, connection: Connection) -> AbstractContextManager[Connection]:
        """Begin a transaction with the only right to create or change tables."""

    def check_room(self) -> None:  # noqa: B027 - only for files: a server monitors its own disk
        """Raise a StoreFullError if the disk has no room for an answer."""

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def writing(self, session: int | None = None, *, durable: bool = True) -> Iterator[Connection]:
        """A connection that is the only writer; commits unless an exception is raised."""
        with (
            self.translate_errors(),
            self.engine.connect() as connection,
            self.begin(connection, session, durable=durable) as begun,
        ):
            yield begun

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """A connection that alone creates or changes tables, in one transaction."""
        with (
            self.translate_errors(),
            self.engine.connect() as connection,
            self.begin_tables(connection) as begun,
        ):
            yield begun


@contextmanager
def translate_errors(
    url: str, driver_error: type[Exception], convert: Callable[[str, BaseException], Exception]
) -> Iterator[None]:
    """Convert errors of a driver to StoreErrors."""
    try:
        yield
    except PoolTimeoutError as error:
        raise pool_exhausted_error(url) from error
    except (DBAPIError, driver_error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        raise convert(url, cause or error) from error


def lock_error(url: str, message: str) -> StoreBusyError:
    """The error of a lock that another program does not release."""
    return StoreBusyError(
        f"{url} must be free to write to. Got a lock that another program has held for too long "
        f"({message}); close the program that holds it, and try again. Nothing was changed."
    )


def disk_full_error(url: str, message: str) -> StoreFullError:
    """The error of a full disk."""
    return StoreFullError(
        f"{url} must have room to grow. Got '{message}'; free some space on its disk, and try "
        "again. Nothing was changed."
    )


def busy_seconds() -> float:
    """Seconds to wait for other writers: ASKMEANS_BUSY_SECONDS, or 30."""
    text = os.environ.get("ASKMEANS_BUSY_SECONDS", "")
    try:
        return float(text) if text else BUSY_SECONDS
    except ValueError as error:
        raise ParameterError(
            f"ASKMEANS_BUSY_SECONDS must be a number of seconds. Got {text!r} instead."
        ) from error


def pool_exhausted_error(url: str) -> StoreBusyError:
    """The error of a pool whose connections are all in use."""
    return StoreBusyError(
        f"{url} must have a free connection. Got all connections of this program in use; try "
        "again in a moment, or start another server. Nothing was changed."
    )


def retry_lost(work: Callable[[], T], seconds: float) -> T:
    """Do idempotent work; for this many seconds retry it after a lost connection."""
    end, pause = time.monotonic() + seconds, _FIRST_PAUSE
    while True:
        try:
            return work()
        except StoreLostError:
            if time.monotonic() + pause > end:
                raise
        time.sleep(random.uniform(0.5 * pause, pause))
        pause = min(2.0 * pause, _LONGEST_PAUSE)
