"""Dask arrays and data frames as an engine: the only file that imports Dask.

Rules of this file:
- Functions are sent by name (a pickled kernel has 20 kB per task), items never: a task returns
  the sums of its block.
- One task per block and pass. Dask recomputes the blocks of a lost worker.
- Blocks stay where they are. If workers have unequal numbers of them, all wait for the slowest:
  some of its blocks are copied to others, once, before the third pass. (`Client.rebalance` balances
  bytes, not rows per thread, and moves blocks instead of copying them.)
- Work runs on the current client's cluster, or on Dask's threads without one.
"""

import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import dask
import dask.array as da
import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats, Items
from askmeans._util.progress import progress_callback
from askmeans.exceptions import DataError, ParameterError
from askmeans.fuzzy.passes import pick, read_only

Part = TypeVar("Part")

_WORKERS = max(2, os.cpu_count() or 1)  # processes on this machine, one thread each
_WORKER_BASE_BYTES = 2**29  # memory of a worker without data: Python and its libraries
_RETRIES = 3  # of a task that fails; Dask handles lost workers itself
_REBALANCE_AT = 3  # the pass before which blocks are copied: scores and predictions take fewer
_MAX_RELATIVE_TIME = 0.9  # of a pass after a copy, beside the time before it
_MEMORY_TARGET = 0.6  # share in use above which a worker gets no copies: Dask begins to spill


def as_dask_array(X: Any) -> tuple[da.Array, list[str] | None]:
    """The items with known numbers of rows, all columns in one block; and the columns' names."""
    names = None
    if hasattr(X, "to_dask_array"):
        names = list(X.columns)
        X = X.to_dask_array(lengths=True)
    if X.ndim != 2 or X.shape[1] == 0 or X.dtype.kind not in "fiub":
        raise DataError(
            "X must be a matrix of numbers. Got a Dask collection of "
            f"{X.ndim} dimensions and dtype {X.dtype}; select columns of numbers."
        )
    if np.isnan(X.shape[0]):
        X = X.compute_chunk_sizes()
    X = X.rechunk({1: -1})
    return (X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)), names


