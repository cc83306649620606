"""Who may come in: one link for each person, which can be ended; of tokens only digests are kept.

Rules of this file:
- A token is 256 random bits, so its plain SHA-256 is safe to keep and quick to look up.
- Whoever comes in with a token is the person it was made for, in the role it was made for, in the
  session it was made for.
- An invitation is never removed: the list says who could come in, until when, and who did.
- Inviting and revoking are events, with the number of the invitation: names stand in the list only,
  where a pseudonym can replace them.
- Within `acting_as` the invitation is checked inside every write transaction, where revoking waits
  for its turn: nothing is in the log that came after its author's invitation ended.
"""

import hashlib
import re
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal, cast

from askmeans._util.checks import check_number
from askmeans.exceptions import InvitationError, ParameterError, SessionError, StoreError
from askmeans.queries import ME
from askmeans.sessions.log import EventKind, NewEvent, check_annotator
from askmeans.sessions.panel import PanelAnswers
from askmeans.sessions.store.contract import InviteRecord, Transaction

__all__ = ["ROLES", "Invitations", "Invite", "Person", "Role"]

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
    """Who somebody is by their token.

    Parameters
    ----------
    name : str
        Under which their answers are kept.
    role : {"owner", "annotator"}
        What they may do.
    invite : int
        The number of their invitation.

    Examples
    --------
    >>> session = open("fruit.db")
    >>> session.person_of(session.invite("Ada"))
    Person(name='Ada', role='annotator', invite=1)
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

    Examples
    --------
    >>> session = open("fruit.db")
    >>> token = session.invite("Ada", days=0)
    >>> session.invites()[0].state
    'expired'
    """

    number: int
    name: str
    role: Role
    made_by: str
    at: float
    until: float
    used: float | None
    state: Literal["valid", "expired", "revoked"]


