"""Sign-in, from the side of whoever wants to come in without being asked."""

import hashlib
import re

import pytest
from fastapi import Request
from playwright.sync_api import expect
from sqlalchemy import text
from starlette.datastructures import URL

from askmeans import sessions
from askmeans.queries import Answer
from askmeans.web import create_app
from askmeans.web.limits import RateLimit
from askmeans.web.project_pages import create_projects_app
from askmeans.web.signin import PUBLIC_PATHS, signin_cookie_name

WRONG = "x" * 43


@pytest.fixture(params=["sqlite", "postgresql"])
def app(request, tmp_path, tools):
    """The page of the fruits, in either store."""
    place = tmp_path / "fruit.db"
    if request.param == "postgresql":
        place = request.getfixturevalue("postgres_url")
    tools.make_fruit(place).close()
    made = create_app(place, settle_seconds=0.0)
    made.state.place = place
    return made


@pytest.fixture
def stranger(client, tools):
    """Somebody else at the same page."""
    with tools.knocking(client.app) as made:
        yield made


def session_of(client):
    return client.app.state.context.session


def routes(app):
    """Every route of the application, with a way to call it; those that are mounted, too."""
    found, todo = [], list(app.routes)
    while todo:
        route = todo.pop()
        todo += getattr(getattr(route, "original_router", None), "routes", [])
        ways = getattr(route, "methods", None) or ["GET"]
        found += [(route.path, way) for way in sorted(ways) if hasattr(route, "path")]
    return sorted({(re.sub(r"\{.*?\}", "0", path), way) for path, way in found})


def test_every_route_refuses_whoever_has_no_token(client, stranger, tools):
    """Whatever will be added, too: nothing is open that is not listed here."""
    paths = [path for path, _ in routes(client.app)]
    assert {"/", "/answer", "/results", "/export/0", "/image/0", "/api/openapi.json"} <= set(paths)
    assert {"/signin", "/healthz"} == PUBLIC_PATHS
    before = session_of(client).history.last_event
    stranger.get("/signin")
    form = {"token": tools.token_of(stranger), "annotator": "ann", "question": "1", "key": "k",
            "session": client.app.state.context.assignments.mark, "value": "0.5"}  # fmt: skip
    for path, way in [*routes(client.app), ("/nowhere", "GET"), ("/staticx", "GET")]:
        if path in (*PUBLIC_PATHS, "/static"):
            continue
        sent = {"data": form} if way == "POST" and not path.startswith("/api") else {}
        reply = stranger.request(way, path, **sent)
        if path.startswith("/api"):
            assert reply.status_code == 401, path
        else:
            assert (reply.status_code, reply.headers["location"]) == (303, "/signin"), path
        assert "melon" not in reply.text
    assert session_of(client).history.last_event == before
    assert session_of(client).status().leased == 0


def test_the_page_that_says_how_to_come_in_tells_nothing_of_the_session(stranger):
    page = stranger.get("/signin")
    assert page.status_code == 200
    assert "askmeans invite DB NAME" in page.text
    for secret in ("melon", "small", "fruit", "main ·"):
        assert secret not in page.text.partition("<body")[2]
    assert "· main ·" not in page.text


def test_a_link_sets_a_cookie_and_leads_to_the_address_without_the_token(app, tools):
    with tools.knocking(app) as client:
        token = app.state.context.session.people.invite("ann", role="owner")
        reply = client.get(f"/find?q=melon&token={token}&x=1%262")
        assert (reply.status_code, reply.headers["location"]) == (303, "/find?q=melon&x=1%262")
        assert token not in reply.headers["location"] + reply.text
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["cache-control"] == "no-store"
        cookies = reply.headers.get_list("set-cookie")
        (kept,) = [told for told in cookies if token in told]
        for flag in ("Path=/", "HttpOnly", "SameSite=Lax"):
            assert flag in kept
        assert "Domain" not in kept
        assert client.get("/find?q=melon").headers["location"] == "/items/3"
        assert client.get("/").status_code == 200
        again = client.get(f"/help?token={WRONG}")  # an old bookmark: the cookie still counts
        assert again.headers["location"] == "/help"


def test_a_link_leads_nowhere_else(client, tools):
    token = session_of(client).people.invite("ann")
    with tools.knocking(client.app) as other:
        for path in ("//evil.example/", "/%2fevil.example", "/%5cevil.example", "/\\evil.example"):
            reply = other.get(f"http://127.0.0.1{path}?token={token}")
            target = reply.headers["location"]
            assert re.match(r"/(?![/\\\\])", target), target


