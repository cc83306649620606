"""Answers from before, examples and advice as `fit` takes them, beside the oracle's answers."""

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats
from askmeans._util.checks import check_name
from askmeans.estimators.base import check_new_items
from askmeans.exceptions import ParameterError
from askmeans.policy.advisers import Advice
from askmeans.policy.examples import Examples
from askmeans.queries import Answer, Answers
from askmeans.results import Result
from askmeans.spec import SIMILARITIES
from askmeans.strategies import Stratified

if TYPE_CHECKING:
    from askmeans.estimators.active_fuzzy_kmeans import ActiveFuzzyKMeans
    from askmeans.policy.stratified import StratifiedPolicy
    from askmeans.spec import PlanSpec


_OWNER = "ActiveFuzzyKMeans.fit"
_SLACK = 1e-6  # by which memberships of a row may exceed 1 together: rounding


def check_evidence(model: "ActiveFuzzyKMeans", spec: "PlanSpec") -> None:
    """Refuse examples and advice where questions do not name the clusters."""
    if model.n_clusters == "auto" or spec.ask in SIMILARITIES:
        raise ParameterError(
            f"The 'examples' and 'advice' parameters of {_OWNER} need a number of clusters that "
            f"questions name. Got n_clusters={model.n_clusters!r} and ask={spec.ask!r}; use a "
            'number, and ask="group" or "membership".'
        )
    if not isinstance(spec.strategy, Stratified):
        raise ParameterError(
            f"The 'examples' and 'advice' parameters of {_OWNER} need the default strategy. Got "
            f"{type(spec.strategy).__name__}, which learns from its own questions only; use "
            'strategy="auto".'
        )


def check_answers(
    model: "ActiveFuzzyKMeans", spec: "PlanSpec", answers: Any, n_items: int, *, in_memory: bool
) -> Answers:
    """The answers from before, as a table: shares of items and clusters that exist."""
    plain = in_memory and isinstance(spec.strategy, Stratified) and model.n_clusters != "auto"
    if not plain:
        raise ParameterError(
            f"The 'answers' parameter of {_OWNER} needs the default strategy, a number of clusters "
            f"and data in memory. Got strategy={model.strategy!r}, n_clusters={model.n_clusters!r}"
            f"{'' if in_memory else ' and data on disk'}."
        )
    for answer in answers:
        if not isinstance(answer, Answer):
            raise ParameterError(
                f"The 'answers' parameter of {_OWNER} must be a sequence of "
                f"askmeans.queries.Answer. Got {answer!r:.60} instead."
            )
        values = np.atleast_1d(answer.value)
        clusters = max(len(values), 1 + (answer.cluster or 0))
        inside = min(answer.items) >= 0 and max(answer.items) < n_items
        if not inside or clusters > spec.n_clusters or ((values < 0.0) | (values > 1.0)).any():
            raise ParameterError(
                f"The 'answers' parameter of {_OWNER} must have shares in [0, 1] of items from 0 "
                f"to {n_items - 1} and clusters from 0 to {spec.n_clusters - 1}. Got {answer}."
            )
    return Answers.of(answers, spec.n_clusters)


def check_examples(
    model: "ActiveFuzzyKMeans", features: Mapping[str, Any], examples: Any, n_clusters: int
) -> Examples:
    """The examples: rows with the features of the items, and their memberships."""
    if not isinstance(examples, tuple | list) or len(examples) != 2:
        raise ParameterError(
            f"The 'examples' parameter of {_OWNER} must be a pair: features (m, n_features), and "
            f"labels (m,) or memberships (m, n_clusters). Got {type(examples).__name__} instead."
        )
    probe = copy.copy(model)
    for name, value in features.items():
        setattr(probe, name, value)
    X = check_new_items(probe, examples[0]).astype(np.float64)
    Y = np.asarray(examples[1])
    if Y.ndim == 1:
        Y = _one_hot(Y, n_clusters)
    Y = _memberships(Y, "examples", (len(X), n_clusters))
    if np.isnan(Y).any():
        raise ParameterError(
            f"The 'examples' parameter of {_OWNER} must have memberships in [0, 1]. Got NaN; leave "
            "those rows out."
        )
    return Examples(X=X, Y=Y, weight=np.ones(len(X)))


def check_advice(advice: Any, n_items: int, n_clusters: int) -> tuple[Advice, ...]:
    """What each adviser says of the items."""
    if not isinstance(advice, Mapping):
        raise ParameterError(
            f"The 'advice' parameter of {_OWNER} must be a mapping of names to arrays of shape "
            f"(n_items, n_clusters). Got {type(advice).__name__} instead."
        )
    return tuple(
        Advice.of_table(
            check_name(name, "advice", _OWNER),
            np.arange(n_items),
            _memberships(table, "advice", (n_items, n_clusters)),
        )
        for name, table in advice.items()
    )


def result_without_questions(policy: "StratifiedPolicy", answers: Answers) -> Result:
    """The result from answers from before, examples and advice alone."""
    policy.learn(answers)
    return Result(
        clustering=policy.clustering(), n_queries=0, n_queries_raw=0, n_rounds=0, history=answers
    )


def _one_hot(labels: NDArray[Any], n_clusters: int) -> Floats:
    """Memberships of labels: numbers of clusters, or as many different labels, in their order."""
    names, numbers = np.unique(labels, return_inverse=True)
    are_numbers = np.issubdtype(labels.dtype, np.integer)
    numbers = labels if are_numbers else numbers
    if set(numbers.tolist()) - set(range(n_clusters)) or not (
        are_numbers or len(names) == n_clusters
    ):
        raise ParameterError(
            f"The labels of the 'examples' parameter of {_OWNER} must be numbers of clusters from "
            f"0 to {n_clusters - 1}, or {n_clusters} different labels, which are numbered in "
            f"sorted order. Got {', '.join(map(str, names[:8]))} instead."
        )
    return np.asarray(np.eye(n_clusters)[numbers])


def _memberships(table: Any, name: str, shape: tuple[int, int]) -> Floats:
    """A table of memberships of this shape, NaN where there are none."""
    try:
        U = np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"The '{name}' parameter of {_OWNER} must have numbers. Got '{error}' instead."
        ) from error
    if U.shape != shape:
        raise ParameterError(
            f"The '{name}' parameter of {_OWNER} must have memberships of shape {shape}. Got "
            f"shape {U.shape} instead; numpy.eye({shape[1]})[labels] makes them from labels."
        )
    known = U[~np.isnan(U).any(axis=1)]
    if ((known < 0.0) | (known > 1.0)).any() or (known.sum(axis=1) > 1.0 + _SLACK).any():
        worst = known[np.argmax(np.abs(known - 0.5).max(axis=1) + known.sum(axis=1))]
        raise ParameterError(
            f"The '{name}' parameter of {_OWNER} must have memberships in [0, 1] that sum to at "
            f"most 1 in each row. Got {np.round(worst, 3).tolist()}; divide rows by their sums."
        )
    return U
