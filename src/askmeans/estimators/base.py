"""The base of both estimators: checks of their inputs, engines for data outside of numpy's memory.

Data may be a numpy array or a table, which scikit-learn's own checks convert, or a path, a memory
map, a Dask collection or an array of another library, which become engines.
"""

import copy
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from askmeans._util.checks import as_weights, check_choice, check_seed
from askmeans.exceptions import DataError, DataTypeError, ParameterError

if TYPE_CHECKING:
    from askmeans.fuzzy.engines.array_api import ArrayApiEngine
    from askmeans.fuzzy.engines.dask import DaskEngine
    from askmeans.fuzzy.engines.disk import DiskEngine

SEEDINGS = ("k-means++", "fuzzy++", "random", "k-means||")
_NAMED = 8  # columns in a message
_FEATURES = ("n_features_in_", "feature_names_in_")


class Clusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """A clusterer with `cluster_centers_`."""

    def transform(self, X: Any) -> NDArray[np.floating]:
        """Return distances to the centres.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            Items, new or old.

        Returns
        -------
        ndarray of shape (n_items, n_clusters)
            Euclidean distances.
        """
        from askmeans.fuzzy import lloyd  # loads numba, which would slow down `import askmeans`

        distances: NDArray[np.floating] = self._of_items(X, lloyd.distances)
        return distances

    @property
    def _n_features_out(self) -> int:
        """Number of columns of `transform`, for get_feature_names_out."""
        return int(self.cluster_centers_.shape[0])

    @property
    def _centers(self) -> NDArray[np.floating]:
        """The centres as a numpy array."""
        return np.asarray(on_host(self.cluster_centers_))

    def _of_items(self, X: Any, function: Callable[..., Any], *more: Any) -> Any:
        """Return function(items, centres, ...); lazy if the items are not in memory."""
        if (engine := self._out_of_core(X)) is not None:
            return lazy_rows(engine, function, self._centers, *more)
        return function(check_new_items(self, X), self._centers, *more)

    def _out_of_core(self, X: Any, sample_weight: Any = None) -> Any:
        """Return the engine of items with the fitted features; None for items in memory."""
        check_is_fitted(self)
        if not is_out_of_core(self, X):
            return None
        engine = as_engine(self, X, sample_weight)
        check_features(self, engine, reset=False)
        return engine


def check_metric(estimator: BaseEstimator) -> None:
    """Refuse an unknown metric."""
    check_choice(estimator.metric, ("euclidean", "cosine"), "metric", type(estimator).__name__)


def check_items(estimator: BaseEstimator, X: Any) -> tuple[NDArray[np.floating], dict[str, Any]]:
    """Return items as a finite float64 or float32 matrix, and attributes of their features.

    The attributes are `n_features_in_` and, for named features, `feature_names_in_`. The caller
    sets them after the fit, so that a refused fit changes nothing.
    """
    probe = copy.copy(estimator)
    items = _validate(probe, X, reset=True)
    features = {key: vars(probe)[key] for key in _FEATURES if key in vars(probe)}
    return items, features


def check_new_items(estimator: BaseEstimator, X: Any) -> NDArray[np.floating]:
    """Return items with the features of the fitted ones."""
    return _validate(estimator, X, reset=False)


def as_generator(random_state: Any, owner: str) -> np.random.Generator:
    """Convert any random_state that scikit-learn accepts to a numpy Generator."""
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    if isinstance(random_state, Integral):
        check_seed(random_state, "random_state", owner)
        return np.random.default_rng(int(random_state))
    try:
        legacy = check_random_state(random_state)
    except ValueError as error:
        raise ParameterError(
            f"The 'random_state' parameter of {owner} must be an int, a numpy Generator or "
            f"RandomState, or None. Got {random_state!r} instead."
        ) from error
    return np.random.default_rng(legacy.randint(np.iinfo(np.int32).max, size=4))


