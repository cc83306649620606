"""What happened in a session: answers that stand, changes of groups and options, the whole log.

Nothing is deleted: taking a change back is another event that puts things as they were.
"""

import json
from dataclasses import dataclass
from typing import Any

from askmeans.exceptions import SessionError
from askmeans.queries import ME
from askmeans.sessions.assignment import Assignment
from askmeans.sessions.log import REGROUPINGS, Event, EventKind, NewEvent, Value, check_annotator
from askmeans.sessions.reports import Change, Receipt
from askmeans.sessions.results import Results
from askmeans.sessions.runtime import Runtime
from askmeans.sessions.settings import initial_option

__all__ = ["AuditRecord", "History"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """Something that happened in a session.

    Parameters
    ----------
    event : int
        Its number in the log.
    at : float
        When, in seconds since 1970 by the database's clock.
    annotator : str
        Who did it.
    client : str or None
        From which client: the page, the command line or a program, and where that was; None for
        what versions before kept.
    kind : str
        "answer", "undo", "rename" and so on.
    question : int or None
        The question's number, where it is about one.
    value : float, tuple of float or None
        The answer.
    target : int or None
        The event that was taken back; the cluster that was renamed, and so on.
    text : str or None
        A new name, or details.
    late : bool
        As in `Receipt`.
    undone : bool
        Whether it was taken back since.
    """

    event: int
    at: float
    annotator: str
    client: str | None
    kind: str
    question: int | None
    value: Value | None
    target: int | None
    text: str | None
    late: bool
    undone: bool


class History:
    """What happened in a session; `Session.history`.

    Parameters
    ----------
    runtime, assignment, results : internal
        The parts of the session that it works on.

    Examples
    --------
    >>> session = open("fruit.db")
    >>> receipt = session.tell(session.ask()[0].id, 0.5)
    >>> [receipt.value for receipt in session.history.answers()]
    [0.5]
    """

    def __init__(self, runtime: Runtime, assignment: Assignment, results: Results) -> None:
        self._runtime = runtime
        self._assignment = assignment
        self._results = results

    @property
    def last_event(self) -> int:
        """The number of the last event, 0 before the first; what was computed at it still holds."""
        with self._runtime.up_to_date() as state:
            return state.last

    def answers(self, *, annotator: str | None = None) -> list[Receipt]:
        """Answers and skips that stand, in the order given.

        Parameters
        ----------
        annotator : str or None, default=None
            Whose; None for all.

        Returns
        -------
        list of Receipt
            One each.
        """
        if annotator is not None:
            annotator = check_annotator(annotator)
        with self._runtime.up_to_date() as state:
            return [self._assignment.receipt(event) for event in state.given_by(annotator)]

    def answers_about(self, items: tuple[int, ...], *, annotator: str = ME) -> list[Receipt]:
        """An annotator's answers and skips to the questions about just these items.

        Parameters
        ----------
        items : tuple of int
            Row numbers, as a question has them.
        annotator : str, default="me"
            Whose.

        Returns
        -------
        list of Receipt
            Those that stand, in the order of the questions' numbers.
        """
        annotator = check_annotator(annotator)
        with self._runtime.up_to_date() as state:
            numbers = self._runtime.about(tuple(items))
            mine = [state.mine(number, annotator) for number in numbers]
            return [self._assignment.receipt(event) for event in mine if event is not None]

    def questions_of(self, annotator: str) -> set[int]:
        """Questions that an annotator holds or held, answered or skipped.

        Parameters
        ----------
        annotator : str
            Who.

        Returns
        -------
        set of int
            The questions' numbers.
        """
        with self._runtime.up_to_date() as state:
            leased = {e.question for e in self._runtime.leases()[1] if e.annotator == annotator}
            answered = state.given_by(check_annotator(annotator))
            return leased | {event.asked for event in answered}

    def changes(self) -> list[Change]:
        """Changes of groups and options, in order.

        Returns
        -------
        list of Change
            One each; `take_back` takes its event.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> receipt = session.groups.rename("small", "tiny")
        >>> [change.text for change in session.history.changes()]
        ['renamed small to tiny']
        """
        with self._runtime.up_to_date() as state:
            return [
                Change(
                    event=event.id, kind=str(event.kind), text=self._text(event),
                    annotator=event.annotator, at=event.at, undone=event.id in state.undone,
                )
                for event in state.changes
            ]  # fmt: skip

    def take_back(self, event: int, *, annotator: str = ME) -> Receipt:
        """Reverse a change of groups or options.

        With a group that was split off, the answers that were changed for it are restored, too.

        Parameters
        ----------
        event : int
            The change's `event`.
        annotator : str, default="me"
            Who takes it back.

        Returns
        -------
        Receipt
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
                raise SessionError(
                    "There must be a change of groups or options that nothing changed again. "
                    f"Got event {event}.",
                    user_message="This change was taken back before, or the same was changed again "
                    "since. The newest change is the one to take back.",
                )
            before = self._before(change)
        if change.kind in REGROUPINGS:
            return self._assignment.undo(None, annotator, None, event).receipt
        if change.kind is EventKind.PIN:
            before = None if change.text == "off" else "off"
        text = json.dumps(before) if change.kind is EventKind.OPTION else before
        return self._assignment.log(
            lambda: NewEvent(
                kind=change.kind,
                annotator=annotator,
                target=change.target,
                value=change.value,
                text=text,
            )
        )

    def _before(self, event: Event) -> Any:
        """What was before: a name, a description, or an option's value."""
        earlier = [each for each in self._runtime.state.changes if each.id < event.id]
        same = [each for each in earlier if _same(event, each)]
        if event.kind is EventKind.OPTION:
            (name,) = json.loads(event.text or "{}")
            if same:
                return json.loads(same[-1].text or "{}")
            return {name: initial_option(name, self._runtime.config.target)}
        if same:
            return same[-1].text
        if event.kind is EventKind.DESCRIBE:
            return ""
        names = [each.text for each in earlier if _names(each, event.target)]
        return names[-1] if names else self._results.first_name(event.target or 0)

    def _text(self, event: Event) -> str:
        """A change in a few words."""
        names = self._results.all_names()
        target = names[event.target] if event.target is not None else ""
        if event.kind is EventKind.RENAME:
            return f"renamed {self._before(event)} to {event.text}"
        if event.kind is EventKind.DESCRIBE:
            return f"described {target}: {event.text}"
        if event.kind is EventKind.GROUP:
            return f"added {event.text}"
        if event.kind is EventKind.MERGE:
            return f"merged {self._results.first_name(event.whole)} into {target}"
        if event.kind is EventKind.REMOVE:
            return f"removed {self._results.first_name(event.aim)}"
        if event.kind is EventKind.PIN:
            item = self._runtime.rows.item(event.whole).label
            return f"{'unpinned' if event.text == 'off' else 'pinned'} {item} in {target}"
        (option,) = json.loads(event.text or "{}")
        return f"changed {option.replace('_', ' ')}"

    def audit(self) -> list[AuditRecord]:
        """Every event there was, those taken back since included.

        Returns
        -------
        list of AuditRecord
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
            return [
                AuditRecord(
                    event=event.id, at=event.at, annotator=event.annotator, client=event.client,
                    kind=str(event.kind), question=event.question, value=event.value,
                    target=event.target, text=event.text, late=event.late,
                    undone=event.id in state.undone,
                )
                for event in self._runtime.store.events(self._runtime.record.id)
            ]  # fmt: skip


def _names(event: Event, group: int | None) -> bool:
    """Whether an event gave a group its name."""
    return event.kind in (EventKind.GROUP, EventKind.RENAME) and event.target == group


def _same(a: Event, b: Event) -> bool:
    """Whether two changes are about the same thing."""
    if a.kind is not b.kind:
        return False
    if a.kind is EventKind.OPTION:
        return list(json.loads(a.text or "{}")) == list(json.loads(b.text or "{}"))
    if a.kind is EventKind.PIN:
        return (a.target, a.value) == (b.target, b.value)
    if a.kind in (EventKind.RENAME, EventKind.DESCRIBE):
        return (a.target, a.value) == (b.target, b.value)
    return False
