"""What holds for every model: rows, prediction, what it remembers, what it learns."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from soaking import in_soak

from askmeans.fuzzy.items import ItemSet
from askmeans.policy.ensemble import Ensemble
from askmeans.policy.models.training import Training
from askmeans.policy.pool import Pool
from askmeans.policy.stacking import HARD, SOFT


def softened(training):
    """The same answers, none of them all or nothing."""
    Y = 0.8 * training.Y + 0.2 / training.Y.shape[1]
    return Training.of(training.rows, Y, training.sample_weight, training.stratum_size)


@pytest.mark.parametrize("hard", [True, False])
def test_every_model_gives_rows_and_predicts_what_it_says_of_the_pool(study, hard):
    pool, training, _ = study
    fitted = Ensemble(pool).learn(training if hard else softened(training))
    names = {f.name for f in fitted}
    assert len(names) == len(fitted)
    assert names == set(HARD if hard else SOFT) - {"examples"}
    for f in fitted:
        for U in (f.pool, f.held_out, f.predict(pool.X)):
            assert (U >= -1e-12).all(), f.name
            assert_allclose(U.sum(axis=1), 1.0, atol=1e-9, err_msg=f.name)
        assert_allclose(f.predict(pool.X), f.pool, atol=1e-6, err_msg=f.name)
        again = pickle.loads(pickle.dumps(f.predict))
        assert (again(pool.X) == f.predict(pool.X)).all()


def test_models_that_learn_find_separated_clusters_in_any_scale(study):
    pool, training, U = study
    for f in Ensemble(pool).learn(training):
        if f.name in ("fcm", "seeded_fcm"):
            continue  # they see the features as they come
        right = (f.pool.argmax(axis=1) == U.argmax(axis=1)).mean()
        assert right > 0.9, f.name
        honest = (f.held_out.argmax(axis=1) == training.Y.argmax(axis=1)).mean()
        assert honest > 0.8, f.name


def test_held_out_rows_do_not_come_from_their_own_answer(study):
    pool, training, _ = study
    wrong = training.Y.copy()
    wrong[0] = np.roll(wrong[0], 1)  # one answer is a lie
    lied = type(training).of(training.rows, wrong, training.sample_weight, training.stratum_size)
    for f in Ensemble(pool).learn(lied):
        assert f.held_out[0, wrong[0].argmax()] < 0.6, f.name


@pytest.mark.parametrize(
    ("d", "hard"), [(20, True), (300, False), in_soak(20, False), in_soak(300, True)]
)
def test_what_cannot_be_predicted_is_not_predicted(d, hard):
    rng = np.random.default_rng(d)
    Y = np.eye(3)[np.arange(40) % 3] if hard else rng.dirichlet(np.ones(3), size=40)
    items = ItemSet(rng.normal(size=(300, d)))
    pool = Pool(items, 3, 2.0, rng)
    training = Training.of(np.arange(40), Y, np.ones(40), np.ones(40))
    chance = np.abs(Y.mean(axis=0) - Y).mean()
    for f in Ensemble(pool).learn(training):
        assert np.abs(f.held_out - Y).mean() > 0.8 * chance, f.name


def test_few_answers_are_left_to_the_unsupervised_fit(study):
    pool, training, _ = study
    few = training.part(np.arange(24) < 2)
    names = [f.name for f in Ensemble(pool).learn(few)]
    assert names == ["fcm", "seeded_fcm", "fcm_scaled"]
