"""Algorithms 5 to 7: bins that halve a membership, whatever the smaller cluster's size."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from soaking import in_soak

from askmeans import TwoClusters, run
from askmeans.datasets import make_cores_and_arms
from askmeans.fuzzy.items import ItemSet, Ranking
from askmeans.fuzzy.scores import Scorer
from askmeans.oracles import TableOracle
from askmeans.paper.algorithms import first_at_least, geometric_bins
from askmeans.paper.search_state import SearchState

FAITHFUL = pytest.mark.parametrize("faithful", [False, True])


def ask(X, U, seed=0, fuzzifier=2.0, **parameters):
    plan = TwoClusters(**parameters).plan(
        X, 2, fuzzifier=fuzzifier, rng=np.random.default_rng(seed)
    )
    return run(plan, TableOracle(U))


def ranked(memberships, *, faithful=False, seed=0):
    """Rising memberships to the second cluster, by rank: a ranking, a state and the table."""
    n = len(memberships)
    order = np.random.default_rng(seed).permutation(n)
    scores, U = np.empty((n, 1)), np.empty((n, 2))
    scores[order, 0] = np.arange(n)
    U[order, 1] = memberships
    U[:, 0] = 1.0 - U[:, 1]
    state = SearchState(
        ItemSet(np.zeros((n, 1))), 2, fuzzifier=2.0, order="distance", faithful=faithful,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    return Ranking(Scorer(centers=np.zeros((1, 1)), order="distance"), scores), state, U


def bins_of(drive, memberships, *, faithful=False, table=None):
    """The bins, and the ledger of what they cost."""
    ranking, state, U = ranked(memberships, faithful=faithful)
    found, ledger = drive(geometric_bins(ranking, state, 1), U if table is None else table(U))
    return found, ledger, U


def check_bins(found, U):
    """Lemma membership2, and every item in one place."""
    everything = np.concatenate([*found.bins, found.special, found.rest])
    assert np.sort(everything).tolist() == list(range(len(U)))
    for rows in found.bins:
        assert len(rows) >= math.ceil(math.log2(len(U)))
        assert U[rows, 1].max() <= 2.0 * U[rows, 1].min()
    assert U[:, 1].argmax() in found.special or U[found.special, 1].max() == U[:, 1].max()


# ---- Algorithm 5 ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def listing(membership_listing, evened_listing):
    """Algorithms 5 and 6 line by line with notes N15 to N18: the clustering, and line 8's cost."""

    def algorithm_5(X, U, *, m, r, eta, fuzzifier, seed):
        n = len(U)
        rng = np.random.default_rng(seed)
        S = rng.integers(n, size=m)  # Alg 5, lines 1-2
        weights = U[S] ** fuzzifier
        t1 = int(weights.sum(axis=0).argmax())  # line 3
        t2 = 1 - t1
        centers = np.empty((2, X.shape[1]))
        centers[t1] = weights[:, t1] @ X[S] / weights[:, t1].sum()  # line 4
        order = np.argsort(np.linalg.norm(X - centers[t1], axis=1), kind="stable")
        u = U[order, t2]  # Alg 6, lines 1-3
        log_n = max(1, math.ceil(math.log2(n)))
        p, threshold, bins, special = n, u[-1], [], [order[-1]]
        for _ in range(2, 3 * log_n + 1):  # line 5
            if p == 1 or threshold <= 0.0:
                break
            low, high = 1, p  # Alg 7
            while low != high:
                middle = (low + high) // 2
                if u[middle - 1] < threshold / 2:
                    low = middle + 1
                else:
                    high = middle
            if p - low >= log_n:  # lines 8-12
                bins.append(order[low - 1 : p - 1])
                p, threshold = low, threshold / 2
            else:  # lines 14-19
                low = max(1, p - 1 - log_n)
                special.extend(order[low - 1 : p - 1])
                p, threshold = low, u[low - 1]
        total, moment, n_queries = 0.0, np.zeros(X.shape[1]), len(special)
        for rows in [*bins, order[: p - 1]]:  # Alg 5, lines 6-11
            if len(rows):
                Y = rows if len(rows) <= r else rows[rng.integers(len(rows), size=r)]
                n_queries += len(Y)
                w = len(rows) / len(Y) * U[Y, t2] ** fuzzifier
                total, moment = total + w.sum(), moment + w @ X[Y]
        w = U[special, t2] ** fuzzifier
        centers[t2] = (moment + w @ X[special]) / (total + w.sum())  # line 12
        levels = [membership_listing(X, centers[j], U[:, j], eta)[0] for j in (0, 1)]
        return centers, evened_listing(np.column_stack(levels) * eta), n_queries  # lines 13-15

    return algorithm_5


