"""Drawings as SVG text: the scatter, strips of memberships, wrong items as answers came.

Colours and sizes are attributes, never styles: the page's policy allows no inline style.
"""

import math
import unicodedata
from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from askmeans._util.colors import as_hex, blend, from_hex
from askmeans._util.message import Message, plural_message
from askmeans.results import rounded, strongest_clusters
from askmeans.sessions import Item
from askmeans.web import languages
from askmeans.web.forecasting import Outlook

Floats = NDArray[np.floating]

_MOST_POINTS = 1500
_MOST_COLUMNS = 240
_WIDTH, _HEIGHT, _MARGIN = 640.0, 400.0, 26.0
_THUMB, _GAP = 40.0, 4.0  # of a picture in the scatter
_MOST_THUMBS = 60
_AMBIGUOUS = 0.6  # the strongest membership below which an item is drawn as a ring
_LABEL, _LETTER, _LINE = 28, 8.0, 17.0  # of names in the scatter: letters, their size, and the line
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
N_COLORS = len(_PALETTE)  # that are told apart


class Plane:
    """A sample of the items, on the plane in which the groups are apart."""

    def __init__(self, X: Floats) -> None:
        step = max(1, math.ceil(len(X) / _MOST_POINTS))
        self.rows: list[int] = list(range(0, len(X), step))
        self.n_items = len(X)
        self._all = X
        self._sample = np.asarray(X[::step], dtype=np.float64)

    def points(self, centers: Floats | None = None, *, of_all: bool = False) -> NDArray[np.float64]:
        """Coordinates in the drawing of the items of the sample, or of all.

        The axes are the principal directions of the centres; where these have fewer than two,
        those of the items.
        """
        middle = self._sample.mean(axis=0)
        axes: list[NDArray[np.float64]] = []
        if centers is not None and np.isfinite(centers).all():
            axes = _principal_directions(centers - centers.mean(axis=0))
        for direction in _principal_directions(self._sample - middle):
            for axis in axes:
                direction = direction - (direction @ axis) * axis
            length = float(np.linalg.norm(direction))
            if len(axes) < 2 and length > 1e-6:
                axes.append(direction / length)
        across = np.zeros((self._sample.shape[1], 2))
        across[:, : len(axes[:2])] = np.array(axes[:2]).T.reshape(len(across), -1)
        points = (self._sample - middle) @ across
        low, span = points.min(axis=0), np.ptp(points, axis=0)
        if of_all:
            points = np.asarray(self._all, dtype=np.float64) @ across - middle @ across
        unit = np.where(span > 0, (points - low) / np.where(span > 0, span, 1.0), 0.5)
        drawn: NDArray[np.float64] = _MARGIN + unit * (np.array([_WIDTH, _HEIGHT]) - 2 * _MARGIN)
        drawn[:, 1] = _HEIGHT - drawn[:, 1]
        return drawn


