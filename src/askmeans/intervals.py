"""Answers as intervals: what somebody meant who had to choose a point of a scale.

A point of a coarse scale stands for all that is nearer to it than to any other, an end of any scale
for all beyond it, too. Errors are normal. The formulas hold for exact answers, intervals of no
length, as well.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

__all__ = ["expected_within", "interval_scale", "intervals", "noise_on_scale"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_SCALES = np.geomspace(1e-3, 1.0, 61)  # where a scale is looked for
_WITHIN = 0.6827  # share of normal errors that are smaller than one deviation
_SURE = 1e-9
_GRID = 201  # memberships that a question may be about
_ENOUGH = 500  # questions that suffice to judge the noise by
_HOSTILE = (1e-3, 0.1)  # shares of answers that may be anything; the likelier one is taken


def intervals(answers: Floats, step: float) -> tuple[Floats, Floats]:
    """Lower and upper ends of what answers may mean; `step` is half a step of their scale.

    Values beyond 0 and 1 are none that somebody chose, and not cut off.
    """
    low = np.where(answers == 0.0, -np.inf, answers - step)
    high = np.where(answers == 1.0, np.inf, answers + step)
    return low, high


def expected_within(fit: Floats, low: Floats, high: Floats, scale: float) -> tuple[Floats, Floats]:
    """Mean and variance of normal values around the fit, of which the interval is known."""
    a, b = (low - fit) / scale, (high - fit) / scale
    flip = a + b > 0.0  # the lower tail is the exact one
    a, b = np.where(flip, -b, a), np.where(flip, -a, b)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        top = log_ndtr(b)
        inside = -np.expm1(log_ndtr(a) - top)  # Phi(b) - Phi(a), in Phi(b)
        at_a, at_b = _density(a, top) / inside, _density(b, top) / inside
        mean = at_a - at_b
        edges = np.where(np.isinf(a), 0.0, a * at_a) - np.where(np.isinf(b), 0.0, b * at_b)
        variance = 1.0 + edges - np.square(mean)
    point = (high - low <= _SURE) | ~np.isfinite(mean) | (inside < _SURE)
    nearest = np.clip(fit, low, high)
    mean = np.where(point, nearest, fit + scale * np.where(flip, -mean, mean))
    variance = np.where(point, 0.0, np.clip(variance, 0.0, 1.0) * scale**2)
    return np.clip(mean, low, high), variance


def interval_scale(fit: Floats, low: Floats, high: Floats, weights: Floats) -> float:
    """The standard deviation of errors of which intervals are known, from two thirds of them.

    It is the one for which as many errors are expected to be smaller than it as should be: of
    exact answers, the quantile of their errors. An answer cut off just at the fit says nothing.
    0 where all intervals hold the fit.
    """
    near, far = low - fit, high - fit
    total = weights.sum()
    if total <= 0.0 or (((near <= 0.0) & (far >= 0.0)) | (weights <= 0.0)).all():
        return 0.0
    share = np.array([weights @ _smaller(near / s, far / s) for s in _SCALES]) / total
    enough = np.flatnonzero(share >= _WITHIN)
    if not len(enough):
        return float(_SCALES[-1])
    i = int(enough[0])
    if i == 0:
        return float(_SCALES[0])
    t = (_WITHIN - share[i - 1]) / (share[i] - share[i - 1])
    return float(_SCALES[i - 1] ** (1.0 - t) * _SCALES[i] ** t)


def noise_on_scale(questions: Rows, answers: Floats, step: float) -> float | None:
    """The answers' standard deviation from repeats on a coarse scale; None without any.

    The likeliest one, when what was asked about is 0, 1, or anything between, as often as the
    answers say, and some answers are anything at all.
    """
    counts = np.bincount(questions)
    asked = np.flatnonzero(counts > 1)
    if not len(asked):
        return None
    asked = asked[:: -(-len(asked) // _ENOUGH)]
    mine = np.isin(questions, asked)
    where, y = np.searchsorted(asked, questions[mine]), answers[mine]
    first = np.zeros(len(asked))
    first[where] = y
    if np.array_equal(first[where], y):
        return 0.0  # all repeats agree
    points, which = np.unique(y, return_inverse=True)
    times = np.zeros((len(asked), len(points)))
    np.add.at(times, (where, which), 1.0)
    times, often = np.unique(times, axis=0, return_counts=True)
    scales = np.geomspace(max(step / 4.0, 0.003), 0.5, 25)
    table = np.array(
        [[_evidence(times, often, points, step, s, h) for s in scales] for h in _HOSTILE]
    )
    best = table[int(table.max(axis=1).argmax())]
    i = int(best.argmax())
    if not 0 < i < len(scales) - 1:
        return float(scales[i])
    left, here, right = best[i - 1 : i + 2]  # the top of the parabola through three
    shift = 0.5 * (left - right) / (left - 2.0 * here + right)
    return float(scales[i] * (scales[1] / scales[0]) ** shift)


def _evidence(
    times: Floats, often: Rows, points: Floats, step: float, scale: float, hostile: float
) -> float:
    """Log-likelihood of noise: how often points were told to a question, and of how many."""
    u = np.linspace(0.0, 1.0, _GRID)
    low, high = intervals(points, step)
    told = ndtr((high[:, None] - u) / scale) - ndtr((low[:, None] - u) / scale)
    anything = step + 0.25 * (np.isinf(low) | np.isinf(high))  # often one of the ends
    total = times @ np.log((1.0 - hostile) * told + hostile * anything[:, None])
    top = total.max(axis=1)
    chance = np.exp(total - top[:, None])
    kinds = np.column_stack([chance[:, 0], chance[:, -1], chance.mean(axis=1)])
    share = np.full(3, 1.0 / 3.0)
    for _ in range(30):
        share = often @ (kinds * share / (kinds @ share)[:, None]) / often.sum()
    return float(often @ (np.log(kinds @ share) + top))


def _smaller(a: Floats, b: Floats) -> Floats:
    """How likely a normal error between a and b is smaller than one deviation."""
    flip = a + b > 0.0
    a, b = np.where(flip, -b, a), np.where(flip, -a, b)
    whole = ndtr(b) - ndtr(a)
    part = ndtr(np.clip(b, -1.0, 1.0)) - ndtr(np.clip(a, -1.0, 1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = part / whole
    nearest = np.minimum(np.abs(a), np.abs(b)) < 1.0
    inside: Floats = np.where(whole > 1e-12, share, nearest & (b < 1.0))
    return inside


def _density(t: Floats, log_total: Floats) -> Floats:
    """phi(t) / total."""
    density: Floats = np.exp(-0.5 * np.square(t) - 0.5 * np.log(2.0 * np.pi) - log_total)
    return density
