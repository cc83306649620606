"""Groups as the page shows them: size, typical items, what makes them, what is open, examples."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askmeans.results import strongest_clusters
from askmeans.sessions import Item, Session, SessionResult
from askmeans.sessions.display import RESERVED
from askmeans.web.cards import Cards, ItemView
from askmeans.web.drawing import colors_of, strips
from askmeans.web.profiles import Profile, Profiles

__all__ = ["GroupView", "Outside", "Review", "ShapedGroup", "asked_rows", "group_page_of",
           "group_views", "outside_of", "reviews"]  # fmt: skip

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_TYPICAL = 4
_EXAMPLES = 6
_PLACED = 60  # items of a group that are listed
_MOST = 0.5  # of an item that somebody placed in a group
_LOOKED_AT = 500  # of a group's strongest items, for the most central ones
_REVIEWED = 8
_OUTSIDE = 12  # items in none of the groups that are listed
_CHOICES = 3  # groups that an unsure item may be put into with one click
_UNNAMED = re.compile("Group [A-Z]+")
_SOME = 0.05  # of a membership, from which a third group is offered
_UNSURE = 0.5  # how far the strongest membership exceeds the next, below which an item is unsure


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupView:
    """A group's card."""

    number: int  # its column
    group: int  # its number for ever
    name: str
    color: str
    size: float  # the sum of all memberships: items, in parts
    spread: float  # how far that may be off, if all errors point one way
    share: float  # of all items
    strip: str
    profile: Profile
    typical: tuple[tuple[Item, float], ...]  # with their memberships
    suggested: str | None  # a name made of typical words, for a group that nobody named


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """An item between groups that nobody was asked about."""

    item: Item
    choices: tuple[tuple[int, str, str, float], ...]  # number, name, colour and membership


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Items that belong to none of the groups."""

    size: float  # the sum of what is unassigned of all items
    count: int  # items that belong to none of the groups more than to any of them
    items: tuple[tuple[Item, float], ...]  # some of these, with their probability


def asked_rows(session: Session) -> Rows:
    """Rows that anybody answered a question about."""
    numbers = {each.question for each in session.history.answers() if each.kind != "skip"}
    rows = {row for number in numbers if number for row in session.question(number).items}
    return np.array(sorted(rows), dtype=np.intp)


def group_views(
    session: Session, result: SessionResult, profiles: Profiles, asked: Rows
) -> tuple[GroupView, ...]:
    """Every group, in the order of the result's columns."""
    U = result.memberships
    colors, drawn, spreads = colors_of(U.shape[1]), strips(U), _spreads(result, asked)
    profile, numbers = profiles.of(U), [group.number for group in session.groups]
    own = strongest_clusters(U)
    own[_unsure_rows(session)] = -1
    suggested = _suggested(result.cluster_names, profile)
    found = []
    for j, name in enumerate(result.cluster_names):
        mine = np.flatnonzero(own == j)  # neither what belongs elsewhere nor what nobody could say
        found.append(
            GroupView(
                number=j,
                group=numbers[j] if j < len(numbers) else j,
                name=name,
                color=colors[j],
                size=float(U[:, j].sum()),
                spread=float(spreads[j]),
                share=float(U[:, j].mean()),
                strip=drawn[j],
                profile=profile[j],
                typical=tuple(
                    (session.item(row), float(U[row, j]))
                    for row in _typical(session, result, j, mine)
                    if result.basis != "nothing"
                ),
                suggested=suggested[j],
            )
        )
    return tuple(found)


def outside_of(session: Session, result: SessionResult) -> Outside | None:
    """The items in none of the groups; None where there are none."""
    rows = np.flatnonzero(strongest_clusters(result.memberships) < 0)
    unassigned = result.unassigned
    if unassigned is None or not len(rows):
        return None
    best = rows[np.argsort(-unassigned[rows], kind="stable")][:_OUTSIDE]
    return Outside(
        size=float(unassigned.sum()),
        count=len(rows),
        items=tuple((session.item(row), float(unassigned[row])) for row in best.tolist()),
    )


def _unsure_rows(session: Session) -> list[int]:
    """Items of which people could not say where they belong, and nobody could."""
    history = [each for each in session.history.answers() if each.question and each.kind != "skip"]
    known = {each.question for each in history if each.value is not None}
    unsure = {each.question for each in history} - known
    return [row for number in unsure if number for row in session.question(number).items]


