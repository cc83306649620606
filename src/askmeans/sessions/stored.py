"""Records made again from the JSON they are stored as."""

import dataclasses
from typing import Any, TypeVar

__all__ = ["from_stored"]

T = TypeVar("T")


def from_stored(kind: type[T], values: dict[str, Any]) -> T:
    """A record from its values; what an older version lacks is None, what a newer has is left."""
    fields: Any = kind
    known = {field.name: None for field in dataclasses.fields(fields)}
    return kind(**(known | {name: values[name] for name in known.keys() & values.keys()}))