@pytest.mark.parametrize("seeds", [range(2), in_soak(range(2, 6))])
@pytest.mark.parametrize("planted", [False, True])
@pytest.mark.parametrize(("eta", "fuzzifier"), [(0.1, 2.0), (0.04, 1.5), (0.3, 1.0)])
def test_faithful_runs_are_the_listing_line_by_line(
    listing, fuzzy_target, eta, fuzzifier, planted, seeds
):
    for seed in seeds:
        X, U = fuzzy_target(400, 2, seed=seed, spread=3.0)
        if planted:  # with exact zeros, so that there is a rest
            data = make_cores_and_arms([200, 80], rng=np.random.default_rng(seed))
            X, U = data.X, data.memberships
        result = ask(
            X, U, seed, fuzzifier=fuzzifier, sample_size=40, bin_size=12, precision=eta,
            faithful=True,
        ).clustering  # fmt: skip
        centers, memberships, n_queries = listing(
            X, U, m=40, r=12, eta=eta, fuzzifier=fuzzifier, seed=seed
        )
        assert_allclose(result.centers, centers, atol=1e-12)
        assert_allclose(result.memberships, memberships, atol=1e-12)
        assert result.diagnostics.queries_raw["bins"] == n_queries


@pytest.mark.parametrize("seeds", [range(25), in_soak(range(25, 100))])
def test_planted_clusters_are_found_to_eps_and_eta_with_every_seed(seeds):
    # Cores of 800 and 100 items with arms of 50 (n = 1,000), m = 1,000, r = 100, eta = .1.
    errors, off = [], []
    for seed in seeds:
        planted = make_cores_and_arms([800, 100], rng=np.random.default_rng(seed))
        found = ask(
            planted.X, planted.memberships, seed, sample_size=1000, bin_size=100, faithful=True
        )
        errors.append(np.abs(found.clustering.memberships - planted.memberships).max())
        off.append(np.linalg.norm(found.clustering.centers - planted.centers, axis=1).max())
    assert max(errors) <= 0.1  # measured: .050
    assert max(off) <= 0.1  # eps


def test_one_question_gives_both_memberships_note_n16(fuzzy_target):
    X, U = fuzzy_target(300, 2)
    result = ask(X, U)
    asked = {answer.items for answer in result.history}
    assert len(asked) == result.n_queries  # no item is asked about both clusters
    assert result.clustering.diagnostics.queries_raw["sampling"] == 100


@FAITHFUL
@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_empty_bins_and_an_empty_rest_do_no_harm_note_n16(n, faithful):
    X = np.arange(n, dtype=float)[:, None]
    U = np.column_stack([np.linspace(1.0, 0.0, n), np.linspace(0.0, 1.0, n)])
    result = ask(X, U, sample_size=20, faithful=faithful)
    assert result.complete
    assert_allclose(result.clustering.memberships.sum(axis=1), 1.0)
    if not faithful:  # every item was drawn, and keeps its answer
        assert_allclose(result.clustering.memberships, U, atol=1e-12)


def test_the_only_member_of_a_cluster_is_not_lost_note_n17():
    # All of the second cluster's weight is in the one item that no bin of Algorithm 6 holds.
    X = np.concatenate([np.random.default_rng(0).normal(size=(999, 1)), [[50.0]]])
    U = np.eye(2)[[0] * 999 + [1]]
    for seed in range(5):
        result = ask(X, U, seed, sample_size=30)
        assert result.complete
        assert_allclose(result.clustering.centers[1], [50.0])
        assert result.n_queries < 150


