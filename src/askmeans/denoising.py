"""Links from rough answers: noisy, on a coarse scale, some of them wrong.

The link is the isotonic regression of all answers. Answers far from it weigh less and less (Tukey's
biweight); those at the ends of the scale count as cut off there; those on a coarse scale as
intervals. Where the coordinate is itself a membership (the closed form), the link is drawn towards
it as far as the answers, cross-validated, allow.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.stats import chi2

from askmeans.intervals import expected_within, interval_scale, intervals
from askmeans.links import Link

__all__ = ["RoughLink", "beyond", "half_step", "learn_rough_link", "noise_of_repeats",
           "robust_scale", "spread", "tukey", "tukey_loss"]  # fmt: skip

Floats = NDArray[np.float64]

_FOLDS = 5
_SWEEPS = 6
_ENOUGH = 20  # answers inside the scale that suffice to judge the noise by
_LEAST_SCALE = 0.01  # answers nearer to the link than this are never doubted
_CUT = 4.685  # where Tukey's biweight ends: 95 % efficient when errors are Gaussian


@dataclass(frozen=True, slots=True, kw_only=True)
class RoughLink:
    """A link, how far each answer is believed (0 to 1), and what it leaves unexplained.

    `held_out` has what each answer should be by the others, cross-validated; `scale` the typical
    size of a residual; `blend` how much of the link is the answers' own; `mass` the weight of the
    answers that speak where each answer stands; `latent` has the answers as they would be, on
    average, had they not been cut at the ends of the scale.
    """

    link: Link
    belief: Floats
    held_out: Floats
    scale: float
    blend: float
    mass: Floats
    latent: Floats


def half_step(levels: int | None) -> float:
    """How far a membership may be from its answer on a scale of so many points."""
    return 0.0 if levels is None else 0.5 / (levels - 1)


def learn_rough_link(
    coordinates: Floats,
    answers: Floats,
    weights: Floats,
    *,
    step: float = 0.0,
    anchored: bool,
    doubting: bool = True,
) -> RoughLink:
    """The link that rough answers teach; all are known, several may be at one coordinate.

    `step` is half a step of the scale, 0 for a fine one. `anchored` says that the coordinate is the
    closed form's membership. Without `doubting` every answer is believed.
    """
    order = np.argsort(coordinates, kind="stable")
    x, y, w = coordinates[order], answers[order], weights[order]
    fit = _isotonic(x, _running_median(y), w)(x)
    if anchored and step > 0.0 and spread(y, fit, w, step) <= 2.0 * step:
        fit = x
    low, high = intervals(y, step)
    belief, scale, latent = np.ones_like(w), _LEAST_SCALE, y
    for _ in range(_SWEEPS):
        residual = beyond(y - fit, step)
        scale = max(spread(y, fit, w, step), _LEAST_SCALE)
        if doubting and (tukey(residual / scale) * w > 0.0).any():
            belief = tukey(residual / scale)
        latent = expected_within(fit, low, high, scale)[0]
        fit = _isotonic(x, latent, w * belief)(x)
    link, held_out, blend = _blended(x, latent, w * belief, anchored=anchored)
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    block = np.unique(fit, return_inverse=True)[1]
    mass: Floats = np.bincount(block, weights=w * belief).astype(np.float64)[block]
    return RoughLink(
        link=link, belief=belief[back], held_out=held_out[back], scale=scale, blend=blend,
        mass=mass[back], latent=expected_within(fit, low, high, scale)[0][back],
    )  # fmt: skip


def tukey(ratio: Floats) -> Floats:
    """Tukey's biweight: 1 for no deviation, 0 from 4.685 deviations on."""
    weights: Floats = np.square(np.clip(1.0 - np.square(ratio / _CUT), 0.0, None))
    return weights


def tukey_loss(ratio: Floats) -> Floats:
    """What a deviation costs under Tukey's biweight: about its square, and 1 from 4.685 on."""
    costs: Floats = 1.0 - np.clip(1.0 - np.square(ratio / _CUT), 0.0, None) ** 3
    return costs


def robust_scale(residuals: Floats, weights: Floats) -> float:
    """The standard deviation that two thirds of the residuals suggest (weighted quantile)."""
    if not len(residuals):
        return 0.0
    size = np.abs(residuals)
    order = np.argsort(size, kind="stable")
    mass = np.cumsum(weights[order])
    return float(size[order][np.searchsorted(mass, 0.6827 * mass[-1])])


def spread(answers: Floats, fit: Floats, weights: Floats, step: float = 0.0) -> float:
    """The robust scale of what a fit leaves of answers, beyond what their scale's steps explain.

    Of a membership of 0, half the answers are cut to 0; those inside (0, 1) are as far off as the
    noise is, where there are enough. On a coarse scale they are those that are far off.
    """
    if step > 0.0:
        return interval_scale(fit, *intervals(answers, step), weights)
    inside = (answers > 0.0) & (answers < 1.0)
    if inside.sum() < _ENOUGH:
        inside[:] = True
    return robust_scale((answers - fit)[inside], weights[inside])


