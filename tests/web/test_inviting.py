"""Owners invite and revoke on the page; the link is in one reply only."""

import re

from playwright.sync_api import expect
from starlette.testclient import TestClient

from askmeans.sessions.served import Served, remember
from askmeans.web import create_app


def form_of(client, tools, **fields):
    mark = client.app.state.context.assignments.mark
    return {"token": tools.token_of(client), "session": mark, **fields}


def test_an_owner_makes_a_link_that_is_told_once_and_revokes_it(client, tools):
    session = client.app.state.context.session
    form = form_of(client, tools, name="Ada <b>", role="annotator", days="2")
    reply = client.post("/invite", data=form)
    (token,) = re.findall(r"http://127\.0\.0\.1/\?token=([\w-]{43})", reply.text)
    assert token not in str(reply.headers)
    assert "<b>" not in reply.text
    assert (session.people.person_of(token).name, session.people.person_of(token).role) == (
        "Ada <b>",
        "annotator",
    )
    assert session.people.invites()[-1].made_by == "ann"
    page = client.get("/invites").text
    assert token not in page
    assert '<bdi>Ada &lt;b&gt;</bdi></th><td data-title="As">annotator</td>' in page
    number = str(session.people.invites()[-1].number)
    client.post("/revoke", data=form_of(client, tools, number=number))
    assert session.people.person_of(token) is None
    assert "cannot come in by this link any more" in client.get("/invites").text


def test_what_is_no_invitation_is_said_and_nobody_is_invited(client, tools):
    session = client.app.state.context.session
    before = len(session.people.invites())
    for changed in ({"role": "king"}, {"days": "-1"}, {"name": "held"}, {"days": "99999"}):
        form = form_of(client, tools, **{"name": "Ada", "role": "owner", "days": "2"} | changed)
        assert client.post("/invite", data=form).headers["location"] == "/invites"
        assert 'class="failed"' in client.get("/invites").text
    assert client.post("/revoke", data=form_of(client, tools, number="99")).status_code == 303
    assert len(session.people.invites()) == before


def test_a_link_has_the_address_by_which_others_reach_the_page(database):
    app = create_app(database, public_hosts=["q.example"])
    session = app.state.context.session
    remember(session, Served(address="https://q.example/", token=None))
    headers = {"authorization": f"Bearer {session.people.invite('ann', role='owner')}"}
    form = {"session": app.state.context.assignments.mark, "name": "Bo", "role": "annotator",
            "days": "2"}  # fmt: skip
    with TestClient(app, base_url="https://127.0.0.1:8443") as client:
        page = client.post("/invite", data=form, headers=headers).text
    assert "https://q.example/?token=" in page
    assert "this computer only" not in page


def test_a_link_made_in_the_browser_lets_somebody_in(address, sit_down, browser, check):
    page = sit_down(address)
    page.goto(f"{address}/name")
    page.get_by_role("link", name="Invite people").click()
    page.get_by_label("Whom").fill("Bo")
    page.get_by_role("button", name="Make a link").click()
    link = page.get_by_label("The link").input_value()
    check(page, "invitations")
    other = browser.new_context().new_page()
    other.goto(link)
    expect(other.locator(".who")).to_have_text("Bo")
    assert "token" not in other.url
    other.goto(f"{address}/signin")
    check(other, "sign-in")
    other.context.close()
