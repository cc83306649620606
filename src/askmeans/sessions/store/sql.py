"""Sessions in a database: what a store promises, and its statements.

A store keeps sessions. It knows nothing of policies, budgets or who may answer what.

- **Append only.** Events, questions and data parts are added, never changed or removed.
  Leases are overwritten: they are about now, not about the past. And a person's name can be
  replaced by another in all events, leases and invitations (`replace_annotator`), as the law may
  ask for.
- **Durable.** When `write` is left without an exception, what was done in it survives the death of
  the process and of the machine. When it is left with one, nothing of it is there, or nobody was
  told of it: a file that is not at its place any more confirms nothing. Leases that
  are renewed may be written with `durable=False`: they survive the process, and need not survive
  the machine.
- **One writer.** Inside `write(session)` nobody else writes to that session; its events get
  numbers that only grow, in the order of the commits. So whoever has read events up to a number
  has read all that will ever be below it. Readers are not held up.
- **Short.** No caller computes inside `write`: questions are chosen before it.
- **One clock.** `now` is the database's time in seconds, for leases; no client's clock is asked.
- **Questions have numbers** from 1 in a session, in the order they were first issued. The same
  question (kind, items, cluster, repeat) keeps its number for ever, whoever issues it again.
- **Invitations** are kept by the digest of their token, never by the token; they are ended, not
  removed, and say when they were last used.
- **Plain at rest.** Numbers, text, JSON and raw little-endian arrays; nothing is pickled.
- **Errors.** Whatever the database says becomes one of the StoreError tree, with a remedy; the
  next call works again when the cause is gone. A connection that was lost is a StoreLostError; what
  is read is then read again for `retry_timeout` seconds. Whoever writes tries again, too
  (`retried`): the commit may have been done, and keys tell.
"""