def test_a_tiny_cluster_costs_no_more_questions_than_a_large_one():
    def cost(sizes):
        planted = make_cores_and_arms(sizes, rng=np.random.default_rng(0))
        result = ask(planted.X, planted.memberships)
        error = np.linalg.norm(result.clustering.centers - planted.centers, axis=1)
        return result.n_queries, error.max()

    large, _ = cost([1000, 1000])
    tiny, error = cost([1990, 10])
    assert tiny < 1.5 * large
    assert error < 0.1


def test_no_more_is_asked_than_there_is_note_n30(fuzzy_target):
    X, U = fuzzy_target(100, 2)
    assert ask(X, U, sample_size=500, bin_size=500).n_queries == 100
    raw = ask(X, U, sample_size=100, bin_size=500).clustering.diagnostics.queries_raw
    assert sum(raw.values()) - raw["sampling"] <= 100  # beyond the sample nothing twice


# ---- Algorithm 6 ------------------------------------------------------------------------------


@FAITHFUL
def test_lemma_membership2_holds_on_planted_data(drive, faithful):
    n_bins = 0
    for seed in range(20):
        planted = make_cores_and_arms([600, 200 + 20 * seed], rng=np.random.default_rng(seed))
        X, U = planted.X, planted.memberships
        ranking = ItemSet(X).rank(Scorer(centers=planted.centers[:1], order="distance"))
        state = SearchState(
            ItemSet(X), 2, fuzzifier=2.0, order="distance", faithful=faithful,
            rng=np.random.default_rng(0),
        )  # fmt: skip
        found, _ = drive(geometric_bins(ranking, state, 1), U)
        check_bins(found, U)
        n_bins += len(found.bins)
        assert (U[found.rest, 1] == 0.0).all()
    assert n_bins >= 40  # there are bins to speak of


@FAITHFUL
def test_lemma_membership2_holds_over_many_magnitudes(drive, faithful):
    memberships = 0.9 * np.exp(-np.linspace(60.0, 0.0, 5000))
    found, _, U = bins_of(drive, memberships, faithful=faithful)
    check_bins(found, U)
    assert len(found.bins) >= 30
    # What is left is next to nothing: 3 log2(n) halvings.
    assert len(found.rest) > 0
    assert U[found.rest, 1].max() <= 0.9 / 5000.0**2.9


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(2, 300), st.booleans())
def test_lemma_membership2_holds_for_any_rising_memberships(drive, seed, n, faithful):
    rng = np.random.default_rng(seed)
    memberships = np.sort(rng.random(n) ** rng.integers(1, 12))
    memberships[: rng.integers(n)] = 0.0
    found, _, U = bins_of(drive, memberships, faithful=faithful)
    check_bins(found, U)


@FAITHFUL
def test_the_strongest_item_is_special_note_n17(drive, faithful):
    found, _, U = bins_of(drive, np.linspace(0.0, 1.0, 500) ** 3, faithful=faithful)
    assert U[:, 1].argmax() in found.special


@FAITHFUL
def test_the_walk_ends_at_the_first_rank_note_n17(drive, faithful):
    # No membership is below half the largest: one bin takes all, and nothing is left over.
    found, ledger, _ = bins_of(drive, np.linspace(0.6, 0.9, 1000), faithful=faithful)
    assert [len(rows) for rows in found.bins] == [999]
    assert len(found.rest) == 0
    assert ledger.n_distinct <= 11
    # Few items, each half the next: all are special, down to the first.
    found, _, _ = bins_of(drive, 2.0 ** np.arange(-9.0, 0.0), faithful=faithful)
    assert len(found.special) == 9
    assert len(found.rest) == 0


@pytest.mark.parametrize("members", [1, 5, 20])
def test_exact_zeros_take_50_questions_at_most_note_n18(drive, members):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        memberships = np.zeros(20_000)
        memberships[-members:] = np.sort(rng.uniform(0.01, 0.9, members))
        found, ledger, U = bins_of(drive, memberships)
        check_bins(found, U)
        assert ledger.n_distinct <= 50  # measured: 27, 27, 42
        assert (U[found.rest, 1] == 0.0).all()
        _, faithful, _ = bins_of(drive, memberships, faithful=True)
        assert faithful.n_distinct <= 60  # measured: 27, 27, 52; searches share nothing here


