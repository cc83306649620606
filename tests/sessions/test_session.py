"""Ask, tell, skip, cannot say: what a session promises to one person."""

import math
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from last_bits import same_but_for_rounding
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris, load_wine

from askmeans import ActiveFuzzyKMeans, sessions
from askmeans.exceptions import (
    AnswerError,
    BudgetError,
    DataError,
    KeyConflictError,
    NoSessionError,
    ParameterError,
    QueryError,
)
from askmeans.queries import Answer
from askmeans.sessions import SessionState
from askmeans.sessions.tables import memberships_table


def test_an_answer_is_in_the_log_before_tell_returns(make, again):
    session = make()
    (question,) = session.ask()
    receipt = session.tell(question.id, 0.25, key="mine")
    other = again(session)  # another process, which never saw this one's memory
    assert other.history.answers() == [receipt]
    assert (receipt.value, receipt.key, receipt.late, receipt.repeated) == (
        0.25, "mine", False, False,
    )  # fmt: skip


def test_the_same_key_and_value_again_is_harmless_and_returns_the_first_result(make, again):
    session = make()
    (question,) = session.ask()
    first = session.tell(question.id, 0.25, key="a")
    for same in (session, again(session)):
        second = same.tell(question.id, 0.25, key="a")
        assert second.repeated
        assert (second.event, second.at) == (first.event, first.at)
    assert len(session.history.answers()) == 1


@pytest.mark.parametrize("change", ["value", "question", "kind"])
def test_the_same_key_for_something_else_is_refused_and_changes_nothing(make, change):
    session = make()
    first, second = session.ask(2)
    session.tell(first.id, 0.25, key="a")
    before = session.history.answers()
    other = {
        "value": lambda: session.tell(first.id, 0.5, key="a"),
        "question": lambda: session.tell(second.id, 0.25, key="a"),
        "kind": lambda: session.unsure(first.id, key="a"),
    }[change]
    with pytest.raises(KeyConflictError, match="key must be used for one answer only"):
        other()
    assert session.history.answers() == before


def test_keys_are_each_annotators_own(make, again):
    session = make(ask="group", cluster_names=["a", "b", "c"])
    first, second = session.ask(2)
    assert [
        session.tell(first.id, 0, key="a").event,
        session.tell(second.id, 1, key="a", annotator="you").event,
        session.undo(key="b").receipt.event,
        session.undo(key="b", annotator="you").receipt.event,
    ] == [1, 2, 3, 4]
    numbers = [session.groups.add(name, key="c", annotator=name) for name in ("d", "e")]
    assert numbers == [3, 4]
    seen = again(session)
    assert seen.undo(key="b", annotator="you").receipt.repeated
    assert seen.groups.add("e", key="c", annotator="e") == 4


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf, True, "0.5", None])
def test_what_is_no_answer_is_refused(make, value):
    session = make()
    (question,) = session.ask()
    with pytest.raises(AnswerError, match=r"number in \[0, 1\]"):
        session.tell(question.id, value)
    assert session.history.answers() == []


def test_numbers_of_numpy_are_taken(make):
    session = make()
    (question,) = session.ask()
    session.tell(np.int64(question.id), np.float32(0.5))
    assert session.history.answers()[0].value == 0.5


@pytest.mark.parametrize("levels", [None, 3])
def test_minus_zero_is_zero(make, levels):
    session = make(levels=levels)
    (question,) = session.ask()
    assert math.copysign(1.0, session.tell(question.id, -0.0).value) == 1.0


def test_a_question_that_does_not_exist_is_refused(make):
    session = make()
    for number in (0, 999, "1"):
        with pytest.raises(QueryError, match="There must be a question"):
            session.tell(number, 0.5)


@pytest.mark.parametrize("name", ["", "  ", None, 3, "x" * 201])
def test_an_annotator_has_a_name(make, name):
    with pytest.raises(ParameterError, match="'annotator' parameter"):
        make().ask(annotator=name)


