"""Groups within groups: answers reach upwards, shares multiply, and nothing is lost on the way."""

import math
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from askmeans import sessions
from askmeans.exceptions import AskmeansError, KeyConflictError, ParameterError, SessionError
from askmeans.queries import Answer, Question
from askmeans.sessions.events import Flatten, MoveGroup, Refine, RemoveGroup
from askmeans.sessions.group_numbers import GroupNumbers
from askmeans.sessions.tables import memberships_table

LABELS = np.repeat(np.arange(4), 10)
X = np.array([[0, 0], [0, 6], [20, 0], [20, 6.0]])[LABELS] + np.random.default_rng(0).normal(
    size=(40, 2)
)
LEAVES = ["broken", "small", "late", "lost"]  # of each label
SOAK = bool(os.environ.get("ASKMEANS_SOAK"))
TOP = ["returns", "returns", "delivery", "delivery"]


@pytest.fixture
def session(make):
    made = make(X=X, n_clusters=2, ask="group", cluster_names=["returns", "delivery"])
    made.groups.refine("returns", LEAVES[:2])
    made.groups.refine("delivery", LEAVES[2:])
    return made


def place(session, row, group, *, within=None, annotator="me"):
    """Put an item into a group by hand."""
    cluster = None if within is None else session.groups.find(within)
    question = session.add_question("group", (row,), cluster, annotator=annotator)
    return session.change(question.id, group, annotator=annotator)


def answer(session, count):
    """Answer as somebody who knows the groups and their sub-groups; the questions."""
    asked = []
    for _ in range(count):
        (question,) = session.ask()
        names = TOP if question.cluster is None else LEAVES
        session.tell(question.id, names[LABELS[question.items[0]]])
        asked.append(question)
    return asked


def shares(session, row):
    """The shares of an item by the groups' names."""
    result = session.result()
    return dict(zip(result.group_names, result.memberships[row].round(9).tolist(), strict=True))


# ---- groups, as a record ------------------------------------------------------------------------


def refined(group, first, *names):
    return Refine(annotator="me", group=group, first=first, names=names)


DEEP = (refined(0, 2, "a", "b"), refined(2, 4, "c", "d"))


def test_a_tree_keeps_each_group_before_its_sub_groups():
    groups = GroupNumbers.of(6, DEEP, {})
    assert groups.living == [0, 2, 4, 5, 3, 1]
    assert (groups.leaves, groups.inner) == ([4, 5, 3, 1], [0, 2])
    assert (groups.path(5), groups.children(None), groups.parent(3)) == ([0, 2, 5], [0, 1], 0)


def test_a_sub_group_counts_for_all_above_and_a_group_is_silent_about_those_below():
    groups = GroupNumbers.of(6, DEEP, {})
    row = (0.0, 0.25, 0.0, 0.0, 0.5, 0.25)
    assert groups.row_now(row) == (0.75, 0.25)
    assert groups.row_within(row, 0, is_about=False) == (1.0, 0.0)
    assert groups.row_within(row, 2, is_about=False) == pytest.approx((2 / 3, 1 / 3))
    assert groups.row_within((1.0, 0.0), 0, is_about=False) is None
    assert groups.row_within((0.0, 1.0), 0, is_about=True) == ()  # elsewhere
    assert groups.row_within((1.0, 0, 0, 0), 0, is_about=True) == (0.0, 0.0)  # none of them


def test_what_changes_a_tree_moves_the_answers_with_it():
    row = (0.0, 0.0, 0.0, 0.0, 1.0)
    moved = GroupNumbers.of(6, (*DEEP, MoveGroup(annotator="me", group=2, into=1)), {})
    assert moved.row_now(row) == (0.0, 1.0)
    flat = GroupNumbers.of(6, (*DEEP, Flatten(annotator="me", group=0)), {})
    assert (flat.living, flat.row_now(row)) == ([0, 1], (1.0, 0.0))
    removed = GroupNumbers.of(6, (*DEEP, RemoveGroup(annotator="me", group=2)), {})
    assert removed.row_now(row) == (1.0, 0.0)
    assert removed.row_within(row, 0, is_about=False) == (0.0,)
    withdrawn = GroupNumbers.of(6, DEEP[:1], {4: 2, 5: 2})
    assert withdrawn.row_within(row, 0, is_about=False) == (1.0, 0.0)


