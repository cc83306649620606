"""Pairs that are the same or different: few questions while that holds, and nothing lost after."""

import itertools
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_wine
from soaking import in_soak

from askmeans import ActiveFuzzyKMeans, TwoPhase, run
from askmeans.exceptions import LittleInformationWarning, MoreClustersWarning, StopAsking
from askmeans.metrics import matched_accuracy, membership_error
from askmeans.oracles import TableOracle
from askmeans.paper import by_similarity
from askmeans.paper.same_or_different import same_or_different
from askmeans.queries import MembershipQueries
from askmeans.results import Clustering

N = 60


class Counting:
    """Answers from a table; some pairs it cannot say."""

    def __init__(self, U, *, silent=()):
        self.oracle, self.silent, self.asked = TableOracle(U), set(silent), []

    def answer(self, queries):
        pairs = [tuple(sorted(row)) for row in queries.item_table.tolist()]
        self.asked += pairs
        answers = self.oracle.answer(queries)
        return np.where([pair in self.silent for pair in pairs], np.nan, answers)


class Stopping(Counting):
    """Has had enough in the middle of a batch."""

    def __init__(self, U, enough):
        super().__init__(U)
        self.left = enough

    def answer(self, queries):
        answers = super().answer(queries)
        reached = np.arange(len(answers)) < self.left
        self.left -= int(reached.sum())
        if self.left > 0:
            return answers
        raise StopAsking(np.where(reached, answers, np.nan), reached)


def entries(items, n, k, *, size):
    """A plan that asks for rows, so many entries at a time; NaN for what is not told."""
    found, complete = np.full((n, k), np.nan), True
    wanted = [(item, cluster) for item in items for cluster in range(k)]
    for start in range(0, len(wanted), size):
        rows, clusters = np.array(wanted[start : start + size]).T
        try:
            found[rows, clusters] = yield MembershipQueries(rows, clusters)
        except StopAsking as stop:
            found[rows, clusters], complete = stop.answers, False
            break
    return Clustering(
        centers=np.zeros((k, 1)), memberships=found, complete=complete, predictor=None
    )


def sorted_rows(U, *, items=range(N), size=7, oracle=None, budget=None, seed=0):
    """The rows of items by sorting, or else through a pool."""
    n, k = U.shape

    def make(rng):
        rng.random()
        return entries(items, n, k, size=size)

    def otherwise(rng, similar):
        return by_similarity(make(rng), n, k, rng=rng, similar=similar, budget=budget)

    plan = same_or_different(make, otherwise, n, k, rng=np.random.default_rng(seed))
    return run(plan, oracle or Counting(U), budget=budget)


def labels_of(k, seed=0, n=N):
    """Every cluster at least once."""
    rng = np.random.default_rng(seed)
    return rng.permutation(np.concatenate([np.arange(k), rng.integers(k, size=n - k)]))


def dirichlet(k, seed=0, n=N):
    return np.random.default_rng(seed).dirichlet(np.ones(k), size=n)


@pytest.mark.parametrize("k", [2, 3, 5, 8])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_hard_rows_are_found_by_at_most_a_pair_an_item_and_cluster(k, size):
    y = labels_of(k)
    oracle = Counting(np.eye(k)[y])
    found = sorted_rows(np.eye(k)[y], size=size, oracle=oracle).clustering.memberships
    assert set(np.unique(found)) == {0.0, 1.0}
    assert matched_accuracy(y, found.argmax(axis=1)) == 1.0
    # Clusters were asked for in order: once an item's own is known, none of the others is.
    assert len(oracle.asked) == len(set(oracle.asked)) <= (found.argmax(axis=1) + 1).sum()


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_an_answer_in_between_begins_the_pool_with_what_was_told(size):
    U = dirichlet(3)
    U[:20] = np.eye(3)[labels_of(3, n=20)]
    oracle = Counting(U)
    found = sorted_rows(U, size=size, oracle=oracle).clustering.memberships
    assert membership_error(U, found) < 1e-6
    pairs = [items for items in oracle.asked if len(items) == 2]
    assert len(pairs) == len(set(pairs))


