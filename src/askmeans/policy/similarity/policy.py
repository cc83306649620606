"""The policy for similarity questions: it compares items with anchors of the groups.

Rules of this file:
- The first items that are unlike all before them are the founders of the groups, and their first
  anchors.
- A new item is compared with the anchor of its most probable group, then with those of others,
  until little of its row is unknown. Exact soft answers are first spent on a core (`exact.py`).
- Rows of all compared items are fitted together (`comparisons.py`), with the predictions of models
  as a prior. Models learn from these rows, and purer items become anchors.
- Slips: a single answer that models contradict is checked. So are anchors of two groups that were
  not compared, and parts of a group without a link. If the founders leave answers unexplained,
  others are tried, and the best are used. The result discounts probable slips (`belief.py`).
- Answers of every kind count.
"""

from dataclasses import replace

import numpy as np

from askmeans._util.arrays import Floats
from askmeans._util.message import Message
from askmeans.exceptions import MoreClustersWarning, RankError
from askmeans.fuzzy.arrays import keep_answers
from askmeans.policy.belief import EXACT, Belief
from askmeans.policy.evidence import Evidence, evidence_of
from askmeans.policy.models.fcm import name_clusters
from askmeans.policy.ranking import Ranking
from askmeans.policy.scales import UNASSIGNED_SUM
from askmeans.policy.similarity.anchors import (
    Compared,
    described,
    founders_by_sides,
    founders_of,
    in_order,
    n_wrong,
    of_one_kind,
    outsiders_of,
    rows_beside,
)
from askmeans.policy.similarity.belief import SimilarBelief, floored
from askmeans.policy.similarity.comparisons import (
    Comparisons,
    Expected,
    comparisons_of,
    fit_rows,
)
from askmeans.policy.similarity.crowd import crowd_of
from askmeans.policy.similarity.exact import Core, core_of, numbers, solved
from askmeans.policy.similarity.ranking import SimilarRanking
from askmeans.policy.stratified import StratifiedPolicy
from askmeans.queries import Answers
from askmeans.results import Clustering, warn

# Chosen on hidden features of Iris, Wine and Breast Cancer, and on shapes.
_LEAST = 0.002  # variance of an entry around the prediction of models
_WEAK = 0.05  # the same, for rows that models learn from
_KNOWN = 0.6  # share of an entry's variance that answers must explain for it to be known
_BETTER = 0.5  # largest ratio of unexplained similarities that suggests a further cluster
_CROWD, _CONTRADICTED = 3, 0.1  # annotators, and share of unexplained answers, that make a crowd
_NEARLY_EVEN = 5.0  # Dirichlet parameter of almost even first rows
_NOISE = 0.05  # standard deviation of noisy answers before it is estimated


