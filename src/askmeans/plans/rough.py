"""What rough answers say: links, noise, centres, who is doubted, and what to ask again.

All answers are fitted together (denoising.py). Memberships of items that were asked about lie
between the fit and their own answers: nearer to the answers the less noisy these are beside what
the links cannot explain. Answers on a coarse scale are intervals; the fit moves into them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from askmeans.denoising import RoughLink, beyond, half_step, learn_rough_link, robust_scale, tukey
from askmeans.fuzzy.simplex import onto_simplex
from askmeans.links import Link
from askmeans.plans.answers import Answers, Roughness, keep_answers
from askmeans.scores import Scorer

__all__ = ["RoughFit", "Singles", "fit_rough", "noise_from_repeats"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_DOUBTED = 3.0  # deviations from which an answer is doubted
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
        n, k = len(answers.items), answers.n_clusters
        counts, means = _means(places, clusters, values, np.ones(len(values)), (n, k))
        follows = np.flatnonzero((counts > 0).sum(axis=1) == k - 1) if k > 1 else places[:0]
        missing = (counts[follows] == 0).argmax(axis=1)
        rest = 1.0 - np.where(counts > 0, means, 0.0)[follows].sum(axis=1)
        with np.errstate(divide="ignore"):
            variance = np.where(counts > 0, 1.0 / counts, 0.0)[follows].sum(axis=1)
        return cls(
            places=np.concatenate([places, follows]),
            clusters=np.concatenate([clusters, missing]),
            values=np.concatenate([values, rest]),
            weights=np.concatenate([np.ones(len(values)), 1.0 / variance]),
            direct=np.arange(len(values) + len(rest)) < len(values),
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
    noise: float
    misfit: float
    step: float
    loss: float

    @property
    def plain_links(self) -> list[Link]:
        """The links, for all items; the closed form where nothing was told."""
        nothing = Link(knots=np.empty(0), values=np.empty(0))
        return [nothing if link is None else link.link for link in self.links]

    def own(self) -> tuple[Floats, Floats]:
        """What the asked entries are worth: memberships (NaN where not asked), and their errors."""
        one = self.singles
        shape = self.prediction.shape
        direct = one.direct.astype(np.float64)
        asked, plain = _means(one.places, one.clusters, one.values, direct, shape)
        count, mean = _means(one.places, one.clusters, one.values, direct * self.belief, shape)
        # Answers that nobody else supports but that agree with each other are true after all.
        agreed = (asked >= 2.0) & (count < 0.5) & (self._disagreement() < 2.0)
        count, mean = np.where(agreed, asked, count), np.where(agreed, plain, mean)
        deviation = beyond(np.where(count > 0.0, mean - self.prediction, 0.0), self.step)
        trust = self._trust(count)
        told = np.where(asked > 0.0, self.prediction + trust * deviation, np.nan)
        error = np.where(asked > 0.0, self.misfit * np.sqrt(1.0 - trust), np.nan)
        return told, error

    def rows(self) -> Floats:
        """Memberships of the items asked about."""
        rows = onto_simplex(self.prediction.copy())
        keep_answers(rows, np.arange(len(rows)), self.own()[0])
        return rows

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
        least = max(_LEAST_EVIDENCE * self.noise, 0.02)
        told = np.unique(self.singles.clusters)
        strongest = self.prediction.max(axis=0, initial=0.0)
        return [int(j) for j in told if strongest[j] < least]

    def _trust(self, count: Floats) -> Floats:
        """How far an entry's own answers move it from the fit: 1 when they are exact."""
        if self.noise == 0.0:
            return (count > 0.0).astype(np.float64)
        gain = self.misfit**2 * count
        trust: Floats = gain / (gain + self.noise**2)
        return trust

    def _disagreement(self) -> Floats:
        """The range of an entry's answers, in deviations of a difference of two."""
        one, shape = self.singles, self.prediction.shape
        low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
        np.minimum.at(low, (one.places, one.clusters), one.values)
        np.maximum.at(high, (one.places, one.clusters), one.values)
        return (high - low) / (np.sqrt(2.0) * max(self.noise, 0.01))

    def gains(self, share: Floats) -> tuple[Rows, Rows, Floats]:
        """Entries asked, and what asking each once more would bring: places, clusters, gains.

        `share` is what part of all items takes its membership from each entry (leverage). Doubted
        answers come first.
        """
        one, shape = self.singles, self.prediction.shape
        direct = one.direct.astype(np.float64)
        count, _ = _means(one.places, one.clusters, one.values, direct, shape)
        mass, blend = np.ones(shape), np.ones(shape)
        for j, link in enumerate(self.links):
            mine = one.clusters == j
            if link is not None:
                mass[one.places[mine], j] = np.maximum(link.mass[: mine.sum()], 0.5)
                blend[:, j] = link.blend
        through_link = share * blend**2 / (mass * (mass + 1.0))
        n = max(count.sum(), 1.0)
        own = self._trust(count + 1.0) - self._trust(count)
        gain = through_link + own / n
        away = np.where(one.direct, self.deviations(), 0.0)
        worst = np.zeros(shape)
        np.maximum.at(worst, (one.places, one.clusters), away)
        gain += np.where((worst > _DOUBTED) & (count < 3), worst, 0.0)
        places, clusters = np.nonzero(count > 0)
        return places, clusters, gain[places, clusters]


