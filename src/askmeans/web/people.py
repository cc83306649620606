"""Who answers: how much, how quickly, how far they agree; what they disagree about, and doubts."""

import math
import statistics
from dataclasses import dataclass
from itertools import pairwise

from askmeans.sessions import Item, Session, Status
from askmeans.sessions.agreement import Agreement, GoldScore
from askmeans.sessions.conflicts import describe
from askmeans.web.drawing import colors_of
from askmeans.web.scale import say

__all__ = ["Contributor", "Dispute", "Doubt", "disputes_of", "doubts_of", "people_of"]

_BREAK = 120.0  # seconds after which somebody was away, not thinking
_DISPUTES = 8
_DOUBTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributor:
    """Somebody who answers."""

    name: str
    answers: int
    unsure: int
    seconds: float | None  # of a usual answer; None where too few are known
    alpha: float | None  # agreement with the others; None where it cannot be told
    gold: GoldScore | None  # how they answered questions whose answers are known
    here: bool  # whether a question is theirs now


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """An item that people put into different groups."""

    question: int
    item: Item
    said: tuple[tuple[str, str], ...]  # who, and what
    decided: str | None
    choices: tuple[tuple[int, str, str], ...]  # number, name and colour of groups somebody named


def people_of(session: Session, status: Status, agreement: Agreement) -> tuple[Contributor, ...]:
    """Everybody who answered or holds a question; who did most comes first."""
    receipts = session.history.answers()
    here, gold = {each.annotator for each in status.holding}, session.people.gold_report()
    found = []
    for name in dict.fromkeys([*status.people, *sorted(here)]):
        counts = status.people.get(name, {})
        mine = [receipt.at for receipt in receipts if receipt.annotator == name]
        gaps = [b - a for a, b in pairwise(mine) if 0.0 <= b - a < _BREAK]
        alpha = agreement.by_person.get(name, math.nan)
        found.append(
            Contributor(
                name=name,
                answers=counts.get("answer", 0),
                unsure=counts.get("unsure", 0),
                seconds=statistics.median(gaps) if len(gaps) > 1 else None,
                alpha=None if math.isnan(alpha) else alpha,
                gold=gold.get(name),
                here=name in here,
            )
        )
    return tuple(sorted(found, key=lambda person: -person.answers))


def disputes_of(session: Session) -> tuple[Dispute, ...]:
    """Items that people put into different groups, the most different first."""
    if session.config.ask != "group":
        return ()
    names, groups = session.groups.all_names, list(session.groups)
    colored = list(zip(groups, colors_of(len(groups)), strict=True))
    found = []
    for each in session.people.disagreements(_DISPUTES):
        rows = [value for value in each.answers.values() if isinstance(value, tuple)]
        told = {session.groups.find(j) for row in rows for j, share in enumerate(row) if share}
        found.append(
            Dispute(
                question=each.question,
                item=session.item(each.items[0]),
                said=tuple((name, say(value, names)) for name, value in each.answers.items()),
                decided=None if each.decided is None else say(each.decided, names),
                choices=tuple(
                    (group.number, group.name, color)
                    for group, color in colored
                    if group.number in told
                ),
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Answers that cannot all be right."""

    text: str
    items: tuple[Item, ...]  # they are about


def doubts_of(session: Session, status: Status) -> tuple[Doubt, ...]:
    """The worst of the contradictions that the status tells of."""

    def label(row: int) -> str:
        return session.item(row).label

    def said(value: float) -> str:
        return say(value, ask=session.config.ask)

    return tuple(
        Doubt(
            text=describe(conflict, label, session.groups.all_names, said),
            items=tuple(map(session.item, conflict.items)),
        )
        for conflict in (status.contradictions or ())[:_DOUBTS]
    )
