"""Durable ask and tell: people answer over days, machines crash, and nothing is lost."""

from askmeans.sessions.advisers import AdviserReport, AdviserScore
from askmeans.sessions.agreement import Agreement, Disagreement, GoldScore
from askmeans.sessions.clients import from_client
from askmeans.sessions.display import Item
from askmeans.sessions.history import AuditRecord
from askmeans.sessions.opening import create, names, open  # noqa: A004 - the pinned name
from askmeans.sessions.people import Invite, Person
from askmeans.sessions.reports import (
    Change,
    Estimate,
    Group,
    ImportReport,
    Question,
    Receipt,
    SessionResult,
    SessionState,
    Status,
    Undone,
)
from askmeans.sessions.session import Session

__all__ = [
    "AdviserReport",
    "AdviserScore",
    "Agreement",
    "AuditRecord",
    "Change",
    "Disagreement",
    "Estimate",
    "GoldScore",
    "Group",
    "ImportReport",
    "Invite",
    "Item",
    "Person",
    "Question",
    "Receipt",
    "Session",
    "SessionResult",
    "SessionState",
    "Status",
    "Undone",
    "create",
    "from_client",
    "names",
    "open",
]
