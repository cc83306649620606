"""The events of a session: a class for each kind, and the row of the database that stores it.

Rules of this file:
- An event is appended once and never rewritten, but for a person's name.
- The annotation of a field says how it is stored (`store/records.py`). Kinds and columns are the
  schema: a released one does not change.
- Rows are checked when they are read (`from_row`): after an edit by hand they may hold any values.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, ClassVar, get_args, get_type_hints

from askmeans.sessions.authors import as_key, current_client
from askmeans.sessions.store.records import (
    ADVICE,
    ANY_NUMBER,
    ANY_TARGET,
    IS_ON,
    NAMES,
    NUMBER,
    OPTION,
    TARGET,
    TEXT,
    VALUE,
    Codec,
    check,
    is_number,
    is_whole,
)

Value = float | tuple[float, ...]  # an answer: a number, or a share for each group


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A stored event, in the log, as a receipt, in the history and in the audit.

    Parameters
    ----------
    id : int
        Its number in the log, which only grows; 0 before it is stored.
    at : float
        When, in seconds since 1970 by the database's clock.
    annotator : str
        The annotator or owner.
    key : str
        The client's key, different for every event of an annotator.
    client : str or None
        The page, the command line or a program, and where it ran.
    repeated : bool
        In a receipt: whether it was stored before, with the same key or answer.
    undone : bool
        In a receipt: whether it was taken back since.
    """

    kind: ClassVar[str]
    id: int = 0
    at: float = 0.0
    annotator: str
    key: str = field(default_factory=lambda: as_key(None))
    client: str | None = field(default_factory=current_client)
    repeated: bool = field(default=False, compare=False)
    undone: bool = field(default=False, compare=False)

    @property
    def event(self) -> int:
        """Its number, for `undo` and `take_back`."""
        return self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Event):
    """The reply of an annotator to a question.

    Parameters
    ----------
    id, at, annotator, key, client, repeated, undone : int, float, str, str, str, bool, bool
        As in `Event`.
    question : int
        The question's number.
    value : float, tuple of float or None
        The answer in [0, 1], to a group question a share for each group; None for an unsure, a
        skip, and an imported "cannot say".
    late : bool
        Whether the lease had ended, or the question was settled.
    counts : bool
        In a receipt: whether it is an answer that counts in the result.
    gold : float, tuple of float or None
        In a receipt: the known answer, if people may see it ("gold_feedback").
    """

    question: int
    value: Annotated[Value | None, VALUE] = None
    late: bool = False
    counts: bool = field(default=False, compare=False)
    gold: Value | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Reply):
    """An answer in [0, 1]; to a group question a share for each group."""

    kind: ClassVar[str] = "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsure(Reply):
    """An annotator cannot say: NaN as evidence."""

    kind: ClassVar[str] = "unsure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip(Reply):
    """The question stays open."""

    kind: ClassVar[str] = "skip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported(Reply):
    """An imported answer, which costs no budget; None for "cannot say"."""

    kind: ClassVar[str] = "held"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold(Reply):
    """A known answer, whose question people are asked to test them; costs no budget."""

    kind: ClassVar[str] = "gold"
    original: Annotated[int | None, ANY_TARGET] = None  # of a copy handed out, the gold question


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat(Event):
    """The same answer with another key, which cannot be used again."""

    kind: ClassVar[str] = "again"
    question: int
    value: Annotated[Value | None, VALUE] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo(Event):
    """Takes a reply back."""

    kind: ClassVar[str] = "undo"
    question: int
    taken_back: Annotated[int, TARGET]  # the number of the event


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudicate(Event):
    """A decision that replaces people's answers; None takes it back."""

    kind: ClassVar[str] = "adjudicate"
    question: int
    value: Annotated[Value | None, VALUE]


