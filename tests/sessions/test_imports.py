"""Answers held already, and new rows: what is there is not asked for again."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from askmeans import sessions
from askmeans.exceptions import (
    AnswerError,
    DataError,
    KeyConflictError,
    ParameterError,
    QueryError,
    SessionError,
)
from askmeans.queries import MODEL, Answer


def test_answers_held_already_are_not_asked_and_cost_nothing(make, kit):
    history = [
        Answer(round=0, kind="membership", items=(row,), cluster=0, repeat=0, value=0.5)
        for row in range(7)
    ]
    session = make(budget=4)
    assert session.import_answers(history).new == 7
    assert session.import_answers(history).new == 0  # twice is harmless
    assert (session.status().held, session.status().answered) == (7, 0)
    asked = kit.answer(session)
    assert len(asked) == 4
    known = {(answer.items, answer.cluster) for answer in history}
    assert not known & {(question.items, question.cluster) for question in asked}
    assert session.result().n_queries == 11


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"items": (40,)}, QueryError),
        ({"items": (1, 2)}, QueryError),
        ({"cluster": 3}, QueryError),
        ({"cluster": None}, QueryError),
        ({"kind": "guess"}, QueryError),
        ({"value": 1.5}, AnswerError),
    ],
)
def test_answers_held_are_taken_in_all_or_none(make, wrong, error):
    fields = {"round": 0, "kind": "membership", "items": (1,), "cluster": 0, "repeat": 0}
    session = make()
    answers = [Answer(**fields, value=0.5), Answer(**({**fields, "value": 0.1} | wrong))]
    with pytest.raises(error):
        session.import_answers(answers)
    assert session.history.answers() == []
    session.import_answers(answers[:1])
    with pytest.raises(KeyConflictError, match="must stay what it was"):
        session.import_answers([Answer(**fields, value=0.6)])


@pytest.mark.parametrize("value", [0.25, 0.75])
def test_an_answer_held_to_an_answered_question_changes_nothing(make, value):
    session = make()
    (question,) = session.ask()
    session.tell(question.id, 0.25)
    fields = {"round": 0, "kind": question.kind, "items": question.items, "repeat": 0}
    answers = [Answer(**fields, cluster=question.cluster, value=value)]
    report = session.import_answers(answers)
    assert (report.new, report.existing, report.conflicting) == (0, value == 0.25, value == 0.75)
    assert len(session.history.answers()) == 1
    session.undo()
    assert session.ask() == [question]  # what was undone does not count by another way
    assert session.import_answers(answers).new == 1


def test_an_answer_held_is_not_added_to_the_same_that_waits_for_a_second_annotator(make):
    session = make(annotations=2)
    (question,) = session.ask()
    session.tell(question.id, 0.25)
    fields = {"round": 0, "kind": question.kind, "items": question.items, "repeat": 0}
    assert session.import_answers([Answer(**fields, cluster=question.cluster, value=0.25)]).new == 0
    assert session.ask(annotator="ann") == [question]


@pytest.mark.parametrize("value", [0.25, 0.75])
@pytest.mark.parametrize("annotator", ["me", "held"])
def test_an_unnamed_answer_to_what_somebody_else_answered_changes_nothing(make, annotator, value):
    session = make()
    (question,) = session.ask(annotator="Ada")
    session.tell(question.id, 0.25, annotator="Ada")
    unnamed = Answer(round=0, kind=question.kind, items=question.items, cluster=question.cluster,
                     repeat=0, value=value, annotator=annotator)  # fmt: skip
    report = session.import_answers([unnamed])
    assert (report.new, report.existing, report.conflicting) == (0, value == 0.25, value == 0.75)
    assert [answer.annotator for answer in session.history.answers()] == ["Ada"]


@pytest.mark.parametrize("annotator", ["me", "held"])
def test_an_unnamed_answer_is_not_added_to_the_same_of_the_first_of_two_annotators(make, annotator):
    session = make(annotations=2)
    (question,) = session.ask(annotator="Ada")
    session.tell(question.id, 0.25, annotator="Ada")
    unnamed = Answer(round=0, kind=question.kind, items=question.items, cluster=question.cluster,
                     repeat=0, value=0.25, annotator=annotator)  # fmt: skip
    assert session.import_answers([unnamed]).existing == 1
    assert session.ask(annotator="Bob") == [question]
    session.undo(annotator="Ada")
    assert session.history.answers() == []


def test_two_answers_held_to_one_question_must_agree(make):
    session = make(ask="similarity")
    fields = {"round": 0, "kind": "pair", "cluster": None, "repeat": 0}
    one, same, other = (
        Answer(**fields, items=items, value=value)
        for items, value in (((1, 3), 0.25), ((3, 1), 0.25), ((3, 1), 0.75))
    )
    with pytest.raises(KeyConflictError, match=r"Got 0\.25 and 0\.75; nothing was imported"):
        session.import_answers([one, other])
    assert session.history.answers() == []
    assert session.import_answers([one, same]).new == 1


def test_several_peoples_answers_to_one_question_keep_their_names(make, again):
    session = make()
    fields = {"round": 0, "kind": "membership", "items": (1,), "cluster": 0, "repeat": 0}
    several = [Answer(**fields, value=value, annotator=who)
               for who, value in (("ann", 0.25), ("bob", 0.75), ("cyd", 0.5))]  # fmt: skip
    assert session.import_answers(several).new == 3
    assert session.import_answers(several) == sessions.ImportReport(
        new=0, existing=3, conflicting=0
    )
    for seen in (session, again(session)):
        kept = {each.annotator: each.value for each in seen.history.answers()}
        assert kept == {"ann": 0.25, "bob": 0.75, "cyd": 0.5}
        assert {a.annotator for a in seen.result().history} == {"ann", "bob", "cyd"}
        (split,) = seen.people.disagreements()
        assert (split.answers, split.difference) == (kept, 0.5)
        assert (seen.status().held, seen.status().answered) == (1, 0)
    with pytest.raises(KeyConflictError, match="one answer of an annotator"):
        session.import_answers([*several[:1], Answer(**fields, value=0.5, annotator="ann")])
    with pytest.raises(ParameterError, match="language models"):
        session.import_answers([Answer(**fields, value=0.5, annotator=f"{MODEL}small")])


def test_what_somebody_answers_here_is_undone_before_what_they_imported(make):
    session = make()
    (question,) = session.ask()
    session.tell(question.id, 0.5)
    fields = {"round": 0, "kind": "membership", "cluster": 0, "repeat": 0, "value": 0.25}
    session.import_answers(Answer(**fields, items=(row,)) for row in (30, 31))
    assert session.undo().question == question
    with pytest.raises(SessionError, match="to undo"):
        session.undo()
    imported = session.history.answers()[0].question
    assert session.undo(imported).value == 0.25  # where it is meant


def test_a_similarity_held_in_another_order_is_not_asked(make, kit):
    whole, session = make("one.db", ask="pairwise"), make("two.db", ask="pairwise")
    asked = kit.answer(whole, 5)
    assert all(question.items[0] < question.items[1] for question in asked)
    session.import_answers(
        Answer(
            round=0, kind="pair", items=question.items[::-1], cluster=None, repeat=0,
            value=kit.knows(question),
        )
        for question in asked
    )  # fmt: skip
    assert [q.items for q in session.ask(3)] == [q.items for q in whole.ask(3)]


def test_which_of_two_stood_first_is_kept_of_what_is_held(make):
    session = make(ask="relative")
    fields = {"round": 0, "kind": "relative", "cluster": None, "repeat": 0}
    session.import_answers([Answer(**fields, items=(5, 9, 2), value=1.0),
                  Answer(**fields, items=(5, 2, 9), value=0.0)])  # fmt: skip
    told = {session.question(each.question).items: each.value for each in session.history.answers()}
    assert told == {(5, 9, 2): 1.0, (5, 2, 9): 0.0}
    with pytest.raises(QueryError, match="different items"):
        session.import_answers([Answer(**fields, items=(5, 5, 9), value=1.0)])


def test_nobody_answers_in_the_name_of_answers_held(make):
    session = make()
    (question,) = session.ask()
    for move in (
        lambda: session.ask(annotator="held"),
        lambda: session.tell(question.id, 0.5, annotator=" held "),
    ):
        with pytest.raises(ParameterError, match="marks imported and known answers"):
            move()
    fields = {"round": 0, "kind": "membership", "items": question.items, "repeat": 0}
    nobody = Answer(**fields, cluster=question.cluster, value=0.5, annotator="gold")
    session.import_answers([nobody])  # as an export has what is by nobody
    assert [each.annotator for each in session.history.answers()] == ["held"]
    assert session.import_answers([nobody]).existing == 1
    assert session.undo(question.id, annotator="held").value == 0.5  # and they can be taken back


def test_the_pace_is_of_what_people_answered_last_and_not_of_what_was_held(make, kit):
    session = make()
    session.import_answers(
        Answer(round=0, kind="membership", items=(row,), cluster=0, repeat=0, value=0.0)
        for row in range(8)
    )
    assert session.status().left.seconds_per_question == 5.0
    kit.answer(session, 61)
    with sqlite3.connect(session.url) as connection:  # slow at first, quicker in the end
        connection.execute("UPDATE askmeans_events SET at = 100 * min(id, 30) + 2 * id")
    connection.close()
    with sessions.open(session.url) as other:
        assert other.status().left.seconds_per_question == 2.0


def test_new_rows_get_memberships_and_keep_every_answer(make, again, kit):
    session = make(ids=[f"a{row}" for row in range(40)])
    kit.answer(session, 12)
    before = session.result()
    session.add_rows(kit.X[:3], ids=["n0", "n1", "n2"])
    for seen in (session, again(session)):
        result = seen.result()
        assert result.n_queries == before.n_queries
        assert list(result.history) == list(before.history)
        assert result.memberships.shape == (43, 3)
        assert list(result.ids[39:42]) == ["a39", "n0", "n1"]
        assert seen.item(41).id == "n1"
    with pytest.raises(DataError, match="'n1', which is there already"):
        session.add_rows(kit.X[:1], ids=["n1"])
    with pytest.raises(DataError, match="2 features"):
        session.add_rows([[1.0]])


def test_new_rows_never_get_an_id_that_is_there(make, kit):
    session = make(ids=[str(row + 1) for row in range(40)])
    with pytest.raises(DataError, match="must have ids"):
        session.add_rows(kit.X[:1])
    numbered = make("b.db")
    numbered.add_rows(kit.X[:1], ids=["41"])
    with pytest.raises(DataError, match="'41', which is there already"):
        numbered.add_rows(kit.X[:2])  # rows 41 and 42
    for seen in (session, numbered):
        assert len(set(seen.rows.ids())) == len(seen.rows)


def test_another_process_sees_a_new_row_at_once(make, again, kit):
    session = make()
    other = again(session)
    session.add_rows(kit.X[:1])
    assert other.item(40).row == 40
    with pytest.raises(DataError, match="items 0 to 40 only"):
        other.item(41)


def test_another_process_learns_of_new_rows(make, again, kit):
    session = make()
    other = again(session)
    session.add_rows(kit.X[:2])
    assert other.result().memberships.shape == (42, 3)
    assert other.item(41).id == "41"


def test_rows_that_threads_add_at_once_are_all_kept(make, kit):
    session = make()
    with ThreadPoolExecutor(max_workers=4) as pool:
        list(pool.map(lambda row: session.add_rows(kit.X[row : row + 2]), range(8)))
    assert len(session.rows) == len(set(session.rows.ids())) == 40 + 16


@pytest.mark.parametrize("value", [(1.0, 0.0, 0.0), (0.5, 0.25, 0.0), (0.0, 0.0, 0.0)])
def test_answers_are_the_same_in_a_file_from_before_and_after_a_group_was_added(make, value):
    session = make(ask="group")
    fields = {"round": 0, "kind": "group", "cluster": None, "repeat": 0, "annotator": "ann"}
    session.import_answers([Answer(**fields, items=(1,), value=value)])
    before = session.history.answers()
    session.groups.add("large")
    same, wider = (Answer(**fields, items=(1,), value=row) for row in (value, (*value, 0.0)))
    for answers in ([same], [wider], [same, wider]):
        assert session.import_answers(answers).existing == 1
    assert session.history.answers() == before
    with pytest.raises(KeyConflictError, match="must stay what it was"):
        session.import_answers([Answer(**fields, items=(1,), value=(0.0, 0.0, 0.0, 1.0))])
