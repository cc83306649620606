"""Arrays of other libraries as an engine: torch, CuPy and whatever follows the array API standard.

Rules of this file:
- Only functions of the standard, in the array's own namespace and on its device.
- Blocks of rows, so that no array of n_rows x n_clusters exists unless it is the result.
- What goes to the host is sums of the size of the centres, and the rows that starts are drawn from.
- CUDA arrays take one fused pass (gpu.py) where CuPy is installed.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import DataError, MissingExtraError
from askmeans.fuzzy import kernels, lloyd
from askmeans.fuzzy.problem import Frame

__all__ = ["ArrayApiEngine", "to_numpy"]

Array = Any
Floats = NDArray[np.float64]

_NUMBERS = 1 << 25  # in a block's largest array
_FEW_FEATURES = 32  # up to here distances are taken from differences, which loses no digits


def to_numpy(X: Any) -> NDArray[Any]:
    """The same numbers on the host."""
    library = type(X).__module__.partition(".")[0]
    if library == "cupy":
        return np.asarray(X.get())
    if library == "torch":
        return np.asarray(X.detach().cpu().numpy())
    return np.asarray(X if isinstance(X, (np.ndarray, list, float)) else np.from_dlpack(X))


class ArrayApiEngine:
    """Rows of an array that lives elsewhere, in blocks; results are arrays of its kind."""

    names = None

    def __init__(self, X: Array, weights: Array | None = None) -> None:
        self.xp = _namespace(X)
        if X.ndim != 2 or not self.xp.isdtype(X.dtype, ("real floating", "integral")):
            raise DataError(
                f"X must be a matrix of numbers. Got {X.ndim} dimensions and dtype {X.dtype}."
            )
        if not self.xp.isdtype(X.dtype, "real floating"):
            X = self.xp.astype(X, self.xp.float64)
        self.X = X
        self.n_rows, self.n_features = (int(size) for size in X.shape)
        self.dtype = np.dtype(str(X.dtype).rpartition(".")[2])
        self.weights = None if weights is None else self.own(weights)

    def directions(self) -> "ArrayApiEngine":
        """The engine of the rows scaled to length 1; rows of zeros stay as they are."""
        lengths = self.xp.linalg.vector_norm(self.X, axis=1, keepdims=True)
        ones = self.xp.ones_like(lengths)
        return ArrayApiEngine(self.X / self.xp.where(lengths > 0, lengths, ones), self.weights)

    def own(self, values: Any) -> Array:
        """The same numbers in the items' library, on their device, in their float type."""
        return self.xp.asarray(values, dtype=self.X.dtype, device=self.X.device)

    def map(self, function: Callable[..., Any], *shared: Any) -> list[Any]:
        """function(items, weights, *shared) of every block: this library's form of it."""
        if function is kernels.accumulate and _on_cuda(self.X) and _have_cupy():
            from askmeans.fuzzy import gpu

            centers, shift, scale, fuzzifier = shared
            weights = None if self.weights is None else gpu.on_card(self.weights)
            return [
                gpu.accumulate(gpu.on_card(self.X), weights, centers, (shift, scale), fuzzifier)
            ]
        own = _OWN.get(function)
        if own is None:
            return self.map_numbered(lambda X, w, _, *more: function(X, w, *more), *shared)
        width = self.n_features + (len(shared[0]) if function is kernels.accumulate else 0)
        return [own(self, rows, weights, *shared) for _, rows, weights in self._blocks(width)]

    def map_numbered(self, function: Callable[..., Any], *shared: Any) -> list[Any]:
        """The host's function of every block, which is copied there: k-means|| needs it."""
        none = np.empty(0)
        return [
            function(
                to_numpy(rows),
                none if weights is None else to_numpy(weights).astype(np.float64),
                start,
                *shared,
            )
            for start, rows, weights in self._blocks(self.n_features)
        ]

    def take(self, rows: NDArray[np.intp]) -> tuple[NDArray[Any], Floats]:
        """A few rows by number, on the host; and what they weigh."""
        place = self.xp.asarray(rows, device=self.X.device)
        items = to_numpy(self.xp.take(self.X, place, axis=0))
        if self.weights is None:
            return items, np.empty(0)
        return items, to_numpy(self.xp.take(self.weights, place)).astype(np.float64)

    def lazy(self, function: Callable[..., Any], width: int | None, dtype: Any) -> Array:
        """What function(items, row numbers) makes of every row, as an array of the items' kind.

        What follows from centres is computed here and now; other functions see blocks on the host.
        """
        own = _ROWS.get(getattr(function, "function", None))
        parts = []
        for start, rows, _ in self._blocks(self.n_features + (width or 1)):
            if own is None:
                numbers = np.arange(start, start + rows.shape[0])
                found = np.asarray(function(to_numpy(rows), numbers), dtype)
                parts.append(self.xp.asarray(found, device=self.X.device))
            else:
                centers, *more = function.parameters  # type: ignore[attr-defined]
                parts.append(own(self, rows, to_numpy(centers).astype(np.float64), *more))
        return self.xp.concat(parts)

    def distances(self, rows: Array, centers: Floats, frame: Frame) -> tuple[Array, Array]:
        """Rows in inner coordinates, and squared distances to the centres given in them."""
        xp = self.xp
        inner = (rows - self.own(frame.shift)) * frame.scale
        if self.n_features <= _FEW_FEATURES:
            columns = [xp.sum((inner - self.own(center)) ** 2, axis=1) for center in centers]
            return inner, xp.stack(columns, axis=1)
        mu = self.own(centers)
        norms = xp.sum(inner**2, axis=1, keepdims=True)
        squared = norms - 2 * (inner @ mu.T) + xp.sum(mu**2, axis=1)
        return inner, xp.where(squared > 0, squared, xp.zeros_like(squared))

    def _blocks(self, width: int) -> Iterator[tuple[int, Array, Array | None]]:
        """Rows in order with the number of the first, and what they weigh."""
        step = max(1024, _NUMBERS // width)
        for start in range(0, self.n_rows, step):
            rows = slice(start, min(start + step, self.n_rows))
            yield start, self.X[rows, :], None if self.weights is None else self.weights[rows]


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
    xp = engine.xp
    inner, squared = engine.distances(rows, centers, Frame(shift=shift, scale=scale))
    nearest, ratio, shares, sums = _shares(engine, squared, fuzzifier)
    level = sums**-fuzzifier
    if weights is not None:
        level = level * weights[:, None]
    raised = shares * ratio * level
    objective = xp.sum(nearest * sums * level)
    moments, totals = raised.T @ inner, xp.sum(raised, axis=0)
    return (
        to_numpy(moments).astype(np.float64),
        to_numpy(totals).astype(np.float64),
        float(objective),
    )


def _both_moments(
    engine: ArrayApiEngine, rows: Array, weights: Array | None, shift: Floats
) -> tuple[Floats, float, float]:
    """Sums of x - shift, of its squares and of the weights, as kernels.both_moments."""
    xp = engine.xp
    away = rows - engine.own(shift)
    heavy = away if weights is None else away * weights[:, None]
    total = float(rows.shape[0]) if weights is None else float(xp.sum(weights))
    sums = to_numpy(xp.sum(heavy, axis=0)).astype(np.float64)
    return sums, float(xp.sum(heavy * away)), total


def _first_moment(
    engine: ArrayApiEngine, rows: Array, weights: Array | None, shift: Floats
) -> tuple[Floats, float]:
    sums, _, total = _both_moments(engine, rows, weights, shift)
    return sums, total


def _largest_deviation(
    engine: ArrayApiEngine, rows: Array, weights: Array | None, shift: Floats
) -> float:
    away = engine.xp.abs(rows - engine.own(shift))
    if weights is not None:
        away = engine.xp.where((weights > 0)[:, None], away, engine.xp.zeros_like(away))
    return float(engine.xp.max(away))


def _second_moment(
    engine: ArrayApiEngine, rows: Array, weights: Array | None, shift: Floats, scale: float
) -> float:
    squares = ((rows - engine.own(shift)) * scale) ** 2
    return float(engine.xp.sum(squares if weights is None else squares * weights[:, None]))


def _row_memberships(engine: ArrayApiEngine, rows: Array, centers: Floats, m: float) -> Array:
    frame = Frame.of_centers(centers)
    *_, shares, sums = _shares(engine, engine.distances(rows, frame.inner(centers), frame)[1], m)
    return shares / sums


def _row_distances(engine: ArrayApiEngine, rows: Array, centers: Floats) -> Array:
    frame = Frame.of_centers(centers)
    squared = engine.distances(rows, frame.inner(centers), frame)[1]
    return engine.xp.sqrt(squared) / frame.scale


def _row_labels(engine: ArrayApiEngine, rows: Array, centers: Floats) -> Array:
    xp, frame = engine.xp, Frame.of_centers(centers)
    squared = engine.distances(rows, frame.inner(centers), frame)[1]
    return xp.astype(xp.argmin(squared, axis=1), xp.int32)


_OWN: dict[Any, Callable[..., Any]] = {
    kernels.accumulate: _accumulate,
    kernels.both_moments: _both_moments,
    kernels.first_moment: _first_moment,
    kernels.largest_deviation: _largest_deviation,
    kernels.second_moment: _second_moment,
}
_ROWS: dict[Any, Callable[..., Any]] = {
    lloyd.memberships: _row_memberships,
    lloyd.nearest_centers: _row_labels,
    lloyd.distances: _row_distances,
}


def _namespace(X: Any) -> Any:
    """The array's own functions, as the standard has them."""
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
