"""The base of both estimators: `transform`, and items that are not in memory."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from askmeans.estimators.inputs import (
    as_engine,
    check_features,
    check_new_items,
    is_out_of_core,
    lazy_rows,
    on_host,
)


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
