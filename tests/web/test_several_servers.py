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


def post(client, what, values, tools):
    """A request of the API."""
    return client.post(
        f"/api/{what}", json=values, headers={"x-csrf-token": tools.token_of(client)}
    )


def test_what_one_server_handed_out_the_other_does_not_and_both_know_what_was_said(pair, tools):
    one, other = pair
    held = [
        post(client, "ask", {"annotator": name}, tools).json()[0]["id"]
        for client, name in ((one, "ann"), (other, "bob"))
    ]
    assert held[0] != held[1]
    told = {"annotator": "ann", "question": held[0], "value": 0.75, "key": "k"}
    assert post(one, "answers", told, tools).status_code == 200
    assert post(other, "answers", told, tools).json()["repeated"]  # she came back by another way
    assert [c.get("/api/status").json()["answered"] for c in pair] == [1, 1]


def test_a_crowd_at_two_servers_answers_every_question_once(pair, tools, postgres_url):
    failed = []

    def work(number):
        client, name = pair[number % 2], f"ann{number}"
        for _ in range(40):
            asked = post(client, "ask", {"annotator": name}, tools)
            if asked.status_code != 200:
                failed.append(asked.text)
                return
            if not asked.json():
                if client.get("/api/status").json()["state"] == "all done":
                    return
                continue
            told = {"annotator": name, "question": asked.json()[0]["id"], "value": 0.5,
                    "key": f"{name}-{asked.json()[0]['id']}"}  # fmt: skip
            reply = post(client, "answers", told, tools)
            if reply.status_code != 200 or reply.json()["late"]:
                failed.append(reply.text)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with sessions.open(postgres_url) as session:
        asked = [receipt.question for receipt in session.history()]
        assert len(asked) == len(set(asked))
        assert session.status().state == "all done"
        assert {event.client for event in session.audit()} == {"page from 127.0.0.1"}
