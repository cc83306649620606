"""Example data that need no expert: messages to a shop, painted scenes, drawn faces."""

import csv
import io
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from askmeans._util.arrays import Floats
from askmeans.datasets import make_messages, make_scenes
from askmeans.datasets.messages import Messages
from askmeans.datasets.pictures import FEATURES, MOODS, make_faces
from askmeans.exceptions import DataError
from askmeans.sessions import create

_EXAMPLES = 4  # of each mood, pinned: three on its tile, one to practise on
_PURPOSE = "We sort drawn faces by their mood. You are the expert: say what you see."
_GUIDELINES = """\
- Judge by the whole face: mouth, brows and eyes.
- A face between two moods belongs to both: say how much of each.
"""
INK, MOUTH = "#2b2b33", "#7c2f3a"
SKIN = "#f7efe0"  # no group's colour, and the same for all: only the mood differs


def write_data(folder: Path) -> list[Path]:
    """Write messages.csv, later.csv with more of them, and a folder of pictures."""
    files = {
        folder / "messages.csv": _table(make_messages(), first=1),
        folder / "later.csv": _table(make_messages(20, seed=1), first=161),
    }
    for number, pixels in enumerate(make_scenes().images, 1):
        files[folder / "pictures" / f"{number:02}.png"] = _as_png(pixels)
    for path, content in files.items():
        if path.exists() and path.read_bytes() != content:
            raise DataError(
                f"{path} must not be there, or be what this command wrote, or it would be "
                "overwritten. Got another file; use --out for another folder."
            )
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        path.write_bytes(content)
    return [*list(files)[:2], folder / "pictures"]


def _table(messages: Messages, first: int) -> bytes:
    """A CSV file with one row per message."""
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(["id", "message", "topic"])
    for number, row in enumerate(zip(messages.texts, messages.topics, strict=True), first):
        table.writerow([f"M{number}", *row])
    return file.getvalue().encode()


def _as_png(pixels: NDArray[np.uint8]) -> bytes:
    """A picture's file, without any package that knows how to make one."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        checksum = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + checksum

    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Where the lines of a face run, in a square of 200."""

    eye: float  # its radius; eyes are at (64, 90) and (136, 90)
    brows: tuple[tuple[float, float, float, float], ...]  # from x, y to x, y
    mouth: tuple[tuple[float, float], ...]  # a start and two cubic Bezier curves


def make_faces_session(database: Path, n: int = 120) -> None:
    """Make a session of faces with group questions; the pictures lie beside the database.

    The plainest faces of each mood are pinned, so that examples and practice cards are there from
    the start.
    """
    faces = make_faces(n)
    folder = database.parent / "faces"
    folder.mkdir(parents=True, exist_ok=True)
    files = [f"face-{number}.svg" for number in range(1, n + 1)]
    for file, numbers in zip(files, faces.X, strict=True):
        (folder / file).write_text(_as_svg(shape_of(numbers)))
    with create(
        database,
        pd.DataFrame(faces.X, columns=list(FEATURES)),
        n_clusters=len(MOODS),
        items=[{"picture": file} for file in files],
        cluster_names=MOODS,
        ids=[f"face {number}" for number in range(1, n + 1)],
        image="picture",
        folder=folder,
        ask="group",
        random_state=0,
    ) as session:
        session.settings.set_option("purpose", _PURPOSE, annotator="demo")
        session.settings.set_option("guidelines", _GUIDELINES, annotator="demo")
        for mood, column in enumerate(faces.memberships.T):
            for row in np.argsort(-column, kind="stable")[:_EXAMPLES].tolist():
                session.groups.pin(mood, row, annotator="demo")


def shape_of(numbers: Floats) -> Shape:
    """The lines of a face."""
    bend, opening, rise, wide = numbers.clip(-1.2, 1.2)
    brow = 72.0 - 16.0 * max(0.0, wide)
    tilt = 11.0 * rise
    gape = max(0.0, opening)
    half = 36.0 - 18.0 * gape
    ends, middle = 140.0 - 12.0 * bend, 140.0 + 24.0 * bend
    left, right = 100.0 - half, 100.0 + half
    upper, lower = middle - 30.0 * gape, middle + 40.0 * gape
    return Shape(
        eye=6.0 + 10.0 * max(0.0, wide),
        brows=tuple(
            (100.0 + side * 52.0, brow + tilt, 100.0 + side * 22.0, brow - tilt) for side in (-1, 1)
        ),
        mouth=(
            (left, ends), (left, upper), (right, upper), (right, ends),
            (right, lower), (left, lower), (left, ends),
        ),
    )  # fmt: skip


def _as_svg(shape: Shape) -> str:
    """A face as SVG."""
    start, *curves = (f"{x:.1f} {y:.1f}" for x, y in shape.mouth)
    mouth = f"M{start}C{' '.join(curves[:3])}C{' '.join(curves[3:])}Z"
    brows = "".join(f'<path d="M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}"/>' for a, b, c, d in shape.brows)
    eyes = "".join(
        f'<circle cx="{100 + side * 36}" cy="90" r="{shape.eye:.1f}" fill="#fff"/>'
        f'<circle cx="{100 + side * 36}" cy="90" r="{0.5 * shape.eye:.1f}" fill="{INK}"/>'
        for side in (-1, 1)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400" viewBox="0 0 200 200">'
        f'<circle cx="100" cy="100" r="92" fill="{SKIN}" stroke="{INK}" stroke-width="3"/>{eyes}'
        f'<g fill="none" stroke="{INK}" stroke-width="6" stroke-linecap="round" '
        f'stroke-linejoin="round">{brows}<path d="{mouth}" fill="{MOUTH}"/></g></svg>'
    )
