"""What rough answers say: links, noise, centres, who is doubted, and what to ask again.

All answers are fitted together (denoising.py). Memberships of items that were asked about lie
between the fit and their own answers: nearer to the answers the less noisy these are beside what
the links cannot explain. Answers on a coarse scale are intervals; the fit moves into them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askmeans.denoising import (
    RoughLink,
    beyond,
    half_step,
    learn_rough_link,
    noise_of_repeats,
    spread,
)
from askmeans.intervals import noise_on_scale
from askmeans.links import Link
from askmeans.plans.answers import Answers, Roughness
from askmeans.scores import Scorer

__all__ = ["RoughFit", "Singles", "fit_rough"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_DOUBTED = 3.0  # deviations from which an answer is doubted
_MOST_HOSTILE = 0.1  # share of answers that may be hostile
_ENOUGH_EVIDENCE = 0.3  # a membership that makes a cluster, however noisy the answers are
_LEAST_EVIDENCE = 2.5  # deviations that the strongest membership of a cluster must reach


@dataclass(frozen=True, slots=True, kw_only=True)
class Singles:
    """Every single answer, and entries that follow from the rest of their row (not `direct`)."""

    places: Rows
    clusters: Rows
    values: Floats
    weights: Floats
    direct: NDArray[np.bool_]

    @classmethod
    def of(cls, answers: Answers) -> "Singles":
        """Those of a plan's answers."""
        places, clusters, values = answers.single()
        shape = len(answers.items), answers.n_clusters
        return cls(
            places=places, clusters=clusters, values=values, weights=np.ones(len(values)),
            direct=np.ones(len(values), dtype=bool),
        )._completed(values, shape)  # fmt: skip

    def mended(self, latent: Floats, shape: tuple[int, ...]) -> "Singles":
        """The same, where what follows from a row follows from uncut answers."""
        d = self.direct
        told = Singles(
            places=self.places[d], clusters=self.clusters[d], values=self.values[d],
            weights=self.weights[d], direct=self.direct[d],
        )  # fmt: skip
        return told._completed(latent[d], shape)

    def noise(self, step: float) -> float | None:
        """The noise that repeats show; None without any. `step` is half a step of the scale."""
        d, k = self.direct, int(self.clusters.max(initial=0)) + 1
        question = self.places[d] * k + self.clusters[d]
        number = np.unique(question, return_inverse=True)[1]
        if step > 0.0:
            return noise_on_scale(number, self.values[d], step)
        return noise_of_repeats(number, self.values[d])

    def _completed(self, latent: Floats, shape: tuple[int, ...]) -> "Singles":
        """With the last entry of rows of which all others are known."""
        counts, means = _means(self.places, self.clusters, latent, self.weights, shape)
        k = shape[1]
        follows = np.flatnonzero((counts > 0).sum(axis=1) == k - 1) if k > 1 else self.places[:0]
        missing = (counts[follows] == 0).argmax(axis=1)
        rest = 1.0 - np.where(counts > 0, means, 0.0)[follows].sum(axis=1)
        with np.errstate(divide="ignore"):
            variance = np.where(counts > 0, 1.0 / counts, 0.0)[follows].sum(axis=1)
        return Singles(
            places=np.concatenate([self.places, follows]),
            clusters=np.concatenate([self.clusters, missing]),
            values=np.concatenate([self.values, rest]),
            weights=np.concatenate([self.weights, 1.0 / variance]),
            direct=np.arange(len(latent) + len(rest)) < len(latent),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RoughFit:
    """The fit of all answers for given centres."""

    scorer: Scorer
    links: tuple[RoughLink | None, ...]
    singles: Singles
    coordinates: Floats  # of the items asked about
    prediction: Floats  # their memberships by the links alone
    belief: Floats  # of every single answer
    latent: Floats  # every single answer, as it would be uncut
    odd: float  # how likely an answer far from the fit is true all the same
    noise: float
    misfit: float
    step: float
    missed: Floats  # every direct answer less what the others say, cross-validated

    @property
    def plain_links(self) -> list[Link]:
        """The links, for all items; the closed form where nothing was told."""
        nothing = Link(knots=np.empty(0), values=np.empty(0))
        return [nothing if link is None else link.link for link in self.links]

    def own(self) -> tuple[Floats, Floats]:
        """What the asked entries are worth: memberships (NaN where not asked), and their errors."""
        count, mean, _, wrong = self._by_entry()
        deviation = np.where(count > 0.0, mean - self.prediction, 0.0)
        deviation = deviation if self.noise > 0.0 else beyond(deviation, self.step)
        trust = np.where(np.isnan(wrong), self._trust(count), 1.0 - wrong)
        told = np.where(count > 0.0, self.prediction + trust * deviation, np.nan)
        error = np.where(count > 0.0, self.misfit * np.sqrt(1.0 - trust), np.nan)
        return told, error

    def weighing(self, fuzzifier: float) -> Floats:
        """Memberships whose power is right on average, for centres; NaN where nothing is known.

        E[(u + z)^alpha] exceeds u^alpha by about alpha (alpha - 1) / 2 u^(alpha - 2) sigma^2, which
        is taken off; answers that are likely wrong are replaced by what the fit expects.
        """
        count, mean, variance, wrong = self._by_entry()
        wrong = np.nan_to_num(wrong)
        value = np.clip((1.0 - wrong) * mean + wrong * self.prediction, 0.0, 1.0)
        known = count > 0.0
        last = known.sum(axis=1) == known.shape[1] - 1
        if last.any() and known.shape[1] > 1:  # the last entry of a row follows
            hole = ~known & last[:, None]
            rest = np.clip(1.0 - np.where(known, value, 0.0).sum(axis=1), 0.0, 1.0)
            value = np.where(hole, rest[:, None], value)
            total = np.where(known, variance, 0.0).sum(axis=1)
            variance = np.where(hole, total[:, None], variance)
            known = known | hole
        around = np.maximum(value, np.sqrt(variance))
        with np.errstate(divide="ignore", invalid="ignore"):
            bias = fuzzifier * (fuzzifier - 1.0) / 2.0 * around ** (fuzzifier - 2.0) * variance
        power = np.maximum(value**fuzzifier - np.nan_to_num(bias), 0.0)
        weighing: Floats = np.where(known, power ** (1.0 / fuzzifier), np.nan)
        return weighing

    def _by_entry(self) -> tuple[Floats, Floats, Floats, Floats]:
        """By entry: answers that agree, their mean, its variance; how likely it is wrong.

        The last is NaN for a mean that is near the fit. One far from it is either wrong, or its
        item is unlike the others: repeats that agree, or more such answers than there can be
        hostile ones, speak for the item.
        """
        one, shape = self.singles, self.prediction.shape
        where = one.places[one.direct], one.clusters[one.direct]
        values = self.latent[one.direct]
        count, middle = _medians(*where, values, self.prediction)
        off = np.abs(values - middle[where]) > _DOUBTED * max(self.noise, 0.01)
        kept, mean = _means(*where, values, (~off).astype(np.float64), shape)
        mean = np.where(kept > 0.0, mean, middle)
        count = np.where(count > 0.0, np.maximum(kept, 1.0), 0.0)
        variance = self.noise**2 / np.maximum(count, 1.0)
        wrong = np.full(shape, np.nan)
        if self.noise > 0.0:
            deviation = np.abs(mean - self.prediction)
            far = deviation > _DOUBTED * np.sqrt(variance + self.misfit**2)
            wrong[far] = np.where(kept >= 2.0, 0.0, 1.0 - self.odd)[far]
        return count, mean, variance, wrong

    def deviations(self) -> Floats:
        """How many deviations each single answer is from what the others say."""
        one = self.singles
        expected = self.prediction[one.places, one.clusters]
        scale = max(np.hypot(self.noise, self.misfit), 0.01)
        away: Floats = np.abs(beyond(one.values - expected, self.step)) / scale
        return away

    def doubted(self) -> NDArray[np.bool_]:
        """Single answers that are too far from what the others say."""
        return self.singles.direct & (self.deviations() > _DOUBTED)

    def missing(self) -> list[int]:
        """Clusters whose answers are no more than noise."""
        least = min(max(_LEAST_EVIDENCE * self.noise, 0.02), _ENOUGH_EVIDENCE)
        told = np.unique(self.singles.clusters)
        strongest = self.prediction.max(axis=0, initial=0.0)
        return [int(j) for j in told if strongest[j] < least]

    def _trust(self, count: Floats) -> Floats:
        """How far an entry's own answers move it from the fit: 1 when they are exact."""
        if self.noise == 0.0:
            return np.ones_like(count)
        gain = self.misfit**2 * count
        trust: Floats = gain / (gain + self.noise**2)
        return trust

    def gains(self, share: Floats) -> tuple[Rows, Rows, Floats]:
        """Entries asked, and what asking each once more would bring: places, clusters, gains.

        `share` is what part of all items takes its membership from each entry (leverage). Doubted
        answers come first.
        """
        one, shape = self.singles, self.prediction.shape
        direct = one.direct.astype(np.float64)
        count, _ = _means(one.places, one.clusters, one.values, direct, shape)
        count = np.maximum(count, 1e-9)
        mass, blend = np.ones(shape), np.ones(shape)
        for j, link in enumerate(self.links):
            mine = one.clusters == j
            if link is not None:
                mass[one.places[mine], j] = np.maximum(link.mass, 0.5)
                blend[:, j] = link.blend
        through_link = share * blend**2 / (mass * (mass + 1.0))
        n = max(count.sum(), 1.0)
        own = self._trust(count + 1.0) - self._trust(count)
        gain = through_link + own / n + 1.0 / (n * count * (count + 1.0))
        away = np.where(one.direct, self.deviations(), 0.0)
        worst = np.zeros(shape)
        np.maximum.at(worst, (one.places, one.clusters), away)
        gain += np.where((worst > _DOUBTED) & (count < 3), worst, 0.0)
        places, clusters = np.nonzero(count > 0.5)
        return places, clusters, gain[places, clusters]


def fit_rough(points: Floats, scorer: Scorer, singles: Singles, roughness: Roughness) -> RoughFit:
    """Fit links to all answers; `points` are the items asked about."""
    coordinates = scorer.coordinates(scorer.scores(points))
    k = len(scorer.centers)
    anchored = scorer.order == "relative" and k > 1 and scorer.fuzzifier > 1.0
    step = half_step(roughness.levels)
    doubting = roughness.noise != 0.0
    links = _links(coordinates, singles, step, anchored=anchored, doubting=doubting)
    singles = singles.mended(_gathered(links, singles, "latent"), coordinates.shape)
    links = _links(coordinates, singles, step, anchored=anchored, doubting=doubting)
    prediction = np.clip(coordinates, 0.0, 1.0)
    for j, found in enumerate(links):
        if found is not None:
            prediction[:, j] = found.link(coordinates[:, j])
    held_out = np.clip(_gathered(links, singles, "held_out"), 0.0, 1.0)
    told = singles.values[singles.direct]
    expected = prediction[singles.places, singles.clusters][singles.direct]
    unexplained = spread(told, expected, np.ones(len(told)), step)
    noise = roughness.noise
    if noise is None:
        repeats = singles.noise(step)
        # All that is not explained, unless repeats tell that less of it is noise.
        noise = unexplained if repeats is None else min(repeats, unexplained)
        if step > 0.0 and unexplained <= 2.0 * step and (repeats is None or repeats < step / 2.0):
            noise = 0.0  # intervals explain it
    return RoughFit(
        scorer=scorer,
        links=tuple(links),
        singles=singles,
        coordinates=coordinates,
        prediction=prediction,
        belief=_gathered(links, singles, "belief"),
        # Answers that are exact but for their scale are intervals, and the fit moves into them.
        latent=_gathered(links, singles, "latent") if noise or not step else singles.values,
        odd=_odd(beyond(told - expected, step), max(unexplained, 0.01)),
        noise=float(noise),
        misfit=float(np.sqrt(max(unexplained**2 - noise**2, 0.0))),
        step=step if unexplained <= 2.0 * step else 0.0,
        missed=beyond(singles.values - held_out, step)[singles.direct],
    )


def _links(
    coordinates: Floats, singles: Singles, step: float, *, anchored: bool, doubting: bool
) -> list[RoughLink | None]:
    """A link for each cluster; None where nothing was told."""
    links: list[RoughLink | None] = []
    for j, column in enumerate(coordinates.T):
        mine = singles.clusters == j
        if not mine.any():
            links.append(None)
            continue
        links.append(
            learn_rough_link(
                column[singles.places[mine]],
                singles.values[mine],
                singles.weights[mine],
                step=step,
                anchored=anchored,
                doubting=doubting,
            )
        )
    return links


def _gathered(links: list[RoughLink | None], singles: Singles, name: str) -> Floats:
    """What the links have to say of each single answer."""
    values = np.ones(len(singles.values))
    for j, link in enumerate(links):
        if link is not None:
            values[singles.clusters == j] = getattr(link, name)
    return values


def _odd(residual: Floats, spread: float) -> float:
    """How likely an answer far from the fit is true: when more are than can be hostile."""
    far = float((np.abs(residual) > _DOUBTED * spread).mean()) if len(residual) else 0.0
    return max(far - _MOST_HOSTILE, 0.0) / far if far > 0.0 else 0.0


def _medians(
    places: Rows, clusters: Rows, values: Floats, towards: Floats
) -> tuple[Floats, Floats]:
    """Counts and medians of answers by entry; of an even number, the one nearer to the fit."""
    shape = towards.shape
    count, middle = np.zeros(shape), np.full(shape, np.nan)
    np.add.at(count, (places, clusters), 1.0)
    order = np.lexsort((values, clusters, places))
    ends = np.cumsum(count[count > 0.0]).astype(np.intp)
    for entry, end in zip(np.argwhere(count > 0.0), ends, strict=True):
        mine = values[order[end - int(count[tuple(entry)]) : end]]
        low, high = mine[(len(mine) - 1) // 2], mine[len(mine) // 2]
        fit = towards[tuple(entry)]
        middle[tuple(entry)] = low if abs(low - fit) <= abs(high - fit) else high
    return count, middle


def _means(
    places: Rows, clusters: Rows, values: Floats, weights: Floats, shape: tuple[int, ...]
) -> tuple[Floats, Floats]:
    """Weights and weighted means of answers by entry; NaN where there is none."""
    total, sums = np.zeros(shape), np.zeros(shape)
    np.add.at(total, (places, clusters), weights)
    np.add.at(sums, (places, clusters), weights * values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return total, sums / total
