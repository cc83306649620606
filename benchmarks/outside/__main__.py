"""Run a table, check a method, or draw the report.

    python -m benchmarks.outside pairs FOLDER...          # also texts, soft, crowd
    python -m benchmarks.outside pairs FOLDER --add FILE.py:CLASS --methods CLASS [--check]
    python -m benchmarks.outside report

FOLDER has data that you fetch yourself; docs/compare.md says from where. A run that is in the file
of results is not run again.
"""

import argparse
import json
import runpy
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from askmeans.metrics.calibration import confidence_bins

from . import crowd, data, pair_methods, report, row_methods
from .data import Case
from .protocol import Method, Record, Task, play, replay
from .results import FOLDER, Results

Make = Callable[[Task], Method]
TABLES: dict[str, tuple[Callable[[Sequence[Path]], Iterator[Case]], Mapping[str, Make]]] = {
    "pairs": (data.pairs, pair_methods.METHODS),
    "texts": (data.texts, row_methods.CARDS),
    "soft": (data.soft, row_methods.SOFT),
}


def scores(case: Case, seed: int, result: NDArray[Any], record: Record) -> dict[str, float]:
    """Scores of a result; log loss and calibration are of items without an answer."""
    truth = case.truth[case.order(seed)]
    if case.kind == "row":
        return {"error": float(np.abs(result - truth).mean())}
    labels = result if result.ndim == 1 else result.argmax(axis=1)
    if case.kind == "pair":
        return {"ari": adjusted_rand_score(truth, labels)}
    if result.ndim == 1:
        result = np.eye(case.n_clusters)[labels]
    answered = [items[0] for items, _ in record]
    labels[answered] = truth[answered]
    proba, y = np.delete(result, answered, axis=0), np.delete(truth, answered)
    likelihood = np.maximum(proba[np.arange(len(y)), y], 1e-15)
    return {
        "accuracy": float((labels == truth).mean()),
        "log_loss": float(-np.log(likelihood).mean()),
        "ece": float(confidence_bins(y, proba, n_bins=15).error),
    }


def run(case: Case, make: Make, budget: int, seed: int) -> tuple[dict[str, Any], Record]:
    """Run one method once; a failure of a rival is a result."""
    began, record = time.perf_counter(), Record()
    try:
        oracle = partial(case.answer, seed=seed)
        result, record = play(make, case.task(budget, seed), oracle)
        numbers = scores(case, seed, result, record)
        values: dict[str, Any] = {name: round(value, 5) for name, value in numbers.items()}
    except ImportError:
        raise
    except Exception as error:
        values = {"failure": f"{type(error).__name__}: {error}"[:80]}
    seconds = round(time.perf_counter() - began, 2)
    return values | {"asked": len(record), "seconds": seconds}, record


def check(case: Case, make: Make, budget: int, seed: int) -> str:
    """Whether a method's result follows from the recorded answers alone."""
    result, record = play(make, case.task(budget, seed), partial(case.answer, seed=seed))
    try:
        again = replay(make, case.task(budget, seed), record)
    except ValueError as error:
        return f"FAILS: {error}"
    same = np.allclose(result, again, atol=1e-6, equal_nan=True)
    return "passes" if same else "FAILS: another result from the same answers"


def added(spec: str) -> tuple[str, Make]:
    """A method of the user's: FILE.py:CLASS."""
    file, _, name = spec.rpartition(":")
    return name, runpy.run_path(file)[name]


def run_crowd(args: argparse.Namespace) -> None:
    """The table of the crowd: no questions, so no protocol."""
    edges, y = data.crowd(args.folders)
    results = Results(args.out or FOLDER / "crowd.csv")
    for count in args.budgets or crowd.ANSWERS:
        for seed in range(args.seeds):
            for name in args.methods or crowd.METHODS:
                if ("birds", name, count, seed) in results:
                    continue
                some = edges[np.random.default_rng([seed, 39]).permutation(len(edges))[:count]]
                began = time.perf_counter()
                labels = crowd.METHODS[name](some, len(y), int(y.max()) + 1, seed)
                ari = round(adjusted_rand_score(y, labels), 5)
                seconds = round(time.perf_counter() - began, 2)
                results.add(("birds", name, count, seed), asked=count, ari=ari, seconds=seconds)
                print("birds", name, count, seed, ari, flush=True)


