"""The address and token of the page of a session that this user served last.

Rules of this file:
- One private file for each session: the database has digests of tokens only.
- The file is a convenience: if it cannot be read or written, no error is raised.
"""

import contextlib
import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from askmeans.sessions.session import Session
from askmeans.sessions.store import shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """The address of a page, and the token of the user who started it."""

    address: str
    token: str | None


def recall(session: Session) -> Served | None:
    """Load the record of a session; None without one."""
    try:
        kept = json.loads(_file(session).read_text(encoding="utf-8"))
        return Served(address=str(kept["address"]), token=kept["token"] and str(kept["token"]))
    except (OSError, RuntimeError, ValueError, LookupError, TypeError):
        return None


def remember(session: Session, served: Served) -> None:
    """Store the record of a session."""
    with contextlib.suppress(OSError, RuntimeError):  # no home, or one that is read only
        file = _file(session)
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.{os.getpid()}.part")
        part.unlink(missing_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            json.dump(asdict(served), opened)
        part.replace(file)


def _file(session: Session) -> Path:
    """The file of a session, in the user's state folder."""
    state = Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser()
    digest = hashlib.sha256(f"{shown(session.url)}\n{session.name}".encode()).hexdigest()[:16]
    return state / "askmeans" / f"{digest}.json"
