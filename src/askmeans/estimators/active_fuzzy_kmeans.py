"""ActiveFuzzyKMeans: fuzzy k-means with questions to an expert, as a scikit-learn clusterer."""

from dataclasses import fields, replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askmeans._util.checks import as_weights, default_float_errors
from askmeans.estimators.base import (
    Clusterer,
    as_engine,
    as_generator,
    check_features,
    check_items,
    check_metric,
    check_new_items,
    is_out_of_core,
)
from askmeans.estimators.fitted import (
    RowPredictor,
    Strongest,
    attributes_of,
    attributes_of_all,
    run_about_candidates,
    set_attributes,
    strongest,
    unsupervised,
)
from askmeans.exceptions import ParameterError
from askmeans.fuzzy.model import check_enough_items

if TYPE_CHECKING:
    from askmeans.spec import PlanSpec

_FIRST = 2  # clusters that "auto" starts from


class ActiveFuzzyKMeans(Clusterer):
    """Fuzzy k-means with questions to an expert.

    A strategy selects questions ("how much does this item belong to that cluster?"), an oracle
    answers them, and a model of the answers completes the memberships of all items. Without an
    oracle it warns and fits :class:`FuzzyKMeans`.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters. "auto" starts from two and adds one whenever enough items belong to
        none of them; it needs ``ask="group"`` and an oracle.
    oracle : object, "y" or None, default=None
        The source of answers, see `askmeans.oracles`; None for an unsupervised fit. With "y" the
        labels (or memberships) that `fit` gets as y are the answers: for cross-validation, in
        which every fit gets other items.
    strategy : str or strategy, default="auto"
        "stratified", "two-phase", "sequential", "two-clusters", or a strategy object with other
        sizes. "auto" is "stratified".
    ask : {"membership", "group", "similarity", "pairwise", "relative"}, default="membership"
        The kind of question: "membership" asks how much an item belongs to a cluster, "group" to
        which cluster an item belongs (one question per row; default strategy only), "similarity"
        how similar two or three items are, "pairwise" how similar two items are, "relative" which
        of two items a third is more like (default strategy only). The last three do not name
        clusters, so the numbers of clusters are arbitrary. `sessions.create` has the same
        parameter with the default "group".
    budget : int or None, default=None
        Maximum number of different questions; None leaves it to the strategy.
    levels : int or None, default=None
        Number of points of the answers' scale; None for exact answers. For the default strategy
        only; those of the paper assume exact answers.
    repeats : int, default=1
        Maximum mean number of times that a question is asked. The default strategy repeats a
        question where that is worth more than a new one; those of the paper repeat every question
        and average.
    fuzzifier : float, default=2.0
        Alpha of the target clustering, at least 1 (1 for hard clusters).
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" scales every item to length 1, in `fit` and in all methods that take items, so that
        only directions count (squared distances are then 2 - 2 cos); centres are means of such
        items, shorter than 1. A row of zeros stays.
    memory : int, str or None, default=None
        Approximate memory for data on disk, in bytes or as a text ("2GiB"); None is "1GiB". A
        `numpy.memmap` counts as data on disk if `memory` is set.
    random_state : int, numpy Generator, RandomState or None, default=None
        Randomness of the choice of questions; an int makes it reproducible.
    verbose : bool, default=False
        Show a progress bar of the answers in a terminal.

    Attributes
    ----------
    n_clusters_ : int
        Number of clusters: `n_clusters`, or with "auto" as many as the answers name.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres.
    memberships_ : ndarray of shape (n_items, n_clusters)
        Memberships. Answers are kept exactly, unless `levels` or `repeats` show that they are
        noisy. Rows sum to one with the probability that an item belongs to none of the clusters,
        which is 0 unless the oracle answers so.
    confidence_ : ndarray of shape (n_items,) or None
        The probability that an item's label is right: 1 where an annotator decided and none
        contradicts. None with a strategy of the paper, without an oracle, and for data that is
        not in memory.
    labels_ : ndarray of shape (n_items,)
        The cluster with the largest membership; ties go to the nearest centre. -1, as in
        scikit-learn's DBSCAN, where an item more probably belongs to none of the clusters.
    n_queries_ : int
        Number of different questions.
    n_queries_raw_ : int
        Number of questions including repetitions.
    n_rounds_ : int
        Number of batches with new questions.
    complete_ : bool
        Whether the strategy ended by itself.
    history_ : Answers
        Every answer: round, kind, items, cluster, repeat, value, annotator. The value of a group
        question is a tuple with a share for each cluster.
    diagnostics_ : dict
        Estimated errors and further diagnostics; the documentation lists the keys.
    index_ : pandas.Index
        The index of X, if that was a data frame.
    n_features_in_ : int
        Number of features in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features in `fit`, if all are strings.

    See Also
    --------
    FuzzyKMeans : The same model without questions.

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

    def fit(
        self, X: Any, y: Any = None, *, answers: Any = (), examples: Any = None, advice: Any = None
    ) -> Self:
        """Ask questions and compute centres and memberships.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            The items: an array, a memory map, nested lists or a pandas, polars or pyarrow table; a
            Dask array or data frame; or the path of a .npy or Parquet file or of a folder of these.
            Up to 50,000 random rows of out-of-core data are candidates for questions, and
            `memberships_` of the others are predicted when they are read.
        y : array-like of shape (n_items,) or (n_items, n_clusters), default=None
            Labels or memberships, the answers with ``oracle="y"``; otherwise ignored.
        answers : sequence of Answer, default=()
            Answers from before, of any kind and by any number of annotators, such as `history_` or
            a crowd's pairs. They cost no budget, and their questions are not asked again; without
            an oracle the result rests on them. For the default strategy and data in memory.
        examples : tuple of (features, labels or memberships) or None, default=None
            Rows with known memberships that are not rows of X, such as the encoded names of the
            clusters: features of shape (m, n_features), and labels of shape (m,) or memberships of
            shape (m, n_clusters). They cost no budget. How much they count follows from how well
            the answers agree with them. For the default strategy, and questions that name clusters.
        advice : dict of str to array-like of shape (n_items, n_clusters) or None, default=None
            Memberships by advisers of unknown reliability, such as another classifier, by name; a
            row of NaN is silent. The answers weigh each adviser.

        Returns
        -------
        self : ActiveFuzzyKMeans
            The fitted estimator.

        Raises
        ------
        ParameterError
            If a parameter is invalid; a ParameterTypeError if the oracle is no oracle.
        DataError
            If X is invalid.
        OracleError
            If the oracle fails; its attribute `result` is the best result so far.
        """
        from askmeans.driver import run
        from askmeans.estimators.evidence import (
            check_advice,
            check_answers,
            check_evidence,
            check_examples,
            result_without_questions,
        )
        from askmeans.queries import Answers
        from askmeans.spec import as_seed

        spec = self._spec()
        check_metric(self)
        has_evidence = examples is not None or advice is not None
        if has_evidence:
            check_evidence(self, spec)
        has_evidence |= len(answers) > 0
        oracle = self._oracle(y)
        engine = None
        if is_out_of_core(self, X):
            engine = as_engine(self, X)
            n_items, features = engine.n_rows, check_features(self, engine, reset=True)
        else:
            items, features = check_items(self, X)
            n_items = len(items)
        rng = as_generator(self.random_state, "ActiveFuzzyKMeans")
        check_enough_items(n_items, spec.n_clusters, "ActiveFuzzyKMeans")
        self._check_table(oracle, n_items)
        known = Answers()
        if len(answers):
            known = check_answers(self, spec, answers, n_items, in_memory=engine is None)
        seed = self.random_state if isinstance(self.random_state, Integral) else rng
        rows = None
        if engine is not None:
            from askmeans.tables.large import candidate_rows

            rows = candidate_rows(n_items, as_seed(seed, "ActiveFuzzyKMeans"))
            items = engine.take(rows)[0]
        if oracle is None and not has_evidence:
            with default_float_errors():
                result = unsupervised(self, items, rng, engine)
        else:
            spec = replace(spec, seed=as_seed(seed, "ActiveFuzzyKMeans"))
            plan: Any = (
                spec.make_growing(items, _max_clusters(oracle, len(items)))
                if self.n_clusters == "auto"
                else spec.make(items)
            )
            if examples is not None:
                plan.examples = check_examples(self, features, examples, spec.n_clusters)
            if advice is not None:
                tables = check_advice(advice, n_items, spec.n_clusters)
                plan.advice = tables if rows is None else tuple(t.among(rows) for t in tables)
            ask = partial(
                run, plan, budget=self.budget, progress=bool(self.verbose), ledger=known.ledger()
            )
            if oracle is None:
                result = result_without_questions(plan, known)
            else:
                result = ask(oracle) if rows is None else run_about_candidates(ask, oracle, rows)
        attributes = attributes_of(result)
        if rows is not None:
            attributes |= attributes_of_all(engine, attributes, rows)
        else:
            attributes["labels_"] = strongest(
                attributes["memberships_"], items, attributes["cluster_centers_"]
            )
        set_attributes(self, X, features | attributes)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int32]:
        """Ask questions and return `labels_`.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            The items, as `fit` takes them.
        y : array-like of shape (n_items,) or (n_items, n_clusters), default=None
            Labels or memberships, the answers with ``oracle="y"``.

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
        """Predict the strongest cluster of each item.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            Items, new or old.

        Returns
        -------
        ndarray of shape (n_items,)
            Numbers of clusters, -1 for none of them, as in `labels_`.
        """
        if (engine := self._out_of_core(X)) is not None:
            labels: NDArray[np.int32] = engine.lazy(
                Strongest(self._row_predictor(), self.cluster_centers_), None, np.int32
            )
            return labels
        return strongest(self.predict_proba(X), check_new_items(self, X), self.cluster_centers_)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict memberships by the fitted models.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            Items, new or old; the answers about old ones are not used.

        Returns
        -------
        ndarray of shape (n_items, n_clusters)
            Memberships; every row sums to one with the probability of none of the clusters.
        """
        if (engine := self._out_of_core(X)) is not None:
            lazy: NDArray[np.float64] = engine.lazy(
                self._row_predictor(), len(self.cluster_centers_), np.float64
            )
            return lazy
        memberships: NDArray[np.float64] = self._predictor(check_new_items(self, X))
        return memberships

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:  # noqa: ARG002 - scikit-learn's signature
        """Return minus the fuzzy k-means objective of these items at the fitted centres.

        The larger, the better. It ignores the answers; `askmeans.metrics` compares memberships.

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
            Minus the objective, with closed-form memberships; at fuzzifier 1 that of k-means.
        """
        from askmeans.fuzzy import lloyd

        if (engine := self._out_of_core(X, sample_weight)) is not None:
            fuzzifier = max(float(self.fuzzifier), 1.0 + 1e-9)  # at 1 all but k-means itself
            return -lloyd.objective(engine, self.cluster_centers_, fuzzifier, np.empty(0))
        items = check_new_items(self, X)
        weights = as_weights(sample_weight, len(items))
        if self.fuzzifier == 1.0:
            nearest = np.square(lloyd.distances(items, self.cluster_centers_).min(axis=1))
            return -float(nearest @ weights if len(weights) else nearest.sum())
        return -lloyd.objective(items, self.cluster_centers_, float(self.fuzzifier), weights)

    def _row_predictor(self) -> RowPredictor:
        """Return a predictor of rows without queried ones."""
        none = np.empty(0, dtype=np.intp)
        memberships = np.empty((0, len(self.cluster_centers_)))
        return RowPredictor(predictor=self._predictor, queried=none, memberships=memberships)

    def _spec(self) -> "PlanSpec":
        """Check the parameters before the data."""
        from askmeans.spec import PlanSpec

        names = [field.name for field in fields(PlanSpec) if field.name != "seed"]
        parameters = {name: getattr(self, name) for name in names}
        if self.n_clusters == "auto":
            if self.oracle is None or self.ask != "group":
                raise ParameterError(
                    "The 'n_clusters' parameter of ActiveFuzzyKMeans must be a number without an "
                    'oracle and ask="group". Got "auto" instead; pass oracle=... and ask="group".'
                )
            parameters["n_clusters"] = _FIRST
        return PlanSpec.checked("ActiveFuzzyKMeans", **parameters)

    def _oracle(self, y: Any) -> Any:
        """Return the oracle, or one that answers by y; None for an unsupervised fit."""
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
            lacking = int(least) - known.shape[1]  # a fold may lack some clusters
            return TableOracle(np.pad(known, ((0, 0), (0, lacking)))) if lacking > 0 else table
        if self.oracle is not None:
            check_oracle(self.oracle, "ActiveFuzzyKMeans")
        return self.oracle

    def _check_table(self, oracle: Any, n_items: int) -> None:
        """Refuse a table of other items or clusters; with groups, further columns are "none"."""
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


def _max_clusters(oracle: Any, n_items: int) -> int:
    """The maximum number of clusters: the number of items, or of a table's columns."""
    known = getattr(oracle, "memberships", None)
    return n_items if known is None else min(n_items, np.shape(known)[1])
