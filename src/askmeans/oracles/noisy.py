"""Oracles with inexact answers: with noise (the paper's appendix), or rounded to a scale."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from askmeans._util.arrays import Floats
from askmeans._util.checks import check_number, check_seed
from askmeans.driver import Oracle, annotators_of
from askmeans.exceptions import StopAsking
from askmeans.queries import GroupQueries, MembershipQueries, Queries, RelativeQueries
from askmeans.queries.values import to_scale

_SIDES = 3  # levels of a relative question: one, the other, both


class WrappingOracle(ABC):
    """An oracle that changes the answers of another, with the same annotators."""

    oracle: Oracle

    def answer(self, queries: Queries) -> Floats:
        """The other oracle's answers, changed; also those from before a stop."""
        try:
            return self._changed(queries, self.oracle.answer(queries))
        except StopAsking as stop:
            changed = self._changed(queries, stop.answers)
            changed = np.where(np.isnan(stop.answers), np.nan, changed)
            raise StopAsking(changed, stop.reached) from stop.__cause__

    def who(self, queries: Queries) -> list[str] | None:
        """The annotators of the other oracle."""
        return annotators_of(self.oracle, queries)

    @abstractmethod
    def _changed(self, queries: Queries, answers: Floats) -> Floats:
        """The answers of this oracle, from those of the other."""


class NoisyOracle(WrappingOracle):
    """Adds Gaussian noise to another oracle's answers.

    The noise of a question depends on the seed and the question alone, not on the order, so that
    all algorithms meet the same errors. A repeat of a question has another error. Each entry of a
    row has the error of the membership question about it.

    Parameters
    ----------
    oracle : object
        The oracle with exact answers.
    std : float
        Standard deviation of the noise.
    clip : bool, default=True
        Cut answers to [0, 1], as people do. Without it the noise has mean zero everywhere, and the
        attribute `noisy` is True.
    random_state : int, default=0
        The seed.

    Examples
    --------
    >>> from askmeans.oracles import TableOracle
    >>> from askmeans.queries import MembershipQueries
    >>> oracle = NoisyOracle(TableOracle(np.full((9, 2), 0.5)), std=0.1)
    >>> queries = MembershipQueries([3, 3], [0, 0], repeat=[0, 1])
    >>> first, second = oracle.answer(queries)
    >>> bool(first != second)
    True
    """

    def __init__(
        self,
        oracle: Oracle,
        *,
        std: float,
        clip: bool = True,
        random_state: int = 0,
    ) -> None:
        check_number(std, "std", "NoisyOracle")
        check_seed(random_state, "random_state", "NoisyOracle")
        self.oracle = oracle
        self.std = std
        self.clip = clip
        self.random_state = random_state

    def __repr__(self) -> str:
        return f"NoisyOracle({self.oracle!r}, std={self.std})"

    @property
    def noisy(self) -> bool:
        """Whether answers may leave [0, 1]."""
        return not self.clip

    def _changed(self, queries: Queries, answers: Floats) -> Floats:
        noise = ndtri(uniform_of_entries(queries, self.random_state))
        disturbed = np.asarray(answers, np.float64) + self.std * noise
        if isinstance(queries, RelativeQueries):  # 1, 0 or one half only
            return to_scale(disturbed, _SIDES)
        return np.clip(disturbed, 0.0, 1.0) if self.clip else disturbed


class QuantizedOracle(WrappingOracle):
    """Rounds another oracle's answers to the points of a scale from 0 to 1, rows entry by entry.

    Answers to relative questions stay: they have their own scale.

    Parameters
    ----------
    oracle : object
        The oracle with exact answers.
    levels : int
        Number of points of the scale, at least 2; five are 0, 1/4, 1/2, 3/4 and 1.

    Examples
    --------
    >>> from askmeans.oracles import TableOracle
    >>> from askmeans.queries import MembershipQueries
    >>> oracle = QuantizedOracle(TableOracle([[0.3, 0.7]]), levels=5)
    >>> oracle.answer(MembershipQueries([0, 0], [0, 1]))
    array([0.25, 0.75])
    """

    def __init__(self, oracle: Oracle, *, levels: int) -> None:
        check_number(levels, "levels", "QuantizedOracle", integer=True, minimum=2)
        self.oracle = oracle
        self.levels = levels

    def __repr__(self) -> str:
        return f"QuantizedOracle({self.oracle!r}, levels={self.levels})"

    def _changed(self, queries: Queries, answers: Floats) -> Floats:
        if isinstance(queries, RelativeQueries):
            return answers
        return to_scale(answers, self.levels)


def uniform_of(queries: Queries, seed: int) -> Floats:
    """A number in (0, 1) for each question, a hash of its identity."""
    if not len(queries):
        return np.empty(0)
    table = np.frombuffer(b"".join(queries.identities()), dtype=np.uint64)
    table = table.reshape(len(queries), -1)
    state = np.full(len(queries), (int(seed) * 2 + 1) % 2**64, dtype=np.uint64)
    for column in (*table.T, np.full(len(queries), len(queries.kind), dtype=np.uint64)):
        state = _mix(state ^ _mix(column + np.uint64(0x9E3779B97F4A7C15)))
    return (state >> np.uint64(12)).astype(np.float64) / 2.0**52 + 2.0**-53


def uniform_of_entries(queries: Queries, seed: int) -> Floats:
    """A number in (0, 1) for each entry of the answers: a group question has one per cluster."""
    if not isinstance(queries, GroupQueries):
        return uniform_of(queries, seed)
    k = queries.n_clusters
    entries = MembershipQueries(
        np.repeat(queries.items, k),
        np.tile(np.arange(k), len(queries)),
        repeat=np.repeat(queries.repeat, k),
    )
    return uniform_of(entries, seed).reshape(queries.shape)


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64 bits (the finaliser of splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
