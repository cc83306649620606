"""Language models in a session: they answer ahead, people decide, and who is right is told."""

import numpy as np
import pytest

from askmeans import sessions
from askmeans.exceptions import AnswerError, ParameterError, SessionError
from askmeans.policy.advisers import audit_order

N, K = 90, 3
LABELS = np.arange(N) % K
NAMES = ["ants", "bees", "cats"]


def blurred(seed=0):
    return np.eye(4)[LABELS] + np.random.default_rng(seed).normal(size=(N, 4))


def confused(share=0.8, seed=1):
    right = np.random.default_rng(seed).random(N) < share
    return {row: int(group) for row, group in enumerate(np.where(right, LABELS, (LABELS + 1) % K))}


def people_answer(session, n, annotator="Ada"):
    rows = []
    for _ in range(n):
        (question,) = session.ask(annotator=annotator)
        session.tell(question.id, int(LABELS[question.items[0]]), annotator=annotator)
        rows.append(question.items[0])
    return rows


@pytest.fixture
def session(tmp_path):
    with sessions.create(tmp_path / "s.db", blurred(), n_clusters=K, budget=60, random_state=0,
                         cluster_names=NAMES) as made:  # fmt: skip
        yield made


def test_models_answers_cost_nothing_and_settle_nothing(session):
    before = session.status()
    assert session.advisers.add("small", confused()) == N
    after = session.status()
    assert (after.answered, after.held, after.open) == (before.answered, before.held, before.open)
    assert after.left.high == before.left.high
    assert session.history.answers() == []
    rows = people_answer(session, 40)
    assert len(set(rows)) == 40
    assert session.status().answered == 40
    assert session.result().n_queries == 40
    assert {answer.annotator for answer in session.result().history} == {"Ada"}


def test_the_result_is_better_for_a_good_model_and_the_report_says_so(session, tmp_path):
    session.advisers.add("small", confused())
    session.settings.set_option("audit_share", 0.25)
    people_answer(session, 40)
    with sessions.create(tmp_path / "t.db", blurred(), n_clusters=K, budget=60, random_state=0,
                         cluster_names=NAMES) as alone:  # fmt: skip
        people_answer(alone, 40)
        wrong = (alone.result().memberships.argmax(axis=1) != LABELS).mean()
    beside = (session.result().memberships.argmax(axis=1) != LABELS).mean()
    assert beside < wrong
    report = session.advisers.report()
    score = report.advisers["small"]
    assert (report.items, report.people, report.audit_share) == (N, 40, 0.25)
    assert (score.answers, score.together) == (N, 40)
    assert 0.6 < score.agreement < 1.0
    assert score.weight > 0.1
    assert score.decides == report.decided_by_advisers > 0.0
    assert score.audited >= 8
    assert score.audit_band[0] <= 0.2 <= score.audit_band[1]
    assert score.audit_band[0] <= score.audit_error <= score.audit_band[1]
    assert {(c.group, c.adviser_group) for c in score.confusions} <= {
        ("ants", "bees"), ("bees", "cats"), ("cats", "ants")
    }  # fmt: skip
    assert 0.0 < report.would_change < 40
    assert len(report.to_check) == 10
    assert report.notes == ()


def test_a_model_at_chance_decides_nothing_and_that_is_told(session):
    rng = np.random.default_rng(3)
    session.advisers.add("dice", {row: int(rng.integers(K)) for row in range(N)})
    people_answer(session, 40)
    report = session.advisers.report()
    assert report.advisers["dice"].weight < 0.05
    assert report.advisers["dice"].decides < 0.05
    assert "hardly more than chance" in report.notes[0]
    notes = session.result().clustering.diagnostics.notes
    assert any("hardly more than chance" in note for note in notes)


def test_the_audit_is_of_random_items_whatever_the_policy_wants(session):
    session.advisers.add("small", confused())
    session.settings.set_option("audit_share", 0.5)
    rows = people_answer(session, 20)
    order = audit_order(N, session.learning.policy.settings.seed)
    assert set(order[:8]) <= set(rows)
    assert session.advisers.report().advisers["small"].audited >= 8


def test_an_item_of_which_people_cannot_say_anything_ends_no_audit(session):
    session.advisers.add("small", confused())
    session.settings.set_option("audit_share", 1.0)
    for n in range(9):
        (question,) = session.ask(annotator="Ada")
        assert question.items[0] == session.advisers.audit_order()[n]
        if n in (0, 4):
            session.unsure(question.id, annotator="Ada")
        else:
            session.tell(question.id, int(LABELS[question.items[0]]), annotator="Ada")
    assert session.advisers.report().advisers["small"].audited == 7


def test_each_model_is_audited_on_the_random_items_that_it_answered(session):
    order = session.advisers.audit_order()
    session.advisers.add("few", {row: int(LABELS[row]) for row in order[::3]})
    session.advisers.add("none", {order[0]: None})
    session.settings.set_option("audit_share", 1.0)
    assert people_answer(session, 12) == order[:36:3]
    scores = session.advisers.report().advisers
    assert (scores["few"].audited, scores["few"].audit_error) == (12, 0.0)
    assert scores["none"].audited == 0