def test_skip_leaves_the_question_for_later(make, kit):
    session = make()
    (first,) = session.ask()
    session.skip(first.id)
    (second,) = session.ask()
    assert second != first
    session.skip(second.id)
    # Skipped ones come again, the one skipped first before the other, when nothing else is left.
    asked = kit.answer(session)
    assert asked[-2:] == [first, second]


def test_unsure_is_an_answer_and_costs_budget(make):
    session = make(budget=3)
    for question in session.ask(2):
        session.unsure(question.id)
    assert session.status().answered == 2
    told = [answer.value for answer in session.result().history]
    assert_array_equal(told, [math.nan, math.nan])


def test_a_budget_is_never_exceeded(make, kit):
    session = make(budget=5)
    assert len(session.ask(100)) == 5
    kit.answer(session)
    assert (session.status().state, session.status().answered) == (SessionState.SPENT, 5)
    session.settings.set_budget(6)
    (beyond,) = session.ask()
    session.leave()
    session.settings.set_budget(5)
    with pytest.raises(BudgetError, match="budget of 5 questions"):
        session.tell(beyond.id, 0.5, annotator="bob")
    session.undo()
    assert len(session.ask(100)) == 1


@pytest.mark.parametrize("ask", ["membership", "similarity"])
def test_a_budget_is_raised_and_the_session_goes_on(make, again, kit, ask):
    session = make(ask=ask, budget=30 if ask == "similarity" else 5)
    other = again(session)
    kit.answer(session)
    before, was = session.history.answers(), session.status()
    assert (was.state, was.budget) == (SessionState.SPENT, was.answered)
    assert other.ask() == []
    session.settings.set_budget(was.budget + 20)
    assert session.history.answers() == before
    for seen in (session, other, again(session)):
        assert seen.status().budget == was.budget + 20
        assert len(seen.ask()) == 1
    assert len(kit.answer(other)) == 20
    assert session.status().state is SessionState.SPENT
    assert session.history.answers()[: len(before)] == before
    session.settings.set_budget(was.budget)  # fewer: nothing more is asked, nothing is lost
    assert len(again(session).history.answers()) == len(before) + 20
    assert session.ask() == []
    for n in (0, -1, 1.5, "many", None, True, 10**400):
        with pytest.raises(ParameterError, match=r"'n' parameter of Settings.set_budget"):
            session.settings.set_budget(n)
    session.settings.set_budget(2**62)
    assert len(session.ask()) == 1


def test_a_session_without_a_budget_can_be_given_one(make, kit):
    session = make()
    session.settings.set_budget(3)
    assert len(kit.answer(session)) == 3
    assert session.status().state is SessionState.SPENT


def test_a_result_is_there_at_any_time_with_what_is_missing(make, kit):
    session = make()
    empty = session.result()
    assert not empty.complete
    assert empty.memberships.shape == (40, 3)
    assert empty.missing.low > 0
    assert any("belongs to" in note for note in empty.notes)
    errors = []
    for _ in range(3):
        kit.answer(session, 9)
        result = session.result()
        np.testing.assert_allclose(result.memberships.sum(axis=1), 1.0)
        errors.append(abs(result.memberships - kit.U).mean())
    assert errors[-1] < errors[0]
    kit.answer(session)
    assert session.result().complete
    assert session.result().missing.high == 0


def test_notes_call_the_groups_by_their_names(make):
    session = make()
    session.groups.rename(1, "the good ones")
    (note,) = (note for note in session.result().notes if "belongs to" in note)
    assert "belongs to Group A, the good ones, Group C," in note
    assert "the good ones" in " ".join(session.status(estimate=True).notes)


