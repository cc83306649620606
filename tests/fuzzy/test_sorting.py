"""The order is numpy's stable one, whatever the numbers and however many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from askmeans.fuzzy import sorting
from askmeans.fuzzy.sorting import stable_order

# Few different values, so that there are ties; both zeros and both infinities.
TIED = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1.5, np.inf, -np.inf, 1e-300, -1e300])


@pytest.fixture(autouse=True, scope="module")
def few():
    """Let the compiled sort see short lists, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "_FEW", 0)
        yield


@given(arrays(np.float64, st.integers(0, 40), elements=TIED | st.floats(allow_nan=False)))
def test_it_is_the_stable_order(values):
    before = values.copy()
    assert stable_order(values).tolist() == np.argsort(values, kind="stable").tolist()
    assert values.tolist() == before.tolist()


def test_many_numbers_and_a_column_of_a_table():
    table = np.random.default_rng(0).normal(size=(30_000, 2)).round(3)
    assert (stable_order(table[:, 1]) == np.argsort(table[:, 1], kind="stable")).all()


def test_nan_comes_last_as_with_numpy():
    assert stable_order(np.array([np.nan, 1.0, -np.nan, 0.0])).tolist() == [3, 1, 0, 2]
