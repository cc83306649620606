"""Drawings as SVG text: the soft scatter, strips of memberships, wrong items as answers came.

Colours and sizes are attributes, never styles: the page's policy allows no inline style.
"""

import math
from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from askmeans._util.colors import as_hex, blend
from askmeans.results import rounded
from askmeans.sessions import Item
from askmeans.web.forecasting import Outlook

__all__ = ["Plane", "colors_of", "error_curve", "palette", "scatter", "strips"]

Floats = NDArray[np.floating]

_MOST_POINTS = 1500
_MOST_COLUMNS = 240
_WIDTH, _HEIGHT, _EDGE = 640.0, 400.0, 26.0
_THUMB, _GAP = 40.0, 4.0  # of a picture in the scatter
_MOST_THUMBS = 60
_CURVE_WIDTH, _CURVE_HEIGHT = 420.0, 170.0


# Three of Okabe and Ito's, then those that lie farthest from all others in OKLab (Ottosson, 2020),
# for people who see red and green alike, too, among colours with a contrast of 3 to 1 (WCAG 1.4.11)
# to both the light and the dark page: one set, whatever the browser shows, and for notebooks.
_PALETTE: NDArray[np.float64] = (
    np.array([
        list(bytes.fromhex(color))
        for color in (
            "0072b2", "d55e00", "009e73", "b469ff", "78695a", "ff4b87",
            "5a4bff", "a587a5", "d20f3c", "a54b87", "c31ec3", "4b96d2",
        )
    ]) / 255.0
)  # fmt: skip


class Plane:
    """A sample of the items, on the plane where the groups lie apart."""

    def __init__(self, X: Floats) -> None:
        step = max(1, math.ceil(len(X) / _MOST_POINTS))
        self.rows: list[int] = list(range(0, len(X), step))
        self.n_items = len(X)
        self._taken = np.asarray(X[::step], dtype=np.float64)

    def points(self, centers: Floats | None = None) -> NDArray[np.float64]:
        """Where the items are drawn.

        The plane has the directions in which the centres lie apart; where these are fewer than
        two, those in which the items do.
        """
        centered = self._taken - self._taken.mean(axis=0)
        widest: list[NDArray[np.float64]] = []
        if centers is not None and np.isfinite(centers).all():
            widest = _directions(centers - centers.mean(axis=0))
        for direction in _directions(centered):
            for known in widest:
                direction = direction - (direction @ known) * known
            length = float(np.linalg.norm(direction))
            if len(widest) < 2 and length > 1e-6:
                widest.append(direction / length)
        points = np.zeros((len(centered), 2))
        for axis, direction in enumerate(widest[:2]):
            points[:, axis] = centered @ direction
        low, span = points.min(axis=0), np.ptp(points, axis=0)
        unit = np.where(span > 0, (points - low) / np.where(span > 0, span, 1.0), 0.5)
        found: NDArray[np.float64] = _EDGE + unit * (np.array([_WIDTH, _HEIGHT]) - 2 * _EDGE)
        found[:, 1] = _HEIGHT - found[:, 1]
        return found


