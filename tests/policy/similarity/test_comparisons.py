"""Rows that explain what people said of items beside each other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans.policy.similarity.comparisons import Expected, comparisons_of, fit_rows
from askmeans.queries import Answers, PairQueries, RelativeQueries, TripletQueries

EYE = np.eye(3)


def answers(*batches):
    return comparisons_of(Answers([(1, queries, np.array(values)) for queries, values in batches]))


def fitted(told, start, *, variance=0.2, **options):
    expected = Expected(
        rows=np.full_like(start, 1.0 / start.shape[1]), variance=np.full(len(start), variance)
    )
    return fit_rows(told, expected, start, levels=options.pop("levels", None), **options)


def test_items_stand_in_the_order_first_asked_about_and_what_nobody_could_say_does_not_count():
    told = answers((PairQueries([[7, 3], [9, 3]]), [0.5, np.nan]), (PairQueries([[3, 1]]), [1.0]))
    assert told.items.tolist() == [7, 3, 1]
    assert told.pairs.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("values", "levels"),
    [([0.0, 1.0], 2), ([0.0, 0.5], 3), ([0.25], 5), ([0.1], 11), ([0.123], None)],
)
def test_the_scale_of_answers_is_seen(values, levels):
    pairs = PairQueries([[0, i + 1] for i in range(len(values))])
    assert answers((pairs, values)).levels == levels


def test_a_pure_anchor_tells_the_membership_to_its_group():
    told = answers((PairQueries([[0, 2], [1, 2]]), [0.7, 0.3]))
    start = np.array([EYE[0], EYE[1], EYE.mean(axis=0)])  # items 0, 2, 1 as asked: 0, 2, then 1
    start = start[[0, 2, 1]]
    expected = Expected(rows=start, variance=np.array([1e-9, 0.2, 1e-9]))
    U, known = fit_rows(told, expected, start, levels=None)
    assert_allclose(U[1], [0.7, 0.3, 0.0], atol=1e-3)
    assert known[1].min() > 0.9


def test_an_answer_that_no_row_explains_hardly_bends_the_others():
    pairs = PairQueries([[0, 4], [1, 4], [2, 4], [3, 4]])
    told = answers((pairs, [1.0, 0.0, 0.0, 0.0]))  # 3 is as 0 is: one of the two is wrong
    start = np.array([EYE[0], EYE.mean(axis=0), EYE[1], EYE[2], EYE[0]])
    expected = Expected(rows=start, variance=np.array([1e-9, 0.2, 1e-9, 1e-9, 1e-9]))
    U, _ = fit_rows(told, expected, start, levels=5, noise=0.05)
    assert np.isin(U[1].argmax(), [0])


def test_a_triplet_tells_what_pairs_leave_open():
    told = answers((TripletQueries([[0, 1, 2]]), [1.0]))
    U, _ = fitted(told, np.array([EYE[0], EYE[0], [0.5, 0.3, 0.2]]))
    assert_allclose(U[2], EYE[0], atol=0.05)


@pytest.mark.parametrize(("value", "group"), [(1.0, 0), (0.0, 1)])
def test_an_item_is_drawn_to_the_one_that_it_is_more_like(value, group):
    told = answers((RelativeQueries([[2, 0, 1]]), [value]))
    start = np.array([EYE.mean(axis=0), EYE[0], EYE[1]])
    U, _ = fitted(told, start, variance=1.0)
    assert U[0, group] > U[0, 1 - group] + 0.1


def test_rows_stay_on_the_simplex():
    rng = np.random.default_rng(0)
    pairs = PairQueries([[i, j] for i in range(8) for j in range(i)])
    told = answers((pairs, rng.random(28)))
    U, known = fitted(told, rng.dirichlet(np.ones(3), size=8), noise=0.1)
    assert_allclose(U.sum(axis=1), 1.0)
    assert U.min() >= 0.0
    assert 0.0 <= known.min() <= known.max() <= 1.0


def test_what_was_not_compared_is_not_known():
    told = answers((PairQueries([[0, 1]]), [0.0]))
    start = np.array([EYE[0], EYE.mean(axis=0)])
    expected = Expected(rows=start, variance=np.array([1e-9, 0.2]))
    U, known = fit_rows(told, expected, start, levels=None)
    assert U[1, 0] < 0.01
    assert known[1, 0] > 0.9
    assert known[1, 1:].max() < 0.6
