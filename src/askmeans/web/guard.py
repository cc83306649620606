"""What every request passes first: host, origin, size, rate; and what every response carries.

Rules of this file:
- The names by which the page may be called are those of this machine: another name that leads
  here (DNS rebinding) is refused.
- Who calls is on this machine, too, by the address that the server tells and without the headers
  by which a proxy forwards others.
- Both do not hold where `public_hosts` are named: then the names are those, all is encrypted, and
  cookies are `Secure` and of this host alone (`__Host-`).
- A request that changes something must come from the page itself, by its Origin where the browser
  sends one, and by a token that is in a cookie and in the form. The token lives in the browser, so
  that a form filled in before the server was started anew is still taken.
- Behind a proxy, who calls and how is what the proxy tells; nobody else is believed.
Who somebody is comes after: `signin.py`.
"""

import asyncio
import ipaddress
import logging
import re
import secrets
from collections.abc import Sequence
from urllib.parse import urlsplit

from fastapi import HTTPException, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askmeans.exceptions import ParameterError
from askmeans.web.limits import BODY_SECONDS, MOST_HEADER_BYTES, RateLimit, neighbourhood

__all__ = ["HEADERS", "LOOPBACK", "MOST_BYTES", "Forwarded", "Guard", "as_networks", "check_token",
           "cookie_name", "is_loopback", "set_cookie"]  # fmt: skip

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
MOST_BYTES = 64 * 1024
_TOO_LARGE = f"This is too long to be sent at once: at most {MOST_BYTES:,} bytes. Shorten it."
TOKEN_COOKIE = "askmeans_token"
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto",
             "x-forwarded-port", "x-real-ip", "via")  # fmt: skip
HEALTH = "/healthz"
# For a year browsers call a name encrypted only: where we hold its certificate. Behind a proxy that
# is up to the proxy.
TRANSPORT = ("strict-transport-security", "max-age=31536000")
# A class of 60 behind one address that all turn a page with pictures at once, and then go on.
ADDRESS_RATE, ADDRESS_BURST = 200.0, 3000.0
_log = logging.getLogger("askmeans.web")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(:[0-9]{1,5})?")
_DIGITS = re.compile(r"[0-9]{1,10}")