# ---- in a session -------------------------------------------------------------------------------


def test_groups_list_the_tree_and_results_its_leaves(session, again):
    for seen in (session, again(session)):
        assert [group.path for group in seen.groups] == [
            "returns", "returns / broken", "returns / small",
            "delivery", "delivery / late", "delivery / lost",
        ]  # fmt: skip
        returns, broken = seen.groups[:2]
        assert (returns.children, returns.parent, broken.parent) == ((2, 3), None, 0)
        assert (returns.level, broken.level) == (1, 2)
        result = seen.result()
        assert result.group_names == tuple(LEAVES)
        assert result.at_level(1).group_names == ("returns", "delivery")
        assert result.at_level(2) is result.at_level(9) is result


def test_two_keys_place_an_item_and_one_key_its_group(session):
    place(session, 3, "returns")
    assert session.result().at_level(1).memberships[3].tolist() == [1.0, 0.0]
    assert shares(session, 3) == {"broken": 0.5, "small": 0.5, "late": 0.0, "lost": 0.0}
    place(session, 3, "small", within="returns")
    assert shares(session, 3) == {"broken": 0.0, "small": 1.0, "late": 0.0, "lost": 0.0}
    place(session, 5, "lost", within="returns")  # it is elsewhere, and that is known with one key
    assert shares(session, 5)["lost"] == 1.0
    assert session.result().at_level(1).memberships[5].tolist() == [0.0, 1.0]


def test_none_of_the_sub_groups_is_asked_again_once_there_is_another(session):
    answer(session, 8)
    place(session, 3, "returns", within="returns")
    assert shares(session, 3)["broken"] == shares(session, 3)["small"] == 0.5
    assert session.result().confidence[3] == 0.5
    session.groups.refine("returns", ["changed mind"])
    (question,) = session.ask()
    assert (question.items, question.cluster, question.repeat) == ((3,), 0, 1)
    session.tell(question.id, "changed mind")
    assert shares(session, 3)["changed mind"] == 1.0


def test_the_last_answer_of_a_person_about_an_item_stands(session):
    place(session, 3, "small", within="returns")
    place(session, 3, "delivery")
    assert session.result().at_level(1).memberships[3].tolist() == [0.0, 1.0]
    place(session, 3, "returns", annotator="ann")
    assert session.result().at_level(1).memberships[3].max() < 0.6  # people disagree


def test_questions_go_down_the_tree_and_all_items_find_their_leaf(session):
    asked = answer(session, 24)
    assert {question.cluster for question in asked} == {None, 0, 1}
    result = session.result()
    names = np.array(result.group_names)[result.memberships.argmax(axis=1)]
    assert names.tolist() == [LEAVES[label] for label in LABELS]
    assert result.expected_wrong >= result.at_level(1).expected_wrong
    low, high = result.expected_wrong_band
    assert low <= result.expected_wrong <= high
    assert ((result.confidence >= 0.0) & (result.confidence <= 1.0)).all()
    assert (result.confidence <= result.at_level(1).confidence + 1e-9).all()
    predicted = result.clustering.predictor(X)
    assert (predicted.argmax(axis=1) == result.memberships.argmax(axis=1)).all()


def test_everything_is_asked_in_the_end(session):
    while session.ask():
        answer(session, 1)
    assert session.status().state.value == "all done"
    answers = session.history.answers()
    assert {q.items[0] for q in map(session.question, {a.question for a in answers})} == set(
        range(40)
    )
    assert (session.result().memberships.max(axis=1) == 1.0).all()


def test_refining_and_flattening_changes_neither_answers_nor_result(make):
    session = make(X=X, n_clusters=2, ask="group", cluster_names=["returns", "delivery"])
    answer(session, 12)
    answers, before = session.history.answers(), session.result()
    asked = session.upcoming(5)
    for take_back in (lambda: session.groups.flatten("returns"), session.undo):
        session.groups.refine("returns", 3)
        session.groups.refine("returns 2", ["x", "y"])
        if take_back == session.undo:
            session.undo()
        take_back()
        after = session.result()
        assert session.history.answers() == answers
        assert after.group_names == before.group_names
        assert_allclose(after.memberships, before.memberships, atol=0)
        assert after.expected_wrong == before.expected_wrong
        assert session.upcoming(5) == asked


