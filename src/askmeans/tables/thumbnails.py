"""Small copies of pictures, made once and kept in a folder."""

import hashlib
import os
import threading
from pathlib import Path
from typing import Any

from askmeans._util.files import whole_file
from askmeans.exceptions import DataError, MissingExtraError
from askmeans.tables.pictures import check_picture, open_picture

__all__ = ["thumbnail"]

_SIDE = 480  # pixels: what a page shows is not larger, also on a screen of two pixels to one
_SMALL = 64 * 1024  # bytes of a file that is served as it is
_NO_PICTURE = Path(__file__).with_name("no-picture.svg")
_FOR_BROWSERS = (".svg", ".avif")  # what Pillow is not asked to read
# Threads of one page ask for the same pictures: one makes it, the others wait. As many are made at
# once as there are processors, each of which may take the memory of a large picture.
_SAME = tuple(threading.Lock() for _ in range(64))
_MAKING = threading.BoundedSemaphore(os.cpu_count() or 1)


def thumbnail(picture: Path, folder: Path) -> Path:
    """A small copy of a picture, made where there is none of its present state.

    The picture itself where it is small, or no copy can be made: no Pillow, a drawing (SVG), a
    folder that cannot be written to. A placeholder where the file is no picture, or a broken one.
    """
    if picture.suffix.lower() in _FOR_BROWSERS:
        return picture
    try:
        state = picture.stat()
        if state.st_size <= _SMALL:
            check_picture(picture)
            return picture
        told = f"{picture} {state.st_mtime_ns} {state.st_size} {_SIDE}"
        name = hashlib.sha256(told.encode()).hexdigest()[:32]
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
    """Write a copy."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        small.save(file, "JPEG", quality=80)
