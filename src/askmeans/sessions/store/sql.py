"""Sessions in a database: what a store promises, and its statements.

A store keeps sessions. It knows nothing of policies, budgets or who may answer what.

- **Append only.** Events, questions and data parts are added, never changed or removed. Leases are
  overwritten, since they describe the present. A person's name can be replaced by another in all
  events, leases and invitations (`replace_annotator`), as privacy law may require.
- **Durable.** What `write` has committed survives a crash of the process and of the machine. After
  an exception nothing was written, or it was not confirmed: a file that was moved confirms nothing.
  Renewed leases may be written with `durable=False`: they need not survive a crash of the machine.
- **One writer.** `write(session)` excludes other writers of that session; the numbers of its events
  grow in the order of the commits. A reader who has events up to a number therefore has all events
  below it. Readers are not blocked.
- **Short.** No caller computes inside `write`: questions are chosen before it.
- **One clock.** Leases end by the database's time, `now`, in seconds; clients' clocks do not count.
- **Questions have numbers** from 1 in a session, in the order they were first issued. The same
  question (kind, items, cluster, repeat) keeps its number for ever.
- **Invitations** are stored with the digest of their token, never with the token. They are revoked,
  not removed, and have the time of their last use.
- **Plain at rest.** Numbers, text, JSON and raw little-endian arrays; nothing is pickled.
- **Errors.** Errors of the database become StoreErrors with a remedy; the next call works again
  once the cause is gone. A lost connection is a StoreLostError: reads are retried for
  `retry_timeout` seconds, and so are writes (`retry_lost`), whose keys show whether the commit
  succeeded.
"""

import itertools
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Literal, TypeVar

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
from askmeans.sessions.store.backend import Backend, busy_seconds, retry_lost
from askmeans.sessions.store.records import (
    DataPart,
    Invite,
    Lease,
    SessionRecord,
    as_written,
    check,
    check_question,
    is_number,
)

T = TypeVar("T")
E = TypeVar("E", bound=Event)

_LISTED = 500  # items that a statement lists; of more, all questions are read

