"""Planted clusterings satisfy the assumptions of the paper."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from askmeans import metrics
from askmeans.datasets import make_cores_and_arms
from askmeans.exceptions import ParameterError
from askmeans.fuzzy import weighted_centers


def make(core_sizes, seed=0, **options):
    return make_cores_and_arms(core_sizes, rng=np.random.default_rng(seed), **options)


def check_assumptions(planted, fuzzifier):
    X, centers, U = planted.X, planted.centers, planted.memberships
    assert metrics.largest_inversion(X, centers, U) <= 1e-9
    assert_allclose(centers, weighted_centers(X, U, fuzzifier), atol=1e-9)
    assert_allclose(U.sum(axis=1), 1.0)


@pytest.mark.parametrize("fuzzifier", [1.0, 1.05, 1.5, 2.0, 5.0])
@pytest.mark.parametrize(
    "core_sizes",
    [
        [800, 100],
        [100, 100],
        [600, 400, 200],
        [80] * 4,
        [90, 70, 50, 30, 10],
        [60, 50, 40, 30, 20, 6],
    ],
)
def test_memberships_are_monotone_and_centers_consistent(core_sizes, fuzzifier):
    for seed in range(3):
        check_assumptions(make(core_sizes, seed, fuzzifier=fuzzifier), fuzzifier)


@given(
    core_sizes=st.lists(st.integers(1, 40), min_size=2, max_size=6),
    fuzzifier=st.floats(1.0, 6.0),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_sizes_and_fuzzifiers_satisfy_the_assumptions(core_sizes, fuzzifier, seed):
    check_assumptions(make(core_sizes, seed, fuzzifier=fuzzifier), fuzzifier)


def test_arms_are_soft_and_cores_are_not():
    U = make([60, 40, 20]).memberships
    own = np.sort(U.max(axis=1))
    arms, cores = own[:30], own[30:]
    assert len(own) == 60 + 40 + 20 + 3 * 10
    assert (cores == 1.0).all()
    assert ((arms >= 1 / 3) & (arms < 1.0)).all()
    assert arms.max() > 0.9  # all the way from 1 / k
    assert arms.min() < 0.45
    # What an item does not give to its own cluster it shares evenly.
    assert_allclose(np.sort(U, axis=1)[:, 0], np.sort(U, axis=1)[:, 1])


def test_items_have_one_feature_less_than_there_are_clusters():
    assert make([10, 10]).X.shape == (30, 1)
    assert make([10] * 5).X.shape == (75, 4)


def test_arms_have_the_size_asked_for_and_none_is_allowed():
    assert len(make([20, 30], arm_size=3).X) == 56
    hard = make([20, 30], arm_size=0)
    assert len(hard.X) == 50
    assert set(hard.memberships.ravel()) == {0.0, 1.0}
    check_assumptions(hard, 2.0)


def test_clusters_have_the_sizes_given_in_their_order():
    U = make([30, 50, 20], arm_size=0).memberships
    assert U.sum(axis=0).tolist() == [30.0, 50.0, 20.0]


def test_items_come_in_random_order():
    labels = make([50, 50], arm_size=0).memberships.argmax(axis=1)
    assert (np.diff(labels) != 0).sum() > 25


def test_the_same_generator_gives_the_same_data():
    assert (make([9, 9], 3).X == make([9, 9], 3).X).all()
    assert (make([9, 9], 3).X != make([9, 9], 4).X).any()


@pytest.mark.parametrize(
    ("core_sizes", "options", "message"),
    [
        ([], {}, r"'core_sizes' .* at least two clusters. Got \[\] instead"),
        ([5], {}, r"'core_sizes' .* at least two clusters. Got \[5\] instead"),
        ([5, 0], {}, r"'core_sizes' .* \[1, inf\). Got 0 instead"),
        ([5, 2.5], {}, r"'core_sizes' .* an int .* Got 2.5 instead"),
        ([9, 6], {"arm_size": 4}, r"'arm_size' .* at most half the smallest core, 3. Got 4"),
        ([9, 6], {"arm_size": -1}, r"'arm_size' .* \[0, inf\). Got -1 instead"),
        ([9, 6], {"arm_size": 1.5}, r"'arm_size' .* an int .* Got 1.5 instead"),
        ([9, 6], {"fuzzifier": 0.9}, r"'fuzzifier' .* \[1, inf\). Got 0.9 instead"),
    ],
)
def test_bad_parameters_are_named(core_sizes, options, message):
    with pytest.raises(ParameterError, match=message):
        make(core_sizes, **options)
