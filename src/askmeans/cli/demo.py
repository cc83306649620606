"""The demo: Iris, clustered alone and with questions to a simulated expert."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_iris

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, oracles
from askmeans.exceptions import DataError
from askmeans.metrics import matched_accuracy
from askmeans.plotting import MembershipHeatmapDisplay, SoftScatterDisplay

Names = NDArray[np.str_]

_MADE_BY = "askmeans demo"  # stands in the picture, so that no other is overwritten


def run(out: Path) -> None:
    """Fit, ask, print, and draw into the folder given."""
    path = out / "iris.png"
    if path.exists() and _MADE_BY.encode() not in path.read_bytes():
        raise DataError(
            f"{path} must be a picture that this demo made, or it would be overwritten. "
            "Got another file; use --out for another folder."
        )
    console = Console()
    iris = load_iris(as_frame=True)
    species = iris.target_names[iris.target]
    console.print(
        "[bold]150 iris flowers, 4 measurements each.[/bold] How much does each belong to which of "
        "3 groups? First without help, then with questions to an expert (a simulated one, who "
        "knows the species)."
    )
    with console.status("Fitting (the first time, some seconds to compile) ..."):
        alone = FuzzyKMeans(n_clusters=3, n_init=5, random_state=0).fit(iris.data)
        expert = oracles.TableOracle.from_labels(species)
        asked = ActiveFuzzyKMeans(n_clusters=3, oracle=expert, budget=40, random_state=0).fit(
            iris.data
        )
    console.print(_comparison(alone, asked, species))
    console.print(_first_answers(asked, species))
    console.print(_most_doubtful(alone, asked, species))
    console.print(f"Picture: [bold]{_draw(alone, asked, iris.data, path)}[/bold]")


def _comparison(alone: FuzzyKMeans, asked: ActiveFuzzyKMeans, species: Names) -> Table:
    """What asking cost and brought."""
    table = Table(title="What asking brings")
    table.add_column("")
    table.add_column("FuzzyKMeans", justify="right")
    table.add_column("ActiveFuzzyKMeans", justify="right")
    everything = asked.memberships_.size
    table.add_row("questions asked", "0", f"{asked.n_queries_} of {everything} possible")
    table.add_row("rounds", "0", str(asked.n_rounds_))
    table.add_row(
        "matched accuracy",
        f"{matched_accuracy(species, alone.labels_):.2%}",
        f"{matched_accuracy(species, asked.labels_):.2%}",
    )
    return table


def _first_answers(asked: ActiveFuzzyKMeans, species: Names) -> Table:
    """A few of the questions, as a person would have met them."""
    table = Table(title="The first questions")
    table.add_column("how much does ... belong to ...?")
    table.add_column("answer", justify="right")
    names = np.unique(species)
    for answer in asked.history_[:4]:
        question = f"flower {answer.items[0]} to {names[answer.cluster]}"
        table.add_row(question, f"{answer.value:.0%}")
    return table


def _most_doubtful(alone: FuzzyKMeans, asked: ActiveFuzzyKMeans, species: Names) -> Table:
    """The flowers that were hardest to place without help, and where they are now."""
    table = Table(title="The most doubtful flowers, without help")
    table.add_column("flower", justify="right")
    table.add_column("strongest memberships alone")
    table.add_column("after asking")
    table.add_column("in truth")
    names = np.unique(species)
    for i in np.argsort(alone.memberships_.max(axis=1))[:3]:
        two = np.sort(alone.memberships_[i])[::-1][:2]
        best = asked.labels_[i]
        table.add_row(
            f"no. {i}",
            " / ".join(f"{membership:.0%}" for membership in two),
            f"{asked.memberships_[i, best]:.0%} {names[best]}",
            species[i],
        )
    return table


def _draw(alone: FuzzyKMeans, asked: ActiveFuzzyKMeans, X: object, path: Path) -> Path:
    """Both clusterings as scatters, and the memberships after asking."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("Agg")

    figure, axes = plt.subplots(1, 3, figsize=(17, 5), width_ratios=(4, 4, 2), layout="constrained")
    SoftScatterDisplay.from_estimator(alone, X, ax=axes[0])
    SoftScatterDisplay.from_estimator(asked, X, ax=axes[1])
    MembershipHeatmapDisplay.from_estimator(asked, ax=axes[2])
    axes[0].set_title("without questions")
    axes[1].set_title(f"after {asked.n_queries_} questions")
    figure.suptitle("Iris, clustered softly: colours mix where groups do")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120, metadata={"Software": _MADE_BY})
    plt.close(figure)
    return path