class DaskEngine:
    """Blocks of a Dask array."""

    def __init__(self, X: da.Array, weights: Any = None, names: list[str] | None = None) -> None:
        self.X = X
        self.names = names
        self.n_rows, self.n_features = (int(size) for size in X.shape)
        self.dtype = X.dtype
        self.block_futures = X.to_delayed().ravel().tolist()
        self._starts = np.concatenate([[0], np.cumsum(X.chunks[0])]).tolist()
        self._weights = [np.empty(0)] * len(self.block_futures)
        if weights is not None:
            rows = da.asarray(weights).rechunk((X.chunks[0],)).astype(np.float64)
            self._weights = rows.to_delayed().ravel().tolist()
        self._passes = 0

    def prepared(self, prepare: Callable[[Items], Items]) -> "DaskEngine":
        """The same rows, with this function applied to each block."""
        X = self.X.map_blocks(_prepare_block, prepare, dtype=self.dtype, meta=self.X._meta)
        return DaskEngine(X, names=self.names)

    def map(
        self, function: Callable[..., Part], *shared: Any, numbered: bool = False
    ) -> list[Part]:
        """function(items, weights, *shared) of every block, in row order."""
        self._passes += 1
        if self._passes == _REBALANCE_AT and (client := _client()) is not None:
            self._rebalance(client)
        blocks = zip(self.block_futures, self._weights, self._starts, strict=False)
        name, call = _name(function), dask.delayed(_call, pure=False)
        return self._compute(
            [call(name, block, weights, (start, *shared) if numbered else shared)
             for block, weights, start in blocks]
        )  # fmt: skip

    def take(self, rows: NDArray[np.intp]) -> tuple[Items, Floats]:
        """A few rows by number, ascending, in memory; and their weights."""
        cuts = np.searchsorted(rows, self._starts)
        chosen = [
            (t, (self._starts[t], rows[low:high]))
            for t, (low, high) in enumerate(pairwise(cuts.tolist()))
            if high > low
        ]
        tasks = [
            dask.delayed(_call)(_name(pick), self.block_futures[t], self._weights[t], more)
            for t, more in chosen
        ]
        none = np.empty((0, self.n_features), self.dtype), np.empty(0)
        items, weights = zip(none, *self._compute(tasks), strict=True)
        return np.concatenate(items), np.concatenate(weights)

    def own(self, values: Floats) -> Items:
        """Centres in the items' float type."""
        return values.astype(self.dtype)

    def lazy(self, function: Callable[..., Any], width: int | None, dtype: Any) -> da.Array:
        """function(items, row numbers) of every row, as a lazy Dask array."""
        rows = self.X.chunks[0]
        numbers = da.arange(self.n_rows, chunks=(rows,))[:, None]
        if width is None:
            lazy = da.map_blocks(function, self.X, numbers, dtype=dtype, drop_axis=1,
                                  meta=np.empty(0, dtype))  # fmt: skip
        else:
            lazy = da.map_blocks(function, self.X, numbers, dtype=dtype, chunks=(rows, (width,)),
                                  meta=np.empty((0, 0), dtype))  # fmt: skip
        return lazy

    def _rebalance(self, client: Any) -> None:
        """Copy blocks to workers with few of them, if all are in the workers' memory."""
        from distributed import futures_of

        futures = {future.key: future for future in futures_of(self.X)}
        blocks: list[Any] = [futures.get(key) for row in self.X.__dask_keys__() for key in row]
        if any(block is None or block.status != "finished" for block in blocks):
            return
        holders, threads = client.who_has(blocks), client.nthreads()
        room = client.run(_free_memory, on_error="ignore")
        where = [next(iter(holders.get(block.key, ())), "") for block in blocks]
        if not set(where) <= set(threads) <= set(room):  # a worker joined or left
            return
        sizes = list(self.X.chunks[0])
        for t, name in moves(where, sizes, threads):
            room[name] -= sizes[t] * self.n_features * self.dtype.itemsize
            if room[name] > 0:
                self.block_futures[t] = client.submit(
                    _same, blocks[t], workers=[name], allow_other_workers=True, pure=False
                )

    def _compute(self, tasks: list[Any]) -> list[Any]:
        """Results in order; on the cluster of the current client, or on threads."""
        client = _client()
        if client is None:
            return list(dask.compute(*tasks))
        futures = client.compute(tasks, retries=_RETRIES)
        watch = progress_callback()
        if watch is not None:
            from distributed import as_completed

            for done, _ in enumerate(as_completed(futures), start=1):
                watch(done / len(tasks))
        results: list[Any] = client.gather(futures)
        return results


def moves(where: list[str], sizes: list[int], threads: dict[str, int]) -> Iterator[tuple[int, str]]:
    """Choose blocks to copy, and the workers that get them, to balance the load."""
    where = list(where)
    loads = dict.fromkeys(threads, 0.0)
    for name, size in zip(where, sizes, strict=True):
        loads[name] += size / threads[name]
    while True:
        most, least = max(loads, key=loads.__getitem__), min(loads, key=loads.__getitem__)
        smaller = [
            t
            for t, name in enumerate(where)
            if name == most
            and loads[least] + sizes[t] / threads[least] < _MAX_RELATIVE_TIME * loads[most]
        ]
        if not smaller:
            return
        t = max(smaller, key=sizes.__getitem__)
        loads[most] -= sizes[t] / threads[most]
        loads[least] += sizes[t] / threads[least]
        where[t] = least
        yield t, least


def _free_memory(dask_worker: Any) -> float:
    """The free memory of a worker in bytes."""
    limit = dask_worker.memory_manager.memory_limit
    return _MEMORY_TARGET * limit - dask_worker.monitor.get_process_memory() if limit else np.inf


def _same(items: Items) -> Items:
    """Return a block, to copy it to another worker."""
    return items