def fit_rough(
    points: Floats, scorer: Scorer, singles: Singles, roughness: Roughness
) -> RoughFit:
    """Fit links to all answers; `points` are the items asked about."""
    coordinates = scorer.coordinates(scorer.scores(points))
    k = len(scorer.centers)
    anchored = scorer.order == "relative" and k > 1 and scorer.fuzzifier > 1.0
    step = half_step(roughness.levels)
    links: list[RoughLink | None] = []
    prediction = np.empty_like(coordinates)
    belief = np.ones(len(singles.values))
    losses = []
    for j in range(k):
        mine = np.flatnonzero(singles.clusters == j)
        if not len(mine):
            links.append(None)
            prediction[:, j] = np.clip(coordinates[:, j], 0.0, 1.0)
            continue
        found = learn_rough_link(
            coordinates[singles.places[mine], j], singles.values[mine], singles.weights[mine],
            step=step, anchored=anchored,
        )  # fmt: skip
        links.append(found)
        belief[mine] = found.belief
        losses.append(found.loss)
        prediction[:, j] = found.link(coordinates[:, j])
    residual = singles.values - prediction[singles.places, singles.clusters]
    residual = beyond(residual, step)[singles.direct]
    spread = robust_scale(residual, np.ones(len(residual)))
    noise = roughness.noise
    if noise is None:
        noise = noise_from_repeats(singles)
    if noise is None:
        noise = spread  # all that is not explained
    if roughness.levels is not None and noise <= 2.0 * step and spread <= 2.0 * step:
        noise = 0.0  # intervals explain it
    return RoughFit(
        scorer=scorer,
        links=tuple(links),
        singles=singles,
        coordinates=coordinates,
        prediction=prediction,
        belief=belief,
        noise=float(noise),
        misfit=float(np.sqrt(max(spread**2 - noise**2, 0.0))),
        step=step if spread <= 2.0 * step else 0.0,
        loss=float(np.mean(losses)) if losses else 0.0,
    )


def noise_from_repeats(singles: Singles) -> float | None:
    """The answers' standard deviation from questions asked more than once; None without any.

    The mean of all variances but the largest tenth, which may be hostile, mended for what that
    leaves out. Questions with an answer at the end of the scale are left out where others are enough.
    """
    d = singles.direct
    k = int(singles.clusters.max(initial=0)) + 1
    question = singles.places[d] * k + singles.clusters[d]
    _, where, counts = np.unique(question, return_inverse=True, return_counts=True)
    values = singles.values[d]
    means = np.bincount(where, weights=values) / np.maximum(counts, 1)
    squares = np.bincount(where, weights=np.square(values - means[where]))
    ends = np.bincount(where, weights=(values <= 0.0) | (values >= 1.0)) > 0
    some = counts > 1
    if (some & ~ends).sum() >= 8:
        some &= ~ends
    if not some.any():
        return None
    variances, free = squares[some] / (counts[some] - 1), (counts[some] - 1).astype(np.float64)
    order = np.argsort(variances, kind="stable")
    kept = order[: max(1, int(np.ceil(0.9 * len(order))))]
    # What the largest tenth of chi-squared variances would add, were they only noise.
    degrees = float(free.mean())
    share = len(kept) / len(order)
    mended = share / float(chi2.cdf(chi2.ppf(share, degrees), degrees + 2.0))
    return float(np.sqrt(mended * variances[kept] @ free[kept] / free[kept].sum()))


def _means(
    places: Rows, clusters: Rows, values: Floats, weights: Floats, shape: tuple[int, ...]
) -> tuple[Floats, Floats]:
    """Weights and weighted means of answers by entry; NaN where there is none."""
    total, sums = np.zeros(shape), np.zeros(shape)
    np.add.at(total, (places, clusters), weights)
    np.add.at(sums, (places, clusters), weights * values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return total, sums / total
