"""Groups that nobody thought of: added, merged, named, taken back; nothing answered is lost."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans.exceptions import AnswerError, KeyConflictError, ParameterError, SessionError
from askmeans.policy.growing import renumbered, to_ask_again
from askmeans.queries import Question
from askmeans.sessions.events import Answer
from askmeans.sessions.group_numbers import GroupNumbers, as_evidence

NAMES = ["small", "middle"]
LABELS = np.repeat([0, 1, 2], 8)
X = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])[LABELS] + np.random.default_rng(0).normal(
    size=(24, 2)
)


@pytest.fixture
def session(make):
    return make(X=X, n_clusters=2, ask="group", cluster_names=NAMES)


def told(session, count, n_groups):
    """Answer so many questions as somebody who knows three groups; the questions."""
    asked = []
    for _ in range(count):
        (question,) = session.ask()
        label = int(LABELS[question.items[0]])
        session.tell(question.id, label if label < n_groups else ())
        asked.append(question)
    return asked


# ---- groups, as a record ------------------------------------------------------------------------


def test_numbers_never_shift_and_columns_are_the_living_groups():
    groups = GroupNumbers(n=5, into={1: 3}, gone=frozenset({0}))
    assert groups.living == [2, 3, 4]
    assert [groups.resolve(j) for j in range(6)] == [None, 3, 2, 3, 4, None]
    assert [groups.column(j) for j in range(5)] == [None, 1, 0, 1, 2]
    assert groups.members(3) == [1, 3]
    assert groups.row_by_number((0.5, 0.25, 0.0)) == (0.0, 0.0, 0.5, 0.25, 0.0)


def test_a_row_is_silent_about_later_groups_unless_it_sums_to_one():
    groups = GroupNumbers(n=3)
    assert groups.row_now((0.75, 0.25)) == (0.75, 0.25, 0.0)
    for row in ((0.0, 0.0), (0.5, 0.0)):
        assert groups.row_now(row)[:2] == row
        assert math.isnan(groups.row_now(row)[2])


def test_merged_shares_are_one_share():
    assert GroupNumbers(n=3, into={2: 0}).row_now((0.5, 0.25, 0.25)) == (0.75, 0.25)
    gone = GroupNumbers(n=3, gone=frozenset({2})).row_now((0.5, 0.0, 0.5))
    assert gone == (0.5, 0.0)  # what was in it is in none of these


def event(number, value, question=1, annotator="me"):
    return Answer(id=number, key=str(number), annotator=annotator, question=question, value=value)


def test_what_was_asked_again_takes_the_place_of_none_of_these():
    asked = {1: Question("group", (7,)), 2: Question("group", (7,), None, 1)}
    events = [event(1, (0.0, 0.0), 1), event(2, (1.0, 0.0, 0.0), 2)]
    (first,) = as_evidence(events[:1], asked.get, GroupNumbers(n=3))
    assert to_ask_again([first]) == [asked[2]]
    (answer,) = as_evidence(events, asked.get, GroupNumbers(n=3))
    assert (answer.repeat, answer.value) == (1, (1.0, 0.0, 0.0))
    assert to_ask_again([answer]) == []
    assert renumbered([answer])[0].question == asked[1]  # as a policy knows it


def test_memberships_keep_their_group_whatever_its_column():
    asked = {j + 1: Question("membership", (7,), j) for j in range(3)}
    events = [event(j + 1, 0.25 * j, j + 1) for j in range(3)]
    groups = GroupNumbers(n=3, gone=frozenset({1}))
    found = as_evidence(events, asked.get, groups)
    assert {answer.cluster: answer.value for answer in found} == {0: 0.0, 1: 0.5}
    assert groups.to_numbers(found[1].question) == asked[3]
    assert [groups.to_columns(question) for question in asked.values()] == [
        asked[1], None, asked[2],
    ]  # fmt: skip


# ---- in a session -------------------------------------------------------------------------------


def test_a_group_is_added_at_any_time_and_only_none_of_these_is_asked_again(session, again):
    asked = told(session, 12, 2)
    nowhere = {question.items for question in asked if LABELS[question.items[0]] == 2}
    assert nowhere
    before = session.history.answers()
    assert session.groups.add("large") == 2
    for seen in (session, again(session)):
        assert seen.groups.names == [*NAMES, "large"]
        assert seen.history.answers() == before  # nothing that was answered is lost
        assert seen.result().memberships.shape == (24, 3)
    placed = [q for q in asked if q.items not in nowhere]
    for question in placed:  # of what was placed nothing is left for the new one
        row = np.eye(3)[LABELS[question.items[0]]]
        assert_allclose(session.result().memberships[question.items[0]], row, atol=1e-9)
    again_asked = told(session, len(nowhere), 3)
    assert {question.items for question in again_asked} == nowhere
    assert {question.repeat for question in again_asked} == {1}
    for question in again_asked:
        assert_allclose(session.result().memberships[question.items[0]], [0.0, 0.0, 1.0], atol=1e-9)
    (next_one,) = session.ask()
    assert next_one.items not in {question.items for question in asked}


def test_every_item_ends_in_its_group(session):
    told(session, 10, 2)
    session.groups.add("large")
    while session.ask():
        told(session, 1, 3)
    assert session.status().state.value == "all done"
    assert (session.result().memberships.argmax(axis=1) == LABELS).all()
    assert session.exemplars(2)[0] >= 16


def test_somebody_else_gets_another_of_the_items_to_ask_again(session):
    told(session, 14, 2)
    session.groups.add("large")
    held = [session.ask(annotator=name)[0] for name in ("ann", "bob", "cy")]
    assert len({question.items for question in held}) == 3


def test_a_new_group_may_be_told_by_number_name_and_share(session):
    session.groups.add("large")
    for value, row in (
        (2, (0.0, 0.0, 1.0)), ("large", (0.0, 0.0, 1.0)),
        ({"small": 0.5, 2: 0.5}, (0.5, 0.0, 0.5)), ((0.0, 0.5, 0.5), (0.0, 0.5, 0.5)),
    ):  # fmt: skip
        (question,) = session.ask()
        assert session.tell(question.id, value).value == row


def test_merged_groups_are_one_and_the_second_redirects(session, again):
    session.groups.add("large")
    (first,) = session.ask()
    session.tell(first.id, "large")
    session.groups.merge("small", 2)
    for seen in (session, again(session)):
        assert seen.groups.names == NAMES
        assert [(group.number, group.name) for group in seen.groups] == [
            (0, "small"),
            (1, "middle"),
        ]
        assert seen.groups.all_names == ["small", "middle", "small"]
        assert_allclose(seen.result().memberships[first.items[0]], [1.0, 0.0])
    (second,) = session.ask()
    assert session.tell(second.id, 2).value == (1.0, 0.0, 0.0)  # its number still stands for it
    with pytest.raises(AnswerError, match="large"):
        session.change(second.id, "large")
    assert session.groups.add("large") == 3  # a name may come again, a number never
    assert session.groups.names == [*NAMES, "large"]


def test_the_first_group_may_be_merged_away(session):
    session.groups.add("large")
    (first, second) = session.ask(2)
    session.tell(first.id, 0)
    session.tell(second.id, {"middle": 0.25, "large": 0.75})
    session.groups.merge(2, 0)
    assert session.groups.names == ["middle", "large"]
    found = session.result()
    assert found.group_names == ("middle", "large")
    assert_allclose(found.memberships[[first.items[0], second.items[0]]], [[0, 1], [0.25, 0.75]])
    session.groups.rename(0, "huge")
    assert session.groups.names == ["middle", "huge"]
    assert session.exemplars(0)[0] in (first.items[0], second.items[0])


@pytest.mark.parametrize("count", [0, 12])
def test_one_group_is_a_legal_state(session, again, count):
    told(session, count, 2)
    session.groups.merge("small", "middle")
    for seen in (session, again(session)):
        result, status = seen.result(), seen.status(estimate=True)
        assert result.group_names == ("small",)
        assert_allclose(result.memberships[:, 0] + result.clustering.unassigned, 1.0)
        assert all(0.0 <= estimate.error <= 1.0 for estimate in seen.error_curve())
        assert status.state.value == "all done"
        assert seen.ask() == []
    assert session.groups.add("large") == 2  # and there may be several again
    assert session.ask()


def test_groups_are_taken_back_like_answers(session, again):
    (first,) = session.ask()
    session.tell(first.id, "small")
    session.groups.add("large")
    (second,) = session.ask(annotator="ann")
    session.tell(second.id, "large", annotator="ann")
    session.groups.merge(1, 0)
    assert session.groups.names == ["middle", "large"]
    undone = session.undo(key="u")
    assert (undone.kind, undone.question, undone.receipt.kind) == ("merge", None, "regroup")
    assert session.undo(key="u").receipt.repeated
    assert session.groups.names == [*NAMES, "large"]
    assert session.undo().kind == "group"
    for seen in (session, again(session)):
        assert seen.groups.names == NAMES
        assert seen.result().memberships.shape == (24, 2)
        assert len(seen.history.answers()) == 2  # what was told of the group is kept
    assert session.undo().value == (1.0, 0.0)
    assert session.groups.add("large") == 3


def test_groups_are_taken_back_in_turn(session):
    session.groups.add("large")
    first = session.history.changes()[-1].event
    merged = session.groups.merge(1, 2).event
    with pytest.raises(SessionError, match="in turn"):
        session.history.take_back(first)
    with pytest.raises(SessionError, match="to undo"):
        session.undo(annotator="ann")
    session.history.take_back(merged, annotator="ann")
    session.history.take_back(first)
    assert session.groups.names == NAMES
    for event in (first, merged):
        with pytest.raises(SessionError, match="nothing changed again"):
            session.history.take_back(event)


def test_what_was_put_into_a_removed_group_is_in_none(session, again):
    number = session.groups.add("large")
    asked = told(session, 12, 3)
    before = session.history.answers()
    receipt = session.groups.remove("large")
    for seen in (session, again(session)):
        assert seen.groups.names == NAMES
        assert seen.result().memberships.shape == (24, 2)
        assert seen.history.answers() == before
        for question in asked:
            row = np.eye(3)[LABELS[question.items[0]], :2]
            assert_allclose(seen.result().memberships[question.items[0]] * row.sum(), row)
        assert seen.groups.find(number) is None
    assert session.groups.add("tiny") == 3  # numbers are not given again
    session.history.take_back(receipt.event)  # also after something else was done to groups
    assert session.groups.names == [*NAMES, "large", "tiny"]
    placed = next(q.items[0] for q in asked if LABELS[q.items[0]] == 2)
    assert_allclose(session.result().memberships[placed], [0.0, 0.0, 1.0, 0.0], atol=1e-9)


def test_a_removed_group_is_taken_back_by_the_next_undo(session):
    receipt = session.groups.remove(0)
    assert [*map(session.history.describe, session.history.changes())] == ["removed small"]
    undone = session.undo()
    assert (undone.kind, undone.question, session.groups.names) == ("remove", None, NAMES)
    assert session.history.changes()[0].event == receipt.event
    assert session.history.changes()[0].undone


def test_the_last_group_and_one_that_is_not_there_are_not_removed(session):
    for group in ("kale", 7, None):
        with pytest.raises(ParameterError, match="one of the groups 0 small, 1 middle"):
            session.groups.remove(group)
    session.groups.remove("small")
    with pytest.raises(ParameterError, match="must not be the only group"):
        session.groups.remove("middle")
    assert session.groups.names == ["middle"]


def test_memberships_of_a_removed_group_are_not_asked(make):
    session = make(X=X, n_clusters=3, ask="membership", cluster_names=list("abc"))
    held = session.ask(6)
    for question in held[3:]:
        session.tell(question.id, float(LABELS[question.items[0]] == question.cluster))
    session.groups.remove(held[0].cluster)
    assert held[0].cluster not in {question.cluster for question in session.ask(6)}
    assert session.result().memberships.shape == (24, 2)
    assert session.status(estimate=True).state.value == "asking"


def test_undo_takes_back_the_group_that_was_added_for_the_answer(session, again):
    (question,) = session.ask(annotator="ann")
    receipt = session.groups.add_for(question.id, "large", annotator="ann", key="k")
    assert receipt.value == (0.0, 0.0, 1.0)
    repeated = session.groups.add_for(question.id, "large", annotator="ann", key="k")
    assert (repeated.event, session.groups.names) == (receipt.event, [*NAMES, "large"])
    undone = session.undo(annotator="ann", key="u")
    assert (undone.group, undone.reopened) == ("large", True)
    for seen in (session, again(session)):
        assert seen.groups.names == NAMES
        assert seen.result().memberships.shape == (24, 2)
        assert seen.undo(annotator="ann", key="u").group == "large"  # the same undo again
    assert session.ask(annotator="ann") == [question]
    with pytest.raises(KeyConflictError, match="still stands"):
        session.groups.add_for(question.id, "large", annotator="ann", key="k")


@pytest.mark.parametrize("use", ["answer", "pin", "merge"])
def test_a_group_that_something_else_is_in_stays_when_its_first_answer_is_undone(session, use):
    (question,) = session.ask(annotator="ann")
    session.groups.add_for(question.id, "large", annotator="ann")
    if use == "answer":
        session.tell(session.ask(annotator="bob")[0].id, "large", annotator="bob")
    elif use == "pin":
        session.groups.pin("large", 20)
    else:
        session.groups.merge("large", "small")
    assert session.undo(question.id, annotator="ann").group is None
    assert "large" in session.groups.names


def test_only_a_question_about_groups_is_answered_with_a_new_one(make):
    session = make(X=X, n_clusters=2, ask="membership")
    (question,) = session.ask()
    with pytest.raises(SessionError, match="question about groups"):
        session.groups.add_for(question.id, "large")
    assert len(session.groups) == 2


@pytest.mark.parametrize("name", ["small", "id", "", "a\nb"])
def test_a_name_that_is_none_or_taken_is_refused_and_changes_nothing(session, name):
    with pytest.raises(ParameterError, match="'name' parameter"):
        session.groups.add(name)
    assert session.groups.names == NAMES


def test_groups_that_are_not_two_are_not_merged(session):
    for a, b in ((0, 0), (0, 7), ("small", "kale"), (True, 1), (0, None)):
        with pytest.raises(
            ParameterError, match=r"two different groups|one of the groups 0 small, 1 middle"
        ):
            session.groups.merge(a, b)
    session.groups.merge(0, 1)
    with pytest.raises(ParameterError, match="two different groups"):
        session.groups.merge(0, 1)
    assert session.ask() == []  # one group holds everything
    session.groups.add("large")
    assert len(session.ask()) == 1


def test_there_are_no_more_groups_than_items(make):
    session = make(X=[[0.0], [1.0]], n_clusters=2, ask="group")
    with pytest.raises(ParameterError, match="at most n_samples=2"):
        session.groups.add("third")


def test_groups_of_a_session_that_compares_items_are_fixed(make):
    session = make(ask="similarity")
    for move in (lambda: session.groups.add("d"), lambda: session.groups.merge(0, 1)):
        with pytest.raises(SessionError, match="needs a session that asks for groups"):
            move()


def test_memberships_are_asked_of_a_new_group_too(make):
    session = make(X=X, n_clusters=2, ask="membership", cluster_names=NAMES)
    for _ in range(8):
        (question,) = session.ask()
        session.tell(question.id, float(LABELS[question.items[0]] == question.cluster))
    session.groups.add("large")
    asked = []
    for _ in range(30):
        (question,) = session.ask()
        asked.append(question)
        session.tell(question.id, float(LABELS[question.items[0]] == question.cluster))
    assert 2 in {question.cluster for question in asked}
    with pytest.raises(SessionError, match="needs a session that asks for groups"):
        session.groups.merge(0, 1)
    assert (session.result().memberships.argmax(axis=1) == LABELS).mean() > 0.9


def test_many_items_of_no_group_suggest_another_with_the_evidence(session):
    assert session.status().suggestion is None
    told(session, 20, 2)
    status = session.status()
    assert status.suggested_clusters > 2
    assert "belong to none of the 2 groups, so there may be" in status.suggestion
    assert session.result().clustering.diagnostics.suggested_clusters > 2
    session.groups.add("large")
    told(session, 10, 3)
    assert session.status().suggestion is None


def test_two_processes_add_groups_of_different_numbers(session, again):
    other = again(session)
    assert [session.groups.add("c"), other.groups.add("d"), session.groups.add("e")] == [2, 3, 4]
    assert other.groups.names == [*NAMES, "c", "d", "e"] or len(other.groups) == 5


def test_a_group_of_memberships_that_was_taken_back_leaves_the_others_their_numbers(make):
    session = make(X=X, n_clusters=2, ask="membership", cluster_names=NAMES)
    session.groups.add("wrong")
    session.undo()
    assert session.groups.add("large") == 3
    asked = []
    for _ in range(40):
        (question,) = session.ask()
        asked.append(question.cluster)
        label = {0: 0, 1: 1, 3: 2}[question.cluster]
        session.tell(question.id, float(LABELS[question.items[0]] == label))
    assert set(asked) == {0, 1, 3}
    assert (session.result().memberships.argmax(axis=1) == LABELS).mean() > 0.9


def test_a_session_may_find_out_how_many_groups_there_are(make, again):
    session = make(X=X, n_clusters="auto", ask="group")
    assert session.groups.names == ["Group A", "Group B"]
    while questions := session.ask():
        label = int(LABELS[questions[0].items[0]])
        session.tell(questions[0].id, label if label < len(session.groups) else ())
        if len(session.history.answers()) > 40:
            break
    assert session.groups.names == ["Group A", "Group B", "Group C"]
    assert list(again(session).groups) == list(session.groups)
    assert (session.result().memberships.argmax(axis=1) == LABELS).all()


def test_a_group_that_was_taken_back_does_not_come_again_by_itself(make):
    session = make(X=X, n_clusters="auto", ask="group", cluster_names=NAMES)
    while len(session.groups) == 2:
        told(session, 1, 2)
    assert session.groups.names == [*NAMES, "Group C"]
    session.history.take_back(session.history.changes()[-1].event)
    told(session, 5, 2)
    assert session.groups.names == NAMES


@pytest.mark.parametrize("options", [{}, {"ask": "membership"}])
def test_only_a_session_that_asks_for_groups_finds_out_how_many(make, options):
    with pytest.raises(ParameterError, match=r"'n_clusters' parameter .* Got 'auto'"):
        make(n_clusters="auto", **options)
