"""One test for each thing that keeps the page safe."""

import logging

import numpy as np
import pytest
from injections import INJECTIONS
from PIL import Image
from starlette.testclient import TestClient

from askmeans import sessions
from askmeans.exceptions import ParameterError
from askmeans.web import create_app
from askmeans.web.api import make_api
from askmeans.web.guard import MOST_BYTES
from askmeans.web.limits import MOST_HEADER_BYTES
from askmeans.web.pages import make_router

UNSAFE = {"POST", "PUT", "PATCH", "DELETE"}


def unsafe_paths(context):
    routes = [*make_api(context).routes, *make_router(context).routes]
    return sorted(route.path for route in routes if route.methods & UNSAFE)


def answer_form(client, tools, **changed):
    return {"token": tools.token_of(client), "session": client.app.state.context.assignments.mark,
            "annotator": "ann", "question": "1", "key": "k", "value": "0.5", **changed}  # fmt: skip


def events(client):
    return client.app.state.context.session.history.last_event


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil.example", "", "[::1",
     # The address that is made of it has another path than the one that is routed.
     "127.0.0.1/help?", "127.0.0.1/static/x#", "ann@127.0.0.1", "127.0.0.1:80:80", "[127.0.0.1"],
)  # fmt: skip
def test_a_name_of_another_machine_is_refused(client, host):
    reply = client.get("/help", headers={"host": host})
    assert reply.status_code == 400
    assert "askmeans" not in reply.text.lower().replace("askmeans_token", "")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8420", "[::1]:8420"])
def test_the_names_of_this_machine_are_taken(client, host):
    assert client.get("/help", headers={"host": host}).status_code == 200


def reply_to(app, address, way="http", **headers):
    """What a client at an address gets."""
    with TestClient(app, base_url=f"{way}://localhost", client=(address, 50000)) as client:
        return client.get("/signin", headers=headers)


@pytest.mark.parametrize(
    "address", ["192.168.1.7", "2001:db8::7", "::ffff:10.0.0.1", "", "/a.sock"]
)
def test_a_client_elsewhere_is_refused_whatever_host_it_names(database, caplog, address):
    reply = reply_to(create_app(database), address)
    assert (reply.status_code, reply.text) == (403, "This page is for this machine only.")
    assert "public_hosts" in caplog.text


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.9", "::1", "::ffff:127.0.0.1"])
def test_a_client_on_this_machine_is_let_in(database, address):
    assert reply_to(create_app(database), address).status_code == 200


@pytest.mark.parametrize("name", ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip"])
def test_whom_a_proxy_on_this_machine_forwards_is_refused(client, name):
    reply = client.get("/help", headers={name: "127.0.0.1"})
    assert (reply.status_code, reply.text) == (403, "This page is for this machine only.")


def test_told_its_public_hosts_the_page_takes_others_under_these_names(database):
    public = {"public_hosts": ["Questions.example.org"]}
    forwarded = {"x-forwarded-for": "192.168.1.7"}
    for host, status in [("questions.example.org", 200), ("localhost", 200), ("evil.example", 400)]:
        app = create_app(database, **public)
        reply = reply_to(app, "10.0.0.1", "https", host=host, **forwarded)
        assert reply.status_code == status, host


@pytest.mark.parametrize("hosts", ["a.example", ["a.example:80"], ["http://a.example"], [""], [7j]])
def test_public_hosts_are_a_list_of_names(database, hosts):
    with pytest.raises(ParameterError, match=r"'public_hosts'.*without ports.*Got"):
        create_app(database, public_hosts=hosts)


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "//[x]"])
def test_an_origin_that_is_no_address_is_a_bad_request(client, tools, origin):
    before = events(client)
    reply = client.post("/answer", data=answer_form(client, tools), headers={"origin": origin})
    assert reply.status_code == 400
    assert events(client) == before


