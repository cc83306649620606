"""Candidates for questions among the rows of a data file."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans.estimators.candidates import candidate_rows
from askmeans.exceptions import DataError
from askmeans.tables.large import ParquetTable, is_parquet
from askmeans.tables.reading import RawTable, read_table

if TYPE_CHECKING:
    import pandas as pd


ROW = "row"  # the id of rows without one: their number in the file


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


def _numbered(frame: "pd.DataFrame", column: str, rows: NDArray[np.intp]) -> "pd.DataFrame":
    """The rows with their numbers in the file as a column."""
    if column in frame.columns:
        raise DataError(
            f"Rows are numbered in a column {column!r}, which the data has already. "
            f"Got it; say --id {column} if it names the items, or rename it."
        )
    return frame.assign(**{column: rows})
