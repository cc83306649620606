"""Slow heads, slow bodies, many connections, many requests: each ends with a word."""

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
import uvicorn

from askmeans.web import create_app, guard
from askmeans.web.limits import BoundedProtocol, RateLimit, rate_limit_key
from askmeans.web.runner import listen


@pytest.fixture
def serving(database):
    """The page over a protocol with limits of its own; gives its port."""
    servers = []

    def serve(**limits):
        protocol = type("Protocol", (BoundedProtocol,), limits)
        app = create_app(database)
        listening = listen("127.0.0.1", 0)
        config = uvicorn.Config(app, log_level="critical", http=protocol, proxy_headers=False,
                                timeout_graceful_shutdown=1)  # fmt: skip
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        servers.append((server, thread, listening))
        return listening.getsockname()[1]

    yield serve
    for server, thread, listening in servers:
        server.should_exit = True
        thread.join(timeout=20)
        listening.close()


def connect(port, address="127.0.0.1"):
    return socket.create_connection(("127.0.0.1", port), timeout=30, source_address=(address, 0))


def rest(connection):
    """All that comes until the other side closes."""
    parts = []
    while part := connection.recv(4096):
        parts.append(part)
    return b"".join(parts)


HEAD = b"GET /signin HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.mark.parametrize("sent", [b"", b"GET /sig", HEAD])
def test_a_head_that_does_not_come_in_time_is_refused_and_the_connection_closed(serving, sent):
    with connect(serving(header_seconds=0.1)) as connection:
        connection.sendall(sent)
        told = rest(connection)
    assert told.startswith(b"HTTP/1.1 408 ")
    assert told.endswith(b"The request took too long.")


def test_a_second_head_on_a_connection_has_no_more_time_than_the_first(serving):
    with connect(serving(header_seconds=1.5)) as connection:  # the first must come in time
        connection.sendall(HEAD + b"\r\n")
        assert connection.recv(12) == b"HTTP/1.1 200"
        seen = b""
        while b"</html>" not in seen:
            seen += connection.recv(4096)
        connection.sendall(HEAD)
        assert b"HTTP/1.1 408 " in rest(connection)


def test_a_whole_request_is_not_held_to_the_time_of_its_head(serving):
    with connect(serving(header_seconds=5.0)) as connection:
        for _ in range(3):
            connection.sendall(HEAD + b"\r\n")
            seen = b""
            while b"</html>" not in seen:
                seen += connection.recv(4096)
            assert b"HTTP/1.1 200" in seen


def test_one_connection_too_many_is_refused_with_a_word_and_others_go_on(serving):
    port = serving(most_connections=2)
    with connect(port) as first, connect(port) as second:
        for kept in (first, second):
            kept.sendall(HEAD + b"\r\n")
            assert kept.recv(12) == b"HTTP/1.1 200"
        with connect(port) as third:
            told = rest(third)
        assert told.startswith(b"HTTP/1.1 503 ")
        assert b"too many connections" in told
    with connect(port) as fourth:
        fourth.sendall(HEAD + b"connection: close\r\n\r\n")
        assert rest(fourth).startswith(b"HTTP/1.1 200")


def test_who_has_most_connections_gives_one_up_for_somebody_else(serving):
    port = serving(most_connections=3)
    with connect(port) as first, connect(port) as second, connect(port) as third:
        for kept in (first, second, third):
            kept.sendall(HEAD + b"\r\n")
            assert kept.recv(12) == b"HTTP/1.1 200"
        with connect(port, "127.0.0.2") as other:
            other.sendall(HEAD + b"\r\n")
            assert other.recv(12) == b"HTTP/1.1 200"
            with connect(port) as again:
                assert rest(again).startswith(b"HTTP/1.1 503 ")
            assert sum(map(is_ended, (first, second, third))) == 1


def is_ended(connection):
    """Whether the other side has let go; it says so at once."""
    connection.settimeout(0.2)
    with suppress(ConnectionResetError):
        try:
            rest(connection)
        except TimeoutError:
            return False
    return True


def test_whoever_asks_on_and_on_and_reads_nothing_is_cut_off(serving):
    def ask(connection):
        while True:
            connection.sendall(b"GET /static/page.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 1000)

    cut_off = (ConnectionResetError, BrokenPipeError)
    with connect(serving(write_seconds=0.2)) as connection, pytest.raises(cut_off):
        ask(connection)


def test_a_body_that_does_not_come_in_time_is_refused(serving, monkeypatch, client):
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.1)
    token = client.app.state.context.session.people.invite("ann")
    head = (
        "POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: 50\r\nConnection: close\r\n\r\n{{"
    )
    with connect(serving()) as connection:
        connection.sendall(head.encode())
        told = rest(connection)
    assert told.startswith(b"HTTP/1.1 408 ")
    assert b"took too long" in told
    assert client.app.state.context.session.status().leased == 0


def test_a_rate_is_a_burst_and_then_so_many_per_second_for_each_client():
    now = [0.0]
    limit = RateLimit(2.0, 5.0, clock=lambda: now[0])
    assert [limit.allows("a") for _ in range(7)] == [True] * 5 + [False] * 2
    assert limit.allows("b")
    now[0] = 1.0
    assert [limit.allows("a") for _ in range(3)] == [True, True, False]
    now[0] = 1000.0
    assert [limit.allows("a") for _ in range(6)] == [True] * 5 + [False]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True), ("2001:db8::1", "2001:db8:0:1::1", False),
        ("10.0.0.1", "10.0.0.2", False), ("/a.sock", "/a.sock", True),
    ],
)  # fmt: skip
def test_a_household_of_ipv6_shares_one_limit_however_many_addresses_it_has(one, other, same):
    assert (rate_limit_key(one) == rate_limit_key(other)) is same


def test_clients_that_are_quiet_again_are_forgotten():
    now = [0.0]
    limit = RateLimit(1.0, 1.0, clock=lambda: now[0], most_clients=100)
    for number in range(1000):
        now[0] += 0.1
        assert limit.allows(str(number))
    assert len(limit) <= 101


def test_a_client_that_has_gone_is_not_taken_for_a_slow_one():
    """What is received after a whole body is only that: however late it comes."""

    async def receive():
        return {"type": "http.request", "body": b"x", "more_body": False}

    async def twice():
        limited = guard.limited_receive(receive)
        return [await limited(), await limited()]

    with ThreadPoolExecutor(1) as aside:  # playwright has a loop in this one
        received = aside.submit(asyncio.run, twice()).result()
    assert [message["body"] for message in received] == [b"x", b"x"]
