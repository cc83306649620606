"""`askmeans audit` and `askmeans pseudonym`: who did what, and a name that shall be gone."""

import dataclasses
from datetime import UTC, datetime

from askmeans.cli.group_numbers import FIRST
from askmeans.cli.options import Which
from askmeans.cli.printing import say
from askmeans.cli.sessions import opened, show_json
from askmeans.queries.shares import row_text
from askmeans.sessions import AuditRecord

__all__ = ["audit", "pseudonymize"]

_GROUPS = frozenset({"rename", "describe", "group", "merge", "pin"})  # kinds that are about one


def audit(which: Which) -> None:
    """Print every event."""
    with opened(which) as session:
        records = session.audit()
        if which.as_json:
            show_json(session, {"events": [dataclasses.asdict(record) for record in records]})
            return
        for record in records:
            say(_line(record, session.group_names))


def pseudonymize(which: Which, person: str, pseudonym: str | None, annotator: str) -> None:
    """Replace a person's name."""
    with opened(which) as session:
        new = session.pseudonymize(person, pseudonym, annotator=annotator)
        say(f"Called {new} from now on; files that were exported or backed up before are not.")


def _line(record: AuditRecord, names: list[str]) -> str:
    """An event in a line; groups by their names of now, or as they were added, from 1."""
    at = datetime.fromtimestamp(record.at, UTC).isoformat(sep=" ", timespec="seconds")
    parts = [f"{record.event}  {at[:19]}Z  {record.annotator}  ({record.client or 'unknown'})"]
    parts.append(f" {record.kind}")
    if record.question is not None:
        parts.append(f"question {record.question}")
    if isinstance(record.value, tuple):
        parts.append(row_text(record.value, names))
    elif record.kind == "merge" and record.value is not None:
        parts.append(f"group {int(record.value) + FIRST}")
    elif record.value is not None:
        parts.append(f"{record.value:g}")
    elif record.text is not None and record.kind != "undo":
        parts.append(record.text)
    if record.target is not None:
        what = f"group {record.target + FIRST}" if record.kind in _GROUPS else f"{record.target}"
        parts.append(f"into {what}" if record.kind == "merge" else f"of {what}")
    if record.undone:
        parts.append("(taken back)")
    return " ".join(parts)
