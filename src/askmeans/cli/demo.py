"""The demo: drawn faces with mixtures of moods, and 24 questions to a simulated expert."""

import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, metrics, oracles
from askmeans._util.arrays import Floats
from askmeans._util.colors import PALETTE, as_hex, blend
from askmeans.cli.example_data import INK, MOUTH, SKIN, shape_of
from askmeans.datasets import make_faces
from askmeans.datasets.pictures import MOODS
from askmeans.datasets.planted import Planted
from askmeans.exceptions import DataError
from askmeans.results import wrong_of

QUESTIONS = 24
COLORS = as_hex(PALETTE[: len(MOODS)])
_MADE_BY = "askmeans demo"  # metadata of the picture: only such a file is overwritten
_N_SHOWN = 6  # faces between moods, in the table and in the picture


def run(out: Path) -> None:
    """Fit, ask, print the results, and write the picture into the folder `out`."""
    import askmeans.plotting  # noqa: F401 - raises an error if matplotlib is missing

    path = out / "faces.png"
    if path.exists() and _MADE_BY.encode() not in path.read_bytes():
        raise DataError(
            f"{path} must be a picture that this demo made, or it would be overwritten. "
            "Got another file; use --out for another folder."
        )
    console = Console()
    faces = make_faces()
    console.print(
        f"[bold]{len(faces.X)} drawn faces.[/bold] How happy, sad, angry or surprised is each? "
        f"askmeans asks a simulated expert about {QUESTIONS} of them, and says it for all."
    )
    with console.status("Fitting (the first time, some seconds to compile) ..."):
        unsupervised = FuzzyKMeans(len(MOODS), n_init=5, random_state=0).fit(faces.X)
        expert = oracles.TableOracle(faces.memberships)
        model = ActiveFuzzyKMeans(
            len(MOODS), oracle=expert, ask="group", budget=QUESTIONS, random_state=0
        ).fit(faces.X)
    soft_rows = _items_between_moods(model)
    console.print(_answers_table(faces, model))
    console.print(_soft_items_table(faces, model, soft_rows))
    console.print(_error_table(faces, unsupervised, model))
    console.print(f"Picture: [bold]{_draw(faces, model, soft_rows, path)}[/bold]")
    program = "askmeans" if shutil.which("askmeans") else sys.argv[0]  # `make demo`: in .venv
    console.print(f"Be the expert yourself: [bold]{program} demo --web[/bold]")
    console.print(f"Files to try it with, texts and pictures: [bold]{program} demo --data[/bold]")
    console.print(f"Sort a file of your own in the browser: [bold]{program} serve[/bold]")


def _items_between_moods(model: ActiveFuzzyKMeans) -> list[int]:
    """The faces with the softest memberships among those without a question."""
    queried = {item for answer in model.history_ for item in answer.items}
    order = np.argsort(model.memberships_.max(axis=1))
    return [int(row) for row in order if int(row) not in queried][:_N_SHOWN]


def _answers_table(faces: Planted, model: ActiveFuzzyKMeans) -> Table:
    """The first questions and answers."""
    table = Table(title="The first of its questions", title_justify="left")
    table.add_column("to which group does it belong?")
    table.add_column("the expert says")
    for answer in model.history_[:5]:
        row = answer.items[0]
        face = f"{_emoticon(faces.X[row]):>4}  face {row + 1}"
        table.add_row(face, _share_text(np.array(answer.value)))
    return table


def _soft_items_table(faces: Planted, model: ActiveFuzzyKMeans, rows: list[int]) -> Table:
    """Faces between moods: the result beside the truth."""
    table = Table(title="Faces between moods, that nobody was asked about", title_justify="left")
    table.add_column("")
    table.add_column("after asking")
    table.add_column("in truth")
    for row in rows:
        shares, truth = model.memberships_[row], faces.memberships[row]
        bar = _bar(shares).append(f" {_share_text(shares)}")
        table.add_row(f"{_emoticon(faces.X[row]):>4}  face {row + 1}", bar, _share_text(truth))
    legend = Text()
    for mood, color in zip(MOODS, COLORS, strict=True):
        legend.append("█ ", style=color).append(f"{mood}  ")
    table.caption = legend
    return table


def _error_table(faces: Planted, unsupervised: FuzzyKMeans, model: ActiveFuzzyKMeans) -> Table:
    """Numbers of faces in the wrong mood, and errors of shares, without and with questions."""
    table = Table(title="How sure it is", title_justify="left")
    for title in ("", "without questions", f"after {model.n_queries_} questions"):
        table.add_column(title)
    diagnostics, truth, models = model.diagnostics_, faces.memberships, (unsupervised, model)
    wrong, band = diagnostics["expected_wrong"], diagnostics["expected_wrong_band"]
    table.add_row("faces in the wrong mood, expected", "-", wrong_of(wrong, len(truth), band))
    counts = [f"{_n_wrong(truth, model.memberships_)} of {len(truth)}" for model in models]
    table.add_row("in truth", *counts, end_section=True)
    low, high = diagnostics["error_band"]
    error = f"{diagnostics['estimated_error']:.3f} ({low:.3f} to {high:.3f})"
    table.add_row("mean error of a share, expected", "-", error)
    table.add_row("in truth", *(f"{_error(truth, model.memberships_):.3f}" for model in models))
    return table


def _error(truth: Floats, memberships: NDArray[np.floating[Any]]) -> float:
    """The mean error of a membership, clusters matched to moods."""
    return float(metrics.membership_error(truth, memberships, how="mean"))


