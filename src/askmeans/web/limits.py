"""How much one client may ask for: requests per second, connections, and time to send them."""

import asyncio
import ipaddress
import logging
import threading
import time
from collections.abc import Callable

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["BODY_SECONDS", "HEADER_SECONDS", "MOST_CONNECTIONS", "BoundedProtocol", "RateLimit",
           "neighbourhood"]  # fmt: skip

BODY_SECONDS = 20.0  # for 64 KiB: a slow telephone takes a second
HEADER_SECONDS = 10.0  # from the connection, or the last answer, to a whole request's head
MOST_CONNECTIONS = 400  # of one server; 50 people with six each, as browsers have, are 300
MOST_HEADER_BYTES = 16 * 1024
_KEYS = 10_000  # clients that are remembered
_log = logging.getLogger("askmeans.web")


class RateLimit:
    """A bucket of tokens for each client: so many at once, and so many per second."""

    def __init__(
        self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate, self.burst = rate, burst
        self._clock = clock
        self._lock = threading.Lock()
        self._full_at: dict[str, float] = {}  # when a client's bucket is full again

    def allows(self, client: str) -> bool:
        """Whether this client may ask for one thing more; it is counted."""
        with self._lock:
            now = self._clock()
            if len(self._full_at) >= _KEYS:
                self._full_at = {who: at for who, at in self._full_at.items() if at > now}
            full_at = max(self._full_at.get(client, now), now) + 1.0 / self.rate
            if full_at - now > self.burst / self.rate + 1e-9:
                return False
            self._full_at[client] = full_at
            return True


def neighbourhood(address: str) -> str:
    """Who shares a limit: an address, of IPv6 the 2**64 that one household or machine has."""
    try:
        told = ipaddress.ip_address(address)
    except ValueError:
        return address
    if told.version == 4:
        return address
    return str(ipaddress.ip_network((int(told) >> 64 << 64, 64)))


class BoundedProtocol(H11Protocol):
    """Uvicorn's HTTP, which closes connections that say nothing, and takes no more than it can."""

    header_seconds = HEADER_SECONDS
    most_connections = MOST_CONNECTIONS
    _head: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Take a connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            _log.warning("A connection was refused: there are %d.", len(self.connections) - 1)
            self._refuse(503, "There are too many connections. Try again in a moment.")
            return
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """Read on; a head that is whole stops its clock."""
        if self.transport.is_closing():
            return
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._stop_waiting()
        elif self._head is None and before is not None and before.response_complete:
            self._wait_for_head()  # the next request's has begun; until then keep-alive counts

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the clock."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        """Start the clock of a request's head."""
        self._stop_waiting()
        self._head = self.loop.call_later(self.header_seconds, self._too_slow)

    def _stop_waiting(self) -> None:
        """Stop the clock."""
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _too_slow(self) -> None:
        """No head came in time."""
        if self.cycle is None or self.cycle.response_complete:
            self._refuse(408, "The request took too long.")

    def _refuse(self, status: int, text: str) -> None:
        """Say why, and close."""
        phrase = {408: "Request Timeout", 503: "Service Unavailable"}[status]
        body = text.encode()
        head = (
            f"HTTP/1.1 {status} {phrase}\r\ncontent-type: text/plain; charset=utf-8\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