@pytest.mark.parametrize("how", ["flatten", "undo"])
def test_answers_about_sub_groups_are_answers_about_the_group_once_these_are_gone(session, how):
    place(session, 3, "late", within="delivery")
    place(session, 4, {"lost": 0.75, "broken": 0.25})
    if how == "flatten":
        session.groups.flatten("delivery")
    else:
        session.history.take_back(session.history.changes()[-1].event)
    assert session.groups.names == ["returns", "broken", "small", "delivery"]
    assert shares(session, 3) == {"broken": 0.0, "small": 0.0, "delivery": 1.0}
    assert shares(session, 4)["delivery"] == pytest.approx(0.75)
    assert shares(session, 4)["broken"] == pytest.approx(0.25)


def test_three_levels_multiply_at_each(session):
    session.groups.refine("broken", ["on arrival", "later"])
    place(session, 0, {"on arrival": 0.5, "late": 0.5})
    place(session, 1, "later", within="broken")
    result = session.result()
    assert result.group_names == ("on arrival", "later", *LEAVES[1:])
    assert result.at_level(2).group_names == tuple(LEAVES)
    for upper, lower, owner in ((1, 2, [0, 0, 1, 1]), (2, 3, [0, 0, 1, 2, 3])):
        above, below = (result.at_level(level).memberships for level in (upper, lower))
        sums = np.stack([below[:, np.array(owner) == j].sum(axis=1) for j in range(max(owner) + 1)])
        assert_allclose(sums.T, above, atol=1e-9)
    assert result.memberships[0].round(9).tolist() == [0.5, 0.0, 0.0, 0.5, 0.0]
    assert result.memberships[1].tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]


def test_sub_groups_are_moved_merged_and_renamed_and_each_is_taken_back(session):
    place(session, 3, "small")
    session.groups.move_group("small", "delivery")
    assert session.groups[3].path == "delivery / small"
    assert shares(session, 3)["small"] == 1.0
    assert session.result().at_level(1).memberships[3].tolist() == [0.0, 1.0]
    assert session.undo().kind == "move"
    session.groups.merge("broken", "small")
    assert shares(session, 3)["broken"] == 1.0
    session.undo()
    session.groups.rename("small", "tight")
    assert session.groups[2].path == "returns / tight"
    session.history.take_back(session.history.changes()[-1].event)
    session.groups.move_group("small", None)
    assert session.result().at_level(1).group_names == ("returns", "delivery", "small")
    session.undo()
    changes = [session.history.describe(change) for change in session.history.changes()]
    assert changes[:3] + changes[-1:] == [
        "refined returns: broken, small", "refined delivery: late, lost",
        "moved small into delivery", "moved small to the top",
    ]  # fmt: skip
    assert shares(session, 3)["small"] == 1.0


def test_a_group_takes_its_sub_groups_along(session):
    place(session, 3, "small")
    session.groups.merge("delivery", "returns")
    assert session.groups.names == ["delivery", "broken", "small", "late", "lost"]
    assert shares(session, 3)["small"] == 1.0
    session.undo()
    place(session, 30, "delivery", annotator="ann")
    session.groups.remove("returns")
    assert session.result().group_names == ("late", "lost")
    assert session.result().unassigned[3] == 1.0
    session.undo()
    assert shares(session, 3)["small"] == 1.0


@pytest.mark.parametrize(
    "change",
    [
        lambda groups: groups.merge("small", "returns"),
        lambda groups: groups.move_group("returns", "small"),
        lambda groups: groups.move_group("returns", "returns"),
        lambda groups: groups.move_group("returns", None),
        lambda groups: groups.refine("returns", ["late"]),
        lambda groups: groups.refine("returns", ["a", "a"]),
        lambda groups: groups.refine("returns", []),
        lambda groups: groups.refine("returns", 0),
        lambda groups: groups.refine("returns", 40),
        lambda groups: groups.refine("kale", 2),
        lambda groups: groups.flatten("small"),
    ],
)
def test_a_change_that_makes_no_tree_is_refused(session, change):
    before = list(session.groups)
    with pytest.raises(ParameterError):
        change(session.groups)
    assert list(session.groups) == before


