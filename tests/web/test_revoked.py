"""An invitation that ends while a request of its person is under way."""

import json
import re
from urllib.parse import urlencode

import pytest
from signing import become

from askmeans.web import create_app


@pytest.fixture(params=["sqlite", "postgresql"])
def client(request, tmp_path, tools):
    """The page of some fruits sorted into groups, in either store."""
    place = tmp_path / "fruit.db"
    if request.param == "postgresql":
        place = request.getfixturevalue("postgres_url")
    made = tools.make_fruit(place, ask="group", n_clusters=2)
    made.groups.add("huge")
    made.groups.merge(0, made.groups.add("tiny"))
    question = made.add_question("group", (5,))
    for name in ("Ada", "Bo"):
        made.tell(question.id, 1, annotator=name)
    made.close()
    with tools.using(create_app(place, settle_seconds=0.0)) as client:
        yield client


def session_of(client):
    return client.app.state.context.session


def revoking(client, name, body):
    """A body that is sent after its sender's invitation was revoked."""
    session_of(client).people.revoke(name, annotator="root")
    yield body


def moves(session, tools, client):
    """Every path that a person can send a move to, with a form that is complete."""
    row = session.history.answers()[0].question
    mark = client.app.state.context.assignments.mark
    own = {"token": tools.token_of(client), "session": mark}
    change = session.history.changes()[-1].event
    forms = {
        "/answer": {"question": row, "key": "a", "value": "group-0", "change": "1"},
        "/undo": {"question": row, "key": "b"},
        "/stop": {},
        "/renew": {},
        "/history/change": {"question": row, "key": "g", "value": "group-1"},
        "/leave": {"key": "c"},
        "/items/move": {"key": "f", "row-3": "on", "value": "group-0"},
        "/rename": {"cluster": 0, "name": "small ones", "about": "They fit into a hand."},
        "/names": {"name-0": "smaller ones"},
        "/groups": {"name": "round"},
        "/merge": {"into": 0, "group": 1},
        "/remove": {"group": 1},
        "/split": {"group": 1, "name": "split", "row-5": "on"},
        "/refine": {"group": 0, "names": "a, b"},
        "/flatten": {"group": 0},
        "/move-group": {"group": 1, "into": 0},
        "/take-back": {"event": change},
        "/pin": {"group": 0, "row": 1},
        "/review": {"row": 2, "value": "group-0"},
        "/check": {},
        "/look": {"group": 1, "move": "up"},
        "/adjudicate": {"question": row, "value": "group-0"},
        "/options": {"purpose": "To sort."},
        "/pause": {},
        "/budget": {"n": 9},
        "/good-enough": {"percent": 5},
        "/invite": {"name": "Cy", "role": "owner", "days": 30},
        "/revoke": {"number": 1},
    }
    programs = {
        "/api/ask": {"n": 2},
        "/api/answers": {"question": row, "key": "d", "kind": "unsure"},
        "/api/undo": {"question": row, "key": "e"},
    }
    return own, forms, programs


# Write nothing for somebody with a name.
QUIET = {"/practice", "/signin", "/signout", "/name", "/models", "/models/stop"}


def test_a_move_that_is_sent_while_its_invitation_is_revoked_is_refused_and_not_kept(client, tools):
    session = session_of(client)
    own, forms, programs = moves(session, tools, client)
    paths = {route.path for route in client.app.routes if "POST" in getattr(route, "methods", ())}
    assert paths - QUIET == forms.keys() | programs.keys()
    for path in (*forms, *programs):
        client.cookies.clear()
        client.cookies.set("askmeans_token", own["token"], domain="127.0.0.1")
        become(client, "Ada")
        leases = session.runtime.store.leases(1)[1]
        if path in forms:
            body = urlencode(own | forms[path] | {"annotator": "Ada"}).encode()
            headers = {"content-type": "application/x-www-form-urlencoded"}
        else:
            body = json.dumps(programs[path]).encode()
            headers = {"content-type": "application/json", "x-csrf-token": own["token"]}
        known = [(invite.name, invite.role) for invite in session.people.invites()]
        reply = client.post(path, content=revoking(client, "Ada", body), headers=headers)
        assert reply.status_code == 401, path
        assert "Your invitation has ended" in reply.text, path
        assert "Ask an owner" in reply.text
        last = session.history.audit()[-1]
        assert (last.kind, last.annotator) == ("revoke", "root"), path
        assert session.runtime.store.leases(1)[1] == leases, path
        assert [(invite.name, invite.role) for invite in session.people.invites()] == known, path


def test_a_revoked_owner_gets_no_link_for_another_owner(client, tools):
    session = session_of(client)
    own, forms, _ = moves(session, tools, client)
    token = session.people.invite("Eve", role="owner")
    body = urlencode(own | forms["/invite"]).encode()
    headers = {"content-type": "application/x-www-form-urlencoded",
               "authorization": f"Bearer {token}"}  # fmt: skip
    reply = client.post("/invite", content=revoking(client, "Eve", body), headers=headers)
    assert reply.status_code == 401
    assert not re.search(r"token=[\w-]{43}", reply.text)
    assert "Cy" not in [invite.name for invite in session.people.invites()]
