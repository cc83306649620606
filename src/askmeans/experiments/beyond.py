"""Beyond the paper's figures, since its text claims them: noise, similarities, hidden features."""

from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from askmeans.budgets import noisy_repetitions
from askmeans.datasets import Planted, make_cores_and_arms
from askmeans.driver import run
from askmeans.estimators import FuzzyKMeans
from askmeans.exceptions import BudgetError
from askmeans.experiments.cells import Cell
from askmeans.experiments.real import DATA, load
from askmeans.experiments.runs import Series, Task, generators, repeat, seeds
from askmeans.experiments.scale import Scale
from askmeans.experiments.stratified import of_items
from askmeans.metrics import membership_error
from askmeans.oracles import NoisyOracle, TableOracle
from askmeans.results import Result
from askmeans.strategies import Sequential, Strategy, TwoPhase
from askmeans.wrappers import by_similarity, repeated
from askmeans.wrappers.pool_sizes import Route
from askmeans.wrappers.repeated import Average

__all__ = ["HIDDEN", "KAPPA", "NOISE", "SIGMA", "SIMILAR", "cells"]

Floats = NDArray[np.float64]

Form = Literal["printed", "corrected"]

NOISE, SIMILAR, HIDDEN = "noise", "similarity", "hidden features"
# Theorem 10 is tried at one noise and one extra error; eta is the precision without noise.
SIGMA, KAPPA, ETA = 0.1, 0.1, 0.1
# What the solver sees: the sepal; the first six of thirteen; the means, not errors and extremes.
SEEN = {"Iris": 2, "Wine": 6, "Breast Cancer": 10}
_ROUTES: dict[str, Route] = {"similarity": "triplet", "pairwise": "pairwise"}


def cells(scale: Scale, seed: int) -> list[Cell]:
    """One cell for each point; the weights are seconds, roughly."""
    runs, todo = scale.beyond_runs, []
    arguments: dict[str, Any]
    for sigma in scale.sigmas:
        for times in scale.repetitions:
            arguments = {"sigma": sigma, "times": times, "runs": runs, "seed": seed}
            name, weight = f"noise-{sigma:g}-{times}", runs * (0.01 + 0.003 * times)
            todo.append(Cell(name=name, work=noise, arguments=arguments, weight=weight))
    for form in ("printed", "corrected"):
        arguments = {"form": form, "runs": runs, "seed": seed}
        name, weight = f"theorem_10-{form}", runs * (0.2 if form == "printed" else 2.0)
        todo.append(Cell(name=name, work=theorem_10, arguments=arguments, weight=weight))
    for data in DATA:
        for size in scale.sample_sizes:
            arguments = {"data": data, "size": size, "runs": runs, "seed": seed}
            name = f"similarity-{data}-{size}".replace(" ", "_")
            todo.append(Cell(name=name, work=similarity, arguments=arguments, weight=runs * 0.2))
        for budget in scale.budgets:
            arguments = {"data": data, "budget": budget, "runs": runs, "seed": seed}
            name = f"hidden-{data}-{budget}".replace(" ", "_")
            todo.append(Cell(name=name, work=hidden, arguments=arguments, weight=runs * 0.1))
            few = scale.stratified_runs  # a run takes a second
            arguments = arguments | {"runs": few}
            name, weight = f"{name}-stratified", few * 0.5
            todo.append(Cell(name=name, work=hidden_stratified, arguments=arguments, weight=weight))
    return todo


def noise(*, sigma: float, times: int, runs: int, seed: int) -> list[Series]:
    """Theorem 10's question: every answer is off by chance and asked several times."""
    data = _planted(seed)
    return [_noisy_runs(data, sigma, times, way, runs, seed) for way in (True, False)]


def theorem_10(*, form: Form, runs: int, seed: int) -> list[Series]:
    """The largest membership error with the theorem's repetitions, as printed or corrected."""
    data = _planted(seed)
    times = noisy_repetitions(len(data.X), sigma=SIGMA, kappa=KAPPA, form=form)
    series = _noisy_runs(data, SIGMA, times, True, runs, seed, largest=True)
    return [replace(series, panel="theorem 10", curve=form, x=times)]


