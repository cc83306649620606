"""Who answers: how much, how quickly, how far they agree, and who is here now."""

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from askmeans.sessions import Receipt, Session, Status

__all__ = ["Agreement", "Person", "agreement_of", "people_of"]

_BREAK = 120.0  # seconds after which somebody was away, not thinking

Shares = dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far answers of several people to the same questions overlap, 0 to 1."""

    share: float
    questions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who answers."""

    name: str
    answers: int
    unsure: int
    seconds: float | None  # of a usual answer; None where too few are known
    agreement: Agreement | None  # with the others; None where they were never asked the same
    here: bool  # whether a question is theirs now


def people_of(session: Session, status: Status) -> tuple[Person, ...]:
    """Everybody who answered or holds a question; who did most comes first."""
    receipts = session.history()
    here = {each.annotator for each in status.holding}
    names = dict.fromkeys([*status.annotators, *sorted(here)])
    told = _by_question(receipts, session.group_names)
    found = []
    for name in names:
        counts = status.annotators.get(name, {})
        mine = [receipt for receipt in receipts if receipt.annotator == name]
        gaps = [b.at - a.at for a, b in pairwise(mine) if 0.0 <= b.at - a.at < _BREAK]
        found.append(
            Person(
                name=name,
                answers=counts.get("answer", 0) + counts.get("held", 0),
                unsure=counts.get("unsure", 0),
                seconds=statistics.median(gaps) if len(gaps) > 1 else None,
                agreement=_agreement(told, name),
                here=name in here,
            )
        )
    return tuple(sorted(found, key=lambda person: -person.answers))


def agreement_of(session: Session) -> Agreement | None:
    """How far all people agree; None where no question has two answers."""
    return _agreement(_by_question(session.history(), session.group_names), None)


def _agreement(told: dict[int, dict[str, Shares]], name: str | None) -> Agreement | None:
    """The mean overlap of two people's answers, over all pairs of people or those of one."""
    overlaps: dict[int, list[float]] = defaultdict(list)
    for question, answers in told.items():
        for one, other in combinations(answers, 2):
            if name is None or name in (one, other):
                overlaps[question].append(_overlap(answers[one], answers[other]))
    if not overlaps:
        return None
    means = [statistics.fmean(each) for each in overlaps.values()]
    return Agreement(share=statistics.fmean(means), questions=len(means))


def _overlap(a: Shares, b: Shares) -> float:
    """What two answers have in common: 1 for the same, 0 for another group altogether."""
    apart = sum(abs(a.get(key, 0.0) - b.get(key, 0.0)) for key in a.keys() | b.keys())
    return 1.0 - apart / 2.0


def _by_question(receipts: Sequence[Receipt], names: Sequence[str]) -> dict[int, dict[str, Shares]]:
    """What everybody said to each question, as shares that sum to 1."""
    told: dict[int, dict[str, Shares]] = defaultdict(dict)
    for receipt in receipts:
        if receipt.question is None or receipt.value is None:
            continue
        shares: Shares = defaultdict(float)
        if isinstance(receipt.value, tuple):
            for group, share in zip(names, receipt.value, strict=False):  # merged ones are one
                shares[group] += share
            shares[""] = 1.0 - sum(receipt.value)
        else:
            shares |= {"yes": receipt.value, "no": 1.0 - receipt.value}
        told[receipt.question][receipt.annotator] = dict(shares)
    return told