class Invitations(PanelAnswers):
    """The part of `Session` that is about who may come in."""

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
            The token, for the page's address: http://127.0.0.1:8420/?token=TOKEN. It is told here
            only; the database keeps its digest.

        Raises
        ------
        ParameterError
            If the name, the role or the days are not as said above.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> token = session.invite("Ada")
        >>> session.person_of(token).name, session.person_of(token).role
        ('Ada', 'annotator')
        """
        who = check_annotator(annotator)
        person = check_annotator(name, person=True)
        if len(person) > LONGEST_NAME:
            raise ParameterError(
                "The 'name' parameter of Session.invite must have at most "
                f"{LONGEST_NAME} letters. Got {len(person)}.",
                user_message=f"A person's name has at most {LONGEST_NAME} letters. Shorten it.",
            )
        if role not in ROLES:
            raise ParameterError(
                "The 'role' parameter of Session.invite must be 'owner' or 'annotator'. "
                f"Got {role!r:.40} instead.",
                user_message="People are invited as annotators or as owners. Choose one of these.",
            )
        check_number(days, "days", "Session.invite")
        if days > _MOST_DAYS:
            raise ParameterError(
                f"The 'days' parameter of Session.invite must be at most {_MOST_DAYS}. Got {days}.",
                user_message=f"A link lasts {_MOST_DAYS:,} days at most. Choose fewer.",
            )
        token = secrets.token_urlsafe(32)

        def invited(transaction: Transaction) -> list[NewEvent]:
            now = transaction.now()
            number = transaction.invite(
                InviteRecord(
                    id=0, digest=_digest(token), name=person, role=role, made_by=who, at=now,
                    until=now + _DAY * float(days), used=None, revoked=None,
                )
            )  # fmt: skip
            return [NewEvent(kind=EventKind.INVITE, annotator=who, target=number, text=role)]

        self._assignment.append(invited)
        return token

    def invites(self) -> list[Invite]:
        """All invitations there ever were.

        Returns
        -------
        list of Invite
            In the order they were made.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> token = session.invite("Ada", role="owner")
        >>> [(invite.number, invite.name, invite.state) for invite in session.invites()]
        [(1, 'Ada', 'valid')]
        """
        now, records = self._runtime.store.invites(self._runtime.record.id)
        return [_told(record, now) for record in records]

    def revoke(self, who: int | str, *, annotator: str = ME) -> list[Invite]:
        """End invitations now: whoever came in with one is out with their next request.

        Parameters
        ----------
        who : int or str
            The number of an invitation, or the name of a person, whose invitations all end.
        annotator : str, default="me"
            Who ends them.

        Returns
        -------
        list of Invite
            Those that let somebody in before, and no longer do.

        Raises
        ------
        SessionError
            If nobody can come in with such an invitation.

        Examples
        --------
        >>> session = open("fruit.db")
        >>> token = session.invite("Ada")
        >>> [invite.state for invite in session.revoke("Ada")]
        ['revoked']
        >>> session.person_of(token) is None
        True
        """
        by = check_annotator(annotator)
        meant: list[int] = []

        def revoked(transaction: Transaction) -> list[NewEvent]:
            # Read here: somebody about to be revoked may be inviting themselves once more.
            every = [_told(record, transaction.now()) for record in transaction.invites()]
            valid = [invite for invite in every if invite.state == "valid"]
            meant[:] = [invite.number for invite in valid if who in (invite.number, invite.name)]
            if isinstance(who, bool) or not meant:
                there = ", ".join(f"{i.number} ({i.name})" for i in valid) or "none"
                raise SessionError(
                    "The 'who' parameter of Session.revoke must be the number of a valid "
                    f"invitation, or a name. Got {who!r:.80}; there are: {there}.",
                    user_message="This link has ended already, so nobody comes in by it. The list "
                    "below has those that are valid.",
                )
            for number in meant:
                transaction.revoke(number)
            return [NewEvent(kind=EventKind.REVOKE, annotator=by, target=n) for n in meant]

        self._assignment.append(revoked)
        return [invite for invite in self.invites() if invite.number in meant]

    def person_of(self, token: str) -> Person | None:
        """Who comes in with a token.

        Parameters
        ----------
        token : str
            As `invite` told it.

        Returns
        -------
        Person or None
            None where the token is wrong, revoked, expired, or of another session.

        Examples
        --------
        >>> open("fruit.db").person_of("guessed") is None
        True
        """
        if not _TOKEN.fullmatch(token):
            return None
        store, session = self._runtime.store, self._runtime.record.id
        now, found = store.invites(session, _digest(token))
        if not found or _told(found[0], now).state != "valid":
            return None
        invite = found[0]
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
        outside of this, as the command line does it, needs none: whoever can write to the database
        may do everything.

        Parameters
        ----------
        person : Person
            As `person_of` returned it.

        Yields
        ------
        None
            While it holds. Moves raise InvitationError once the invitation was revoked, has expired
            or is for another name or role; nothing of them is kept.

        Examples
        --------
        >>> from askmeans.exceptions import InvitationError
        >>> session = open("fruit.db")
        >>> ada = session.person_of(session.invite("Ada"))
        >>> revoked = session.revoke("Ada")
        >>> with session.acting_as(ada):
        ...     try:
        ...         questions = session.ask(annotator=ada.name)
        ...     except InvitationError as error:
        ...         print(str(error).partition(":")[0])
        Your invitation has ended
        """

        def check(transaction: Transaction) -> None:
            for record in transaction.invites(person.invite):
                same = (record.name, record.role) == (person.name, person.role)
                if same and _told(record, transaction.now()).state == "valid":
                    return
            raise InvitationError(
                "Your invitation has ended: it was revoked, or its days are over. This was not "
                "saved; all that was confirmed before is kept. Ask an owner of the session for a "
                "new link."
            )

        with self._runtime.checking(check):
            yield


def _digest(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def _told(record: InviteRecord, now: float) -> Invite:
    """An invitation, for people."""
    ended: Literal["valid", "expired"] = "valid" if now < record.until else "expired"
    return Invite(
        number=record.id, name=record.name, role=cast(Role, record.role), made_by=record.made_by,
        at=record.at, until=record.until, used=record.used,
        state=ended if record.revoked is None else "revoked",
    )  # fmt: skip
