"""The interface of a database to the store: connections, transactions, locks and errors."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, Select, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import QueuePool

from askmeans.exceptions import StoreBusyError, StoreFullError
from askmeans.sessions.store.retrying import no_connection


class Backend(ABC):
    """One kind of database."""

    now: Select[float]  # the time in seconds since 1970
    insert: Callable[[Any], Any]  # the dialect's, which has ON CONFLICT

    def __init__(self, url: str, dialect: str, connect: Callable[[], Any], **options: Any) -> None:
        self.url = url  # without secrets
        self.engine: Engine = create_engine(
            dialect,
            creator=connect,
            poolclass=QueuePool,
            pool_size=4,
            max_overflow=28,  # as many threads as a server has
            hide_parameters=True,  # an error in a log tells no answer
            **options,
        )
        self.reading = self.engine  # of the same connections

    @abstractmethod
    def translated(self) -> AbstractContextManager[None]:
        """Convert errors of the database to StoreErrors."""

    @abstractmethod
    def begin(
        self, connection: Connection, session: int | None, *, durable: bool
    ) -> AbstractContextManager[Connection]:
        """A transaction that alone writes to a session; commits unless an exception is raised."""

    @abstractmethod
    def begin_tables(self, connection: Connection) -> AbstractContextManager[Connection]:
        """A transaction that alone creates or changes tables."""

    def check_room(self) -> None:  # noqa: B027 - a server looks after its own disk
        """Raise a StoreFullError if the disk has no room for an answer."""

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def writing(self, session: int | None = None, *, durable: bool = True) -> Iterator[Connection]:
        """A connection that is the only writer; commits unless an exception is raised."""
        with (
            self.translated(),
            self.engine.connect() as connection,
            self.begin(connection, session, durable=durable) as begun,
        ):
            yield begun

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """A connection that alone creates or changes tables, in one transaction."""
        with (
            self.translated(),
            self.engine.connect() as connection,
            self.begin_tables(connection) as begun,
        ):
            yield begun


@contextmanager
def translated(
    url: str, complaint: type[Exception], typed: Callable[[str, BaseException], Exception]
) -> Iterator[None]:
    """Convert errors of a driver."""
    try:
        yield
    except PoolTimeoutError as error:
        raise no_connection(url) from error
    except (DBAPIError, complaint) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        raise typed(url, cause or error) from error


def locked(url: str, message: str) -> StoreBusyError:
    """The error of a lock that another program does not release."""
    return StoreBusyError(
        f"{url} must be free to write to. Got a lock that somebody else has held for too long "
        f"({message}); close the program that holds it, and try again. Nothing was changed."
    )


def no_room(url: str, message: str) -> StoreFullError:
    """The error of a full disk."""
    return StoreFullError(
        f"{url} must have room to grow. Got '{message}'; free some space on its disk, and try "
        "again. Nothing was changed."
    )