def test_a_result_is_computed_again_only_when_answers_changed(make, kit):
    session = make()
    kit.answer(session, 8)
    session.unsure(session.ask()[0].id)
    first = session.result()
    session.skip(session.ask()[0].id)
    session.groups.rename(0, "first")
    assert session.result().clustering is first.clustering
    assert session.result().group_names[0] == "first"
    kit.answer(session, 1)
    assert session.result().clustering is not first.clustering


def test_a_result_does_not_disturb_what_is_asked(make, kit):
    quiet, curious = make("one.db"), make("two.db")
    for _ in range(12):
        curious.result()
        assert quiet.ask() == curious.ask()
        kit.answer(quiet, 1)
        kit.answer(curious, 1)


def test_a_paused_session_asks_nothing_and_still_takes_answers(make, again):
    session = make()
    (question,) = session.ask()
    again(session).settings.pause(annotator="boss")
    assert session.ask() == []
    assert session.status().state is SessionState.PAUSED
    session.tell(question.id, 0.5)
    session.settings.resume()
    assert len(session.ask()) == 1


def test_groups_have_short_names_until_they_are_named(make, again):
    session = make(items=["the same words for every item"] * 40)
    assert session.groups.names == ["Group A", "Group B", "Group C"]
    session.groups.rename(1, "the good ones")
    assert again(session).groups.names == ["Group A", "the good ones", "Group C"]
    for name in ("", "  ", "Group A", "id"):
        with pytest.raises(ParameterError, match=r"Groups.rename"):
            session.groups.rename(1, name)
    with pytest.raises(ParameterError, match="one of the groups 0 Group A"):
        session.groups.rename(3, "fourth")
    session.groups.rename(0, "Group B")  # a letter that is free now
    assert session.groups.names == ["Group B", "the good ones", "Group C"]


def test_names_of_groups_are_different_and_none_is_the_column_of_ids(make):
    for names in (["a", "b", "a"], ["a", "id", "b"], ["a", "b", " a "]):
        with pytest.raises(ParameterError, match=r"'cluster_names'.*all different"):
            make(cluster_names=names)
    session = make(cluster_names=["ID", "b", "c"])
    columns = memberships_table(session, session.result()).columns
    assert (columns[0], columns[-3:]) == ("id", ["ID", "b", "c"])
    assert len({*columns}) == len(columns)


@pytest.mark.parametrize("ask", ["membership", "similarity"])
def test_two_processes_cannot_give_two_groups_one_name(make, again, kit, ask):
    session = make(ask=ask)
    other = again(session)
    kit.answer(session, 12)
    assert session.result().n_queries == other.result().n_queries  # both have seen everything
    write = other.runtime.store.write

    def late(*arguments, **options):  # the other is quicker by the blink of an eye
        other.runtime.store.write = write
        session.groups.rename(0, "mine")
        return write(*arguments, **options)

    other.runtime.store.write = late
    with pytest.raises(ParameterError, match="no other group's"):
        other.groups.rename(1, "mine")
    for seen in (session, other, again(session)):
        assert seen.groups.names.count("mine") == 1
        assert list(seen.result().group_names) == seen.groups.names


@pytest.mark.parametrize(
    ("data", "k"), [(load_iris().data, 3), (load_wine().data, 3), (load_wine().data, 4)]
)
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("ask", ["membership", "group"])
def test_exemplars_come_from_the_clustering_that_is_asked_about(make, data, k, seed, ask):
    session = make(X=data, n_clusters=k, random_state=seed, ask=ask)
    exemplars = [session.exemplars(group) for group in range(k)]
    assert all(len(set(rows)) == 3 for rows in exemplars)
    memberships = session.result().memberships  # before any answer: where the plan starts
    assert [memberships[rows].argmax(axis=1).tolist() for rows in exemplars] == [
        [group] * 3 for group in range(k)
    ]
    for _ in range(k):  # whoever believes the exemplars is asked what the plan believes, too
        (question,) = session.ask()
        row = memberships[question.items[0]]
        told = dict(enumerate(row)) if ask == "group" else float(row[question.cluster])
        session.tell(question.id, told)
    found = session.result().memberships
    assert [found[rows].argmax(axis=1).tolist() for rows in exemplars] == [
        [group] * 3 for group in range(k)
    ]


