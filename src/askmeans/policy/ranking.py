"""The ranking of questions: uncertain parts of the pool first, each covered by a few items.

Rules of this file:
- An item's most probable cluster comes first; the rest of its row only while a share is unknown.
- A ranking contains every possible question.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np

from askmeans.fuzzy.arrays import ROUNDING, without_last_bits
from askmeans.policy.advisers import audit_order
from askmeans.policy.belief import EXACT, Belief, Scale
from askmeans.policy.scales import UNASSIGNED_SUM
from askmeans.queries import Question

Ask = Literal["membership", "group", "similarity", "pairwise", "relative"]
EXPLORE = 0.05  # smallest uncertainty of an item, as a share of the mean
_REPEATS = 10  # repeated answers that determine their spread within a quarter
_DOUBTED, _OFTEN_ENOUGH = 3.0, 3  # robust deviations; a median of three outvotes one slip


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All parameters of the policy's questions."""

    n_clusters: int
    fuzzifier: float = 2.0
    ask: Ask = "membership"
    precision: float = 0.005
    target: float | None = None
    max_items: int | None = 100
    repeats: int = 1
    scale: Scale = EXACT
    seed: int = 0
    audit: float = 0.0  # share of new items that are random, to audit advisers


class Lazy:
    """A list that is computed while it is read; several threads may read it."""

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
        """Whether there is a question at this place; computes it."""
        with self._making:
            if len(self._made) == place:
                self._made.extend(islice(self._source, 1))
            return len(self._made) > place


