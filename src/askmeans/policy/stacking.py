"""Stacking: a calibrated mean of models, weighted by their predictions of held-out answers.

Weights minimise squared error, so a model counts by what it adds to the others. `calibration.py`
calibrates the mean.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats
from askmeans._util.checks import default_float_errors
from askmeans.fuzzy.items import ItemSet
from askmeans.policy.calibration import (
    Proximity,
    calibrating_power,
    error_by_uncertainty,
    power_of_strongest,
    sharpened,
)
from askmeans.policy.models.training import ALL_OR_NOTHING, MANY, Fitted, Predict, Training

# Prior model weights, where answers are soft, and where they are hard or few: chosen on label
# distributions, our own targets and real labels, by leaving out one model after the other.
SOFT = {
    "fcm": 0.3, "fcm_scaled": 0.3, "seeded_fcm": 0.3, "fcm_learned_scale": 0.3,
    "gaussian_mixture": 0.3, "lda": 0.3, "logistic": 0.1, "gp_rbf": 1.0, "gp_graph": 3.0,
    "ridge": 1.0, "median_row": 2.0, "forest": 1.0, "examples": 1.0,
}  # fmt: skip
HARD = {
    "fcm": 1.0, "fcm_scaled": 1.0, "seeded_fcm": 0.6, "gaussian_mixture": 1.0, "lda": 1.0,
    "logistic": 1.0, "gp_rbf": 0.5, "gp_graph": 0.5, "forest": 2.0, "examples": 2.0,
}  # fmt: skip
# Before there are answers: on five sets of texts with two encoders (benchmarks/names.py) .448 are
# right and .457 are expected, with the weights of hard answers .443 and .422.
BY_EXAMPLES = HARD | {"logistic": 2.0, "gp_rbf": 1.0, "gp_graph": 1.0}
# Strength of the prior: the loss of so many items of the best model; for few hard answers also by
# chance, for soft ones by the variance that models leave unexplained. Without LUCK the error of 14
# tables is 1.028 times as large (10 to 100 answers), with equal prior weights and three times the
# caution 1.037 times. Without CHANCE that of label distributions is 1.008 times and that of ten
# soft targets .96 times as large, but pairs do not show that a cluster is missing where they do
# with it (tests/policy/similarity/test_policy.py).
CAUTION, LUCK, CHANCE = 2.0, 2.0, 5.0
# Held-out rows come from models with fewer answers of each cluster than those that learn from all.
# The power that makes up for it: of 14 tables 70 % of the runs are within a factor 1.5 with it and
# without, of 28 others 66 and 58 %; the ECE of large ones is .045 and .052, .059 and .065.
_MORE = 0.1
# The power that turns memberships by hard answers into votes, to see where models disagree. Asking
# by calibrated uncertainty instead cost 3 to 9 % more errors (one seed of 14 tables, 20 to 100
# answers; runs ended where 1 % of the items were expected wrong).
_VOTES = 10.0
# From so many rows that others could predict, the rest has this weight in the choice of models. If
# all count, the error of 14 tables is 1.02 times as large after 10 and 20 answers.
_SUPPORTED, _UNSUPPORTED = 3, 1e-6
_EXAMPLE = 0.5  # weight of the examples of a cluster from which on it is observed, as of answers
# Smaller weights are 0, which lowers the error of label distributions by 1.3 %.
_LEAST = 0.03
_DIGITS = 4  # of a weight, independent of where the search for it stopped
_NEWTON = 50  # steps at most; the search ends where no weight moves


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """Weights of models, a common power, and the expected errors."""

    fitted: list[Fitted]
    weights: Floats
    sharpness: float
    unmet: Floats  # expected share of the items in each cluster without answers
    proximity: Proximity | None  # of hard answers
    strongest: float  # mean of the answers' strongest memberships
    rows: NDArray[np.intp]  # places in the pool of the items with answers
    pool: Floats
    held_out: Floats  # memberships of these items by models that were fitted without them
    uncertainty: Floats  # of every item of the pool, for the ranking of questions
    confidence_power: float  # converts shares to probabilities of the strongest cluster
    expected: Floats  # expected error of every item of the pool
    misfit: float  # mean squared error on held-out answers
    unexplained: float  # share of the variance of held-out answers that models do not explain
    n_mistakes: float  # number of mistakes on which the estimate of the error is based

    def confidence(self, U: Floats) -> Floats:
        """The probability that the strongest cluster of each of these rows is right."""
        P = U if self.confidence_power == 1.0 else sharpened(U, self.confidence_power)
        return np.asarray(P.max(axis=1))

    @property
    def answers_are_hard(self) -> bool:
        """Whether answers are all or nothing."""
        return self.strongest > ALL_OR_NOTHING

    def refined(self, items: ItemSet) -> "Stack":
        """The stack with models refined on all items."""
        fitted = [
            replace(f, predict=f.refine(items)) if f.refine is not None and w > 0.0 else f
            for w, f in zip(self.weights, self.fitted, strict=True)
        ]
        return replace(self, fitted=fitted)

    def as_model(self, training: Training) -> Fitted:
        """The stack as a model that learnt from none of the answers."""
        return Fitted(
            name="examples", pool=self.pool, held_out=self.pool[training.rows], predict=self.predict
        )

    @property
    def predict(self) -> "Stacked":
        """Memberships of any items, without the data that the stack was learnt from."""
        pairs = zip(self.weights.tolist(), self.fitted, strict=True)
        return Stacked(
            parts=tuple((weight, f.predict) for weight, f in pairs if weight > 0.0),
            sharpness=self.sharpness,
            unmet=self.unmet,
            proximity=self.proximity,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacked:
    """A weighted mean of models, calibrated."""

    parts: tuple[tuple[float, Predict], ...]
    sharpness: float
    unmet: Floats
    proximity: Proximity | None

    @default_float_errors()
    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        U = np.asarray(sum(weight * predict(X) for weight, predict in self.parts))
        if self.proximity is not None:
            U = sharpened(U, self.proximity(X))
        return _with_unmet(sharpened(U, self.sharpness), self.unmet)


def _with_unmet(U: Floats, unmet: Floats) -> Floats:
    """Memberships in which clusters without answers get these shares."""
    return (1.0 - unmet.sum()) * U + unmet if unmet.any() else U


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """Held-out predictions of each model, the answers, and the weight of each answer."""

    outs: Floats
    Y: Floats
    known: NDArray[np.bool_]
    weight: Floats  # to choose between models
    sample_weight: Floats  # to calibrate: answers that first meet a cluster count, too
    prior: Floats
    hard: bool
    power: Floats | None  # of every answer, by its proximity to others

    def part(self, chosen: NDArray[np.bool_]) -> "HeldOut":
        """Some of the answers."""
        return replace(
            self, outs=self.outs[:, chosen], Y=self.Y[chosen], known=self.known[chosen],
            weight=self.weight[chosen], sample_weight=self.sample_weight[chosen],
            power=None if self.power is None else self.power[chosen],
        )  # fmt: skip

    def losses(self) -> tuple[Floats, float]:
        """Products of the errors of every two models, and the strength of the prior."""
        left = np.where(self.known, self.outs - self.Y, 0.0)
        left = (left * np.sqrt(self.weight)[:, None]).reshape(len(left), -1)
        A = left @ left.T
        n, least = len(self.Y), float(np.diag(A).min())
        if self.hard:
            return A, CAUTION * least / n + LUCK / n**2
        away = np.where(self.known, self.Y - np.average(self.Y, 0, self.weight), 0.0)
        total = float(self.weight @ np.square(away).sum(axis=1))
        return A, CAUTION * (1.0 + CHANCE * min(1.0, least / max(total, 1e-12))) * least / n

    def sharpness(self, mean: Floats) -> float:
        """The power that calibrates these rows."""
        mean = mean if self.power is None else sharpened(mean, self.power)
        return calibrating_power(mean, self.Y, self.known, self.sample_weight, hard=self.hard)


def _stack_each(parts: list[HeldOut], near: Floats | None = None) -> list[tuple[Floats, float]]:
    """Weights and power by each part; the search for weights starts from `near`."""
    prior = parts[0].prior / parts[0].prior.sum()
    losses, cautions = zip(*(part.losses() for part in parts), strict=True)
    W = stacked(np.stack(losses), prior, np.array(cautions), near)
    W[W < _LEAST] = 0.0
    # Rounded: independent of where the search stopped.
    W = np.round(W / W.sum(axis=1, keepdims=True), _DIGITS)
    W /= W.sum(axis=1, keepdims=True)
    return [
        (w, part.sharpness(np.tensordot(w, part.outs, 1))) for w, part in zip(W, parts, strict=True)
    ]


def stack_models(
    fitted: list[Fitted],
    training: Training,
    proximity: Proximity | None = None,
    *,
    some_unmet: bool = False,
    examples: Floats | float = 0.0,
) -> Stack:
    """Stack models: least squared held-out error, near the prior while answers are few.

    Hard answers are calibrated by the proximity of items to each other, too, where it is known.
    With `some_unmet` a cluster without answers may have items nevertheless. `examples` is the
    weight of those of each cluster that models learnt from, too.
    """
    Y, hard = training.Y, training.is_hard
    prior_weights = HARD if hard or len(Y) < MANY else SOFT
    outs, pools = np.stack([f.held_out for f in fitted]), np.stack([f.pool for f in fitted])
    supported = training.supported(examples)
    # Models are weighted by answers without strata: large ones have few answers, which adds noise.
    each = training.sample_weight / training.sample_weight.mean()
    fair = np.where(supported, each, _UNSUPPORTED) if supported.sum() >= _SUPPORTED else each
    answers = HeldOut(
        outs=outs, Y=Y, known=training.known, weight=fair, sample_weight=each, hard=hard,
        prior=np.array([prior_weights[f.name] for f in fitted]),
        power=None if proximity is None else proximity.held_out,
    )  # fmt: skip
    ((w, sharpness),) = _stack_each([answers])
    mean_held_out, mean_pool = np.tensordot(w, outs, 1), np.tensordot(w, pools, 1)
    held_out, pool = mean_held_out, mean_pool
    if proximity is not None:
        held_out, pool = sharpened(held_out, proximity.held_out), sharpened(pool, proximity.pool)
    held_out = sharpened(held_out, sharpness)
    # Held-out answers do not cover clusters without answers, whose items models put into others.
    # Their shares are the means under a uniform prior (Laplace's rule of succession): of 12 tables
    # and texts where 20 answers do not meet all clusters, the log loss is 1.93 without, 1.69 with.
    unmet = np.zeros(Y.shape[1])
    if hard:
        met = Y[training.placed | training.in_union].any(axis=0)
        sharpness *= (met.sum() / 3.0) ** _MORE
        if some_unmet:
            without = ~met & (np.zeros(len(unmet)) + examples < _EXAMPLE)
            unmet[without] = 1.0 / (len(Y) + len(unmet))
    pool = _with_unmet(sharpened(pool, sharpness), unmet)
    voting = _VOTES if hard else sharpness
    uncertainty = _uncertainty(w, pools, mean_pool, voting)
    stack = Stack(
        fitted=fitted, weights=w, sharpness=sharpness, unmet=unmet, proximity=proximity,
        strongest=training.strongest, rows=training.rows, pool=pool, held_out=held_out,
        uncertainty=uncertainty, confidence_power=1.0, expected=uncertainty, misfit=0.0,
        unexplained=1.0, n_mistakes=0.0,
    )  # fmt: skip
    if hard:
        return with_rows(stack, training, pool, held_out, uncertainty)
    return with_rows(
        stack, training, pool, held_out, uncertainty,
        held_out_uncertainty=_uncertainty(w, outs, mean_held_out, voting),
        errors=_cross_fitted_errors(answers, training.folds, near=w),
    )  # fmt: skip


def stack_by_examples(fitted: list[Fitted]) -> Stack:
    """The stack before the first answer: prior weights, no power."""
    prior = np.array([BY_EXAMPLES[f.name] for f in fitted])
    w = prior / prior.sum()
    pools = np.stack([f.pool for f in fitted])
    mean = np.tensordot(w, pools, 1)
    pool, k = sharpened(mean, 1.0), mean.shape[1]
    return Stack(
        fitted=fitted, weights=w, sharpness=1.0, unmet=np.zeros(k), proximity=None,
        strongest=1.0, rows=np.empty(0, dtype=np.intp), pool=pool, held_out=pool[:0],
        uncertainty=_uncertainty(w, pools, mean, _VOTES), confidence_power=1.0,
        expected=2.0 / k * (1.0 - np.square(pool).sum(axis=1)), misfit=(k - 1.0) / k**2,
        unexplained=1.0, n_mistakes=0.0,
    )  # fmt: skip


def with_rows(
    stack: Stack,
    training: Training,
    pool: Floats,
    held_out: Floats,
    uncertainty: Floats,
    *,
    held_out_uncertainty: Floats | None = None,
    errors: Floats | None = None,
) -> Stack:
    """The stack with these calibrated rows, and the errors that follow from them.

    The errors of hard answers follow from the probabilities; those of shares from held-out ones.
    """
    Y, k, weight = training.Y, training.Y.shape[1], training.weight
    misfit = float(weight @ np.square(held_out - Y).mean(axis=1) / len(Y))
    if training.is_hard or errors is None or held_out_uncertainty is None:
        power = 1.0
        expected = 2.0 / k * (1.0 - np.square(pool).sum(axis=1))
        n_mistakes = float((1.0 - held_out.max(axis=1)).sum())
    else:
        power = power_of_strongest(held_out, training)
        expected = error_by_uncertainty(held_out_uncertainty, errors, weight, k)(uncertainty)
        n_mistakes = float((weight @ errors) ** 2) / max(float(weight**2 @ errors**2), 1e-12)
    return replace(
        stack, pool=pool, held_out=held_out, uncertainty=uncertainty, confidence_power=power,
        expected=expected, misfit=misfit, n_mistakes=n_mistakes,
        unexplained=min(1.0, misfit / max(float(Y.var(axis=0).mean()), 1e-12)),
    )  # fmt: skip


def _cross_fitted_errors(answers: HeldOut, folds: NDArray[np.intp], *, near: Floats) -> Floats:
    """The stack's mean error for each answer, by weights and a power of the other folds only."""
    errors = np.empty(len(answers.Y))
    inner = [folds == fold for fold in np.unique(folds)]
    parts = [answers.part(inside if inside.all() else ~inside) for inside in inner]
    for inside, (w, sharpness) in zip(inner, _stack_each(parts, near), strict=True):
        rows = sharpened(np.tensordot(w, answers.outs[:, inside], 1), sharpness)
        known = answers.known[inside]
        off = np.where(known, np.abs(rows - answers.Y[inside]), 0.0).sum(axis=1)
        errors[inside] = off / np.maximum(known.sum(axis=1), 1)
    return errors