def test_a_wrong_link_leads_to_the_page_that_says_so(stranger):
    reply = stranger.get(f"/results?token={WRONG}")
    assert reply.headers["location"] == "/signin?wrong=1"
    assert not [c for c in reply.headers.get_list("set-cookie") if WRONG in c]
    assert "not valid any more" in stranger.get("/signin?wrong=1").text


def test_a_token_in_the_address_is_not_taken_by_the_api_nor_from_a_form(client, stranger):
    token = session_of(client).people.invite("ann", role="owner")
    assert stranger.get(f"/api/status?token={token}").status_code == 401
    reply = stranger.post("/pause", params={"token": token}, data={"token": token})
    assert reply.headers["location"] == "/signin"
    assert session_of(client).status().state == "asking"


@pytest.mark.parametrize("how", ["wrong", "revoked", "expired", "of another session", "digest"])
def test_what_is_no_valid_token_lets_nobody_in_by_cookie_header_or_link(app, tools, how):
    session = app.state.context.session
    token = session.people.invite("ann", role="owner")
    if how == "wrong":
        token = WRONG
    elif how == "digest":
        token = hashlib.sha256(token.encode()).hexdigest()
    elif how == "of another session":
        with sessions.create(app.state.place, [[0.0], [1.0]], n_clusters=2, name="other") as other:
            token = other.people.invite("ann", role="owner")
    with tools.knocking(app) as client:
        if how in ("revoked", "expired"):
            client.get(f"/?token={token}")
            assert client.get("/help").status_code == 200
            if how == "revoked":
                session.people.revoke("ann")
            else:
                with session.runtime.store.backend.engine.begin() as connection:
                    connection.execute(text("UPDATE askmeans_invites SET until = 1.0"))
        client.cookies.set(signin_cookie_name(session), token, domain="127.0.0.1")
        assert client.get("/help").headers["location"] == "/signin?ended=1"
        assert "Your link ended" in client.get("/signin?ended=1").text
        assert client.get("/api/status").status_code == 401
        assert client.get("/", headers={"x-askmeans": "part"}).status_code == 401
        header = {"authorization": f"Bearer {token}"}
        assert client.get("/api/status", headers=header).status_code == 401
        assert client.get(f"/?token={token}").headers["location"] == "/signin?wrong=1"


def test_programs_sign_in_by_a_header_and_need_no_second_token(client, stranger):
    headers = {"authorization": f"Bearer {session_of(client).people.invite('robot')}"}
    (question,) = stranger.post("/api/ask", json={}, headers=headers).json()
    told = {"question": question["id"], "key": "k", "value": 0.5}
    receipt = stranger.post("/api/answers", json=told, headers=headers)
    assert receipt.json()["annotator"] == "robot"


def test_a_cookie_without_the_pages_own_token_changes_nothing(client):
    before = session_of(client).history.last_event
    assert client.post("/api/ask", json={}).status_code == 403
    assert client.post("/pause", data={"token": WRONG}).status_code == 403
    assert session_of(client).history.last_event == before
    assert session_of(client).status().leased == 0


def test_the_name_is_the_tokens_whatever_a_form_or_a_program_says(client, tools):
    session = session_of(client)
    session.ask(annotator="bob")
    before = session.history.last_event
    form = {"token": tools.token_of(client), "annotator": "bob", "question": "1", "key": "k",
            "session": client.app.state.context.assignments.mark, "value": "0.5"}  # fmt: skip
    for path in ("/answer", "/undo", "/stop", "/renew", "/leave", "/budget"):
        assert client.post(path, data={**form, "n": "9"}).status_code == 409, path
    headers = {"x-csrf-token": tools.token_of(client)}
    told = {"annotator": "bob", "question": 1, "key": "k", "value": 0.5}
    for path, body in [("ask", {"annotator": "bob"}), ("answers", told),
                       ("undo", {"annotator": "bob", "key": "k"})]:  # fmt: skip
        assert client.post(f"/api/{path}", json=body, headers=headers).status_code == 403
    assert session.history.last_event == before
    del form["annotator"]
    assert client.post("/answer", data=form).status_code == 303
    client.cookies.set("askmeans_name", "bob", domain="127.0.0.1")  # as it was before sign-in
    assert [receipt.annotator for receipt in session.history.answers()] == ["ann"]
    assert "Taken" not in client.get("/history").text


