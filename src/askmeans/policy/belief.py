"""The belief after some answers: memberships of all items, and their expected errors."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats, Rows
from askmeans.fuzzy.arrays import keep_answers, within_bounds
from askmeans.policy.advisers import Advice, Advisers, consult, weigh_before_answers
from askmeans.policy.calibration import Proximity, sharpened
from askmeans.policy.ensemble import FEW, Ensemble, one_thread
from askmeans.policy.evidence import Evidence
from askmeans.policy.examples import Examples, example_weights
from askmeans.policy.hidden_groups import n_hidden_groups
from askmeans.policy.models.fcm import ClosedForm, name_clusters
from askmeans.policy.models.training import ALL_OR_NOTHING, TRUST, Predict, Training
from askmeans.policy.pool import Pool, Strata
from askmeans.policy.scales import OUTLIER, UNASSIGNED_SUM
from askmeans.policy.stacking import Stack, stack_by_examples, stack_models
from askmeans.queries.values import rounding_noise

ENOUGH = 5  # items with answers per cluster: then an unobserved one is assumed to be empty
_OBSERVED = 0.5  # summed memberships from which on a cluster is observed
_BELIEVED = 0.5  # mean weight of examples from which on models of examples alone count
_SEVERAL = 3  # items in no cluster from which on one may be missing; fewer may be slips
_JEFFREYS = 0.5  # mistakes added to the observed ones (Jeffreys' prior)
# Standard deviation of the log of errors common to all models, chosen by the coverage of the band
# in benchmarks/calibration.py, 96 % on its 14 tables, 83 % on 14 others and 78 % on 9 large ones;
# with .3 it is 96, 71 and 61 %.
_ALIKE = 0.4
_TARGET = 2.0  # share of wrong items, as a multiple of the precision: a wrong row has an error of 2
_EIGHTY = 1.28  # standard deviations of an 80 % interval
_MEAN = 0.8  # sqrt(2 / pi): the mean of a normal error, by its standard deviation
_CHUNK = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The prior knowledge of the answers' errors.

    `noise` is their standard deviation, "auto" for one to be estimated; `levels` the number of
    points of their scale, None for a fine one.
    """

    noise: float | Literal["auto"] = 0.0
    levels: int | None = None

    @property
    def rounding(self) -> float:
        """Standard deviation of the rounding to the scale; 0 for a fine one."""
        return rounding_noise(self.levels)