def _directions(X: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """The two directions in which rows lie farthest apart, as far as there are two."""
    _, sizes, widest = np.linalg.svd(X, full_matrices=False)
    kept = [row for row, size in zip(widest, sizes, strict=True) if size > 1e-9 * max(sizes[0], 1)]
    # The sign of a direction is arbitrary: the largest part of each points up.
    return [row * np.sign(row[np.abs(row).argmax()]) for row in kept[:2]]


def palette(n_clusters: int) -> NDArray[np.float64]:
    """A colour a cluster; past twelve, greyer shades of the twelve."""
    rounds = math.ceil(n_clusters / len(_PALETTE))
    shades = [(_PALETTE + 0.5 * turn) / (1.0 + turn) for turn in range(rounds)]
    return np.concatenate(shades)[:n_clusters]


def colors_of(n_clusters: int) -> list[str]:
    """The same, as HTML writes them."""
    return as_hex(palette(n_clusters))


def scatter(
    plane: Plane, memberships: Floats, items: Sequence[Item], *, names: Sequence[str],
    centers: Floats | None = None,
) -> str:  # fmt: skip
    """Every item a dot or its picture, its colour mixed by its memberships.

    Ambiguous ones are rings.
    """
    taken = np.asarray(memberships[plane.rows], dtype=np.float64)
    points = plane.points(centers)
    mixed = as_hex(blend(taken, palette(taken.shape[1])))
    doubtful = np.sort(taken, axis=1)[:, -1] < 0.6
    radius = 6.0 if len(plane.rows) <= 300 else 4.0
    pictured = _apart(points, [place for place, item in enumerate(items) if item.image])
    parts, above = [], []
    for place, row in enumerate(plane.rows):
        x, y = points[place]
        ring = " doubtful" if doubtful[place] else ""
        image = ' data-image="1"' if items[place].image else ""
        head = f'<a href="/items/{row}" tabindex="-1" data-row="{row}"{image}>'
        told = f"{items[place].label}: {_shares(taken[place], names)}"
        title = f"<title>{escape(told)}</title>"
        if place in pictured:
            left, top = x - _THUMB / 2, y - _THUMB / 2
            above.append(
                f'{head}<image href="/image/{row}?small=true" x="{left:.1f}" y="{top:.1f}" '
                f'width="{_THUMB:g}" height="{_THUMB:g}" preserveAspectRatio="xMidYMid slice"/>'
                f'<rect class="dot thumb{ring}" x="{left:.1f}" y="{top:.1f}" width="{_THUMB:g}" '
                f'height="{_THUMB:g}" rx="5" stroke="{mixed[place]}"/>{title}</a>'
            )
        else:
            parts.append(
                f'{head}<circle class="dot{ring}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" '
                f'fill="{mixed[place]}"/>{title}</a>'
            )
    return (
        f'<svg class="scatter" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="group" '
        f'aria-label="Scatter of {len(plane.rows)} items, coloured by membership">'
        f"{''.join(parts + above)}</svg>"
    )


def _shares(row: NDArray[np.float64], names: Sequence[str]) -> str:
    """Memberships in words, the strongest first, without traces."""
    order = np.argsort(-row, kind="stable")
    told = [f"{row[j]:.0%} {names[j]}" for j in order if row[j] >= 0.01]
    return ", ".join(told[:3])


def _apart(points: NDArray[np.float64], candidates: Sequence[int]) -> set[int]:
    """Places of items whose pictures do not lie on one another."""
    found: list[int] = []
    for place in candidates:
        gaps = np.abs(points[found] - points[place])
        if not (gaps < _THUMB + _GAP).all(axis=1).any():
            found.append(place)
        if len(found) == _MOST_THUMBS:
            break
    return set(found)


def strips(memberships: Floats) -> list[str]:
    """For each group a strip: one column per item (or several, averaged), dark where it belongs."""
    order = np.lexsort((-memberships.max(axis=1), memberships.argmax(axis=1)))
    n_columns = min(len(order), _MOST_COLUMNS)
    columns = np.array(
        [part.mean(axis=0) for part in np.array_split(memberships[order], n_columns)]
    )
    drawn = []
    for j, color in enumerate(colors_of(memberships.shape[1])):
        cells = "".join(
            f'<rect x="{place}" width="1.05" height="10" fill="{color}" '
            f'fill-opacity="{value:.3f}"/>'
            for place, value in enumerate(columns[:, j])
            if value >= 0.005
        )
        drawn.append(
            f'<svg class="strip" viewBox="0 0 {n_columns} 10" preserveAspectRatio="none" '
            f'shape-rendering="crispEdges" aria-hidden="true">{cells}</svg>'
        )
    return drawn


def error_curve(outlook: Outlook) -> str:
    """Wrong items to expect as answers came, with their band, and where more cards would lead."""
    curve = outlook.curve
    last = curve[-1].answers + outlook.more
    wrong = [each.wrong or 0.0 for each in curve]
    bands = [each.wrong_band or (0, 0) for each in curve]
    top = max(min(max(high for _, high in bands), 2.0 * max(wrong)), 1.0)
    left, bottom, edge = 44.0, _CURVE_HEIGHT - 24.0, 8.0

    def x(answers: float) -> float:
        return left + answers / max(last, 1) * (_CURVE_WIDTH - left - edge)

    def y(count: float) -> float:
        return bottom - min(count / top, 1.0) * (bottom - edge)

    places = [x(each.answers) for each in curve]
    highs = [f"{at:.1f},{y(high):.1f}" for at, (_, high) in zip(places, bands, strict=True)]
    lows = [f"{at:.1f},{y(low):.1f}" for at, (low, _) in zip(places, bands, strict=True)][::-1]
    line = " ".join(f"{at:.1f},{y(count):.1f}" for at, count in zip(places, wrong, strict=True))
    now = curve[-1]
    parts = [
        f'<polygon class="band" points="{" ".join(highs + lows)}"/>',
        f'<line class="axis" x1="{left:g}" y1="{bottom:g}" x2="{_CURVE_WIDTH - edge:g}" '
        f'y2="{bottom:g}"/>',
        f'<polyline class="trend" points="{line}"/>',
        f'<polyline class="ahead" points="{x(now.answers):.1f},{y(outlook.wrong):.1f} '
        f'{x(last):.1f},{y(outlook.after):.1f}"/>',
        f'<circle class="now" cx="{x(now.answers):.1f}" cy="{y(outlook.wrong):.1f}" r="4.5"/>',
        f'<text x="{left - 6:g}" y="{edge + 8:g}" text-anchor="end">{rounded(top)}</text>',
        f'<text x="{left - 6:g}" y="{bottom:g}" text-anchor="end">0</text>',
        f'<text x="{left:g}" y="{_CURVE_HEIGHT - 6:g}">0</text>',
        f'<text x="{_CURVE_WIDTH - edge:g}" y="{_CURVE_HEIGHT - 6:g}" text-anchor="end">'
        f"{last} answers</text>",
    ]
    if outlook.target is not None and outlook.target * outlook.n_items <= top:
        height = y(outlook.target * outlook.n_items)
        parts.append(
            f'<line class="goal" x1="{left:g}" y1="{height:.1f}" x2="{_CURVE_WIDTH - edge:g}" '
            f'y2="{height:.1f}"/>'
        )
    return (
        f'<svg class="curve" viewBox="0 0 {_CURVE_WIDTH:g} {_CURVE_HEIGHT:g}" role="img" '
        f'aria-label="Items probably in the wrong group after {curve[0].answers} to {now.answers} '
        f'answers: from {rounded(wrong[0])} to {rounded(outlook.wrong)}">{"".join(parts)}</svg>'
    )
