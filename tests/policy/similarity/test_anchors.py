"""Founders, anchors, and items that are like no group."""

import numpy as np

from askmeans.policy.similarity.anchors import (
    described,
    founders_by_sides,
    founders_of,
    of_one_kind,
    outsiders_of,
    parts_of,
    rows_beside,
)
from askmeans.policy.similarity.comparisons import comparisons_of
from askmeans.queries import Answers, PairQueries, RelativeQueries


def pairs(*answers):
    """Comparisons of items that are numbered as they come."""
    queries = PairQueries([pair for pair, _ in answers])
    return comparisons_of(Answers([(1, queries, np.array([value for _, value in answers]))]))


def test_the_first_items_that_are_unlike_each_other_found_the_groups():
    told = pairs(((0, 1), 1.0), ((0, 2), 0.0), ((0, 3), 0.0), ((2, 3), 0.0))
    assert founders_of(told, 3, {}) == [{0: 0, 2: 1, 3: 2}]


def test_an_item_in_between_does_not_stand_for_a_group_where_another_first_item_finds_more():
    told = pairs(((0, 1), 0.5), ((0, 2), 0.5), ((1, 2), 0.0), ((0, 3), 0.0), ((1, 3), 0.0),
                 ((2, 3), 0.0))  # fmt: skip
    assert [set(found) for found in founders_of(told, 3, {})] == [{1, 2, 3}]


def test_groups_that_somebody_named_keep_their_numbers():
    told = pairs(((0, 1), 0.0))
    assert founders_of(told, 2, {1: 0}) == [{1: 0, 0: 1}]


def test_founders_that_answers_contradict_are_followed_by_others_that_explain_more():
    # By a slip 0 is unlike 1; 1 and 2 are like the rest of their group, 0 is in between nowhere.
    told = pairs(((0, 1), 0.0), ((0, 2), 1.0), ((1, 2), 1.0), ((0, 3), 0.0), ((2, 3), 0.0),
                 ((1, 3), 0.0), ((2, 4), 1.0), ((1, 4), 1.0), ((0, 4), 1.0))  # fmt: skip
    found = founders_of(told, 2, {})
    assert found[0] == {0: 0, 1: 1}
    assert {0: 0, 3: 1} in found[1:] or {2: 0, 3: 1} in found[1:]


def test_sides_found_groups_of_kinds_that_are_unlike_each_other():
    three = RelativeQueries([(2, 0, 1), (3, 0, 1), (4, 1, 5)])
    told = comparisons_of(Answers([(1, three, np.array([1.0, 0.0, 1.0]))]))
    first, second = (int(told.items[place]) for place in founders_by_sides(told, 3))
    assert first in {1, 3, 4}  # the most
    assert second in {0, 2}  # nobody said that 5 is unlike them


def test_two_that_nobody_tells_apart_are_of_one_kind_once_that_is_no_chance():
    three = RelativeQueries([(2, 0, 1), (3, 0, 1), (4, 0, 1), (5, 0, 2), (3, 0, 2), (4, 0, 2)])
    told = comparisons_of(Answers([(1, three, np.array([0.5, 0.5, 0.5, 1.0, 0.5, 0.5]))]))
    place = {int(item): at for at, item in enumerate(told.items)}
    assert of_one_kind(told, 3) == {tuple(sorted((place[0], place[1])))}
    assert of_one_kind(told, 4) == set()  # three ties are likely by chance


def test_rows_are_as_similar_as_the_founders_say():
    told = pairs(((0, 1), 0.0), ((0, 2), 0.75), ((1, 2), 0.25))
    rows = rows_beside(told, {0: 0, 1: 1}, 2)
    assert rows.tolist() == [[1.0, 0.0], [0.0, 1.0], [0.75, 0.25]]


def test_an_item_like_members_of_no_group_is_outside_whoever_it_is_like_beside():
    told = pairs(((0, 1), 0.0), ((0, 2), 0.0), ((1, 2), 0.0), ((0, 3), 0.0), ((1, 3), 0.0),
                 ((2, 3), 1.0))  # fmt: skip
    assert outsiders_of(told, {0: 0, 1: 1}, 2).tolist() == [False, False, True, True]


def test_a_member_stands_for_its_group_where_an_item_is_looked_for_outside():
    told = pairs(((0, 1), 0.0), ((0, 2), 1.0), ((2, 3), 0.0), ((1, 3), 0.0))
    assert outsiders_of(told, {0: 0, 1: 1}, 2).tolist() == [False, False, False, True]


def test_nobody_is_outside_while_a_group_was_not_met():
    told = pairs(((0, 1), 0.0), ((0, 2), 0.0), ((1, 2), 0.0))
    assert not outsiders_of(told, {0: 0, 1: 1}, 3).any()


def test_the_purest_items_are_anchors_and_those_outside_are_none():
    told = pairs(((0, 1), 0.0), ((0, 2), 0.75), ((0, 3), 0.0), ((1, 3), 0.0))
    U = np.array([[0.8, 0.2], [0.0, 1.0], [0.9, 0.1], [0.1, 0.9]])
    found = described(told, U, np.array([False, False, False, True]))
    assert found.anchors == [[2, 0], [1]]
    assert found.queried[2].tolist() == [True, False]


def test_who_is_like_nobody_is_an_anchor_only_after_those_who_are_like_others_of_the_group():
    told = pairs(((0, 1), 0.0), ((1, 2), 0.0), ((1, 3), 0.0), ((2, 3), 1.0))
    U = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [0.8, 0.2]])
    assert described(told, U, np.zeros(4, dtype=bool)).anchors == [[2, 3, 0], [1]]


def test_parts_of_a_group_are_those_that_answers_link():
    told = pairs(((0, 1), 1.0), ((2, 3), 1.0), ((0, 4), 0.0), ((1, 5), 1.0))
    U = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    parts = parts_of(described(told, U, np.zeros(6, dtype=bool)))
    assert [[sorted(part) for part in some] for some in parts] == [[[0, 1, 5], [2, 3]], []]