def test_an_item_alone_is_not_taken_for_wholly_of_one_cluster():
    U = dirichlet(3)
    found = sorted_rows(U, items=[5], size=1).clustering.memberships[5]
    assert_allclose(np.sort(found), np.sort(U[5]), atol=1e-7)


def test_items_unlike_all_clusters_are_not_sorted_into_one():
    more = Counting(np.eye(4)[labels_of(4)])
    with (
        pytest.warns(MoreClustersWarning, match="4 clusters, more than the 3"),
        pytest.warns(MoreClustersWarning, match="is like no item of the 3 clusters"),
    ):
        result = sorted_rows(np.empty((N, 3)), oracle=more)
    assert result.clustering.diagnostics.similarity["bootstrap_pairs"] > 0


def test_where_nobody_can_say_another_item_of_the_cluster_is_compared():
    y = labels_of(3)
    oracle = Counting(np.eye(3)[y])
    sorted_rows(np.eye(3)[y], oracle=oracle)
    gaps = oracle.asked[60:70]
    silent = Counting(np.eye(3)[y], silent=gaps)
    found = sorted_rows(np.eye(3)[y], oracle=silent).clustering.memberships
    assert set(gaps) <= set(silent.asked)
    assert matched_accuracy(y, np.nan_to_num(found).argmax(axis=1)) == 1.0


@pytest.mark.parametrize("budget", [1, 2, 3, 10, 40])
def test_a_stop_leaves_what_was_told(budget):
    y = labels_of(3)
    result = sorted_rows(np.eye(3)[y], budget=budget)
    whole = sorted_rows(np.eye(3)[y]).clustering.memberships
    found = result.clustering.memberships
    known = ~np.isnan(found)
    assert result.n_queries == budget
    assert known.sum() >= budget
    assert_allclose(found[known], whole[known])


@pytest.mark.parametrize("n_soft", [N, 10])
def test_a_budget_that_pays_no_pool_is_warned_of_and_what_was_answered_counts(n_soft):
    U = np.eye(3)[labels_of(3)]
    U[-n_soft:] = dirichlet(3)[-n_soft:]
    with pytest.warns(LittleInformationWarning, match=r"at least 56 .* unless all answers are 0"):
        result = sorted_rows(U, budget=40, items=range(N - 5, 0, -1))
    assert result.n_queries == 40
    assert (~np.isnan(result.clustering.memberships)).sum() >= 40


def test_similarity_to_the_item_that_stands_for_a_cluster_is_taken_for_a_membership():
    U = np.eye(2)[labels_of(2)]
    U[30] = [0.7, 0.3]
    with pytest.warns(LittleInformationWarning):
        result = sorted_rows(U, budget=14, items=[0, 1, 2, 3, 30, 4], size=1)
    found = result.clustering.memberships
    assert_allclose(np.sort(found[30]), [0.3, 0.7])
    assert set(np.unique(found[[0, 1, 2, 3, 4]])) == {0.0, 1.0}


@pytest.mark.parametrize("soft", [in_soak([]), in_soak([0]), [7], in_soak(range(N))])
def test_a_stop_after_any_answer_gives_a_result(soft):
    U = np.eye(3)[labels_of(3)]
    U[list(soft)] = dirichlet(3)[list(soft)]
    for enough in range(1, 40):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = sorted_rows(U, oracle=Stopping(U, enough), size=5)
        assert len(result.history) == enough


def test_the_smallest_budget_of_a_pool_still_pays_it():
    U = dirichlet(3)
    found = sorted_rows(U, budget=56, items=range(9), size=27).clustering.memberships[:9]
    assert membership_error(U[:9], found) < 1e-6


def test_two_phase_sorts_with_a_pair_an_entry():
    X, y = load_wine(return_X_y=True)
    model = ActiveFuzzyKMeans(
        3, oracle=TableOracle.from_labels(y), ask="pairwise", strategy=TwoPhase(sample_size=40),
        random_state=0,
    ).fit(X)  # fmt: skip
    asked = model.diagnostics_["similarity"]
    assert asked["bootstrap_pairs"] == asked["triplets"] == 0
    pairs = [answer.items for answer in model.history_]
    assert len(pairs) == len({tuple(sorted(pair)) for pair in pairs})
    assert not any(a == b for a, b in itertools.pairwise(pairs))
