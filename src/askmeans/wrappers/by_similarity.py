"""Membership questions turned into similarity questions: a plan out of a plan.

First a pool of items is asked about, all pairs and a few triplets, until their memberships follow
(recovery.py). From then on an item's whole row costs a few pairs with anchors from the pool. The
clusters' numbers are fixed once, by the pool: similarities do not name clusters (paper note N10).
"""

import math
from collections.abc import Generator
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from askmeans.checks import check_choice
from askmeans.exceptions import BudgetError, PlanError, StopAsking
from askmeans.plans.answers import Asking, Plan
from askmeans.queries import MembershipQueries, Queries
from askmeans.results import Clustering
from askmeans.wrappers.geometry import extreme_rows, simplex_least_squares
from askmeans.wrappers.jennrich import ThreeSets
from askmeans.wrappers.pool import Pool, PoolSizes
from askmeans.wrappers.similarities import Similarities

__all__ = ["Route", "by_similarity", "least_questions"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Route = Literal["triplet", "pairwise", "jennrich"]

_SMALLEST, _USUAL, _ROUGH, _LARGEST = 3, 6, 8, 10  # items a cluster in a pool
_ROUGH_ANCHORS = 2  # a cluster, where answers are rough; one where they are exact


def by_similarity(
    plan: Plan,
    n_items: int,
    n_clusters: int,
    *,
    rng: np.random.Generator,
    route: Route = "triplet",
    rough: bool = False,
    pool_size: int | None = None,
    budget: int | None = None,
) -> Plan:
    """Let a plan's membership questions be answered through similarities.

    Parameters
    ----------
    plan : generator
        A plan that asks about memberships.
    n_items : int
        Number of items.
    n_clusters : int
        Number of clusters, at least 2.
    rng : numpy.random.Generator
        Where the pool's randomness comes from.
    route : {"triplet", "pairwise", "jennrich"}, default="triplet"
        Whether triplets may be asked; pairs alone are exact for two clusters, and near for more
        when nearly pure items exist. "jennrich" is the paper's own: it asks (2 k)^3 triplets in
        place of the pool's pairs, and bears noise worse.
    rough : bool, default=False
        Whether answers are noisy or on a coarse scale: more anchors and triplets are asked then.
    pool_size : int or None, default=None
        Items all of whose pairs are asked first; None for six a cluster (eight where answers are
        rough), to ten if need be. Not for "jennrich".
    budget : int or None, default=None
        Questions there will be, to which the pool is fitted.

    Returns
    -------
    generator
        A plan that asks about pairs and triplets.

    Raises
    ------
    BudgetError
        If the budget is too small for the smallest pool.
    RankError
        From the plan, if the answers do not tell so many clusters apart.

    Examples
    --------
    >>> from askmeans import TwoPhase, oracles, run
    >>> U = np.random.default_rng(0).dirichlet([1.0, 1.0, 1.0], size=60)
    >>> X = U[:, :2]
    >>> rng = np.random.default_rng(0)
    >>> plan = TwoPhase(sample_size=20).plan(X, 3, fuzzifier=2.0, rng=rng)
    >>> result = run(by_similarity(plan, 60, 3, rng=rng), oracles.TableOracle(U))
    >>> sorted({answer.kind for answer in result.history})
    ['pair', 'triplet']
    """
    check_choice(route, ("triplet", "pairwise", "jennrich"), "route", "by_similarity")
    least = least_questions(n_clusters, route)
    if budget is not None and budget < least:
        raise BudgetError(
            f"The 'budget' parameter must be at least {least} for similarity questions with "
            f"{n_clusters} clusters. Got {budget} instead."
        )
    similar = Similarities()
    pool: Pool | ThreeSets
    if route == "jennrich":
        pool = ThreeSets(similar, n_clusters, rng)
    else:
        with_triplets = route == "triplet" and n_clusters > 2
        sizes = _pool_sizes(n_items, n_clusters, with_triplets, rough, pool_size, budget)
        pool = Pool(similar, n_clusters, sizes, rng)
    # Drawn before the plan draws anything: another number of clusters then compares the same items.
    order = rng.permutation(n_items)
    translator = _Translator(order, n_clusters, pool, similar, rough=rough)
    return _drive(plan, translator)


def least_questions(n_clusters: int, route: Route = "triplet") -> int:
    """Questions of the smallest pool, three items a cluster.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    route : {"triplet", "pairwise", "jennrich"}, default="triplet"
        How memberships are found (see `by_similarity`).

    Returns
    -------
    int
        Pairs and triplets.

    Examples
    --------
    >>> least_questions(3)  # 36 pairs and 20 triplets
    56
    """
    if route == "jennrich":
        return (2 * n_clusters) ** 3
    triplets = 0 if n_clusters == 2 or route == "pairwise" else math.comb(2 * n_clusters, 3)
    return math.comb(_SMALLEST * n_clusters, 2) + triplets


def _pool_sizes(
    n_items: int,
    k: int,
    with_triplets: bool,
    rough: bool,
    pool_size: int | None,
    budget: int | None,
) -> PoolSizes:
    """A pool of which the first pairs take at most half of the budget, and all leave the triplets.

    More triplets are asked of rough answers, if they can be paid.
    """
    corners = 2 * k if with_triplets else 0
    first = pool_size or (_ROUGH if rough else _USUAL) * k
    largest = max(first, _LARGEST * k)
    if budget is not None:
        most = min(budget / 2, budget - math.comb(corners, 3))
        while pool_size is None and first > _SMALLEST * k and math.comb(first, 2) > most:
            first -= 1
    if with_triplets and rough:
        paid = budget is None or math.comb(first, 2) + math.comb(3 * k, 3) <= budget
        corners = 3 * k if paid else corners
    if budget is not None:
        while largest > first and math.comb(largest, 2) + math.comb(corners, 3) > budget:
            largest -= 1
    return PoolSizes(first=min(n_items, first), largest=min(n_items, largest), corners=corners)


def _drive(plan: Plan, translator: "_Translator") -> Generator[Queries, Floats, Clustering]:
    """Feed the inner plan; the outer one sees similarity questions only."""
    try:
        queries = next(plan)
        while True:
            if isinstance(queries, MembershipQueries):
                try:
                    answers = yield from translator.answer(queries)
                except StopAsking:
                    plan.throw(StopAsking(translator.look_up(queries)))
                    raise PlanError(
                        "A plan must return when StopAsking is thrown into it. "
                        "Got more questions instead."
                    ) from None
            else:
                answers = yield queries
            queries = plan.send(answers)
    except StopIteration as end:
        clustering: Clustering = end.value
        diagnostics = clustering.diagnostics | {"similarity": translator.diagnostics}
        return replace(clustering, diagnostics=diagnostics)
    finally:
        plan.close()


class _Translator:
    """The pool, its memberships, and the rows found through it."""

    def __init__(
        self,
        order: Rows,
        n_clusters: int,
        pool: Pool | ThreeSets,
        similar: Similarities,
        *,
        rough: bool,
    ) -> None:
        self.order = order
        self.k = n_clusters
        self.pool = pool
        self.similar = similar
        self.n_anchors = n_clusters * (_ROUGH_ANCHORS if rough else 1)
        self.rows: dict[int, Floats] = {}
        self.anchors: Rows | None = None
        self.unknown = 0

    @property
    def diagnostics(self) -> dict[str, Any]:
        """What was asked, and how sure the rows are."""
        account = dict(self.similar.asked) | self.pool.diagnostics
        if self.anchors is not None:
            design = np.array([self.rows[anchor] for anchor in self.anchors.tolist()])
            account["anchor_condition"] = float(np.linalg.cond(design))
            # The error of a row to expect from answers as rough as the pool's.
            spread = float(np.trace(np.linalg.pinv(design.T @ design)))
            account["predicted_rmse"] = account.get("sigma", 0.0) * math.sqrt(spread / self.k)
        return account | ({"unknown_rows": self.unknown} if self.unknown else {})

    def answer(self, queries: MembershipQueries) -> Asking[Floats]:
        """Memberships of these items, by asking what is needed."""
        items = np.unique(queries.items)
        if self.anchors is None:
            yield from self._bootstrap(items)
        if any(item not in self.rows for item in items.tolist()):
            yield from self._ask_rows(items)
        return self.look_up(queries)

    def look_up(self, queries: MembershipQueries) -> Floats:
        """What is known of these memberships; NaN where nothing is."""
        nothing = np.full(self.k, np.nan)
        rows = [self.rows.get(item, nothing) for item in queries.items.tolist()]
        return np.array(rows).reshape(-1, self.k)[np.arange(len(queries)), queries.clusters]

    def _bootstrap(self, wanted: Rows) -> Asking[None]:
        """Find the memberships of a pool, the items wanted first, and choose anchors from it."""
        first = np.isin(self.order, wanted)
        queue = np.concatenate([self.order[first], self.order[~first]])
        try:
            yield from self.pool.ask(queue)
        finally:  # a stop, too: rows that follow count
            F = self.pool.memberships
            if F is not None:
                self.rows.update(zip(self.pool.items.tolist(), F, strict=True))
                self.anchors = self.pool.items[extreme_rows(F, self.n_anchors)]

    def _ask_rows(self, items: Rows) -> Asking[None]:
        """Whole rows of items from pairs with the anchors; more anchors where nobody could say."""
        assert self.anchors is not None
        for anchors in (self.anchors, np.array(list(self.rows))):
            missing = np.array([item for item in items.tolist() if item not in self.rows])
            if not len(missing):
                return
            anchors = anchors[: 4 * self.k]
            pairs = np.array([(item, anchor) for item in missing for anchor in anchors])
            try:
                yield from self.similar.ask(pairs[pairs[:, 0] != pairs[:, 1]], "row_pairs")
            finally:  # a stop, too: rows that are complete count
                self._solve_rows(missing, anchors)
        self.unknown += sum(item not in self.rows for item in items.tolist())

    def _solve_rows(self, items: Rows, anchors: Rows) -> None:
        """Rows of the items that were compared with enough anchors."""
        for item in items.tolist():
            told = [a for a in anchors.tolist() if not math.isnan(self.similar(item, a))]
            if len(told) >= self.k:
                design = np.array([self.rows[anchor] for anchor in told])
                target = np.array([self.similar(item, anchor) for anchor in told])
                self.rows[item] = simplex_least_squares(design, target)
