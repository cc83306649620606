"""Asking again what matters: all questions once, then those again whose answers matter most.

An answer matters when others contradict it, when many items take their membership from it, when it
is the only one about its item. That it is near a threshold of the search does not count: all
answers are fitted together in the end, and no threshold is left. What an answer means for the rest
shows only when all are there, so the plan is played again with better answers. Better answers may
lead it elsewhere; what was answered on the way left is handed to it as held (`Averaged.held`).
"""

import math
import warnings
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from askmeans.contradictions import expected_answers
from askmeans.denoising import robust_scale
from askmeans.exceptions import AskmeansError, AskmeansWarning, PlanError, StopAsking
from askmeans.plans.answers import Averaged, Held, Plan
from askmeans.queries import MembershipQueries, PairQueries, Queries, TripletQueries
from askmeans.results import Clustering
from askmeans.wrappers.repeated import Average, aggregate, check_repeats, stop_plan

__all__ = ["repeated_adaptively"]

Floats = NDArray[np.float64]
Key = tuple[str, bytes]

_PASSES = 4
_DOUBTED, _OFTEN_ENOUGH = 3.0, 3  # deviations; askings after which an answer is not doubted more


def repeated_adaptively(
    make_plan: Callable[[], Plan], times: int = 3, *, how: Average = "mean"
) -> Plan:
    """Ask all questions of a plan once, then those again that matter, and average.

    Answers that cannot all be true are asked again first; then those on which many items depend. A
    plan that stops early (a spent budget, say) averages what there is.

    Parameters
    ----------
    make_plan : callable
        Makes the plan, the same one each time: from a new generator of the same seed.
    times : int, default=3
        How often a question is asked on average, at most; a budget ends it before.
    how : {"mean", "median", "median-of-means", "trimmed-mean"}, default="mean"
        How answers are averaged (see `repeated`).

    Returns
    -------
    generator
        A plan.

    Raises
    ------
    ParameterError
        If `times` is not a whole number from 1 up, or `how` is no such word.

    Examples
    --------
    >>> from askmeans import TwoPhase, oracles, run
    >>> X = np.arange(60.0).reshape(-1, 1)
    >>> expert = oracles.TableOracle.from_labels(np.arange(60) // 30)
    >>> def make_plan():
    ...     return TwoPhase(sample_size=20).plan(X, 2, fuzzifier=2.0, rng=np.random.default_rng(0))
    >>> plan = repeated_adaptively(make_plan, times=3)
    >>> result = run(plan, oracles.NoisyOracle(expert, std=0.2))
    >>> once = len({answer.items for answer in result.history})
    >>> 2 * once < result.n_queries <= 3 * once
    True
    """
    check_repeats(times, how, "repeated_adaptively")
    return _adapt(make_plan, int(times), how)


