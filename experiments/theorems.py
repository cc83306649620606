"""The smallest unnamed constants of Theorems 1 to 3, on planted data.

A theorem promises that with its sizes the algorithm, followed to the letter, finds centres within
eps and memberships within eta with probability 1 - delta. The sizes have an unnamed constant c;
here the promise is tried on data that satisfies the assumptions, over many seeds.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans.budgets import sequential_sizes, two_clusters_sizes, two_phase_sizes
from askmeans.datasets import make_cores_and_arms
from askmeans.datasets.planted import Planted
from askmeans.driver import run
from askmeans.metrics import beta, is_solution
from askmeans.oracles import TableOracle
from askmeans.strategies import PaperStrategy, Sequential, TwoClusters, TwoPhase

__all__ = ["THEOREMS", "Theorem", "promise_kept", "smallest_constant"]

EPS, ETA, DELTA = 0.1, 0.1, 0.1
FUZZIFIER = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Theorem:
    """A theorem, the planted data it is tried on, and a constant that is more than enough."""

    number: int
    core_sizes: tuple[int, ...]
    ample: float

    def planted(self, seed: int) -> Planted:
        """Items around the origin, and their target."""
        rng = np.random.default_rng([seed, self.number])
        return make_cores_and_arms(list(self.core_sizes), fuzzifier=FUZZIFIER, rng=rng)

    def strategy(self, planted: Planted, c: float) -> PaperStrategy:
        """The algorithm with the theorem's sizes on this data, to the letter."""
        n, k = planted.memberships.shape
        goal: dict[str, Any] = {
            "R": float(np.linalg.norm(planted.X, axis=1).max()),
            "eps": EPS,
            "delta": DELTA,
        }
        if self.number == 3:
            sizes = two_clusters_sizes(n, eta=ETA, c=c, **goal)
            return TwoClusters(
                sample_size=sizes.sample_size, bin_size=sizes.bin_size, precision=ETA, faithful=True
            )
        smallest = beta(planted.memberships)
        goal |= {"alpha": FUZZIFIER, "beta": smallest, "c": c}
        if self.number == 1:
            sizes = two_phase_sizes(n, k, eta=ETA, **goal)
            return TwoPhase(sample_size=sizes.sample_size, precision=ETA, faithful=True)
        eta_1 = smallest / (k * (k - 1))
        sizes = sequential_sizes(n, k, eta_1=eta_1, eta_2=ETA, **goal)
        return Sequential(
            sample_size=sizes.sample_size, bin_size=sizes.bin_size, coarse_precision=eta_1,
            precision=ETA, faithful=True,
        )  # fmt: skip


THEOREMS = (
    Theorem(number=1, core_sizes=(200, 200, 100), ample=2.0**-20),
    Theorem(number=2, core_sizes=(200, 200, 100), ample=2.0**-18),
    Theorem(number=3, core_sizes=(400, 60), ample=2.0**-6),
)


def promise_kept(theorem: Theorem, c: float, seeds: NDArray[np.intp] | range) -> float:
    """The share of seeds in which the promise is kept with this constant."""
    kept = 0
    for seed in seeds:
        planted = theorem.planted(int(seed))
        k = planted.memberships.shape[1]
        rng = np.random.default_rng(int(seed))
        plan = theorem.strategy(planted, c).plan(planted.X, k, fuzzifier=FUZZIFIER, rng=rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a cluster that a tiny sample misses
            clustering = run(plan, TableOracle(planted.memberships)).clustering
        kept += is_solution(
            planted.centers, planted.memberships, clustering.centers, clustering.memberships,
            center_tolerance=EPS, membership_tolerance=ETA,
        )  # fmt: skip
    return kept / len(seeds)


def smallest_constant(theorem: Theorem, *, n_seeds: int = 200) -> float:
    """The smallest power of two with which the promise is kept in a share of 1 - delta of seeds."""
    c = theorem.ample
    while promise_kept(theorem, c, range(n_seeds)) >= 1.0 - DELTA:
        c /= 2.0
    return 2.0 * c
