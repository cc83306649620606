"""FuzzyKMeans: the fuzzy k-means model as a scikit-learn clusterer."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from askmeans._util.checks import (
    as_weights,
    check_choice,
    check_enough_items,
    check_fuzzifier,
    check_number,
)
from askmeans.estimators.clusterer import Clusterer, on_host
from askmeans.estimators.sources import (
    as_engine,
    is_elsewhere,
    is_foreign,
    lazy_rows,
    on_device,
    seen_in,
)
from askmeans.estimators.validation import as_generator, check_items, check_metric, check_new_items
from askmeans.exceptions import CollapseWarning, DataError, ParameterError
from askmeans.fuzzy.engines.disk import as_bytes

if TYPE_CHECKING:
    from askmeans.fuzzy.lloyd import Assigning, Fit

__all__ = ["FuzzyKMeans"]

SEEDINGS = ("k-means++", "fuzzy++", "random", "k-means||")


class FuzzyKMeans(Clusterer):
    """Fuzzy k-means (fuzzy c-means): items belong to clusters by degrees.

    Minimises the sum over items and clusters of ``membership ** fuzzifier * distance ** 2`` by
    Lloyd's iterations; every item's memberships sum to one.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    fuzzifier : float or "auto", default=2.0
        How soft the clusters are, above 1; near 1 they are those of k-means. At 2, the usual
        value, clusters tend to merge in many dimensions (a :class:`CollapseWarning` tells);
        "auto" goes down from 2, in steps, until they stay apart.
    init : {"k-means++", "fuzzy++", "random", "k-means||"} or array-like of shape \
            (n_clusters, n_features), default="k-means++"
        Where to start. "k-means++" spreads seeds over the items by squared distance; "fuzzy++" by
        each item's part of the fuzzy objective; "random" takes items at random. Of more than
        50,000 items, or a million numbers, these look at a random sample, iterate over it, and all
        items begin where that ends; "k-means||" draws from all items, in five passes. An array is
        a warm start from these centres.
    n_init : int, default=1
        How many starts; the best by objective is kept. An array as `init` is one start.
    max_iter : int, default=300
        Most iterations from one start.
    tol : float, default=1e-4
        Iterations end when no centre moves farther than this, relative to the data's spread (the
        root of the features' mean variance). At 0 they end when nothing moves at all, or silently
        after `max_iter`.
    algorithm : {"auto", "lloyd"}, default="auto"
        "lloyd" is Lloyd's iterations; "auto" mixes their last few steps (Anderson mixing), which
        leads to the same optimum in fewer iterations; a mixed step that raises the objective is
        taken back. With fuzzifier "auto" both are Lloyd's.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" scales every item to length 1 first, in `fit` and in all that takes items, so that
        only directions count (squared distances are then 2 - 2 cos); centres are means of such
        items, shorter than 1. A row of zeros stays one.
    memory : int, str or None, default=None
        About how much memory may be used for data on disk, in bytes or as a text ("2GiB"); None is
        "1GiB". A `numpy.memmap` counts as data on disk where `memory` is given; other arrays are
        in memory already.
    device : {"cuda"} or None, default=None
        "cuda" lets the passes over numpy arrays and data on disk run on a card, where rows that
        find room stay and others are sent in each pass. Arrays that live on a card already need
        no word. It takes the extra "gpu".
    random_state : int, numpy Generator, RandomState or None, default=None
        Where the seeds' randomness comes from; an int makes the fit repeatable.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres, in the data's float type.
    memberships_ : ndarray of shape (n_items, n_clusters)
        How much each item belongs to each cluster. Of data on disk, rows that are computed when
        they are looked at; of Dask collections, a Dask array that is not computed yet.
    labels_ : ndarray of shape (n_items,)
        The cluster each item belongs to most: its nearest centre; likewise.
    objective_ : float
        The objective reached.
    objective_history_ : ndarray of shape (n_iter + 1,)
        The objective at the start and after each iteration.
    fuzzifier_ : float
        The fuzzifier used, which "auto" has chosen.
    n_iter_ : int
        Iterations made from the start that was kept.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, when X had names that are all strings.

    See Also
    --------
    sklearn.cluster.KMeans : Hard clusters.

    Notes
    -----
    Passes over the data run in compiled blocks and on as many threads as scikit-learn may use
    (OMP_NUM_THREADS, threadpoolctl); no array of n_items x n_clusters is made while iterating.
    The first fit on a machine compiles for some seconds; the result is kept on disk.

    Seeding treats equal items as one heavier item, so an integer `sample_weight` is the same as
    writing an item that often.

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
        """Find centres and memberships.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            The items: an array, a memory map, nested lists or a pandas, polars or pyarrow table; a
            Dask array or data frame; the path of a .npy or Parquet file or of a folder of these; or
            an array of torch, CuPy or another library of the array API standard, whose centres and
            memberships are arrays of the same kind, on the same device.
        y : Ignored
            Not used; here because scikit-learn's pipelines pass it.
        sample_weight : array-like of shape (n_items,), default=None
            How much each item counts; None counts all alike.

        Returns
        -------
        self : FuzzyKMeans
            The fitted estimator.

        Raises
        ------
        ParameterError
            If a parameter breaks its rule.
        DataError
            If X or sample_weight cannot be used.

        Examples
        --------
        >>> FuzzyKMeans(n_clusters=2, random_state=0).fit([[0.0], [1.0], [9.0]]).labels_.shape
        (3,)
        """
        from askmeans.fuzzy import lloyd  # brings numba, which `import askmeans` must not wait for

        self._check_parameters()
        if is_elsewhere(self, X):
            engine = as_engine(self, X, sample_weight)
            seen = seen_in(self, engine, reset=True)
            found = self._fitted(engine, np.empty(0))
            centers = engine.own(found.centers)
            rows: tuple[Any, Any] = (
                lazy_rows(engine, lloyd.memberships, centers, found.fuzzifier, unseen=True),
                lazy_rows(engine, lloyd.nearest_centers, centers, unseen=True),
            )
        else:
            items, seen = check_items(self, X)
            assigned = lloyd.Assigning(items, as_weights(sample_weight, len(items)))
            found = self._fitted(items, assigned.weights, assigning=assigned)
            centers = found.centers.astype(items.dtype)
            rows = assigned.memberships, assigned.labels
        # All is computed: from here on nothing can fail and leave half of it.
        for name in ("feature_names_in_", "_stream_weights"):
            self.__dict__.pop(name, None)
        self.__dict__.update(seen)
        self._keep(found, centers, *rows)
        return self

    def __getattr__(self, name: str) -> Any:
        """Memberships and labels of arrays that live elsewhere, when they are first looked at."""
        if name not in self.__dict__.get("_unseen", {}):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = self.__dict__[name] = self._unseen.pop(name).whole()
        return found

    def __getstate__(self) -> Any:
        """What is kept of it: what was not looked at yet is computed, the items are left out."""
        for name in list(self.__dict__.get("_unseen", {})):
            getattr(self, name)
        return super().__getstate__()

    def partial_fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Go on from what was seen so far with one more part of a stream.

        The first part is fitted like any data. From then on the centres found stand for all items
        of earlier parts, each as heavy as its cluster (single-pass fuzzy c-means; Hore, Hall and
        Goldgof, 2007), so memory does not grow with the stream. After `fit` it begins anew.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            The part's items; the first part has `n_clusters` of them at least.
        y : Ignored
            Not used; here because scikit-learn's pipelines pass it.
        sample_weight : array-like of shape (n_items,), default=None
            How much each item counts; None counts all alike.

        Returns
        -------
        self : FuzzyKMeans
            The fitted estimator; `memberships_` and `labels_` are those of this part.

        Raises
        ------
        ParameterError
            If a parameter breaks its rule.
        DataError
            If X or sample_weight cannot be used.

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
                "X of FuzzyKMeans.partial_fit must be an array of the host. Got one of "
                f"{type(X).__module__}; fit takes such arrays whole, or bring the part to the host."
            )
        so_far = getattr(self, "_stream_weights", None)
        if so_far is None:
            items, seen = check_items(self, X)
        else:
            items, seen = check_new_items(self, X), {}
        weights = as_weights(sample_weight, len(items))
        if so_far is None:
            found = self._fitted(items, weights)
            together, heavy = items, weights
        else:
            each = weights if weights.size else np.ones(len(items))
            together = np.concatenate([self._centers.astype(items.dtype), items])
            heavy = np.concatenate([so_far, each])
            found = self._fitted(together, heavy, start=self._centers)
        centers = found.centers.astype(items.dtype)
        shares = lloyd.memberships(together, centers, found.fuzzifier).astype(np.float64)
        assigned = lloyd.Assigning(items, np.empty(0))
        assigned(found.centers, found.fuzzifier)
        if so_far is None:
            self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(seen)
        self._stream_weights = heavy @ shares if heavy.size else shares.sum(axis=0)
        self._keep(found, centers, assigned.memberships, assigned.labels)
        return self

    def write_memberships(self, path: str | Path, *, X: Any = None, top: int | None = None) -> Path:
        """Write memberships to a file, a part at a time.

        Parameters
        ----------
        path : str or Path
            Where to: a .parquet file, a .npy file (all memberships), or a .npz file with a sparse
            matrix (`scipy.sparse.load_npz` reads it; it is in memory while it is made).
        X : array-like, path or Dask collection, default=None
            Items; None for those fitted.
        top : int or None, default=None
            Keep only so many largest memberships per item; None keeps all. In Parquet these are
            columns cluster_1, membership_1, ..., the largest first.

        Returns
        -------
        Path
            The file written.

        Raises
        ------
        ParameterError
            If the ending is none of these, or `top` is out of range.
        DataError
            If X does not have the features of those fitted.

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
        unseen = self._unseen.get("memberships_")
        rows = self.predict_proba(X) if X is not None else unseen or self.memberships_
        return write(rows, Path(path), top)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The cluster to which each item belongs most: its nearest centre.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            Items, new or old.

        Returns
        -------
        ndarray of shape (n_items,)
            Numbers of clusters; the lower one on ties.

        Examples
        --------
        >>> model = FuzzyKMeans(init=[[0.0], [10.0]], n_clusters=2).fit([[0.0], [1.0], [9.0]])
        >>> model.predict([[2.0], [8.0]])
        array([0, 1], dtype=int32)
        """
        from askmeans.fuzzy import lloyd

        labels: NDArray[np.int32] = self._of_items(X, lloyd.nearest_centers)
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.floating]:
        """How much each item belongs to each cluster, by the closed form.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            Items, new or old.

        Returns
        -------
        ndarray of shape (n_items, n_clusters)
            Memberships; every row sums to one.

        Examples
        --------
        >>> model = FuzzyKMeans(init=[[0.0], [10.0]], n_clusters=2).fit([[0.0], [10.0]])
        >>> model.predict_proba([[5.0]])
        array([[0.5, 0.5]])
        """
        from askmeans.fuzzy import lloyd

        check_is_fitted(self)
        found: NDArray[np.floating] = self._of_items(X, lloyd.memberships, self.fuzzifier_)
        return found

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:  # noqa: ARG002 - scikit-learn's signature
        """Minus the objective of these items: the larger, the better.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            Items, new or old.
        y : Ignored
            Not used; here because scikit-learn's pipelines pass it.
        sample_weight : array-like of shape (n_items,), default=None
            How much each item counts; None counts all alike.

        Returns
        -------
        float
            Minus the objective, with closed-form memberships.

        Examples
        --------
        >>> model = FuzzyKMeans(init=[[0.0], [10.0]], n_clusters=2).fit([[0.0], [10.0]])
        >>> model.score([[5.0]])
        -12.5
        """
        from askmeans.fuzzy import lloyd

        if (engine := self._elsewhere(X, sample_weight)) is not None:
            return -lloyd.objective(engine, self._centers, self.fuzzifier_, np.empty(0))
        items = check_new_items(self, X)
        weights = as_weights(sample_weight, len(items))
        return -lloyd.objective(items, self._centers, self.fuzzifier_, weights)

    def _fitted(
        self,
        items: Any,
        weights: NDArray[np.float64],
        start: ArrayLike | None = None,
        assigning: "Assigning | None" = None,
    ) -> "Fit":
        """What Lloyd's iterations find, with a warning where it is not what was hoped for."""
        from askmeans.fuzzy import lloyd

        in_memory = isinstance(items, np.ndarray)
        n_rows, n_features = items.shape if in_memory else (items.n_rows, items.n_features)
        if start is None:
            check_enough_items(n_rows, self.n_clusters, "FuzzyKMeans")
        with on_device(self.device, items, weights) as there:
            found = lloyd.fit(
                there,
                int(self.n_clusters),
                fuzzifier="auto" if self.fuzzifier == "auto" else float(self.fuzzifier),
                init=self._starting_point(n_features) if start is None else np.asarray(start),
                n_init=int(self.n_init),
                max_iter=int(self.max_iter),
                tol=float(self.tol),
                weights=weights,
                rng=as_generator(self.random_state, "FuzzyKMeans"),
                # Whether clusters are on their way to merge shows in how slowly Lloyd moves them.
                mixing=self.algorithm == "auto" and self.fuzzifier != "auto",
                assigning=assigning,
            )
        self._warn(found)
        return found

    def _keep(self, found: "Fit", centers: Any, memberships: Any, labels: Any) -> None:
        """Set what was found."""
        self.cluster_centers_ = centers
        self.fuzzifier_ = found.fuzzifier
        rows = {"memberships_": memberships, "labels_": labels}
        self._unseen = {name: part for name, part in rows.items() if hasattr(part, "whole")}
        for name, part in rows.items():
            self.__dict__.pop(name, None)
            if name not in self._unseen:
                self.__dict__[name] = part
        self.objective_ = found.objective
        self.objective_history_ = found.history
        self.n_iter_ = found.n_iter

    def _check_parameters(self) -> None:
        """Refuse parameters that break their rules, before the data is looked at."""
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

    def _starting_point(self, n_features: int) -> str | NDArray[np.float64]:
        """The seeding's name, or the centres given, checked."""
        if isinstance(self.init, str):
            return self.init
        try:
            centers = np.array(on_host(self.init), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ParameterError(
                "The 'init' parameter of FuzzyKMeans must be a str among "
                f"{SEEDINGS} or an array of numbers. Got {self.init!r:.60} instead."
            ) from error
        expected = (self.n_clusters, n_features)
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
        if self.n_init > 1:
            warnings.warn(
                f"The 'n_init' parameter of FuzzyKMeans is {self.n_init}, but 'init' is an array, "
                "which is one start: n_init=1 is used.",
                RuntimeWarning,
                stacklevel=4,
            )
        return centers

    def _warn(self, found: Any) -> None:
        """Say when clusters merged, or the iterations ended early."""
        if found.merged:
            names = ", ".join(f"{a} and {b}" for a, b in found.merged[:5])
            warnings.warn(
                f"Clusters have merged ({names}{', ...' if len(found.merged) > 5 else ''}): the "
                f"items cannot tell them apart at fuzzifier={found.fuzzifier:.3g}. Use a smaller "
                'fuzzifier (1.1 to 1.5 suits many features), fuzzifier="auto", or fewer clusters '
                f"than {self.n_clusters}.",
                CollapseWarning,
                stacklevel=4,
            )
        if not found.converged and self.tol > 0:
            warnings.warn(
                f"FuzzyKMeans made max_iter={self.max_iter} iterations and its centres still move "
                f"by more than tol={self.tol:g}. Increase max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
