"""The groups of a session: methods that change them, and their examples.

Rules of this file:
- A group is identified by its number, which never changes, or by its name.
- Every change is an event, checked inside the transaction that writes it; `History.take_back` and
  `Session.undo` write another event that reverses it.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from itertools import count, islice
from typing import TYPE_CHECKING, Any, overload

from askmeans._util.checks import check_name, check_number
from askmeans._util.message import Message
from askmeans.exceptions import KeyConflictError, ParameterError, SessionError
from askmeans.fuzzy.model import check_enough_items
from askmeans.queries import ME
from askmeans.sessions.authors import ITSELF, as_key, check_annotator, key_of_group
from askmeans.sessions.events import (
    AddGroup,
    Answer,
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
)
from askmeans.sessions.group_names import GroupNames
from askmeans.sessions.group_numbers import as_shares, unique_names
from askmeans.sessions.learning import Learning
from askmeans.sessions.moves import Moves, key_of_split, undo_of
from askmeans.sessions.reports import PATH_SEPARATOR, Group
from askmeans.sessions.runtime import Runtime
from askmeans.spec import SIMILARITIES

if TYPE_CHECKING:
    from askmeans.sessions.store.sql import Transaction

_LINE = 200  # characters of a description
_FIXED = Message(
    "The groups of this session are fixed: they cannot be added, merged, removed or split, only "
    "renamed. Its owner can make a session that asks for groups, and import the answers."
)


class _RaceError(Exception):
    """Another process was faster."""


class Groups(Sequence[Group]):
    """The groups there are now, each before its sub-groups; `Session.groups`.

    Those without sub-groups are the columns of a result, in the same order.

    Parameters
    ----------
    runtime, learning, moves, names : internal
        The parts of the session that it works on.

    Examples
    --------
    >>> session = open("pets.db")
    >>> number = session.groups.add("birds")
    >>> [group.name for group in session.groups], session.groups[number].number
    (['cats', 'dogs', 'birds'], 2)
    """

    def __init__(
        self, runtime: Runtime, learning: Learning, moves: Moves, names: GroupNames
    ) -> None:
        self._runtime = runtime
        self._learning = learning
        self._names = names
        self._config = runtime.config
        self._moves = moves

    def _all(self) -> list[Group]:
        """The present groups."""
        with self._runtime.up_to_date() as state:
            groups, about = self._runtime.groups, state.descriptions
            names = dict(zip(groups.living, self._names.present(), strict=True))
            return [
                Group(
                    number=j, name=name, description=about.get(j, ""), parent=groups.parent(j),
                    children=tuple(groups.children(j)),
                    path=PATH_SEPARATOR.join(names[above] for above in groups.path(j)),
                    level=len(groups.path(j)),
                )
                for j, name in names.items()
            ]  # fmt: skip

    @overload
    def __getitem__(self, index: int) -> Group: ...
    @overload
    def __getitem__(self, index: slice) -> list[Group]: ...
    def __getitem__(self, index: int | slice) -> Group | list[Group]:
        return self._all()[index]

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[Group]:
        return iter(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    @property
    def names(self) -> list[str]:
        """Names of the present groups, each before its sub-groups."""
        with self._runtime.lock:
            return self._names.present()

    @property
    def all_names(self) -> list[str]:
        """Names of all groups by number.

        A merged group has the name of the group that it is part of now.
        """
        with self._runtime.lock:
            return self._names.by_number()

    def choices(self, cluster: int | None = None) -> list[Group]:
        """The groups on a card.

        Parameters
        ----------
        cluster : int or None, default=None
            The `cluster` of a group question.

        Returns
        -------
        list of Group
            The groups at the top; where sub-groups of a group are asked for these, then the group
            itself, for none of them, then the others beside it and beside all that it is within.

        Examples
        --------
        >>> session = open("pets.db")
        >>> big, small = session.groups.refine("dogs", ["big", "small"])
        >>> [group.name for group in session.groups.choices()]
        ['cats', 'dogs']
        >>> [group.name for group in session.groups.choices(1)]
        ['big', 'small', 'dogs', 'cats']
        """
        every = self._all()
        by_number = {group.number: group for group in every}
        number = None if cluster is None else self.find(cluster)
        if number is None:
            return [group for group in every if group.parent is None]
        shown = [by_number[j] for j in by_number[number].children] + [by_number[number]]
        while True:
            parent = by_number[number].parent
            shown += [g for g in every if g.parent == parent and g.number != number]
            if parent is None:
                return shown
            number = parent

    @property
    def can_change(self) -> bool:
        """Whether groups may be added and merged: not in sessions that compare items."""
        return self._config.ask not in SIMILARITIES

    def find(self, group: Any) -> int | None:
        """The number of a group, by its number or its name.

        Parameters
        ----------
        group : int or str
            A number, also of a group that was merged, or a name.

        Returns
        -------
        int or None
            The number of the group that it is now; None where there is none.
        """
        return self._names.find(group)

    def number(self, group: int | str) -> int:
        """The number of a group, as by `find`; a ParameterError for an unknown group.

        Parameters
        ----------
        group : int or str
            The group, by number or name.

        Returns
        -------
        int
            Its number.
        """
        return self._names.number(group)

    def add(self, name: str, *, annotator: str = ME, key: str | None = None) -> int:
        """Add a group; earlier answers stay valid, and do not cover it.

        Items that were in none of the groups are asked about again.

        Parameters
        ----------
        name : str
            What it is called; no other group's name, and not "id".
        annotator, key : as in `Session.tell`
            Who does it, and the client's key: the same again adds no other group.

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
            If the session compares items.
        """
        self._check_can_change("add")
        return self._add([name], None, "add", annotator, key)[0]

    def _add(
        self,
        names: Sequence[str],
        parent: int | None,
        method: str,
        annotator: str,
        key: str | None,
        moves: Callable[[int], list[Event]] = lambda _: [],
    ) -> range:
        """Append new groups, at the top or within one; return their numbers.

        `moves` are further events, appended with them, by the number of the first.
        """
        listed = tuple(check_name(name, "name", f"Groups.{method}") for name in names)

        def added(_: "Transaction") -> list[Event]:
            groups = self._runtime.groups
            n_groups = len(groups.leaves) + len(listed) - (groups.children(parent) == [])
            check_enough_items(len(self._runtime.rows), n_groups, f"Groups.{method}")
            self._names.check_free(listed, method)
            further = moves(groups.n)
            if parent is None:
                return [AddGroup(annotator=annotator, group=groups.n, name=listed[0]), *further]
            refined = Refine(annotator=annotator, group=parent, first=groups.n, names=listed)
            return [refined, *further]

        event = self._moves.append(added, key, annotator)
        numbers: range | None = None
        if isinstance(event, AddGroup) and (parent, listed) == (None, (event.name,)):
            numbers = range(event.group, event.group + 1)
        elif isinstance(event, Refine) and (event.group, event.names) == (parent, listed):
            numbers = event.numbers
        if numbers is None or event.id in self._runtime.state.undone:
            raise KeyConflictError(
                "A key must be used for one group only, which still stands. Got "
                f"{key!r:.60} again for {', '.join(listed)!r}; use a new key.",
                user_message=Message(
                    "This page made another group before, so this one was not made. "
                    "Reload the page, and add it then."
                ),
            )
        return numbers

    def add_for(
        self, question_id: int, name: str, *, annotator: str = ME, key: str | None = None
    ) -> Reply:
        """Add a group, and put the item of a question into it.

        Where sub-groups are asked for, it is one more of these.

        To `undo` the answer takes the group back, too, unless something else is in it by then.

        Parameters
        ----------
        question_id : int
            The group question's `id`.
        name : str
            What the new group is called, as in `add`.
        annotator, key : as in `Session.tell`
            Who does it, and the client's key: the same again adds no other group.

        Returns
        -------
        Reply
            The stored answer.

        Examples
        --------
        >>> session = open("pets.db")
        >>> question, = session.ask()
        >>> session.groups.add_for(question.id, "birds").value, session.groups.names
        ((0.0, 0.0, 1.0), ['cats', 'dogs', 'birds'])
        >>> undone = session.undo()
        >>> undone.group, session.groups.names
        ('birds', ['cats', 'dogs'])
        """
        annotator, key = check_annotator(annotator, person=True), as_key(key)
        kind, _, cluster, _ = self._runtime.question(question_id)
        if kind != "group":
            raise SessionError(
                f"Groups.add_for needs a question about groups. Got a {kind} question.",
                user_message=Message(
                    "A new group can be made only where the question is to which group "
                    "an item belongs, so nothing was saved. Answer with one of the buttons."
                ),
            )
        self._check_can_change("add")
        parent = None if cluster is None else self.number(cluster)
        (group,) = self._add([name], parent, "add", annotator, key_of_group(key))
        with self._runtime.lock:
            row = tuple(float(j == group) for j in range(self._runtime.groups.n))
        return self._moves.reply(
            Answer, question_id, row[: group + 1], annotator, key, instead=True
        )

    def rename(self, group: int | str, name: str, *, annotator: str = ME) -> Event:
        """Rename a group.

        Where similarities are asked, every result numbers the groups anew; the name stays with
        the most typical item of the group in the present result.

        Parameters
        ----------
        group : int or str
            The group, by number or name.
        name : str
            Its new name, which no other group has, and which is not "id".
        annotator : str, default="me"
            Who names it.

        Returns
        -------
        Event
            The stored event.
        """
        name = check_name(name, "name", "Groups.rename")
        if self._config.ask in SIMILARITIES:  # the clusters are known from a result
            self._learning.compute()

        def renamed() -> Event:  # inside the transaction, since others may rename, too
            number = self.number(group)
            self._names.check_free([name], "rename", number)
            row = self._names.anchor(number)
            return Rename(annotator=annotator, group=number, name=name, row=row)

        return self._moves.log(renamed)

    def describe(self, group: int | str, text: str, *, annotator: str = ME) -> Event:
        """Set the description of a group, a line that language models read, too.

        Parameters
        ----------
        group : int or str
            The group, by number or name.
        text : str
            At most 200 characters, which stand in one line; "" for none.
        annotator : str, default="me"
            Who describes it.

        Returns
        -------
        Event
            The stored event.
        """
        if self._config.ask in SIMILARITIES:
            raise SessionError(
                "Groups.describe needs a session that asks for groups or memberships. "
                f"Got ask={self._config.ask!r}; write it into the guidelines.",
                user_message=Message(
                    "Groups have no description in this session. Write it into the guidelines."
                ),
            )
        line = check_description(text)
        return self._moves.log(
            lambda: Describe(
                annotator=annotator,
                group=self.number(group),
                description=line,
            )
        )

    def merge(self, a: int | str, b: int | str, *, annotator: str = ME) -> Event:
        """Merge two groups: answers about the second count for the first.

        Parameters
        ----------
        a : int or str
            The group that goes on, by number or name.
        b : int or str
            The group that becomes a part of it.
        annotator : str, default="me"
            Who merges them; `Session.undo` takes it back.

        Returns
        -------
        Event
            The stored event.
        """
        self._check_asks_groups("merge")  # one membership does not determine the sum of two

        def merged() -> Event:
            into, other = (self.number(group) for group in (a, b))
            if into == other:
                raise ParameterError(
                    "The parameters of Groups.merge must be two different groups. "
                    f"Got {a!r} and {b!r} instead.",
                    user_message=Message(
                        "A group cannot be merged with itself. Choose another one."
                    ),
                )
            self._check_not_within(into, other, "merge")
            return Merge(annotator=annotator, group=other, into=into)

        return self._moves.log(merged)

    def refine(
        self,
        group: int | str,
        names: Sequence[str] | int,
        *,
        annotator: str = ME,
        key: str | None = None,
    ) -> list[int]:
        """Divide a group into sub-groups, or add some to those that it has; any depth.

        What was answered stays: who named the group said nothing of its sub-groups, and who names a
        sub-group names the group with it. Items of the group are asked for their sub-group.

        Parameters
        ----------
        group : int or str
            The group, by number or name.
        names : sequence of str, or int
            What the sub-groups are called, no other group's names; or how many there are, which
            are named "returns 1" and so on.
        annotator, key : as in `add`
            Who does it, and the client's key. `Session.undo` takes it back.

        Returns
        -------
        list of int
            The numbers of the sub-groups.

        Examples
        --------
        >>> session = open("pets.db")
        >>> session.groups.refine("dogs", ["big", "small"])
        [2, 3]
        >>> [group.path for group in session.groups]
        ['cats', 'dogs', 'dogs / big', 'dogs / small']
        """
        self._check_asks_groups("refine")
        with self._runtime.up_to_date():
            number = self.number(group)
            if isinstance(names, str) or not isinstance(names, Sequence):
                check_number(names, "names", "Groups.refine", integer=True, minimum=1)
                name = self._names.by_number()[number]
                taken = self._names.taken()
                free = (each for j in count(1) if (each := f"{name} {j}") not in taken)
                names = list(islice(free, int(names)))
        if not names:
            raise ParameterError(
                "The 'names' parameter of Groups.refine must have a name at least. Got none.",
                user_message=Message(
                    "No sub-group was named, so nothing was changed. Name one at least."
                ),
            )
        return list(self._add(names, number, "refine", annotator, key))

    def flatten(self, group: int | str, *, annotator: str = ME) -> Event:
        """Remove the sub-groups of a group; their items are in the group.

        Parameters
        ----------
        group : int or str
            The group, by number or name.
        annotator : str, default="me"
            Who does it; `Session.undo` takes it back.

        Returns
        -------
        Event
            The stored event.
        """
        self._check_asks_groups("flatten")

        def flattened() -> Event:
            number = self.number(group)
            if not self._runtime.groups.children(number):
                raise ParameterError(
                    "The 'group' parameter of Groups.flatten must have sub-groups. "
                    f"Got {group!r:.60}, which has none.",
                    user_message=Message("This group has no sub-groups."),
                )
            return Flatten(annotator=annotator, group=number)

        return self._moves.log(flattened)

    def move_group(self, group: int | str, into: int | str | None, *, annotator: str = ME) -> Event:
        """Make a group, with its sub-groups, a sub-group of another one.

        Parameters
        ----------
        group : int or str
            The group, by number or name.
        into : int, str or None
            What it is a sub-group of from now on; None for a group at the top.
        annotator : str, default="me"
            Who moves it; `Session.undo` takes it back.

        Returns
        -------
        Event
            The stored event.
        """
        self._check_asks_groups("move_group")

        def moved() -> Event:
            number = self.number(group)
            parent = None if into is None else self.number(into)
            if parent is not None:
                self._check_not_within(parent, number, "move_group")
            elif self._runtime.groups.parent(number) is None:
                raise ParameterError(
                    "The 'group' parameter of Groups.move_group must be a sub-group, where 'into' "
                    f"is None. Got {group!r:.60}, which is at the top.",
                    user_message=Message("This group is at the top already."),
                )
            moving = MoveGroup(annotator=annotator, group=number, into=parent)
            changes = self._runtime.state.group_changes
            self._moves.check_room([*changes, moving], "Groups.move_group")
            return moving

        return self._moves.log(moved)

    def _check_not_within(self, group: int, other: int, method: str) -> None:
        """Refuse to move a group into itself or its sub-groups, and to move the only group."""
        groups = self._runtime.groups
        if other in groups.path(group):
            raise ParameterError(
                f"The parameters of Groups.{method} must be two groups of which the second is not "
                f"within the first. Got {other} and {group}.",
                user_message=Message("A group cannot become a part of one of its own sub-groups."),
            )

    def split(
        self, group: int | str, rows: Collection[int], name: str, *, annotator: str = ME
    ) -> int:
        """Make a new group of items that an annotator put into a group.

        Parameters
        ----------
        group : int or str
            The group that they are in, by number or name.
        rows : collection of int
            Row numbers of the items; this annotator put each of them into the group.
        name : str
            What the new group is called, as in `add`.
        annotator : str, default="me"
            Whose answers are changed; taking the group back restores them.

        Returns
        -------
        int
            The number of the new group.
        """
        self._check_asks_groups("split")
        annotator = check_annotator(annotator, person=True)
        if not rows:
            raise ParameterError(
                "The 'rows' parameter of Groups.split must have items. Got none; choose some.",
                user_message=Message(
                    "No item was chosen, so no group was made. Choose those that go into "
                    "the new group."
                ),
            )
        number = self.number(group)

        def moved(new: int) -> list[Event]:
            shares = (*(0.0 for _ in range(new)), 1.0)
            replies = [self._placed_in(number, row, annotator) for row in dict.fromkeys(rows)]
            return [
                event
                for old in replies
                for event in (
                    undo_of(old, ""),
                    Answer(annotator=annotator, question=old.question, value=shares, late=old.late),
                )
            ]

        parent = self._runtime.groups.parent(number)
        key = key_of_split(as_key(None))
        (new,) = self._add([name], parent, "split", annotator, key, moved)
        return new

    def _placed_in(self, group: int, row: int, annotator: str) -> Reply:
        """The annotator's answer that put an item into a group."""
        runtime = self._runtime
        for number in reversed(runtime.questions_about((row,))):
            answer = runtime.state.reply(number, annotator)
            if answer is not None and isinstance(answer.value, tuple):
                shares = answer.value
                if runtime.groups.resolve(shares.index(max(shares))) == group:
                    return answer
        raise ParameterError(
            f"The 'rows' parameter of Groups.split must be items that {annotator!r} put into "
            f"the group. Got {row!r:.40} instead.",
            user_message=Message(
                "One of these items has no answer of yours any more that puts it into "
                "this group, so no group was made. Choose among the items that are listed now."
            ),
        )

    def move(
        self,
        rows: Collection[int],
        group: int | str | None,
        *,
        annotator: str = ME,
        key: str | None = None,
    ) -> int:
        """Put items into a group: one answer each, all or none.

        Parameters
        ----------
        rows : collection of int
            Row numbers of the items.
        group : int, str or None
            The group, by number or name; None for none of these.
        annotator, key : as in `Session.tell`
            Who does it, and the client's key: the same again adds nothing, and `undo_move` takes
            it.

        Returns
        -------
        int
            How many answers are new.

        Examples
        --------
        >>> session = open("pets.db")
        >>> session.groups.move([0, 1], "cats", key="a"), session.groups.undo_move("a")
        (2, 2)
        """
        self._check_asks_groups("move")
        n_rows = len(self._runtime.rows)
        for row in rows:
            check_number(row, "rows", "Groups.move", integer=True, minimum=0)
            if row >= n_rows:
                raise ParameterError(
                    f"The 'rows' parameter of Groups.move must be below {n_rows}. Got {row} "
                    "instead."
                )
        number = None if group is None else self.number(group)
        value = () if number is None else {number: 1.0}
        with self._runtime.up_to_date():
            shares = as_shares(value, self._runtime.groups, self._names.present(), None)
        return self._moves.place(map(int, rows), shares, annotator, key)

    def undo_move(self, key: str, *, annotator: str = ME) -> int:
        """Take back the valid answers of a `move`, and restore those that they replaced.

        Parameters
        ----------
        key : str
            The key that it was done with.
        annotator : str, default="me"
            Who did it.

        Returns
        -------
        int
            How many answers were taken back.
        """
        return self._moves.take_back_placed(annotator, key)

    def remove(self, group: int | str, *, annotator: str = ME) -> Event:
        """Remove a group: its items are in none of the groups, as after "none".

        Its number is not given again. Nothing is lost: `Session.undo` and `History.take_back`
        bring the group back with all that was put into it.

        Parameters
        ----------
        group : int or str
            The group, by number or name; its sub-groups, and those merged into it, go with it.
        annotator : str, default="me"
            Who removes it.

        Returns
        -------
        Event
            The stored event.
        """
        self._check_can_change("remove")

        def removed() -> Event:
            number = self.number(group)
            if self._runtime.groups.children(None) == [number]:
                raise ParameterError(
                    "The 'group' parameter of Groups.remove must not be the only group. "
                    f"Got {group!r:.60}; add another one first.",
                    user_message=Message(
                        "This is the only group, so it was not removed. Add another one "
                        "first, or rename this one."
                    ),
                )
            return RemoveGroup(annotator=annotator, group=number)

        return self._moves.log(removed)

    def pin(self, group: int | str, row: int, *, annotator: str = ME) -> Event:
        """Show an item as an example of a group, before all others.

        Parameters
        ----------
        group : int or str
            The group, by number or name.
        row : int
            The item's row number.
        annotator : str, default="me"
            Who pins it.

        Returns
        -------
        Event
            The stored event.
        """
        return self._pin(group, row, "Groups.pin", annotator, on=True)

    def unpin(self, group: int | str, row: int, *, annotator: str = ME) -> Event:
        """Remove an item from the pinned examples of a group.

        Parameters
        ----------
        group : int or str
            The group, by number or name.
        row : int
            The item's row number.
        annotator : str, default="me"
            Who unpins it.

        Returns
        -------
        Event
            The stored event.
        """
        return self._pin(group, row, "Groups.unpin", annotator, on=False)

    def _pin(self, group: int | str, row: int, owner: str, annotator: str, *, on: bool) -> Event:
        """Append that an item is pinned or unpinned."""
        check_number(row, "row", owner, integer=True, minimum=0)
        n_rows = len(self._runtime.rows)
        if row >= n_rows:
            raise ParameterError(
                f"The 'row' parameter of {owner} must be below {n_rows}. Got {row} instead."
            )
        return self._moves.log(
            lambda: Pin(annotator=annotator, group=self.number(group), row=int(row), on=on)
        )

    def pinned(self, group: int | str) -> list[int]:
        """Rows of the items that were pinned as examples of a group.

        Parameters
        ----------
        group : int or str
            The group, by number or name.

        Returns
        -------
        list of int
            In the order they were pinned.
        """
        with self._runtime.lock:
            return self._runtime.pinned(self.number(group))

    def grow(self) -> None:
        """With n_clusters="auto", add a group if enough items belong to none.

        Not after an annotator took a group back, or removed one.
        """
        self._learning.catch_up()
        suggested, _ = self._learning.suggestion
        with self._runtime.lock:
            groups = self._runtime.groups
            top = len(groups.children(None))
            enough = suggested is None or suggested <= top or groups.gone
            if enough or top >= len(self._runtime.rows):
                return

        def added() -> Event:
            if self._runtime.groups != groups:
                raise _RaceError
            names = unique_names(dict(enumerate(self._names.by_number())), groups.n + 1)
            return AddGroup(annotator=ITSELF, group=groups.n, name=names[-1])

        with suppress(_RaceError):
            self._moves.log(added)

    def _check_can_change(self, method: str) -> None:
        """Refuse changes in sessions that compare items."""
        if not self.can_change:
            raise SessionError(
                f"Groups.{method} needs a session that asks for groups or memberships. "
                f"Got ask={self._config.ask!r}; make such a session, and import the answers "
                "(`askmeans import`).",
                user_message=_FIXED,
            )

    def _check_asks_groups(self, method: str) -> None:
        """Refuse in sessions that do not ask for groups."""
        if self._config.ask != "group":
            raise SessionError(
                f"Groups.{method} needs a session that asks for groups. "
                f"Got ask={self._config.ask!r}; make one, and import the answers.",
                user_message=_FIXED,
            )


def check_description(text: object) -> str:
    """Check the description of a group; return it in one line."""
    line = " ".join(text.split()) if isinstance(text, str) else None
    if line is None or len(line) > _LINE or not line.isprintable():
        raise ParameterError(
            f"The description of a group must have at most {_LINE} characters. Got {text!r:.40} "
            "instead; longer ones belong in the guidelines.",
            user_message=Message(
                "What belongs to a group is one line of at most {most} characters. Shorten it, or "
                "write it into the guidelines.",
                most=_LINE,
            ),
        )
    return line
