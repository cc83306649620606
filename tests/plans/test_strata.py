"""Which items stand for the rest."""

import numpy as np

from askmeans.plans.strata import Strata


def greedy(D, asked, doubt, count):
    """The same, without remembering old gains."""
    asked, chosen = list(asked), []
    for _ in range(count):
        far = D[:, asked].min(axis=1) if asked else D.max(axis=1)
        gains = np.maximum(far - D, 0.0) @ doubt
        gains[asked] = -1.0
        chosen.append(int(gains.argmax()))
        asked.append(chosen[-1])
    return chosen


def test_the_quick_choice_is_the_greedy_one():
    rng = np.random.default_rng(0)
    Z, doubt = rng.normal(size=(80, 3)), rng.random(80)
    strata = Strata(Z)
    asked = np.array([3, 7])
    found = strata.choose(asked, doubt, 10).tolist()
    assert found == greedy(strata.D, asked, doubt.astype(np.float32), 10)


def test_cells_count_the_nearest():
    strata = Strata(np.array([[0.0], [1.0], [2.0], [10.0]]))
    assert strata.cells(np.array([0, 3])).tolist() == [3.0, 1.0]


def test_far_groups_are_met_before_a_group_is_met_twice():
    rng = np.random.default_rng(0)
    Z = np.repeat(10.0 * np.eye(4), 20, axis=0) + 0.1 * rng.normal(size=(80, 4))
    chosen = Strata(Z).choose(np.array([5]), np.ones(80), 3)
    assert sorted((chosen // 20).tolist()) == [1, 2, 3]


def test_of_twins_the_first_is_chosen_however_sums_are_rounded():
    rng = np.random.default_rng(0)
    Z = np.repeat(rng.normal(size=(60, 3)), 2, axis=0)  # every item twice
    strata = Strata(Z)
    strata.D = strata.D * (1.0 + 1e-14 * rng.normal(size=strata.D.shape))
    chosen = strata.choose(np.array([0]), np.ones(120), 20)
    assert (chosen % 2 == 0).all()
