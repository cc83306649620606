"""Calibration: memberships as probabilities of hard answers, and as expected shares of soft ones.

Rules of this file:
- Rows are raised to a power (temperature scaling; Guo et al., ICML 2017), fitted to held-out
  answers by a proper score: log loss of hard answers, squared error of shares.
- Selected items differ from each other, so a held-out answer is predicted from farther away than
  most items are. A power that depends on the distance to the nearest answer makes up for that
  (density-aware calibration; Tomani et al., ICML 2023).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from askmeans._util.arrays import Floats
from askmeans.policy.models.training import Training
from askmeans.policy.pool import Pool, Standard, nearest_distances

Mask = NDArray[np.bool_]

# The prior of the power is log-normal around 1. With a spread of .1, .3 and .5 the log loss of 14
# tables is .356, .352 and .353, of 35 others and 6 sets of texts .567, .564 and .566 (50 and 100
# answers); the expected number of wrong items is too small by more than a factor 1.5 in 0, 0 and
# 11 % of runs, and in 12, 17 and 24 %.
_SPREAD = 0.3
_LOG_POWERS = (-2.5, 3.5)  # the range of the search: from nearly even rows to all or nothing
# Of soft answers: a grid, and the share by which a power must reduce the squared error, times its
# logarithm. Without it the error is the same, but its estimate up to 2 % farther from it.
_SOFT_POWERS, _CLEARLY = (0.75, 1.0, 1.2, 1.4, 1.7, 2.0, 3.0, 5.0, 10.0, 50.0), 0.05
# The share of every row that is spread evenly, so that no answer is impossible. From 1e-6 to 1e-2
# the log loss of 14 tables is the same within 1.5 %.
_EVEN = 1e-3
# Powers by distance are (1 + (c r / d)^2)^e, where d is the distance to the nearest answer, and r
# that of answers to each other. The log loss of 14 tables (benchmarks/calibration.py) is .352
# without them, and .348 with them; with c from .2 to 1 and e from .1 to .15 it is the same within
# 1 %. Of messages with many near-duplicates it is .255 and .211, of 9 large tables .623 and .622,
# of texts of 8 to 20 groups .831 and .830, of 14 other tables, where twins differ, .585 and .589.
_SHARE, _EXPONENT = 0.5, 0.125
# Items whose error is added to what was observed, or no observed error would mean that there is
# none. From 0 to 1 the estimated error of ten soft targets is as near to the true one within 8 %.
_ADDED = 0.25
_ERROR_POWERS = (0.25, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0)  # a grid


def sharpened(U: Floats, power: float | Floats) -> Floats:
    """Memberships to a power (one, or one for each row), scaled to sum to one, never 0."""
    V = _evened(U).T.copy()  # sums over few clusters are quicker along the first axis
    if np.any(power != 1.0):
        V /= V.max(axis=0)
        V **= power
    V /= V.sum(axis=0)
    return V.T


def _evened(U: Floats) -> Floats:
    """Memberships of which a trace is spread evenly."""
    return np.asarray((1.0 - _EVEN) * np.clip(U, 0.0, 1.0) + _EVEN / U.shape[1])


def calibrating_power(rows: Floats, Y: Floats, known: Mask, weight: Floats, *, hard: bool) -> float:
    """The power that calibrates rows: as probabilities of hard answers, or as shares."""
    return (_likeliest_power if hard else _closest_power)(rows, Y, known, weight)


def _likeliest_power(rows: Floats, Y: Floats, known: Mask, weight: Floats) -> float:
    """The power with the least log loss, and near 1 while answers are few.

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

    best = minimize_scalar(loss, bounds=_LOG_POWERS, method="bounded", options={"xatol": 1e-4})
    return float(np.exp(np.round(best.x, 3)))  # rounded: independent of where the search stopped


def _closest_power(rows: Floats, Y: Floats, known: Mask, weight: Floats) -> float:
    """The power with the least squared error; 1 unless another one is clearly better."""

    def loss(power: float) -> float:
        off = np.where(known, sharpened(rows, power) - Y, 0.0)
        return float(weight @ (np.square(off).sum(axis=1) / np.maximum(known.sum(axis=1), 1)))

    plain = loss(1.0)
    losses = [loss(power) + _CLEARLY * plain * abs(math.log(power)) for power in _SOFT_POWERS]
    return _SOFT_POWERS[int(np.argmin(losses))]


def power_of_strongest(held_out: Floats, training: Training) -> float:
    """The power that turns shares into the probabilities of being an item's strongest cluster."""
    strongest = np.eye(training.Y.shape[1])[training.Y.argmax(axis=1)]
    best = np.where(training.known, training.Y, 0.0).max(axis=1)
    decided = best >= np.where(training.known, 0.0, training.Y).sum(axis=1)
    weight = training.sample_weight / training.sample_weight.mean() * decided
    return _likeliest_power(held_out, strongest, np.ones(strongest.shape, dtype=bool), weight)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proximity:
    """Powers of memberships by the distance to the nearest answered item."""

    scale: Standard
    Z: Floats  # the answered items in the common scale
    unit: float  # the median distance of an answered item to the nearest of other folds
    resolution: float  # the distance below which features hardly differ
    pool: Floats  # the powers of the pool's items
    held_out: Floats  # those of the answered items, by the answers of other folds

    @classmethod
    def of(cls, pool: Pool, training: Training, resolution: float) -> "Proximity":
        """The proximity to these training rows."""
        Z = pool.Z[training.rows]
        nearest = nearest_distances(Z, Z, training.folds)
        unit = float(np.sqrt(np.median(nearest)))
        unit = unit if np.isfinite(unit) else 0.0
        return cls(
            scale=pool.scaled, Z=Z, unit=unit, resolution=resolution,
            pool=_powers_at(nearest_distances(pool.Z, Z), unit, resolution),
            held_out=_powers_at(nearest, unit, resolution),
        )  # fmt: skip

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """The powers of any items."""
        nearest = nearest_distances(self.scale(X), self.Z)
        return _powers_at(nearest, self.unit, self.resolution)


def _powers_at(nearest: Floats, unit: float, resolution: float) -> Floats:
    """The powers at these squared distances."""
    ratio = (_SHARE * unit) ** 2 / np.maximum(nearest + resolution**2, 1e-12)
    return np.asarray((1.0 + ratio) ** _EXPONENT)


def error_by_uncertainty(
    uncertainty: Floats, errors: Floats, weight: Floats, k: int
) -> Callable[[Floats], Floats]:
    """The error of shares to expect at an uncertainty u: c u^p, from errors of held-out answers.

    A regression, so that selecting uncertain items does not bias it. The error of a fraction of an
    item is added on both sides of c: no error in n items does not mean that there is none. The
    power maximises a Poisson likelihood, and is near 1 while answers are few.
    """
    total, mass = float(weight @ errors), float(weight @ uncertainty)
    one = max(float(weight @ errors**2) / max(total, 1e-12), 1e-9)  # the error of one mistake
    best, best_fit = (1.0, 1.0), -np.inf
    for power in _ERROR_POWERS:
        by = uncertainty**power
        level = mass / float(weight @ by)
        c = level * (total + _ADDED * one) / (mass + _ADDED * one)
        fit = float(weight @ (errors * np.log(c * by) - c * by)) / one
        fit -= 0.5 * (math.log(power) / _SPREAD) ** 2
        if fit > best_fit:
            best, best_fit = (c, power), fit
    c, power = best
    return lambda new: np.minimum(c * new**power, 2.0 / k)  # no row has a larger error
