"""Arrays as words, for recipes that are JSON: raw little-endian bytes, compressed, in base64."""

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import DataError

__all__ = ["pack", "unpack"]


def pack(array: NDArray[np.floating]) -> dict[str, Any]:
    """Shape and numbers in half or single precision, as the array has them."""
    kind = "<f2" if array.dtype == np.float16 else "<f4"
    raw = np.ascontiguousarray(array, dtype=kind).tobytes()
    return {
        "dtype": kind,
        "shape": list(array.shape),
        "base64": base64.b64encode(zlib.compress(raw, 1)).decode(),
    }


def unpack(packed: dict[str, Any]) -> NDArray[np.float32]:
    """What `pack` made, in single precision; anything else is refused."""
    try:
        raw = zlib.decompress(base64.b64decode(packed["base64"], validate=True))
        if packed["dtype"] not in ("<f2", "<f4"):
            raise ValueError(f"numbers of type {packed['dtype']!r}")
        array = np.frombuffer(raw, dtype=packed["dtype"]).reshape(packed["shape"])
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise DataError(
            f"A recipe's array must be what pack made. Got one that cannot be read ({error}); take "
            "the recipe from a backup, or make it anew from the data."
        ) from error
    return array.astype(np.float32)
