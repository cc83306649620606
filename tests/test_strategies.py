"""Strategies: their defaults, what they refuse, and that every parameter reaches the plan."""

import dataclasses

import numpy as np
import pytest

from askmeans import Sequential, Stratified, TwoClusters, TwoPhase, oracles, run
from askmeans.exceptions import DataError, ParameterError

STRATEGIES = [Stratified, TwoPhase, Sequential, TwoClusters]
OF_THE_PAPER = [TwoPhase, Sequential, TwoClusters]
X = np.random.default_rng(0).normal(size=(200, 2))
U = np.clip(np.column_stack([0.5 + X[:, 0] / 4, 0.5 - X[:, 0] / 4]), 0.0, 1.0)


def plan(strategy, X=X, n_clusters=2, fuzzifier=2.0, rng=None):
    rng = np.random.default_rng(0) if rng is None else rng
    return strategy.plan(X, n_clusters, fuzzifier=fuzzifier, rng=rng)


def cost(strategy):
    """Raw questions by phase."""
    result = run(plan(strategy), oracles.TableOracle(U))
    return result.clustering.diagnostics.queries_raw


# ---- defaults ---------------------------------------------------------------------------------


def test_defaults_are_those_of_the_design():
    shared = {"sample_size": 100, "precision": 0.1, "order": "relative", "faithful": False}
    assert dataclasses.asdict(TwoPhase()) == shared
    assert dataclasses.asdict(Stratified()) == {
        "precision": 0.005, "target": None, "max_items": 100, "noise": 0.0, "levels": None,
    }  # fmt: skip
    assert dataclasses.asdict(TwoClusters()) == shared | {"bin_size": 50}
    assert dataclasses.asdict(Sequential()) == shared | {"bin_size": 50, "coarse_precision": 0.1}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_strategies_are_frozen_and_take_names_only(strategy):
    with pytest.raises(dataclasses.FrozenInstanceError):
        strategy().precision = 0.5
    with pytest.raises(TypeError):
        strategy(100)


# ---- parameters reach the plan ----------------------------------------------------------------


@pytest.mark.parametrize("strategy", OF_THE_PAPER)
def test_sample_size_is_how_many_items_are_asked_about_first(strategy):
    assert len(next(plan(strategy(sample_size=7)))) == 7  # of two memberships one follows
    assert len(next(plan(strategy(sample_size=7, faithful=True)))) == 14


@pytest.mark.parametrize("strategy", OF_THE_PAPER)
def test_precision_is_how_finely_is_searched(strategy):
    coarse = cost(strategy(precision=0.5, faithful=True))["search"]
    fine = cost(strategy(precision=0.02, faithful=True))["search"]
    # 2 or 50 thresholds for each of two clusters, and 7 or 8 questions for each.
    assert 2 * 2 * 7 <= coarse <= 2 * 2 * 8
    assert 2 * 50 * 7 <= fine <= 2 * 50 * 8


@pytest.mark.parametrize("strategy", OF_THE_PAPER)
def test_order_is_that_of_the_score_and_the_papers_when_faithful(strategy):
    def order(**parameters):
        made = run(plan(strategy(**parameters)), oracles.TableOracle(U)).clustering
        return made.predictor.scorer.order

    assert order() == "relative"
    assert order(order="distance") == "distance"
    assert order(faithful=True) == "distance"


@pytest.mark.parametrize("strategy", [Sequential, TwoClusters])
def test_bin_size_is_how_many_items_of_a_bin_are_asked_about(strategy):
    few = cost(strategy(bin_size=1, faithful=True))["bins"]
    many = cost(strategy(bin_size=20, faithful=True))["bins"]
    assert few < many
    assert cost(strategy(bin_size=200, faithful=True))["bins"] == 200  # all, each once


