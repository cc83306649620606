"""Ask about items that stand for strata, complete by what the answers support, ask where unsure.

Not in the paper. Rules of this plan:
- An item's most likely cluster is asked first; the rest of its row only while something is left.
- An item that was told to be in none of the other clusters may be in none at all. Its last entry is
  likely; some of these are asked at once, all before the end.
- A round asks what is open, then new items; each round is larger than the one before.
- Whatever was answered stands in the result, unless answers are rough: then what the others tell of
  an item counts, too.
"""

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans.completions.blend import Blend, blend
from askmeans.completions.closed_form import ClosedForm, name_clusters
from askmeans.completions.council import Council, one_thread
from askmeans.completions.evidence import Evidence, Predict
from askmeans.completions.pool import Pool
from askmeans.exceptions import MissingClusterWarning, MoreClustersWarning, StopAsking
from askmeans.fuzzy.model import closed_form_memberships
from askmeans.fuzzy.simplex import onto_simplex
from askmeans.fuzzy.ties import without_last_bits
from askmeans.items import Items
from askmeans.plans.answers import (
    EXACT,
    ROUNDING,
    Answers,
    Asking,
    Plan,
    Roughness,
    keep_answers,
    rounding_noise,
)
from askmeans.plans.strata import Strata
from askmeans.results import Clustering

