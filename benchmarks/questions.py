"""How many questions buy how much: stratified beside its rivals, over targets, budgets and seeds.

    python benchmarks/questions.py [--quick] [--seeds 20] [--out DIR] [--methods a,b] [--targets a,b]

Every line is kept in DIR/questions.csv as soon as it is known, and not computed again.
"""

import argparse
import csv
import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # one process a core is quicker

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from askmeans import Sequential, TwoPhase, oracles, run
from askmeans.exceptions import BudgetError
from askmeans.strategies import Strategy
from question_rivals import MODELS, Snapshot, margin_sampling, random_items
from question_targets import TARGETS, Target, fcm, make_target

Floats = NDArray[np.float64]
BUDGETS = (10, 20, 40, 100, 200, 400)
PAPER = ("two-phase", "two-phase faithful", "sequential", "sequential faithful")
METHODS = ("unsupervised", "stratified", *PAPER, *MODELS, "margin sampling")
COLUMNS = ("target", "seed", "method", "budget", "questions", "items", "error", "accuracy",
           "estimate", "seen")  # fmt: skip


def measure(target: Target, U: Floats) -> tuple[float, float]:
    """Mean membership error and accuracy; clusters have names, so nothing is matched."""
    V = target.memberships
    return float(np.abs(U - V).mean()), float((U.argmax(axis=1) == V.argmax(axis=1)).mean())


def unsupervised(target: Target, seed: int) -> Floats:
    """Fuzzy k-means of what the solver sees, its clusters named for free."""
    U = fcm(target.X, target.memberships.shape[1], np.random.default_rng(seed))
    costs = np.abs(target.memberships[:, :, None] - U[:, None, :]).mean(axis=0)
    return U[:, linear_sum_assignment(costs)[1]]


def of_paper(method: str, budget: int, n: int, k: int) -> Strategy:
    """The paper's strategies, with the sizes that fit a budget."""
    kind = TwoPhase if method.startswith("two-phase") else Sequential
    faithful = method.endswith("faithful")
    try:
        sized = kind.from_budget(budget, n, k)
    except BudgetError:
        small = max(1, budget // (2 * max(1, k - 1)))
        sized = kind(sample_size=small, **({} if kind is TwoPhase else {"bin_size": 2}))
    if not faithful:
        return sized
    size = max(1, sized.sample_size // 2)  # every entry is asked, and the search costs more
    return kind(sample_size=size, faithful=True, **({} if kind is TwoPhase else {"bin_size": 2}))


def by_plan(target: Target, method: str, seed: int) -> Iterator[tuple[Snapshot, float]]:
    """A strategy of askmeans, run anew for every budget."""
    oracle = oracles.TableOracle(target.memberships)
    n, k = target.memberships.shape
    for budget in BUDGETS:
        if method == "stratified":
            from askmeans import Stratified

            strategy: Strategy = Stratified(precision=0.0)
        else:
            strategy = of_paper(method, budget, n, k)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plan = strategy.plan(target.X, k, fuzzifier=2.0, rng=np.random.default_rng(seed))
            result = run(plan, oracle, budget=budget)
        found = result.clustering
        items = len({answer.items[0] for answer in result.history})
        estimate = float(found.diagnostics.get("estimated_error", np.nan))
        yield Snapshot(
            questions=result.n_queries, items=items, memberships=found.memberships
        ), estimate


def lines(name: str, seed: int, method: str) -> list[list[object]]:
    """What one method does on one target with one seed, at every budget."""
    target = make_target(name, seed)
    nothing = float("nan")
    if method == "unsupervised":
        U = unsupervised(target, seed)
        found = [(Snapshot(questions=0, items=0, memberships=U), nothing)] * len(BUDGETS)
    elif method in MODELS:
        found = [(s, nothing) for s in random_items(target, MODELS[method], BUDGETS, seed)]
    elif method == "margin sampling":
        found = [(s, nothing) for s in margin_sampling(target, BUDGETS, seed)]
    else:
        found = list(by_plan(target, method, seed))
    return [
        [name, seed, method, budget, s.questions, s.items, *measure(target, s.memberships), e, ""]
        for budget, (s, e) in zip(BUDGETS, found, strict=True)
    ]


def jobs(targets: list[str], methods: list[str], seeds: int) -> list[tuple[str, int, str]]:
    """All combinations that make sense; margin sampling is for labels."""
    return [
        (name, seed, method)
        for seed in range(seeds)
        for name in targets
        for method in methods
        if method != "margin sampling" or name.endswith("/labels")
    ]


def fill(path: Path, wanted: list[tuple[str, int, str]], workers: int) -> None:
    """Compute what the file does not hold yet."""
    there: set[tuple[str, int, str]] = set()
    if path.exists():
        with path.open() as file:
            there = {(r["target"], int(r["seed"]), r["method"]) for r in csv.DictReader(file)}
    missing = [job for job in wanted if job not in there]
    new = not path.exists()
    with path.open("a", newline="") as file, ProcessPoolExecutor(workers) as pool:
        writer = csv.writer(file)
        if new:
            writer.writerow(COLUMNS)
        running = {pool.submit(lines, *job): job for job in missing}
        for done in as_completed(running):
            if done.exception() is not None:
                print(f"failed: {running[done]}: {done.exception()!r}", flush=True)
                continue
            writer.writerows(done.result())
            file.flush()


def main() -> None:
    """Fill the table, then print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("questions"))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    wanted = jobs(options.targets.split(","), options.methods.split(","), options.seeds)
    fill(options.out / "questions.csv", wanted, options.workers)


if __name__ == "__main__":
    main()
