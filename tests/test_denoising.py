"""Links from rough answers: monotone, robust, uncut, within intervals, and honest about noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from askmeans.denoising import (
    beyond,
    half_step,
    learn_rough_link,
    noise_of_repeats,
    robust_scale,
    tukey,
)
from askmeans.links import learn_link

x = np.linspace(0.0, 1.0, 400)
everywhere = np.linspace(0.0, 1.0, 2001)


def logistic(at):
    return 1.0 / (1.0 + np.exp(-8.0 * (at - 0.5)))


def told(link, sigma, seed, at=x):
    rng = np.random.default_rng(seed)
    return np.clip(link(at) + sigma * rng.normal(size=len(at)), 0.0, 1.0)


def rough(y, at=x, **options):
    options = {"anchored": False} | options
    return learn_rough_link(at, y, np.ones(len(y)), **options)


def off(found, link):
    return np.abs(found(everywhere) - link(everywhere)).mean()


def test_answers_spread_evenly_teach_a_smooth_link():
    errors = [off(rough(told(logistic, 0.1, seed)).link, logistic) for seed in range(8)]
    assert np.mean(errors) < 0.02


@pytest.mark.parametrize("how", ["random", "flipped"])
def test_a_tenth_of_wrong_answers_bends_a_link_little(how):
    clean, bent, plain = [], [], []
    for seed in range(8):
        y = told(logistic, 0.1, seed)
        clean.append(off(rough(y).link, logistic))
        rng = np.random.default_rng(100 + seed)
        wrong = rng.random(len(y)) < 0.1
        y[wrong] = 1.0 - y[wrong] if how == "flipped" else rng.random(wrong.sum())
        bent.append(off(rough(y).link, logistic))
        plain.append(off(learn_link(x, y), logistic))
    assert np.mean(bent) < 1.3 * np.mean(clean)
    assert np.mean(plain) > 2.0 * np.mean(clean)


def test_answers_cut_at_the_ends_of_the_scale_do_not_lift_a_membership_of_zero():
    def hard(at):
        return (at > 0.7).astype(float)

    errors = [off(rough(told(hard, 0.2, seed)).link, hard) for seed in range(4)]
    plain = [off(learn_link(x, told(hard, 0.2, seed)), hard) for seed in range(4)]
    assert np.mean(errors) < 0.02 < 0.06 < np.mean(plain)


def test_an_anchored_link_is_the_closed_form_where_the_answers_bear_it_out():
    def closed_form(at):
        return at

    free = [off(rough(told(closed_form, 0.1, seed)).link, closed_form) for seed in range(6)]
    held = [
        off(rough(told(closed_form, 0.1, seed), anchored=True).link, closed_form)
        for seed in range(6)
    ]
    assert np.mean(held) < 0.5 * np.mean(free)
    assert rough(told(np.square, 0.1, 0), anchored=True).blend > 0.8


def test_an_answer_far_from_all_others_is_not_believed():
    y = told(logistic, 0.02, 0)
    y[10] = 1.0
    belief = rough(y).belief
    assert belief[10] == 0.0
    assert np.median(belief) > 0.8
    assert (rough(y, doubting=False).belief == 1.0).all()


def test_coarse_answers_are_intervals_that_hold_the_link():
    y = np.round(x * 4.0) / 4.0  # five points; the closed form is the truth
    found = rough(y, step=half_step(5), anchored=True)
    assert np.abs(beyond(found.link(x) - y, half_step(5))).max() < 1e-9
    assert off(found.link, lambda at: at) < 0.005
    assert off(learn_link(x, y), lambda at: at) > 0.05


def test_half_a_step_of_a_scale():
    assert half_step(5) == 0.125
    assert half_step(None) == 0.0


@given(st.lists(st.tuples(st.integers(0, 8), st.floats(-0.5, 1.5)), min_size=1, max_size=30))
def test_a_rough_link_never_falls_and_stays_in_the_unit_interval(pairs):
    at, y = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    for options in ({"anchored": False}, {"anchored": True}, {"anchored": True, "step": 0.125}):
        found = rough(y, at / 8.0, **options)
        values = found.link(everywhere)
        assert (np.diff(values) >= -1e-9).all()
        assert ((values >= 0.0) & (values <= 1.0)).all()
        assert ((found.belief >= 0.0) & (found.belief <= 1.0)).all()


def test_the_order_of_answers_does_not_matter():
    y, order = told(logistic, 0.1, 0), np.random.default_rng(0).permutation(len(x))
    one, other = rough(y), rough(y[order], x[order])
    assert_allclose(one.link(everywhere), other.link(everywhere))
    assert_allclose(one.belief[order], other.belief)


@pytest.mark.parametrize("times", [2, 3, 6])
def test_repeats_tell_the_noise_within_a_third(times):
    for kind in ("spread", "hard"):
        found = []
        for seed in range(6):
            rng = np.random.default_rng(seed)
            u = rng.random(90) if kind == "spread" else rng.integers(0, 2, 90).astype(float)
            questions = np.repeat(np.arange(90), times)
            y = np.clip(u[questions] + 0.1 * rng.normal(size=len(questions)), 0.0, 1.0)
            found.append(noise_of_repeats(questions, y))
        assert 0.09 < np.mean(found) < (0.115 if kind == "spread" else 0.145)


def test_repeats_that_agree_have_no_noise_and_none_tell_nothing():
    assert noise_of_repeats(np.array([0, 0, 1, 1]), np.array([0.3, 0.3, 1.0, 1.0])) == 0.0
    assert noise_of_repeats(np.array([0, 0]), np.array([1.0, 1.0])) == 0.0
    assert noise_of_repeats(np.array([0, 1]), np.array([0.3, 0.4])) is None


def test_a_robust_scale_ignores_a_quarter_of_the_residuals():
    residuals = np.random.default_rng(0).normal(size=400)
    residuals[::4] = 50.0
    assert robust_scale(residuals, np.ones(400)) < 2.0
    assert robust_scale(np.empty(0), np.empty(0)) == 0.0


def test_the_biweight_falls_from_one_to_nothing():
    assert_allclose(tukey(np.array([0.0, 4.685, 9.0])), [1.0, 0.0, 0.0])
    assert 0.2 < tukey(np.array([3.0]))[0] < 0.5
