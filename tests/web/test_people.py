"""Who did how much, how quickly, how far they agree, and about what they do not."""

import re

import pytest

from askmeans import sessions
from askmeans.queries import Answer
from askmeans.sessions.served import Served, recall, remember
from askmeans.web import create_app
from askmeans.web.people_views import disputes_of, people_of
from askmeans.web.signin import owner_token


@pytest.fixture
def session(tmp_path, tools):
    with tools.make_fruit(tmp_path / "fruit.db", ask="group", annotations=2) as made:
        yield made


def people(session):
    return people_of(
        session, session.status(), session.people.agreement(), session.history.answers()
    )


def test_people_are_told_by_what_they_did_and_who_is_here(session):
    for name, count in (("ann", 1), ("bob", 2)):
        for _ in range(count):
            (question,) = session.ask(annotator=name)
            session.tell(question.id, 0, annotator=name)
    (question,) = session.ask(annotator="bob")
    session.unsure(question.id, annotator="bob")
    session.ask(annotator="cleo")
    bob, ann, cleo = people(session)
    assert (bob.name, bob.answers, bob.unsure, bob.is_here) == ("bob", 2, 1, False)
    assert (ann.name, ann.answers, ann.seconds) == ("ann", 1, None)
    assert (cleo.name, cleo.answers, cleo.is_here, cleo.alpha) == ("cleo", 0, True, None)
    assert bob.seconds >= 0.0


def test_agreement_is_that_of_the_session_and_disputes_say_who_said_what(session):
    for place in range(3):
        (question,) = session.ask(annotator="ann")
        session.tell(question.id, place % 2, annotator="ann")
        session.tell(question.id, 1, annotator="bob")
    assert [person.alpha for person in people(session)] == pytest.approx(
        [session.people.agreement().alpha] * 2
    )
    first, second = disputes_of(session)
    assert first.answers == (("ann", "small"), ("bob", "large"))
    assert first.groups == {0, 1}
    assert first.decision is None
    session.people.adjudicate(first.disagreement.question, 0)
    again = disputes_of(session)
    assert [dispute.decision for dispute in again] == [None, "small"]
    assert again[0].disagreement.question == second.disagreement.question


def test_memberships_are_no_disputes_about_groups(tmp_path, tools):
    with tools.make_fruit(tmp_path / "plan.db", annotations=2) as session:
        (question,) = session.ask(annotator="ann")
        session.tell(question.id, 1.0, annotator="ann")
        session.tell(question.id, 0.0, annotator="bob")
        assert disputes_of(session) == ()


def test_who_answered_gold_questions_is_told_how_well(session):
    known = Answer(round=0, kind="group", items=(0,), cluster=None, repeat=0, value=(1.0, 0.0))
    session.people.add_gold([known])
    question = session.add_question("group", (0,), annotator="ann")
    session.tell(question.id, {0: 0.5, 1: 0.5}, annotator="ann")
    (ann,) = people(session)
    assert (ann.gold.questions, ann.gold.difference) == (1, pytest.approx(0.5))


def test_annotators_who_see_results_see_neither_speeds_nor_gold_nor_an_owners_buttons(
    tmp_path, tools
):
    path = tmp_path / "fruit.db"
    owners = ["Cannot say", "Seconds each", "Agrees with others", "Gold questions", "disagree",
              'action="/rename"', 'action="/review"', 'action="/adjudicate"', 'action="/pause"',
              "Contradictions"]  # fmt: skip
    with tools.make_fruit(path, ask="group", annotations=2) as made:
        made.settings.set_option("annotators_see_results", True)
        made.people.add_gold([Answer(round=0, kind="group", items=(5,), cluster=None, repeat=0,
                              value=(0.0, 1.0))])  # fmt: skip
        made.tell(made.add_question("group", (5,), annotator="ann").id, 0, annotator="ann")
        (question,) = made.ask(annotator="ann")
        for name, group in (("ann", 0), ("bob", 1)):
            made.tell(question.id, group, annotator=name)
    with tools.using(create_app(path), "bob", "annotator") as client:
        context = client.app.state.context
        context.result_views.latest(60.0)
        seen = client.get("/results").text
        assert [word for word in owners if word in seen] == []
        assert "Find an item" in seen
        tools.become(client, "owner")
        seen = client.get("/results").text
        assert [word for word in owners if word not in seen] == []