EXACT = Scale()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Memberships of all items, the probability of no cluster, and the confidence."""

    memberships: Floats
    unassigned: Floats
    confidence: Floats


class Belief:
    """Models fitted to some answers, and all quantities that follow from them."""

    def __init__(
        self,
        ensemble: Ensemble,
        strata: Strata,
        evidence: Evidence,
        scale: Scale,
        advice: tuple[Advice, ...] = (),
    ) -> None:
        self.pool: Pool = ensemble.pool
        self.strata = strata
        self.n_clusters = int(evidence.values.shape[1])  # clusters that questions name
        self.k = self.n_clusters + evidence.has_unassigned  # with "none of these", if modelled
        self.example_weights = np.zeros(self.k)  # of the examples of each cluster
        self.unassigned = evidence.unassigned
        more = self.k > self.n_clusters
        self.evidence = evidence.with_unassigned_column() if more else evidence
        self.scale = scale
        self.places: Rows = np.searchsorted(self.pool.rows, evidence.items)
        self.observed = np.zeros(self.k, dtype=bool)
        with one_thread():
            self._unnamed = unnamed = ensemble.unsupervised_memberships(self.k)
        # The unsupervised fit, its clusters matched to the answers.
        self._names = name_clusters(unnamed[self.places], self.evidence.values)
        self.unsupervised: Floats = unnamed[:, self._names]
        self.probabilities: Floats = self.unsupervised
        self.stack: Stack | None = None
        self._by_examples: Stack | None = None
        self.advisers = Advisers()
        with one_thread():
            if ensemble.examples is not None and self.k > 1:
                self._learn_from_examples(ensemble, ensemble.examples)
            training = self._learn(ensemble)
            if advice:
                self._consult(advice, training, ensemble)

    @property
    def n_answered(self) -> int:
        """The number of items with an answer other than "cannot say"."""
        return int(self.evidence.is_known.sum())

    @property
    def is_naming(self) -> bool:
        """Whether to search for items of unobserved clusters, which may be empty."""
        return not self.observed.all() and self.n_answered < ENOUGH * self.k

    def _consult(
        self, advice: tuple[Advice, ...], training: Training | None, ensemble: Ensemble
    ) -> None:
        """Change the expected memberships by advice, as people's answers support it."""
        rows = self.pool.rows
        if training is None:  # without answers
            if self.stack is None:  # advisers name the clusters
                known, shares = advice[0].of(rows)
                self._names = name_clusters(self._unnamed[known], shares[:, : self.k])
                self.probabilities = self.unsupervised = self._unnamed[:, self._names]
            self.advisers = weigh_before_answers(advice, rows, self.probabilities)
            self.probabilities = self.advisers.applied(rows, self.probabilities)
            if self.stack is not None:
                self.stack = replace(self.stack, pool=self.probabilities)
            return
        assert self.stack is not None
        self.advisers, self.stack = consult(self.stack, advice, training, rows, ensemble.smoothed)
        self.probabilities = self.stack.pool

    def _learn_from_examples(self, ensemble: Ensemble, examples: Examples) -> None:
        """Expect what follows from the examples alone, and weigh them by the answers.

        Examples of some clusters only say nothing of what is in the others before there are
        answers.
        """
        stack, covered = stack_by_examples(ensemble.by_examples), examples.covered
        self._by_examples = stack
        if covered.all():
            self.stack, self.probabilities = stack, stack.pool
        weights = example_weights(stack.pool[self.places], self.evidence.values, covered)
        self.example_weights = weights
        self.observed = weights * examples.mass >= _OBSERVED

    def _learn(self, ensemble: Ensemble) -> Training | None:
        """Fit every model to the answers, and weigh them; returns what they learnt from."""
        if self.k == 1:  # a single cluster
            return None
        training = self._training()
        if training is None:
            return None
        partly = self.evidence.left[self.evidence.is_known] > UNASSIGNED_SUM
        if partly.any() and len(training.rows) >= FEW and len(self.pool) > FEW:
            for _ in range(2):  # the filled in entries change the models
                self.probabilities = min(
                    [self.probabilities, *ensemble.sketch(training, self.example_weights)],
                    key=self._misfit,
                )
                training = self._training()
                assert training is not None
        self.stack = stack = self._stacked(ensemble, training)
        if training.in_union.any():  # again with what models say that did not learn from the row
            training = training.filled(stack.held_out)
            self.stack = stack = self._stacked(ensemble, training)
        rows = np.isin(self.places, training.rows)
        belief = self._weight(training.Y, stack.pool[training.rows], rows)
        if (belief < 0.5).any():  # again with small weights for improbable answers
            weight = np.maximum(training.sample_weight * belief, 1e-3)
            training = replace(training, sample_weight=weight)
            stack = self._stacked(ensemble, training)
        self.stack, self.probabilities = stack, stack.pool
        placed = training.sample_weight * training.placed
        self.observed |= placed @ training.Y >= _OBSERVED
        return training

    def _stacked(self, ensemble: Ensemble, training: Training) -> Stack:
        """Fit all models, and stack them."""
        proximity = None
        if training.is_hard:
            proximity = Proximity.of(self.pool, training, self.strata.resolution)
        weights = self.example_weights
        mass = 0.0 if ensemble.examples is None else weights * ensemble.examples.mass
        fitted = ensemble.learn(training, weights)
        if self._by_examples is not None and weights.mean() > _BELIEVED:
            fitted.append(self._by_examples.as_model(training))
        return stack_models(
            fitted, training, proximity,
            some_unmet=ensemble.clusters is None, examples=mass,
        )  # fmt: skip

    def _misfit(self, U: Floats) -> float:
        """The absolute errors of memberships of the pool, over all answers."""
        return float(np.nansum(np.abs(U[self.places] - self.evidence.values)))

    def _row_weights(self) -> Floats:
        """The weight of each row, by its known share."""
        evidence, values = self.evidence, self.evidence.values
        known = ~np.isnan(values)
        mass = np.clip(np.where(known, values, 0.0), 0.0, 1.0).sum(axis=1)
        complete = known.all(axis=1) & ~evidence.unassigned
        weight = np.where(complete, 1.0, np.minimum(mass, 1.0))
        weight[evidence.all_but_one] = 1.0 - evidence.nowhere
        weight[evidence.in_union] = 1.0
        return weight

    def _training(self) -> Training | None:
        """Mostly known rows, with expected values for the unknown entries."""
        evidence, values, weight = self.evidence, self.evidence.values, self._row_weights()
        known, some = ~np.isnan(values), weight > TRUST
        if not some.any():
            return None
        U = self.probabilities[self.places].copy()
        keep_answers(U, np.arange(len(U)), values)
        size = np.maximum(self.strata.sizes(self.places[some]), 1.0)
        known |= (evidence.left <= UNASSIGNED_SUM)[:, None]
        return Training.of(
            self.places[some], U[some], weight[some], size, known[some], evidence.in_union[some]
        )

    def _weight(self, answers: Floats, predicted: Floats, rows: NDArray[np.bool_]) -> Floats:
        """Weights of some rows of noisy answers: low for a large difference from the prediction.

        Far is what is unusual beside the error expected of the row: where models are unsure they
        often err, and answers are right. So are those that were confirmed by repeats.
        """
        off, noise = np.abs(answers - predicted), self.noise()
        if self.scale.noise == 0.0 or noise == 0.0 or self.stack is None:
            return np.ones(len(off))
        confirmed = self.evidence.confirmed(self.noise(averaged=False))[rows]
        of_answers = off * self.evidence.queried[rows]
        open_ = (of_answers * ~confirmed).sum(axis=1) / np.maximum(of_answers.sum(axis=1), 1e-12)
        away = off.mean(axis=1) * open_
        usual = np.hypot(self.stack.expected[self.places[rows]] / _MEAN, noise)
        # Tukey's biweight.
        return np.asarray(np.square(np.clip(1.0 - np.square(away / (OUTLIER * usual)), 0.0, None)))

    def noise(self, *, averaged: bool = True) -> float:
        """Standard deviation of the answers' errors: given, of their scale, or estimated.

        Of repeats, that of their average; or of a single answer.
        """
        auto = self.scale.noise == "auto"
        known = self.scale.rounding
        if self.scale.noise != "auto":
            known = math.hypot(self.scale.noise, known)
        if not auto and not self.evidence.differ:
            return known
        within, free = self.evidence.spread()
        if free:
            counts = np.bincount(self.evidence.place * self.k + self.evidence.cluster)
            repeats = float(counts[counts > 0].mean()) if averaged else 1.0
            return max(known, math.sqrt(within / repeats))
        # Without repeats half of the unexplained variance is assumed to be noise.
        misfit = self.stack.misfit if self.stack else 0.0
        return math.sqrt(known**2 + 0.5 * max(misfit - known**2, 0.0))

    def _own_share(self, variance: float) -> float:
        """The weight of an item's own answers, of this variance, in its row."""
        if variance <= 0.0 or self.stack is None:
            return 1.0
        noise = self.noise() ** 2
        predicted = max(self.stack.misfit - noise, 0.1 * noise)
        return predicted / (predicted + variance)

    @cached_property
    def estimated_error(self) -> float:
        """The expected mean error of a membership over all items; answers have none."""
        if self.k == 1:
            return 0.0
        if self.stack is None:
            return 1.0 / self.k
        places, n, hard = self.places, self.pool.items.n, self.stack.answers_are_hard
        expected = self.stack.expected
        if not hard:
            # Items of unobserved clusters are put into others: many if the unsupervised fit is
            # right, but few if so many answers did not observe them.
            nameless = float(self.unsupervised[:, ~self.observed].sum(axis=1).mean())
            expected = expected + 2.0 / self.k * min(nameless, 1.0 / (self.n_answered + 2.0))
        left = self.evidence.left
        # The error that noise leaves in rows with answers.
        noise = self.noise()
        own = noise * math.sqrt(self._own_share(noise**2))
        own = _MEAN * min(own, math.sqrt(self.stack.misfit))
        error = float((expected[places] * left + own * (left < 1.0)).sum())
        error += float(self._unasked(expected).mean()) * (n - len(places))
        even = 2.0 * (self.k - 1.0) / self.k**2  # the error of even rows if answers are hard
        return min(error / n, even)

    @cached_property
    def error_band(self) -> tuple[float, float]:
        """The 80 % interval of the mean error of a membership."""
        error = self.estimated_error
        if self.k == 1:
            return 0.0, 0.0
        if self.stack is None:
            return 0.0, min(1.0, 2.0 / self.k)
        if self.stack.answers_are_hard and self.expected_wrong:  # in proportion to the wrong items
            low, high = self.expected_wrong_band or (0.0, 0.0)
            return error * low / self.expected_wrong, error * high / self.expected_wrong
        width = math.exp(_EIGHTY * math.hypot(_ALIKE, 1.0 / math.sqrt(self.stack.n_mistakes + 0.5)))
        return error / width, error * width

    @cached_property
    def expected_wrong(self) -> float | None:
        """The expected number of items in the wrong cluster; None without answers."""
        if self.stack is None:
            return None
        if self.k == 1:
            return 0.0
        unasked = 1.0 - self.stack.confidence(self._unasked(self.stack.pool))
        answered = 1.0 - self._answered_confidence(self._answered_rows())
        n_unasked = self.pool.items.n - len(self.places)
        return float(answered.sum()) + (float(unasked.mean()) * n_unasked if n_unasked else 0.0)

    @cached_property
    def expected_wrong_band(self) -> tuple[int, int] | None:
        """The 80 % interval of the number of wrong items; None without answers.

        A negative binomial distribution: Poisson, with a gamma distribution of the mean, whose
        spread is that of the mistakes among held-out answers, and of errors common to all models.
        """
        from scipy.stats import nbinom

        expected = self.expected_wrong
        if expected is None or self.stack is None:
            return None
        shape = 1.0 / (_ALIKE**2 + 1.0 / (self.stack.n_mistakes + 1.0))
        mean = expected + _JEFFREYS * (self.pool.items.n - len(self.places)) / (
            self.n_answered + 1.0
        )
        low = int(nbinom.ppf(0.1, shape, shape / (shape + expected)))
        high = int(nbinom.ppf(0.9, shape, shape / (shape + mean)))
        most = max(self.pool.items.n - self.n_answered, math.ceil(expected))
        return min(low, int(expected)), max(min(high, most), math.ceil(expected))

    def _unasked(self, rows: Floats) -> Floats:
        """Rows of the pool's items without answers; all rows if each has one."""
        return np.delete(rows, self.places, axis=0) if len(self.places) < len(self.pool) else rows

    def wrong_target(self, precision: float, target: float | None) -> float | None:
        """The share of wrong items at which to stop; None if the error of memberships decides."""
        if self.stack is None or target is not None:
            return target
        hard = self.stack.strongest + _MEAN * self.noise() > ALL_OR_NOTHING
        return _TARGET * precision if hard else None

    def is_precise(self, precision: float, target: float | None) -> bool:
        """Whether the estimated error is small enough, and based on enough answers.

        It is the expected share of wrong items where answers are all or nothing, or a target for
        it is set; else the error of memberships.
        """
        if self.k == 1:
            return True
        count, n = self.n_answered, self.pool.items.n
        if self.stack is None or count < min(ENOUGH * self.k, n):
            return False
        share = self.wrong_target(precision, target)
        if share is None:
            return self.estimated_error < precision
        # No mistake among these answers does not mean that there is none.
        chance = _JEFFREYS / (count + 1.0) * (1.0 - count / n)
        wrong = (self.expected_wrong or 0.0) / n
        return max(wrong, chance) < share

    @cached_property
    def predictor(self) -> Predict:
        """Memberships of any items, by models that have seen all items."""
        if self.k > self.n_clusters:
            return WithoutLast(predict=self._inner, n_clusters=self.n_clusters)
        return self._inner

    @cached_property
    def _inner(self) -> Predict:
        """The same with the column of "none of these"."""
        if self.stack is not None:
            return self._refined(self.stack).predict
        centers, alpha = self.pool.unsupervised_fit
        return ClosedForm(centers=centers[self._names], fuzzifier=alpha)

    def _refined(self, stack: Stack) -> Stack:
        """The stack; if there are more items than in the pool, refined on all of them."""
        items = self.pool.items
        return stack if len(self.pool) == items.n else stack.refined(items)

    def outcome(self) -> Outcome:
        """The result for all items, with the answers unchanged."""
        U = self._memberships()
        confidence = np.ones(len(U))
        if self.stack is not None and self.k > 1:
            confidence = self.stack.confidence(U)
            confidence[self.evidence.items] = self._answered_confidence(U[self.evidence.items])
        elif self.k > 1:
            confidence = U.max(axis=1)
        unassigned = U[:, self.n_clusters :].sum(axis=1)
        nowhere = self.evidence.items[self.unassigned]
        memberships = U[:, : self.n_clusters]
        memberships[nowhere], unassigned[nowhere] = 0.0, 1.0
        return Outcome(memberships=memberships, unassigned=unassigned, confidence=confidence)

    def _memberships(self) -> Floats:
        """Memberships of all items, with the column of "none of these"."""
        if len(self.pool) == self.pool.items.n and self.stack is not None:
            U = self.stack.pool.copy()
        else:
            U = np.concatenate([self._expected(rows) for rows in self.chunks()])
        U[self.evidence.items] = self._answered_rows(U[self.evidence.items])
        return U

    def _answered_rows(self, expected: Floats | None = None) -> Floats:
        """Rows of the items with answers, from the answers and the expected rows."""
        values, levels = self.evidence.values, self.scale.levels
        if expected is None:
            expected = self.probabilities[self.places]
        rows = expected.copy()
        if levels is None:
            keep_answers(rows, np.arange(len(rows)), values)
        else:  # an answer on a coarse scale is an interval, the mean of several a smaller one
            half = 0.5 / (levels - 1) / np.sqrt(np.maximum(self.evidence.times, 1))
            low = np.clip(np.nan_to_num(values - half, nan=0.0), 0.0, 1.0)
            high = np.clip(np.nan_to_num(values + half, nan=1.0), 0.0, 1.0)
            rows = within_bounds(rows, low, high)
        rows = self._hedged(rows)
        own = self._own_share(self.noise() ** 2 - self.scale.rounding**2)
        share = (own * self._weight(rows, expected, np.ones(len(rows), dtype=bool)))[:, None]
        return np.asarray(share * rows + (1.0 - share) * expected)

    def _answered_confidence(self, rows: Floats) -> Floats:
        """The probability that the strongest cluster of answered items is right.

        One where an answer decided and none contradicts it; where answers differ, its share.
        """
        assert self.stack is not None
        evidence = self.evidence
        strongest = np.nan_to_num(evidence.values).max(axis=1, initial=0.0)
        decided = evidence.is_known & ((strongest >= evidence.left) | self.unassigned)
        agreed = np.where(evidence.is_contested, rows.max(axis=1), 1.0)
        return np.where(decided, agreed, self.stack.confidence(rows))

    def _expected(self, rows: Rows) -> Floats:
        """The expected rows of some items, by models and by advisers."""
        X = self.pool.items.take(rows)
        if self.advisers.are_silent:
            return self._inner(X)
        U = self.advisers.applied(rows, self._inner(X))
        return U if self.stack is None else sharpened(U, self.advisers.sharpness)

    @property
    def many_unassigned(self) -> bool:
        """Whether a cluster may be missing: of k + 1 equal ones it would have 1 / (k + 1)."""
        n_unassigned = int(self.unassigned.sum())
        share = n_unassigned / max(self.n_answered, 1)
        if (
            self.k > self.n_clusters and self.stack is not None
        ):  # by the models: clear items have no questions
            share = max(share, float(self.stack.pool[:, -1].mean()))
        return n_unassigned >= _SEVERAL and share > 0.5 / (self.n_clusters + 1)

    @cached_property
    def suggested_clusters(self) -> int:
        """The number of clusters that the answers suggest."""
        if not self.many_unassigned:
            return self.n_clusters
        if self.k == self.n_clusters or self.stack is None:
            return self.n_clusters + 1
        expected = self.stack.pool[:, -1] > 0.5
        expected[self.places[self.unassigned]] = True
        Z = self.pool.principal
        return self.n_clusters + n_hidden_groups(Z[expected], int(self.unassigned.sum()))

    def _hedged(self, rows: Floats) -> Floats:
        """The rows; an item with zeros only is probably, but not certainly, in the last cluster."""
        nowhere = self.evidence.nowhere
        hedged = (1.0 - nowhere) * np.isnan(self.evidence.values) + nowhere / self.k
        nothing = self.evidence.all_but_one & (np.nansum(self.evidence.values, axis=1) == 0.0)
        return np.where(nothing[:, None], hedged, rows)

    def chunks(self) -> Iterator[Rows]:
        """All items, a part at a time."""
        n = self.pool.items.n
        for start in range(0, n, _CHUNK):
            yield np.arange(start, min(start + _CHUNK, n))


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutLast:
    """Memberships of any items, without the column of "none of these"."""

    predict: Predict
    n_clusters: int

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        return self.predict(X)[:, : self.n_clusters]
