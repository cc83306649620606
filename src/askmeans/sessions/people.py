"""Who takes part: links that let people in, how far they agree, who decides, and their names.

Rules of this file:
- A token is 256 random bits, so its plain SHA-256 is safe to keep and quick to look up.
- A token signs in the person, role and session that it was made for.
- An invitation is never removed: the list says who could come in, until when, and who did.
- Inviting and revoking are events, with the number of the invitation: names stand in the list only,
  where a pseudonym can replace them.
- Within `acting_as` the invitation is checked inside every write transaction, where revoking waits
  for its turn: nothing is in the log that came after its author's invitation ended.
"""

import hashlib
import itertools
import re
import secrets
import threading
from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from askmeans._util.checks import check_number
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
from askmeans.sessions.imports import add_gold
from askmeans.sessions.log import check_annotator
from askmeans.sessions.moves import Moves
from askmeans.sessions.reports import ImportReport
from askmeans.sessions.results import Results
from askmeans.sessions.runtime import Runtime
from askmeans.sessions.store.records import InviteRecord

if TYPE_CHECKING:
    from askmeans.sessions.store.sql import Transaction

Role = Literal["owner", "annotator"]
ROLES: tuple[Role, ...] = ("owner", "annotator")
LONGEST_NAME = 80
_DAY = 24 * 3600.0
_MOST_DAYS = 3650
_USED = 60.0  # seconds within which a use is not noted again
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
_noting = threading.Lock()  # several requests of a person come at once: one notes it


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """The person that a token signs in.

    Parameters
    ----------
    name : str
        Under which their answers are kept.
    role : {"owner", "annotator"}
        What they may do.
    invite : int
        The number of their invitation.
    """

    name: str
    role: Role
    invite: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Invite:
    """An invitation; times are seconds since 1970 by the database's clock.

    Parameters
    ----------
    number : int
        By which it is revoked.
    name : str
        Whom it is for.
    role : {"owner", "annotator"}
        What they may do.
    made_by : str
        Who made it.
    at : float
        When it was made.
    until : float
        When it ends.
    used : float or None
        When it was last used, to the minute; None if never.
    state : {"valid", "expired", "revoked"}
        Whether it lets anybody in.
    """

    number: int
    name: str
    role: Role
    made_by: str
    at: float
    until: float
    used: float | None
    state: Literal["valid", "expired", "revoked"]


