"""Answers that cannot all be true: which of a session's, and how that is said."""

import pytest

from askmeans.sessions import Question
from askmeans.sessions.conflicts import describe, find_conflicts
from askmeans.sessions.events import Answer, Skip, Unsure

NAMES = ["small", "large", "odd"]
FRUIT = ["plum", "cherry", "melon"]


def conflicts_of(*told, levels=None, noise=None, n_clusters=3):
    """Of answers given as (annotator, items, cluster, value)."""
    questions, replies = {}, []
    for number, (annotator, items, cluster, value) in enumerate(told, start=1):
        kind = {1: "membership", 2: "pair", 3: "triplet"}[len(items)]
        questions[number] = Question(id=number, kind=kind, items=items, cluster=cluster)
        kind = Skip if value == "skip" else Unsure if value is None else Answer
        given = {"value": value} if kind is Answer else {}
        replies.append(
            kind(id=number, question=number, annotator=annotator, key=str(number), **given)
        )
    return find_conflicts(replies, questions.__getitem__, n_clusters, levels=levels, noise=noise)


def said(*told, **options):
    return [describe(c, FRUIT.__getitem__, NAMES) for c in conflicts_of(*told, **options)]


def test_people_who_disagree_are_named_with_what_they_said():
    told = ("ann", (0,), 1, 1.0), ("bob", (0,), 1, 0.25)
    assert said(*told) == ["plum in large: people disagree (ann “1”, bob “0.25”)."]


def test_one_person_who_answers_a_repeat_otherwise_is_no_disagreement_of_people():
    (text,) = said(("ann", (0, 2), None, 1.0), ("ann", (0, 2), None, 0.0))
    assert text == "plum and melon: answered in two ways (ann “1”, ann “0”)."


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ((1.0, 0.75), "plum: 1 in small, 0.75 in large is more than the whole."),
        ((0.0, 0.0, 0.25), "plum: 0 in small, 0 in large, 0.25 in odd is less than the whole."),
    ],
)
def test_a_row_that_is_no_whole_is_told(values, told):
    assert said(*(("ann", (0,), j, value) for j, value in enumerate(values))) == [told]


def test_three_items_cannot_be_more_alike_than_two_of_them():
    (text,) = said(("ann", (0, 1, 2), None, 1.0), ("bob", (0, 1), None, 0.25))
    assert text == (
        "plum, cherry and melon are rated more alike (1) than plum and cherry alone (0.25)."
    )


def test_rounding_to_the_points_of_the_scale_is_no_contradiction():
    near = ("ann", (0,), 0, 0.75), ("bob", (0,), 0, 0.5)  # one point apart, of five
    assert conflicts_of(*near) == ()
    assert conflicts_of(*near, levels=101)
    assert conflicts_of(*near, noise=0.0)  # where a fit says that answers are exact
    assert conflicts_of(("ann", (0,), 0, 0.75), ("ann", (0,), 1, 0.5)) == ()


def test_what_cannot_be_said_or_was_skipped_contradicts_nothing():
    assert conflicts_of(("ann", (0,), 0, 1.0), ("bob", (0,), 0, None)) == ()
    assert conflicts_of(("ann", (0,), 0, 1.0), ("bob", (0,), 0, "skip")) == ()


def test_the_worst_comes_first_with_its_items_and_answers():
    found = conflicts_of(
        ("ann", (0,), 0, 0.75), ("bob", (0,), 0, 0.0), ("ann", (1,), 2, 1.0), ("bob", (1,), 2, 0.0)
    )
    assert [conflict.items for conflict in found] == [(1,), (0,)]
    assert [receipt.annotator for receipt in found[0].answers] == ["ann", "bob"]
    assert found[0].excess > found[1].excess > 0
