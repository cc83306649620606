"""Who did how much, how quickly, and how far they agree."""

import pytest

from askmeans.web.people import agreement_of, people_of


@pytest.fixture
def session(tmp_path, tools):
    with tools.make_fruit(tmp_path / "fruit.db", strategy="auto", annotations=2) as made:
        yield made


def test_people_are_told_by_what_they_did_and_who_is_here(session):
    for name, count in (("ann", 1), ("bob", 2)):
        for _ in range(count):
            (question,) = session.ask(annotator=name)
            session.tell(question.id, 0, annotator=name)
    (question,) = session.ask(annotator="bob")
    session.unsure(question.id, annotator="bob")
    session.ask(annotator="cleo")
    bob, ann, cleo = people_of(session, session.status())
    assert (bob.name, bob.answers, bob.unsure, bob.here) == ("bob", 2, 1, False)
    assert (ann.name, ann.answers, ann.seconds) == ("ann", 1, None)
    assert (cleo.name, cleo.answers, cleo.here) == ("cleo", 0, True)
    assert bob.seconds >= 0.0


@pytest.mark.parametrize(
    ("other", "share"), [(0, 1.0), (1, 0.0), ({0: 0.5, 1: 0.5}, 0.5), ((), 0.0)]
)
def test_agreement_is_what_two_answers_have_in_common(session, other, share):
    assert agreement_of(session) is None
    (question,) = session.ask(annotator="ann")
    session.tell(question.id, 0, annotator="ann")
    session.tell(question.id, other, annotator="bob")
    found = agreement_of(session)
    assert (found.share, found.questions) == (pytest.approx(share), 1)
    for person in people_of(session, session.status()):
        assert person.agreement == found


def test_numbers_agree_as_far_as_they_are_near(tmp_path, tools):
    with tools.make_fruit(tmp_path / "plan.db", annotations=2) as session:
        (question,) = session.ask(annotator="ann")
        session.tell(question.id, 1.0, annotator="ann")
        session.tell(question.id, 0.75, annotator="bob")
        assert agreement_of(session).share == pytest.approx(0.75)
