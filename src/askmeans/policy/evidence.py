"""What answers say of memberships: one row per item that was asked about."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from askmeans.fuzzy.arrays import ROUNDING
from askmeans.policy.annotators import Annotator, Opinions, calibrated, combined, described
from askmeans.policy.scales import IDENTITY
from askmeans.queries import Answers, GroupQueries, MembershipQueries

__all__ = ["ANSWERS_A_WHOLE_ROW", "NOTHING", "WHOLE_ROWS", "Told", "told_by"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

WHOLE_ROWS = 3  # whole rows to begin with
ANSWERS_A_WHOLE_ROW = 25  # answers after which another row is asked as a whole
_POINTS = 101  # of the finest scale that people answer on: percent
_EXACTLY = 1e-6  # by how much rows of a program miss one, in single precision, too
_AT_END = 0.02  # as near as that to 0 or 1 an answer is at the end of the scale
_CHEAP = 2  # questions that an answer that was cut off is worth
# Of the answers that whole rows may cost more at once: up to 40 questions the error is 1.2 % lower
# than with .2, and with .05 alike (26 targets of benchmarks/questions.py, 8 seeds).
_SHARE = 0.1

_AGREE = 3.5  # standard deviations by which answers differ that are alike

_CONTESTED = 0.5  # of a share, by which answers to the same entry differ

NOTHING = 0.05  # a row of which no more was told says that the item is in none of these


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Items in the order they were first asked about, and what is known of their memberships.

    `values` are means of single answers, NaN where nothing is known; `asked` says which entries
    somebody was asked for; `place`, `cluster` and `value` are the single answers, on one scale;
    of the places in `cut_off` an answer was at the end of a crooked scale, and may be more.
    """

    items: Rows
    values: Floats
    asked: NDArray[np.bool_]
    times: Rows  # how often each entry was asked for
    place: Rows
    cluster: Rows
    value: Floats
    cut_off: Rows = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    annotators: Mapping[str, Annotator] = field(default_factory=dict)

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Of which items anybody could say anything."""
        known: NDArray[np.bool_] = (~np.isnan(self.values)).sum(axis=1) > 0
        return known

    @property
    def left(self) -> Floats:
        """How much of each row is not known."""
        rest = np.clip(1.0 - np.nansum(self.values, axis=1), 0.0, 1.0)
        left = np.where(np.isnan(self.values).any(axis=1), rest, 0.0)
        return np.where(self.all_but_one, self.nowhere, left)

    @property
    def unassigned(self) -> NDArray[np.bool_]:
        """Which items belong to none of the clusters: told of each, half at most."""
        whole = (~np.isnan(self.values)).all(axis=1)
        found: NDArray[np.bool_] = whole & (np.nansum(self.values, axis=1) < 0.5)
        return found

    @property
    def all_but_one(self) -> NDArray[np.bool_]:
        """Which items were told to be in none of the clusters but one that nobody spoke of."""
        one_left = np.isnan(self.values).sum(axis=1) == 1
        nothing = np.nansum(self.values, axis=1) <= NOTHING
        found: NDArray[np.bool_] = one_left & nothing & (self.values.shape[1] > 1)
        return found

    @property
    def nowhere(self) -> float:
        """How likely an item is in no cluster: as often as those told of are (Jeffreys)."""
        known = (np.nansum(self.values, axis=1) > NOTHING) | ~np.isnan(self.values).any(axis=1)
        return float((self.unassigned.sum() + 0.5) / (known.sum() + 1.0))

    @property
    def to_check(self) -> NDArray[np.bool_]:
        """Which of those that are told of all but one cluster to ask about that one, too.

        So many that less than one of the others is in no cluster, as far as those checked tell.
        """
        waiting = self.all_but_one
        wrong = (self.unassigned.sum() + 0.5) / (self.asked.all(axis=1).sum() + 1.0)
        enough: NDArray[np.bool_] = np.cumsum(waiting) <= waiting.sum() - int(1.0 / wrong)
        return waiting & enough

    @property
    def to_make_whole(self) -> NDArray[np.bool_]:
        """Which rows to ask every entry of, because only their sums tell of a crooked scale.

        A few, and more as time goes by where people answer; none while answers reach both ends of
        the scale. Then those of which an answer was cut off.
        """
        found = np.zeros(len(self.items), dtype=bool)
        lately = self.value[-ANSWERS_A_WHOLE_ROW:]
        n_ends = min((lately < _AT_END).sum(), (lately > 1.0 - _AT_END).sum())
        missing: Rows = (~self.asked).sum(axis=1)
        whole: NDArray[np.bool_] = missing == 0
        enough = WHOLE_ROWS + len(self.value) // ANSWERS_A_WHOLE_ROW
        if self.is_exact:  # of two clusters rows sum to one on a compressed scale, too
            enough = WHOLE_ROWS if self.values.shape[1] == 2 else 1
        wanted = enough - int(whole.sum())
        if self.values.shape[1] == 1:
            return found
        found[self.cut_off] = (missing[self.cut_off] <= _CHEAP) & ~whole[self.cut_off]
        if n_ends >= 2 or wanted <= 0:
            return found
        rows = np.flatnonzero(self.is_known & ~whole & ~self.all_but_one)
        # What was told of these is hardly cut off.
        middle = np.abs(np.nanmax(self.values[rows], axis=1) - 0.5)
        rows = rows[np.lexsort((middle, missing[rows]))][:wanted]
        found[rows[np.cumsum(missing[rows]) <= _SHARE * len(self.value)]] = True
        return found

    @property
    def is_exact(self) -> bool:
        """Whether a program answers: rows sum to one by more digits than any scale of people has.

        Nobody else may answer, on no other scale, and every entry of these rows was told.
        """
        whole = np.asarray(np.isfinite(self._ranges()).all(axis=1))
        steps = np.arange(1, _POINTS)
        value = self.value[whole[self.place]][:, None]
        fine = (np.abs(value - np.round(value * steps) / steps) > _EXACTLY).all(axis=1).any()
        off = np.abs(self.values[whole].sum(axis=1) - 1.0)
        straight = [annotator.scale == IDENTITY for annotator in self.annotators.values()]
        return straight == [True] and bool(fine) and bool((off <= _EXACTLY).all())

    @property
    def differ(self) -> bool:
        """Whether a question that was asked again was answered otherwise."""
        return bool((self._ranges() > ROUNDING).any())

    @property
    def is_contested(self) -> NDArray[np.bool_]:
        """Of which items answers differ by so much that their strongest cluster may be another."""
        return np.asarray((self._ranges() > _CONTESTED).any(axis=1))

    def confirmed(self, noise: float) -> NDArray[np.bool_]:
        """Which entries were answered again alike, but for so much noise: these are no slips."""
        counts = np.zeros(self.values.shape)
        np.add.at(counts, (self.place, self.cluster), 1.0)
        found: NDArray[np.bool_] = (counts > 1.0) & (self._ranges() <= _AGREE * noise + ROUNDING)
        return found

    def _ranges(self) -> Floats:
        """How far the answers to each entry are from each other; -inf where there are none."""
        low = np.full(self.values.shape, np.inf)
        high = -low
        np.minimum.at(low, (self.place, self.cluster), self.value)
        np.maximum.at(high, (self.place, self.cluster), self.value)
        ranges: Floats = high - low
        return ranges

    def spread(self) -> tuple[float, float]:
        """Variance of single answers to the same question; its degrees of freedom."""
        sums, counts, squares = np.zeros((3, *self.values.shape))
        where = (self.place, self.cluster)
        for table, what in ((sums, self.value), (counts, 1.0), (squares, np.square(self.value))):
            np.add.at(table, where, what)
        free = float(np.maximum(counts - 1.0, 0.0).sum())
        within = float((squares - np.square(sums) / np.maximum(counts, 1.0)).sum())
        return max(within, 0.0) / max(free, 1.0), free


def told_by(answers: Answers, n_clusters: int) -> Told:
    """What answers to membership and group questions say, together, on one scale."""
    items, clusters, values, names, times = [], [], [], [], []
    spoken: Counter[tuple[str, str]] = Counter()
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
            who = batch.who(row), queries.kind
            names += [who] * width
            times += [float(spoken[who])] * width
            spoken[who] += 1
    item = np.concatenate(items or [np.empty(0, dtype=np.int64)])
    cluster = np.concatenate(clusters or [np.empty(0, dtype=np.int64)]).astype(np.intp)
    value = np.concatenate(values or [np.empty(0)])
    unique, first, place = np.unique(item, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")  # as first asked about
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    place = rank[place]
    shape = (len(unique), n_clusters)
    asked = np.zeros(shape, dtype=np.intp)
    np.add.at(asked, (place, cluster), 1)
    said = ~np.isnan(value)
    number = {who: i for i, who in enumerate(spoken)}
    opinions = Opinions(
        place=place[said],
        cluster=cluster[said],
        value=value[said],
        who=np.array([number[who] for who in names], dtype=np.intp)[said],
        times=np.array(times)[said],
        names=tuple(name for name, _ in spoken),
        shape=shape,
    )
    value, cut_off, scales = calibrated(opinions)
    opinions = replace(opinions, value=value)
    means, weight = combined(opinions)
    return Told(
        items=unique[order].astype(np.intp),
        values=_completed(means),
        asked=asked > 0,
        times=asked,
        place=opinions.place,
        cluster=opinions.cluster,
        value=value,
        cut_off=np.unique(opinions.place[cut_off]),
        annotators=described(opinions, scales, weight),
    )


def _completed(values: Floats) -> Floats:
    """Rows with the entry that follows from the others, which sum to one with it."""
    if values.shape[1] == 1:
        return values
    # Who was told to be in none of the others may be in none at all: there nothing follows.
    told_enough = np.nansum(values, axis=1) > NOTHING
    rows = np.flatnonzero(told_enough & (np.isnan(values).sum(axis=1) == 1))
    missing = np.isnan(values[rows]).argmax(axis=1)
    rest = 1.0 - np.nansum(values[rows], axis=1)
    # What rounding leaves is nothing: a cluster must not be made of it.
    values[rows, missing] = np.where(rest > ROUNDING, np.minimum(rest, 1.0), 0.0)
    return values
