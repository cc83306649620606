"""Several opinions: how far people agree, who is asked again, and who decides."""

import krippendorff
import numpy as np
import pytest
from last_bits import same_but_for_rounding

from askmeans import sessions
from askmeans.exceptions import AnswerError, ParameterError, SessionError

NAMES = ["a", "b", "c"]


@pytest.fixture
def group(make):
    """A session that asks three people for groups."""
    return make(ask="group", annotations=3, cluster_names=NAMES)


def say(session, told):
    """Let people say things: {row: {name: value}}; the questions by row."""
    asked = {}
    for row, answers in told.items():
        asked[row] = session.add_question(session.config.ask, (row,), None).id
        for name, value in answers.items():
            session.tell(asked[row], value, annotator=name)
    return asked


TOLD = {
    0: {"Ada": 0, "Bo": 0, "Cy": 0},
    1: {"Ada": 1, "Bo": 1, "Cy": 2},
    2: {"Ada": 2, "Bo": 1, "Cy": 0},
    3: {"Ada": 2, "Bo": 2},
    4: {"Cy": 1},
}


def test_alpha_is_that_of_the_krippendorff_package(group):
    say(group, TOLD)
    table = np.array([[TOLD[row].get(name, np.nan) for row in range(5)]
                      for name in ("Ada", "Bo", "Cy")], dtype=float)  # fmt: skip
    found = group.people.agreement()
    peer = krippendorff.alpha(table, level_of_measurement="nominal")
    assert found.alpha == pytest.approx(peer, abs=1e-12)
    assert found.questions == 4
    for number, name in enumerate(NAMES):
        column = np.where(np.isnan(table), np.nan, table == number)
        peer = krippendorff.alpha(column, level_of_measurement="interval")
        assert found.by_group[name] == pytest.approx(peer, abs=1e-12)
    assert min(found.by_person, key=found.by_person.get) == "Cy"


def test_who_differs_from_whom_and_where_is_told(group):
    asked = say(group, TOLD)
    pairs = [(pair.people, pair.questions, round(pair.difference, 3))
             for pair in group.people.agreement().pairs]  # fmt: skip
    assert pairs == [(("Ada", "Cy"), 3, 0.667), (("Bo", "Cy"), 3, 0.667), (("Ada", "Bo"), 4, 0.25)]
    found = group.people.disagreements()
    assert [each.question for each in found] == [asked[1], asked[2]]
    assert found[1].answers == {"Ada": (0, 0, 1), "Bo": (0, 1, 0), "Cy": (1, 0, 0)}
    assert group.people.disagreements(1) == found[:1]


def test_memberships_are_compared_as_numbers_and_by_their_group(make):
    session = make(ask="membership", annotations=2, cluster_names=NAMES)
    for cluster, values in ((0, (0.0, 0.25)), (0, (1.0, 1.0)), (1, (0.0, 1.0)), (1, (1.0, 0.0))):
        row = session.status().answered
        question = session.add_question("membership", (row,), cluster)
        for name, value in zip(("Ada", "Bo"), values, strict=True):
            session.tell(question.id, value, annotator=name)
    found = session.people.agreement()
    assert found.by_group["a"] > 0.9 > 0.0 > found.by_group["b"]
    assert np.isnan(found.by_group["c"])
    assert [each.difference for each in session.people.disagreements()] == [1.0, 1.0, 0.25]


def test_imported_answers_and_who_cannot_say_are_no_opinions(group):
    asked = say(group, {0: {"Ada": 0}})
    group.unsure(asked[0], annotator="Bo")
    assert group.people.agreement().questions == 0
    assert np.isnan(group.people.agreement().alpha)
    assert group.people.disagreements() == []


def test_a_decision_counts_instead_of_the_answers_until_it_is_taken_back(group, again):
    asked = say(group, TOLD)
    before = group.result()
    receipt = group.people.adjudicate(asked[2], "b", annotator="owner")
    other = again(group)
    for session in (group, other):
        result = session.result()
        assert result.memberships[2].argmax() == 1
        assert result.memberships[2, 1] > 0.95
        assert result.confidence[2] == 1.0
        history = [(a.annotator, a.value) for a in result.history if a.items == (2,)]
        assert history == [("owner", (0.0, 1.0, 0.0))]
        assert not any(r.counts for r in session.history.answers() if r.question == asked[2])
        assert [d.decided for d in session.people.disagreements()] == [None, (0.0, 1.0, 0.0)]
    assert receipt.kind == "adjudicate"
    group.people.adjudicate(asked[2], None)
    for session in (group, other):
        same_but_for_rounding(session.result().memberships, before.memberships)
    assert [event.undone for event in group.history.audit()][-2:] == [True, False]


