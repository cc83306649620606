"""Group questions in a session: what people may say, and what becomes of it."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans import sessions
from askmeans.exceptions import AnswerError, KeyConflictError
from askmeans.queries import Answer

NAMES = ["small", "middle", "large"]


@pytest.fixture
def session(make):
    return make(ask="group", cluster_names=NAMES)


def test_people_are_asked_for_groups_or_memberships(make):
    assert make("a.db", ask="group").ask()[0].kind == "group"
    assert make("c.db", ask="membership").ask()[0].kind == "membership"


@pytest.mark.parametrize(
    ("value", "row"),
    [
        (1, (0.0, 1.0, 0.0)),
        ("large", (0.0, 0.0, 1.0)),
        ({"small": 0.7, 2: 0.3}, (0.7, 0.0, 0.3)),
        ({0: 0.25}, (0.25, 0.0, 0.0)),
        ((), (0.0, 0.0, 0.0)),
        ((0.5, 0.5, 0.0), (0.5, 0.5, 0.0)),
    ],
)
def test_a_group_shares_or_none_of_these_are_kept_as_a_row(session, again, value, row):
    (question,) = session.ask()
    assert (question.kind, question.cluster, len(question.items)) == ("group", None, 1)
    assert session.tell(question.id, value).value == row
    for seen in (session, again(session)):
        assert [receipt.value for receipt in seen.history.answers()] == [row]
        (answer,) = seen.result().history
        assert (answer.kind, answer.cluster, answer.value) == ("group", None, row)
    if sum(row) == 1.0:
        assert_allclose(session.result().memberships[question.items[0]], row)


@pytest.mark.parametrize(
    "value", [3, -1, "kale", {"small": 0.7, "large": 0.7}, {"small": 2}, 0.5, True, None, math.nan,
              (1.0,), {"small": "much"}],
)  # fmt: skip
def test_what_is_no_group_is_refused_and_changes_nothing(session, value):
    (question,) = session.ask()
    with pytest.raises(AnswerError, match="Got"):
        session.tell(question.id, value)
    assert session.history.answers() == []
    assert session.ask() == [question]


def test_a_group_is_no_answer_to_a_question_for_a_membership(make):
    session = make(ask="membership")
    (question,) = session.ask()
    for value in ("small", {0: 1.0}, ()):
        with pytest.raises(AnswerError, match="must be a number"):
            session.tell(question.id, value)


def test_the_same_said_in_two_ways_is_the_same_answer(session):
    (question,) = session.ask()
    assert not session.tell(question.id, "large", key="a").repeated
    assert session.tell(question.id, 2, key="a").repeated
    assert session.tell(question.id, {"large": 1.0}).repeated
    with pytest.raises(KeyConflictError, match="after 2:1"):
        session.tell(question.id, 0)


def test_an_answer_is_changed_taken_back_and_cannot_be_said(session, again):
    (question,) = session.ask()
    session.tell(question.id, "large")
    assert session.change(question.id, {"small": 0.5, "middle": 0.5}).value == (0.5, 0.5, 0.0)
    assert session.undo().value == (0.5, 0.5, 0.0)
    assert session.unsure(question.id).value is None
    (answer,) = again(session).result().history
    assert np.isnan(answer.value).all()
    assert session.change(question.id, ()).value == (0.0, 0.0, 0.0)
    assert session.change(question.id, None).kind == "unsure"


def test_shares_lie_on_the_sessions_scale(make):
    session = make(ask="group", cluster_names=NAMES, levels=4)
    (question,) = session.ask()
    with pytest.raises(AnswerError, match="points of the session's scale"):
        session.tell(question.id, {"small": 0.5})
    told = session.tell(question.id, {"small": 0.33, "large": 0.67}).value
    assert told == (1 / 3, 0.0, 2 / 3)


def test_exemplars_are_those_that_people_placed_in_a_group(session):
    (question,) = session.ask()
    session.tell(question.id, {"large": 0.8, "small": 0.2})
    assert session.exemplars(2)[0] == question.items[0]
    assert question.items[0] not in session.exemplars(0, n=40)
    session.change(question.id, "small")
    assert session.exemplars(0)[0] == question.items[0]
    assert question.items[0] not in session.exemplars(2, n=40)


def test_a_group_that_has_only_a_name_has_no_exemplars_before_somebody_placed_an_item(session):
    session.result()
    assert [session.exemplars(group) for group in range(3)] == [[], [], []]
    (question,) = session.ask()
    session.tell(question.id, "large")
    session.result()
    assert [len(session.exemplars(group)) for group in range(3)] == [0, 0, 3]


def test_people_who_place_an_item_in_different_groups_contradict_each_other(make, kit):
    session = make(ask="group", cluster_names=NAMES, annotations=2)
    for agreed in session.ask(14, annotator="ann"):
        session.tell(agreed.id, kit.knows(agreed), annotator="ann")
        session.tell(agreed.id, kit.knows(agreed), annotator="bob")
    (question,) = session.ask(annotator="ann")
    session.tell(question.id, "small", annotator="ann")
    session.tell(question.id, "small", annotator="bob")
    assert session.status(estimate=True).contradictions == ()
    session.change(question.id, "large", annotator="bob")
    (conflict,) = session.status(estimate=True).contradictions
    assert conflict.kind == "repeats"
    assert [receipt.value for receipt in conflict.answers] == [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)]
    label = session.item(question.items[0]).label
    text = sessions.conflicts.describe(conflict, lambda _: label, session.groups.all_names)
    assert text == f"{label}: people disagree (ann “small”, bob “large”)."


def test_rows_are_imported_once_and_refused_where_they_are_none(session, again):
    def held(value, item=7):
        return Answer(round=0, kind="group", items=(item,), cluster=None, repeat=0, value=value)

    assert session.import_answers([held((0.0, 0.25, 0.75)), held((math.nan,) * 3, item=8)]).new == 2
    assert session.import_answers([held((0.0, 0.25, 0.75))]).new == 0
    with pytest.raises(KeyConflictError, match="must stay what it was"):
        session.import_answers([held((1.0, 0.0, 0.0))])
    for wrong in ((1.0, 0.5, 0.0), (0.0,) * 4, 0.5, (), (math.nan, 1.0, 0.0)):
        with pytest.raises(AnswerError, match="Got"):
            session.import_answers([held(wrong, item=9)])
    assert session.status().held == 2
    assert session.status().answered == 0
    assert_allclose(again(session).result().memberships[7], [0.0, 0.25, 0.75])
    asked = [question.items for question in session.ask(30)]
    assert (7,) not in asked
    assert (8,) not in asked


def test_every_item_is_asked_about_once_and_then_all_is_done(make):
    session = make(X=[[0.0], [0.1], [5.0], [5.1]], n_clusters=2, ask="group")
    items = []
    while questions := session.ask():
        items.append(questions[0].items[0])
        session.tell(questions[0].id, int(questions[0].items[0] > 1))
    assert sorted(items) == [0, 1, 2, 3]
    assert session.status().state.value == "all done"
    assert session.result().memberships.argmax(axis=1).tolist() == [0, 0, 1, 1]


def test_a_forecast_counts_items_and_not_entries(make):
    group, entry = (make(f"{ask}.db", ask=ask) for ask in ("group", "membership"))
    assert group.status().left.low == 40
    assert entry.status().left.low == 80


def test_nobody_gets_an_item_that_another_holds(session):
    held = [session.ask(annotator=f"t{number}")[0].items for number in range(30)]
    assert len(set(held)) == 30


# ---- before the first answer --------------------------------------------------------------------


@pytest.mark.parametrize("ask", ["group", "membership"])
def test_groups_that_have_only_names_have_no_members_before_an_answer(make, again, kit, ask):
    named = make(ask=ask, cluster_names=["a", "b", "c"])
    for seen in (named, again(named)):
        result = seen.result()
        assert (result.basis, result.without_answers[:15]) == ("nothing", "No answers yet:")
        assert_allclose(result.memberships, 1 / 3)
        assert_allclose(result.clustering.memberships, 1 / 3)
        assert_allclose(result.clustering.predictor(kit.X[:4]), 1 / 3)
        assert result.without_answers in seen.status(estimate=True).notes
    (question,) = named.ask()
    named.unsure(question.id)
    assert named.result().basis == "nothing"  # nobody could say
    (question,) = named.ask()
    named.tell(question.id, kit.knows(question))
    assert (named.result().basis, named.result().without_answers) == ("answers", "")
    assert named.result().memberships.max() > 0.5


def test_none_of_these_places_no_item(make):
    session = make(ask="group", cluster_names=["a", "b", "c"])
    session.tell(session.ask()[0].id, ())
    assert session.result().basis == "nothing"
    session.undo()
    session.advisers.add("m", {0: "b"})
    assert session.result().basis == "answers"  # a language model's are evidence, too


def test_clusters_that_nobody_named_are_shown_as_what_they_are(make):
    session = make(ask="group")
    result = session.result()
    assert (result.basis, result.memberships.max() > 0.5) == ("data", True)
    assert "unsupervised fit" in result.without_answers
    session.groups.add("another")  # which has only a name
    assert session.result().basis == "nothing"
