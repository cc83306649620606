"""Items as plans see them: rows by number, ranks for given centres, links applied to all."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from askmeans.exceptions import DataError
from askmeans.fuzzy.items import ItemSet, Ranking, as_items
from askmeans.fuzzy.scores import Link, Scorer

seeds = st.integers(0, 2**32 - 1)


def ranking_of(scores):
    """A ranking with these scores, whatever the items."""
    centers = np.zeros((scores.shape[1], 1))
    return Ranking(Scorer(centers=centers, order="distance"), np.asarray(scores, dtype=float))


def order_of(ranking, cluster=0):
    """All items from the best to the worst."""
    ranks = np.arange(1, ranking.n + 1)
    return ranking.select(np.full(ranking.n, cluster), ranks).tolist()


# ---- what may be items ------------------------------------------------------------------------


def test_nested_lists_and_tables_become_floats():
    for X in ([[1, 2], [3, 4]], pd.DataFrame({"a": [1, 3], "b": [2, 4]})):
        items = as_items(X)
        assert items.n == 2
        assert items.take(np.array([1])).tolist() == [[3.0, 4.0]]


def test_a_table_with_a_column_n_is_a_table():
    items = as_items(pd.DataFrame({"n": [5.0, 6.0, 7.0]}))
    assert items.n == 3
    assert items.take(np.array([2, 0])).tolist() == [[7.0], [5.0]]


def test_single_precision_stays_what_it_is():
    X = np.ones((3, 2), dtype=np.float32)
    items = as_items(X)
    assert np.shares_memory(items.X, X)
    assert items.take(np.array([0])).dtype == np.float64


def test_a_memory_map_is_not_read_into_memory(tmp_path):
    X = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=(5, 2))
    X[:] = np.arange(10).reshape(5, 2)
    items = as_items(np.memmap(tmp_path / "X", dtype=np.float64, mode="r", shape=(5, 2)))
    assert items.take(np.array([4])).tolist() == [[8.0, 9.0]]
    X[4] = -1.0  # items look at the file, not at a copy
    assert items.take(np.array([4])).tolist() == [[-1.0, -1.0]]


def test_items_of_another_kind_are_taken_as_they_are():
    items = ItemSet(np.zeros((4, 1)))
    assert as_items(items) is items


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_the_row_that_is_not_finite_is_named_wherever_it_is(dtype, bad):
    X = np.zeros((9, 2), dtype=dtype)
    X[7, 1] = bad
    with pytest.raises(DataError, match=rf"X must be finite. Got {bad} in row 7, column 1"):
        as_items(X)


@pytest.mark.parametrize(
    "X",
    [
        [],
        [[]],
        [1.0, 2.0],
        3.0,
        [[1.0], [1.0, 2.0]],
        [["a"]],
        [[1j]],
        np.zeros((0, 2), dtype=np.float32),
        np.zeros(3, dtype=np.float32),
        np.float32(3.0),
    ],
)
def test_what_holds_no_rows_of_numbers_is_a_data_error(X):
    with pytest.raises(DataError, match=r"^X must"):
        as_items(X)


def test_rows_taken_are_a_copy():
    X = np.zeros((3, 2))
    as_items(X).take(np.array([0, 1]))[:] = 9.0
    as_items(X).take(slice(None))[:] = 9.0
    assert (X == 0.0).all()


# ---- ranks ------------------------------------------------------------------------------------


def test_ranks_go_by_distance_or_by_relative_distance():
    X = np.array([[5.0], [-10.0], [0.0], [10.0]])
    centers = np.array([[0.0], [10.0]])
    nearest = ItemSet(X).rank(Scorer(centers=centers, order="distance"))
    assert order_of(nearest) == [2, 0, 1, 3]
    # Note N1's example: the farther -10 belongs more to the centre at 0 than 5 does.
    relative = ItemSet(X).rank(Scorer(centers=centers, order="relative"))
    assert order_of(relative) == [2, 1, 0, 3]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_equal_scores_keep_the_order_of_the_rows_note_n13(scores):
    ranking = ranking_of(np.array(scores)[:, None])
    expected = sorted(range(len(scores)), key=lambda row: (scores[row], row))
    assert order_of(ranking) == expected


@given(seeds, st.integers(1, 20), st.integers(1, 3))
def test_the_item_at_an_items_rank_is_that_item(seed, n, k):
    scores = np.random.default_rng(seed).integers(0, 6, size=(n, k))
    ranking = ranking_of(scores)
    rows = np.arange(n)
    for j in range(k):
        ranks = ranking.ranks(j, rows)
        assert sorted(ranks) == list(range(1, n + 1))
        assert (ranking.select(np.full(n, j), ranks) == rows).all()


def test_selection_takes_each_clusters_own_order():
    ranking = ranking_of(np.array([[1, 9], [2, 8], [3, 7]]))
    assert ranking.select(np.array([0, 1, 1]), np.array([1, 1, 3])).tolist() == [0, 2, 0]


@given(seeds, st.integers(1, 20), st.integers(1, 6))
def test_the_level_of_an_item_is_how_many_cuts_it_is_within(seed, n, n_cuts):
    rng = np.random.default_rng(seed)
    ranking = ranking_of(rng.integers(0, 5, size=(n, 2)))
    cuts = rng.integers(0, n + 1, size=n_cuts)
    falling = np.minimum.accumulate(cuts)  # a level is never reached without those below it
    for j in (0, 1):
        ranks = ranking.ranks(j, np.arange(n))
        expected = (ranks[:, None] <= falling).sum(axis=1)
        assert (ranking.levels(j, cuts) == expected).all()


# ---- memberships ------------------------------------------------------------------------------


def test_coordinates_are_those_of_the_scorer():
    X = np.array([[0.0], [3.0], [10.0]])
    scorer = Scorer(centers=np.array([[0.0], [10.0]]), order="relative")
    ranking = ItemSet(X).rank(scorer)
    assert_allclose(ranking.coordinates(0, np.array([0, 1, 2])), [1.0, 49 / 58, 0.0], atol=1e-12)
    assert_allclose(ranking.coordinates(1, np.array([1])), [9 / 58], atol=1e-12)


def test_links_are_applied_to_all_items_and_rows_sum_to_one():
    X = np.array([[0.0], [3.0], [10.0]])
    ranking = ItemSet(X).rank(Scorer(centers=np.array([[0.0], [10.0]]), order="distance"))
    # Distances to 0 are 0, 3, 10; to 10 they are 10, 7, 0.
    links = [
        Link(knots=np.array([-10.0, 0.0]), values=np.array([0.0, 1.0])),
        Link(knots=np.array([0.0]), values=np.array([0.1])),
    ]
    # By the links [1, .1], [.7, .1], [0, .1]; then shifted evenly.
    assert_allclose(ranking.memberships(links), [[0.95, 0.05], [0.8, 0.2], [0.45, 0.55]])


def test_many_items_are_ranked_and_linked_like_few():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(30_000, 2)).round(3)
    ranking = ranking_of(scores)
    knots = np.sort(rng.normal(size=40))
    links = [Link(knots=knots, values=np.linspace(0.1, 0.3, 40))] * 2
    for j in (0, 1):
        order = np.argsort(scores[:, j], kind="stable")
        few = rng.choice(30_000, 200)
        assert (ranking.ranks(j, order[few]) == few + 1).all()
        assert (ranking.select(np.full(200, j), few + 1) == order[few]).all()
        cuts = np.array([30_000, 20_000, 9_999, 9_999, 0])
        within = np.arange(1, 30_001)[:, None] <= cuts
        assert (ranking.levels(j, cuts)[order] == within.sum(axis=1)).all()
    expected = np.interp(-scores, knots, links[0].values)
    expected += (1.0 - expected.sum(axis=1, keepdims=True)) / 2.0
    assert_allclose(ranking.memberships(links), expected, atol=1e-12)


@pytest.mark.parametrize("fuzzifier", [1.0, 2.0])
def test_unsupervised_centers_are_found_without_questions(fuzzifier):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(50, 1)), 100 + rng.normal(size=(50, 1))])
    found = as_items(X.astype(np.float32)).unsupervised_centers(2, fuzzifier, rng)
    assert_allclose(np.sort(found.ravel()), [0.0, 100.0], atol=1.0)