def _adapt(
    make_plan: Callable[[], Plan], times: int, how: Average
) -> Generator[Queries, Floats, Clustering]:
    """Play, ask again, play again."""
    book = _Book(how)
    clustering, stopped, used = yield from _play(make_plan(), book, stopped=False)
    book.replaying = True
    most = times * len(book)
    guide = clustering  # says what to ask again
    named = any(kind == "membership" for kind, _ in book.questions)
    if times > 1 and named and not stopped and clustering.again is None:
        # Answers taken at their word tell nothing of each other: fit the same ones as rough.
        guide, *_ = yield from _play(make_plan(), book, stopped=True, rough=True)
    for number in range(_PASSES):
        left = most - book.n_asked
        if stopped or left <= 0:
            break
        for batch, numbers in book.most_wanted(guide, -(-left // (_PASSES - number))):
            try:
                book.record_again(numbers, (yield batch))
            except StopAsking as stop:
                book.record_again(numbers, stop.answers, reached=stop.asked)
                stopped = True
                break
        try:
            found, stopped, now = yield from _play(make_plan(), book, stopped=stopped)
        except (PlanError, StopAsking):
            raise
        except AskmeansError as error:  # what was found before stands
            warnings.warn(f"Better answers ended the plan with an error, so the result is the one "
                          f"before them ({error}). Ask more.",
                          AskmeansWarning, stacklevel=2)  # fmt: skip
            clustering = replace(clustering, complete=False)
            break
        if not stopped or now >= used:  # one that was cut off may have seen less
            clustering, used = found, now
        guide = clustering
    return replace(
        clustering,
        diagnostics=clustering.diagnostics | {"repeats": book.n_asked / max(len(book), 1)},
    )


def _play(
    plan: Plan, book: "_Book", *, stopped: bool, rough: bool = False
) -> Generator[Queries, Floats, tuple[Clustering, bool, int]]:
    """A plan to its end, asking only what was never asked; whether it was stopped; answers used."""
    used: set[int] = set()
    try:
        queries = next(plan)
        while True:
            new = book.unknown(queries)
            if len(new) and not stopped:
                try:
                    book.record(new, (yield new))
                except StopAsking as stop:
                    book.record(new, stop.answers, reached=stop.asked)
                    stopped = True
            answers = book.averaged(queries, rough=rough)
            used |= book.known(queries)
            if len(new) and stopped:
                stop_plan(plan, answers)
            queries = plan.send(answers)
    except StopIteration as end:
        if end.value.again is not None:  # it knows of what was held, too
            used |= book.known(end.value.again[0])
        return end.value, stopped, sum(len(book.told[number]) for number in used)
    finally:
        plan.close()


class _Book:
    """Every question asked, with all its answers; questions have a number, in the order asked."""

    def __init__(self, how: Average) -> None:
        self.how: Average = how
        self.numbers: dict[Key, int] = {}
        self.told: list[list[float]] = []
        self.questions: list[tuple[str, tuple[int, ...]]] = []  # kind, items and cluster
        self.next_repeat: Counter[tuple[str, tuple[int, ...]]] = Counter()
        self.n_asked = 0
        self.replaying = False
        self._held: tuple[int, Held] | None = None

    def __len__(self) -> int:
        return len(self.told)

    def unknown(self, queries: Queries) -> Queries:
        """Those never asked, each once."""
        first: dict[Key, int] = {}
        for row, key in enumerate(_keys(queries)):
            if key not in self.numbers:
                first.setdefault(key, row)
        return queries.take(np.fromiter(first.values(), dtype=np.intp, count=len(first)))

    def record(
        self, queries: Queries, answers: Floats, *, reached: NDArray[np.bool_] | None = None
    ) -> None:
        """Keep answers to new questions; what was not reached was not asked."""
        kind, repeats = queries.kind, queries.repeat.tolist()
        for row, key in enumerate(_keys(queries)):
            if reached is None or reached[row]:
                question = kind, _parts(queries, row)
                self.numbers[key] = len(self.told)
                self.told.append([float(answers[row])])
                self.questions.append(question)
                self.next_repeat[question] = max(self.next_repeat[question], repeats[row] + 1)
                self.n_asked += 1

    def record_again(
        self, numbers: list[int], answers: Floats, *, reached: NDArray[np.bool_] | None = None
    ) -> None:
        """Keep further answers; who could not say adds nothing, but was asked."""
        self.n_asked += len(numbers) if reached is None else int(reached.sum())
        for number, answer in zip(numbers, answers.tolist(), strict=True):
            if not math.isnan(answer):
                self.told[number].append(answer)

    def known(self, queries: Queries) -> set[int]:
        """Numbers of those that were asked."""
        return {self.numbers[key] for key in _keys(queries) if key in self.numbers}

    def averaged(self, queries: Queries, *, rough: bool = False) -> Averaged:
        """Averages, with what was averaged, NaN where nothing is known; and all else that is held.

        Nothing is held besides in the first play.
        """
        numbers = [self.numbers.get(key, -1) for key in _keys(queries)]
        each = self._each(numbers)
        held = self._everything() if self.replaying else None
        if held is not None and rough:
            held = replace(held, rough=True)
        return Averaged(aggregate(each, self.how), each, held)

    def _everything(self) -> Held:
        """All answers, by kind; made anew only when there are more."""
        if self._held is None or self._held[0] != self.n_asked:
            batches = []
            for kind in sorted({kind for kind, _ in self.questions}):
                mine = [n for n, question in enumerate(self.questions) if question[0] == kind]
                batches.append((self._batch(kind, mine, [0] * len(mine)), self._each(mine)))
            self._held = self.n_asked, Held(batches=tuple(batches))
        return self._held[1]

    def _each(self, numbers: list[int]) -> Floats:
        """All answers to these questions, one row a repeat; none for -1."""
        told = [self.told[number] if number >= 0 else [] for number in numbers]
        each = np.full((max(map(len, told), default=1) or 1, len(told)), np.nan)
        for column, values in enumerate(told):
            each[: len(values), column] = values
        return each

    def most_wanted(self, clustering: Clustering, size: int) -> list[tuple[Queries, list[int]]]:
        """So many questions to ask again, the most useful first: batches and question numbers."""
        gains = self._gains(clustering)
        counts = np.array([len(values) for values in self.told], dtype=np.float64)
        chosen: list[int] = []
        while len(chosen) < size and (gains > 0.0).any():
            # A quarter at a time; what was chosen is less useful the next time.
            take = min(size - len(chosen), max(1, len(gains) // 4))
            best = np.argsort(-gains, kind="stable")[:take]
            best = best[gains[best] > 0.0]
            chosen += best.tolist()
            gains[best] = np.minimum(gains[best], 1.0) * counts[best] / (counts[best] + 2.0)
            counts[best] += 1.0
        batches = []
        for kind in sorted({self.questions[number][0] for number in chosen}):
            mine = [number for number in chosen if self.questions[number][0] == kind]
            repeats = []
            for number in mine:
                repeats.append(self.next_repeat[self.questions[number]])
                self.next_repeat[self.questions[number]] += 1
            batches.append((self._batch(kind, mine, repeats), mine))
        return batches

    def _gains(self, clustering: Clustering) -> Floats:
        """What asking each question again would bring; above 1 for those that are contradicted."""
        gains = np.zeros(len(self.told))
        if clustering.again is not None:
            queries, known = clustering.again
            for key, gain in zip(_keys(queries), known.tolist(), strict=True):
                if key in self.numbers:
                    gains[self.numbers[key]] = gain
            if (gains > 0.0).any():
                return gains
        # The plan does not say: the less often asked and the more contradicted, the sooner.
        for kind in sorted({kind for kind, _ in self.questions}):
            mine = [n for n, question in enumerate(self.questions) if question[0] == kind]
            batch = self._batch(kind, mine, [0] * len(mine))
            counts = np.array([len(self.told[number]) for number in mine], dtype=np.float64)
            told = np.array([np.mean(self.told[number]) for number in mine])
            away = np.abs(told - expected_answers(batch, clustering.memberships))
            known_ = ~np.isnan(away)
            scale = max(robust_scale(away[known_], np.ones(known_.sum())), 1e-3)
            gain = 0.5 / (counts * (counts + 1.0))
            doubted = (away > _DOUBTED * scale) & (counts < _OFTEN_ENOUGH)
            gain += np.where(doubted, away / scale, 0.0)
            gains[mine] = np.where(known_, gain, 0.0)  # who could not say cannot say again
        return gains

    def _batch(self, kind: str, numbers: list[int], repeats: list[int]) -> Queries:
        """Questions of one kind as a batch."""
        table = np.array([self.questions[number][1] for number in numbers], dtype=np.int64)
        if kind == "membership":
            return MembershipQueries(table[:, 0], table[:, 1], repeat=repeats)
        return (PairQueries if kind == "pair" else TripletQueries)(table, repeat=repeats)


def _keys(queries: Queries) -> list[Key]:
    """What identifies each question."""
    return [(queries.kind, identity) for identity in queries.identities()]


def _parts(queries: Queries, row: int) -> tuple[int, ...]:
    """The items of a question, and its cluster."""
    items = tuple(sorted(queries.item_table[row].tolist()))
    if isinstance(queries, MembershipQueries):
        return (*items, int(queries.clusters[row]))
    return items
