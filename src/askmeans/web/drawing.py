"""Drawings as SVG text: the soft scatter, and the heat map of all memberships.

Colours and sizes are attributes, never styles: the page's policy allows no inline style.
"""

import math
from html import escape

import numpy as np
from numpy.typing import NDArray

from askmeans.colors import PALETTE, as_hex, blend

__all__ = ["Plane", "colors_of", "heat_map", "palette", "scatter"]

Floats = NDArray[np.floating]

_MOST_POINTS = 1500
_MOST_COLUMNS = 240
_WIDTH, _HEIGHT, _EDGE = 640.0, 420.0, 16.0


class Plane:
    """Items on the plane of their two widest directions; many items are thinned out."""

    def __init__(self, X: Floats) -> None:
        step = max(1, math.ceil(len(X) / _MOST_POINTS))
        self.rows: list[int] = list(range(0, len(X), step))
        self.n_items = len(X)
        taken = np.asarray(X[::step], dtype=np.float64)
        centered = taken - taken.mean(axis=0)
        widest = np.linalg.svd(centered, full_matrices=False)[2][:2]
        # The sign of a direction is arbitrary: the largest part of each points up.
        widest *= np.sign(widest[np.arange(len(widest)), np.abs(widest).argmax(axis=1)])[:, None]
        points = np.zeros((len(taken), 2))
        points[:, : len(widest)] = centered @ widest.T
        low, span = points.min(axis=0), np.ptp(points, axis=0)
        unit = (points - low) / np.where(span > 0, span, 1.0)
        room = np.array([_WIDTH, _HEIGHT]) - 2 * _EDGE
        self.points = _EDGE + unit * room
        self.points[:, 1] = _HEIGHT - self.points[:, 1]


def palette(n_clusters: int) -> NDArray[np.float64]:
    """A colour a cluster; past eight, shades of the eight."""
    rounds = math.ceil(n_clusters / len(PALETTE))
    shades = [PALETTE * (1 - 0.3 * turn / rounds) + 0.3 * turn / rounds for turn in range(rounds)]
    return np.concatenate(shades)[:n_clusters]


def colors_of(n_clusters: int) -> list[str]:
    """The same, as HTML writes them."""
    return as_hex(palette(n_clusters))


def scatter(plane: Plane, memberships: Floats, names: list[str]) -> str:
    """Every item a dot, its colour mixed by its memberships; ambiguous ones are rings."""
    taken = np.asarray(memberships[plane.rows], dtype=np.float64)
    mixed = as_hex(blend(taken, palette(taken.shape[1])))
    doubtful = np.sort(taken, axis=1)[:, -1] < 0.6
    radius = 6.0 if len(plane.rows) <= 300 else 4.0
    parts = []
    for place, row in enumerate(plane.rows):
        x, y = plane.points[place]
        shares = ", ".join(f"{value:.0%}" for value in taken[place])
        kind = "dot doubtful" if doubtful[place] else "dot"
        parts.append(
            f'<a href="/items/{row}" tabindex="-1"><circle class="{kind}" cx="{x:.1f}" '
            f'cy="{y:.1f}" r="{radius:g}" fill="{mixed[place]}"/>'
            f"<title>{escape(names[place])}: {shares}</title></a>"
        )
    return (
        f'<svg class="scatter" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="group" '
        f'aria-label="Scatter of {len(plane.rows)} items, coloured by membership">'
        f"{''.join(parts)}</svg>"
    )


def heat_map(memberships: Floats, names: list[str]) -> str:
    """A row a cluster, a column an item (or several, averaged), the darker the more it belongs."""
    order = np.lexsort((-memberships.max(axis=1), memberships.argmax(axis=1)))
    n_columns = min(len(order), _MOST_COLUMNS)
    columns = np.array(
        [part.mean(axis=0) for part in np.array_split(memberships[order], n_columns)]
    )
    width, room = _WIDTH / n_columns, _HEIGHT / len(names)
    height = room - 30.0 if room > 60.0 else 30.0
    room = height + 30.0
    colors = colors_of(len(names))
    parts = []
    for j, name in enumerate(names):
        top = j * room
        parts.append(f'<text class="name" x="0" y="{top + 16:g}">{escape(name)}</text>')
        parts.append(
            f'<rect class="bed" x="0" y="{top + 22:g}" width="{_WIDTH:g}" height="{height:g}"/>'
        )
        parts.extend(
            f'<rect x="{place * width:.2f}" y="{top + 22:g}" width="{width + 0.3:.2f}" '
            f'height="{height:g}" fill="{colors[j]}" fill-opacity="{value:.3f}"/>'
            for place, value in enumerate(columns[:, j])
            if value >= 0.005
        )
    whole = len(names) * room
    return (
        f'<svg class="heat" viewBox="0 0 {_WIDTH:g} {whole:g}" role="img" '
        f'aria-label="Memberships of {len(order)} items in {len(names)} clusters">'
        f"{''.join(parts)}</svg>"
    )
