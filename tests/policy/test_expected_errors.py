"""What is expected of items follows from what was seen of answers."""

import numpy as np
import pytest

from askmeans.policy.calibration import error_by_uncertainty


@pytest.mark.parametrize("power", [0.7, 1.0, 2.0])
def test_errors_where_uncertainty_is_small_follow_from_those_where_it_is_large(power):
    rng = np.random.default_rng(0)
    uncertainty = np.exp(rng.uniform(-3.0, 0.0, size=3000))  # uncertain items are asked
    mistakes = rng.random(3000) < 0.5 * uncertainty**power
    error_of = error_by_uncertainty(uncertainty, 2 / 3 * mistakes, np.ones(3000), 3)
    left = np.linspace(0.01, 0.1, 50)  # those without much are left
    assert error_of(left).mean() == pytest.approx(2 / 3 * 0.5 * (left**power).mean(), rel=0.5)
    assert error_of(np.array([1e6])) == [2 / 3]  # no row can be more wrong
