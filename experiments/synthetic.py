"""Figure 1: the error of the centres on synthetic data, against beta, questions and k.

The target is the fuzzy k-means optimum of the data, as in the paper; so the unsupervised fit, which
sees the same data, needs no question at all. Its line stands in every panel.

What the paper leaves open (paper notes N3, N26, N28): r is not given for this data. In the paper's
setting it is r = eta_1 * m here, as for the real data. In the setting of equal questions, the
sequential algorithm has m = 2 nu / (k + 1), which is the paper's nu / 2.5 at k = 4, and r is found
by trying so that it asks as many different questions as the two-phase algorithm does.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from askmeans.estimators import FuzzyKMeans
from askmeans.metrics import beta, center_error
from askmeans.oracles import TableOracle
from askmeans.results import Result
from askmeans.strategies import Sequential, Strategy, TwoClusters, TwoPhase
from experiments.cells import Cell
from experiments.runs import Series, Task, generators, repeat, seeds, size_for
from experiments.scale import Scale

__all__ = [
    "EQUAL",
    "PAPER",
    "bin_size",
    "cells",
    "largest_error",
    "make_far_cluster",
    "paper_strategies",
    "task_for",
]

Floats = NDArray[np.float64]

PAPER, EQUAL = "the paper's setting", "equal questions"
ETA = 0.1
BOX = 200.0  # side of the box of the means
PILOTS = 2  # runs that find about the size for a number of questions
CLOSE = 0.02  # how near to that number is near enough


def cells(scale: Scale, seed: int) -> list[Cell]:
    """Figure 1, one cell for each data set and nu."""
    todo = []

    def add(panel: str, x: float, k: int, first: int, other: int, nu: int) -> None:
        n, runs = first + (k - 1) * other, scale.synthetic_runs
        todo.append(
            Cell.of(
                f"figure_1-{panel[0]}-{k}-{other // first}-{nu}", cell,
                runs * (0.2 + n * k * 2.5e-6 + nu * k * 4e-5),
                panel=panel, x=x, k=k, first=first, other=other, nu=nu, runs=runs, seed=seed,
            )
        )  # fmt: skip

    for zeta in scale.zetas:
        for nu in scale.synthetic_nus:
            add(f"a, nu = {nu}", zeta, 4, scale.unit, zeta * scale.unit, nu)
    for zeta in scale.query_zetas:
        for nu in scale.query_nus:
            panel = f"b, beta = {4 / (1 + 3 * zeta):g}"
            add(panel, nu, 4, scale.unit, zeta * scale.unit, nu)
    for k in scale.ks:
        for nu in scale.synthetic_nus:
            add(f"c, nu = {nu}", k, k, scale.unit // 5, 12 * scale.unit // 5, nu)
    return todo


def cell(
    *, panel: str, x: float, k: int, first: int, other: int, nu: int, runs: int, seed: int
) -> list[Series]:
    """All curves at one point of figure 1, in both settings."""
    task = task_for(k, first, other, seed)
    names = ("figure 1", k, other / first)
    point = {"panel": panel, "x": x}

    def series(strategy: Strategy, n: int, **where: str) -> Series:
        return repeat(task, strategy, generators(seed, *names, n=n), **point, **where)

    paper = {
        curve: series(strategy, runs, setting=PAPER, curve=curve)
        for curve, strategy in paper_strategies(nu, k).items()
    }
    wanted = float(np.mean(paper["two-phase, faithful"].queries))
    equal = [replace(paper["two-phase, faithful"], setting=EQUAL)]
    for curve, (make, start) in families(nu, k).items():
        like = partial(series, setting=EQUAL, curve=curve)
        equal.append(_of_equal_cost(like, make, start, wanted, runs))
    alone = Series.unasked(
        _unsupervised(k, first, other, seed, runs), setting=PAPER, curve="no questions", **point
    )
    size = beta(_target(k, first, other, seed)[1].memberships_)
    facts = Series.unasked([size], setting="beta", curve="target", **point)
    return [*paper.values(), *equal, alone, replace(alone, setting=EQUAL), facts]


def task_for(k: int, first: int, other: int, seed: int) -> Task:
    """The data, its fuzzy k-means optimum as the expert's, and the largest error of a centre."""
    X, target = _target(k, first, other, seed)
    return Task(
        X=X,
        n_clusters=k,
        oracle=TableOracle(target.memberships_),
        judge=partial(largest_error, target.cluster_centers_),
    )


