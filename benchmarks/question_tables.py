"""Tables and curves of benchmarks/questions.py, from its CSV file."""

from pathlib import Path

import numpy as np
import pandas as pd

__all__ = ["draw", "print_tables"]

OURS, FREE = "stratified", "unsupervised"
WORSE_ERROR, WORSE_ACCURACY = 0.01, 0.02
NOTHING = 1e-6  # an error that is only rounding


def print_tables(lines: pd.DataFrame) -> None:
    """Everything that the CSV file tells."""
    # A cell is compared over the seeds that our strategy has run; rivals have run them all.
    ours = lines[lines.method == OURS][["target", "seed"]].drop_duplicates()
    lines = lines.merge(ours, on=["target", "seed"])
    print(f"{len(ours)} runs: {ours.target.nunique()} targets, {ours.seed.nunique()} seeds\n")
    for column, name in (("error", "Mean membership error"), ("accuracy", "Accuracy")):
        print(f"{name}, averaged over the targets, by questions (margin sampling: labels only):")
        _by_budget(lines, column)
    cells = lines.groupby(["target", "budget", "method"])[["error", "accuracy"]].mean()
    error, accuracy = cells.error.unstack(), cells.accuracy.unstack()
    _against_best(error, accuracy)
    _against_each(error, accuracy)
    _promises(lines)
    print("Mean membership error in every cell: ours / best rival / unsupervised, clusters named")
    rivals = [name for name in error if name not in (OURS, FREE)]
    print("| target | " + " | ".join(str(b) for b in error.index.unique("budget")) + " |")
    print("|---" * (1 + error.index.unique("budget").size) + "|")
    for target, rows in error.groupby("target", sort=False):
        parts = [
            f"{row[OURS]:.3f} / {row[rivals].min():.3f} / {row.get(FREE, np.nan):.3f}"
            for _, row in rows.iterrows()
        ]
        print(f"| {target} | " + " | ".join(parts) + " |")
    print()


def _by_budget(lines: pd.DataFrame, column: str) -> None:
    """One line a method, one column a budget."""
    table = lines.pivot_table(index="method", columns="budget", values=column)
    table["mean"] = table.mean(axis=1)
    table = table.sort_values("mean", ascending=column == "error")
    print("| method | " + " | ".join(map(str, table.columns)) + " |")
    print("|---" * (1 + len(table.columns)) + "|")
    for method, row in table.iterrows():
        print(f"| {method} | " + " | ".join(f"{value:.3f}" for value in row) + " |")
    print()


def _against_best(error: pd.DataFrame, accuracy: pd.DataFrame) -> None:
    """Cells in which some rival is better by more than is allowed."""
    rivals = [name for name in error if name not in (OURS, FREE)]
    behind = error[OURS] - error[rivals].min(axis=1)
    below = accuracy[rivals].max(axis=1) - accuracy[OURS]
    bad = (behind > WORSE_ERROR) | (below > WORSE_ACCURACY)
    print(
        f"Worse than the best of {len(rivals)} rivals, each at its best in that cell, by more than "
        f"{WORSE_ERROR} (error) or {WORSE_ACCURACY} (accuracy): {bad.sum()} of {len(bad)} cells"
    )
    for target, budget in error.index[bad]:
        at = (target, budget)
        who = error.loc[at, rivals].idxmin(), accuracy.loc[at, rivals].idxmax()
        print(f"  {target}, {budget} questions: error {error.loc[at, OURS]:.3f}, "
              f"{error.loc[at, who[0]]:.3f} ({who[0]}); accuracy {accuracy.loc[at, OURS]:.3f}, "
              f"{accuracy.loc[at, who[1]]:.3f} ({who[1]})")  # fmt: skip
    print()


def _against_each(error: pd.DataFrame, accuracy: pd.DataFrame) -> None:
    """In how many cells each rival alone is better by more than is allowed."""
    print(
        "Cells in which a rival alone is ahead by more than that, and our error beside its error:"
    )
    for name in error:
        if name in (OURS, FREE):
            continue
        there = error[name].notna()
        ahead = (error[OURS] - error[name] > WORSE_ERROR) | (
            accuracy[name] - accuracy[OURS] > WORSE_ACCURACY
        )
        ratio = error[OURS][there].mean() / error[name][there].mean()
        print(f"  {name}: {ahead[there].sum()} of {there.sum()}; {ratio:.2f} x")
    print()


