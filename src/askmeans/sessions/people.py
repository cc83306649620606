"""The people of a session: invitations, agreement, decisions, gold questions, pseudonyms.

Rules of this file:
- A token has 256 random bits, so its plain SHA-256 is safe to store and fast to look up.
- A token signs in one person with one role in one session.
- An invitation is never removed: the list shows who could sign in until when, and who did.
- Inviting and revoking are events with the number of the invitation. Names are in the list only,
  where a pseudonym can replace them.
- Within `acting_as` every write transaction checks the invitation, so the log has no event from
  after the end of its author's invitation.
"""

import hashlib
import itertools
import re
import secrets
import threading
from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from askmeans._util.checks import check_number
from askmeans._util.message import Message
from askmeans.exceptions import InvitationError, ParameterError, SessionError, StoreError
from askmeans.queries import ME, Answer
from askmeans.sessions import events
from askmeans.sessions.agreement import (
    Agreement,
    Disagreement,
    GoldScore,
    agreement_of,
    disagreements_of,
    gold_scores,
)
from askmeans.sessions.authors import check_annotator
from askmeans.sessions.group_names import GroupNames
from askmeans.sessions.imports import add_gold
from askmeans.sessions.moves import Moves
from askmeans.sessions.reports import ImportReport
from askmeans.sessions.runtime import Runtime
from askmeans.sessions.store.records import Invite, Role

if TYPE_CHECKING:
    from askmeans.sessions.store.sql import Transaction

ROLES: tuple[Role, ...] = ("owner", "annotator")
LONGEST_NAME = 80
_DAY = 24 * 3600.0
_MOST_DAYS = 3650
_USED = 60.0  # seconds in which a further use is not stored
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
_noting = threading.Lock()  # of several simultaneous requests one stores the use


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """The person that a token signs in.

    Parameters
    ----------
    name : str
        The annotator's name.
    role : {"owner", "annotator"}
        What they may do.
    invite : int
        The number of their invitation.
    """

    name: str
    role: Role
    invite: int


