"""Running one strategy many times: seeds from names, what each run cost, sizes for a cost."""

import hashlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans.driver import Oracle, run
from askmeans.items import as_items
from askmeans.results import Result
from askmeans.strategies import Strategy

__all__ = ["Series", "Task", "calibrated", "generators", "repeat", "seeds"]

Floats = NDArray[np.float64]

_PILOTS = 6  # trials to find a size, at most
_CLOSE = 0.01  # how near to the questions wanted is near enough


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """All runs at one point of one curve."""

    panel: str
    setting: str
    curve: str
    x: float
    values: Sequence[float]
    queries: Sequence[int]
    raw: Sequence[int]


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
    task: Task,
    strategy: Strategy,
    rngs: Iterator[np.random.Generator],
    *,
    panel: str,
    setting: str,
    curve: str,
    x: float,
) -> Series:
    """Run a strategy once with each generator."""
    task = _prepared(task)
    values, queries, raw = [], [], []
    for rng in rngs:
        result = task.once(strategy, rng)
        values.append(task.judge(result))
        queries.append(result.n_queries)
        raw.append(result.n_queries_raw)
    return Series(
        panel=panel, setting=setting, curve=curve, x=x, values=values, queries=queries, raw=raw
    )


def calibrated(
    task: Task,
    make: Callable[[int], Strategy],
    wanted: float,
    *,
    start: int,
    rngs: Callable[[], Iterator[np.random.Generator]],
) -> Strategy:
    """The strategy, of those that `make` gives for a size, that asks so many different questions.

    Found by a few pilot runs: questions grow with the size, nearly in proportion.
    """
    task = _prepared(task)

    def asked(size: int) -> float:
        return float(np.mean([task.once(make(size), rng).n_queries for rng in rngs()]))

    tried = {0: 0.0}
    size = max(1, start)
    for _ in range(_PILOTS):
        tried[size] = asked(size)
        if abs(tried[size] - wanted) <= _CLOSE * wanted:
            break
        below = max((s for s, q in tried.items() if q <= wanted), default=0)
        above = min((s for s, q in tried.items() if q > wanted), default=None)
        if above is None:  # go on along the line through the two largest
            left, right = sorted(tried)[-2:]
        else:
            left, right = below, above
        slope = (tried[right] - tried[left]) / (right - left)
        if slope <= 0.0:  # nothing is left to ask
            break
        guess = round(left + (wanted - tried[left]) / slope)
        guess = max(1, min(guess, 4 * max(tried)))
        if guess in tried:
            break
        size = guess
    best = min((s for s in tried if s), key=lambda s: abs(tried[s] - wanted))
    return make(best)


def _prepared(task: Task) -> Task:
    """The same with the data checked once, not in every run."""
    return replace(task, X=as_items(task.X))
