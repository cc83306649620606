"""Results never hold up answers: they have threads of their own, and are made once for all."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from soaking import in_soak
from starlette.testclient import TestClient

from askmeans import sessions
from askmeans.exceptions import RankError
from askmeans.web import api, create_app, result_pages
from askmeans.web.api import ResultOut

WAITING = 60  # more than the server has threads


class Arrivals:
    """An application that says when so many requests have come to it."""

    def __init__(self, app, path):
        self.app, self.path = app, path
        self.n, self.all_there = 0, threading.Event()

    async def __call__(self, scope, receive, send):
        if scope.get("path") == self.path:
            self.n += 1
            if self.n == WAITING:
                self.all_there.set()
        await self.app(scope, receive, send)


@pytest.mark.parametrize(
    "path", ["/api/result", "/results", in_soak("/items/0"), in_soak("/export/all.json")]
)
def test_answers_pass_while_many_wait_for_a_slow_result(database, tools, monkeypatch, path):
    monkeypatch.setattr(api, "RESULT_TIMEOUT", 600.0)
    monkeypatch.setattr(result_pages, "RESULT_TIMEOUT", 600.0)
    app = create_app(database, settle_seconds=0.0)
    session, go_on = app.state.context.session, threading.Event()
    result = session.result
    counting = Arrivals(app, path)
    with (
        TestClient(
            counting,
            base_url="http://127.0.0.1",
            follow_redirects=False,
            client=("127.0.0.1", 50000),
        ) as client,  # fmt: skip
        ThreadPoolExecutor(WAITING + 1) as crowd,
    ):
        tools.sign_in(client, app)
        (question,) = session.ask(annotator="ann")
        monkeypatch.setattr(session, "result", lambda: go_on.wait(600) and result())
        waiting = [crowd.submit(client.get, path) for _ in range(WAITING)]
        try:
            assert counting.all_there.wait(60)
            form = {"token": tools.token_of(client), "session": app.state.context.assignments.mark,
                    "annotator": "ann", "question": question.id, "key": "k",
                    "value": "0.5"}  # fmt: skip
            answered = crowd.submit(client.post, "/answer", data=form).result(timeout=60)
            assert answered.status_code == 303
            assert [receipt.value for receipt in session.history.answers()] == [0.5]
            assert not any(reply.done() for reply in waiting)
        finally:
            go_on.set()
        replies = [reply.result(timeout=60) for reply in waiting]
    assert {reply.status_code for reply in replies} == {200}


@pytest.mark.parametrize(
    ("path", "writer"),
    [("/api/result", (api, "result_json")), ("/export/all.json", (result_pages, "export"))],
)
def test_a_result_is_written_out_once_for_every_event(client, monkeypatch, path, writer):
    written = []
    write = getattr(*writer)
    monkeypatch.setattr(*writer, lambda *given: written.append(1) or write(*given))
    first = [client.get(path).content for _ in range(3)]
    assert (len(written), len(set(first))) == (1, 1)
    session = client.app.state.context.session
    (question,) = session.ask()
    session.tell(question.id, 0.5)
    assert client.get(path).content != first[0]
    assert len(written) == 2


def refuse_results(session, monkeypatch):
    """No result can be computed from now on."""

    def fails():
        raise RankError("too few")

    monkeypatch.setattr(session, "result", fails)


def test_exports_are_of_the_result_that_the_page_shows(client, monkeypatch):
    session = client.app.state.context.session
    assert client.get("/results").status_code == 200
    refuse_results(session, monkeypatch)
    for file in ("memberships.csv", "centers.csv", "all.json"):
        assert client.get(f"/export/{file}").status_code == 200


def test_answers_are_exported_where_there_is_no_result(client, monkeypatch):
    session = client.app.state.context.session
    (question,) = session.ask()
    session.tell(question.id, 0.5)
    refuse_results(session, monkeypatch)
    assert ",0.5," in client.get("/export/answers.csv").text
    assert client.get("/export/memberships.csv").status_code >= 400


def test_the_result_is_sent_in_pieces_whole(tmp_path, tools):
    X = [[float(place % 7)] for place in range(2001)]
    plan = {"n_clusters": 2, "ask": "membership", "random_state": 0}
    sessions.create(tmp_path / "many.db", X, **plan).close()
    with tools.using(create_app(tmp_path / "many.db")) as client:
        reply = client.get("/api/result")
        found = client.app.state.context.session.result()
    assert len(reply.content) == int(reply.headers["content-length"]) > 2**16
    assert reply.json()["memberships"] == found.memberships.tolist()
    assert ResultOut.model_validate(reply.json()).ids == list(found.ids)


def test_answers_are_taken_in_turn_a_few_at_a_time(tmp_path, tools):
    path = tmp_path / "fruit.db"
    tools.make_fruit(path).close()
    context = create_app(path).state.context
    begun, together, most = [], [], []
    two = threading.Barrier(2, timeout=60)

    def route(place):
        begun.append(place)
        together.append(place)
        most.append(len(together))
        two.wait()  # for the other one: its thread may start late on a busy machine
        threading.Event().wait(0.002)  # the others could begin meanwhile
        together.remove(place)
        return place

    async def all_at_once():
        work = context.in_turn(route)
        return await asyncio.gather(*(work(place) for place in range(40)))

    with ThreadPoolExecutor(1) as aside:  # a browser of another test may have a loop in this one
        assert aside.submit(lambda: asyncio.run(all_at_once())).result() == list(range(40))
    assert max(most) <= 2
    ahead = [place - min(begun[turn:]) for turn, place in enumerate(begun)]
    assert max(ahead) <= 2  # nobody is overtaken by more than those whose turn it is
    context.close()