def paper_strategies(nu: int, k: int) -> dict[str, Strategy]:
    """The paper's sizes, to the letter and with our order."""
    m = max(1, round(nu / 2.5))
    strategies: dict[str, Strategy] = {}
    for way, faithful in (("faithful", True), ("our order", False)):
        strategies[f"two-phase, {way}"] = TwoPhase(sample_size=nu, precision=ETA, faithful=faithful)
        strategies[f"sequential, {way}"] = _sequential(m, faithful, bin_size(m))
        if k == 2:
            m_2 = max(1, round(2 * nu / 3))
            strategies[f"two clusters, {way}"] = _two_clusters(m_2, faithful, bin_size(m_2))
    return strategies


def bin_size(m: int) -> int:
    """The paper's r, read as m * eta_1 (paper note N3), at least 1."""
    return max(1, round(m * ETA))


def families(nu: int, k: int) -> dict[str, tuple[Callable[[int], Strategy], int]]:
    """Strategies by the size that decides their cost, and where to begin looking for it."""
    m = max(1, round(2 * nu / (k + 1)))
    strategies: dict[str, tuple[Callable[[int], Strategy], int]] = {
        "two-phase, our order": (
            lambda size: TwoPhase(sample_size=size, precision=ETA),
            max(1, round(nu * k / (k - 1))),
        ),
        "sequential, faithful": (partial(_sequential, m, True), max(1, m // 3)),
        "sequential, our order": (partial(_sequential, m, False), max(1, m // 2)),
    }
    if k == 2:
        for way, faithful in (("faithful", True), ("our order", False)):
            make = partial(_two_clusters, m, faithful)
            strategies[f"two clusters, {way}"] = (make, max(1, m // 2))
    return strategies


def _of_equal_cost(
    series: Callable[..., Series],
    make: Callable[[int], Strategy],
    start: int,
    wanted: float,
    runs: int,
) -> Series:
    """The runs of a strategy at the size with `wanted` different questions.

    A few of them find about where that is. Then all are run, at four sizes at most.
    """
    made: dict[int, Series] = {}

    def questions(n: int, size: int) -> float:
        made[size] = series(make(size), n)
        return float(np.mean(made[size].queries))

    near = size_for(partial(questions, PILOTS), wanted, start=start)
    return made[size_for(partial(questions, runs), wanted, start=near, trials=4, close=CLOSE)]


def _sequential(m: int, faithful: bool, r: int) -> Strategy:
    """Sequential with these sizes."""
    return Sequential(
        sample_size=m, bin_size=r, coarse_precision=ETA, precision=ETA, faithful=faithful
    )


def _two_clusters(m: int, faithful: bool, r: int) -> Strategy:
    """Two clusters with these sizes."""
    return TwoClusters(sample_size=m, bin_size=r, precision=ETA, faithful=faithful)


def make_far_cluster(
    n_clusters: int, *, first_size: int, other_size: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """The paper's synthetic data and their means: Gaussian clusters in ten dimensions, one far.

    Every coordinate of the first mean is at least 1000 from every coordinate of the others, and
    items have a standard deviation of 20 in each. The paper does not say where the other means lie
    (paper note N28): here uniformly in a box of side 200, so that they are about 260 apart, four
    times the radius of a cluster, which is 63. The first lies in a like box beyond the gap. The
    means are drawn first, so that the same generator gives the same means for all sizes.
    """
    means = rng.uniform(0.0, BOX, size=(n_clusters, 10))
    means[0] += BOX + 1000.0
    X = np.repeat(means, [first_size] + [other_size] * (n_clusters - 1), axis=0)
    X += 20.0 * rng.normal(size=X.shape)
    return X, means


@lru_cache(maxsize=2)
def _target(k: int, first: int, other: int, seed: int) -> tuple[Floats, FuzzyKMeans]:
    """The data and its fuzzy k-means optimum, found from the true means."""
    rng = np.random.default_rng(seeds(seed, "synthetic data", k))
    X, means = make_far_cluster(k, first_size=first, other_size=other, rng=rng)
    return X, FuzzyKMeans(k, init=means, tol=1e-6).fit(X)


def largest_error(centers: Floats, result: Result) -> float:
    """The largest error of a centre; questions about clusters leave no doubt which is which."""
    return float(np.linalg.norm(result.clustering.centers - centers, axis=1).max())


@cache
def _unsupervised(k: int, first: int, other: int, seed: int, runs: int) -> list[float]:
    """Errors of fits without questions, clusters matched."""
    X, target = _target(k, first, other, seed)
    return [
        center_error(
            target.cluster_centers_, FuzzyKMeans(k, random_state=rng).fit(X).cluster_centers_
        )
        for rng in generators(seed, "no questions", k, other / first, n=runs)
    ]