def _n_wrong(truth: Floats, memberships: NDArray[np.floating[Any]]) -> int:
    """How many faces have another strongest mood than in truth, clusters matched to moods."""
    accuracy = metrics.matched_accuracy(truth.argmax(axis=1), memberships)
    return round((1.0 - accuracy) * len(truth))


def _emoticon(features: Floats) -> str:
    """A face as an emoticon for the terminal."""
    bend, opening, rise, wide = features
    mouth = "O" if opening > 0.6 else ")" if bend > 0.3 else "(" if bend < -0.3 else "|"
    mouth = "D" if mouth == ")" and opening > 0.35 else mouth
    brows = ">" if rise < -0.5 else ""
    return f"{brows}{'8' if wide > 0.75 else ':'}{chr(39) if rise > 0.6 else ''}-{mouth}"


def _bar(shares: Floats, width: int = 8) -> Text:
    """Shares as a bar in the moods' colours."""
    ends = np.rint(np.cumsum(shares) * width).astype(int)
    bar = Text()
    for start, end, color in zip((0, *ends[:-1]), ends, COLORS, strict=True):
        bar.append("█" * (end - start), style=color)
    return bar


def _share_text(shares: Floats) -> str:
    """Format the two largest shares."""
    best = np.argsort(shares)[::-1][:2]
    return ", ".join(f"{MOODS[mood]} {shares[mood]:.0%}" for mood in best if shares[mood] > 0.05)


def _draw(faces: Planted, model: ActiveFuzzyKMeans, soft_rows: list[int], path: Path) -> Path:
    """Draw a map of all faces, and some faces between moods with their memberships."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("Agg")
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 6.2), width_ratios=(3, 2))
    _draw_map(left, faces, model)
    _draw_bars(right, faces, model, soft_rows)
    title = f"{len(faces.X)} faces after {model.n_queries_} questions"
    figure.suptitle(f"{title}: which moods, and how much of each", fontsize=17)
    figure.subplots_adjust(left=0.02, right=0.98, top=0.87, bottom=0.03, wspace=0.05)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": _MADE_BY})
    plt.close(figure)
    return path


def _draw_map(ax: Any, faces: Planted, model: ActiveFuzzyKMeans) -> None:
    """Draw all faces; the colour of each ring is the mixture of its moods' colours."""
    centred = faces.X - faces.X.mean(axis=0)
    points = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    rings = as_hex(blend(model.memberships_, PALETTE[: len(MOODS)]))
    shown: list[int] = []
    for row, point in enumerate(points):
        if all(np.hypot(*(point - points[other])) > 0.19 for other in shown):
            shown.append(row)
    ax.scatter(*points.T, c=rings, s=28, zorder=0)
    for row in shown:
        _draw_face(ax, points[row], 0.085, faces.X[row], rings[row])
    for mood, color in enumerate(COLORS):  # beside its purest face, away from the others
        x, y = points[model.memberships_[:, mood].argmax()]
        where = {"ha": "left" if x > 0 else "right", "va": "center", "fontsize": 17}
        ax.text(x + np.copysign(0.22, x), y, MOODS[mood], color=color, weight="bold", **where)
    ax.set_title(
        "every ring has the mixed colour of the face's moods (dots: more faces)", fontsize=12
    )
    ax.set_aspect("equal", adjustable="datalim")
    ax.axis("off")


def _draw_bars(ax: Any, faces: Planted, model: ActiveFuzzyKMeans, rows: list[int]) -> None:
    """Draw faces between moods, each beside its memberships."""
    rings = as_hex(blend(model.memberships_, PALETTE[: len(MOODS)]))
    for place, row in enumerate(rows):
        y = -float(place)
        _draw_face(ax, np.array([0.0, y]), 0.33, faces.X[row], rings[row])
        start = 0.7
        for mood, share in enumerate(model.memberships_[row]):
            ax.barh(y, 3.6 * share, left=start, height=0.5, color=COLORS[mood])
            if share > 0.25:
                where = {"ha": "center", "va": "center", "color": "white", "fontsize": 9}
                ax.text(start + 1.8 * share, y, f"{MOODS[mood]} {share:.0%}", **where)
            start += 3.6 * share
    ax.set_title("between moods, and never asked about", fontsize=12)
    ax.set(xlim=(-0.5, 4.4), ylim=(-len(rows) + 0.4, 0.6), aspect="equal")
    ax.axis("off")


def _draw_face(ax: Any, at: Floats, radius: float, features: Floats, ring: str) -> None:
    """Draw a face with a ring of this colour around it."""
    from matplotlib.patches import Circle, PathPatch
    from matplotlib.path import Path as Outline

    shape, scale = shape_of(features), radius / 92.0
    line = 9.0 * radius if radius > 0.2 else 14.0 * radius

    def place(x: float, y: float) -> tuple[float, float]:
        return at[0] + (x - 100.0) * scale, at[1] - (y - 100.0) * scale

    ax.add_patch(Circle(tuple(at), radius * 1.25, facecolor=ring, edgecolor="none"))
    ax.add_patch(Circle(tuple(at), radius, facecolor=SKIN, edgecolor="none"))
    for x in (64.0, 136.0):
        ax.add_patch(Circle(place(x, 90.0), shape.eye * scale, facecolor="white"))
        ax.add_patch(Circle(place(x, 90.0), 0.5 * shape.eye * scale, facecolor=INK))
    for a, b, c, d in shape.brows:
        ax.plot(*zip(place(a, b), place(c, d), strict=True), color=INK, linewidth=line)
    codes = [Outline.MOVETO, *[Outline.CURVE4] * 6]
    mouth = Outline([place(x, y) for x, y in shape.mouth], codes)
    ax.add_patch(PathPatch(mouth, facecolor=MOUTH, edgecolor=INK, linewidth=line))