class SimilarityPolicy(StratifiedPolicy):
    """Proposes comparisons with anchors; learns from every kind of answer."""

    @property
    def failure(self) -> RankError | None:
        """The error if exact answers do not determine so many clusters; else None."""
        belief = self._current().belief
        assert isinstance(belief, SimilarBelief)
        return belief.core.failure

    def clustering(self) -> Clustering:
        """The best result from all answers."""
        clustering = super().clustering()
        with self._learning:
            belief = self._belief(self._answers)
        assert isinstance(belief, SimilarBelief)
        diagnostics, notes = clustering.diagnostics, list(clustering.diagnostics.notes)
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
                Message(
                    "{wanted} clusters explain the similarities better than {k}. Ask for {wanted} "
                    "clusters: the same answers count.",
                    wanted=self.k + 1,
                    k=self.k,
                ),
                MoreClustersWarning,
                notes,
            )
        comparisons, core = belief.compared.comparisons, dict(belief.core.diagnostics)
        shown = core.get("suggested_clusters", 0) if core.get("noisy") is False else 0
        first = core.get("bootstrap_pairs", 0)
        counts = {
            "bootstrap_pairs": first,
            "row_pairs": len(comparisons.pairs) - first,
            "triplets": len(comparisons.triplets),
            "relative": len(comparisons.relative),
            "suggested_clusters": max(belief.suggested_clusters, shown),
        }
        crowd = belief.compared.crowd
        rates = {} if crowd is None else {"annotators": crowd.rates(comparisons.annotators)}
        return replace(
            clustering,
            diagnostics=replace(diagnostics, similarity=core | counts | rates, notes=tuple(notes)),
        )

    def _new_belief(self, answers: Answers) -> Belief:
        """Fit rows, let models learn from them, and fit rows again with their predictions."""
        direct, comparisons = evidence_of(answers, self.k), comparisons_of(answers)
        core, exact = self._exact(answers, comparisons, direct)
        sets = [{}] if exact else self._founders(comparisons, direct)
        beliefs = [
            self._belief_from(founders, direct, comparisons, core, exact) for founders in sets
        ]
        best = min(beliefs, key=lambda belief: belief.misfit)
        return self._belief_of_crowd(direct, comparisons, core) if _is_crowd(best) else best

    def _belief_of_crowd(
        self, direct: Evidence, comparisons: Comparisons, core: Core
    ) -> SimilarBelief:
        """The belief if annotators contradict each other: groups and error rates together."""
        rng = np.random.default_rng([self.settings.seed, 4])
        start = rng.dirichlet(np.full(self.k, _NEARLY_EVEN), len(comparisons.items))
        crowd = crowd_of(comparisons, None, start)
        _, here, there = np.intersect1d(comparisons.items, direct.items, return_indices=True)
        if len(here):
            order = name_clusters(crowd.rows[here], direct.values[there])
            crowd = replace(crowd, rows=crowd.rows[:, order])
        belief: SimilarBelief | None = None
        outside = np.zeros(len(comparisons.items), dtype=bool)
        for _ in range(2):
            if belief is not None:  # again, with the predictions of models
                expected, _ = self._expected(direct, comparisons, belief, {}, {}, None)
                before = floored(expected.rows, here, expected.rows)
                crowd = crowd_of(comparisons, before, crowd.rows)
            compared = described(comparisons, crowd.rows, outside)
            known = np.where(crowd.rows.max(axis=1, keepdims=True) > 0.5, np.ones(self.k), 0.0)
            rows = _joined(direct, compared, known, {})
            compared = replace(compared, sure=here, crowd=crowd)
            belief = SimilarBelief(*self._models_for(rows), rows, compared, core)
        assert belief is not None
        return belief

    def _belief_from(
        self,
        founders: dict[int, int],
        direct: Evidence,
        comparisons: Comparisons,
        core: Core,
        exact: dict[int, Floats],
    ) -> SimilarBelief:
        """The belief with these founders."""
        levels, noise = self._scale(comparisons, core)
        outside = outsiders_of(comparisons, founders, self.k)
        inside = comparisons.without(outside)
        sure = np.flatnonzero(np.isin(comparisons.items, direct.items))
        belief: SimilarBelief | None = None
        for _ in range(2):
            expected, start = self._expected(direct, inside, belief, exact, founders, levels)
            # Models must not learn from their own predictions.
            weak = replace(expected, variance=np.where(
                expected.variance > 1e-9, np.maximum(expected.variance, _WEAK), expected.variance
            ))  # fmt: skip
            U, known = fit_rows(inside, weak, start, levels=levels, noise=noise)
            rows = _joined(direct, described(comparisons, U, outside), known, exact)
            U, _ = fit_rows(inside, expected, U, levels=levels, noise=noise)
            for place in exact:
                U[place] = exact[place]
            ensemble, strata = self._models_for(rows)
            compared = replace(described(comparisons, U, outside), sure=sure)
            belief = SimilarBelief(ensemble, strata, rows, compared, core)
        assert belief is not None
        return belief

    def _scale(self, comparisons: Comparisons, core: Core) -> tuple[int | None, float]:
        """The points of the answers' scale, and further noise."""
        scale = self.settings.scale
        if scale.noise == "auto":
            return scale.levels or comparisons.levels, comparisons.spread or _NOISE
        return scale.levels or comparisons.levels, max(
            scale.noise, core.sigma if core.noisy else 0.0
        )

    def _exact(
        self, answers: Answers, comparisons: Comparisons, direct: Evidence
    ) -> tuple[Core, dict[int, Floats]]:
        """The core of exact answers, and the rows by place that follow from it."""
        settings = self.settings
        fine = settings.scale.levels is None and comparisons.levels is None
        if not fine or settings.ask == "relative" or not len(comparisons.pairs):
            return Core(), {}
        values = numbers(answers)
        rng = np.random.default_rng([settings.seed, 2])
        others = rng.permutation(self.items.n).tolist()
        others.sort(key=self.items.blank.__contains__)  # blank ones last
        queue = dict.fromkeys([*comparisons.items.tolist(), *others])
        triplets = settings.ask != "pairwise"
        core = core_of(values, list(queue), self.k, triplets=triplets, seed=settings.seed)
        rows = core.rows | solved(core, values, comparisons.items.tolist())
        exact = {
            place: rows[item]
            for place, item in enumerate(comparisons.items.tolist())
            if item in rows
        }
        return core, _renamed(exact, comparisons, direct)

    def _expected(
        self,
        direct: Evidence,
        comparisons: Comparisons,
        belief: SimilarBelief | None,
        exact: dict[int, Floats],
        founders: dict[int, int],
        levels: int | None,
    ) -> tuple[Expected, Floats]:
        """The prior of the compared items' rows, and a start for their fit."""
        m, k = len(comparisons.items), self.k
        rows, variance = np.full((m, k), 1.0 / k), np.full(m, (k - 1.0) / k**2)
        if belief is not None and belief.stack is not None:
            rows = belief.held_out(comparisons.items)
            variance = np.full(m, _variance(comparisons, rows, levels))
        if belief is not None:
            start = belief.compared.U.copy()
        else:
            beside = rows_beside(comparisons, founders, k)
            start = np.where(np.isnan(beside), rows, beside)
            rows[list(founders)] = start[list(founders)]
        # Direct answers, and rows that follow exactly, are almost certain.
        _, here, there = np.intersect1d(comparisons.items, direct.items, return_indices=True)
        keep_answers(rows, here, direct.values[there])
        variance[here] = np.maximum(variance[here] * direct.left[there], 1e-6)
        for place, row in exact.items():
            rows[place], variance[place] = row, 1e-10
        certain = np.union1d(here, list(exact)).astype(np.intp)
        start[certain] = rows[certain]
        return Expected(rows=rows, variance=variance), start

    def _founders(self, comparisons: Comparisons, direct: Evidence) -> list[dict[int, int]]:
        """The group of each founder, by place; the most probable set first."""
        _, here, there = np.intersect1d(comparisons.items, direct.items, return_indices=True)
        rows = np.nan_to_num(direct.values[there])
        named = {
            int(place): int(row.argmax())
            for place, row in zip(here, rows, strict=True)
            if row.max(initial=0.0) > 0.5
        }
        if self.settings.ask == "relative":  # no answer says that two items are unlike
            founders = founders_by_sides(comparisons, self.k)
            if len(founders) == self.k and not named:
                return [founders]
            ensemble, _ = self._models_for(direct)
            typical = ensemble.pool.rows[ensemble.pool.typical].tolist()
            places = {item: place for place, item in enumerate(comparisons.items.tolist())}
            alike = of_one_kind(comparisons, self.k)
            for group, item in enumerate(typical):
                place = places.get(item)
                if place is not None and not any(in_order(place, n) in alike for n in named):
                    named.setdefault(place, group)
            return [named]
        return founders_of(comparisons, self.k, named)

    def _rank(self, belief: Belief) -> Ranking:
        """The ranking of comparisons that follows from a belief."""
        return SimilarRanking(belief, self.settings)

    def is_spent(self, ranking: Ranking) -> bool:
        """Whether to learn before the next milestone, since all wanted questions are answered."""
        return all(question in self._questions for question in ranking.wanted)


