"""Comparing items with anchors: similarities tell memberships as far as anchors are pure.

Rules of this file:
- The first items that are like none before them found the groups, and are their first anchors.
- A new item is compared with the anchor of its likeliest group, then with those of others, until
  little of its row is left. Exact answers in between pay for a core first (`exact.py`).
- Rows of all compared items are fitted together (`comparisons.py`), with what models expect of each
  from the others; models learn from these rows, and purer items become anchors.
- Slips: a single answer that models contradict is checked, and so are anchors of two groups that
  nobody compared, and parts of a group that nothing links. Where the first founders leave answers
  unexplained, others are tried, and what is least unlikely is believed. The result takes answers
  for slips as far as that is likely (`slips.py`).
- Answers of every kind count, whatever is asked.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import combinations, islice, product

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import MoreClustersWarning, RankError
from askmeans.fuzzy.simplex import keep_answers
from askmeans.fuzzy.ties import without_last_bits
from askmeans.policy.anchors import (
    Compared,
    described,
    founders_by_sides,
    founders_of,
    groups_outside,
    in_order,
    n_wrong,
    of_one_kind,
    outsiders_of,
    parts_of,
    rows_beside,
)
from askmeans.policy.belief import EXACT, Belief
from askmeans.policy.comparisons import Comparisons, Expected, compared_by, fit_rows
from askmeans.policy.ensemble import Ensemble
from askmeans.policy.evidence import NOTHING, Told, told_by
from askmeans.policy.exact import Core, core_of, numbers, solved
from askmeans.policy.models.closed_form import name_clusters
from askmeans.policy.slips import without_slips
from askmeans.policy.stacking import sharpened
from askmeans.policy.strata import Strata
from askmeans.policy.stratified import REST, Ranking, StratifiedPolicy
from askmeans.queries import Answers, Question
from askmeans.results import Clustering, warn

__all__ = ["SimilarityPolicy"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Bools = NDArray[np.bool_]

# Chosen on hidden features of Iris, Wine and Breast Cancer, and on shapes.
_LEAST = 0.002  # variance of an entry around what models expect
_WEAK = 0.05  # the same, where models learn from the rows
_KNOWN = 0.6  # of an entry's variance that answers take away, to know it
_UNSURE = 0.75  # strongest membership below which a row is compared once more
_CHECKS = 2  # comparisons more that an item gets that is unsure
_PUREST = 5  # items of each part of a group that are compared with those of another
_MISFIT = 0.2  # between an answer and the rows, above which it is checked
_AGAINST = 0.7  # between an answer and what models expect, from which on they contradict it
_BORNE_OUT = 1  # answers against models that are borne out for each that is not, to check no more
_GUIDE = 0.5  # of held-out answers' variance left unexplained, up to which they may
_NOTHING_EXPLAINED = 0.9  # of held-out answers' variance, from which on models are no guide
_BETTER = 0.5  # of what similarities leave unexplained, which one cluster more must explain
_NOISE = 0.05  # standard deviation of noisy answers, as long as nobody says


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
            rows = _held_out(self, self.compared.items, self.n_clusters)
            found += 0.5 * float(np.square(rows - U)[~unlike].sum())
        return empty, found

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
        expected, against, slips = _against(self)
        if stack is not None and slips > (against > 1).sum() and not self.compared.told.is_soft:
            likely = sharpened(without_slips(self.compared, expected), stack.sharpness)
            found = np.where(self.compared.all_or_nothing[:, None], likely, found)
        some = ~self.elsewhere[: len(found)]
        items = self.compared.items[some]
        U[items] = 0.0
        U[items, : self.n_clusters] = found[some]
        return U


class SimilarityPolicy(StratifiedPolicy):
    """Proposes comparisons with anchors; takes every kind of answer."""

    @property
    def failure(self) -> RankError | None:
        """Why exact answers cannot tell so many clusters apart; None where they can."""
        belief = self._current().belief
        assert isinstance(belief, SimilarBelief)
        return belief.core.failure

    def clustering(self) -> Clustering:
        """The best result from all answers."""
        clustering = super().clustering()
        with self._learning:
            belief = self._belief(self._answers)
        assert isinstance(belief, SimilarBelief)
        found, notes = clustering.diagnostics, list(clustering.diagnostics.notes)
        for message, category in belief.core.warnings:
            warn(message, category, notes)
        if belief.core.failure is not None:  # `run` raises it
            notes.append(str(belief.core.failure))
        if (
            belief.core.noisy
            and self.settings.scale == EXACT
            and _one_more_explains(belief.compared)
        ):
            warn(
                f"{self.k + 1} clusters explain the similarities better than {self.k}. Ask for "
                f"{self.k + 1} clusters: the same answers count.",
                MoreClustersWarning,
                notes,
            )
        told, core = belief.compared.told, dict(belief.core.diagnostics)
        shown = core.get("suggested_clusters", 0) if core.get("noisy") is False else 0
        first = core.get("bootstrap_pairs", 0)
        asked = {
            "bootstrap_pairs": first,
            "row_pairs": len(told.pairs) - first,
            "triplets": len(told.triplets),
            "relative": len(told.relative),
            "suggested_clusters": max(belief.suggested_clusters, shown),
        }
        return replace(
            clustering,
            diagnostics=replace(found, similarity=core | asked, notes=tuple(notes)),
        )

    def _believed(self, answers: Answers) -> Belief:
        """Fit rows, let models learn from them, and fit rows again with what models expect."""
        direct, told = told_by(answers, self.k), compared_by(answers)
        core, exact = self._exact(answers, told, direct)
        sets = [{}] if exact else self._founders(told, direct)
        beliefs = [self._believed_from(founders, direct, told, core, exact) for founders in sets]
        return min(beliefs, key=lambda belief: belief.doubts)

    def _believed_from(
        self,
        founders: dict[int, int],
        direct: Told,
        told: Comparisons,
        core: Core,
        exact: dict[int, Floats],
    ) -> SimilarBelief:
        """What to believe if some items stand for the groups."""
        levels, noise = self._scale(told, core)
        outside = outsiders_of(told, founders, self.k)
        inside = told.without(outside)
        sure = np.flatnonzero(np.isin(told.items, direct.items))
        belief: SimilarBelief | None = None
        for _ in range(2):
            expected, start = self._expected(direct, inside, belief, exact, founders, levels)
            # Models must not learn from what they expect themselves.
            weak = replace(expected, variance=np.where(
                expected.variance > 1e-9, np.maximum(expected.variance, _WEAK), expected.variance
            ))  # fmt: skip
            U, known = fit_rows(inside, weak, start, levels=levels, noise=noise)
            rows = _told(direct, described(told, U, outside), known, exact)
            U, _ = fit_rows(inside, expected, U, levels=levels, noise=noise)
            for place in exact:
                U[place] = exact[place]
            ensemble, strata = self._ground(rows)
            compared = replace(described(told, U, outside), sure=sure)
            belief = SimilarBelief(ensemble, strata, rows, compared, core)
        assert belief is not None
        return belief

    def _scale(self, told: Comparisons, core: Core) -> tuple[int | None, float]:
        """The points of the answers' scale, and the noise that there is beside it."""
        scale = self.settings.scale
        if scale.noise == "auto":
            return scale.levels or told.levels, told.spread or _NOISE
        return scale.levels or told.levels, max(scale.noise, core.sigma if core.noisy else 0.0)

    def _exact(
        self, answers: Answers, told: Comparisons, direct: Told
    ) -> tuple[Core, dict[int, Floats]]:
        """The core, where answers are exact, and rows by place that follow from it."""
        settings = self.settings
        fine = settings.scale.levels is None and told.levels is None
        if not fine or settings.ask == "relative" or not len(told.pairs):
            return Core(), {}
        values = numbers(answers)
        rng = np.random.default_rng([settings.seed, 2])
        queue = dict.fromkeys([*told.items.tolist(), *rng.permutation(self.items.n).tolist()])
        triplets = settings.ask != "pairwise"
        core = core_of(values, list(queue), self.k, triplets=triplets, seed=settings.seed)
        rows = core.rows | solved(core, values, told.items.tolist())
        found = {
            place: rows[item] for place, item in enumerate(told.items.tolist()) if item in rows
        }
        return core, _renamed(found, told, direct)

    def _expected(
        self,
        direct: Told,
        told: Comparisons,
        belief: "SimilarBelief | None",
        exact: dict[int, Floats],
        founders: dict[int, int],
        levels: int | None,
    ) -> tuple[Expected, Floats]:
        """What to expect of the compared items' rows before they are compared, and a start."""
        m, k = len(told.items), self.k
        rows, variance = np.full((m, k), 1.0 / k), np.full(m, (k - 1.0) / k**2)
        if belief is not None and belief.stack is not None:
            rows = _held_out(belief, told.items, k)
            variance = np.full(m, _variance(told, rows, levels))
        if belief is not None:
            start = belief.compared.U.copy()
        else:
            beside = rows_beside(told, founders, k)
            start = np.where(np.isnan(beside), rows, beside)
            rows[list(founders)] = start[list(founders)]
        # What was told directly, or follows exactly, is all but certain.
        _, here, there = np.intersect1d(told.items, direct.items, return_indices=True)
        keep_answers(rows, here, direct.values[there])
        variance[here] = np.maximum(variance[here] * direct.left[there], 1e-6)
        for place, row in exact.items():
            rows[place], variance[place] = row, 1e-10
        certain = np.union1d(here, list(exact)).astype(np.intp)
        start[certain] = rows[certain]
        return Expected(rows=rows, variance=variance), start

    def _founders(self, told: Comparisons, direct: Told) -> list[dict[int, int]]:
        """The group that each founder stands for, by place; the likeliest first."""
        _, here, there = np.intersect1d(told.items, direct.items, return_indices=True)
        rows = np.nan_to_num(direct.values[there])
        named = {
            int(place): int(row.argmax())
            for place, row in zip(here, rows, strict=True)
            if row.max(initial=0.0) > 0.5
        }
        if self.settings.ask == "relative":  # nobody says that two are unlike
            found = founders_by_sides(told, self.k)
            if len(found) == self.k and not named:
                return [found]
            ensemble, _ = self._ground(direct)
            typical = ensemble.pool.rows[ensemble.pool.typical].tolist()
            places = {item: place for place, item in enumerate(told.items.tolist())}
            alike = of_one_kind(told, self.k)
            for group, item in enumerate(typical):
                place = places.get(item)
                if place is not None and not any(in_order(place, n) in alike for n in named):
                    named.setdefault(place, group)
            return [named]
        return founders_of(told, self.k, named)

    def _rank(self, belief: Belief) -> Ranking:
        """The ranking of comparisons that follows from a belief."""
        return SimilarRanking(belief, self.settings)

    def _is_spent(self, ranking: Ranking) -> bool:
        """Whether to learn before the next milestone: all that the last one wanted was answered."""
        return all(question in self._asked for question in ranking.wanted)


