"""Data that is not numpy's in memory: paths, memory maps, Dask, other arrays; as engines."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import as_weights
from askmeans.estimators.validation import directions
from askmeans.exceptions import DataError, ParameterError

if TYPE_CHECKING:
    from askmeans.fuzzy.engines.array_api import ArrayApiEngine
    from askmeans.fuzzy.engines.dask import DaskEngine
    from askmeans.fuzzy.engines.disk import DiskEngine

__all__ = ["as_engine", "is_elsewhere", "is_foreign", "lazy_rows", "on_device", "seen_in"]


def is_elsewhere(estimator: Any, X: Any) -> bool:
    """Whether the items are on disk, on a cluster or on a card, and are passed over in blocks."""
    if isinstance(X, str | Path) or hasattr(X, "map_numbered") or _is_dask(X) or is_foreign(X):
        return True
    return isinstance(X, np.memmap) and getattr(estimator, "memory", None) is not None


def is_foreign(X: Any) -> bool:
    """Whether it is an array of another library, such as torch or CuPy, seen without loading it."""
    if isinstance(X, np.ndarray | np.generic) or hasattr(X, "__dask_graph__"):
        return False
    is_array = type(X).__module__.partition(".")[0] in ("cupy", "torch") and hasattr(X, "ndim")
    return is_array or hasattr(X, "__array_namespace__")


def as_engine(
    estimator: Any, X: Any, sample_weight: Any = None
) -> "DiskEngine | DaskEngine | ArrayApiEngine":
    """The engine that passes over these items, each weighing so much."""
    cosine = getattr(estimator, "metric", None) == "cosine"
    if hasattr(X, "map_numbered"):  # an engine that somebody has made
        given: DiskEngine | DaskEngine = X
        return given.prepared(directions) if cosine else given
    if _is_dask(X):
        return _dask_engine(X, sample_weight, cosine=cosine)
    if is_foreign(X):
        return _array_api_engine(X, sample_weight, cosine=cosine)
    from askmeans.fuzzy.engines.disk import DEFAULT_MEMORY, as_bytes, of_memory_map, open_disk

    memory = as_bytes(
        getattr(estimator, "memory", None) or DEFAULT_MEMORY, type(estimator).__name__
    )
    mapped = isinstance(X, np.memmap)
    engine = of_memory_map(X, memory=memory) if mapped else open_disk(X, memory=memory)
    if cosine:
        engine = engine.prepared(directions)
    if sample_weight is not None:
        engine.weights = as_weights(sample_weight, engine.n_rows)
    return engine


@contextmanager
def on_device(device: str | None, items: Any, weights: NDArray[np.float64]) -> Iterator[Any]:
    """The items or their engine; with "cuda" an engine whose iterations run on the card."""
    if device is None:
        yield items
        return
    if not (isinstance(items, np.ndarray) or hasattr(items, "blocks")):
        raise ParameterError(
            "The 'device' parameter of FuzzyKMeans must be None unless X is numpy's or on disk. "
            f"Got {device!r} with data of another kind, which is passed over where it is."
        )
    from askmeans.fuzzy.engines import ArrayEngine
    from askmeans.fuzzy.engines.cuda import CardEngine
    from askmeans.fuzzy.threads import RowThreads

    with RowThreads(1 if hasattr(items, "blocks") else len(items), 1) as threads:
        on_host = items if hasattr(items, "blocks") else ArrayEngine(items, weights, threads)
        yield CardEngine(on_host)


def seen_in(estimator: Any, engine: Any, *, reset: bool) -> dict[str, Any]:
    """What to remember of the features; or a refusal of others than were fitted."""
    names = getattr(engine, "names", None)
    if not reset:
        expected, there = estimator.n_features_in_, engine.n_features
        known = getattr(estimator, "feature_names_in_", None)
        if there != expected:
            raise DataError(
                f"X has {there} features, but {type(estimator).__name__} is expecting {expected} "
                "features as input."
            )
        if names is not None and known is not None and list(names) != list(known):
            raise DataError(
                "The feature names should match those that were passed during fit. "
                f"Got {', '.join(map(str, names))} instead of {', '.join(known)}."
            )
    seen: dict[str, Any] = {"n_features_in_": engine.n_features}
    if names is not None and all(isinstance(name, str) for name in names):
        seen["feature_names_in_"] = np.asarray(names, dtype=object)
    return seen


def lazy_rows(
    engine: Any, function: Callable[..., Any], *parameters: Any, unseen: bool = False
) -> Any:
    """One row (or number) per item that function(items, centers, ...) gives, not computed yet."""
    make = getattr(engine, "rows_of", engine.lazy) if unseen else engine.lazy
    if function.__name__ == "nearest_centers":
        return make(_ByItems(function, parameters), None, np.int32)
    return make(_ByItems(function, parameters), parameters[0].shape[0], engine.dtype)


@dataclass(frozen=True, slots=True)
class _ByItems:
    """A function of items as one of items and row numbers, which travels to other processes."""

    function: Callable[..., Any]
    parameters: tuple[Any, ...]

    def __call__(self, items: NDArray[np.floating], _: NDArray[np.integer]) -> Any:
        return self.function(items, *self.parameters)


def _is_dask(X: Any) -> bool:
    """Whether it is a Dask collection, without loading Dask to see."""
    return hasattr(X, "__dask_graph__") and (hasattr(X, "to_delayed") or hasattr(X, "dtypes"))


def _array_api_engine(X: Any, sample_weight: Any, *, cosine: bool) -> "ArrayApiEngine":
    """The engine of an array of another library."""
    from askmeans.fuzzy.engines.array_api import ArrayApiEngine

    if sample_weight is not None and not is_foreign(sample_weight):
        sample_weight = as_weights(sample_weight, X.shape[0])
    engine = ArrayApiEngine(X, sample_weight)
    return engine.directions() if cosine else engine


def _dask_engine(X: Any, sample_weight: Any, *, cosine: bool) -> "DaskEngine":
    """The engine of a Dask array or data frame."""
    from askmeans.fuzzy.engines.dask import DaskEngine, as_dask_array

    items, names = as_dask_array(X)
    if cosine:
        items = DaskEngine(items).prepared(directions).X
    if sample_weight is not None and not _is_dask(sample_weight):
        sample_weight = as_weights(sample_weight, items.shape[0])
    return DaskEngine(items, sample_weight, names)
