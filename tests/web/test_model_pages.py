"""Language models on the page: the cost first, a run within a budget, a report; keys go nowhere."""

import re
import time

import pytest
from model_server import serving

from askmeans.web import create_app

KEY = "sk-secret-123"
FRUIT = ["plum", "cherry", "grape", "melon", "pumpkin", "papaya"]


@pytest.fixture
def page(tmp_path, tools, monkeypatch):
    """The page of an owner, whose server has a key."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    tools.make_fruit(tmp_path / "fruit.db", ask="group").close()
    with tools.using(create_app(tmp_path / "fruit.db", settle_seconds=0.0)) as client:
        yield client


def sized(request, _=0):
    text = str(request.data["item"])
    return '{"group": "A"}' if any(name in text for name in FRUIT[:3]) else '{"group": "B"}'


def send(client, tools, path="/models", **fields):
    """Send the form."""
    mark = client.app.state.context.assignments.mark
    form = {"token": tools.token_of(client), "session": mark, "model": "small"}
    return client.post(path, data=form | fields)


def finished(client):
    """The page once no model is at work."""
    while "data-running" in (text := client.get("/models").text):
        time.sleep(0.02)
    return text


def test_a_model_answers_within_a_budget_and_is_compared_with_people(page, tools):
    session = page.app.state.context.session
    with serving(sized) as server:
        fields = {"url": server.url, "max_tokens": "100000", "price_in": "1", "price_out": "2"}
        forecast = send(page, tools, **fields).text
        assert "6 items: about 6 requests" in forecast
        assert "at your prices" in forecast
        assert 'name="items" inputmode="numeric" maxlength="9" value=""' in forecast
        assert not server.trace  # nothing was asked yet
        assert send(page, tools, **fields, run="1").headers["location"] == "/models"
        assert "It answered about all 6 items." in finished(page)
        assert len(server.trace) == 6
        again = send(page, tools, **fields, run="1").text
        assert "small has answered about these items already." in again
    for _ in range(4):
        (question,) = session.ask(annotator="ann")
        session.tell(question.id, int(question.items[0] > 2), annotator="ann")
    report = page.get("/models").text
    assert re.search(r"<bdi>small</bdi></th><td>6</td><td>100 %<br>", report)
    assert session.status().answered == 4


def test_a_run_needs_a_budget_and_ends_where_it_is_spent(page, tools):
    with serving(sized) as server:
        assert "A run needs a budget" in send(page, tools, url=server.url, run="1").text
        assert "needs both prices" in send(page, tools, url=server.url, max_cost="1").text
        send(page, tools, url=server.url, max_tokens="10", run="1")
        assert "It stopped before the end: the next request could take more" in finished(page)
        assert not server.trace


def test_the_key_goes_to_its_own_endpoint_only_and_onto_no_page(page, tools, monkeypatch):
    with serving(sized) as server:
        send(page, tools, url=server.url, max_tokens="100000", items="1", run="1")
        assert KEY not in finished(page)
        assert "authorization" not in {name.lower() for name in server.trace[0].headers}
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        send(page, tools, url=server.url, max_tokens="100000", items="2", run="1")
        finished(page)
        assert server.trace[-1].headers["authorization"] == f"Bearer {KEY}"


def test_on_a_page_that_others_reach_only_the_servers_endpoint_is_called(tmp_path, tools):
    tools.make_fruit(tmp_path / "fruit.db", ask="group").close()
    app = create_app(tmp_path / "fruit.db", public_hosts=["q.example"])
    from starlette.testclient import TestClient

    token = app.state.context.session.people.invite("ann", role="owner")
    form = {"session": app.state.context.assignments.mark, "model": "m", "max_tokens": "9",
            "url": "http://169.254.169.254/v1"}  # fmt: skip
    with TestClient(app, base_url="https://q.example") as client:
        headers = {"authorization": f"Bearer {token}"}
        text = client.post("/models", data=form, headers=headers).text
    assert "models are asked at https://api.openai.com/v1 only" in text


def test_a_run_ends_with_the_invitation_of_its_owner(page, tools):
    session = page.app.state.context.session
    (own,) = session.people.invites()
    token = session.people.invite("bob", role="owner")
    waiting = [own]

    def revoking(request, _=0):
        if waiting:
            session.people.revoke(waiting.pop().number, annotator="bob")
        return sized(request)

    with serving(revoking) as server:
        send(page, tools, url=server.url, max_tokens="100000", run="1")
        page.get(f"/help?token={token}")
        assert "It was stopped: the link of its owner ended." in finished(page)
    assert not session.advisers.answers()
