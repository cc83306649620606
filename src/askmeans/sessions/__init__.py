"""Durable ask and tell: people answer over days, machines crash, and nothing is lost."""

from askmeans.sessions.advisers import AdviserReport, Advisers, AdviserScore
from askmeans.sessions.agreement import Agreement, Disagreement, GoldScore
from askmeans.sessions.authors import from_client
from askmeans.sessions.display import Item
from askmeans.sessions.events import Event, Reply
from askmeans.sessions.groups import Groups
from askmeans.sessions.history import History
from askmeans.sessions.opening import create, names, open  # noqa: A004 - the pinned name
from askmeans.sessions.people import People, Person
from askmeans.sessions.reports import (
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
from askmeans.sessions.settings import Settings
from askmeans.sessions.store.records import Invite

__all__ = [
    "AdviserReport",
    "AdviserScore",
    "Advisers",
    "Agreement",
    "Disagreement",
    "Estimate",
    "Event",
    "GoldScore",
    "Group",
    "Groups",
    "History",
    "ImportReport",
    "Invite",
    "Item",
    "People",
    "Person",
    "Question",
    "Reply",
    "Session",
    "SessionResult",
    "SessionState",
    "Settings",
    "Status",
    "Undone",
    "create",
    "from_client",
    "names",
    "open",
]