def _holds_float32(X: Any) -> bool:
    """Whether all columns of a table are float32; scikit-learn detects that in arrays only."""
    kinds = getattr(X, "dtypes", None)
    if kinds is None:
        kinds = getattr(getattr(X, "schema", None), "types", None)
    if kinds is None or len(kinds) == 0:
        return False
    return all(str(kind).lower() in ("float", "float32") for kind in kinds)  # pyarrow says float


def _validate(estimator: BaseEstimator, X: Any, *, reset: bool) -> NDArray[np.floating]:
    """Check items as scikit-learn does, with its messages and our types of errors."""
    try:
        items: NDArray[np.floating] = validate_data(
            estimator, X, reset=reset, dtype=(np.float64, np.float32)
        )
    except TypeError as error:
        raise DataTypeError(str(error)) from error
    except (ValueError, OverflowError) as error:
        raise DataError(_about_frame(X) or str(error)) from error
    if _holds_float32(X):
        items = items.astype(np.float32, copy=False)
    return directions(items) if getattr(estimator, "metric", None) == "cosine" else items


def _about_frame(X: Any) -> str | None:
    """The message about an empty table or one with strings; None for another error."""
    names = getattr(X, "column_names", None) or getattr(X, "columns", None)  # pyarrow's, others'
    if names is None:
        return None
    if len(X) == 0 or len(names) == 0:
        return f"X must have rows and columns of numbers. Got an empty table of shape {X.shape}."
    words = [str(name) for name in names if _has_words(X[name])]
    if not words:
        return None
    return (
        f"X must have numbers only. Got words or dates in {', '.join(words[:_NAMED])}; make "
        "features of all columns with askmeans.tables.read_items(X).features, or leave these out."
    )


def _has_words(column: Any) -> bool:
    """Whether a column has strings or dates."""
    values = np.asarray(column)
    is_text = values.dtype.kind == "O" and any(isinstance(value, str) for value in values)
    return is_text or values.dtype.kind in "SUTmM"


def directions(items: NDArray[np.floating]) -> NDArray[np.floating]:
    """Scale items to length 1 in their float type; a row of zeros stays."""
    largest = np.abs(items).max(axis=1, keepdims=True)  # first, so that no square overflows
    items = items / np.where(largest > 0.0, largest, 1.0).astype(items.dtype)
    lengths = np.linalg.norm(items, axis=1, keepdims=True)
    return items / np.where(lengths > 0.0, lengths, 1.0).astype(items.dtype)


def check_init(estimator: Any, n_features: int) -> str | NDArray[np.float64]:
    """Return the name of the seeding, or the starting centres as an array."""
    if isinstance(estimator.init, str):
        return estimator.init
    try:
        centers = np.array(on_host(estimator.init), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            "The 'init' parameter of FuzzyKMeans must be a str among "
            f"{SEEDINGS} or an array of numbers. Got {estimator.init!r:.60} instead."
        ) from error
    expected = (estimator.n_clusters, n_features)
    if centers.shape != expected:
        raise ParameterError(
            "The 'init' parameter of FuzzyKMeans must have shape (n_clusters, n_features) = "
            f"{expected} when it is an array. Got shape {centers.shape} instead."
        )
    if not np.isfinite(centers).all():
        raise ParameterError(
            "The 'init' parameter of FuzzyKMeans must be finite when it is an array. "
            "Got NaN or infinity; leave those centres out, or use a seeding."
        )
    if estimator.n_init > 1:
        warnings.warn(
            f"The 'n_init' parameter of FuzzyKMeans is {estimator.n_init}, but 'init' is an array, "
            "which is one start: n_init=1 is used.",
            RuntimeWarning,
            stacklevel=4,
        )
    return centers


def is_out_of_core(estimator: Any, X: Any) -> bool:
    """Whether the items are on disk, in Dask or on a GPU, and need an engine."""
    if isinstance(X, str | Path) or hasattr(X, "n_rows") or _is_dask(X) or is_foreign(X):
        return True
    return isinstance(X, np.memmap) and getattr(estimator, "memory", None) is not None


