"""The default policy: items that stand for strata first, then where models disagree.

Not in the paper. Rules of this file:
- An item's most likely cluster is asked first; the rest of its row only while something is left.
- Models are learnt at milestones: counts of answers, each larger than the one before by a share.
- Whatever was answered stands in the result, unless answers are noisy: then what the others tell of
  an item counts, too.
"""

import math
import threading
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from askmeans._util.guards import default_float_errors
from askmeans.exceptions import MissingClusterWarning, MoreClustersWarning
from askmeans.fuzzy.arrays import ROUNDING, without_last_bits
from askmeans.fuzzy.items import ItemSet
from askmeans.policy.annotators import drift_notes
from askmeans.policy.asked import Asked, digest
from askmeans.policy.belief import ENOUGH, EXACT, Belief, Scale
from askmeans.policy.elsewhere import is_elsewhere
from askmeans.policy.ensemble import Ensemble, one_thread
from askmeans.policy.evidence import NOTHING, Told, told_by
from askmeans.policy.panel import ModelAnswers, audit_order, panel_of, without_models
from askmeans.policy.pool import Pool
from askmeans.policy.strata import Strata
from askmeans.queries import ME, Answers, Question
from askmeans.results import Clustering, Diagnostics, ErrorEstimate, warn

__all__ = ["Ask", "Ranking", "Settings", "StratifiedPolicy"]

Ask = Literal["membership", "group", "similarity", "pairwise", "relative"]
Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

