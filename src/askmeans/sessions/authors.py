"""Who writes an event: annotators, the reserved ones among them, their clients and keys."""

import platform
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from askmeans._util.checks import check_name
from askmeans._util.message import Message
from askmeans._util.text import is_clean
from askmeans.exceptions import ParameterError
from askmeans.queries import MODEL, is_model

IMPORTED = "held"  # the annotator of imported answers
GOLD = "gold"  # and of known ones, which test people
ITSELF = "askmeans"  # the annotator of automatic events, such as a further group
_LONGEST_CLIENT = 200  # characters
_client: ContextVar[str | None] = ContextVar("askmeans_client", default=None)


def check_annotator(annotator: object, *, person: bool = False) -> str:
    """Check an annotator's name; `person` refuses reserved ones."""
    name = check_name(annotator, "annotator")
    if person and name in (IMPORTED, GOLD, ITSELF):
        raise ParameterError(
            "The 'annotator' parameter must be a person's own name. "
            f"Got {name!r}, which marks imported and known answers, or events of the program; "
            "choose another.",
            user_message=Message(
                "The name {name} is one the program uses itself. Choose another.", name=name
            ),
        )
    if person and is_model(name):
        raise ParameterError(
            f"The 'annotator' parameter must be a person's name. Got {name!r:.60}; names that "
            f"begin with {MODEL!r} are those of language models (Advisers.add).",
            user_message=Message(
                "Names that begin with “{beginning}” are those of language models. Choose another.",
                beginning=MODEL.strip(),
            ),
        )
    return name


def as_key(key: str | None) -> str:
    """The client's key, or a new one."""
    if key is None:
        return uuid.uuid4().hex
    if not isinstance(key, str) or not 0 < len(key) <= 200 or not is_clean(key):
        raise ParameterError(
            "The 'key' parameter must be a str of 1 to 200 characters, without control characters. "
            f"Got {key!r:.60} instead.",
            user_message=Message(
                "This form came damaged, so nothing was saved. Reload the page, and try again."
            ),
        )
    return key


def key_of_group(key: str) -> str:
    """The key of the group that is added for the answer with this key."""
    return f"{key}-group"


def current_client() -> str:
    """The client of an event: that of `from_client`, else a program on this machine."""
    return (_client.get() or f"python on {platform.node()}")[:_LONGEST_CLIENT]


@contextmanager
def from_client(name: str) -> Iterator[None]:
    """Name the client of all events within this block, in this thread or task.

    Parameters
    ----------
    name : str
        Its name in the log, at most 200 characters: "import of May", "robot 3".

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
