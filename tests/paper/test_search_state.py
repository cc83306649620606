"""A clustering in the making: answers stand, guesses find their place, centres agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from askmeans.exceptions import MissingClusterWarning
from askmeans.fuzzy.arrays import keep_answers
from askmeans.fuzzy.items import ItemSet
from askmeans.paper.search_state import SearchState

nan = np.nan


def kept(memberships, told):
    """One row of memberships after its answers were written in."""
    row = np.array([memberships], dtype=float)
    keep_answers(row, np.array([0]), np.array([told], dtype=float))
    return row[0]


def state_of(X, k, *, fuzzifier=2.0, order="relative", faithful=False):
    return SearchState(
        ItemSet(np.asarray(X, dtype=float)), k, fuzzifier=fuzzifier, order=order,
        faithful=faithful, rng=np.random.default_rng(0),
    )  # fmt: skip


def test_the_rest_of_a_row_shares_what_is_left_in_proportion():
    assert_allclose(kept([0.5, 0.3, 0.2], [0.0, nan, nan]), [0.0, 0.6, 0.4])
    assert_allclose(kept([0.5, 0.3, 0.2], [nan, 0.9, nan]), [0.5 / 7, 0.9, 0.2 / 7])


def test_the_rest_of_a_row_shares_evenly_where_nothing_was_expected_of_it():
    assert_allclose(kept([1.0, 0.0, 0.0], [0.4, nan, nan]), [0.4, 0.3, 0.3])


def test_a_row_that_was_told_in_full_is_as_told():
    told = [0.7, 0.2, 0.1]
    assert sum(told) != 1.0  # by rounding: no reason to change an answer
    assert kept([0.0, 0.0, 1.0], told).tolist() == told


def test_answers_that_contradict_each_other_are_made_to_sum_to_one():
    assert_allclose(kept([0.2, 0.3, 0.5], [0.9, 0.9, nan]), [0.5, 0.5, 0.0])
    assert_allclose(kept([0.2, 0.3, 0.5], [0.8, 0.8, 0.4]), [0.4, 0.4, 0.2])
    assert_allclose(kept([0.2, 0.3, 0.5], [0.5, 0.2, 0.0]), [0.6, 0.3, 0.1])


def test_noisy_answers_are_cut_to_the_unit_interval():
    assert_allclose(kept([0.5, 0.25, 0.25], [-0.2, nan, nan]), [0.0, 0.5, 0.5])
    assert_allclose(kept([0.5, 0.25, 0.25], [1.2, nan, nan]), [1.0, 0.0, 0.0])


def test_rows_without_an_answer_stay():
    memberships = np.array([[0.5, 0.5], [0.2, 0.8], [0.1, 0.9]])
    keep_answers(memberships, np.array([2, 0]), np.array([[nan, 0.4], [nan, nan]]))
    assert_allclose(memberships, [[0.5, 0.5], [0.2, 0.8], [0.6, 0.4]])


@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_rows_sum_to_one_whatever_was_told(seed, k):
    rng = np.random.default_rng(seed)
    memberships = rng.dirichlet(np.full(k, 0.3), size=8)
    told = np.where(rng.random((8, k)) < 0.4, nan, rng.normal(0.4, 0.5, size=(8, k)))
    keep_answers(memberships, np.arange(8), told)
    assert (memberships >= 0.0).all()
    assert_allclose(memberships.sum(axis=1), 1.0)


def test_guessed_centers_go_where_the_answers_leave_room():
    # Three clouds; items of two have been placed, in clusters 2 and 0. The third must be 1.
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0], [50.0], [100.0]], 20, axis=0) + rng.normal(size=(60, 1))
    state = state_of(X, 3)
    asking = state.known.ask(np.array([0, 0, 45, 45]), np.array([2, 1, 0, 1]), "sampling")
    next(asking)
    with pytest.raises(StopIteration):
        asking.send(np.array([1.0, 0.0, 1.0, 0.0]))
    with pytest.warns(MissingClusterWarning, match="cluster 1, so"):
        found = state.finish(complete=True)
    assert_allclose(found.centers, [X[45], [50.0], X[0]], atol=1.0)
    assert not found.complete


def test_centers_not_found_yet_come_from_all_answers():
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    state = state_of(X, 2)
    asking = state.known.ask(np.arange(4), np.zeros(4, dtype=int), "sampling")
    next(asking)
    with pytest.raises(StopIteration):
        asking.send(np.array([1.0, 1.0, 0.0, 0.0]))
    found = state.finish(complete=False)
    assert_allclose(found.centers, [[0.5], [9.5]])
    assert found.diagnostics.center_radius == [np.inf, np.inf]  # nothing was promised
    assert found.diagnostics.effective_sample_size == [0.0, 0.0]


def test_of_two_clusters_in_the_relative_order_one_search_suffices(drive, fuzzy_target):
    X, U = fuzzy_target(200, 2)
    for order, n_searched in (("relative", 1), ("distance", 2)):
        state = state_of(X, 2, order=order)
        drive(state.sample_rows(20, every_cluster=True), U)
        state.estimates = [state.estimate_from_sample(j) for j in (0, 1)]
        _, ledger = drive(state.search(0.1), U)
        assert len({answer.cluster for answer in ledger.history}) == n_searched
