"""From which client something is done: the page, the command line or a program, and where."""

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from askmeans._util.text import is_clean
from askmeans.exceptions import ParameterError

__all__ = ["current_client", "from_client"]

_LONGEST = 200  # characters
_client: ContextVar[str | None] = ContextVar("askmeans_client", default=None)


def current_client() -> str:
    """What is written down with an event: as `from_client` says, else a program on this machine."""
    return (_client.get() or f"python on {platform.node()}")[:_LONGEST]


@contextmanager
def from_client(name: str) -> Iterator[None]:
    """Let what is done inside, in this thread or task, be done from a client of this name.

    Parameters
    ----------
    name : str
        What the log shall say of it, at most 200 characters: "import of May", "robot 3".

    Yields
    ------
    None
        While it holds.

    Examples
    --------
    >>> from askmeans import sessions
    >>> session = sessions.open("fruit.db")
    >>> with sessions.from_client("robot 3"):
    ...     receipt = session.tell(session.ask()[0].id, 0.5)
    >>> session.history.audit()[0].client
    'robot 3'
    """
    if not isinstance(name, str) or not name or not is_clean(name):
        raise ParameterError(
            "The 'name' parameter of sessions.from_client must be a text without control "
            f"characters. Got {name!r:.60} instead."
        )
    before = _client.set(name)
    try:
        yield
    finally:
        _client.reset(before)
