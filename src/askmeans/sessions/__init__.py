"""Durable ask and tell: people answer over days, machines crash, and nothing is lost."""

from askmeans.sessions.changes import AuditRecord
from askmeans.sessions.clients import from_client
from askmeans.sessions.display import Item
from askmeans.sessions.invites import Invite, Person
from askmeans.sessions.opening import create, names, open  # noqa: A004 - the pinned name
from askmeans.sessions.opinions import Agreement, Disagreement, GoldScore, PairAgreement
from askmeans.sessions.panel import Confusion, ModelScore, PanelReport
from askmeans.sessions.reports import (
    Change,
    Estimate,
    Group,
    Holding,
    Question,
    Receipt,
    SessionResult,
    SessionState,
    Status,
    Undone,
)
from askmeans.sessions.session import Session

__all__ = [
    "Agreement",
    "AuditRecord",
    "Change",
    "Confusion",
    "Disagreement",
    "Estimate",
    "GoldScore",
    "Group",
    "Holding",
    "Invite",
    "Item",
    "ModelScore",
    "PairAgreement",
    "PanelReport",
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
