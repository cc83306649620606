"""A clustering in the making: what is known so far, and the best result it allows at any time."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import MissingClusterWarning
from askmeans.fuzzy.simplex import onto_simplex
from askmeans.items import Items, Ranking
from askmeans.links import largest_inversion, learn_link
from askmeans.plans.answers import EXACT, Answers, Asking, Roughness, keep_answers
from askmeans.plans.fitting import finish_rough, fit_draft, matched_centers
from askmeans.plans.sampling import CenterEstimate, estimate_center
from askmeans.plans.search import search_cuts
from askmeans.results import Clustering, Predictor
from askmeans.scores import Order, Scorer, fit_fuzzifier

__all__ = ["REDRAWS", "Draft", "keep_answers"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

REDRAWS = 5  # how often a sample in which a cluster is missing, or a row untold, is added to


@dataclass(frozen=True, slots=True, kw_only=True)
class Strata:
    """Which items a centre is estimated from: sizes of strata, and the items drawn of each."""

    parts: list[tuple[int, Rows]]
    with_replacement: bool


class Draft:
    """Centres, order and answers as a plan finds them; `finish` turns them into a Clustering."""

    def __init__(
        self,
        items: Items,
        n_clusters: int,
        *,
        fuzzifier: float,
        order: Order,
        faithful: bool,
        rng: np.random.Generator,
        roughness: Roughness = EXACT,
    ) -> None:
        self.items = items
        self.n_clusters = n_clusters
        self.fuzzifier = fuzzifier
        self.order: Order = "distance" if faithful else order
        self.rng = rng
        self.roughness = roughness
        self.answers = Answers(n_clusters, faithful=faithful)
        self.sample: Rows = np.empty(0, dtype=np.intp)
        self.estimates: list[CenterEstimate | None] = [None] * n_clusters
        self.strata: dict[int, Strata] = {}
        self.absent: set[int] = set()  # clusters whose answers are no more than noise
        self.scorer: Scorer | None = None
        self.ranking: Ranking | None = None
        self.cuts: Rows | None = None
        self.precision = 1.0
        self.missing = False

    def sample_rows(self, size: int, *, every_cluster: bool) -> Asking[None]:
        """Alg 1, 4 and 5, lines 1-2: draw items with replacement and ask all their memberships.

        More are drawn, a few times, for those nobody can place and, with `every_cluster`, while no
        item drawn belongs to some cluster at all (paper note N12). The draws are kept as `sample`.
        """
        clusters = np.arange(self.n_clusters)
        self.sample = self.rng.integers(self.items.n, size=size)
        memberships = yield from self.answers.ask_rows(self.sample, clusters, "sampling")
        for _ in range(REDRAWS):
            told_rows = int((~np.isnan(memberships).any(axis=1)).sum())
            absent = not (np.nansum(memberships, axis=0) > 0.0).all()
            wanted = size if absent and every_cluster else size - told_rows
            if wanted <= 0:
                break
            more = self.rng.integers(self.items.n, size=wanted)
            told = yield from self.answers.ask_rows(more, clusters, "sampling")
            self.sample = np.concatenate([self.sample, more])
            memberships = np.concatenate([memberships, told])

    def sampled(self, cluster: int) -> CenterEstimate | None:
        """Algorithm 8: a centre from what is known of the sample."""
        return self.estimate(cluster, [(self.items.n, self.sample)], with_replacement=True)

    def estimate(
        self, cluster: int, strata: list[tuple[int, Rows]], *, with_replacement: bool = False
    ) -> CenterEstimate | None:
        """A centre from what is known of items drawn from strata, each its size and the items."""
        self.strata[cluster] = Strata(parts=strata, with_replacement=with_replacement)
        return self._estimated(cluster, self.answers.look_up)

    def _estimated(
        self, cluster: int, look_up: Callable[[Rows, Rows], Floats]
    ) -> CenterEstimate | None:
        """A centre from its strata, with memberships from wherever."""
        strata = self.strata[cluster]
        told = [
            (size, self.items.take(rows), look_up(rows, np.full(len(rows), cluster)))
            for size, rows in strata.parts
        ]
        return estimate_center(
            told, self.fuzzifier, self.n_clusters, with_replacement=strata.with_replacement
        )

    @property
    def is_rough(self) -> bool:
        """Whether answers are fitted rather than taken at their word."""
        if self.answers.faithful or not len(self.answers.items):
            return False
        return self.roughness != EXACT or self.answers.differ()

    def renew_estimates(self, fitted: Floats) -> None:
        """Centres once more, weighing by fitted memberships of the items asked about."""
        places = {int(item): place for place, item in enumerate(self.answers.items)}

        def look_up(rows: Rows, clusters: Rows) -> Floats:
            where = np.array([places.get(int(row), -1) for row in rows], dtype=np.intp)
            told: Floats = np.where(where < 0, np.nan, fitted[where, clusters])
            return told

        for j, estimate in enumerate(self.estimates):
            if estimate is not None:
                self.estimates[j] = self._estimated(j, look_up) or estimate

    def rank(self) -> None:
        """Order the items for every cluster, once all centres are there (Alg 2, line 1)."""
        if self.is_rough:
            self.scorer = fit_draft(self).scorer
        else:
            self.scorer = self.scorer_for(self.centers())
        self.ranking = self.items.rank(self.scorer)

    def search(self, precision: float) -> Asking[None]:
        """Alg 1, lines 4-5: search for the memberships of every cluster, all in lockstep."""
        self.rank()
        assert self.ranking is not None
        self.precision = precision
        clusters = np.arange(self.n_clusters)
        if self.n_clusters == 2 and self.order == "relative":
            # One order is the other reversed, so one search suffices: for the larger cluster,
            # whatever its number.
            clusters = np.nansum(self.answers.values, axis=0).argmax(keepdims=True)
        self.cuts = yield from search_cuts(
            self.ranking, self.items.n, clusters, clusters, self.answers, precision, "search",
            rough=self.is_rough,
        )  # fmt: skip

    def finish(self, *, complete: bool) -> Clustering:
        """The best clustering from the answers so far, and from those held besides."""
        self.answers.take_held()
        if self.is_rough:
            return finish_rough(self, complete=complete)
        # Answers since the items were ranked may tell of a cluster that was missing then; the
        # paper's cuts keep the ranking they were found in.
        if self.ranking is None or (self.missing and not self.answers.faithful):
            self.rank()
        assert self.scorer is not None
        assert self.ranking is not None
        rows, told = self.answers.items, self.answers.values
        links = [
            learn_link(self.ranking.coordinates(j, rows), told[:, j])
            for j in range(self.n_clusters)
        ]
        if self.answers.faithful and self.cuts is not None:
            memberships = self._grid()
        else:
            memberships = self.ranking.memberships(links)
            keep_answers(memberships, rows, told)
        return Clustering(
            centers=self.scorer.centers,
            memberships=memberships,
            predictor=Predictor(scorer=self.scorer, links=tuple(links)),
            complete=complete and not self.missing,
            diagnostics=self.diagnostics(memberships, self.inversion(self.ranking)),
        )

    def inversion(self, ranking: Ranking) -> float:
        """The most by which answers contradict the order."""
        rows, told = self.answers.items, self.answers.values
        return max(
            largest_inversion(ranking.ranks(j, rows), told[:, j]) for j in range(self.n_clusters)
        )

    def _grid(self) -> Floats:
        """Alg 2, lines 5-9, with the lower end of each cell, and Alg 1, line 6, after the loop."""
        assert self.cuts is not None
        assert self.ranking is not None
        memberships = np.empty((self.items.n, self.n_clusters))
        for j, cuts in enumerate(self.cuts):
            memberships[:, j] = self.ranking.levels(j, cuts) * self.precision
        return onto_simplex(memberships)

    def centers(self, fitted: Floats | None = None) -> Floats:
        """Centres found; those not found yet from all answers, or as clustering by itself says.

        `fitted` has memberships of the items asked about, in place of the answers.
        """
        known = self.estimates
        if any(estimate is None for estimate in known) and len(self.answers.items):
            points = self.items.take(self.answers.items)
            told = self.answers.values if fitted is None else fitted
            known = [
                estimate
                or estimate_center(
                    [(self.items.n, points, told[:, j])], self.fuzzifier, self.n_clusters
                )
                for j, estimate in enumerate(known)
            ]
        lost = [j for j, one in enumerate(known) if one is None or j in self.absent]
        found = {j: estimate.center for j, estimate in enumerate(known) if estimate is not None}
        if lost:
            found |= self._guesses(lost)
        return np.array([found[j] for j in range(self.n_clusters)])

    def _guesses(self, lost: list[int]) -> dict[int, Floats]:
        """Centres of an unsupervised fit for clusters of which no answer tells anything."""
        if not self.missing:
            warnings.warn(
                f"No item that was asked about belongs to cluster {', '.join(map(str, lost))}, so "
                "centres there are those of an unsupervised fit. Ask more (a larger sample or "
                "budget).",
                MissingClusterWarning,
                stacklevel=4,
            )
        self.missing = True
        free = matched_centers(self)
        return {j: free[j] for j in lost}

    def scorer_for(self, centers: Floats, told: Floats | None = None) -> Scorer:
        """Scores in the draft's order; their fuzzifier is fitted to the answers (paper note N1)."""
        fuzzifier = self.fuzzifier
        if self.order == "relative" and fuzzifier > 1.0 and len(self.answers.items):
            points = self.items.take(self.answers.items)
            fuzzifier = fit_fuzzifier(
                points, centers, self.answers.values if told is None else told
            )
        return Scorer(centers=centers, order=self.order, fuzzifier=fuzzifier)

    def diagnostics(self, memberships: Floats, inversion: float) -> dict[str, Any]:
        """How sure the result is; the keys are documented for users."""
        assert self.scorer is not None
        estimates = self.estimates
        return {
            "beta": float(self.n_clusters * memberships.mean(axis=0).min()),
            "rho": float((memberships**self.fuzzifier).mean(axis=0).min()),
            "largest_inversion": inversion,
            "score_fuzzifier": self.scorer.fuzzifier if self.order == "relative" else None,
            "effective_sample_size": [e.effective_size if e else 0.0 for e in estimates],
            "center_radius": [e.radius if e else float("inf") for e in estimates],
            "queries_raw": dict(self.answers.raw),
            "queries_distinct": dict(self.answers.distinct),
            "rounds": dict(self.answers.rounds),
        }