REST = 0.05  # what is left of a row and not asked about
GROWTH = 0.35  # questions from one milestone to the next, by those answered before
_EXPLORE = 0.05  # how evenly doubt is taken to be spread at least, whatever the models say
_REPEATS = 10  # answers given again, from which on it is known whether they differ
_DOUBTED, _OFTEN_ENOUGH = 3.0, 3  # usual deviations; askings after which an answer stands


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that decides what the policy asks, beside the items and the answers."""

    n_clusters: int
    fuzzifier: float = 2.0
    ask: Ask = "membership"
    precision: float = 0.005
    target: float | None = None
    max_items: int | None = 100
    repeats: int = 1
    scale: Scale = EXACT
    seed: int = 0
    audit: float = 0.0  # share of new items that are random, where language models answer, too


class StratifiedPolicy:
    """Proposes questions about few items and completes the memberships of all others."""

    def __init__(self, items: ItemSet, settings: Settings) -> None:
        self.items = items
        self.settings = settings
        self.n_clusters = self.k = settings.n_clusters
        self._answers = Answers()  # of people
        self._models: tuple[ModelAnswers, ...] = ()
        self._asked = Asked()
        self._beliefs: dict[bytes, Belief] = {}
        self._ranking: Ranking | None = None
        self._ranked: Answers | None = None  # that the ranking is up to date with
        self._errors: dict[bytes, ErrorEstimate] = {}  # by answers
        self._learning = threading.Lock()  # of models: one thread learns, others do not wait
        self._grounds: dict[tuple[bytes, tuple[int, ...]], tuple[Ensemble, Strata]] = {}
        # Whether models are learnt by `catch_up` alone, after the first time.
        self.learns_aside = False
        self._unlearnt: Answers | None = None  # whose last milestone waits for `catch_up`

    def learn(self, answers: Answers) -> None:
        """Take note of all answers that stand; models are learnt when they are needed.

        What language models said counts beside people's answers at every milestone; it is neither
        counted nor taken for asked.
        """
        self._models = panel_of(answers, self.k)
        self._answers = without_models(answers)
        self._asked.update(self._answers)

    @property
    def audit(self) -> float:
        """Share of new items that are chosen at random, where language models answer, too."""
        return self.settings.audit

    @audit.setter
    def audit(self, share: float) -> None:
        if share != self.settings.audit:
            self.settings = replace(self.settings, audit=share)
            self._ranked = None

    @property
    def target(self) -> float | None:
        """The share of wrong items that is small enough; None for the rule by precision."""
        return self.settings.target

    @target.setter
    def target(self, share: float | None) -> None:
        if share != self.settings.target:
            self.settings = replace(self.settings, target=share)
            self._ranked = None

    @default_float_errors()
    def propose(
        self,
        n: int,
        pending: Set[Question] = frozenset(),
        annotator: str = ME,  # noqa: ARG002 - everybody is asked alike
    ) -> list[Question]:
        """The n best questions that are neither answered nor pending.

        Items that somebody is being asked about come last. While another thread learns models, the
        ranking of the last milestone serves.
        """
        ranking, asked = self._current(), self._asked
        busy = {ranking.subject(question) for question in pending}
        free = (q for q in ranking if q not in asked and ranking.subject(q) not in busy)
        found = dict.fromkeys(islice(_different(free), n))
        if len(found) < n and busy:
            left = (q for q in ranking if q not in asked and q not in pending and q not in found)
            found |= dict.fromkeys(islice(_different(left), n - len(found)))
        return list(found)

    @property
    def settled(self) -> bool:
        """Whether the estimate is small enough, or as many items were asked about as wanted."""
        return self.stopped is not None

    @property
    @default_float_errors()
    def stopped(self) -> str | None:
        """Why there is no need to ask on: "precision", "max_items" or "items"; None to go on."""
        if self.batch_size > 0:
            return None
        precise = self._is_precise(self._current().belief)
        return "precision" if precise else self._ended() or "items"

    @property
    @default_float_errors()
    def batch_size(self) -> int:
        """Questions to the next milestone, or to the last item that shall be asked about."""
        there = len(self._answers)
        reached = self._milestones(there)[-1]
        gap = reached + self._step(reached) - there
        new = (question for question in self._current().wanted if question not in self._asked)
        return sum(1 for _ in islice(new, gap))

    @property
    @default_float_errors()
    def suggested_clusters(self) -> int:
        """How many clusters the answers speak of, at the last milestone."""
        return self._current().belief.suggested_clusters

    @property
    def unassigned(self) -> tuple[int, int]:
        """How many items belong to none of the clusters, and how many were told of, then."""
        belief = self._current().belief
        return int(belief.elsewhere.sum()), belief.n_told

    @default_float_errors()
    def expected(self, row: int) -> tuple[float, ...] | None:
        """What models expect of an item of the pool, by the last milestone; None where none do."""
        belief = self._current().belief
        place = np.flatnonzero(belief.pool.rows == row)
        if belief.stack is None or belief.is_naming or not len(place):
            return None
        return tuple(belief.likely[place[0], : self.k].tolist())

    @property
    def round(self) -> int:
        """How often the ranking of questions was made anew, from 1."""
        return len(self._milestones(len(self._answers)))

    @default_float_errors()
    def error_curve(self) -> tuple[ErrorEstimate, ...]:
        """The estimated error at every milestone so far, and with all answers."""
        answers = self._answers
        counts = dict.fromkeys([*self._milestones(len(answers)), len(answers)])
        return tuple(self._estimate(answers.first(count)) for count in counts if count)

    def _estimate(self, answers: Answers) -> ErrorEstimate:
        """What these answers tell of the error; learnt once, and apart from what is in use."""
        key = self._key(answers)
        if key not in self._errors:
            with self._learning:
                grounds = self._grounds
                belief = self._beliefs.get(key)
                if belief is None:
                    told = told_by(answers, self.k)
                    belief = Belief(
                        *self._ground(told), told, self.settings.scale, models=self._models
                    )
                self._errors[key] = _estimate_of(belief, len(answers))
                self._grounds = grounds or self._grounds
        return self._errors[key]

    def belief(self) -> Belief:
        """All that follows from all answers."""
        with self._learning:
            return self._belief(self._answers)

    @default_float_errors()
    def memberships_without(self, models: Set[str]) -> Floats:
        """What the result would be without some language models."""
        told = told_by(self._answers, self.k)
        others = tuple(model for model in self._models if model.name not in models)
        with self._learning:
            return (
                Belief(*self._ground(told), told, self.settings.scale, models=others)
                .outcome()
                .memberships
            )

    @default_float_errors()
    def clustering(self) -> Clustering:
        """The best result from all answers."""
        with self._learning:
            belief = self._belief(self._answers)
        notes = drift_notes(belief.told.annotators) + belief.panel.notes()
        missing = np.flatnonzero(~belief.seen[: self.k] & (self.k > 1))
        if len(missing):
            warn(
                f"No item that was asked about belongs to cluster {', '.join(map(str, missing))}, "
                "so whatever is in it is a guess. Ask more (a larger budget).",
                MissingClusterWarning,
                notes,
            )
        if belief.many_unassigned:
            lost, told = int(belief.elsewhere.sum()), belief.n_told
            warn(
                f"{lost} of the {told} items that were asked about belong to none of the {self.k} "
                f"clusters, so a cluster may be missing. Ask for {belief.suggested_clusters} "
                "clusters.",
                MoreClustersWarning,
                notes,
            )
        outcome = belief.outcome()
        U = outcome.memberships
        precise = self._is_precise(belief)
        stopped = "precision" if precise else self._ended()
        return Clustering(
            centers=self._centers(belief, U),
            memberships=U,
            confidence=outcome.confidence,
            unassigned=outcome.unassigned,
            predictor=belief.predictor,
            complete=stopped in ("precision", "items") and not len(missing),
            diagnostics=replace(self._diagnostics(belief, U), stopped=stopped, notes=tuple(notes)),
        )

    def _is_precise(self, belief: Belief) -> bool:
        """Whether asking on is not worth it."""
        return belief.is_precise(self.settings.precision, self.settings.target)

    def _ended(self) -> str | None:
        """Whether as many items were asked about as wanted: "max_items", or "items" for all."""
        asked, most = self._asked.n_items, self.settings.max_items
        if asked >= self.items.n:
            return "items"
        return "max_items" if most is not None and asked >= most else None

    def _step(self, count: int) -> int:
        """Answers from one milestone to the next; few while clusters have no names."""
        least = 2 if self.k <= 4 else 2 * max(2, self.k // 4)
        if self.settings.ask == "group":
            least = max(2, self.k // 4)
        return max(least, math.ceil(GROWTH * count))

    def _milestones(self, count: int) -> list[int]:
        """The milestones that so many answers have reached, from 0."""
        reached = [0]
        while reached[-1] + self._step(reached[-1]) <= count:
            reached.append(reached[-1] + self._step(reached[-1]))
        return reached

    def _key(self, answers: Answers) -> bytes:
        """What tells one belief from another: people's answers, and language models'."""
        return b"".join([digest(answers), *(model.digest() for model in self._models)])

    def _belief(self, answers: Answers) -> Belief:
        """What these answers tell; the last belief and that of the ranking are remembered."""
        key = self._key(answers)
        if key not in self._beliefs:
            used = None if self._ranking is None else self._ranking.belief
            self._beliefs = {k: belief for k, belief in self._beliefs.items() if belief is used}
            self._beliefs[key] = self._believed(answers)
        return self._beliefs[key]

    def _believed(self, answers: Answers) -> Belief:
        """Learn from these answers."""
        told = told_by(answers, self.k)
        ensemble, strata = self._ground(told)
        return Belief(ensemble, strata, told, self.settings.scale, models=self._models)

    def _ground(self, told: Told) -> tuple[Ensemble, Strata]:
        """Models and strata over a pool that has the items asked about."""
        first = (b"", tuple(range(self.k)))
        if first not in self._grounds:
            self._grounds[first] = self._over(np.empty(0, dtype=np.intp), first[1])
        also = np.setdiff1d(told.items, self._grounds[first][0].pool.rows)
        key = (also.tobytes(), self._clusters(told))
        if key not in self._grounds:
            self._grounds = {first: self._grounds[first], key: self._over(also, key[1])}
        return self._grounds[key]

    def _clusters(self, told: Told) -> tuple[int, ...]:
        """The clusters that models learn, with that of items in none of the groups.

        All, while some may not have been met yet; then those that anything was said to be in.
        """
        rest = (self.k,) if is_elsewhere(told) else ()
        decided = np.nan_to_num(told.values).max(axis=1, initial=0.0) >= 0.5
        met = np.flatnonzero(np.nansum(told.values, axis=0) > NOTHING)
        if decided.sum() < ENOUGH * self.k or len(met) < 2:
            return (*range(self.k), *rest)
        return (*met.tolist(), *rest)

    def _over(self, also: Rows, clusters: tuple[int, ...]) -> tuple[Ensemble, Strata]:
        """Models and strata over a random pool and these items, from the seed alone."""
        rng = np.random.default_rng(self.settings.seed)
        pool = Pool(self.items, len(clusters), self.settings.fuzzifier, rng, also=also)
        some = len(clusters) < self.k + (self.k in clusters)
        with one_thread():
            ensemble = Ensemble(pool, np.array(clusters) if some else None)
            return ensemble, Strata(pool.Z, np.random.default_rng([self.settings.seed, 2]))

    @property
    def is_behind(self) -> bool:
        """Whether there are answers that a milestone's models may be learnt from."""
        return self._ranked is not self._answers

    @default_float_errors()
    def catch_up(self) -> None:
        """Learn models now if it is time, unless another thread learns."""
        self._current(learn=True)

    def _current(self, *, learn: bool | None = None) -> "Ranking":
        """The ranking at the last milestone; the one before while another thread learns."""
        learn = not self.learns_aside if learn is None else learn
        if self._learning.acquire(blocking=self._ranking is None):
            try:
                answers = self._answers
                now = learn or self._ranking is None
                if self._ranked is not answers and (now or self._is_learnt(answers)):
                    reached = self._milestones(len(answers))[-1]
                    ranking = self._learn_from(answers.first(reached))
                    if self.is_spent(ranking) and reached < len(answers):
                        ranking = self._learn_from(answers)
                    self._ranking, self._ranked = ranking, answers
            finally:
                self._learning.release()
        assert self._ranking is not None
        return self._ranking

    def _is_learnt(self, answers: Answers) -> bool:
        """Whether there are models of the last milestone of these answers."""
        if self._unlearnt is answers:
            return False
        first = answers.first(self._milestones(len(answers))[-1])
        known = self._key(first) in self._beliefs
        self._unlearnt = None if known else answers
        return known

    def is_spent(self, ranking: "Ranking") -> bool:  # noqa: ARG002 - comparisons have a say
        """Whether to learn before the next milestone."""
        return False

    def _learn_from(self, answers: Answers) -> "Ranking":
        """Make the ranking that follows from these answers; that of the same belief is kept."""
        belief, kept = self._belief(answers), self._ranking
        if kept is not None and kept.belief is belief and kept.settings is self.settings:
            return kept
        self._errors[self._key(answers)] = _estimate_of(belief, len(answers))
        return self._rank(belief)

    def _rank(self, belief: Belief) -> "Ranking":
        """The ranking of questions that follows from a belief."""
        return Ranking(belief, self.settings)

    def _centers(self, belief: Belief, U: Floats) -> Floats:
        """Centres as the memberships have them."""
        W = U**self.settings.fuzzifier
        sums = sum(W[rows].T @ self.items.take(rows) for rows in belief.chunks())
        centers: Floats = sums / np.maximum(W.sum(axis=0), 1e-300)[:, None]
        return centers

    def _diagnostics(self, belief: Belief, U: Floats) -> Diagnostics:
        """How sure the result is."""
        noise = belief.noise(averaged=False)
        weights = {}
        if belief.stack is not None:
            pairs = zip(belief.stack.fitted, belief.stack.weights, strict=True)
            weights = {f.name: float(w) for f, w in pairs if w > 0.0}
        return Diagnostics(
            beta=float(self.k * U.mean(axis=0).min()),
            rho=float((U**self.settings.fuzzifier).mean(axis=0).min()),
            estimated_error=belief.estimated_error,
            error_band=belief.error_band,
            expected_wrong=belief.expected_wrong,
            expected_wrong_band=belief.expected_wrong_band,
            target=belief.wrong_target(self.settings.precision, self.settings.target),
            annotators={name: one.to_dict() for name, one in belief.told.annotators.items()}
            | belief.panel.to_dict(),
            models=weights,
            sharpness=1.0 if belief.stack is None else belief.stack.sharpness,
            strata=belief.n_told,
            unassigned=float(belief.elsewhere.sum() / max(belief.n_told, 1)),
            suggested_clusters=belief.suggested_clusters,
            noise=noise if noise > 0.0 else None,
            queries_raw={"strata": len(self._answers)},
            queries_distinct={"strata": len(self._asked)},
        )