def stacked(A: Floats, prior: Floats, caution: Floats, near: Floats | None = None) -> Floats:
    """Weights on the simplex that minimise w'Aw + caution KL(w, prior), for every A.

    By Newton's method from `near`. Decreasing weights are damped, as in an interior point method,
    so that a vanishing weight does not change the others.
    """
    m, each = len(prior), np.arange(len(prior))
    unit = np.maximum(
        A[:, each, each].min(axis=1), 1e-9
    )  # of the best model alone: a scale of about 1
    A, caution = A / unit[:, None, None], np.maximum(caution / unit, 1e-4)[:, None]
    w = np.repeat((prior if near is None else np.maximum(near, 1e-3))[None], len(A), axis=0)
    w /= w.sum(axis=1, keepdims=True)
    for _ in range(_NEWTON):
        gradient = 2.0 * np.einsum("aij,aj->ai", A, w) + caution * np.log(w / prior)
        above = gradient - (w * gradient).sum(axis=1, keepdims=True)
        H = 2.0 * A
        H[:, each, each] += np.maximum(caution, above) / w
        step, shift = np.moveaxis(
            np.linalg.solve(H, np.stack([gradient, np.ones((len(A), m))], axis=2)), 2, 0
        )
        step -= step.sum(axis=1, keepdims=True) / shift.sum(axis=1, keepdims=True) * shift
        new = np.maximum(w - step, np.maximum(0.1 * w, 1e-7))
        new /= new.sum(axis=1, keepdims=True)
        moved = float(np.abs(new - w).max())
        w = new
        if moved < 1e-6:
            break
    return w


def _uncertainty(w: Floats, parts: Floats, mean: Floats, power: float) -> Floats:
    """The uncertainty of each item: disagreement of the models, and impurity of the mean."""
    U = sharpened(mean, power)
    disagreement = sum(
        weight * np.abs(sharpened(part, power) - U).mean(axis=1)
        for weight, part in zip(w, parts, strict=True)
        if weight > 0.0
    )
    even = 2.0 * (mean * (1.0 - mean)).mean(
        axis=1
    )  # the error of a cluster drawn by these probabilities
    return np.asarray(disagreement + 0.25 * even + 1e-9)
