"""Slips among comparisons of all or nothing: how likely each item is in each group.

Rules of this file:
- Two items of one group were called unlike, or two of different groups alike, with the same small
  probability: that of a slip. It is estimated with the groups.
- Before any comparison an item is in the group that models expect which learnt without it; they
  are never taken to be certain.
- Probabilities by belief propagation, damped, since comparisons form loops.
"""

import numpy as np
from numpy.typing import NDArray

from askmeans.policy.models.rows import softmax
from askmeans.policy.similarity.anchors import Compared

__all__ = ["without_slips"]

Floats = NDArray[np.float64]
_LEAST = 0.02  # probability of a group, whatever models expect
_CERTAIN = 1e-6  # the same, where somebody told the row
_DAMPING = 0.3
_SWEEPS, _TOLERANCE = 60, 1e-5
_ROUNDS = 6  # of estimating how many slips there are
_CLOSE = 1e-3  # shares of slips that are one
FIRST = 0.05  # probability of a slip that these start with
_BEFORE = (0.5, 20.0)  # slips among answers, as if seen before
BOUNDS = (0.005, 0.3)


def without_slips(compared: Compared, expected: Floats) -> Floats:
    """How likely compared items are in each group, by all answers and what models expect."""
    told = compared.told.without(compared.unlike)
    before = np.maximum(expected, _LEAST)
    before[compared.sure] = np.maximum(compared.U[compared.sure], _CERTAIN)
    sides = np.concatenate([told.pairs, told.pairs[:, ::-1]])  # who hears of whom
    turned = np.roll(np.arange(len(sides)), len(told.pairs))
    says = 2.0 * np.tile(told.pair_value, 2) - 1.0
    heard = np.zeros((len(sides), before.shape[1]))
    slip, rows = FIRST, before
    for _ in range(_ROUNDS):
        strength = np.expm1(says * np.log((1.0 - slip) / slip))
        for _ in range(_SWEEPS):
            rows, others = _rows(before, sides, heard)
            step = np.log1p(strength[:, None] * others[turned])
            step -= step.mean(axis=1, keepdims=True) + heard
            heard += (1.0 - _DAMPING) * step
            if np.abs(step).max(initial=0.0) < _TOLERANCE:
                break
        known, slip = slip, _share_of_slips(says, (others * others[turned]).sum(axis=1), slip)
        if abs(slip - known) < _CLOSE:
            break
    return rows


def _share_of_slips(says: Floats, same: Floats, slip: float) -> float:
    """How likely an answer is a slip, if two are in one group as likely as all others say."""
    against = np.where(says > 0.0, 1.0 - same, same) * slip
    wrong = against / (against + (1.0 - against / slip) * (1.0 - slip))
    weight = np.abs(says) / 2.0  # each answer is here twice
    slips, answers = _BEFORE
    return float(np.clip((slips + weight @ wrong) / (answers + weight.sum()), *BOUNDS))


def _rows(before: Floats, sides: NDArray[np.intp], heard: Floats) -> tuple[Floats, Floats]:
    """How likely each item is in each group; and who hears, without what is heard of this one."""
    logs = np.log(before)
    np.add.at(logs, sides[:, 0], heard)
    return softmax(logs), softmax(logs[sides[:, 0]] - heard)
