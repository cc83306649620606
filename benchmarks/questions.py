"""How many questions buy how much: stratified beside its rivals, over targets, budgets and seeds.

    python benchmarks/questions.py [--quick] [--seeds 20] [--out DIR] [--tables] [--no-grid]

Every line is kept in DIR/questions.csv as soon as it is known, and not computed again.
"""

import argparse
import csv
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from askmeans import Sequential, Stratified, TwoPhase, metrics, oracles, run
from askmeans.budgets import plan_budget
from askmeans.exceptions import BudgetError
from askmeans.queries import Ledger
from askmeans.results import Result
from askmeans.strategies import PaperStrategy
from question_promises import print_promises
from question_rivals import MODELS, Snapshot, margin_sampling, random_items
from question_tables import draw, print_tables
from question_targets import TARGETS, Target, fcm, make_target

Floats = NDArray[np.float64]
Found = tuple[Snapshot, float, bool]
FRESH = 20  # the strategy was made on the seeds below
BUDGETS = (10, 20, 40, 100, 200, 400)
PAPER = ("two-phase", "two-phase faithful", "sequential", "sequential faithful")
METHODS = ("unsupervised", "stratified", *PAPER, *MODELS, "margin sampling")
COLUMNS = ("target", "seed", "method", "budget", "questions", "items", "error", "accuracy",
           "estimate", "seen")  # fmt: skip


def measure(target: Target, U: Floats) -> tuple[float, float]:
    """Mean membership error, with the clusters' names as asked for, and matched accuracy."""
    V = target.memberships
    accuracy = metrics.matched_accuracy(V.argmax(axis=1), U.argmax(axis=1))
    return float(np.abs(U - V).mean()), accuracy


def unsupervised(target: Target, seed: int) -> Floats:
    """Fuzzy k-means of what the solver sees, its clusters named for free."""
    U = fcm(target.X, target.memberships.shape[1], np.random.default_rng(seed))
    costs = np.abs(target.memberships[:, :, None] - U[:, None, :]).mean(axis=0)
    return U[:, linear_sum_assignment(costs)[1]]


def of_paper(method: str, budget: int, n: int, k: int) -> PaperStrategy:
    """The paper's strategies, with the sizes that fit a budget."""
    kind: type[PaperStrategy] = TwoPhase if method.startswith("two-phase") else Sequential
    try:
        plan = plan_budget(budget, n, k, kind=kind)
        assert isinstance(plan.strategy, PaperStrategy)
        size = plan.strategy.sample_size
        bins = max(2, size // 4)
    except BudgetError:
        size, bins = max(1, budget // (2 * max(1, k - 1))), 2
    if method.endswith("faithful"):  # every entry is asked, and the search costs more
        size, bins = max(1, size // 2), 2
    faithful = method.endswith("faithful")
    if kind is TwoPhase:
        return TwoPhase(sample_size=size, faithful=faithful)
    return Sequential(sample_size=size, bin_size=bins, faithful=faithful)


def by_plan(target: Target, method: str, seed: int) -> Iterator[Found]:
    """A strategy of the paper, sized and run anew for every budget."""
    oracle = oracles.TableOracle(target.memberships)
    n, k = target.memberships.shape
    for budget in BUDGETS:
        for more in (1.6, 1.3, 1.0):  # the largest sizes with which it comes to its end
            strategy = of_paper(method, int(more * budget), n, k)
            plan = strategy.plan(target.X, k, fuzzifier=2.0, rng=np.random.default_rng(seed))
            result = run(plan, oracle, budget=budget)
            if result.clustering.complete:
                break
        yield found_by(result)


def found_by(result: Result, ledger: Ledger | None = None) -> Found:
    """What a run has found, how wrong it thinks it is, and whether it saw every cluster."""
    clustering = result.clustering
    asked = np.unique([answer.items[0] for answer in result.history])
    told = clustering.memberships[asked].max(axis=0, initial=0.0)  # answers stand there
    snapshot = Snapshot(
        questions=result.n_queries if ledger is None else ledger.n_distinct,
        items=len(asked),
        memberships=clustering.memberships,
    )
    found = clustering.diagnostics.estimated_error
    estimate = np.nan if found is None else float(found)
    return snapshot, estimate, bool((told >= 0.5).all())


def by_policy(target: Target, seed: int) -> list[Found]:
    """The default policy, asked for its result at every budget."""
    k = target.memberships.shape[1]
    strategy, rng = Stratified(precision=1e-9, max_items=None), np.random.default_rng(seed)
    policy = strategy.policy(target.X, k, fuzzifier=2.0, rng=rng)
    oracle, ledger = oracles.TableOracle(target.memberships), Ledger()
    return [found_by(run(policy, oracle, budget=b - ledger.n_distinct, ledger=ledger), ledger)
            for b in BUDGETS]  # fmt: skip


def lines(name: str, seed: int, method: str) -> list[list[object]]:
    """What one method does on one target with one seed, at every budget."""
    threadpool_limits(1)  # one process a core is quicker
    target = make_target(name, seed)
    nothing = float("nan")
    warnings.simplefilter("ignore")
    if method == "unsupervised":
        U = unsupervised(target, seed)
        found: list[Found] = [(Snapshot(questions=0, items=0, memberships=U), nothing, True)]
        found *= len(BUDGETS)
    elif method in MODELS:
        snapshots = random_items(target, MODELS[method], BUDGETS, seed)
        found = [(s, nothing, True) for s in snapshots]
    elif method == "margin sampling":
        found = [(s, nothing, True) for s in margin_sampling(target, BUDGETS, seed)]
    elif method == "stratified":
        found = by_policy(target, seed)
    else:
        found = list(by_plan(target, method, seed))
    return [
        [name, seed, method, b, s.questions, s.items, *measure(target, s.memberships), e, int(seen)]
        for b, (s, e, seen) in zip(BUDGETS, found, strict=True)
    ]


def jobs(targets: list[str], methods: list[str], seeds: range) -> list[tuple[str, int, str]]:
    """All combinations that make sense; margin sampling is for labels."""
    return [
        (name, seed, method)
        for seed in seeds
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
    """Fill the table, then print and draw it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=FRESH)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="one seed, no digits")
    parser.add_argument("--no-grid", action="store_true", help="known figures and speed alone")
    parser.add_argument("--tables", action="store_true", help="only print what the file holds")
    options = parser.parse_args()
    seeds, targets = options.seeds, options.targets.split(",")
    if options.quick:
        seeds, targets = 1, [name for name in targets if not name.startswith("digits")]
    if not options.no_grid:
        options.out.mkdir(parents=True, exist_ok=True)
        path = options.out / "questions.csv"
        if not options.tables:
            chosen = range(options.first_seed, options.first_seed + seeds)
            fill(path, jobs(targets, options.methods.split(","), chosen), options.workers)
        table = pd.read_csv(path)
        print_tables(table)
        draw(table, options.out)
    if not options.tables:
        print_promises(range(options.first_seed, options.first_seed + seeds))


if __name__ == "__main__":
    main()