@pytest.mark.parametrize("sees", [False, True])
def test_typical_items_are_links_only_for_those_who_may_follow_them(tmp_path, tools, sees):
    path = tmp_path / "fruit.db"
    with tools.make_fruit(path, cluster_names=None) as made:
        made.settings.set_option("annotators_see_results", sees)
    with tools.using(create_app(path), "bob", "annotator") as client:
        page = client.get("/").text
        assert 'class="typical"' in page
        assert ('href="/items/' in page) == sees


def test_of_a_crowd_the_page_names_some(tmp_path, tools):
    path = tmp_path / "fruit.db"
    with sessions.create(
        path, [[float(n)] for n in range(60)], n_clusters=2, random_state=0
    ) as made:
        for place in range(50):
            made.ask(annotator=f"person {place:02}")
    with tools.using(create_app(path), "bob", "annotator") as client:
        page = " ".join(client.get("/").text.split())
        assert page.count("person ") < 25
        assert "and 31 more." in page  # of 51


def test_everybody_sees_who_is_here_and_how_much_each_did(tmp_path, tools):
    path = tmp_path / "fruit.db"
    tools.make_fruit(path, ask="group").close()
    with tools.using(create_app(path), "bob", "annotator") as client:
        session = client.app.state.context.session
        assert "with " not in shown_counts(client)
        for name in ("cleo", "dora"):
            session.tell(session.ask(annotator=name)[0].id, 0, annotator=name)
        session.ask(annotator="cleo")
        assert shown_counts(client).endswith("with cleo 1")
        page = " ".join(re.sub(r"</?(?:b|bdi)>", "", client.get("/").text).split())
        assert "Here now, with their answers: bob 0, cleo 1." in page
        assert "Others so far: dora 1." in page
        session.people.pseudonymize("cleo", annotator="ann")
        assert shown_counts(client).endswith("with person 1 1")
        session.ask(annotator="eve")
        assert shown_counts(client).endswith("with eve 0 and person 1 1")
        session.ask(annotator="finn")
        assert shown_counts(client).endswith("with eve 0 and 2 others")


def shown_counts(client):
    """The line about progress, as people read it."""
    part = re.search(r'<p class="counts">(.*?)</p>', client.get("/").text, re.DOTALL)[1]
    return " ".join(re.sub(r"<[^>]+>", "", part).split())


def test_who_starts_the_page_is_asked_for_a_name_and_keeps_the_link(tmp_path, tools):
    path = tmp_path / "fruit.db"
    tools.make_fruit(path).close()
    app = create_app(path)
    session = app.state.context.session
    token = owner_token(session, None)
    remember(session, Served(address="http://127.0.0.1:8420/", token=token))
    with tools.knocking(app) as client:
        assert client.get(f"/?token={token}").headers["location"] == "/name"
        assert "What is your name?" in client.get("/name").text
        form = {"token": tools.token_of(client), "session": app.state.context.assignments.mark}
        for name, message in [("gold", "uses itself"), ("x" * 90, "at most 80 letters")]:
            client.post("/name", data=form | {"name": name})
            assert message in client.get("/name").text
        reply = client.post("/name", data=form | {"name": " Ada  Byron "})
        assert reply.headers["location"] == "/welcome"
        assert "Welcome, <bdi>Ada Byron</bdi>" in client.get("/welcome").text
        assert client.post("/name", data=form | {"name": "Bo"}).status_code == 403
    assert session.people.person_of(token) is None  # a link has one name
    kept = recall(session).token
    person = session.people.person_of(kept)
    assert (person.name, person.role) == ("Ada Byron", "owner")
    assert owner_token(session, kept) == kept  # the next start prints it again
