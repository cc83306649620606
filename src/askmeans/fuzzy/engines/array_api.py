"""Arrays of other libraries as an engine: torch, CuPy and whatever follows the array API standard.

Rules of this file:
- Only functions of the standard, in the array's own namespace and on its device.
- Blocks of rows, so that no array of n_rows x n_clusters exists unless it is the result.
- Only sums of the size of the centres are copied to the host, and the rows from which starts are
  drawn (up to a million numbers); k-means|| and models of answers copy blocks.
- CUDA arrays take one fused pass (cuda.py) if CuPy is installed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats
from askmeans.exceptions import DataError, MissingExtraError
from askmeans.fuzzy import kernels, lloyd
from askmeans.fuzzy.engines import FEW_FEATURES, centers_are_close, clusters_are_small
from askmeans.fuzzy.passes import Frame

Array = Any

_NUMBERS = 1 << 25  # in a block's largest array


def to_numpy(X: Any) -> NDArray[Any]:
    """Copy to the host."""
    library = type(X).__module__.partition(".")[0]
    if library == "cupy":
        return np.asarray(X.get())
    if library == "torch":
        return np.asarray(X.detach().cpu().numpy())
    return np.asarray(X if isinstance(X, (np.ndarray, list, float)) else np.from_dlpack(X))


class ArrayApiEngine:
    """Rows of an array of another library, in blocks; results are arrays of the same kind."""

    names = None

    def __init__(self, X: Array, weights: Array | None = None) -> None:
        X = X.detach() if hasattr(X, "detach") else X
        self.xp = xp = _namespace(X)
        half = str(X.dtype).endswith("float16")  # too short for sums: they become float32
        is_number = half or xp.isdtype(X.dtype, ("real floating", "integral"))
        if X.ndim != 2 or 0 in X.shape or not is_number:
            raise DataError(
                "X must be a matrix of numbers with a row and a column at least. Got shape "
                f"{tuple(X.shape)} and dtype {X.dtype}; select columns of numbers."
            )
        if half or X.dtype not in (xp.float32, xp.float64):
            X = xp.astype(X, xp.float32 if half else xp.float64)
        self.X = X
        self.n_rows, self.n_features = (int(size) for size in X.shape)
        self.dtype = np.dtype(str(X.dtype).rpartition(".")[2])
        self.weights = None if weights is None else self._checked(weights)
        for _, rows, _ in self._blocks(self.n_features):
            if not xp.all(xp.isfinite(rows)):
                raise DataError(
                    "X must be finite. Got NaN or infinity; drop such rows, or fill them in."
                )

    def _checked(self, weights: Array) -> Array:
        """The weights in the items' library, with the checks of `as_weights`."""
        if tuple(weights.shape) != (self.n_rows,):
            raise DataError(
                f"sample_weight must have one number per item, shape ({self.n_rows},). "
                f"Got shape {tuple(weights.shape)} instead."
            )
        own, xp = self.own(weights), self.xp
        if not xp.all(xp.isfinite(own)) or xp.any(own < 0) or not xp.any(own > 0):
            raise DataError(
                "sample_weight must be finite, 0 or larger, and above 0 for some item. Got other "
                "numbers; give weight 0 to what is to be left out."
            )
        return own

    def directions(self) -> "ArrayApiEngine":
        """The engine of the rows scaled to length 1; rows of zeros stay as they are."""
        lengths = self.xp.linalg.vector_norm(self.X, axis=1, keepdims=True)
        ones = self.xp.ones_like(lengths)
        return ArrayApiEngine(self.X / self.xp.where(lengths > 0, lengths, ones), self.weights)

    def own(self, values: Any) -> Array:
        """The same numbers in the items' library, on their device, in their float type."""
        return self.xp.asarray(values, dtype=self.X.dtype, device=self.X.device)

    def map(self, function: Callable[..., Any], *shared: Any, numbered: bool = False) -> list[Any]:
        """function(items, weights, *shared) of every block: in this library, or on the host."""
        if function is kernels.accumulate and _on_cuda(self.X) and _have_cupy():
            from askmeans.fuzzy.engines import cuda as gpu

            centers, shift, scale, fuzzifier = shared
            weights = None if self.weights is None else gpu.as_gpu_array(self.weights)
            return [
                gpu.accumulate(
                    gpu.as_gpu_array(self.X), weights, centers, (shift, scale), fuzzifier
                )
            ]
        own = _PASSES.get(function)
        if own is not None:
            width = self.n_features + (len(shared[0]) if function is kernels.accumulate else 0)
            return [own(self, rows, weights, *shared) for _, rows, weights in self._blocks(width)]
        parts = []
        for start, rows, weights in self._blocks(self.n_features):
            counts = np.empty(0) if weights is None else to_numpy(weights).astype(np.float64)
            number = (start,) if numbered else ()
            parts.append(function(to_numpy(rows), counts, *number, *shared))
        return parts

    def take(self, rows: NDArray[np.intp]) -> tuple[NDArray[Any], Floats]:
        """A few rows by number, on the host; and their weights."""
        place = self.xp.asarray(rows, device=self.X.device)
        items = to_numpy(self.xp.take(self.X, place, axis=0))
        if self.weights is None:
            return items, np.empty(0)
        return items, to_numpy(self.xp.take(self.weights, place)).astype(np.float64)

    def lazy(self, function: Callable[..., Any], width: int | None, dtype: Any) -> Array:
        """function(items, row numbers) of every row, as an array of the items' kind."""
        return self.rows_of(function, width, dtype).materialised()

    def rows_of(self, function: Callable[..., Any], width: int | None, dtype: Any) -> "RowsOf":
        """The same, not computed yet."""
        return RowsOf(self, function, width, np.dtype(dtype))

    def inner(self, rows: Array, frame: Frame) -> tuple[Array, Floats]:
        """Rows in inner coordinates, and their offset due to the rounded shift."""
        shift = self.own(frame.shift)
        away = (to_numpy(shift).astype(np.float64) - frame.shift) * frame.scale
        return (rows - shift) * frame.scale, away

    def distances(self, inner: Array, centers: Floats, *, exact: bool = False) -> Array:
        """Squared distances of such rows to the centres given in their coordinates.

        From differences with few features or where it must be exact; else by a matrix product,
        which loses digits where rows are far from the origin and near to a centre.
        """
        xp = self.xp
        if exact or self.n_features <= FEW_FEATURES:
            columns = [xp.sum((inner - self.own(center)) ** 2, axis=1) for center in centers]
            return xp.stack(columns, axis=1)
        mu = self.own(centers)
        norms = xp.sum(inner**2, axis=1, keepdims=True)
        squared = norms - 2 * (inner @ mu.T) + xp.sum(mu**2, axis=1)
        return xp.where(squared > 0, squared, xp.zeros_like(squared))

    def _blocks(self, width: int) -> Iterator[tuple[int, Array, Array | None]]:
        """Rows in order with the number of the first, and their weights."""
        step = max(1024, _NUMBERS // width)
        for start in range(0, self.n_rows, step):
            rows = slice(start, min(start + step, self.n_rows))
            yield start, self.X[rows, :], None if self.weights is None else self.weights[rows]


@dataclass(frozen=True, slots=True)
class RowsOf:
    """A function of every row, a block at a time or as one array of the items' kind.

    Functions of centres are computed where the items are, others on blocks on the host.
    """

    engine: ArrayApiEngine
    function: Callable[..., Any]
    width: int | None
    dtype: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows, and columns if there are any."""
        n_rows = self.engine.n_rows
        return (n_rows,) if self.width is None else (n_rows, self.width)

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Parts in row order on the host, with the number of each first row."""
        for start, part in self._parts():
            yield start, to_numpy(part)

    def materialised(self) -> Array:
        """All rows, where the items are."""
        out, xp = None, self.engine.xp
        for start, part in self._parts():
            if out is None:
                out = xp.empty(self.shape, dtype=part.dtype, device=self.engine.X.device)
            out[start : start + part.shape[0], ...] = part
        return out

    def _parts(self) -> Iterator[tuple[int, Array]]:
        engine = self.engine
        own = _ROW_FUNCTIONS.get(getattr(self.function, "function", None))
        for start, rows, _ in engine._blocks(engine.n_features + (self.width or 1)):
            if own is None:
                numbers = np.arange(start, start + rows.shape[0])
                values = np.asarray(self.function(to_numpy(rows), numbers), self.dtype)
                yield start, engine.xp.asarray(values, device=engine.X.device)
            else:
                centers, *more = self.function.parameters  # type: ignore[attr-defined]
                yield start, own(engine, rows, to_numpy(centers).astype(np.float64), *more)


def _counted(xp: Any, values: Array, weights: Array | None) -> Array:
    """Rows of weight 0 as zeros: they do not count, even if they are not finite."""
    if weights is None:
        return values
    return xp.where((weights > 0)[:, None], values, xp.zeros_like(values))


def _shares(engine: ArrayApiEngine, squared: Array, fuzzifier: float) -> tuple[Array, ...]:
    """Nearest squared distance, ratios to it, unnormalised memberships and their sum."""
    xp = engine.xp
    nearest = xp.min(squared, axis=1, keepdims=True)
    ones = xp.ones_like(squared)
    at = squared == nearest
    ratio = xp.where(at, ones, nearest / xp.where(at, ones, squared))
    shares = ratio ** (1.0 / (fuzzifier - 1.0))
    return nearest, ratio, shares, xp.sum(shares, axis=1, keepdims=True)


def _accumulate(
    engine: ArrayApiEngine,
    rows: Array,
    weights: Array | None,
    centers: Floats,
    shift: Floats,
    scale: float,
    fuzzifier: float,
) -> tuple[Floats, Floats, float]:
    """One of Lloyd's iterations over a block, as kernels.accumulate."""
    inner, away = engine.inner(rows, Frame(shift=shift, scale=scale))
    inner = _counted(engine.xp, inner, weights)
    arguments = (engine, inner, weights, centers - away, fuzzifier)
    single = engine.dtype == np.float32
    exact = single and centers_are_close(centers)
    moments, totals, objective = _sums(*arguments, exact=exact)
    if single and not exact and clusters_are_small(centers, totals, objective):
        moments, totals, objective = _sums(*arguments, exact=True)
    return moments + away * totals[:, None], totals, objective


def _sums(
    engine: ArrayApiEngine,
    inner: Array,
    weights: Array | None,
    centers: Floats,
    fuzzifier: float,
    *,
    exact: bool,
) -> tuple[Floats, Floats, float]:
    """Moments, totals and objective of a block in inner coordinates."""
    xp = engine.xp
    squared = engine.distances(inner, centers, exact=exact)
    nearest, ratio, shares, sums = _shares(engine, squared, fuzzifier)
    level = sums**-fuzzifier
    if weights is not None:
        level = level * weights[:, None]
    raised = shares * ratio * level
    totals = to_numpy(xp.sum(raised, axis=0)).astype(np.float64)
    moments = to_numpy(raised.T @ inner).astype(np.float64)
    return moments, totals, float(xp.sum(nearest * sums * level))


def _shifted_moments(
    engine: ArrayApiEngine, rows: Array, weights: Array | None, shift: Floats
) -> tuple[Floats, float, float]:
    """Sums of x - shift, of its squares and of the weights, as kernels.shifted_moments."""
    xp = engine.xp
    away = _counted(xp, rows - engine.own(shift), weights)
    heavy = away if weights is None else away * weights[:, None]
    total = float(rows.shape[0]) if weights is None else float(xp.sum(weights))
    sums = to_numpy(xp.sum(heavy, axis=0)).astype(np.float64)
    return sums, float(xp.sum(heavy * away)), total


def _largest_deviation(
    engine: ArrayApiEngine, rows: Array, weights: Array | None, shift: Floats
) -> float:
    away = _counted(engine.xp, rows - engine.own(shift), weights)
    return float(engine.xp.max(engine.xp.abs(away)))


def _second_moment(
    engine: ArrayApiEngine, rows: Array, weights: Array | None, shift: Floats, scale: float
) -> float:
    squares = (_counted(engine.xp, rows - engine.own(shift), weights) * scale) ** 2
    return float(engine.xp.sum(squares if weights is None else squares * weights[:, None]))


def _measured(engine: ArrayApiEngine, rows: Array, centers: Floats) -> tuple[Array, float]:
    """Squared distances in inner coordinates, and their scale."""
    frame = Frame.of_centers(centers)
    inner, away = engine.inner(rows, frame)
    return engine.distances(inner, frame.inner(centers) - away, exact=True), frame.scale


def _row_memberships(engine: ArrayApiEngine, rows: Array, centers: Floats, m: float) -> Array:
    *_, shares, sums = _shares(engine, _measured(engine, rows, centers)[0], m)
    return shares / sums


def _row_distances(engine: ArrayApiEngine, rows: Array, centers: Floats) -> Array:
    squared, scale = _measured(engine, rows, centers)
    return engine.xp.sqrt(squared) / scale


def _row_labels(engine: ArrayApiEngine, rows: Array, centers: Floats) -> Array:
    nearest = engine.xp.argmin(_measured(engine, rows, centers)[0], axis=1)
    return engine.xp.astype(nearest, engine.xp.int32)


# Passes over blocks, and functions of rows, in the functions of the standard.
_PASSES: dict[Any, Callable[..., Any]] = {
    kernels.accumulate: _accumulate,
    kernels.shifted_moments: _shifted_moments,
    kernels.largest_deviation: _largest_deviation,
    kernels.second_moment: _second_moment,
}
_ROW_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    lloyd.memberships: _row_memberships,
    lloyd.nearest_centers: _row_labels,
    lloyd.distances: _row_distances,
}


def _namespace(X: Any) -> Any:
    """The array's namespace in the sense of the standard."""
    if hasattr(X, "__array_namespace__"):
        return X.__array_namespace__()
    try:
        from array_api_compat import array_namespace
    except ImportError as error:
        raise MissingExtraError(
            f"Arrays of {type(X).__module__.partition('.')[0]} need array-api-compat: "
            "pip install 'askmeans[gpu]', or pass an array of numpy."
        ) from error
    return array_namespace(X)


def _on_cuda(X: Any) -> bool:
    return hasattr(X, "__cuda_array_interface__")


def _have_cupy() -> bool:
    from importlib.util import find_spec

    return find_spec("cupy") is not None
