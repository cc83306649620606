"""What is believed after comparisons, and which answers may be slips."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from askmeans.policy.belief import EXACT, Belief
from askmeans.policy.ensemble import Ensemble
from askmeans.policy.evidence import Told
from askmeans.policy.similarity.anchors import Compared, groups_outside, n_wrong
from askmeans.policy.similarity.exact import Core
from askmeans.policy.similarity.slips import without_slips
from askmeans.policy.stacking import sharpened
from askmeans.policy.strata import Strata

__all__ = ["MISFIT", "SimilarBelief"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

# Chosen on hidden features of Iris, Wine and Breast Cancer, and on shapes.
MISFIT = 0.2  # between an answer and the rows, above which it is checked
_AGAINST = 0.7  # between an answer and what models expect, from which on they contradict it
_GUIDE = 0.5  # of held-out answers' variance left unexplained, up to which they may


class SimilarBelief(Belief):
    """What is believed after comparisons: their fitted rows stand in the result."""

    def __init__(
        self, ensemble: Ensemble, strata: Strata, told: Told, compared: Compared, core: Core
    ) -> None:
        super().__init__(ensemble, strata, told, EXACT)
        self.compared = compared
        self.core = core

    @cached_property
    def strangers(self) -> list[list[int]]:
        """Items that are like no group, together with those that they are like."""
        found = groups_outside(self.compared.told, self.compared.unlike)
        return [[int(self.compared.items[place]) for place in places] for places in found]

    @property
    def doubts(self) -> tuple[int, float]:
        """Groups without an anchor; slips, items that are like no group, or not as expected.

        People are taken to slip as often as models are wrong.
        """
        told, unlike = self.compared.told, self.compared.unlike
        U = np.where(unlike[:, None], 0.0, self.compared.U)
        empty = sum(not anchors for anchors in self.compared.anchors)
        found = n_wrong(told.off(U)[~unlike[told.pairs].all(axis=1)]) + float(unlike.sum())
        if self.stack is not None:
            rows = self.held_out(self.compared.items)
            found += 0.5 * float(np.square(rows - U)[~unlike].sum())
        return empty, found

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
        compared, stack, told = self.compared, self.stack, self.compared.told
        against = np.zeros(len(compared.U), dtype=np.intp)
        slips = int((compared.misfit > MISFIT).sum())
        if stack is None or stack.unexplained > _GUIDE:
            return compared.U, against, slips
        rows = self.held_out(compared.items)
        for one, other in (told.pairs.T, told.pairs.T[::-1]):
            off = np.abs((rows[one] * compared.U[other]).sum(axis=1) - told.pair_value)
            np.add.at(against, one, off > _AGAINST)
        against[compared.sure] = 0
        return rows, against, slips

    @cached_property
    def suggested_clusters(self) -> int:
        """How many groups the answers speak of; a single item may be a slip."""
        if not self.many_unassigned:
            return self.n_clusters
        return self.n_clusters + max(1, sum(len(items) > 1 for items in self.strangers))

    def _memberships(self) -> Floats:
        """Memberships of all items; what comparisons tell of an item stands.

        Where answers contradict each other more often than they do models, those of all or nothing
        are slips as far as that is likely.
        """
        U, found, stack = super()._memberships(), self.compared.U, self.stack
        expected, against, slips = self.against
        if stack is not None and slips > (against > 1).sum() and not self.compared.told.is_soft:
            likely = sharpened(without_slips(self.compared, expected), stack.sharpness)
            found = np.where(self.compared.all_or_nothing[:, None], likely, found)
        some = ~self.elsewhere[: len(found)]
        items = self.compared.items[some]
        U[items] = 0.0
        U[items, : self.n_clusters] = found[some]
        return U
