"""Descriptors of pictures without a download, and thumbnails.

A descriptor has colours, and directions of edges, by place. Descriptors separate beaches from
forests and scans from photographs, but not cats from dogs, nor the words on signs. For these pass
vectors or an embedding of a model.
"""

import hashlib
import io
import os
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from askmeans._util.arrays import Single
from askmeans._util.files import atomic_file
from askmeans._util.progress import tracked
from askmeans.exceptions import DataError, MissingExtraError

# Swain and Ballard (1991), "Color indexing"; Dalal and Triggs (2005), "Histograms of oriented
# gradients", with coarser bins since pictures are small.
_SIDE = 64  # pixels of the reduced picture
_LEVELS = 4  # per channel of the colour histogram
_CELLS = 4  # per axis, for colours and edges by place
_DIRECTIONS = 8
_MEGAPIXELS = 50  # limit of a picture: decoded, it takes three bytes a pixel, and copies
# Pillow detects formats by content, and some of its decoders start other programs, such as
# Ghostscript for PostScript. These do not.
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")

_THUMBNAIL = 480  # pixels: twice the size on the page, for screens of two pixels to one
_SMALL = 64 * 1024  # bytes of a file that needs no thumbnail
_NO_PICTURE = Path(__file__).with_name("no-picture.svg")
_FOR_BROWSERS = (".svg", ".avif")  # shown by browsers, but not read by Pillow
# Threads of one page request the same pictures: one makes the thumbnail, the others wait. At most
# one per processor is made at a time, since each may take the memory of a large picture.
_SAME = tuple(threading.Lock() for _ in range(64))
_MAKING = threading.BoundedSemaphore(os.cpu_count() or 1)


def describe_pictures(values: Sequence[Any], folder: Path | None) -> tuple[Single, dict[int, str]]:
    """Return a descriptor per picture, NaN for missing ones, and errors by row.

    A value is a path in the folder, the bytes of a file, or a dictionary with one of both.
    """
    _pillow()
    table = np.full((len(values), _LEVELS**3 + _CELLS**2 * (3 + _DIRECTIONS)), np.nan, np.float32)
    wrong: dict[int, str] = {}
    for row, value in enumerate(tracked(values)):
        if value is None or (isinstance(value, float) and np.isnan(value)) or value == "":
            continue
        try:
            table[row] = _descriptor(open_picture(value, folder))
        except DataError as error:
            wrong[row] = str(error)
    return table, wrong


def open_picture(value: Any, folder: Path | None, most: int | None = None) -> Any:
    """Open a picture upright in RGB; a DataError where that fails.

    It may be reduced to the size of its descriptor, or to `most` pixels on a side.
    """
    from PIL import ImageOps

    with _opened(value, folder) as picture:
        if most is not None:
            if picture.mode not in ("RGB", "RGBA", "L", "LA", "CMYK", "YCbCr"):  # such as a palette
                picture = picture.convert("RGBA" if "transparency" in picture.info else "RGB")
            picture.thumbnail((most, most))  # in the decoder, where possible
            return _on_white(ImageOps.exif_transpose(picture))
        picture.draft("RGB", (4 * _SIDE, 4 * _SIDE))
        return ImageOps.exif_transpose(picture).convert("RGB")


@contextmanager
def _opened(value: Any, folder: Path | None) -> Iterator[Any]:
    """Open a picture without decoding it; errors become DataErrors."""
    image_module = _pillow()
    if isinstance(value, dict):
        value = value.get("bytes") or value.get("path")
    if "\0" in str(value) and not isinstance(value, bytes):
        raise DataError("no such file")
    source = io.BytesIO(value) if isinstance(value, bytes) else (folder or Path()) / str(value)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about size, checked below, and about old files
            with image_module.open(source, formats=_FORMATS) as picture:
                if picture.width * picture.height > _MEGAPIXELS * 1_000_000:
                    raise image_module.DecompressionBombError
                yield picture
    except FileNotFoundError as error:
        raise DataError("no such file") from error
    except image_module.DecompressionBombError as error:  # Pillow's own limit is higher
        raise DataError(f"larger than {_MEGAPIXELS} megapixels") from error
    except Exception as error:  # decoders raise anything on broken files
        raise DataError("not an image, or a broken one") from error


def _on_white(picture: Any) -> Any:
    """Convert a picture to RGB on a white background."""
    if picture.mode in ("RGBA", "LA"):
        white = _pillow().new("RGBA", picture.size, "white")
        white.alpha_composite(picture.convert("RGBA"))
        picture = white
    return picture.convert("RGB")


def _descriptor(picture: Any) -> Single:
    """Colour histogram, mean colours by cell and edges by cell, with equal weights."""
    pixels = np.asarray(picture.resize((_SIDE, _SIDE)), dtype=np.float32) / 255.0
    levels = np.minimum((pixels * _LEVELS).astype(np.intp), _LEVELS - 1)
    codes = (levels * [_LEVELS**2, _LEVELS, 1]).sum(axis=2).ravel()
    colours = np.sqrt(np.bincount(codes, minlength=_LEVELS**3) / codes.size)
    cell = _SIDE // _CELLS
    places = pixels.reshape(_CELLS, cell, _CELLS, cell, 3).mean(axis=(1, 3)).ravel()
    grey = pixels.mean(axis=2)
    down, across = np.gradient(grey)
    direction = np.mod(np.arctan2(down, across), np.pi) / np.pi * _DIRECTIONS
    rows, columns = np.indices(grey.shape) // cell
    place = (rows * _CELLS + columns) * _DIRECTIONS + direction.astype(np.intp) % _DIRECTIONS
    edges = np.bincount(
        place.ravel(), weights=np.hypot(down, across).ravel(), minlength=_CELLS**2 * _DIRECTIONS
    )
    edges = np.sqrt(edges / max(edges.sum(), 1e-6))
    return np.concatenate([colours, places / np.sqrt(places.size) * 2.0, edges]).astype(np.float32)


def _pillow() -> Any:
    """Import Pillow's Image module."""
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError(
            'Reading images needs Pillow. Got none; install it with: pip install "askmeans[image]"'
        ) from error
    return Image


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
            with _opened(picture, None) as complete:
                complete.verify()
            return picture
        version = f"{picture} {state.st_mtime_ns} {state.st_size} {_THUMBNAIL}"
        name = hashlib.sha256(version.encode()).hexdigest()[:32]
        path = folder / f"{name}.jpg"
        if path.exists():
            return path
        with _SAME[int(name[:2], 16) % len(_SAME)]:
            if not path.exists():
                with _MAKING:
                    small = open_picture(picture, None, _THUMBNAIL)
                path.parent.mkdir(parents=True, exist_ok=True)
                with atomic_file(path) as file:
                    small.save(file, "JPEG", quality=80)
    except DataError:
        return _NO_PICTURE
    except (OSError, MissingExtraError):
        return picture
    return path
