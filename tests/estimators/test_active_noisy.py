"""ActiveFuzzyKMeans with noisy answers: repeats and scales, for every question and strategy."""

import warnings
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler
from soaking import in_soak

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, Stratified, TwoPhase
from askmeans.exceptions import MissingClusterWarning, ParameterError
from askmeans.metrics import membership_error
from askmeans.oracles import NoisyOracle, QuantizedOracle, TableOracle

X = StandardScaler().fit_transform(load_iris().data)
ASKS = ("membership", "similarity", "pairwise")
PAPER = {"two-phase": 3, "sequential": 3, "two-clusters": 2}


@cache
def target(k):
    return FuzzyKMeans(k, n_init=5, tol=1e-8, random_state=0).fit(X).memberships_


@pytest.fixture(scope="module")
def exact():
    """A fit whose answers are exact."""
    return fitted(TableOracle(target(3)))


def fitted(oracle, k=3, **parameters):
    return ActiveFuzzyKMeans(k, oracle=oracle, random_state=0, **parameters).fit(X)


def off(model, k=3):
    return membership_error(target(k), model.memberships_, how="mean")


# Pairs alone of three soft clusters leave memberships open, and say so.
@pytest.mark.filterwarnings("ignore:Pairs alone:askmeans.exceptions.LittleInformationWarning")
@pytest.mark.parametrize("strategy", PAPER)
@pytest.mark.parametrize("ask", ASKS)
def test_repeats_lessen_the_error_of_noisy_answers(strategy, ask):
    k = PAPER[strategy]
    oracle = NoisyOracle(TableOracle(target(k)), std=0.1)
    once = fitted(oracle, k, strategy=strategy, ask=ask)
    thrice = fitted(oracle, k, strategy=strategy, ask=ask, repeats=3)
    assert off(thrice, k) < 0.7 * off(once, k)
    assert {answer.repeat for answer in thrice.history_} == {0, 1, 2}
    assert thrice.diagnostics_["repeats"] == 3
    assert thrice.complete_


@pytest.mark.filterwarnings("ignore:Pairs alone:askmeans.exceptions.LittleInformationWarning")
@pytest.mark.parametrize("ask", ["membership", in_soak("similarity"), in_soak("pairwise")])
def test_repeats_lessen_the_error_of_the_default_strategy_too(ask):
    oracle = NoisyOracle(TableOracle(target(3)), std=0.1)
    thrice = fitted(oracle, ask=ask, repeats=3)
    assert off(thrice) < off(fitted(oracle, ask=ask))
    assert max(answer.repeat for answer in thrice.history_) >= 1


def test_answers_given_again_alike_are_believed_where_features_tell_otherwise():
    rng, groups = np.random.default_rng(0), np.arange(60) % 3
    items = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[groups] + rng.normal(size=(60, 2))
    U = np.eye(3)[groups]
    U[:9] = 0.5 * U[:9] + 0.5 * np.roll(U[:9], 1, axis=1)  # between two, and nothing shows it
    oracle = QuantizedOracle(NoisyOracle(TableOracle(U), std=0.1, random_state=0), levels=5)
    model = ActiveFuzzyKMeans(3, oracle=oracle, levels=5, repeats=3, budget=150, random_state=0)
    found = model.fit(items).memberships_
    assert membership_error(U[:9], found[:9], how="mean") < 0.2  # a third, if they were slips


@pytest.mark.filterwarnings("ignore:Pairs alone:askmeans.exceptions.LittleInformationWarning")
@pytest.mark.parametrize("ask", [ASKS[0], *map(in_soak, ASKS[1:])])
def test_levels_work_with_every_question(ask):
    oracle = QuantizedOracle(TableOracle(target(3)), levels=5)
    model = fitted(oracle, ask=ask, levels=5)
    assert_allclose(model.memberships_.sum(axis=1), 1.0)
    assert off(model) < 0.07


@pytest.mark.parametrize("strategy", PAPER)
def test_the_papers_strategies_refuse_levels_and_say_what_to_do(strategy):
    rule = r"'levels'.*assumes exact answers.*use the default strategy"
    with pytest.raises(ParameterError, match=rule):
        fitted(TableOracle(target(2)), 2, strategy=strategy, levels=5)


@pytest.mark.soak
def test_levels_and_repeats_together():
    oracle = QuantizedOracle(NoisyOracle(TableOracle(target(3)), std=0.1), levels=11)
    once, both = fitted(oracle), fitted(oracle, levels=11, repeats=3)
    assert off(both) < 0.5 * off(once)
    assert 0.07 < both.diagnostics_["noise"] < 0.14


