"""Writing a file whole: a crash leaves the old one or the new one, nothing half done."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["whole_file"]


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
