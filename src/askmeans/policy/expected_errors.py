"""How wrong memberships are likely to be, by how wrong they were on answers held out."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from askmeans.policy.models.training import Training

__all__ = ["calibrated", "calibration", "error_by_doubt", "error_of_hard"]

Floats = NDArray[np.float64]
_ADDED = 0.25  # items whose error is added to what was seen
_POWERS = (0.25, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0)  # of doubt, for errors
_USUAL_POWER = 1.4  # mistakes come where nobody doubts, too
# For answers that are all or nothing: the middle of what does well on 28 real sets, each whole and
# several times four fifths of it, with 50 and 100 cards (benchmarks/labels.py).
_CALIBRATIONS = np.geomspace(0.2, 10.0, 40)  # powers of memberships that may be probabilities
_SPREAD = 0.3  # of the power's logarithm around 0, before answers speak
_SURPRISE = 1e-3  # how often anything may be true, whatever the models say
_SCALE, _BY_ANSWERS, _ENOUGH = 2.95, -0.25, 100  # a power of so many answers at most
_NOISE, _STEEPER = 0.12, 0.3  # errors from which on more answers change little; a power below
_BY_TREES = -0.6  # the logarithm of what is left of both where a forest alone counts


def error_by_doubt(
    doubt: Floats, errors: Floats, weight: Floats, k: int
) -> Callable[[Floats], Floats]:
    """The error to expect at a doubt: c doubt^p, as wrong as answers were where they came.

    So it does not matter that doubtful items are asked more. The error of a fraction of an item is
    added on both sides of c: none among n does not mean that there is none. The power is the
    likeliest, errors taken for counts of mistakes, near the usual while answers are few; so
    mistakes at small doubts let expect many at large ones, which is on the safe side.
    """
    total, mass = float(weight @ errors), float(weight @ doubt)
    one = max(float(weight @ errors**2) / max(total, 1e-12), 1e-9)  # the error of one mistake
    best, likeliest = (1.0, 1.0), -np.inf
    for power in _POWERS:
        by = doubt**power
        level = mass / float(weight @ by)
        c = level * (total + _ADDED * one) / (mass + _ADDED * one)
        likely = float(weight @ (errors * np.log(c * by) - c * by)) / one
        likely -= 0.5 * (math.log(power / _USUAL_POWER) / 0.3) ** 2
        if likely > likeliest:
            best, likeliest = (c, power), likely
    c, power = best
    return lambda new: np.minimum(c * new**power, 2.0 / k)  # no row is more wrong


def error_of_hard(
    mean: Floats, U: Floats, training: Training, rows: Floats, errors: Floats, trees: float = 0.0
) -> Floats:
    """The error to expect of every item of the pool, where answers are all or nothing.

    `mean` is what the models say of the pool, U what becomes of it; `rows` and `errors` are the
    same of the answers, held out; `trees` is how much a forest counts among the models. Two
    estimates are taken together, by their geometric mean: the models' confidence, calibrated by the
    answers, and the errors of answers by how many items each stands for. Both come from models that
    learnt from fewer answers: the smaller an error is, the more of it do more answers take away;
    what is large is mostly noise, and stays. While answers are few, weights that suit them by luck
    make both too small. A forest makes both too large.
    """
    n, k = training.Y.shape
    probable = calibrated(mean, calibration(rows, training.Y))
    expected: Floats = 2.0 / k * (1.0 - (probable * U).sum(axis=1))
    unasked = np.delete(expected, training.rows)
    if not len(unasked):
        return expected
    left, by_confidence = len(unasked) / len(expected), float(unasked.mean())
    shares = training.stratum_size / training.stratum_size.sum()
    by_shares = float(errors @ shares) + _ADDED * 2.0 / k / n  # none of n: there may be some
    both = left * math.sqrt(by_confidence * by_shares)
    level = _SCALE * min(n, _ENOUGH) ** _BY_ANSWERS * both * min(1.0, both / _NOISE) ** _STEEPER
    level *= math.exp(_BY_TREES * trees)
    expected *= level / (left * by_confidence)
    return np.asarray(np.minimum(expected, 2.0 / k))


def calibration(rows: Floats, Y: Floats) -> float:
    """The power that makes held-out memberships the likeliest probabilities of the answers."""
    likely = [float((Y * np.log(calibrated(rows, power))).sum()) for power in _CALIBRATIONS]
    return float(_CALIBRATIONS[np.argmax(likely - 0.5 * (np.log(_CALIBRATIONS) / _SPREAD) ** 2)])


def calibrated(U: Floats, power: float) -> Floats:
    """Memberships raised to a power, as probabilities; nothing is impossible."""
    P = np.maximum(U, 1e-6)
    P = (P / P.max(axis=1, keepdims=True)) ** power
    P /= P.sum(axis=1, keepdims=True)
    return np.asarray((1.0 - _SURPRISE) * P + _SURPRISE / U.shape[1])
