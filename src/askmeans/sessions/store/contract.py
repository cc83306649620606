"""What a store must do, in prose and as a protocol; `tests/helpers/store_contract.py` tests it.

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
  is read is then read again for `patience` seconds. Whoever writes tries again, too (`retried`):
  the commit may have been done, and keys tell.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from askmeans.queries import Question
from askmeans.sessions.events import Event

__all__ = [
    "DataPart",
    "InviteRecord",
    "Lease",
    "SessionRecord",
    "Store",
    "Transaction",
    "from_stored",
]

E = TypeVar("E", bound=Event)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """A session as it was made: `config` and `display` are JSON, and never change."""

    id: int
    name: str
    config: dict[str, Any]
    fingerprint: str
    made_by: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPart:
    """Rows of a session: a matrix in raw bytes or a file's path, and what people see of them.

    Part 0 is what the session began with; later parts are rows added since.
    """

    part: int
    dtype: str
    shape: tuple[int, int]
    fingerprint: str
    path: str | None
    display: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Somebody holds a question until a time of the database's clock."""

    question: int
    annotator: str
    until: float


@dataclass(frozen=True, slots=True, kw_only=True)
class InviteRecord:
    """Somebody may come in with a token, of which the digest is known; times are the database's."""

    id: int
    digest: str  # SHA-256 of the token, in hexadecimal
    name: str
    role: str
    made_by: str
    at: float
    until: float
    used: float | None  # when last, to the minute
    revoked: float | None


class Transaction(Protocol):
    """What can be done inside `Store.write`."""

    appended: list[Event]  # here, in order

    def now(self) -> float:
        """The database's time, in seconds; the same for the whole transaction."""

    def events(self, after: int) -> list[Event]:
        """Events with a number above this, in order."""

    def append(self, event: E) -> E:
        """Add an event at the end of the log; the event with its number and time."""

    def leases(self) -> tuple[float, list[Lease]]:
        """`now`, and every lease, ended ones included, of questions that are not let go."""

    def lease(self, *leases: Lease) -> None:
        """Give or renew leases."""

    def replace_annotator(self, name: str, pseudonym: str) -> int:
        """Put another name in the place of an annotator's; how many events that changed."""

    def release(self, question: int, annotator: str) -> None:
        """Let a question go; harmless where it is not held."""

    def invite(self, invite: InviteRecord) -> int:
        """Keep an invitation, under a number of the store's own; harmless where it is there."""

    def revoke(self, invite: int) -> None:
        """End an invitation now; one that was ended stays as it is."""

    def note_use(self, invite: int) -> None:
        """An invitation is used now."""

    def invites(self, invite: int | None = None) -> list[InviteRecord]:
        """Every invitation in the order made, or that of a number; as they are now."""

    def questions(self, after: int) -> list[tuple[int, Question]]:
        """Questions with a number above this, in order."""

    def add_questions(
        self, questions: Sequence[Question], *, after: int | None = None
    ) -> list[int]:
        """The numbers of different questions, of new ones, too.

        `after` says that the caller has read the questions up to this number, and that they are
        all there are, and none of these.
        """

    def check_room(self) -> None:
        """Refuse, as a write would, where there is no room for what is written next."""

    def add_part(self, part: DataPart, chunks: Iterator[bytes]) -> None:
        """Keep more rows."""


class Store(Protocol):
    """Where sessions are kept."""

    url: str  # without secrets
    patience: float  # seconds to try again for where the connection was lost

    def names(self) -> list[str]:
        """Names of the sessions, in the order they were made."""

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

    def load(self, name: str) -> SessionRecord:
        """The session of this name; refused where there is none."""

    def parts(self, session: int) -> list[DataPart]:
        """The session's rows, without their numbers."""

    def chunks(self, session: int, part: int) -> Iterator[bytes]:
        """The raw bytes of a part, in order."""

    def events(self, session: int, after: int = 0) -> list[Event]:
        """Events with a number above this, in order."""

    def questions(self, session: int, after: int = 0) -> list[tuple[int, Question]]:
        """Questions with a number above this, in order."""

    def leases(self, session: int) -> tuple[float, list[Lease]]:
        """The database's time, and every lease."""

    def invites(self, session: int, digest: str | None = None) -> tuple[float, list[InviteRecord]]:
        """The database's time, and every invitation in the order made, or that of a digest."""

    def write(self, session: int, *, durable: bool = True) -> AbstractContextManager[Transaction]:
        """A transaction; leaving it commits, an exception undoes all of it."""

    def close(self) -> None:
        """Let go of the database."""


T = TypeVar("T")


def from_stored(kind: type[T], values: dict[str, Any]) -> T:
    """A record from its values; what an older version lacks is None, what a newer has is left."""
    fields: Any = kind
    known = {field.name: None for field in dataclasses.fields(fields)}
    return kind(**(known | {name: values[name] for name in known.keys() & values.keys()}))
