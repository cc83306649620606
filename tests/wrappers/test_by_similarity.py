"""Plans that ask about similarities: exact, sparing, frank about what cannot be told, robust."""

import math
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

from askmeans import FuzzyKMeans, Sequential, TwoClusters, TwoPhase, run
from askmeans.exceptions import (
    BudgetError,
    LittleInformationWarning,
    MissingClusterWarning,
    MoreClustersWarning,
    ParameterError,
    PlanError,
    RankError,
    StopAsking,
)
from askmeans.metrics import match_clusters, membership_error
from askmeans.oracles import NoisyOracle, QuantizedOracle, TableOracle
from askmeans.queries import Ledger, MembershipQueries, PairQueries
from askmeans.results import Clustering
from askmeans.wrappers import by_similarity, least_questions


class Counting:
    """Answers from a table until it has had enough; some things it cannot say."""

    def __init__(self, U, *, enough=math.inf, silent=0.0, seed=0):
        self.oracle, self.left, self.silent = TableOracle(U), enough, silent
        self.rng, self.asked = np.random.default_rng(seed), []

    def answer(self, queries):
        answers = self.oracle.answer(queries)
        answers[self.rng.random(len(answers)) < self.silent] = np.nan
        self.asked += [tuple(sorted(row)) for row in queries.item_table.tolist()]
        reached = np.arange(len(answers)) < self.left
        self.left -= int(reached.sum())
        if reached.all():
            return answers
        raise StopAsking(np.where(reached, answers, np.nan), reached)


class Nobody:
    """An oracle that must not be asked."""

    def answer(self, queries):
        raise AssertionError(f"asked {queries}")


def whole_rows(batches, n, k):
    """The smallest plan: the rows of some items, batch after batch; NaN for what is not told."""
    memberships, complete = np.full((n, k), np.nan), True
    for items in batches:
        try:
            answers = yield MembershipQueries(
                np.repeat(items, k), np.tile(np.arange(k), len(items))
            )
        except StopAsking as stop:
            answers, complete = stop.answers, False
        memberships[items] = answers.reshape(-1, k)
        if not complete:
            break
    return Clustering(
        centers=np.zeros((k, 1)), memberships=memberships, predictor=None, complete=complete
    )


def rows(U, *, oracle=None, seed=0, k=None, batches=None, ledger=None, limit=None, **options):
    """Ask for the rows of all items, or of those in the batches."""
    n, k = len(U), k or U.shape[1]
    batches = [np.arange(n)] if batches is None else batches
    rng = np.random.default_rng(seed)
    plan = by_similarity(whole_rows(batches, n, k), n, k, rng=rng, **options)
    return run(plan, oracle or TableOracle(U), ledger=ledger, budget=limit)


def error(result, U):
    return membership_error(U, result.clustering.memberships)


def account(result):
    return result.clustering.diagnostics["similarity"]


def kinds(result):
    """How many questions of each kind."""
    asked = [answer.kind for answer in result.history]
    return {kind: asked.count(kind) for kind in sorted(set(asked))}


def dirichlet(k, seed, n=80):
    return np.random.default_rng(1000 + seed).dirichlet(np.ones(k), size=n)


def fuzzy(X, k):
    return FuzzyKMeans(k, n_init=5, tol=1e-8, random_state=0).fit(X).memberships_


def check_simplex(memberships):
    assert memberships.min() >= 0.0
    assert memberships.max() <= 1.0
    assert_allclose(memberships.sum(axis=1), 1.0, atol=1e-9)


@pytest.fixture(scope="module")
def targets():
    """What fuzzy k-means finds in data that everybody knows."""
    scale = StandardScaler().fit_transform
    blobs = {k: make_blobs(150, centers=k, random_state=1)[0] for k in (3, 5, 8, 10)}
    return {
        "iris": fuzzy(load_iris().data, 3),
        "wine": fuzzy(scale(load_wine().data), 3),
        "breast cancer": fuzzy(scale(load_breast_cancer().data), 2)[::4],
    } | {f"blobs {k}": fuzzy(X, k) for k, X in blobs.items()}


# ---- exact answers give exact memberships -----------------------------------------------------


