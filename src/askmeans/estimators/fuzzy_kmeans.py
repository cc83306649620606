"""FuzzyKMeans: the fuzzy k-means model as a scikit-learn clusterer."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from askmeans._util.checks import as_weights, check_choice, check_number
from askmeans.estimators.base import (
    SEEDINGS,
    Clusterer,
    as_engine,
    as_generator,
    check_features,
    check_init,
    check_items,
    check_metric,
    check_new_items,
    is_foreign,
    is_out_of_core,
    lazy_rows,
    on_device,
)
from askmeans.exceptions import CollapseWarning, DataError
from askmeans.fuzzy.engines.disk import as_bytes
from askmeans.fuzzy.model import check_enough_items, check_fuzzifier

if TYPE_CHECKING:
    from askmeans.fuzzy.lloyd import Assignment, Fit


class FuzzyKMeans(Clusterer):
    """Fuzzy k-means (fuzzy c-means): items belong to clusters by degrees.

    Minimises the sum over items and clusters of ``membership ** fuzzifier * distance ** 2`` by
    Lloyd's iterations; every item's memberships sum to one.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    fuzzifier : float or "auto", default=2.0
        Softness of the clusters, above 1; near 1 they are those of k-means. At 2, the usual value,
        clusters tend to merge in many dimensions, with a :class:`CollapseWarning`; "auto" decreases
        it from 2 until they do not merge.
    init : {"k-means++", "fuzzy++", "random", "k-means||"} or array-like of shape \
            (n_clusters, n_features), default="k-means++"
        Starting centres. "k-means++" draws items by squared distance to earlier seeds, "fuzzy++"
        by their part of the fuzzy objective, "random" uniformly. With more than 50,000 items, or a
        million numbers, they use a random sample, and the centres fitted to it start the
        iterations over all items; "k-means||" draws from all items in five passes. An array has
        the starting centres.
    n_init : int, default=1
        Number of starts; the one with the lowest objective is kept. An array as `init` is one.
    max_iter : int, default=300
        Maximum number of iterations from one start.
    tol : float, default=1e-4
        Iterations end when no centre moves farther than this, relative to the data's spread (the
        root of the features' mean variance). At 0 they end when nothing moves, or silently after
        `max_iter`.
    algorithm : {"auto", "lloyd"}, default="auto"
        "lloyd" is Lloyd's iterations; "auto" accelerates them by Anderson mixing, which reaches
        the same optimum in fewer iterations; a step that raises the objective is undone. With
        fuzzifier "auto" both are Lloyd's.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" scales every item to length 1, in `fit` and in all methods that take items, so that
        only directions count (squared distances are then 2 - 2 cos); centres are means of such
        items, shorter than 1. A row of zeros stays.
    memory : int, str or None, default=None
        Approximate memory for data on disk, in bytes or as a text ("2GiB"); None is "1GiB". A
        `numpy.memmap` counts as data on disk if `memory` is set.
    device : {"cuda"} or None, default=None
        "cuda" computes the passes over numpy arrays and data on disk on a GPU. Rows that fit into
        its memory stay there; others are sent in each pass. It needs the extra "gpu". Arrays that
        are on a GPU already are computed there anyway.
    random_state : int, numpy Generator, RandomState or None, default=None
        Randomness of the seeds; an int makes the fit reproducible.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres, in the data's float type.
    memberships_ : ndarray of shape (n_items, n_clusters)
        Memberships. For data on disk, rows that are computed when they are read; for Dask
        collections, a lazy Dask array.
    labels_ : ndarray of shape (n_items,)
        The cluster with the largest membership, which is the nearest centre; lazy likewise.
    objective_ : float
        The objective at the centres.
    objective_history_ : ndarray of shape (n_iter + 1,)
        The objective at the start and after each iteration.
    fuzzifier_ : float
        The fuzzifier, as chosen by "auto".
    n_iter_ : int
        Number of iterations from the best start.
    n_features_in_ : int
        Number of features in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features in `fit`, if all are strings.

    See Also
    --------
    sklearn.cluster.KMeans : Hard clusters.

    Notes
    -----
    Passes over the data run in compiled blocks and on as many threads as scikit-learn may use
    (OMP_NUM_THREADS, threadpoolctl); iterations allocate no array of n_items x n_clusters. The
    first fit on a machine compiles for some seconds; the result is cached on disk.

    Seeding treats equal items as one heavier item, so an integer `sample_weight` is equivalent to
    repeating an item.

    Examples
    --------
    >>> from askmeans import FuzzyKMeans
    >>> X = [[0.0], [1.0], [5.0], [9.0], [10.0]]
    >>> model = FuzzyKMeans(n_clusters=2, random_state=0).fit(X)
    >>> model.memberships_[2].round(2)
    array([0.5, 0.5])
    >>> sorted(model.cluster_centers_.ravel().round(1).tolist())
    [1.0, 9.0]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        fuzzifier: float | str = 2.0,
        init: str | ArrayLike = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        algorithm: str = "auto",
        metric: str = "euclidean",
        memory: int | str | None = None,
        device: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.fuzzifier = fuzzifier
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.algorithm = algorithm
        self.metric = metric
        self.memory = memory
        self.device = device
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Compute centres and memberships.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            The items: an array, a memory map, nested lists or a pandas, polars or pyarrow table; a
            Dask array or data frame; the path of a .npy or Parquet file or of a folder of these; or
            an array of torch, CuPy or another library of the array API standard, whose centres and
            memberships are arrays of the same kind, on the same device.
        y : Ignored
            Not used; present for API consistency.
        sample_weight : array-like of shape (n_items,), default=None
            Weights of the items; None for equal weights.

        Returns
        -------
        self : FuzzyKMeans
            The fitted estimator.

        Raises
        ------
        ParameterError
            If a parameter is invalid.
        DataError
            If X or sample_weight is invalid.
        """
        from askmeans.fuzzy import lloyd  # loads numba, which would slow down `import askmeans`

        self._check_parameters()
        if is_out_of_core(self, X):
            engine = as_engine(self, X, sample_weight)
            features = check_features(self, engine, reset=True)
            fitted = self._fitted(engine, np.empty(0))
            centers = engine.own(fitted.centers)
            rows: tuple[Any, Any] = (
                lazy_rows(engine, lloyd.memberships, centers, fitted.fuzzifier, deferred=True),
                lazy_rows(engine, lloyd.nearest_centers, centers, deferred=True),
            )
        else:
            items, features = check_items(self, X)
            assigned = lloyd.Assignment(items, as_weights(sample_weight, len(items)))
            fitted = self._fitted(items, assigned.weights, assignment=assigned)
            centers = fitted.centers.astype(items.dtype)
            rows = assigned.memberships, assigned.labels
        # Nothing below can fail: a failed fit leaves the estimator unchanged.
        for name in ("feature_names_in_", "_stream_weights"):
            self.__dict__.pop(name, None)
        self.__dict__.update(features)
        self._keep(fitted, centers, *rows)
        return self

    def __getattr__(self, name: str) -> Any:
        """Compute memberships and labels of arrays of other libraries on first access."""
        if name not in self.__dict__.get("_deferred", {}):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = self.__dict__[name] = self._deferred.pop(name).materialised()
        return value

    def __getstate__(self) -> Any:
        """Compute lazy attributes before pickling, since the items are not pickled."""
        for name in list(self.__dict__.get("_deferred", {})):
            getattr(self, name)
        return super().__getstate__()

    def partial_fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Update the fit with a further part of a stream.

        The first part is fitted like any data. After it, the centres represent all items of earlier
        parts, with the weights of their clusters (single-pass fuzzy c-means; Hore, Hall and
        Goldgof, 2007), so memory does not grow with the stream. `fit` starts a new stream.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            The part's items; at least `n_clusters` in the first part.
        y : Ignored
            Not used; present for API consistency.
        sample_weight : array-like of shape (n_items,), default=None
            Weights of the items; None for equal weights.

        Returns
        -------
        self : FuzzyKMeans
            The fitted estimator; `memberships_` and `labels_` are those of this part.

        Raises
        ------
        ParameterError
            If a parameter is invalid.
        DataError
            If X or sample_weight is invalid.

        Examples
        --------
        >>> model = FuzzyKMeans(n_clusters=2, random_state=0).partial_fit([[0.0], [9.0], [10.0]])
        >>> model.partial_fit([[1.0], [11.0]]).labels_.shape
        (2,)
        """
        from askmeans.fuzzy import lloyd

        self._check_parameters()
        if is_foreign(X):
            raise DataError(
                "X of FuzzyKMeans.partial_fit must be a numpy array. Got one of "
                f"{type(X).__module__}; pass it to fit, or convert the part to numpy."
            )
        so_far = getattr(self, "_stream_weights", None)
        if so_far is None:
            items, features = check_items(self, X)
        else:
            items, features = check_new_items(self, X), {}
        weights = as_weights(sample_weight, len(items))
        if so_far is None:
            fitted = self._fitted(items, weights)
            together, heavy = items, weights
        else:
            each = weights if weights.size else np.ones(len(items))
            together = np.concatenate([self._centers.astype(items.dtype), items])
            heavy = np.concatenate([so_far, each])
            fitted = self._fitted(together, heavy, start=self._centers)
        centers = fitted.centers.astype(items.dtype)
        shares = lloyd.memberships(together, centers, fitted.fuzzifier).astype(np.float64)
        assigned = lloyd.Assignment(items, np.empty(0))
        assigned(fitted.centers, fitted.fuzzifier)
        if so_far is None:
            self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(features)
        self._stream_weights = heavy @ shares if heavy.size else shares.sum(axis=0)
        self._keep(fitted, centers, assigned.memberships, assigned.labels)
        return self

    def write_memberships(self, path: str | Path, *, X: Any = None, top: int | None = None) -> Path:
        """Write memberships to a file in parts.

        Parameters
        ----------
        path : str or Path
            A .parquet file, a .npy file (all memberships), or a .npz file with a sparse matrix
            (for `scipy.sparse.load_npz`; it is built in memory).
        X : array-like, path or Dask collection, default=None
            Items; None for the fitted ones.
        top : int or None, default=None
            Number of largest memberships to write per item; None for all. Parquet columns are
            cluster_1, membership_1, ..., the largest first.

        Returns
        -------
        Path
            The file written.

        Raises
        ------
        ParameterError
            If the suffix is another one, or `top` is out of range.
        DataError
            If X has other features than the fitted items.

        Examples
        --------
        >>> import tempfile
        >>> model = FuzzyKMeans(n_clusters=2, random_state=0).fit([[0.0], [1.0], [9.0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.load(model.write_memberships(f"{folder}/memberships.npy")).shape
        (3, 2)
        """
        from askmeans.estimators.writing import write

        check_is_fitted(self)
        deferred = self._deferred.get("memberships_")
        rows = self.predict_proba(X) if X is not None else deferred or self.memberships_
        return write(rows, Path(path), top)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Predict the nearest centre of each item, which has the largest membership.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            Items, new or old.

        Returns
        -------
        ndarray of shape (n_items,)
            Numbers of clusters; the lower one on ties.
        """
        from askmeans.fuzzy import lloyd

        labels: NDArray[np.int32] = self._of_items(X, lloyd.nearest_centers)
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.floating]:
        """Predict memberships by the closed form.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            Items, new or old.

        Returns
        -------
        ndarray of shape (n_items, n_clusters)
            Memberships; every row sums to one.
        """
        from askmeans.fuzzy import lloyd

        check_is_fitted(self)
        memberships: NDArray[np.floating] = self._of_items(X, lloyd.memberships, self.fuzzifier_)
        return memberships

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:  # noqa: ARG002 - scikit-learn's signature
        """Return minus the objective of these items: the larger, the better.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            Items, new or old.
        y : Ignored
            Not used; present for API consistency.
        sample_weight : array-like of shape (n_items,), default=None
            Weights of the items; None for equal weights.

        Returns
        -------
        float
            Minus the objective, with closed-form memberships.
        """
        from askmeans.fuzzy import lloyd

        if (engine := self._out_of_core(X, sample_weight)) is not None:
            return -lloyd.objective(engine, self._centers, self.fuzzifier_, np.empty(0))
        items = check_new_items(self, X)
        weights = as_weights(sample_weight, len(items))
        return -lloyd.objective(items, self._centers, self.fuzzifier_, weights)

    def _fitted(
        self,
        items: Any,
        weights: NDArray[np.float64],
        start: ArrayLike | None = None,
        assignment: "Assignment | None" = None,
    ) -> "Fit":
        """Run Lloyd's iterations; warn of merged clusters or a lack of convergence."""
        from askmeans.fuzzy import lloyd

        in_memory = isinstance(items, np.ndarray)
        n_rows, n_features = items.shape if in_memory else (items.n_rows, items.n_features)
        if start is None:
            check_enough_items(n_rows, self.n_clusters, "FuzzyKMeans")
        with on_device(self.device, items, weights) as data:
            fitted = lloyd.fit(
                data,
                int(self.n_clusters),
                fuzzifier="auto" if self.fuzzifier == "auto" else float(self.fuzzifier),
                init=check_init(self, n_features) if start is None else np.asarray(start),
                n_init=int(self.n_init),
                max_iter=int(self.max_iter),
                tol=float(self.tol),
                weights=weights,
                rng=as_generator(self.random_state, "FuzzyKMeans"),
                # "auto" detects merging clusters by Lloyd's slow steps.
                mixing=self.algorithm == "auto" and self.fuzzifier != "auto",
                assignment=assignment,
            )
        self._warn(fitted)
        return fitted

    def _keep(self, fitted: "Fit", centers: Any, memberships: Any, labels: Any) -> None:
        """Set the attributes."""
        self.cluster_centers_ = centers
        self.fuzzifier_ = fitted.fuzzifier
        rows = {"memberships_": memberships, "labels_": labels}
        self._deferred = {
            name: part for name, part in rows.items() if hasattr(part, "materialised")
        }
        for name, part in rows.items():
            self.__dict__.pop(name, None)
            if name not in self._deferred:
                self.__dict__[name] = part
        self.objective_ = fitted.objective
        self.objective_history_ = fitted.history
        self.n_iter_ = fitted.n_iter

    def _check_parameters(self) -> None:
        """Check the parameters before the data."""
        owner = type(self).__name__
        for name in ("n_clusters", "n_init", "max_iter"):
            check_number(getattr(self, name), name, owner, integer=True, minimum=1)
        check_number(self.tol, "tol", owner)
        check_choice(self.algorithm, ("auto", "lloyd"), "algorithm", owner)
        if self.device is not None:
            check_choice(self.device, ("cuda",), "device", owner)
        check_metric(self)
        if self.memory is not None:
            as_bytes(self.memory, owner)
        if not (isinstance(self.fuzzifier, str) and self.fuzzifier == "auto"):
            check_fuzzifier(self.fuzzifier, owner)
        if isinstance(self.init, str):
            check_choice(self.init, SEEDINGS, "init", owner)

    def _warn(self, fitted: Any) -> None:
        """Warn of merged clusters or a lack of convergence."""
        if fitted.merged:
            names = ", ".join(f"{a} and {b}" for a, b in fitted.merged[:5])
            warnings.warn(
                f"Clusters have merged ({names}{', ...' if len(fitted.merged) > 5 else ''}): the "
                f"items cannot tell them apart at fuzzifier={fitted.fuzzifier:.3g}. Use a smaller "
                'fuzzifier (1.1 to 1.5 suits many features), fuzzifier="auto", or fewer clusters '
                f"than {self.n_clusters}.",
                CollapseWarning,
                stacklevel=4,
            )
        if not fitted.converged and self.tol > 0:
            warnings.warn(
                f"FuzzyKMeans made max_iter={self.max_iter} iterations and its centres still move "
                f"by more than tol={self.tol:g}. Increase max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
