"""Drawn faces that anybody can judge, for `askmeans demo --web`: four moods, and what lies between.

A face is a few numbers (how the mouth bends and opens, how the brows tilt, how wide the eyes are),
and a picture drawn from them.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askmeans.sessions import create

__all__ = ["FEATURES", "MEANS", "MOODS", "make_faces"]

Floats = NDArray[np.float64]

MOODS = ("happy", "sad", "angry", "surprised")
FEATURES = ("mouth bends up", "mouth open", "brows rise inside", "eyes wide")
# Rows as MOODS, columns as FEATURES.
MEANS = np.array(
    [
        [1.0, 0.3, 0.1, 0.45],
        [-0.9, 0.0, 0.9, 0.35],
        [-0.6, 0.1, -1.0, 0.3],
        [0.0, 1.0, 0.35, 1.0],
    ]
)
_SKINS = ("#ffd54a", "#f7b267", "#9ad0c2", "#b8c4f0", "#f2a9b4")


def make_faces(database: Path, n: int = 120) -> None:
    """Make a session of faces with group questions; the pictures lie beside the database."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(len(MOODS), 0.15), size=n)
    X = shares @ MEANS + rng.normal(scale=0.07, size=(n, len(FEATURES)))
    folder = database.parent / "faces"
    folder.mkdir(parents=True, exist_ok=True)
    files = [f"face-{number}.svg" for number in range(1, n + 1)]
    for file, numbers, skin in zip(files, X, rng.choice(_SKINS, size=n), strict=True):
        (folder / file).write_text(_draw(numbers, skin))
    create(
        database,
        X,
        n_clusters=len(MOODS),
        items=[{"picture": file} for file in files],
        cluster_names=MOODS,
        ids=[f"face {number}" for number in range(1, n + 1)],
        image="picture",
        folder=folder,
        feature_names=FEATURES,
        ask="group",
        random_state=0,
    ).close()


def _draw(numbers: Floats, skin: str) -> str:
    """A face as SVG."""
    bend, opening, rise, wide = numbers.clip(-1.2, 1.2)
    eye = 6.0 + 10.0 * max(0.0, wide)
    brow = 72.0 - 16.0 * max(0.0, wide)
    tilt = 11.0 * rise
    gape = max(0.0, opening)
    half = 36.0 - 18.0 * gape
    ends, middle = 140.0 - 12.0 * bend, 140.0 + 24.0 * bend
    left, right = 100.0 - half, 100.0 + half
    mouth = (
        f"M{left:.1f} {ends:.1f}C{left:.1f} {middle - 30 * gape:.1f} {right:.1f} "
        f"{middle - 30 * gape:.1f} {right:.1f} {ends:.1f}C{right:.1f} {middle + 40 * gape:.1f} "
        f"{left:.1f} {middle + 40 * gape:.1f} {left:.1f} {ends:.1f}Z"
    )
    brows = "".join(
        f'<path d="M{100 + side * 52:.1f} {brow + tilt:.1f}L{100 + side * 22:.1f} '
        f'{brow - tilt:.1f}"/>'
        for side in (-1, 1)
    )
    eyes = "".join(
        f'<circle cx="{100 + side * 36}" cy="90" r="{eye:.1f}" fill="#fff"/>'
        f'<circle cx="{100 + side * 36}" cy="90" r="{0.5 * eye:.1f}" fill="#2b2b33"/>'
        for side in (-1, 1)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400" viewBox="0 0 200 200">'
        f'<circle cx="100" cy="100" r="92" fill="{skin}"/>{eyes}'
        '<g fill="none" stroke="#2b2b33" stroke-width="6" stroke-linecap="round" '
        f'stroke-linejoin="round">{brows}<path d="{mouth}" fill="#7c2f3a"/></g></svg>'
    )