@pytest.mark.parametrize("k", range(2, 11))
def test_exact_answers_give_exact_memberships_and_the_number_of_clusters(k):
    for seed in range(100):
        U = dirichlet(k, seed)
        result = rows(U, seed=seed)
        assert error(result, U) < 1e-8
        assert account(result)["suggested_clusters"] == k
        assert result.complete


@pytest.mark.parametrize(
    "name", ["iris", "wine", "breast cancer", "blobs 3", "blobs 5", "blobs 8", "blobs 10"]
)
def test_exact_answers_about_fuzzy_k_means_give_its_memberships(targets, name):
    U = targets[name]
    for seed in range(100):
        result = rows(U, seed=seed)
        assert error(result, U) < 1e-8
        assert account(result)["suggested_clusters"] == U.shape[1]


@pytest.mark.parametrize("k", [2, 3, 5, 8, 10])
def test_exact_answers_about_hard_labels_give_the_labels(k):
    for seed in range(100):
        U = np.eye(k)[np.random.default_rng(seed).permutation(80) % k]
        assert error(rows(U, seed=seed), U) < 1e-8


def test_a_hard_cluster_of_which_the_pool_has_one_item_is_found():
    # The item is like no other, so its row of similarities is empty and shows in no rank.
    lonely = 0
    for seed in range(40):
        labels = np.random.default_rng(seed).permutation(np.repeat([0, 1, 2], [40, 38, 2]))
        U = np.eye(3)[labels]
        for route in ("triplet", "pairwise"):
            try:
                result = rows(U, seed=seed, route=route)
            except RankError:
                continue  # the pool has none
            assert error(result, U) < 1e-8
            lonely += account(result)["rho"] < 1e-6
    assert lonely > 20


def test_soft_answers_of_too_low_a_rank_make_no_cluster_of_a_lonely_item():
    U = np.vstack([np.column_stack([dirichlet(2, 0, n=40), np.zeros((40, 2))]), [[0, 0, 0.5, 0.5]]])
    for seed in range(20):
        with pytest.raises(RankError):
            rows(U, seed=seed, batches=[np.arange(41)], pool_size=41)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_jennrichs_route_is_exact_by_triplets_and_rows(k):
    for seed in range(20):
        U = dirichlet(k, seed)
        result = rows(U, seed=seed, route="jennrich")
        assert error(result, U) < 1e-8
        seen = account(result)
        assert seen["triplets"] == kinds(result)["triplet"] >= (2 * k) ** 3
        assert seen["bootstrap_pairs"] == 0
        assert seen["row_pairs"] == k * (80 - seen["pool"])


def test_jennrichs_route_draws_again_where_a_set_shows_too_few_clusters():
    draws = []
    for seed in range(30):
        U = np.eye(3)[np.random.default_rng(seed).permutation(120) % 3]
        try:
            result = rows(U, seed=seed, route="jennrich")
        except RankError as failure:  # the route is fragile: a set of six misses a class often
            draws.append(len(failure.history) // 216)
            assert draws[-1] == 5
            continue
        assert error(result, U) < 1e-8
        draws.append(account(result)["triplets"] // 216)
    assert draws.count(1) > 10
    assert 0 < draws.count(5) < 5


def test_jennrichs_route_refuses_clusters_that_coincide():
    U = dirichlet(2, seed=0)
    split = np.column_stack([U[:, 0], U[:, 1] / 2, U[:, 1] / 2])
    with pytest.raises(RankError, match="rank 2"):
        rows(split, route="jennrich")


def test_jennrichs_route_survives_what_nobody_can_say():
    U = dirichlet(3, seed=0)
    result = rows(U, route="jennrich", oracle=Counting(U, silent=0.005))
    found = result.clustering.memberships
    known = ~np.isnan(found).any(axis=1)
    assert known.mean() > 0.9
    assert membership_error(U[known], found[known]) < 1e-7


def test_a_stop_in_a_later_draw_of_jennrichs_leaves_the_first():
    U = np.random.default_rng(0).dirichlet(np.full(3, 15.0), size=80)  # ill-conditioned: drawn on
    whole = rows(U, route="jennrich")
    assert account(whole)["triplets"] > 216
    result = rows(U, route="jennrich", oracle=Counting(U, enough=300))
    known = ~np.isnan(result.clustering.memberships).any(axis=1)
    assert known.sum() == 18
    assert membership_error(U[known], result.clustering.memberships[known]) < 1e-6


def test_noise_that_hides_a_cluster_is_warned_of_by_jennrichs_route():
    U = dirichlet(2, seed=0)
    split = np.column_stack([U[:, 0], U[:, 1] / 2, U[:, 1] / 2])
    with pytest.warns(LittleInformationWarning, match="hardly tell 3 clusters"):
        rows(split, route="jennrich", oracle=NoisyOracle(TableOracle(split), std=0.01))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pool_size": 5}, "'pool_size' parameter of by_similarity must be"),
        ({"pool_size": 20.5}, "'pool_size' parameter of by_similarity must be"),
        ({"levels": 1}, "'levels' parameter of by_similarity must be"),
    ],
)
def test_a_parameter_that_breaks_its_rule_is_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        rows(dirichlet(3, seed=0), **options)