def _estimate_of(belief: Belief, n_answers: int) -> ErrorEstimate:
    """The errors that a belief expects of itself."""
    low, high = belief.error_band
    return ErrorEstimate(
        answers=n_answers, error=belief.estimated_error, low=low, high=high,
        wrong=belief.expected_wrong, wrong_band=belief.expected_wrong_band,
    )  # fmt: skip


class Lazy:
    """A list that is made as far as somebody looks, also in several threads."""

    def __init__(self, source: Iterator[Question]) -> None:
        self._source = source
        self._made: list[Question] = []
        self._making = threading.Lock()

    def __iter__(self) -> Iterator[Question]:
        place = 0
        while place < len(self._made) or self._reaches(place):
            yield self._made[place]
            place += 1

    def _reaches(self, place: int) -> bool:
        """Whether there are more than so many, of which the next is made."""
        with self._making:
            if len(self._made) == place:
                self._made.extend(islice(self._source, 1))
            return len(self._made) > place


class Ranking:
    """Every question there is, the best first: those worth asking, then all others."""

    def __init__(self, belief: Belief, settings: Settings) -> None:
        self.belief = belief
        self.settings = settings
        self.k = settings.n_clusters
        self.wanted = Lazy(self._wanted())
        self.others = Lazy(self._others())

    def __iter__(self) -> Iterator[Question]:
        yield from self.wanted
        yield from self.others

    @property
    def room(self) -> int | None:
        """How many new items shall be asked about; None for any number."""
        most = self.settings.max_items
        return None if most is None else max(0, most - len(self.belief.asked))

    def subject(self, question: Question) -> int:
        """The item that a question is about."""
        return question.items[0]

    def _wanted(self) -> Iterator[Question]:
        """What is open, new items as far as they shall be asked about, and what to ask again."""
        if self.k == 1:
            return
        if self.belief.is_precise(self.settings.precision, self.settings.target):
            yield from self._open(1.0, 1.0, every=True)  # those that may be in no cluster
            yield from self._again(doubted=False)
            return
        yield from self._unnamed() if self.belief.is_naming else self._open(REST, 1.0)
        yield from self._again(doubted=True)
        yield from self._noise_checks()
        room = self.room
        yield from islice(self._new(), room)
        if room is None or room >= len(self.belief.pool) - len(self.belief.asked):
            # No item is left: now every little counts.
            yield from self._open(ROUNDING, REST, every=True)
        if room is None:
            yield from self._outside()
        yield from self._again(doubted=False)

    def _others(self) -> Iterator[Question]:
        """Everything else: the other items, the other entries, items outside the pool."""
        if self.k == 1:
            return
        known = set(self.wanted)
        yield from (question for question in self._new() if question not in known)
        yield from self._outside()
        if self.settings.ask == "group":
            return
        pool = self.belief.pool
        order = np.argsort(-self.belief.likely[:, : self.k], axis=1, kind="stable")
        for column in range(self.k - 1):
            for place, row in enumerate(pool.rows.tolist()):
                yield Question("membership", (row,), int(order[place, column]))

    def _outside(self) -> Iterator[Question]:
        """Items outside the pool, in a random order, with their likeliest cluster."""
        pool = self.belief.pool
        rows = np.setdiff1d(np.arange(pool.items.n), pool.rows)
        for row in np.random.default_rng([self.settings.seed, 1]).permutation(rows):
            yield self._elsewhere(int(row))

    def _elsewhere(self, row: int) -> Question:
        """The question about an item outside the pool, with its likeliest cluster."""
        if self.settings.ask == "group":  # it names none
            return self._about(row, 0)
        likely = self.belief.predictor(self.belief.pool.items.take(np.array([row])))[0]
        return self._about(row, int(without_last_bits(likely).argmax()))

    def _about(self, row: int, cluster: int, repeat: int = 0) -> Question:
        """The question about an item."""
        if self.settings.ask == "group":
            return Question("group", (int(row),), None, repeat)
        return Question("membership", (int(row),), int(cluster), repeat)

    def _open(self, more: float, most: float, *, every: bool = False) -> Iterator[Question]:
        """Rows of which something is left: the likeliest cluster not asked about yet.

        With `every` all items are among them that may be in no cluster.
        """
        if self.settings.ask == "group":
            return
        belief = self.belief
        whole = belief.told.to_make_whole
        unknown = ~belief.told.asked & (np.isnan(belief.told.values) | whole[:, None])
        left, waiting = belief.told.left, belief.told.all_but_one
        open_ = whole | ((left > more) & (left <= most) & ~waiting)
        open_ |= waiting if every else belief.told.to_check
        open_ &= unknown.any(axis=1)
        likely = np.where(unknown[open_], belief.likely[belief.asked[open_]], -1.0)
        clusters = without_last_bits(likely).argmax(axis=1)
        for item, cluster in zip(belief.told.items[open_], clusters, strict=True):
            yield self._about(item, cluster)

    def _unnamed(self) -> Iterator[Question]:
        """While a cluster has no name yet: a few items at a time, until their strongest is found.

        One item to the end finds names in half the questions that all items in parallel take.
        """
        if self.settings.ask == "group":
            return
        belief, told = self.belief, self.belief.told
        width, each = max(2, self.k // 4), 1 if self.k <= 4 else 2
        unknown = ~told.asked & np.isnan(told.values)
        left = told.left
        lost = (left > np.nan_to_num(told.values).max(axis=1, initial=0.0)) & (left > REST)
        lost &= (~told.all_but_one | told.to_check) & unknown.any(axis=1)
        places, unknown = belief.asked[lost], unknown[lost]
        if len(places) < width:
            new = np.array(list(islice(self._places(), width - len(places))), dtype=np.intp)
            places = np.concatenate([places, new])
            fresh = np.arange(belief.k) < self.k  # nobody is asked about what is elsewhere
            unknown = np.concatenate([unknown, np.repeat(fresh[None], len(new), axis=0)])
        # A cluster that nobody was found in yet is the likelier.
        score = np.where(unknown, belief.guess[places] + 0.3 * ~belief.seen, -1.0)
        order = np.argsort(-without_last_bits(score), axis=1, kind="stable")
        first = order[:, : min(each, self.k - 1)]
        for place, clusters, mine in zip(places, first, unknown, strict=True):
            for cluster in clusters[mine[clusters]]:
                yield self._about(belief.pool.rows[place], cluster)

    def _new(self) -> Iterator[Question]:
        """New items, with their likeliest cluster."""
        best = map(self._likeliest, self._places())
        share = self.settings.audit if self.belief.panel.models else 0.0
        if not share:
            yield from best
            return
        audits, count = self._audits(), len(self.belief.asked)
        while True:  # the share is that of all items asked about, whatever was answered when
            random = int((count + 1) * share) > int(count * share)
            found = (next(audits, None) if random else None) or next(best, None)
            if found is None:
                return
            yield found
            count += 1

    def _likeliest(self, place: int) -> Question:
        """The question about an item of the pool, with its likeliest cluster."""
        cluster = int(without_last_bits(self.belief.likely[place, : self.k]).argmax())
        return self._about(self.belief.pool.rows[place], cluster)

    def _audits(self) -> Iterator[Question]:
        """Items at random, among those that any model said something of, whatever it said."""
        pool, asked = self.belief.pool, set(self.belief.told.items.tolist())
        models = self.belief.panel.models
        answered = {row for model in models for row in model.answers.items.tolist()}
        places = {row: place for place, row in enumerate(pool.rows.tolist())}
        for row in audit_order(pool.items.n, self.settings.seed):
            if row in answered and row not in asked:
                yield self._likeliest(places[row]) if row in places else self._elsewhere(row)

    def _places(self) -> Iterator[int]:
        """New items of the pool: one for each unsupervised cluster, then where doubt is."""
        belief, evenly = self.belief, _EXPLORE
        doubt, first = np.ones(len(belief.pool)), []
        if belief.is_naming:
            known = set(belief.asked.tolist())
            first = [place for place in belief.pool.typical if place not in known]
        elif belief.stack is not None:
            doubt = belief.stack.uncertainty / max(float(belief.stack.uncertainty.mean()), 1e-300)
            if not belief.stack.answers_are_hard:  # doubts of models that explain little are noise
                evenly = max(evenly, belief.stack.unexplained)
        yield from first
        asked = np.concatenate([belief.asked, np.array(first, dtype=np.intp)])
        blank = []
        for place in belief.strata.choose(asked, (1.0 - evenly) * doubt + evenly):
            if int(belief.pool.rows[place]) in belief.pool.items.blank:
                blank.append(place)
            else:
                yield place
        yield from blank

    def _again(self, *, doubted: bool) -> Iterator[Question]:
        """What to ask again: answers that nothing else bears out, or those least often asked."""
        belief, told, times = self.belief, self.belief.told, self.settings.repeats
        if times == 1 or belief.stack is None or not len(told.value):
            return
        within, repeated = told.spread()
        if repeated >= _REPEATS and within == 0.0:
            return  # answers are the same when asked again: it would tell nothing new
        away = np.abs(told.values - belief.likely[belief.asked])
        away[told.times == 0] = np.nan
        usual = max(float(np.nanmedian(away)) / 0.6745, 1e-3)
        gain = np.where(np.isnan(away), -1.0, away / usual)
        if doubted:
            gain[(gain < _DOUBTED) | (told.times >= min(times, _OFTEN_ENOUGH))] = -1.0
        else:
            gain[told.times >= times] = -1.0
            gain = np.where(gain < 0.0, -1.0, gain + 1e3 * (times - told.times))
        for flat in np.argsort(-gain, axis=None, kind="stable"):
            place, cluster = np.unravel_index(int(flat), gain.shape)
            if gain[place, cluster] < 0.0:
                return
            yield self._about(
                told.items[place], int(cluster), repeat=int(told.times[place, cluster])
            )

    def _noise_checks(self) -> Iterator[Question]:
        """Some answers to ask again, whatever they are: only that tells noise from models' errors.

        One in ten, of items asked about from first to last, until enough are known.
        """
        belief, told = self.belief, self.belief.told
        if self.settings.repeats == 1 or belief.stack is None:
            return
        wanted = min(_REPEATS, len(told.value) // _REPEATS) - int(told.spread()[1])
        places, clusters = np.nonzero(told.times == 1)
        if wanted > 0 and len(places):
            for one in np.linspace(0, len(places) - 1, wanted + 2).astype(np.intp)[1:-1]:
                yield self._about(told.items[places[one]], int(clusters[one]), repeat=1)


def _different(questions: Iterator[Question]) -> Iterator[Question]:
    """Each question once, where it first comes."""
    seen: set[Question] = set()
    for question in questions:
        if question not in seen:
            seen.add(question)
            yield question
