"""Why an item is where it is, and the scale explained with items of the data."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askmeans.sessions import Session
from askmeans.spec import SIMILARITIES
from askmeans.web.drawing import colors_of
from askmeans.web.result_views import ResultView
from askmeans.web.scale import say

__all__ = ["Example", "Reason", "Why", "explain_item", "worked_example"]

Floats = NDArray[np.float64]

_SAMPLE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A cluster, how much the item belongs to it, and what speaks for that."""

    name: str
    color: str
    value: float
    distance: float | None
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """An item's memberships, and the answers about it."""

    summary: str
    reasons: tuple[Reason, ...]
    similar: tuple[str, ...]
    n_answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Items of the data that show the ends of the scale."""

    one: str
    near: str
    far: str
    cluster: str | None


def explain_item(
    session: Session, row: int, result_view: ResultView | None, *, whose: str | None = None
) -> Why | None:
    """Memberships of an item with the answers and distances behind them; None where there are none.

    An item that was added since the result was computed has none yet. Answers are those of one
    person, or of all.
    """
    if result_view is None or row >= len(result_view.result.memberships):
        return None
    result = result_view.result
    told: dict[int, list[str]] = {}
    own, similar = [], []
    asked: list[bool] = []  # of each answer about it, whether it places the item
    for receipt in session.history.answers():
        if receipt.kind == "skip" or receipt.question is None:
            continue
        question = session.question(receipt.question)
        if row not in question.items:
            continue
        asked.append(question.kind == "group" or question.cluster is not None)
        if whose not in (None, receipt.annotator):
            continue
        said = say(receipt.value, session.groups.all_names, question.kind)
        text = f"{receipt.annotator} answered “{said}”"
        if question.kind == "group":
            own.append(f"{text}.")
        elif question.cluster is not None:
            told.setdefault(question.cluster, []).append(text)
        elif question.kind == "relative":
            one, left, right = (session.item(other).label for other in question.items)
            similar.append(f"{one} between {left} on the left and {right}: {text}.")
        else:
            others = [session.item(other).label for other in question.items if other != row]
            similar.append(f"With {' and '.join(others)}: {text}.")
    memberships = result.memberships[row]
    distances = None
    if result.basis != "nothing":
        distances = _distances(session, row, result.clustering.centers)
    colors = colors_of(len(memberships))
    groups = [group.number for group in session.groups]
    reasons = tuple(
        Reason(
            name=name,
            color=colors[j],
            value=float(memberships[j]),
            distance=None if distances is None else float(distances[j]),
            answers=tuple(told.get(groups[j] if j < len(groups) else j, ())),
        )
        for j, name in enumerate(result.cluster_names)
    )
    return Why(
        summary=_summary(len(asked), any(asked), distances, result.cluster_names, result.basis),
        reasons=tuple(sorted(reasons, key=lambda reason: -reason.value)),
        similar=(*own, *similar),
        n_answers=len(asked),
    )


def worked_example(session: Session) -> Example:
    """An item, one much like it, and one as different as can be."""
    X = np.asarray(session.rows.base[:_SAMPLE], dtype=np.float64)
    group = session.groups[0].number
    placed = session.exemplars(group, placed_only=True)
    first = next((row for row in placed or session.exemplars(group) if row < len(X)), 0)
    gaps = np.linalg.norm(X - X[first], axis=1)
    far = int(gaps.argmax())
    gaps[first] = np.inf
    near = int(gaps.argmin())
    named = session.config.ask not in SIMILARITIES and first in placed  # a guess is no example
    cluster = session.groups.names[0] if named else None
    names = [session.item(row).label for row in (first, near, far)]
    return Example(one=names[0], near=names[1], far=names[2], cluster=cluster)


def _distances(session: Session, row: int, centers: Floats) -> Floats | None:
    """How far an item is from the centres; None for one added later."""
    if row >= len(session.rows.base) or not np.isfinite(centers).all():
        return None
    gaps = np.asarray(session.rows.base[row], dtype=np.float64) - centers
    distances: Floats = np.linalg.norm(gaps, axis=1)
    return distances


def _summary(
    n_answers: int, is_placed: bool, distances: object, names: tuple[str, ...], basis: str
) -> str:
    """Where the memberships come from, in a sentence."""
    if is_placed:
        return "People placed this item themselves; what they answered stands."
    if n_answers:
        return "People compared this item with others; its memberships follow from that."
    if basis == "nothing":
        return "No answers yet: the groups have only names."
    if distances is None:
        return "Nobody was asked about this item; it goes where others like it went."
    nearest = names[int(np.argmin(np.asarray(distances)))]
    return (
        f"Nobody was asked about this item. It lies nearest to the centre of {nearest}, and "
        "answers about others taught how membership falls with distance."
    )
