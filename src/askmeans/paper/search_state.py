"""The state of a plan's search, and the best clustering from it at any time."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from askmeans._util.arrays import Floats, Rows
from askmeans.exceptions import MissingClusterWarning
from askmeans.fuzzy.arrays import keep_answers, mean_power, onto_simplex
from askmeans.fuzzy.items import ItemSet, Ranking
from askmeans.fuzzy.model import closed_form_memberships
from askmeans.fuzzy.scores import Order, Scorer, fit_fuzzifier, largest_inversion, learn_link
from askmeans.paper.known import KnownMemberships
from askmeans.paper.plan import Asking
from askmeans.paper.sampling import CenterEstimate, estimate_center
from askmeans.paper.search import search_cuts
from askmeans.results import Clustering, Diagnostics, Predictor, warn

REDRAWS = 5  # times that a sample is enlarged if it misses a cluster, or answers


class SearchState:
    """The state shared by the paper's algorithms: answers, centre estimates and ranking.

    A plan calls `sample_rows`, `rank` or `search`, and ends with `finish`.
    """

    def __init__(
        self,
        items: ItemSet,
        n_clusters: int,
        *,
        fuzzifier: float,
        order: Order,
        faithful: bool,
        rng: np.random.Generator,
    ) -> None:
        self.items = items
        self.n_clusters = n_clusters
        self.fuzzifier = fuzzifier
        self.order: Order = "distance" if faithful else order
        self.rng = rng
        self.known = KnownMemberships(n_clusters, faithful=faithful)
        self.sample: Rows = np.empty(0, dtype=np.intp)
        self.estimates: list[CenterEstimate | None] = [None] * n_clusters
        self.scorer: Scorer | None = None
        self.ranking: Ranking | None = None
        self.cuts: Rows | None = None
        self.precision = 1.0
        self.missing = False
        self.notes: list[str] = []

    def sample_rows(self, size: int, *, every_cluster: bool) -> Asking[None]:
        """Alg 1, 4 and 5, lines 1-2: draw items with replacement and ask all their memberships.

        More are drawn, a few times, for those without an answer and, with `every_cluster`, while no
        drawn item belongs to some cluster (paper note N12). The draws are kept as `sample`.
        """
        clusters = np.arange(self.n_clusters)
        self.sample = self.rng.integers(self.items.n, size=size)
        memberships = yield from self.known.ask_rows(self.sample, clusters, "sampling")
        for _ in range(REDRAWS):
            n_complete = int((~np.isnan(memberships).any(axis=1)).sum())
            absent = not (np.nansum(memberships, axis=0) > 0.0).all()
            wanted = size if absent and every_cluster else size - n_complete
            if wanted <= 0:
                break
            more = self.rng.integers(self.items.n, size=wanted)
            rows = yield from self.known.ask_rows(more, clusters, "sampling")
            self.sample = np.concatenate([self.sample, more])
            memberships = np.concatenate([memberships, rows])

    def estimate_from_sample(self, cluster: int) -> CenterEstimate | None:
        """Algorithm 8: a centre from the answers about the sample."""
        return self.estimate(cluster, [(self.items.n, self.sample)], with_replacement=True)

    def estimate(
        self, cluster: int, strata: list[tuple[int, Rows]], *, with_replacement: bool = False
    ) -> CenterEstimate | None:
        """A centre from the answers about items of strata, each a size and the drawn items."""
        samples = [
            (size, self.items.take(rows), self.known.look_up(rows, np.full(len(rows), cluster)))
            for size, rows in strata
        ]
        return estimate_center(
            samples, self.fuzzifier, self.n_clusters, with_replacement=with_replacement
        )

    def rank(self) -> None:
        """Order the items for every cluster, once all centres are known (Alg 2, line 1)."""
        self.scorer = self._scorer(self.centers())
        self.ranking = self.items.rank(self.scorer)

    def search(self, precision: float) -> Asking[None]:
        """Alg 1, lines 4-5: search for the memberships of every cluster, all in lockstep."""
        self.rank()
        assert self.ranking is not None
        self.precision = precision
        clusters = np.arange(self.n_clusters)
        if self.n_clusters == 2 and self.order == "relative":
            # One order is the reverse of the other, so one search suffices: for the larger
            # cluster, whatever its number.
            clusters = np.nansum(self.known.values, axis=0).argmax(keepdims=True)
        self.cuts = yield from search_cuts(
            self.ranking, clusters, clusters, self.known, precision, "search"
        )

    def finish(self, *, complete: bool) -> Clustering:
        """The best clustering from the answers so far."""
        # Answers since the ranking may be about a cluster that was missing then; the paper's cuts
        # keep the ranking in which they were searched.
        if self.ranking is None or (self.missing and not self.known.faithful):
            self.rank()
        assert self.scorer is not None
        assert self.ranking is not None
        rows, answers = self.known.items, self.known.values
        links = [
            learn_link(self.ranking.coordinates(j, rows), answers[:, j])
            for j in range(self.n_clusters)
        ]
        if self.known.faithful and self.cuts is not None:
            memberships = self._cell_memberships()
        else:
            memberships = self.ranking.memberships(links)
            keep_answers(memberships, rows, answers)
        return Clustering(
            centers=self.scorer.centers,
            memberships=memberships,
            predictor=Predictor(scorer=self.scorer, links=tuple(links)),
            complete=complete and not self.missing,
            diagnostics=self._diagnostics(memberships, self._inversion()),
        )

    def _inversion(self) -> float:
        """The largest difference by which answers contradict the order."""
        assert self.ranking is not None
        rows, answers = self.known.items, self.known.values
        return max(
            largest_inversion(self.ranking.ranks(j, rows), answers[:, j])
            for j in range(self.n_clusters)
        )

    def _cell_memberships(self) -> Floats:
        """Alg 2, lines 5-9, with the lower end of each cell, and Alg 1, line 6, after the loop."""
        assert self.cuts is not None
        assert self.ranking is not None
        memberships = np.empty((self.items.n, self.n_clusters))
        for j, cuts in enumerate(self.cuts):
            memberships[:, j] = self.ranking.levels(j, cuts) * self.precision
        return onto_simplex(memberships)

    def centers(self) -> Floats:
        """Estimated centres; missing ones from all answers, or from an unsupervised fit."""
        estimates = self.estimates
        if any(one is None for one in estimates) and len(self.known.items):
            points, answers = self.items.take(self.known.items), self.known.values
            estimates = [
                one
                or estimate_center(
                    [(self.items.n, points, answers[:, j])], self.fuzzifier, self.n_clusters
                )
                for j, one in enumerate(estimates)
            ]
        missing = [j for j, one in enumerate(estimates) if one is None]
        centers = {j: one.center for j, one in enumerate(estimates) if one is not None}
        if missing:
            centers |= self._unsupervised(missing)
        return np.array([centers[j] for j in range(self.n_clusters)])

    def _unsupervised(self, clusters: list[int]) -> dict[int, Floats]:
        """Centres of an unsupervised fit for clusters without answers."""
        if not self.missing:
            warn(
                MissingClusterWarning(
                    "No item that was asked about belongs to {clusters}, so centres there are "
                    "those of an unsupervised fit. Ask more (a larger sample or budget).",
                    tuple(clusters),
                ),
                MissingClusterWarning,
                self.notes,
            )
        self.missing = True
        unsupervised = self._matched_centers()
        return {j: unsupervised[j] for j in clusters}

    def _matched_centers(self) -> Floats:
        """Centres of an unsupervised fit, in the order that agrees best with the answers."""
        k = self.n_clusters
        centers = self.items.unsupervised_centers(k, self.fuzzifier, self.rng)
        rows, answers = self.known.items, self.known.values
        agreement = np.zeros((k, k))
        if len(rows):
            U = closed_form_memberships(self.items.take(rows), centers, max(self.fuzzifier, 1.05))
            agreement = np.nan_to_num(answers).T @ U
        return centers[linear_sum_assignment(agreement, maximize=True)[1]]

    def _scorer(self, centers: Floats) -> Scorer:
        """Scores in the plan's order; their fuzzifier is fitted to the answers (paper note N1)."""
        fuzzifier = self.fuzzifier
        if self.order == "relative" and fuzzifier > 1.0 and len(self.known.items):
            points = self.items.take(self.known.items)
            fuzzifier = fit_fuzzifier(points, centers, self.known.values)
        return Scorer(centers=centers, order=self.order, fuzzifier=fuzzifier)

    def _diagnostics(self, memberships: Floats, inversion: float) -> Diagnostics:
        """The diagnostics of the result."""
        assert self.scorer is not None
        estimates = self.estimates
        return Diagnostics(
            beta=float(self.n_clusters * mean_power(memberships, 1.0).min()),
            rho=float(mean_power(memberships, self.fuzzifier).min()),
            notes=tuple(self.notes),
            largest_inversion=inversion,
            score_fuzzifier=self.scorer.fuzzifier if self.order == "relative" else None,
            effective_sample_size=[e.effective_size if e else 0.0 for e in estimates],
            center_radius=[e.radius if e else float("inf") for e in estimates],
            queries_raw=dict(self.known.raw),
            queries_distinct=dict(self.known.distinct),
            rounds=dict(self.known.rounds),
        )
