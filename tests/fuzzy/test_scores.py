"""Scores: the closed form's order without its ties, the hard case, and fitting the fuzzifier."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from askmeans.fuzzy import closed_form_memberships, squared_distances
from askmeans.fuzzy.scores import Scorer, fit_fuzzifier

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
