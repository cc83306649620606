"""Answers as intervals: what is expected of them, and how noisy they are."""

import numpy as np
import pytest

from askmeans.intervals import expected_within, interval_scale, intervals, noise_on_scale


def on_scale(values, levels):
    return np.round(np.clip(values, 0.0, 1.0) * (levels - 1)) / (levels - 1)


def test_a_point_stands_for_what_is_nearest_and_an_end_for_all_beyond():
    low, high = intervals(np.array([0.0, 0.25, 1.0]), 0.125)
    assert low.tolist() == [-np.inf, 0.125, 0.875]
    assert high.tolist() == [0.125, 0.375, np.inf]


def test_what_follows_from_other_answers_is_not_cut_off():
    low, high = intervals(np.array([-0.1, 1.2]), 0.0)
    assert low.tolist() == high.tolist() == [-0.1, 1.2]


def test_expected_values_are_those_of_draws():
    z = np.random.default_rng(0).normal(0.3, 0.2, size=200_000)
    for low, high in ((0.125, 0.375), (-np.inf, 0.1), (0.6, np.inf)):
        drawn = z[(z > low) & (z < high)]
        mean, variance = expected_within(
            np.array([0.3]), np.array([low]), np.array([high]), scale=0.2
        )
        assert mean[0] == pytest.approx(drawn.mean(), abs=2e-3)
        assert variance[0] == pytest.approx(drawn.var(), abs=2e-3)


def test_without_noise_the_nearest_value_is_expected_however_far_it_is():
    low, high = intervals(np.array([0.0, 0.25, 1.0, 0.4]), 0.125)
    mean, variance = expected_within(np.array([0.9, 0.9, 0.0, 0.4]), low, high, scale=1e-3)
    assert mean == pytest.approx([0.125, 0.375, 0.875, 0.4], abs=1e-4)
    assert (variance < 1e-5).all()


@pytest.mark.parametrize("levels", [5, 11, 101])
@pytest.mark.parametrize("sigma", [0.1, 0.2])
@pytest.mark.parametrize("hard", [True, False])
def test_intervals_tell_the_noise_around_a_fit(levels, sigma, hard):
    rng = np.random.default_rng(0)
    u = rng.integers(2, size=1000).astype(np.float64) if hard else rng.random(1000)
    told = on_scale(u + sigma * rng.standard_normal(1000), levels)
    found = interval_scale(u, *intervals(told, 0.5 / (levels - 1)), np.ones(1000))
    assert found == pytest.approx(sigma, rel=0.15)


def test_intervals_that_hold_the_fit_show_no_noise():
    u = np.random.default_rng(0).random(100)
    low, high = intervals(on_scale(u, 5), 0.125)
    assert interval_scale(u, low, high, np.ones(100)) == 0.0


@pytest.mark.parametrize("levels", [5, 11, 101])
@pytest.mark.parametrize("hostile", [0.0, 0.1])
@pytest.mark.parametrize("hard", [True, False])
def test_repeats_on_a_scale_tell_the_noise(levels, hostile, hard):
    rng = np.random.default_rng(1)
    u = rng.integers(2, size=300).astype(np.float64) if hard else rng.random(300)
    questions = np.repeat(np.arange(300), 3)
    told = u[questions] + 0.1 * rng.standard_normal(900)
    wrong = rng.random(900) < hostile
    told[wrong] = 1.0 - u[questions[wrong]]
    found = noise_on_scale(questions, on_scale(told, levels), 0.5 / (levels - 1))
    assert found == pytest.approx(0.1, rel=0.25)


def test_repeats_that_agree_show_no_noise_and_single_answers_say_nothing():
    assert noise_on_scale(np.array([0, 0, 1, 1]), np.array([0.25, 0.25, 1.0, 1.0]), 0.125) == 0.0
    assert noise_on_scale(np.array([0, 1]), np.array([0.25, 0.5]), 0.125) is None
