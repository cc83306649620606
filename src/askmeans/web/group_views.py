"""Views of a result: its groups, and items that are unclear, unsure or in none of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from askmeans._util.arrays import Floats, Rows
from askmeans.results import strongest_clusters
from askmeans.sessions import Group, Item, Reply, Session, SessionResult
from askmeans.sessions.display import exemplars_of
from askmeans.web.cards import UNNAMED
from askmeans.web.drawing import colors_of, level_bars, size_bars, strips
from askmeans.web.looks import Look
from askmeans.web.profiles import Profile, Profiles, suggested_names

_TYPICAL = 4
_REVIEWED = 8
_CHECKED = 20  # items to check in a row
LEVELS = (50, 70, 90, 99)  # percent of confidence
_OUTSIDE = 12  # items in none of the groups that are listed
_CHOICES = 3  # groups that an unclear item may be put into with one click
_LEAST = 0.05  # of a membership, from which a third group is offered
_UNCLEAR = 0.5  # the lead of the strongest membership below which an item is unclear


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupView:
    """A group of a result."""

    group: Group
    column: int  # of the result
    color: str
    count: int  # items that are in it most
    band: tuple[int, int]  # how many these may be, if all errors point one way
    bar: str
    strip: str
    profile: Profile
    typical: tuple[tuple[Item, float], ...]  # with their memberships
    suggested: str | None  # a name of typical words, for a group without a name

    @property
    def is_unnamed(self) -> bool:
        """Whether nobody has named it."""
        return UNNAMED.fullmatch(self.group.name) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """An item between groups without an answer."""

    item: Item
    choices: tuple[tuple[GroupView, float], ...]  # with its memberships


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """The items without an answer whose confidence is in an interval, in percent."""

    low: int
    high: int
    count: int
    wrong: float  # of these, to expect
    bar: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Items that belong to none of the groups."""

    count: int  # items that belong to none of the groups more than to any of them
    items: tuple[tuple[Item, float], ...]  # some of these, with their probability


def answered_rows(session: Session, replies: Sequence[Reply]) -> tuple[Rows, Rows]:
    """Rows with an answer, and those of them with "cannot say" only."""
    answers = [each for each in replies if each.kind != "skip"]
    answered = {each.question for each in answers}
    unsure = answered - {each.question for each in answers if each.value is not None}

    def rows_of(numbers: set[int]) -> Rows:
        rows = {row for number in numbers for row in session.question(number).items}
        return np.array(sorted(rows), dtype=np.intp)

    return rows_of(answered), rows_of(unsure)


def group_views(
    session: Session, result: SessionResult, profiles: Profiles, answered: Rows, unsure: Rows
) -> tuple[GroupView, ...]:
    """Every group, in the order of the result's columns; the rows are of `answered_rows`."""
    U, names = result.memberships, result.group_names
    groups, spreads = leaves(session), _spreads(result, answered)
    colors = result_colors(session, result)
    drawn = strips(U, colors)
    counts, bands = _counts(U, spreads)
    bars = size_bars(counts, bands, colors)
    profile = profiles.of(U)
    suggested = suggested_names(names, profile)
    unclear = {*unsure.tolist(), *session.rows.blank}
    views = []
    for j, name in enumerate(names):
        group = groups[j] if j < len(groups) else Group(number=j, name=name)
        rows: list[int] = []
        if result.basis != "nothing":
            n = _TYPICAL + len(unclear)
            rows = exemplars_of(result.clustering, session.rows.matrix, j, n)
            rows = [row for row in rows if row not in unclear][:_TYPICAL]
        views.append(
            GroupView(
                group=replace(group, name=name),
                column=j,
                color=colors[j],
                count=counts[j],
                band=bands[j],
                bar=bars[j],
                strip=drawn[j],
                profile=profile[j],
                typical=tuple((session.item(row), float(U[row, j])) for row in rows),
                suggested=suggested[j],
            )
        )
    return tuple(views)


def result_colors(session: Session, result: SessionResult) -> list[str]:
    """The colour of each column of a result."""
    groups, colors = leaves(session), Look.of(session).colors(session)
    if len(groups) != len(result.group_names):
        return colors_of(len(result.group_names))
    return [colors[group.number] for group in groups]


