"""Leave-one-out in closed form."""

import numpy as np
from numpy.testing import assert_allclose

from askmeans.fuzzy.items import as_items
from askmeans.policy.models.gaussian_process import gp_rbf, leave_one_out, prior_mean
from askmeans.policy.models.training import Training
from askmeans.policy.pool import Pool


def told(Y):
    n = len(Y)
    return Training.of(np.arange(n), Y, np.ones(n), np.arange(1.0, n + 1.0))


def test_soft_answers_give_their_mean_and_hard_or_few_ones_are_nearer_to_even():
    rng = np.random.default_rng(0)
    soft, hard = rng.dirichlet([3.0, 1.0, 1.0], size=12), np.eye(3)[np.zeros(12, dtype=int)]
    mean = np.average(soft, axis=0, weights=np.arange(1.0, 13.0))
    assert_allclose(prior_mean(told(soft)), mean)
    assert 0.0 < prior_mean(told(hard))[1] < 0.1
    few = np.average(soft[:4], axis=0, weights=np.arange(1.0, 5.0))
    assert np.ptp(prior_mean(told(soft[:4]))) < np.ptp(few)


def test_leave_one_out_is_what_leaving_one_out_gives():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(9, 9))
    C, Y = A @ A.T + np.eye(9), rng.normal(size=(9, 2))
    coefficients, held_out = leave_one_out(C, Y)
    assert_allclose(coefficients, np.linalg.solve(C, Y))
    for i in range(9):
        others = np.arange(9) != i
        # The noise is on the diagonal, which a prediction does not see.
        expected = C[i, others] @ np.linalg.solve(C[np.ix_(others, others)], Y[others])
        assert_allclose(held_out[i], expected)


def test_where_most_answered_items_are_twins_others_still_hear_from_those_near():
    rng = np.random.default_rng(0)
    X = np.concatenate([np.zeros((30, 2)), [[4.0, 4.0]] * 6, rng.normal(2.0, 1.0, size=(10, 2))])
    labels = (X.sum(axis=1) > 4.0).astype(int)
    pool = Pool(as_items(X), 2, 2.0, np.random.default_rng(0))
    answered = np.arange(40)
    found = gp_rbf(pool, told(np.eye(2)[labels[answered]])).predict
    assert found(np.array([[0.1, 0.0], [3.9, 4.0]])).argmax(axis=1).tolist() == [0, 1]


def test_a_single_answer_and_nothing_but_twins_are_no_mistake():
    X = np.ones((8, 2))
    X[7] = 5.0
    pool = Pool(as_items(X), 2, 2.0, np.random.default_rng(0))
    for n in (1, 5):
        found = gp_rbf(pool, told(np.eye(2)[np.zeros(n, dtype=int)]))
        assert_allclose(found.pool.sum(axis=1), 1.0)
