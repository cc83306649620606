"""Small copies of pictures, made once and kept in a folder."""

import hashlib
import threading
from pathlib import Path

from askmeans.exceptions import DataError, MissingExtraError
from askmeans.files import whole_file
from askmeans.tables.pictures import open_picture

__all__ = ["thumbnail"]

_SIDE = 480  # pixels: what a page shows is not larger, also on a screen of two pixels to one
_SMALL = 64 * 1024  # bytes of a file that is served as it is
_MAKING = threading.Lock()


def thumbnail(picture: Path, folder: Path) -> Path:
    """A small copy of a picture, made where there is none of its present state.

    The picture itself where it is small, or no copy can be made: no Pillow, a drawing (SVG), a
    folder that cannot be written to.
    """
    try:
        state = picture.stat()
        if state.st_size <= _SMALL:
            return picture
        told = f"{picture} {state.st_mtime_ns} {state.st_size} {_SIDE}"
        path = folder / f"{hashlib.sha256(told.encode()).hexdigest()[:32]}.jpg"
        with _MAKING:  # threads of one page ask for the same pictures
            if not path.exists():
                small = open_picture(picture, None, side=_SIDE)
                small.thumbnail((_SIDE, _SIDE))
                folder.mkdir(parents=True, exist_ok=True)
                with whole_file(path) as file:
                    small.save(file, "JPEG", quality=80)
    except (OSError, DataError, MissingExtraError):
        return picture
    return path