class Ranking:
    """All questions, the best first: those worth asking, then all others."""

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
        """The number of new items to ask about; None without a limit."""
        most = self.settings.max_items
        return None if most is None else max(0, most - len(self.belief.places))

    def subject(self, question: Question) -> int:
        """The item that a question is about."""
        return question.items[0]

    def _wanted(self) -> Iterator[Question]:
        """Open rows, wanted new items, and questions to ask again."""
        if self.k == 1:
            return
        if self.belief.is_precise(self.settings.precision, self.settings.target):
            yield from self._open(1.0, 1.0, every=True)  # items that may be in no cluster
            yield from self._again(doubtful=False)
            return
        yield from self._unnamed() if self.belief.is_naming else self._open(UNASSIGNED_SUM, 1.0)
        yield from self._again(doubtful=True)
        yield from self._noise_checks()
        room = self.room
        yield from islice(self._new(), room)
        if room is None or room >= len(self.belief.pool) - len(self.belief.places):
            # No new item is left: small unknown shares come next.
            yield from self._open(ROUNDING, UNASSIGNED_SUM, every=True)
        if room is None:
            yield from self._outside()
        yield from self._again(doubtful=False)

    def _others(self) -> Iterator[Question]:
        """All other questions: other items, other entries, items outside the pool."""
        if self.k == 1:
            return
        known = set(self.wanted)
        yield from (question for question in self._new() if question not in known)
        yield from self._outside()
        if self.settings.ask == "group":
            return
        pool = self.belief.pool
        order = np.argsort(-self.belief.probabilities[:, : self.k], axis=1, kind="stable")
        for column in range(self.k - 1):
            for place, row in enumerate(pool.rows.tolist()):
                yield Question("membership", (row,), int(order[place, column]))

    def _outside(self) -> Iterator[Question]:
        """Items outside the pool, in a random order, with their most probable cluster."""
        pool = self.belief.pool
        rows = np.setdiff1d(np.arange(pool.items.n), pool.rows)
        for row in np.random.default_rng([self.settings.seed, 1]).permutation(rows):
            yield self._outside_pool(int(row))

    def _outside_pool(self, row: int) -> Question:
        """The question about an item outside the pool, with its most probable cluster."""
        if self.settings.ask == "group":  # without a cluster
            return self._about(row, 0)
        expected = self.belief.predictor(self.belief.pool.items.take(np.array([row])))[0]
        return self._about(row, int(without_last_bits(expected).argmax()))

    def _about(self, row: int, cluster: int, repeat: int = 0) -> Question:
        """The question about an item."""
        if self.settings.ask == "group":
            return Question("group", (int(row),), None, repeat)
        return Question("membership", (int(row),), int(cluster), repeat)

    def _open(self, more: float, most: float, *, every: bool = False) -> Iterator[Question]:
        """Incomplete rows: the most probable cluster without a question.

        With `every` all items that may be in no cluster are included.
        """
        if self.settings.ask == "group":
            return
        belief = self.belief
        evidence, complete = belief.evidence, belief.evidence.to_complete
        unknown = ~evidence.queried & (np.isnan(evidence.values) | complete[:, None])
        left, waiting = evidence.left, evidence.all_but_one
        open_ = complete | ((left > more) & (left <= most) & ~waiting)
        open_ |= waiting if every else evidence.to_check
        open_ &= unknown.any(axis=1)
        expected = np.where(unknown[open_], belief.probabilities[belief.places[open_]], -1.0)
        clusters = without_last_bits(expected).argmax(axis=1)
        for item, cluster in zip(evidence.items[open_], clusters, strict=True):
            yield self._about(item, cluster)

    def _unnamed(self) -> Iterator[Question]:
        """While a cluster has no item: a few items at a time, until their strongest is known.

        Items one after the other need half as many questions to find all clusters as items in turn.
        """
        if self.settings.ask == "group":
            return
        belief, evidence = self.belief, self.belief.evidence
        width, each = max(2, self.k // 4), 1 if self.k <= 4 else 2
        unknown = ~evidence.queried & np.isnan(evidence.values)
        left = evidence.left
        lost = (left > np.nan_to_num(evidence.values).max(axis=1, initial=0.0)) & (
            left > UNASSIGNED_SUM
        )
        lost &= (~evidence.all_but_one | evidence.to_check) & unknown.any(axis=1)
        places, unknown = belief.places[lost], unknown[lost]
        if len(places) < width:
            new = np.array(list(islice(self._places(), width - len(places))), dtype=np.intp)
            places = np.concatenate([places, new])
            fresh = np.arange(belief.k) < self.k  # no question is about "none of these"
            unknown = np.concatenate([unknown, np.repeat(fresh[None], len(new), axis=0)])
        # A cluster without items is more probable.
        score = np.where(unknown, belief.unsupervised[places] + 0.3 * ~belief.observed, -1.0)
        order = np.argsort(-without_last_bits(score), axis=1, kind="stable")
        first = order[:, : min(each, self.k - 1)]
        for place, clusters, mine in zip(places, first, unknown, strict=True):
            for cluster in clusters[mine[clusters]]:
                yield self._about(belief.pool.rows[place], cluster)

    def _new(self) -> Iterator[Question]:
        """New items, with their most probable cluster."""
        best = map(self._most_probable, self._places())
        share = self.settings.audit if self.belief.advisers.members else 0.0
        if not share:
            yield from best
            return
        audits, count = self._audits(), len(self.belief.places)
        while True:  # the share among all items with answers, in any order
            random = int((count + 1) * share) > int(count * share)
            question = (next(audits, None) if random else None) or next(best, None)
            if question is None:
                return
            yield question
            count += 1

    def _most_probable(self, place: int) -> Question:
        """The question about an item of the pool, with its most probable cluster."""
        cluster = int(without_last_bits(self.belief.probabilities[place, : self.k]).argmax())
        return self._about(self.belief.pool.rows[place], cluster)

    def _audits(self) -> Iterator[Question]:
        """Random items among those with advice."""
        pool, answered = self.belief.pool, set(self.belief.evidence.items.tolist())
        given = self.belief.advisers.given
        advised = {row for adviser in given for row in adviser.advice.items.tolist()}
        places = {row: place for place, row in enumerate(pool.rows.tolist())}
        for row in audit_order(pool.items.n, self.settings.seed):
            if row in advised and row not in answered:
                yield self._most_probable(places[row]) if row in places else self._outside_pool(row)

    def _places(self) -> Iterator[int]:
        """New items of the pool: one for each unsupervised cluster, then by uncertainty."""
        belief, evenly = self.belief, EXPLORE
        uncertainty, first = np.ones(len(belief.pool)), []
        if belief.is_naming:
            known = set(belief.places.tolist())
            first = [place for place in belief.pool.typical if place not in known]
        elif belief.stack is not None:
            uncertainty = belief.stack.uncertainty
            uncertainty = uncertainty / max(float(uncertainty.mean()), 1e-300)
            if not belief.stack.answers_are_hard:  # the uncertainty of poor models is noise
                evenly = max(evenly, belief.stack.unexplained)
        yield from first
        covered = np.concatenate([belief.places, np.array(first, dtype=np.intp)])
        blank = []
        for place in belief.strata.choose(covered, (1.0 - evenly) * uncertainty + evenly):
            if int(belief.pool.rows[place]) in belief.pool.items.blank:
                blank.append(place)
            else:
                yield place
        yield from blank

    def _again(self, *, doubtful: bool) -> Iterator[Question]:
        """Repeats: answers that models contradict, or those with the fewest repeats."""
        belief, evidence, times = self.belief, self.belief.evidence, self.settings.repeats
        if times == 1 or belief.stack is None or not len(evidence.value):
            return
        within, repeated = evidence.spread()
        if repeated >= _REPEATS and within == 0.0:
            return  # repeats bring the same answers
        away = np.abs(evidence.values - belief.probabilities[belief.places])
        away[evidence.times == 0] = np.nan
        usual = max(float(np.nanmedian(away)) / 0.6745, 1e-3)
        gain = np.where(np.isnan(away), -1.0, away / usual)
        if doubtful:
            gain[(gain < _DOUBTED) | (evidence.times >= min(times, _OFTEN_ENOUGH))] = -1.0
        else:
            gain[evidence.times >= times] = -1.0
            gain = np.where(gain < 0.0, -1.0, gain + 1e3 * (times - evidence.times))
        for flat in np.argsort(-gain, axis=None, kind="stable"):
            place, cluster = np.unravel_index(int(flat), gain.shape)
            if gain[place, cluster] < 0.0:
                return
            yield self._about(
                evidence.items[place], int(cluster), repeat=int(evidence.times[place, cluster])
            )

    def _noise_checks(self) -> Iterator[Question]:
        """Some answers to repeat, since only repeats separate noise from errors of models.

        One in ten, spread over all items with answers, until there are enough.
        """
        belief, evidence = self.belief, self.belief.evidence
        if self.settings.repeats == 1 or belief.stack is None:
            return
        wanted = min(_REPEATS, len(evidence.value) // _REPEATS) - int(evidence.spread()[1])
        places, clusters = np.nonzero(evidence.times == 1)
        if wanted > 0 and len(places):
            for one in np.linspace(0, len(places) - 1, wanted + 2).astype(np.intp)[1:-1]:
                yield self._about(evidence.items[places[one]], int(clusters[one]), repeat=1)


def different(questions: Iterator[Question]) -> Iterator[Question]:
    """Each question once, at its first place."""
    seen: set[Question] = set()
    for question in questions:
        if question not in seen:
            seen.add(question)
            yield question