def test_only_sessions_that_ask_for_groups_have_sub_groups(make):
    session = make(X=X, n_clusters=2, ask="membership")
    for change in (lambda: session.groups.refine(0, 2), lambda: session.groups.flatten(0)):
        with pytest.raises(SessionError, match="asks for groups"):
            change()


def test_the_same_key_refines_once(session):
    assert session.groups.refine("late", ["a", "b"], key="k") == [6, 7]
    assert session.groups.refine("late", ["a", "b"], key="k") == [6, 7]
    with pytest.raises(KeyConflictError):
        session.groups.refine("late", ["c"], key="k")


def test_a_new_group_on_a_card_for_sub_groups_is_one_of_these(session):
    question = session.add_question("group", (3,), 0)
    session.groups.add_for(question.id, "changed mind")
    assert session.groups[3].path == "returns / changed mind"
    assert shares(session, 3)["changed mind"] == 1.0
    assert session.undo().group == "changed mind"
    assert "changed mind" not in session.groups.names
    assert session.result().at_level(1).memberships[3].max() < 1.0


def test_imported_answers_and_advice_reach_both_levels(session):
    row = (0.0, 0.0, 0.0, 1.0)
    session.import_answers([Answer(round=0, kind="group", items=(3,), cluster=None, repeat=0,
                                   value=row, annotator="ann")])  # fmt: skip
    assert shares(session, 3)["small"] == 1.0
    session.advisers.add("model", {row: LEAVES[LABELS[row]] for row in range(40)})
    answer(session, 6)
    names = np.array(LEAVES)[session.result().memberships.argmax(axis=1)]
    assert (names == np.array(LEAVES)[LABELS]).mean() > 0.9


def test_answers_about_sub_groups_travel_to_a_session_with_the_same_groups(session, make):
    answer(session, 8)
    place(session, 3, "returns", within="returns")
    other = make("other.db", X=X, n_clusters=2, ask="group", cluster_names=["returns", "delivery"])
    other.groups.refine("returns", LEAVES[:2])
    other.groups.refine("delivery", LEAVES[2:])
    answers = [
        Answer(round=0, kind="group", items=question.items, cluster=question.cluster, repeat=0,
               value=reply.value, annotator=reply.annotator)
        for reply in session.history.answers()
        for question in [session.question(reply.question)]
    ]  # fmt: skip
    assert other.import_answers(answers).new == len(answers)
    assert_allclose(other.result().memberships, session.result().memberships, atol=1e-9)


# ---- any sequence -------------------------------------------------------------------------------

STEP = st.one_of(
    st.tuples(st.just("refine"), st.integers(0, 9), st.integers(1, 3)),
    st.tuples(st.just("merge"), st.integers(0, 9), st.integers(0, 9)),
    st.tuples(st.just("rename"), st.integers(0, 9), st.integers(0, 9)),
    st.tuples(st.just("move"), st.integers(0, 9), st.integers(0, 9)),
    st.tuples(st.just("flatten"), st.integers(0, 9), st.none()),
    st.tuples(st.just("remove"), st.integers(0, 9), st.none()),
    st.tuples(st.just("undo"), st.none(), st.none()),
    st.tuples(st.just("undo"), st.none(), st.none()),
)


def do(session, what, first, second):
    """Change the tree."""
    numbers = [group.number for group in session.groups]
    one = None if first is None else numbers[first % len(numbers)]
    if what == "refine":
        session.groups.refine(one, second, annotator="owner")
    elif what == "merge":
        session.groups.merge(one, numbers[second % len(numbers)], annotator="owner")
    elif what == "rename":
        session.groups.rename(one, f"group {first} {second}", annotator="owner")
    elif what == "move":
        into = [None, *numbers][second % (len(numbers) + 1)]
        session.groups.move_group(one, into, annotator="owner")
    elif what == "undo":
        session.undo(annotator="owner")
    else:
        getattr(session.groups, what)(one, annotator="owner")


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """A session with answers at two levels; examples work on copies."""
    path = tmp_path_factory.mktemp("nested") / "s.db"
    rows = [0, 1, 10, 11, 20, 21, 30, 31]
    with sessions.create(
        path, X[rows], n_clusters=2, ask="group", cluster_names=["returns", "delivery"],
        random_state=0,
    ) as session:  # fmt: skip
        session.groups.refine("returns", LEAVES[:2])
        place(session, 0, "broken", within="returns")
        place(session, 1, "returns")
        place(session, 2, {"small": 0.5, "delivery": 0.25})
        place(session, 4, "delivery")
        place(session, 5, ())
        place(session, 6, "returns", within="returns", annotator="ann")
    return path


