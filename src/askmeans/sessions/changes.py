"""What the owner shapes, and who did what: examples, guidelines and other options, and the log.

Every change is an event. Taking one back is another event that puts things as they were. Nothing is
deleted; a person's name can become a pseudonym.
"""

import itertools
import json
from collections.abc import Set
from dataclasses import dataclass
from typing import Any

from askmeans._util.checks import check_number, check_text
from askmeans.exceptions import ParameterError, SessionError
from askmeans.queries import ME
from askmeans.queries import Question as Asked
from askmeans.queries.questions import KINDS, ordered
from askmeans.sessions.groups import NO_SUCH_GROUP
from askmeans.sessions.log import (
    REGROUPINGS,
    Event,
    EventKind,
    NewEvent,
    Value,
    check_annotator,
)
from askmeans.sessions.regrouping import Regrouping
from askmeans.sessions.reports import Change, Question, Receipt
from askmeans.sessions.runtime import AUDIT_SHARE, GOOD_ENOUGH
from askmeans.sessions.store.contract import Transaction
from askmeans.spec import SIMILARITIES

__all__ = ["OPTIONS", "AuditRecord", "Changes"]

OPTIONS: dict[str, type] = {"purpose": str, "guidelines": str, "predicted_first": bool,
                           "gold_feedback": bool, "annotators_see_results": bool,
                           AUDIT_SHARE: float, GOOD_ENOUGH: float}  # fmt: skip
_LONGEST = 20_000  # characters of guidelines


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

    Examples
    --------
    >>> open("fruit.db").audit()
    []
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