def _is_crowd(belief: SimilarBelief) -> bool:
    """Whether several annotators contradict each other more often than slips explain."""
    comparisons = belief.compared.comparisons
    if len(comparisons.annotators) < _CROWD or comparisons.is_soft:
        return False
    off = comparisons.pair_residuals(belief.compared.U)
    return n_wrong(off) > _CONTRADICTED * len(off)


def _one_more_explains(compared: Compared) -> bool:
    """Whether rows of a further cluster leave far fewer similarities unexplained."""
    m, k = compared.U.shape
    start = np.column_stack([0.7 * compared.U, np.full(m, 0.3)])
    even = Expected(rows=np.full((m, k + 1), 1.0 / (k + 1)), variance=np.ones(m))
    more, _ = fit_rows(compared.comparisons, even, start, levels=None, noise=0.01)
    left, left_now = (
        np.linalg.norm(compared.comparisons.pair_residuals(U)) for U in (more, compared.U)
    )
    return bool(left < _BETTER * left_now)


def _variance(comparisons: Comparisons, rows: Floats, levels: int | None) -> float:
    """The variance of an entry around the predictions of models, estimated by similarities."""
    if not len(comparisons.pairs):
        return _WEAK
    off = np.square(comparisons.pair_residuals(rows))
    mse = float(np.mean(np.minimum(off, 0.25))) - comparisons.rounding(levels) ** 2
    norm = float(np.square(rows[comparisons.pairs[:, 0]]).sum(axis=1).mean())
    return float(np.clip(mse / (2.0 * norm), _LEAST, 0.2))


