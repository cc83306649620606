"""Files written whole, so that a crash leaves the old one or the new one; files that are broken."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

__all__ = ["broken_as_value_errors", "parse_json", "whole_file"]


def parse_json(text: str) -> Any:
    """What JSON stands for; a ValueError where it is none, or nested too deeply to be read."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("lists or objects are nested too deeply") from error


@contextmanager
def broken_as_value_errors() -> Iterator[None]:
    """Readers raise whatever a broken file leads them to; here it is a ValueError or OSError."""
    try:
        yield
    except (OSError, ValueError, ImportError):  # the last: a part that is not installed
        raise
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except Exception as error:  # of numpy alone EOFError, KeyError, MemoryError and TokenError
        raise ValueError(str(error) or type(error).__name__) from error


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A new file beside this one that takes its place in the end; its name is in `file.name`.

    It is always made anew, so that a link somebody laid at its name leads nowhere.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)  # of a crash, or a link: not what it leads to
    try:
        with part.open("xb") as file:  # refused where there is anything, a link, too
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