def test_exemplars_are_those_that_answers_place_in_a_group(make):
    session = make()
    before = session.exemplars(0)
    (question,) = session.ask()
    session.tell(question.id, 1.0)
    assert session.exemplars(question.cluster)[0] == question.items[0]
    session.undo()
    assert session.exemplars(0) == before


def test_what_answers_place_elsewhere_is_no_exemplar(make):
    session = make(ask="group")
    shown = session.exemplars(0, n=10)
    held = [
        Answer(round=0, kind="membership", items=(row,), cluster=cluster, repeat=0, value=value)
        for row, cluster, value in ((shown[0], 0, 0.0), (shown[1], 2, 1.0))
    ]
    session.import_answers(held)
    assert session.exemplars(0, n=8) == shown[2:]
    assert session.exemplars(2, n=1) == [shown[1]]


def test_exemplars_beside_an_item_are_others(make):
    session = make()
    first, second, *_ = session.exemplars(0)
    assert session.exemplars(0, n=2, without=[first])[0] == second
    assert len(session.exemplars(0, n=3, without=[first])) == 3
    (question,) = session.ask()
    session.tell(question.id, 1.0)
    assert question.items[0] not in session.exemplars(question.cluster, without=question.items)


def test_similarities_have_short_names_and_exemplars_from_the_result(make, kit):
    session = make(ask="similarity", budget=25, items=[f"item {row}" for row in range(40)])
    assert session.groups.names == ["Group A", "Group B", "Group C"]
    assert session.exemplars(0) == []
    kit.answer(session)
    result = session.result()
    assert list(result.group_names) == session.groups.names == ["Group A", "Group B", "Group C"]
    best = result.memberships.argmax(axis=0)
    assert [session.exemplars(group, n=1) for group in range(3)] == [[row] for row in best]


def test_a_name_stays_with_its_group_when_results_number_the_clusters_anew(make, again, kit):
    session = make(ask="relative", random_state=1)
    kit.answer(session, 4)
    first = again(session).result().memberships
    again(session).groups.rename(0, "mine")  # a process that computed no result
    again(session).groups.rename(1, "yours")
    rows = [int(first[:, cluster].argmax()) for cluster in (0, 1)]
    places = set()
    for count in (4, 16):
        result = session.result()
        where = [int(result.memberships[row].argmax()) for row in rows]
        places.add(tuple(where))
        assert [result.group_names[cluster] for cluster in where] == ["mine", "yours"]
        assert list(result.group_names) == session.groups.names
        kit.answer(session, count)
    assert len(places) > 1  # the clusters have moved
    assert session.result().memberships.shape == (40, 3)
    where = [session.groups.names.index(name) for name in ("mine", "yours")]
    session.groups.rename(where[0], "renamed")
    assert "mine" not in session.groups.names
    assert session.groups.names[where[0]] == "renamed"


def test_what_a_second_annotator_owes_is_left(make, kit):
    session = make(annotations=2, budget=12)
    assert session.status().left.low == 24
    kit.answer(session, annotator="ann")
    assert (session.status().answered, session.status().left.low) == (12, 12)
    kit.answer(session, 5, annotator="bob")
    assert session.status().left.low == session.status().left.high == 7
    kit.answer(session, annotator="bob")
    assert session.status().left.high == 0


@pytest.mark.parametrize("cluster", [7, 3, -1, 0.5])
def test_a_group_that_is_none_has_no_exemplars(make, cluster):
    with pytest.raises(ParameterError, match="'group' parameter must be one of"):
        make().exemplars(cluster)


