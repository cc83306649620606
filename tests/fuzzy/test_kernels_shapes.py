"""Many features or many centres: the same sums and memberships by other loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans.fuzzy import kernels, lloyd
from askmeans.fuzzy.blocks import MANY
from askmeans.fuzzy.kernels import MANY_WIDE, WIDE
from askmeans.fuzzy.model import closed_form_memberships, objective, weighted_centers
from askmeans.fuzzy.passes import read_only


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [3, 64, 199])
@pytest.mark.parametrize(
    ("d", "k"),
    [(WIDE - 1, 5), (WIDE, 5), (101, 5), (16, MANY), (47, MANY + 1), (WIDE, MANY_WIDE), (50, 30),
     (5, 27)],
)  # fmt: skip
def test_items_of_any_shape_have_the_sums_and_memberships_of_the_model(d, k, n, dtype):
    rng = np.random.default_rng(d + n)
    X, centers = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(k, d))
    weights, shift = rng.random(n), rng.normal(size=d)
    inner = (centers - shift) * 0.5
    items = read_only(X)  # as in a fit: nothing is compiled anew
    moments, totals, found = kernels.accumulate(items, weights, inner, shift, 0.5, 1.7)
    U = closed_form_memberships(X, centers, 1.7)
    expected = weighted_centers(X, U, 1.7, sample_weight=weights)
    assert_allclose(moments / totals[:, None] / 0.5 + shift, expected, rtol=1e-9, atol=1e-9)
    assert_allclose(found / 0.25, objective(X, centers, U, 1.7, sample_weight=weights))
    assert_allclose(
        lloyd.memberships(X, centers, 1.7), U, atol=1e-6 if dtype is np.float32 else 1e-12
    )
