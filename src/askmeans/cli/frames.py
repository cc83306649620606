"""A large table written part by part, in the format that the file's suffix names."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from askmeans._util.files import whole_file
from askmeans._util.text import as_csv
from askmeans.exceptions import DataError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["check_format", "write_frames"]

_SHEET = 1_048_576  # rows of a sheet, its header included, by the format's specification

Frames = Iterable["pd.DataFrame"]


def check_format(path: Path) -> None:
    """Refuse a suffix that names no format, or one whose package is missing."""
    kind = path.suffix.lower()
    if kind not in _WRITERS:
        raise ParameterError(
            "--out must end in .csv, .parquet or .xlsx: the ending says how the table is written. "
            f"Got {path.name!r:.80} instead."
        )
    if kind == ".xlsx":
        try:
            import openpyxl  # noqa: F401
        except ImportError as error:
            raise MissingExtraError(
                f"Writing {path.name} needs openpyxl. Got none; install it with: "
                'pip install "askmeans[excel]", or write a .csv.'
            ) from error


def write_frames(frames: Frames, path: Path) -> None:
    """Write frames of the same columns one below the other; a crash leaves nothing half done."""
    with whole_file(path) as file:
        _WRITERS[path.suffix.lower()](frames, file)


def _write_csv(frames: Frames, file: BinaryIO) -> None:
    """A CSV; without a suffix, too."""
    for number, frame in enumerate(frames):
        text = as_csv(list(frame.columns), frame.itertuples(index=False, name=None))
        file.write((text.partition("\n")[2] if number else text).encode())


def _write_parquet(frames: Frames, file: BinaryIO) -> None:
    """A Parquet file, a row group for each frame."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for frame in frames:
        table = pa.Table.from_pandas(frame, preserve_index=False)
        writer = writer or pq.ParquetWriter(file, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def _write_excel(frames: Frames, file: BinaryIO) -> None:
    """A sheet of Excel, in which texts are texts and never formulas."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.utils.exceptions import IllegalCharacterError

    book = Workbook(write_only=True)
    sheet = book.create_sheet("memberships")

    def cell(value: object) -> object:
        if not isinstance(value, str):
            return value
        made = WriteOnlyCell(sheet, value)
        made.data_type = "s"
        return made

    n_rows = 0
    for frame in frames:
        if not n_rows:
            sheet.append([cell(str(name)) for name in frame.columns])
            n_rows = 1
        n_rows += len(frame)
        if n_rows > _SHEET:
            raise DataError(
                f"A sheet of Excel has at most {_SHEET - 1:,} rows below its header. Got more; "
                "use --out with a name that ends in .csv or .parquet."
            )
        try:
            for row in frame.itertuples(index=False, name=None):
                sheet.append([cell(value) for value in row])
        except IllegalCharacterError as error:
            raise DataError(
                "Excel takes no control characters. Got an id or a name with one; use --out with "
                "a name that ends in .csv or .parquet."
            ) from error
    book.save(file)


_WRITERS: dict[str, Callable[[Frames, BinaryIO], None]] = {
    "": _write_csv, ".csv": _write_csv, ".parquet": _write_parquet, ".pq": _write_parquet,
    ".xlsx": _write_excel,
}  # fmt: skip
