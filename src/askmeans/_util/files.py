"""Files that are replaced atomically, sheets of Excel without formulas, errors of damaged files."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

MOST_ROWS = 2**20  # of a sheet of Excel, its header included, by the format's specification


def parse_json(text: str) -> Any:
    """Parse JSON; a ValueError where it is invalid, or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("lists or objects are nested too deeply") from error


@contextmanager
def broken_as_value_errors() -> Iterator[None]:
    """Convert whatever a reader raises for a damaged file to a ValueError; OSErrors stay."""
    try:
        yield
    except (OSError, ValueError, ImportError):  # the last: an optional package
        raise
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except Exception as error:  # of numpy alone EOFError, KeyError, MemoryError and TokenError
        raise ValueError(str(error) or type(error).__name__) from error


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A temporary file that replaces `path` in the end: a crash leaves the old file or the new one.

    Its name is `file.name`. It is always created anew, so that a link planted there has no effect.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)  # left by a crash, or a link: removes the link, not its target
    try:
        with part.open("xb") as file:  # fails if anything exists there, a link, too
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_sheet(title: str, rows: Iterable[Sequence[object]], file: BinaryIO) -> None:
    """Write a workbook of one sheet, in which texts are never formulas.

    openpyxl's IllegalCharacterError for a control character.
    """
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    sheet = book.create_sheet(title)

    def cell(value: object) -> object:
        if not isinstance(value, str):
            return value
        made = WriteOnlyCell(sheet, value)
        made.data_type = "s"
        return made

    for row in rows:
        sheet.append([cell(value) for value in row])
    book.save(file)
