"""The order is numpy's stable one, whatever the numbers and however many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from askmeans.fuzzy import items
from askmeans.fuzzy.items import LazyOrder

# Few different values, so that there are ties; both zeros and both infinities.
TIED = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1.5, np.inf, -np.inf, 1e-300, -1e300])


@pytest.fixture(autouse=True, scope="module")
def few():
    """Let short lists be put into buckets, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(items, "FEW", 1)
        yield


@given(arrays(np.float64, st.integers(0, 40), elements=TIED | st.floats(allow_nan=False)))
def test_it_is_the_stable_order(values):
    before = values.copy()
    expected = np.argsort(values, kind="stable")
    order = LazyOrder(values)
    assert order.places(expected).tolist() == list(range(len(values)))
    assert order.at(np.arange(len(values))).tolist() == expected.tolist()
    assert values.tolist() == before.tolist()


def test_many_numbers_and_a_column_of_a_table():
    table = np.random.default_rng(0).normal(size=(30_000, 2)).round(3)
    expected = np.argsort(table[:, 1], kind="stable")
    assert (LazyOrder(table[:, 1]).at(np.arange(30_000)) == expected).all()


def test_only_what_is_looked_at_is_sorted():
    values = np.random.default_rng(0).permutation(30_000).astype(float)
    order = LazyOrder(values)
    assert order.at(np.array([9_999])) == np.flatnonzero(values == 9_999.0)
    assert not (order.cut_at(np.array([9_999])) == np.argsort(values)).all()


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 200), max_size=4))
def test_cuts_part_what_comes_before_from_what_comes_after(seed, places):
    values = np.random.default_rng(seed).integers(0, 50, 200).astype(float)
    found = LazyOrder(values).cut_at(np.array(places, dtype=np.intp))
    expected = np.argsort(values, kind="stable")
    for place in places:
        assert set(found[:place]) == set(expected[:place])
