"""Limits on one client: requests per second, connections, and time to send and to read.

Uvicorn limits the size of a head and the time between requests. It has no timeout for a head that
comes slowly or a response that is not read, and beyond its `limit_concurrency` it refuses all
clients: `BoundedProtocol` adds both timeouts, and ends a connection of the client that has most.
"""

import asyncio
import ipaddress
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable

from uvicorn.protocols.http.h11_impl import H11Protocol

BODY_SECONDS = 20.0  # for 64 KiB: a slow telephone takes a second
HEADER_SECONDS = 10.0  # from the connection, or the last response, to a complete head
WRITE_SECONDS = 60.0  # to read the 48 KiB that a full buffer must lose: 1 KiB a second is enough
MOST_CONNECTIONS = 400  # of one server; 50 people with six each, as browsers have, are 300
MOST_HEADER_BYTES = 16 * 1024
_log = logging.getLogger("askmeans.web")


class RateLimit:
    """A token bucket for each client: a burst, and then a number of requests per second."""

    def __init__(
        self,
        rate: float,
        burst: float,
        clock: Callable[[], float] = time.monotonic,
        most_clients: int = 10_000,
    ) -> None:
        self.rate, self.burst = rate, burst
        self._most_clients = most_clients
        self._clock = clock
        self._lock = threading.Lock()
        self._full_at: dict[str, float] = {}  # when a client's bucket is full again

    def __len__(self) -> int:
        """Clients whose requests are counted."""
        return len(self._full_at)

    def allows(self, client: str) -> bool:
        """Whether this client may send one more request; it is counted."""
        with self._lock:
            now = self._clock()
            if len(self._full_at) >= self._most_clients:
                self._full_at = {key: at for key, at in self._full_at.items() if at > now}
            full_at = max(self._full_at.get(client, now), now) + 1.0 / self.rate
            if full_at - now > self.burst / self.rate + 1e-9:
                return False
            self._full_at[client] = full_at
            return True


def rate_limit_key(address: str) -> str:
    """Who shares a limit: an IPv4 address, or the /64 network of an IPv6 address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    return str(ipaddress.ip_network((int(parsed) >> 64 << 64, 64)))


class BoundedProtocol(H11Protocol):
    """Uvicorn's HTTP with timeouts for slow clients and a fair share of the connections."""

    header_seconds = HEADER_SECONDS
    write_seconds = WRITE_SECONDS
    most_connections = MOST_CONNECTIONS
    _head_timeout: asyncio.TimerHandle | None = None
    _write_timeout: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's signature
        """Accept a connection, up to a limit."""
        super().connection_made(transport)
        if len(self.connections) > self.most_connections and not self._make_room():
            _log.warning("A connection was refused: there are %d.", len(self.connections) - 1)
            self._refuse(
                "503 Service Unavailable", "There are too many connections. Try again in a moment."
            )
            return
        self._start_head_timeout()

    def data_received(self, data: bytes) -> None:
        """Read on; a complete head ends its timeout."""
        if self.transport.is_closing():
            return
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._stop_timeouts(write=False)
        elif self._head_timeout is None and before is not None and before.response_complete:
            self._start_head_timeout()  # the next head has begun; until then keep-alive counts

    def connection_lost(self, exc: Exception | None) -> None:
        """End the timeouts."""
        self._stop_timeouts()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not read its response: it has some time."""
        super().pause_writing()
        self._start_write_timeout()

    def resume_writing(self) -> None:
        """The client reads on."""
        self._stop_timeouts(head=False)
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close, also where the client has not read all of the last response."""
        super().timeout_keep_alive_handler()
        self._start_write_timeout()

    def _unsupported_upgrade_warning(self) -> None:
        """There are no websockets; a request for one is answered like others."""

    @property
    def rate_limit_key(self) -> str:
        """Who is at the other end, as limits count them."""
        return rate_limit_key(self.client[0] if self.client else "")

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _make_room(self) -> bool:
        """End a connection of the client that has most, if it has more than this one's."""
        everybody: list[BoundedProtocol] = list(self.connections)  # type: ignore[arg-type]  # all are ours
        connections = [each for each in everybody if not each.transport.is_closing()]
        counts = Counter(each.rate_limit_key for each in connections)
        busiest, most = counts.most_common(1)[0]
        if most <= counts[self.rate_limit_key]:
            return False
        _log.warning("A connection of %s was ended: it has %d.", busiest, most)
        theirs = [each for each in connections if each.rate_limit_key == busiest]
        max(theirs, key=lambda each: each.is_idle).transport.abort()
        return True

    def _start_write_timeout(self) -> None:
        self._stop_timeouts(head=False)
        self._write_timeout = self.loop.call_later(self.write_seconds, self.transport.abort)

    def _start_head_timeout(self) -> None:
        self._stop_timeouts(write=False)
        self._head_timeout = self.loop.call_later(self.header_seconds, self._refuse_slow_head)

    def _stop_timeouts(self, *, head: bool = True, write: bool = True) -> None:
        if head and self._head_timeout is not None:
            self._head_timeout.cancel()
            self._head_timeout = None
        if write and self._write_timeout is not None:
            self._write_timeout.cancel()
            self._write_timeout = None

    def _refuse_slow_head(self) -> None:
        if self.is_idle:
            self._refuse("408 Request Timeout", "The request took too long.")

    def _refuse(self, status: str, text: str) -> None:
        """Send a sentence, and close."""
        head = (
            f"HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\n"
            f"content-length: {len(text)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write((head + text).encode())
        self.transport.close()
        self._start_write_timeout()