def leaves(session: Session) -> list[Group]:
    """The groups without sub-groups, in the order of a result's columns."""
    return [group for group in session.groups if not group.children]


def outside_of(session: Session, result: SessionResult) -> Outside | None:
    """The items in no group; None without any."""
    rows = np.flatnonzero(strongest_clusters(result.memberships) < 0)
    unassigned = result.unassigned
    if unassigned is None or not len(rows):
        return None
    best = rows[np.argsort(-unassigned[rows], kind="stable")][:_OUTSIDE]
    items = tuple((session.item(row), float(unassigned[row])) for row in best.tolist())
    return Outside(count=len(rows), items=items)


def reviews(
    session: Session, result: SessionResult, groups: Sequence[GroupView], answered: Rows
) -> tuple[Review, ...]:
    """The items most evenly between groups, of those without an answer."""
    U = result.memberships
    if U.shape[1] < 2 or result.basis == "nothing":
        return ()
    second, first = np.sort(U, axis=1)[:, -2:].T
    leads = first - second
    leads[answered] = np.inf
    rows = np.argsort(leads, kind="stable")[:_REVIEWED]
    views = []
    for row in rows[leads[rows] < _UNCLEAR].tolist():
        order = np.argsort(-U[row], kind="stable")[:_CHOICES]
        choices = tuple(
            (groups[j], float(U[row, j]))
            for place, j in enumerate(order)
            if place < 2 or U[row, j] >= _LEAST
        )
        views.append(Review(item=session.item(row), choices=choices))
    return tuple(views)


def to_check(session: Session, result: SessionResult, answered: Rows) -> tuple[int, ...]:
    """The items whose group is most likely wrong, of those without an answer."""
    confidence = result.confidence
    if session.config.ask != "group" or result.basis == "nothing" or confidence is None:
        return ()
    rows = np.setdiff1d(np.arange(len(confidence)), answered)
    return tuple(rows[np.argsort(confidence[rows], kind="stable")][:_CHECKED].tolist())


def levels_of(result: SessionResult, answered: Rows) -> tuple[Level, ...]:
    """Items without an answer by confidence, and how many of them are probably wrong."""
    if result.confidence is None or result.basis == "nothing":
        return ()
    confidence = np.delete(result.confidence, answered)
    place = np.searchsorted(np.array(LEVELS) / 100.0, confidence, side="right")
    counts = np.bincount(place, minlength=len(LEVELS) + 1).tolist()
    wrong = np.bincount(place, 1.0 - confidence, minlength=len(LEVELS) + 1).tolist()
    bounds = pairwise((0, *LEVELS, 100))
    levels = tuple(
        Level(low=low, high=high, count=count, wrong=errors, bar=bar)
        for (low, high), count, errors, bar in zip(
            bounds, counts, wrong, level_bars(counts, wrong), strict=True
        )
    )
    return levels[::-1]


def _counts(U: Floats, spreads: Floats) -> tuple[list[int], list[tuple[int, int]]]:
    """How many items are in each group most, and between which numbers that lies."""
    strongest, sizes = strongest_clusters(U), U.sum(axis=0)
    counts = [int((strongest == j).sum()) for j in range(U.shape[1])]
    bands = [
        (max(0, min(count, round(size - spread))), min(len(U), max(count, round(size + spread))))
        for count, size, spread in zip(counts, sizes.tolist(), spreads.tolist(), strict=True)
    ]
    return counts, bands


def _spreads(result: SessionResult, answered: Rows) -> Floats:
    """How far each group's size may be off.

    The estimated error of a membership, summed over the items without an answer; it is
    taken to lie where memberships are between 0 and 1.
    """
    U = np.delete(result.memberships, answered, axis=0)
    error = result.clustering.diagnostics.estimated_error
    if error is None or not len(U):
        return np.zeros(result.memberships.shape[1])
    deviation = np.sqrt(np.clip(U * (1.0 - U), 0.0, None))
    mean = float(deviation.mean())
    each = deviation.sum(axis=0) / mean if mean > 1e-9 else np.full(U.shape[1], float(len(U)))
    spreads: Floats = np.minimum(error * each, result.memberships.shape[0])
    return spreads
