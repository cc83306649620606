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
from scipy.special import log_ndtr

from askmeans.links import Link

__all__ = ["RoughLink", "beyond", "half_step", "learn_rough_link", "robust_scale", "tukey"]

Floats = NDArray[np.float64]

_FOLDS = 5
_SWEEPS = 6
_LEAST_SCALE = 0.01  # answers nearer to the link than this are never doubted
_CUT = 4.685  # where Tukey's biweight ends: 95 % efficient when errors are Gaussian


@dataclass(frozen=True, slots=True, kw_only=True)
class RoughLink:
    """A link, how far each answer is believed (0 to 1), and what it leaves unexplained.

    `loss` is the mean square of believed answers less their prediction, cross-validated;
    `scale` the typical size of a residual; `blend` how much of the link is the answers' own;
    `mass` the weight of the answers that speak where each answer stands.
    """

    link: Link
    belief: Floats
    loss: float
    scale: float
    blend: float
    mass: Floats


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
) -> RoughLink:
    """The link that rough answers teach; all are known, several may be at one coordinate.

    `step` is half a step of the scale, 0 for a fine one. `anchored` says that the coordinate is the
    closed form's membership.
    """
    order = np.argsort(coordinates, kind="stable")
    x, y, w = coordinates[order], answers[order], weights[order]
    fit = _isotonic(x, _running_median(y), w)(x)
    if robust_scale(y - fit, w) > 2.0 * step:
        step = 0.0  # the noise is larger than the scale's steps: it blurs them by itself
    elif anchored:
        fit = x
    belief, scale, latent = np.ones_like(w), _LEAST_SCALE, y
    for _ in range(_SWEEPS):
        residual = beyond(y - fit, step)
        scale = max(robust_scale(residual, w), _LEAST_SCALE)
        belief = tukey(residual / scale)
        if not (w * belief > 0.0).any():
            belief = np.ones_like(w)
        latent = _uncut(y, fit, scale) if step == 0.0 else _within(fit, y, step)
        fit = _isotonic(x, latent, w * belief)(x)
    link, loss, blend = _blended(x, latent, w * belief, anchored=anchored)
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    block = np.unique(fit, return_inverse=True)[1]
    mass = np.bincount(block, weights=w * belief)[block]
    return RoughLink(
        link=link, belief=belief[back], loss=loss, scale=scale, blend=blend, mass=mass[back]
    )


def tukey(ratio: Floats) -> Floats:
    """Tukey's biweight: 1 for no deviation, 0 from 4.685 deviations on."""
    weights: Floats = np.square(np.clip(1.0 - np.square(ratio / _CUT), 0.0, None))
    return weights


def robust_scale(residuals: Floats, weights: Floats) -> float:
    """The standard deviation that two thirds of the residuals suggest (weighted quantile)."""
    if not len(residuals):
        return 0.0
    size = np.abs(residuals)
    order = np.argsort(size, kind="stable")
    mass = np.cumsum(weights[order])
    return float(size[order][np.searchsorted(mass, 0.6827 * mass[-1])])


def beyond(residual: Floats, step: float) -> Floats:
    """What of a residual the coarseness of the scale does not explain."""
    return np.sign(residual) * np.maximum(np.abs(residual) - step, 0.0)


def _within(fit: Floats, y: Floats, step: float) -> Floats:
    """The value nearest to the fit that an answer on the scale allows; its ends are open."""
    low = np.where(y <= 0.0, -np.inf, y - step)
    high = np.where(y >= 1.0, np.inf, y + step)
    inside: Floats = np.clip(fit, low, high)
    return inside


def _uncut(y: Floats, fit: Floats, scale: float) -> Floats:
    """Answers at the ends of the scale replaced by what they would be, on average, uncut."""
    latent = y.copy()
    for end, sign in ((0.0, -1.0), (1.0, 1.0)):
        cut = y == end
        # E[z | z beyond the end], z ~ N(fit, scale^2): the inverse Mills ratio.
        t = sign * (fit[cut] - end) / scale
        ratio = np.exp(-0.5 * t * t - 0.5 * np.log(2.0 * np.pi) - log_ndtr(t))
        latent[cut] = fit[cut] + sign * scale * ratio
    return latent


def _blended(x: Floats, y: Floats, w: Floats, *, anchored: bool) -> tuple[Link, float, float]:
    """The isotonic regression, drawn to the closed form by cross-validation; loss and blend."""
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
    total = max(float(w.sum()), 1e-300)
    blend = 1.0
    if anchored:
        pull = predicted - x
        power = float(w @ np.square(pull))
        blend = float(np.clip(w @ (pull * (y - x)) / power, 0.0, 1.0)) if power > 0.0 else 0.0
        predicted = x + blend * pull
    loss = float(w @ np.square(y - predicted)) / total
    values = whole(knots)
    if anchored:
        grid = np.union1d(knots, np.linspace(0.0, 1.0, 65))
        knots, values = grid, (1.0 - blend) * grid + blend * whole(grid)
    return Link(knots=knots, values=np.clip(values, 0.0, 1.0)), loss, blend


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
    """Medians over a window of about a tenth of the answers, at least five: a start that is robust."""
    half = max(2, len(y) // 20)
    if len(y) < 2 * half + 1:
        return y
    padded = np.concatenate([y[:half], y, y[-half:]])
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1)
    medians: Floats = np.median(windows, axis=1)
    return medians
