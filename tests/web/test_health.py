"""Whether the page can serve, and what people see while its database is away."""

import pytest
from playwright.sync_api import expect

from askmeans import sessions
from askmeans.web import create_app


@pytest.fixture
def url(postgres, tools):
    """The fruits in PostgreSQL."""
    made = postgres.create()
    tools.make_fruit(made).close()
    yield made
    postgres.drop(made)


def test_a_database_that_answers_is_healthy(client):
    reply = client.get("/healthz")
    assert (reply.status_code, reply.json()) == (200, {"status": "ok"})
    assert "/healthz" not in client.get("/api/openapi.json").json()["paths"]


def test_a_database_that_does_not_answer_is_not_and_no_more_is_said(postgres, url, tools):
    with tools.using(create_app(url)) as client:
        client.app.state.context.session.patience = 0.01
        assert client.get("/healthz").status_code == 200
        postgres.stop()
        try:
            reply = client.get("/healthz")
        finally:
            postgres.start()
        assert reply.status_code == 503
        assert reply.json() == {"status": "the database does not answer"}
        assert client.get("/healthz").status_code == 200


def test_while_the_database_is_away_people_are_told_that_it_is_not_saved_and_it_is_later(
    postgres, url, tools
):
    with tools.using(create_app(url, settle_seconds=0.0)) as client:
        context = client.app.state.context
        context.session.patience = 0.01
        token = tools.token_of(client)
        client.get("/")
        form = {"token": token, "session": context.assignments.mark, "annotator": "ann",
                "question": "1", "key": "k", "value": "0.75"}  # fmt: skip
        by_script = {"x-askmeans": "part"}
        postgres.stop("immediate")
        try:
            lost = client.post("/answer", data=form, headers=by_script)
            by_program = client.get("/api/status")
            page = client.get("/history")
        finally:
            postgres.start()
        assert lost.status_code == by_program.status_code == page.status_code == 503
        assert "Not saved yet" in by_program.json()["detail"]
        for reply in (lost, by_program, page):
            assert str(postgres.folder) not in reply.text
        for _ in range(2):  # page.js sends it until it is confirmed; twice is once
            assert client.post("/answer", data=form, headers=by_script).status_code == 200
        assert [r.value for r in context.session.history()] == [0.75]


def test_in_a_browser_an_answer_waits_for_a_server_that_is_started_anew(
    postgres, url, tools, sit_down
):
    with tools.serving(url, settle_seconds=0.0) as address:
        page = sit_down(address)
        tools.answer(page, "2")
        question = int(tools.question_of(page))
        page.wait_for_selector("[data-ready]", state="attached")
        postgres.stop("immediate")
        try:
            page.keyboard.press("4")
            expect(page.locator("#said")).to_contain_text("Not saved yet")
        finally:
            postgres.start()
        expect(page.locator("#said")).to_contain_text(f"to question {question}")
    with sessions.open(url) as session:
        assert [(r.question, r.value) for r in session.history()][1:] == [(question, 0.75)]