def similarity(*, data: str, size: int, runs: int, seed: int) -> list[Series]:
    """The same plan asked in memberships, in similarities, and in pairs alone."""
    X, U = _fuzzy_target(data, None)
    n, k = U.shape
    strategy = TwoPhase(sample_size=size)
    found = []
    for curve in ("membership", "similarity", "pairwise"):
        values, queries, raw = [], [], []
        for rng in generators(seed, SIMILAR, data, n=runs):
            plan = strategy.plan(X, k, fuzzifier=2.0, rng=rng)
            if curve != "membership":
                plan = by_similarity(plan, n, k, rng=rng, route=_ROUTES[curve])
            result = run(plan, TableOracle(U))
            values.append(membership_error(U, result.clustering.memberships, how="mean"))
            queries.append(result.n_queries)
            raw.append(result.n_queries_raw)
        found.append(
            Series(
                panel=data, setting="", curve=curve, x=size, values=values, queries=queries, raw=raw
            )
        )
    return found


def hidden(*, data: str, budget: int, runs: int, seed: int) -> list[Series]:
    """An expert who knows all features, a solver who sees some: no fit can know the target."""
    task, U = _hidden_task(data)
    n, k = U.shape
    found = []
    for curve, kind in (("two-phase", TwoPhase), ("sequential", Sequential)):
        try:
            strategy: Strategy = kind.from_budget(budget, n, k)
        except BudgetError:
            continue  # too small for this one
        rngs = generators(seed, HIDDEN, data, n=runs)
        found.append(repeat(task, strategy, rngs, panel=data, setting="", curve=curve, x=budget))
    alone = [
        membership_error(U, FuzzyKMeans(k, random_state=rng).fit(task.X).memberships_, how="mean")
        for rng in generators(seed, HIDDEN, data, n=runs)
    ]
    nothing = [0] * runs
    found.append(
        Series(
            panel=data, setting="", curve="no questions", x=budget, values=alone,
            queries=nothing, raw=nothing,
        )
    )  # fmt: skip
    return found


def hidden_stratified(*, data: str, budget: int, runs: int, seed: int) -> list[Series]:
    """Our own strategy with the same expert and as many questions at most."""
    task, U = _hidden_task(data)
    ours = of_items(max(1, budget // (U.shape[1] - 1)))
    rngs = generators(seed, HIDDEN, data, n=runs)
    return [repeat(task, ours, rngs, panel=data, setting="", curve="stratified", x=budget)]


def _hidden_task(data: str) -> tuple[Task, Floats]:
    """What the solver sees and who answers, with the memberships that are the target."""
    X, U = _fuzzy_target(data, SEEN[data])
    oracle, judge = TableOracle(U), partial(_mean_error, U)
    return Task(X=X, n_clusters=U.shape[1], oracle=oracle, judge=judge), U


def _noisy_runs(
    data: Planted, sigma: float, times: int, faithful: bool, runs: int, seed: int,
    *, largest: bool = False,
) -> Series:  # fmt: skip
    """Two-phase with each question asked so often; Theorem 10 takes the median of means."""
    strategy = TwoPhase(sample_size=100, precision=ETA, faithful=faithful)
    k = data.memberships.shape[1]
    values, queries, raw = [], [], []
    for rng in generators(seed, NOISE, n=runs):
        noise_seed = int(rng.integers(2**32))
        plan = strategy.plan(data.X, k, fuzzifier=2.0, rng=rng)
        oracle = NoisyOracle(
            TableOracle(data.memberships), std=sigma, clip=False, random_state=noise_seed
        )
        how: Average = "median-of-means" if largest else "mean"
        result = run(repeated(plan, times, how=how), oracle)
        error = np.abs(result.clustering.memberships - data.memberships)
        values.append(float(error.max() if largest else error.mean()))
        queries.append(result.n_queries)
        raw.append(result.n_queries_raw)
    curve = f"asked {times} times" if times > 1 else "asked once"
    way = "faithful" if faithful else "our order"
    return Series(
        panel=way, setting="", curve=curve, x=sigma, values=values, queries=queries, raw=raw
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


def _mean_error(U: Floats, result: Result) -> float:
    """The mean error of a membership."""
    return float(np.abs(result.clustering.memberships - U).mean())
