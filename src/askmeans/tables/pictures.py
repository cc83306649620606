"""Pictures as numbers without any download: where which colours are, and which way edges run.

They tell a beach from a forest and a scan from a photograph; not a cat from a dog, nor what is
written on a sign. For that give vectors or an embedding of a model's.
"""

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import DataError, MissingExtraError

__all__ = ["check_picture", "describe_pictures", "open_picture"]

Single = NDArray[np.float32]

_SIDE = 64  # pixels to which a picture is reduced
_LEVELS = 4  # of red, green and blue in the histogram of colours
_CELLS = 4  # across and down, in which edges and colours are counted
_DIRECTIONS = 8
_MEGAPIXELS = 50  # above, a picture is refused: decoded, it takes three bytes a pixel, and copies
# Pillow goes by the content, not by the name, and has decoders that run other programs, such as
# Ghostscript for PostScript. These do not.
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")


def describe_pictures(values: Sequence[Any], folder: Path | None) -> tuple[Single, dict[int, str]]:
    """A row of numbers for each picture, NaN where there is none; why, by row, where it is none.

    A value is a path in the folder, the bytes of a file, or a dictionary that has them.
    """
    _pillow()
    found: list[Single | None] = []
    wrong: dict[int, str] = {}
    for row, value in enumerate(values):
        if value is None or (isinstance(value, float) and np.isnan(value)) or value == "":
            found.append(None)
            continue
        try:
            found.append(_described(open_picture(value, folder)))
        except DataError as error:
            wrong[row] = str(error)
            found.append(None)
    width = _LEVELS**3 + _CELLS**2 * (3 + _DIRECTIONS)
    table = np.full((len(found), width), np.nan, dtype=np.float32)
    for row, picture in enumerate(found):
        if picture is not None:
            table[row] = picture
    return table, wrong


def open_picture(value: Any, folder: Path | None, most: int | None = None) -> Any:
    """A picture upright in red, green and blue; a DataError in few words where it is none.

    It may come reduced, to what describing it needs at least; or to `most` pixels on a side.
    """
    from PIL import ImageOps

    with _opened(value, folder) as picture:
        if most is not None:
            return _on_white(ImageOps.exif_transpose(_reduced(picture, most)))
        picture.draft("RGB", (4 * _SIDE, 4 * _SIDE))
        return ImageOps.exif_transpose(picture).convert("RGB")


def check_picture(path: Path) -> None:
    """Raise a DataError where a file is no picture, or one that is cut off."""
    with _opened(path, None) as picture:
        picture.verify()


@contextmanager
def _opened(value: Any, folder: Path | None) -> Iterator[Any]:
    """A picture that is not decoded yet; what goes wrong with it is a DataError in few words."""
    image_module = _pillow()
    if isinstance(value, dict):
        value = value.get("bytes") or value.get("path")
    source = io.BytesIO(value) if isinstance(value, bytes) else _path(value, folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of large and of old files; what is too large is seen
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


def _reduced(picture: Any, most: int) -> Any:
    """A picture of at most so many pixels on a side; the decoder leaves out what it can."""
    if picture.mode not in ("RGB", "RGBA", "L", "LA", "CMYK", "YCbCr"):  # such as a palette
        picture = picture.convert("RGBA" if "transparency" in picture.info else "RGB")
    picture.thumbnail((most, most))
    return picture


def _on_white(picture: Any) -> Any:
    """A picture in red, green and blue, white where it is transparent."""
    if picture.mode in ("RGBA", "LA"):
        white = _pillow().new("RGBA", picture.size, "white")
        white.alpha_composite(picture.convert("RGBA"))
        picture = white
    return picture.convert("RGB")


def _path(value: Any, folder: Path | None) -> Path:
    """Where a picture is."""
    path = Path(str(value))
    if "\0" in str(value):
        raise DataError("no such file")
    return path if folder is None else folder / path


def _described(picture: Any) -> Single:
    """Colours overall, colours by place and edges by place: a third of the weight each."""
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
    """Pillow's Image module, or how to get it."""
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError(
            'Reading images needs Pillow. Got none; install it with: pip install "askmeans[image]"'
        ) from error
    return Image
