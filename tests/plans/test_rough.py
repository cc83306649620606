"""What rough answers say: single answers kept apart, noise, doubts, and what to ask again."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans.fuzzy import closed_form_memberships, weighted_centers
from askmeans.plans.answers import Answers, Averaged, Roughness
from askmeans.plans.rough import Singles, fit_rough
from askmeans.scores import Scorer

RNG = np.random.default_rng(0)
CENTERS = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
X = CENTERS[RNG.integers(3, size=200)] + RNG.normal(size=(200, 2))
U = closed_form_memberships(X, CENTERS, 2.0)
SCORER = Scorer(centers=CENTERS, order="relative", fuzzifier=2.0)


def told(each, items, clusters, k=3):
    """Answers after one batch, asked as many times as there are rows."""
    answers = Answers(k, faithful=False)
    asking = answers.ask(np.asarray(items), np.asarray(clusters), "sampling")
    next(asking)
    with pytest.raises(StopIteration):
        asking.send(Averaged(np.nanmean(each, axis=0), np.asarray(each)))
    return answers


def rows_told(sigma, times=1, seed=0, wrong=(), n=200):
    """All but the last membership of many items, so many times; some items wrong at first."""
    rng = np.random.default_rng(seed)
    items, clusters = np.repeat(np.arange(n), 2), np.tile([0, 1], n)
    each = U[items, clusters] + sigma * rng.normal(size=(times, len(items)))
    each[0, np.isin(items, wrong)] = (each[0, np.isin(items, wrong)] + 0.5) % 1.0
    return told(np.clip(each, 0.0, 1.0), items, clusters)


def fit(answers, **roughness):
    roughness = Roughness(**({"noise": None} | roughness))
    return fit_rough(X[answers.items], SCORER, Singles.of(answers), roughness)


def test_single_answers_are_kept_apart_and_the_rest_of_a_row_follows():
    answers = told([[0.2, 0.5], [0.4, 0.5]], [7, 7], [0, 1])
    singles = Singles.of(answers)
    assert_allclose(np.sort(singles.values[singles.direct]), [0.2, 0.4, 0.5, 0.5])
    assert singles.clusters[~singles.direct].tolist() == [2]
    assert_allclose(singles.values[~singles.direct], 0.2)
    assert_allclose(singles.weights[~singles.direct], 1.0)  # two means of two answers each


def test_an_item_that_a_sample_names_twice_has_one_answer():
    answers = told([[0.2, 0.2]], [7, 7], [0, 0])
    assert Singles.of(answers).values.tolist() == [0.2]


def test_noise_is_what_repeats_show_and_what_links_leave():
    for answers in (rows_told(0.1), rows_told(0.1, times=3)):
        found = fit(answers)
        assert 0.08 < found.noise < 0.12
        assert found.misfit < 0.06
    assert fit(rows_told(0.1), noise=0.1).noise == 0.1


def test_an_item_unlike_the_others_keeps_answers_that_agree():
    odd = np.arange(0, 200, 25)
    strange = U.copy()
    strange[odd] = np.roll(strange[odd], 1, axis=1)
    items, clusters = np.repeat(np.arange(200), 2), np.tile([0, 1], 200)
    noise = 0.02 * np.random.default_rng(0).normal(size=(3, 400))
    thrice = told(np.clip(strange[items, clusters] + noise, 0.0, 1.0), items, clusters)
    once = told(np.clip(strange[items, clusters] + noise[:1], 0.0, 1.0), items, clusters)
    assert np.nanmean(np.abs(fit(thrice).own()[0][odd] - strange[odd])) < 0.03
    # Asked once, it may as well be a slip: the others decide.
    assert np.nanmean(np.abs(fit(once).own()[0][odd] - U[odd])) < 0.1


def test_wrong_answers_are_doubted_and_right_ones_are_not():
    wrong = np.arange(0, 200, 12)
    found = fit(rows_told(0.03, wrong=wrong))
    doubted = found.doubted()
    mine = np.isin(found.singles.places, wrong)[: len(doubted)]
    direct = found.singles.direct
    assert doubted[mine & direct].mean() > 0.9
    assert doubted[~mine & direct].mean() < 0.03


def test_what_is_doubted_is_worth_asking_again_most():
    wrong = np.arange(0, 200, 25)
    found = fit(rows_told(0.03, wrong=wrong))
    places, _, gains = found.gains(np.full(found.prediction.shape, 1 / 400))
    best = places[np.argsort(-gains)[: 2 * len(wrong)]]
    assert np.isin(best, wrong).mean() > 0.8


def test_many_items_depending_on_an_answer_make_it_worth_more():
    found = fit(rows_told(0.1))
    share = np.full(found.prediction.shape, 1e-4)
    share[5] = 0.5
    places, _, gains = found.gains(share)
    usual = gains < 1.0  # not doubted
    assert gains[(places == 5) & usual].min() > np.median(gains[usual])


@pytest.mark.parametrize("fuzzifier", [1.5, 2.0])
def test_a_power_of_noisy_memberships_is_mended(fuzzifier):
    truth = weighted_centers(X, U, fuzzifier)
    raw, mended = [], []
    for seed in range(6):
        answers = rows_told(0.2, seed=seed)
        weighing = fit(answers, noise=0.2).weighing(fuzzifier)
        plain = np.clip(answers.values, 0.0, 1.0)
        raw.append(weighted_centers(X, plain, fuzzifier) - truth)
        mended.append(weighted_centers(X, weighing, fuzzifier) - truth)
    # On average over seeds, so that the bias is left.
    assert np.linalg.norm(np.mean(mended, axis=0)) < 0.7 * np.linalg.norm(np.mean(raw, axis=0))


def test_exact_answers_weigh_as_given():
    answers = rows_told(0.0)
    assert_allclose(fit(answers, noise=0.0).weighing(2.0), answers.values, atol=1e-9)


def test_answers_on_a_scale_are_intervals():
    items, clusters = np.repeat(np.arange(200), 2), np.tile([0, 1], 200)
    rounded = np.round(U[items, clusters] * 4.0) / 4.0
    answers = told(rounded[None], items, clusters)
    found = fit(answers, noise=0.0, levels=5)
    own = found.own()[0][items, clusters]
    assert np.abs(own - rounded).max() <= 0.125 + 1e-9
    assert (
        np.abs(own - U[items, clusters]).mean() < 0.5 * np.abs(rounded - U[items, clusters]).mean()
    )


def test_a_cluster_of_nothing_but_noise_is_missing():
    items, clusters = np.repeat(np.arange(200), 2), np.tile([0, 1], 200)
    y = np.where(clusters == 0, U[items, 0] + U[items, 1], 0.0)
    y = np.clip(y + 0.1 * np.random.default_rng(0).normal(size=400), 0.0, 1.0)
    assert fit(told(y[None], items, clusters)).missing() == [1]
    assert fit(rows_told(0.1)).missing() == []
