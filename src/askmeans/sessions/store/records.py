"""What a store keeps of a session, besides its events: data, leases and invitations."""

import dataclasses
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["DataPart", "InviteRecord", "Lease", "SessionRecord", "from_stored"]

T = TypeVar("T")


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


def from_stored(kind: type[T], values: dict[str, Any]) -> T:
    """A record from its values; what an older version lacks is None, what a newer has is left."""
    fields: Any = kind
    known = {field.name: None for field in dataclasses.fields(fields)}
    return kind(**(known | {name: values[name] for name in known.keys() & values.keys()}))
