"""Membership questions answered through similarity questions: a plan made of a plan.

First come all pairs and a few triplets of a pool of items, which determine its memberships
(recovery.py). From then on an item's row costs a few pairs with anchors from the pool. The pool
fixes the numbers of the clusters: similarities do not name clusters (paper note N10).
"""

import math
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from askmeans._util.arrays import Floats, Rows
from askmeans._util.checks import check_choice, check_number
from askmeans.exceptions import ParameterError, StopAsking
from askmeans.paper.geometry import (
    extreme_rows,
    robust_simplex_least_squares,
    simplex_least_squares,
)
from askmeans.paper.jennrich import ThreeSets
from askmeans.paper.known import Similarities
from askmeans.paper.plan import Asking, Plan, run_inside
from askmeans.paper.pool import (
    SMALLEST,
    Pool,
    Route,
    check_budget,
    fewest_items,
    least_questions,
    pool_sizes,
)
from askmeans.queries import MembershipQueries, Queries
from askmeans.queries.values import rounding_noise
from askmeans.results import Clustering

# Heuristic; benchmarks/similarity.py measures the effect.
_NOISY_ANCHORS = 2  # per cluster, with noisy answers; one with exact ones
_WORSE = 10.0  # times the condition of all anchors: the rest of them must separate clusters