OWNERS = [("GET", "/groups"), ("POST", "/rename"), ("POST", "/names"), ("POST", "/groups"),
          ("POST", "/merge"), ("POST", "/split"), ("POST", "/refine"),
          ("POST", "/flatten"), ("POST", "/move-group"), ("POST", "/pin"), ("POST", "/take-back"),
          ("POST", "/options"), ("POST", "/pause"), ("POST", "/budget"), ("POST", "/review"),
          ("GET", "/export/all.json"), ("GET", "/export/answers.csv"),
          ("POST", "/invite"), ("GET", "/invites")]  # fmt: skip


def test_annotators_may_do_nothing_that_is_for_owners(app, tools):
    session = app.state.context.session
    with tools.using(app, "bob", "annotator") as client:
        before = session.history.last_event
        form = {"token": tools.token_of(client), "cluster": "0", "name": "x", "n": "3", "row": "0",
                "session": app.state.context.assignments.mark, "group": "0"}  # fmt: skip
        for way, path in OWNERS:
            reply = client.request(way, path, **({"data": form} if way == "POST" else {}))
            assert reply.status_code == 403, path
            assert "owners" in reply.text
        assert client.post("/answer", data={**form, "value": "new"}).status_code == 403
        assert session.history.last_event == before
        page = client.get("/").text
        for hidden in ("/groups", "/results"):
            assert f'href="{hidden}"' not in page


@pytest.mark.parametrize("host", ["127.0.0.1/help?", "127.0.0.1/help#"])
def test_what_an_annotator_may_do_hangs_on_the_path_that_is_routed_not_on_the_host(
    client, tools, monkeypatch, host
):
    """Older versions of Starlette make `Request.url` of the header as it is."""
    monkeypatch.setattr("askmeans.web.guard.hostname", lambda _: "127.0.0.1")
    monkeypatch.setattr(Request, "url", property(lambda told: URL(f"http://{host}{told['path']}")))
    with tools.using(client.app, "bob", "annotator") as annotator:
        for path in ("/invites", "/export/answers.csv", "/api/result"):
            assert annotator.get(path, headers={"host": host}).status_code == 403


def test_an_annotator_takes_back_no_group_of_an_owner(tmp_path, tools):
    place = tmp_path / "groups.db"
    options = {"n_clusters": 2, "cluster_names": ["low", "high"], "random_state": 0}
    sessions.create(place, [[float(row)] for row in range(6)], **options).close()
    app = create_app(place, settle_seconds=0.0)
    session = app.state.context.session
    session.groups.add("middle", annotator="ann")
    with tools.using(app, "bob", "annotator") as client:
        form = {"token": tools.token_of(client), "session": app.state.context.assignments.mark,
                "key": "k", "event": session.history.changes()[-1].event}  # fmt: skip
        assert client.post("/take-back", data=form).status_code == 403
        client.post("/undo", data=form)
        client.post("/undo", data={**form, "question": "1"})
        client.post("/api/undo", json={"key": "l"}, headers=secret(client))
    assert session.groups.all_names == ["low", "high", "middle"]


def test_nobody_uses_up_the_keys_of_others_or_learns_what_they_said_by_one(client, tools):
    session = session_of(client)
    (theirs,) = session.ask(annotator="ann")
    receipt = session.tell(theirs.id, 0.37, annotator="ann", key="k1")
    page = client.get("/history").text
    (history,) = re.findall(rf'name="key" value="([^"]+-back-{receipt.event})"', page)
    with tools.using(client.app, "bob", "annotator") as other:
        for key in ("k1", history):
            (mine,) = other.post("/api/ask", json={"n": 1}, headers=secret(other)).json()
            told = {"question": mine["id"], "value": 0.5, "key": key}
            reply = other.post("/api/answers", json=told, headers=secret(other))
            assert reply.status_code == 200
            assert not reply.json()["repeated"]
            assert "0.37" not in reply.text
    form = {"token": tools.token_of(client), "session": client.app.state.context.assignments.mark,
            "annotator": "ann", "key": history, "question": receipt.question,
            "event": receipt.event}  # fmt: skip
    client.post("/undo", data=form)
    assert [given.annotator for given in session.history.answers()] == ["bob", "bob"]