import itertools
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import (
    Connection,
    String,
    bindparam,
    cast,
    delete,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from askmeans import __version__
from askmeans.exceptions import NoSessionError, SessionExistsError, StoreVersionError
from askmeans.queries import Question
from askmeans.sessions.events import KINDS, Event, from_row, to_row
from askmeans.sessions.store import models
from askmeans.sessions.store.backend import Backend
from askmeans.sessions.store.records import (
    DataPart,
    InviteRecord,
    Lease,
    SessionRecord,
    as_written,
    check,
    check_question,
    is_number,
)
from askmeans.sessions.store.retrying import busy_seconds, retried

T = TypeVar("T")
E = TypeVar("E", bound=Event)

_LISTED = 500  # items that a statement lists; of more, all questions are read

# What every answer asks a database for: to make these statements anew costs more than to run them.
# A statement takes a round trip, so what is wanted together is read together.
_EVENTS, _QUESTIONS = (
    select(table)
    .where(table.c.session_id == bindparam("session"), number > bindparam("after"))
    .order_by(number)
    for table, number in (
        (models.events, models.events.c.id),
        (models.questions, models.questions.c.number),
    )
)
_NEW_QUESTIONS = insert(models.questions)
_RELEASE = delete(models.leases).where(
    models.leases.c.session_id == bindparam("session"),
    models.leases.c.question == bindparam("number"),
    models.leases.c.annotator == bindparam("person"),
)


class _Statements:
    """Those that are in the dialect of a database."""

    def __init__(self, backend: Backend) -> None:
        invites, leases = models.invites, models.leases
        self.invites = (
            select(invites, backend.now.scalar_subquery().label("now"))
            .where(invites.c.session_id == bindparam("session"))
            .order_by(invites.c.id)
        )
        self.invite = self.invites.where(invites.c.digest == bindparam("digest"))
        self.invitation = self.invites.where(invites.c.id == bindparam("id"))
        now = backend.now.subquery()  # one row: the time is told where there are no leases, too
        self.leases = select(*now.c, leases.c.question, leases.c.annotator, leases.c.until)
        self.leases = self.leases.select_from(
            now.outerjoin(leases, leases.c.session_id == bindparam("session"))
        )
        give = backend.insert(leases)
        self.lease = give.on_conflict_do_update(
            index_elements=["session_id", "question", "annotator"],
            set_={"until": give.excluded.until},
        )


class Store:
    """Sessions in a database."""

    def __init__(self, backend: Backend) -> None:
        self.url = backend.url
        self.retry_timeout = busy_seconds()
        self.backend = backend
        self._pid = os.getpid()
        self._statements = _Statements(backend)
        weakref.finalize(self, _let_go, backend, self._pid)  # at exit, where nobody closed it

    def names(self) -> list[str]:
        """Names of the sessions, in the order they were made."""
        names = select(models.sessions.c.name).order_by(models.sessions.c.id)
        return self._read(lambda connection: list(connection.execute(names).scalars()))

    def create(
        self,
        name: str,
        config: dict[str, Any],
        part: DataPart,
        chunks: Iterator[bytes],
        *,
        made_by: str,
    ) -> SessionRecord:
        """Keep a new session with its data; a name that is taken is refused."""
        with self._begun() as connection:
            values: dict[str, Any] = {
                "name": name,
                "config": config,
                "fingerprint": part.fingerprint,
                "made_by": made_by,
                "at": _now(connection, self.backend),
            }
            try:
                done = connection.execute(insert(models.sessions).values(values))
            except IntegrityError as error:
                raise SessionExistsError(
                    f"There must be no session {name!r} in {self.url} yet. Got one; choose another "
                    "name (--name), or go on with it (`askmeans answer`, askmeans.sessions.open)."
                ) from error
            (session,) = done.inserted_primary_key or (0,)
            self._within(connection, int(session)).add_part(part, chunks)
            return SessionRecord(id=int(session), **values)

    def load(self, name: str) -> SessionRecord:
        """The session of this name; refused where there is none."""
        named = select(models.sessions).where(models.sessions.c.name == name)
        found = self._read(lambda connection: connection.execute(named).first())
        if found is None:
            there = ", ".join(map(repr, self.names())) or "none"
            raise NoSessionError(
                f"There must be a session {name!r} in {self.url}. Got {there}; choose one of them, "
                "or make one with 'askmeans init'."
            )
        return SessionRecord(**found._mapping)

    def parts(self, session: int) -> list[DataPart]:
        """The session's rows, without their numbers."""
        table = models.parts
        query = select(table).where(table.c.session_id == session).order_by(table.c.part)
        return [
            DataPart(
                part=row.part,
                dtype=row.dtype,
                shape=(row.n_rows, row.n_features),
                fingerprint=row.fingerprint,
                path=row.path,
                display=row.display,
            )
            for row in self._read(lambda connection: connection.execute(query).all())
        ]

    def chunks(self, session: int, part: int) -> Iterator[bytes]:
        """The raw bytes of a part, in order."""
        table, parts = models.chunks, models.parts
        here = (parts.c.session_id == session) & (parts.c.part == part)
        query = select(table.c.bytes).join(parts, parts.c.id == table.c.part_id).where(here)
        for number in itertools.count():  # one at a time: they are large
            one = query.where(table.c.number == number)
            found = self._read(partial(Connection.scalar, statement=one))
            if found is None:
                return
            yield found

    def events(self, session: int, after: int = 0) -> list[Event]:
        """Events with a number above this, in order."""
        return self._read(lambda connection: self._within(connection, session).events(after))

    def questions(self, session: int, after: int = 0) -> list[tuple[int, Question]]:
        """Questions with a number above this, in order."""
        return self._read(lambda connection: self._within(connection, session).questions(after))

    def leases(self, session: int) -> tuple[float, list[Lease]]:
        """The database's time, and every lease."""
        return self._read(lambda connection: self._within(connection, session).leases())

    def invites(self, session: int, digest: str | None = None) -> tuple[float, list[InviteRecord]]:
        """The database's time, and every invitation in the order made, or that of a digest."""

        def both(connection: Connection) -> tuple[float, list[InviteRecord]]:
            query = self._statements.invites if digest is None else self._statements.invite
            rows = connection.execute(query, {"session": session, "digest": digest}).all()
            found = [_as_invite(row) for row in rows]
            return (rows[0].now if rows else _now(connection, self.backend)), found

        return self._read(both)

    @contextmanager
    def write(self, session: int, *, durable: bool = True) -> Iterator["Transaction"]:
        """A transaction; leaving it commits, an exception undoes all of it."""
        with self._begun(session, durable=durable) as connection:
            yield self._within(connection, session)

    def close(self) -> None:
        """Let go of the database."""
        self._after_fork()
        _let_go(self.backend, self._pid)

    def _within(self, connection: Connection, session: int) -> "Transaction":
        """Statements on one session."""
        return Transaction(connection, session, self.backend, self._statements)

    def _read(self, work: Callable[[Connection], T]) -> T:
        """What is read; again where the connection was lost."""

        def read() -> T:
            self._after_fork()
            with (
                as_written(self.url),
                self.backend.translated(),
                self.backend.reading.connect() as connection,
            ):
                return work(connection)

        return retried(read, self.retry_timeout)

    @contextmanager
    def _begun(self, session: int | None = None, *, durable: bool = True) -> Iterator[Connection]:
        """A connection that is the only writer; left well, what was written is in the database."""
        self._after_fork()
        with self.backend.writing(session, durable=durable) as connection:
            yield connection

    def _after_fork(self) -> None:
        """Leave a parent's connections to the parent: they cannot be shared."""
        if self._pid != os.getpid():
            self.backend.engine.dispose(close=False)
            self._pid = os.getpid()


class Transaction:
    """Statements on one session within one connection."""

    def __init__(
        self, connection: Connection, session: int, backend: Backend, statements: _Statements
    ) -> None:
        self.connection = connection
        self._session = session
        self.backend = backend
        self._statements = statements
        self._now: float | None = None
        self.appended: list[Event] = []

    def now(self) -> float:
        """The database's time, in seconds; the same for the whole transaction."""
        if self._now is None:
            self._now = _now(self.connection, self.backend)
        return self._now

    def events(self, after: int) -> list[Event]:
        """Events with a number above this, in order."""
        told = {"session": self._session, "after": after}
        with as_written(self.backend.url):
            return self._events(self.connection.execute(_EVENTS, told).all())

    @staticmethod
    def _events(rows: Sequence[Any]) -> list[Event]:
        """Events of rows of the table."""
        if unknown := {row.kind for row in rows} - KINDS.keys():
            raise StoreVersionError(
                f"The session's events must be of kinds that askmeans {__version__} knows. Got "
                f"{', '.join(map(repr, sorted(unknown)))}, of a newer version; run: pip install "
                "--upgrade askmeans"
            )
        return [from_row(row) for row in rows]

    def append(self, event: E) -> E:
        """Add an event at the end of the log; the event with its number and time."""
        at = self.now()
        done = self.connection.execute(
            insert(models.events).values(session_id=self._session, at=at, **to_row(event))
        )
        (identity,) = done.inserted_primary_key or (0,)
        stored = replace(event, id=int(identity), at=at)
        self.appended.append(stored)
        return stored

    def leases(self) -> tuple[float, list[Lease]]:
        """`now`, and every lease, ended ones included, of questions that are not let go."""
        rows = self.connection.execute(self._statements.leases, {"session": self._session}).all()
        if self._now is None:
            self._now = float(rows[0][0])
        with as_written(self.backend.url):
            for row in rows:
                check(row.question is None or is_number(row.until), f"who holds {row.question}")
        return self._now, [
            Lease(question=row.question, annotator=row.annotator, until=row.until)
            for row in rows
            if row.question is not None
        ]

    def lease(self, *leases: Lease) -> None:
        """Give or renew leases."""
        if leases:
            given = [{"session_id": self._session, **asdict(each)} for each in leases]
            self.connection.execute(self._statements.lease, given)

    def replace_annotator(self, name: str, pseudonym: str) -> int:
        """Put another name in the place of an annotator's; how many events that changed."""
        changed = 0
        self._rename_within_events(name, pseudonym)
        for table in (models.leases, models.events):
            here = (table.c.session_id == self._session) & (table.c.annotator == name)
            done = self.connection.execute(update(table).where(here).values(annotator=pseudonym))
            changed = done.rowcount
        table = models.invites
        for column in (table.c.name, table.c.made_by):
            here = (table.c.session_id == self._session) & (column == name)
            self.connection.execute(update(table).where(here).values({column: pseudonym}))
        return changed

    def _rename_within_events(self, name: str, pseudonym: str) -> None:
        """Replace a person's name where their own clients wrote it: as keys, and as clients."""
        table = models.events
        theirs = (table.c.session_id == self._session) & (table.c.annotator == name)
        for column, instead in (
            (table.c.key, literal("renamed-") + cast(table.c.id, String)),
            (table.c.client, func.replace(table.c.client, name, pseudonym)),
        ):
            named = theirs & column.contains(name, autoescape=True)
            self.connection.execute(update(table).where(named).values({column: instead}))

    def release(self, question: int, annotator: str) -> None:
        """Let a question go; harmless where it is not held."""
        told = {"session": self._session, "number": question, "person": annotator}
        self.connection.execute(_RELEASE, told)

    def invite(self, invite: InviteRecord) -> int:
        """Keep an invitation, under a number of the store's own; harmless where it is there."""
        names = [name for name in InviteRecord.__slots__ if name != "id"]
        values = {name: getattr(invite, name) for name in names}
        statement = self.backend.insert(models.invites).values(session_id=self._session, **values)
        self.connection.execute(
            statement.on_conflict_do_nothing(index_elements=["session_id", "digest"])
        )
        table = models.invites
        here = (table.c.session_id == self._session) & (table.c.digest == invite.digest)
        return int(self.connection.execute(select(table.c.id).where(here)).scalar_one())

    def revoke(self, invite: int) -> None:
        """End an invitation now; one that was ended stays as it is."""
        column = models.invites.c.revoked
        self._set_invite(invite, {"revoked": func.coalesce(column, self.now())})

    def note_use(self, invite: int) -> None:
        """An invitation is used now."""
        self._set_invite(invite, {"used": self.now()})

    def invites(self, invite: int | None = None) -> list[InviteRecord]:
        """Every invitation in the order made, or that of a number; as they are now."""
        statements = self._statements
        query = statements.invites if invite is None else statements.invitation
        told = {"session": self._session, "id": invite}
        rows = self.connection.execute(query, told).all()
        if rows and self._now is None:
            self._now = float(rows[0].now)
        return [_as_invite(row) for row in rows]

    def _set_invite(self, invite: int, values: dict[str, Any]) -> None:
        """Change an invitation of this session."""
        table = models.invites
        here = (table.c.session_id == self._session) & (table.c.id == invite)
        self.connection.execute(update(table).where(here).values(values))

    def questions(self, after: int) -> list[tuple[int, Question]]:
        """Questions with a number above this, in order."""
        rows = self.connection.execute(_QUESTIONS, {"session": self._session, "after": after})
        with as_written(self.backend.url):
            found = [(row.number, _as_question(row)) for row in rows]
            for number, question in found:
                check_question(number, question)
        return found

    def add_questions(
        self, questions: Sequence[Question], *, after: int | None = None
    ) -> list[int]:
        """The numbers of different questions, of new ones, too.

        `after` says that the caller has read the questions up to this number, and that they are
        all there are, and none of these.
        """
        numbers: dict[Question, int] = {}
        if after is None and questions:
            numbers, after = self._numbers(questions)
        new = [asked for asked in questions if asked not in numbers]
        if new:
            numbers |= {asked: count for count, asked in enumerate(new, start=(after or 0) + 1)}
            added = [_question_row(self._session, numbers[asked], asked) for asked in new]
            self.connection.execute(_NEW_QUESTIONS, added)
        return [numbers[asked] for asked in questions]

    def _numbers(self, questions: Sequence[Question]) -> tuple[dict[Question, int], int]:
        """Numbers of those that are there, and the last number."""
        table = models.questions
        here = table.c.session_id == self._session
        items = {asked.items[0] for asked in questions}
        found = select(table).where(here)
        if len(items) <= _LISTED:
            kinds = {asked.kind for asked in questions}
            found = found.where(table.c.kind.in_(kinds), table.c.item.in_(items))
        rows = self.connection.execute(found)
        numbers = {_as_question(row): row.number for row in rows}
        last = self.connection.execute(select(func.max(table.c.number)).where(here)).scalar()
        return numbers, last or 0

    def check_room(self) -> None:
        """Refuse, as a write would, where there is no room for what is written next."""
        self.backend.check_room()

    def add_part(self, part: DataPart, chunks: Iterator[bytes]) -> None:
        """Keep more rows."""
        done = self.connection.execute(
            insert(models.parts).values(
                session_id=self._session,
                part=part.part,
                dtype=part.dtype,
                n_rows=part.shape[0],
                n_features=part.shape[1],
                fingerprint=part.fingerprint,
                path=part.path,
                display=part.display,
            )
        )
        (identity,) = done.inserted_primary_key or (0,)
        for number, chunk in enumerate(chunks):
            self.connection.execute(
                insert(models.chunks).values(part_id=identity, number=number, bytes=chunk)
            )


def _let_go(backend: Backend, pid: int) -> None:
    """Close the database; a parent's connections are the parent's."""
    if pid == os.getpid():
        backend.close()


def _now(connection: Connection, backend: Backend) -> float:
    """The database's time, in seconds."""
    return float(connection.execute(backend.now).scalar_one())


def _as_invite(row: Any) -> InviteRecord:
    """A row of the table as an invitation."""
    invite = InviteRecord(**{name: row._mapping[name] for name in InviteRecord.__slots__})
    times = invite.at, invite.until, invite.used or 0.0, invite.revoked or 0.0
    check(all(map(is_number, times)), f"invitation {invite.id}")
    return invite


def _as_question(row: Any) -> Question:
    """A row of the table as a question."""
    items = tuple(item for item in (row.item, row.item_2, row.item_3) if item >= 0)
    return Question(row.kind, items, None if row.cluster < 0 else row.cluster, row.repeat)


def _question_row(session: int, number: int, question: Question) -> dict[str, Any]:
    """A question as a row of its table."""
    kind, items, cluster, repeat = question
    places = (*items, -1, -1)
    return {
        "session_id": session,
        "number": number,
        "kind": kind,
        "item": places[0],
        "item_2": places[1],
        "item_3": places[2],
        "cluster": -1 if cluster is None else cluster,
        "repeat": repeat,
    }