class People:
    """Invitations, agreement, decisions and gold questions; `Session.people`.

    Parameters
    ----------
    runtime, moves, names : internal
        The parts of the session that it works on.

    Examples
    --------
    >>> session = open("fruit.db")
    >>> token = session.people.invite("Ada")
    >>> session.people.person_of(token).name
    'Ada'
    """

    def __init__(self, runtime: Runtime, moves: Moves, names: GroupNames) -> None:
        self._runtime = runtime
        self._moves = moves
        self._names = names

    def invite(
        self, name: str, *, role: Role = "annotator", days: float = 30, annotator: str = ME
    ) -> str:
        """Invite a person to the session's page.

        Parameters
        ----------
        name : str
            The annotator's name.
        role : {"owner", "annotator"}, default="annotator"
            Annotators answer, and see results if an owner allows it; owners also name and merge
            groups, pause, export and invite.
        days : float, default=30
            Days until the invitation ends.
        annotator : str, default="me"
            Who invites the person.

        Returns
        -------
        str
            The token, for the page's address: http://127.0.0.1:8420/?token=TOKEN. The database
            has its digest only.
        """
        who = check_annotator(annotator)
        person = check_annotator(name, person=True)
        if len(person) > LONGEST_NAME:
            raise ParameterError(
                "The 'name' parameter of People.invite must have at most "
                f"{LONGEST_NAME} letters. Got {len(person)}.",
                user_message=Message(
                    "A person's name has at most {most} letters. Shorten it.", most=LONGEST_NAME
                ),
            )
        if role not in ROLES:
            raise ParameterError(
                "The 'role' parameter of People.invite must be 'owner' or 'annotator'. "
                f"Got {role!r:.40} instead.",
                user_message=Message(
                    "People are invited as annotators or as owners. Choose one of these."
                ),
            )
        check_number(days, "days", "People.invite")
        if days > _MOST_DAYS:
            raise ParameterError(
                f"The 'days' parameter of People.invite must be at most {_MOST_DAYS}. Got {days}.",
                user_message=Message(
                    "A link lasts {most} days at most. Choose fewer.", most=_MOST_DAYS
                ),
            )
        token = secrets.token_urlsafe(32)

        def invited(transaction: "Transaction") -> list[events.Event]:
            until = transaction.now() + _DAY * float(days)
            number = transaction.invite(
                _digest(token), name=person, role=role, made_by=who, until=until
            )
            return [events.Invite(annotator=who, invite=number, role=role)]

        self._moves.append(invited)
        return token

    def invites(self) -> list[Invite]:
        """All invitations, ended ones included.

        Returns
        -------
        list of Invite
            In the order of their numbers.
        """
        return self._runtime.store.invites(self._runtime.record.id)[1]

    def revoke(self, who: int | str, *, annotator: str = ME) -> list[Invite]:
        """End invitations now: further requests with their tokens are refused.

        Parameters
        ----------
        who : int or str
            The number of an invitation, or the name of a person, for all of theirs.
        annotator : str, default="me"
            Who revokes them.

        Returns
        -------
        list of Invite
            The revoked invitations.
        """
        by = check_annotator(annotator)
        meant: list[int] = []

        def revoked(transaction: "Transaction") -> list[events.Event]:
            # Inside the transaction, since the person may be inviting themselves again.
            valid = [invite for invite in transaction.invites() if invite.state == "valid"]
            meant[:] = [invite.number for invite in valid if who in (invite.number, invite.name)]
            if isinstance(who, bool) or not meant:
                there = ", ".join(f"{i.number} ({i.name})" for i in valid) or "none"
                raise SessionError(
                    "The 'who' parameter of People.revoke must be the number of a valid "
                    f"invitation, or a name. Got {who!r:.80}; there are: {there}.",
                    user_message=Message(
                        "This link has ended already, so nobody comes in by it. The list "
                        "below has those that are valid."
                    ),
                )
            for number in meant:
                transaction.revoke(number)
            return [events.Revoke(annotator=by, invite=number) for number in meant]

        self._moves.append(revoked)
        return [invite for invite in self.invites() if invite.number in meant]

    def person_of(self, token: str) -> Person | None:
        """The person of a token.

        Parameters
        ----------
        token : str
            As `invite` returned it.

        Returns
        -------
        Person or None
            None if the token is wrong, revoked, expired, or of another session.
        """
        if not _TOKEN.fullmatch(token):
            return None
        store, session = self._runtime.store, self._runtime.record.id
        now, invites = store.invites(session, _digest(token))
        if not invites or invites[0].state != "valid":
            return None
        invite = invites[0]
        if (invite.used is None or now - invite.used > _USED) and _noting.acquire(blocking=False):
            try:
                with suppress(StoreError), store.write(session, durable=False) as transaction:
                    transaction.note_use(invite.number)
            finally:
                _noting.release()
        return Person(name=invite.name, role=invite.role, invite=invite.number)

    @contextmanager
    def acting_as(self, person: Person) -> Iterator[None]:
        """Require the person's invitation for every write within this block, thread or task.

        It is checked inside the write transaction. Outside of such a block, as on the command line,
        no invitation is needed: write access to the database allows everything.

        Parameters
        ----------
        person : Person
            As `person_of` returned it.

        Yields
        ------
        None
            During the block. A write raises InvitationError, and stores nothing, once the
            invitation was revoked, has expired, or is for another name or role.
        """

        def check(transaction: "Transaction") -> None:
            for invite in transaction.invites(person.invite):
                same = (invite.name, invite.role) == (person.name, person.role)
                if same and invite.state == "valid":
                    return
            raise InvitationError(
                "Your invitation has ended: it was revoked, or its days are over. This was not "
                "saved; all that was confirmed before is kept. Ask an owner of the session for a "
                "new link.",
                user_message=Message(
                    "Your invitation has ended: it was revoked, or its days are over. This was not "
                    "saved; all that was confirmed before is kept. Ask an owner of the session for "
                    "a new link."
                ),
            )

        with self._runtime.checking(check):
            yield

    def agreement(self) -> Agreement:
        """Agreement of all annotators, by annotator, by group and by pair.

        Valid answers are compared, imported ones included; "cannot say" is ignored.

        Returns
        -------
        Agreement
            Krippendorff's alpha and the differences of pairs.
        """
        return agreement_of(self._runtime, self._names.by_number())

    def disagreements(self, n: int = 10) -> list[Disagreement]:
        """Questions with different answers, the largest difference first.

        Parameters
        ----------
        n : int, default=10
            Maximum number.

        Returns
        -------
        list of Disagreement
            Decided ones come last.
        """
        check_number(n, "n", "People.disagreements", integer=True, minimum=1)
        return disagreements_of(self._runtime, int(n))

    def adjudicate(self, question_id: int, value: Any, *, annotator: str = ME) -> events.Event:
        """Decide a question: the decision replaces the annotators' answers in the result.

        The answers stay in the log and in `agreement`, and count again after the decision is taken
        back. Undoing them does not change the decision.

        Parameters
        ----------
        question_id : int
            The question's number.
        value : as in `tell`, or None
            The answer that counts; None takes a decision back.
        annotator : str, default="me"
            Who decides.

        Returns
        -------
        Event
            The stored event.
        """
        who = check_annotator(annotator, person=True)
        answer = None
        if value is not None:
            answer = self._moves.checked_value(question_id, value)

        def decided() -> events.Event:
            state = self._runtime.state
            if answer is None:
                missing = state.decision(question_id) is None
            else:
                missing = not state.count(question_id)
            if missing:
                wanted = "an answer to decide" if answer is not None else "a decision to take back"
                raise SessionError(
                    f"There must be {wanted} at question {question_id}. Got none; "
                    "`People.disagreements` lists questions that people answered differently.",
                    user_message=Message(
                        "The answers to this question were taken back meanwhile, so there "
                        "is nothing to decide. The results list what people disagree about now."
                    )
                    if answer is not None
                    else Message(
                        "This decision was taken back before. The results show what stands."
                    ),
                )
            return events.Adjudicate(annotator=who, question=question_id, value=answer)

        return self._moves.log(decided)

    def add_gold(self, answers: Iterable[Answer]) -> ImportReport:
        """Mix questions with known answers into those of all annotators, unmarked.

        One in ten questions is one of them, at a random place, until an annotator has answered all.
        They cost no budget. The known answers count in the result, and the annotators' answers show
        how reliable each annotator is (`gold_report`). With the option "gold_feedback" the receipt
        of an answer has the known one.

        Parameters
        ----------
        answers : iterable of askmeans.queries.Answer
            Answers to the session's kind of question, not "cannot say".

        Returns
        -------
        ImportReport
            The numbers of new, existing and conflicting answers; existing ones do not change.

        Examples
        --------
        >>> from askmeans.queries import Answer
        >>> session = open("pets.db")
        >>> session.people.add_gold([Answer(round=0, kind="group", items=(3,), cluster=None,
        ...                                 repeat=0, value=(0.0, 1.0))]).new
        1
        """
        return add_gold(self._runtime, answers)

    def gold_report(self) -> dict[str, GoldScore]:
        """Scores of the annotators on gold questions.

        Returns
        -------
        dict of str to GoldScore
            By annotator; "cannot say" is not counted.
        """
        return gold_scores(self._runtime)

    def pseudonymize(self, name: str, pseudonym: str | None = None, *, annotator: str = ME) -> str:
        """Replace a person's name by a pseudonym in everything that is stored of this session.

        The log and later exports have the pseudonym; answers do not change. The log shows that a
        name was replaced, by whom and when, but not which. Earlier backups and exports still have
        the name.

        Parameters
        ----------
        name : str
            The person's name, as an annotator.
        pseudonym : str or None, default=None
            An unused name; None for "person 1" and so on.
        annotator : str, default="me"
            Who replaces the name.

        Returns
        -------
        str
            The pseudonym.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> receipt = session.tell(session.ask()[0].id, 0.5, annotator="Ada")
        >>> session.people.pseudonymize("Ada")
        'person 1'
        >>> [(event.kind, event.annotator) for event in session.history.audit()]
        [('answer', 'person 1'), ('pseudonym', 'me')]
        """
        who = check_annotator(annotator)
        if pseudonym is not None:
            pseudonym = check_annotator(pseudonym, person=True)
        name, runtime = check_annotator(name, person=True), self._runtime

        def replaced(transaction: "Transaction") -> list[events.Event]:
            taken = {event.annotator for event in transaction.events(0)}
            taken |= {lease.annotator for lease in transaction.leases()[1]}
            invites = runtime.store.invites(runtime.record.id)[1]
            taken |= {name for each in invites for name in (each.name, each.made_by)}
            new = _pseudonym(name, pseudonym, taken)
            transaction.replace_annotator(name, new)
            by = new if who == name else who  # the event must not have the old name
            return [events.Pseudonym(annotator=by, pseudonym=new)]

        event = self._moves.append(replaced)
        assert isinstance(event, events.Pseudonym)
        return event.pseudonym


def _pseudonym(name: str, wanted: str | None, taken: Set[str]) -> str:
    """An unused name for a person."""
    if name not in taken:
        raise SessionError(
            f"There must be something by or for {name!r} in this session to give it another name. "
            "Got nothing; `askmeans audit DB` lists who did what."
        )
    if wanted is None:
        return next(p for n in itertools.count(1) if (p := f"person {n}") not in taken)
    if check_annotator(wanted, person=True) in taken:
        raise ParameterError(
            "The 'pseudonym' parameter must be an unused name in this session. Got "
            f"{wanted!r}, which is in use; choose another, or leave it out."
        )
    return wanted


def _digest(token: str) -> str:
    """The digest of a token."""
    return hashlib.sha256(token.encode()).hexdigest()