def is_foreign(X: Any) -> bool:
    """Whether it is an array of another library, such as torch or CuPy, without importing that."""
    if isinstance(X, np.ndarray | np.generic) or hasattr(X, "__dask_graph__"):
        return False
    is_array = type(X).__module__.partition(".")[0] in ("cupy", "torch") and hasattr(X, "ndim")
    return is_array or hasattr(X, "__array_namespace__")


def as_engine(
    estimator: Any, X: Any, sample_weight: Any = None
) -> "DiskEngine | DaskEngine | ArrayApiEngine":
    """Return the engine for these items and weights."""
    cosine = getattr(estimator, "metric", None) == "cosine"
    if hasattr(X, "n_rows"):  # an engine
        return X.prepared(directions) if cosine else X  # type: ignore[no-any-return]  # an engine
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
    """Yield the items or their engine; with "cuda" an engine that iterates on the GPU."""
    if device is None:
        yield items
        return
    if not (isinstance(items, np.ndarray) or hasattr(items, "blocks")):
        raise ParameterError(
            "The 'device' parameter of FuzzyKMeans must be None unless X is a numpy array or on "
            f"disk. Got {device!r}; Dask collections and arrays of other libraries are computed "
            "where they are."
        )
    from askmeans.fuzzy.engines.cuda import GpuEngine
    from askmeans.fuzzy.passes import ArrayEngine, RowThreads

    with RowThreads(1 if hasattr(items, "blocks") else len(items), 1) as threads:
        on_host = items if hasattr(items, "blocks") else ArrayEngine(items, weights, threads)
        yield GpuEngine(on_host)


def check_features(estimator: Any, engine: Any, *, reset: bool) -> dict[str, Any]:
    """Return attributes of the features; without `reset`, refuse others than the fitted ones."""
    names = getattr(engine, "names", None)
    if not reset:
        expected, n_features = estimator.n_features_in_, engine.n_features
        known = getattr(estimator, "feature_names_in_", None)
        if n_features != expected:
            raise DataError(
                f"X has {n_features} features, but {type(estimator).__name__} is expecting "
                f"{expected} features as input."
            )
        if names is not None and known is not None and list(names) != list(known):
            raise DataError(
                "The feature names should match those that were passed during fit. "
                f"Got {', '.join(map(str, names))} instead of {', '.join(known)}."
            )
    features: dict[str, Any] = {"n_features_in_": engine.n_features}
    if names is not None and all(isinstance(name, str) for name in names):
        features["feature_names_in_"] = np.asarray(names, dtype=object)
    return features


def lazy_rows(
    engine: Any, function: Callable[..., Any], *parameters: Any, deferred: bool = False
) -> Any:
    """Return the lazy rows (or numbers) of function(items, centers, ...)."""
    make = getattr(engine, "rows_of", engine.lazy) if deferred else engine.lazy
    if function.__name__ == "nearest_centers":
        return make(_ByItems(function, parameters), None, np.int32)
    return make(_ByItems(function, parameters), parameters[0].shape[0], engine.dtype)


@dataclass(frozen=True, slots=True)
class _ByItems:
    """Adapts a function of items to items and row numbers; can be pickled."""

    function: Callable[..., Any]
    parameters: tuple[Any, ...]

    def __call__(self, items: NDArray[np.floating], _: NDArray[np.integer]) -> Any:
        return self.function(items, *self.parameters)


def _is_dask(X: Any) -> bool:
    """Whether it is a Dask collection, without importing Dask."""
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


def on_host(values: Any) -> Any:
    """Convert an array of another library to numpy."""
    if not is_foreign(values):
        return values
    from askmeans.fuzzy.engines.array_api import to_numpy

    return to_numpy(values)
