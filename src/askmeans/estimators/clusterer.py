"""What both estimators share: distances as features, and items that are not in memory."""

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

from askmeans.estimators.sources import as_engine, is_elsewhere, is_foreign, lazy_rows, seen_in
from askmeans.estimators.validation import check_new_items

__all__ = ["Clusterer", "on_host"]


class Clusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """An estimator whose `cluster_centers_` tell of any items."""

    def transform(self, X: Any) -> NDArray[np.floating]:
        """Distances to the centres, as new features.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            Items, new or old.

        Returns
        -------
        ndarray of shape (n_items, n_clusters)
            Euclidean distances.

        Examples
        --------
        >>> from askmeans import FuzzyKMeans
        >>> model = FuzzyKMeans(init=[[0.0], [10.0]], n_clusters=2).fit([[0.0], [10.0]])
        >>> model.transform([[4.0]])
        array([[4., 6.]])
        """
        from askmeans.fuzzy import lloyd  # brings numba, which `import askmeans` must not wait for

        distances: NDArray[np.floating] = self._of_items(X, lloyd.distances)
        return distances

    @property
    def _n_features_out(self) -> int:
        """How many columns `transform` returns, for get_feature_names_out."""
        return int(self.cluster_centers_.shape[0])

    @property
    def _centers(self) -> NDArray[np.floating]:
        """The centres as numpy has them, wherever they live."""
        return np.asarray(on_host(self.cluster_centers_))

    def _of_items(self, X: Any, function: Callable[..., Any], *more: Any) -> Any:
        """What function(items, centres, ...) makes of each; not computed yet if not in memory."""
        if (engine := self._elsewhere(X)) is not None:
            return lazy_rows(engine, function, self._centers, *more)
        return function(check_new_items(self, X), self._centers, *more)

    def _elsewhere(self, X: Any, sample_weight: Any = None) -> Any:
        """The engine of items that are not in memory and fit the fitted model; None for others."""
        check_is_fitted(self)
        if not is_elsewhere(self, X):
            return None
        engine = as_engine(self, X, sample_weight)
        seen_in(self, engine, reset=False)
        return engine


def on_host(values: Any) -> Any:
    """The same, and numpy's where it is an array of another library."""
    if not is_foreign(values):
        return values
    from askmeans.fuzzy.engines.array_api import to_numpy

    return to_numpy(values)
