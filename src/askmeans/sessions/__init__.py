"""Durable ask and tell: people answer over days, machines crash, and nothing is lost."""

from askmeans.sessions.advisers import AdviserReport, AdviserScore
from askmeans.sessions.agreement import Agreement, Disagreement, GoldScore
from askmeans.sessions.clients import from_client
from askmeans.sessions.display import Item
from askmeans.sessions.events import Event, Reply
from askmeans.sessions.opening import create, names, open  # noqa: A004 - the pinned name
from askmeans.sessions.people import Invite, Person
from askmeans.sessions.reports import (
    Change,
    Estimate,
    Group,
    ImportReport,
    Question,
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
    "Change",
    "Disagreement",
    "Estimate",
    "Event",
    "GoldScore",
    "Group",
    "ImportReport",
    "Invite",
    "Item",
    "Person",
    "Question",
    "Reply",
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
