"""Output of commands, without control characters, which could come from data."""

import json
import sys
from typing import Any

from askmeans._util.text import printable


def say(text: str) -> None:
    """A line on standard output, at once."""
    sys.stdout.write(printable(f"{text}\n"))
    sys.stdout.flush()


def complain(text: str) -> None:
    """A line on standard error that begins with our name."""
    sys.stderr.write(printable(f"askmeans: {text}\n"))


def say_database(database: str) -> None:
    """The database a command works on, if it exists."""
    from askmeans.sessions.store import file_of, is_postgresql, shown

    if is_postgresql(database) or file_of(database).exists():
        say(f"database: {shown(database)}")


def typed_database(database: str) -> str:
    """The database for use in another command, without a password."""
    from askmeans.sessions.store import is_postgresql, shown

    return shown(database) if is_postgresql(database) else database


def add_hint(suggestion: str, database: str) -> str:
    """The suggestion of another group, and the command that adds it."""
    return f"{suggestion} Add one: askmeans groups {typed_database(database)} --add NAME"


def json_text(values: dict[str, Any]) -> str:
    """An object as one line of JSON."""
    return json.dumps(plain(values))


def plain(value: Any) -> Any:
    """Convert a value for JSON: None for infinity; an array to its mean and its largest value."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return {"mean": float(value.mean()), "largest": float(value.max())}
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
