"""The demo: Iris, clustered softly, as a short table and a picture."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_iris

from askmeans import FuzzyKMeans
from askmeans.metrics import matched_accuracy
from askmeans.plotting import MembershipHeatmapDisplay, SoftScatterDisplay


def run(out: Path) -> None:
    """Fit, print, and draw into the folder given."""
    console = Console()
    iris = load_iris(as_frame=True)
    species = iris.target_names[iris.target]
    console.print(
        "[bold]150 iris flowers, 4 measurements each.[/bold] "
        "FuzzyKMeans looks for 3 soft groups; the species stay hidden from it."
    )
    with console.status("Fitting (the first time, some seconds to compile) ..."):
        model = FuzzyKMeans(n_clusters=3, n_init=5, random_state=0).fit(iris.data)
    console.print(_summary(model, species))
    accuracy = matched_accuracy(species, model.labels_)
    console.print(
        f"Matched accuracy: [bold]{accuracy:.2%}[/bold] of the flowers have as strongest group the "
        "one that stands for their species."
    )
    console.print(_most_doubtful(model, species))
    console.print(f"Picture: [bold]{_draw(model, iris.data, out)}[/bold]")


def _summary(model: FuzzyKMeans, species: np.ndarray) -> Table:
    """One row a group: its weight, its most typical flower, and which species are in it."""
    table = Table(title="What it found")
    table.add_column("group", justify="right")
    table.add_column("flowers' worth", justify="right")
    table.add_column("most typical flower", justify="right")
    table.add_column("surest half, by species")
    for j, memberships in enumerate(model.memberships_.T):
        inside = np.flatnonzero(model.labels_ == j)
        surest = inside[np.argsort(-memberships[inside])][: max(1, len(inside) // 2)]
        names, counts = np.unique(species[surest], return_counts=True)
        by_size = sorted(zip(counts, names, strict=True), reverse=True)
        table.add_row(
            str(j),
            f"{memberships.sum():.1f}",
            f"no. {memberships.argmax()} ({memberships.max():.0%})",
            ", ".join(f"{count} {name}" for count, name in by_size),
        )
    return table


def _most_doubtful(model: FuzzyKMeans, species: np.ndarray) -> Table:
    """The three flowers that a hard clustering would have had to guess."""
    table = Table(title="Whom a hard clustering would have guessed")
    table.add_column("flower", justify="right")
    for j in range(model.n_clusters):
        table.add_column(f"group {j}", justify="right")
    table.add_column("in truth")
    for i in np.argsort(model.memberships_.max(axis=1))[:3]:
        row = (f"{membership:.0%}" for membership in model.memberships_[i])
        table.add_row(f"no. {i}", *row, species[i])
    return table


def _draw(model: FuzzyKMeans, X: object, out: Path) -> Path:
    """Scatter and heat map side by side."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(12, 5), width_ratios=(2, 1), layout="constrained")
    SoftScatterDisplay.from_estimator(model, X, ax=axes[0])
    MembershipHeatmapDisplay.from_estimator(model, ax=axes[1])
    figure.suptitle("Iris, clustered softly: colours mix where groups do")
    out.mkdir(parents=True, exist_ok=True)
    path = out / "iris.png"
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return path
