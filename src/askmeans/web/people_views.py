"""Who answered how much, and where answers contradict each other or people disagree."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from askmeans.sessions import Item, Reply, Session, Status
from askmeans.sessions.agreement import Agreement, Disagreement, GoldScore
from askmeans.sessions.conflicts import describe as describe_conflict
from askmeans.web.scale import describe

_BREAK = 120.0  # seconds after which an annotator was away
_MOST_DISPUTES = 8
_MOST_CONTRADICTIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributor:
    """A person who answers."""

    name: str
    answers: int
    unsure: int
    seconds: float | None  # median time between answers; None where too few are known
    alpha: float | None  # agreement with the others; None if undefined
    gold: GoldScore | None  # their answers to gold questions
    is_here: bool  # whether they hold a question now


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """An item that people put into different groups."""

    disagreement: Disagreement
    item: Item
    answers: tuple[tuple[str, str], ...]  # person, and formatted answer
    decision: str | None
    groups: frozenset[int]  # with a name by people


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Answers that cannot all be right, in a sentence, and the items that they are about."""

    text: str
    items: tuple[Item, ...]


def people_of(
    session: Session, status: Status, agreement: Agreement, replies: Sequence[Reply]
) -> tuple[Contributor, ...]:
    """All who answered or hold a question; who did most comes first."""
    here, gold = {each.annotator for each in status.holding}, session.people.gold_report()
    people = []
    for name in dict.fromkeys([*status.people, *sorted(here)]):
        counts = status.people.get(name, {})
        times = [reply.at for reply in replies if reply.annotator == name]
        gaps = [after - before for before, after in pairwise(times) if 0 <= after - before < _BREAK]
        alpha = agreement.by_person.get(name, math.nan)
        people.append(
            Contributor(
                name=name,
                answers=counts.get("answer", 0),
                unsure=counts.get("unsure", 0),
                seconds=statistics.median(gaps) if len(gaps) > 1 else None,
                alpha=None if math.isnan(alpha) else alpha,
                gold=gold.get(name),
                is_here=name in here,
            )
        )
    return tuple(sorted(people, key=lambda person: -person.answers))


def disputes_of(session: Session) -> tuple[Dispute, ...]:
    """Items that people put into different groups, the most different first."""
    if session.config.ask != "group":
        return ()
    names, find = session.groups.all_names, session.groups.find
    disputes = []
    for each in session.people.disagreements(_MOST_DISPUTES):
        rows = [value for value in each.answers.values() if isinstance(value, tuple)]
        groups = {find(j) for row in rows for j, share in enumerate(row) if share}
        disputes.append(
            Dispute(
                disagreement=each,
                item=session.item(each.items[0]),
                answers=tuple((who, describe(value, names)) for who, value in each.answers.items()),
                decision=None if each.decided is None else describe(each.decided, names),
                groups=frozenset(number for number in groups if number is not None),
            )
        )
    return tuple(disputes)


def contradictions_of(session: Session, status: Status) -> tuple[Contradiction, ...]:
    """The worst contradictions of a status."""

    def label(row: int) -> str:
        return session.item(row).label

    def say(value: float) -> str:
        return describe(value, ask=session.config.ask)

    return tuple(
        Contradiction(
            text=describe_conflict(conflict, label, session.groups.all_names, say),
            items=tuple(map(session.item, conflict.items)),
        )
        for conflict in (status.contradictions or ())[:_MOST_CONTRADICTIONS]
    )