def _one_more_explains(compared: Compared) -> bool:
    """Whether rows of one cluster more leave much less of the similarities unexplained."""
    m, k = compared.U.shape
    start = np.column_stack([0.7 * compared.U, np.full(m, 0.3)])
    even = Expected(rows=np.full((m, k + 1), 1.0 / (k + 1)), variance=np.ones(m))
    more, _ = fit_rows(compared.told, even, start, levels=None, noise=0.01)
    left, left_now = (np.linalg.norm(compared.told.off(U)) for U in (more, compared.U))
    return bool(left < _BETTER * left_now)


def _held_out(belief: Belief, items: Rows, k: int) -> Floats:
    """What models expect of items that they learnt without these."""
    stack = belief.stack
    assert stack is not None
    places = np.searchsorted(belief.pool.rows, items)
    rows = stack.pool[places].copy()
    where = np.full(len(belief.pool), -1)
    where[stack.rows] = np.arange(len(stack.rows))
    at = where[places]
    rows[at >= 0] = stack.held_out[at[at >= 0]]
    rows = rows[:, :k] + 1e-9
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def _against(belief: SimilarBelief) -> tuple[Floats, Rows, int]:
    """Rows as models expect them, how many answers each item has against them, and slips."""
    compared, stack, told = belief.compared, belief.stack, belief.compared.told
    against = np.zeros(len(compared.U), dtype=np.intp)
    slips = int((compared.misfit > _MISFIT).sum())
    if stack is None or stack.unexplained > _GUIDE:
        return compared.U, against, slips
    rows = _held_out(belief, compared.items, belief.n_clusters)
    for one, other in (told.pairs.T, told.pairs.T[::-1]):
        off = np.abs((rows[one] * compared.U[other]).sum(axis=1) - told.pair_value)
        np.add.at(against, one, off > _AGAINST)
    against[compared.sure] = 0
    return rows, against, slips


