"""Answers that do not fit together, as the page tells them: in a line, with links to the items."""

from dataclasses import dataclass

from askmeans.sessions import Session, Status
from askmeans.sessions.conflicts import describe
from askmeans.web.scale import say

__all__ = ["Doubt", "doubts_of"]

_MOST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Answers that cannot all be right."""

    text: str
    rows: tuple[int, ...]  # the items they are about
    names: tuple[str, ...]  # and what these are called


def doubts_of(session: Session, status: Status) -> tuple[Doubt, ...]:
    """The worst of the contradictions that the status tells of."""

    def label(row: int) -> str:
        return session.item(row).label

    def said(value: float) -> str:
        return say(value, ask=session.config.ask)

    return tuple(
        Doubt(
            text=describe(conflict, label, session.group_names, said),
            rows=conflict.items,
            names=tuple(map(label, conflict.items)),
        )
        for conflict in (status.contradictions or ())[:_MOST]
    )
