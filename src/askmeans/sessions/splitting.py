"""A part of a group that becomes a group of its own, and goes back when that is taken back."""

from collections.abc import Collection

from askmeans.exceptions import ParameterError, SessionError
from askmeans.queries import ME
from askmeans.queries import Question as Asked
from askmeans.sessions.log import Event, EventKind, check_annotator
from askmeans.sessions.regrouping import Regrouping

__all__ = ["Splitting"]


class Splitting(Regrouping):
    """The part of `Session` that splits groups."""

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
            If the session does not ask for groups, or its strategy is one of the paper's.

        Examples
        --------
        >>> import askmeans.sessions
        >>> session = askmeans.sessions.create("pets.db", [[1.0], [2.0], [8.0], [9.0]],
        ...     n_clusters=2, cluster_names=["cats", "dogs"], random_state=0)
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
                f"Got ask={self.config.ask!r}."
            )
        annotator = check_annotator(annotator, person=True)
        with self._runtime.up_to_date() as state:
            asked = {row: self._runtime.number(Asked("group", (row,), None)) for row in rows}
            for row, number in asked.items():
                said = None if number is None else state.mine(number, annotator)
                if said is None or said.kind is EventKind.SKIP:
                    raise ParameterError(
                        "The 'rows' parameter of Session.split_off must be items that "
                        f"{annotator!r} answered about. Got {row!r:.40}, which is none."
                    )
        if not asked:
            raise ParameterError(
                "The 'rows' parameter of Session.split_off must have items. Got none; choose some."
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
                for key, event in state.by_key.items()
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
