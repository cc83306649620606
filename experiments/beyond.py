"""Beyond the paper's figures, since its text claims them: noise, similarities, hidden features."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from askmeans.budgets import noisy_repetitions, plan_budget
from askmeans.datasets import make_cores_and_arms
from askmeans.datasets.planted import Planted
from askmeans.driver import run
from askmeans.estimators import FuzzyKMeans
from askmeans.exceptions import BudgetError
from askmeans.metrics import membership_error, rho_weight
from askmeans.oracles import NoisyOracle, TableOracle
from askmeans.paper import by_similarity, repeated
from askmeans.paper.pool import Route
from askmeans.results import Result
from askmeans.strategies import Sequential, Strategy, TwoPhase
from experiments.cells import Cell
from experiments.real import DATA, load
from experiments.runs import Series, Task, generators, repeat, seeds
from experiments.scale import Form, Scale
from experiments.stratified import of_items
from experiments.synthetic import largest_error
from experiments.theorem_10 import repeated_solver

__all__ = ["BATCHES", "HIDDEN", "KAPPA", "NOISE", "SIGMA", "SIMILAR", "cells"]

Floats = NDArray[np.float64]

NOISE, SIMILAR, HIDDEN = "noise", "similarity", "hidden features"
# Theorem 10 is tried at one noise and one extra error; eta is the precision without noise.
SIGMA, KAPPA, ETA = 0.1, 0.1, 0.1
# B / ln(n), its batches, for each of its numbers of repetitions (paper note N22).
BATCHES: dict[Form, int] = {"printed": 6, "proof": 6, "corrected": 24}
# What the solver sees: the sepal; the first six of thirteen; the means, not errors and extremes.
SEEN = {"Iris": 2, "Wine": 6, "Breast Cancer": 10}
_ROUTES: dict[str, Route] = {"similarity": "triplet", "pairwise": "pairwise"}


def cells(scale: Scale, seed: int) -> list[Cell]:
    """One cell for each point; the weights are seconds, roughly."""
    todo = []

    def add(
        name: str, work: Callable[..., list[Series]], seconds: float, *, runs: int = 0, **what: Any
    ) -> None:
        runs = runs or scale.beyond_runs
        todo.append(Cell.of(name, work, runs * seconds, **what, runs=runs, seed=seed))

    for sigma in scale.sigmas:
        for times in scale.repetitions:
            seconds = 0.01 + 0.003 * times
            add(f"noise-{sigma:g}-{times}", noise, seconds, sigma=sigma, times=times)
    for form in scale.noisy_forms:
        seconds = {"printed": 0.3, "proof": 0.8, "corrected": 3.5}[form]
        add(f"theorem_10-{form}-solver", theorem_10, seconds, form=form)
        add(f"theorem_10-{form}-questions", questions_averaged, seconds / 8, form=form)
    for data in DATA:
        for size in scale.sample_sizes:
            add(f"similarity-{data}-{size}", similarity, 0.2, data=data, size=size)
        for budget in scale.budgets:
            name, few = f"hidden-{data}-{budget}", scale.stratified_runs  # of a second each
            add(name, hidden, 0.1, data=data, budget=budget)
            add(f"{name}-stratified", hidden_stratified, 0.5, runs=few, data=data, budget=budget)
    return todo


def noise(*, sigma: float, times: int, runs: int, seed: int) -> list[Series]:
    """Theorem 10's question: every answer is off by chance and asked several times."""
    data = _planted(seed)
    return [_noisy_runs(data, sigma, times, way, runs, seed) for way in (True, False)]


def theorem_10(*, form: Form, runs: int, seed: int) -> list[Series]:
    """Theorem 10: the solver repeated; the largest error of a membership, and of a centre.

    That of a centre is in units of the theorem's bound, 2 R alpha (epsilon_2 + kappa) / rho.
    """
    data = _planted(seed)
    n, k = data.memberships.shape
    times = noisy_repetitions(n, sigma=SIGMA, kappa=KAPPA, form=form)
    batches = min(times, math.ceil(BATCHES[form] * math.log(n)))
    radius = float(np.linalg.norm(data.X - data.X.mean(axis=0), axis=1).max())
    bound = 2.0 * radius * 2.0 * (ETA + KAPPA) / rho_weight(data.memberships)
    strategy = TwoPhase(sample_size=100, precision=ETA, faithful=True)
    results = []
    for rng in generators(seed, NOISE, n=runs):
        oracle = _noisy(data, SIGMA, rng)
        make_plan = partial(strategy.plan, data.X, k, fuzzifier=2.0, rng=rng)
        results.append(run(repeated_solver(make_plan, data.X, times, batches=batches), oracle))

    def of_a_center(result: Result) -> float:
        return largest_error(data.centers, result) / bound

    judges: dict[str, Callable[[Result], float]] = {
        "theorem 10": partial(_error, data.memberships, np.max),
        "theorem 10, centres": of_a_center,
    }
    return [
        Series.of(results, judge, panel=panel, curve=form, x=times)
        for panel, judge in judges.items()
    ]