def check(url, steps):
    """Any steps: answers stay, shares sum up, and undoing all of them leaves what there was."""
    with sessions.open(url) as session:
        answers, before = session.history.answers(), session.result()
        groups = list(session.groups)
        for step in steps:
            try:
                do(session, *step)
            except AskmeansError:
                continue
            assert session.history.answers() == answers
            result, levels = session.result(), max(group.level for group in session.groups)
            for level in range(1, levels):
                above, below = result.at_level(level), result.at_level(level + 1)
                parents = {group.name: group.path.split(" / ") for group in session.groups}
                owner = [parents[name][:level][-1] for name in below.group_names]
                for j, name in enumerate(above.group_names):
                    parts = below.memberships[:, [each == name for each in owner]]
                    assert_allclose(parts.sum(axis=1), above.memberships[:, j], atol=1e-9)
            total = result.memberships.sum(axis=1) + result.unassigned
            assert_allclose(total, 1.0, atol=1e-9)
            with sessions.open(url) as fresh:
                assert list(fresh.groups) == list(session.groups)
                assert_allclose(fresh.result().memberships, result.memberships, atol=1e-9)
                assert fresh.upcoming(3) == session.upcoming(3)
        while len(session.runtime.state.group_changes) > 1:
            session.history.take_back(session.runtime.state.group_changes[-1].id)
        after = session.result()
        assert [group.number for group in session.groups] == [group.number for group in groups]
        assert_allclose(after.memberships, before.memberships, atol=1e-9)
        assert session.history.answers() == answers


@settings(max_examples=100 if SOAK else 8, derandomize=not SOAK)
@given(steps=st.lists(STEP, min_size=3, max_size=8))
def test_any_sequence_of_changes_keeps_every_answer(answered, memory, steps):
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        check(Path(shutil.copy(answered, folder)), steps)


def test_any_sequence_keeps_every_answer_in_postgresql_too(answered, postgres):
    from askmeans.sessions.store import copy_store

    url = postgres.create()
    copy_store(answered, url)
    steps = [
        ("refine", 1, 2), ("refine", 2, 2), ("move", 4, 1), ("merge", 1, 3), ("undo", None, None),
        ("rename", 2, 1), ("flatten", 0, None), ("remove", 0, None),
    ]  # fmt: skip
    try:
        check(url, steps)
    finally:
        postgres.drop(url)


def test_a_question_about_sub_groups_that_are_gone_is_closed(session):
    question = session.add_question("group", (3,), 0)
    session.groups.flatten("returns")
    assert question.id not in session.runtime.open()
    assert math.isnan(session.runtime.state.value(question.id))
    assert Question("group", (3,), 0) not in session.learning.again


# ---- several answers about an item --------------------------------------------------------------


def level_1(session, row):
    """The shares of an item of the groups at the top."""
    return session.result().at_level(1).memberships[row].round(9).tolist()


def test_an_answer_given_again_after_one_about_the_sub_groups_is_the_last_one(session):
    place(session, 3, "delivery")
    place(session, 3, "returns", within="delivery")
    assert level_1(session, 3) == [1.0, 0.0]
    place(session, 3, "delivery")
    assert level_1(session, 3) == [0.0, 1.0]
    place(session, 3, "returns", within="delivery")
    assert session.groups.move([3], "delivery") == 1
    assert level_1(session, 3) == [0.0, 1.0]
    assert session.groups.move([3], "delivery") == 0


def test_undoing_a_move_restores_the_order_of_the_answers(session):
    place(session, 3, "delivery")
    place(session, 3, "small", within="delivery")
    assert session.groups.move([3], "late", key="k") == 1
    assert shares(session, 3)["late"] == 1.0
    assert session.groups.undo_move("k") == 1
    assert shares(session, 3)["small"] == 1.0


