"""The number of groups among items that belong to none."""

import numpy as np
import pytest

from askmeans.policy.hidden_groups import n_hidden_groups


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("d", [1, 2, 10])
def test_groups_are_counted_and_a_single_one_is_not_split(count, d):
    rng = np.random.default_rng(d)
    centers = 12.0 * np.arange(count)[:, None] * np.eye(d)[0] + 0.0
    Z = np.concatenate([center + rng.normal(size=(50, d)) for center in centers])
    assert n_hidden_groups(Z, n_answered=20) == count


def test_two_items_make_no_more_than_one_group():
    assert n_hidden_groups(np.array([[0.0], [9.0]]), n_answered=2) == 1