# The statements of every answer: compiling them anew would cost more than running them.
# A statement takes a round trip, so values that are needed together are read together.
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
    """The statements in the dialect of a database."""

    def __init__(self, backend: Backend) -> None:
        invites, leases = models.invites, models.leases
        self.invites = (
            select(invites, backend.now.scalar_subquery().label("now"))
            .where(invites.c.session_id == bindparam("session"))
            .order_by(invites.c.id)
        )
        self.invite = self.invites.where(invites.c.digest == bindparam("digest"))
        self.invitation = self.invites.where(invites.c.id == bindparam("id"))
        now = backend.now.subquery()  # one row: the time is returned without leases, too
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
        weakref.finalize(self, _let_go, backend, self._pid)  # at exit, unless it was closed

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
        """Store a new session with its data; refuse a name that exists."""
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
        """Load the session of this name."""
        named = select(models.sessions).where(models.sessions.c.name == name)
        row = self._read(lambda connection: connection.execute(named).first())
        if row is None:
            there = ", ".join(map(repr, self.names())) or "none"
            raise NoSessionError(
                f"There must be a session {name!r} in {self.url}. Got {there}; choose one of them, "
                "or make one with 'askmeans init'."
            )
        return SessionRecord(**row._mapping)

    def parts(self, session: int) -> list[DataPart]:
        """The session's rows, without their numbers."""
        table = models.parts
        query = select(table).where(table.c.session_id == session).order_by(table.c.part)
        return [
            DataPart(
                part=row.part, dtype=row.dtype, shape=(row.n_rows, row.n_features),
                fingerprint=row.fingerprint, path=row.path, display=row.display,
            )
            for row in self._read(lambda connection: connection.execute(query).all())
        ]  # fmt: skip

    def chunks(self, session: int, part: int) -> Iterator[bytes]:
        """The raw bytes of a part, in order."""
        table, parts = models.chunks, models.parts
        here = (parts.c.session_id == session) & (parts.c.part == part)
        query = select(table.c.bytes).join(parts, parts.c.id == table.c.part_id).where(here)
        for number in itertools.count():  # one at a time: they are large
            one = query.where(table.c.number == number)
            chunk = self._read(partial(Connection.scalar, statement=one))
            if chunk is None:
                return
            yield chunk

    def events(self, session: int, after: int = 0) -> list[Event]:
        """Events with a number above this, in order."""
        return self._read(lambda connection: self._within(connection, session).events(after))

    def questions(self, session: int, after: int = 0) -> list[tuple[int, Question]]:
        """Questions with a number above this, in order."""
        return self._read(lambda connection: self._within(connection, session).questions(after))

    def leases(self, session: int) -> tuple[float, list[Lease]]:
        """The database's time, and every lease."""
        return self._read(lambda connection: self._within(connection, session).leases())

    def invites(self, session: int, digest: str | None = None) -> tuple[float, list[Invite]]:
        """The database's time, and every invitation in the order made, or that of a digest."""

        def both(connection: Connection) -> tuple[float, list[Invite]]:
            query = self._statements.invites if digest is None else self._statements.invite
            rows = connection.execute(query, {"session": session, "digest": digest}).all()
            now = rows[0].now if rows else _now(connection, self.backend)
            return now, [_as_invite(row) for row in rows]

        return self._read(both)

    @contextmanager
    def write(self, session: int, *, durable: bool = True) -> Iterator["Transaction"]:
        """A transaction; leaving it commits, an exception undoes all of it."""
        with self._begun(session, durable=durable) as connection:
            yield self._within(connection, session)

    def retry_lost(self, work: Callable[[], T]) -> T:
        """Do idempotent work; retry it after a lost connection, up to `retry_timeout`."""
        return retry_lost(work, self.retry_timeout)

    def close(self) -> None:
        """Close the connections."""
        self._after_fork()
        _let_go(self.backend, self._pid)

    def _within(self, connection: Connection, session: int) -> "Transaction":
        """Statements on one session."""
        return Transaction(connection, session, self.backend, self._statements)

    def _read(self, work: Callable[[Connection], T]) -> T:
        """Return the result of reading; retry after a lost connection."""

        def read() -> T:
            self._after_fork()
            with (
                as_written(self.url),
                self.backend.translate_errors(),
                self.backend.reading.connect() as connection,
            ):
                return work(connection)

        return self.retry_lost(read)

    @contextmanager
    def _begun(self, session: int | None = None, *, durable: bool = True) -> Iterator[Connection]:
        """A connection that is the only writer; commits unless an exception is raised."""
        self._after_fork()
        with self.backend.writing(session, durable=durable) as connection:
            yield connection

    def _after_fork(self) -> None:
        """After a fork, leave the connections to the parent process: they cannot be shared."""
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
        parameters = {"session": self._session, "after": after}
        with as_written(self.backend.url):
            return self._events(self.connection.execute(_EVENTS, parameters).all())

    @staticmethod
    def _events(rows: Sequence[Any]) -> list[Event]:
        """Convert rows of the table to events."""
        if unknown := {row.kind for row in rows} - KINDS.keys():
            raise StoreVersionError(
                f"The session's events must be of kinds that askmeans {__version__} knows. Got "
                f"{', '.join(map(repr, sorted(unknown)))}, of a newer version; run: pip install "
                "--upgrade askmeans"
            )
        return [from_row(row) for row in rows]

    def append(self, event: E) -> E:
        """Append an event to the log; return it with its number and time."""
        at = self.now()
        done = self.connection.execute(
            insert(models.events).values(session_id=self._session, at=at, **to_row(event))
        )
        (identity,) = done.inserted_primary_key or (0,)
        stored = replace(event, id=int(identity), at=at)
        self.appended.append(stored)
        return stored

    def leases(self) -> tuple[float, list[Lease]]:
        """`now`, and all leases that were not released, ended ones included."""
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
            rows = [{"session_id": self._session, **asdict(each)} for each in leases]
            self.connection.execute(self._statements.lease, rows)

    def replace_annotator(self, name: str, pseudonym: str) -> int:
        """Replace an annotator's name; return the number of changed events."""
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
        """Replace a person's name in the keys and client names that their clients wrote."""
        table = models.events
        theirs = (table.c.session_id == self._session) & (table.c.annotator == name)
        for column, instead in (
            (table.c.key, literal("renamed-") + cast(table.c.id, String)),
            (table.c.client, func.replace(table.c.client, name, pseudonym)),
        ):
            named = theirs & column.contains(name, autoescape=True)
            self.connection.execute(update(table).where(named).values({column: instead}))

    def release(self, question: int, annotator: str) -> None:
        """End a lease, if there is one."""
        parameters = {"session": self._session, "number": question, "person": annotator}
        self.connection.execute(_RELEASE, parameters)

    def invite(self, digest: str, *, name: str, role: str, made_by: str, until: float) -> int:
        """Store an invitation whose token has this digest, once; return its number."""
        table = models.invites
        statement = self.backend.insert(table).values(
            session_id=self._session, digest=digest, name=name, role=role, made_by=made_by,
            at=self.now(), until=until,
        )  # fmt: skip
        self.connection.execute(
            statement.on_conflict_do_nothing(index_elements=["session_id", "digest"])
        )
        here = (table.c.session_id == self._session) & (table.c.digest == digest)
        return int(self.connection.execute(select(table.c.id).where(here)).scalar_one())

    def revoke(self, invite: int) -> None:
        """Revoke an invitation now, unless it was revoked before."""
        column = models.invites.c.revoked
        self._set_invite(invite, {"revoked": func.coalesce(column, self.now())})

    def note_use(self, invite: int) -> None:
        """Set the time of an invitation's last use to now."""
        self._set_invite(invite, {"used": self.now()})

    def invites(self, invite: int | None = None) -> list[Invite]:
        """All invitations in the order made, or that of a number, as they are now."""
        statements = self._statements
        query = statements.invites if invite is None else statements.invitation
        rows = self.connection.execute(query, {"session": self._session, "id": invite}).all()
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
            questions = [(row.number, _as_question(row)) for row in rows]
            for number, question in questions:
                check_question(number, question)
        return questions

    def add_questions(
        self, questions: Sequence[Question], *, after: int | None = None
    ) -> list[int]:
        """Return the numbers of different questions; store those that are new.

        With `after` the caller guarantees that the session has exactly that many questions and
        none of these.
        """
        numbers: dict[Question, int] = {}
        if after is None and questions:
            numbers, after = self._numbers(questions)
        new = [question for question in questions if question not in numbers]
        if new:
            numbers |= {
                question: count for count, question in enumerate(new, start=(after or 0) + 1)
            }
            added = [_question_row(self._session, numbers[question], question) for question in new]
            self.connection.execute(_NEW_QUESTIONS, added)
        return [numbers[question] for question in questions]

    def _numbers(self, questions: Sequence[Question]) -> tuple[dict[Question, int], int]:
        """The numbers of stored questions among these, and the last number."""
        table = models.questions
        here = table.c.session_id == self._session
        items = {question.items[0] for question in questions}
        query = select(table).where(here)
        if len(items) <= _LISTED:
            kinds = {question.kind for question in questions}
            query = query.where(table.c.kind.in_(kinds), table.c.item.in_(items))
        rows = self.connection.execute(query)
        numbers = {_as_question(row): row.number for row in rows}
        last = self.connection.execute(select(func.max(table.c.number)).where(here)).scalar()
        return numbers, last or 0

    def check_room(self) -> None:
        """Raise the error that the next write would raise on a full disk."""
        self.backend.check_room()

    def add_part(self, part: DataPart, chunks: Iterator[bytes]) -> None:
        """Store more rows."""
        n_rows, n_features = part.shape
        done = self.connection.execute(
            insert(models.parts).values(
                session_id=self._session, part=part.part, dtype=part.dtype, n_rows=n_rows,
                n_features=n_features, fingerprint=part.fingerprint, path=part.path,
                display=part.display,
            )
        )  # fmt: skip
        (identity,) = done.inserted_primary_key or (0,)
        for number, chunk in enumerate(chunks):
            self.connection.execute(
                insert(models.chunks).values(part_id=identity, number=number, bytes=chunk)
            )