def _promises(lines: pd.DataFrame) -> None:
    """Never below the unsupervised fit; more never hurts; the estimate is honest."""
    ours = lines[lines.method == OURS].set_index(["target", "seed", "budget"])
    free = lines[lines.method == FREE].set_index(["target", "seed", "budget"])
    seen = ours[(ours.seen == 1) & ours.index.isin(free.index)]
    free = free.loc[seen.index]
    below = seen.error - free.error > 0.01
    print(f"Every cluster seen, and worse than the unsupervised fit by more than .01: "
          f"{below.sum()} of {len(below)} runs by error, "
          f"{(free.accuracy - seen.accuracy > 0.01).sum()} by accuracy")  # fmt: skip
    for level in ("budget", "target"):
        counts = below[below].groupby(level).size().sort_values(ascending=False)
        print(f"  by {level}: " + ", ".join(f"{at}: {count}" for at, count in counts.items()))
    twice = [
        ours.error.xs(2 * b, level="budget") <= ours.error.xs(b, level="budget") + 0.005
        for b in (10, 20, 100, 200)
    ]
    print(f"Twice the questions, no more error (+ .005): {np.mean(twice):.1%} of cells")
    cells = ours.groupby(["target", "budget"])
    known = ours.assign(estimate=cells.error.transform(_median_of_others))
    for name, data in (
        ("runs", ours),
        ("cells (means of the seeds)", cells[["error", "estimate"]].mean()),
        ("runs, for scale, by the median of the same target and budget's other seeds", known),
    ):
        many = data[data.index.get_level_values("budget") >= 40]
        some = many[many.error > NOTHING]  # where nothing is wrong any more there is no factor
        ratio = some.error / some.estimate.clip(lower=1e-300)
        good = (ratio <= 1.5) & (ratio >= 1 / 1.5)
        more = some.error >= 0.001
        print(f"Error within a factor 1.5 of its estimate, from 40 questions on: {good.mean():.1%} "
              f"of {len(some)} {name} ({(ratio > 1.5).mean():.1%} larger, {len(many) - len(some)} "
              f"more without any error); {good[more].mean():.1%} of the {more.sum()} "
              "with an error of .001 or more")  # fmt: skip
    print()


def _median_of_others(values: pd.Series) -> pd.Series:
    """For each value the median of all others: what one could know who has seen the other seeds."""
    others = [values.drop(at).median() for at in values.index]
    return pd.Series(others, index=values.index)


def draw(lines: pd.DataFrame, folder: Path) -> None:
    """Every cell's mean as a table; curves over questions and items, averaged over the targets."""
    cells = lines.groupby(["target", "budget", "method"], sort=False)
    table = cells[["error", "accuracy", "items"]].mean()
    table.insert(0, "seeds", cells.seed.nunique())
    table.to_csv(folder / "cells.csv", float_format="%.4f")
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(12, 8), layout="constrained")
    means = (
        lines[lines.method != "margin sampling"]
        .groupby(["method", "budget"])
        .mean(numeric_only=True)
    )
    for row, (column, label) in enumerate(
        (("error", "mean membership error"), ("accuracy", "accuracy"))
    ):
        for place, x in enumerate(("questions", "items")):
            axis = axes[row, place]
            for method, part in means.groupby("method"):
                if method == FREE:
                    axis.axhline(part[column].mean(), color="grey", ls=":", label=FREE)
                    continue
                ours = method == OURS
                axis.plot(part[x], part[column], marker="o", ms=3, label=method,
                          lw=3 if ours else 1, color="black" if ours else None)  # fmt: skip
            axis.set(xscale="log", xlabel=f"{x} asked", ylabel=label)
    axes[0, 1].legend(fontsize=8)
    figure.suptitle("What questions bring: averaged over all targets")
    figure.savefig(folder / "questions.png", dpi=70)
    plt.close(figure)