def beyond(residual: Floats, step: float) -> Floats:
    """What of a residual the coarseness of the scale does not explain."""
    return np.sign(residual) * np.maximum(np.abs(residual) - step, 0.0)


def noise_of_repeats(questions: NDArray[np.intp], answers: Floats) -> float | None:
    """The answers' standard deviation from questions asked more than once; None without any.

    `questions` are numbers from 0. Answers at the ends of the scale count as cut off there, by
    expectation and maximisation. The tenth of the questions with the largest variance, which may be
    hostile, is left out, and the rest mended for it. For a fine scale; see `noise_on_scale`.
    """
    counts = np.bincount(questions)
    ends = np.bincount(questions, weights=(answers <= 0.0) | (answers >= 1.0))
    used = (counts > 1) & (ends < counts)  # of answers all cut off nothing can be told
    mine = used[questions]
    if not mine.any():
        return 0.0 if (counts > 1).any() else None
    where = np.unique(questions[mine], return_inverse=True)[1]
    y, n = answers[mine], counts[used].astype(np.float64)
    low, high = intervals(y, 0.0)
    means = np.bincount(where, weights=y) / n
    sigma = float(np.sqrt(np.bincount(where, weights=np.square(y - means[where])).sum() / n.sum()))
    for _ in range(30):
        if sigma < 1e-9:
            return 0.0
        latent, extra = expected_within(means[where], low, high, sigma)
        means = np.clip(np.bincount(where, weights=latent) / n, 0.0, 1.0)
        # A mean at the end of the scale was not fitted to the answers, or only half.
        free = n - np.where((means > 0.0) & (means < 1.0), 1.0, 0.5)
        squares = np.square(latent - means[where]) + extra
        sigma = _trimmed(np.bincount(where, weights=squares) / free, free)
    return sigma


def _trimmed(variances: Floats, free: Floats) -> float:
    """The root of the mean variance without the largest tenth, mended for chi-squared ones."""
    order = np.argsort(variances, kind="stable")
    kept = order[: max(1, int(np.ceil(0.9 * len(order))))]
    share, degrees = len(kept) / len(order), float(free.mean())
    mended = share / float(chi2.cdf(chi2.ppf(share, degrees), degrees + 2.0))
    return float(np.sqrt(mended * variances[kept] @ free[kept] / free[kept].sum()))


def _blended(x: Floats, y: Floats, w: Floats, *, anchored: bool) -> tuple[Link, Floats, float]:
    """The isotonic regression, drawn to the closed form; cross-validated predictions, and blend."""
    whole = _isotonic(x, y, w)
    knots = np.unique(x)
    predicted = np.full(len(x), np.nan)
    places = np.searchsorted(knots, x)
    for fold in range(_FOLDS):
        out = places % _FOLDS == fold
        if (w[~out] > 0.0).any():
            predicted[out] = _isotonic(x[~out], y[~out], w[~out])(x[out])
    if np.isnan(predicted).any() or len(knots) < _FOLDS:
        predicted = whole(x)
    blend = 1.0
    if anchored:
        # Absolute errors: a few items unlike all others must not pull the rest between the two.
        shares = np.linspace(0.0, 1.0, 11)
        misses = [w @ np.abs(y - x - share * (predicted - x)) for share in shares]
        blend = float(shares[int(np.argmin(misses))])
        predicted = x + blend * (predicted - x)
    values = whole(knots)
    if anchored:
        grid = np.union1d(knots, np.linspace(0.0, 1.0, 65))
        knots, values = grid, (1.0 - blend) * grid + blend * whole(grid)
    return Link(knots=knots, values=np.clip(values, 0.0, 1.0)), predicted, blend


def _isotonic(x: Floats, y: Floats, w: Floats) -> Link:
    """Weighted isotonic regression over sorted coordinates, not cut to [0, 1]."""
    used = w > 0.0
    knots, where = np.unique(x[used], return_inverse=True)
    mass = np.bincount(where, weights=w[used], minlength=len(knots))
    means = np.bincount(where, weights=w[used] * y[used], minlength=len(knots)) / mass
    if len(knots) > 1:
        means = isotonic_regression(means, weights=mass).x
    return Link(knots=knots, values=means)


def _running_median(y: Floats) -> Floats:
    """Medians over windows of a tenth of the answers, at least five: a start that is robust."""
    half = max(2, len(y) // 20)
    if len(y) < 2 * half + 1:
        return y
    padded = np.concatenate([y[:half], y, y[-half:]])
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1)
    medians: Floats = np.median(windows, axis=1)
    return medians
