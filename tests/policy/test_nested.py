"""One policy for the leaves of a tree of groups: answers that name a group only, and sums."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans.exceptions import MissingClusterWarning
from askmeans.policy.evidence import evidence_of
from askmeans.policy.nested import LeafAnswers, NestedPolicy, Tree
from askmeans.queries import Answer, Answers, Question
from askmeans.spec import PlanSpec

NAN = math.nan
# Groups 0 and 1; 0 has 2 and 3, and 3 has 4 and 5. The leaves are 2, 4, 5 and 1.
TREE = Tree(top=(0, 1), children={0: (2, 3), 3: (4, 5)})


def said(item, row, annotator="me"):
    """The answer about an item, by the groups of a level."""
    return Answer(round=0, kind="group", items=(item,), cluster=None, repeat=0, value=row,
                  annotator=annotator)  # fmt: skip


def leaves_of(top, *within):
    """Answers by the leaves; `within` are those about the sub-groups of 0 and of 3."""
    parts = dict.fromkeys(TREE.children, ()) | dict(zip(TREE.children, within, strict=False))
    return LeafAnswers.of(TREE, {None: top, **parts})


def test_the_leaves_of_a_tree_are_in_its_order():
    assert TREE.leaves == (2, 4, 5, 1)
    assert {group: TREE.columns[group] for group in (0, 3, 1)} == {0: (0, 1, 2), 3: (1, 2), 1: (3,)}
    assert TREE.levels == [(0, 1), (2, 3, 1), (2, 4, 5, 1)]


def test_shares_multiply_down_the_tree_and_sum_up_it():
    row = TREE.row({None: (0.8, 0.2), 0: (0.25, 0.75), 3: (1.0, 0.0)})
    assert row == pytest.approx((0.2, 0.6, 0.0, 0.2))
    assert_allclose(TREE.summed(np.array([row]), (0, 3, 1)), [[0.8, 0.6, 0.2]])
    assert_allclose(TREE.evened(np.array([row]), 0), [[0.4, 0.4, 0.0, 0.2]])


def test_an_answer_names_all_leaves_of_its_group():
    evidence = leaves_of([said(7, (1.0, 0.0)), said(8, (1.0, 0.0)), said(9, (0.0, 1.0))],
                         [said(8, (0.0, 1.0))])  # fmt: skip
    rows = [answer.value for answer in evidence.answers]
    assert_allclose(rows, [[NAN, NAN, NAN, 0], [0, NAN, NAN, 0], [0, 0, 0, 1]])
    assert evidence.open == {7: 0, 8: 3}
    assert evidence.silent == {3}


def test_who_names_a_group_only_leaves_the_sub_group_to_others():
    top = [said(7, (1.0, 0.0)), said(7, (1.0, 0.0), "ann")]
    evidence = leaves_of(top, [said(7, (1.0, 0.0), "ann")])
    assert [answer.value for answer in evidence.answers] == [(1.0, 0.0, 0.0, 0.0)] * 2
    assert not evidence.open


def test_people_who_name_different_groups_keep_the_share_of_each():
    evidence = leaves_of([said(7, (1.0, 0.0)), said(7, (0.0, 1.0), "ann"), said(8, (NAN, NAN))])
    rows = np.array([answer.value for answer in evidence.answers])
    assert_allclose(TREE.summed(rows[:2], TREE.top), [[1, 0], [0, 1]])
    assert np.isnan(rows[2]).all()
    assert not evidence.open


def test_an_item_in_none_of_the_sub_groups_is_not_open():
    evidence = leaves_of([said(7, (1.0, 0.0))], [said(7, (0.0, 0.0))])
    assert (dict(evidence.open), evidence.nowhere) == ({}, ((7, 0),))


def test_the_clusters_of_a_union_have_what_is_left():
    answers = leaves_of([said(7, (1.0, 0.0)), said(8, (0.0, 1.0)), said(9, (0.0, 0.0))]).answers
    evidence = evidence_of(Answers.of(answers, 4), 4, unions=tuple(TREE.unions))
    assert evidence.in_union.tolist() == [True, False, False]
    assert evidence.left.tolist() == [1.0, 0.0, 0.0]
    assert evidence.with_unassigned_column().values[0, 4] == 0.0
    plain = evidence_of(Answers.of(answers, 4), 4)
    assert not plain.in_union.any()


@pytest.fixture(scope="module")
def blobs():
    """Items around four corners, which two groups share; both corners of a group are apart."""
    labels = np.repeat(np.arange(4), 25)
    corners = np.array([[0, 0], [9, 9], [9, 0], [0, 9.0]])
    return corners[labels] + np.random.default_rng(0).normal(size=(100, 2)), labels


def nested(X, answers):
    """The policy after answers about two groups of two leaves."""
    tree = Tree(top=(0, 1), children={0: (2, 3), 1: (4, 5)})
    policy = PlanSpec(n_clusters=4, ask="group", seed=0).make(X)
    evidence = LeafAnswers.of(tree, answers)
    made = NestedPolicy(policy, tree)
    made.learn(evidence)
    policy.learn(Answers.of(evidence.answers, 4))
    return made


def test_answers_about_groups_alone_teach_the_groups(blobs):
    X, labels = blobs
    top = [said(item, tuple(np.eye(2)[labels[item] // 2].tolist())) for item in range(0, 100, 4)]
    policy = nested(X, {None: top, 0: (), 1: ()})
    with pytest.warns(MissingClusterWarning):
        U = policy.clustering().memberships
    assert (policy.tree.summed(U, (0, 1)).argmax(axis=1) == labels // 2).mean() > 0.95
    assert_allclose(U[:, 0], U[:, 1])  # nothing is known of the sub-groups


def test_a_few_answers_about_sub_groups_divide_the_items_of_the_group(blobs):
    X, labels = blobs
    top = [said(item, tuple(np.eye(2)[labels[item] // 2].tolist())) for item in range(0, 100, 4)]
    within = {
        group: [said(a.items[0], tuple(np.eye(2)[labels[a.items[0]] % 2].tolist()))
                for a in top if labels[a.items[0]] // 2 == group][::3]
        for group in (0, 1)
    }  # fmt: skip
    policy = nested(X, {None: top, **within})
    assert (policy.clustering().memberships.argmax(axis=1) == labels).mean() > 0.95


def test_cards_show_the_sub_groups_of_the_probable_group(blobs):
    X, labels = blobs
    top = [said(item, tuple(np.eye(2)[labels[item] // 2].tolist())) for item in range(0, 100, 4)]
    policy = nested(X, {None: top, 0: (), 1: ()})
    questions = policy.propose(8, frozenset(), "me")
    assert [q.cluster for q in questions] == [labels[q.items[0]] // 2 for q in questions]
    (other,) = policy.propose(1, {questions[0]}, "me")
    assert other.items != questions[0].items


def test_the_sub_groups_of_answered_items_are_asked_for_last(blobs):
    X, labels = blobs
    top = [said(item, tuple(np.eye(2)[labels[item] // 2].tolist())) for item in range(98)]
    policy = nested(X, {None: top, 0: (), 1: ()})
    first, second, *others = policy.propose(200, frozenset(), "me")
    assert {first.items[0], second.items[0]} == {98, 99}
    assert others[0] == Question("group", (0,), 0)
    assert len(others) == 98
