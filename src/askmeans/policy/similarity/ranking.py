"""The ranking of comparisons: all of them, the best first."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cached_property
from itertools import combinations, islice, product

import numpy as np

from askmeans._util.arrays import Bools, Floats
from askmeans.fuzzy.arrays import without_last_bits
from askmeans.policy.ranking import Ranking
from askmeans.policy.scales import UNASSIGNED_SUM
from askmeans.policy.similarity.anchors import Compared, in_order, of_one_kind, parts_of
from askmeans.policy.similarity.belief import MISFIT, SimilarBelief
from askmeans.policy.similarity.exact import Core
from askmeans.queries import Question

# Chosen on hidden features of Iris, Wine and Breast Cancer, and on shapes.
_UNSURE = 0.75  # strongest membership below which an item is compared again
_CHECKS = 2  # further comparisons of such an item
_PUREST = 5  # items of each part of a group to compare with those of another
_NOTHING_EXPLAINED = 0.9  # unexplained share of held-out variance from which on models are ignored


class SimilarRanking(Ranking):
    """All comparisons, the best first."""

    belief: SimilarBelief

    @cached_property
    def compared(self) -> Compared:
        """The compared items and the anchors."""
        return self.belief.compared

    @cached_property
    def core(self) -> Core:
        """The core of exact answers."""
        return self.belief.core

    @cached_property
    def anchors(self) -> list[list[int]]:
        """The anchors of each group, the purest first."""
        items = self.compared.items
        anchors = [[int(items[place]) for place in places] for places in self.compared.anchors]
        if self.settings.ask == "relative":
            typical = [int(self.belief.pool.rows[place]) for place in self.belief.pool.typical]
            spare = [item for item in typical if not any(item in items for items in anchors)]
            spare = [int(items[place]) for place in self._always_tied()] + spare
            anchors = self._of_several_kinds(anchors, spare)
        return anchors

    def _of_several_kinds(self, anchors: list[list[int]], spare: list[int]) -> list[list[int]]:
        """Replace anchors of the same group as another, and add missing ones."""
        items, kinds = self.compared.items, of_one_kind(self.compared.comparisons, self.k)
        alike = {in_order(int(items[b]), int(items[c])) for b, c in kinds}
        kept: list[list[int]] = []
        for own in anchors:
            known = [item for others in kept for item in others]
            own = [a for a in own if not any(in_order(a, b) in alike for b in known)]
            kept.append(own)
        for own in kept:
            while not own and spare:
                item = spare.pop(0)
                known = [other for others in kept for other in others]
                if item not in known and not any(in_order(item, b) in alike for b in known):
                    own.append(item)
        return kept

    def _always_tied(self) -> list[int]:
        """Items that are always tied between anchors: their group may have none."""
        comparisons = self.compared.comparisons
        tied = np.zeros(len(comparisons.items), dtype=np.intp)
        np.add.at(tied, comparisons.relative[:, 0], 1)
        aside = comparisons.relative_value != 0.5
        tied[comparisons.relative[aside].ravel()] = 0
        order = np.argsort(-tied, kind="stable")
        return [int(place) for place in order if tied[place] > 1]

    @cached_property
    def probabilities(self) -> Floats:
        """Probabilities of the groups; by the groups' sizes if models explain nothing."""
        belief = self.belief
        if belief.stack is None or belief.stack.unexplained < _NOTHING_EXPLAINED:
            return np.asarray(belief.probabilities[:, : self.k])
        sizes = np.nansum(belief.evidence.values[:, : self.k], axis=0)
        return np.broadcast_to(sizes, (len(belief.pool), self.k))

    @cached_property
    def _anchored(self) -> set[int]:
        """All anchors."""
        return {item for items in self.anchors for item in items} | set(self.core.anchors)

    @cached_property
    def _answered(self) -> set[tuple[int, ...]]:
        """The items of each answered comparison."""
        items, comparisons = self.compared.items, self.compared.comparisons
        return {tuple(sorted(items[pair].tolist())) for pair in comparisons.pairs} | {
            tuple(items[three].tolist()) for three in comparisons.relative
        }

    @cached_property
    def _sides(self) -> defaultdict[int, Counter[frozenset[int]]]:
        """For each item, the number of comparisons between each two groups."""
        sides: defaultdict[int, Counter[frozenset[int]]] = defaultdict(Counter)
        group_of = self.compared.U.argmax(axis=1)
        for place, b, c in self.compared.comparisons.relative.tolist():
            item = int(self.compared.items[place])
            sides[item][frozenset((int(group_of[b]), int(group_of[c])))] += 1
        return sides

    @property
    def _n_checked(self) -> int:
        """The number of items, without anchors, that were compared with every group."""
        anchors = [place for places in self.compared.anchors for place in places]
        return int(np.delete(self.compared.queried, anchors, axis=0).all(axis=1).sum())

    def subject(self, question: Question) -> int:
        """The item that a question is about: the one that is not an anchor."""
        if question.kind == "relative":
            return question.items[0]
        return next((i for i in question.items if i not in self._anchored), question.items[0])

    def _wanted(self) -> Iterator[Question]:
        """The wanted questions with their repeats."""
        for question in self._once():
            for repeat in range(self.settings.repeats):
                yield question._replace(repeat=repeat)

    def _once(self) -> Iterator[Question]:
        """Open and unsure items, then new ones up to the limit."""
        if self.k == 1:
            return
        evidence, precise = (
            self.belief.evidence,
            self.belief.is_precise(self.settings.precision, self.settings.target),
        )
        if self.core.wanted or self.core.rows:
            yield from self.core.wanted
            yield from self._complete_rows(0 if precise else self.room)
            return
        open_ = list(self._open_rows((evidence.left > UNASSIGNED_SUM) & ~evidence.all_but_one))
        yield from open_
        if not self.compared.comparisons.is_soft:
            yield from self._unlinked_anchors()
            yield from self._parts()
        if precise:
            yield from self._unsure()
            return
        early = evidence.all_but_one & (np.cumsum(evidence.all_but_one) <= self.k - self._n_checked)
        if evidence.unassigned.any():  # there may be more of them
            early |= evidence.to_check
        yield from self._open_rows(early)
        yield from self._unsure()
        yield from self._strange()
        new = list(islice(self._new(), self.room))
        yield from new
        if not open_ and not new:
            yield from self._open_rows(evidence.to_check & ~early)

    def _others(self) -> Iterator[Question]:
        """Everything else: the other items, and every item beside every anchor."""
        if self.k == 1:
            return
        known = set(self.wanted)
        yield from (question for question in self._new() if question not in known)
        rows = range(self.belief.pool.items.n)
        if self.settings.ask == "relative":
            for row in rows:
                yield from self._between(row, list(range(self.k)))
            return
        for group in range(self.k):
            for row in rows:
                for anchor in self.anchors[group]:
                    if anchor != row:
                        yield _pair(row, anchor)

    def _complete_rows(self, room: int | None) -> Iterator[Question]:
        """Items beside every anchor of the core: first those that were begun."""
        begun = [i for i in self.compared.items.tolist() if i not in self.core.rows]
        new = (int(self.belief.pool.rows[place]) for place in self._places())
        for item in [*begun, *islice(new, room)]:
            for anchor in self.core.anchors:
                if item != anchor and tuple(sorted((item, anchor))) not in self._answered:
                    yield _pair(item, anchor)

    def _open_rows(self, rows: Bools) -> Iterator[Question]:
        """Rows of which something is left: beside the likeliest group not compared with yet."""
        belief, evidence = self.belief, self.belief.evidence
        there = np.array([bool(items) for items in self.anchors])
        queried = evidence.queried[:, : self.k]
        for place in np.flatnonzero(rows & (~queried & there).any(axis=1)):
            shares = np.where(~queried[place], self.probabilities[belief.places[place]], -1.0)
            yield from self._beside(int(evidence.items[place]), shares)

    def _unsure(self) -> Iterator[Question]:
        """Items whose answers contradict each other or leave them in between: once more."""
        compared = self.compared
        strongest = compared.U.max(axis=1, initial=0.0)
        uncertainty = np.maximum(compared.misfit - MISFIT, 0.0) + np.maximum(
            _UNSURE - strongest, 0.0
        )
        uncertainty[compared.n_checks >= _CHECKS] = 0.0
        if self.settings.ask != "relative":  # else nobody asks what is left
            uncertainty[self.belief.evidence.left[: len(strongest)] > UNASSIGNED_SUM] = 0.0
        rows, alone = self._contradicted()
        uncertainty[alone] = 1.0
        for place in np.argsort(-without_last_bits(uncertainty), kind="stable"):
            if uncertainty[place] <= 0.0:
                return
            row = rows[place] if alone[place] else compared.U[place]
            yield from self._beside(int(compared.items[place]), row)

    def _unlinked_anchors(self) -> Iterator[Question]:
        """Anchors of two groups of which none were compared: they may be of one."""
        if self.settings.ask == "relative":
            return
        for some, others in combinations(self.anchors, 2):
            pairs = [_pair(a, b) for a in some for b in others]
            if pairs and not any(pair.items in self._answered for pair in pairs):
                yield pairs[0]

    def _parts(self) -> Iterator[Question]:
        """Parts of a group that nothing links with each other: they may be of two, by a slip."""
        items, answered = self.compared.items, self._answered
        if not (self.compared.misfit > MISFIT).any():
            return
        for parts in parts_of(self.compared):
            for part in parts[1:]:
                purest = product(part[:_PUREST], parts[0][:_PUREST])
                across = [_pair(int(items[a]), int(items[b])) for a, b in purest]
                known = sum(question.items in answered for question in across)
                if known < _CHECKS + 1:
                    yield from islice((q for q in across if q.items not in answered), 1)

    def _strange(self) -> Iterator[Question]:
        """Items that are like no group beside each other: they may be of one or of several."""
        groups = self.belief.strangers
        known = {item for items in groups for item in items}
        for item in self.compared.items[self.compared.unlike].tolist():
            if item not in known:
                pairs = (_pair(item, first) for first, *_ in groups)
                yield from islice((p for p in pairs if p.items not in self._answered), 1)

    def _contradicted(self) -> tuple[Floats, Bools]:
        """Rows as models expect them, and which items a single answer places elsewhere.

        It may be a slip; a second answer against what is expected is believed. If more are
        confirmed than are slips, the models are wrong, and none is checked.
        """
        rows, against, slips = self.belief.against
        trusted = (against > 1).sum() > 1 + slips
        return rows, (against == 1) & ~self.compared.unlike & ~trusted

    def _new(self) -> Iterator[Question]:
        """New items, beside an anchor of their likeliest group."""
        pool, places = self.belief.pool, self._places()
        if not any(self.anchors):  # nothing was asked yet: the first item stands for a group
            first = int(pool.rows[next(places)])
            for place in places:
                yield _pair(first, int(pool.rows[place]))
            return
        for place in places:
            yield from self._beside(int(pool.rows[place]), self.probabilities[place])

    def _beside(self, item: int, shares: Floats) -> Iterator[Question]:
        """An item beside an anchor of its likeliest group that it was not compared with."""
        order = np.argsort(-without_last_bits(shares), kind="stable").tolist()
        order = [group for group in order if shares[group] >= 0.0]
        if self.settings.ask == "relative":
            yield from islice(self._between(item, order), 1)
            return
        for group in order:
            for other in self.anchors[group]:
                if other != item and tuple(sorted((item, other))) not in self._answered:
                    yield _pair(item, other)
                    return

    def _between(self, item: int, order: list[int]) -> Iterator[Question]:
        """An item between anchors of two groups: those it was not between, the likeliest first."""
        choices = [
            (self._sides[item][frozenset((first, second))], rank_b + rank_c, late, early,
             (item, min(b, c), max(b, c)))
            for (early, first), (late, second) in combinations(enumerate(order), 2)
            for rank_b, b in enumerate(self.anchors[first])
            for rank_c, c in enumerate(self.anchors[second])
            if item not in (b, c)
        ]  # fmt: skip
        for *_, three in sorted(choices):
            if three not in self._answered:
                yield Question("relative", three)


def _pair(a: int, b: int) -> Question:
    """The question about two items."""
    return Question("pair", in_order(a, b))
