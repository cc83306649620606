"""What the forecasts of askmeans.budgets were measured on, and the theorems' constants.

Three tables: the mean membership error times the root of the sample size; questions asked beside
those forecast; the smallest constants with which Theorems 1 to 3 keep their promise.
"""

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

from askmeans import FuzzyKMeans, Sequential, Stratified, TwoClusters, TwoPhase, oracles, run
from askmeans.budgets import forecast
from askmeans.strategies import Strategy
from experiments.theorems import DELTA, EPS, ETA, THEOREMS, smallest_constant

SIZES = ((20, 5), (40, 10), (80, 20), (160, 40))
SEEDS = 8


def data_sets() -> list[tuple[str, NDArray[np.float64], int]]:
    """Small public data, and blobs that overlap."""
    sets = [
        (name, StandardScaler().fit_transform(load().data), k)
        for name, load, k in (
            ("Iris", load_iris, 3), ("Wine", load_wine, 3), ("Breast Cancer", load_breast_cancer, 2)
        )
    ]  # fmt: skip
    for n, k in ((2000, 4), (2000, 8), (20_000, 4)):
        X = make_blobs(n, 4, centers=k, cluster_std=2.5, random_state=0)[0]
        sets.append((f"blobs, n={n:,}", X, k))
    return sets


def strategies(m: int, r: int) -> dict[str, Strategy]:
    """One of each kind with these sizes."""
    return {
        "Stratified": Stratified(max_items=m, precision=1e-9),
        "TwoPhase": TwoPhase(sample_size=m),
        "Sequential": Sequential(sample_size=m, bin_size=r),
        "TwoClusters": TwoClusters(sample_size=m, bin_size=r),
    }


def measure(
    strategy: Strategy, X: NDArray[np.float64], k: int, target: NDArray[np.float64]
) -> tuple[float, float]:
    """Mean membership error and questions, over seeds."""
    errors, counts = [], []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        result = run(strategy.plan(X, k, fuzzifier=2.0, rng=rng), oracles.TableOracle(target))
        errors.append(np.abs(result.clustering.memberships - target).mean())
        counts.append(result.n_queries)
    return float(np.mean(errors)), float(np.mean(counts))


def main() -> None:
    """Print the tables."""
    warnings.simplefilter("ignore")
    print("Mean membership error x sqrt(sample_size), and questions asked / forecast:")
    print("| data | clusters | strategy | " + " | ".join(f"m={m}" for m, _ in SIZES) + " |")
    print("|---|---|---|" + "---|" * len(SIZES))
    for name, X, k in data_sets():
        model = FuzzyKMeans(k, n_init=5, tol=1e-6, random_state=0).fit(X)
        target = model.memberships_.astype(np.float64)
        for kind in ("Stratified", "TwoPhase", "Sequential", "TwoClusters")[: 4 if k == 2 else 3]:
            cells = []
            for m, r in SIZES:
                strategy = strategies(m, r)[kind]
                error, count = measure(strategy, X, k, target)
                expected = forecast(strategy, len(X), k).n_queries
                cells.append(f"{error * np.sqrt(m):.2f}, {count:.0f}/{expected}")
            print(f"| {name} | {k} | {kind} | " + " | ".join(cells) + " |", flush=True)
    print()
    print(f"Smallest c, a power of two, that keeps the promise (eps={EPS}, eta={ETA}) in "
          f"{1 - DELTA:.0%} of 200 seeds:")  # fmt: skip
    print("| theorem | c | m | r |")
    print("|---|---|---|---|")
    for theorem in THEOREMS:
        c = smallest_constant(theorem)
        strategy = theorem.strategy(theorem.planted(0), c)
        print(f"| {theorem.number} | 2^{np.log2(c):.0f} | {strategy.sample_size} "
              f"| {getattr(strategy, 'bin_size', '-')} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
