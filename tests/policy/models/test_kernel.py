"""Leave-one-out in closed form."""

import numpy as np
from numpy.testing import assert_allclose

from askmeans.policy.models.kernel import leave_one_out, prior_mean
from askmeans.policy.models.training import Training


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
