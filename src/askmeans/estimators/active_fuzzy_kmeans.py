"""ActiveFuzzyKMeans: fuzzy clusters from few, good questions, as a scikit-learn clusterer."""

import warnings
from dataclasses import dataclass, fields, replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from askmeans._util.checks import as_weights, check_enough_items
from askmeans._util.floats import default_float_errors
from askmeans.estimators.candidates import (
    Learnt,
    candidate_rows,
    rank_bound,
    run_about_candidates,
)
from askmeans.estimators.clusterer import Clusterer
from askmeans.estimators.fuzzy_kmeans import FuzzyKMeans
from askmeans.estimators.sources import as_engine, is_elsewhere, seen_in
from askmeans.estimators.validation import as_generator, check_items, check_metric, check_new_items
from askmeans.exceptions import NobodyToAskWarning, ParameterError

if TYPE_CHECKING:
    import pandas as pd

    from askmeans.results import Result
    from askmeans.sessions import SessionResult
    from askmeans.spec import PlanSpec

__all__ = ["ActiveFuzzyKMeans", "take_result"]

_FIRST = 2  # clusters that "auto" starts from
_BLOCK = 1 << 14  # rows at a time, which stay in the cache


class ActiveFuzzyKMeans(Clusterer):
    """Fuzzy k-means that asks somebody who knows.

    A strategy chooses questions ("how much does this item belong to that cluster?"), an oracle
    answers them, and memberships of all items and the clusters' centres follow. Without an oracle
    it warns and fits :class:`FuzzyKMeans`.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters. "auto" starts from two and takes one more whenever enough items belong
        to none of them; with ``ask="group"`` and an oracle.
    oracle : object, "y" or None, default=None
        Who answers, see `askmeans.oracles`; None for nobody. With "y" the labels (or memberships)
        that `fit` gets as y answer, as an expert who knows them would: to choose parameters by
        cross-validation, in which every fit sees other items.
    strategy : str or strategy, default="auto"
        "stratified", "two-phase", "sequential", "two-clusters", or such an object with your own
        sizes. "auto" is "stratified".
    ask : {"membership", "group", "similarity", "pairwise", "relative"}, default="membership"
        What is asked: how much an item belongs to a cluster, to which cluster an item belongs (one
        question for a whole row; default strategy only), how similar two or three items are, or how
        similar two items are. Similarities do not name clusters: their numbers are arbitrary.
    budget : int or None, default=None
        Most different questions to ask; None for as many as the strategy wants.
    levels : int or None, default=None
        How many points the answers' scale has; None for exact answers. For the default strategy
        only: the paper's take answers at their word.
    repeats : int, default=1
        How often a question is asked on average, at most. The default strategy asks again where
        that is worth more than a new question; the paper's ask everything so often and average.
    fuzzifier : float, default=2.0
        Alpha of the clustering that the oracle has in mind, at least 1 (1 for hard clusters).
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" scales every item to length 1 first, in `fit` and in all that takes items, so that
        only directions count (squared distances are then 2 - 2 cos); centres are means of such
        items, shorter than 1. A row of zeros stays one.
    memory : int, str or None, default=None
        About how much memory may be used for data on disk, in bytes or as a text ("2GiB"); None is
        "1GiB". A `numpy.memmap` counts as data on disk where `memory` is given.
    random_state : int, numpy Generator, RandomState or None, default=None
        Where the choice of questions takes its randomness from; an int makes it repeatable.
    verbose : bool, default=False
        Show a bar of the answers so far while fitting, where there is a terminal.

    Attributes
    ----------
    n_clusters_ : int
        Number of clusters found: `n_clusters`, or with "auto" as many as the answers spoke of.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres.
    memberships_ : ndarray of shape (n_items, n_clusters)
        How much each item belongs to each cluster; what was answered stands as given, unless
        `levels` or `repeats` show that answers are noisy.
        Rows sum to one with the probability that an item belongs to none of the clusters, which is
        0 unless the oracle answers so.
    confidence_ : ndarray of shape (n_items,) or None
        The probability that an item's label is right: 1 where an annotator decided and none
        contradicts. None with a strategy of the paper, without an oracle, and of data that is not
        in memory.
    labels_ : ndarray of shape (n_items,)
        The cluster each item belongs to most; ties go to the nearest centre. -1, as in
        scikit-learn's DBSCAN, where an item more probably belongs to none of the clusters.
    n_queries_ : int
        Different questions that were asked.
    n_queries_raw_ : int
        Questions the strategy asked, repeated ones included.
    n_rounds_ : int
        Batches in which something new was asked.
    complete_ : bool
        Whether the strategy asked all it wanted.
    history_ : Answers
        Every answer: round, kind, items, cluster, repeat, value, annotator. The value of a group
        question is a tuple with a share for each cluster.
    diagnostics_ : dict
        How sure the result is; keys in the documentation.
    index_ : pandas.Index
        The rows' index, when a data frame came in.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, when X had names that are all strings.

    See Also
    --------
    FuzzyKMeans : Without questions.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from askmeans import ActiveFuzzyKMeans, oracles
    >>> X, y = load_iris(return_X_y=True)
    >>> expert = oracles.TableOracle.from_labels(y)
    >>> model = ActiveFuzzyKMeans(3, oracle=expert, random_state=0).fit(X)
    >>> model.complete_, model.memberships_.shape
    (True, (150, 3))
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        oracle: Any = None,
        strategy: Any = "auto",
        ask: str = "membership",
        budget: int | None = None,
        levels: int | None = None,
        repeats: int = 1,
        fuzzifier: float = 2.0,
        metric: str = "euclidean",
        memory: int | str | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.oracle = oracle
        self.strategy = strategy
        self.ask = ask
        self.budget = budget
        self.levels = levels
        self.repeats = repeats
        self.fuzzifier = fuzzifier
        self.metric = metric
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Ask, and find centres and memberships.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            The items: an array, a memory map, nested lists or a pandas, polars or pyarrow table; a
            Dask array or data frame; or the path of a .npy or Parquet file or of a folder of these.
            Of data that is not in memory up to 50,000 random rows are candidates for questions,
            and what is learnt predicts the others when `memberships_` is looked at.
        y : array-like of shape (n_items,) or (n_items, n_clusters), default=None
            Labels or memberships, which answer where ``oracle="y"``; else not used, as in every
            clusterer.

        Returns
        -------
        self : ActiveFuzzyKMeans
            The fitted estimator.

        Raises
        ------
        ParameterError
            If a parameter breaks its rule; a ParameterTypeError where the oracle is none.
        DataError
            If X cannot be used.
        OracleError
            If the oracle fails; its `result` has what was reached.

        Examples
        --------
        >>> from askmeans.oracles import TableOracle
        >>> oracle = TableOracle([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
        >>> model = ActiveFuzzyKMeans(2, oracle=oracle, random_state=0).fit([[0.0], [5.0], [10.0]])
        >>> model.memberships_[1]
        array([0.5, 0.5])
        """
        from askmeans.driver import run
        from askmeans.spec import as_seed

        spec = self._spec()
        check_metric(self)
        oracle = self._oracle(y)
        engine = None
        if is_elsewhere(self, X):
            engine = as_engine(self, X)
            n_items, seen = engine.n_rows, seen_in(self, engine, reset=True)
        else:
            items, seen = check_items(self, X)
            n_items = len(items)
        rng = as_generator(self.random_state, "ActiveFuzzyKMeans")
        check_enough_items(n_items, spec.n_clusters, "ActiveFuzzyKMeans")
        self._check_table(oracle, n_items)
        seed = self.random_state if isinstance(self.random_state, Integral) else rng
        rows = None
        if engine is not None:
            rows = candidate_rows(n_items, as_seed(seed, "ActiveFuzzyKMeans"))
            items = engine.take(rows)[0]
        if oracle is None:
            with default_float_errors():
                found = self._without_questions(items, rng, engine)
        else:
            spec = replace(spec, seed=as_seed(seed, "ActiveFuzzyKMeans"))
            plan = (
                spec.make_growing(items, _most(oracle, len(items)))
                if self.n_clusters == "auto"
                else spec.make(items)
            )
            ask = partial(run, plan, budget=self.budget, progress=bool(self.verbose))
            result = ask(oracle) if rows is None else run_about_candidates(ask, oracle, rows)
            found = _found(result)
        if rows is not None:
            found |= _of_all(engine, found, rows)
        else:
            found["labels_"] = _strongest(found["memberships_"], items, found["cluster_centers_"])
        _remember(self, X, seen | found)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int32]:
        """Ask, and return the cluster to which each item belongs most.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            The items, as `fit` takes them.
        y : array-like of shape (n_items,) or (n_items, n_clusters), default=None
            Labels or memberships, which answer where ``oracle="y"``.

        Returns
        -------
        ndarray of shape (n_items,)
            `labels_`.

        Examples
        --------
        >>> model = ActiveFuzzyKMeans(2, oracle="y", random_state=0)
        >>> model.fit_predict([[0.0], [1.0], [9.0], [10.0]], y=["a", "a", "b", "b"])
        array([0, 0, 1, 1], dtype=int32)
        """
        labels: NDArray[np.int32] = self.fit(X, y).labels_
        return labels

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The cluster to which each item belongs most.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            Items, new or old.

        Returns
        -------
        ndarray of shape (n_items,)
            Numbers of clusters; ties go to the nearest centre, and -1 is none of the clusters, as
            in `labels_`.

        Examples
        --------
        >>> from askmeans.oracles import TableOracle
        >>> oracle = TableOracle.from_labels([0, 0, 1, 1])
        >>> model = ActiveFuzzyKMeans(2, oracle=oracle, random_state=0)
        >>> model.fit([[0.0], [1.0], [9.0], [10.0]]).predict([[2.0], [8.0]])
        array([0, 1], dtype=int32)
        """
        if (engine := self._elsewhere(X)) is not None:
            labels: NDArray[np.int32] = engine.lazy(
                _Strongest(self._all_learnt(), self.cluster_centers_), None, np.int32
            )
            return labels
        return _strongest(self.predict_proba(X), check_new_items(self, X), self.cluster_centers_)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """How much each item belongs to each cluster, by the link that the answers taught.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            Items, new or old; old ones get what the link says, not their own answers.

        Returns
        -------
        ndarray of shape (n_items, n_clusters)
            Memberships; every row sums to one with the probability of none of the clusters.

        Examples
        --------
        >>> from askmeans.oracles import TableOracle
        >>> oracle = TableOracle.from_labels([0, 0, 1, 1])
        >>> model = ActiveFuzzyKMeans(2, oracle=oracle, random_state=0)
        >>> model.fit([[0.0], [1.0], [9.0], [10.0]]).predict_proba([[-1.0]]).round(1)
        array([[1., 0.]])
        """
        if (engine := self._elsewhere(X)) is not None:
            lazy: NDArray[np.float64] = engine.lazy(
                self._all_learnt(), len(self.cluster_centers_), np.float64
            )
            return lazy
        memberships: NDArray[np.float64] = self._predictor(check_new_items(self, X))
        return memberships

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:  # noqa: ARG002 - scikit-learn's signature
        """Minus the fuzzy k-means objective of these items at the centres found.

        The larger, the better. What people answered does not count in it; `askmeans.metrics`
        compares memberships.

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
            Minus the objective, with closed-form memberships; at fuzzifier 1 that of k-means.

        Examples
        --------
        >>> from askmeans.oracles import TableOracle
        >>> oracle = TableOracle.from_labels([0, 1])
        >>> model = ActiveFuzzyKMeans(2, oracle=oracle, random_state=0).fit([[0.0], [10.0]])
        >>> model.score([[5.0]])
        -12.5
        """
        from askmeans.fuzzy import lloyd

        if (engine := self._elsewhere(X, sample_weight)) is not None:
            fuzzifier = max(float(self.fuzzifier), 1.0 + 1e-9)  # at 1 all but k-means itself
            return -lloyd.objective(engine, self.cluster_centers_, fuzzifier, np.empty(0))
        items = check_new_items(self, X)
        weights = as_weights(sample_weight, len(items))
        if self.fuzzifier == 1.0:
            nearest = np.square(lloyd.distances(items, self.cluster_centers_).min(axis=1))
            return -float(nearest @ weights if len(weights) else nearest.sum())
        return -lloyd.objective(items, self.cluster_centers_, float(self.fuzzifier), weights)

    def to_frame(self) -> "pd.DataFrame":
        """Memberships as a pandas data frame with the index of the data that came in.

        Returns
        -------
        pandas.DataFrame
            One row an item, one column a cluster.

        Examples
        --------
        >>> import pandas as pd
        >>> from askmeans.oracles import TableOracle
        >>> X = pd.DataFrame({"size": [0.0, 9.0]}, index=["mouse", "elephant"])
        >>> oracle = TableOracle.from_labels([0, 1])
        >>> ActiveFuzzyKMeans(2, oracle=oracle, random_state=0).fit(X).to_frame().idxmax(axis=1)
        mouse       cluster_0
        elephant    cluster_1
        dtype: ...
        """
        import pandas as pd

        check_is_fitted(self)
        columns = [f"cluster_{j}" for j in range(self.memberships_.shape[1])]
        return pd.DataFrame(np.asarray(self.memberships_), getattr(self, "index_", None), columns)

    def _all_learnt(self) -> Learnt:
        """What predicts items of which nobody was asked."""
        nobody = np.empty(0, dtype=np.intp)
        none = np.empty((0, len(self.cluster_centers_)))
        return Learnt(predictor=self._predictor, asked=nobody, memberships=none)

    def _spec(self) -> "PlanSpec":
        """The parameters, checked before the data is looked at."""
        from askmeans.spec import PlanSpec

        names = [field.name for field in fields(PlanSpec) if field.name != "seed"]
        given = {name: getattr(self, name) for name in names}
        if self.n_clusters == "auto":
            if self.oracle is None or self.ask != "group":
                raise ParameterError(
                    "The 'n_clusters' parameter of ActiveFuzzyKMeans must be a number, unless an "
                    'oracle is asked for groups. Got "auto" instead; pass oracle=... and '
                    'ask="group".'
                )
            given["n_clusters"] = _FIRST
        return PlanSpec.checked("ActiveFuzzyKMeans", **given)

    def _oracle(self, y: Any) -> Any:
        """Who answers: the one given, or an expert who knows y; None for nobody."""
        from askmeans.driver import check_oracle
        from askmeans.oracles import TableOracle

        if isinstance(self.oracle, str) and self.oracle == "y":
            if y is None:
                raise ParameterError(
                    "The 'oracle' parameter of ActiveFuzzyKMeans may be \"y\" where fit gets "
                    "labels or memberships. Got none; call fit(X, y)."
                )
            table = TableOracle(y) if np.ndim(y) == 2 else TableOracle.from_labels(y)
            known, least = table.memberships, 0 if self.n_clusters == "auto" else self.n_clusters
            lacking = int(least) - known.shape[1]  # of a part of the data some may be missing
            return TableOracle(np.pad(known, ((0, 0), (0, lacking)))) if lacking > 0 else table
        if self.oracle is not None:
            check_oracle(self.oracle, "ActiveFuzzyKMeans")
        return self.oracle

    def _check_table(self, oracle: Any, n_items: int) -> None:
        """Refuse an oracle that knows other items; more clusters are none of those asked about."""
        known = getattr(oracle, "memberships", None)
        if known is None:
            return
        rows, columns = np.shape(known)
        least = _FIRST if self.n_clusters == "auto" else int(self.n_clusters)
        more = self.ask == "group" and columns > least
        if rows == n_items and (columns == least or more):
            return
        what, remedy = "'oracle' parameter", "."
        if oracle is not self.oracle:
            what = "labels y"
        elif rows != n_items:
            remedy = (
                '; in cross-validation, where fits see parts of the data, use oracle="y" and '
                "fit(X, y)."
            )
        raise ParameterError(
            f"The {what} of ActiveFuzzyKMeans must know {n_items} items and {least} clusters. Got "
            f"a table of shape {(rows, columns)} instead{remedy}"
        )

    def _without_questions(
        self, items: NDArray[np.floating], rng: np.random.Generator, engine: Any
    ) -> dict[str, Any]:
        """What FuzzyKMeans finds in all items, as attributes of this estimator."""
        from askmeans.fuzzy import lloyd
        from askmeans.fuzzy.links import Link
        from askmeans.fuzzy.scores import Scorer
        from askmeans.queries import Answers
        from askmeans.results import Diagnostics, Predictor

        nobody = (
            "ActiveFuzzyKMeans has no oracle, so nobody was asked and FuzzyKMeans was fitted. Pass "
            "oracle=..., for instance oracles.ConsoleOracle(X) to be asked in the terminal."
        )
        warnings.warn(nobody, NobodyToAskWarning, stacklevel=3)
        fuzzifier = max(float(self.fuzzifier), 1.05)  # the closed form wants more than 1
        n_clusters = int(self.n_clusters)  # "auto" has an oracle
        model = FuzzyKMeans(n_clusters, fuzzifier=fuzzifier, random_state=rng)
        if engine is None:
            model.fit(items)
            centers, memberships = model.cluster_centers_.astype(np.float64), model.memberships_
        else:
            centers = model._fitted(engine, np.empty(0)).centers
            memberships = lloyd.memberships(items, centers, fuzzifier)
        identity = Link(knots=np.empty(0), values=np.empty(0))
        scorer = Scorer(centers=centers, order="relative", fuzzifier=fuzzifier)
        return {
            "cluster_centers_": centers,
            "memberships_": memberships.astype(np.float64),
            "confidence_": None,
            "n_queries_": 0,
            "n_queries_raw_": 0,
            "n_rounds_": 0,
            "complete_": False,
            "history_": Answers(),
            "diagnostics_": Diagnostics(
                beta=float(n_clusters * memberships.mean(axis=0).min()),
                rho=float((memberships**fuzzifier).mean(axis=0).min()),
                notes=(nobody,),
                effective_sample_size=[0.0] * len(centers),
                center_radius=[float("inf")] * len(centers),
            ).to_dict(),
            "_predictor": Predictor(scorer=scorer, links=(identity,) * len(centers)),
        }


def take_result(model: ActiveFuzzyKMeans, X: Any, result: "Result | SessionResult") -> None:
    """Fit a model by answers about X that were given elsewhere, a session's say."""
    items, seen = check_items(model, X)
    found = _found(result)
    found["labels_"] = _strongest(found["memberships_"], items, found["cluster_centers_"])
    _remember(model, X, seen | found)


