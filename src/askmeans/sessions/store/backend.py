"""What the store on SQLAlchemy needs to know of a database: how to write, lock, and complain."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sqlalchemy import Connection, Engine, Select

__all__ = ["Backend"]


class Backend(Protocol):
    """One kind of database."""

    url: str  # as people may see it
    engine: Engine
    reading: Engine  # of the same connections
    now: Select[float]  # the time in seconds since 1970

    @property
    def insert(self) -> Callable[[Any], Any]:
        """The dialect's, which has ON CONFLICT."""

    def translated(self) -> AbstractContextManager[None]:
        """Let whatever the database complains of become a StoreError that says what to do."""

    def writing(
        self, connection: Connection, session: int | None, *, durable: bool
    ) -> AbstractContextManager[Connection]:
        """A transaction, the only one that writes to a session; left well, it is committed."""

    def migrating(self, connection: Connection) -> AbstractContextManager[Connection]:
        """A transaction, the only one that makes or changes tables."""

    def let_go(self) -> None:
        """Close all connections; what was told is safe without them."""
