"""The command about groups: list, add, merge, rename, describe and remove them."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

from typer import Option

from askmeans.cli.options import Annotator, SessionOptions, command
from askmeans.cli.output import add_hint, say
from askmeans.exceptions import ParameterError, SessionError

if TYPE_CHECKING:
    from askmeans.sessions import Event, Session


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChanges:
    """The changes of groups, in the order they are made; groups go by number or name."""

    add: Annotated[str | None, Option(help="Add a group of this name.")] = None
    merge: Annotated[
        tuple[str, str] | None, Option(help="Merge the second group into the first.")
    ] = None
    rename: Annotated[
        tuple[str, str] | None, Option(help="A group, by number or name, and its new name.")
    ] = None
    describe: Annotated[
        tuple[str, str] | None, Option(help="A group, and a line on what belongs there.")
    ] = None
    remove: Annotated[str | None, Option(help="Remove a group: its items are in none.")] = None
    undo: Annotated[
        bool, Option("--undo", help="Take back the last group added, merged or removed.")
    ] = False


@command
def groups(options: SessionOptions, changes: GroupChanges, annotator: Annotator = "me") -> None:
    """List, add, merge, rename, describe and remove groups at any time; no answer is lost."""
    from askmeans.cli.questions import numbered

    with options.open() as session:
        _change(session, changes, annotator)
        if changes.undo:
            change = _last_change(session)
            session.history.take_back(change.event, annotator=annotator)
            if not options.as_json:
                say(f"Taken back: {session.history.describe(change)}.")
        result, status = session.result(), session.status()
        sizes = result.memberships.sum(axis=0).tolist()
        listed, lines = [], [result.without_answers] if result.without_answers else []
        for (number, group), size in zip(numbered(session), sizes, strict=True):
            listed.append({**asdict(group), "number": number, "size": size})
            count = "" if result.basis == "nothing" else f": about {size:.0f} items"
            about = f"; {group.description}" if group.description else ""
            lines.append(f"  {number}  {group.name}{count}{about}")
        if status.suggestion:
            lines.append(add_hint(status.suggestion, options.database))
        suggested = status.suggested_clusters
        values = {
            "groups": listed,
            "suggested_clusters": suggested,
            "suggestion": status.suggestion,
        }
        options.show(session, values, *lines)


def _last_change(session: "Session") -> "Event":
    """The last group added, merged or removed that was not taken back since."""
    kinds = ("group", "merge", "remove")
    changes = [c for c in session.history.changes() if c.kind in kinds and not c.undone]
    if not changes:
        raise SessionError("There must be a group that was added, merged or removed. Got none.")
    return changes[-1]


def _change(session: "Session", changes: GroupChanges, annotator: str) -> None:
    """Make the changes, except an undo."""
    from askmeans.cli.questions import group_number, listed_groups

    if changes.add is not None:
        session.groups.add(changes.add, annotator=annotator)
    if changes.merge is not None:
        into, other = (group_number(session, text) for text in changes.merge)
        if into == other:
            first, second = changes.merge
            raise ParameterError(
                f"--merge must have two different groups among {listed_groups(session)}. "
                f"Got {first!r:.60} and {second!r:.60} instead."
            )
        session.groups.merge(into, other, annotator=annotator)
    if changes.rename is not None:
        group, name = changes.rename
        number = group_number(session, group)
        others = [other.name for other in session.groups if other.number != number]
        if name.strip() in (*others, "id"):
            raise ParameterError(
                "NAME must be no other group's and not 'id', which is a column of every export. "
                f"Got {name!r:.60}; the groups are {listed_groups(session)}."
            )
        session.groups.rename(number, name, annotator=annotator)
    if changes.describe is not None:
        group, text = changes.describe
        session.groups.describe(group_number(session, group), text, annotator=annotator)
    if changes.remove is not None:
        session.groups.remove(group_number(session, changes.remove), annotator=annotator)