class People:
    """Who takes part: invitations, agreement, decisions, gold questions; `Session.people`.

    Parameters
    ----------
    runtime, moves, results : internal
        The parts of the session that it works on.

    Examples
    --------
    >>> session = open("fruit.db")
    >>> token = session.people.invite("Ada")
    >>> session.people.person_of(token).name
    'Ada'
    """

    def __init__(self, runtime: Runtime, moves: Moves, results: Results) -> None:
        self._runtime = runtime
        self._moves = moves
        self._results = results

    def invite(
        self, name: str, *, role: Role = "annotator", days: float = 30, annotator: str = ME
    ) -> str:
        """Invite a person to the session's page.

        Parameters
        ----------
        name : str
            Under which the person's answers are kept.
        role : {"owner", "annotator"}, default="annotator"
            Annotators answer and see what the owner allows; owners also name and merge groups,
            pause, export and invite.
        days : float, default=30
            How long the invitation lets them in.
        annotator : str, default="me"
            Who invites.

        Returns
        -------
        str
            The token, for the page's address: http://127.0.0.1:8420/?token=TOKEN. The database
            keeps its digest only.
        """
        who = check_annotator(annotator)
        person = check_annotator(name, person=True)
        if len(person) > LONGEST_NAME:
            raise ParameterError(
                "The 'name' parameter of People.invite must have at most "
                f"{LONGEST_NAME} letters. Got {len(person)}.",
                user_message=f"A person's name has at most {LONGEST_NAME} letters. Shorten it.",
            )
        if role not in ROLES:
            raise ParameterError(
                "The 'role' parameter of People.invite must be 'owner' or 'annotator'. "
                f"Got {role!r:.40} instead.",
                user_message="People are invited as annotators or as owners. Choose one of these.",
            )
        check_number(days, "days", "People.invite")
        if days > _MOST_DAYS:
            raise ParameterError(
                f"The 'days' parameter of People.invite must be at most {_MOST_DAYS}. Got {days}.",
                user_message=f"A link lasts {_MOST_DAYS:,} days at most. Choose fewer.",
            )
        token = secrets.token_urlsafe(32)

        def invited(transaction: "Transaction") -> list[events.Event]:
            now = transaction.now()
            number = transaction.invite(
                InviteRecord(
                    id=0, digest=_digest(token), name=person, role=role, made_by=who, at=now,
                    until=now + _DAY * float(days), used=None, revoked=None,
                )
            )  # fmt: skip
            return [events.Invite(annotator=who, invite=number, role=role)]

        self._moves.append(invited)
        return token

    def invites(self) -> list[Invite]:
        """All invitations there ever were.

        Returns
        -------
        list of Invite
            In the order they were made.
        """
        now, records = self._runtime.store.invites(self._runtime.record.id)
        return [_as_invite(record, now) for record in records]

    def revoke(self, who: int | str, *, annotator: str = ME) -> list[Invite]:
        """End invitations now: the next request of a person who came in with one is refused.

        Parameters
        ----------
        who : int or str
            The number of an invitation, or the name of a person, whose invitations all end.
        annotator : str, default="me"
            Who ends them.

        Returns
        -------
        list of Invite
            Those that were valid before.
        """
        by = check_annotator(annotator)
        meant: list[int] = []

        def revoked(transaction: "Transaction") -> list[events.Event]:
            # Read here: a person about to be revoked may be inviting themselves once more.
            every = [_as_invite(record, transaction.now()) for record in transaction.invites()]
            valid = [invite for invite in every if invite.state == "valid"]
            meant[:] = [invite.number for invite in valid if who in (invite.number, invite.name)]
            if isinstance(who, bool) or not meant:
                there = ", ".join(f"{i.number} ({i.name})" for i in valid) or "none"
                raise SessionError(
                    "The 'who' parameter of People.revoke must be the number of a valid "
                    f"invitation, or a name. Got {who!r:.80}; there are: {there}.",
                    user_message="This link has ended already, so nobody comes in by it. The list "
                    "below has those that are valid.",
                )
            for number in meant:
                transaction.revoke(number)
            return [events.Revoke(annotator=by, invite=number) for number in meant]

        self._moves.append(revoked)
        return [invite for invite in self.invites() if invite.number in meant]

    def person_of(self, token: str) -> Person | None:
        """Who comes in with a token.

        Parameters
        ----------
        token : str
            As `invite` returned it.

        Returns
        -------
        Person or None
            None where the token is wrong, revoked, expired, or of another session.
        """
        if not _TOKEN.fullmatch(token):
            return None
        store, session = self._runtime.store, self._runtime.record.id
        now, records = store.invites(session, _digest(token))
        if not records or _as_invite(records[0], now).state != "valid":
            return None
        invite = records[0]
        if (invite.used is None or now - invite.used > _USED) and _noting.acquire(blocking=False):
            try:
                with suppress(StoreError), store.write(session, durable=False) as transaction:
                    transaction.note_use(invite.id)
            finally:
                _noting.release()
        return Person(name=invite.name, role=cast(Role, invite.role), invite=invite.id)

    @contextmanager
    def acting_as(self, person: Person) -> Iterator[None]:
        """Within this, in this thread or task, every move needs the person's invitation to hold.

        It is checked where the move is written, so a revocation cannot be outrun. What is done
        outside of this, as the command line does it, needs none: write access to the database
        allows everything.

        Parameters
        ----------
        person : Person
            As `person_of` returned it.

        Yields
        ------
        None
            While it holds. Moves raise InvitationError once the invitation was revoked, has expired
            or is for another name or role; nothing of them is kept.
        """

        def check(transaction: "Transaction") -> None:
            for record in transaction.invites(person.invite):
                same = (record.name, record.role) == (person.name, person.role)
                if same and _as_invite(record, transaction.now()).state == "valid":
                    return
            raise InvitationError(
                "Your invitation has ended: it was revoked, or its days are over. This was not "
                "saved; all that was confirmed before is kept. Ask an owner of the session for a "
                "new link."
            )

        with self._runtime.checking(check):
            yield

    def agreement(self) -> Agreement:
        """How far people agree: all, each of them, about each group, and who differs from whom.

        Answers that stand are compared, imported ones included; "cannot say" is no opinion.

        Returns
        -------
        Agreement
            Krippendorff's alpha and the differences of pairs.
        """
        return agreement_of(self._runtime, self._results.names())

    def disagreements(self, n: int = 10) -> list[Disagreement]:
        """Questions that people answered differently, those of the largest difference first.

        Parameters
        ----------
        n : int, default=10
            How many at most.

        Returns
        -------
        list of Disagreement
            Those decided already come last.
        """
        check_number(n, "n", "People.disagreements", integer=True, minimum=1)
        return disagreements_of(self._runtime, int(n))

    def adjudicate(self, question_id: int, value: Any, *, annotator: str = ME) -> events.Event:
        """Decide a question that people answered: the decision takes the place of their answers.

        Their answers stay in the log and in `agreement`, and count again when it is taken back.
        Until then it stands, also where people undo theirs.

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
            answer = self._moves.checked_value(question_id, value, self._results.names)

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
                    user_message="The answers to this question were taken back meanwhile, so there "
                    "is nothing to decide. The results list what people disagree about now."
                    if answer is not None
                    else "This decision was taken back before. The results show what stands.",
                )
            return events.Adjudicate(annotator=who, question=question_id, value=answer)

        return self._moves.log(decided)

    def add_gold(self, answers: Iterable[Answer]) -> ImportReport:
        """Mix questions whose answers are known with the others, unmarked.

        One in ten questions of everybody is one of them, at a random place, until they have
        answered all. They cost no budget; the known answers are evidence, and what people answer
        to them shows how far to rely on each (`gold_report`). With the option "gold_feedback" the
        receipt of an answer has the known one.

        Parameters
        ----------
        answers : iterable of askmeans.queries.Answer
            Of the kind that the session asks, and not "cannot say".

        Returns
        -------
        ImportReport
            How many were new, existed before, or conflict with those; these stay as they are.

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
        """How everybody answered the gold questions that they got.

        Returns
        -------
        dict of str to GoldScore
            By annotator; "cannot say" is not counted.
        """
        return gold_scores(self._runtime)

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
            What takes its place, an unused name; None for "person 1" and so on.
        annotator : str, default="me"
            Who replaces it.

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
            by = new if who == name else who  # the event says that it was done, not the name
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
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def _as_invite(record: InviteRecord, now: float) -> Invite:
    """An invitation, for people."""
    ended: Literal["valid", "expired"] = "valid" if now < record.until else "expired"
    return Invite(
        number=record.id, name=record.name, role=cast(Role, record.role), made_by=record.made_by,
        at=record.at, until=record.until, used=record.used,
        state=ended if record.revoked is None else "revoked",
    )  # fmt: skip
