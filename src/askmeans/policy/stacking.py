"""Stacking: models weighed by how well each predicted held-out answers, and calibrated by them.

Weights minimise squared error, the power of their mean ("sharpness", a temperature) minimises log
loss: both are proper scores, so that memberships are probabilities where answers are all or
nothing, and expected shares where they are soft.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from askmeans._util.guards import default_float_errors
from askmeans.fuzzy.items import ItemSet
from askmeans.policy.expected_errors import error_by_uncertainty
from askmeans.policy.models.training import ALL_OR_NOTHING, MANY, Fitted, Predict, Training
from askmeans.policy.proximity import Proximity

__all__ = ["Rows", "Stack", "calibration", "likeliest_power", "sharpened", "stack_models"]

Floats = NDArray[np.float64]
# What models count before the answers speak, where these are soft, or few or all or nothing: chosen
# on label distributions, our own targets and real labels, by leaving out one after the other.
SOFT = {
    "unsupervised": 0.3, "local optimum": 0.3, "scaled": 0.3, "metric": 0.3, "mixture": 0.3,
    "discriminant": 0.3, "logistic 30": 0.1, "smooth": 1.0, "graph": 3.0, "ridge": 1.0,
    "typical": 2.0, "forest": 1.0,
}  # fmt: skip
HARD = {
    "unsupervised": 1.0, "local optimum": 0.6, "scaled": 1.0, "mixture": 1.0, "discriminant": 1.0,
    "logistic 30": 1.0, "smooth": 0.5, "graph": 0.5, "forest": 2.0,
}  # fmt: skip
# How near to the prior weights stay: by the loss of so many items of the best model; for hard
# answers by what luck may do while they are few, for soft ones by how little is explained.
CAUTION, LUCK, CHANCE = 2.0, 2.0, 5.0
# The prior of the sharpness is log-normal around 1. With a spread of .3, .5 and 1 the expected
# number of wrong items is within a factor 1.5 of the true one in 79, 86 and 79 % of runs (14
# tables, 50 and 100 answers), too small by more in 4, 7 and 14 %.
_SPREAD = 0.5
_POWERS = (-2.5, 3.5)  # logarithms of the least and the largest that are tried
# Of soft answers: a power must reduce the squared error by so much, by its logarithm.
_SOFT_POWERS, _CLEARLY = (0.75, 1.0, 1.2, 1.4, 1.7, 2.0, 3.0, 5.0, 10.0, 50.0), 0.05
# Held-out rows come from models with fewer answers of each cluster, so those of all answers are
# more often right: the power by which. Within a factor 1.5 are 70 % of the runs on 14 tables with
# it and without, on 28 others 66 and 58 %; the ECE of large ones is .045 and .052, .059 and .065.
_MORE = 0.1
# Of every mean, what is spread evenly: so that no answer is impossible. From 1e-6 to 1e-2 the log
# loss of these tables is the same within 1.5 %.
_EVEN = 1e-3
# The power that turns what models say of hard answers into votes, to see where they disagree.
# Asking by calibrated uncertainty instead cost 3 to 9 % more errors (one seed of 14 tables, 20 to
# 100 answers; runs ended where 1 % of the items were expected wrong).
_VOTES = 10.0
_SUPPORTED = 3  # rows that others could predict, from which on only they count
_UNSUPPORTED = 1e-6  # the weight of the others
_LEAST = 0.03  # a model with less weight is left out
_DIGITS = 4  # of a weight
_NEWTON = 50  # steps at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """Weights of models, a common sharpness, and what to expect of them."""

    fitted: list[Fitted]
    weights: Floats
    sharpness: float
    pool: Floats
    uncertainty: Floats  # of every item of the pool: where to ask
    confidence_power: float  # of shares, which makes them probabilities of the strongest cluster
    expected: Floats  # the error of every item of the pool that it expects
    strongest: float  # the mean of the answers' strongest memberships
    misfit: float  # mean squared error on held-out answers
    unexplained: float  # the share of held-out variance that is left
    n_mistakes: float  # as many as tell how wrong held-out answers are
    rows: NDArray[np.intp]  # the pool's items that were learnt from
    held_out: Floats  # what is said of each of these by models that had not seen it
    proximity: Proximity | None = None  # of hard answers

    def confidence(self, U: Floats) -> Floats:
        """The probability that the strongest cluster of each of these rows is right."""
        P = U if self.confidence_power == 1.0 else sharpened(U, self.confidence_power)
        return np.asarray(P.max(axis=1))

    @property
    def answers_are_hard(self) -> bool:
        """Whether answers are all or nothing."""
        return self.strongest > ALL_OR_NOTHING

    def refined(self, items: ItemSet) -> "Stack":
        """The stack with models that have seen all items."""
        fitted = [
            replace(f, predict=f.refine(items)) if f.refine is not None and w > 0.0 else f
            for w, f in zip(self.weights, self.fitted, strict=True)
        ]
        return replace(self, fitted=fitted)

    @property
    def predict(self) -> "Stacked":
        """Memberships of any items, without all that the stack was learnt from."""
        pairs = zip(self.weights.tolist(), self.fitted, strict=True)
        parts = tuple((weight, f.predict) for weight, f in pairs if weight > 0.0)
        return Stacked(parts=parts, sharpness=self.sharpness, proximity=self.proximity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacked:
    """A weighted mean of models, sharpened."""

    parts: tuple[tuple[float, Predict], ...]
    sharpness: float
    proximity: Proximity | None

    @default_float_errors()
    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        U = np.asarray(sum(weight * predict(X) for weight, predict in self.parts))
        if self.proximity is not None:
            U = sharpened(U, self.proximity(X))
        return sharpened(U, self.sharpness)


def sharpened(U: Floats, sharpness: float | Floats) -> Floats:
    """Memberships, a trace of them spread evenly, to a power; rows sum to one again.

    The power is that of all rows, or one for each.
    """
    V = _evened(U).T.copy()  # sums over few clusters are quicker along the first axis
    if np.any(sharpness != 1.0):
        V /= V.max(axis=0)
        V **= sharpness
    V /= V.sum(axis=0)
    return V.T


def _evened(U: Floats) -> Floats:
    """Memberships of which a trace is spread evenly."""
    mixed: Floats = (1.0 - _EVEN) * np.clip(U, 0.0, 1.0) + _EVEN / U.shape[1]
    return mixed


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """What each model said of answers it had not seen, the answers, and what each is worth."""

    outs: Floats
    Y: Floats
    known: NDArray[np.bool_]
    weight: Floats  # to choose between models
    sample_weight: Floats  # to calibrate: who is first seen in a cluster counts, too
    prior: Floats
    hard: bool
    power: Floats | None  # of every answer, by its distance to others

    def part(self, chosen: NDArray[np.bool_]) -> "HeldOut":
        """Some of the answers."""
        return replace(
            self, outs=self.outs[:, chosen], Y=self.Y[chosen], known=self.known[chosen],
            weight=self.weight[chosen], sample_weight=self.sample_weight[chosen],
            power=None if self.power is None else self.power[chosen],
        )  # fmt: skip

    def stack(self) -> tuple[Floats, float]:
        """Weights of the models, and how much to sharpen their mean; by what was told alone."""
        return stack_all([self])[0]

    def losses(self) -> tuple[Floats, float]:
        """Squared errors of every two models together, and how near to the prior to stay."""
        left = np.where(self.known, self.outs - self.Y, 0.0)
        left = (left * np.sqrt(self.weight)[:, None]).reshape(len(left), -1)
        A = left @ left.T
        n, least = len(self.Y), float(np.diag(A).min())
        if self.hard:  # a few answers of all or nothing may be predicted by luck
            return A, CAUTION * least / n + LUCK / n**2
        # Soft ones hardly, unless nothing explains them.
        away = np.where(self.known, self.Y - np.average(self.Y, 0, self.weight), 0.0)
        total = float(self.weight @ np.square(away).sum(axis=1))
        return A, CAUTION * (1.0 + CHANCE * min(1.0, least / max(total, 1e-12))) * least / n

    def sharpness(self, mean: Floats) -> float:
        """The power that calibrates these rows."""
        calibrate = calibration(hard=self.hard)
        mean = mean if self.power is None else sharpened(mean, self.power)
        return calibrate(mean, self.Y, self.known, self.sample_weight)


def calibration(*, hard: bool) -> Callable[[Floats, Floats, NDArray[np.bool_], Floats], float]:
    """What finds the power that calibrates rows: probabilities of hard answers, or shares."""
    return likeliest_power if hard else closest_power


def likeliest_power(rows: Floats, Y: Floats, known: NDArray[np.bool_], weight: Floats) -> float:
    """The power of rows with the least log loss, and near 1 while answers are few.

    Entries that were not answered count together, as what the answered ones leave.
    """
    logs = np.log(_evened(rows))
    answered, rest = np.where(known, Y, 0.0), np.where(known, 0.0, Y).sum(axis=1)
    partly = np.flatnonzero(rest > 0.0)

    def loss(log_power: float) -> float:
        powers = logs * np.exp(log_power)
        powers -= powers.max(axis=1, keepdims=True)
        P = np.exp(powers)
        total = P.sum(axis=1, keepdims=True)
        each = -(answered * (powers - np.log(total))).sum(axis=1)
        if len(partly):
            left = np.where(known[partly], 0.0, P[partly]).sum(axis=1) / total[partly, 0]
            each[partly] -= rest[partly] * np.log(np.maximum(left, 1e-300))
        return float(weight @ each) + 0.5 * (log_power / _SPREAD) ** 2

    best = minimize_scalar(loss, bounds=_POWERS, method="bounded", options={"xatol": 1e-4})
    return float(np.exp(np.round(best.x, 3)))  # nothing shall hang on where a search has stopped


def closest_power(rows: Floats, Y: Floats, known: NDArray[np.bool_], weight: Floats) -> float:
    """The power of rows with the least squared error; 1 unless another one is clearly better."""

    def loss(power: float) -> float:
        off = np.where(known, sharpened(rows, power) - Y, 0.0)
        return float(weight @ (np.square(off).sum(axis=1) / np.maximum(known.sum(axis=1), 1)))

    plain = loss(1.0)
    losses = [loss(power) + _CLEARLY * plain * abs(math.log(power)) for power in _SOFT_POWERS]
    return _SOFT_POWERS[int(np.argmin(losses))]


def stack_all(parts: list[HeldOut], near: Floats | None = None) -> list[tuple[Floats, float]]:
    """Weights and sharpness by each part; weights are looked for from `near`."""
    prior = parts[0].prior / parts[0].prior.sum()
    losses, cautions = zip(*(part.losses() for part in parts), strict=True)
    W = stacked(np.stack(losses), prior, np.array(cautions), near)
    W[W < _LEAST] = 0.0
    # Nothing shall hang on where a search has stopped.
    W = np.round(W / W.sum(axis=1, keepdims=True), _DIGITS)
    W /= W.sum(axis=1, keepdims=True)
    return [
        (w, part.sharpness(np.tensordot(w, part.outs, 1))) for w, part in zip(W, parts, strict=True)
    ]


def stack_models(
    fitted: list[Fitted], training: Training, proximity: Proximity | None = None
) -> Stack:
    """Stack models: least squared held-out error, near the prior while answers are few.

    Hard answers are calibrated by the proximity of items to each other, too, where it is known.
    """
    Y, hard = training.Y, training.is_hard
    counts = HARD if hard or len(Y) < MANY else SOFT
    prior = np.array([counts[f.name] for f in fitted])
    outs, pools = np.stack([f.held_out for f in fitted]), np.stack([f.pool for f in fitted])
    supported = training.is_supported
    # Models are weighed by answers as they are: those that stand for many items are few, and luck.
    each = training.sample_weight / training.sample_weight.mean()
    fair = np.where(supported, each, _UNSUPPORTED) if supported.sum() >= _SUPPORTED else each
    held = HeldOut(
        outs=outs, Y=Y, known=training.known, weight=fair, sample_weight=each, prior=prior,
        hard=hard, power=None if proximity is None else proximity.held_out,
    )  # fmt: skip
    w, sharpness = held.stack()
    held_out, plain = np.tensordot(w, outs, 1), np.tensordot(w, pools, 1)
    held_out_sharpness = sharpness
    near_held_out, near = held_out, plain
    if proximity is not None:
        near_held_out, near = (
            sharpened(held_out, proximity.held_out),
            sharpened(plain, proximity.pool),
        )
    if hard:
        sharpness *= (np.count_nonzero(Y.sum(axis=0)) / 3.0) ** _MORE
    voting = _VOTES if hard else sharpness
    # Probabilities tell their own errors; those of shares are seen on answers held out.
    errors = np.empty(0) if hard else _honest_errors(held, training.folds, near=w)
    rows = Rows(
        pool=sharpened(near, sharpness),
        held_out=sharpened(near_held_out, held_out_sharpness),
        uncertainty=_uncertainty(w, pools, plain, voting),
        held_out_uncertainty=_uncertainty(w, outs, held_out, voting),
        errors=errors,
    )
    return Stack(
        fitted=fitted,
        weights=w,
        sharpness=sharpness,
        strongest=training.strongest,
        rows=training.rows,
        proximity=proximity,
        **rows.account(training),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Calibrated rows of the pool, and held-out ones of the answered items.

    `errors` are those of soft answers; of hard ones probabilities tell them.
    """

    pool: Floats
    held_out: Floats
    uncertainty: Floats
    held_out_uncertainty: Floats
    errors: Floats

    def account(self, training: Training) -> dict[str, Any]:
        """The fields of a stack that follow from them."""
        Y, k = training.Y, training.Y.shape[1]
        weight = training.weight
        misfit = float(weight @ np.square(self.held_out - Y).mean(axis=1) / len(Y))
        if training.is_hard:
            power = 1.0
            expected = 2.0 / k * (1.0 - np.square(self.pool).sum(axis=1))
            n_mistakes = float((1.0 - self.held_out.max(axis=1)).sum())
        else:
            power = _confidence_power(self.held_out, training)
            by = error_by_uncertainty(self.held_out_uncertainty, self.errors, weight, k)
            expected = by(self.uncertainty)
            n_mistakes = float((weight @ self.errors) ** 2)
            n_mistakes /= max(float(weight**2 @ self.errors**2), 1e-12)
        return {
            "pool": self.pool,
            "held_out": self.held_out,
            "uncertainty": self.uncertainty,
            "expected": expected,
            "confidence_power": power,
            "misfit": misfit,
            "unexplained": min(1.0, misfit / max(float(Y.var(axis=0).mean()), 1e-12)),
            "n_mistakes": n_mistakes,
        }


