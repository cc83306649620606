"""A figure's panels on one sheet, saved as PNG and SVG, the same to the last byte."""

from pathlib import Path
from typing import Any

from askmeans.plotting.display import cluster_palette
from experiments.figures import FigureSpec
from experiments.summary import Point
from experiments.synthetic import EQUAL

__all__ = ["save_figure"]

Curves = dict[str, list[Point]]


def save_figure(spec: FigureSpec, points: list[Point], path: Path) -> None:
    """Draw a figure's panels to `path`.png and `path`.svg; algorithms share a colour, ours dashed.

    Curves below the figure's floor are listed as text.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = _panels(spec, points)
    rows = -(-len(panels) // spec.columns)
    drawn = [label for curves in panels.values() for label, mine in curves.items()
             if mine[0].curve not in spec.levels]  # fmt: skip
    families = list(dict.fromkeys(map(_family, drawn)))
    colors = dict(zip(families, cluster_palette(len(families)), strict=True))
    # The salt and no date: the same curves give the same file.
    with mpl.rc_context({"svg.hashsalt": "askmeans", "svg.fonttype": "path"}):
        figure = Figure(figsize=(5.2 * spec.columns + 2.4, 4.2 * rows + 0.6), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(rows, spec.columns, squeeze=False)
        handles: dict[str, Any] = {}
        for ax, (title, curves) in zip(axes.flat, panels.items(), strict=False):
            _draw(ax, spec, curves, colors, handles)
            ax.set(title=title, xlabel=spec.xlabel, ylabel=spec.ylabel)
            if spec.log_x:
                ax.set_xscale("log")
            if spec.log_y:
                ax.set_yscale("log")
        for ax in axes.flat[len(panels) :]:
            ax.set_visible(False)
        figure.suptitle(spec.title)
        figure.legend(list(handles.values()), list(handles), loc="outside right center")
        figure.savefig(path.with_suffix(".png"), dpi=110, metadata={"Software": None})
        figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})


def _panels(spec: FigureSpec, points: list[Point]) -> dict[str, Curves]:
    """Points by panel and curve, as first met; the paper's setting above equal questions."""
    panels: dict[str, Curves] = {}
    for point in points:
        title, label = spec.place(point)
        if title:
            panels.setdefault(title, {}).setdefault(label, []).append(point)
    return dict(sorted(panels.items(), key=lambda pair: pair[0].startswith(EQUAL)))


def _family(label: str) -> str:
    """The algorithm, whichever way it is followed."""
    return label.replace(", our order", "").replace(", faithful", "")


def _draw(
    ax: Any, spec: FigureSpec, curves: Curves, colors: dict[str, Any], handles: dict[str, Any]
) -> None:
    """One panel; handles get what is new in it."""
    levels, hidden = [], []
    for label, mine in curves.items():
        means = [point.mean for point in mine]
        if mine[0].curve in spec.levels:
            levels.append((label, means[0]))
        elif spec.floor and min(means) < spec.floor:
            hidden.append(f"{label}: {min(means):.2g} to {max(means):.2g}")
        else:
            x, mean, low, high = zip(
                *sorted((spec.x(point), point.mean, point.low, point.high) for point in mine),
                strict=True,
            )
            (line,) = ax.plot(
                x, mean, label=label, color=colors[_family(label)], marker="o", markersize=3,
                linestyle="--" if "our order" in mine[0].curve else "-",
            )  # fmt: skip
            ax.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0.0)
            ax.grid(alpha=0.3)
            ax.spines[["top", "right"]].set_visible(False)
            handles.setdefault(label, line)
    for style, (name, level) in zip((":", "-."), levels, strict=False):
        handles.setdefault(name, ax.axhline(level, color="gray", linestyle=style))
    if hidden:
        text = "\n".join(["below the picture, at least in part:", *hidden])
        ax.text(0.02, 0.03, text, transform=ax.transAxes, fontsize=8)
        ax.margins(y=0.25)
