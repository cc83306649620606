"""The typical row."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans.fuzzy.items import ItemSet
from askmeans.policy.models.linear import median_row
from askmeans.policy.models.training import Training
from askmeans.policy.pool import Pool


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9])
def test_each_answer_is_held_out_from_the_medians_of_the_others(n):
    rng = np.random.default_rng(n)
    Y = np.round(rng.dirichlet(np.ones(3), size=n), 1)  # with ties
    Y /= Y.sum(axis=1, keepdims=True)
    pool = Pool(ItemSet(rng.normal(size=(20, 2))), 3, 2.0, rng)
    found = median_row(pool, Training.of(np.arange(n), Y, np.ones(n), np.ones(n)))
    assert_allclose(found.pool, np.repeat(medians(Y)[None], 20, axis=0))
    for i in range(n):
        others = np.delete(Y, i, axis=0)
        expected = medians(others) if n > 1 else np.full(3, 1 / 3)
        assert_allclose(found.held_out[i], expected, atol=1e-8)


def medians(Y):
    row = np.median(Y, axis=0) + 1e-9
    return row / row.sum()
