"""Plans by similarities that are stopped, met with silence or played again: nothing is lost."""

import math
import warnings

import numpy as np
import pytest
from last_bits import same_but_for_rounding
from numpy.testing import assert_allclose
from similarity_runs import account, check_simplex, dirichlet, error, rows
from soaking import in_soak
from strange_oracles import Counting, Nobody

from askmeans import Sequential, Stratified, TwoClusters, TwoPhase, run
from askmeans.exceptions import (
    LittleInformationWarning,
    MissingClusterWarning,
    MoreClustersWarning,
    PlanError,
    StopAsking,
)
from askmeans.metrics import match_clusters, membership_error
from askmeans.oracles import TableOracle
from askmeans.paper import by_similarity
from askmeans.queries import Ledger, MembershipQueries, PairQueries
from askmeans.results import Clustering

# ---- stopping and silence ---------------------------------------------------------------------


@pytest.mark.parametrize("start", [0, in_soak(1), in_soak(2), in_soak(3)])
def test_a_stop_leaves_the_rows_that_the_answers_so_far_tell(start):
    U = dirichlet(3, seed=0, n=30)
    whole = rows(U)
    pairs = account(whole)["bootstrap_pairs"]
    for enough in [*range(start, whole.n_queries, 4), whole.n_queries]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LittleInformationWarning)  # few pairs leave much open
            result = rows(U, oracle=Counting(U, enough=enough))
        assert result.n_queries == enough
        seen, found = account(result), result.clustering.memberships
        assert seen["bootstrap_pairs"] + seen["row_pairs"] + seen["triplets"] == enough
        known = ~np.isnan(found).any(axis=1)
        if known.any():
            check_simplex(found[known])
        if enough < math.comb(6, 2):  # more than 2 k items must be comparable
            assert not known.any()
        elif enough >= pairs:
            assert known.sum() >= seen["pool"]
        if known.any() and "rotation_score" not in seen:  # pairs alone: within what they admit
            assert membership_error(U[known], found[known]) <= seen["ambiguity"] + 1e-9
        elif known.any():  # enough triplets were told
            assert membership_error(U[known], found[known]) < 1e-8
    assert known.all()


@pytest.mark.parametrize("k", [3, in_soak(4)])
@pytest.mark.parametrize("doubled", [in_soak(False), True])
def test_triplets_before_a_stop_count_where_they_fix_the_memberships(k, doubled):
    exact = 0
    for seed in range(10):
        U = dirichlet(k, seed, n=30)
        if doubled:  # items alike tell nothing new of each other
            U = np.repeat(U[:15], 2, axis=0)
        pairs = account(rows(U, seed=seed))["bootstrap_pairs"]
        for more in (0, 2, 4, 6, 9, 14):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LittleInformationWarning)
                result = rows(U, seed=seed, oracle=Counting(U, enough=pairs + more))
            found = result.clustering.memberships
            known = ~np.isnan(found).any(axis=1)
            assert known.any()
            wrong = membership_error(U[known], found[known])
            if "rotation_score" in account(result):
                assert wrong < 1e-6
                exact += 1
            else:
                assert wrong <= account(result)["ambiguity"] + 1e-9
    assert exact > 3


PLANS = {
    "stratified": (Stratified, 3),
    "two-phase": (TwoPhase, 3),
    "sequential": (Sequential, 3),
    "two clusters": (TwoClusters, 2),
}


def asked_by(name, oracle, *, seed=0, **options):
    """Run one of the library's plans on items whose first coordinates are memberships."""
    strategy, k = PLANS[name]
    sizes = {"sample_size": 10} | ({} if name == "two-phase" else {"bin_size": 4})
    if name == "stratified":
        sizes = {"max_items": 10, "precision": 1e-9}
    rng = np.random.default_rng(seed)
    X = oracle.oracle.memberships[:, : k - 1]
    plan = strategy(**sizes).plan(X, k, fuzzifier=2.0, rng=rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingClusterWarning)
        warnings.simplefilter("ignore", LittleInformationWarning)
        return run(by_similarity(plan, len(X), k, rng=rng, **options), oracle)


@pytest.mark.parametrize("start", [0, *map(in_soak, (3, 6, 9))])
@pytest.mark.parametrize("name", ["stratified", "two-phase", in_soak("sequential"), "two clusters"])
def test_every_plan_stopped_after_any_number_of_answers_is_valid(name, start):
    U = dirichlet(PLANS[name][1], seed=1, n=40)
    whole = asked_by(name, Counting(U))
    assert whole.complete == (name != "stratified")  # which max_items ends
    for enough in range(start, whole.n_queries, 17 if name == "stratified" else 12):
        result = asked_by(name, Counting(U, enough=enough))
        check_simplex(result.clustering.memberships)
        assert np.isfinite(result.clustering.centers).all()
        assert not result.complete


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("silent", [in_soak(0.1), 0.3])
@pytest.mark.parametrize("noisy", [in_soak(False), True])
def test_every_plan_survives_what_nobody_can_say(name, silent, noisy):
    U = dirichlet(PLANS[name][1], seed=2, n=60)
    for seed in range(2 if name == "stratified" else 10):
        oracle = Counting(U, silent=silent, seed=seed)
        result = asked_by(name, oracle, seed=seed, noisy=noisy)
        check_simplex(result.clustering.memberships)
        assert np.isfinite(result.clustering.centers).all()