def test_what_only_owners_may_do_is_all_that_is_not_listed_for_annotators(client, tools):
    """A route that is added is for owners until somebody decides otherwise."""
    open_to_all = {"/", "/welcome", "/answer", "/undo", "/stop", "/renew", "/leave", "/name",
                   "/practice", "/history", "/history/change", "/help", "/signout", "/signin",
                   "/healthz", "/image/0", "/api/openapi.json", "/api/status", "/api/ask",
                   "/api/answers", "/api/undo",
                   "/api/history", "/api/items/0"}  # fmt: skip
    with tools.using(client.app, "bob", "annotator") as annotator:
        for path, way in routes(client.app):
            reply = annotator.request(way, path)
            refused = reply.status_code == 403 and "for owners of the session" in reply.text
            assert refused == (path not in open_to_all), path


def test_annotators_see_their_own_history_and_the_result_only_where_the_owner_says(app, tools):
    session = app.state.context.session
    for name in ("ann", "bob"):
        (question,) = session.ask(annotator=name)
        session.tell(question.id, 0.75, annotator=name)
    with tools.using(app, "bob", "annotator") as client:
        mine = client.get("/api/history").json()
        assert [receipt["annotator"] for receipt in mine] == ["bob"]
        assert client.get("/api/history?annotator=ann").status_code == 403
        assert client.get("/api/status?annotator=ann").status_code == 403
        seen = ["/results", "/results/part", "/items/0", "/find?q=melon", "/api/result"]
        assert [client.get(path).status_code for path in seen] == [403] * 5
        form = {"token": tools.token_of(client), "session": app.state.context.assignments.mark}
        assert client.post("/stop", data=form).headers["location"] == "/history"
        session.settings.set_option("annotators_see_results", True)
        assert {client.get(path).status_code for path in seen} <= {200, 204, 303}
        assert 'href="/results"' in client.get("/").text
        results = client.get("/results").text
        assert "/export/" not in results
        assert client.get("/export/all.json").status_code == 403
        told = {row: client.get(f"/items/{row}").text for row in range(6)}
        assert sum("bob answered" in text for text in told.values()) == 1
        assert not any("ann answered" in text for text in told.values())
        assert sum("People placed this item" in text for text in told.values()) == 2
        tools.become(client, "ann")
        assert any("ann answered" in client.get(f"/items/{row}").text for row in range(6))
        assert len(client.get("/api/history").json()) == 2
        assert "/export/all.json" in client.get("/results").text


def test_an_annotator_is_not_told_that_some_answers_are_known(tmp_path, tools):
    place = tmp_path / "gold.db"
    options = {"n_clusters": 2, "cluster_names": ["low", "high"], "random_state": 0}
    with sessions.create(place, [[float(row)] for row in range(12)], **options) as made:
        known = Answer(round=0, kind="group", items=(11,), cluster=None, repeat=0, value=(0.0, 1.0))
        made.people.add_gold([known])
    app = create_app(place, settle_seconds=0.0)
    with tools.using(app, "bob", "annotator") as client:
        status = client.get("/api/status").json()
        assert (status["held"], status["annotators"]) == (0, {})
        assert client.get("/api/items/11").status_code == 403
        assert client.get("/api/history").json() == []
        tools.become(client, "ann")
        assert client.get("/api/status").json()["held"] == 1


def test_an_annotator_reads_no_item_that_was_not_shown_to_them(app, tools):
    session = app.state.context.session
    (other,) = session.ask(annotator="ann")
    with tools.using(app, "bob", "annotator") as client:
        (mine,) = client.post("/api/ask", json={"n": 1}, headers=secret(client)).json()

        def seen():
            rows = range(len(session.rows) + 2)
            codes = {row: client.get(f"/api/items/{row}").status_code for row in rows}
            pictures = {row: client.get(f"/image/{row}").status_code for row in rows}
            assert {row for row, code in pictures.items() if code != 403} == {
                row for row, code in codes.items() if code != 403
            }
            return {row for row, code in codes.items() if code == 200}

        assert seen() == set(mine["items"])
        # By answering what others were asked nobody gets at it, nor answers it.
        before = session.history.last_event
        told = {"question": other.id, "kind": "answer", "value": 0.5, "key": "k"}
        assert client.post("/api/answers", json=told, headers=secret(client)).status_code == 403
        assert client.post("/api/answers", json=told | {"kind": "skip", "value": None},
                           headers=secret(client)).status_code == 403  # fmt: skip
        form = {"token": tools.token_of(client), "session": app.state.context.assignments.mark}
        for change in ("", "1"):
            sent = form | {"question": other.id, "key": "k", "value": "0.5", "change": change}
            assert client.post("/answer", data=sent).status_code == 403
        assert client.get(f"/?question={other.id}").status_code == 404
        assert session.history.last_event == before
        assert seen() == set(mine["items"])
        # What is an example is shown to all; one's own stays open.
        session.tell(other.id, 1.0, annotator="ann")
        session.tell(mine["id"], 0.0, annotator="bob")
        assert seen() == {*mine["items"], *other.items}
        session.settings.set_option("annotators_see_results", True)
        assert seen() == set(range(len(session.rows)))


