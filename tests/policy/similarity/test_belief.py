"""Slips among comparisons of all or nothing."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from askmeans.policy.similarity import belief as slips
from askmeans.policy.similarity.anchors import described
from askmeans.policy.similarity.belief import without_slips
from askmeans.policy.similarity.comparisons import comparisons_of
from askmeans.queries import Answers, PairQueries

N, K = 30, 3
TRUE = np.eye(K)[np.arange(N) % K]


def compared(pairs, values):
    """Comparisons, with the rows that are true."""
    told = comparisons_of(Answers([(1, PairQueries(pairs), np.asarray(values, dtype=float))]))
    return described(told, TRUE[told.items], np.zeros(len(told.items), dtype=bool))


def beside_anchors():
    """Every item beside the first of each group, and the answers."""
    pairs = np.array([(anchor, item) for item in range(K, N) for anchor in range(K)])
    return pairs, (TRUE[pairs[:, 0]] * TRUE[pairs[:, 1]]).sum(axis=1)


def guessed(items, certainty=0.9):
    """What models expect that are right about every item."""
    return np.where(TRUE[items] == 1.0, certainty, (1.0 - certainty) / (K - 1))


def test_on_a_tree_probabilities_are_those_of_all_groupings_together(monkeypatch):
    slip = 0.1
    monkeypatch.setattr(slips, "FIRST", slip)
    monkeypatch.setattr(slips, "BOUNDS", (slip, slip))
    pairs, values = [(0, 1), (2, 1), (1, 3), (3, 4)], [1.0, 0.0, 0.0, 1.0]
    said = compared(pairs, values)
    rng = np.random.default_rng(0)
    expected = rng.dirichlet(np.full(K, 2.0), size=5)
    found = np.zeros((5, K))
    for groups in product(range(K), repeat=5):
        chance = np.prod(expected[np.arange(5), groups])
        for (a, b), value in zip(said.comparisons.pairs, said.comparisons.pair_value, strict=True):
            chance *= 1.0 - slip if (groups[a] == groups[b]) == (value == 1.0) else slip
        found[np.arange(5), groups] += chance
    assert_allclose(without_slips(said, expected), found / found.sum(axis=1)[:, None], atol=1e-3)


def test_answers_that_agree_stand_against_models():
    pairs, values = beside_anchors()
    said = compared(pairs, values)
    expected = guessed(said.items)
    wrong = said.items == 10
    expected[wrong] = np.roll(expected[wrong], 1, axis=1)
    assert_array_equal(without_slips(said, expected).argmax(axis=1), said.items % K)


@pytest.mark.parametrize("seed", range(5))
def test_items_stay_in_their_groups_where_one_answer_in_ten_is_turned_round(seed):
    pairs, values = beside_anchors()
    turned = np.random.default_rng(seed).random(len(values)) < 0.1
    said = compared(pairs, np.where(turned, 1.0 - values, values))
    assert turned.sum() >= 4
    assert_array_equal(without_slips(said, guessed(said.items)).argmax(axis=1), said.items % K)


def test_an_answer_in_between_says_nothing():
    said = compared([(0, 3), (1, 4), (1, 7), (5, 2)], [0.5, 1.0, 0.0, 1.0])
    expected = guessed(said.items, 0.6)
    assert_allclose(without_slips(said, expected)[:2], expected[:2])


def test_who_was_told_of_directly_stays_there():
    said = compared([(0, 3), (0, 6), (0, 9)], [0.0, 0.0, 0.0])
    said = replace(said, sure=np.array([0]))
    rows = without_slips(said, np.full((4, K), 1.0 / K))
    assert rows[0].argmax() == 0
    assert rows[0].max() > 0.99
    assert (rows[1:, 0] < 0.1).all()


def test_only_items_that_were_called_like_or_unlike_others_may_be_moved():
    said = compared([(0, 1), (0, 2), (3, 4)], [1.0, 0.5, 0.0])
    assert said.items[said.all_or_nothing].tolist() == [1, 3, 4]
    assert not replace(said, unlike=np.ones(5, dtype=bool)).all_or_nothing.any()
    assert said.items[replace(said, sure=np.array([3])).all_or_nothing].tolist() == [1, 4]