def test_a_decision_about_an_item_replaces_the_answers_to_its_other_questions(session):
    question = place(session, 3, "returns", annotator="ann").question
    place(session, 3, "delivery", annotator="bob")
    place(session, 3, "late", within="delivery", annotator="bob")
    session.people.adjudicate(question, "returns")
    assert level_1(session, 3) == [1.0, 0.0]
    session.people.adjudicate(question, "delivery")  # silent about its sub-groups
    assert shares(session, 3)["late"] == 1.0
    session.people.adjudicate(question, "lost")
    assert shares(session, 3)["lost"] == 1.0


def test_people_agree_on_the_groups_at_the_top(session):
    for row, (one, other) in enumerate(
        [("broken", "returns"), ("late", "late"), ("lost", "small"), ("returns", "small")]
    ):
        place(session, row, one, annotator="ann")
        place(session, row, other, annotator="bob")
    report = session.people.agreement()
    assert list(report.by_group) == ["returns", "delivery"]
    assert 0.0 < report.alpha < 1.0
    (different,) = session.people.disagreements()
    names = session.groups.all_names
    assert {who: names[np.argmax(row)] for who, row in different.answers.items()} == {
        "ann": "delivery", "bob": "returns",
    }  # fmt: skip


def test_who_named_only_the_group_did_not_decide_the_sub_group(session):
    place(session, 3, "returns", annotator="ann")
    place(session, 4, "returns", annotator="ann")
    place(session, 4, "small", within="returns", annotator="bob")
    place(session, 5, (), annotator="ann")
    table = memberships_table(session, session.result()).records()
    assert [table[row]["decided_by"] for row in (3, 4, 5)] == ["guess", "bob", "ann"]


def test_sub_groups_of_clusters_without_names_have_a_result_before_answers(make):
    session = make(X=X, n_clusters=2, ask="group")
    assert session.result().basis == "data"
    session.groups.refine(1, 2)
    assert session.result().basis == "data"
    session.groups.refine(0, 2)
    assert session.result().basis == "data"


def test_what_is_good_enough_reaches_sub_groups_at_once(session, again):
    answer(session, 28)
    session.settings.set_option("good_enough", 0.001)
    assert not session.status().settled
    session.settings.set_option("good_enough", 0.4)
    assert session.status().settled
    assert again(session).status().settled


def test_memberships_count_beside_groups_with_sub_groups(make):
    made = make(X=X, n_clusters=3, ask="group", cluster_names=["returns", "delivery", "other"])
    made.groups.refine("returns", LEAVES[:2])
    for group, value in (("delivery", 0.3), ("other", 0.2)):
        question = made.add_question("membership", (3,), made.groups.find(group))
        made.tell(question.id, value)
    assert_allclose(made.result().at_level(1).memberships[3], [0.5, 0.3, 0.2], atol=1e-9)


def test_the_sub_groups_of_the_only_group_are_asked_for(session):
    for row in (0, 10, 20, 30):
        place(session, row, TOP[LABELS[row]])
    session.groups.merge("returns", "delivery")
    first = session.ask(40)
    assert {question.cluster for question in first} == {0}  # a card with one group is no question
    assert {0, 10, 20, 30} <= {question.items[0] for question in first}


def test_moving_the_last_sub_group_away_needs_another_item(make):
    made = make(X=X[:2], n_clusters=2, ask="group", cluster_names=["a", "b"])
    (number,) = made.groups.refine("a", ["c"])
    with pytest.raises(ParameterError, match="at most n_samples=2"):
        made.groups.move_group(number, None)
    assert made.result().memberships.shape == (2, 2)


def test_questions_are_proposed_while_somebody_else_removes_a_group(make):
    made = make(X=X, n_clusters=3, ask="membership")
    made.ask(3)
    with sessions.open(made.url) as other:
        other.groups.remove(0)
    made.runtime.refresh()  # as another thread may, before the policy learns of it
    assert made.learning.propose(100, frozenset(), "ann")
    assert {question.cluster for question in made.ask(40, annotator="ann")} <= {1, 2}


def test_who_cannot_say_which_sub_group_is_not_asked_for_ever(session):
    place(session, 0, "returns")  # and cannot say which of its sub-groups
    for row, group in ((0, "returns"), (20, "delivery")):
        question = session.add_question("group", (row,), session.groups.find(group))
        session.unsure(question.id)
    answer(session, 38)
    assert session.ask() == []
    assert session.status(annotator="me").state is sessions.SessionState.DONE
    assert session.result().at_level(1).memberships[0].tolist() == [1.0, 0.0]