def test_names_are_told_apart_without_the_spaces_around_them(make):
    session = make()
    (question,) = session.ask(annotator="ann ")
    assert session.ask(annotator="ann") == [question]
    session.tell(question.id, 0.5, annotator=" ann")
    assert len(session.history.answers(annotator="ann ")) == 1
    assert session.undo(annotator="ann\t").question == question


def test_answers_off_the_scale_are_refused(make):
    session = make(levels=4)
    first, second = session.ask(2)
    with pytest.raises(AnswerError, match=r"4 points of the session's scale.*nearest is 0\.667"):
        session.tell(first.id, 0.6)
    assert session.history.answers() == []
    assert session.tell(first.id, 0.33).value == 1 / 3  # as people write it
    assert session.tell(second.id, 2 / 3).value == 2 / 3


def test_a_clock_set_back_does_not_spoil_the_pace(make):
    session = make()
    for question in session.ask(8):
        session.tell(question.id, 0.5)
    with sqlite3.connect(session.url) as connection:  # back by an hour at every answer
        connection.execute("UPDATE askmeans_events SET at = 1e9 - 3600 * id")
    connection.close()
    with sessions.open(session.url) as other:
        assert other.status().left.seconds_per_question == 5.0


def test_what_somebody_said_about_an_item_is_told_alone(make):
    session = make()
    (first, *others) = session.ask(3, annotator="ann")
    for question, value in zip((first, *others), (0.25, 0.5, 0.75), strict=True):
        session.tell(question.id, value, annotator="ann")
    told = [
        receipt.question for receipt in session.history.answers_about(first.items, annotator="ann")
    ]
    assert told == [q.id for q in (first, *others) if q.items == first.items]
    assert session.history.answers_about(first.items, annotator="bob") == []
    session.undo(first.id, annotator="ann")
    assert first.id not in [
        r.question for r in session.history.answers_about(first.items, annotator="ann")
    ]


def test_what_is_left_is_told_as_a_range_with_its_basis(make, kit):
    session = make()
    before = session.status().left
    assert 0 < before.low <= before.high
    assert "forecast" in before.basis
    assert before.minutes == (before.low * 5 / 60, before.high * 5 / 60)
    kit.answer(session, 8)
    after = session.status().left
    assert after.low <= before.low
    assert "as so far" in after.basis  # the person's own pace
    assert make("b.db", budget=3).status().left.high == 3


def test_the_estimated_error_comes_from_the_answers_where_they_tell_it(make, kit):
    session = make(ask="similarity", budget=25)
    assert session.status().estimated_error is None  # nothing is forecast before answers
    kit.answer(session)
    report = session.status(estimate=True)
    assert 0.0 < report.estimated_error < 0.1
    assert "answers so far" in report.error_basis


def test_several_sessions_live_in_one_database(make, kit):
    first, second = make(name="first"), make(name="second", random_state=1)
    kit.answer(first, 3)
    assert second.status().answered == 0
    assert sessions.names(first.url) == ["first", "second"]
    with pytest.raises(NoSessionError, match="'first', 'second'"):
        sessions.open(first.url)


def test_an_annotator_is_the_same_however_their_name_is_composed(make):
    session = make()
    (question,) = session.ask(annotator="Zo\u00eb")
    session.tell(question.id, 0.5, annotator=" Zoe\u0308 ")
    assert list(session.status().annotators) == ["Zo\u00eb"]
    assert len(session.history.answers(annotator="Zoe\u0308")) == 1


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "\ud800", "\u202e"])
def test_names_with_what_nobody_sees_are_refused_in_one_place(make, name):
    session = make()
    for attempt in (
        lambda: make("t.db", cluster_names=[name, "b", "c"]),
        lambda: make("t.db", name=name),
        lambda: session.ask(annotator=name),
        lambda: session.tell(1, 0.5, annotator=name),
        lambda: session.settings.pause(annotator=name),
        lambda: session.groups.rename(0, name),
    ):
        with pytest.raises(ParameterError, match="must be a name of 1 to 200 characters"):
            attempt()
    with pytest.raises(ParameterError, match="'key' parameter"):
        session.tell(1, 0.5, key=name)
    assert session.history.answers() == []


