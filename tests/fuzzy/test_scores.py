"""Scores order items as memberships do, and links follow the answers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from askmeans.fuzzy import closed_form_memberships, squared_distances
from askmeans.fuzzy.scores import (
    Link,
    Scorer,
    fit_fuzzifier,
    interpolate,
    largest_inversion,
    learn_link,
)

FUZZIFIERS = [1.05, 1.2, 2.0, 5.0]
seeds = st.integers(0, 2**32 - 1)


def items_and_centers(k, *, n=300, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), 1.5 * rng.normal(size=(k, d))


def relative(centers, fuzzifier):
    return Scorer(centers=centers, order="relative", fuzzifier=fuzzifier)


def log_odds(X, centers, fuzzifier):
    """The score by its definition, in logarithms throughout."""
    p = 1.0 / (fuzzifier - 1.0)
    logs = np.log(squared_distances(X, centers))
    columns = [
        logs[:, j] + logsumexp(-p * np.delete(logs, j, axis=1), axis=1) / p
        for j in range(len(centers))
    ]
    return np.column_stack(columns)


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("fuzzifier", FUZZIFIERS)
def test_relative_scores_order_items_as_their_closed_form_memberships_do(fuzzifier, k):
    X, centers = items_and_centers(k)
    scores = relative(centers, fuzzifier).scores(X)
    U = closed_form_memberships(X, centers, fuzzifier)
    for j in range(k):
        along = U[np.argsort(scores[:, j], kind="stable"), j]
        assert (np.diff(along) <= 1e-14).all()


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("fuzzifier", FUZZIFIERS)
def test_relative_scores_are_log_odds_of_the_membership(fuzzifier, k):
    X, centers = items_and_centers(k)
    scores = relative(centers, fuzzifier).scores(X)
    assert_allclose(scores, log_odds(X, centers, fuzzifier), atol=1e-10)


def test_items_whose_memberships_round_to_a_tie_keep_their_order():
    X, centers = items_and_centers(3)
    X = X + 6.0 * centers[np.arange(len(X)) % 3]
    centers = 6.0 * centers
    scores = relative(centers, 1.05).scores(X)
    U = closed_form_memberships(X, centers, 1.05)
    expected = log_odds(X, centers, 1.05)
    for j in range(3):
        assert len(np.unique(U[:, j])) < len(X)  # the closed form does saturate here
        assert len(np.unique(scores[:, j])) == len(X)
        assert (np.argsort(scores[:, j]) == np.argsort(expected[:, j])).all()


@pytest.mark.parametrize("fuzzifier", FUZZIFIERS)
def test_coordinates_of_relative_scores_are_closed_form_memberships(fuzzifier):
    X, centers = items_and_centers(4)
    scorer = relative(centers, fuzzifier)
    U = closed_form_memberships(X, centers, fuzzifier)
    assert_allclose(scorer.coordinates(scorer.scores(X)), U, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_hard_scores_are_the_log_ratio_to_the_nearest_other_center(k):
    X, centers = items_and_centers(k)
    D = squared_distances(X, centers)
    scores = relative(centers, 1.0).scores(X)
    for j in range(k):
        others = np.delete(D, j, axis=1).min(axis=1)
        assert_allclose(scores[:, j], np.log(D[:, j] / others), atol=1e-10)
    coordinates = relative(centers, 1.0).coordinates(scores)
    assert (coordinates.argmax(axis=1) == D.argmin(axis=1)).all()
    assert ((coordinates > 0.5).sum(axis=1) == 1).all()
    # They tell items apart well beyond the border, as a scale of doubt must.
    assert ((coordinates > 1e-4) & (coordinates < 1.0 - 1e-4)).mean() > 0.99


def test_scores_approach_the_hard_case_as_the_fuzzifier_falls():
    X, centers = items_and_centers(4)
    hard = relative(centers, 1.0).scores(X)
    assert_allclose(relative(centers, 1.0 + 1e-6).scores(X), hard, atol=1e-5)


@pytest.mark.parametrize("fuzzifier", [1.0, 1.05, 2.0, 5.0])
def test_an_item_on_a_center_ranks_before_all_others_and_last_elsewhere(fuzzifier):
    centers = np.array([[0.0], [4.0], [9.0]])
    scorer = relative(centers, fuzzifier)
    scores = scorer.scores(np.array([[4.0]]))
    assert scores.tolist() == [[np.inf, -np.inf, np.inf]]
    assert scorer.coordinates(scores).tolist() == [[0.0, 1.0, 0.0]]


@pytest.mark.parametrize("fuzzifier", [1.05, 2.0, 5.0])
def test_centers_that_coincide_share_evenly(fuzzifier):
    centers = np.array([[1.0, 0.0], [1.0, 0.0], [4.0, 2.0], [1.0, 0.0]])
    X = np.array([[1.0, 0.0], [4.0, 2.0], [0.5, 3.0]])
    scorer = relative(centers, fuzzifier)
    scores = scorer.scores(X)
    assert not np.isnan(scores).any()
    U = closed_form_memberships(X, centers, fuzzifier)
    assert_allclose(scorer.coordinates(scores), U, atol=1e-14)
    assert_allclose(U[0], [1 / 3, 1 / 3, 0.0, 1 / 3])


def test_two_hard_centers_that_coincide_are_tied_everywhere():
    scorer = relative(np.array([[1.0], [1.0]]), 1.0)
    scores = scorer.scores(np.array([[1.0], [5.0]]))
    assert (scores == 0.0).all()
    assert (scorer.coordinates(scores) == 0.5).all()


@given(seeds, st.floats(1.0, 6.0), st.sampled_from([2.0**-20, 8.0]), st.integers(-3, 3))
def test_scale_and_offset_of_the_data_change_no_relative_score(seed, fuzzifier, scale, offset):
    X, centers = items_and_centers(3, n=20, seed=seed)
    here = relative(centers, fuzzifier).scores(X)
    there = relative(centers * scale + offset, fuzzifier).scores(X * scale + offset)
    assert_allclose(there, here, atol=1e-6)


def test_distance_scores_are_distances_and_their_coordinates_grow_towards_the_center():
    X, centers = items_and_centers(3)
    scorer = Scorer(centers=centers, order="distance", fuzzifier=1.3)
    scores = scorer.scores(X)
    assert_allclose(scores, np.sqrt(squared_distances(X, centers)), rtol=1e-12)
    assert (scorer.coordinates(scores) == -scores).all()


@pytest.mark.parametrize("fuzzifier", [1.0, 2.0])
def test_a_single_center_ranks_by_distance_in_every_order(fuzzifier):
    X, centers = items_and_centers(1)
    scorer = relative(centers, fuzzifier)
    expected = np.sqrt(squared_distances(X, centers))
    assert_allclose(scorer.scores(X), expected, rtol=1e-12)
    assert_allclose(scorer.coordinates(scorer.scores(X)), -expected, rtol=1e-12)


@pytest.mark.parametrize("order", ["distance", "relative"])
def test_scores_of_single_precision_items_are_double(order):
    X, centers = items_and_centers(3)
    scorer = Scorer(centers=centers, order=order)
    scores = scorer.scores(X.astype(np.float32))
    assert scores.dtype == np.float64
    assert_allclose(scores, scorer.scores(X), atol=1e-4)


# ---- the fuzzifier of the answers -------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("fuzzifier", [1.2, 1.5, 2.0, 4.0])
def test_the_fuzzifier_is_found_in_the_memberships_it_made(fuzzifier, k):
    X, centers = items_and_centers(k, n=60)
    U = closed_form_memberships(X, centers, fuzzifier)
    assert fit_fuzzifier(X, centers, U) == pytest.approx(fuzzifier, abs=1e-2)


def test_unknown_entries_do_not_disturb_the_fit():
    X, centers = items_and_centers(3, n=60)
    U = closed_form_memberships(X, centers, 1.5)
    U[::2, 0] = np.nan
    U[1::3, 1:] = np.nan
    U[:5] = np.nan
    assert fit_fuzzifier(X, centers, U) == pytest.approx(1.5, abs=1e-2)


def test_nothing_known_or_a_single_cluster_gives_the_usual_fuzzifier():
    X, centers = items_and_centers(3, n=5)
    assert fit_fuzzifier(X, centers, np.full((5, 3), np.nan)) == 2.0
    assert fit_fuzzifier(X, centers[:1], np.ones((5, 1))) == 2.0


def test_memberships_beyond_every_fuzzifier_give_the_end_of_the_range():
    X, centers = items_and_centers(3)
    hard = np.eye(3)[squared_distances(X, centers).argmin(axis=1)]
    assert 1.02 <= fit_fuzzifier(X, centers, hard) < 1.05
    assert 15.0 < fit_fuzzifier(X, centers, np.full((300, 3), 1 / 3)) <= 20.0


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
    st.lists(
        st.floats(-1e6, 1e6).filter(lambda knot: knot == 0.0 or abs(knot) > 1e-290),
        min_size=2, max_size=20, unique=True,
    ),
    st.lists(st.floats(), max_size=20),
)  # fmt: skip
def test_many_coordinates_are_interpolated_like_few(knots, x):
    knots = np.sort(knots)
    values = np.linspace(0.0, 1.0, len(knots))
    x = np.concatenate([x, knots, knots[:-1] + np.diff(knots) / 3.0])
    with np.errstate(all="ignore"):
        assert_allclose(interpolate(x, knots, values), np.interp(x, knots, values), atol=1e-12)


def test_coordinates_next_to_nothing_give_finite_memberships():
    link = learn_link(np.array([0.0, 5e-324, 2e-313, 0.5]), np.array([0.0, 0.2, 0.4, 1.0]))
    x = np.repeat(
        [0.0, 5e-324, 1e-313, 1e-300, 0.25, 1.0], 1000
    )  # as many as are interpolated by us
    assert_allclose(link(x)[::1000], [0.2, 0.2, 0.2, 0.2, 0.6, 1.0])


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