def questions_averaged(*, form: Form, runs: int, seed: int) -> list[Series]:
    """The same with each question repeated instead of the solver, which is not the paper's way."""
    data = _planted(seed)
    times = noisy_repetitions(len(data.X), sigma=SIGMA, kappa=KAPPA, form=form)
    series = _noisy_runs(data, SIGMA, times, True, runs, seed, largest=True)
    return [replace(series, panel="theorem 10, each question averaged", curve=form, x=times)]


def similarity(*, data: str, size: int, runs: int, seed: int) -> list[Series]:
    """The same plan asked in memberships, in similarities, and in pairs alone."""
    X, U = _fuzzy_target(data, None)
    n, k = U.shape
    strategy = TwoPhase(sample_size=size)
    series = []
    for curve in ("membership", "similarity", "pairwise"):
        results = []
        for rng in generators(seed, SIMILAR, data, n=runs):
            plan = strategy.plan(X, k, fuzzifier=2.0, rng=rng)
            if curve != "membership":
                plan = by_similarity(plan, n, k, rng=rng, route=_ROUTES[curve])
            results.append(run(plan, TableOracle(U)))
        series.append(Series.of(results, partial(_matched, U), panel=data, curve=curve, x=size))
    return series


def hidden(*, data: str, budget: int, runs: int, seed: int) -> list[Series]:
    """An expert who knows all features, a solver who sees some: no fit can know the target."""
    task, U = _hidden_task(data)
    n, k = U.shape
    series = []
    kinds: dict[str, type[Strategy]] = {"two-phase": TwoPhase, "sequential": Sequential}
    for curve, kind in kinds.items():
        try:
            strategy = plan_budget(budget, n, k, kind=kind).strategy
        except BudgetError:
            continue  # too small for this one
        rngs = generators(seed, HIDDEN, data, n=runs)
        series.append(repeat(task, strategy, rngs, panel=data, curve=curve, x=budget))
    alone = [
        membership_error(U, FuzzyKMeans(k, random_state=rng).fit(task.X).memberships_, how="mean")
        for rng in generators(seed, HIDDEN, data, n=runs)
    ]
    return [*series, Series.unasked(alone, panel=data, curve="no questions", x=budget)]


def hidden_stratified(*, data: str, budget: int, runs: int, seed: int) -> list[Series]:
    """Our own strategy with the same expert and as many questions at most."""
    task, U = _hidden_task(data)
    ours = of_items(max(1, budget // (U.shape[1] - 1)))
    rngs = generators(seed, HIDDEN, data, n=runs)
    return [repeat(task, ours, rngs, panel=data, curve="stratified", x=budget)]


def _hidden_task(data: str) -> tuple[Task, Floats]:
    """The solver's data and the oracle, with the target memberships."""
    X, U = _fuzzy_target(data, SEEN[data])
    oracle, judge = TableOracle(U), partial(_error, U, np.mean)
    return Task(X=X, n_clusters=U.shape[1], oracle=oracle, judge=judge), U


def _noisy_runs(
    data: Planted, sigma: float, times: int, faithful: bool, runs: int, seed: int,
    *, largest: bool = False,
) -> Series:  # fmt: skip
    """Two-phase with each question asked so often; the mean error, or the largest."""
    strategy = TwoPhase(sample_size=100, precision=ETA, faithful=faithful)
    k = data.memberships.shape[1]
    results = []
    for rng in generators(seed, NOISE, n=runs):
        oracle = _noisy(data, sigma, rng)
        plan = strategy.plan(data.X, k, fuzzifier=2.0, rng=rng)
        plan = repeated(plan, times, how="median-of-means" if largest else "mean")
        results.append(run(plan, oracle))
    curve = f"asked {times} times" if times > 1 else "asked once"
    way = "faithful" if faithful else "our order"
    judge = partial(_error, data.memberships, np.max if largest else np.mean)
    return Series.of(results, judge, panel=way, curve=curve, x=sigma)


def _noisy(data: Planted, sigma: float, rng: np.random.Generator) -> NoisyOracle:
    """An oracle with noise that is not cut to [0, 1]."""
    noise_seed = int(rng.integers(2**32))
    return NoisyOracle(
        TableOracle(data.memberships), std=sigma, clip=False, random_state=noise_seed
    )


def _planted(seed: int) -> Planted:
    """Data that satisfies the theorems' assumptions."""
    rng = np.random.default_rng(seeds(seed, NOISE, "data"))
    return make_cores_and_arms([100, 100, 50], rng=rng)


@lru_cache(maxsize=6)
def _fuzzy_target(data: str, n_seen: int | None) -> tuple[Floats, Floats]:
    """Standardised items, some of their features or all, and the optimum on all features."""
    X, y = load(data)
    X = StandardScaler().fit_transform(X)
    model = FuzzyKMeans(int(y.max()) + 1, n_init=10, tol=1e-6, random_state=0).fit(X)
    return X[:, :n_seen], model.memberships_.astype(np.float64)


def _error(U: Floats, which: Callable[[Floats], Any], result: Result) -> float:
    """The mean or the largest error of a membership."""
    return float(which(np.abs(result.clustering.memberships - U)))


def _matched(U: Floats, result: Result) -> float:
    """The mean error of a membership, clusters matched."""
    return membership_error(U, result.clustering.memberships, how="mean")
