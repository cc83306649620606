"""Views of groups and items: sizes, typical items and words, unclear items."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from askmeans._util.arrays import Floats, Rows
from askmeans._util.stop_words import STOP_WORDS
from askmeans.results import strongest_clusters
from askmeans.sessions import Group, Item, Reply, Session, SessionResult
from askmeans.sessions.display import exemplars_of
from askmeans.sessions.group_numbers import RESERVED
from askmeans.tables.texts import languages_of
from askmeans.web.cards import UNNAMED, describe, is_number, sample
from askmeans.web.drawing import colors_of, level_bars, size_bars, strips
from askmeans.web.looks import Look

_TYPICAL = 4
_REVIEWED = 8
_CHECKED = 20  # items to check in a row
LEVELS = (50, 70, 90, 99)  # percent of confidence
_OUTSIDE = 12  # items in none of the groups that are listed
_CHOICES = 3  # groups that an unclear item may be put into with one click
_LEAST = 0.05  # of a membership, from which a third group is offered
_UNCLEAR = 0.5  # the lead of the strongest membership below which an item is unclear
_MOST_WORDS = 6  # of a group
_MOST_TRAITS = 4
_VOCABULARY = 3000
_FEWEST = 2  # items that a word must occur in
_LIFT = 1.3  # how much more often a typical word occurs in its group than anywhere
_COMMON = 0.08  # of a group's items that a typical word is in
_APART = 0.3  # standard deviations between a group's mean and that of all items
_CATEGORIES = 30  # values from which a column of words is no category
_TOKEN = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """A feature that distinguishes a group: its mean, and the place of that."""

    name: str
    value: str
    place: float  # between the smallest and the largest, 0 to 1
    overall: float  # the same of all items


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Typical items and words of a group, the most typical first."""

    words: tuple[str, ...]
    traits: tuple[Trait, ...]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A group, an item's membership in it, and the evidence for that."""

    name: str
    color: str
    value: float
    distance: float | None
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """An item's memberships, and the answers about it."""

    summary: str
    reasons: tuple[Reason, ...]
    similar: tuple[str, ...]  # answers about the item as a whole, or beside others


class Profiles:
    """Reads the items once, and describes the groups of any memberships."""

    def __init__(self, session: Session, n: int) -> None:
        self.n_items = n
        items, columns = sample(session, n)
        self.rows = [item.row for item in items]
        self._names, self._numbers = _numbers(columns, len(items))
        features = session.config.feature_names
        if not self._names and features and not any(item.text for item in items):
            # only pictures are shown: the features behind them
            X = np.asarray(session.rows.matrix[self.rows], dtype=np.float64)
            if session.config.units is not None:
                middle, width = np.array(session.config.units)
                X = X * width + middle
            self._names, self._numbers = list(features), X
        texts = [(item.text or "").casefold() for item in items]
        languages = languages_of(texts)[0]
        stop_words = frozenset().union(*(STOP_WORDS.get(each, ()) for each in languages))
        tokens = [{*_TOKEN.findall(text)} - stop_words for text in texts]
        _add_categories(tokens, {name: columns[name] for name in columns.keys() - {*self._names}})
        self._words, self._has = _incidence(tokens)

    def of(self, memberships: Floats) -> list[Profile]:
        """The profile of each group."""
        U = memberships[self.rows]
        sizes = np.maximum(U.sum(axis=0), 1e-12)
        return [
            Profile(words=self._typical_words(U[:, j] / sizes[j], sizes[j]),
                    traits=self._traits(U[:, j] / sizes[j]))
            for j in range(U.shape[1])
        ]  # fmt: skip

    def _typical_words(self, weights: Floats, size: float) -> tuple[str, ...]:
        """Words that are in many of the group's items, and in few others."""
        if not self._words:
            return ()
        within, overall = weights @ self._has, self._has.mean(axis=0)
        score = within * np.log(np.maximum(within, 1e-12) / overall)
        typical = within > _LIFT * overall
        typical &= (within >= _COMMON) & (within * size >= _FEWEST - 0.5)
        order = np.argsort(-score, kind="stable")
        return tuple(self._words[place] for place in order if typical[place])[:_MOST_WORDS]

    def _traits(self, weights: Floats) -> tuple[Trait, ...]:
        """Numbers whose mean in the group differs from that of all items."""
        traits = []
        for name, column in zip(self._names, self._numbers.T, strict=True):
            known = np.isfinite(column)
            values, shares = column[known], weights[known]
            low, high = values.min(), values.max()
            if high <= low or shares.sum() <= 0.0:
                continue
            mean, overall = float(shares @ values / shares.sum()), float(values.mean())
            gap = abs(mean - overall) / values.std()
            if gap >= _APART:
                trait = Trait(
                    name=name, value=f"{mean:.3g}", place=(mean - low) / (high - low),
                    overall=(overall - low) / (high - low),
                )  # fmt: skip
                traits.append((gap, trait))
        traits.sort(key=lambda pair: -pair[0])
        return tuple(trait for _, trait in traits[:_MOST_TRAITS])


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
    groups, spreads = _leaves(session), _spreads(result, answered)
    colors = result_colors(session, result)
    drawn = strips(U, colors)
    counts, bands = _counts(U, spreads)
    bars = size_bars(counts, bands, colors)
    profile = profiles.of(U)
    suggested = _suggested_names(names, profile)
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
    groups, leaves, n = list(session.groups), _leaves(session), len(result.group_names)
    if len(leaves) != n:
        return colors_of(n)
    colors = dict(
        zip((group.number for group in groups), Look.of(session).colors(groups), strict=True)
    )
    return [colors[group.number] for group in leaves]


