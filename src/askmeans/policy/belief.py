"""What is believed after some answers: memberships of all items, and how wrong they may be."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from askmeans.fuzzy.arrays import keep_answers, within_bounds
from askmeans.policy.consulting import consulted
from askmeans.policy.elsewhere import WithoutRest, is_elsewhere, n_hidden_groups, with_elsewhere
from askmeans.policy.ensemble import FEW, Ensemble, one_thread
from askmeans.policy.evidence import Told
from askmeans.policy.models.closed_form import ClosedForm, name_clusters
from askmeans.policy.models.training import ALL_OR_NOTHING, Predict, Training
from askmeans.policy.panel import ModelAnswers, Panel, weigh
from askmeans.policy.pool import Pool
from askmeans.policy.proximity import Proximity
from askmeans.policy.stacking import Stack, sharpened, stack_models
from askmeans.policy.strata import Strata
from askmeans.queries.values import rounding_noise

__all__ = ["ENOUGH", "EXACT", "Belief", "Scale"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

ENOUGH = 5  # items per cluster, to give up naming or to end
_TRUST = 0.3  # how much of a row must be told before models learn from it
_PARTLY = 0.05  # of a row that is not told, from which on it matters what stands there
_SEEN = 0.5  # memberships to a cluster that make it seen
_FAR = 3.5  # usual deviations from which on a noisy answer is not believed
_SEVERAL = 3  # items that belong nowhere; fewer may be slips
_UNSEEN = 0.5  # mistakes added to those seen, so that none seen does not mean none (Jeffreys)
# How far models may be wrong all alike, as a logarithm: by the coverage of the band in
# benchmarks/calibration.py, 96 % on its 14 tables, 83 % on 14 others and 78 % on 9 large ones; with
# .3 it is 96, 71 and 61 %.
_ALIKE = 0.4
_TARGET = 2.0  # times the precision: the share of wrong items, where answers are hard
_EIGHTY = 1.28  # standard deviations that hold 80 %
_MEAN = 0.8  # of a normal error's standard deviation, its mean
_CHUNK = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What is known of the answers' errors before any is given.

    `noise` is their standard deviation, "auto" for one to be estimated; `levels` the number of
    points of their scale, None for a fine one.
    """

    noise: float | Literal["auto"] = 0.0
    levels: int | None = None

    @property
    def rounding(self) -> float:
        """Standard deviation of what rounding to the scale loses; 0 for a fine one."""
        return rounding_noise(self.levels)


