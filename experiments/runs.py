"""Repeated runs of one strategy: seeds from names, costs, sizes for a given cost."""

import hashlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans.driver import Oracle, run
from askmeans.fuzzy.items import as_items
from askmeans.results import Result
from askmeans.strategies import Strategy

__all__ = ["Series", "Task", "generators", "repeat", "seeds", "size_for"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """All runs at one point of one curve."""

    panel: str
    setting: str = ""
    curve: str
    x: float
    values: Sequence[float]
    queries: Sequence[int]
    raw: Sequence[int]

    @classmethod
    def of(
        cls, results: Sequence[Result], judge: Callable[[Result], float], **point: Any
    ) -> "Series":
        """The scores and the costs of these runs."""
        return cls(
            values=[judge(result) for result in results],
            queries=[result.n_queries for result in results],
            raw=[result.n_queries_raw for result in results],
            **point,
        )

    @classmethod
    def unasked(cls, values: Sequence[float], **point: Any) -> "Series":
        """Results without questions."""
        return cls(values=values, queries=[0] * len(values), raw=[0] * len(values), **point)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Data, an oracle, and the measure of a result."""

    X: Any
    n_clusters: int
    oracle: Oracle
    judge: Callable[[Result], float]
    fuzzifier: float = 2.0

    def once(self, strategy: Strategy, rng: np.random.Generator) -> Result:
        """One run, without warnings about clusters that a small sample misses."""
        plan = strategy.plan(self.X, self.n_clusters, fuzzifier=self.fuzzifier, rng=rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run(plan, self.oracle)


def seeds(seed: int, *names: object) -> np.random.SeedSequence:
    """The seeds for these names: the same on every machine, in any order of work."""
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    return np.random.SeedSequence([seed, *np.frombuffer(digest, dtype=np.uint32).tolist()])


def generators(seed: int, *names: object, n: int) -> Iterator[np.random.Generator]:
    """One generator for each of n runs; a run's does not depend on how many there are."""
    return (np.random.default_rng(child) for child in seeds(seed, *names).spawn(n))


def repeat(
    task: Task, strategy: Strategy, rngs: Iterator[np.random.Generator], **point: Any
) -> Series:
    """Run a strategy once with each generator, for a point: its panel, setting, curve and x."""
    task = replace(task, X=as_items(task.X))  # checked once, not in every run
    return Series.of([task.once(strategy, rng) for rng in rngs], task.judge, **point)


def size_for(
    questions: Callable[[int], float],
    wanted: float,
    *,
    start: int,
    trials: int = 6,
    close: float = 0.01,
) -> int:
    """The size whose number of questions is nearest to `wanted`, of those tried.

    `questions` measures a size. The number grows with it almost linearly: the next size is where
    the line through the two nearest so far reaches `wanted`.
    """
    tried = {0: 0.0}
    size = max(1, start)
    for _ in range(trials):
        tried[size] = questions(size)
        if abs(tried[size] - wanted) <= close * wanted:
            break
        left, right = sorted(sorted(tried, key=lambda s: abs(tried[s] - wanted))[:2])
        slope = (tried[right] - tried[left]) / (right - left)
        if slope <= 0.0:  # nothing is left to ask
            break
        guess = round(left + (wanted - tried[left]) / slope)
        lowest = 1 + max(s for s, q in tried.items() if q <= wanted)
        highest = min((s - 1 for s, q in tried.items() if q > wanted), default=4 * max(tried))
        size = max(lowest, min(guess, highest))
        if size in tried:
            break
    return min((s for s in tried if s), key=lambda s: abs(tried[s] - wanted))
