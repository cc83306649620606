"""From ask=, levels=, strategy= and budget= to a plan, for estimators and sessions alike."""

import numpy as np
import pytest

from askmeans import Stratified, TwoPhase, run
from askmeans.asking import check_asking, make_plan
from askmeans.exceptions import BudgetError, ParameterError
from askmeans.oracles import TableOracle

GOOD = {"n_clusters": 3, "ask": "similarity", "budget": 100, "levels": 5, "fuzzifier": 2.0}


def first_batch(**options):
    given = {"strategy": TwoPhase(sample_size=5), "ask": "membership", "budget": None,
             "levels": None, "fuzzifier": 2.0, "rng": np.random.default_rng(0)}  # fmt: skip
    X = np.random.default_rng(1).normal(size=(50, 2))
    return next(make_plan(X, options.pop("n_clusters", 3), **(given | options)))


@pytest.mark.parametrize(
    ("ask", "n_clusters", "kind"),
    [
        ("membership", 3, "membership"),
        ("similarity", 3, "pair"),
        ("pairwise", 3, "pair"),
        ("similarity", 2, "pair"),
    ],
)
def test_what_is_asked_is_asked(ask, n_clusters, kind):
    assert first_batch(ask=ask, n_clusters=n_clusters).kind == kind


def test_a_budget_makes_the_first_pool_smaller():
    rough = {"ask": "similarity", "levels": 5}
    assert len(first_batch(**rough, budget=60)) < len(first_batch(**rough))
    with pytest.raises(BudgetError, match="at least 56"):
        first_batch(**rough, budget=20)


def test_a_budget_takes_the_place_of_max_items():
    rng = np.random.default_rng(0)
    X, U = rng.normal(size=(40, 2)), rng.dirichlet(np.ones(2), size=40)  # the items tell nothing
    given = {"strategy": Stratified(max_items=10), "ask": "membership", "levels": None,
             "fuzzifier": 2.0, "rng": rng}  # fmt: skip
    limited = run(make_plan(X, 2, budget=None, **given), TableOracle(U))
    assert len({answer.items for answer in limited.history}) == 10
    assert limited.clustering.diagnostics["stopped"] == "max_items"
    result = run(make_plan(X, 2, budget=25, **given), TableOracle(U), budget=25)
    assert result.n_queries == 25
    assert result.clustering.diagnostics["stopped"] == "budget"


def test_answers_may_be_all_or_nothing_until_one_is_not():
    assert len(first_batch(ask="similarity", budget=20)) == 1


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_clusters", 0), ("n_clusters", 2.5), ("ask", "guess"), ("budget", 0), ("levels", 1),
        ("fuzzifier", 0.9),
    ],
)  # fmt: skip
def test_a_parameter_that_breaks_its_rule_is_named_with_its_owner(parameter, value):
    check_asking("Somebody", **GOOD)
    with pytest.raises(ParameterError, match=f"The '{parameter}' parameter of Somebody must be"):
        check_asking("Somebody", **(GOOD | {parameter: value}))
