"""Completions weighed by how well each foretold the answers, and how wrong the blend is."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from askmeans.completions.evidence import Evidence, Fitted, Predict
from askmeans.completions.rows import softmax
from askmeans.floats import default_float_errors
from askmeans.items import Items

__all__ = ["Blend", "blend", "sharpened"]

Floats = NDArray[np.float64]
# How near to the prior weights stay: by the loss of so many items of the best completion, and, for
# hard answers, by what luck may do while they are few.
CAUTION, LUCK = 2.0, 2.0
_HARD = 0.98  # mean of the strongest memberships from which on answers are all or nothing
_ADDED = 0.25  # items whose error is added to what was seen
_LEAST = 0.03  # a completion with less weight is left out
_POWERS, _USUAL_POWER = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0), 1.4  # of doubt, for errors
_SHARPNESS = (0.75, 1.0, 1.4, 2.0, 3.0, 5.0, 10.0, 50.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blend:
    """Weights of completions, a common sharpness, and what to expect of them."""

    fitted: list[Fitted]
    weights: Floats
    sharpness: float
    pool: Floats
    doubt: Floats  # where to ask: how unsure it is of every item of the pool
    expected: Floats  # the error of every item of the pool that it expects
    answers_are_hard: bool
    misfit: float  # mean squared error on held-out answers

    def refined(self, items: Items) -> "Blend":
        """The blend with completions that have seen all items."""
        fitted = [
            replace(f, predict=f.refine(items)) if f.refine is not None and w > 0.0 else f
            for w, f in zip(self.weights, self.fitted, strict=True)
        ]
        return replace(self, fitted=fitted)

    @property
    def predict(self) -> "Blended":
        """Memberships of any items, without all that the blend was learnt from."""
        pairs = zip(self.weights.tolist(), self.fitted, strict=True)
        parts = tuple((weight, f.predict) for weight, f in pairs if weight > 0.0)
        return Blended(parts=parts, sharpness=self.sharpness)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blended:
    """A weighted mean of completions, sharpened."""

    parts: tuple[tuple[float, Predict], ...]
    sharpness: float

    @default_float_errors()
    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """Memberships of any items."""
        U = sum(weight * predict(X) for weight, predict in self.parts)
        return sharpened(np.asarray(U), self.sharpness)


def sharpened(U: Floats, sharpness: float) -> Floats:
    """Memberships raised to a power and made to sum to one again."""
    U = np.clip(U, 0.0, 1.0)
    if sharpness != 1.0:
        U = (U / np.maximum(U.max(axis=1, keepdims=True), 1e-300)) ** sharpness
    rows: Floats = U / U.sum(axis=1, keepdims=True)
    return rows


def blend(fitted: list[Fitted], evidence: Evidence, prior: Floats) -> Blend:
    """Stack completions: least squared held-out error, near the prior while answers are few."""
    Y = evidence.Y
    weight = evidence.trust * np.sqrt(evidence.cells)
    weight = weight / weight.mean()
    outs, pools = np.stack([f.held_out for f in fitted]), np.stack([f.pool for f in fitted])
    hard = float(Y.max(axis=1).mean()) > _HARD
    w, sharpness = _stack(outs, Y, weight, prior, hard)
    held_out, plain = np.tensordot(w, outs, 1), np.tensordot(w, pools, 1)
    errors = _honest_errors(outs, evidence, weight, prior, hard)
    doubt = _doubt(w, pools, plain, sharpness)
    error_of = error_by_doubt(
        _doubt(w, outs, held_out, sharpness), errors, weight, hard, Y.shape[1]
    )
    return Blend(
        fitted=fitted,
        weights=w,
        sharpness=sharpness,
        pool=sharpened(plain, sharpness),
        doubt=doubt,
        expected=error_of(doubt),
        answers_are_hard=hard,
        misfit=float(weight @ np.square(sharpened(held_out, sharpness) - Y).mean(axis=1) / len(Y)),
    )


def _stack(
    outs: Floats, Y: Floats, weight: Floats, prior: Floats, hard: bool
) -> tuple[Floats, float]:
    """Weights of the completions, and how much to sharpen their blend."""
    left = outs - Y
    A = np.einsum("i,mik,nik->mn", weight, left, left)
    # A few answers of all or nothing may be foretold by luck; soft ones hardly.
    caution = CAUTION * float(np.diag(A).min()) / len(Y) + hard * LUCK / len(Y) ** 2
    w = stacked(A, prior / prior.sum(), caution)
    w[w < _LEAST] = 0.0
    w /= w.sum()
    return w, best_sharpness(np.tensordot(w, outs, 1), Y, weight)


def _honest_errors(
    outs: Floats, evidence: Evidence, weight: Floats, prior: Floats, hard: bool
) -> Floats:
    """The blend's error on each answer, with weights and sharpness from the other folds only."""
    Y, errors = evidence.Y, np.empty(len(evidence.Y))
    for fold in np.unique(evidence.folds):
        inside = evidence.folds == fold
        others = inside if inside.all() else ~inside
        w, sharpness = _stack(outs[:, others], Y[others], weight[others], prior, hard)
        found = sharpened(np.tensordot(w, outs[:, inside], 1), sharpness)
        errors[inside] = np.abs(found - Y[inside]).mean(axis=1)
    return errors