def _variance(told: Comparisons, rows: Floats, levels: int | None) -> float:
    """Of an entry around the rows that models expect, as far as similarities tell."""
    if not len(told.pairs):
        return _WEAK
    off = np.square(told.off(rows))
    mse = float(np.mean(np.minimum(off, 0.25))) - told.rounding(levels) ** 2
    norm = float(np.square(rows[told.pairs[:, 0]]).sum(axis=1).mean())
    return float(np.clip(mse / (2.0 * norm), _LEAST, 0.2))


def _renamed(found: dict[int, Floats], told: Comparisons, direct: Told) -> dict[int, Floats]:
    """Exact rows with their clusters numbered as those say who named them."""
    _, here, there = np.intersect1d(told.items, direct.items, return_indices=True)
    both = [(int(p), int(t)) for p, t in zip(here, there, strict=True) if int(p) in found]
    if not both:
        return found
    rows = np.array([found[place] for place, _ in both])
    order = name_clusters(rows, direct.values[[t for _, t in both]])
    return {place: row[order] for place, row in found.items()}


def _told(direct: Told, compared: Compared, known: Floats, exact: dict[int, Floats]) -> Told:
    """What all answers together say of memberships."""
    values = np.where(known >= _KNOWN, compared.U, np.nan)
    asked = compared.asked.copy()
    certain = np.zeros(len(values), dtype=bool)
    certain[[*exact, *(places[0] for places in compared.anchors if places)]] = True
    values[certain], asked[certain] = compared.U[certain], True
    for place, row in exact.items():
        values[place] = row
    # An entry that nobody was asked for, where all others are nothing, is only likely.
    nothing = np.where(asked, np.nan_to_num(values), 0.0).sum(axis=1) <= NOTHING
    values[~asked & nothing[:, None]] = np.nan
    values[compared.unlike & ~certain] = 0.0
    _, here, there = np.intersect1d(compared.items, direct.items, return_indices=True)
    values[here] = np.where(np.isnan(direct.values[there]), values[here], direct.values[there])
    asked[here] |= direct.asked[there]
    alone = np.flatnonzero(~np.isin(direct.items, compared.items))
    values = np.vstack([values, direct.values[alone]])
    asked = np.vstack([asked, direct.asked[alone]])
    rows, cluster = np.nonzero(~np.isnan(values))
    return replace(
        direct,
        items=np.concatenate([compared.items, direct.items[alone]]),
        values=values,
        asked=asked,
        times=asked.astype(np.intp),
        place=rows,
        cluster=cluster,
        value=values[rows, cluster],
        cut_off=np.empty(0, dtype=np.intp),
    )


