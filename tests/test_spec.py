"""One record of what decides which questions come: rules, JSON, and the plan or policy it makes."""

from dataclasses import fields

import numpy as np
import pytest

from askmeans import Sequential, Stratified, TwoClusters, TwoPhase, run
from askmeans.exceptions import BudgetError, ParameterError
from askmeans.oracles import NoisyOracle, TableOracle
from askmeans.paper import repeated
from askmeans.spec import ASK, PlanSpec, default_ask

GOOD = {"n_clusters": 3, "ask": "similarity", "budget": 100, "levels": 5, "fuzzifier": 2.0}
X = np.random.default_rng(1).normal(size=(50, 2))
U = np.random.default_rng(2).dirichlet(np.ones(3), size=50)


def spec(**options):
    given = {"n_clusters": 3, "strategy": TwoPhase(sample_size=5)}
    return PlanSpec.checked("Somebody", **(given | options))


def first_batch(**options):
    return next(spec(**options).make(X))


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


def test_the_default_strategy_is_a_policy_for_memberships():
    policy = spec(strategy="auto").make(X)
    assert {question.kind for question in policy.propose(3)} == {"membership"}


def test_the_default_strategy_asks_for_groups_as_whole_rows():
    policy = spec(strategy="auto", ask="group").make(X)
    assert {question.kind for question in policy.propose(3)} == {"group"}
    result = run(policy, TableOracle(U), budget=9)
    assert [len(answer.value) for answer in result.history] == [3] * 9
    assert {answer.cluster for answer in result.history} == {None}


@pytest.mark.parametrize("strategy", ["two-phase", Sequential(), "two-clusters"])
def test_the_papers_strategies_refuse_groups(strategy):
    with pytest.raises(ParameterError, match=r"'ask' parameter of Somebody .* Got 'group'"):
        spec(strategy=strategy, ask="group")


@pytest.mark.parametrize(
    ("strategy", "ask"),
    [("auto", "group"), (Stratified(), "group"), ("two-phase", "membership"),
     (Sequential(), "membership")],
)  # fmt: skip
def test_people_are_asked_for_groups_where_the_strategy_can(strategy, ask):
    assert default_ask(strategy) == ask


def test_a_budget_makes_the_first_pool_smaller():
    noisy = {"ask": "similarity", "repeats": 2, "strategy": "two-phase"}
    assert len(first_batch(**noisy, budget=120)) < len(first_batch(**noisy))
    with pytest.raises(BudgetError, match="at least 56"):
        first_batch(**noisy, budget=20)


def test_answers_may_be_all_or_nothing_until_one_is_not():
    assert len(first_batch(ask="similarity", budget=20)) == 1


def test_a_budget_takes_the_place_of_max_items():
    rng = np.random.default_rng(0)
    X, U = rng.normal(size=(40, 2)), rng.dirichlet(np.ones(2), size=40)  # the items tell nothing
    given = {"strategy": Stratified(max_items=10), "n_clusters": 2}
    limited = run(spec(**given).make(X), TableOracle(U))
    assert len({answer.items for answer in limited.history}) == 10
    assert limited.clustering.diagnostics.stopped == "max_items"
    result = run(spec(budget=25, **given).make(X), TableOracle(U), budget=25)
    assert result.n_queries == 25
    assert result.clustering.diagnostics.stopped == "budget"


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_clusters", 0), ("n_clusters", 2.5), ("ask", "guess"), ("budget", 0), ("levels", 1),
        ("fuzzifier", 0.9), ("repeats", 0), ("seed", -1), ("strategy", "clever"),
    ],
)  # fmt: skip
def test_a_parameter_that_breaks_its_rule_is_named_with_its_owner(parameter, value):
    PlanSpec.checked("Somebody", **GOOD)
    with pytest.raises(ParameterError, match=f"The '{parameter}' parameter of Somebody must be"):
        PlanSpec.checked("Somebody", **(GOOD | {parameter: value}))


@pytest.mark.parametrize("ask", ASK)
@pytest.mark.parametrize("strategy", ["two-phase", "sequential", TwoClusters()])
def test_the_papers_strategies_take_answers_at_their_word(strategy, ask):
    with pytest.raises(ParameterError, match=r"levels.*use the default strategy"):
        spec(strategy=strategy, ask=ask, levels=5)


def test_repeats_of_the_papers_strategies_average_each_question():
    oracle = NoisyOracle(TableOracle(U), std=0.1, random_state=0)
    found = run(spec(repeats=3, seed=4).make(X), oracle)
    plan = TwoPhase(sample_size=5).plan(X, 3, fuzzifier=2.0, rng=np.random.default_rng(4))
    by_hand = run(repeated(plan, 3), oracle)
    assert list(found.history) == list(by_hand.history)
    assert (found.clustering.memberships == by_hand.clustering.memberships).all()
    once = {(answer.items, answer.cluster) for answer in found.history}
    assert found.n_queries == 3 * len(once)


@pytest.mark.parametrize("strategy", ["auto", Stratified(noise=0.1)])
def test_json_and_back_is_the_same_and_makes_the_same(strategy):
    one = spec(strategy=strategy, ask="similarity", budget=70, repeats=2, seed=2**70)
    other = PlanSpec.from_json(one.to_json())
    assert other == one
    assert one.make(X).propose(5) == other.make(X).propose(5)


def test_numbers_of_numpy_become_plain_ones():
    made = spec(
        n_clusters=np.int64(3), budget=np.int32(9), fuzzifier=np.float32(2.0), strategy="auto"
    )
    assert PlanSpec.from_json(made.to_json()) == made
    assert [type(getattr(made, name)) for name in ("n_clusters", "budget")] == [int, int]


def test_older_and_newer_fields_are_tolerated():
    stored = spec(seed=7, strategy="auto").to_json()
    for field in fields(PlanSpec):
        if field.name != "n_clusters":
            older = {name: value for name, value in stored.items() if name != field.name}
            assert PlanSpec.from_json(older).n_clusters == 3
    assert PlanSpec.from_json(stored | {"of_tomorrow": [1, 2]}) == spec(seed=7, strategy="auto")


@pytest.mark.parametrize("kind", ["Clever", "TwoPhase", "PaperStrategy", ""])
def test_a_strategy_that_this_version_lacks_is_refused(kind):
    with pytest.raises(ParameterError, match="install the version"):
        PlanSpec.from_json({"n_clusters": 2, "strategy": {"kind": kind}})


def test_only_the_default_strategy_is_stored():
    class Mine:
        def plan(self, X, n_clusters, *, fuzzifier, rng):
            raise NotImplementedError

    for strategy in (Mine(), TwoPhase()):
        with pytest.raises(ParameterError, match="must be a Stratified"):
            spec(strategy=strategy).to_json()


@pytest.mark.parametrize(
    ("name", "strategy"),
    [
        ("auto", Stratified()),
        ("stratified", Stratified()),
        ("two-phase", TwoPhase()),
        ("sequential", Sequential()),
        ("two-clusters", TwoClusters()),
    ],
)
def test_a_name_is_the_strategy_with_its_defaults(name, strategy):
    assert spec(strategy=name).strategy == strategy


def test_whatever_makes_plans_is_a_strategy():
    class Mine:
        def plan(self, X, n_clusters, *, fuzzifier, rng):
            """Make no plan."""

    mine = Mine()
    assert spec(strategy=mine).strategy is mine


@pytest.mark.parametrize("name", ["two_phase", None, 3])
def test_an_unknown_name_is_refused_with_those_there_are(name):
    with pytest.raises(ParameterError, match=r"'strategy' parameter of Somebody .*'two-phase'"):
        spec(strategy=name)
