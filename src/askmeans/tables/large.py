"""Parquet files larger than memory: take some rows, or map a function over all of them."""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from askmeans._util.arrays import Rows
from askmeans.exceptions import DataError
from askmeans.fuzzy.engines.disk import row_groups

if TYPE_CHECKING:
    import pandas as pd

Part = Callable[["pd.DataFrame", int], "pd.DataFrame"]

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
            raise DataError(f"{path} must be a Parquet file. Got {error}.") from error
        self.starts = [0, *accumulate(n_rows for _, _, n_rows in self.groups)]
        self.n_rows = self.starts[-1]
        if not self.n_rows:
            raise DataError(f"{path} must have rows. Got none.")

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
