"""Membership questions turned into similarity questions: a plan out of a plan.

First a pool of items is asked about, all pairs and a few triplets, until their memberships follow
(recovery.py). From then on an item's whole row costs a few pairs with anchors from the pool. The
clusters' numbers are fixed once, by the pool: similarities do not name clusters (paper note N10).
"""

import itertools
import math
import warnings
from collections.abc import Generator
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import (
    BudgetError,
    LittleInformationWarning,
    PlanError,
    RankError,
    StopAsking,
)
from askmeans.plans.answers import Asking, Plan
from askmeans.queries import MembershipQueries, PairQueries, Queries, TripletQueries
from askmeans.results import Clustering
from askmeans.wrappers.geometry import extreme_rows, simplex_least_squares
from askmeans.wrappers.recovery import (
    embed,
    fill_gaps,
    memberships_from_corners,
    memberships_from_triplets,
    refine,
    spectrum,
    suggest_clusters,
)

__all__ = ["Route", "by_similarity", "least_questions"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Route = Literal["triplet", "pairwise"]

_LEAST_RHO, _LEAST_SNR = 0.02, 1.3  # below these the pool grows, up to ten items a cluster
_NO_RANK = 1e-6
_ROUGH_ANCHORS = 2  # a cluster, where answers are rough; one where they are exact
_EXACT = 1e-9  # residual below which answers are taken as exact


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
    route : {"triplet", "pairwise"}, default="triplet"
        Whether triplets may be asked; pairs alone are exact for two clusters, and near for more
        when nearly pure items exist.
    rough : bool, default=False
        Whether answers are noisy or on a coarse scale: more anchors and triplets are asked then.
    pool_size : int or None, default=None
        Items all of whose pairs are asked first; None for six a cluster, to ten if need be.
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
    least = least_questions(n_clusters, route)
    if budget is not None and budget < least:
        raise BudgetError(
            f"The 'budget' parameter must be at least {least} for similarity questions with "
            f"{n_clusters} clusters. Got {budget} instead."
        )
    translator = _Translator(n_items, n_clusters, route, rough, pool_size, budget, rng)
    return _drive(plan, translator)


def least_questions(n_clusters: int, route: Route = "triplet") -> int:
    """Questions of the smallest pool, three items a cluster.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    route : {"triplet", "pairwise"}, default="triplet"
        Whether triplets may be asked.

    Returns
    -------
    int
        Pairs and triplets.

    Examples
    --------
    >>> least_questions(3)  # 36 pairs and 20 triplets
    56
    """
    triplets = 0 if n_clusters == 2 or route == "pairwise" else math.comb(2 * n_clusters, 3)
    return math.comb(3 * n_clusters, 2) + triplets


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
        n_items: int,
        n_clusters: int,
        route: Route,
        rough: bool,
        pool_size: int | None,
        budget: int | None,
        rng: np.random.Generator,
    ) -> None:
        self.n_items = n_items
        self.k = n_clusters
        self.with_triplets = route == "triplet" and n_clusters > 2
        self.rough = rough
        self.rng = rng
        self.size = min(n_items, pool_size or self._pool_size(budget))
        self.n_corners = self._corners(budget)
        self.largest = min(n_items, max(self.size, 10 * n_clusters if budget is None else 0))
        self.rows: dict[int, Floats] = {}
        self.anchors: Rows | None = None
        self.similar: dict[tuple[int, int], float] = {}
        self.diagnostics: dict[str, Any] = {"bootstrap_pairs": 0, "triplets": 0, "row_pairs": 0}

    def answer(self, queries: MembershipQueries) -> Asking[Floats]:
        """Memberships of these items, by asking what is needed."""
        items = np.unique(queries.items)
        if self.anchors is None:
            yield from self._bootstrap(items)
        unknown = np.array([item for item in items.tolist() if item not in self.rows])
        if len(unknown):
            yield from self._ask_rows(unknown)
        return self.look_up(queries)

    def look_up(self, queries: MembershipQueries) -> Floats:
        """What is known of these memberships; NaN where nothing is."""
        nothing = np.full(self.k, np.nan)
        rows = [self.rows.get(item, nothing) for item in queries.items.tolist()]
        return np.array(rows).reshape(-1, self.k)[np.arange(len(queries)), queries.clusters]

    def _pool_size(self, budget: int | None) -> int:
        """Six items a cluster, fewer when they would take more than half of the budget."""
        size = 6 * self.k
        if budget is None:
            return size
        triplets = math.comb(2 * self.k, 3) if self.with_triplets else 0
        most = min(budget / 2, budget - triplets)  # the triplets must still be paid
        while size > 3 * self.k and math.comb(size, 2) > most:
            size -= 1
        return size

    def _corners(self, budget: int | None) -> int:
        """Items among which triplets are asked: more for rough answers, if they can be paid."""
        many = 3 * self.k
        paid = budget is None or math.comb(self.size, 2) + math.comb(many, 3) <= budget
        return many if self.rough and paid else 2 * self.k

    def _bootstrap(self, wanted: Rows) -> Asking[None]:
        """Ask all pairs in a pool, the items wanted first, until its memberships follow."""
        others = np.setdiff1d(np.arange(self.n_items), wanted)
        queue = np.concatenate([self.rng.permutation(wanted), self.rng.permutation(others)])
        pool, next_ = queue[: self.size], self.size
        while True:
            yield from self._ask_pairs(np.array(list(itertools.combinations(pool, 2))), "bootstrap")
            pool = self._comparable(pool)
            seen = None
            if len(pool) > 2 * self.k:
                seen = spectrum(fill_gaps(self._matrix(pool), self.k), self.k, self.rng)
            good = seen is not None and seen.rho >= _LEAST_RHO and seen.snr >= _LEAST_SNR
            if good or next_ >= self.largest:
                break
            more = queue[next_ : min(next_ + self.k, self.largest)]
            pool, next_ = np.concatenate([pool, more]), next_ + len(more)
        if seen is None:
            raise RankError(
                f"Some {2 * self.k + 1} items must be comparable with each other. Got {len(pool)}: "
                "most questions had no answer. Ask somebody who can say, or show more of the items."
            )
        if seen.rho < _NO_RANK:
            rank = int((seen.values > _NO_RANK * seen.values[0]).sum())
            raise RankError(
                f"The answers must tell {self.k} clusters apart. Got similarities of rank {rank}; "
                f"ask for {max(rank, 1)} clusters, or allow a larger budget: a small pool may miss "
                "a cluster."
            )
        if seen.snr < _LEAST_SNR:
            warnings.warn(
                f"The answers hardly tell {self.k} clusters apart (signal to noise "
                f"{seen.snr:.2f}), so the result carries little information. Ask on a finer scale, "
                "or for fewer clusters.",
                LittleInformationWarning,
                stacklevel=3,
            )
        F = yield from self._pool_memberships(pool)
        best = extreme_rows(F, (_ROUGH_ANCHORS if self.rough else 1) * self.k)
        self.anchors = pool[best]
        self.rows.update(zip(pool.tolist(), F, strict=True))
        self.diagnostics |= {
            "pool": len(pool),
            "rho": seen.rho,
            "snr": seen.snr,
            "singular_values": seen.values.tolist(),
            "suggested_clusters": suggest_clusters(seen.values),
            "anchor_condition": float(np.linalg.cond(F[best])),
            "predicted_rmse": self._predicted_rmse(F[best]),
        }

    def _predicted_rmse(self, anchors: Floats) -> float:
        """The error of a row to expect from answers as rough as the pool's."""
        spread = float(np.trace(np.linalg.pinv(anchors.T @ anchors)))
        return float(self.diagnostics["sigma"]) * math.sqrt(spread / self.k)

    def _pool_memberships(self, pool: Rows) -> Asking[Floats]:
        """Memberships of the pool, from its pairs and, where allowed, a few triplets."""
        G = self._matrix(pool)
        embedding = embed(fill_gaps(G, self.k), self.k, self.rng)
        triplets, answers = np.empty((0, 3), dtype=np.intp), np.empty(0)
        if self.with_triplets:
            corners = extreme_rows(embedding.Z, self.n_corners)
            triplets = np.array(list(itertools.combinations(corners, 3)))
            try:
                answers = yield TripletQueries(pool[triplets])
            except StopAsking as stop:
                self.diagnostics["triplets"] += int((~np.isnan(stop.answers)).sum())
                raise
            self.diagnostics["triplets"] += len(triplets)
            told = ~np.isnan(answers)
            F, score = memberships_from_triplets(embedding, triplets[told], answers[told], self.rng)
            self.diagnostics["rotation_score"] = score
            left = F[triplets[told]].prod(axis=1).sum(axis=1) - answers[told]
            self.diagnostics["triplet_rms"] = float(np.sqrt(np.square(left).mean()))
        else:
            F, ambiguity = memberships_from_corners(embedding, self.rng)
            self.diagnostics["ambiguity"] = ambiguity
            self.diagnostics["purity"] = float(F.max(axis=0).min())
        left = F @ F.T - G
        residual = float(np.sqrt(np.nanmean(np.square(left[~np.eye(len(G), dtype=bool)]))))
        if residual > _EXACT and (self.with_triplets or self.k == 2):
            F, residual = refine(F, G, triplets, answers)
        # k - 1 numbers an item are fitted to its pairs.
        n_pairs = math.comb(len(pool), 2)
        free = max(n_pairs - len(pool) * (self.k - 1), 1)
        self.diagnostics |= {
            "residual": residual,
            "sigma": residual * math.sqrt(n_pairs / free),
            "norm_gap": float(embedding.w @ embedding.w) - self.k,
        }
        return F

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
                yield from self._ask_pairs(pairs[pairs[:, 0] != pairs[:, 1]], "row")
            finally:  # a stop, too: rows that are complete count
                self._solve_rows(missing, anchors)
        if any(item not in self.rows for item in items.tolist()):
            self.diagnostics["unknown_rows"] = sum(i not in self.rows for i in items.tolist())

    def _solve_rows(self, items: Rows, anchors: Rows) -> None:
        """Rows of the items that were compared with enough anchors."""
        for item in items.tolist():
            told = [a for a in anchors.tolist() if not math.isnan(self._similarity(item, a))]
            if len(told) >= self.k:
                design = np.array([self.rows[anchor] for anchor in told])
                target = np.array([self._similarity(item, anchor) for anchor in told])
                self.rows[item] = simplex_least_squares(design, target)

    def _ask_pairs(self, pairs: Rows, part: str) -> Asking[None]:
        """Ask pairs that were not asked before, and keep the answers."""
        new = np.array([p for p in pairs.tolist() if tuple(sorted(p)) not in self.similar])
        if not len(new):
            return
        batch = PairQueries(new)
        try:
            answers = yield batch
        except StopAsking as stop:
            self._keep(batch, stop.answers)
            self.diagnostics[f"{part}_pairs"] += int((~np.isnan(stop.answers)).sum())
            raise
        self._keep(batch, answers)
        self.diagnostics[f"{part}_pairs"] += len(new)

    def _keep(self, batch: PairQueries, answers: Floats) -> None:
        """Write similarities down."""
        for (p, q), value in zip(batch.pairs.tolist(), answers.tolist(), strict=True):
            self.similar[min(p, q), max(p, q)] = value

    def _similarity(self, p: int, q: int) -> float:
        """What is known of a pair; NaN where nothing is."""
        return self.similar.get((min(p, q), max(p, q)), math.nan)

    def _matrix(self, pool: Rows) -> Floats:
        """Similarities within the pool; the diagonal cannot be asked and is 0."""
        G = np.zeros((len(pool), len(pool)))
        for a, b in itertools.combinations(range(len(pool)), 2):
            G[a, b] = G[b, a] = self._similarity(int(pool[a]), int(pool[b]))
        return G

    def _comparable(self, pool: Rows) -> Rows:
        """The pool without items of which half the comparisons are missing."""
        while len(pool) > 1:
            gaps = np.isnan(self._matrix(pool)).sum(axis=1)
            if gaps.max() <= (len(pool) - 1) / 2:
                break
            pool = np.delete(pool, gaps.argmax())
        return pool