@pytest.mark.parametrize(("route", "fewest"), [("triplet", 8), ("pairwise", 8), ("jennrich", 18)])
def test_too_few_items_are_refused_before_anybody_is_asked(route, fewest):
    with pytest.raises(ParameterError, match=f"'n_items' parameter .* at least {fewest}"):
        rows(dirichlet(3, seed=0, n=fewest - 1), oracle=Nobody(), route=route)
    U = np.vstack([np.eye(3), dirichlet(3, seed=0, n=fewest - 3)])  # pure items, for pairs alone
    assert rows(U, route=route, rough=False).complete


def test_an_unknown_route_is_refused():
    with pytest.raises(ParameterError, match="'route' parameter of by_similarity"):
        rows(dirichlet(3, seed=0), route="quartet")


def test_two_clusters_are_exact_by_pairs_alone():
    for seed in range(30):
        U = dirichlet(2, seed)
        for route in ("triplet", "pairwise"):
            result = rows(U, seed=seed, route=route)
            assert error(result, U) < 1e-8
            assert set(kinds(result)) == {"pair"}


def test_the_pairwise_route_asks_no_triplet():
    U = np.eye(3)[np.arange(60) % 3]
    result = rows(U, route="pairwise")
    assert set(kinds(result)) == {"pair"}
    assert error(result, U) < 1e-8


# ---- targets without so many clusters ---------------------------------------------------------


@pytest.mark.parametrize("k", [3, 4, 6])
@pytest.mark.parametrize("share", [0.5, 0.2])
def test_clusters_with_proportional_memberships_are_refused(k, share):
    for seed in range(20):
        U = dirichlet(k - 1, seed)
        U = np.column_stack([U[:, :-1], share * U[:, -1], (1.0 - share) * U[:, -1]])
        with pytest.raises(RankError, match=f"tell {k} clusters.*rank {k - 1}"):
            rows(U, seed=seed)


@pytest.mark.parametrize("name", ["iris", "wine", "blobs 5"])
def test_coinciding_centers_are_refused(targets, name):
    for seed in range(20):
        U = targets[name]
        k = U.shape[1] + 1
        split = np.column_stack([U[:, :-1], U[:, -1] / 2, U[:, -1] / 2])
        with pytest.raises(RankError, match=f"ask for {k - 1} clusters"):
            rows(split, seed=seed)


def test_two_clusters_to_which_everything_belongs_alike_are_refused():
    for seed in range(20):
        with pytest.raises(RankError, match="rank 1"):
            rows(np.full((40, 2), 0.5), seed=seed)


def test_an_empty_cluster_is_refused():
    for seed in range(20):
        U = np.column_stack([dirichlet(2, seed), np.zeros(80)])
        with pytest.raises(RankError):
            rows(U, seed=seed)


# ---- rough answers ----------------------------------------------------------------------------


