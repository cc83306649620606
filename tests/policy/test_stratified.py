"""The default policy: symmetries, replay, stopping, answers that stand, and what it promises."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from last_bits import same_but_for_rounding
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.preprocessing import scale
from soaking import in_soak
from strange_oracles import Nobody, Silent

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, Stratified, run
from askmeans.exceptions import MissingClusterWarning
from askmeans.fuzzy.items import as_items
from askmeans.metrics import membership_error
from askmeans.oracles import NoisyOracle, QuantizedOracle, TableOracle
from askmeans.policy import stratified
from askmeans.policy.evidence import evidence_of
from askmeans.queries import GroupQueries, Ledger, MembershipQueries, batches_of
from askmeans.spec import PlanSpec

LOADERS = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}


def ask(
    X, oracle, k, *, seed=0, fuzzifier=2.0, max_items=20, precision=1e-9, target=None, **options
):
    policy = Stratified(max_items=max_items, precision=precision, target=target).policy(
        X, k, fuzzifier=fuzzifier, rng=np.random.default_rng(seed)
    )
    if isinstance(oracle, np.ndarray):
        oracle = TableOracle(oracle)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingClusterWarning)
        return run(policy, oracle, **options)


def check_valid(clustering, n, k, d):
    assert clustering.centers.shape == (k, d)
    assert np.isfinite(clustering.centers).all()
    assert clustering.memberships.shape == (n, k)
    assert (clustering.memberships >= 0.0).all()
    assert (clustering.memberships <= 1.0).all()
    assert_allclose(clustering.memberships.sum(axis=1) + clustering.unassigned, 1.0, atol=1e-9)


def questions(result):
    return [(a.round, a.items, a.cluster) for a in result.history]


@pytest.fixture(scope="module")
def target(fuzzy_target):
    return fuzzy_target(60, 3, seed=1)


def test_a_replayed_ledger_asks_nothing_new_and_gives_the_same(target):
    X, U = target
    ledger = Ledger()
    first = ask(X, U, 3, ledger=ledger)
    again = ask(X, Nobody(), 3, ledger=ledger)
    assert again.n_queries == 0
    assert_allclose(again.clustering.memberships, first.clustering.memberships, atol=0.0)
    same_but_for_rounding(again.clustering.diagnostics, first.clustering.diagnostics)


def test_a_stopped_run_goes_on_from_its_ledger_as_if_never_stopped(target):
    X, U = target
    whole = ask(X, U, 3)
    ledger = Ledger()
    ask(X, U, 3, ledger=ledger, budget=whole.n_queries // 2)
    rest = ask(X, U, 3, ledger=ledger)
    assert rest.n_queries == whole.n_queries - whole.n_queries // 2
    assert_allclose(rest.clustering.memberships, whole.clustering.memberships, atol=0.0)


@pytest.mark.parametrize("share", [in_soak(0.0), 0.3, in_soak(1.0)])
def test_stopping_after_any_number_of_answers_gives_a_valid_clustering(target, share):
    X, U = target
    oracle = Silent(U, share)
    whole = ask(X, oracle, 3)
    for budget in [*range(6), *range(6, whole.n_queries, 12)]:
        result = ask(X, oracle, 3, budget=budget)
        check_valid(result.clustering, 60, 3, 2)
        assert result.n_queries == min(budget, whole.n_queries)
        assert questions(result) == questions(whole)[:budget]
        for answer in result.history:
            if not np.isnan(answer.value):
                found = result.clustering.memberships[answer.items[0], answer.cluster]
                assert found == answer.value
        assert result.clustering.diagnostics.stopped == "budget"
    assert len({a.items for a in whole.history}) <= 20
    assert not whole.complete
    assert whole.clustering.diagnostics.stopped == "max_items"


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    n=st.integers(1, 25),
    k=st.integers(1, 5),
    fuzzifier=st.sampled_from([1.0, 1.1, 2.0, 7.0]),
    share=st.sampled_from([0.0, 0.3, 1.0]),
    budget=st.one_of(st.none(), st.integers(0, 60)),
)
def test_whatever_comes_the_clustering_is_valid(seed, n, k, fuzzifier, share, budget):
    k = min(k, n)
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, 2)).astype(float)  # many items coincide
    U = rng.dirichlet(np.full(k, 0.3), size=n).round(1)  # no order at all, and many zeros
    U[:, -1] = np.clip(1.0 - U[:, :-1].sum(axis=1), 0.0, 1.0)
    result = ask(X, Silent(U, share, seed), k, seed=seed, fuzzifier=fuzzifier, budget=budget)
    check_valid(result.clustering, n, k, 2)
    predicted = result.clustering.predictor(X)
    assert predicted.shape == (n, k)
    assert (predicted >= 0.0).all()
    assert (predicted.sum(axis=1) <= 1.0 + 1e-9).all()
    assert result.n_queries <= (n * k if budget is None else budget)


@settings(max_examples=2, deadline=None)
@given(seed=st.integers(0, 2**16))
def test_permuting_items_permutes_the_questions_and_the_result(fuzzy_target, seed):
    X, U = fuzzy_target(60, 3, seed=seed)
    rows = np.random.default_rng(seed).permutation(60)
    here, there = ask(X, U, 3, budget=30), ask(X[rows], U[rows], 3, budget=30)
    assert {(rows[a.items[0]], a.cluster) for a in there.history} == {
        (a.items[0], a.cluster) for a in here.history
    }
    assert_allclose(there.clustering.memberships, here.clustering.memberships[rows], atol=1e-3)


# Rows of such answers may well sum to nothing.
@pytest.mark.filterwarnings("ignore::askmeans.exceptions.MoreClustersWarning")
@pytest.mark.parametrize("seed", [0, in_soak(1), in_soak(2)])
def test_noisy_answers_outside_the_unit_interval_give_a_valid_clustering(target, seed):
    X, U = target
    oracle = NoisyOracle(TableOracle(U), std=0.4, clip=False, random_state=seed)
    check_valid(ask(X, oracle, 3, seed=seed).clustering, 60, 3, 2)


def test_the_likeliest_cluster_is_asked_first_so_hard_labels_cost_little_more_than_one_each():
    X, y = load_iris(return_X_y=True)
    result = ask(scale(X), np.eye(3)[y], 3, max_items=40, target=1e-6)
    assert len({a.items for a in result.history}) == 40
    assert result.n_queries <= 1.5 * 40  # in a fixed order it would be 67


def test_an_entry_is_not_asked_when_nothing_of_its_row_is_left_but_in_a_few_whole_rows(target):
    X, U = target
    known: dict[int, dict[int, tuple[int, float]]] = {}
    whole = set()
    for answer in ask(X, U, 3).history:
        row = known.setdefault(answer.items[0], {})
        before = [value for round_, value in row.values() if round_ < answer.round]
        if sum(before) > 0.95 + 1e-9 or len(before) == 2:
            whole.add(answer.items[0])
        row[answer.cluster] = answer.round, answer.value
    assert len(whole) <= 3 + sum(map(len, known.values())) // 25  # for the annotator's scale


@pytest.mark.parametrize("d", [20, in_soak(300)])
@pytest.mark.parametrize("hard", [True, False])
def test_what_items_do_not_tell_is_estimated_as_such(d, hard):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, d))
    U = np.eye(3)[rng.integers(3, size=400)] if hard else rng.dirichlet(np.ones(3), size=400)
    result = ask(X, U, 3, max_items=None, budget=60).clustering
    error = np.abs(result.memberships - U).mean()
    assert error / 2 < result.diagnostics.estimated_error < 2 * error


def by_groups(X, y, budget):
    policy = Stratified(precision=1e-9, max_items=None).policy(
        X, y.max() + 1, fuzzifier=2.0, rng=np.random.default_rng(0), ask="group"
    )
    return run(policy, TableOracle.from_labels(y), budget=budget).clustering


def test_where_likely_no_item_is_wrong_there_may_be_some_all_the_same():
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    X = 8.0 * np.eye(3)[y] + rng.normal(size=(240, 3))
    found = by_groups(X, y, 40)
    assert (found.memberships.argmax(axis=1) == y).all()
    assert found.diagnostics.expected_wrong < 1.0
    assert found.diagnostics.expected_wrong_band[0] == 0
    assert 1 <= found.diagnostics.expected_wrong_band[1] < 0.05 * 240
    low, high = found.diagnostics.error_band
    assert low == 0.0
    assert found.diagnostics.estimated_error < high < 0.05


@pytest.mark.parametrize("shift", [1.0, 2.0])
def test_items_that_answers_of_all_or_nothing_get_wrong_are_expected(shift):
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 4))
    X[:, 0] += shift * y
    found = by_groups(X, y, 80)
    error = np.abs(found.memberships - np.eye(2)[y]).mean()
    assert error / 1.5 < found.diagnostics.estimated_error < 1.5 * error
    low, high = found.diagnostics.error_band
    assert 0.0 < low <= error <= high


def test_items_nobody_could_say_anything_of_do_not_end_it():
    rng = np.random.default_rng(0)
    U = rng.dirichlet(np.ones(3), size=200)
    table = np.where(rng.random((200, 1)) < 0.8, np.nan, U)
    X = rng.normal(size=(200, 3))
    result = ask(X, Silent(table, 0.0), 3, precision=0.15, max_items=None)
    told = {answer.items[0] for answer in result.history if not np.isnan(answer.value)}
    assert result.clustering.diagnostics.n_queried_items == len(told) >= 15


def test_a_cluster_too_many_costs_little():
    X, y = load_breast_cancer(return_X_y=True)
    U = np.eye(3)[y]  # the third has nobody in it
    result = ask(scale(X), U, 3, max_items=None, budget=100)
    assert (result.clustering.memberships.argmax(axis=1) == y).mean() > 0.97
    assert result.n_rounds < 25


def test_items_beyond_the_pool_are_estimated_when_the_whole_pool_is_asked(monkeypatch):
    monkeypatch.setattr("askmeans.policy.pool.LARGEST", 50)
    rng = np.random.default_rng(0)
    U = np.eye(2)[rng.integers(2, size=300)]
    result = ask(rng.normal(size=(300, 3)), U, 2, max_items=50).clustering
    error = np.abs(result.memberships - U).mean()
    assert error / 2 < result.diagnostics.estimated_error < 2 * error


def test_it_stops_when_the_estimated_error_is_small_enough_and_says_so():
    X = scale(load_wine().data)
    U = FuzzyKMeans(3, n_init=5, tol=1e-8, random_state=0).fit(X).memberships_
    result = ask(X, U, 3, precision=0.02, max_items=150)
    account = result.clustering.diagnostics
    assert result.complete
    assert account.stopped == "precision"
    assert result.n_queries < 100
    assert account.estimated_error < 0.02
    assert np.abs(result.clustering.memberships - U).mean() < 0.02
    assert sum(account.models.values()) == pytest.approx(1.0)
    assert account.n_queried_items == len({a.items for a in result.history})


def test_a_run_that_max_items_ended_is_not_complete():
    rng = np.random.default_rng(0)
    X, U = rng.normal(size=(60, 2)), rng.dirichlet(np.ones(2), size=60)  # the items tell nothing
    result = ask(X, U, 2, max_items=15, precision=0.005)
    assert result.clustering.diagnostics.estimated_error > 0.05
    assert not result.complete
    assert result.clustering.diagnostics.stopped == "max_items"


def test_a_run_that_asked_about_every_item_is_complete_whatever_the_estimate():
    rng = np.random.default_rng(0)
    X, U = rng.normal(size=(16, 2)), rng.dirichlet(np.ones(2), size=16)
    result = ask(X, Silent(U, 0.5), 2, max_items=None, precision=1e-12)
    assert result.clustering.diagnostics.estimated_error > 1e-3
    assert result.complete
    assert result.clustering.diagnostics.stopped == "items"


def test_a_pool_that_was_asked_about_is_not_everything(monkeypatch):
    monkeypatch.setattr("askmeans.policy.pool.LARGEST", 12)
    rng = np.random.default_rng(0)
    X, U = rng.normal(size=(40, 2)), rng.dirichlet(np.ones(2), size=40)
    result = ask(X, U, 2, max_items=None, precision=1e-12)
    assert len({answer.items for answer in result.history}) == 40
    assert result.complete
    assert result.clustering.diagnostics.stopped in ("items", "precision")  # all is known


BARS = {"iris": (40, 0.010), "wine": (40, 0.012), "cancer": (20, 0.020)}


@pytest.mark.parametrize("name", BARS)
def test_a_fuzzy_k_means_target_is_found_with_few_questions(name):
    budget, bar = BARS[name]
    X, y = LOADERS[name](return_X_y=True)
    X, k = scale(X), y.max() + 1
    U = FuzzyKMeans(k, n_init=5, tol=1e-8, random_state=0).fit(X).memberships_
    result = ask(X, U, k, max_items=None, budget=budget)
    assert np.abs(result.clustering.memberships - U).mean() <= bar


@pytest.mark.parametrize(("name", "least"), [("iris", 0.96), ("wine", 0.98)])
def test_labels_are_found_from_twenty_items(name, least):
    X, y = LOADERS[name](return_X_y=True)
    right = []
    for seed in range(3):
        rows = np.random.default_rng(seed).permutation(len(y))[: int(0.85 * len(y))]
        U = ask(scale(X)[rows], np.eye(3)[y[rows]], 3, max_items=20).clustering.memberships
        right.append((U.argmax(axis=1) == y[rows]).mean())
    assert np.mean(right) >= least  # measured over 8 such parts: .994, .993


def test_an_expert_who_weighs_features_is_understood_where_clustering_alone_is_not():
    X = scale(load_iris().data)
    weights = np.array([10.0, 1.0, 2.0, 4.0])
    U = FuzzyKMeans(3, n_init=5, tol=1e-8, random_state=0).fit(X * weights).memberships_
    alone = FuzzyKMeans(3, n_init=5, random_state=0).fit(X).memberships_
    best = min(np.abs(alone[:, list(p)] - U).mean() for p in itertools.permutations(range(3)))
    errors = [
        np.abs(ask(X, U, 3, max_items=None, budget=b).clustering.memberships - U).mean()
        for b in (40, 80)
    ]
    assert errors[0] < best / 3
    assert errors[1] <= errors[0] + 0.005  # more questions do not hurt


def test_an_unseen_cluster_is_told():
    X = np.random.default_rng(0).normal(size=(50, 2))
    U = np.tile([1.0, 0.0], (50, 1))
    plan = Stratified(max_items=10).policy(X, 2, fuzzifier=2.0, rng=np.random.default_rng(0))
    with pytest.warns(MissingClusterWarning, match="belongs to cluster 1"):
        result = run(plan, TableOracle(U))
    assert not result.complete


def test_many_items_are_learnt_from_a_part_of_them():
    rng = np.random.default_rng(0)
    truth = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    labels = rng.integers(3, size=6000)
    X = truth[labels] + rng.normal(size=(6000, 2))
    result = ask(X, np.eye(3)[labels], 3, max_items=15)
    assert (result.clustering.memberships.argmax(axis=1) == labels).mean() > 0.995
    assert_allclose(result.clustering.centers, [X[labels == j].mean(axis=0) for j in range(3)],
                    atol=0.1)  # fmt: skip


@pytest.mark.parametrize("route", ["similarity", "pairwise"])
def test_similarities_drive_it(route):
    X, y = load_iris(return_X_y=True)
    model = ActiveFuzzyKMeans(
        3, oracle=TableOracle.from_labels(y), strategy=Stratified(max_items=30), ask=route,
        random_state=0,
    ).fit(scale(X))  # fmt: skip
    from askmeans.metrics import matched_accuracy

    assert matched_accuracy(y, model.labels_) > 0.93


def test_plans_take_their_randomness_from_the_generator_alone(target):
    X, _ = target

    def first(seed):
        rng = np.random.default_rng(seed)
        return Stratified().policy(X, 3, fuzzifier=2.0, rng=rng).propose(20)

    assert first(3) == first(3)


# ---- noisy answers ----------------------------------------------------------------------------


def hidden(seed):
    """Iris as somebody sees it who knows all features; the plan sees half of them."""
    X = scale(load_iris().data)
    U = FuzzyKMeans(3, n_init=5, random_state=seed).fit(X).memberships_
    return X[:, ::2], U


def noisy_error(strategy, X, U, seed):
    oracle = NoisyOracle(TableOracle(U), std=0.2, random_state=seed)
    plan = strategy.policy(X, 3, fuzzifier=2.0, rng=np.random.default_rng(seed))
    return membership_error(U, run(plan, oracle, budget=80).clustering.memberships, how="mean")


@pytest.mark.soak
def test_noise_that_is_known_of_costs_less():
    errors = []
    for seed in range(100, 110):
        X, U = hidden(seed)
        errors.append([noisy_error(Stratified(noise=s), X, U, seed) for s in (0.0, 0.2, "auto")])
    plain, known, estimated = np.mean(errors, axis=0)
    assert known < plain - 0.005
    assert estimated < plain


def test_an_answer_on_a_scale_is_an_interval():
    X, U = hidden(0)
    oracle = QuantizedOracle(TableOracle(U), levels=5)
    plan = Stratified(levels=5).policy(X, 3, fuzzifier=2.0, rng=np.random.default_rng(0))
    result = run(plan, oracle, budget=60)
    found = result.clustering.memberships
    said = [(a.items[0], a.cluster, a.value) for a in result.history]
    away = np.array([found[item, cluster] - value for item, cluster, value in said])
    assert np.abs(away).max() > 0.01  # not at their word
    assert np.quantile(np.abs(away), 0.8) <= 0.13  # but within, as far as rows that sum to one go
    assert result.clustering.diagnostics.noise == pytest.approx(0.25 / 12**0.5)


def test_answers_that_differ_when_asked_again_show_their_noise():
    X, U = hidden(1)
    oracle = NoisyOracle(TableOracle(U), std=0.1, random_state=0)
    policy = Stratified().policy(X, 3, fuzzifier=2.0, rng=np.random.default_rng(0), repeats=4)
    result = run(policy, oracle)
    # Of a single answer; cut to [0, 1], it is a little less.
    assert 0.08 < result.clustering.diagnostics.noise < 0.11


def test_answers_about_items_outside_the_pool_lead_to_the_same_whenever_they_came(monkeypatch):
    monkeypatch.setattr("askmeans.policy.pool.LARGEST", 30)
    rng = np.random.default_rng(0)
    X, U = rng.normal(size=(60, 2)), rng.dirichlet(np.ones(2), size=60)

    def policy():
        return Stratified().policy(X, 2, fuzzifier=2.0, rng=np.random.default_rng(0))

    ledger, going_on = Ledger(), policy()
    going_on.propose(1)  # it has seen a time without them
    queries = MembershipQueries(np.arange(60), np.zeros(60, dtype=int))
    ledger.record(queries, TableOracle(U).answer(queries))
    resumed = policy()
    for each in (going_on, resumed):
        each.learn(ledger.history)
    assert going_on.propose(10) == resumed.propose(10)
    assert_allclose(going_on.clustering().memberships, resumed.clustering().memberships, atol=0.0)


def test_an_answer_between_milestones_makes_no_table_of_what_was_told(target, monkeypatch):
    counted = []

    def counting(answers, *rest):
        counted.append(len(answers))
        return evidence_of(answers, *rest)

    monkeypatch.setattr(stratified, "evidence_of", counting)
    X, U = target
    items, ledger = np.arange(60), Ledger()
    policy = Stratified().policy(X, 3, fuzzifier=2.0, rng=np.random.default_rng(0), ask="group")
    for item in items:
        ledger.record(GroupQueries([item], 3), U[[item]])
        policy.learn(ledger.history)
        first = policy.propose(1)
        assert policy.settled == (policy.batch_size == 0)
        assert policy.propose(1) == first
    assert counted == sorted(set(counted))  # once per milestone
    assert len(counted) < 15


@pytest.mark.parametrize("kind", ["group", "membership", "similarity", "relative"])
def test_blank_items_are_asked_about_after_all_others(kind):
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 12)
    X = np.eye(3)[labels] + 0.1 * rng.normal(size=(36, 3))
    blank = [0, 7, 14, 21, 28]
    X[blank] = X.mean(axis=0)  # in the middle, where texts without words are
    policy = PlanSpec.checked("me", n_clusters=3, ask=kind).make(as_items(X, blank))
    oracle, ledger = TableOracle.from_labels(labels), Ledger()
    for _ in range(25):
        policy.learn(ledger.history)
        for queries in batches_of(policy.propose(1), 3):
            assert not set(queries.item_table.ravel()) & set(blank), ledger
            ledger.record(queries, oracle.answer(queries))


def test_blank_items_are_asked_about_in_the_end():
    labels = np.repeat([0, 1], 6)
    X = np.eye(2)[labels] + 0.1 * np.random.default_rng(0).normal(size=(12, 2))
    policy = PlanSpec.checked("me", n_clusters=2, ask="group", budget=12).make(as_items(X, [3, 4]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asked = [a.items[0] for a in run(policy, TableOracle.from_labels(labels)).history]
    assert set(asked[-2:]) == {3, 4} or not {3, 4} & set(asked)
