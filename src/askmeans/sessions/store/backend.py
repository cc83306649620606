"""What the store on SQLAlchemy needs to know of a database: how to write, lock, and complain."""

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
        self.url = url  # as people may see it
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
        """Let whatever the database complains of become a StoreError that says what to do."""

    @abstractmethod
    def begin(
        self, connection: Connection, session: int | None, *, durable: bool
    ) -> AbstractContextManager[Connection]:
        """A transaction, the only one that writes to a session; left well, it is committed."""

    @abstractmethod
    def begin_tables(self, connection: Connection) -> AbstractContextManager[Connection]:
        """A transaction, the only one that makes or changes tables."""

    def check_room(self) -> None:  # noqa: B027 - a server looks after its own disk
        """Refuse where the disk has no room for an answer."""

    def close(self) -> None:
        """Close all connections; what was told is safe without them."""
        self.engine.dispose()

    @contextmanager
    def writing(self, session: int | None = None, *, durable: bool = True) -> Iterator[Connection]:
        """A connection that is the only writer; left well, what was written is in the database."""
        with (
            self.translated(),
            self.engine.connect() as connection,
            self.begin(connection, session, durable=durable) as begun,
        ):
            yield begun

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """A connection that alone makes or changes tables: all of it, or nothing."""
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
    """Let what a driver complains of become one of our errors."""
    try:
        yield
    except PoolTimeoutError as error:
        raise no_connection(url) from error
    except (DBAPIError, complaint) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        raise typed(url, cause or error) from error


def locked(url: str, says: str) -> StoreBusyError:
    """Somebody else has written for too long."""
    return StoreBusyError(
        f"{url} must be free to write to. Got a lock that somebody else has held for too long "
        f"({says}); close the program that holds it, and try again. Nothing was changed."
    )


def no_room(url: str, says: str) -> StoreFullError:
    """The disk is full."""
    return StoreFullError(
        f"{url} must have room to grow. Got '{says}'; free some space on its disk, and try "
        "again. Nothing was changed."
    )
