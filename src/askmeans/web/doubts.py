"""Answers that do not fit together, in words: rows above one, people who disagree."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from askmeans.sessions import Receipt, Session, SessionResult
from askmeans.web.scale import say

__all__ = ["Doubt", "find_doubts"]

_ROW = 0.25  # of a row above one, from which it is told: a point of the scale
_APART = 0.5  # of two people's answers, from which it is told: two points
_MOST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Answers that cannot all be right."""

    text: str
    rows: tuple[int, ...]  # the items they are about
    excess: float


def find_doubts(session: Session, result: SessionResult, told: object) -> list[Doubt]:
    """The worst first; what the result's own diagnostics tell comes before."""
    answers: dict[int, list[Receipt]] = defaultdict(list)
    for receipt in session.history():
        if receipt.question is not None and receipt.value is not None:
            answers[receipt.question].append(receipt)
    rows: dict[int, dict[int, Receipt]] = defaultdict(dict)
    found = []
    for number, receipts in answers.items():
        question = session.question(number)
        if question.cluster is not None:
            rows[question.items[0]][question.cluster] = receipts[0]
        values = [receipt.value or 0.0 for receipt in receipts]
        if max(values) - min(values) >= _APART:
            said = ", ".join(f"{r.annotator} “{say(r.value)}”" for r in receipts)
            names = " and ".join(session.item(row).label for row in question.items)
            found.append(
                Doubt(
                    text=f"{names}: people disagree ({said}).",
                    rows=question.items,
                    excess=max(values) - min(values),
                )
            )
    found += _rows(session, result, rows)
    found.sort(key=lambda doubt: -doubt.excess)
    return [*_diagnosed(told), *found[:_MOST]]


def _rows(
    session: Session, result: SessionResult, rows: dict[int, dict[int, Receipt]]
) -> list[Doubt]:
    """Items whose memberships were answered to more than one in sum."""
    found = []
    for row, by_cluster in rows.items():
        total = sum(receipt.value or 0.0 for receipt in by_cluster.values())
        if total - 1.0 < _ROW:
            continue
        parts = ", ".join(
            f"{say(receipt.value)} in {result.cluster_names[cluster]}"
            for cluster, receipt in sorted(by_cluster.items())
        )
        found.append(
            Doubt(
                text=f"{session.item(row).label}: {parts} is more than the whole.",
                rows=(row,),
                excess=total - 1.0,
            )
        )
    return found


def _diagnosed(told: object) -> list[Doubt]:
    """What a plan's own diagnostics say, in a line."""
    if not told:
        return []
    many = len(told) if isinstance(told, Sequence) and not isinstance(told, str) else told
    return [Doubt(text=f"The fit itself reports contradictions: {many}.", rows=(), excess=1.0)]
