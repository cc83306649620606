"""Thumbnails of pictures, cached in a folder."""

import hashlib
import os
import threading
from pathlib import Path
from typing import Any

from askmeans._util.files import whole_file
from askmeans.exceptions import DataError, MissingExtraError
from askmeans.tables.pictures import check_picture, open_picture

__all__ = ["thumbnail"]

_SIDE = 480  # pixels: twice the size on the page, for screens of two pixels to one
_SMALL = 64 * 1024  # bytes of a file that needs no thumbnail
_NO_PICTURE = Path(__file__).with_name("no-picture.svg")
_FOR_BROWSERS = (".svg", ".avif")  # shown by browsers, but not read by Pillow
# Threads of one page request the same pictures: one makes the thumbnail, the others wait. At most
# one per processor is made at a time, since each may take the memory of a large picture.
_SAME = tuple(threading.Lock() for _ in range(64))
_MAKING = threading.BoundedSemaphore(os.cpu_count() or 1)


def thumbnail(picture: Path, folder: Path) -> Path:
    """Return the path of a thumbnail; it is made where none exists for the file's current version.

    The picture itself is returned where it is small, or where no thumbnail can be made: without
    Pillow, of a drawing (SVG), in a read-only folder; a placeholder for a broken picture.
    """
    if picture.suffix.lower() in _FOR_BROWSERS:
        return picture
    try:
        state = picture.stat()
        if state.st_size <= _SMALL:
            check_picture(picture)
            return picture
        version = f"{picture} {state.st_mtime_ns} {state.st_size} {_SIDE}"
        name = hashlib.sha256(version.encode()).hexdigest()[:32]
        path = folder / f"{name}.jpg"
        if path.exists():
            return path
        with _SAME[int(name[:2], 16) % len(_SAME)]:
            if not path.exists():
                with _MAKING:
                    _keep(open_picture(picture, None, _SIDE), path)
    except DataError:
        return _NO_PICTURE
    except (OSError, MissingExtraError):
        return picture
    return path


def _keep(small: Any, path: Path) -> None:
    """Write a thumbnail."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        small.save(file, "JPEG", quality=80)
