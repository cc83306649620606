"""Answers taken in, in words for people."""

import re
import threading
from contextlib import contextmanager

from sqlalchemy import Engine, event

from askmeans import sessions
from askmeans.queries import Answer
from askmeans.web import create_app
from askmeans.web.answering import Assignments


def test_the_known_answer_to_a_gold_question_is_told_where_the_owner_wants_it(tmp_path, tools):
    path = tmp_path / "gold.db"
    with sessions.create(path, [[float(row)] for row in range(15)], n_clusters=2, random_state=0,
                         cluster_names=["small", "large"]) as session:  # fmt: skip
        session.people.add_gold([Answer(round=0, kind="group", items=(14,), cluster=None, repeat=0,
                                 value=(0.0, 1.0))])  # fmt: skip
        session.settings.set_option("gold_feedback", True)
    with tools.using(create_app(path, settle_seconds=0.0)) as client:
        assignments = client.app.state.context.assignments
        said = []
        for place in range(10):
            (question,) = assignments.session.ask(annotator="ann")
            said.append(assignments.give(question.id, "ann", f"k{place}", 0))
    (known,) = [text for text in said if "known answer" in text]
    assert known.endswith("The known answer is “large”.")


def test_annotators_are_not_told_that_there_are_known_answers(tmp_path, tools):
    path = tmp_path / "gold.db"
    with sessions.create(path, [[float(row)] for row in range(15)], n_clusters=2,
                         random_state=0) as session:  # fmt: skip
        session.people.add_gold([Answer(round=0, kind="group", items=(row,), cluster=None, repeat=0,
                                 value=(0.0, 1.0)) for row in (3, 4)])  # fmt: skip
        session.tell(session.ask(annotator="ann")[0].id, 0, annotator="ann")
    with tools.using(create_app(path, settle_seconds=0.0), "bob", "annotator") as client:
        assert set(client.get("/api/status").json()["annotators"]) == {"ann"}
        for page in ("/", "/name", "/history"):
            assert "gold" not in client.get(page).text
        tools.become(client, "owner")
        assert set(client.get("/api/status").json()["annotators"]) == {"ann", "gold"}


def sent_form(tools, client, **fields):
    """What the page's script would send about the question that it shows."""
    page = client.get("/", headers={"x-askmeans": "part"}).text
    read = {name: re.search(f'data-{name}="([^"]+)"', page)[1]
            for name in ("session", "question", "key")}  # fmt: skip
    return read | {"token": tools.token_of(client), "annotator": "ann"} | fields


def test_a_new_group_that_is_sent_again_with_the_same_key_is_made_once(tmp_path, tools):
    path = tmp_path / "fruit.db"
    sessions.create(path, [[float(row)] for row in range(15)], n_clusters=2, random_state=0,
                    cluster_names=["small", "large"]).close()  # fmt: skip
    with tools.using(create_app(path, settle_seconds=0.0)) as client:
        sent = sent_form(tools, client, value="new", name="round")
        for again in ("", ", as before"):
            reply = client.post("/answer", data=sent, headers={"x-askmeans": "part"})
            assert reply.status_code == 200
            assert f"There is a group round now. Saved: “round”{again}." in reply.text
        session = client.app.state.context.session
        assert session.groups.names == ["small", "large", "round"]
        assert len(session.history.answers(annotator="ann")) == 1
        other = client.post("/answer", data=sent | {"name": "square"},
                            headers={"x-askmeans": "part"})  # fmt: skip
        assert other.status_code == 409
        assert session.groups.names == ["small", "large", "round"]


@contextmanager
def counted():
    """The statements that any database gets within, but for results: those come when they can."""
    found = []

    def note(connection, cursor, statement, *rest):  # noqa: ARG001 - as SQLAlchemy calls it
        if not threading.current_thread().name.startswith("results"):
            found.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def test_an_answer_and_the_next_card_take_a_dozen_statements(tmp_path, tools):
    path = tmp_path / "many.db"
    sessions.create(path, [[float(row)] for row in range(40)], n_clusters=2, random_state=0).close()
    with tools.using(create_app(path, settle_seconds=0.0)) as client:
        counts = []
        for _ in range(6):
            sent = sent_form(tools, client, value="group-0")
            with counted() as statements:
                reply = client.post("/answer", data=sent, headers={"x-askmeans": "part"})
            assert reply.status_code == 200
            assert "Saved" in reply.text
            counts.append(len(statements))
    assert max(counts[1:]) <= 13, statements


def test_a_late_answer_is_told_to_count(tmp_path, tools):
    session = tools.make_fruit(tmp_path / "late.db")
    assignments = Assignments(session, 0.0)
    (question,) = session.ask(annotator="ann")
    session.leave(annotator="ann")
    assert session.ask(annotator="bob") == [question]
    assert "late" not in assignments.give(question.id, "bob", "b", 0.25)
    late = assignments.give(question.id, "ann", "a", 0.75)
    assert "(it came late, but it counts)" in late
    session.close()
