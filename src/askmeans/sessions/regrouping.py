"""Groups that nobody thought of at first: added, merged, removed, split off, described any time."""

from collections.abc import Collection
from contextlib import suppress
from numbers import Integral
from typing import Any

from askmeans._util.checks import check_name
from askmeans.exceptions import KeyConflictError, ParameterError, SessionError
from askmeans.fuzzy.model import check_enough_items
from askmeans.queries import ME
from askmeans.queries import Question as Asked
from askmeans.sessions.assignment import Assignment
from askmeans.sessions.config import Config
from askmeans.sessions.display import unique_names
from askmeans.sessions.groups import NO_SUCH_GROUP, taken_name
from askmeans.sessions.log import (
    ITSELF,
    Event,
    EventKind,
    NewEvent,
    as_key,
    check_annotator,
    key_of_group,
)
from askmeans.sessions.reports import Group, Receipt
from askmeans.sessions.results import Results
from askmeans.sessions.rows import Rows
from askmeans.sessions.runtime import Runtime
from askmeans.sessions.store.contract import Transaction
from askmeans.spec import SIMILARITIES

__all__ = ["Regrouping"]

_LINE = 200  # characters of a description
_FIXED = (
    "The groups of this session are fixed: they cannot be added, merged, removed or split, only "
    "renamed. Whoever runs it can make a session that asks for groups, and import the answers."
)


class _QuickerError(Exception):
    """Somebody was quicker."""