@dataclass(frozen=True, slots=True, kw_only=True)
class WantOpinions(Event):
    """A question wants this number of answers."""

    kind: ClassVar[str] = "opinions"
    question: int
    n: Annotated[int, TARGET]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause(Event):
    """No questions are handed out from now on."""

    kind: ClassVar[str] = "pause"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume(Event):
    """Questions are handed out again."""

    kind: ClassVar[str] = "resume"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetBudget(Event):
    """The maximum number of questions changed."""

    kind: ClassVar[str] = "budget"
    n: Annotated[int, TARGET]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOption(Event):
    """The owner set an option of the page or of the policy."""

    kind: ClassVar[str] = "option"
    options: Annotated[dict[str, Any], OPTION]  # one name and its value

    @property
    def name(self) -> str:
        """The option's name."""
        return next(iter(self.options))

    @property
    def value(self) -> Any:
        """The option's value."""
        return self.options[self.name]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddRows(Event):
    """Items were added."""

    kind: ClassVar[str] = "rows"
    part: Annotated[int, TARGET]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rename(Event):
    """A group has another name."""

    kind: ClassVar[str] = "rename"
    group: Annotated[int, TARGET]
    name: Annotated[str, TEXT]
    # Where items are compared every result numbers the groups anew: the name goes with this item.
    row: Annotated[int | None, ANY_NUMBER] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Describe(Event):
    """A line on what belongs to a group."""

    kind: ClassVar[str] = "describe"
    group: Annotated[int, TARGET]
    description: Annotated[str, TEXT]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddGroup(Event):
    """A group was added."""

    kind: ClassVar[str] = "group"
    group: Annotated[int, TARGET]
    name: Annotated[str, TEXT]


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge(Event):
    """A group became part of another."""

    kind: ClassVar[str] = "merge"
    group: Annotated[int, NUMBER]
    into: Annotated[int, TARGET]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveGroup(Event):
    """A group was removed; its items are in none of the groups."""

    kind: ClassVar[str] = "remove"
    group: Annotated[int, TARGET]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refine(Event):
    """Sub-groups were added to a group; their numbers go on from the first."""

    kind: ClassVar[str] = "refine"
    group: Annotated[int, TARGET]
    first: Annotated[int, NUMBER]
    names: Annotated[tuple[str, ...], NAMES]

    @property
    def numbers(self) -> range:
        """The numbers of the sub-groups."""
        return range(self.first, self.first + len(self.names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Flatten(Event):
    """All sub-groups of a group are part of it from now on."""

    kind: ClassVar[str] = "flatten"
    group: Annotated[int, TARGET]


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveGroup(Event):
    """A group is a sub-group of another one, or of none."""

    kind: ClassVar[str] = "move"
    group: Annotated[int, TARGET]
    into: Annotated[int | None, ANY_NUMBER] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoGroupChange(Event):
    """Takes back a change of which groups there are."""

    kind: ClassVar[str] = "regroup"
    taken_back: Annotated[int, TARGET]  # the number of the event


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin(Event):
    """An item is shown as an example of a group, or no longer."""

    kind: ClassVar[str] = "pin"
    group: Annotated[int, TARGET]
    row: Annotated[int, NUMBER]
    on: Annotated[bool, IS_ON] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice(Event):
    """Memberships of items by an adviser, which cost no budget."""

    kind: ClassVar[str] = "model"
    rows: Annotated[tuple[tuple[int, tuple[float, ...] | None], ...], ADVICE]  # row, shares


@dataclass(frozen=True, slots=True, kw_only=True)
class Invite(Event):
    """A person was invited."""

    kind: ClassVar[str] = "invite"
    invite: Annotated[int, TARGET]
    role: Annotated[str, TEXT]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revoke(Event):
    """An invitation was revoked."""

    kind: ClassVar[str] = "revoke"
    invite: Annotated[int, TARGET]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pseudonym(Event):
    """A person's name was replaced in all earlier events."""

    kind: ClassVar[str] = "pseudonym"
    pseudonym: Annotated[str, TEXT]


KINDS: Mapping[str, type[Event]] = {
    each.kind: each
    for each in (
        Answer, Unsure, Skip, Imported, Gold, Repeat, Undo, Adjudicate, WantOpinions, Pause, Resume,
        SetBudget, SetOption, AddRows, Rename, Describe, AddGroup, Merge, RemoveGroup, Refine,
        Flatten, MoveGroup, UndoGroupChange, Pin, Advice, Invite, Revoke, Pseudonym,
    )
}  # fmt: skip
KNOWN = (Imported, Gold)  # answers from elsewhere
GroupChange = AddGroup | Merge | RemoveGroup | Refine | Flatten | MoveGroup
GROUP_CHANGES = get_args(GroupChange)
CHANGES = (*GROUP_CHANGES, Rename, Describe, Pin, SetOption)  # that `History.changes` lists


def to_row(event: Event) -> dict[str, Any]:
    """The columns of an event, without those of the store."""
    row = {
        "kind": event.kind, "key": event.key, "annotator": event.annotator,
        "client": event.client, "question": getattr(event, "question", None),
        "late": getattr(event, "late", False), "value": None, "target": None, "text": None,
    }  # fmt: skip
    for name, codec in _CODECS[event.kind]:
        row |= codec.write(getattr(event, name))
    return row


def from_row(row: Any) -> Event:
    """Convert a row of the table to an event; a ValueError for invalid values."""
    try:
        return _from_row(KINDS[row.kind], row)
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"event {row.id!r:.20} ({row.kind}): {error}") from error


def _from_row(kind: type[Event], row: Any) -> Event:
    """Convert a row to an event of this kind."""
    check(is_whole(row.id, 1) and is_number(row.at), "its number or time")
    check(isinstance(row.key, str) and isinstance(row.annotator, str), "its key or annotator")
    values = {name: codec.read(row) for name, codec in _CODECS[kind.kind]}
    if "question" in kind.__dataclass_fields__:
        check(is_whole(row.question, 1), "its question")
        values["question"] = row.question
    else:
        check(row.question is None, "its question")
    if issubclass(kind, Reply):
        values["late"] = bool(row.late)
        check((values["value"] is None) == (kind in (Unsure, Skip)) or kind in KNOWN, "its value")
    return kind(
        id=row.id, at=row.at, annotator=row.annotator, key=row.key, client=row.client, **values
    )


_CODECS: Mapping[str, tuple[tuple[str, Codec], ...]] = {
    kind: tuple(
        (name, hint.__metadata__[0])
        for name, hint in get_type_hints(each, include_extras=True).items()
        if hasattr(hint, "__metadata__")
    )
    for kind, each in KINDS.items()
}


def as_dict(event: Event) -> dict[str, Any]:
    """An event as plain values, for JSON."""
    values = {each.name: getattr(event, each.name) for each in fields(event)}
    return {"event": values.pop("id"), "kind": event.kind, **values}
