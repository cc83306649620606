"""Data on disk as an engine: memory-mapped .npy files and Parquet, a few blocks at a time.

Rules of this file:
- At most one block per thread is in memory, each a small share of the memory allowed.
- Pages of a memory map are the system's own cache: it drops them when memory is short.
- Values are not read before the first pass, which reports one that is not finite.
"""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats, Items
from askmeans._util.checks import check_file
from askmeans._util.files import broken_as_value_errors
from askmeans._util.progress import progress_callback
from askmeans.exceptions import DataError, ParameterError
from askmeans.fuzzy.passes import pick, read_only, thread_limit

Part = TypeVar("Part")
Prepare = Callable[[Items], Items]

DEFAULT_MEMORY = "1GiB"
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}
_SHARE = 16  # of the memory allowed, for one block: it exists in several forms at once
_FEWEST = 4096  # rows in a block: fewer take longer to read than to process
_LEAST = 10**6  # bytes: the fewest rows of two columns, in as many forms as a block has


def as_bytes(memory: int | str, owner: str) -> int:
    """A number of bytes from a number or a text such as "1GiB" or "500 MB"."""
    size = -1
    if isinstance(memory, int) and not isinstance(memory, bool):
        size = memory
    elif isinstance(memory, str):
        match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([kmg]i?|)b?\s*", memory.lower())
        size = int(float(match[1]) * _UNITS[match[2]]) if match is not None else -1
    if size >= _LEAST:
        return size
    got = f"{memory!r} instead" + (f", which is {size:,} bytes" if size >= 0 else "")
    raise ParameterError(
        f'The \'memory\' parameter of {owner} must be a text such as "1GiB" or "500MB", or a '
        f"number of bytes, of 1MB at least. Got {got}; write the unit, or leave it out for "
        f"{DEFAULT_MEMORY}."
    )


class Source(Protocol):
    """A run of rows that is read a block at a time."""

    @property
    def n_rows(self) -> int:
        """Their number."""

    def read(self, size: int) -> Iterator[Items]:
        """The rows in order, at most `size` at a time."""


@dataclass(frozen=True, slots=True)
class MappedRows:
    """Rows of a memory map, read as views."""

    X: Items
    n_rows: int

    def read(self, size: int) -> Iterator[Items]:
        """The rows in order."""
        for start in range(0, self.n_rows, size):
            yield read_only(self.X[start : start + size])


@dataclass(frozen=True, slots=True)
class RowGroup:
    """One row group of a Parquet file."""

    path: Path
    group: int
    columns: tuple[str, ...]
    n_rows: int

    def read(self, size: int) -> Iterator[Items]:
        """The rows in order; single precision where every column has it."""
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.path) as file:
            for batch in file.iter_batches(
                size, row_groups=[self.group], columns=list(self.columns), use_threads=False
            ):
                try:
                    columns = [c.to_numpy(zero_copy_only=False) for c in batch.columns]
                    floats = [np.asarray(c, c.dtype if c.dtype == np.float32 else float)
                              for c in columns]  # fmt: skip
                    yield np.stack(floats, axis=1)
                except (TypeError, ValueError) as error:
                    raise DataError(
                        f"{self.path} must have columns of numbers. Got {error}; leave such "
                        "columns out."
                    ) from error