def test_every_form_needs_the_token_of_its_own_page(client, tools):
    client.app.state.context.session.ask(annotator="ann")
    before = events(client)
    paths = unsafe_paths(client.app.state.context)
    assert {"/answer", "/undo", "/signout", "/rename", "/pause", "/api/answers"} <= set(paths)
    body = {"annotator": "ann", "question": 1, "key": "k", "value": 0.5}
    for path in paths:
        for token in (None, "", "x" * 43):
            if path.startswith("/api"):
                wanted = {} if path == "/api/answers" else {"question": None}
                json = {**body, **wanted} if path != "/api/ask" else {"annotator": "ann"}
                if path == "/api/undo":
                    json.pop("value")
                headers = {} if token is None else {"x-csrf-token": token}
                reply = client.post(path, json=json, headers=headers)
            else:
                fields = answer_form(client, tools, name="eve", cluster="0")
                fields["token"] = token or ""
                reply = client.post(path, data=fields)
            assert reply.status_code == 403, path
    assert events(client) == before
    assert client.post("/answer", data=answer_form(client, tools)).status_code == 303
    assert events(client) == before + 1


def test_a_form_of_another_session_at_this_address_is_refused(client, tools):
    session = client.app.state.context.session
    session.ask(annotator="ann")
    before = events(client)
    for path in ("/answer", "/undo", "/stop", "/rename", "/pause", "/budget", "/leave", "/renew"):
        form = answer_form(
            client, tools, session="0123456789abcdef", cluster="0", name="eve", n="9"
        )
        assert client.post(path, data=form).status_code == 409, path
    assert events(client) == before
    assert session.status().leased > 0


@pytest.mark.parametrize(
    "headers",
    [{"origin": "http://evil.example"}, {"origin": "null"}, {"origin": "http://127.0.0.1:9999"},
     {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}],
)  # fmt: skip
def test_other_pages_cannot_send_even_with_the_token(client, tools, headers):
    client.app.state.context.session.ask(annotator="ann")
    before = events(client)
    reply = client.post("/answer", data=answer_form(client, tools), headers=headers)
    assert reply.status_code == 403
    assert events(client) == before


def test_every_response_forbids_what_is_not_the_pages_own(client):
    for path in ("/help", "/name", "/results", "/static/page.js", "/api/status", "/nowhere"):
        reply = client.get(path)
        policy = reply.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        for part in ("img-src 'self'", "connect-src 'self'", "form-action 'self'",
                     "frame-ancestors 'none'", "base-uri 'none'"):  # fmt: skip
            assert part in policy
        assert "unsafe" not in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "style=" not in reply.text.partition("<body")[2] or path.startswith("/static")
        assert " onclick" not in reply.text


def test_names_and_items_are_shown_as_text_never_as_markup(tmp_path, tools):
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
    items = [{"text": f"{evil} {place}", evil: evil} for place in range(6)]
    tools.make_fruit(
        tmp_path / "evil.db", items=items, ids=None, text="text", cluster_names=[evil, "b"]
    ).close()
    with tools.using(create_app(tmp_path / "evil.db"), evil[:70]) as client:
        client.post("/answer", data=answer_form(client, tools, annotator=evil[:70]))
        for path in ("/", "/name", "/help", "/history", "/results", "/items/0", "/find?q=" + evil):
            text = client.get(path, follow_redirects=True).text
            assert "<script>alert" not in text
            assert "<img src=x" not in text
            assert "&lt;script&gt;" in text, path


def test_items_that_want_to_be_more_than_text_are_shown_as_text(tmp_path, tools):
    items = ["".join(c if c.isprintable() else " " for c in text) for text in INJECTIONS]
    with sessions.create(tmp_path / "evil.db", [[float(i)] for i in range(50)], n_clusters=2,
                         items=items, random_state=0) as session:  # fmt: skip
        session.advisers.add("<b>small</b>", dict.fromkeys(range(50), 0))
    with tools.using(create_app(tmp_path / "evil.db"), "Ada") as client:
        for path in ("/", "/results", *(f"/items/{row}" for row in range(50))):
            text = client.get(path, follow_redirects=True).text
            assert "<script>alert" not in text
            assert "<img src=x" not in text
            assert "<svg/onload" not in text
            assert "<|im_" not in text
            assert "<b>small" not in text
            assert "49 </" not in text  # {{ 7 * 7 }}