def run_table(args: argparse.Namespace) -> None:
    """Run every method that is wanted on every set, or check it."""
    results = Results(args.out or FOLDER / f"{args.table}.csv")
    missing: set[str] = set()
    failed = False
    end = time.monotonic() + 60.0 * args.minutes
    for case, name, make, budget, seed in jobs(args):
        key = (case.name, name, budget, seed)
        if args.check:
            outcome = check(case, make, budget, seed)
            failed |= outcome != "passes"
            print(*key, outcome, flush=True)
        elif key not in results and name not in missing and time.monotonic() < end:
            try:
                values, record = run(case, make, budget, seed)
            except ImportError as error:
                missing.add(name)
                print(f"{name}: {error}, left out; docs/compare.md says how to install it")
                continue
            results.add(key, **values)
            print(*key, values, flush=True)
            if args.record:
                keep(args.record, key, record)
    if failed:
        sys.exit(1)


def jobs(args: argparse.Namespace) -> Iterator[tuple[Case, str, Make, int, int]]:
    """Every run that is wanted."""
    cases, known = TABLES[args.table]
    methods = {**known, **dict(map(added, args.add))}
    unknown = {*(args.sets or ())}
    for case in cases(args.folders):
        unknown.discard(case.name)
        if not args.sets or case.name in args.sets:
            budgets = [b for b in case.budgets if not args.budgets or b in args.budgets]
            for budget, seed in product(budgets, range(args.seeds)):
                for name in args.methods or methods:
                    if len(case.X) <= getattr(methods[name], "max_items", np.inf):
                        yield case, name, methods[name], budget, seed
    if unknown:
        sys.exit(f"--sets must name sets of the table. Got {', '.join(sorted(unknown))}.")


def add_published(args: argparse.Namespace) -> None:
    """Write the published figures beside ours, marked as published."""
    results = Results(args.out or FOLDER / "pairs.csv")
    for name, method, budget, ari in data.published(args.folders):
        key = (name, f"{method} (published)", budget, "mean of 90")
        if key not in results:
            results.add(key, ari=ari)


def keep(folder: Path, key: tuple[Any, ...], record: Record) -> None:
    """Write every question and its answer as a line of JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{'-'.join(map(str, key)).replace(' ', '_')}.jsonl").open("w") as file:
        for items, answer in record:
            file.write(json.dumps({"items": items, "answer": np.asarray(answer).tolist()}) + "\n")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", choices=[*TABLES, "crowd", "report"])
    parser.add_argument("folders", nargs="*", type=Path, help="folders with data")
    parser.add_argument("--seeds", type=int, default=5, help="how many")
    parser.add_argument("--sets", nargs="*", help="names of data sets; default: all")
    parser.add_argument("--budgets", nargs="*", type=int, help="numbers of questions")
    parser.add_argument("--methods", nargs="*", help="default: all")
    parser.add_argument("--add", action="append", default=[], metavar="FILE.py:CLASS")
    parser.add_argument(
        "--check", action="store_true", help="whether results need the answers only"
    )
    parser.add_argument("--out", type=Path, help="file of results, or folder of the figures")
    parser.add_argument("--record", type=Path, help="folder for every question and answer")
    parser.add_argument("--minutes", type=float, default=np.inf, help="start no run after these")
    args = parser.parse_args()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if args.table == "report":
            report.draw(FOLDER, args.out or Path("docs/images"))
        elif args.table == "crowd":
            run_crowd(args)
        else:
            if args.table == "pairs" and not args.check:
                add_published(args)
            run_table(args)


if __name__ == "__main__":
    main()
