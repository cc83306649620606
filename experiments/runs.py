"""Running one strategy many times: seeds from names, what each run cost, sizes for a cost."""

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
        """These runs, each judged, and what each cost."""
        return cls(
            values=[judge(result) for result in results],
            queries=[result.n_queries for result in results],
            raw=[result.n_queries_raw for result in results],
            **point,
        )

    @classmethod
    def unasked(cls, values: Sequence[float], **point: Any) -> "Series":
        """What was found without a question."""
        return cls(values=values, queries=[0] * len(values), raw=[0] * len(values), **point)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Data, somebody who answers, and how a result is judged."""

    X: Any
    n_clusters: int
    oracle: Oracle
    judge: Callable[[Result], float]
    fuzzifier: float = 2.0

    def once(self, strategy: Strategy, rng: np.random.Generator) -> Result:
        """One run; clusters that a small sample misses are no news here."""
        plan = strategy.plan(self.X, self.n_clusters, fuzzifier=self.fuzzifier, rng=rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run(plan, self.oracle)


def seeds(seed: int, *names: object) -> np.random.SeedSequence:
    """The seeds of whatever has these names: the same on every machine, in any order of work."""
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
    asked: Callable[[int], float],
    wanted: float,
    *,
    start: int,
    trials: int = 6,
    close: float = 0.01,
) -> int:
    """The size, of those tried, whose number of questions is nearest to what is wanted.

    `asked` measures a size. Questions grow with it, nearly along a line: the next one to try is
    where the line through the two nearest so far has the number wanted.
    """
    tried = {0: 0.0}
    size = max(1, start)
    for _ in range(trials):
        tried[size] = asked(size)
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
