"""The belief after comparisons, and which answers may be slips.

Slips are found by belief propagation:
- Two items of one group were called unlike, or two of different groups alike, with the same small
  probability: that of a slip. It is estimated with the groups.
- Before any comparison an item is in the group that models expect that learnt without it; they
  are never taken to be certain.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from askmeans.policy.belief import EXACT, Belief
from askmeans.policy.calibration import sharpened
from askmeans.policy.ensemble import FEW, Ensemble
from askmeans.policy.evidence import Evidence
from askmeans.policy.models.training import TRUST
from askmeans.policy.pool import Strata
from askmeans.policy.similarity.anchors import Compared, groups_outside, n_wrong
from askmeans.policy.similarity.crowd import Propagation
from askmeans.policy.similarity.exact import Core

__all__ = ["MISFIT", "SimilarBelief", "floored", "without_slips"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

# Chosen on hidden features of Iris, Wine and Breast Cancer, and on shapes.
MISFIT = 0.2  # between an answer and the rows, above which it is checked
_AGAINST = 0.7  # between an answer and what models expect, from which on they contradict it
_GUIDE = 0.5  # of held-out answers' variance left unexplained, up to which they may

_LEAST = 0.02  # probability of a group, whatever models expect
_CERTAIN = 1e-6  # the same, where somebody told the row
_ROUNDS = 6  # of estimating how many slips there are
_CLOSE = 1e-3  # shares of slips that are one
FIRST = 0.05  # probability of a slip that these start with
_BEFORE = (0.5, 20.0)  # slips among answers, as if seen before
BOUNDS = (0.005, 0.3)


class SimilarBelief(Belief):
    """What is believed after comparisons: their fitted rows stand in the result."""

    def __init__(
        self, ensemble: Ensemble, strata: Strata, evidence: Evidence, compared: Compared, core: Core
    ) -> None:
        self.compared = compared
        self.core = core
        super().__init__(ensemble, strata, evidence, EXACT)

    def _row_weights(self) -> Floats:
        """The same; items that are only known not to be in some groups count, too.

        They are filled in as is probable. The items of large groups are placed first: without the
        others models take what is left for smaller than it is. The mean ARI of 12 tables after 20,
        50 and 100 pairs is .427, .531 and .648; without them .367, .488 and .627.
        """
        weight, evidence = super()._row_weights(), self.evidence
        placed = weight > TRUST
        if not self.compared.comparisons.is_soft and placed.sum() >= FEW:
            weight[~placed & evidence.is_known & ~evidence.unassigned] = 1.0
        return weight

    @cached_property
    def strangers(self) -> list[list[int]]:
        """Items that are like no group, together with those that they are like."""
        groups = groups_outside(self.compared.comparisons, self.compared.unlike)
        return [[int(self.compared.items[place]) for place in places] for places in groups]

    @property
    def misfit(self) -> tuple[int, float]:
        """Groups without an anchor; slips, items that are like no group, or not as expected.

        People are taken to slip as often as models are wrong.
        """
        comparisons, unlike = self.compared.comparisons, self.compared.unlike
        U = np.where(unlike[:, None], 0.0, self.compared.U)
        empty = sum(not anchors for anchors in self.compared.anchors)
        off = comparisons.off(U)[~unlike[comparisons.pairs].all(axis=1)]
        wrong = n_wrong(off) + float(unlike.sum())
        if self.stack is not None:
            rows = self.held_out(self.compared.items)
            wrong += 0.5 * float(np.square(rows - U)[~unlike].sum())
        return empty, wrong

    def held_out(self, items: Rows) -> Floats:
        """What models expect of items that they learnt without these."""
        stack = self.stack
        assert stack is not None
        places = np.searchsorted(self.pool.rows, items)
        rows = stack.pool[places].copy()
        where = np.full(len(self.pool), -1)
        where[stack.rows] = np.arange(len(stack.rows))
        at = where[places]
        rows[at >= 0] = stack.held_out[at[at >= 0]]
        rows = rows[:, : self.n_clusters] + 1e-9
        return np.asarray(rows / rows.sum(axis=1, keepdims=True))

    @cached_property
    def against(self) -> tuple[Floats, Rows, int]:
        """Rows as models expect them, how many answers each item has against them, and slips."""
        compared, stack, comparisons = self.compared, self.stack, self.compared.comparisons
        against = np.zeros(len(compared.U), dtype=np.intp)
        slips = int((compared.misfit > MISFIT).sum())
        if stack is None or stack.unexplained > _GUIDE:
            return compared.U, against, slips
        rows = self.held_out(compared.items)
        for one, other in (comparisons.pairs.T, comparisons.pairs.T[::-1]):
            off = np.abs((rows[one] * compared.U[other]).sum(axis=1) - comparisons.pair_value)
            np.add.at(against, one, off > _AGAINST)
        against[compared.sure] = 0
        return rows, against, slips

    @cached_property
    def suggested_clusters(self) -> int:
        """How many groups the answers speak of; a single item may be a slip."""
        if not self.many_unassigned:
            return self.n_clusters
        return self.n_clusters + max(1, sum(len(items) > 1 for items in self.strangers))

    def _answered_confidence(self, rows: Floats) -> Floats:
        """The probability that the strongest cluster is right; no answer of a crowd decides."""
        crowd = self.compared.crowd
        return super()._answered_confidence(rows) if crowd is None else rows.max(axis=1)

    def _memberships(self) -> Floats:
        """Memberships of all items; what comparisons tell of an item stands.

        Where answers contradict each other more often than they do models, those of all or nothing
        are slips as far as that is likely.
        """
        U, rows, stack = super()._memberships(), self.compared.U, self.stack
        expected, against, slips = self.against
        if (
            self.compared.crowd is None
            and stack is not None
            and slips > (against > 1).sum()
            and not self.compared.comparisons.is_soft
        ):
            probable = sharpened(without_slips(self.compared, expected), stack.sharpness)
            rows = np.where(self.compared.all_or_nothing[:, None], probable, rows)
        some = ~self.unassigned[: len(rows)]
        items = self.compared.items[some]
        U[items] = 0.0
        U[items, : self.n_clusters] = rows[some]
        return U


def without_slips(compared: Compared, expected: Floats) -> Floats:
    """How likely compared items are in each group, by all answers and what models expect."""
    comparisons = compared.comparisons.without(compared.unlike)
    before = floored(expected, compared.sure, compared.U)
    signs, slip = 2.0 * comparisons.pair_value - 1.0, FIRST
    propagation = Propagation(comparisons.pairs, before)
    for _ in range(_ROUNDS):
        ratio = ((1.0 - slip) / slip) ** signs
        propagation.run(before, ratio)
        known, slip = slip, _share_of_slips(signs, propagation.same(ratio)[0], slip)
        if abs(slip - known) < _CLOSE:
            break
    return propagation.rows


def floored(expected: Floats, sure: Rows, rows: Floats) -> Floats:
    """Expected rows, none of them certain but those that are known directly."""
    before = np.maximum(expected, _LEAST)
    before[sure] = np.maximum(rows[sure], _CERTAIN)
    return np.asarray(before / before.sum(axis=1, keepdims=True))


def _share_of_slips(signs: Floats, same: Floats, slip: float) -> float:
    """How likely an answer is a slip, if two are in one group as likely as all others say."""
    against = np.where(signs > 0.0, 1.0 - same, same) * slip
    wrong = against / (against + (1.0 - against / slip) * (1.0 - slip))
    weight = np.abs(signs)
    slips, answers = _BEFORE
    return float(np.clip((slips + weight @ wrong) / (answers + weight.sum()), *BOUNDS))
