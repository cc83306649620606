"""The default policy: questions about few items; models predict the memberships of the others.

Not in the paper. Rules of this file:
- Models are learnt at milestones: counts of answers, each larger than the one before by a share.
- Answers stand in the result, unless they are noisy: then the evidence of the others counts, too.
"""

import math
import threading
from collections.abc import Set
from dataclasses import replace
from itertools import islice

import numpy as np

from askmeans._util.arrays import Floats, Rows
from askmeans._util.checks import default_float_errors
from askmeans._util.message import Message, plural_message
from askmeans.exceptions import MissingClusterWarning, MoreClustersWarning
from askmeans.fuzzy.items import ItemSet
from askmeans.policy.advisers import Advice
from askmeans.policy.annotators import drift_notes
from askmeans.policy.belief import ENOUGH, Belief
from askmeans.policy.ensemble import Ensemble, one_thread
from askmeans.policy.evidence import Evidence, Unions, evidence_of
from askmeans.policy.examples import Examples
from askmeans.policy.pool import Pool, Strata
from askmeans.policy.ranking import Ranking, Settings, different
from askmeans.policy.scales import UNASSIGNED_SUM
from askmeans.queries import ME, Answers, Question
from askmeans.queries.answers import AskedQuestions
from askmeans.results import Clustering, Diagnostics, ErrorEstimate, warn

# Ratio of new answers between milestones to earlier ones: the number of fits grows with the
# logarithm of the answers. From .15 to 1 the log loss of three tables is the same within 1 %; but a
# run stops at milestones only, so that it may ask for this share of answers too many.
GROWTH = 0.35