def reviews(
    session: Session, result: SessionResult, groups: tuple[GroupView, ...], asked: Rows
) -> tuple[Review, ...]:
    """The items that lie most evenly between groups, of those that nobody was asked about."""
    U = result.memberships
    if U.shape[1] < 2 or result.basis == "nothing":
        return ()
    two = np.sort(U, axis=1)[:, -2:]
    gaps = two[:, 1] - two[:, 0]
    gaps[asked] = np.inf
    rows = np.argsort(gaps, kind="stable")[:_REVIEWED]
    found = []
    for row in rows[gaps[rows] < _UNSURE].tolist():
        order = np.argsort(-U[row], kind="stable")[:_CHOICES]
        found.append(
            Review(
                item=session.item(row),
                choices=tuple(
                    (groups[j].group, groups[j].name, groups[j].color, float(U[row, j]))
                    for place, j in enumerate(order)
                    if place < 2 or U[row, j] >= _SOME
                ),
            )
        )
    return tuple(found)


def _suggested(names: Sequence[str], profiles: Sequence[Profile]) -> list[str | None]:
    """Names of two typical words each, all different, for groups that nobody named."""
    taken = {name.casefold() for name in names} | {RESERVED}
    found: list[str | None] = []
    for name, profile in zip(names, profiles, strict=True):
        words = [word.rpartition(": ")[2] for word in profile.words]
        listed = [" and ".join(pair) for pair in itertools.combinations(words, min(2, len(words)))]
        free = [each for each in listed if each and each.casefold() not in taken]
        unnamed = _UNNAMED.fullmatch(name) is not None
        found.append(free[0].capitalize() if unnamed and free else None)
        taken |= {each.casefold() for each in free[:1]}
    return found


def _typical(session: Session, result: SessionResult, j: int, mine: Rows) -> list[int]:
    """Items that show best what a group is: of those that belong to it most, the most central."""
    values, X = result.memberships[mine, j], session.rows.base
    order = np.argsort(-values, kind="stable")[:_LOOKED_AT]
    rows, center = mine[order], result.clustering.centers[j]
    gaps = np.full(len(rows), np.inf)
    first = rows < len(X)  # not added since
    if np.isfinite(center).all():
        gaps[first] = np.linalg.norm(np.asarray(X[rows[first]], dtype=np.float64) - center, axis=1)
    best = np.lexsort((gaps, -np.round(values[order], 1)))[:_TYPICAL]
    found: list[int] = rows[best].tolist()
    return found


def _spreads(result: SessionResult, asked: Rows) -> Floats:
    """How far each group's size may be off.

    The estimated error of a membership, summed over the items that nobody was asked about; it is
    taken to lie where memberships are between 0 and 1.
    """
    U = np.delete(result.memberships, asked, axis=0)
    error = result.clustering.diagnostics.estimated_error
    if error is None or not len(U):
        return np.zeros(result.memberships.shape[1])
    doubt = np.sqrt(np.clip(U * (1.0 - U), 0.0, None))
    mean = float(doubt.mean())
    each = doubt.sum(axis=0) / mean if mean > 1e-9 else np.full(U.shape[1], float(len(U)))
    spreads: Floats = np.minimum(error * each, result.memberships.shape[0])
    return spreads


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapedGroup:
    """A group on the page about groups."""

    number: int
    name: str
    about: str  # what belongs there, in a line
    color: str
    examples: tuple[tuple[ItemView, bool], ...]  # with whether it is pinned
    guessed: bool  # whether the examples are what the program guesses
    placed: tuple[ItemView, ...]  # items that somebody placed in it, the newest first


def group_page_of(session: Session, cards: Cards, annotator: str) -> list[ShapedGroup]:
    """Every group with its examples and what this person placed in it."""
    groups = list(session.groups)
    placed: dict[int | None, list[int]] = {group.number: [] for group in groups}
    for receipt in reversed(session.history.answers(annotator=annotator)):
        if not isinstance(receipt.value, tuple) or receipt.question is None:
            continue
        most = max(range(len(receipt.value)), key=receipt.value.__getitem__)
        mine = placed.get(session.groups.find(most))
        if mine is not None and receipt.value[most] > _MOST and len(mine) < _PLACED:
            mine.append(session.question(receipt.question).items[0])
    found = []
    for group, color in zip(groups, colors_of(len(groups)), strict=True):
        pinned = set(session.groups.pinned(group.number))
        n = max(_EXAMPLES, len(pinned))
        placed_rows = session.exemplars(group.number, n=n, placed_only=True)
        rows = placed_rows or session.exemplars(group.number, n=n)
        found.append(
            ShapedGroup(
                number=group.number,
                name=group.name,
                about=group.description,
                color=color,
                examples=tuple((cards.item(row), row in pinned) for row in rows),
                guessed=not placed_rows and bool(rows),
                placed=tuple(cards.item(row) for row in dict.fromkeys(placed[group.number])),
            )
        )
    return found
