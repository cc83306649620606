"""How much one client may ask for: requests per second, connections, and time to send them."""

import asyncio
import ipaddress
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["BODY_SECONDS", "HEADER_SECONDS", "MOST_CONNECTIONS", "MOST_HEADER_BYTES",
           "BoundedProtocol", "RateLimit",
           "neighbourhood"]  # fmt: skip

BODY_SECONDS = 20.0  # for 64 KiB: a slow telephone takes a second
HEADER_SECONDS = 10.0  # from the connection, or the last answer, to a whole request's head
WRITE_SECONDS = 60.0  # for the 48 KiB after which there is room for more: 1 KiB a second will do
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
    """Uvicorn's HTTP, which closes connections that say nothing, and takes no more than it can.

    Where there are too many, whoever has most gives one up for somebody who has fewer.
    """

    header_seconds = HEADER_SECONDS
    write_seconds = WRITE_SECONDS
    most_connections = MOST_CONNECTIONS
    _head: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Take a connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.most_connections and not self._make_room():
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
        """Forget the clocks."""
        self._stop_waiting()
        self._stop_pressing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not read what it asked for: not for ever."""
        super().pause_writing()
        self._press()

    def resume_writing(self) -> None:
        """The client reads on."""
        self._stop_pressing()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close, also where the client has not read all of the last answer."""
        super().timeout_keep_alive_handler()
        self._press()

    def _unsupported_upgrade_warning(self) -> None:
        """There are no websockets: who asks for one is answered as others are."""

    @property
    def neighbourhood(self) -> str:
        """Who is at the other end, as limits have it."""
        return neighbourhood(self.client[0] if self.client else "")

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _make_room(self) -> bool:
        """End a connection of whoever has most of them, if they have more than this one's."""
        there: list[BoundedProtocol] = list(self.connections)  # type: ignore[arg-type]  # all are ours
        count = Counter(each.neighbourhood for each in there if not each.transport.is_closing())
        busiest, most = count.most_common(1)[0]
        if most <= count[self.neighbourhood]:
            return False
        theirs = [e for e in there if e.neighbourhood == busiest and not e.transport.is_closing()]
        _log.warning("A connection of %s was ended: it has %d.", busiest, most)
        max(theirs, key=lambda each: each.is_idle).transport.abort()
        return True

    def _press(self) -> None:
        """Start the clock of what the client has not read."""
        self._stop_pressing()
        self._unread = self.loop.call_later(self.write_seconds, self.transport.abort)

    def _stop_pressing(self) -> None:
        """Stop it."""
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

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
        if self.is_idle:
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
        self._press()
