"""Errors as programs and people read them, without the paths of files.

The API passes a message on: it names the parameter and the rule. On the page a person reads the
error's `user_message`, or the sentence of its class.
"""

import logging
import re
from pathlib import Path

from askmeans._util.message import Message
from askmeans.exceptions import (
    AnswerError,
    AskmeansError,
    BudgetError,
    DataError,
    InvitationError,
    KeyConflictError,
    ParameterError,
    QueryError,
    RankError,
    SessionError,
    StoreBusyError,
    StoreError,
    StoreFullError,
    StoreLostError,
)
from askmeans.sessions import Session
from askmeans.sessions.store import is_postgresql

_log = logging.getLogger("askmeans.web")
_FOLDERS = re.compile(r"(?<![\w./:-])/(?:[^\s/'\"]+/)+")  # of an absolute path
_LOST = Message(
    "Not saved yet: the database cannot be reached just now. Try again in a moment; no answer that "
    "was confirmed is lost."
)
_SENTENCES: list[tuple[type[AskmeansError], str]] = [  # the first that fits
    (StoreLostError, _LOST),
    (
        StoreBusyError,
        Message(
            "Not saved yet: the database is busy. Try again in a moment; no answer that was "
            "confirmed is lost."
        ),
    ),
    (
        StoreFullError,
        Message(
            "Not saved: the disk of the server is full. No answer that was confirmed is lost; "
            "whoever runs the session has to free some space."
        ),
    ),
    (
        StoreError,
        Message(
            "Not saved: the database cannot be written to. No answer that was confirmed is lost; "
            "whoever runs the session finds the reason in the log."
        ),
    ),
    (
        RankError,
        Message("The answers do not tell so many groups apart, so there is no result yet."),
    ),
    (QueryError, Message("There is no such question in this session. Go on with the next one.")),
    (BudgetError, Message("The budget does not allow this. An owner of the session can raise it.")),
    (
        AnswerError,
        Message("This is no answer to this question, so it was not saved. Choose another."),
    ),
    (
        DataError,
        Message(
            "This data cannot be used as it is, so nothing was changed. Correct it, and try again."
        ),
    ),
    (
        ParameterError,
        Message("This does not fit here, so nothing was changed. Correct it, and try again."),
    ),
    (
        AskmeansError,
        Message(
            "This cannot be done now, so nothing was changed. Reload the page and try again; "
            "whoever runs the session finds the reason in the log."
        ),
    ),
]
_STATUS: list[tuple[type[AskmeansError], int]] = [  # the first that fits
    (InvitationError, 401),
    (QueryError, 404),
    (KeyConflictError, 409),
    (BudgetError, 409),
    (AnswerError, 422),
    (ParameterError, 422),
    (DataError, 422),
    (SessionError, 409),
    (StoreError, 503),  # until the database is repaired
]


class RefusalError(ParameterError):
    """What a person wants on the page and cannot have; the message is for them."""

    def __init__(self, text: str) -> None:
        super().__init__(text, user_message=text)


def status_of(error: AskmeansError) -> int:
    """The HTTP status of an error."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def explain(error: AskmeansError) -> str:
    """Describe an error for a person: what they did, and what they can do now.

    The log has the message where the server is to blame, or no sentence was written for it.
    """
    if error.user_message is None or status_of(error) >= 500:
        _log.error("%s: %s", type(error).__name__, error)
    by_kind = next(text for kind, text in _SENTENCES if isinstance(error, kind))
    return error.user_message or by_kind


def message_for_program(error: AskmeansError, session: Session) -> str:
    """An error's message without folders, and without the address of a database server."""
    if isinstance(error, StoreLostError):
        return _LOST
    text = str(error)
    if is_postgresql(session.url):
        text = text.replace(session.url, "The database")
    for folder in (str(Path(session.url).parent), session.rows.folder):
        if folder and folder != "/":
            text = text.replace(f"{folder}/", "")
    return _FOLDERS.sub("", text)
