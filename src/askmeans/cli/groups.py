"""The command about groups: list, add, refine, merge, rename, describe and remove them."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from askmeans.cli.options import Annotator, SessionOptions, comma_list, command
from askmeans.cli.output import add_hint, say
from askmeans.exceptions import ParameterError, SessionError

if TYPE_CHECKING:
    from askmeans.sessions import Event, Session, SessionResult


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChanges:
    """The changes of groups, in the order they are made; groups go by number or name."""

    change: Annotated[
        Literal["refine", "flatten", "move"] | None,
        Argument(help="Divide a group, take its sub-groups away, or make it a sub-group."),
    ] = None
    group: Annotated[
        str | None, Argument(metavar="GROUP", help="Which group, by number or name.")
    ] = None
    names: Annotated[
        str | None, Option(help="refine: names of the sub-groups, a,b,c, or how many.")
    ] = None
    into: Annotated[
        str | None, Option(help="move: the group that it is in from now on; default: none.")
    ] = None
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
        bool, Option("--undo", help="Take back the last change of which groups there are.")
    ] = False


@command
def groups(options: SessionOptions, changes: GroupChanges, annotator: Annotator = "me") -> None:
    """List, add, refine, merge, rename, describe and remove groups; no answer is lost."""
    from askmeans.cli.questions import numbered

    with options.open() as session:
        _change(session, changes, annotator)
        if changes.undo:
            change = _last_change(session)
            session.history.take_back(change.event, annotator=annotator)
            if not options.as_json:
                say(f"Taken back: {session.history.describe(change)}.")
        result, status = session.result(), session.status()
        sizes = _sizes(session, result)
        listed, lines = [], [result.without_answers] if result.without_answers else []
        for number, group in numbered(session):
            size = sizes[group.number]
            listed.append({**asdict(group), "number": number, "size": size})
            count = "" if result.basis == "nothing" else f": about {size:.0f} items"
            about = f"; {group.description}" if group.description else ""
            lines.append(f"  {number}  {'  ' * (group.level - 1)}{group.name}{count}{about}")
        if status.suggestion:
            lines.append(add_hint(status.suggestion, options.database))
        suggested = status.suggested_clusters
        values = {
            "groups": listed,
            "suggested_clusters": suggested,
            "suggestion": status.suggestion,
        }
        options.show(session, values, *lines)


def _sizes(session: "Session", result: "SessionResult") -> dict[int, float]:
    """About how many items each group has, by number: of one with sub-groups what these have."""
    shares = zip(result.group_names, result.memberships.sum(axis=0).tolist(), strict=True)
    by_name, groups = dict(shares), {group.number: group for group in session.groups}

    def size(number: int) -> float:
        group = groups[number]
        return sum(map(size, group.children)) if group.children else by_name.get(group.name, 0.0)

    return {number: size(number) for number in groups}


def _last_change(session: "Session") -> "Event":
    """The last change of which groups there are that was not taken back since."""
    kinds = ("group", "merge", "remove", "refine", "flatten", "move")
    changes = [c for c in session.history.changes() if c.kind in kinds and not c.undone]
    if not changes:
        raise SessionError("There must be a group that was added, merged or removed. Got none.")
    return changes[-1]


def _change(session: "Session", changes: GroupChanges, annotator: str) -> None:
    """Make the changes, except an undo."""
    from askmeans.cli.questions import group_number, listed_groups

    _change_tree(session, changes, annotator)
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


def _change_tree(session: "Session", changes: GroupChanges, annotator: str) -> None:
    """Refine, flatten or move a group, where that is wanted."""
    from askmeans._util.checks import parse_digits
    from askmeans.cli.questions import group_number

    kind, names, into = changes.change, changes.names, changes.into
    if names is not None and kind != "refine":
        raise ParameterError(
            "--names must come with refine: askmeans groups DB refine GROUP --names a,b. "
            f"Got {names!r:.60} without it."
        )
    if into is not None and kind != "move":
        raise ParameterError(
            "--into must come with move: askmeans groups DB move GROUP --into OTHER. "
            f"Got {into!r:.60} without it."
        )
    if kind is None:
        return
    if changes.group is None or (kind == "refine" and not names):
        example = " --names a,b" if kind == "refine" else ""
        raise ParameterError(
            f"{kind} must have a group{' and names' * bool(example)}: askmeans groups DB {kind} "
            f"GROUP{example}. Got none."
        )
    number = group_number(session, changes.group)
    if kind == "refine":
        count = parse_digits(names or "")
        wanted = comma_list(names) or [] if count is None else count
        session.groups.refine(number, wanted, annotator=annotator)
    elif kind == "flatten":
        session.groups.flatten(number, annotator=annotator)
    else:
        parent = None if into is None else group_number(session, into)
        session.groups.move_group(number, parent, annotator=annotator)