def _most(oracle: Any, n_items: int) -> int:
    """How many clusters there may be: as many as there are items, or as a table knows."""
    known = getattr(oracle, "memberships", None)
    return n_items if known is None else min(n_items, np.shape(known)[1])


def _found(result: "Result | SessionResult") -> dict[str, Any]:
    """Attributes that tell what came of the questions."""
    clustering = result.clustering
    return {
        "cluster_centers_": clustering.centers,
        "memberships_": clustering.memberships,
        "confidence_": clustering.confidence,
        "n_queries_": result.n_queries,
        "n_queries_raw_": getattr(result, "n_queries_raw", result.n_queries),
        "n_rounds_": result.n_rounds,
        "complete_": result.complete,
        "history_": result.history,
        "diagnostics_": clustering.diagnostics.to_dict()
        | _contradictions(result, len(clustering.centers)),
        "_predictor": clustering.predictor,
    }


def _remember(model: ActiveFuzzyKMeans, X: Any, found: dict[str, Any]) -> None:
    """Set what a fit found; nothing of an earlier one is left."""
    found["n_clusters_"] = len(found["cluster_centers_"])
    if hasattr(X, "iloc") and isinstance(found["memberships_"], np.ndarray):
        found["index_"] = X.index
    for name in ("feature_names_in_", "index_"):
        model.__dict__.pop(name, None)
    model.__dict__.update(found)


