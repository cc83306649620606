"""Examples pinned by hand, options, questions of one's own choice; every change told and undone."""

import numpy as np
import pytest

from askmeans import sessions
from askmeans.exceptions import ParameterError, SessionError

X = [[1.0], [2.0], [8.0], [9.0], [1.5], [8.5]]


@pytest.fixture
def session(tmp_path):
    with sessions.create(
        tmp_path / "pets.db", X, n_clusters=2, cluster_names=["cats", "dogs"], random_state=0
    ) as made:
        yield made


def reopened(session):
    return sessions.open(session.url)


def test_options_are_kept_and_have_values_before_anybody_decides(session):
    assert session.settings.options == {"purpose": "", "guidelines": "", "predicted_first": False,
                               "gold_feedback": False, "annotators_see_results": False,
                               "group_look": "", "language": "",
                               "audit_share": 0.0, "good_enough": 0.0}  # fmt: skip
    session.settings.set_option("guidelines", "# Cats\n\n- *whiskers*", annotator="ann")
    session.settings.set_option("predicted_first", True)
    with reopened(session) as again:
        assert again.settings.options["guidelines"] == "# Cats\n\n- *whiskers*"
        assert again.settings.options["predicted_first"] is True


@pytest.mark.parametrize(
    ("name", "value"),
    [("colour", "red"), ("guidelines", 7), ("predicted_first", "yes"), ("purpose", "x" * 20_001)],
)
def test_an_option_that_is_none_changes_nothing(session, name, value):
    with pytest.raises(ParameterError, match="set_option"):
        session.settings.set_option(name, value)
    assert session.history.changes() == []


def test_what_is_good_enough_can_be_decided_later(session):
    for _ in range(len(session.rows)):
        (question,) = session.ask()
        session.tell(question.id, int(X[question.items[0]][0] > 5.0))
    before = session.result().clustering.diagnostics.target
    decided = session.settings.set_option("good_enough", 0.25)
    assert session.result().clustering.diagnostics.target == 0.25
    with reopened(session) as again:
        assert again.settings.options["good_enough"] == 0.25
        assert again.result().clustering.diagnostics.target == 0.25
    session.history.take_back(decided.event)
    assert session.settings.options["good_enough"] == 0.0
    assert session.result().clustering.diagnostics.target == before


def test_what_the_session_was_made_with_is_good_enough_until_decided(tmp_path):
    X = [[0.0], [0.1], [5.0], [5.1]]
    with sessions.create(tmp_path / "s.db", X, n_clusters=2, target=0.05, random_state=0) as made:
        assert made.settings.options["good_enough"] == 0.05
        decided = made.settings.set_option("good_enough", 0.25)
        made.history.take_back(decided.event)
        assert made.settings.options["good_enough"] == 0.05


def test_pinned_items_are_the_first_examples(session):
    before = session.exemplars(0, n=2)
    session.groups.pin(0, 3)
    assert session.exemplars(0, n=2) == [3, *before[:1]]
    session.groups.pin(0, 2)
    with reopened(session) as again:
        assert again.groups.pinned(0) == [3, 2]
    session.groups.unpin(0, 3)
    assert session.groups.pinned(0) == [2]
    session.groups.merge(1, 0)
    assert session.groups.pinned(1) == [2]  # what is part of a group brings its examples along
    with pytest.raises(ParameterError, match="must be below 6"):
        session.groups.pin(1, 6)


def test_every_change_is_told_and_taken_back(session):
    renamed = session.groups.rename(0, "felines", annotator="ann")
    session.groups.add("birds")
    pinned = session.groups.pin(1, 3)
    decided = session.settings.set_option("purpose", "We sort pets.")
    assert [*map(session.history.describe, session.history.changes())] == [
        "renamed cats to felines",
        "added birds",
        "pinned x0 = 9 in dogs",
        "changed purpose",
    ]
    assert session.history.changes()[0].annotator == "ann"
    for receipt in (decided, pinned, renamed):
        session.history.take_back(receipt.event)
    session.history.take_back(session.history.changes()[1].event)
    assert session.groups.names == ["cats", "dogs"]
    assert session.groups.pinned(1) == []
    assert session.settings.options["purpose"] == ""
    assert [change.undone for change in session.history.changes() if change.kind == "group"] == [
        True
    ]
    with pytest.raises(SessionError, match="nothing changed again"):
        session.history.take_back(renamed.event)
    with pytest.raises(SessionError, match="Got event 999"):
        session.history.take_back(999)