class Changes(Regrouping):
    """The part of `Session` that is about examples and options."""

    @property
    def options(self) -> dict[str, Any]:
        """What the owner decided, by the names that `set_option` takes."""
        with self._runtime.up_to_date() as state:
            return {name: self._first_option(name) for name in OPTIONS} | state.options

    def set_option(self, name: str, value: Any, *, annotator: str = ME) -> Receipt:
        """Decide something about how people are asked.

        Parameters
        ----------
        name : str
            "purpose", "guidelines", "predicted_first", "gold_feedback", "annotators_see_results",
            "audit_share" or "good_enough":
            what this is for, in a sentence; what belongs where, in Markdown; whether groups that
            are likely come first on a card (it biases people, so they do not unless one says so);
            whether people are told the known answer after a gold question; whether people who
            were invited as annotators see the result, not owners alone; which part of people's
            questions is about random items, where language models answer, too (see `panel`); the
            share of wrong items below which there is no need to go on, 0.0 for none.
        value : str, bool or float
            A text of at most 20,000 characters; True or False; a share from 0.0 to 1.0.
        annotator : str, default="me"
            Who decides it.

        Returns
        -------
        Receipt
            What was kept.

        Raises
        ------
        ParameterError
            If there is no such option, or the value is not of its kind.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> receipt = session.set_option("purpose", "We sort fruit by size.")
        >>> session.options["purpose"], session.options["predicted_first"]
        ('We sort fruit by size.', False)
        """
        kind = OPTIONS.get(name) if isinstance(name, str) else None
        fits = kind is not None and isinstance(value, kind) and len(str(value)) <= _LONGEST
        if not fits or (kind is float and not 0.0 <= value <= 1.0):
            raise ParameterError(
                f"The 'name' parameter of Session.set_option must be one of {', '.join(OPTIONS)}, "
                f"with a text of at most {_LONGEST} characters, True or False for three of them, "
                f"or a share from 0.0 to 1.0. Got {name!r:.40} and {value!r:.40} instead.",
                user_message=f"This text has {len(str(value)):,} characters, and at most "
                f"{_LONGEST:,} can be saved. Shorten it.",
            )
        if isinstance(value, str):
            check_text(value, f"The option {name!r}")
        return self._log(EventKind.OPTION, annotator, text=json.dumps({name: value}))

    def pin(self, group: int, row: int, *, on: bool = True, annotator: str = ME) -> Receipt:
        """Show an item as an example of a group, before all others; or no longer.

        Parameters
        ----------
        group : int
            The group's number.
        row : int
            The item's row number.
        on : bool, default=True
            False where it shall no longer be pinned.
        annotator : str, default="me"
            Who pins it.

        Returns
        -------
        Receipt
            What was kept.

        Raises
        ------
        ParameterError
            If there is no such group or item.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> receipt = session.pin(0, 2)
        >>> session.exemplars(0, n=1), session.pinned(0)
        ([2], [2])
        """
        check_number(row, "row", "Session.pin", integer=True, minimum=0)
        number = self.group_number(group)
        if number is None or row >= len(self.rows):
            raise ParameterError(
                f"The parameters of Session.pin must be one of the groups {self._listed()} and a "
                f"row below {len(self.rows)}. Got {group!r:.40} and {row} instead.",
                user_message=NO_SUCH_GROUP,
            )
        told = None if on else "off"
        return self._log(EventKind.PIN, annotator, target=number, value=float(row), text=told)

    def pinned(self, group: int) -> list[int]:
        """Rows of the items that were pinned as examples of a group.

        Parameters
        ----------
        group : int
            The group's number.

        Returns
        -------
        list of int
            In the order they were pinned.

        Examples
        --------
        >>> open("fruit.db").pinned(0)
        []
        """
        with self._runtime.lock:
            return self._results.pinned(group)

    def add_question(
        self, kind: str, items: tuple[int, ...], cluster: int | None = None, *, annotator: str = ME
    ) -> Question:
        """Ask about items of one's own choice; the question is leased to whoever wants it.

        It may be answered though the budget is spent: somebody wanted it.

        Parameters
        ----------
        kind : {"membership", "group", "pair", "triplet", "relative"}
            What is asked. A session that compares items takes all kinds, another one memberships
            and groups.
        items : tuple of int
            Row numbers, all different: one, two for a pair, else three.
        cluster : int or None, default=None
            The group, for a membership.
        annotator : str, default="me"
            Who will answer.

        Returns
        -------
        Question
            The question, also where it was there already.

        Raises
        ------
        SessionError
            If the session takes no such questions.
        ParameterError
            If there is no such item or group.

        Examples
        --------
        >>> session = open("pets.db")
        >>> question = session.add_question("group", (3,))
        >>> session.tell(question.id, "dogs").value
        (0.0, 1.0)
        """
        compares = self.config.ask in SIMILARITIES
        taken = [name for name, asked in KINDS.items() if asked.width == 1 or compares]
        if kind not in taken:
            raise SessionError(
                "Session.add_question needs a question that a session "
                f"with ask={self.config.ask!r} takes: {', '.join(taken)}. Got {kind!r:.40}.",
                user_message="Items cannot be put into groups by hand in this session: it asks "
                "its own questions only. Answer those.",
            )
        rows, width = ordered(kind, map(int, items)), KINDS[kind].width
        known = all(0 <= row < len(self.rows) for row in rows)
        if len(set(rows)) != width or len(rows) != width or not known:
            raise ParameterError(
                "The 'items' parameter of Session.add_question must be so many different rows "
                f"below {len(self.rows)}: {width}. Got {items!r:.60} instead."
            )
        groups = self._runtime.groups.living if kind == "membership" else [None]
        if cluster not in groups:
            raise ParameterError(
                "The 'cluster' parameter of Session.add_question must be a group's number for a "
                f"membership, else None. Got {cluster!r:.40} instead."
            )
        return self._assignment.hand_over(Asked(kind, rows, cluster), annotator)

    def changes(self) -> list[Change]:
        """What was done to groups and options, in order.

        Returns
        -------
        list of Change
            One each; `take_back` takes its event.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> receipt = session.rename(0, "tiny")
        >>> [change.text for change in session.changes()]
        ['renamed small to tiny']
        """
        with self._runtime.up_to_date() as state:
            return [
                Change(
                    event=event.id, kind=str(event.kind), text=self._told(event),
                    annotator=event.annotator, at=event.at, undone=event.id in state.undone,
                )
                for event in state.changes
            ]  # fmt: skip

    def take_back(self, event: int, *, annotator: str = ME) -> Receipt:
        """Put back what a change of groups or options changed.

        With a group that was split off, the answers that were changed for it are put back, too.

        Parameters
        ----------
        event : int
            The change's `event`.
        annotator : str, default="me"
            Who takes it back.

        Returns
        -------
        Receipt
            What was kept.

        Raises
        ------
        SessionError
            If there is no such change, or the same was changed again since.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> receipt = session.rename(0, "tiny")
        >>> back = session.take_back(receipt.event)
        >>> session.cluster_names
        ['small', 'large']
        """
        annotator = check_annotator(annotator, person=True)
        with self._runtime.up_to_date() as state:
            found = next((each for each in state.changes if each.id == event), None)
            later = [each for each in state.changes if found and each.id > event]
            if found is None or any(_same(found, each) for each in later):
                raise SessionError(
                    "There must be a change of groups or options that nothing changed again. "
                    f"Got event {event}.",
                    user_message="This change was taken back before, or the same was changed again "
                    "since. The newest change is the one to take back.",
                )
            before = self._before(found)
        if found.kind in REGROUPINGS:
            receipt = self._assignment.undo(None, annotator, None, event).receipt
            self._put_back()
            return receipt
        if found.kind is EventKind.PIN:
            return self.pin(found.aim, found.whole, on=found.text == "off", annotator=annotator)
        text = json.dumps(before) if found.kind is EventKind.OPTION else before
        return self._log(found.kind, annotator, target=found.target, value=found.value, text=text)

    def _before(self, event: Event) -> Any:
        """What was before: a name, a description, or an option's value."""
        earlier = [each for each in self._runtime.state.changes if each.id < event.id]
        same = [each for each in earlier if _same(event, each)]
        if event.kind is EventKind.OPTION:
            (name,) = json.loads(event.text or "{}")
            return json.loads(same[-1].text or "{}") if same else {name: self._first_option(name)}
        if same:
            return same[-1].text
        if event.kind is EventKind.DESCRIBE:
            return ""
        given = [each.text for each in earlier if _names(each, event.target)]
        return given[-1] if given else self._results.first_name(event.target or 0)

    def _first_option(self, name: str) -> Any:
        """An option's value before anybody decided it."""
        return self.config.target if name == GOOD_ENOUGH else OPTIONS[name]()

    def _told(self, event: Event) -> str:
        """A change in a few words."""
        names = self._results.group_names()
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
            item = self.rows.item(event.whole).label
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
        >>> [(event.kind, event.annotator, event.undone) for event in session.audit()]
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

    def pseudonymize(self, name: str, pseudonym: str | None = None, *, annotator: str = ME) -> str:
        """Replace a person's name by a pseudonym, in all that is stored of this session.

        The log and every export have the pseudonym from then on, answers stay as they are, and the
        log says that a name was replaced, by whom and when; not which. Backups and exports made
        before still have the name.

        Parameters
        ----------
        name : str
            The person's name, as an annotator.
        pseudonym : str or None, default=None
            What takes its place, a name that nobody has; None for "person 1" and so on.
        annotator : str, default="me"
            Who replaces it.

        Returns
        -------
        str
            The pseudonym.

        Raises
        ------
        SessionError
            If nothing is by anybody of this name.
        ParameterError
            If somebody has the pseudonym already.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> receipt = session.tell(session.ask()[0].id, 0.5, annotator="Ada")
        >>> session.pseudonymize("Ada")
        'person 1'
        >>> [(event.kind, event.annotator) for event in session.audit()]
        [('answer', 'person 1'), ('pseudonym', 'me')]
        """
        who = check_annotator(annotator)
        if pseudonym is not None:
            pseudonym = check_annotator(pseudonym, person=True)
        name, runtime = check_annotator(name, person=True), self._runtime

        def replaced(transaction: Transaction) -> list[NewEvent]:
            taken = {event.annotator for event in transaction.events(0)}
            taken |= {lease.annotator for lease in transaction.leases()[1]}
            invites = runtime.store.invites(runtime.record.id)[1]
            taken |= {name for each in invites for name in (each.name, each.made_by)}
            new = _pseudonym(name, pseudonym, taken)
            transaction.replace_annotator(name, new)
            by = new if who == name else who  # that it was done is told, not the name
            return [NewEvent(kind=EventKind.PSEUDONYM, text=new, annotator=by)]

        return self._assignment.append(replaced).text or ""


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


def _pseudonym(name: str, wanted: str | None, taken: Set[str]) -> str:
    """A name for somebody that nobody has."""
    if name not in taken:
        raise SessionError(
            f"There must be something by or for {name!r} in this session to give it another name. "
            "Got nothing; `askmeans audit DB` lists who did what."
        )
    if wanted is None:
        return next(p for n in itertools.count(1) if (p := f"person {n}") not in taken)
    if check_annotator(wanted, person=True) in taken:
        raise ParameterError(
            "The 'pseudonym' parameter must be a name that nobody has in this session. Got "
            f"{wanted!r}, which somebody has; choose another, or leave it out."
        )
    return wanted