def rough_error(U, oracle, seed):
    """Root mean square error over 100 items outside the pool."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LittleInformationWarning)
        result = rows(U, oracle=oracle, seed=seed, rough=True)
    pool = {item for answer in result.history if answer.kind == "triplet" for item in answer.items}
    first = [answer.items for answer in result.history][: account(result)["bootstrap_pairs"]]
    new = np.setdiff1d(np.arange(len(U)), [*pool, *np.ravel(first)])[:100]
    assert len(new) == 100
    found = result.clustering.memberships
    found = found[:, match_clusters(U, found)]
    return np.sqrt(np.square(found[new] - U[new]).mean())


@pytest.mark.parametrize(("sigma", "bound"), [(0.01, 0.012), (0.05, 0.045), (0.1, 0.09)])
def test_noisy_answers_about_iris_give_new_rows_this_well(targets, sigma, bound):
    U = targets["iris"]
    for seed in range(20):
        oracle = NoisyOracle(TableOracle(U), std=sigma, random_state=seed)
        assert rough_error(U, oracle, seed) < bound


@pytest.mark.parametrize(("levels", "bound"), [(11, 0.04), (5, 0.08)])
def test_answers_on_a_scale_about_iris_give_new_rows_this_well(targets, levels, bound):
    U = targets["iris"]
    for seed in range(20):
        assert rough_error(U, QuantizedOracle(TableOracle(U), levels=levels), seed) < bound


@pytest.mark.parametrize(("sigma", "bound"), [(0.01, 0.016), (0.05, 0.07), (0.1, 0.14)])
def test_noisy_answers_about_even_memberships_give_new_rows_this_well(sigma, bound):
    for seed in range(20):
        U = np.random.default_rng(seed).dirichlet(np.ones(3), size=150)
        oracle = NoisyOracle(TableOracle(U), std=sigma, random_state=seed)
        assert rough_error(U, oracle, seed) < bound


def test_answers_that_carry_no_information_are_warned_of():
    U = dirichlet(5, seed=0)
    with pytest.warns(LittleInformationWarning, match="hardly tell 5 clusters"):
        result = rows(U, oracle=NoisyOracle(TableOracle(U), std=0.5), rough=True)
    check_simplex(result.clustering.memberships)


@pytest.mark.parametrize("name", ["iris", "wine"])
@pytest.mark.parametrize("levels", [5, 11])
def test_coinciding_centers_on_a_scale_are_warned_of(targets, name, levels):
    U = targets[name]
    split = np.column_stack([U[:, :-1], U[:, -1] / 2, U[:, -1] / 2])
    for seed in range(12):
        oracle = QuantizedOracle(TableOracle(split), levels=levels)
        with pytest.warns(LittleInformationWarning, match="hardly tell 4 clusters"):
            rows(split, oracle=oracle, seed=seed, levels=levels, batches=[np.arange(5)])


@pytest.mark.parametrize(("sigma", "k"), [(0.01, 3), (0.02, 3), (0.01, 5)])
def test_the_noise_and_the_error_to_expect_are_told(sigma, k):
    sigmas, ratios = [], []
    for seed in range(10):
        U = np.random.default_rng(seed).dirichlet(np.ones(k), size=120)
        result = rows(U, oracle=NoisyOracle(TableOracle(U), std=sigma, random_state=seed))
        found = result.clustering.memberships
        found = found[:, match_clusters(U, found)]
        sigmas.append(account(result)["sigma"])
        ratios.append(account(result)["predicted_rmse"] / np.sqrt(np.square(found - U).mean()))
    assert np.mean(sigmas) == pytest.approx(sigma, rel=0.2)
    assert 0.7 < np.median(ratios) < 1.4


def test_noise_is_seen_without_being_told_and_more_is_asked():
    U = dirichlet(3, seed=0, n=120)
    noisy = rows(U, oracle=NoisyOracle(TableOracle(U), std=0.02, random_state=0))
    exact = rows(U)
    assert account(noisy)["rough"]
    assert not account(exact)["rough"]
    assert (account(noisy)["pool"], account(exact)["pool"]) == (24, 18)
    assert kinds(noisy)["triplet"] == math.comb(9, 3)
    assert account(noisy)["row_pairs"] == 6 * (120 - 24)


def test_who_cannot_say_anything_of_triplets_gets_what_pairs_tell_and_a_warning():
    class Pairs(Counting):
        def answer(self, queries):
            answers = super().answer(queries)
            return answers if isinstance(queries, PairQueries) else np.full(len(answers), np.nan)

    U = np.random.default_rng(0).dirichlet(np.full(3, 4.0), size=60)  # far from pure
    with pytest.warns(LittleInformationWarning, match="Pairs alone leave memberships open"):
        result = rows(U, oracle=Pairs(U))
    seen = account(result)
    assert not seen["pure_enough"]
    assert error(result, U) <= seen["ambiguity"]
    assert seen["predicted_rmse"] > 0.01


@pytest.mark.parametrize(("name", "bound"), [("iris", 0.002), ("wine", 0.015)])
def test_pairs_alone_in_a_large_pool_give_rows_this_well_and_say_how_well(targets, name, bound):
    U = targets[name]
    for seed in range(40):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LittleInformationWarning)  # Wine is diffuse
            result = rows(U, seed=seed, route="pairwise", pool_size=60)
        found = result.clustering.memberships
        found = found[:, match_clusters(U, found)]
        assert np.sqrt(np.square(found - U).mean()) < bound
        assert np.abs(found - U).max() <= account(result)["ambiguity"]


# ---- the number of questions ------------------------------------------------------------------


def test_the_rows_of_300_items_cost_at_most_999_pairs_and_20_triplets():
    for seed in range(10):
        result = rows(dirichlet(3, seed, n=300), seed=seed)
        assert kinds(result)["pair"] <= 999
        assert kinds(result)["triplet"] <= 20


@pytest.mark.parametrize("rough", [False, True])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_nothing_is_asked_twice_and_the_account_says_what_was_asked(k, rough):
    U = dirichlet(k, seed=0)
    batches = [np.arange(5), np.arange(3, 40), np.arange(80), np.arange(10)]
    oracle = Counting(U)
    result = rows(U, oracle=oracle, batches=batches, rough=rough)
    assert len(set(oracle.asked)) == len(oracle.asked)
    assert result.n_queries == result.n_queries_raw  # the wrapper remembers, not the ledger only
    seen = account(result)
    assert seen["bootstrap_pairs"] == math.comb(seen["pool"], 2)
    assert seen["triplets"] == kinds(result).get("triplet", 0)
    assert seen["bootstrap_pairs"] + seen["row_pairs"] == kinds(result)["pair"]


def test_only_the_rows_that_are_wanted_are_asked_for():
    U = dirichlet(3, seed=0, n=300)
    few, more = (rows(U, batches=[np.arange(size)]) for size in (30, 60))
    assert account(few)["row_pairs"] == 3 * (30 - account(few)["pool"])
    assert account(more)["row_pairs"] == 3 * (60 - account(more)["pool"])


def test_the_diagnostics_have_the_documented_keys():
    keys = {
        "bootstrap_pairs", "row_pairs", "triplets", "pool", "rho", "snr", "singular_values",
        "suggested_clusters", "anchor_condition", "residual", "sigma", "norm_gap", "rough",
        "predicted_rmse",
    }  # fmt: skip
    U = dirichlet(3, seed=0)
    seen = account(rows(U))
    assert set(seen) >= keys | {"rotation_score", "triplet_rms"}
    assert max(abs(seen[key]) for key in ("sigma", "norm_gap", "predicted_rmse")) < 1e-9
    assert seen["triplet_rms"] < 1e-9
    assert seen["rotation_score"] == pytest.approx(1.0, abs=1e-8)
    assert seen["residual"] < 1e-9
    assert 0.0 < seen["rho"] <= 1.0
    assert 1.0 <= seen["anchor_condition"] < 100.0
    assert set(account(rows(U, route="pairwise"))) >= keys | {
        "ambiguity", "spread", "purity", "pure_enough", "most_negative",
    }  # fmt: skip


def test_rough_answers_show_in_the_residual_and_in_the_rotation_score():
    U = dirichlet(3, seed=0)
    seen = account(rows(U, oracle=NoisyOracle(TableOracle(U), std=0.03), rough=True))
    assert 0.01 < seen["residual"] < 0.05
    assert 0.01 < seen["triplet_rms"] < 0.06
    assert abs(seen["rotation_score"] - 1.0) > 1e-4


# ---- budgets ----------------------------------------------------------------------------------


def test_the_smallest_pools_questions_are_counted():
    assert [least_questions(k) for k in (2, 3, 4)] == [15, 36 + 20, 66 + 56]
    assert least_questions(3, "pairwise") == 36


@pytest.mark.parametrize(("k", "least"), [(2, 15), (3, 56), (5, 225)])
def test_a_budget_below_the_smallest_pool_is_refused_by_name(k, least):
    with pytest.raises(BudgetError, match=f"'budget' parameter must be at least {least} .*{k} clu"):
        rows(dirichlet(k, seed=0), budget=least - 1)


@pytest.mark.parametrize("rough", [False, True])
@pytest.mark.parametrize("k", [2, 3, 5, 8])
@pytest.mark.parametrize("times", [1.0, 1.2, 2.0, 5.0])
def test_a_budget_is_a_ceiling_and_buys_the_pool_at_least(k, times, rough):
    budget = int(times * least_questions(k))
    for seed in range(3):
        U = dirichlet(k, seed, n=400)
        result = rows(U, seed=seed, budget=budget, limit=budget, rough=rough)
        assert result.n_queries <= budget
        known = ~np.isnan(result.clustering.memberships[:, 0])
        assert known.sum() >= 3 * k
        found = result.clustering.memberships[known]
        assert membership_error(U[known], found) < 1e-8


def test_a_pool_grows_while_the_budget_lasts():
    grown = 0
    for seed in range(30):
        U = np.eye(3)[np.random.default_rng(seed).choice(3, size=80, p=[0.45, 0.45, 0.1])]
        try:
            result = rows(U, seed=seed, budget=150, limit=150)
        except RankError:  # the pool has none of the third
            continue
        known = ~np.isnan(result.clustering.memberships[:, 0])
        assert membership_error(U[known], result.clustering.memberships[known]) < 1e-8
        grown += account(result)["pool"] > 12
    assert grown


# ---- stopping and silence ---------------------------------------------------------------------


def test_a_stop_leaves_the_rows_that_the_answers_so_far_tell():
    U = dirichlet(3, seed=0, n=30)
    whole = rows(U)
    pairs = account(whole)["bootstrap_pairs"]
    for enough in range(whole.n_queries + 1):
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


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("doubled", [False, True])
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
    "two-phase": (TwoPhase, 3),
    "sequential": (Sequential, 3),
    "two clusters": (TwoClusters, 2),
}


def asked_by(name, oracle, *, seed=0, **options):
    """Run one of the library's plans on items whose first coordinates are memberships."""
    strategy, k = PLANS[name]
    sizes = {"sample_size": 10} | ({} if name == "two-phase" else {"bin_size": 4})
    rng = np.random.default_rng(seed)
    X = oracle.oracle.memberships[:, : k - 1]
    plan = strategy(**sizes).plan(X, k, fuzzifier=2.0, rng=rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingClusterWarning)
        warnings.simplefilter("ignore", LittleInformationWarning)
        return run(by_similarity(plan, len(X), k, rng=rng, **options), oracle)


