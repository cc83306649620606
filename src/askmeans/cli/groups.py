"""The commands about groups: groups, rename."""

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from askmeans.cli.options import Annotator, SessionOptions, command
from askmeans.cli.output import add_hint, say, show_json
from askmeans.exceptions import ParameterError

if TYPE_CHECKING:
    from askmeans.sessions import Session

__all__ = ["GroupChanges"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GroupChanges:
    """The changes of groups, in the order they are made."""

    add: Annotated[str | None, typer.Option(help="Add a group of this name.")] = None
    merge: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Merge the second group into the first, by number or name."),
    ] = None
    rename: Annotated[
        tuple[str, str] | None, typer.Option(help="A group, by number or name, and its new name.")
    ] = None
    describe: Annotated[
        tuple[str, str] | None,
        typer.Option(help="A group, by number or name, and a line on what belongs there."),
    ] = None
    remove: Annotated[
        str | None,
        typer.Option(help="Remove a group, by number or name: its items are in none."),
    ] = None
    undo: Annotated[
        bool, typer.Option("--undo", help="Take back the last group added, merged or removed.")
    ] = False


@command
def groups(options: SessionOptions, changes: GroupChanges, annotator: Annotator = "me") -> None:
    """List the groups; add, merge, remove, rename, describe them at any time: no answer is lost."""
    from askmeans.cli.questions import after_undo, numbered

    with options.open() as session:
        _change(session, changes, annotator)
        if changes.undo:
            undone = session.undo(event=session.groups.last_change(), annotator=annotator)
            if not options.as_json:
                say(after_undo(undone, session.groups.all_names))
        result, status = session.result(), session.status()
        sizes = result.memberships.sum(axis=0).tolist()
        if options.as_json:
            listed = [
                {**dataclasses.asdict(group), "number": number, "size": size}
                for (number, group), size in zip(numbered(session), sizes, strict=True)
            ]
            suggested = {"suggested_clusters": status.suggested_clusters,
                         "suggestion": status.suggestion}  # fmt: skip
            show_json(session, {"groups": listed, **suggested})
            return
        if result.without_answers:
            say(result.without_answers)
        for (number, group), size in zip(numbered(session), sizes, strict=True):
            count = "" if result.basis == "nothing" else f": about {size:.0f} items"
            about = f"; {group.description}" if group.description else ""
            say(f"  {number}  {group.name}{count}{about}")
        if status.suggestion:
            say(add_hint(status.suggestion, options.database))


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
        _rename(session, *changes.rename, annotator=annotator)
    if changes.describe is not None:
        group, text = changes.describe
        session.groups.describe(group_number(session, group), text, annotator=annotator)
    if changes.remove is not None:
        session.groups.remove(group_number(session, changes.remove), annotator=annotator)


@command
def rename(
    options: SessionOptions,
    group: Annotated[str, typer.Argument(metavar="GROUP", help="A group's number or name.")],
    text: Annotated[str, typer.Argument(metavar="NAME", help="Its new name.")],
) -> None:
    """Rename a group."""
    with options.open() as session:
        _rename(session, group, text)
        if options.as_json:
            show_json(session, {"cluster_names": session.groups.names})
        else:
            say(f"clusters: {'; '.join(session.groups.names)}")


def _rename(session: "Session", text: str, name: str, *, annotator: str = "me") -> None:
    """Rename the typed group."""
    from askmeans.cli.questions import group_number, listed_groups

    number = group_number(session, text)
    others = [group.name for group in session.groups if group.number != number]
    if name.strip() in (*others, "id"):
        raise ParameterError(
            "NAME must be no other group's and not 'id', which is a column of every export. "
            f"Got {name!r:.60}; the groups are {listed_groups(session)}."
        )
    session.groups.rename(number, name, annotator=annotator)
