"""Answers in a list: filtered by words, answer and person, and changed by their own people only."""

import re

import pytest

from askmeans.web import create_app


@pytest.fixture
def answered(tmp_path, tools):
    """Ann put five fruits into groups, Bo one; clients of both."""
    path = tmp_path / "fruit.db"
    with tools.make_fruit(path, ask="group") as session:
        for who, value in [*(("ann", each) for each in (0, 1, (), {0: 0.5, 1: 0.5})), ("bo", 1)]:
            (question,) = session.ask(annotator=who)
            session.tell(question.id, value, annotator=who)
        session.unsure(session.ask(annotator="ann")[0].id, annotator="ann")
    with tools.using(create_app(path), "ann") as ann, tools.using(create_app(path), "bo",
                                                                  "annotator") as bo:  # fmt: skip
        yield ann, bo


def listed(client, query=""):
    """The numbers of the questions in the list."""
    page = client.get(f"/history{query}")
    assert page.status_code == 200
    return [int(number) for number in re.findall(r'<tr id="question-(\d+)"', page.text)]


def test_a_filter_leaves_the_answers_that_match(answered):
    ann, bo = answered
    assert listed(ann) == [6, 4, 3, 2, 1]
    assert listed(ann, "?value=group-0") == [1]
    assert listed(ann, "?value=none") == [3]
    assert listed(ann, "?value=unsure") == [6]
    assert listed(ann, "?by=bo") == [5]
    assert listed(ann, "?by=*&value=group-1") == [5, 2]
    assert listed(ann, f"?page={'9' * 5000}") == [6, 4, 3, 2, 1]
    assert listed(bo, "?by=ann") == [5]  # only owners see what others answered
    session = ann.app.state.context.session
    name = session.item(session.question(2).items[0]).label
    assert listed(ann, f"?q={name.upper()}") == [2]
    assert "No answer matches" in ann.get("/history?q=nothing").text


def test_only_ones_own_answers_are_changed_and_the_list_stays(answered, tools):
    ann, bo = answered
    mark = ann.app.state.context.assignments.mark

    def change(client, question, **fields):
        given = {"session": mark, "token": tools.token_of(client), "key": "k", "value": "group-1",
                 "question": question, "back": "/history?value=group-0"}  # fmt: skip
        given["annotator"] = "bo" if client is bo else "ann"
        return client.post("/history/change", data=given | fields)

    assert change(ann, 1).headers["location"] == "/history?value=group-0"
    assert change(bo, 2).status_code == 403
    assert change(ann, 2, back="//evil.example").status_code == 422
    answers = {
        each.question: each.value for each in ann.app.state.context.session.history.answers()
    }
    assert (answers[1], answers[2]) == ((0.0, 1.0), (0.0, 1.0))