def _of_all(engine: Any, found: dict[str, Any], rows: NDArray[np.intp]) -> dict[str, Any]:
    """What follows for all rows from a fit of candidates, which are these."""
    asked = np.unique([row for answer in found["history_"] for row in answer.items]).astype(np.intp)
    learnt = Learnt(
        predictor=found["_predictor"],
        asked=asked,
        memberships=found["memberships_"][np.searchsorted(rows, asked)],
    )
    centers = found["cluster_centers_"]
    bound = rank_bound(len(rows), engine.n_rows, len(centers))
    return {
        "memberships_": engine.lazy(learnt, len(centers), np.float64),
        "confidence_": None,
        "labels_": engine.lazy(_Strongest(learnt, centers), None, np.int32),
        "diagnostics_": found["diagnostics_"] | {"candidates": len(rows), "rank_bound": bound},
    }


@dataclass(frozen=True, slots=True)
class _Strongest:
    """The strongest cluster of rows, by what was learnt."""

    learnt: Learnt
    centers: NDArray[np.float64]

    def __call__(
        self, items: NDArray[np.floating], numbers: NDArray[np.integer]
    ) -> NDArray[np.int32]:
        return _strongest(self.learnt(items, numbers), items, self.centers)


def _contradictions(result: "Result | SessionResult", n_clusters: int) -> dict[str, Any]:
    """What of the answers cannot all be true, where answers are noisy."""
    from askmeans.contradictions import find_contradictions

    noise = result.clustering.diagnostics.noise
    if noise is None:
        return {}
    found = find_contradictions(result.history, int(n_clusters), noise=noise)
    return {
        "contradictions": [
            {"kind": one.kind, "answers": list(one.answers), "excess": one.excess} for one in found
        ]
    }


def _strongest(
    memberships: NDArray[np.float64],
    items: NDArray[np.floating],
    centers: NDArray[np.float64],
) -> NDArray[np.int32]:
    """The strongest cluster of each row; of several, the nearest (paper note N23).

    -1 where none of the clusters is stronger than each.
    """
    from askmeans.fuzzy import lloyd
    from askmeans.results import strongest_clusters

    labels = np.empty(len(memberships), dtype=np.int32)
    for start in range(0, len(labels), _BLOCK):
        some = slice(start, start + _BLOCK)
        U = memberships[some]
        labels[some] = strongest_clusters(U)
        as_good = U.max(axis=1, keepdims=True) - 1e-12 <= U
        tied = np.flatnonzero((as_good.sum(axis=1) > 1) & (labels[some] >= 0))
        if len(tied):
            distances = lloyd.distances(items[some][tied], centers)
            distances[~as_good[tied]] = np.inf
            labels[start + tied] = distances.argmin(axis=1)
    return labels
