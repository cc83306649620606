"""The history of a session: valid answers, changes of groups and options, and the log.

Nothing is deleted: taking a change back is another event, which reverses it.
"""

from typing import Any

from askmeans._util.message import Message, joined
from askmeans.queries import ME
from askmeans.sessions.authors import check_annotator
from askmeans.sessions.events import (
    GROUP_CHANGES,
    AddGroup,
    Describe,
    Event,
    Flatten,
    Merge,
    MoveGroup,
    Pin,
    Refine,
    RemoveGroup,
    Rename,
    Reply,
    SetOption,
)
from askmeans.sessions.group_names import GroupNames
from askmeans.sessions.moves import Moves, not_to_take_back
from askmeans.sessions.runtime import Runtime
from askmeans.sessions.settings import initial_option


class History:
    """The history of a session; `Session.history`.

    Parameters
    ----------
    runtime, moves, names : internal
        The parts of the session that it works on.

    Examples
    --------
    >>> session = open("fruit.db")
    >>> receipt = session.tell(session.ask()[0].id, 0.5)
    >>> [receipt.value for receipt in session.history.answers()]
    [0.5]
    """

    def __init__(self, runtime: Runtime, moves: Moves, names: GroupNames) -> None:
        self._runtime = runtime
        self._moves = moves
        self._names = names

    @property
    def last_event(self) -> int:
        """The number of the last event, 0 before the first; equal numbers mean no change."""
        with self._runtime.up_to_date() as state:
            return state.last

    def answers(self, *, annotator: str | None = None) -> list[Reply]:
        """Valid answers and skips, in their order.

        Parameters
        ----------
        annotator : str or None, default=None
            Their annotator; None for all.

        Returns
        -------
        list of Reply
            The stored events.
        """
        if annotator is not None:
            annotator = check_annotator(annotator)
        with self._runtime.up_to_date() as state:
            return [state.as_of_now(event) for event in state.replies(annotator)]

    def answers_about(self, items: tuple[int, ...], *, annotator: str = ME) -> list[Reply]:
        """An annotator's answers and skips to the questions about exactly these items.

        Parameters
        ----------
        items : tuple of int
            Row numbers, in the order of a question.
        annotator : str, default="me"
            Their annotator.

        Returns
        -------
        list of Reply
            Valid ones, in the order of the questions' numbers.
        """
        annotator = check_annotator(annotator)
        with self._runtime.up_to_date() as state:
            numbers = self._runtime.questions_about(tuple(items))
            own = [state.reply(number, annotator) for number in numbers]
            return [state.as_of_now(event) for event in own if event is not None]

    def questions_of(self, annotator: str) -> set[int]:
        """Questions that an annotator was asked, answered or skipped.

        Parameters
        ----------
        annotator : str
            The annotator.

        Returns
        -------
        set of int
            The questions' numbers.
        """
        with self._runtime.up_to_date() as state:
            leased = {e.question for e in self._runtime.leases()[1] if e.annotator == annotator}
            replies = state.replies(check_annotator(annotator))
            return leased | {event.question for event in replies}

    def changes(self) -> list[Event]:
        """Changes of groups and options, in order; `describe` formats one.

        Returns
        -------
        list of Event
            The stored events.
        """
        with self._runtime.up_to_date() as state:
            return [state.as_of_now(event) for event in state.changes]

    def take_back(self, event: int, *, annotator: str = ME) -> Event:
        """Reverse a change of groups or options by anyone; `Session.undo` reverses answers.

        After a split, the answers that it changed are restored, too.

        Parameters
        ----------
        event : int
            The change's `event`.
        annotator : str, default="me"
            Who takes it back.

        Returns
        -------
        Event
            The stored event.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> receipt = session.groups.rename("small", "tiny")
        >>> back = session.history.take_back(receipt.event)
        >>> session.groups.names
        ['small', 'large']
        """
        annotator = check_annotator(annotator, person=True)
        with self._runtime.up_to_date() as state:
            change = next((each for each in state.changes if each.id == event), None)
            later = [each for each in state.changes if change and each.id > event]
            if change is None or any(_same(change, each) for each in later):
                raise not_to_take_back(event)
            is_of_groups = isinstance(change, GROUP_CHANGES)
            reverse = change if is_of_groups else self._reverse(change, annotator)
        if is_of_groups:
            return self._moves.undo_group_change(event, annotator)
        return self._moves.log(lambda: reverse)

    def _reverse(self, change: Event, annotator: str) -> Event:
        """The event that reverses a change."""
        match change:
            case Pin(group=group, row=row):
                return Pin(annotator=annotator, group=group, row=row, on=not change.on)
            case Rename(group=group, row=row):
                return Rename(annotator=annotator, group=group, name=self._before(change), row=row)
            case Describe(group=group):
                return Describe(annotator=annotator, group=group, description=self._before(change))
            case SetOption(name=name):
                return SetOption(annotator=annotator, options={name: self._before(change)})
        raise AssertionError(change)

    def _before(self, change: Event) -> Any:
        """The name, description or value of an option before a change."""
        earlier = [each for each in self._runtime.state.changes if each.id < change.id]
        same = [each for each in earlier if _same(change, each)]
        match same[-1] if same else change:
            case SetOption(name=name, value=value):
                target = self._runtime.config.target
                return value if same else initial_option(name, target)
            case Describe(description=description):
                return description if same else ""
            case Rename(name=name, group=group):
                if same:
                    return name
                names = [each.name for each in earlier
                         if isinstance(each, AddGroup) and each.group == group]  # fmt: skip
                names += [each.names[group - each.first] for each in earlier
                          if isinstance(each, Refine) and group in each.numbers]  # fmt: skip
                return names[-1] if names else self._names.first(group)

    def describe(self, change: Event) -> str:
        """Describe a change in a few words.

        Parameters
        ----------
        change : Event
            One of `changes`.

        Returns
        -------
        str
            The change, such as "added birds".
        """
        with self._runtime.lock:
            return self._text(change)

    def _text(self, change: Event) -> str:
        names = self._names.by_number()
        match change:
            case Rename(name=name):
                return Message("renamed {before} to {name}", before=self._before(change), name=name)
            case Describe(group=group, description=description):
                return Message(
                    "described {group}: {description}", group=names[group], description=description
                )
            case AddGroup(name=name):
                return Message("added {name}", name=name)
            case Merge(group=group, into=into):
                one = self._names.first(group)
                return Message("merged {group} into {other}", group=one, other=names[into])
            case Refine(group=group):
                parts = joined(change.names)
                return Message("refined {group}: {names}", group=names[group], names=parts)
            case Flatten(group=group):
                return Message("flattened {group}", group=names[group])
            case MoveGroup(group=group, into=None):
                return Message("moved {group} to the top", group=names[group])
            case MoveGroup(group=group, into=int(parent)):
                return Message(
                    "moved {group} into {other}", group=names[group], other=names[parent]
                )
            case RemoveGroup(group=group):
                return Message("removed {group}", group=self._names.first(group))
            case Pin(group=group, row=row, on=on):
                item = self._runtime.rows.item(row).label
                if on:
                    return Message("pinned {item} in {group}", item=item, group=names[group])
                return Message("unpinned {item} in {group}", item=item, group=names[group])
            case SetOption(name=name):
                return Message("changed {option}", option=name.replace("_", " "))
        raise AssertionError(change)

    def audit(self) -> list[Event]:
        """All events, those taken back included.

        Returns
        -------
        list of Event
            In the order they happened.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> receipt = session.tell(session.ask()[0].id, 0.5, annotator="Ada")
        >>> undone = session.undo(annotator="Ada")
        >>> [(event.kind, event.annotator, event.undone) for event in session.history.audit()]
        [('answer', 'Ada', True), ('undo', 'Ada', False)]
        """
        with self._runtime.up_to_date() as state:
            events = self._runtime.store.events(self._runtime.record.id)
            return [state.as_of_now(event) for event in events]


def _same(a: Event, b: Event) -> bool:
    """Whether two changes have the same object."""
    match a, b:
        case (SetOption(name=one), SetOption(name=other)):
            return one == other
        case (Describe(group=group), Describe(group=same)):
            return group == same
        case (Pin(group=group, row=row), Pin(group=same, row=same_row)) | (
            Rename(group=group, row=row),
            Rename(group=same, row=same_row),
        ):
            return (group, row) == (same, same_row)
    return False