def test_only_images_in_the_sessions_folder_are_served(tmp_path, tools):
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / "good.png").write_bytes(b"good")
    (folder / "page.html").write_text("no image")
    (tmp_path / "secret.png").write_bytes(b"secret")
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    paths = ["good.png", "../secret.png", str(tmp_path / "secret.png"), "link.png", "page.html",
             "gone.png"]  # fmt: skip
    tools.make_fruit(
        tmp_path / "images.db", items=[{"image": path} for path in paths], image="image",
        folder=folder,
    ).close()  # fmt: skip
    with tools.using(create_app(tmp_path / "images.db")) as client:
        replies = [client.get(f"/image/{row}") for row in range(len(paths))]
        assert replies[0].content == b"good"
        assert replies[0].headers["content-type"] == "image/png"
        assert [reply.status_code for reply in replies[1:]] == [404] * 5
        assert b"secret" not in b"".join(reply.content for reply in replies[1:])
        for path in ("/image/../secret.png", "/image/..%2fsecret.png", "/image/-1", "/image/99",
                     "/static/../app.py", "/static/%2e%2e/app.py"):  # fmt: skip
            assert client.get(path).status_code in (404, 422), path


def test_a_picture_that_cannot_be_read_is_a_placeholder(tmp_path, tools):
    (tmp_path / "a.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage\n")
    tools.make_fruit(
        tmp_path / "ps.db", items=[{"image": "a.png"}] * 6, image="image", folder=tmp_path
    ).close()
    with tools.using(create_app(tmp_path / "ps.db")) as client:
        reply = client.get("/image/0?small=true")
    assert (reply.status_code, reply.headers["content-type"]) == (200, "image/svg+xml")
    assert "This picture cannot be read" in reply.text


