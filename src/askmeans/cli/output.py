"""What commands print, without control characters, which could come from data; and files."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from askmeans._util.files import MOST_ROWS, atomic_file, write_sheet
from askmeans._util.text import as_csv, printable
from askmeans.exceptions import DataError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    import pandas as pd

Frames = Iterable["pd.DataFrame"]


def say(text: str) -> None:
    """A line on standard output, at once."""
    sys.stdout.write(printable(f"{text}\n"))
    sys.stdout.flush()


def complain(text: str) -> None:
    """A line on standard error that begins with our name."""
    sys.stderr.write(printable(f"askmeans: {text}\n"))


def say_database(database: str) -> None:
    """The database a command works on, if it exists."""
    from askmeans.sessions.store import display_url, file_of, is_postgresql

    if is_postgresql(database) or file_of(database).exists():
        say(f"database: {display_url(database)}")


def typed_database(database: str) -> str:
    """The database for use in another command, without a password."""
    from askmeans.sessions.store import display_url, is_postgresql

    return display_url(database) if is_postgresql(database) else database


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


def check_unused(files: Sequence[Path], *, force: bool) -> None:
    """Refuse a missing folder; without `force`, also to overwrite any of these."""
    if not files[0].absolute().parent.is_dir():
        raise DataError(
            f"{files[0].parent} must be a folder for the results. Got none; make it first, or use "
            "another --out."
        )
    existing = [path for path in files if path.exists()]
    if existing and not force:
        raise DataError(
            f"{existing[0]} must not exist yet, or it would be overwritten. Got a file there; use "
            "--out for another place, or --force."
        )


def write_text(text: str, path: Path) -> None:
    """Write a file so that a crash leaves the old one or the new one, nothing half done."""
    with atomic_file(path) as file:
        file.write(text.encode())


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
    with atomic_file(path) as file:
        _WRITERS[path.suffix.lower()](frames, file)


def write_centers(centers: Any, names: Sequence[str], features: Sequence[str], path: Path) -> None:
    """Write centres in the data's own units, keyed by the cluster."""
    import pandas as pd

    table = pd.DataFrame(centers, columns=pd.Index(features))
    table.insert(0, "cluster" if "cluster" not in features else "cluster_", names)
    write_frames([table], path)


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
    """A sheet of Excel."""
    from openpyxl.utils.exceptions import IllegalCharacterError

    def rows() -> Iterator[Sequence[object]]:
        n_rows = 0
        for frame in frames:
            if not n_rows:
                yield list(map(str, frame.columns))
                n_rows = 1
            n_rows += len(frame)
            if n_rows > MOST_ROWS:
                raise DataError(
                    f"A sheet of Excel has at most {MOST_ROWS - 1:,} rows below its header. Got "
                    "more; use --out with a name that ends in .csv or .parquet."
                )
            yield from frame.itertuples(index=False, name=None)

    try:
        write_sheet("memberships", rows(), file)
    except IllegalCharacterError as error:
        raise DataError(
            "Excel takes no control characters. Got an id or a name with one; use --out with "
            "a name that ends in .csv or .parquet."
        ) from error


_WRITERS: dict[str, Callable[[Frames, BinaryIO], None]] = {
    "": _write_csv, ".csv": _write_csv, ".parquet": _write_parquet, ".pq": _write_parquet,
    ".xlsx": _write_excel,
}  # fmt: skip