@pytest.mark.parametrize("name", PLANS)
def test_every_plan_stopped_after_any_number_of_answers_is_valid(name):
    U = dirichlet(PLANS[name][1], seed=1, n=40)
    whole = asked_by(name, Counting(U))
    assert whole.complete
    for enough in range(0, whole.n_queries, 3):
        result = asked_by(name, Counting(U, enough=enough))
        check_simplex(result.clustering.memberships)
        assert np.isfinite(result.clustering.centers).all()
        assert not result.complete


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("silent", [0.1, 0.3])
@pytest.mark.parametrize("rough", [False, True])
def test_every_plan_survives_what_nobody_can_say(name, silent, rough):
    U = dirichlet(PLANS[name][1], seed=2, n=60)
    for seed in range(10):
        oracle = Counting(U, silent=silent, seed=seed)
        result = asked_by(name, oracle, seed=seed, rough=rough)
        check_simplex(result.clustering.memberships)
        assert np.isfinite(result.clustering.centers).all()


@pytest.mark.parametrize("silent", [0.1, 0.3])
@pytest.mark.parametrize("k", [5, 6])
def test_hard_rows_beside_silence_are_right_or_not_told(k, silent):
    for seed in range(5):
        U = np.eye(k)[np.random.default_rng(seed).permutation(120) % k]
        for rough in (False, True):
            oracle = Counting(U, silent=silent, seed=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LittleInformationWarning)
                found = rows(U, seed=seed, oracle=oracle, rough=rough).clustering.memberships
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
    assert (again.clustering.memberships == first.clustering.memberships).all()


def test_another_number_of_clusters_is_found_from_the_same_answers_and_few_more():
    for seed in range(10):
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
