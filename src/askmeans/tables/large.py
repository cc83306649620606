"""Tables with many rows: some of them as candidates for questions, a function mapped over all."""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from askmeans._util.arrays import Rows
from askmeans._util.message import Message
from askmeans.exceptions import DataError
from askmeans.fuzzy.engines.disk import row_groups
from askmeans.tables.reading import RawTable, read_table

if TYPE_CHECKING:
    import pandas as pd

Part = Callable[["pd.DataFrame", int], "pd.DataFrame"]

ROW = "row"  # the id of rows without one: their number in the file
# Candidates; their ranks are within 1 % of those among all rows: rank_bound of estimators/fitted.py
# with 100 clusters.
MOST = 50_000
_BATCH = 1 << 16  # rows that are read at a time


def is_parquet(path: Path) -> bool:
    """Whether it is a Parquet file, or a folder of such files and hidden ones (_SUCCESS)."""
    if path.is_dir():
        files = [file for file in path.rglob("*") if file.is_file() and file.name[0] not in "._"]
        return bool(files) and all(file.suffix == ".parquet" for file in files)
    return path.suffix in (".parquet", ".pq")


class ParquetTable:
    """A Parquet file, or a folder of such files with the same columns, sorted by name."""

    def __init__(self, path: Path) -> None:
        try:
            self.groups = row_groups(path)
        except (OSError, ValueError) as error:  # pyarrow's own is a ValueError
            if isinstance(error, DataError):
                raise
            raise DataError(
                f"{path} must be a Parquet file. Got {error}.",
                user_message=Message(
                    "{file} is damaged, or no Parquet file. Save or export it again.",
                    file=Path(path).name,
                ),
            ) from error
        self.starts = [0, *accumulate(n_rows for _, _, n_rows in self.groups)]
        self.n_rows = self.starts[-1]
        if not self.n_rows:
            raise DataError(
                f"{path} must have rows. Got none.",
                user_message=Message("{file} has no rows.", file=Path(path).name),
            )

    def take(self, rows: Rows) -> "pd.DataFrame":
        """Return these rows, which ascend; only their row groups are read."""
        import pandas as pd
        import pyarrow.parquet as pq

        parts = []
        for group in sorted({bisect_right(self.starts, row) - 1 for row in rows.tolist()}):
            low, high = self.starts[group], self.starts[group + 1]
            inside = rows[(rows >= low) & (rows < high)] - low
            file, number, _ = self.groups[group]
            with pq.ParquetFile(file) as opened:
                parts.append(opened.read_row_group(number).take(inside).to_pandas())
        return pd.concat(parts, ignore_index=True)

    def parts(self, function: Part, done: Callable[[int], None]) -> Iterator["pd.DataFrame"]:
        """Yield function(rows, number of the first) for successive parts of the table."""
        for start, frame in self._batches():
            yield function(frame, start)
            done(len(frame))

    def _batches(self) -> Iterator[tuple[int, "pd.DataFrame"]]:
        """Yield all rows in batches, with the number of the first."""
        import pyarrow.parquet as pq

        for start, (file, group, _) in zip(self.starts, self.groups, strict=False):
            with pq.ParquetFile(file) as opened:
                for batch in opened.iter_batches(_BATCH, row_groups=[group]):
                    yield start, batch.to_pandas()
                    start += batch.num_rows


# ---- candidates for questions --------------------------------------------------------------------


def candidate_rows(n_rows: int, seed: int) -> Rows:
    """Return ascending row numbers of the candidates: a random sample if there are many rows."""
    if n_rows <= MOST:
        return np.arange(n_rows)
    rng = np.random.default_rng([seed, 22])
    rows: Rows = np.sort(rng.choice(n_rows, MOST, replace=False, shuffle=False))
    return rows


def read_candidates(path: Path, id_column: str | None, seed: int) -> tuple[RawTable, str | None]:
    """The rows that may be asked about, and the column of their ids.

    All rows of a file that is read whole; of Parquet at most 50,000 at random, called by their
    numbers where no column names them.
    """
    if is_parquet(path):
        return sample_candidates(ParquetTable(path), path.parent, id_column, seed)
    return read_table(path, id_column), id_column


def sample_candidates(
    table: Any, folder: Path, id_column: str | None, seed: int
) -> tuple[RawTable, str | None]:
    """The same of a table with `n_rows` and `take`, of which not all rows are read."""
    rows = candidate_rows(table.n_rows, seed)
    frame = table.take(rows)
    if len(rows) == table.n_rows:
        return replace(read_table(frame, id_column), folder=folder), id_column
    if id_column is None:
        id_column = ROW
        frame = _numbered(frame, ROW, rows)
    raw = read_table(frame, id_column)
    note = (
        f"{len(rows):,} of {table.n_rows:,} rows are candidates for questions; "
        "`askmeans predict` writes the memberships of all."
    )
    return replace(raw, folder=folder, notes=[*raw.notes, note]), id_column


def _numbered(frame: "pd.DataFrame", column: str, rows: Rows) -> "pd.DataFrame":
    """The rows with their numbers in the file as a column."""
    if column in frame.columns:
        raise DataError(
            f"Rows are numbered in a column {column!r}, which the data has already. "
            f"Got it; say --id {column} if it names the items, or rename it."
        )
    return frame.assign(**{column: rows})