def _prepare_block(items: Items, prepare: Callable[[Items], Items]) -> Items:
    """The function of a block; an empty block stays."""
    return prepare(np.asarray(items)) if len(items) else items


def _call(name: tuple[str, str], items: Items, weights: Floats, more: tuple[Any, ...]) -> Any:
    """Call the function of this name, on the worker that has the block."""
    function = getattr(importlib.import_module(name[0]), name[1])
    return function(read_only(np.ascontiguousarray(items)), np.asarray(weights), *more)


def _name(function: Callable[..., Any]) -> tuple[str, str]:
    """Module and name of a function, compiled or not."""
    plain = getattr(function, "py_func", function)
    return plain.__module__, plain.__qualname__


def _client() -> Any:
    """The current client; None without a cluster."""
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:
        return None


@contextmanager
def connected(address: str | None, *, memory: int | None = None) -> Iterator[Any]:
    """A client of the scheduler at this address, or of a local cluster with a worker per core."""
    from distributed import Client

    if address is not None:
        try:
            client = Client(address)
        except (OSError, ValueError) as error:
            raise ParameterError(
                "The 'scheduler' parameter must be the address of a Dask scheduler that runs, such "
                f"as tcp://host:8786. Got {address!r} instead: {error}."
            ) from error
    else:
        limit = "auto" if memory is None else memory // _WORKERS + _WORKER_BASE_BYTES
        client = Client(
            n_workers=_WORKERS, threads_per_worker=1, processes=True, memory_limit=limit,
            dashboard_address=None,
        )  # fmt: skip
    with client:
        yield client


def open_with_dask(path: str | Path, *, columns: list[str], memory: int) -> DaskEngine:
    """The engine of Parquet files that workers read; small data stays in their memory."""
    import dask.dataframe as dd

    frame = dd.read_parquet(path, columns=columns)
    X, names = as_dask_array(frame)
    if X.nbytes < memory // 4:
        X = X.persist()
    return DaskEngine(X, names=names)


class DaskTable:
    """A table in Parquet files that workers read and write."""

    def __init__(self, path: str | Path) -> None:
        import dask.dataframe as dd

        self.frame = dd.read_parquet(path)
        sizes = self.frame.map_partitions(len).compute()
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).tolist()
        self.n_rows = self.starts[-1]

    def take(self, rows: NDArray[np.intp]) -> Any:
        """These rows, ascending, as a pandas frame."""
        import pandas as pd

        parts = []
        for part, (low, high) in zip(self.frame.to_delayed(), pairwise(self.starts), strict=True):
            inside = rows[(rows >= low) & (rows < high)] - low
            if len(inside):
                parts.append(dask.delayed(_rows_of)(part, inside))
        return pd.concat(dask.compute(*parts), ignore_index=True)

    def write(self, function: Callable[..., Any], path: Path, done: Callable[[int], None]) -> None:
        """Let workers write function(rows, number of the first) of all parts to a folder."""
        pairs = zip(self.frame.to_delayed(), self.starts, strict=False)
        tasks = [dask.delayed(_write_part)(function, part, start, str(path), t)
                 for t, (part, start) in enumerate(pairs)]  # fmt: skip
        path.mkdir(parents=True, exist_ok=True)
        client = _client()
        if client is None:
            sizes: Iterator[int] = iter(dask.compute(*tasks))
        else:
            from distributed import as_completed

            futures = client.compute(tasks, retries=_RETRIES)
            sizes = (size for _, size in as_completed(futures, with_results=True))
        for size in sizes:
            done(size)


def _rows_of(frame: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of a part."""
    return frame.iloc[rows]


def _write_part(
    function: Callable[..., Any], frame: Any, start: int, folder: str, number: int
) -> int:
    """Write the function of a part to its own file, which appears when it is complete."""
    path = Path(folder) / f"part-{number:05d}.parquet"
    hidden = path.with_name(f".{path.name}.part")
    function(frame.reset_index(drop=True), start).to_parquet(hidden, index=False)
    hidden.replace(path)
    return len(frame)
