"""Stacking: models weighed by how well each predicted the answers, and how wrong they are."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from askmeans.floats import default_float_errors
from askmeans.items import ItemSet
from askmeans.policy.expected_errors import error_by_doubt, error_of_hard
from askmeans.policy.models.training import ALL_OR_NOTHING, MANY, Fitted, Predict, Training

__all__ = ["HeldOut", "Stack", "sharpened", "stack_models"]

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
_DRAWN = 0.05  # by how much of the error a power must be better than none, by its logarithm
_SUPPORTED = 3  # rows that others could predict, from which on only they count
_UNSUPPORTED = 1e-6  # the weight of the others
_LEAST = 0.03  # a model with less weight is left out
_DIGITS = 4  # of a weight
_NEWTON = 50  # steps at most
_SHARPNESS = (0.75, 1.0, 1.2, 1.4, 1.7, 2.0, 3.0, 5.0, 10.0, 50.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """Weights of models, a common sharpness, and what to expect of them."""

    fitted: list[Fitted]
    weights: Floats
    sharpness: float
    pool: Floats
    doubt: Floats  # where to ask: how unsure it is of every item of the pool
    expected: Floats  # the error of every item of the pool that it expects
    strongest: float  # the mean of the answers' strongest memberships
    misfit: float  # mean squared error on held-out answers
    unexplained: float  # the share of held-out variance that is left
    n_mistakes: float  # so many equal errors on held-out answers would tell as much
    rows: NDArray[np.intp]  # the pool's items that were learnt from
    held_out: Floats  # what is said of each of these by models that had not seen it

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
        return Stacked(parts=parts, sharpness=self.sharpness)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacked:
    """A weighted mean of models, sharpened."""

    parts: tuple[tuple[float, Predict], ...]
    sharpness: float

    @default_float_errors()
    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        U = sum(weight * predict(X) for weight, predict in self.parts)
        return sharpened(np.asarray(U), self.sharpness)


def sharpened(U: Floats, sharpness: float) -> Floats:
    """Memberships raised to a power and made to sum to one again."""
    V = np.array(U.T, order="C")  # sums over few clusters are quicker along the first axis
    np.clip(V, 0.0, 1.0, out=V)
    if sharpness != 1.0:
        V /= np.maximum(V.max(axis=0), 1e-300)
        V **= sharpness
    V /= V.sum(axis=0)
    return V.T


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """What each model said of answers it had not seen, the answers, and what each is worth."""

    outs: Floats
    Y: Floats
    known: NDArray[np.bool_]
    weight: Floats
    prior: Floats
    hard: bool

    def part(self, chosen: NDArray[np.bool_]) -> "HeldOut":
        """Some of the answers."""
        return replace(
            self, outs=self.outs[:, chosen], Y=self.Y[chosen], known=self.known[chosen],
            weight=self.weight[chosen],
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
        """The power with the least absolute error; few answers stay near 1."""
        plain = float(self.weight @ _mean_error(mean, self.Y, self.known))
        near_one = 0.02 * (len(self.Y) < 50) if self.hard else _DRAWN * plain
        best, least = 1.0, np.inf
        for candidate in _SHARPNESS:
            found = _mean_error(sharpened(mean, candidate), self.Y, self.known)
            off = float(self.weight @ found) + near_one * abs(math.log(candidate))
            if off < least - 1e-12:
                best, least = candidate, off
        return best


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


def stack_models(fitted: list[Fitted], training: Training) -> Stack:
    """Stack models: least squared held-out error, near the prior while answers are few."""
    Y, hard = training.Y, training.is_hard
    counts = HARD if hard or len(Y) < MANY else SOFT
    prior = np.array([counts[f.name] for f in fitted])
    weight = training.sample_weight * np.sqrt(training.stratum_size)
    weight = weight / weight.mean()
    outs, pools = np.stack([f.held_out for f in fitted]), np.stack([f.pool for f in fitted])
    supported = training.is_supported
    # Models are weighed by answers as they are: those that stand for many items are few, and luck.
    fair = training.sample_weight / training.sample_weight.mean()
    if supported.sum() >= _SUPPORTED:
        fair = np.where(supported, fair, _UNSUPPORTED)
    held = HeldOut(outs=outs, Y=Y, known=training.known, weight=fair, prior=prior, hard=hard)
    w, sharpness = held.stack()
    held_out, plain = np.tensordot(w, outs, 1), np.tensordot(w, pools, 1)
    rows, errors = _honest_errors(held, training.folds, near=w)
    doubt, U = _doubt(w, pools, plain, sharpness), sharpened(plain, sharpness)
    if hard:
        trees = float(sum(w[i] for i, f in enumerate(fitted) if f.name == "forest"))
        expected = error_of_hard(plain, U, training, rows, errors, trees)
    else:
        seen = _doubt(w, outs, held_out, sharpness)
        expected = error_by_doubt(seen, errors, weight, Y.shape[1])(doubt)
    misfit = float(weight @ np.square(sharpened(held_out, sharpness) - Y).mean(axis=1) / len(Y))
    return Stack(
        fitted=fitted,
        weights=w,
        sharpness=sharpness,
        pool=U,
        doubt=doubt,
        expected=expected,
        strongest=training.strongest,
        misfit=misfit,
        unexplained=min(1.0, misfit / max(float(Y.var(axis=0).mean()), 1e-12)),
        n_mistakes=float((weight @ errors) ** 2 / max(weight**2 @ errors**2, 1e-12)),
        rows=training.rows,
        held_out=sharpened(held_out, sharpness),
    )


def _honest_errors(
    held: HeldOut, folds: NDArray[np.intp], *, near: Floats
) -> tuple[Floats, Floats]:
    """The mean of the models for each answer, and the stack's error, by the other folds only."""
    rows, errors = np.empty_like(held.Y), np.empty(len(held.Y))
    inner = [folds == fold for fold in np.unique(folds)]
    parts = [held.part(inside if inside.all() else ~inside) for inside in inner]
    for inside, (w, sharpness) in zip(inner, stack_all(parts, near), strict=True):
        rows[inside] = np.tensordot(w, held.outs[:, inside], 1)
        found = sharpened(rows[inside], sharpness)
        errors[inside] = _mean_error(found, held.Y[inside], held.known[inside])
    return rows, errors


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


def _doubt(w: Floats, parts: Floats, mean: Floats, sharpness: float) -> Floats:
    """How unsure the stack is of each item: models disagree, or a row has no winner."""
    U = sharpened(mean, sharpness)
    apart = sum(
        weight * np.abs(sharpened(part, sharpness) - U).mean(axis=1)
        for weight, part in zip(w, parts, strict=True)
        if weight > 0.0
    )
    open_ = 2.0 * (mean * (1.0 - mean)).mean(axis=1)  # the error, if one cluster were drawn by lot
    found: Floats = apart + 0.25 * open_ + 1e-9
    return found
