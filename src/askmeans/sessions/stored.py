"""Records made again from the JSON they are stored as."""

import dataclasses
from typing import Any, TypeVar

from askmeans import __version__
from askmeans.exceptions import StoreVersionError

__all__ = ["from_stored"]

T = TypeVar("T")


def from_stored(kind: type[T], values: dict[str, Any], what: str) -> T:
    """A record from its values; refused where a newer version stored more than this one knows."""
    fields: Any = kind
    unknown = sorted(values.keys() - {field.name for field in dataclasses.fields(fields)})
    if unknown:
        raise StoreVersionError(
            f"The session's {what} must be what askmeans {__version__} knows. Got "
            f"{', '.join(map(repr, unknown))}, too, of a newer version; run: pip install --upgrade "
            "askmeans"
        )
    return kind(**values)
