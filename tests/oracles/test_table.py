"""An oracle that knows all memberships: Definitions 2 and 3, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from askmeans.exceptions import DataError, QueryError
from askmeans.oracles import TableOracle
from askmeans.queries import GroupQueries, MembershipQueries, PairQueries, TripletQueries
from askmeans.testing import OracleContract


def some_memberships(n_items, n_clusters, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(n_clusters), size=n_items)


class TestTableOracle(OracleContract):
    kinds = (*OracleContract.kinds, "relative")

    def make_oracle(self):
        return TableOracle(some_memberships(self.n_items, self.n_clusters))


class TestTableOfLabels(OracleContract):
    def make_oracle(self):
        return TableOracle.from_labels(np.arange(self.n_items) % self.n_clusters)


def test_a_membership_is_the_entry_of_the_table():
    U = some_memberships(5, 3)
    answers = TableOracle(U).answer(MembershipQueries([4, 0, 4], [2, 1, 0]))
    assert answers.tolist() == [U[4, 2], U[0, 1], U[4, 0]]


@given(st.integers(1, 6), st.integers(0, 50))
def test_similarity_is_the_sum_over_clusters_of_products_of_memberships(n_clusters, seed):
    U = some_memberships(4, n_clusters, seed)
    oracle = TableOracle(U)
    pairs = oracle.answer(PairQueries([[0, 3]]))
    triplets = oracle.answer(TripletQueries([[3, 0, 2]]))
    assert_allclose(pairs, [sum(U[0, j] * U[3, j] for j in range(n_clusters))])
    assert_allclose(triplets, [sum(U[3, j] * U[0, j] * U[2, j] for j in range(n_clusters))])


def test_items_of_one_label_are_wholly_similar_and_others_not_at_all():
    oracle = TableOracle.from_labels([7, 3, 7, 7])
    assert oracle.answer(PairQueries([[0, 2], [0, 1]])).tolist() == [1.0, 0.0]
    assert oracle.answer(TripletQueries([[0, 2, 3], [0, 1, 2]])).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    "y", [[30, 10, 20, 10], ["c", "a", "b", "a"], [0.5, -1.0, 0.0, -1.0], ("c", "a", "b", "a")]
)
def test_classes_are_numbered_in_sorted_order(y):
    U = TableOracle.from_labels(y).memberships
    assert U.argmax(axis=1).tolist() == [2, 0, 1, 0]
    assert sorted(set(U.ravel())) == [0.0, 1.0]
    assert U.sum(axis=1).tolist() == [1.0] * 4


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([], r"not empty. Got shape \(0,\)"),
        ([[0], [1]], r"one-dimensional .* Got shape \(2, 1\)"),
        (3, "one-dimensional"),
        (np.array(["a", None, "b"], dtype=object), "numbers only, or words only"),
        ([0.0, np.nan], "a label for every item. Got NaN"),
    ],
)
def test_labels_that_are_none_are_refused(y, message):
    with pytest.raises(DataError, match=message):
        TableOracle.from_labels(y)


@pytest.mark.parametrize("memberships", [[[0.5, 1.5]], [[-0.1, 1.1]], [[np.nan, 1.0]], [], [0.5]])
def test_memberships_that_are_none_are_refused(memberships):
    with pytest.raises(DataError, match="memberships must"):
        TableOracle(memberships)


@pytest.mark.parametrize(
    "queries",
    [MembershipQueries([5, 0], [0, 0]), PairQueries([[0, 5]]), TripletQueries([[0, 5, 1]])],
    ids=lambda queries: queries.kind,
)
def test_an_item_just_beyond_the_table_is_refused(queries):
    with pytest.raises(QueryError, match=r"items 0 to 4. Got item 5"):
        TableOracle(some_memberships(5, 3)).answer(queries)
    assert len(TableOracle(some_memberships(6, 3)).answer(queries)) == len(queries)


def test_a_cluster_just_beyond_the_table_is_refused():
    oracle = TableOracle(some_memberships(5, 3))
    with pytest.raises(QueryError, match=r"clusters 0 to 2. Got cluster 3"):
        oracle.answer(MembershipQueries([0, 0], [2, 3]))


def test_the_callers_table_and_the_answers_may_be_changed_without_harm():
    U = np.array([[1.0, 0.0], [0.25, 0.75]])
    oracle, queries = TableOracle(U), MembershipQueries([1], [0])
    U[1, 0] = 0.0
    oracle.answer(queries)[0] = 0.0
    assert oracle.answer(queries).tolist() == [0.25]


def test_repeats_get_the_same_exact_answer():
    queries = MembershipQueries([1, 1], [0, 0], repeat=[0, 1])
    assert TableOracle([[1.0, 0.0], [0.25, 0.75]]).answer(queries).tolist() == [0.25, 0.25]


def test_of_more_clusters_than_asked_about_the_first_answer_and_the_rest_is_none_of_these():
    oracle = TableOracle([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]])
    assert oracle.answer(GroupQueries([0, 1], 2)).tolist() == [[0.5, 0.25], [0.0, 0.0]]
    with pytest.raises(QueryError, match="3 clusters at most"):
        oracle.answer(GroupQueries([0], 4))
