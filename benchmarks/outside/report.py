"""Means of all results as Markdown tables and figures, and where askmeans is not the first."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from .results import read

SCORES = {"pairs": ["ari"], "texts": ["accuracy", "log_loss", "ece"], "crowd": ["ari"],
          "soft": ["error"]}  # fmt: skip
TITLES = {"ari": "adjusted Rand index", "accuracy": "accuracy", "log_loss": "log loss",
          "ece": "expected calibration error", "error": "mean error of a share"}  # fmt: skip


def means(folder: Path, table: str, score: str) -> pd.DataFrame:
    """The mean of a score by set, method and budget; seeds are counted."""
    runs = read(folder / f"{table}.csv").dropna(subset=[score])
    order = [runs[column].drop_duplicates() for column in ("set", "method")]
    cells = runs.groupby(["set", "method", "budget"])[score].mean().unstack("budget")
    rows = pd.MultiIndex.from_product(order, names=["set", "method"])
    return cells.reindex([row for row in rows if row in cells.index])


def markdown(folder: Path) -> Iterator[str]:
    """Every table: a row for each method, in each cell the means by budget."""
    for table, scores in SCORES.items():
        if not (folder / f"{table}.csv").exists():
            continue
        cells = {score: means(folder, table, score) for score in scores}
        names = cells[scores[0]].index.unique("set")
        if len(scores) == 1:
            columns = {name: cells[scores[0]].loc[name] for name in names}
            yield _table(TITLES[scores[0]], columns)
        else:
            for name in names:
                yield _table(name, {TITLES[score]: cells[score].loc[name] for score in scores})


def _table(title: str, columns: dict[str, pd.DataFrame]) -> str:
    """A table of columns, each with a row for each method and a column for each budget."""
    columns = {name: part.dropna(axis=1, how="all") for name, part in columns.items()}
    heads = [f"{name}: {' / '.join(map(str, part.columns))}" for name, part in columns.items()]
    lines = [f"| {title} | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for method in dict.fromkeys(m for part in columns.values() for m in part.index):
        row = [
            " / ".join("" if pd.isna(v) else f"{v:.3f}" for v in part.loc[method])
            if method in part.index
            else ""
            for part in columns.values()
        ]
        lines.append(f"| {method} | {' | '.join(row)} |")
    return "\n".join(lines)


def standing(folder: Path) -> Iterator[str]:
    """In how many cells askmeans is first, and where it is not."""
    for table, scores in SCORES.items():
        for score in scores if (folder / f"{table}.csv").exists() else ():
            cells = means(folder, table, score).unstack("set")
            ours = cells.index.str.startswith("askmeans")
            sign = 1.0 if score in ("ari", "accuracy") else -1.0
            best, rivals = (sign * cells[ours]).max(), (sign * cells[~ours]).dropna(how="all")
            met = rivals.columns[rivals.notna().any() & best.notna()]
            behind = [
                f"{name} at {budget} ({sign * best[budget, name]:.3f}, "
                f"{rivals[budget, name].idxmax()} {sign * rivals[budget, name].max():.3f})"
                for budget, name in met
                if round(rivals[budget, name].max() - best[budget, name], 3) > 0.0
            ]
            where = f"; behind in {', '.join(behind)}" if behind else ""
            yield (
                f"- {table}, {TITLES[score]}: first in {len(met) - len(behind)} of {len(met)} "
                f"cells{where}."
            )


def draw(folder: Path, out: Path) -> None:
    """Print every table, and write one figure for each."""
    import matplotlib.pyplot as plt

    print("\n\n".join(markdown(folder)), *standing(folder), sep="\n")
    for table, scores in SCORES.items():
        if not (folder / f"{table}.csv").exists():
            continue
        sets = means(folder, table, scores[0]).index.unique("set")
        figure, axes = plt.subplots(
            len(scores), len(sets), figsize=(2.6 * len(sets) + 1.5, 2.4 * len(scores) + 0.9),
            squeeze=False, layout="constrained",
        )  # fmt: skip
        for row, score in zip(axes, scores, strict=True):
            cells = means(folder, table, score)
            styles = {method: f"C{n % 10}" for n, method in
                      enumerate(dict.fromkeys(cells.index.get_level_values("method")))}  # fmt: skip
            for axis, name in zip(row, sets, strict=True):
                for method, values in cells.loc[name].iterrows():
                    line = values.dropna()
                    first = str(method).startswith("askmeans")
                    axis.plot(line.index, line, label=method, color=styles[method], marker=".",
                              linewidth=2.5 if first else 1.0,
                              linestyle=":" if "published" in str(method) else "-")  # fmt: skip
                axis.set_title(name, fontsize=9)
            row[0].set_ylabel(TITLES[score])
        lines: dict[str, Any] = {}
        for axis in axes.flat:
            handles, labels = axis.get_legend_handles_labels()
            lines |= dict(zip(labels, handles, strict=True))
        figure.legend(list(lines.values()), list(lines), loc="outside lower center", ncols=4,
                      fontsize=8)  # fmt: skip
        out.mkdir(parents=True, exist_ok=True)
        figure.savefig(out / f"compare_{table}.png", dpi=80)
        plt.close(figure)