class Regrouping:
    """The part of `Session` that is about its groups."""

    config: Config
    rows: Rows
    _runtime: Runtime
    _assignment: Assignment
    _results: Results

    @property
    def groups(self) -> list[Group]:
        """The groups there are now, by number; a result's columns have the same order."""
        with self._runtime.up_to_date() as state:
            names = zip(self._runtime.groups.living, self._results.cluster_names(), strict=True)
            told = state.descriptions
            return [Group(number=j, name=name, description=told.get(j, "")) for j, name in names]

    @property
    def group_names(self) -> list[str]:
        """What groups are called by their numbers, which never shift.

        A merged group has the name of what it is part of now.
        """
        with self._runtime.lock:
            return self._results.group_names()

    @property
    def can_regroup(self) -> bool:
        """Whether groups may be added and merged: not where items are compared."""
        return self.config.ask not in SIMILARITIES

    def add_group(self, name: str, *, annotator: str = ME, key: str | None = None) -> int:
        """Add a group; everything answered before stays, and is silent about it.

        Items that were in none of the groups are asked about again.

        Parameters
        ----------
        name : str
            What it is called; no other group's name, and not "id".
        annotator : str, default="me"
            Who adds it; `undo` takes it back.
        key : str or None, default=None
            As in `tell`: the same key again adds no other group.

        Returns
        -------
        int
            Its number, which it keeps for ever.

        Raises
        ------
        ParameterError
            If the name is taken, or there are no more items than groups.
        KeyConflictError
            If the key was used for something else, or the group was taken back since.
        SessionError
            If the session asks for similarities.

        Examples
        --------
        >>> session = open("pets.db")
        >>> session.add_group("birds"), session.cluster_names
        (2, ['cats', 'dogs', 'birds'])
        """
        self._check_growing("add_group")
        name = check_name(name, "name", "Session.add_group")

        def added(_: Transaction) -> list[NewEvent]:
            groups = self._runtime.groups
            check_enough_items(len(self.rows), len(groups.living) + 1, "Session.add_group")
            if name in self._results.taken_names(-1):
                raise ParameterError(
                    "The 'name' parameter of Session.add_group must be no other group's and not "
                    f"'id'. Got {name!r} instead.",
                    user_message=taken_name(name),
                )
            return [NewEvent(kind=EventKind.GROUP, annotator=annotator, target=groups.n, text=name)]

        event = self._assignment.append(added, key, annotator)
        undone = event.id in self._runtime.state.undone
        if (event.kind, event.text) != (EventKind.GROUP, name) or undone or event.target is None:
            raise KeyConflictError(
                "A key must be used for one group only, which still stands. Got "
                f"{key!r:.60} again for {name!r}; use a new key.",
                user_message="This page made another group before, so this one was not made. "
                "Reload the page, and add it then.",
            )
        return event.target

    def merge_groups(self, a: int | str, b: int | str, *, annotator: str = ME) -> Receipt:
        """Make two groups one: the first goes on, and what was said of the second is about it.

        Parameters
        ----------
        a : int or str
            The group that goes on, by number or name.
        b : int or str
            The group that becomes a part of it.
        annotator : str, default="me"
            Who merges them; `undo` takes it back.

        Returns
        -------
        Receipt
            What was kept.

        Raises
        ------
        ParameterError
            If they are not two groups that are there.
        SessionError
            If the session does not ask for groups.

        Examples
        --------
        >>> session = open("pets.db")
        >>> number = session.add_group("kittens")
        >>> receipt = session.merge_groups("cats", "kittens")
        >>> session.cluster_names, session.result().memberships.shape
        (['cats', 'dogs'], (4, 2))
        """
        self._check_growing("merge_groups")
        if self.config.ask != "group":  # a part of a membership tells nothing of the whole
            raise SessionError(
                "Session.merge_groups needs a session that asks for groups. "
                f"Got ask={self.config.ask!r}; make one, and import the answers.",
                user_message=_FIXED,
            )

        def merged() -> NewEvent:
            into, other = self.group_number(a), self.group_number(b)
            if into is None or other is None or into == other:
                raise ParameterError(
                    "The parameters of Session.merge_groups must be two different groups among "
                    f"{self._listed()}. Got {a!r} and {b!r} instead.",
                    user_message=NO_SUCH_GROUP
                    if into is None or other is None
                    else "A group cannot be merged with itself. Choose another one.",
                )
            return NewEvent(
                kind=EventKind.MERGE, annotator=annotator, target=into, value=float(other)
            )

        return self._assignment.log(merged)

    def remove_group(self, group: int | str, *, annotator: str = ME) -> Receipt:
        """Remove a group: what people put into it is in none of the groups, as after "none".

        Its number is not given again. Nothing is lost: `undo` and `take_back` bring the group back
        with all that was put into it.

        Parameters
        ----------
        group : int or str
            The group, by number or name; those that were merged into it go with it.
        annotator : str, default="me"
            Who removes it.

        Returns
        -------
        Receipt
            What was kept.

        Raises
        ------
        ParameterError
            If there is no such group, or no other.
        SessionError
            If the session asks for similarities.

        Examples
        --------
        >>> session = open("pets.db")
        >>> number = session.add_group("birds")
        >>> receipt = session.remove_group("birds")
        >>> session.cluster_names
        ['cats', 'dogs']
        >>> session.take_back(receipt.event).kind, session.cluster_names
        ('regroup', ['cats', 'dogs', 'birds'])
        """
        self._check_growing("remove_group")

        def removed() -> NewEvent:
            number = self.group_number(group)
            if number is None or len(self._runtime.groups.living) == 1:
                raise ParameterError(
                    "The 'group' parameter of Session.remove_group must be one of the groups "
                    f"{self._listed()}, and not the only one. Got {group!r:.60} instead.",
                    user_message=NO_SUCH_GROUP
                    if number is None
                    else "This is the only group, so it was not removed. Add another one first, or "
                    "rename this one.",
                )
            return NewEvent(kind=EventKind.REMOVE, annotator=annotator, target=number)

        return self._assignment.log(removed)

    def answer_with_new_group(
        self, question_id: int, name: str, *, annotator: str = ME, key: str | None = None
    ) -> Receipt:
        """Add a group, and put the item of a question into it.

        To `undo` the answer takes the group back, too, unless something else is in it by then.

        Parameters
        ----------
        question_id : int
            The group question's `id`.
        name : str
            What the new group is called, as in `add_group`.
        annotator : str, default="me"
            Whose answer, and group.
        key : str or None, default=None
            As in `tell`: the same key again adds no other group.

        Returns
        -------
        Receipt
            The stored answer.

        Raises
        ------
        ParameterError, KeyConflictError, SessionError
            As in `add_group`.
        QueryError, BudgetError
            As in `tell`.

        Examples
        --------
        >>> session = open("pets.db")
        >>> question, = session.ask()
        >>> session.answer_with_new_group(question.id, "birds").value, session.cluster_names
        ((0.0, 0.0, 1.0), ['cats', 'dogs', 'birds'])
        >>> undone = session.undo()
        >>> undone.group, session.cluster_names
        ('birds', ['cats', 'dogs'])
        """
        annotator, key = check_annotator(annotator, person=True), as_key(key)
        kind = self._assignment.question(question_id).kind
        if kind != "group":
            raise SessionError(
                "Session.answer_with_new_group needs a question about groups. "
                f"Got a {kind} question.",
                user_message="A new group can be made only where the question is to which group "
                "an item belongs, so nothing was saved. Answer with one of the buttons.",
            )
        group = self.add_group(name, annotator=annotator, key=key_of_group(key))
        with self._runtime.lock:
            row = tuple(float(j == group) for j in range(self._runtime.groups.n))
        return self._assignment.give(
            EventKind.ANSWER, question_id, row[: group + 1], annotator, key, instead=True
        )

    def describe(self, group: int | str, text: str, *, annotator: str = ME) -> Receipt:
        """Say in a line what belongs to a group; language models are told it, too.

        Parameters
        ----------
        group : int or str
            The group, by number or name.
        text : str
            At most 200 characters, which stand in one line; "" for none.
        annotator : str, default="me"
            Who describes it; `take_back` takes it back.

        Returns
        -------
        Receipt
            What was kept.

        Raises
        ------
        ParameterError
            If there is no such group, or the text is too long or cannot be printed.
        SessionError
            If the session asks for similarities: its groups are numbered anew by every result.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> receipt = session.describe("small", "Fits into a hand.")
        >>> [group.description for group in session.groups]
        ['Fits into a hand.', '']
        """
        if self.config.ask in SIMILARITIES:
            raise SessionError(
                "Session.describe needs a session that asks for groups or memberships. "
                f"Got ask={self.config.ask!r}; write it into the guidelines.",
                user_message="Groups have no description in this session. Write it into the "
                "guidelines.",
            )
        line = " ".join(text.split()) if isinstance(text, str) else None

        def described() -> NewEvent:
            number = self.group_number(group)
            if number is None or line is None or len(line) > _LINE or not line.isprintable():
                raise ParameterError(
                    f"The parameters of Session.describe must be one of the groups "
                    f"{self._listed()} and a text of at most {_LINE} characters. "
                    f"Got {group!r:.40} and {text!r:.40} instead; longer ones belong in the "
                    "guidelines.",
                    user_message=NO_SUCH_GROUP
                    if number is None
                    else f"What belongs to a group is one "
                    f"line of at most {_LINE} characters. Shorten it, or write it into the "
                    "guidelines.",
                )
            return NewEvent(kind=EventKind.DESCRIBE, annotator=annotator, target=number, text=line)

        return self._assignment.log(described)

    def group_number(self, group: Any) -> int | None:
        """The number of a group that goes by its number or its name.

        Parameters
        ----------
        group : int or str
            A number, also of a group that was merged, or a name.

        Returns
        -------
        int or None
            The number of the group that it is now; None where there is none.

        Examples
        --------
        >>> open("fruit.db").group_number("large")
        1
        """
        with self._runtime.lock:
            groups = self._runtime.groups
            names = dict(zip(self._results.cluster_names(), groups.living, strict=True))
            if isinstance(group, str):
                return names.get(group)
            whole = type(group) is not bool and isinstance(group, Integral)
            return groups.resolve(int(group)) if whole else None

    def last_regrouping(self) -> int:
        """The event of the last group that was added, merged or removed, for `undo`.

        Returns
        -------
        int
            Its number in the log.

        Raises
        ------
        SessionError
            If there is none.

        Examples
        --------
        >>> session = open("pets.db")
        >>> number = session.add_group("birds")
        >>> session.undo(event=session.last_regrouping()).kind, session.cluster_names
        ('group', ['cats', 'dogs'])
        """
        with self._runtime.up_to_date() as state:
            done = state.regroupings
        if not done:
            raise SessionError("There must be a group that was added, merged or removed. Got none.")
        return done[-1].id

    def _log(self, kind: EventKind, annotator: str, **values: Any) -> Receipt:
        """Append an event."""
        return self._assignment.log(lambda: NewEvent(kind=kind, annotator=annotator, **values))

    def _grow(self) -> None:
        """Add a group where the number of groups follows from the answers, and they speak of more.

        Not after somebody took a group back, or removed one.
        """
        if not self.config.grows:
            return
        self._runtime.catch_up()
        wanted, _ = self._runtime.suggestion
        with self._runtime.lock:
            groups = self._runtime.groups
            enough = wanted <= len(groups.living) or groups.gone
            if enough or len(groups.living) >= len(self.rows):
                return

        def added() -> NewEvent:
            if self._runtime.groups != groups:
                raise _QuickerError
            names = unique_names(dict(enumerate(self._results.group_names())), groups.n + 1)
            return NewEvent(kind=EventKind.GROUP, annotator=ITSELF, target=groups.n, text=names[-1])

        with suppress(_QuickerError):  # somebody else's process added it
            self._assignment.log(added)

    def _listed(self) -> str:
        """The groups there are, in a message."""
        names = zip(self._runtime.groups.living, self._results.cluster_names(), strict=True)
        return ", ".join(f"{number} {name}" for number, name in names)

    def _check_growing(self, what: str) -> None:
        """Refuse where items are compared: every result numbers the groups anew."""
        if not self.can_regroup:
            raise SessionError(
                f"Session.{what} needs a session that asks for groups or memberships. "
                f"Got ask={self.config.ask!r}; make one, and import the answers "
                "(`askmeans import`).",
                user_message=_FIXED,
            )

    def split_off(self, name: str, rows: Collection[int], *, annotator: str = ME) -> int:
        """Make a group of items that somebody put elsewhere.

        Parameters
        ----------
        name : str
            What the new group is called, as in `add_group`.
        rows : collection of int
            Row numbers of the items; this person put each of them somewhere.
        annotator : str, default="me"
            Whose answers are changed; `take_back` puts them back with the group.

        Returns
        -------
        int
            The number of the new group.

        Raises
        ------
        ParameterError
            If there are no rows, this person answered about one of them nothing, or the name is
            taken.
        SessionError
            If the session does not ask for groups.

        Examples
        --------
        >>> session = open("pets.db")
        >>> question, = session.ask()
        >>> receipt = session.tell(question.id, "cats")
        >>> number = session.split_off("kittens", question.items)
        >>> session.history()[-1].value
        (0.0, 0.0, 1.0)
        >>> back = session.take_back(session.changes()[-1].event)
        >>> session.history()[-1].value
        (1.0, 0.0)
        """
        if self.config.ask != "group":
            raise SessionError(
                "Session.split_off needs a session that asks for groups. "
                f"Got ask={self.config.ask!r}.",
                user_message=_FIXED,
            )
        annotator = check_annotator(annotator, person=True)
        with self._runtime.up_to_date() as state:
            asked = {row: self._runtime.number(Asked("group", (row,), None)) for row in rows}
            for row, number in asked.items():
                said = None if number is None else state.mine(number, annotator)
                if said is None or said.kind is EventKind.SKIP:
                    raise ParameterError(
                        "The 'rows' parameter of Session.split_off must be items that "
                        f"{annotator!r} answered about. Got {row!r:.40}, which is none.",
                        user_message="One of these items has no answer of yours any more, so "
                        "no group was made. Choose among the items that are listed now.",
                    )
        if not asked:
            raise ParameterError(
                "The 'rows' parameter of Session.split_off must have items. Got none; choose some.",
                user_message="No item was chosen, so no group was made. Choose those that go into "
                "the new group.",
            )
        group = self.add_group(name, annotator=annotator)
        for row, number in asked.items():
            assert number is not None
            alone = (*(0.0 for _ in range(group)), 1.0)
            key = f"{_moved(group)}{row}"
            self._assignment.give(EventKind.ANSWER, number, alone, annotator, key, instead=True)
        return group

    def _put_back(self) -> None:
        """Answers that a split changed are as they were before, where its group was taken back."""
        with self._runtime.lock:
            state = self._runtime.state
            moved = [
                event
                for (_, key), event in state.by_key.items()
                if any(key.startswith(_moved(group)) for group in state.withdrawn)
                and state.stands(event)
            ]
            before = [_replaced(event, list(state.by_key.values())) for event in moved]
        for event, old in zip(moved, before, strict=True):
            if old is not None and event.question is not None:
                self._assignment.give(
                    old.kind, event.question, old.value, event.annotator, None, instead=True
                )


def _moved(group: int) -> str:
    """How the keys of answers begin that a split put into a group."""
    return f"split-{group}-"


def _replaced(event: Event, events: list[Event]) -> Event | None:
    """The answer in whose place an event was put."""
    undos = [
        each.target or 0
        for each in events
        if each.kind is EventKind.UNDO and each.id < event.id
        and (each.question, each.annotator) == (event.question, event.annotator)
    ]  # fmt: skip
    return next((each for each in events if undos and each.id == max(undos)), None)
