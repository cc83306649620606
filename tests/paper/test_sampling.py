"""Centres from sampled answers: the estimator, its weights, and how sure it claims to be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from askmeans.fuzzy import weighted_centers
from askmeans.paper.sampling import estimate_center

seeds = st.integers(0, 2**32 - 1)


def estimate(*strata, fuzzifier=2.0, n_clusters=2, **options):
    arrays = [(size, np.array(x, float), np.array(u, float)) for size, x, u in strata]
    return estimate_center(arrays, fuzzifier, n_clusters, **options)


@pytest.mark.parametrize("fuzzifier", [1.0, 1.3, 2.0, 4.0])
def test_all_items_asked_give_the_center_itself(fuzzifier):
    rng = np.random.default_rng(0)
    X, u = rng.normal(size=(50, 3)), rng.random(50)
    found = estimate((50, X, u), fuzzifier=fuzzifier)
    expected = weighted_centers(X, u[:, None], fuzzifier)[0]
    assert_allclose(found.center, expected)
    assert found.weight == pytest.approx((u**fuzzifier).sum())
    assert found.radius == 0.0


def test_an_item_stands_for_size_over_asked_items_of_its_bin_note_n15():
    # Two items asked of 10 count 5 each; one asked of 1 counts once. Memberships 1 and 1/2.
    found = estimate((10, [[0.0], [2.0]], [1.0, 1.0]), (1, [[8.0]], [0.5]))
    weights = np.array([5.0, 5.0, 0.25])
    assert found.weight == pytest.approx(weights.sum())
    assert_allclose(found.center, [weights @ [0.0, 2.0, 8.0] / weights.sum()])


def test_items_that_nobody_could_place_are_made_up_for_by_their_bin_note_n15():
    told = estimate((10, [[0.0], [2.0], [50.0]], [1.0, 1.0, np.nan]), (1, [[8.0]], [0.5]))
    assert told.weight == pytest.approx(10.25)
    silent = estimate((10, [[3.0]], [np.nan]), (1, [[8.0]], [0.5]))
    assert_allclose(silent.center, [8.0])


def test_no_item_that_belongs_gives_no_estimate_note_n12():
    assert estimate((9, [[1.0], [2.0]], [0.0, 0.0])) is None
    assert estimate((9, [[1.0], [2.0]], [np.nan, np.nan])) is None
    assert estimate((9, [[1.0], [2.0]], [np.nan, 0.0])) is None


def test_answers_below_zero_weigh_nothing():
    found = estimate((2, [[1.0], [5.0]], [-0.2, 0.4]), fuzzifier=1.5)
    assert_allclose(found.center, [5.0])


def test_the_effective_size_counts_equal_weights_and_discounts_others():
    even = estimate((100, np.zeros((20, 1)), np.full(20, 0.3)))
    assert even.effective_size == pytest.approx(20.0)
    one_heavy = estimate((100, np.zeros((20, 1)), [1.0] + [1e-6] * 19))
    assert one_heavy.effective_size == pytest.approx(1.0)


def test_a_sample_with_replacement_is_never_sure_however_large():
    rng = np.random.default_rng(0)
    X, u = rng.normal(size=(30, 1)), rng.random(30)
    drawn = rng.integers(30, size=90)
    found = estimate((30, X[drawn], u[drawn]), with_replacement=True)
    assert found.radius > np.linalg.norm(found.center - weighted_centers(X, u[:, None])[0])


def test_one_item_of_many_says_nothing_of_how_sure_it_is():
    assert estimate((50, [[3.0]], [1.0])).radius == np.inf
    assert estimate((1, [[3.0]], [1.0])).radius == 0.0  # the only one there is


def test_bins_asked_in_full_make_the_radius_no_larger():
    rng = np.random.default_rng(0)
    x, u = rng.normal(size=(20, 1)), rng.random(20)
    whole = (20, x + 50.0, u)  # far from the rest
    alone, both = estimate((100, x, u)), estimate((100, x, u), whole, whole)
    assert both.radius > 0.0
    assert estimate(whole, whole).radius == 0.0
    assert alone.radius > 0.0


def test_the_radius_shrinks_as_the_root_of_the_sample():
    rng = np.random.default_rng(0)
    x, u = rng.normal(size=(40_000, 1)), rng.random(40_000)
    radii = [estimate((10**6, x[:m], u[:m])).radius for m in (400, 40_000)]
    assert 10.0 < radii[0] / radii[1] < 20.0  # 10, and the term that falls as m itself does


@given(seeds, st.integers(2, 30), st.sampled_from([2.0**-10, 64.0]), st.integers(-5, 5))
def test_scaling_and_shifting_items_scales_and_shifts_the_center(seed, m, scale, shift):
    rng = np.random.default_rng(seed)
    x, u = rng.normal(size=(m, 2)), rng.random(m)
    here, there = estimate((100, x, u)), estimate((100, x * scale + shift, u))
    assert_allclose(there.center, here.center * scale + shift, atol=1e-9)
    assert there.radius == pytest.approx(here.radius * scale, rel=1e-6)
    assert there.weight == pytest.approx(here.weight)


@pytest.mark.parametrize(("m", "fuzzifier"), [(20, 2.0), (50, 1.2), (200, 2.0), (200, 4.0)])
def test_the_radius_covers_the_error_in_95_of_100_samples(m, fuzzifier):
    rng = np.random.default_rng(0)
    X, u = rng.normal(size=(1000, 3)), rng.beta(0.5, 1.5, size=1000)
    truth = weighted_centers(X, u[:, None], fuzzifier)[0]
    covered, ratios = [], []
    for _ in range(400):
        rows = rng.integers(1000, size=m)
        found = estimate_center([(1000, X[rows], u[rows])], fuzzifier, 2, with_replacement=True)
        error = np.linalg.norm(found.center - truth)
        covered.append(error <= found.radius)
        ratios.append(found.radius / error)
    assert np.mean(covered) >= 0.95
    assert np.median(ratios) < 12.0  # sure, and yet of some use