class DiskEngine:
    """Rows on disk, in blocks, shared among threads; `prepare` is applied to every block read."""

    def __init__(
        self,
        sources: list[Source],
        shape: tuple[int, int],
        dtype: Any,
        *,
        memory: int,
        names: list[str] | None = None,
    ) -> None:
        self.sources = sources
        self.n_rows, self.n_features = shape
        self.dtype = np.dtype(dtype)
        self.names = names
        self.weights: Floats = np.empty(0)
        self.prepare: Prepare | None = None
        row = self.n_features * 8
        self.block = max(_FEWEST, memory // (_SHARE * thread_limit()) // row)
        self._starts = [0, *accumulate(source.n_rows for source in sources)]

    def map(
        self, function: Callable[..., Part], *shared: Any, numbered: bool = False
    ) -> list[Part]:
        """function(items, weights, *shared) of every block, in row order."""
        if numbered:
            return self._each(lambda X, weights, start: function(X, weights, start, *shared))
        return self._each(lambda X, weights, _: function(X, weights, *shared))

    def prepared(self, prepare: Prepare) -> "DiskEngine":
        """The same rows, with this function applied to each block after earlier ones."""
        engine = copy(self)
        before = self.prepare
        engine.prepare = prepare if before is None else _Chain(before, prepare)
        return engine

    def take(self, rows: NDArray[np.intp]) -> tuple[Items, Floats]:
        """A few rows by number, ascending, in memory; and their weights."""
        only = np.diff(np.searchsorted(rows, self._starts)) > 0
        parts = self._each(lambda X, weights, start: pick(X, weights, start, rows), only)
        none = np.empty((0, self.n_features), self.dtype), np.empty(0)
        items, weights = zip(none, *parts, strict=True)
        return np.concatenate(items), np.concatenate(weights)

    def own(self, values: Floats) -> Items:
        """Centres in the items' float type."""
        return values.astype(self.dtype)

    def lazy(self, function: Callable[..., Any], width: int | None, dtype: Any) -> "LazyRows":
        """function(items, row numbers) of every row, computed when it is read."""
        shape = (self.n_rows,) if width is None else (self.n_rows, width)
        return LazyRows(engine=self, function=function, shape=shape, dtype=np.dtype(dtype))

    def blocks(self) -> Iterator[tuple[int, Items]]:
        """Blocks in row order, with the number of the first row."""
        for source, start in zip(self.sources, self._starts, strict=False):
            yield from self._read(source, start)

    def _read(self, source: Source, start: int) -> Iterator[tuple[int, Items]]:
        """A source's blocks, prepared, with the number of each first row."""
        for items in source.read(self.block):
            yield start, items if self.prepare is None else self.prepare(items)
            start += len(items)

    def _each(
        self, call: Callable[[Items, Floats, int], Part], only: NDArray[np.bool_] | None = None
    ) -> list[Part]:
        """Call with every block: sources are shared among threads, each read in order."""
        done, watch = 0, progress_callback()

        def one(source: Source, first: int) -> list[Part]:
            nonlocal done
            parts = []
            for start, items in self._read(source, first):
                weights = self.weights[start : start + len(items)]
                parts.append(call(read_only(items), weights, start))
                done += len(items)
                if watch is not None:
                    watch(min(1.0, done / self.n_rows))
            return parts

        wanted = list(zip(self.sources, self._starts, strict=False))
        if only is not None:
            wanted = [pair for pair, used in zip(wanted, only, strict=True) if used]
        with ThreadPoolExecutor(thread_limit()) as pool:
            results = list(pool.map(lambda pair: one(*pair), wanted))
        return [part for parts in results for part in parts]


@dataclass(frozen=True, slots=True)
class _Chain:
    """One function after another."""

    first: Prepare
    then: Prepare

    def __call__(self, items: Items) -> Items:
        return self.then(self.first(items))


@dataclass(frozen=True, slots=True, kw_only=True)
class LazyRows:
    """One row of results per item on disk, computed whenever it is read.

    Indexing gives an array; `numpy.asarray` all of it; `blocks` one part at a time.
    """

    engine: DiskEngine
    function: Callable[..., Any]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def ndim(self) -> int:
        """1 for labels, 2 for memberships."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"LazyRows(shape={self.shape}, dtype={self.dtype}; indexing computes rows)"

    def __getitem__(self, key: Any) -> Any:
        rows, *rest = key if isinstance(key, tuple) else (key,)
        if isinstance(rows, slice):
            numbers = np.arange(*rows.indices(len(self)))
        else:
            numbers = np.asarray(rows)
            numbers = np.flatnonzero(numbers) if numbers.dtype == bool else numbers
        if numbers.size and not -len(self) <= numbers.min() <= numbers.max() < len(self):
            raise IndexError(f"rows must be within {len(self)}, got {rows!r:.60}")
        different, where = np.unique(numbers % len(self), return_inverse=True)
        values = self.function(self.engine.take(different)[0], different)
        values = values[where.reshape(numbers.shape)]
        return values[(slice(None),) * numbers.ndim + tuple(rest)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        out = np.empty(self.shape, dtype=dtype or self.dtype)
        for start, part in self.blocks():
            out[start : start + len(part)] = part
        return out

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Parts in row order, with the number of each first row."""
        for start, items in self.engine.blocks():
            yield start, self.function(items, np.arange(start, start + len(items)))


def open_disk(path: str | Path, *, memory: int, columns: list[str] | None = None) -> DiskEngine:
    """The engine of a .npy file, a Parquet file or a folder of Parquet files."""
    files = _files(Path(path))
    if files[0].suffix == ".npy":
        engine = of_memory_map(_mapped(files[0]), memory=memory)
        if columns is not None:
            chosen = [int(name) for name in columns]
            engine = engine.prepared(partial(np.take, indices=chosen, axis=1))
            engine.n_features = len(chosen)
        return engine
    return _of_parquet(files, columns, memory)


def row_groups(path: str | Path) -> list[tuple[Path, int, int]]:
    """The row groups of a Parquet file, or of all in a folder: file, number, and rows of each."""
    return _groups(_files(Path(path)))


def columns_of(path: str | Path) -> tuple[list[str], list[str]]:
    """Names of the columns of numbers, and of all others; of a .npy file "0", "1" and so on."""
    files = _files(Path(path))
    if files[0].suffix == ".npy":
        shape = _mapped(files[0]).shape
        return [str(column) for column in range(shape[1] if len(shape) == 2 else 0)], []
    import pyarrow.parquet as pq

    return _by_kind(pq.read_schema(files[0]))


def _mapped(path: Path) -> Any:
    """The array of a .npy file, which stays on disk."""
    try:
        with broken_as_value_errors():
            return np.load(path, mmap_mode="r")
    except ValueError as error:  # objects, or no such file at all
        raise DataError(f"{path} must be a .npy file of numbers. Got {error}.") from error


def _files(path: Path) -> list[Path]:
    """The files there."""
    if path.is_dir():
        files = sorted(path.glob("**/*.parquet"))
        if not files:
            raise DataError(f"{path} must be a folder with .parquet files. Got none in it.")
        return files
    if path.suffix not in (".npy", ".parquet", ".pq"):
        raise DataError(
            "X must be an array, a table, or the path of a .npy or .parquet file or of a folder "
            f"of the latter. Got {str(path)!r} instead."
        )
    check_file(path)
    return [path]


def of_memory_map(X: Items, *, memory: int) -> DiskEngine:
    """The engine of a memory map, in four runs of rows per thread."""
    if X.ndim != 2 or 0 in X.shape or X.dtype.kind not in "fiu":
        raise DataError(
            "X must be a matrix of numbers with rows and columns. "
            f"Got shape {X.shape} of {X.dtype} instead."
        )
    n, d = X.shape
    runs = min(n, 4 * thread_limit())
    bounds = [n * t // runs for t in range(runs + 1)]
    sources: list[Source] = [MappedRows(X[low:high], high - low) for low, high in pairwise(bounds)]
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    engine = DiskEngine(sources, (n, d), dtype, memory=memory)
    if X.dtype not in (np.float32, np.float64):
        engine.prepare = partial(np.asarray, dtype=np.float64)
    return engine


def _of_parquet(files: list[Path], columns: list[str] | None, memory: int) -> DiskEngine:
    """The engine of Parquet files that have the same columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pq.read_schema(files[0])
    names = columns or _number_columns(schema, files[0])
    sources: list[Source] = [
        RowGroup(file, group, tuple(names), rows) for file, group, rows in _groups(files) if rows
    ]
    n = sum(source.n_rows for source in sources)
    if n == 0:
        raise DataError(f"{files[0]} must have rows. Got none.")
    single = all(schema.field(name).type == pa.float32() for name in names)
    dtype = np.float32 if single else np.float64
    return DiskEngine(sources, (n, len(names)), dtype, memory=memory, names=names)


def _groups(files: list[Path]) -> list[tuple[Path, int, int]]:
    """File, number and rows of each row group."""
    import pyarrow.parquet as pq

    opened = [(file, pq.read_metadata(file)) for file in files]
    return [
        (file, group, metadata.row_group(group).num_rows)
        for file, metadata in opened
        for group in range(metadata.num_row_groups)
    ]


def _number_columns(schema: Any, path: Path) -> list[str]:
    """All columns; columns without numbers are refused."""
    names, bad = _by_kind(schema)
    if bad or not names:
        raise DataError(
            f"{path} must have columns of numbers only. Got {', '.join(bad) or 'no column'}; leave "
            "such columns out, or encode them (`askmeans fit` does)."
        )
    return names


def _by_kind(schema: Any) -> tuple[list[str], list[str]]:
    """Names of columns of numbers, and of all others; a pandas index is neither."""
    import pyarrow as pa

    plain = (pa.types.is_floating, pa.types.is_integer, pa.types.is_boolean)
    names = [field.name for field in schema if not field.name.startswith("__index_level_")]
    numbers = [name for name in names if any(f(schema.field(name).type) for f in plain)]
    return numbers, [name for name in names if name not in numbers]