__all__ = ["Study", "stratified"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Which = NDArray[np.bool_]

REST = 0.05  # what is left of a row and not asked about; so much told of it is nothing
GROWTH = 0.4  # new items of a round, by those asked about before
EXPLORE = 0.25  # how evenly doubt is taken to be spread, whatever the completions say
TRUST = 0.3  # how much of a row must be told before models learn from it
ENOUGH = 5  # items a cluster, to give up naming or to end
SEEN = 0.5  # memberships to a cluster that make it seen
# What completions count before the answers speak.
PRIOR = {
    "unsupervised": 1.0, "local optimum": 1.0, "scaled": 1.0, "metric": 1.0, "mixture": 1.0,
    "discriminant": 1.0, "graph": 0.5, "logistic 30": 0.3, "logistic 1": 0.15, "smooth": 0.15,
    "linear": 0.1,
}  # fmt: skip
_CHUNK = 100_000
_SEVERAL = 3  # items that belong nowhere; fewer may be slips
_FAR = 3.5  # usual deviations from which on a rough answer is not believed


def stratified(
    items: Items,
    n_clusters: int,
    *,
    fuzzifier: float,
    precision: float,
    max_items: int | None,
    rng: np.random.Generator,
    roughness: Roughness = EXACT,
) -> Plan:
    """The plan; it ends when the estimated error is below the precision."""
    study = Study(items, n_clusters, fuzzifier, max_items, rng, roughness)
    try:
        while (yield from study.ask(settled=study.settled(precision))):
            study.learn()
        stopped = "items" if len(study.answers.items) == items.n else "max_items"
        if study.settled(precision):
            stopped = "precision"
    except StopAsking:
        stopped = "interrupted"  # or by a budget, which the driver knows of
        study.learn()
    return study.finish(stopped)


class Study:
    """What has been asked, what was learnt from it, and what to ask next."""

    def __init__(
        self,
        items: Items,
        n_clusters: int,
        fuzzifier: float,
        max_items: int | None,
        rng: np.random.Generator,
        roughness: Roughness = EXACT,
    ) -> None:
        self.items = items
        self.roughness = roughness
        self.k = n_clusters
        self.fuzzifier = fuzzifier
        self.pool = Pool(items, n_clusters, fuzzifier, rng)
        self.max_items = len(self.pool) if max_items is None else max_items
        self.answers = Answers(n_clusters, faithful=False, least_told=REST)
        self.strata = Strata(self.pool.Z)
        self.council = Council(self.pool)
        self.blend: Blend | None = None
        self.seen = np.zeros(n_clusters, dtype=bool)
        centers, alpha = self.pool.free
        self.free = closed_form_memberships(self.pool.X, centers, alpha)
        self.guess = self.free  # the unsupervised fit, named as far as answers tell
        self.likely = self.free  # best guess of the pool's memberships
        # The item that stands for each of its clusters, the largest cluster first.
        sizes = without_last_bits(self.free.sum(axis=0))
        first = without_last_bits(self.free).argmax(axis=0)[np.argsort(-sizes, kind="stable")]
        self.first: list[int] = list(dict.fromkeys(first.tolist()))

    def asked(self) -> Rows:
        """Places in the pool of the items asked about."""
        return np.searchsorted(self.pool.rows, self.answers.items)

    def ask(self, *, settled: bool) -> Asking[bool]:
        """One round; False if there is nothing left to ask, or it is settled without."""
        if settled:
            places, clusters = self._open(1.0, every=True)
        elif self._naming():
            places, clusters = self._unnamed()
        else:
            places, clusters = self._open(REST)
            new = self._new(self._room(len(places)))
            places = np.concatenate([places, new])
            likely = without_last_bits(self.likely[new])
            clusters = np.concatenate([clusters, likely.argmax(axis=1)])
        if not len(places) and not settled:  # no item is left: now every little counts
            places, clusters = self._open(ROUNDING, every=True)
        if not len(places):
            return False
        yield from self.answers.ask(self.pool.rows[places], clusters, "strata")
        return True

    def _told(self) -> int:
        """How many items somebody could say something of."""
        return int((~np.isnan(self.answers.values)).any(axis=1).sum())

    def _unassigned(self) -> Which:
        """Which items asked about belong to none of the clusters: told of each, half at most."""
        told = self.answers.values
        none: Which = ~np.isnan(told).any(axis=1) & (np.nansum(told, axis=1) < SEEN)
        return none

    def _all_but_one(self) -> Which:
        """Which items were told to be in none of the clusters but one that nobody spoke of."""
        told = self.answers.values
        one_left: Which = (np.isnan(told).sum(axis=1) == 1) & (np.nansum(told, axis=1) <= REST)
        return one_left

    def _nowhere(self) -> float:
        """How likely an item is in no cluster: as often as those told of are (Jeffreys)."""
        told = self.answers.values
        known = (np.nansum(told, axis=1) > REST) | ~np.isnan(told).any(axis=1)
        return float((self._unassigned().sum() + 0.5) / (known.sum() + 1.0))

    def _to_check(self) -> Which:
        """Which of those that are told of all but one cluster to ask about that one, too.

        So many that less than one of the others is in no cluster, as far as those checked tell.
        """
        waiting = self._all_but_one()
        places, clusters, _ = self.answers.single()
        each = np.zeros((*waiting.shape, self.k), dtype=bool)
        each[places, clusters] = True
        wrong = (self._unassigned().sum() + 0.5) / (each.all(axis=1).sum() + 1.0)
        first: Which = waiting & (np.cumsum(waiting) <= waiting.sum() - int(1.0 / wrong))
        return first

    def _naming(self) -> bool:
        """Whether to look for a cluster that nobody was found in yet; there may be none such."""
        return not self.seen.all() and self._told() < ENOUGH * self.k

    def _open(self, rest: float, *, every: bool = False) -> tuple[Rows, Rows]:
        """Rows of which more is left, and the likeliest cluster not asked about yet.

        With `every` all items are among them that may be in no cluster.
        """
        asked = self.asked()
        unknown = self.answers.unasked()
        open_ = (self._left() > rest) & ~self._all_but_one()
        open_ |= self._all_but_one() if every else self._to_check()
        open_ &= unknown.any(axis=1)
        likely = np.where(unknown[open_], self.likely[asked[open_]], -1.0)
        return asked[open_], without_last_bits(likely).argmax(axis=1)

    def _unnamed(self) -> tuple[Rows, Rows]:
        """While a cluster has no name yet: a few items at a time, until their strongest is found.

        One item to the end finds names in half the questions that all items in parallel take.
        """
        width, each = max(2, self.k // 4), 1 if self.k <= 4 else 2
        asked, told = self.asked(), self.answers.values
        unknown = self.answers.unasked()
        left = self._left()
        lost = (left > np.nan_to_num(told).max(axis=1, initial=0.0)) & (left > REST)
        lost &= ~self._all_but_one() | self._to_check()
        lost &= unknown.any(axis=1)
        places, unknown = asked[lost], unknown[lost]
        if len(places) < width:
            new = self._new(width - len(places))
            places = np.concatenate([places, new])
            unknown = np.concatenate([unknown, np.ones((len(new), self.k), dtype=bool)])
        # A cluster that nobody was found in yet is the likelier.
        score = np.where(unknown, self.guess[places] + 0.3 * ~self.seen, -1.0)
        order = np.argsort(-without_last_bits(score), axis=1, kind="stable")
        first = order[:, : min(each, self.k - 1)]
        rows = np.repeat(np.arange(len(places)), first.shape[1])
        clusters = first.ravel()
        real = unknown[rows, clusters]
        return places[rows[real]], clusters[real]

    def _room(self, n_open: int) -> int:
        """How many new items a round has, so that rounds grow."""
        count = max(2, math.ceil(GROWTH * len(self.answers.items)))
        return max(2, count - n_open // 2)

    def _new(self, count: int) -> Rows:
        """New items: one for each cluster of the unsupervised fit, then where doubt is."""
        asked = self.asked()
        count = max(0, min(count, self.max_items - len(asked)))
        fresh = [place for place in self.first if place not in set(asked.tolist())]
        if fresh and self._naming():
            return np.array(fresh[:count], dtype=np.intp)
        doubt = np.ones(len(self.pool))
        if self.blend is not None and not self._naming():
            doubt = self.blend.doubt / max(float(self.blend.doubt.mean()), 1e-300)
        with one_thread():
            return self.strata.choose(asked, (1.0 - EXPLORE) * doubt + EXPLORE, count)

    def _evidence(self) -> Evidence | None:
        """Rows that are known for the most part, the rest shared as is likely."""
        asked, told = self.asked(), self.answers.values
        if not len(asked):
            return None
        known = ~np.isnan(told)
        mass = np.clip(np.where(known, told, 0.0), 0.0, 1.0).sum(axis=1)
        whole = known.all(axis=1) & ~self._unassigned()
        trust = np.where(whole, 1.0, np.minimum(mass, 1.0))
        trust[self._all_but_one()] = 1.0 - self._nowhere()
        some = trust > TRUST
        if not some.any():
            return None
        U = self.likely[asked].copy()
        keep_answers(U, np.arange(len(asked)), told)
        cells = np.maximum(self.strata.cells(asked[some]), 1.0)
        return Evidence.of(asked[some], U[some], trust[some], cells)

    def learn(self) -> None:
        """Fit every completion to the answers, and weigh them."""
        asked = self.asked()
        self.guess = self.free[:, name_clusters(self.free[asked], self.answers.values)]
        evidence = self._evidence()
        if evidence is None:
            self.likely = self.guess
            return
        self.blend = self._weighed(evidence)
        belief = self._belief(evidence.Y, self.blend.pool[evidence.rows])[:, 0]
        if (belief < 0.5).any():  # once more, without those that are hardly believed
            evidence = replace(evidence, trust=np.maximum(evidence.trust * belief, 1e-3))
            self.blend = self._weighed(evidence)
        self.seen = evidence.trust @ evidence.Y >= SEEN
        self.likely = self.blend.pool

    def _weighed(self, evidence: Evidence) -> Blend:
        """Every completion fitted to the evidence, and weighed by it."""
        with one_thread():
            fitted = self.council.learn(evidence)
            return blend(fitted, evidence, np.array([PRIOR[f.name] for f in fitted]))

    def estimated_error(self) -> float:
        """The mean error of a membership, over all items; what was answered has none."""
        if self.k == 1:
            return 0.0
        if self.blend is None:
            return 1.0 / self.k
        asked, n = self.asked(), self.items.n
        # Who belongs to a cluster that has no name yet is given to another. These are many if the
        # unsupervised fit is right, but few if so many answers did not meet one.
        nameless = float(self.guess[:, ~self.seen].sum(axis=1).mean())
        nameless = 2.0 / self.k * min(nameless, 1.0 / (self._told() + 2.0))
        expected = self.blend.expected + nameless
        left = self._left()
        # What noise leaves in rows that were answered; a normal error is .8 of it on average.
        own = 0.8 * min(self.noise() * math.sqrt(self._own_share()), math.sqrt(self.blend.misfit))
        error = float((expected[asked] * left + own * (left < 1.0)).sum())
        unasked = np.delete(expected, asked) if len(asked) < len(self.pool) else expected
        return (error + float(unasked.mean()) * (n - len(asked))) / n

    def _left(self) -> Floats:
        """How much of the row of each item asked about is not known."""
        told = self.answers.values
        rest = np.clip(1.0 - np.nansum(told, axis=1), 0.0, 1.0)
        left = np.where(np.isnan(told).any(axis=1), rest, 0.0)
        return np.where(self._all_but_one(), self._nowhere(), left)

    def settled(self, precision: float) -> bool:
        """Whether the estimate is small enough, and there is enough behind it."""
        if self.k == 1:
            return True
        count = self._told()
        if self.blend is None or count < ENOUGH * self.k:
            return False
        # Answers of all or nothing: no mistake among so many does not mean that there is none.
        chance = 2.0 / self.k * 0.5 / (count + 1.0) if self.blend.answers_are_hard else 0.0
        return max(self.estimated_error(), chance * (1.0 - count / self.items.n)) < precision

    def _predictor(self) -> Predict:
        """Memberships of any items."""
        if self.blend is not None:
            return self.blend.predict
        centers, alpha = self.pool.free
        names = name_clusters(self.free[self.asked()], self.answers.values)
        return ClosedForm(centers=centers[names], fuzzifier=alpha)

    def memberships(self) -> Floats:
        """Memberships of all items; answers stand."""
        if len(self.pool) == self.items.n and self.blend is not None:
            U = self.blend.pool.copy()
        else:
            predict = self._predictor()
            U = np.concatenate([predict(self.items.take(rows)) for rows in self._chunks()])
        items, values, levels = self.answers.items, self.answers.values, self.roughness.levels
        told = U[items]
        if levels is not None and self.roughness.noise == 0.0 and not self.answers.differ():
            half = 0.5 / (levels - 1)  # an answer on a scale is an interval
            inside = np.clip(told, values - half, values + half)
            U[items] = self._hedged(onto_simplex(np.where(np.isnan(values), told, inside)))
            return U
        keep_answers(told, np.arange(len(items)), values)
        told = self._hedged(told)
        share = self._own_share() * self._belief(told, U[items])
        U[items] = share * told + (1.0 - share) * U[items]
        return U

    def _hedged(self, rows: Floats) -> Floats:
        """The rows, with a last entry that nobody spoke of as likely as it is, not certain."""
        nowhere = self._nowhere()
        likely = (1.0 - nowhere) * np.isnan(self.answers.values) + nowhere / self.k
        return np.where(self._all_but_one()[:, None], likely, rows)

    def _belief(self, told: Floats, foretold: Floats) -> Floats:
        """How far each row of rough answers is believed: none that is far from what is foretold."""
        away = np.abs(told - foretold).mean(axis=1, keepdims=True)
        if self.roughness.noise == 0.0 or not len(away):
            return np.ones_like(away)
        usual = max(float(np.median(away)) / 0.6745, 1e-12)  # of normal errors, robustly
        weight: Floats = np.square(np.clip(1.0 - np.square(away / (_FAR * usual)), 0.0, None))
        return weight  # Tukey's

    def noise(self, *, averaged: bool = True) -> float:
        """Standard deviation of the answers' errors: as given, of their scale, or as they show.

        Of repeats, that of their average; or of a single answer.
        """
        known = math.hypot(self.roughness.noise or 0.0, rounding_noise(self.roughness.levels))
        if self.roughness.noise is not None and not self.answers.differ():
            return known
        places, clusters, values = self.answers.single()
        sums, counts, squares = np.zeros((3, len(self.answers.items), self.k))
        for table, what in ((sums, values), (counts, 1.0), (squares, np.square(values))):
            np.add.at(table, (places, clusters), what)
        free = float(np.maximum(counts - 1.0, 0.0).sum())
        if free:
            within = float((squares - np.square(sums) / np.maximum(counts, 1.0)).sum())
            repeats = float(counts[counts > 0.0].mean()) if averaged else 1.0
            return max(known, math.sqrt(max(within, 0.0) / free / repeats))
        # Never asked twice: half of what nothing foretells may be noise.
        return max(known, math.sqrt(0.5 * self.blend.misfit) if self.blend else 0.0)

    def _own_share(self) -> float:
        """How much an item's own answers count in its row: all, unless they are rough."""
        variance = self.noise() ** 2
        if variance == 0.0 or self.blend is None:
            return 1.0
        foretold = max(self.blend.misfit - variance, 0.1 * variance)
        return foretold / (foretold + variance)

    def _chunks(self) -> list[Rows]:
        """All items, a part at a time."""
        n = self.items.n
        return [np.arange(start, min(start + _CHUNK, n)) for start in range(0, n, _CHUNK)]

    def _centers(self, U: Floats) -> Floats:
        """Centres as the memberships have them."""
        W = U**self.fuzzifier
        sums = sum(W[rows].T @ self.items.take(rows) for rows in self._chunks())
        centers: Floats = sums / np.maximum(W.sum(axis=0), 1e-300)[:, None]
        return centers

    def finish(self, stopped: str) -> Clustering:
        """The best clustering from the answers so far, and what ended the asking."""
        missing = np.flatnonzero(~self.seen & (self.k > 1))
        if len(missing):
            warnings.warn(
                f"No item that was asked about belongs to cluster {', '.join(map(str, missing))}, "
                "so what is said of it comes from an unsupervised fit. Ask more (a larger budget).",
                MissingClusterWarning,
                stacklevel=2,
            )
        self._warn_of_unassigned()
        if self.blend is not None and len(self.pool) < self.items.n:
            self.blend = self.blend.refined(self.items)
        U = self.memberships()
        return Clustering(
            centers=self._centers(U),
            memberships=U,
            predictor=self._predictor(),
            complete=stopped in ("precision", "items") and not len(missing),
            diagnostics={"stopped": stopped} | self._diagnostics(U),
        )

    def _warn_of_unassigned(self) -> None:
        """Say that a cluster may be missing: of k + 1 equal ones it would hold 1 / (k + 1)."""
        lost, told = int(self._unassigned().sum()), self._told()
        if lost >= _SEVERAL and lost / told > 0.5 / (self.k + 1):
            warnings.warn(
                f"{lost} of the {told} items that were asked about belong to none of the {self.k} "
                f"clusters, so a cluster may be missing. Ask for {self.k + 1} clusters.",
                MoreClustersWarning,
                stacklevel=3,
            )

    def _diagnostics(self, U: Floats) -> dict[str, Any]:
        """How sure the result is; the keys are documented for users."""
        noise = self.noise(averaged=False)
        weights = {}
        if self.blend is not None:
            pairs = zip(self.blend.fitted, self.blend.weights, strict=True)
            weights = {f.name: float(w) for f, w in pairs if w > 0.0}
        return {
            "beta": float(self.k * U.mean(axis=0).min()),
            "rho": float((U**self.fuzzifier).mean(axis=0).min()),
            "estimated_error": self.estimated_error(),
            "completion": weights,
            "sharpness": 1.0 if self.blend is None else self.blend.sharpness,
            "strata": self._told(),
            "unassigned": float(self._unassigned().sum() / max(self._told(), 1)),
            **({"noise": noise} if noise > 0.0 else {}),
            "queries_raw": dict(self.answers.raw),
            "queries_distinct": dict(self.answers.distinct),
            "rounds": dict(self.answers.rounds),
        }