def test_a_second_name_goes_back_to_the_first_and_an_option_to_what_it_was(session):
    session.groups.rename(1, "hounds")
    again = session.groups.rename(1, "canines")
    session.settings.set_option("purpose", "one")
    changed = session.settings.set_option("purpose", "two")
    session.history.take_back(again.event)
    session.history.take_back(changed.event)
    assert session.groups.names == ["cats", "hounds"]
    assert session.settings.options["purpose"] == "one"


def test_a_merge_is_told_by_the_name_that_ended(session):
    session.groups.rename(1, "hounds")
    merged = session.groups.merge("cats", "hounds")
    assert session.history.describe(merged) == "merged hounds into cats"
    session.history.take_back(merged.event)
    assert session.groups.names == ["cats", "hounds"]


def test_somebody_asks_about_an_item_of_their_own_choice_though_the_budget_is_spent(session):
    session.settings.set_budget(1)
    (first,) = session.ask(annotator="ann")
    session.tell(first.id, 0, annotator="ann")
    row = next(row for row in range(6) if (row,) != first.items)
    question = session.add_question("group", (row,), annotator="bob")
    assert question.items == (row,)
    assert session.tell(question.id, "dogs", annotator="bob").counts
    assert session.add_question("group", (row,), annotator="bob").id == question.id


@pytest.mark.parametrize(
    ("arguments", "error"),
    [(("pair", (0, 1)), SessionError), (("group", (6,)), ParameterError),
     (("group", (0, 1)), ParameterError), (("group", (0,), 1), ParameterError),
     (("membership", (0,)), ParameterError), (("membership", (0,), 2), ParameterError)],
)  # fmt: skip
def test_a_question_that_the_session_does_not_ask_is_refused(session, arguments, error):
    with pytest.raises(error, match="add_question"):
        session.add_question(*arguments)


def test_a_session_takes_groups_and_memberships_whichever_it_asks_for(session):
    asked = session.add_question("membership", (5,), 1)
    session.tell(asked.id, 1.0)
    session.tell(session.add_question("group", (0,)).id, "cats")
    assert session.result().memberships[5].argmax() == 1
    with reopened(session) as again:
        assert [again.question(r.question).kind for r in again.history.answers()] == [
            "membership",
            "group",
        ]


def test_a_session_that_compares_takes_every_kind_in_any_order(tmp_path):
    labels = np.repeat([0, 1], 10)
    points = np.random.default_rng(0).normal(size=(20, 1))  # features tell nothing
    with sessions.create(
        tmp_path / "s.db", points, n_clusters=2, ask="similarity", cluster_names=["cats", "dogs"],
        random_state=0,
    ) as made:  # fmt: skip
        made.tell(made.add_question("group", (0,)).id, "cats")
        made.tell(made.add_question("membership", (10,), 1).id, 1.0)
        for row in range(1, 20):
            if row != 10:
                pair = made.add_question("pair", (row, 0))
                assert pair.items == (0, row)
                made.tell(pair.id, float(labels[row] == 0))
        assert (made.result().memberships.argmax(axis=1) == labels).all()
        with pytest.raises(ParameterError, match="different rows"):
            made.add_question("triplet", (1, 1, 2))


def test_the_error_curve_has_the_milestones_and_now_and_is_the_same_after_a_reopening(session):
    assert session.error_curve() == ()
    for _ in range(5):
        (question,) = session.ask()
        session.tell(question.id, int(X[question.items[0]][0] > 5.0))
    curve = session.error_curve()
    assert [estimate.answers for estimate in curve] == [2, 4, 5]
    assert all(each.low <= each.error <= each.high for each in curve)
    assert curve[-1].error == pytest.approx(session.result().clustering.diagnostics.estimated_error)
    with reopened(session) as again:
        assert [each.error for each in again.error_curve()] == pytest.approx(
            [each.error for each in curve]
        )