def test_a_description_is_accepted_changed_and_taken_back(session):
    first = session.groups.describe("bees", "They  make\nhoney.", annotator="Ada")
    assert [g.description for g in session.groups] == ["", "They make honey.", ""]
    second = session.groups.describe(1, "Stripes.")
    assert [*map(session.history.describe, session.history.changes())] == [
        "described bees: They make honey.", "described bees: Stripes."
    ]  # fmt: skip
    with sessions.open(session.url) as again:
        assert again.groups[1].description == "Stripes."
        session.groups.add("dogs")
        again.groups.describe("dogs", "Bark.")  # though another process made it
        again.undo()
    session.history.take_back(second.event)
    assert session.groups[1].description == "They make honey."
    with pytest.raises(SessionError, match="changed again"):
        session.history.take_back(first.event)
    session.groups.describe(1, "")
    assert session.groups[1].description == ""
    session.groups.describe("cats", "Purr.")
    session.groups.merge("cats", "bees")
    assert [(g.name, g.description) for g in session.groups] == [("ants", ""), ("cats", "Purr.")]


@pytest.mark.parametrize(("group", "text"), [
    ("dogs", "x"), (7, "x"), (0, "x" * 201), (0, "a\x1b[31m"), (0, None),
])  # fmt: skip
def test_what_is_no_description_is_refused_and_changes_nothing(session, group, text):
    with pytest.raises(ParameterError, match=r"one of the groups|description of a group"):
        session.groups.describe(group, text)
    assert session.history.changes() == []


def test_groups_of_similarities_have_no_descriptions(tmp_path):
    with (
        sessions.create(tmp_path / "p.db", blurred(), n_clusters=K, ask="similarity") as made,
        pytest.raises(SessionError, match="guidelines"),
    ):
        made.groups.describe(0, "x")


def test_what_was_said_survives_and_a_later_answer_replaces_it(session):
    session.advisers.add("small", {0: "ants", 1: None, 2: {"bees": 0.5, "cats": 0.25}})
    session.advisers.add("small", {0: ()})
    with sessions.open(session.url) as again:
        assert again.advisers.answers() == {
            "small": {0: (0.0, 0.0, 0.0), 1: None, 2: (0.0, 0.5, 0.25)}
        }


def test_groups_added_and_merged_later_are_seen_by_models_answers_too(session):
    session.advisers.add("small", {0: "ants", 1: "bees"})
    session.groups.merge(1, 0)
    assert session.advisers.answers()["small"] == {0: (1.0, 0.0), 1: (1.0, 0.0)}
    assert session.result().memberships.shape == (N, 2)
    session.groups.add("dogs")
    session.advisers.add("large", {5: "dogs"})
    assert session.advisers.answers()["large"] == {5: (0.0, 0.0, 1.0)}
    assert session.result().memberships.shape == (N, 3)


def test_a_model_that_is_silent_is_told_too(session):
    session.advisers.add("mute", dict.fromkeys(range(5)))
    score = session.advisers.report().advisers["mute"]
    assert (score.answers, score.unsure, score.weight) == (0, 5, 0.0)


@pytest.mark.parametrize(("answers", "error"), [
    ({N: 0}, ParameterError), ({-1: 0}, ParameterError), ({0: 7}, AnswerError),
    ({0: {"ants": 0.9, "bees": 0.9}}, AnswerError), ({0: 0, 1: "dogs"}, AnswerError),
])  # fmt: skip
def test_what_is_no_answer_is_refused_and_nothing_is_taken_in(session, answers, error):
    with pytest.raises(error):
        session.advisers.add("small", answers)
    assert session.advisers.answers() == {}


def test_nobody_answers_in_a_model_s_name(session):
    (question,) = session.ask()
    with pytest.raises(ParameterError, match="language models"):
        session.tell(question.id, 0, annotator="model: small")


def test_a_panel_is_refused_where_similarities_are_asked(tmp_path):
    with (
        sessions.create(tmp_path / "p.db", blurred(), n_clusters=K, ask="similarity") as made,
        pytest.raises(SessionError, match="groups or memberships"),
    ):
        made.advisers.add("small", {0: 0})


def test_single_memberships_are_weighed_with_models_too(tmp_path):
    with sessions.create(tmp_path / "m.db", blurred(), n_clusters=K, ask="membership",
                         random_state=0) as made:  # fmt: skip
        made.advisers.add("small", confused(0.9))
        for _ in range(60):
            (question,) = made.ask()
            made.tell(question.id, float(LABELS[question.items[0]] == question.cluster))
        assert made.advisers.report().advisers["small"].weight > 0.2


def test_an_undo_and_a_resume_change_nothing_about_models(session):
    session.advisers.add("small", confused())
    people_answer(session, 10)
    session.undo(annotator="Ada")
    with sessions.open(session.url) as again:
        assert again.advisers.report().people == 9
        assert again.ask(3, annotator="Ada") == session.ask(3, annotator="Ada")


def test_without_models_the_report_is_about_people(session):
    people_answer(session, 5)
    report = session.advisers.report()
    assert (report.people, report.advisers, report.decided_by_advisers) == (5, {}, 0.0)
    assert report.would_change > 0.0


def test_models_answers_are_kept_in_postgresql_too(postgres_url):
    with sessions.create(postgres_url, blurred(), n_clusters=K, cluster_names=NAMES,
                         random_state=0) as made:  # fmt: skip
        made.advisers.add("small", {0: {"ants": 0.75}, 1: None})
    with sessions.open(postgres_url) as again:
        assert again.advisers.answers() == {"small": {0: (0.75, 0.0, 0.0), 1: None}}
        assert again.status().answered == 0