class StratifiedPolicy:
    """Proposes questions about few items and completes the memberships of all others."""

    def __init__(self, items: ItemSet, settings: Settings) -> None:
        self.items = items
        self.settings = settings
        self.n_clusters = self.k = settings.n_clusters
        self.unions: Unions = ()  # of clusters that an answer may name together
        self._answers = Answers()
        self._advice: tuple[Advice, ...] = ()
        self._examples: Examples | None = None
        self._questions = AskedQuestions()
        self._beliefs: dict[bytes, Belief] = {}
        self._ranking: Ranking | None = None
        self._ranked: Answers | None = None  # the answers of the ranking
        self._errors: dict[bytes, ErrorEstimate] = {}  # by answers
        self._learning = threading.Lock()  # one thread fits models, others do not wait
        # By items added to the pool and by clusters: without answers, and those of the last belief.
        self._models: dict[tuple[bytes, tuple[int, ...]], tuple[Ensemble, Strata]] = {}
        # Whether only `catch_up` fits models, after the first time.
        self.learns_aside = False
        self._unlearnt: Answers | None = None  # answers whose models `catch_up` will fit

    def learn(self, answers: Answers) -> None:
        """Take note of all valid answers; models are fitted when they are needed."""
        self._answers = answers
        self._questions.update(answers)

    @property
    def examples(self) -> Examples | None:
        """Rows with known memberships that are not items, and cost no questions."""
        return self._examples

    @examples.setter
    def examples(self, examples: Examples | None) -> None:
        if (examples and examples.digest) != (self._examples and self._examples.digest):
            self._examples, self._ranked = examples, None
            self._models = {
                key: (self._ensemble(ensemble.pool, key[1]), strata)
                for key, (ensemble, strata) in self._models.items()
            }

    @property
    def advice(self) -> tuple[Advice, ...]:
        """Memberships by advisers, which count neither as answers nor as questions."""
        return self._advice

    @advice.setter
    def advice(self, advice: tuple[Advice, ...]) -> None:
        known = tuple(one for one in advice if len(one.items))  # empty advice has no effect
        if [one.digest for one in known] != [one.digest for one in self._advice]:
            self._advice, self._ranked = known, None

    def change_settings(self, *, audit: float, target: float | None) -> None:
        """Change settings that may change while a session runs; models stay."""
        settings = replace(self.settings, audit=audit, target=target)
        if settings != self.settings:
            self.settings, self._ranked = settings, None

    @default_float_errors()
    def propose(
        self,
        n: int,
        pending: Set[Question] = frozenset(),
        annotator: str = ME,  # noqa: ARG002 - the same for all annotators
    ) -> list[Question]:
        """The n best questions that are neither answered nor pending.

        Items of pending questions come last. While another thread learns models, the ranking of
        the last milestone serves.
        """
        ranking, known = self._current(), self._questions
        busy = {ranking.subject(question) for question in pending}
        idle = (q for q in ranking if q not in known and ranking.subject(q) not in busy)
        chosen = dict.fromkeys(islice(different(idle), n))
        if len(chosen) < n and busy:
            others = (q for q in ranking if q not in known and q not in pending and q not in chosen)
            chosen |= dict.fromkeys(islice(different(others), n - len(chosen)))
        return list(chosen)

    @property
    def settled(self) -> bool:
        """Whether the estimate is small enough, or enough items have answers."""
        return self.stopped is not None

    @property
    @default_float_errors()
    def stopped(self) -> str | None:
        """The reason to stop: "precision", "max_items" or "items"; None to continue."""
        if self.batch_size > 0:
            return None
        precise = self._is_precise(self._current().belief)
        return "precision" if precise else self._ended() or "items"

    @property
    @default_float_errors()
    def batch_size(self) -> int:
        """The number of questions up to the next milestone, or to the last wanted item."""
        count = len(self._answers)
        reached = self._milestones(count)[-1]
        gap = reached + self._step(reached) - count
        new = (question for question in self._current().wanted if question not in self._questions)
        return sum(1 for _ in islice(new, gap))

    @property
    @default_float_errors()
    def suggested_clusters(self) -> int:
        """The number of clusters that the answers suggest, at the last milestone."""
        return self._current().belief.suggested_clusters

    @property
    def unassigned(self) -> tuple[int, int]:
        """The number of items in no cluster, and of all items with answers."""
        belief = self._current().belief
        return int(belief.unassigned.sum()), belief.n_answered

    @default_float_errors()
    def expected(self, row: int) -> tuple[float, ...] | None:
        """The expected memberships of an item of the pool, at the last milestone; else None."""
        belief = self._current().belief
        place = np.flatnonzero(belief.pool.rows == row)
        if belief.stack is None or belief.is_naming or not len(place):
            return None
        return tuple(belief.probabilities[place[0], : self.k].tolist())

    @property
    def round(self) -> int:
        """The number of rankings of questions so far."""
        return len(self._milestones(len(self._answers)))

    @default_float_errors()
    def error_curve(self) -> tuple[ErrorEstimate, ...]:
        """The estimated error at every milestone so far, and with all answers."""
        answers = self._answers
        counts = dict.fromkeys([*self._milestones(len(answers)), len(answers)])
        return tuple(self._estimate(answers.first(count)) for count in counts if count)

    def _estimate(self, answers: Answers) -> ErrorEstimate:
        """The estimated error with these answers; cached, and without changes of the belief."""
        key = self._key(answers)
        if key not in self._errors:
            with self._learning:
                models = self._models
                belief = self._beliefs.get(key) or self._new_belief(answers)
                self._errors[key] = _estimate_of(belief, len(answers))
                self._models = models or self._models
        return self._errors[key]

    @property
    @default_float_errors()
    def ranked(self) -> Belief:
        """The belief at the last milestone, which ranks the questions."""
        return self._current().belief

    def belief(self) -> Belief:
        """The belief from all answers."""
        with self._learning:
            return self._belief(self._answers)

    @default_float_errors()
    def memberships_without(self, advisers: Set[str]) -> Floats:
        """The result without some advisers."""
        evidence = evidence_of(self._answers, self.k, self._features, self.unions)
        others = tuple(advice for advice in self._advice if advice.name not in advisers)
        with self._learning:
            ensemble, strata = self._models_for(evidence)
            belief = Belief(ensemble, strata, evidence, self.settings.scale, advice=others)
            return belief.outcome().memberships

    @default_float_errors()
    def clustering(self) -> Clustering:
        """The best result from all answers."""
        with self._learning:
            belief = self._belief(self._answers)
        notes = drift_notes(belief.evidence.annotators) + belief.advisers.notes()
        missing = np.flatnonzero(~belief.observed[: self.k] & (self.k > 1))
        if len(missing):
            warn(
                MissingClusterWarning(
                    Message(
                        "No item that was asked about belongs to {clusters}, so whatever is in it "
                        "is a guess. Ask more (a larger budget).",
                        clusters="{clusters}",
                    ),
                    tuple(missing.tolist()),
                ),
                MissingClusterWarning,
                notes,
            )
        if belief.many_unassigned:
            lost = int(belief.unassigned.sum())
            warn(
                plural_message(
                    "{n} of the {answered} items that were asked about belongs to none of the "
                    "{k} clusters, so a cluster may be missing. Ask for {wanted} clusters.",
                    "{n} of the {answered} items that were asked about belong to none of the "
                    "{k} clusters, so a cluster may be missing. Ask for {wanted} clusters.",
                    lost,
                    answered=belief.n_answered,
                    k=self.k,
                    wanted=belief.suggested_clusters,
                ),
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
        """Whether the result is precise enough to stop."""
        return belief.is_precise(self.settings.precision, self.settings.target)

    def _ended(self) -> str | None:
        """Whether enough items have answers: "max_items", or "items" for all."""
        n_items, most = self._questions.n_items, self.settings.max_items
        if n_items >= self.items.n:
            return "items"
        return "max_items" if most is not None and n_items >= most else None

    def _step(self, count: int) -> int:
        """The number of answers to the next milestone."""
        least = 2 if self.k <= 4 else 2 * max(2, self.k // 4)
        if self.settings.ask == "group":
            least = max(2, self.k // 4)
        return max(least, math.ceil(GROWTH * count))

    def _milestones(self, count: int) -> list[int]:
        """The milestones up to this number of answers, from 0."""
        reached = [0]
        while reached[-1] + self._step(reached[-1]) <= count:
            reached.append(reached[-1] + self._step(reached[-1]))
        return reached

    def _key(self, answers: Answers) -> bytes:
        """A key of the inputs of a belief: answers, examples and advice."""
        examples = () if self._examples is None else (self._examples.digest,)
        return b"".join([answers.digest(), *examples, *(one.digest for one in self._advice)])

    def _belief(self, answers: Answers) -> Belief:
        """The belief from these answers; the last one and that of the ranking are cached."""
        key = self._key(answers)
        if key not in self._beliefs:
            used = None if self._ranking is None else self._ranking.belief
            self._beliefs = {k: belief for k, belief in self._beliefs.items() if belief is used}
            self._beliefs[key] = self._new_belief(answers)
        return self._beliefs[key]

    def _new_belief(self, answers: Answers) -> Belief:
        """Learn from these answers."""
        evidence = evidence_of(answers, self.k, self._features, self.unions)
        ensemble, strata = self._models_for(evidence)
        return Belief(ensemble, strata, evidence, self.settings.scale, advice=self._advice)

    def _models_for(self, evidence: Evidence) -> tuple[Ensemble, Strata]:
        """Models and strata over a pool with all items that have answers."""
        initial = self._initial_models()
        also = np.setdiff1d(evidence.items, initial[0].pool.rows)
        key = also.tobytes(), self._clusters(evidence)
        if key not in self._models:
            self._models = {self._initial_key: initial, key: self._new_models(also, key[1])}
        return self._models[key]

    def _initial_models(self) -> tuple[Ensemble, Strata]:
        """Models and strata over the random pool, without answers."""
        key = self._initial_key
        if key not in self._models:
            self._models[key] = self._new_models(np.empty(0, dtype=np.intp), key[1])
        return self._models[key]

    @property
    def _initial_key(self) -> tuple[bytes, tuple[int, ...]]:
        """The key of the initial models."""
        return b"", tuple(range(self.k))

    def _features(self, rows: Rows) -> Floats:
        """Of items: those of the common scale, and what the fit without questions says."""
        with one_thread():
            return self._initial_models()[0].pool.with_log_odds(self.items.take(rows))

    def _clusters(self, evidence: Evidence) -> tuple[int, ...]:
        """The clusters of the models, with that of items in no cluster.

        All, while some may not have been met yet; then those that answers put items in.
        """
        rest = (self.k,) if evidence.has_unassigned else ()
        decided = np.nan_to_num(evidence.values).max(axis=1, initial=0.0) >= 0.5
        possible = np.isnan(evidence.values[evidence.in_union]).any(axis=0)
        met = np.flatnonzero((np.nansum(evidence.values, axis=0) > UNASSIGNED_SUM) | possible)
        if decided.sum() < ENOUGH * self.k or len(met) < 2:
            return (*range(self.k), *rest)
        return (*met.tolist(), *rest)

    def _new_models(self, also: Rows, clusters: tuple[int, ...]) -> tuple[Ensemble, Strata]:
        """Models and strata over a random pool and these items; they depend on the seed only."""
        rng = np.random.default_rng(self.settings.seed)
        with one_thread():
            pool = Pool(self.items, len(clusters), self.settings.fuzzifier, rng, also=also)
            strata = Strata(pool.Z, np.random.default_rng([self.settings.seed, 2]))
            return self._ensemble(pool, clusters), strata

    def _ensemble(self, pool: Pool, clusters: tuple[int, ...]) -> Ensemble:
        """Models over a pool, of these clusters and their examples."""
        wide = self.k + (self.k in clusters)
        listed = np.array(clusters)
        examples = self._examples and self._examples.of_clusters(listed, wide)
        return Ensemble(pool, listed if len(listed) < wide else None, examples)

    @property
    def is_behind(self) -> bool:
        """Whether a milestone without models was reached."""
        return self._ranked is not self._answers

    @default_float_errors()
    def catch_up(self) -> None:
        """Fit models now if they are due, unless another thread does."""
        self._current(learn=True)

    def _current(self, *, learn: bool | None = None) -> "Ranking":
        """The ranking at the last milestone; the one before while another thread fits models."""
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
        """Whether the models of the last milestone exist."""
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
        """The ranking by these answers; kept if the belief is the same."""
        belief, kept = self._belief(answers), self._ranking
        if kept is not None and kept.belief is belief and kept.settings is self.settings:
            return kept
        self._errors[self._key(answers)] = _estimate_of(belief, len(answers))
        return self._rank(belief)

    def _rank(self, belief: Belief) -> "Ranking":
        """The ranking of questions that follows from a belief."""
        return Ranking(belief, self.settings)

    def _centers(self, belief: Belief, U: Floats) -> Floats:
        """Means of the items, weighted by powers of the memberships."""
        W = U**self.settings.fuzzifier
        sums = sum(W[rows].T @ self.items.take(rows) for rows in belief.chunks())
        centers: Floats = sums / np.maximum(W.sum(axis=0), 1e-300)[:, None]
        return centers

    def _diagnostics(self, belief: Belief, U: Floats) -> Diagnostics:
        """The diagnostics of the result."""
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
            annotators={name: one.to_dict() for name, one in belief.evidence.annotators.items()}
            | belief.advisers.to_dict(),
            models=weights,
            sharpness=1.0 if belief.stack is None else belief.stack.sharpness,
            n_queried_items=belief.n_answered,
            unassigned=float(belief.unassigned.sum() / max(belief.n_answered, 1)),
            suggested_clusters=belief.suggested_clusters,
            noise=noise if noise > 0.0 else None,
            queries_raw={"strata": len(self._answers)},
            queries_distinct={"strata": len(self._questions)},
        )


def _estimate_of(belief: Belief, n_answers: int) -> ErrorEstimate:
    """The estimated errors of a belief."""
    low, high = belief.error_band
    return ErrorEstimate(
        answers=n_answers, error=belief.estimated_error, low=low, high=high,
        wrong=belief.expected_wrong, wrong_band=belief.expected_wrong_band,
    )  # fmt: skip
