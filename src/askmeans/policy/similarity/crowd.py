"""Groups from pairs that many unreliable annotators answered.

If more answers contradict each other than slips explain, groups and annotators are estimated
together:
- An annotator calls two items of one group "the same" with one probability, and two of different
  groups with another (Dawid and Skene, 1979). Both are on a grid, whose distribution over all
  annotators is estimated, too, so that a few answers move an annotator little.
- Items follow a stochastic block model. Its posterior is computed by belief propagation, damped,
  which finds groups down to fewer answers than spectral clustering (Decelle et al., 2011).
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import logit

from askmeans._util.arrays import Floats, Rows
from askmeans.policy.models.linear import softmax
from askmeans.policy.similarity.comparisons import Comparisons

# On 9,000 pairs of a crowd (`python -m benchmarks.outside crowd`) and on two draws of 3,000 of them
# the adjusted Rand index is .65, .27 and .32. With _DAMPING = .1, half or twice _SPREAD, a fifth or
# four times _PRIOR_ANNOTATORS, _USUAL = .9 or _PRIOR_ITEMS = .5 it changes by .02 at most; with
# _USUAL = .7 the last is .23, with _PRIOR_ITEMS = 8 the second .01.
_DAMPING = 0.3
_SWEEPS, _TOLERANCE = 60, 1e-5
_FEW_SWEEPS, _ROUNDS, _SETTLED = 8, 60, 1e-3  # of groups, then annotators
_USUAL, _SPREAD = 0.8, 1.5  # P("same" | one group) before any answer; its spread in log odds
_PRIOR_ANNOTATORS = 5.0  # that are spread like this, beside those who answered
_PRIOR_ITEMS = 2.0  # in each group, beside those compared
_POINTS = np.array([0.02, 0.06, 0.12, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.88, 0.94, 0.98])
# An annotator who says "same" more often of two groups than of one is assumed to guess.
_SAME, _DIFFERENT = (
    grid[np.tril_indices(len(_POINTS))] for grid in np.meshgrid(_POINTS, _POINTS, indexing="ij")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """Probabilities of the groups of the compared items, and how often annotators say "same"."""

    rows: Floats
    of_one_group: Floats  # for each annotator
    of_two_groups: Floats

    def rates(self, names: tuple[str, ...]) -> dict[str, dict[str, float]]:
        """The accuracy of each annotator on two items of one group, and of two groups."""
        both = zip(names, self.of_one_group, self.of_two_groups, strict=True)
        return {
            name: {"same_right": float(one), "different_right": float(1.0 - two)}
            for name, one, two in both
        }


class Propagation:
    """Belief propagation over pairs: items send the probabilities of their groups to partners."""

    def __init__(self, pairs: Rows, start: Floats) -> None:
        m, count = len(start), 2 * len(pairs)
        self._receiver = np.concatenate([pairs[:, 0], pairs[:, 1]])
        self._turned = np.roll(np.arange(count), len(pairs))
        entries = np.ones(count), (self._receiver, np.arange(count))
        self._sum = csr_array(entries, shape=(m, count))
        self._messages = np.zeros((count, start.shape[1]))
        self._without = start[self._receiver]  # rows of receivers without this partner's message
        self.rows = start

    def run(self, before: Floats, ratio: Floats, sweeps: int = _SWEEPS) -> None:
        """Update `rows` by prior probabilities, and each answer's likelihood ratio."""
        strength, logs = np.tile(ratio, 2)[:, None] - 1.0, np.log(before)
        for _ in range(sweeps):
            step = np.log1p(strength * self._without[self._turned])
            step -= step.mean(axis=1, keepdims=True) + self._messages
            self._messages += (1.0 - _DAMPING) * step
            logits = logs + self._sum @ self._messages
            self._without = softmax(logits[self._receiver] - self._messages)
            self.rows = softmax(logits)
            if np.abs(step).max(initial=0.0) < _TOLERANCE:
                break

    def same(self, ratio: Floats) -> tuple[Floats, Floats]:
        """The probability that each pair is of one group, by all other answers, and by all."""
        half = len(self._turned) // 2
        others = (self._without[:half] * self._without[half:]).sum(axis=1)
        return others, ratio * others / (ratio * others + 1.0 - others)


def crowd_of(comparisons: Comparisons, before: Floats | None, start: Floats) -> Crowd:
    """Groups and annotators; `before` are probabilities without any pair, None for even ones."""
    (m, k), value = start.shape, comparisons.pair_value
    usual = population = _usual(float(value.mean()), k)
    even, n_annotators = np.full(len(value), 1.0 / k), len(comparisons.annotators)
    # Before groups are known: the rate of "same" of each annotator.
    often = even[:1, None] * _SAME + (1.0 - even[:1, None]) * _DIFFERENT
    shares = _posterior(comparisons, even, population, often, often)
    prior = np.full((m, k), 1.0 / k) if before is None else before
    propagation = Propagation(comparisons.pairs, start)
    for _ in range(_ROUNDS):
        rows, ratio = propagation.rows, _ratio(shares, comparisons)
        propagation.run(prior, ratio, _FEW_SWEEPS)
        if before is None:
            sizes = propagation.rows.sum(axis=0) + _PRIOR_ITEMS
            prior = np.broadcast_to(sizes / sizes.sum(), (m, k))
        same = propagation.same(ratio)[1]
        shares = _posterior(comparisons, same, population, _SAME, _DIFFERENT)
        total = shares.sum(axis=0) + _PRIOR_ANNOTATORS * usual
        population = total / (n_annotators + _PRIOR_ANNOTATORS)
        if np.abs(propagation.rows - rows).max(initial=0.0) < _SETTLED:
            break
    return Crowd(
        rows=propagation.rows, of_one_group=shares @ _SAME, of_two_groups=shares @ _DIFFERENT
    )


def _usual(share: float, k: int) -> Floats:
    """The prior distribution of annotators over the grid, by the share of "same"."""
    different = np.clip((share - _USUAL / k) / (1.0 - 1.0 / k), _POINTS[1], 0.5)
    away = [logit(_SAME) - logit(_USUAL), logit(_DIFFERENT) - logit(different)]
    kinds = np.exp(-0.5 * np.square(np.array(away) / _SPREAD).sum(axis=0))
    return np.asarray(kinds / kinds.sum())


def _posterior(
    comparisons: Comparisons, same: Floats, population: Floats, of_one: Floats, of_two: Floats
) -> Floats:
    """The posterior of each annotator over the grid, given the probabilities of the pairs."""
    who, value = comparisons.pair_annotator, comparisons.pair_value
    counts = [
        np.bincount(who, weight, len(comparisons.annotators))
        for weight in (same * value, same * (1.0 - value), (1.0 - same) * value,
                       (1.0 - same) * (1.0 - value))
    ]  # fmt: skip
    rates = np.vstack([of_one, 1.0 - of_one, of_two, 1.0 - of_two])
    return softmax(np.log(population) + np.array(counts).T @ np.log(rates))


def _ratio(shares: Floats, comparisons: Comparisons) -> Floats:
    """The likelihood ratio of each answer for one group against two, by its annotator."""
    who, value = comparisons.pair_annotator, comparisons.pair_value
    yes = shares @ np.log(_SAME / _DIFFERENT)
    no = shares @ np.log((1.0 - _SAME) / (1.0 - _DIFFERENT))
    return np.asarray(np.exp(value * yes[who] + (1.0 - value) * no[who]))
