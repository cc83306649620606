"""Two servers on one PostgreSQL database: one session, shared as if there were one server."""

import threading

import pytest

from askmeans import sessions
from askmeans.web import create_app


@pytest.fixture
def pair(postgres_url, tools):
    """Clients of two servers of the fruits; more than one annotation is not wanted."""
    tools.make_fruit(postgres_url).close()
    with (
        tools.using(create_app(postgres_url)) as one,
        tools.using(create_app(postgres_url)) as other,
    ):
        yield one, other


def post(client, what, values, tokens):
    """A request of the API by a program, of the annotator that it names."""
    headers = {"authorization": f"Bearer {tokens[values['annotator']]}"}
    return client.post(f"/api/{what}", json=values, headers=headers)


@pytest.fixture
def tokens(pair, postgres_url):  # noqa: ARG001 - the session is made by then
    """Everybody's token, made elsewhere."""
    with sessions.open(postgres_url) as session:
        names = ["ann", "bob", *(f"ann{number}" for number in range(4))]
        return {name: session.people.invite(name) for name in names}


def test_what_one_server_handed_out_the_other_does_not_and_both_know_what_was_said(pair, tokens):
    one, other = pair
    held = [
        post(client, "ask", {"annotator": name}, tokens).json()[0]["id"]
        for client, name in ((one, "ann"), (other, "bob"))
    ]
    assert held[0] != held[1]
    told = {"annotator": "ann", "question": held[0], "value": 0.75, "key": "k"}
    assert post(one, "answers", told, tokens).status_code == 200
    assert post(other, "answers", told, tokens).json()["repeated"]  # she came back by another way
    assert [c.get("/api/status").json()["answered"] for c in pair] == [1, 1]


def test_a_crowd_at_two_servers_answers_every_question_once(pair, tokens, postgres_url):
    failed = []

    def work(number):
        client, name = pair[number % 2], f"ann{number}"
        for _ in range(40):
            asked = post(client, "ask", {"annotator": name}, tokens)
            if asked.status_code != 200:
                failed.append(asked.text)
                return
            if not asked.json():
                if client.get("/api/status").json()["state"] == "all done":
                    return
                continue
            told = {"annotator": name, "question": asked.json()[0]["id"], "value": 0.5,
                    "key": f"{name}-{asked.json()[0]['id']}"}  # fmt: skip
            reply = post(client, "answers", told, tokens)
            if reply.status_code != 200 or reply.json()["late"]:
                failed.append(reply.text)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with sessions.open(postgres_url) as session:
        asked = [receipt.question for receipt in session.history.answers()]
        assert len(asked) == len(set(asked))
        assert session.status().state == "all done"
        clients = {event.client for event in session.history.audit() if event.kind != "invite"}
        assert clients == {"page from 127.0.0.1"}