def test_an_image_opened_by_itself_can_run_nothing(tmp_path, tools):
    (tmp_path / "evil.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    )
    tools.make_fruit(
        tmp_path / "svg.db", items=[{"image": "evil.svg"}] * 6, image="image", folder=tmp_path
    ).close()
    with tools.using(create_app(tmp_path / "svg.db")) as client:
        policy = client.get("/image/0").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "sandbox" in policy
    assert "script" not in policy


def test_cookies_of_other_pages_on_this_machine_do_no_harm(client, tools):
    client.app.state.context.session.ask(annotator="ann")
    for odd in ('{"a": [1]}', "a[b]=c; d", "=; ;;", 'x="un; y=\\'):
        cookie = f"{odd}; " + "; ".join(f"{name}={told}" for name, told in client.cookies.items())
        form = answer_form(client, tools)
        reply = client.post("/answer", data=form, headers={"cookie": cookie})
        assert reply.status_code == 303, odd


def test_a_length_that_is_no_number_is_refused(client):
    for length in ("1e3", "-1", "\u00b2".encode("latin-1"), "9" * 5000):
        reply = client.post("/answer", content=b"", headers={"content-length": length})
        assert reply.status_code == 413, length


@pytest.mark.parametrize(
    ("address", "headers"),
    [
        ("/help", {"x-a": "a" * MOST_HEADER_BYTES}), ("/help", {"cookie": "a=b; " * 4000}),
        (f"/help?q={'a' * MOST_HEADER_BYTES}", {}), (f"/{'a' * MOST_HEADER_BYTES}", {}),
    ],
    ids=["header", "cookie", "query", "path"],
)  # fmt: skip
def test_a_long_head_is_refused_wherever_it_is_long(client, address, headers):
    reply = client.get(address, headers=headers)
    assert reply.status_code == 431
    assert reply.text == f"A request's head must have at most {MOST_HEADER_BYTES} bytes."
    assert client.get("/help", headers={"x-a": "a" * 8000}).status_code == 200


def test_large_requests_are_refused_announced_or_not(client, tools):
    fields = answer_form(client, tools, key="k" * MOST_BYTES)
    assert client.post("/answer", data=fields).status_code == 413

    def in_parts():
        for _ in range(3):
            yield b"x" * (MOST_BYTES // 2)

    headers = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post("/answer", content=in_parts(), headers=headers).status_code == 413
    headers = {"content-type": "application/json", "x-csrf-token": tools.token_of(client)}
    assert client.post("/api/ask", content=in_parts(), headers=headers).status_code == 413


def test_a_crash_tells_the_client_nothing_and_the_log_everything(client, caplog, monkeypatch):
    def break_down(**_):
        raise RuntimeError("the secret of line 42")

    monkeypatch.setattr(client.app.state.context.session, "status", break_down)
    for path in ("/name", "/api/status"):
        with caplog.at_level(logging.ERROR):
            reply = client.get(path)
        assert reply.status_code == 500
        assert "secret" not in reply.text
        assert "Traceback" not in reply.text
        assert "content-security-policy" in reply.headers
    assert "the secret of line 42" in caplog.text


def test_errors_are_pages_for_people_and_json_for_programs(client, tools):
    page = client.get("/items/9999")
    assert page.status_code == 404
    assert "<h1>There is no such page</h1>" in page.text
    assert client.get("/api/items/9999").json() == {"detail": "There is no item 9999."}
    late = client.post("/answer", data=answer_form(client, tools, question="77"))
    assert late.status_code == 303  # told on the next page
    for changed in ({"question": "x"}, {"value": "much"}, {"key": ""}, {"question": "9" * 30}):
        reply = client.post("/answer", data=answer_form(client, tools, **changed))
        assert reply.status_code == 422, changed


def test_a_page_of_a_session_that_is_not_there_is_refused(tmp_path):
    from askmeans.exceptions import NoSessionError

    with pytest.raises(NoSessionError):
        create_app(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


def test_the_api_does_what_the_session_does(client, tools, database):
    headers = {"x-csrf-token": tools.token_of(client)}
    (question,) = client.post("/api/ask", json={"annotator": "ann"}, headers=headers).json()
    told = {"annotator": "ann", "question": question["id"], "key": "a", "value": 0.25}
    receipts = [client.post("/api/answers", json=told, headers=headers).json() for _ in range(2)]
    assert [receipt["repeated"] for receipt in receipts] == [False, True]
    wrong = client.post("/api/answers", json={**told, "value": 0.5}, headers=headers)
    assert wrong.status_code == 409
    assert client.get("/api/status").json()["answered"] == 1
    result = client.get("/api/result")
    assert result.json()["n_queries"] == 1
    again = client.get("/api/result", headers={"if-none-match": result.headers["etag"]})
    assert again.status_code == 304
    undone = client.post("/api/undo", json={"annotator": "ann", "key": "u"}, headers=headers)
    assert undone.json()["value"] == 0.25
    with sessions.open(database) as session:
        assert session.history.answers() == []


def test_the_page_shows_small_copies_of_images_and_links_to_the_images(tmp_path, tools):
    pixels = np.random.default_rng(0).integers(0, 255, (600, 900, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "large.png")
    tools.make_fruit(
        tmp_path / "images.db", items=[{"image": "large.png"}] * 6, image="image", folder=tmp_path
    ).close()
    with tools.using(create_app(tmp_path / "images.db")) as client:
        page = client.get("/items/0").text
        assert '<a class="image" href="/image/0" data-zoom><img src="/image/0?small=true"' in page
        small, whole = client.get("/image/0?small=true"), client.get("/image/0")
    assert (small.headers["content-type"], whole.headers["content-type"]) == (
        "image/jpeg", "image/png"
    )  # fmt: skip
    assert len(small.content) < len(whole.content) / 4
    assert [path.suffix for path in (tmp_path / "images.db.thumbnails").iterdir()] == [".jpg"]
