"""Algorithms 2 and 3: where memberships fall below s * eta, in how many questions and rounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askmeans.fuzzy.items import Ranking
from askmeans.fuzzy.scores import Scorer
from askmeans.paper.known import KnownMemberships
from askmeans.paper.search import Bounds, n_thresholds, search_cuts

N = 200_000
PLACE = np.linspace(0.0, 1.0, N)
SMOOTH = {
    "straight": 1.0 - PLACE,
    "logistic": 1.0 / (1.0 + np.exp(12.0 * (PLACE - 0.3))),
    "fuzzy k-means": 1.0 / (1.0 + (PLACE / 0.4) ** 2),
    "steep": 1.0 / (1.0 + np.exp(200.0 * (PLACE - 0.01))),
    "constant": np.full(N, 0.55),
}


def ranked(memberships, seed=0):
    """Memberships by rank as a table of items in random order, and the ranking that tells."""
    columns = np.atleast_2d(memberships)
    k, n = columns.shape
    rng = np.random.default_rng(seed)
    scores, U = np.empty((n, k)), np.empty((n, k))
    for j, column in enumerate(columns):
        order = rng.permutation(n)
        scores[order, j] = np.arange(n)
        U[order, j] = column
    return Ranking(Scorer(centers=np.zeros((k, 1)), order="distance"), scores), U


def search(drive, memberships, *, precision=0.1, faithful=False, answers=None, table=None):
    """Cuts, the ledger and the answers of a search through memberships given by rank."""
    ranking, U = ranked(memberships)
    k = U.shape[1]
    # One cluster more than is searched, so that no entry follows from the others.
    answers = answers or KnownMemberships(k + 1, faithful=faithful)
    asking = search_cuts(ranking, np.arange(k), np.arange(k), answers, precision, "search")
    cuts, ledger = drive(asking, U if table is None else table(U))
    return cuts, ledger, answers


def literal_cuts(memberships, precision=0.1):
    falling = np.atleast_2d(memberships)
    S = n_thresholds(precision)
    return np.array(
        [[(row >= s * precision - 1e-12).sum() for s in range(1, S + 1)] for row in falling]
    )


def falling(seed, n, k=1):
    return -np.sort(-np.random.default_rng(seed).random((k, n)), axis=1)


# ---- thresholds -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("precision", "S"),
    [(0.1, 10), (0.3, 3), (0.25, 4), (1 / 3, 3), (1.0, 1), (0.05, 20), (0.7, 1), (1 / 93, 93)],
)
def test_there_are_as_many_thresholds_as_fit_below_one_note_n13(precision, S):
    assert n_thresholds(precision) == S


def test_answers_on_a_scale_of_eleven_points_reach_their_thresholds_note_n13(drive):
    # 3 * .1 exceeds .3, and 7 * .1 exceeds .7: without slack these items would fall a bin.
    memberships = np.repeat(np.arange(10, -1, -1) / 10, 20)
    cuts, _, _ = search(drive, memberships, faithful=True)
    ranking, U = ranked(memberships)
    assert (ranking.levels(0, cuts[0]) == np.rint(U[:, 0] * 10)).all()


@pytest.mark.parametrize("faithful", [False, True])
def test_no_item_reaches_the_threshold_so_no_item_is_above_it_note_n14(drive, faithful):
    cuts, _, _ = search(drive, np.linspace(0.35, 0.0, 50), faithful=faithful)
    assert (cuts[0, 3:] == 0).all()  # not 1: the best item is not given 1.0
    ranking, _ = ranked(np.linspace(0.35, 0.0, 50))
    assert ranking.levels(0, cuts[0]).max() == 3


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("faithful", [False, True])
def test_a_single_item_and_few_are_searched_too(drive, n, faithful):
    for value in (0.0, 0.44, 1.0):
        cuts, ledger, _ = search(drive, np.full(n, value), faithful=faithful)
        assert ledger.n_distinct <= n
        expected = np.where(np.arange(1, 11) <= value * 10, n, 0)
        if faithful:
            assert cuts[0].tolist() == expected.tolist()


# ---- faithful ---------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.sampled_from([0.1, 0.3, 0.04]))
def test_faithful_cuts_are_exact_and_cost_what_the_listing_costs(
    drive, binary_search_listing, seed, n, precision
):
    memberships = falling(seed, n, k=2)
    cuts, ledger, answers = search(drive, memberships, precision=precision, faithful=True)
    literal = [
        [binary_search_listing(row, s * precision) for s in range(1, n_thresholds(precision) + 1)]
        for row in memberships
    ]
    assert cuts.tolist() == [[last for last, _ in row] for row in literal]
    assert cuts.tolist() == literal_cuts(memberships, precision).tolist()
    assert ledger.n_raw == answers.raw["search"] == sum(q for row in literal for _, q in row)
    assert ledger.n_distinct == answers.distinct["search"] <= 2 * n


@given(st.integers(0, 2**32 - 1))
def test_faithful_searches_stay_literal_where_memberships_do_not_fall(
    drive, binary_search_listing, seed
):
    memberships = np.random.default_rng(seed).random(40)
    cuts, ledger, _ = search(drive, memberships, faithful=True)
    literal = [binary_search_listing(memberships, s / 10) for s in range(1, 11)]
    assert cuts[0].tolist() == [last for last, _ in literal]
    assert ledger.n_raw == sum(queries for _, queries in literal)


# ---- ours -------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.integers(1, 200), st.sampled_from([0.1, 0.3, 0.04, 1.0]))
def test_a_search_ends_with_every_item_known_to_the_precision(drive, seed, n, precision):
    memberships = falling(seed, n)
    _, _, answers = search(drive, memberships, precision=precision)
    ranking, _ = ranked(memberships)
    ranks = ranking.ranks(0, answers.items)
    # Between two neighbours of known membership every item is known by their difference.
    known = np.full(n + 2, np.nan)
    known[0], known[-1] = 1.0, 0.0
    known[ranks] = answers.values[:, 0]
    ends = np.flatnonzero(~np.isnan(known))
    gaps, steps = np.diff(ends), -np.diff(known[ends])
    assert (steps[gaps > 1] <= precision + 1e-9).all()


@given(st.integers(0, 2**32 - 1), st.integers(1, 200))
def test_cuts_lie_within_the_precision_of_their_thresholds(drive, seed, n):
    memberships = falling(seed, n)
    cuts, _, _ = search(drive, memberships)
    for s, cut in enumerate(cuts[0], start=1):
        below = memberships[0, cut] if cut < n else 0.0
        above = memberships[0, cut - 1] if cut else 1.0
        assert above >= s / 10 - 1e-9
        assert below <= s / 10 + 0.1 + 1e-9


def test_searches_of_one_cluster_share_what_they_learn_note_n25(drive):
    for memberships in SMOOTH.values():
        _, ours, _ = search(drive, memberships)
        _, literal, _ = search(drive, memberships, faithful=True)
        assert ours.n_distinct < literal.n_distinct / 2 or ours.n_distinct <= 40
        assert ours.n_raw == ours.n_distinct


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("faithful", [False, True])
def test_200_000_items_take_160_questions_a_cluster_and_20_rounds_at_most(drive, name, faithful):
    _, ledger, _ = search(drive, SMOOTH[name], faithful=faithful)
    assert ledger.n_distinct <= 160  # measured: 12 to 34, faithful 34 to 152
    assert ledger.n_rounds <= 20  # measured: 4 to 18, faithful 18


def test_clusters_are_searched_in_lockstep(drive):
    memberships = np.array([SMOOTH["fuzzy k-means"], SMOOTH["straight"], SMOOTH["steep"]])[:, ::100]
    together = search(drive, memberships)[1]
    alone = [search(drive, row)[1] for row in memberships]
    assert together.n_rounds == max(ledger.n_rounds for ledger in alone)
    assert together.n_distinct == sum(ledger.n_distinct for ledger in alone)


def test_what_is_known_already_narrows_the_search(drive):
    memberships = 1.0 - PLACE[::100]
    fresh = search(drive, memberships)[1]
    _, U = ranked(memberships)
    answers = KnownMemberships(2, faithful=False)
    rows = np.random.default_rng(1).permutation(len(U))[:100]
    drive(answers.ask(rows, np.zeros(100, dtype=int), "sampling"), U)
    informed = search(drive, memberships, answers=answers)[1]
    assert informed.n_distinct < fresh.n_distinct / 2


def test_clusters_have_their_own_columns_of_the_ranking(drive):
    ranking, U = ranked(np.array([SMOOTH["straight"], SMOOTH["fuzzy k-means"]])[:, ::1000])
    answers = KnownMemberships(6, faithful=True)
    wide = np.zeros((len(U), 6))
    wide[:, 4] = U[:, 1]
    asking = search_cuts(ranking, np.array([1]), np.array([4]), answers, 0.1, "search")
    cuts, _ = drive(asking, wide)
    assert cuts.tolist() == literal_cuts(SMOOTH["fuzzy k-means"][::1000]).tolist()


# ---- nobody can say ---------------------------------------------------------------------------


@pytest.mark.parametrize("faithful", [False, True])
def test_a_search_asks_beside_an_item_that_nobody_can_place(drive, faithful):
    memberships = 1.0 - PLACE[::200]

    def silent(U):
        return np.where(np.arange(len(U))[:, None] % 5 == 0, np.nan, U)

    cuts, ledger, _ = search(drive, memberships, faithful=faithful, table=silent)
    assert np.abs(cuts[0] - literal_cuts(memberships)[0]).max() <= (2 if faithful else 100)
    assert ledger.n_distinct <= 160


@pytest.mark.parametrize("faithful", [False, True])
def test_a_search_gives_up_where_nobody_can_say_anything(drive, faithful):
    cuts, ledger, _ = search(
        drive, 1.0 - PLACE[::200], faithful=faithful, table=lambda U: U * np.nan
    )
    assert ledger.n_distinct <= 50  # five for each threshold, at most
    assert (cuts == 0).all()  # no item is known to be above


@pytest.mark.parametrize("seed", range(20))
def test_answers_learnt_at_once_narrow_as_much_as_one_by_one(seed):
    rng = np.random.default_rng(seed)
    n, thresholds = 30, np.linspace(0.1, 1.0, 10)
    ranks = rng.choice(np.arange(1, n + 1), size=12, replace=False)
    values = rng.random(12).round(1)  # not falling: contradictions, too
    values[rng.random(12) < 0.2] = np.nan
    places = rng.integers(2, size=12)
    at_once, one_by_one = Bounds(n, 2, 10), Bounds(n, 2, 10)
    at_once.learn(places, ranks, values, thresholds)
    for i in range(12):
        one_by_one.learn(places[[i]], ranks[[i]], values[[i]], thresholds)
    for name in ("low", "high", "above", "below"):
        assert (getattr(at_once, name) == getattr(one_by_one, name)).all()
    assert at_once.silent == one_by_one.silent