EXACT = Scale()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Memberships of all items, how likely each is in no group, and how sure its strongest is."""

    memberships: Floats
    unassigned: Floats
    confidence: Floats


class Belief:
    """Models learnt from some answers, and everything that follows from them."""

    def __init__(
        self,
        ensemble: Ensemble,
        strata: Strata,
        told: Told,
        scale: Scale,
        models: tuple[ModelAnswers, ...] = (),
    ) -> None:
        self.pool: Pool = ensemble.pool
        self.strata = strata
        self.n_clusters = int(told.values.shape[1])  # the groups there are
        self.k = self.n_clusters + is_elsewhere(told)  # with that of items in none of them
        self.elsewhere = told.unassigned
        self.told = with_elsewhere(told) if self.k > self.n_clusters else told
        self.scale = scale
        self.asked: Rows = np.searchsorted(self.pool.rows, told.items)
        self.seen = np.zeros(self.k, dtype=bool)
        self._free = free = ensemble.free_memberships(self.k)
        # The unsupervised fit, its clusters named as far as answers tell.
        self._names = name_clusters(free[self.asked], self.told.values)
        self.guess: Floats = free[:, self._names]
        self.likely: Floats = self.guess
        self.stack: Stack | None = None
        self.panel = Panel()
        with one_thread():
            training = self._learn(ensemble)
            if models:
                self._consult(models, training)

    @property
    def n_told(self) -> int:
        """How many items somebody could say something of."""
        return int(self.told.is_known.sum())

    @property
    def is_naming(self) -> bool:
        """Whether to look for a cluster that nobody was found in yet; there may be none such."""
        return not self.seen.all() and self.n_told < ENOUGH * self.k

    def _consult(self, models: tuple[ModelAnswers, ...], training: Training | None) -> None:
        """Let language models' answers move what is expected, as far as people bear them out."""
        rows = self.pool.rows
        if self.stack is None or training is None:  # nobody has said anything: they name clusters
            known, says = models[0].of(rows)
            free = self._free
            self._names = name_clusters(free[known], says[:, : self.k])
            self.guess = free[:, self._names]
            self.panel, _ = weigh(models, None, rows, self.guess)
            self.likely = self.panel.applied(rows, self.guess)
            return
        self.panel, self.stack = consulted(self.stack, models, training, rows)
        self.likely = self.stack.pool

    def _learn(self, ensemble: Ensemble) -> Training | None:
        """Fit every model to the answers, and weigh them; what they learnt from."""
        if self.k == 1:  # nothing to tell apart
            return None
        training = self._training()
        if training is None:
            return None
        partly = self.told.left[self.told.is_known] > _PARTLY
        if partly.any() and len(training.rows) >= FEW and len(self.pool) > FEW:
            for _ in range(2):  # what fills the rows depends on what filled them
                self.likely = min([self.likely, *ensemble.sketch(training)], key=self._misfit)
                training = self._training()
                assert training is not None
        self.stack = stack = self._stacked(ensemble, training)
        rows = np.isin(self.asked, training.rows)
        belief = self._weight(training.Y, stack.pool[training.rows], rows)
        if (belief < 0.5).any():  # once more, without those that are hardly believed
            weight = np.maximum(training.sample_weight * belief, 1e-3)
            training = replace(training, sample_weight=weight)
            stack = self._stacked(ensemble, training)
        self.stack, self.likely = stack, stack.pool
        self.seen = training.sample_weight @ training.Y >= _SEEN
        return training

    def _stacked(self, ensemble: Ensemble, training: Training) -> Stack:
        """Every model, and the stack of them."""
        proximity = None
        if training.is_hard:
            proximity = Proximity.of(self.pool, training, self.strata.resolution)
        return stack_models(ensemble.learn(training), training, proximity)

    def _misfit(self, U: Floats) -> float:
        """How far memberships of the pool are from what was told."""
        return float(np.nansum(np.abs(U[self.asked] - self.told.values)))

    def _training(self) -> Training | None:
        """Rows that are known for the most part, the rest shared as is likely."""
        told = self.told.values
        known = ~np.isnan(told)
        mass = np.clip(np.where(known, told, 0.0), 0.0, 1.0).sum(axis=1)
        whole = known.all(axis=1) & ~self.told.unassigned
        weight = np.where(whole, 1.0, np.minimum(mass, 1.0))
        weight[self.told.all_but_one] = 1.0 - self.told.nowhere
        some = weight > _TRUST
        if not some.any():
            return None
        U = self.likely[self.asked].copy()
        keep_answers(U, np.arange(len(U)), told)
        size = np.maximum(self.strata.sizes(self.asked[some]), 1.0)
        told_or_nothing_left = known | (self.told.left <= _PARTLY)[:, None]
        return Training.of(
            self.asked[some], U[some], weight[some], size, told_or_nothing_left[some]
        )

    def _weight(self, told: Floats, predicted: Floats, rows: NDArray[np.bool_]) -> Floats:
        """How far some rows of noisy answers are believed; one far from what is predicted is not.

        Far is what is unusual beside the error expected of the row: where models are unsure they
        often err, and answers are right. So are those that were given again.
        """
        off, noise = np.abs(told - predicted), self.noise()
        if self.scale.noise == 0.0 or noise == 0.0 or self.stack is None:
            return np.ones(len(off))
        confirmed = self.told.confirmed(self.noise(averaged=False))[rows]
        asked = off * self.told.asked[rows]
        open_ = (asked * ~confirmed).sum(axis=1) / np.maximum(asked.sum(axis=1), 1e-12)
        away = off.mean(axis=1) * open_
        usual = np.hypot(self.stack.expected[self.asked[rows]] / _MEAN, noise)
        weight: Floats = np.square(np.clip(1.0 - np.square(away / (_FAR * usual)), 0.0, None))
        return weight  # Tukey's biweight

    def noise(self, *, averaged: bool = True) -> float:
        """Standard deviation of the answers' errors: as given, of their scale, or as they show.

        Of repeats, that of their average; or of a single answer.
        """
        auto = self.scale.noise == "auto"
        given = 0.0 if self.scale.noise == "auto" else self.scale.noise
        known = math.hypot(given, self.scale.rounding)
        if not auto and not self.told.differ:
            return known
        within, free = self.told.spread()
        if free:
            counts = np.bincount(self.told.place * self.k + self.told.cluster)
            repeats = float(counts[counts > 0].mean()) if averaged else 1.0
            return max(known, math.sqrt(within / repeats))
        # Never asked twice: half of what nothing else explains may be noise.
        misfit = self.stack.misfit if self.stack else 0.0
        return math.sqrt(known**2 + 0.5 * max(misfit - known**2, 0.0))

    def _own_share(self, variance: float) -> float:
        """How much an item's own answers, of this variance, count in its row."""
        if variance <= 0.0 or self.stack is None:
            return 1.0
        noise = self.noise() ** 2
        predicted = max(self.stack.misfit - noise, 0.1 * noise)
        return predicted / (predicted + variance)

    @cached_property
    def estimated_error(self) -> float:
        """The mean error of a membership to expect, over all items; what was answered has none."""
        if self.k == 1:
            return 0.0
        if self.stack is None:
            return 1.0 / self.k
        asked, n, hard = self.asked, self.pool.items.n, self.stack.answers_are_hard
        expected = self.stack.expected
        if not hard:
            # Who belongs to a cluster that has no name yet is given to another. These are many if
            # the unsupervised fit is right, but few if so many answers did not meet one.
            nameless = float(self.guess[:, ~self.seen].sum(axis=1).mean())
            expected = expected + 2.0 / self.k * min(nameless, 1.0 / (self.n_told + 2.0))
        left = self.told.left
        # What noise leaves in rows that were answered.
        noise = self.noise()
        own = noise * math.sqrt(self._own_share(noise**2))
        own = _MEAN * min(own, math.sqrt(self.stack.misfit))
        error = float((expected[asked] * left + own * (left < 1.0)).sum())
        error += float(self._unasked(expected).mean()) * (n - len(asked))
        even = 2.0 * (self.k - 1.0) / self.k**2  # the error of even rows, where answers are hard
        return min(error / n, even)

    @cached_property
    def error_band(self) -> tuple[float, float]:
        """The 80 % interval of the mean error of a membership."""
        error = self.estimated_error
        if self.k == 1:
            return 0.0, 0.0
        if self.stack is None:
            return 0.0, min(1.0, 2.0 / self.k)
        if self.stack.answers_are_hard and self.expected_wrong:  # as that of the wrong items
            low, high = self.expected_wrong_band or (0.0, 0.0)
            return error * low / self.expected_wrong, error * high / self.expected_wrong
        width = math.exp(_EIGHTY * math.hypot(_ALIKE, 1.0 / math.sqrt(self.stack.n_mistakes + 0.5)))
        return error / width, error * width

    @cached_property
    def expected_wrong(self) -> float | None:
        """How many items are not in their strongest cluster; None before there are answers."""
        if self.stack is None:
            return None
        if self.k == 1:
            return 0.0
        unasked = 1.0 - self.stack.confidence(self._unasked(self.stack.pool))
        asked = 1.0 - self._answered_confidence(self._answered_rows())
        n_unasked = self.pool.items.n - len(self.asked)
        return float(asked.sum()) + (float(unasked.mean()) * n_unasked if n_unasked else 0.0)

    @cached_property
    def expected_wrong_band(self) -> tuple[int, int] | None:
        """The 80 % interval of how many items these are; None before there are answers.

        Their number is Poisson's, with a mean that is known as well as the share of mistakes is
        among the held-out answers, and as models may all be wrong alike (a gamma distribution).
        """
        from scipy.stats import nbinom

        expected = self.expected_wrong
        if expected is None or self.stack is None:
            return None
        shape = 1.0 / (_ALIKE**2 + 1.0 / (self.stack.n_mistakes + 1.0))
        mean = expected + _UNSEEN * (self.pool.items.n - len(self.asked)) / (self.n_told + 1.0)
        low = int(nbinom.ppf(0.1, shape, shape / (shape + expected)))
        high = int(nbinom.ppf(0.9, shape, shape / (shape + mean)))
        most = max(self.pool.items.n - self.n_told, math.ceil(expected))
        return min(low, int(expected)), max(min(high, most), math.ceil(expected))

    def _unasked(self, rows: Floats) -> Floats:
        """Those of the pool's rows that nobody was asked about; all, where that is none."""
        return np.delete(rows, self.asked, axis=0) if len(self.asked) < len(self.pool) else rows

    def wrong_target(self, precision: float, target: float | None) -> float | None:
        """The share of wrong items that is small enough; None where the error of memberships is."""
        if self.stack is None or target is not None:
            return target
        hard = self.stack.strongest + _MEAN * self.noise() > ALL_OR_NOTHING
        return _TARGET * precision if hard else None

    def is_precise(self, precision: float, target: float | None) -> bool:
        """Whether the estimate is small enough, and there is enough behind it.

        That is the expected share of wrong items where answers are all or nothing, or a target for
        it is given; else the error of memberships.
        """
        if self.k == 1:
            return True
        count, n = self.n_told, self.pool.items.n
        if self.stack is None or count < min(ENOUGH * self.k, n):
            return False
        share = self.wrong_target(precision, target)
        if share is None:
            return self.estimated_error < precision
        # No mistake among so many does not mean that there is none.
        chance = _UNSEEN / (count + 1.0) * (1.0 - count / n)
        wrong = (self.expected_wrong or 0.0) / n
        return max(wrong, chance) < share

    @cached_property
    def predictor(self) -> Predict:
        """Memberships of any items, by models that have seen all items."""
        if self.k > self.n_clusters:
            return WithoutRest(predict=self._inner, n_clusters=self.n_clusters)
        return self._inner

    @cached_property
    def _inner(self) -> Predict:
        """The same, with that of items that belong to none of the groups."""
        if self.stack is not None:
            return self._refined(self.stack).predict
        centers, alpha = self.pool.free
        return ClosedForm(centers=centers[self._names], fuzzifier=alpha)

    def _refined(self, stack: Stack) -> Stack:
        """The stack; of more items than the pool has, its models see all of them."""
        items = self.pool.items
        return stack if len(self.pool) == items.n else stack.refined(items)

    def outcome(self) -> Outcome:
        """What follows for all items; answers stand."""
        U = self._memberships()
        confidence = np.ones(len(U))
        if self.stack is not None and self.k > 1:
            confidence = self.stack.confidence(U)
            confidence[self.told.items] = self._answered_confidence(U[self.told.items])
        elif self.k > 1:
            confidence = U.max(axis=1)
        unassigned = U[:, self.n_clusters :].sum(axis=1)
        nowhere = self.told.items[self.elsewhere]
        memberships = U[:, : self.n_clusters]
        memberships[nowhere], unassigned[nowhere] = 0.0, 1.0
        return Outcome(memberships=memberships, unassigned=unassigned, confidence=confidence)

    def _memberships(self) -> Floats:
        """Memberships of all items, with that of items that belong to none of the groups."""
        if len(self.pool) == self.pool.items.n and self.stack is not None:
            U = self.stack.pool.copy()
        else:
            U = np.concatenate([self._expected(rows) for rows in self.chunks()])
        U[self.told.items] = self._answered_rows(U[self.told.items])
        return U

    def _answered_rows(self, expected: Floats | None = None) -> Floats:
        """Rows of the items that were asked about, from what is expected and what was answered."""
        values, levels = self.told.values, self.scale.levels
        if expected is None:
            expected = self.likely[self.asked]
        rows = expected.copy()
        if levels is None:
            keep_answers(rows, np.arange(len(rows)), values)
        else:  # an answer on a scale is an interval, and several are a smaller one
            half = 0.5 / (levels - 1) / np.sqrt(np.maximum(self.told.times, 1))
            low = np.clip(np.nan_to_num(values - half, nan=0.0), 0.0, 1.0)
            high = np.clip(np.nan_to_num(values + half, nan=1.0), 0.0, 1.0)
            rows = within_bounds(rows, low, high)
        rows = self._hedged(rows)
        own = self._own_share(self.noise() ** 2 - self.scale.rounding**2)
        share = (own * self._weight(rows, expected, np.ones(len(rows), dtype=bool)))[:, None]
        return np.asarray(share * rows + (1.0 - share) * expected)

    def _answered_confidence(self, rows: Floats) -> Floats:
        """The probability that the strongest cluster of answered items is right.

        One where an answer decided and none contradicts it; where answers differ, the share of
        those for it.
        """
        assert self.stack is not None
        told = self.told
        strongest = np.nanmax(
            np.where(np.isnan(told.values), 0.0, told.values), axis=1, initial=0.0
        )
        decided = told.is_known & ((strongest >= told.left) | self.elsewhere)
        return np.where(
            decided, np.where(told.is_contested, rows.max(axis=1), 1.0), self.stack.confidence(rows)
        )

    def _expected(self, rows: Rows) -> Floats:
        """What is expected of some items, by models of the items and by language models."""
        X = self.pool.items.take(rows)
        if self.panel.is_silent:
            return self._inner(X)
        U = self.panel.applied(rows, self._inner(X))
        return U if self.stack is None else sharpened(U, self.panel.sharpness)

    @property
    def many_unassigned(self) -> bool:
        """Whether a cluster may be missing: of k + 1 equal ones it would hold 1 / (k + 1)."""
        lost = int(self.elsewhere.sum())
        share = lost / max(self.n_told, 1)
        if self.k > self.n_clusters and self.stack is not None:  # once it is clear nobody is asked
            share = max(share, float(self.stack.pool[:, -1].mean()))
        return lost >= _SEVERAL and share > 0.5 / (self.n_clusters + 1)

    @cached_property
    def suggested_clusters(self) -> int:
        """How many groups the answers speak of."""
        if not self.many_unassigned:
            return self.n_clusters
        if self.k == self.n_clusters or self.stack is None:
            return self.n_clusters + 1
        expected = self.stack.pool[:, -1] > 0.5
        expected[self.asked[self.elsewhere]] = True
        Z = self.pool.principal
        return self.n_clusters + n_hidden_groups(Z[expected], int(self.elsewhere.sum()))

    def _hedged(self, rows: Floats) -> Floats:
        """The rows; an item of nothing but zeros is likely, not certain, in the last cluster."""
        nowhere = self.told.nowhere
        likely = (1.0 - nowhere) * np.isnan(self.told.values) + nowhere / self.k
        nothing = self.told.all_but_one & (np.nansum(self.told.values, axis=1) == 0.0)
        return np.where(nothing[:, None], likely, rows)

    def chunks(self) -> Iterator[Rows]:
        """All items, a part at a time."""
        n = self.pool.items.n
        for start in range(0, n, _CHUNK):
            yield np.arange(start, min(start + _CHUNK, n))
