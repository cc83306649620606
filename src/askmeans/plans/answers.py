"""What a plan has been told: memberships by item and cluster, and what they cost by phase."""

import math
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import StopAsking
from askmeans.fuzzy.simplex import onto_simplex
from askmeans.queries import MembershipQueries, Queries
from askmeans.results import Clustering

__all__ = [
    "EXACT",
    "ROUNDING",
    "Answers",
    "Asking",
    "Averaged",
    "Held",
    "Plan",
    "Roughness",
    "keep_answers",
    "rounding_noise",
]  # fmt: skip

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

Plan = Generator[Queries, Floats, Clustering]
# A part of a plan: asks, and returns what the answers say.
Told = TypeVar("Told")
Asking = Generator[Queries, Floats, Told]

ROUNDING = 1e-12  # a row that sums to one but for this does sum to one


@dataclass(frozen=True, slots=True, kw_only=True)
class Roughness:
    """What is known of the answers' errors before any is given.

    `noise` is their standard deviation, None for one to be estimated; `levels` the number of points
    of their scale, None for a fine one.
    """

    noise: float | None = 0.0
    levels: int | None = None


EXACT = Roughness()


def rounding_noise(levels: int | None) -> float:
    """Standard deviation of what is lost on a scale of so many points; 0 for a fine one."""
    return 0.0 if levels is None else 1.0 / (levels - 1) / math.sqrt(12.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Answers held besides those asked for: batches, and for each its answers, one row a repeat.

    `rough` asks for a fit as of rough answers, even where none differ.
    """

    batches: tuple[tuple[Queries, Floats], ...]
    rough: bool = False


class Averaged(NDArray[np.float64]):
    """Answers that are averages; `each` has what was averaged, one row a repeat, NaN for none.

    `held` has answers to other questions. A plan may look at both, and else sees an array of
    answers like any other.
    """

    each: Floats
    held: Held | None

    def __new__(cls, answers: Floats, each: Floats, held: Held | None = None) -> Self:
        """Put them together."""
        averaged = np.asarray(answers, dtype=np.float64).view(cls)
        averaged.each, averaged.held = each, held
        return averaged


class Answers:
    """Memberships as they become known; a row's last entry follows from the others.

    With `faithful` every entry is asked, as in the paper's listings. Where the others sum to no
    more than `least_told`, the last does not follow: the item may belong to none of the clusters.
    """

    def __init__(self, n_clusters: int, *, faithful: bool, least_told: float = -math.inf) -> None:
        self.n_clusters = n_clusters
        self.faithful = faithful
        self.least_told = least_told
        self._places: dict[int, int] = {}
        self._values = np.empty((0, n_clusters))
        self._asked: set[tuple[int, int]] = set()
        self._told: list[tuple[Rows, Rows, Floats]] = []
        self._held: Held | None = None
        self._seem_rough = False
        self.raw: Counter[str] = Counter()
        self.distinct: Counter[str] = Counter()
        self.rounds: Counter[str] = Counter()

    @property
    def items(self) -> Rows:
        """Items of which anything is known, in the order they were first asked about."""
        return np.fromiter(self._places, dtype=np.intp, count=len(self._places))

    @property
    def values(self) -> Floats:
        """What is known of them, one row an item; NaN where nothing is."""
        return self._values[: len(self._places)]

    def single(self) -> tuple[Rows, Rows, Floats]:
        """Every single answer: place of the item in `items`, cluster, value; repeats apart."""
        if not self._told:
            nothing = np.empty(0, dtype=np.intp)
            return nothing, nothing, np.empty(0)
        places, clusters, values = zip(*self._told, strict=True)
        return np.concatenate(places), np.concatenate(clusters), np.concatenate(values)

    def take_held(self) -> None:
        """Take in answers that are held but were not asked for: they count for the fit as well."""
        if self._held is None:
            return
        held, self._held = self._held, None
        self._seem_rough = held.rough
        for batch, each in held.batches:
            if isinstance(batch, MembershipQueries):
                keys = zip(batch.items.tolist(), batch.clusters.tolist(), strict=True)
                new = np.array([key not in self._asked for key in keys], dtype=bool)
                told = np.isnan(each).sum(axis=0) < len(each)
                mine = np.flatnonzero(new & told)
                if len(mine):
                    means = np.nanmean(each[:, mine], axis=0)
                    self._keep(batch.take(mine), Averaged(means, each[:, mine]))

    def differ(self) -> bool:
        """Whether a question that was asked again was answered otherwise; or it shall seem so."""
        if self._seem_rough:
            return True
        places, clusters, values = self.single()
        low = np.full((len(self._places), self.n_clusters), np.inf)
        high = -low
        np.minimum.at(low, (places, clusters), values)
        np.maximum.at(high, (places, clusters), values)
        return bool((high - low > ROUNDING).any())

    def unasked(self) -> NDArray[np.bool_]:
        """Which entries of those items' rows are neither known nor have been asked about."""
        open_ = np.isnan(self.values)
        for item, cluster in self._asked:
            if item in self._places:
                open_[self._places[item], cluster] = False
        return open_

    def look_up(self, items: Rows, clusters: Rows) -> Floats:
        """Entries known so far; NaN where nothing is."""
        if self.n_clusters == 1 and not self.faithful:
            return np.ones(len(items))  # the only entry of its row follows from no other
        places = np.array([self._places.get(item, -1) for item in items.tolist()], dtype=np.intp)
        known = np.full(len(items), np.nan)
        seen = places >= 0
        known[seen] = self._values[places[seen], clusters[seen]]
        return known

    def ask(self, items: Rows, clusters: Rows, phase: str) -> Asking[Floats]:
        """Ask about entries, except those that follow from the rest of their row."""
        values = self.look_up(items, clusters)
        asked = np.full(len(items), True) if self.faithful else np.isnan(values)
        if not self.faithful:  # what somebody could not say is not asked again
            asked &= np.array(
                [
                    entry not in self._asked
                    for entry in zip(items.tolist(), clusters.tolist(), strict=True)
                ],
                dtype=bool,
            )
        if not asked.any():
            return values
        batch = MembershipQueries(items[asked], clusters[asked])
        try:
            answers = yield batch
        except StopAsking as stop:
            told = ~np.isnan(stop.answers)  # what was not answered was not asked
            self._count(batch.take(told), phase)
            self._keep(batch, stop.answers)
            raise
        self._count(batch, phase)
        self._keep(batch, answers)
        return self.look_up(items, clusters)

    def ask_rows(self, items: Rows, clusters: Rows, phase: str) -> Asking[Floats]:
        """Ask about all these clusters for each item (n x c); one fewer where the rest follows."""
        whole_rows = len(clusters) == self.n_clusters and not self.faithful
        asked = clusters[:-1] if whole_rows and self.n_clusters > 1 else clusters
        yield from self.ask(np.repeat(items, len(asked)), np.tile(asked, len(items)), phase)
        flat = self.look_up(np.repeat(items, len(clusters)), np.tile(clusters, len(items)))
        return flat.reshape(len(items), len(clusters))

    def _count(self, batch: MembershipQueries, phase: str) -> None:
        """Account for a batch that was asked."""
        before = len(self._asked)
        self._asked.update(zip(batch.items.tolist(), batch.clusters.tolist(), strict=True))
        self.raw[phase] += len(batch)
        self.distinct[phase] += len(self._asked) - before
        self.rounds[phase] += len(self._asked) > before

    def _keep(self, batch: MembershipQueries, answers: Floats) -> None:
        """Write answers down, and what follows from them."""
        for item in batch.items.tolist():
            self._places.setdefault(item, len(self._places))
        if len(self._places) > len(self._values):
            room = np.full((2 * len(self._places), self.n_clusters), np.nan)
            room[: len(self._values)] = self._values
            self._values = room
        places = np.array([self._places[item] for item in batch.items.tolist()], dtype=np.intp)
        each = answers.each if isinstance(answers, Averaged) else answers[None]
        if isinstance(answers, Averaged) and answers.held is not None:
            self._held = answers.held
        # A sample drawn with replacement names an item twice: that is one answer.
        once = np.unique(np.column_stack([places, batch.clusters]), axis=0, return_index=True)[1]
        repeats, column = np.nonzero(~np.isnan(each[:, once]))
        where = once[column]
        self._told.append((places[where], batch.clusters[where], each[repeats, where]))
        told = ~np.isnan(answers)
        self._values[places[told], batch.clusters[told]] = answers[told]
        if not self.faithful:
            rows = np.unique(places)
            unknown = np.isnan(self._values[rows])
            told_enough = np.nansum(self._values[rows], axis=1) > self.least_told
            rows = rows[told_enough & (unknown.sum(axis=1) == 1)]  # one left: it sums to one
            missing = np.isnan(self._values[rows]).argmax(axis=1)
            rest = 1.0 - np.nansum(self._values[rows], axis=1)
            # What rounding leaves is nothing: a cluster must not be made of it.
            self._values[rows, missing] = np.where(rest > ROUNDING, np.minimum(rest, 1.0), 0.0)


def keep_answers(memberships: Floats, rows: Rows, told: Floats) -> None:
    """Let every answer stand as given, in place; the rest of its row shares what is left.

    Noisy answers are cut to [0, 1], and answers that contradict each other are made to fit.
    """
    known = ~np.isnan(told)
    for count in np.unique(known.sum(axis=1)):
        if count == 0:
            continue
        some = np.flatnonzero(known.sum(axis=1) == count)
        here, given = rows[some], np.clip(np.where(known[some], told[some], 0.0), 0.0, 1.0)
        total = given.sum(axis=1, keepdims=True)
        given = np.where(total > 1.0 + ROUNDING, given / np.maximum(total, 1.0), given)
        left = np.clip(1.0 - total, 0.0, None)
        if count == memberships.shape[1]:
            short = left[:, 0] > ROUNDING
            given[short] = onto_simplex(given[short])
            memberships[here] = given
            continue
        share = np.where(known[some], 0.0, memberships[here])
        mass = share.sum(axis=1, keepdims=True)
        even = ~known[some] / (memberships.shape[1] - count)
        share = np.where(mass > 0.0, share / np.where(mass > 0.0, mass, 1.0), even)
        memberships[here] = given + left * share
