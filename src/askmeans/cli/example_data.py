"""Example data that anybody can judge, as files: messages to a shop, and painted scenes."""

import csv
import io
import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askmeans.datasets import make_messages, make_scenes
from askmeans.datasets.messages import Messages
from askmeans.exceptions import DataError

__all__ = ["write_data"]


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