def test_coarse_precision_is_how_many_bins_there_are():
    wide = cost(Sequential(bin_size=1, coarse_precision=0.5, faithful=True))
    narrow = cost(Sequential(bin_size=1, coarse_precision=0.1, faithful=True))
    assert 2 <= wide["bins"] <= 3
    assert 5 <= narrow["bins"] <= 11
    assert wide["coarse search"] < narrow["coarse search"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_fuzzifier_is_how_memberships_weigh(strategy):
    soft, hard = [
        run(plan(strategy(), fuzzifier=alpha), oracles.TableOracle(U)).clustering.centers
        for alpha in (1.0, 8.0)
    ]
    # The larger the exponent, the more the centres are drawn to those that belong most.
    assert hard[0, 0] - hard[1, 0] > soft[0, 0] - soft[1, 0] + 0.5


# ---- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", OF_THE_PAPER)
@pytest.mark.parametrize("value", [0, -1, 2.5, None, "5", True])
def test_a_sample_size_must_be_a_whole_number_from_1_up(strategy, value):
    message = rf"'sample_size' parameter of {strategy.__name__} .*\[1, inf\).* Got {value!r}"
    with pytest.raises(ParameterError, match=message):
        strategy(sample_size=value)


@pytest.mark.parametrize("value", [0, -1, 2.5, "5", True])
def test_most_items_must_be_a_whole_number_from_1_up_or_none(value):
    assert Stratified(max_items=None).max_items is None
    message = rf"'max_items' parameter of Stratified .*\[1, inf\).* Got {value!r}"
    with pytest.raises(ParameterError, match=message):
        Stratified(max_items=value)


@pytest.mark.parametrize("strategy", [Sequential, TwoClusters])
def test_a_bin_size_must_be_a_whole_number_from_1_up(strategy):
    message = rf"'bin_size' parameter of {strategy.__name__} must be an int .*\[1, inf\).* Got 0"
    with pytest.raises(ParameterError, match=message):
        strategy(bin_size=0)


@pytest.mark.parametrize("value", [0.0, -0.1, 1.01, np.nan, np.inf, None, "a", True])
@pytest.mark.parametrize(
    ("strategy", "name"),
    [(Stratified, "precision"), (TwoPhase, "precision"), (Sequential, "precision"),
     (TwoClusters, "precision"), (Sequential, "coarse_precision")],
)  # fmt: skip
def test_a_precision_must_be_above_0_and_at_most_1(strategy, name, value):
    message = rf"'{name}' parameter of {strategy.__name__} .* \(0, 1\]. Got {value!r} instead"
    with pytest.raises(ParameterError, match=message):
        strategy(**{name: value})


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_numbers_of_numpy_are_numbers(strategy):
    size = "max_items" if strategy is Stratified else "sample_size"
    strategy(**{size: np.int64(5)}, precision=np.float32(0.5))
    assert strategy(precision=1).precision == 1


@pytest.mark.parametrize("strategy", OF_THE_PAPER)
def test_an_unknown_order_is_refused_with_those_there_are(strategy):
    message = rf"'order' parameter of {strategy.__name__} .*'relative', 'distance'.* Got 'random'"
    with pytest.raises(ParameterError, match=message):
        strategy(order="random")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_clusters": 0}, ParameterError, r"'n_clusters' .*\[1, inf\). Got 0"),
        ({"n_clusters": 2.0}, ParameterError, r"'n_clusters' .* an int .* Got 2.0"),
        ({"n_clusters": 201}, ParameterError, r"'n_clusters' .* at most n_samples=200. Got 201"),
        ({"fuzzifier": 0.5}, ParameterError, r"'fuzzifier' .*\[1, inf\). Got 0.5"),
        ({"rng": 0}, ParameterError, r"'rng' .* numpy.random.Generator. Got 0 instead"),
        ({"X": [[np.nan], [1.0]]}, DataError, "X must be finite"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_before_any_question(
    strategy, arguments, error, message
):
    with pytest.raises(error, match=message):
        plan(strategy(), **arguments)


@pytest.mark.parametrize("n_clusters", [1, 3])
def test_two_clusters_are_two(n_clusters):
    message = rf"'n_clusters' parameter of TwoClusters must be 2. Got {n_clusters} .* Sequential"
    with pytest.raises(ParameterError, match=message):
        plan(TwoClusters(), n_clusters=n_clusters)