def _let_go(backend: Backend, pid: int) -> None:
    """Close the database, unless its connections are those of a parent process."""
    if pid == os.getpid():
        backend.close()


def _now(connection: Connection, backend: Backend) -> float:
    """The database's time, in seconds."""
    return float(connection.execute(backend.now).scalar_one())


def _as_invite(row: Any) -> Invite:
    """Convert a row of the table, with the time of the query, to an invitation."""
    times = row.at, row.until, row.used or 0.0, row.revoked or 0.0
    check(all(map(is_number, times)), f"invitation {row.id}")
    valid: Literal["valid", "expired"] = "valid" if row.now < row.until else "expired"
    return Invite(
        number=row.id, name=row.name, role=row.role, made_by=row.made_by, at=row.at,
        until=row.until, used=row.used, state=valid if row.revoked is None else "revoked",
    )  # fmt: skip


def _as_question(row: Any) -> Question:
    """Convert a row of the table to a question."""
    items = tuple(item for item in (row.item, row.item_2, row.item_3) if item >= 0)
    return Question(row.kind, items, None if row.cluster < 0 else row.cluster, row.repeat)


def _question_row(session: int, number: int, question: Question) -> dict[str, Any]:
    """Convert a question to a row of its table."""
    kind, items, cluster, repeat = question
    first, second, third, *_ = (*items, -1, -1)
    return {
        "session_id": session, "number": number, "kind": kind, "item": first, "item_2": second,
        "item_3": third, "cluster": -1 if cluster is None else cluster, "repeat": repeat,
    }  # fmt: skip
