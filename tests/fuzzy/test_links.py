"""The link from score to membership: through the answers, monotone, and never outside [0, 1]."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from askmeans.fuzzy.links import Link, interpolate, largest_inversion, learn_link

coordinates = st.integers(0, 6).map(float)
answers = st.one_of(st.just(float("nan")), st.floats(0.0, 1.0))
told = st.lists(st.tuples(coordinates, answers), min_size=1, max_size=15)


def arrays(pairs):
    x, y = zip(*pairs, strict=True)
    return np.array(x), np.array(y)


def test_a_link_is_straight_between_knots_and_constant_beyond_them():
    link = Link(knots=np.array([0.0, 1.0, 3.0]), values=np.array([0.2, 0.4, 1.0]))
    assert_allclose(link(np.array([-5.0, 0.0, 0.5, 2.0, 3.0, 9.0])), [0.2, 0.2, 0.3, 0.7, 1.0, 1.0])


def test_a_link_without_knots_is_the_coordinate_cut_to_the_unit_interval():
    link = Link(knots=np.empty(0), values=np.empty(0))
    assert link(np.array([-1.0, 0.25, 7.0])).tolist() == [0.0, 0.25, 1.0]


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20, unique=True),
    st.lists(st.floats(), max_size=20),
)
def test_many_coordinates_are_interpolated_like_few(knots, x):
    knots = np.sort(knots)
    values = np.linspace(0.0, 1.0, len(knots))
    x = np.concatenate([x, knots, knots[:-1] + np.diff(knots) / 3.0])
    with np.errstate(all="ignore"):
        assert_allclose(interpolate(x, knots, values), np.interp(x, knots, values), atol=1e-12)


def test_answers_in_order_stand_as_given():
    x = np.array([5.0, 1.0, 3.0])
    link = learn_link(x, np.array([0.9, 0.1, 0.1]))
    assert link(x).tolist() == [0.9, 0.1, 0.1]


def test_answers_that_contradict_the_order_are_averaged_by_their_number():
    # Three answers at 0 average 1, one at 1 says 0: the order allows one value, 3/4.
    link = learn_link(np.array([0.0, 0.0, 0.0, 1.0]), np.array([1.0, 1.0, 1.0, 0.0]))
    assert_allclose(link(np.array([0.0, 1.0])), [0.75, 0.75])


def test_unknown_answers_are_left_out():
    link = learn_link(np.array([0.0, 1.0, 2.0]), np.array([0.2, np.nan, 0.4]))
    assert link.knots.tolist() == [0.0, 2.0]
    assert_allclose(link(np.array([1.0])), 0.3)


def test_nothing_known_gives_the_link_without_knots():
    link = learn_link(np.array([0.0, 1.0]), np.array([np.nan, np.nan]))
    assert len(link.knots) == 0
    assert len(learn_link(np.empty(0), np.empty(0)).knots) == 0


def test_answers_outside_the_unit_interval_are_cut_to_it():
    link = learn_link(np.array([0.0, 1.0]), np.array([-0.3, 1.4]))
    assert link.values.tolist() == [0.0, 1.0]


@given(told)
def test_a_link_is_the_isotonic_regression_of_the_answers(pairs):
    x, y = arrays(pairs)
    link = learn_link(x, y)
    x, y = x[~np.isnan(y)], y[~np.isnan(y)]
    # The min-max formula: at each knot, the largest over starts of the least over ends of means.
    for knot, value in zip(link.knots, link.values, strict=True):
        expected = max(
            min(y[(x >= a) & (x <= b)].mean() for b in set(x) if b >= knot)
            for a in set(x)
            if a <= knot
        )
        assert value == pytest.approx(expected, abs=1e-12)
    assert link.knots.tolist() == sorted(set(x))


@given(told, st.lists(st.floats(-10.0, 10.0), min_size=2, max_size=20))
def test_a_link_never_falls_and_stays_in_the_unit_interval(pairs, where):
    values = learn_link(*arrays(pairs))(np.sort(where))
    assert (np.diff(values) >= -1e-12).all()
    assert ((values >= 0.0) & (values <= 1.0)).all()


# ---- inversions -------------------------------------------------------------------------------


def test_the_largest_inversion_is_a_worse_rank_with_a_larger_answer():
    ranks = np.array([3, 1, 2, 4])
    assert largest_inversion(ranks, np.array([0.1, 0.9, 0.4, 0.8])) == pytest.approx(0.7)
    assert largest_inversion(ranks, np.array([0.4, 0.9, 0.4, 0.1])) == 0.0


@given(st.lists(answers, max_size=12), st.integers(0, 2**32 - 1))
def test_the_largest_inversion_is_that_of_all_pairs(values, seed):
    y = np.array(values, dtype=float)
    ranks = np.random.default_rng(seed).permutation(len(y)) + 1
    pairs = [y[b] - y[a] for a in range(len(y)) for b in range(len(y)) if ranks[a] < ranks[b]]
    expected = max((gap for gap in pairs if not np.isnan(gap)), default=0.0)
    assert largest_inversion(ranks, y) == max(expected, 0.0)