def _confidence_power(held_out: Floats, training: Training) -> float:
    """The power that makes shares the probabilities of being an item's strongest cluster."""
    strongest = np.eye(training.Y.shape[1])[training.Y.argmax(axis=1)]
    best = np.where(training.known, training.Y, 0.0).max(axis=1)
    decided = best >= np.where(training.known, 0.0, training.Y).sum(axis=1)
    weight = training.sample_weight / training.sample_weight.mean() * decided
    return likeliest_power(held_out, strongest, np.ones(strongest.shape, dtype=bool), weight)


def _honest_errors(held: HeldOut, folds: NDArray[np.intp], *, near: Floats) -> Floats:
    """The stack's error for each answer, by weights and a power of the other folds only."""
    errors = np.empty(len(held.Y))
    inner = [folds == fold for fold in np.unique(folds)]
    parts = [held.part(inside if inside.all() else ~inside) for inside in inner]
    for inside, (w, sharpness) in zip(inner, stack_all(parts, near), strict=True):
        found = sharpened(np.tensordot(w, held.outs[:, inside], 1), sharpness)
        errors[inside] = _mean_error(found, held.Y[inside], held.known[inside])
    return errors


def _mean_error(found: Floats, Y: Floats, known: NDArray[np.bool_]) -> Floats:
    """The mean error of each row, of the entries that were told."""
    off = np.where(known, np.abs(found - Y), 0.0).sum(axis=1)
    mean: Floats = off / np.maximum(known.sum(axis=1), 1)
    return mean


def stacked(A: Floats, prior: Floats, caution: Floats, near: Floats | None = None) -> Floats:
    """Weights on the simplex that minimise w'Aw + caution KL(w, prior), for every A.

    By Newton's method from `near`. What falls is held as by the barrier of an interior point
    method, so that a weight that vanishes does not push others.
    """
    m, each = len(prior), np.arange(len(prior))
    unit = np.maximum(A[:, each, each].min(axis=1), 1e-9)  # the best alone, so that this is about 1
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
    """How unsure the stack is of each item: models disagree, or a row has no winner."""
    U = sharpened(mean, power)
    apart = sum(
        weight * np.abs(sharpened(part, power) - U).mean(axis=1)
        for weight, part in zip(w, parts, strict=True)
        if weight > 0.0
    )
    even = 2.0 * (mean * (1.0 - mean)).mean(axis=1)  # the error, if one cluster were drawn by lot
    return np.asarray(apart + 0.25 * even + 1e-9)
