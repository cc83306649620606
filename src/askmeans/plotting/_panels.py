"""Several panels of curves on one sheet, saved as PNG and SVG, the same to the last byte."""

from dataclasses import dataclass, field
from pathlib import Path

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from askmeans.plotting._colors import cluster_palette
from askmeans.plotting.curves import CurveDisplay

__all__ = ["Curve", "Panel", "save_panels"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A curve with its band; curves with one `family` share a colour on the whole sheet."""

    label: str
    family: str
    x: list[float]
    mean: list[float]
    low: list[float]
    high: list[float]
    dashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One pair of axes; curves that go below the floor are told in words, not drawn."""

    title: str
    xlabel: str
    ylabel: str
    curves: list[Curve] = field(default_factory=list)
    lines: dict[str, float] = field(default_factory=dict)  # level lines by name
    log_x: bool = False
    log_y: bool = False
    floor: float | None = None


def save_panels(panels: list[Panel], path: Path, *, title: str, columns: int) -> None:
    """Draw the panels, so many a row, to `path`.png and `path`.svg."""
    rows = -(-len(panels) // columns)
    # The salt and no date: the same curves give the same file.
    with mpl.rc_context({"svg.hashsalt": "askmeans", "svg.fonttype": "path"}):
        figure = Figure(figsize=(5.2 * columns + 2.4, 4.2 * rows + 0.6), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(rows, columns, squeeze=False)
        families = list(dict.fromkeys(c.family for panel in panels for c in panel.curves))
        colors = dict(zip(families, cluster_palette(len(families)), strict=True))
        handles: dict[str, Artist] = {}
        for ax, panel in zip(axes.flat, panels, strict=False):
            low = [c for c in panel.curves if panel.floor and min(c.mean) < panel.floor]
            for curve in (c for c in panel.curves if c not in low):
                display = CurveDisplay(curve.x, curve.mean, curve.low, curve.high).plot(
                    ax,
                    label=curve.label,
                    color=colors[curve.family],
                    linestyle="--" if curve.dashed else "-",
                    marker="o",
                    markersize=3,
                )
                handles.setdefault(curve.label, display.line_)
            for style, (name, level) in zip((":", "-."), panel.lines.items(), strict=False):
                handles.setdefault(name, ax.axhline(level, color="gray", linestyle=style))
            if low:
                said = [f"{c.label}: {min(c.mean):.2g} to {max(c.mean):.2g}" for c in low]
                text = "\n".join(["below the picture, at least in part:", *said])
                ax.text(0.02, 0.03, text, transform=ax.transAxes, fontsize=8)
                ax.margins(y=0.25)
            ax.set(title=panel.title, xlabel=panel.xlabel, ylabel=panel.ylabel)
            if panel.log_x:
                ax.set_xscale("log")
            if panel.log_y:
                ax.set_yscale("log")
        for ax in axes.flat[len(panels) :]:
            ax.set_visible(False)
        figure.suptitle(title)
        figure.legend(list(handles.values()), list(handles), loc="outside right center")
        figure.savefig(path.with_suffix(".png"), dpi=110, metadata={"Software": None})
        figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
