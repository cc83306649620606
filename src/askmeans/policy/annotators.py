"""Annotators: the scale of each one's answers, and their weights.

Rules of this file:
- An answer that nothing contradicts stays the same, to the last bit.
- An annotator with few answers is assumed to be like all others.
- Weights, and the power that sharpens an average of rows, are those that best predict another
  annotator's answer about the same item. People hedge and slip: averages of few are too soft.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats
from askmeans.policy.scales import IDENTITY, MIN_ROWS, NORMAL_MAD, OUTLIER, AnswerScale, fit_scale

Integers = NDArray[np.intp]

# Prior answers of a usual annotator: people differ little (N_Emotion of benchmarks/people.py), so
# weights are shrunk hard.
_LIKE_ALL = 5.0
_OVERLAPS = 20  # shared questions from which on annotators are compared: a variance within a third
_POWERS = np.arange(1.0, 3.05, 0.1)  # a grid; shares of CIFAR-10S are best at 1.5
_EVEN = 0.3  # standard deviation of a uniform share, 1 / sqrt(12)
_DOUBTFUL = 0.02  # standard deviation from which a cut off answer is uncertain: two percent
_DRIFT = 0.05  # smallest reported drift: the smallest step that people use


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinions:
    """Single answers: a value for an item and a cluster, with annotator and time.

    An annotator who answers in two forms (entries, complete rows) has two numbers in `who`; `times`
    counts the answers of each.
    """

    place: Integers
    cluster: Integers
    value: Floats
    who: Integers
    times: Floats
    names: tuple[str, ...]  # of each number in `who`
    shape: tuple[int, int]  # items, clusters
    features: Floats | None = None  # of each item

    def rows(self, mine: NDArray[np.bool_]) -> tuple[Integers, Floats, Floats]:
        """Items, values and times of some answers, by item; NaN for missing entries."""
        items, row = np.unique(self.place[mine], return_inverse=True)
        where = row, self.cluster[mine]
        sums, times, counts = np.zeros((3, len(items), self.shape[1]))
        np.add.at(sums, where, self.value[mine])
        np.add.at(times, where, self.times[mine])
        np.add.at(counts, where, 1.0)
        with np.errstate(invalid="ignore"):
            return items, sums / counts, times / counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator:
    """The scale and errors of one annotator."""

    scale: AnswerScale
    n_answers: int
    spread: float | None  # standard deviation of the differences from others; None if not compared
    slips: float | None  # share of answers far from the others'

    @property
    def drifted(self) -> float:
        """The drift of the scale from the first answer to the last."""
        return self.scale.drift * max(self.n_answers - 1, 0)

    def to_dict(self) -> dict[str, Any]:
        """The record for diagnostics, with the present offset."""
        return {
            "offset": self.scale.offset + self.drifted,
            "gain": self.scale.gain,
            "power": self.scale.power,
            "drift": self.drifted,
            "spread": self.spread,
            "slips": self.slips,
        }


def calibrated(opinions: Opinions) -> tuple[Floats, NDArray[np.bool_], list[AnswerScale]]:
    """Convert answers to memberships; return which were cut off at an end, and all scales."""
    count, features = len(opinions.names), opinions.features
    everybody = IDENTITY
    tables = [opinions.rows(opinions.who == who) for who in range(count)]
    if count > 1:
        every = np.concatenate([items for items, _, _ in tables])
        everybody = fit_scale(
            np.concatenate([values for _, values, _ in tables]),
            np.concatenate([times for _, _, times in tables]),
            None if features is None else features[every],
        )
    value, scales = opinions.value.copy(), []
    open_ = np.zeros(len(value), dtype=bool)
    for who, (items, values, times) in enumerate(tables):
        n_complete = int((~np.isnan(values)).all(axis=1).sum())
        scale = everybody
        if n_complete >= MIN_ROWS or count == 1:
            scale = fit_scale(values, times, None if features is None else features[items])
        scales.append(scale)
        if scale == IDENTITY:
            continue
        mine = opinions.who == who
        where = np.searchsorted(items, opinions.place[mine]), opinions.cluster[mine]
        known, doubtful = _memberships(scale, values, times)
        # Repeated answers keep their differences.
        when = times[where]
        residual = (
            scale.bounds(opinions.value[mine], when)[0] - scale.bounds(values[where], when)[0]
        )
        value[mine], open_[mine] = known[where] + residual, doubtful[where]
    return value, open_, scales


def _memberships(
    scale: AnswerScale, values: Floats, times: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Memberships of rows on a scale, and which are uncertain because an answer was cut off.

    A cut off answer gets the rest of its row; if that is unknown, the mean share of others.
    """
    low, high = (np.clip(bound, 0.0, 1.0) for bound in scale.bounds(values, times))
    cut = high > low
    rest = 1.0 - np.nansum(np.where(cut, 0.0, low), axis=1)
    alone = cut.sum(axis=1) == 1
    widest, high = high, np.where(cut & alone[:, None], np.clip(rest[:, None], low, high), high)
    sure = alone & ~np.isnan(values).any(axis=1)
    share, usual = np.full(values.shape, 0.5), _EVEN
    fractions = np.clip((rest[:, None] - low) / np.where(cut, widest - low, 1.0), 0.0, 1.0)
    if sure.any():
        shares = fractions[sure[:, None] & cut]
        usual = float(np.sqrt((shares.var() * len(shares) + 3 * _EVEN**2) / (len(shares) + 3)))
        if len(shares) >= MIN_ROWS and shares.min() > 0.9:
            usual = 0.0  # hard labels: all answers are at the end
        share[:] = shares.mean()
        share[sure] = fractions[sure]
    top = np.where(sure[:, None], widest, high)
    known: Floats = np.where(cut, low + share * (top - low), low)
    return known, cut & ~sure[:, None] & (usual * (high - low) > _DOUBTFUL)


