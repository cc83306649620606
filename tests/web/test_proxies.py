"""Beyond loopback: through a proxy whose word counts, and nobody else's."""

from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from askmeans.exceptions import ParameterError
from askmeans.web import create_app, guard
from askmeans.web.signin import signin_cookie_name

HOST = "q.example.org"
FORWARDED = {"x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https"}


@pytest.fixture
def public(database):
    """The page behind a proxy on this machine; `get` asks as some address does."""
    app = create_app(database, public_hosts=[HOST], proxies=["127.0.0.1", "172.16.0.0/12"])

    def get(address="127.0.0.1", path="/signin", host=HOST, **headers):
        with TestClient(app, base_url=f"http://{host}", client=(address, 5000),
                        follow_redirects=False) as client:  # fmt: skip
            return client.get(path, headers=headers)

    yield SimpleNamespace(app=app, get=get, session=app.state.context.session)
    app.state.context.close()


def test_whom_the_proxy_forwards_is_let_in(public):
    reply = public.get(**FORWARDED)
    assert reply.status_code == 200
    assert "strict-transport-security" not in reply.headers  # the proxy's to say


@pytest.mark.parametrize(
    "headers",
    [{}, {"x-forwarded-for": "203.0.113.7"}, {"x-forwarded-proto": "https"},
     {**FORWARDED, "x-forwarded-for": "nobody"}, {**FORWARDED, "x-forwarded-for": ""}],
)  # fmt: skip
def test_a_proxy_that_does_not_tell_who_calls_is_refused_and_the_log_says_why(
    public, headers, caplog
):
    assert public.get(**headers).status_code == 403
    assert "X-Forwarded-For" in caplog.text


@pytest.mark.parametrize("address", ["203.0.113.9", "127.0.0.2", "2001:db8::1"])
def test_forwarded_headers_of_anybody_else_are_forged_and_refused(public, address, caplog):
    assert public.get(address, **FORWARDED).status_code == 403
    assert "--proxy-address" in caplog.text


@pytest.mark.parametrize("address", ["172.18.0.3", "::ffff:172.18.0.3", "::ffff:127.0.0.1"])
def test_a_network_of_proxies_is_believed(public, address):
    assert public.get(address, **FORWARDED).status_code == 200


def test_what_came_unencrypted_to_the_proxy_is_refused(public):
    reply = public.get(**{**FORWARDED, "x-forwarded-proto": "http"})
    assert (reply.status_code, reply.text) == (403, "This page is encrypted: use https://.")
    forged = {**FORWARDED, "x-forwarded-proto": "https, http"}  # the last is the proxy's own
    assert public.get(**forged).status_code == 403


@pytest.mark.parametrize("host", ["evil.example", f"{HOST}.evil.example", f"{HOST}@evil.example"])
def test_another_host_is_refused(public, host):
    reply = public.get(**{**FORWARDED, "host": host})
    assert reply.status_code == 400
    assert "the address that you were given" in reply.text
    assert "127.0.0.1" not in reply.text


def test_a_forwarded_host_counts_for_nothing(public):
    forged = {**FORWARDED, "host": "evil.example", "x-forwarded-host": HOST}
    assert public.get(**forged).status_code == 400


def test_the_client_is_whom_the_proxy_adds_last_whatever_was_sent_before(public):
    forged = {**FORWARDED, "x-forwarded-for": "127.0.0.1, 10.0.0.1, 203.0.113.7"}
    token = public.session.people.invite("ann")
    header = {"authorization": f"Bearer {token}", **forged, "content-type": "application/json"}
    with TestClient(public.app, base_url=f"http://{HOST}", client=("127.0.0.1", 5000)) as client:
        client.post("/api/ask", content='{"n": 1}', headers=header)
        told = '{"question": 1, "key": "k", "value": 0.5}'
        assert client.post("/api/answers", content=told, headers=header).status_code == 200
        assert public.session.history.audit()[-1].client == "page from 203.0.113.7"


def test_health_is_told_to_whoever_watches_beside_the_server_only(public):
    assert public.get(path="/healthz", host="127.0.0.1").status_code == 200
    assert public.get("203.0.113.9", path="/healthz", host="127.0.0.1").status_code == 403
    assert public.get(path="/help", host="127.0.0.1").status_code == 403


def test_cookies_are_secure_and_of_this_host_alone(public):
    token = public.session.people.invite("ann")
    reply = public.get(path=f"/?token={token}", **FORWARDED)
    cookies = reply.headers.get_list("set-cookie")
    assert len(cookies) == 2
    for cookie in cookies:
        assert cookie.startswith("__Host-askmeans_")
        for flag in ("; Path=/", "; HttpOnly", "; SameSite=Lax", "; Secure"):
            assert flag in cookie
        assert "Domain" not in cookie
    name = signin_cookie_name(public.session)
    kept = {"cookie": f"__Host-{name}={token}"}
    assert public.get(path="/help", **FORWARDED, **kept).status_code == 200
    planted = {"cookie": f"{name}={token}"}  # by a neighbour, who cannot set __Host-
    assert public.get(path="/help", **FORWARDED, **planted).headers["location"] == "/signin"


def test_the_cookie_of_a_sentence_is_secure_too(public):
    token = public.session.people.invite("ann", role="owner")
    header = {**FORWARDED, "authorization": f"Bearer {token}"}
    form = {"session": public.app.state.context.assignments.mark, "cluster": "0", "name": "tiny"}
    with TestClient(public.app, base_url=f"http://{HOST}", client=("127.0.0.1", 5000),
                    follow_redirects=False) as client:  # fmt: skip
        cookies = client.post("/rename", data=form, headers=header).headers.get_list("set-cookie")
    assert any(cookie.startswith("askmeans_said=") for cookie in cookies)
    assert all(cookie.endswith("; Secure") for cookie in cookies)


def test_nobody_is_let_in_without_a_token(public):
    assert public.get(path="/", **FORWARDED).headers["location"] == "/signin"
    assert public.get(path="/api/status", **FORWARDED).status_code == 401


def test_too_many_requests_of_one_address_are_refused_and_others_are_not(public, monkeypatch):
    monkeypatch.setattr(guard, "ADDRESS_RATE", 1e-3)
    monkeypatch.setattr(guard, "ADDRESS_BURST", 3.0)
    replies = [public.get(**FORWARDED) for _ in range(5)]
    assert [reply.status_code for reply in replies] == [200] * 3 + [429] * 2
    assert "Too many requests from your address" in replies[-1].text
    forged = {**FORWARDED, "x-forwarded-for": "198.51.100.1, 203.0.113.7"}
    assert public.get(**forged).status_code == 429
    assert public.get(**{**FORWARDED, "x-forwarded-for": "203.0.113.8"}).status_code == 200


def test_without_a_proxy_forwarded_headers_are_not_believed(database):
    app = create_app(database, public_hosts=[HOST])
    with TestClient(app, base_url=f"http://{HOST}", client=("203.0.113.9", 5000)) as client:
        assert client.get("/signin", headers=FORWARDED).status_code == 403  # it is http


@pytest.mark.parametrize("proxies", ["127.0.0.1", ["proxy.example"], ["10.0.0.1/8"], [7j]])
def test_proxies_are_a_list_of_addresses_or_networks(database, proxies):
    with pytest.raises(ParameterError, match=r"'proxies'.*addresses or networks.*Got"):
        create_app(database, public_hosts=[HOST], proxies=proxies)


def test_proxies_come_with_the_names_that_people_call(database):
    with pytest.raises(ParameterError, match=r"'proxies'.*'public_hosts'"):
        create_app(database, proxies=["127.0.0.1"])
