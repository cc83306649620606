"""Who did what, when and from where: nothing is deleted, and a name can become a pseudonym."""

import itertools
from collections.abc import Set
from dataclasses import dataclass

from askmeans.exceptions import ParameterError, SessionError
from askmeans.queries import ME
from askmeans.sessions.changes import Changes
from askmeans.sessions.log import EventKind, NewEvent, Value, check_annotator
from askmeans.sessions.store.contract import Transaction

__all__ = ["AuditRecord", "Auditing"]


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


class Auditing(Changes):
    """The part of `Session` that is about its log."""

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