class Guard:
    """The middleware around the whole application."""

    def __init__(self, app: ASGIApp, public_hosts: frozenset[str] = frozenset()) -> None:
        self._app = app
        self._public = public_hosts
        self._addresses = RateLimit(ADDRESS_RATE, ADDRESS_BURST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on with a token; add the headers."""
        if scope["type"] == "websocket":  # there are none
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        state = scope.setdefault("state", {})
        state["secure"] = bool(self._public)
        name = cookie_name(TOKEN_COOKIE, secure=state["secure"])
        # Whatever other pages of this machine have set.
        token = cookie_parser(headers.get("cookie", "")).get(name, "")
        fresh = not _TOKEN.fullmatch(token)
        if fresh:
            token = secrets.token_urlsafe(32)
        state["token"] = token
        state["cookie_token"] = None if fresh else token

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                for header, value in HEADERS.items():
                    answer.setdefault(header, value)
                answer.setdefault("cache-control", "no-store")
                if self._encrypts(scope, headers):
                    answer.setdefault(*TRANSPORT)
                if fresh:
                    own = set_cookie(TOKEN_COOKIE, token, secure=state["secure"])
                    answer.append("set-cookie", own)
                if state["secure"]:
                    message["headers"] = [_secured(*header) for header in message["headers"]]
            await send(message)

        refusal = (
            _too_long(scope)
            or self._stranger(scope, headers)
            or self._misnamed(headers)
            or _refusal(scope["method"], headers)
        )
        if refusal is not None:
            await refusal(scope, receive, send_with_headers)
            return
        await self._app(scope, _limited(receive), send_with_headers)

    def _encrypts(self, scope: Scope, headers: Headers) -> bool:
        """Whether a request came encrypted to this server itself, by a name of its own."""
        direct = scope["scheme"] == "https" and "proxy_trouble" not in scope["state"]
        return direct and _hostname(headers.get("host", "")) in self._public

    def _stranger(self, scope: Scope, headers: Headers) -> PlainTextResponse | None:
        """Refuse who may not call at all, by address, way and number of calls."""
        address = (scope.get("client") or ("",))[0]
        if not self._public:
            return _elsewhere(address, headers)
        if scope["path"] == HEALTH and is_loopback(address):
            return None  # whoever watches over the server asks from beside it
        if trouble := scope["state"].get("proxy_trouble"):
            _log.warning("%s", trouble)
            return PlainTextResponse("This page must be called through its proxy.", 403)
        if scope["scheme"] != "https":
            return PlainTextResponse("This page is encrypted: use https://.", 403)
        if not self._addresses.allows(neighbourhood(address)):
            return PlainTextResponse(
                "Too many requests from your address. Try again in a moment.", 429,
                headers={"retry-after": "1"},
            )  # fmt: skip
        return None

    def _misnamed(self, headers: Headers) -> PlainTextResponse | None:
        """Refuse a name that is none of the page's."""
        if _hostname(headers.get("host", "")) in LOOPBACK | self._public:
            return None
        told = "This page is for this machine only: use http://127.0.0.1."
        if self._public:
            told = "This page has another name. Use the address that you were given."
        return PlainTextResponse(told, 400)


def cookie_name(name: str, *, secure: bool) -> str:
    """A cookie's name; browsers take `__Host-` from this host alone, encrypted, for all paths."""
    return f"__Host-{name}" if secure else name


def set_cookie(name: str, value: str, *, secure: bool, seconds: int | None = None) -> str:
    """The header that sets a cookie, which scripts do not see; 0 seconds removes it."""
    age = "" if seconds is None else f"; Max-Age={seconds}"
    named = cookie_name(name, secure=secure)
    return f"{named}={value}; Path=/; HttpOnly; SameSite=Lax{age}{'; Secure' if secure else ''}"


def _secured(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """A header; a cookie for encrypted connections only, whoever set it."""
    if name.lower() == b"set-cookie" and not value.endswith(b"; Secure"):
        value += b"; Secure"
    return name, value


def check_token(request: Request, told: str | None) -> None:
    """Refuse what does not carry the token of its own cookie.

    A program that signs in by a header needs none: no other site can send that.
    """
    if getattr(request.state, "by_header", False):
        return
    kept = request.state.cookie_token
    if kept is None or told is None or not secrets.compare_digest(kept.encode(), told.encode()):
        raise HTTPException(403, "This form is not of this page any more. Reload, and try again.")


def _too_long(scope: Scope) -> PlainTextResponse | None:
    """Refuse a long head; the server's own limit is for one that comes in pieces."""
    size = len(scope.get("raw_path") or b"") + len(scope.get("query_string", b""))
    size += sum(len(name) + len(value) + 4 for name, value in scope["headers"])
    if size <= MOST_HEADER_BYTES:
        return None
    return PlainTextResponse(f"A request's head must have at most {MOST_HEADER_BYTES} bytes.", 431)


def _elsewhere(address: str, headers: Headers) -> PlainTextResponse | None:
    """Refuse who is not on this machine, or speaks for somebody else."""
    forwarded = [name for name in FORWARDED if name in headers]
    if is_loopback(address) and not forwarded:
        return None
    got = f"the header {forwarded[0]!r}" if forwarded else f"the address {address!r}"
    _log.warning(
        "A client must be on this machine, and not be forwarded. Got %s; `askmeans serve "
        "--public-host NAME` or create_app(..., public_hosts=[...]) lets others in.", got,
    )  # fmt: skip
    return PlainTextResponse("This page is for this machine only.", 403)


def is_loopback(address: str) -> bool:
    """Whether an address is of this machine itself; what is none (a socket's path) is not."""
    try:
        told = ipaddress.ip_address(address)
    except ValueError:
        return False
    return (getattr(told, "ipv4_mapped", None) or told).is_loopback


def _refusal(method: str, headers: Headers) -> PlainTextResponse | None:
    """Why a request is not let in."""
    if method in _SAFE:
        return None
    host, origin = headers.get("host", ""), headers.get("origin")
    try:
        foreign = origin is not None and urlsplit(origin).netloc.lower() != host.lower()
    except ValueError:  # such as http://[
        return PlainTextResponse("The header Origin must be an address.", 400)
    if foreign or headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return PlainTextResponse("Only this page itself may send this.", 403)
    length = headers.get("content-length", "0")
    if not _DIGITS.fullmatch(length) or int(length) > MOST_BYTES:
        return PlainTextResponse(_TOO_LARGE, 413)
    return None


def _limited(receive: Receive) -> Receive:
    """Receive no more bytes than allowed, whatever was announced, and in time."""
    seen, complete = 0, False
    end = asyncio.get_running_loop().time() + BODY_SECONDS

    async def limited() -> Message:
        nonlocal seen, complete
        if complete:  # what comes now is that the client has gone, whenever that is
            return await receive()
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, "Sending took too long. Try again.") from None
        seen += len(message.get("body", b""))
        if seen > MOST_BYTES:
            raise HTTPException(413, _TOO_LARGE)
        complete = not message.get("more_body", False)
        return message

    return limited


def _hostname(host: str) -> str:
    """The name in a Host header, without the port; none where there is more, such as a path."""
    found = _HOST.fullmatch(host)
    return found[1].strip("[]").lower() if found else ""


Networks = tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]


class Forwarded:
    """The outermost middleware: puts the client that a trusted proxy names into its place.

    Of X-Forwarded-For the last address counts: the proxy added it, what is before may be invented.
    """

    def __init__(self, app: ASGIApp, proxies: Networks = ()) -> None:
        self._app = app
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with its client, or with what the guard shall say of it."""
        if scope["type"] == "http" and self._proxies:
            scope.setdefault("state", {})["proxy_trouble"] = self._believe(scope)
        await self._app(scope, receive, send)

    def _believe(self, scope: Scope) -> str | None:
        """Take what a proxy says; why not, where it is none or says too little."""
        peer = _address((scope.get("client") or ("",))[0])
        if peer is None or not any(peer in network for network in self._proxies):
            return f"A request must come from the proxy. Got one from {peer}; see --proxy-address."
        headers = Headers(scope=scope)
        told = ",".join(headers.getlist("x-forwarded-for")).rpartition(",")[2].strip()
        client = _address(told)
        if client is None or "x-forwarded-proto" not in headers:
            return (
                "The proxy must send X-Forwarded-For with the client's address and "
                f"X-Forwarded-Proto. Got a request from {peer} without; see docs/security.md."
            )
        ways = ",".join(headers.getlist("x-forwarded-proto")).rpartition(",")[2].strip().lower()
        scope["scheme"] = "https" if ways == "https" else "http"
        scope["client"] = (str(client), 0)
        return None


def as_networks(proxies: Sequence[str]) -> Networks:
    """Addresses of proxies, as they are compared."""
    try:
        if isinstance(proxies, str):
            raise ValueError
        return tuple(ipaddress.ip_network(proxy) for proxy in proxies)
    except ValueError:
        raise ParameterError(
            "The 'proxies' parameter of web.create_app must be a list of addresses or networks, "
            f"such as ['127.0.0.1', '172.16.0.0/12']. Got {proxies!r} instead."
        ) from None


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An address; None where it is none."""
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found