def secret(client):
    """The page's own token, for programs that come by cookie."""
    return {"x-csrf-token": client.cookies["askmeans_token"]}


def test_many_wrong_tokens_from_one_address_are_refused_for_a_while(client, stranger):
    context, times = client.app.state.context, [0.0]
    limit = context.failed_signins
    limit = RateLimit(limit.rate, limit.burst, clock=lambda: times[0])
    context.failed_signins = limit
    header = {"authorization": f"Bearer {WRONG}"}
    codes = [stranger.get("/api/status", headers=header).status_code for _ in range(40)]
    assert codes == [401] * int(limit.burst) + [429] * (40 - int(limit.burst))
    assert client.get("/help").status_code == 200  # who has a valid one is not held up
    times[0] += 4.0
    assert stranger.get("/api/status", headers=header).status_code == 401


def test_somebody_who_asks_for_too_much_must_wait_and_others_need_not(client, tools):
    client.app.state.context.requests_of_people = RateLimit(1.0, 5.0, clock=lambda: 7.0)
    replies = [client.get("/api/status") for _ in range(7)]
    assert [reply.status_code for reply in replies] == [200] * 5 + [429] * 2
    assert "Too many requests" in replies[-1].json()["detail"]
    assert replies[-1].headers["retry-after"] == "1"
    with tools.knocking(client.app) as other:
        token = session_of(client).people.invite("bob")
        headers = {"authorization": f"Bearer {token}"}
        assert other.get("/api/status", headers=headers).status_code == 200


def test_signing_out_forgets_the_token_in_this_browser(client, tools):
    reply = client.post("/signout", data={"token": tools.token_of(client)})
    assert reply.headers["location"] == "/signin"
    assert client.get("/help").headers["location"] == "/signin"


@pytest.mark.parametrize("link", ["http://[?token=x", "?token=", "?", f"?token={WRONG}&token="])
def test_what_is_no_link_is_said_to_be_none(stranger, tools, link):
    stranger.get("/signin")
    reply = stranger.post("/signin", data={"token": tools.token_of(stranger), "link": link})
    assert reply.status_code == 401
    assert "not valid any more" in reply.text


@pytest.mark.parametrize("link", ["{}", "  {} ", "http://127.0.0.1/?token={}", "x?a=1&token={}#b"])
def test_a_token_is_taken_bare_or_in_a_link(client, stranger, tools, link):
    token = session_of(client).people.invite("bob")
    stranger.get("/signin")
    form = {"token": tools.token_of(stranger), "link": link.format(token)}
    assert stranger.post("/signin", data=form).status_code == 303
    assert stranger.get("/help").status_code == 200


def test_a_link_can_be_pasted_and_a_wrong_one_is_said(address, browser, tools):
    page = browser.new_context().new_page()
    page.goto(f"{address}/results")
    expect(page).to_have_url(f"{address}/signin")
    page.get_by_label("Your link").fill("nonsense")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("not valid any more")
    page.get_by_label("Your link").fill(tools.link_to(address, "Ada"))
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".who")).to_have_text("Ada")
    page.goto(f"{address}/name")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading")).to_have_text("Sign in")
    page.context.close()


def test_two_sessions_on_one_machine_do_not_sign_each_other_out(tmp_path, tools):
    for name in ("one", "two"):
        tools.make_fruit(tmp_path / f"{name}.db", name=name).close()
    with tools.using(create_app(tmp_path / "one.db")) as client:
        with tools.using(create_app(tmp_path / "two.db")) as other:
            client.cookies.update(other.cookies)  # as browsers share them between ports
        assert client.get("/help").status_code == 200


