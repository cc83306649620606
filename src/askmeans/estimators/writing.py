"""Write memberships to disk in parts: all of them, or the largest of each item."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import check_number
from askmeans.estimators.base import is_foreign
from askmeans.exceptions import ParameterError
from askmeans.fuzzy.engines.array_api import to_numpy

Rows = NDArray[np.floating]

_ROWS = 100_000  # per part: some megabytes
_OWNER = "write_memberships"


def write(memberships: Any, path: Path, top: int | None) -> Path:
    """Write rows from an array, from disk or from Dask; the file appears when it is complete."""
    n, k = memberships.shape
    if top is not None:
        check_number(top, "top", _OWNER, integer=True, minimum=1)
    kinds = {".parquet": _parquet, ".npy": _npy, ".npz": _npz}
    if path.suffix not in kinds or (path.suffix == ".npy" and top is not None):
        raise ParameterError(
            f"The 'path' parameter of {_OWNER} must end in .parquet or .npz, or in .npy without "
            f"'top'. Got {str(path)!r} with top={top} instead."
        )
    top = None if top is None or top >= k else int(top)
    part = path.with_name(f"{path.name}.part")
    try:
        kinds[path.suffix](_parts(memberships), part, (n, k), top)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def _parts(memberships: Any) -> Iterator[Rows]:
    """Yield rows in order, in parts."""
    if isinstance(memberships, np.ndarray) or is_foreign(memberships):
        n_rows = memberships.shape[0]
        for start in range(0, n_rows, _ROWS):
            yield to_numpy(memberships[start : min(start + _ROWS, n_rows), :])
    elif hasattr(memberships, "dask"):
        for t in range(memberships.numblocks[0]):
            yield memberships.blocks[t].compute()
    else:
        for _, part in memberships.blocks():
            yield part


def largest(part: Rows, top: int) -> tuple[NDArray[np.int32], Rows]:
    """Return numbers and memberships of each row's strongest clusters, the largest first."""
    order = np.argsort(-part, axis=1, kind="stable")[:, :top]
    return order.astype(np.int32), np.take_along_axis(part, order, axis=1)


def _parquet(parts: Iterator[Rows], path: Path, shape: tuple[int, int], top: int | None) -> None:
    """Write one row group per part."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    try:
        for part in parts:
            columns: dict[str, NDArray[Any]]
            if top is None:
                columns = {f"cluster_{j}": part[:, j] for j in range(shape[1])}
            else:
                clusters, values = largest(part, top)
                columns = {}
                for place in range(top):
                    columns[f"cluster_{place + 1}"] = clusters[:, place]
                    columns[f"membership_{place + 1}"] = values[:, place]
            table = pa.table({name: np.ascontiguousarray(c) for name, c in columns.items()})
            writer = writer or pq.ParquetWriter(path, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def _npy(parts: Iterator[Rows], path: Path, shape: tuple[int, int], _: int | None) -> None:
    """Write a matrix for `numpy.load`."""
    out: Any = None
    start = 0
    for part in parts:
        if out is None:
            out = np.lib.format.open_memmap(path, "w+", dtype=part.dtype, shape=shape)
        out[start : start + len(part)] = part
        start += len(part)
    out.flush()


def _npz(parts: Iterator[Rows], path: Path, shape: tuple[int, int], top: int | None) -> None:
    """Write a sparse matrix by rows."""
    from scipy.sparse import csr_array, save_npz

    strongest = [largest(part, top or shape[1]) for part in parts]
    columns = np.concatenate([clusters for clusters, _ in strongest])
    values = np.concatenate([part for _, part in strongest])
    starts = np.arange(shape[0] + 1) * columns.shape[1]
    matrix = csr_array((values.ravel(), columns.ravel(), starts), shape=shape)
    matrix.sort_indices()
    with path.open("wb") as file:
        save_npz(file, matrix)
