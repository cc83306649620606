"""Whether the page can serve, and what people see while its database is away."""

import os
import shutil
import subprocess
from contextlib import suppress

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
        client.app.state.context.session.retry_timeout = 0.01
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
        context.session.retry_timeout = 0.01
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
        assert [r.value for r in context.session.history.answers()] == [0.75]


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
        expect(page.locator("#said")).to_contain_text("Saved: ")
    with sessions.open(url) as session:
        assert [(r.question, r.value) for r in session.history.answers()][1:] == [(question, 0.75)]


def overwritten(path):
    before = path.stat().st_mtime_ns
    while path.stat().st_mtime_ns == before:  # the file system's clock may tick slowly
        path.write_bytes(b"")


def removed(path):
    path.unlink()


def unfit(path):
    path.with_name(f"{path.name}-wal").unlink()


@pytest.mark.parametrize("harm", [overwritten, removed, unfit])
def test_where_no_answer_could_be_saved_the_server_is_not_healthy_and_says_so(
    client, database, tools, harm
):
    token = tools.token_of(client)
    ask = {"headers": {"x-csrf-token": token}}
    (question,) = client.post("/api/ask", json={"n": 1}, **ask).json()
    assert client.get("/healthz").status_code == 200
    harm(database)
    answer = {"question": question["id"], "value": 0.5, "key": "a"}
    reply = client.post("/api/answers", json=answer, **ask)
    assert reply.status_code == 503
    assert "The last answer was not confirmed." in reply.json()["detail"]
    assert str(database.parent) not in reply.text
    reply = client.get("/healthz")
    assert (reply.status_code, reply.json()) == (
        503, {"status": "the database cannot be written to"}
    )  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_server_whose_disk_is_full_is_not_healthy_until_there_is_room(database, tmp_path, tools):
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("no mounting here")
    try:
        with tools.using(create_app(shutil.copy(database, folder))) as client:
            assert client.get("/healthz").status_code == 200
            ballast = folder / "ballast"
            with suppress(OSError), ballast.open("wb", buffering=0) as file:
                while True:
                    file.write(b"x" * 512)
            assert client.get("/healthz").status_code == 503
            ballast.unlink()
            assert client.get("/healthz").status_code == 200
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