@pytest.mark.parametrize("silent", [0.1, in_soak(0.3)])
@pytest.mark.parametrize("k", [5, in_soak(6)])
def test_hard_rows_beside_silence_are_right_or_not_told(k, silent):
    for seed in range(5):
        U = np.eye(k)[np.random.default_rng(seed).permutation(120) % k]
        for noisy in (False, True):
            oracle = Counting(U, silent=silent, seed=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LittleInformationWarning)
                found = rows(U, seed=seed, oracle=oracle, noisy=noisy).clustering.memberships
            known = ~np.isnan(found).any(axis=1)
            assert known.mean() > 0.8
            assert membership_error(U[known], found[known]) < 0.5


@pytest.mark.parametrize("silent", [0.05, 0.1])
def test_rows_that_are_told_beside_silence_are_exact(silent):
    for seed in range(10):
        U = dirichlet(3, seed)
        found = rows(U, oracle=Counting(U, silent=silent, seed=seed)).clustering.memberships
        known = ~np.isnan(found).any(axis=1)
        assert known.mean() > 0.8
        assert membership_error(U[known], found[known]) < 1e-7


def test_a_plan_that_goes_on_after_a_stop_is_refused():
    def stubborn():
        while True:
            try:
                yield MembershipQueries([0], [0])
            except StopAsking:
                continue

    U = dirichlet(3, seed=0)
    plan = by_similarity(stubborn(), 80, 3, rng=np.random.default_rng(0))
    with pytest.raises(PlanError, match="must return when StopAsking"):
        run(plan, TableOracle(U), budget=10)


def test_a_stop_in_a_plans_own_pairs_reaches_it():
    told = []

    def inner():
        try:
            yield PairQueries([[0, 1], [0, 2]])
        except StopAsking as stop:
            told.append(stop.answers)
        return Clustering(
            centers=np.zeros((3, 1)), memberships=np.ones((80, 3)) / 3, predictor=None,
            complete=False,
        )  # fmt: skip

    U = dirichlet(3, seed=0)
    plan = by_similarity(inner(), 80, 3, rng=np.random.default_rng(0))
    run(plan, TableOracle(U), budget=1)
    assert_allclose(told[0], [U[0] @ U[1], np.nan])


def test_answers_are_in_the_error_of_a_plan_that_fails():
    def inner():
        yield MembershipQueries([0], [0])
        raise ZeroDivisionError

    plan = by_similarity(inner(), 80, 3, rng=np.random.default_rng(0))
    with pytest.raises(ZeroDivisionError) as failure:
        run(plan, TableOracle(dirichlet(3, seed=0)))
    assert len(failure.value.history) == 153 + 20


def test_the_inner_plan_is_closed_with_the_outer():
    closed = []

    def inner():
        try:
            yield MembershipQueries([0], [0])
        finally:
            closed.append(True)

    plan = by_similarity(inner(), 80, 3, rng=np.random.default_rng(0))
    next(plan)
    plan.close()
    assert closed == [True]


# ---- answers are remembered -------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5])
def test_replaying_a_ledger_asks_nothing_new_and_gives_the_same(k):
    U, ledger = dirichlet(k, seed=0), Ledger()
    first = rows(U, seed=4, ledger=ledger)
    again = rows(U, seed=4, ledger=ledger, oracle=Nobody())
    assert again.n_queries == 0
    same_but_for_rounding(again.clustering.memberships, first.clustering.memberships)


@pytest.mark.parametrize("seeds", [range(3), in_soak(range(3, 10))])
def test_another_number_of_clusters_is_found_from_the_same_answers_and_few_more(seeds):
    for seed in seeds:
        U, ledger = dirichlet(4, seed), Ledger()
        with pytest.warns(MoreClustersWarning, match="show 4 clusters, more than the 3"):
            first = rows(U, seed=seed, k=3, ledger=ledger)
        suggested = account(first)["suggested_clusters"]
        assert suggested == 4
        second = rows(U, seed=seed, k=suggested, ledger=ledger)
        assert error(second, U) < 1e-8
        assert ledger.n_distinct == first.n_queries + second.n_queries
        assert second.n_queries < rows(U, seed=seed).n_queries - 100  # what was known


def test_cluster_numbers_stay_the_same_over_a_run():
    for seed in range(10):
        U = dirichlet(4, seed)
        parts = np.array_split(np.random.default_rng(seed).permutation(80), 8)
        found = rows(U, seed=seed, batches=parts).clustering.memberships
        columns = [match_clusters(U[part], found[part]).tolist() for part in parts]
        assert columns == [columns[0]] * 8


def test_permuting_the_targets_clusters_changes_nothing():
    U = dirichlet(4, seed=0)
    here, there = rows(U), rows(U[:, [2, 0, 3, 1]])
    assert_allclose(there.clustering.memberships, here.clustering.memberships, atol=1e-8)


def test_membership_questions_beside_others_are_translated_and_the_rest_passed_on():
    told = []

    def inner():
        told.append((yield PairQueries([[0, 1]])))
        told.append((yield MembershipQueries([0, 0, 0], [0, 1, 2])))
        return Clustering(
            centers=np.zeros((3, 1)), memberships=np.ones((80, 3)) / 3, predictor=None,
            complete=True,
        )  # fmt: skip

    U = dirichlet(3, seed=0)
    run(by_similarity(inner(), 80, 3, rng=np.random.default_rng(0)), TableOracle(U))
    assert told[0] == pytest.approx(U[0] @ U[1])
    assert_allclose(np.sort(told[1]), np.sort(U[0]), atol=1e-8)
