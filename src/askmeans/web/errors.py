"""Errors as the page tells them: an HTTP status, and a sentence without the paths of files."""

import re
from pathlib import Path

from askmeans.exceptions import (
    AnswerError,
    AskmeansError,
    BudgetError,
    DataError,
    InvitationError,
    KeyConflictError,
    ParameterError,
    QueryError,
    SessionError,
    StoreError,
    StoreLostError,
)
from askmeans.sessions import Session
from askmeans.sessions.store import is_postgresql

__all__ = ["status_of", "tell"]

_FOLDERS = re.compile(r"(?<![\w./:-])/(?:[^\s/'\"]+/)+")  # of an absolute path
_LOST = (
    "Not saved yet: the database cannot be reached just now. Try again in a moment; no answer that "
    "was confirmed is lost."
)
_STATUS: list[tuple[type[AskmeansError], int]] = [  # the first that fits
    (InvitationError, 401),
    (QueryError, 404),
    (KeyConflictError, 409),
    (BudgetError, 409),
    (AnswerError, 422),
    (ParameterError, 422),
    (DataError, 422),
    (SessionError, 409),
    (StoreError, 503),  # until whoever looks after the database has done so
]


def status_of(error: AskmeansError) -> int:
    """The HTTP status that tells an error."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def tell(error: AskmeansError, session: Session) -> str:
    """What went wrong; files by their names, since their folders are nobody's business."""
    if isinstance(error, StoreLostError):  # nor is where a server is
        return _LOST
    text = str(error)
    if is_postgresql(session.url):
        text = text.replace(session.url, "The database")
    for folder in (str(Path(session.url).parent), session.rows.folder):
        if folder and folder != "/":
            text = text.replace(f"{folder}/", "")
    return _FOLDERS.sub("", text)
