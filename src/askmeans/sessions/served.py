"""The address and token of the page of a session, or of a folder, that this user served last.

Rules of this file:
- One private file for each session or folder: the database has digests of tokens only.
- The file is a convenience: if it cannot be read or written, no error is raised.
"""

import contextlib
import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from askmeans.sessions.session import Session
from askmeans.sessions.store import display_url


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """The address of a page, and the token of the user who started it."""

    address: str
    token: str | None
    person: str | None = None  # of a folder with projects
    until: float = 0.0  # when the token of a folder ends


def recall(place: Session | Path) -> Served | None:
    """Load the record of a session or folder; None without one."""
    try:
        kept = json.loads(served_file(place).read_text(encoding="utf-8"))
        return Served(
            address=str(kept["address"]),
            token=kept["token"] and str(kept["token"]),
            person=kept.get("person") and str(kept["person"]),
            until=float(kept.get("until", 0.0)),
        )
    except (OSError, RuntimeError, ValueError, LookupError, TypeError):
        return None


def remember(place: Session | Path, served: Served) -> None:
    """Keep where the session or folder is served now."""
    with contextlib.suppress(OSError, RuntimeError):  # no home, or one that is read only
        file = served_file(place)
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.{os.getpid()}.part")
        part.unlink(missing_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            json.dump(asdict(served), opened)
        part.replace(file)


def served_file(place: Session | Path) -> Path:
    """Where it is kept: with the user's own state, called after the session and its database."""
    state = Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser()
    name = str(place.resolve()) if isinstance(place, Path) else (
        f"{display_url(place.url)}\n{place.name}"
    )  # fmt: skip
    digest = hashlib.sha256(name.encode()).hexdigest()[:16]
    return state / "askmeans" / f"{digest}.json"
