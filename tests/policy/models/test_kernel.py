"""Leave-one-out in closed form."""

import numpy as np
from numpy.testing import assert_allclose

from askmeans.policy.models.kernel import leave_one_out


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