def test_what_was_decided_is_not_asked_again_where_its_answers_are_taken_back(
    make, kit, again, end_leases
):
    session = make()
    question, other = session.ask(2, annotator="Ada")
    session.tell(question.id, 0.0, annotator="Ada")
    session.people.adjudicate(question.id, 1.0)
    session.undo(annotator="Ada")
    session.tell(other.id, 0.0, annotator="Ada")
    end_leases(session, "Ada")
    for each in (session, again(session)):
        asked = each.ask(3, annotator="Bo")
        assert asked
        assert question not in asked
    kit.answer(session, annotator="Bo")
    (kept,) = [a for a in session.result().history if (a.items, a.cluster) == (
        question.items, question.cluster)]  # fmt: skip
    assert kept.value == 1.0


def test_what_cannot_be_decided_is_refused_and_changes_nothing(group):
    asked = say(group, {0: {"Ada": 0}})
    free = group.add_question("group", (7,), None).id
    before = group.history.last_event
    with pytest.raises(SessionError, match="an answer to decide"):
        group.people.adjudicate(free, 1)
    with pytest.raises(SessionError, match="a decision to take back"):
        group.people.adjudicate(asked[0], None)
    with pytest.raises(AnswerError):
        group.people.adjudicate(asked[0], 9)
    assert group.history.last_event == before


def test_where_two_disagree_others_are_asked_up_to_the_most(make, again):
    session = make(ask="group", annotations=(2, 4), cluster_names=NAMES)
    (first,) = session.ask(annotator="Ada")
    assert session.ask(annotator="Bo") == [first]
    session.tell(first.id, 0, annotator="Ada")
    session.tell(first.id, 0, annotator="Bo")
    assert session.ask(annotator="Cy") != [first]  # they agree
    session.leave(annotator="Cy")
    (second,) = session.ask(annotator="Ada")
    session.tell(second.id, 0, annotator="Ada")
    assert session.ask(annotator="Bo") == [second]
    session.tell(second.id, {0: 0.25, 2: 0.75}, annotator="Bo")
    for name in ("Cy", "Di"):
        assert again(session).ask(annotator=name) == [second]
        assert not session.tell(second.id, 1, annotator=name).late
    assert session.ask(annotator="Ed") != [second]
    assert session.tell(second.id, 1, annotator="Ed").late


@pytest.mark.parametrize("ask", ["group", "membership"])
def test_where_models_expected_another_answer_one_more_is_asked(make, again, ask):
    X = [[float(row % 2), 0.01 * row] for row in range(40)]
    session = make(ask=ask, annotations=(1, 3), X=X, n_clusters=2)

    def say(question, wrong=False, annotator="Ada"):
        group = question.items[0] % 2 ^ wrong
        told = group if ask == "group" else float(group == question.cluster)
        return session.tell(question.id, told, annotator=annotator)

    for _ in range(14):
        (question,) = session.ask(annotator="Ada")
        say(question)
    assert not session.runtime.awaiting_opinion()
    assert {event.kind for event in session.history.audit()} == {"answer"}
    (slip,) = session.ask(annotator="Ada")
    assert not say(slip, wrong=True).late
    assert session.ask(annotator="Bo") == [slip]
    assert again(session).ask(annotator="Bo") == [slip]
    assert session.history.audit()[-1].kind == "opinions"
    assert session.history.audit()[-1].annotator == "askmeans"
    assert not say(slip, annotator="Bo").late  # they disagree: a third decides
    assert session.ask(annotator="Cy") == [slip]
    assert not say(slip, annotator="Cy").late
    assert session.ask(annotator="Di") != [slip]


def test_one_opinion_and_more_needs_models(make):
    with pytest.raises(ParameterError, match=r"'annotations'.* at least 2 .* use \(2, 3\)"):
        make("other.db", annotations=(1, 3), ask="similarity")


@pytest.mark.parametrize("annotations", [0, (0, 3), (3, 2), (2, 3, 4), (2, "3"), "2-3"])
def test_what_is_no_number_of_annotations_is_refused(tmp_path, annotations):
    with pytest.raises(ParameterError, match="'annotations' parameter"):
        sessions.create(tmp_path / "s.db", [[0.0], [1.0]], n_clusters=2, annotations=annotations)