def _principal_directions(X: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """The first two principal directions of centred rows; fewer of narrow data."""
    _, sizes, rows = np.linalg.svd(X, full_matrices=False)
    kept = [row for row, size in zip(rows, sizes, strict=True) if size > 1e-9 * max(sizes[0], 1)]
    # The sign of a direction is arbitrary: the largest component of each is positive.
    return [row * np.sign(row[np.abs(row).argmax()]) for row in kept[:2]]


def palette(n_clusters: int) -> NDArray[np.float64]:
    """A colour for each cluster; past twelve, greyer shades of the twelve."""
    rounds = math.ceil(n_clusters / len(_PALETTE))
    shades = [(_PALETTE + 0.5 * turn) / (1.0 + turn) for turn in range(rounds)]
    return np.concatenate(shades)[:n_clusters]


def colors_of(n_clusters: int) -> list[str]:
    """The same as HTML writes them."""
    return as_hex(palette(n_clusters))


def scatter(
    plane: Plane, memberships: Floats, items: Sequence[Item], *, names: Sequence[str],
    centers: Floats | None = None, hues: Sequence[str] | None = None,
) -> str:  # fmt: skip
    """Each item as a dot or its picture, coloured by its memberships; ambiguous ones as rings.

    Each group's name stands in the middle of its items.
    """
    U = np.asarray(memberships[plane.rows], dtype=np.float64)
    points = plane.points(centers)
    colors = as_hex(blend(U, palette(U.shape[1]) if hues is None else from_hex(hues)))
    is_ambiguous = np.sort(U, axis=1)[:, -1] < _AMBIGUOUS
    strongest = strongest_clusters(U)
    radius = 6.0 if len(plane.rows) <= 300 else 4.0
    pictured = _apart(points, [place for place, item in enumerate(items) if item.image])
    dots, pictures = [], []
    for place, row in enumerate(plane.rows):
        x, y = points[place]
        ring = " doubtful" if is_ambiguous[place] else ""
        image = ' data-image="1"' if items[place].image else ""
        group = f' data-group="{strongest[place]}"'
        link = f'<a href="items/{row}" tabindex="-1" data-row="{row}"{group}{image}>'
        title = escape(f"{items[place].label}: {_describe_shares(U[place], names)}")
        title = f"<title>{title}</title>"
        if place in pictured:
            left, top = x - _THUMB / 2, y - _THUMB / 2
            pictures.append(
                f'{link}<image href="image/{row}?small=true" x="{left:.1f}" y="{top:.1f}" '
                f'width="{_THUMB:g}" height="{_THUMB:g}" preserveAspectRatio="xMidYMid slice"/>'
                f'<rect class="dot thumb{ring}" x="{left:.1f}" y="{top:.1f}" width="{_THUMB:g}" '
                f'height="{_THUMB:g}" rx="5" stroke="{colors[place]}"/>{title}</a>'
            )
        else:
            dots.append(
                f'{link}<circle class="dot{ring}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" '
                f'fill="{colors[place]}"/>{title}</a>'
            )
    return (
        f'<svg class="scatter" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="group" '
        'aria-labelledby="map-title">'
        f"{''.join(dots + pictures + _labels(points, strongest, names))}</svg>"
    )


def _labels(points: Floats, strongest: NDArray[np.intp], names: Sequence[str]) -> list[str]:
    """The names of groups in the middle of their items, moved down until none covers another."""
    middles = [
        (*np.median(points[strongest == j], axis=0), j)
        for j in range(len(names))
        if (strongest == j).any()
    ]
    placed: list[tuple[float, float, float]] = []
    labels = []
    for x, y, j in sorted(middles, key=lambda middle: middle[1]):
        name = names[j] if len(names[j]) <= _LABEL else f"{names[j][: _LABEL - 1].rstrip()}…"
        half = 0.5 * _LETTER * len(name)
        x = min(max(x, half), _WIDTH - half)
        for left, above, width in placed:
            if abs(x - left) < half + width and y < above + _LINE:
                y = above + _LINE
        placed.append((x, y, half))
        letters = map(unicodedata.bidirectional, name)
        strong = next((letter for letter in letters if letter in ("L", "R", "AL")), "L")
        turned = "" if strong == "L" else ' direction="rtl"'
        labels.append(
            f'<text class="label" data-group="{j}" x="{x:.1f}" y="{y:.1f}" text-anchor="middle" '
            f'aria-hidden="true"{turned}>{escape(name)}</text>'
        )
    return labels


def _describe_shares(row: NDArray[np.float64], names: Sequence[str]) -> str:
    """Format the three strongest memberships, without traces."""
    order = np.argsort(-row, kind="stable")[:3]
    return ", ".join(f"{row[j]:.0%} {names[j]}" for j in order if row[j] >= 0.01)


def _apart(points: NDArray[np.float64], candidates: Sequence[int]) -> set[int]:
    """Places of items whose pictures do not overlap."""
    chosen: list[int] = []
    for place in candidates:
        gaps = np.abs(points[chosen] - points[place])
        if not (gaps < _THUMB + _GAP).all(axis=1).any():
            chosen.append(place)
        if len(chosen) == _MOST_THUMBS:
            break
    return set(chosen)


def size_bars(
    counts: Sequence[int], bands: Sequence[tuple[int, int]], colors: Sequence[str]
) -> list[str]:
    """A bar for the number of items in each group, with the interval of that number as a line."""
    unit = 100.0 / max(1, *(high for _, high in bands))
    return [
        f'<svg class="size-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="track" width="100" height="10"/>'
        f'<rect width="{count * unit:.2f}" height="10" fill="{color}"/>'
        f'<rect class="band" x="{low * unit:.2f}" y="4" width="{(high - low) * unit:.2f}" '
        f'height="2"/></svg>'
        for count, (low, high), color in zip(counts, bands, colors, strict=True)
    ]


def level_bars(counts: Sequence[int], wrong: Sequence[float]) -> list[str]:
    """A bar for the number of items in each level of confidence; its end is probably wrong."""
    unit = 100.0 / max(1, *counts)
    return [
        f'<svg class="size-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="track" width="100" height="10"/>'
        f'<rect class="right" width="{count * unit:.2f}" height="10"/>'
        f'<rect class="wrong" x="{(count - errors) * unit:.2f}" width="{errors * unit:.2f}" '
        f'height="10"/></svg>'
        for count, errors in zip(counts, wrong, strict=True)
    ]


def strips(memberships: Floats, colors: Sequence[str] | None = None) -> list[str]:
    """A strip for each group: a column per item (or mean of several), dark for members."""
    order = np.lexsort((-memberships.max(axis=1), memberships.argmax(axis=1)))
    parts = np.array_split(memberships[order], min(len(order), _MOST_COLUMNS))
    columns = np.array([part.mean(axis=0) for part in parts])
    drawn = []
    for j, color in enumerate(colors or colors_of(memberships.shape[1])):
        cells = "".join(
            f'<rect x="{place}" width="1.05" height="10" fill="{color}" '
            f'fill-opacity="{value:.3f}"/>'
            for place, value in enumerate(columns[:, j])
            if value >= 0.005
        )
        drawn.append(
            f'<svg class="strip" viewBox="0 0 {len(columns)} 10" preserveAspectRatio="none" '
            f'shape-rendering="crispEdges" aria-hidden="true">{cells}</svg>'
        )
    return drawn


def error_curve(outlook: Outlook) -> str:
    """Wrong items to expect as answers came, with their interval, and after more cards.

    In the language of the request.
    """
    curve, now = outlook.curve, outlook.curve[-1]
    last = now.answers + outlook.more
    wrong = [each.wrong or 0.0 for each in curve]
    bands = [each.wrong_band or (0, 0) for each in curve]
    top = max(min(max(high for _, high in bands), 2.0 * max(wrong)), 1.0)
    left, bottom, edge = 44.0, _CURVE_HEIGHT - 24.0, 8.0
    right = _CURVE_WIDTH - edge

    def x(answers: float) -> float:
        return left + answers / max(last, 1) * (right - left)

    def y(count: float) -> float:
        return bottom - min(count / top, 1.0) * (bottom - edge)

    def points(counts: Sequence[float]) -> list[str]:
        return [f"{x(each.answers):.1f},{y(n):.1f}" for each, n in zip(curve, counts, strict=True)]

    lows, highs = points([low for low, _ in bands]), points([high for _, high in bands])
    end = languages.localize(plural_message("{n} answer", "{n} answers", last))
    label = languages.localize(
        Message(
            "Items probably in the wrong group after {first} to {last} answers: from {many} to "
            "{few}",
            first=curve[0].answers, last=now.answers, many=rounded(wrong[0]),
            few=rounded(outlook.wrong),
        )
    )  # fmt: skip
    parts = [
        f'<polygon class="band" points="{" ".join(highs + lows[::-1])}"/>',
        f'<line class="axis" x1="{left:g}" y1="{bottom:g}" x2="{right:g}" y2="{bottom:g}"/>',
        f'<polyline class="trend" points="{" ".join(points(wrong))}"/>',
        f'<polyline class="ahead" points="{x(now.answers):.1f},{y(outlook.wrong):.1f} '
        f'{x(last):.1f},{y(outlook.after):.1f}"/>',
        f'<circle class="now" cx="{x(now.answers):.1f}" cy="{y(outlook.wrong):.1f}" r="4.5"/>',
        f'<text x="{left - 6:g}" y="{edge + 8:g}" text-anchor="end">{languages.about(top)}</text>',
        f'<text x="{left - 6:g}" y="{bottom:g}" text-anchor="end">0</text>',
        f'<text x="{left:g}" y="{_CURVE_HEIGHT - 6:g}">0</text>',
        f'<text x="{right:g}" y="{_CURVE_HEIGHT - 6:g}" text-anchor="end">{escape(end)}</text>',
    ]
    if outlook.target is not None and outlook.target * outlook.n_items <= top:
        goal = f"{y(outlook.target * outlook.n_items):.1f}"
        line = f'<line class="goal" x1="{left:g}" y1="{goal}" x2="{right:g}" y2="{goal}"/>'
        parts.append(line)
    return (
        f'<svg class="curve" viewBox="0 0 {_CURVE_WIDTH:g} {_CURVE_HEIGHT:g}" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )
