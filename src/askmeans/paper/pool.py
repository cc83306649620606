"""The pool: items that are compared with each other until the memberships of all follow.

Gram-first: all pairs, then triplets among a few extreme items (recovery.py has the mathematics).
After a stop the memberships follow from the answers so far, if possible.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from askmeans._util.arrays import Floats, Rows
from askmeans._util.message import Message, plural_message
from askmeans.exceptions import (
    BudgetError,
    LittleInformationWarning,
    MoreClustersWarning,
    RankError,
    StopAsking,
)
from askmeans.paper.geometry import extreme_rows, plausible_deviation
from askmeans.paper.known import Similarities, square_by_square
from askmeans.paper.plan import Asking
from askmeans.paper.recovery import (
    Embedding,
    Spectrum,
    embed,
    fill_gaps,
    isolated_items,
    memberships_from_corners,
    memberships_from_triplets,
    refine,
    spectrum,
)
from askmeans.results import warn

Route = Literal["triplet", "pairwise", "jennrich"]

# Heuristic sizes and limits; benchmarks/similarity.py measures their effect.
SMALLEST = 3  # items per cluster in a pool
_USUAL, _NOISY, _LARGEST = 6, 8, 10  # likewise: with exact answers, with noisy ones, at most
_NO_RANK = 1e-6  # a k-th singular value below this share of the first counts as 0
_LEAST_RHO, _LEAST_SNR = 0.02, 1.3  # below these the pool grows
_NOISE = 1.2  # a signal to noise below this may be none
_EXACT_SNR = 1e6  # above this the answers are exact
_EXACT = 1e-9  # residual below which they are, too
_MUCH = 0.075  # residual; a scale of five points leaves .07
_AMBIGUOUS = 0.1  # ambiguity of pairs alone, up to which there is no warning


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSizes:
    """Numbers of items: compared at first, compared at most, and in triplets."""

    first: int
    largest: int
    corners: int  # 0 without triplets


def fewest_items(k: int) -> int:
    """The smallest number of comparable items whose similarities determine k clusters."""
    return 2 * k + 2


def least_questions(n_clusters: int, route: Route = "triplet") -> int:
    """Questions of the smallest pool, three items per cluster.

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
    return math.comb(SMALLEST * n_clusters, 2) + triplets


def check_budget(budget: int | None, least: int, n_clusters: int) -> None:
    """Refuse a budget below the smallest pool."""
    if budget is not None and budget < least:
        raise BudgetError(
            f"The 'budget' parameter must be at least {least} for similarity questions with "
            f"{n_clusters} clusters, unless all answers are 0 or 1. Got {budget} instead."
        )


def pool_sizes(
    n_items: int,
    k: int,
    with_triplets: bool,
    noisy: bool,
    pool_size: int | None,
    budget: int | None,
) -> PoolSizes:
    """Sizes at which the first pairs take at most half of the budget, and triplets the rest.

    With noisy answers more triplets are asked, if the budget allows.
    """
    corners = 2 * k if with_triplets else 0
    first = pool_size or (_NOISY if noisy else _USUAL) * k
    largest = max(first, _LARGEST * k)
    if budget is not None:
        most = min(budget / 2, budget - math.comb(corners, 3))
        while pool_size is None and first > SMALLEST * k and math.comb(first, 2) > most:
            first -= 1
    if with_triplets and noisy:
        paid = budget is None or math.comb(first, 2) + math.comb(3 * k, 3) <= budget
        corners = 3 * k if paid else corners
    if budget is not None:
        while largest > first and math.comb(largest, 2) + math.comb(corners, 3) > budget:
            largest -= 1
    return PoolSizes(first=min(n_items, first), largest=min(n_items, largest), corners=corners)