def _leaves(session: Session) -> list[Group]:
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


def explain_item(
    session: Session, row: int, result: SessionResult, *, annotator: str | None = None
) -> Explanation | None:
    """An item's memberships with the answers and distances behind them.

    Answers are those of one annotator, or of all. None for an item that was added since the result
    was computed.
    """
    if row >= len(result.memberships):
        return None
    by_cluster: dict[int, list[str]] = {}
    own, similar = [], []
    n_answers, is_placed = 0, False
    for reply in session.history.answers():
        question = session.question(reply.question)
        if reply.kind == "skip" or row not in question.items:
            continue
        n_answers += 1
        is_placed |= question.kind in ("group", "membership")
        if annotator not in (None, reply.annotator):
            continue
        value = describe(reply.value, session.groups.all_names, question.kind)
        text = f"{reply.annotator} answered “{value}”"
        if question.kind == "group":
            own.append(f"{text}.")
        elif question.cluster is not None:
            by_cluster.setdefault(question.cluster, []).append(text)
        elif question.kind == "relative":
            one, left, right = (session.item(other).label for other in question.items)
            similar.append(f"{one} between {left} on the left and {right}: {text}.")
        else:
            others = [session.item(other).label for other in question.items if other != row]
            similar.append(f"With {' and '.join(others)}: {text}.")
    memberships, names = result.memberships[row], result.group_names
    distances = _distances(session, row, result)
    groups = _leaves(session)
    reasons = [
        Reason(
            name=name, color=color, value=float(memberships[j]),
            distance=None if distances is None else float(distances[j]),
            answers=tuple(by_cluster.get(groups[j].number if j < len(groups) else j, ())),
        )
        for j, (name, color) in enumerate(zip(names, result_colors(session, result), strict=True))
    ]  # fmt: skip
    if is_placed:
        summary = "People placed this item themselves; what they answered stands."
    elif n_answers:
        summary = "People compared this item with others; its memberships follow from that."
    elif result.basis == "nothing":
        summary = "No answers yet: the groups have only names."
    elif distances is None:
        summary = "Nobody was asked about this item; it is in the group of items like it."
    else:
        summary = (
            "Nobody was asked about this item. It lies nearest to the centre of "
            f"{names[int(np.argmin(distances))]}, and answers about others taught how membership "
            "falls with distance."
        )
    reasons.sort(key=lambda reason: -reason.value)
    return Explanation(summary=summary, reasons=tuple(reasons), similar=(*own, *similar))


def _suggested_names(names: Sequence[str], profiles: Sequence[Profile]) -> list[str | None]:
    """Names of two typical words each, all different, for groups without a name."""
    taken = {name.casefold() for name in names} | {RESERVED}
    suggested: list[str | None] = []
    for name, profile in zip(names, profiles, strict=True):
        words = [word.rpartition(": ")[2] for word in profile.words]
        pairs = [" and ".join(pair) for pair in itertools.combinations(words, min(2, len(words)))]
        new = [pair for pair in pairs if pair and pair.casefold() not in taken][:1]
        is_unnamed = UNNAMED.fullmatch(name) is not None
        suggested.append(new[0].capitalize() if is_unnamed and new else None)
        taken |= {each.casefold() for each in new}
    return suggested


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


def _distances(session: Session, row: int, result: SessionResult) -> Floats | None:
    """Distances of an item from the centres; None for a later item, or without centres."""
    centers = result.clustering.centers
    is_known = row < len(session.rows.base) and bool(np.isfinite(centers).all())
    if result.basis == "nothing" or not is_known:
        return None
    distances: Floats = np.linalg.norm(session.rows.base[row] - centers, axis=1)
    return distances


def _numbers(columns: dict[str, list[Any]], n: int) -> tuple[list[str], Floats]:
    """Columns that are numbers, NaN where one is missing."""
    names = [
        name
        for name, column in columns.items()
        if name.casefold() != "id"
        and any(value is not None for value in column)
        and all(value is None or is_number(value) for value in column)
    ]
    rows = [[math.nan if value is None else float(value) for value in columns[n]] for n in names]
    return names, np.array(rows, dtype=np.float64).T.reshape(n, len(names))


def _add_categories(tokens: list[set[str]], columns: dict[str, list[Any]]) -> None:
    """Take values of columns with few different ones for words."""
    for name, column in columns.items():
        if 2 <= len(set(column)) <= _CATEGORIES:
            for words, value in zip(tokens, column, strict=True):
                words |= set() if value is None else {f"{name}: {value}"}


def _incidence(tokens: list[set[str]]) -> tuple[list[str], Floats]:
    """Words, and which items contain them."""
    counts = Counter(word for words in tokens for word in words)
    common = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_VOCABULARY]
    words = [word for word, count in common if count >= _FEWEST]
    places = {word: column for column, word in enumerate(words)}
    has = np.zeros((len(tokens), len(words)))
    for row, mine in enumerate(tokens):
        has[row, [places[word] for word in mine if word in places]] = 1.0
    return words, has
