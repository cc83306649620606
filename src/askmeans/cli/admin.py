"""The commands of the owner: budget, pause, audit, backup, copy, upgrade."""

from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from askmeans.cli.options import Database, SessionOptions, command
from askmeans.cli.output import say

if TYPE_CHECKING:
    from askmeans.sessions import Event


@command
def budget(
    options: SessionOptions,
    number: Annotated[str, Argument(metavar="N", help="Most different questions to answer.")],
) -> None:
    """Set the budget: the most questions, those answered so far included."""
    from askmeans.cli.questions import typed_number

    with options.open() as session:
        session.settings.set_budget(typed_number(number, "N"))
        report = session.status()
        options.show(
            session,
            {"answered": report.answered, "budget": report.budget, "state": report.state},
            f"{report.answered} of a budget of {report.budget} answered; {report.state}.",
        )


@command
def pause(
    options: SessionOptions,
    off: Annotated[bool, Option("--off", help="Ask questions again.")] = False,
) -> None:
    """Stop asking questions until `askmeans pause --off`; answers are still accepted."""
    with options.open() as session:
        if off:
            session.settings.resume()
        else:
            session.settings.pause()
        line = "Questions are asked again." if off else "Paused; answers are still accepted."
        options.show(session, {"paused": not off}, line)


@command
def audit(options: SessionOptions) -> None:
    """List all events of a session: time, person, client and event."""
    from askmeans.sessions.events import as_dict

    with options.open() as session:
        events, names = session.history.audit(), session.groups.all_names
        values = {"events": [as_dict(event) for event in events]}
        options.show(session, values, *(_event_text(event, names) for event in events))


def _event_text(event: "Event", names: list[str]) -> str:
    """An event in a line; groups by their present names, or as they were added, from 1."""
    from askmeans.cli.questions import answer_text, kind_text
    from askmeans.oracles.console import FIRST
    from askmeans.sessions.events import Event

    at = datetime.fromtimestamp(event.at, UTC).isoformat(sep=" ", timespec="seconds")
    parts = [f"{event.id}  {at[:19]}Z  {event.annotator}  ({event.client or 'unknown'})"]
    parts.append(f" {kind_text(event.kind)}")
    common = {each.name for each in fields(Event)} | {"late", "counts", "gold"}
    for each in fields(event):
        value = getattr(event, each.name)
        if each.name in common or value is None:
            continue
        if each.name == "value":
            parts.append(answer_text(value, names))
        elif each.name in ("group", "into"):
            parts.append(f"{'into ' * (each.name == 'into')}group {value + FIRST}")
        elif each.name == "taken_back":
            parts.append(f"event {value}")
        elif each.name in (event.kind, "n", "name", "description", "role", "pseudonym", "options"):
            parts.append(f"{value}")
        elif each.name == "names":
            parts.append(", ".join(value))
        elif each.name == "rows":
            parts.append(f"{len(value)} items")
        else:
            parts.append(f"{each.name.replace('_', ' ')} {value}")
    if event.undone:
        parts.append("(taken back)")
    return " ".join(parts)


@command
def backup(
    database: Database,
    file: Annotated[Path, Argument(metavar="FILE", help="A new file for the copy.")],
) -> None:
    """Write a copy of a database to a new file, also while people answer."""
    from askmeans.sessions.store import backup_store, display_url

    say(f"database: {display_url(database)}")
    _say_copy("backup", str(file.absolute()), backup_store(database, file.absolute()))


@command
def copy(
    database: Database,
    target: Annotated[
        str, Argument(metavar="DST", help="A new file, or a PostgreSQL without sessions.")
    ],
) -> None:
    """Copy all sessions to another database, from SQLite to PostgreSQL or back."""
    from askmeans.sessions.store import copy_store, display_url

    say(f"database: {display_url(database)}")
    _say_copy("copy", display_url(target), copy_store(database, target))


def _say_copy(kind: str, place: str, others: list[str]) -> None:
    """Where the copy is, and the files that it refers to."""
    say(f"{kind}: {place}")
    for path in others:
        say(f"not included, keep it as well: {path}")


@command
def upgrade(database: Database) -> None:
    """Bring a database of an older askmeans up to date, after a backup beside it."""
    from askmeans.sessions.store import display_url, upgrade_store

    say(f"database: {display_url(database)}")
    old = upgrade_store(database)
    say("Nothing to do." if old is None else f"Upgraded; the old one is {old}")
