"""What noisy answers cost the default strategy, and what repeats, levels and noise bring.

Mean membership errors at the same budget, on three data sets with three targets each: noise asked
once and up to three times; coarse scales; one hostile annotator in ten, and who is suspected;
similarities with noise. `--quick` takes one data set and one seed.
"""

import argparse
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, Stratified, metrics, oracles
from askmeans.contradictions import find_suspects
from askmeans.driver import Oracle

Floats = NDArray[np.float64]
Case = tuple[str, str, int]  # data, target, seed

BUDGET = 150
SIGMAS = (0.0, 0.05, 0.1, 0.2)
LEVELS = (2, 5, 11, 101)
DATA = {"Iris": (load_iris, 3), "Wine": (load_wine, 3), "Breast Cancer": (load_breast_cancer, 2)}
TARGETS = ("FCM", "hidden features", "mixture")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one data set, one seed")
    quick = parser.parse_args().quick
    data = ["Wine"] if quick else list(DATA)
    seeds = range(1 if quick else 5)
    cases = [(name, target, seed) for name in data for target in TARGETS for seed in seeds]
    with ProcessPoolExecutor() as pool:
        every = partial(table, pool, cases)
        every("Noise, asked once, with noise='auto', up to three times", noise, SIGMAS)
        every(
            "A scale: at its word, told by levels, told and asked up to three times", scale, LEVELS
        )
        every("One of ten hostile: none, random, flipped (its answers suspected, others')",
              hostile, ("none", "random", "flipped"))  # fmt: skip
        every("Similarities with noise: asked once, three times", similarities, SIGMAS)


def table(
    pool: ProcessPoolExecutor,
    cases: list[Case],
    title: str,
    measure: Callable[..., list[float]],
    values: Sequence[Any],
) -> None:
    """Means over the seeds, one row per target, and over all."""
    print(f"\n{title}; {BUDGET} questions, {len({seed for *_, seed in cases})} seeds")
    print("| target | " + " | ".join(map(str, values)) + " |")
    print("|---" * (len(values) + 1) + "|")
    jobs = [[pool.submit(quietly, measure, *case, value) for value in values] for case in cases]
    found = np.array([[job.result() for job in row] for row in jobs])
    names = [f"{data}, {target}" for data, target, _ in cases]
    for name in [*dict.fromkeys(names), "all"]:
        mine = [name in (one, "all") for one in names]
        means = found[mine].mean(axis=0)
        cells = [", ".join(f"{number:.3f}" for number in cell) for cell in means]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def quietly(measure: Callable[..., list[float]], *arguments: Any) -> list[float]:
    """What is measured, on one thread and without warnings: the numbers say it."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return measure(*arguments)


# ---- what is asked ----------------------------------------------------------------------------


@cache
def target_of(data: str, target: str) -> tuple[Floats, Floats]:
    """What the solver sees, and the memberships that the expert has in mind."""
    load, k = DATA[data]
    X = StandardScaler().fit_transform(load().data)
    if target == "mixture":
        model = GaussianMixture(k, covariance_type="diag", n_init=3, random_state=0).fit(X)
        return X, model.predict_proba(X)
    fuzzy = FuzzyKMeans(k, n_init=5, tol=1e-8, random_state=0).fit(X)
    seen = X if target == "FCM" else X[:, ::2]  # the expert knows all features
    return seen, fuzzy.memberships_.astype(np.float64)


def noisy(U: Floats, sigma: float, seed: int) -> Oracle:
    """An expert whose answers are off by chance, and cut to [0, 1]."""
    return oracles.NoisyOracle(oracles.TableOracle(U), std=sigma, random_state=seed)


def fit(data: str, target: str, oracle: Oracle, seed: int, **options: Any) -> ActiveFuzzyKMeans:
    """The default strategy, at the budget of all."""
    X, U = target_of(data, target)
    options = {"budget": BUDGET} | options
    return ActiveFuzzyKMeans(U.shape[1], oracle=oracle, random_state=seed, **options).fit(X)


def error(data: str, target: str, oracle: Oracle, seed: int, **options: Any) -> float:
    """The mean error of a membership; similarities name no clusters, so these are matched."""
    U = target_of(data, target)[1]
    found = fit(data, target, oracle, seed, **options).memberships_
    if "ask" in options:
        return float(metrics.membership_error(U, found, how="mean"))
    return float(np.abs(U - found).mean())


# ---- what is measured -------------------------------------------------------------------------


def noise(data: str, target: str, seed: int, sigma: float) -> list[float]:
    """Errors asked once, with noise to be estimated, and with repeats."""
    oracle = noisy(target_of(data, target)[1], sigma, seed)
    ways: tuple[dict[str, Any], ...] = ({}, {"strategy": Stratified(noise="auto")}, {"repeats": 3})
    return [error(data, target, oracle, seed, **way) for way in ways]


def scale(data: str, target: str, seed: int, levels: int) -> list[float]:
    """Errors of noisy answers on a scale: at their word, told, told and repeated."""
    U = target_of(data, target)[1]
    oracle = oracles.QuantizedOracle(noisy(U, 0.05, seed), levels=levels)
    ways: tuple[dict[str, Any], ...] = ({}, {"levels": levels}, {"levels": levels, "repeats": 3})
    return [error(data, target, oracle, seed, **way) for way in ways]


def hostile(data: str, target: str, seed: int, how: Any) -> list[float]:
    """The error with repeats; shares of suspected answers, of the tenth annotator and of others."""
    U = target_of(data, target)[1]
    last: Oracle = noisy(U, 0.1, seed)
    honest, rng = last, np.random.default_rng(seed)
    if how == "flipped":
        last = oracles.CallbackOracle(membership=lambda item, cluster: 1.0 - U[item, cluster])
    elif how == "random":
        last = oracles.CallbackOracle(membership=lambda *_: rng.random())
    crowd = oracles.CrowdOracle([honest] * 9 + [last], random_state=seed)
    model = fit(data, target, crowd, seed, repeats=3)
    suspects = find_suspects(model.history_, model.memberships_)
    tenth = np.array([answer.annotator == "annotator 9" for answer in model.history_])
    flags = [
        float(suspects.answers[mine].mean()) if mine.any() else 0.0 for mine in (tenth, ~tenth)
    ]
    return [float(np.abs(U - model.memberships_).mean()), *flags]


def similarities(data: str, target: str, seed: int, sigma: float) -> list[float]:
    """Errors by similarities, with three times the budget: asked once, and three times."""
    oracle = noisy(target_of(data, target)[1], sigma, seed)
    options: dict[str, Any] = {"ask": "similarity", "budget": 3 * BUDGET}
    return [error(data, target, oracle, seed, repeats=times, **options) for times in (1, 3)]


if __name__ == "__main__":
    main()