def error_by_doubt(
    doubt: Floats, errors: Floats, weight: Floats, hard: bool, k: int
) -> Callable[[Floats], Floats]:
    """The error to expect at a doubt: c doubt^p, as wrong as answers were where they came.

    So it does not matter that doubtful items are asked more. The error of a fraction of an item is
    added on both sides of c: none among n does not mean that there is none. The power is the
    likeliest, errors taken for counts of mistakes, near 1.4 while answers are few; so mistakes at
    small doubts let expect many at large ones, which is on the safe side.
    """
    total, mass = float(weight @ errors), float(weight @ doubt)
    one = 2.0 / k if hard else float(weight @ errors**2) / max(total, 1e-12)
    one = max(one, 1e-9)  # the error of one mistake
    best, likeliest = (1.0, 1.0), -np.inf
    for power in _POWERS:
        by = doubt**power
        level = mass / float(weight @ by)
        c = level * (total + _ADDED * one) / (mass + _ADDED * one)
        likely = float(weight @ (errors * np.log(c * by) - c * by)) / one
        likely -= 0.5 * (math.log(power / _USUAL_POWER) / 0.4) ** 2
        if likely > likeliest:
            best, likeliest = (c, power), likely
    c, power = best
    return lambda new: np.minimum(c * new**power, 2.0 / k)  # no row is more wrong


def best_sharpness(held_out: Floats, Y: Floats, weight: Floats) -> float:
    """The power with the least absolute error; few answers stay near 1."""
    best, least = 1.0, np.inf
    for candidate in _SHARPNESS:
        off = float(weight @ np.abs(sharpened(held_out, candidate) - Y).mean(axis=1))
        off += 0.02 * abs(np.log(candidate)) * (len(Y) < 50)
        if off < least - 1e-12:
            best, least = candidate, off
    return best


def stacked(A: Floats, prior: Floats, caution: float) -> Floats:
    """Weights on the simplex that minimise w'Aw + caution KL(w, prior)."""
    unit = max(float(np.diag(A).min()), 1e-9)  # the best alone, so that what matters is about 1
    A, caution = A / unit, caution / unit

    def loss(z: Floats) -> tuple[float, Floats]:
        w = softmax(z[None])[0]
        logs = np.log(np.maximum(w, 1e-300) / prior)
        value = float(w @ A @ w) + caution * float(w @ logs)
        g = 2.0 * A @ w + caution * logs
        return value, w * (g - float(w @ g))

    found = minimize(loss, np.log(prior), jac=True, method="L-BFGS-B",
                     bounds=[(-20.0, 20.0)] * len(prior), options={"maxiter": 200})  # fmt: skip
    weights: Floats = softmax(found.x[None])[0]
    return weights


def _doubt(w: Floats, parts: Floats, mean: Floats, sharpness: float) -> Floats:
    """How unsure the blend is of each item: completions disagree, or a row has no winner."""
    U = sharpened(mean, sharpness)
    apart = sum(
        weight * np.abs(sharpened(part, sharpness) - U).mean(axis=1)
        for weight, part in zip(w, parts, strict=True)
        if weight > 0.0
    )
    open_ = 2.0 * (mean * (1.0 - mean)).mean(axis=1)  # the error, if one cluster were drawn by lot
    found: Floats = apart + 0.25 * open_ + 1e-9
    return found