class SimilarRanking(Ranking):
    """Every comparison there is, the best first."""

    @cached_property
    def compared(self) -> Compared:
        """What was compared, and the anchors."""
        assert isinstance(self.belief, SimilarBelief)
        return self.belief.compared

    @cached_property
    def core(self) -> Core:
        """What exact answers tell."""
        assert isinstance(self.belief, SimilarBelief)
        return self.belief.core

    @cached_property
    def anchors(self) -> list[list[int]]:
        """Items that stand for each group, the purest first."""
        items = self.compared.items
        found = [[int(items[place]) for place in places] for places in self.compared.anchors]
        if self.settings.ask == "relative":
            typical = [int(self.belief.pool.rows[place]) for place in self.belief.pool.typical]
            spare = [item for item in typical if not any(item in items for items in found)]
            spare = [int(items[place]) for place in self._always_tied()] + spare
            found = self._of_several_kinds(found, spare)
        return found

    def _of_several_kinds(self, found: list[list[int]], spare: list[int]) -> list[list[int]]:
        """Anchors of which no two are of one kind; others in their place, and where none is."""
        items, kinds = self.compared.items, of_one_kind(self.compared.told, self.k)
        alike = {in_order(int(items[b]), int(items[c])) for b, c in kinds}
        kept: list[list[int]] = []
        for own in found:
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
        """Items that are like no anchor more than another: they may be of a group without one."""
        told = self.compared.told
        tied = np.zeros(len(told.items), dtype=np.intp)
        np.add.at(tied, told.relative[:, 0], 1)
        aside = told.relative_value != 0.5
        tied[told.relative[aside].ravel()] = 0
        order = np.argsort(-tied, kind="stable")
        return [int(place) for place in order if tied[place] > 1]

    @cached_property
    def likely(self) -> Floats:
        """Which groups items are likely in: by the groups' sizes, where models explain nothing."""
        belief = self.belief
        if belief.stack is None or belief.stack.unexplained < _NOTHING_EXPLAINED:
            return np.asarray(belief.likely[:, : self.k])
        sizes = np.nansum(belief.told.values[:, : self.k], axis=0)
        return np.broadcast_to(sizes, (len(belief.pool), self.k))

    @cached_property
    def _anchored(self) -> set[int]:
        """All anchors."""
        return {item for items in self.anchors for item in items} | set(self.core.anchors)

    @cached_property
    def _answered(self) -> set[tuple[int, ...]]:
        """Items that were compared with each other."""
        items, told = self.compared.items, self.compared.told
        return {tuple(sorted(items[pair].tolist())) for pair in told.pairs} | {
            tuple(items[three].tolist()) for three in told.relative
        }

    @cached_property
    def _sides(self) -> defaultdict[int, Counter[frozenset[int]]]:
        """How often each item was between items of which groups."""
        found: defaultdict[int, Counter[frozenset[int]]] = defaultdict(Counter)
        group_of = self.compared.U.argmax(axis=1)
        for place, b, c in self.compared.told.relative.tolist():
            item = int(self.compared.items[place])
            found[item][frozenset((int(group_of[b]), int(group_of[c])))] += 1
        return found

    @property
    def _n_checked(self) -> int:
        """How many items beside the anchors were compared with every group."""
        anchors = [place for places in self.compared.anchors for place in places]
        return int(np.delete(self.compared.asked, anchors, axis=0).all(axis=1).sum())

    def subject(self, question: Question) -> int:
        """The item that a question is about: the one that is not an anchor."""
        if question.kind == "relative":
            return question.items[0]
        return next((i for i in question.items if i not in self._anchored), question.items[0])

    def _wanted(self) -> Iterator[Question]:
        """What to ask, each question as often as wanted."""
        for question in self._once():
            for repeat in range(self.settings.repeats):
                yield question._replace(repeat=repeat)

    def _once(self) -> Iterator[Question]:
        """What is open, what is unsure, and new items as far as they shall be asked about."""
        if self.k == 1:
            return
        told, precise = self.belief.told, self.belief.is_precise(self.settings.precision)
        if self.core.wanted or self.core.rows:
            yield from self.core.wanted
            yield from self._whole_rows(0 if precise else self.room)
            return
        open_ = list(self._open_rows((told.left > REST) & ~told.all_but_one))
        yield from open_
        if not self.compared.told.is_soft:
            yield from self._apart()
            yield from self._parts()
        if precise:
            yield from self._unsure()
            return
        early = told.all_but_one & (np.cumsum(told.all_but_one) <= self.k - self._n_checked)
        if told.unassigned.any():  # there may be more of them
            early |= told.to_check
        yield from self._open_rows(early)
        yield from self._unsure()
        yield from self._strange()
        new = list(islice(self._new(), self.room))
        yield from new
        if not open_ and not new:
            yield from self._open_rows(told.to_check & ~early)

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

    def _whole_rows(self, room: int | None) -> Iterator[Question]:
        """Items beside every anchor of the core: first those that were begun."""
        begun = [i for i in self.compared.items.tolist() if i not in self.core.rows]
        new = (int(self.belief.pool.rows[place]) for place in self._places())
        for item in [*begun, *islice(new, room)]:
            for anchor in self.core.anchors:
                if item != anchor and tuple(sorted((item, anchor))) not in self._answered:
                    yield _pair(item, anchor)

    def _open_rows(self, rows: Bools) -> Iterator[Question]:
        """Rows of which something is left: beside the likeliest group not compared with yet."""
        belief, told = self.belief, self.belief.told
        there = np.array([bool(items) for items in self.anchors])
        asked = told.asked[:, : self.k]
        for place in np.flatnonzero(rows & (~asked & there).any(axis=1)):
            likely = self.likely[belief.asked[place]]
            yield from self._beside(int(told.items[place]), np.where(~asked[place], likely, -1.0))

    def _unsure(self) -> Iterator[Question]:
        """Items whose answers contradict each other or leave them in between: once more."""
        compared = self.compared
        strongest = compared.U.max(axis=1, initial=0.0)
        doubt = np.maximum(compared.misfit - _MISFIT, 0.0) + np.maximum(_UNSURE - strongest, 0.0)
        doubt[compared.n_checks >= _CHECKS] = 0.0
        if self.settings.ask != "relative":  # else nobody asks what is left
            doubt[self.belief.told.left[: len(strongest)] > REST] = 0.0
        rows, alone = self._contradicted()
        doubt[alone] = 1.0
        for place in np.argsort(-without_last_bits(doubt), kind="stable"):
            if doubt[place] <= 0.0:
                return
            row = rows[place] if alone[place] else compared.U[place]
            yield from self._beside(int(compared.items[place]), row)

    def _apart(self) -> Iterator[Question]:
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
        if not (self.compared.misfit > _MISFIT).any():
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
        assert isinstance(self.belief, SimilarBelief)
        groups = self.belief.strangers
        known = {item for items in groups for item in items}
        for item in self.compared.items[self.compared.unlike].tolist():
            if item not in known:
                pairs = (_pair(item, first) for first, *_ in groups)
                yield from islice((p for p in pairs if p.items not in self._answered), 1)

    def _contradicted(self) -> tuple[Floats, Bools]:
        """Rows as models expect them, and which items a single answer places elsewhere.

        It may be a slip; a second answer against what is expected is believed.
        """
        assert isinstance(self.belief, SimilarBelief)
        rows, against, slips = _against(self.belief)
        trusted = (against > 1).sum() > _BORNE_OUT * (1 + slips)
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
            yield from self._beside(int(pool.rows[place]), self.likely[place])

    def _beside(self, item: int, likely: Floats) -> Iterator[Question]:
        """An item beside an anchor of its likeliest group that it was not compared with."""
        order = np.argsort(-without_last_bits(likely), kind="stable").tolist()
        order = [group for group in order if likely[group] >= 0.0]
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