def combined(opinions: Opinions) -> tuple[Floats, Floats]:
    """The mean answer of each entry (NaN without one), and the weight of each annotator.

    Annotators who agree with others have more weight, and averages of rows are sharpened, if that
    predicts held-out annotators better.
    """
    weight = _weights(opinions)
    sums, counts = np.zeros((2, *opinions.shape))
    where = opinions.place, opinions.cluster
    each = weight[opinions.who] if len(weight) else np.ones(0)
    np.add.at(sums, where, opinions.value * each)
    np.add.at(counts, where, each)
    means = np.where(counts > 0.0, sums / np.where(counts > 0.0, counts, 1.0), np.nan)
    power, several = _power(opinions, weight)
    if power != 1.0:
        means[several] = _sharpened(means[several], power) * means[several].sum(axis=1)[:, None]
    return means, weight


def _others(opinions: Opinions, weight: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """For each answer the mean of the others to the same question, and whether there are any."""
    each = weight[opinions.who]
    cell = opinions.place * opinions.shape[1] + opinions.cluster
    mine = np.unique(cell * len(weight) + opinions.who, return_inverse=True)[1]
    totals = [np.bincount(key, amount)[key] for amount in (each, each * opinions.value)
              for key in (cell, mine)]  # fmt: skip
    rest = totals[0] - totals[1]
    shared = rest > 1e-9
    return (totals[2] - totals[3]) / np.where(shared, rest, 1.0), shared


def _weights(opinions: Opinions) -> Floats:
    """Weights of the annotators: the inverse of their squared differences from others, shrunk.

    All are equal unless the weighted mean of others predicts an answer better than the plain one.
    """
    count = len(opinions.names)
    equal = np.ones(count)
    if count < 3:
        return equal
    mean, shared = _others(opinions, equal)
    if shared.sum() < _OVERLAPS:
        return equal
    away = np.where(shared, np.square(opinions.value - mean), 0.0)
    # Relative to the question: some are harder than others.
    item = np.bincount(opinions.place, away, opinions.shape[0])
    n_item = np.bincount(opinions.place, shared, opinions.shape[0])
    usual = (item / np.maximum(n_item, 1.0))[opinions.place] * shared
    rows = max(1.0, float(shared.sum() / len(np.unique(opinions.place * count + opinions.who))))
    prior = _LIKE_ALL * rows * away.sum() / shared.sum()
    if prior <= 0.0:
        return equal
    mine, theirs = (np.bincount(opinions.who, what, count) for what in (away, usual))
    weight: Floats = (theirs + prior) / (mine + prior)
    better = np.where(shared, np.square(opinions.value - _others(opinions, weight)[0]), 0.0)
    return weight if better.sum() < away.sum() else equal


def _power(opinions: Opinions, weight: Floats) -> tuple[float, NDArray[np.bool_]]:
    """The power for averages of complete rows, and which rows are such averages.

    Another annotator's row is assumed to be a slip with some probability.
    """
    n, k = opinions.shape
    several = np.zeros(n, dtype=bool)
    if k < 2 or len(opinions.names) < 3:
        return 1.0, several
    key = opinions.place * len(opinions.names) + opinions.who
    pairs, row = np.unique(key, return_inverse=True)
    sums, counts = np.zeros((2, len(pairs), k))
    np.add.at(sums, (row, opinions.cluster), opinions.value)
    np.add.at(counts, (row, opinions.cluster), 1.0)
    complete = (counts > 0.0).all(axis=1) & (sums.sum(axis=1) > 0.0)
    rows = sums[complete] / counts[complete]
    item, who = np.divmod(pairs[complete], len(opinions.names))
    w = weight[who][:, None]
    total, weights = np.zeros((n, k)), np.zeros((n, 1))
    np.add.at(total, item, w * rows)
    np.add.at(weights, item, w)
    rest = (weights[item] - w)[:, 0]
    comparable = (rest > 1e-9) & ((total[item] - w * rows).sum(axis=1) > 1e-9)
    several[item[comparable]] = True
    if comparable.sum() < _OVERLAPS:
        return 1.0, several
    mean = ((total[item] - w * rows)[comparable]) / rest[comparable, None]
    rows = rows[comparable] / rows[comparable].sum(axis=1, keepdims=True)
    losses = np.array([_loss(_sharpened(mean, power), rows) for power in _POWERS])
    best = int(losses.sum(axis=1).argmin())
    gain = losses[0] - losses[best]
    sure = gain.mean() > gain.std() / np.sqrt(len(gain))
    return (float(_POWERS[best]) if sure else 1.0), several


def _sharpened(rows: Floats, power: float) -> Floats:
    """Rows to a power, which sum to one."""
    raised = np.maximum(rows, 0.0) ** power
    sharp: Floats = raised / np.maximum(raised.sum(axis=1, keepdims=True), 1e-300)
    return sharp


def _loss(predicted: Floats, rows: Floats) -> Floats:
    """Squared errors of predicted rows, with the best share of slips."""
    lean = 1.0 / predicted.shape[1] - predicted
    share = float(((rows - predicted) * lean).sum() / max(np.square(lean).sum(), 1e-300))
    loss: Floats = np.square(predicted + np.clip(share, 0.0, 0.5) * lean - rows).sum(axis=1)
    return loss


def described(
    opinions: Opinions, scales: list[AnswerScale], weight: Floats
) -> dict[str, Annotator]:
    """A record for each annotator, for the form with most of their answers."""
    count = len(opinions.names)
    mean, shared = _others(opinions, weight) if count else (np.empty(0), np.zeros(0, dtype=bool))
    away = np.abs(opinions.value - mean)
    usual = float(np.median(away[shared])) / NORMAL_MAD if shared.any() else 0.0
    slip = shared & (away > np.maximum(OUTLIER * usual, 0.3))
    n_answers = np.bincount(opinions.who, minlength=count)
    records: dict[str, Annotator] = {}
    for who in np.argsort(n_answers, kind="stable"):  # the last one is kept
        mine = shared & (opinions.who == who)
        times = opinions.times[opinions.who == who]
        records[opinions.names[who]] = Annotator(
            scale=scales[who],
            n_answers=int(times.max(initial=-1.0)) + 1,
            spread=float(np.sqrt(np.square(away[mine]).mean())) if mine.any() else None,
            slips=float(slip[mine].mean()) if mine.any() else None,
        )
    return {name: records[name] for name in dict.fromkeys(opinions.names)}


def drift_notes(annotators: Mapping[str, Annotator]) -> list[str]:
    """A sentence about each annotator whose scale drifted."""
    return [
        f"The answers of {name!r} drifted by {each.drifted:+.2f} from first to last: row sums show "
        "it, and it is corrected."
        for name, each in annotators.items()
        if abs(each.drifted) > _DRIFT
    ]