@FAITHFUL
def test_nothing_but_zeros_ends_at_once_note_n18(drive, faithful):
    found, ledger, _ = bins_of(drive, np.zeros(1000), faithful=faithful)
    assert ledger.n_distinct == 1
    assert len(found.rest) == 999


# ---- Algorithm 7 ------------------------------------------------------------------------------


def first(drive, memberships, threshold, end, **options):
    ranking, state, U = ranked(np.asarray(memberships, dtype=float), **options)
    return drive(first_at_least(ranking, state, 1, threshold, end), U)


@FAITHFUL
def test_an_item_exactly_at_the_threshold_counts_note_n18(drive, faithful):
    memberships = [0.0, 0.25, 0.25, 0.5, 0.5, 0.75]
    assert first(drive, memberships, 0.25, 6, faithful=faithful)[0] == 2
    assert first(drive, memberships, 0.5, 6, faithful=faithful)[0] == 4


@FAITHFUL
def test_the_search_stays_below_the_last_bin_note_n18(drive, faithful):
    memberships = np.linspace(0.0, 1.0, 1000)
    rank, ledger = first(drive, memberships, 0.05, 60, faithful=faithful)
    assert memberships[rank - 1] >= 0.05 > memberships[rank - 2]
    assert ledger.n_distinct <= 6  # of 60 ranks, not of 1,000
    assert all(answer.value <= memberships[59] for answer in ledger.history)


def test_the_smaller_cluster_is_asked_about_directly_note_n18(drive):
    _, ledger = first(drive, np.linspace(0.0, 1.0, 100), 0.3, 100)
    assert {answer.cluster for answer in ledger.history} == {1}


def test_what_is_known_narrows_the_search(drive):
    memberships = np.linspace(0.0, 1.0, 1000)
    ranking, state, U = ranked(memberships)
    rows = ranking.select(np.array([0, 0]), np.array([300, 305]))
    drive(state.known.ask(rows, np.array([1, 1]), "sampling"), U)
    rank, ledger = drive(first_at_least(ranking, state, 1, 0.301, 1000), U)
    assert rank == 302
    assert ledger.n_distinct <= 3


# ---- nobody can say ---------------------------------------------------------------------------


@FAITHFUL
def test_the_search_asks_beside_an_item_that_nobody_can_place(drive, faithful):
    memberships = np.linspace(0.0, 1.0, 101)
    ranking, state, U = ranked(memberships, faithful=faithful)
    unknown = ranking.select(np.array([0]), np.array([51]))  # the first that is asked about
    U[unknown] = np.nan
    rank, ledger = drive(first_at_least(ranking, state, 1, 0.305, 101), U)
    assert rank == 32
    asked = ranking.ranks(0, np.array([answer.items[0] for answer in ledger.history]))
    assert asked[:2].tolist() == [51, 52]


@FAITHFUL
def test_where_nobody_can_say_the_bin_begins_later_than_it_might(drive, faithful):
    ranking, state, U = ranked(np.linspace(0.0, 1.0, 101), faithful=faithful)
    rank, ledger = drive(first_at_least(ranking, state, 1, 0.3, 80), np.full_like(U, np.nan))
    assert rank == 80
    assert ledger.n_distinct == 3


@FAITHFUL
@pytest.mark.parametrize("share", [0.2, 1.0])
def test_bins_hold_every_item_however_little_can_be_said(drive, faithful, share):
    for seed in range(10):
        silent = np.random.default_rng(seed).random(500) < share
        found, ledger, _ = bins_of(
            drive,
            np.linspace(0.0, 1.0, 500) ** 4,
            faithful=faithful,
            table=lambda U, silent=silent: np.where(silent[:, None], np.nan, U),
        )
        everything = np.concatenate([*found.bins, found.special, found.rest])
        assert np.sort(everything).tolist() == list(range(500))
        assert ledger.n_distinct <= 400