class Pool:
    """Items, and their memberships once these follow from similarities.

    `noisy` states whether answers are treated as noisy; None until it is detected. `sigma` is a
    lower bound of the noise, from the scale of the answers.
    """

    def __init__(
        self,
        similar: Similarities,
        k: int,
        sizes: dict[bool, PoolSizes],
        rng: np.random.Generator,
        *,
        noisy: bool | None,
        sigma: float,
    ) -> None:
        self.similar = similar
        self.k = k
        self.noisy = noisy
        self.sigma = sigma
        self.rng = rng
        self.items: Rows = np.empty(0, dtype=np.intp)
        self.memberships: Floats | None = None
        self.diagnostics: dict[str, Any] = {}
        self._sizes = sizes

    @property
    def sizes(self) -> PoolSizes:
        """The sizes for answers of this noise."""
        return self._sizes[bool(self.noisy)]

    def ask(self, queue: Rows) -> Asking[None]:
        """Compare items, in the order of the queue, until their memberships follow."""
        try:
            seen = yield from self._compare(queue)
        except StopAsking:
            self._salvage()
            raise
        if seen is None:
            raise RankError(
                f"Some {fewest_items(self.k)} items must be comparable with each other. Got "
                f"{len(self.items)}: most questions had no answer. Ask somebody who can say, or "
                "show more of the items.",
                user_message=Message(
                    "Most of these questions had no answer, so too few items can be "
                    "compared with each other."
                ),
            )
        self._describe(seen)
        alone = self._alone() if seen.rho < _NO_RANK else np.empty(0, dtype=np.intp)
        if not len(alone):
            self._judge(seen)
        yield from self._solve(alone)
        self._judge_fit(seen)

    def _compare(self, queue: Rows) -> Asking[Spectrum | None]:
        """Ask all pairs of a pool that grows while it does not determine k clusters well."""
        self.items, used = queue[: self.sizes.first], self.sizes.first
        while True:
            yield from self.similar.ask(square_by_square(self.items), "bootstrap_pairs")
            self.items = self.similar.comparable(self.items)
            seen = self._spectrum()
            if self.noisy is None and seen is not None:
                self.noisy = seen.snr < _EXACT_SNR
            good = seen is not None and seen.rho >= _LEAST_RHO and seen.snr >= _LEAST_SNR
            if used >= (self.sizes.first if good else self.sizes.largest):
                return seen
            more = queue[used : max(self.sizes.first, min(used + self.k, self.sizes.largest))]
            self.items, used = np.concatenate([self.items, more]), used + len(more)

    def _spectrum(self) -> Spectrum | None:
        """The spectrum of the items' similarities; None if there are too few items."""
        if len(self.items) < fewest_items(self.k):
            return None
        return spectrum(self._filled(), self.k, self.rng, sigma=self.sigma)

    def _filled(self) -> Floats:
        """The similarities, with missing answers filled in."""
        return fill_gaps(self.similar.matrix(self.items), self.k)

    def _judge(self, seen: Spectrum) -> None:
        """Raise an error if the answers do not determine k clusters; warn if they hardly do."""
        if seen.rho < _NO_RANK:
            rank = int((seen.values > _NO_RANK * seen.values[0]).sum())
            raise RankError(
                f"The answers must tell {self.k} clusters apart. Got similarities of rank {rank}; "
                f"ask for {max(rank, 1)} clusters, or allow a larger budget: a small pool may miss "
                "a cluster.",
                user_message=plural_message(
                    "The answers tell {n} group apart, and there are to be {wanted}.",
                    "The answers tell {n} groups apart, and there are to be {wanted}.",
                    max(int(rank), 1),
                    wanted=self.k,
                ),
            )
        if seen.snr < _NOISE:
            warn(
                f"The answers hardly tell {self.k} clusters apart (signal to noise "
                f"{seen.snr:.2f}, {seen.rank} stand out), so the result carries little "
                "information. Ask on a finer scale, or for fewer clusters.",
                LittleInformationWarning,
                self.similar.notes,
            )

    def _judge_fit(self, seen: Spectrum) -> None:
        """Warn if the answers indicate more clusters, and k of them leave much unexplained."""
        much = max(_MUCH, 1.5 * self.sigma)
        if seen.rank > self.k and self.diagnostics.get("residual", 0.0) > much:
            warn(
                f"The answers show {seen.rank} clusters, more than the {self.k} asked for, so no "
                f"{self.k} explain them. Ask for {seen.rank}: the same answers count.",
                MoreClustersWarning,
                self.similar.notes,
            )

    def _alone(self) -> Rows:
        """Items that are like no other, if they are exactly the clusters that the rest lacks.

        Then nothing else is possible: their clusters are disjoint from each other and from those of
        the rest, and there are no more clusters.
        """
        G = self._filled()
        alone = isolated_items(G)
        left = self.k - len(alone)
        rest = np.setdiff1d(np.arange(len(G)), alone)
        if not len(alone) or left < 1 or len(rest) < fewest_items(left):
            return alone[:0]
        seen = spectrum(G[np.ix_(rest, rest)], left, self.rng)
        exact = seen.rho >= _LEAST_RHO and seen.snr > _EXACT_SNR
        if left == 1:  # then all others belong to one cluster entirely
            exact = bool(np.ptp(G[np.ix_(rest, rest)][~np.eye(len(rest), dtype=bool)]) < _EXACT)
            exact &= abs(G[rest[0], rest[1]] - 1.0) < _EXACT
        return alone if exact else alone[:0]

    def _solve(self, alone: Rows) -> Asking[None]:
        """Memberships of all items: isolated ones have clusters of their own, the last ones."""
        rest = np.setdiff1d(np.arange(len(self.items)), alone)
        left = self.k - len(alone)
        self.items = np.concatenate([self.items[rest], self.items[alone]])
        self.memberships = np.zeros((len(self.items), self.k))
        self.memberships[len(rest) :, left:] = np.eye(len(alone))
        rows = self.memberships[: len(rest), :left]  # a view, to be filled
        if left == 1:
            rows[:] = 1.0
            return
        items = self.items[: len(rest)]
        G = self.similar.matrix(items)
        embedding = embed(fill_gaps(G, left), left, self.rng)
        if not self.sizes.corners or left == 2:
            rows[:] = self._from_pairs(G, embedding)
            return
        corners = extreme_rows(embedding.Z, min(self.sizes.corners, len(items)))
        triplets = self.rng.permutation(np.array(list(itertools.combinations(corners, 3))))
        try:
            answers = yield from self.similar.ask_triplets(items[triplets])
        except StopAsking as stop:
            rows[:] = self._from_triplets(G, embedding, triplets, stop.answers)
            raise
        rows[:] = self._from_triplets(G, embedding, triplets, answers)

    def _from_triplets(
        self, G: Floats, embedding: Embedding, triplets: Rows, answers: Floats
    ) -> Floats:
        """Memberships from pairs and triplets; from pairs alone with too few triplets."""
        answered = ~np.isnan(answers)
        triplets, answers = triplets[answered], answers[answered]
        fit = memberships_from_triplets(embedding, triplets, answers, self.rng)
        if fit is None:
            return self._from_pairs(G, embedding)
        F, self.diagnostics["rotation_score"] = fit
        F = _refined(F, G, triplets, answers)
        left = F[triplets].prod(axis=1).sum(axis=1) - answers
        self.diagnostics["triplet_rms"] = float(np.sqrt(np.square(left).mean()))
        self._describe_fit(F, G, embedding)
        return F

    def _from_pairs(self, G: Floats, embedding: Embedding) -> Floats:
        """Memberships from pairs alone, with a warning if they are ambiguous."""
        corners = memberships_from_corners(embedding, self.rng)
        F = corners.memberships
        purity = float(F.max(axis=0).min())
        self.diagnostics |= {
            "ambiguity": corners.ambiguity,
            "spread": corners.spread,
            "most_negative": corners.most_negative,
            "purity": purity,
            "pure_enough": corners.ambiguity <= _AMBIGUOUS,
        }
        if corners.ambiguity > _AMBIGUOUS:
            warn(
                f"Pairs alone leave memberships open by up to {corners.ambiguity:.2f}: the purest "
                f"item of some cluster belongs to it by {purity:.2f} only. Allow triplets "
                '(ask="similarity"), or show more items.',
                LittleInformationWarning,
                self.similar.notes,
            )
        F = _refined(F, G, np.empty((0, 3), dtype=np.intp), np.empty(0))
        self._describe_fit(F, G, embedding)
        return F

    def _salvage(self) -> None:
        """After a stop among the pairs: the memberships of the compared items, if they follow."""
        self.items = self.similar.comparable(self.items)
        seen = self._spectrum()
        if seen is None or seen.rho < _LEAST_RHO:
            return
        self._describe(seen)
        G = self.similar.matrix(self.items)
        self.memberships = self._from_pairs(G, embed(fill_gaps(G, self.k), self.k, self.rng))

    def _describe(self, seen: Spectrum) -> None:
        """Write the spectrum of the pairs to the diagnostics."""
        self.diagnostics |= {
            "pool": len(self.items),
            "noisy": bool(self.noisy),
            "rho": seen.rho,
            "snr": seen.snr,
            "singular_values": seen.values.tolist(),
            "suggested_clusters": seen.rank,
        }

    def _describe_fit(self, F: Floats, G: Floats, embedding: Embedding) -> None:
        """Write the fit of memberships to the pairs; k - 1 numbers per item are fitted."""
        n_pairs = math.comb(len(F), 2)
        free = max(n_pairs - len(F) * (F.shape[1] - 1), 1)
        residual = _residual(F, G)
        self.diagnostics |= {
            "residual": residual,
            "sigma": residual * math.sqrt(n_pairs / free),
            "norm_gap": float(embedding.w @ embedding.w) - F.shape[1],
        }


def _refined(F: Floats, G: Floats, triplets: Rows, answers: Floats) -> Floats:
    """Fit noisy answers; once more without those that are implausible given the others."""
    if _residual(F, G) <= _EXACT:
        return F
    F = refine(F, G, triplets, answers)
    pairs, triples = np.abs(F @ F.T - G), np.abs(F[triplets].prod(axis=1).sum(axis=1) - answers)
    usual = float(np.nanmedian(pairs[~np.eye(len(G), dtype=bool)])) / 0.6745
    limit = plausible_deviation(usual)
    far = pairs > limit
    np.fill_diagonal(far, False)
    if not far.any() and not (triples > limit).any():
        return F
    believed = triples <= limit
    return refine(F, np.where(far, np.nan, G), triplets[believed], answers[believed])


def _residual(F: Floats, G: Floats) -> float:
    """Root mean square of the residuals of the similarities."""
    left = (F @ F.T - G)[~np.eye(len(G), dtype=bool)]
    return float(np.sqrt(np.nanmean(np.square(left))))