def by_similarity(
    plan: Plan,
    n_items: int,
    n_clusters: int,
    *,
    rng: np.random.Generator,
    route: Route = "triplet",
    noisy: bool | None = None,
    levels: int | None = None,
    pool_size: int | None = None,
    budget: int | None = None,
    similar: Similarities | None = None,
) -> Plan:
    """Answer a plan's membership questions through similarities.

    Parameters
    ----------
    plan : generator
        A plan that asks about memberships.
    n_items : int
        Number of items.
    n_clusters : int
        Number of clusters, at least 2.
    rng : numpy.random.Generator
        The pool's randomness.
    route : {"triplet", "pairwise", "jennrich"}, default="triplet"
        Whether triplets are asked; pairs alone are exact for two clusters, and approximate for more
        if nearly pure items exist. "jennrich" is the paper's own: it asks (2 k)^3 triplets instead
        of the pool's pairs, and is less robust to noise.
    noisy : bool or None, default=None
        Whether answers are noisy or on a coarse scale, which takes more questions. None detects it
        from the answers to the first pairs, or from `levels`.
    levels : int or None, default=None
        Number of points of the answers' scale, which determines their noise.
    pool_size : int or None, default=None
        Number of items all of whose pairs are asked first; None for six per cluster (eight with
        noisy answers), up to ten if necessary. Not for "jennrich".
    budget : int or None, default=None
        Number of questions, to which the pool is fitted.
    similar : Similarities or None, default=None
        Known similarities, which are not asked again; their items come first.

    Returns
    -------
    generator
        A plan that asks about pairs and triplets.

    Raises
    ------
    ParameterError
        If a parameter breaks its rule, or there are too few items to compare.
    BudgetError
        If the budget is too small for the smallest pool.
    RankError
        From the plan, if the answers do not determine so many clusters.

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
    owner = "by_similarity"
    check_choice(route, ("triplet", "pairwise", "jennrich"), "route", owner)
    check_number(n_clusters, "n_clusters", owner, integer=True, minimum=2)
    fewest = 6 * n_clusters if route == "jennrich" else fewest_items(n_clusters)
    if n_items < fewest:
        raise ParameterError(
            f"The 'n_items' parameter of {owner} must be at least {fewest}, for {n_clusters} "
            f"clusters. Got {n_items} instead; ask for fewer clusters, or about memberships."
        )
    for value, name, minimum in ((pool_size, "pool_size", fewest), (levels, "levels", 2)):
        if value is not None:
            check_number(value, name, owner, integer=True, minimum=minimum)
    similar = Similarities() if similar is None else similar
    compared = similar.items
    if budget is not None:  # known pairs of the pool's first items count
        budget -= similar.counts.total() - similar.count(compared[: SMALLEST * n_clusters])
    check_budget(budget, least_questions(n_clusters, route), n_clusters)
    pool: Pool | ThreeSets
    if route == "jennrich":
        pool = ThreeSets(similar, n_clusters, rng, noisy=noisy)
    else:
        triplets = route == "triplet" and n_clusters > 2
        sizes = {
            how: pool_sizes(n_items, n_clusters, triplets, how, pool_size, budget)
            for how in (False, True)
        }
        noisy = True if levels is not None else noisy
        sigma = rounding_noise(levels)
        pool = Pool(similar, n_clusters, sizes, rng, noisy=noisy, sigma=sigma)
    # Drawn before the plan draws: with another number of clusters the same items are compared.
    order = rng.permutation(n_items)
    order = np.concatenate([compared, order[~np.isin(order, compared)]]).astype(np.intp)
    return drive(plan, _Pooled(order, n_clusters, pool, similar))


class Translator(Protocol):
    """Answers membership questions by other questions."""

    similar: Similarities

    def answer(self, queries: MembershipQueries) -> Asking[Floats]:
        """Return these memberships, after asking as necessary."""
        ...

    def translated(self, queries: MembershipQueries) -> Floats:
        """Return the known ones of these memberships, NaN for others."""
        ...

    @property
    def diagnostics(self) -> dict[str, Any]:
        """Numbers of questions, and the quality of the answers."""
        ...


def drive(plan: Plan, translator: Translator) -> Asking[Clustering]:
    """Run the inner plan; the outer one asks similarity questions only."""

    def ask(queries: Queries) -> Asking[Floats]:
        if not isinstance(queries, MembershipQueries):
            return (yield queries)
        try:
            return (yield from translator.answer(queries))
        except StopAsking as stop:
            raise StopAsking(translator.translated(queries)) from stop

    clustering = yield from run_inside(plan, ask)
    notes = (*clustering.diagnostics.notes, *translator.similar.notes)
    diagnostics = replace(clustering.diagnostics, similarity=translator.diagnostics, notes=notes)
    return replace(clustering, diagnostics=diagnostics)


class _Pooled:
    """The pool, its memberships, and the rows that follow from it."""

    def __init__(
        self,
        order: Rows,
        n_clusters: int,
        pool: Pool | ThreeSets,
        similar: Similarities,
    ) -> None:
        self.order = order
        self.k = n_clusters
        self.pool = pool
        self.similar = similar
        self.rows: dict[int, Floats] = {}
        self.anchors: Rows | None = None
        self.unknown: set[int] = set()

    @property
    def diagnostics(self) -> dict[str, Any]:
        """Numbers of questions, and the quality of the rows."""
        account = dict(self.similar.counts) | self.pool.diagnostics
        if self.anchors is not None:
            design = np.array([self.rows[anchor] for anchor in self.anchors.tolist()])
            account["anchor_condition"] = float(np.linalg.cond(design))
            # The expected error of a row, if answers are as noisy as the pool's.
            trace = float(np.trace(np.linalg.pinv(design.T @ design)))
            noise = account.get("sigma", 0.0) * math.sqrt(trace / self.k)
            account["predicted_rmse"] = math.hypot(noise, account.get("spread", 0.0))
        return account | ({"unknown_rows": len(self.unknown)} if self.unknown else {})

    def answer(self, queries: MembershipQueries) -> Asking[Floats]:
        """Return these memberships, after asking as necessary."""
        items = np.unique(queries.items)
        if self.anchors is None:
            yield from self._bootstrap(items)
        if any(item not in self.rows for item in items.tolist()):
            yield from self._ask_rows(items)
        return self.translated(queries)

    def translated(self, queries: MembershipQueries) -> Floats:
        """Return the known ones of these memberships, NaN for others."""
        nothing = np.full(self.k, np.nan)
        rows = [self.rows.get(item, nothing) for item in queries.items.tolist()]
        return np.array(rows).reshape(-1, self.k)[np.arange(len(queries)), queries.clusters]

    def _bootstrap(self, wanted: Rows) -> Asking[None]:
        """Determine the memberships of a pool, these items first, and choose anchors from it."""
        first = np.isin(self.order, wanted)
        queue = np.concatenate([self.order[first], self.order[~first]])
        try:
            yield from self.pool.ask(queue)
        finally:  # a stop, too: rows that follow count
            F = self.pool.memberships
            if F is not None:
                self.rows.update(zip(self.pool.items.tolist(), F, strict=True))
                n_anchors = self.k * (_NOISY_ANCHORS if self.pool.noisy else 1)
                self.anchors = self.pool.items[extreme_rows(F, n_anchors)]

    def _ask_rows(self, items: Rows) -> Asking[None]:
        """Rows of items from pairs with the anchors; more anchors for pairs without an answer."""
        assert self.anchors is not None
        known = np.array(list(self.rows))
        more = extreme_rows(np.array(list(self.rows.values())), 4 * self.k)
        for anchors in (self.anchors, known[more]):
            missing = np.array([item for item in items.tolist() if item not in self.rows])
            if not len(missing):
                return
            pairs = np.array([(item, anchor) for item in missing for anchor in anchors])
            try:
                yield from self.similar.ask(pairs[pairs[:, 0] != pairs[:, 1]], "row_pairs")
            finally:  # a stop, too: rows that are complete count
                self._solve_rows(missing, anchors)
        self.unknown.update(item for item in items.tolist() if item not in self.rows)

    def _solve_rows(self, items: Rows, anchors: Rows) -> None:
        """Rows of the items that were compared with enough anchors to separate all clusters."""
        solved = {item: self._solved(item, anchors) for item in items.tolist()}
        self.rows.update({item: row for item, row in solved.items() if row is not None})

    def _solved(self, item: int, anchors: Rows) -> Floats | None:
        """The row of an item from its pairs with the anchors; None where these are too few."""
        limit = _WORSE * np.linalg.cond([self.rows[anchor] for anchor in anchors.tolist()])
        others = anchors.tolist()
        design = np.array([self.rows[other] for other in others])
        target = np.array([self.similar(item, other) for other in others])
        known = ~np.isnan(target)
        if known.sum() < self.k or not (known.all() or np.linalg.cond(design[known]) <= limit):
            return None
        solve = robust_simplex_least_squares if self.pool.noisy else simplex_least_squares
        return solve(design[known], target[known])
