"""Which items stand for the rest."""

from itertools import islice, product

import numpy as np

from askmeans.fuzzy.items import as_items
from askmeans.policy.pool import Pool, Strata


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
    strata = Strata(Z, np.random.default_rng(0))
    asked = np.array([3, 7])
    found = list(islice(strata.choose(asked, doubt), 10))
    assert found == greedy(strata.D, asked, doubt, 10)


def test_sizes_count_the_nearest():
    strata = Strata(np.array([[0.0], [1.0], [2.0], [10.0]]), np.random.default_rng(0))
    assert strata.sizes(np.array([0, 3])).tolist() == [3.0, 1.0]


def test_far_groups_are_met_before_a_group_is_met_twice():
    rng = np.random.default_rng(0)
    Z = np.repeat(10.0 * np.eye(4), 20, axis=0) + 0.1 * rng.normal(size=(80, 4))
    chosen = list(islice(Strata(Z, np.random.default_rng(0)).choose(np.array([5]), np.ones(80)), 3))
    assert sorted(item // 20 for item in chosen) == [1, 2, 3]


def test_which_of_twins_is_chosen_hangs_neither_on_rounding_nor_on_their_order():
    rng = np.random.default_rng(0)
    Z = np.repeat(rng.normal(size=(60, 3)), 2, axis=0)  # every item twice
    strata = Strata(Z, np.random.default_rng(0))
    first = list(islice(strata.choose(np.array([0]), np.ones(120)), 20))
    strata.D = strata.D * (1.0 + 1e-7 * rng.normal(size=strata.D.shape)).astype(np.float32)
    assert list(islice(strata.choose(np.array([0]), np.ones(120)), 20)) == first
    assert 5 <= sum(item % 2 for item in first) <= 15


def test_a_table_in_the_order_of_its_groups_is_asked_about_as_any_other():
    Z = np.array(list(product(range(4), repeat=4)), dtype=float)  # all values of four features
    asked = [
        next(Strata(Z, np.random.default_rng(seed)).choose(np.array([], dtype=int), np.ones(256)))
        for seed in range(20)
    ]
    assert 5 <= sum(item < 128 for item in asked) <= 15


def test_the_first_items_are_clear_ones_of_different_groups_and_like_others():
    rng = np.random.default_rng(0)
    X = np.repeat(8.0 * np.eye(4), 25, axis=0) + 0.2 * rng.normal(size=(100, 4))
    between = 4.0 * (np.eye(4) + np.eye(4)[[1, 2, 3, 0]]) + rng.normal(size=(4, 4))
    same = np.full((30, 4), 3.0)  # as many empty texts have the same features
    for others in (between, same):
        pool = Pool(as_items(np.vstack([X, others])), 4, 2.0, np.random.default_rng(0))
        assert sorted(row // 25 for row in pool.typical) == [0, 1, 2, 3]
    middle = np.flatnonzero(np.arange(100) // 25 == 0)
    X[middle[0]] = X[middle].mean(axis=0) + 1e-3  # the largest membership, but the next is far
    X[middle[1:], 1:] += 2.0 * np.sign(rng.normal(size=(24, 3)))
    pool = Pool(as_items(X), 4, 2.0, np.random.default_rng(0))
    assert pool.unsupervised_memberships[:25].max(axis=1).argmax() == 0
    assert 0 not in pool.typical
