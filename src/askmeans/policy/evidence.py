"""Evidence on memberships: one row per item with answers, of all annotators."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats, Rows
from askmeans.fuzzy.arrays import ROUNDING
from askmeans.policy.annotators import Annotator, Opinions, calibrated, combined, described
from askmeans.policy.scales import IDENTITY, OUTLIER, UNASSIGNED_SUM
from askmeans.queries import Answers, GroupQueries, MembershipQueries

# Complete rows show an annotator's scale: three at first, the minimum for fitting a scale
# (`scales.MIN_ROWS`), and another after every 25 answers (docs/questions.md has the cost).
WHOLE_ROWS, ANSWERS_A_WHOLE_ROW = 3, 25
_POINTS = 101  # points of the finest scale of people: percent
_EXACTLY = 1e-6  # rounding of row sums by a program, in single precision, too
_AT_END = 0.02  # distance to 0 or 1 of an answer at the end: two points of that scale
_CHEAP = 2  # questions to ask about a row with a cut off answer
# Share of the answers to spend on complete rows at once: up to 40 questions the error is 1.2 %
# lower than with .2, and the same with .05 (26 targets of benchmarks/questions.py, 8 seeds).
_SHARE = 0.1
_CONTESTED = 0.5  # a difference that may change the strongest cluster of a row of two
SEVERAL = 2  # items in no cluster from which on they are modelled; a single one may be a slip
Unions = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Items in the order of their first questions, and their known memberships.

    `values` are means of single answers, NaN for unknown entries; `queried` marks the entries that
    were asked for; `place`, `cluster` and `value` are the single answers on one scale; rows
    `cut_off` have an answer at the end of a distorted scale, which may mean more. An answer may
    name one of the `unions` of clusters: the item is in one of these, unknown in which.
    """

    items: Rows
    values: Floats
    queried: NDArray[np.bool_]
    times: Rows  # number of questions about each entry
    place: Rows
    cluster: Rows
    value: Floats
    cut_off: Rows = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    annotators: Mapping[str, Annotator] = field(default_factory=dict)
    unions: Unions = ()

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Which items have an answer other than "cannot say"."""
        return np.asarray((~np.isnan(self.values)).any(axis=1))

    @property
    def left(self) -> Floats:
        """The unknown share of each row."""
        rest = np.clip(1.0 - np.nansum(self.values, axis=1), 0.0, 1.0)
        left = np.where(np.isnan(self.values).any(axis=1), rest, 0.0)
        return np.where(self.all_but_one, self.nowhere, left)

    @property
    def in_union(self) -> NDArray[np.bool_]:
        """Which rows are known but for a union: its clusters have all that is left."""
        unknown = np.isnan(self.values)
        inside = [unknown[:, list(union)].all(axis=1) & (unknown.sum(axis=1) == len(union))
                  for union in self.unions]  # fmt: skip
        return np.any(inside, axis=0) if inside else np.zeros(len(unknown), dtype=bool)

    @property
    def unassigned(self) -> NDArray[np.bool_]:
        """Which items belong to no cluster: all entries are known, with a sum below one half."""
        return np.asarray(self._is_complete & (np.nansum(self.values, axis=1) < 0.5))

    @property
    def has_unassigned(self) -> bool:
        """Whether enough items belong to no cluster to model them."""
        return int(self.unassigned.sum()) >= SEVERAL

    @property
    def _is_complete(self) -> NDArray[np.bool_]:
        """Which items have no unknown entry."""
        return np.asarray((~np.isnan(self.values)).all(axis=1))

    def with_unassigned_column(self) -> "Evidence":
        """The evidence with a column for "none of these", about which no question is asked."""
        n = len(self.items)
        rest = np.where(self.unassigned, 1.0 - np.nansum(self.values, axis=1), 0.0)
        column = np.where(self._is_complete | self.in_union, rest, np.nan)[:, None]
        return replace(
            self,
            values=np.hstack([self.values, column]),
            queried=np.hstack([self.queried, np.ones((n, 1), dtype=bool)]),
            times=np.hstack([self.times, np.zeros((n, 1), dtype=np.intp)]),
        )

    @property
    def all_but_one(self) -> NDArray[np.bool_]:
        """Which items are in no cluster except perhaps one that has no answer."""
        one_left = np.isnan(self.values).sum(axis=1) == 1
        nothing = np.nansum(self.values, axis=1) <= UNASSIGNED_SUM
        return np.asarray(one_left & nothing & (self.values.shape[1] > 1))

    @property
    def nowhere(self) -> float:
        """The probability that an item is in no cluster (Jeffreys' estimate)."""
        known = (np.nansum(self.values, axis=1) > UNASSIGNED_SUM) | self._is_complete
        return float((self.unassigned.sum() + 0.5) / (known.sum() + 1.0))

    @property
    def to_check(self) -> NDArray[np.bool_]:
        """Which of the items `all_but_one` to ask about the last cluster.

        So many that less than one of the others is expected to be in no cluster.
        """
        waiting = self.all_but_one
        wrong = (self.unassigned.sum() + 0.5) / (self.queried.all(axis=1).sum() + 1.0)
        return np.asarray(waiting & (np.cumsum(waiting) <= waiting.sum() - int(1.0 / wrong)))

    @property
    def to_complete(self) -> NDArray[np.bool_]:
        """Which rows to complete, since only their sums show a distorted scale.

        A few, and more with time if people answer; none while answers reach both ends of the scale.
        Also rows with a cut off answer.
        """
        chosen = np.zeros(len(self.items), dtype=bool)
        lately = self.value[-ANSWERS_A_WHOLE_ROW:]
        n_ends = min((lately < _AT_END).sum(), (lately > 1.0 - _AT_END).sum())
        missing: Rows = (~self.queried).sum(axis=1)
        complete: NDArray[np.bool_] = missing == 0
        enough = WHOLE_ROWS + len(self.value) // ANSWERS_A_WHOLE_ROW
        if self.is_exact:  # with two clusters rows sum to one on a compressed scale, too
            enough = WHOLE_ROWS if self.values.shape[1] == 2 else 1
        wanted = enough - int(complete.sum())
        if self.values.shape[1] == 1:
            return chosen
        chosen[self.cut_off] = (missing[self.cut_off] <= _CHEAP) & ~complete[self.cut_off]
        if n_ends >= 2 or wanted <= 0:
            return chosen
        rows = np.flatnonzero(self.is_known & ~complete & ~self.all_but_one)
        # Answers near the middle are rarely cut off.
        middle = np.abs(np.nanmax(self.values[rows], axis=1) - 0.5)
        rows = rows[np.lexsort((middle, missing[rows]))][:wanted]
        chosen[rows[np.cumsum(missing[rows]) <= _SHARE * len(self.value)]] = True
        return chosen

    @property
    def is_exact(self) -> bool:
        """Whether a program answers: complete rows sum to one with more digits than people use.

        It is the only annotator, and its scale is not distorted.
        """
        complete = np.asarray(np.isfinite(self._ranges()).all(axis=1))
        steps = np.arange(1, _POINTS)
        value = self.value[complete[self.place]][:, None]
        fine = (np.abs(value - np.round(value * steps) / steps) > _EXACTLY).all(axis=1).any()
        off = np.abs(self.values[complete].sum(axis=1) - 1.0)
        straight = [annotator.scale == IDENTITY for annotator in self.annotators.values()]
        return straight == [True] and bool(fine) and bool((off <= _EXACTLY).all())

    @property
    def differ(self) -> bool:
        """Whether answers to a repeated question differ."""
        return bool((self._ranges() > ROUNDING).any())

    @property
    def is_contested(self) -> NDArray[np.bool_]:
        """Which items have answers that differ enough to change the strongest cluster."""
        return np.asarray((self._ranges() > _CONTESTED).any(axis=1))

    def confirmed(self, noise: float) -> NDArray[np.bool_]:
        """Which entries have several answers that agree within the noise."""
        counts = np.zeros(self.values.shape)
        np.add.at(counts, (self.place, self.cluster), 1.0)
        return np.asarray((counts > 1.0) & (self._ranges() <= OUTLIER * noise + ROUNDING))

    def _ranges(self) -> Floats:
        """The range of the answers to each entry; -inf without answers."""
        low = np.full(self.values.shape, np.inf)
        high = -low
        np.minimum.at(low, (self.place, self.cluster), self.value)
        np.maximum.at(high, (self.place, self.cluster), self.value)
        return np.asarray(high - low)

    def spread(self) -> tuple[float, float]:
        """Variance of single answers to the same question; its degrees of freedom."""
        sums, counts, squares = np.zeros((3, *self.values.shape))
        where = (self.place, self.cluster)
        for table, what in ((sums, self.value), (counts, 1.0), (squares, np.square(self.value))):
            np.add.at(table, where, what)
        free = float(np.maximum(counts - 1.0, 0.0).sum())
        within = float((squares - np.square(sums) / np.maximum(counts, 1.0)).sum())
        return max(within, 0.0) / max(free, 1.0), free


def evidence_of(
    answers: Answers,
    n_clusters: int,
    features: Callable[[Rows], Floats] | None = None,
    unions: Unions = (),
) -> Evidence:
    """The evidence of all answers to membership and group questions, on one scale.

    Features of items, where they are known, show the scale of answers about two clusters.
    """
    items, clusters, values, names, times = [], [], [], [], []
    n_by_annotator: Counter[tuple[str, str]] = Counter()
    for batch in answers.batches:
        queries = batch.queries
        if isinstance(queries, MembershipQueries):
            width = 1
            items.append(queries.items)
            clusters.append(queries.clusters)
        elif isinstance(queries, GroupQueries):
            width = queries.n_clusters
            items.append(np.repeat(queries.items, width))
            clusters.append(np.tile(np.arange(width), len(queries)))
        else:
            continue
        values.append(batch.values.ravel())
        for row in range(len(queries)):
            who = batch.annotator_of(row), queries.kind
            names += [who] * width
            times += [float(n_by_annotator[who])] * width
            n_by_annotator[who] += 1
    item = np.concatenate(items or [np.empty(0, dtype=np.int64)])
    cluster = np.concatenate(clusters or [np.empty(0, dtype=np.int64)]).astype(np.intp)
    value = np.concatenate(values or [np.empty(0)])
    unique, first, place = np.unique(item, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")  # in the order of the first questions
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    place = rank[place]
    shape = (len(unique), n_clusters)
    queried = np.zeros(shape, dtype=np.intp)
    np.add.at(queried, (place, cluster), 1)
    answered = ~np.isnan(value)
    number = {who: i for i, who in enumerate(n_by_annotator)}
    opinions = Opinions(
        place=place[answered],
        cluster=cluster[answered],
        value=value[answered],
        who=np.array([number[who] for who in names], dtype=np.intp)[answered],
        times=np.array(times)[answered],
        names=tuple(name for name, _ in n_by_annotator),
        shape=shape,
        features=features(unique[order]) if features is not None and n_clusters == 2 else None,
    )
    value, cut_off, scales = calibrated(opinions)
    opinions = replace(opinions, value=value)
    means, weight = combined(opinions)
    return Evidence(
        items=unique[order].astype(np.intp),
        values=_completed(means),
        queried=queried > 0,
        times=queried,
        place=opinions.place,
        cluster=opinions.cluster,
        value=value,
        cut_off=np.unique(opinions.place[cut_off]),
        annotators=described(opinions, scales, weight),
        unions=unions,
    )


def _completed(values: Floats) -> Floats:
    """Fill the last unknown entry of a row, since rows sum to one."""
    if values.shape[1] == 1:
        return values
    # An item in none of the others may be in no cluster at all: its last entry stays unknown.
    informative = np.nansum(values, axis=1) > UNASSIGNED_SUM
    rows = np.flatnonzero(informative & (np.isnan(values).sum(axis=1) == 1))
    missing = np.isnan(values[rows]).argmax(axis=1)
    rest = 1.0 - np.nansum(values[rows], axis=1)
    # A rest within rounding is 0: a cluster must not be made of it.
    values[rows, missing] = np.where(rest > ROUNDING, np.minimum(rest, 1.0), 0.0)
    return values