def test_signing_out_of_a_start_page_or_a_project_signs_out_of_all(tmp_path, tools):
    tools.make_fruit(tmp_path / "fruit.db").close()
    app = create_projects_app(tmp_path, WRONG, person="Ada")
    for place in ("", "/p/fruit"):
        with tools.knocking(app) as client:
            client.get(f"/?token={WRONG}")
            client.get("/open/fruit")
            assert client.get("/p/fruit/help").status_code == client.get("/").status_code == 200
            assert sum(name.startswith("askmeans_") for name in client.cookies) == 3
            form = {"token": tools.token_of(client)}
            secure = {"cookie": f"__Host-askmeans_home_{'0' * 12}=x; {cookies_of(client)}"}
            reply = client.post(f"{place}/signout", data=form, headers=secure)
            assert reply.headers["location"] == f"{place}/signin"
            assert [*client.cookies] == ["askmeans_token"]
            deleted = [each for each in reply.headers.get_list("set-cookie") if "Host-" in each]
            assert deleted[0].startswith(f"__Host-askmeans_home_{'0' * 12}=; Path=/;")
            assert deleted[0].endswith("Max-Age=0; Secure")


def cookies_of(client):
    return "; ".join(f"{name}={value}" for name, value in client.cookies.items())


def test_a_stranger_cannot_tell_a_project_from_none(tmp_path, tools):
    tools.make_fruit(tmp_path / "fruit.db").close()
    with tools.knocking(create_projects_app(tmp_path, WRONG, person="Ada")) as client:
        client.get("/signin")
        form = {"token": tools.token_of(client), "link": "wrong"}

        def said(name, path, method="GET", **options):
            reply = client.request(method, f"/p/{name}{path}", **options)
            where = reply.headers.get("location", "").replace(name, "NAME")
            return reply.status_code, where, reply.text.replace(name, "NAME")

        forged = {"cookie": f"{cookies_of(client)}; askmeans_signin_0123456789ab=wrong"}
        for path in ("", "/", "/results", "/api/status", "/?token=wrong", "/signin", "/healthz",
                     "/signin?wrong=1", "/signin?wrong=maybe", "/static/base.css",
                     "/static/no.css"):  # fmt: skip
            assert said("fruit", path) == said("veg", path), path
            for how in (forged, {"authorization": "Bearer wrong"}):
                there = said("fruit", path, headers=how)
                assert there == said("veg", path, headers=how), (path, how)
        for sent in ({"data": form}, {"data": {"token": form["token"]}}, {"json": form}):
            there = said("fruit", "/signin", "POST", **sent)
            assert there == said("veg", "/signin", "POST", **sent), sent
        assert said("fruit", "/signin", "PUT") == said("veg", "/signin", "PUT")
        for n in range(40):  # wrong tokens count wherever they are tried
            last = said(f"veg{n}", "/?token=wrong")
        assert last[0] == said("fruit", "/?token=wrong")[0] == 429


def test_an_address_without_a_project_or_a_token_opens_no_file(tmp_path, tools, monkeypatch):
    tools.make_fruit(tmp_path / "fruit.db").close()
    opened = []
    names, open_session = sessions.names, sessions.open
    monkeypatch.setattr(sessions, "names", lambda *a: (opened.append(a), names(*a))[1])
    monkeypatch.setattr(sessions, "open", lambda *a: (opened.append(a), open_session(*a))[1])
    with tools.knocking(create_projects_app(tmp_path, WRONG, person="Ada")) as client:
        assert client.get("/p/veg/").headers["location"] == "/p/veg/signin"
        assert client.get("/p/veg/?token=wrong").headers["location"] == "/p/veg/signin?wrong=1"
        assert client.get("/p/fruit/").headers["location"] == "/p/fruit/signin"
        assert not opened
        wrong = client.get("/p/fruit/?token=wrong")
        assert wrong.headers["location"] == "/p/fruit/signin?wrong=1"
        assert opened


def test_the_link_of_a_server_ends(tmp_path, tools):
    for until, path in ((0.0, "/signin?wrong=1"), (float("inf"), "/")):
        app = create_projects_app(tmp_path, WRONG, person="Ada", until=until)
        with tools.knocking(app) as client:
            assert client.get(f"/?token={WRONG}").headers["location"] == path
