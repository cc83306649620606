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

# Complete rows are needed to fit an annotator's scale: three at first, the minimum for a fit
# (`scales.MIN_ROWS`), and another after every 25 answers (docs/questions.md has the cost).
WHOLE_ROWS, ANSWERS_A_WHOLE_ROW = 3, 25
_MAX_LEVELS = 101  # points of the finest scale that people use: percent
_SUM_TOLERANCE = 1e-6  # for row sums of a program's answers, also in single precision
_AT_END = 0.02  # distance to 0 or 1 of an answer at the end: two points of that scale
_MAX_MISSING = 2  # missing entries up to which a row with a clipped answer is completed
# Number of questions to complete rows, relative to the answers so far: up to 40 questions the
# error is 1.2 % lower than with .2, and the same with .05 (26 targets of benchmarks/questions.py,
# 8 seeds).
_COMPLETION_SHARE = 0.1
_CONTESTED = 0.5  # a difference of answers that may change the stronger of two clusters
SEVERAL = 2  # items in no cluster from which on they are modelled; a single one may be a slip
Unions = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Items in the order of their first questions, and their known memberships.

    `values` are means of single answers, NaN for unknown entries; `queried` marks the entries with
    questions; `place` (a row of `items`), `cluster` and `value` are the single answers on one
    scale. The rows `cut_off` have an answer that the end of a distorted scale may have clipped. An
    answer may name one of the `unions` of clusters: the item is in one of them, but unknown which.
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
        """Which rows are known except for a union, whose clusters share the rest."""
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

        Enough of them that less than one of the others is expected to be in no cluster.
        """
        candidates = self.all_but_one
        rate = (self.unassigned.sum() + 0.5) / (self.queried.all(axis=1).sum() + 1.0)
        n = candidates.sum() - int(1.0 / rate)
        return np.asarray(candidates & (np.cumsum(candidates) <= n))

    @property
    def to_complete(self) -> NDArray[np.bool_]:
        """Which rows to complete, as a distorted scale can be detected by their sums only.

        A few rows, and more with further answers if people answer; none while answers reach both
        ends of the scale. Also rows with a clipped answer.
        """
        chosen = np.zeros(len(self.items), dtype=bool)
        recent = self.value[-ANSWERS_A_WHOLE_ROW:]
        n_ends = min((recent < _AT_END).sum(), (recent > 1.0 - _AT_END).sum())
        missing: Rows = (~self.queried).sum(axis=1)
        complete: NDArray[np.bool_] = missing == 0
        enough = WHOLE_ROWS + len(self.value) // ANSWERS_A_WHOLE_ROW
        if self.is_exact:  # with two clusters rows sum to one on a compressed scale, too
            enough = WHOLE_ROWS if self.values.shape[1] == 2 else 1
        wanted = enough - int(complete.sum())
        if self.values.shape[1] == 1:
            return chosen
        chosen[self.cut_off] = (missing[self.cut_off] <= _MAX_MISSING) & ~complete[self.cut_off]
        if n_ends >= 2 or wanted <= 0:
            return chosen
        rows = np.flatnonzero(self.is_known & ~complete & ~self.all_but_one)
        # Answers near the middle are rarely clipped.
        middle = np.abs(np.nanmax(self.values[rows], axis=1) - 0.5)
        rows = rows[np.lexsort((middle, missing[rows]))][:wanted]
        chosen[rows[np.cumsum(missing[rows]) <= _COMPLETION_SHARE * len(self.value)]] = True
        return chosen

    @property
    def is_exact(self) -> bool:
        """Whether the only annotator is a program: rows sum to one, with more digits than percent.

        False if the annotator's scale is distorted.
        """
        complete = np.asarray(np.isfinite(self._ranges()).all(axis=1))
        steps = np.arange(1, _MAX_LEVELS)
        value = self.value[complete[self.place]][:, None]
        rounding = np.abs(value - np.round(value * steps) / steps)
        is_fine = (rounding > _SUM_TOLERANCE).all(axis=1).any()
        errors = np.abs(self.values[complete].sum(axis=1) - 1.0)
        undistorted = [annotator.scale == IDENTITY for annotator in self.annotators.values()]
        return undistorted == [True] and bool(is_fine) and bool((errors <= _SUM_TOLERANCE).all())

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
        entries = (self.place, self.cluster)
        for table, terms in ((sums, self.value), (counts, 1.0), (squares, np.square(self.value))):
            np.add.at(table, entries, terms)
        freedom = float(np.maximum(counts - 1.0, 0.0).sum())
        within = float((squares - np.square(sums) / np.maximum(counts, 1.0)).sum())
        return max(within, 0.0) / max(freedom, 1.0), freedom


def evidence_of(
    answers: Answers,
    n_clusters: int,
    features: Callable[[Rows], Floats] | None = None,
    unions: Unions = (),
) -> Evidence:
    """The evidence of all answers to membership and group questions, on one scale.

    With two clusters `features` of the items help to fit the scale.
    """
    opinions, items, times = _opinions(answers, n_clusters, features)
    value, cut_off, scales = calibrated(opinions)
    opinions = replace(opinions, value=value)
    means, weight = combined(opinions)
    return Evidence(
        items=items,
        values=_completed(means),
        queried=times > 0,
        times=times,
        place=opinions.place,
        cluster=opinions.cluster,
        value=value,
        cut_off=np.unique(opinions.place[cut_off]),
        annotators=described(opinions, scales, weight),
        unions=unions,
    )


def _opinions(
    answers: Answers, n_clusters: int, features: Callable[[Rows], Floats] | None
) -> tuple[Opinions, Rows, Rows]:
    """Single answers without "cannot say"; their items; numbers of questions about each entry."""
    items, clusters, values, names, times = [], [], [], [], []
    # The same person has a scale for each kind of question.
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
            annotator = batch.annotator_of(row), queries.kind
            names += [annotator] * width
            times += [float(n_by_annotator[annotator])] * width
            n_by_annotator[annotator] += 1
    item = np.concatenate(items or [np.empty(0, dtype=np.int64)])
    cluster = np.concatenate(clusters or [np.empty(0, dtype=np.int64)]).astype(np.intp)
    value = np.concatenate(values or [np.empty(0)])
    unique, first, place = np.unique(item, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")  # in the order of the first questions
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    place = rank[place]
    shape = (len(unique), n_clusters)
    n_questions = np.zeros(shape, dtype=np.intp)
    np.add.at(n_questions, (place, cluster), 1)
    answered = ~np.isnan(value)
    number = {annotator: i for i, annotator in enumerate(n_by_annotator)}
    opinions = Opinions(
        place=place[answered],
        cluster=cluster[answered],
        value=value[answered],
        who=np.array([number[annotator] for annotator in names], dtype=np.intp)[answered],
        times=np.array(times)[answered],
        names=tuple(name for name, _ in n_by_annotator),
        shape=shape,
        features=features(unique[order]) if features is not None and n_clusters == 2 else None,
    )
    return opinions, unique[order].astype(np.intp), n_questions


def _completed(values: Floats) -> Floats:
    """Fill the last unknown entry of a row, since rows sum to one."""
    if values.shape[1] == 1:
        return values
    # An item in none of the other clusters may be in no cluster: its last entry stays unknown.
    informative = np.nansum(values, axis=1) > UNASSIGNED_SUM
    rows = np.flatnonzero(informative & (np.isnan(values).sum(axis=1) == 1))
    missing = np.isnan(values[rows]).argmax(axis=1)
    rest = 1.0 - np.nansum(values[rows], axis=1)
    # A rest within rounding is 0: it is no evidence of a cluster.
    values[rows, missing] = np.where(rest > ROUNDING, np.minimum(rest, 1.0), 0.0)
    return values