@pytest.mark.parametrize("ask", [ASKS[0], *map(in_soak, ASKS[1:])])
@pytest.mark.parametrize("budget", [60, in_soak(150), in_soak(400)])
def test_a_budget_is_a_ceiling_for_repeats_too(ask, budget):
    oracle = NoisyOracle(TableOracle(target(3)), std=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a small budget may miss a cluster
        model = fitted(oracle, ask=ask, repeats=3, budget=budget)
    assert model.n_queries_ <= budget
    assert_allclose(model.memberships_.sum(axis=1), 1.0)


def test_noise_does_not_hide_that_answers_are_all_but_hard_from_when_to_stop():
    # No mistake among 16 items is no precision of .005, whether answers are exact or noisy.
    X = StandardScaler().fit_transform(load_wine().data)
    mixture = GaussianMixture(3, covariance_type="diag", n_init=3, random_state=0).fit(X)
    oracle = NoisyOracle(TableOracle(mixture.predict_proba(X)), std=0.1, random_state=0)
    model = ActiveFuzzyKMeans(
        3, oracle=QuantizedOracle(oracle, levels=5), levels=5, repeats=3, budget=60, random_state=0
    ).fit(X)
    assert model.n_queries_ == 60


def test_exact_answers_repeated_stand_as_given(exact):
    twice = fitted(TableOracle(target(3)), repeats=2)
    for answer in twice.history_:
        assert twice.memberships_[answer.items[0], answer.cluster] == answer.value
    assert "noise" not in twice.diagnostics_
    assert exact.n_queries_ <= twice.n_queries_ <= 2 * exact.n_queries_


def test_the_same_seed_gives_the_same_result_and_clones_fit():
    oracle = NoisyOracle(TableOracle(target(3)), std=0.1)
    model = fitted(oracle, repeats=2, budget=30)
    again = clone(model).fit(X)
    assert (again.memberships_ == model.memberships_).all()
    assert list(again.history_) == list(model.history_)


def test_a_generator_moves_on_between_fits():
    rng = np.random.default_rng(0)
    oracle = NoisyOracle(TableOracle(target(3)), std=0.1)
    model = ActiveFuzzyKMeans(3, oracle=oracle, repeats=2, budget=20, random_state=rng)
    first = model.fit(X).history_
    assert list(first) != list(model.fit(X).history_)


def test_contradictions_are_listed_where_answers_are_noisy(exact):
    class Slips:
        def answer(self, queries):
            truth = TableOracle(target(3)).answer(queries)
            return np.where((queries.items % 4 == 0) & (queries.repeat == 0), 1.0 - truth, truth)

    model = fitted(Slips(), repeats=3)
    found = model.diagnostics_["contradictions"]
    assert found
    for one in found:
        assert any(model.history_[place].items[0] % 4 == 0 for place in one["answers"])
    assert "contradictions" not in exact.diagnostics_


def test_a_strategy_that_says_what_it_expects_is_left_so():
    oracle = QuantizedOracle(TableOracle(target(3)), levels=5)
    model = fitted(oracle, strategy=Stratified(noise=0.05), levels=5, budget=30)
    assert model.diagnostics_["noise"] == 0.05


def test_a_strategy_of_ones_own_is_repeated_as_it_is():
    class Mine:
        def plan(self, X, n_clusters, *, fuzzifier, rng):
            return TwoPhase(sample_size=20).plan(X, n_clusters, fuzzifier=fuzzifier, rng=rng)

    oracle = NoisyOracle(TableOracle(target(3)), std=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingClusterWarning)
        model = fitted(oracle, strategy=Mine(), repeats=2)
    assert model.diagnostics_["repeats"] == 2


@pytest.mark.parametrize(
    "scale",
    [
        in_soak(lambda shares: np.minimum(shares + 0.2, 1.0)),
        lambda shares: 0.25 + 0.5 * shares,
        in_soak(lambda shares: 0.1 + 0.8 * shares),
        in_soak(np.sqrt),
    ],
    ids=["raised", "the middle half", ".1 to .9", "square roots"],
)
def test_answers_on_a_crooked_scale_cost_little(scale):
    class Crooked(TableOracle):
        def answer(self, queries):
            return scale(super().answer(queries))

    U = target(3)
    clean, crooked = (
        off(ActiveFuzzyKMeans(3, oracle=oracle, budget=90, random_state=0).fit(X[:, ::2]))
        for oracle in (TableOracle(U), Crooked(U))
    )
    assert crooked < 1.35 * clean + 0.015


def test_two_soft_clusters_on_a_scale_that_avoids_its_ends_cost_little():
    items = np.random.default_rng(0).normal(size=(300, 5))
    first = 1.0 / (1.0 + np.exp(-items @ np.linspace(0.4, 1.2, 5)))
    U = np.column_stack([first, 1.0 - first])
    model = ActiveFuzzyKMeans(2, oracle=TableOracle(0.1 + 0.8 * U), budget=60, random_state=0)
    error = membership_error(U, model.fit(items).memberships_, how="mean")
    assert error < 0.015