def _renamed(
    exact: dict[int, Floats], comparisons: Comparisons, direct: Evidence
) -> dict[int, Floats]:
    """Exact rows with their clusters in the order of direct answers."""
    _, here, there = np.intersect1d(comparisons.items, direct.items, return_indices=True)
    both = [(int(p), int(t)) for p, t in zip(here, there, strict=True) if int(p) in exact]
    if not both:
        return exact
    rows = np.array([exact[place] for place, _ in both])
    order = name_clusters(rows, direct.values[[t for _, t in both]])
    return {place: row[order] for place, row in exact.items()}


def _joined(
    direct: Evidence, compared: Compared, known: Floats, exact: dict[int, Floats]
) -> Evidence:
    """The evidence of all answers on memberships."""
    values = np.where(known >= _KNOWN, compared.U, np.nan)
    queried = compared.queried.copy()
    certain = np.zeros(len(values), dtype=bool)
    certain[[*exact, *(places[0] for places in compared.anchors if places)]] = True
    values[certain], queried[certain] = compared.U[certain], True
    for place, row in exact.items():
        values[place] = row
    # An entry that nobody was asked for, where all others are nothing, is only likely.
    nothing = np.where(queried, np.nan_to_num(values), 0.0).sum(axis=1) <= UNASSIGNED_SUM
    values[~queried & nothing[:, None]] = np.nan
    values[compared.unlike & ~certain] = 0.0
    _, here, there = np.intersect1d(compared.items, direct.items, return_indices=True)
    values[here] = np.where(np.isnan(direct.values[there]), values[here], direct.values[there])
    queried[here] |= direct.queried[there]
    alone = np.flatnonzero(~np.isin(direct.items, compared.items))
    values = np.vstack([values, direct.values[alone]])
    queried = np.vstack([queried, direct.queried[alone]])
    rows, cluster = np.nonzero(~np.isnan(values))
    return replace(
        direct,
        items=np.concatenate([compared.items, direct.items[alone]]),
        values=values,
        queried=queried,
        times=queried.astype(np.intp),
        place=rows,
        cluster=cluster,
        value=values[rows, cluster],
        cut_off=np.empty(0, dtype=np.intp),
    )
