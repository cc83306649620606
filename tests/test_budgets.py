"""Forecasts and plans: within the budget, monotone, and near what happens."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from soaking import in_soak

from askmeans import (
    FuzzyKMeans,
    Sequential,
    Stratified,
    TwoClusters,
    TwoPhase,
    budgets,
    oracles,
    run,
)
from askmeans.exceptions import BudgetError, ParameterError
from askmeans.policy.evidence import ANSWERS_A_WHOLE_ROW, WHOLE_ROWS


@given(
    budget=st.integers(1, 5000),
    n=st.integers(10, 10**6),
    k=st.integers(2, 8),
    ask=st.sampled_from(["membership", "similarity", "pairwise"]),
)
def test_a_plan_fits_its_budget_or_the_minimum_is_named(budget, n, k, ask):
    n = max(n, 3 * k)
    try:
        plan = budgets.plan_budget(budget, n, k, ask=ask)
    except BudgetError as error:
        least = int(re.search(r"at least (\d+) questions .* Got", str(error))[1])
        assert budget < least
        plan, budget = budgets.plan_budget(least, n, k, ask=ask), least
    assert plan.n_queries <= budget
    assert plan.strategy.max_items >= 3 * k


def sized(kind, budget, n, k):
    return budgets.plan_budget(budget, n, k, kind=kind).strategy


@pytest.mark.parametrize("kind", [TwoPhase, Sequential, TwoClusters])
def test_more_budget_never_means_a_smaller_sample(kind):
    sizes = [sized(kind, budget, 10_000, 2).sample_size for budget in range(100, 2000, 50)]
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0]


def test_more_budget_never_means_fewer_items_of_strata():
    sizes = [sized(Stratified, budget, 10_000, 3).max_items for budget in range(40, 900, 20)]
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0]


def test_the_stratified_strategy_costs_and_errs_no_more_than_forecast():
    X = make_blobs(1000, 4, centers=3, cluster_std=2.5, random_state=1)[0]
    target = FuzzyKMeans(3, n_init=3, random_state=0).fit(X).memberships_
    strategy = Stratified(max_items=40, precision=1e-9)
    expected = budgets.forecast(strategy, 1000, 3)
    result = run(
        strategy.plan(X, 3, fuzzifier=2.0, rng=np.random.default_rng(0)),
        oracles.TableOracle(target),
    )
    # Beside the forecast a few rows are asked whole, where answers do not reach both ends.
    whole = WHOLE_ROWS + expected.n_queries // ANSWERS_A_WHOLE_ROW
    assert 0.6 * expected.n_queries <= result.n_queries <= expected.n_queries + whole
    assert np.abs(result.clustering.memberships - target).mean() <= expected.expected_error
    assert result.n_rounds <= 2 * expected.n_rounds


def test_a_sequential_budget_too_small_names_its_own_minimum():
    with pytest.raises(BudgetError, match=r"at least \d+ questions for Sequential"):
        sized(Sequential, 50, 10_000, 4)


@pytest.mark.parametrize(("n", "k"), [(1000, 2), (1000, 4), in_soak(5000, 4)])
@pytest.mark.parametrize("m", [40, in_soak(120)])
def test_two_phase_costs_and_errs_about_as_forecast(n, k, m):
    X = make_blobs(n, 4, centers=k, cluster_std=2.5, random_state=1)[0]
    target = FuzzyKMeans(k, n_init=3, random_state=0).fit(X).memberships_
    strategy = TwoPhase(sample_size=m)
    expected = budgets.forecast(strategy, n, k)
    results = [
        run(
            strategy.plan(X, k, fuzzifier=2.0, rng=np.random.default_rng(seed)),
            oracles.TableOracle(target),
        )
        for seed in range(10)
    ]
    errors = [np.abs(r.clustering.memberships - target).mean() for r in results]
    counts = [r.n_queries for r in results]
    assert 0.6 < np.mean(counts) / expected.n_queries < 1.1
    assert 0.4 < np.mean(errors) / expected.expected_error < 1.5
    assert max(r.n_rounds for r in results) <= 2 * expected.n_rounds


def test_forecasts_never_ask_for_more_than_there_is():
    assert budgets.forecast(Sequential(sample_size=500, bin_size=500), 100, 3).n_queries <= 200


def test_samples_are_planned_no_larger_than_the_data():
    assert budgets.plan_budget(1500, 150, 3).strategy.max_items <= 150
    assert sized(TwoPhase, 1500, 150, 3).sample_size <= 150


def test_a_finer_precision_costs_more_and_a_faithful_strategy_is_not_forecast():
    coarse, fine = (budgets.forecast(TwoPhase(precision=p), 5000, 4).n_queries for p in (0.1, 0.02))
    assert 1.4 < fine / coarse < 2.0  # 530 questions were asked, where 352 are at .1
    with pytest.raises(ParameterError, match="faithful=False"):
        budgets.forecast(TwoPhase(faithful=True), 5000, 4)


def test_a_plan_within_budget_is_seldom_cut_off():
    X = make_blobs(800, 4, centers=3, cluster_std=2.5, random_state=1)[0]
    target = FuzzyKMeans(3, n_init=3, random_state=0).fit(X).memberships_
    strategy = sized(TwoPhase, 200, 800, 3)
    complete = [
        run(
            strategy.plan(X, 3, fuzzifier=2.0, rng=np.random.default_rng(seed)),
            oracles.TableOracle(target),
            budget=200,
        ).complete
        for seed in range(20)
    ]
    assert np.mean(complete) >= 0.9


def test_two_clusters_are_planned_for_two_only():
    with pytest.raises(ParameterError, match=r"'k' parameter of plan_budget must be 2"):
        sized(TwoClusters, 500, 1000, 3)
    assert isinstance(budgets.plan_budget(400, 10_000, 4).strategy, Stratified)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 100, 2), "'budget'"),
        ((10, 0, 2), "'n'"),
        ((10, 100, 0), "'k'"),
        ((1.5, 9, 2), "Got 1.5"),
    ],
)
def test_numbers_out_of_range_are_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        budgets.plan_budget(*arguments)


def test_a_budget_of_relative_questions_is_planned_for_the_strategy_that_asks_them():
    assert isinstance(budgets.plan_budget(200, 1000, 3, ask="relative").strategy, Stratified)


def test_a_group_question_costs_one_item_whatever_the_number_of_clusters():
    assert budgets.forecast(Stratified(max_items=40), 1000, 7, ask="group").n_queries == 40
    assert budgets.plan_budget(40, 1000, 7, ask="group").strategy == Stratified(max_items=40)
    with pytest.raises(BudgetError, match="at least 21 questions"):
        budgets.plan_budget(20, 1000, 7, ask="group")
    with pytest.raises(ParameterError, match="must not be 'group' with TwoPhase"):
        budgets.forecast(TwoPhase(), 1000, 3, ask="group")