def test_group_names_that_look_alike_are_one_name(make):
    session = make(cluster_names=["Zoe\u0308", "b", "c"])
    assert session.groups.names[0] == "Zo\u00eb"
    with pytest.raises(ParameterError, match="Zo\u00eb"):
        session.groups.rename(1, "Zoe\u0308")
    with pytest.raises(ParameterError, match="all different"):
        make("t.db", cluster_names=["Zoe\u0308", "Zo\u00eb", "c"])


def test_numbers_too_large_are_refused_in_a_sentence(make):
    huge = 10**400
    session = make()
    (question,) = session.ask()
    with pytest.raises(AnswerError, match="must be a number in"):
        session.tell(question.id, huge)
    for parameter in ("budget", "annotations", "lease_seconds"):
        with pytest.raises(ParameterError, match=f"'{parameter}' parameter"):
            make("t.db", **{parameter: huge})
    for X in ([[huge], [1], [2]], [[1e160], [1.0], [2.0]]):
        with pytest.raises(DataError, match="X must"):
            make("t.db", X=X)
    for values in ({"value": huge}, {"repeat": huge}, {"items": (huge,)}):
        answer = {"items": (0,), "cluster": 0, "repeat": 0, "value": 0.5} | values
        with pytest.raises(ValueError, match="imported"):
            session.import_answers([Answer(round=0, kind="membership", **answer)])


def test_a_session_asks_which_of_two_an_item_is_more_like(make, kit):
    session = make(ask="relative", budget=15)
    (question,) = session.ask()
    assert (question.kind, len(question.items)) == ("relative", 3)
    with pytest.raises(AnswerError, match="one of the 3 points"):
        session.tell(question.id, 0.7)
    kit.answer(session)
    result = session.result()
    model = ActiveFuzzyKMeans(3, oracle=kit.expert, ask="relative", budget=15, random_state=0)
    model.fit(kit.X)
    assert [(a.items, a.value) for a in result.history] == [
        (a.items, a.value) for a in model.history_
    ]
    same_but_for_rounding(result.memberships, model.memberships_)


def test_ten_people_who_compare_never_wait_for_each_other(make, kit):
    for ask in ("similarity", "relative"):
        session = make(f"{ask}.db", ask=ask)
        for _ in range(3):
            held = [session.ask(annotator=f"person {number}") for number in range(10)]
            asked = [question for (question,) in held]
            assert len({question.id for question in asked}) == 10
            for number, question in enumerate(asked):
                session.tell(question.id, kit.knows(question), annotator=f"person {number}")


def test_within_reading_once_the_log_is_read_once_and_own_moves_are_known(make, again):
    session = make()
    other = again(session)
    (question,) = other.ask(annotator="Bo")
    with session.reading_once():
        assert session.status().answered == 0
        other.tell(question.id, 0.5, annotator="Bo")
        assert session.status().answered == 0  # as of one moment
        mine = session.ask()[0]
        assert mine.id != question.id
        session.tell(mine.id, 0.5)
        assert session.status().answered == 2  # a move sees all there is
        assert [held.question for held in session.status().holding] == []
        session.ask()
        assert len(session.status().holding) == 1
    assert session.status().answered == 2


def test_ten_people_who_compare_at_the_same_time_get_different_questions_at_once(make, kit):
    session = make(ask="similarity")

    def person(number):
        asked = []
        for _ in range(3):
            (question,) = session.ask(annotator=f"person {number}")
            session.tell(question.id, kit.knows(question), annotator=f"person {number}")
            asked.append(question.id)
        return asked

    with ThreadPoolExecutor(10) as people:
        asked = [number for each in people.map(person, range(10)) for number in each]
    assert len(set(asked)) == 30
