"""What every request passes first: address, host, origin, size, rate; and headers of responses.

Rules of this file:
- By default clients are on this machine and not forwarded by a proxy, and they call the page by one
  of this machine's names: another name that leads here (DNS rebinding) is refused.
- With `public_hosts` the names are those, every request is encrypted, and cookies are `Secure` and
  of this host alone (`__Host-`).
- With `proxies`, uvicorn's ProxyHeadersMiddleware has put the client that a trusted proxy names in
  place of the proxy before a request comes here. Without a trusted proxy a request stays
  unencrypted, so it is refused.
- A request that changes something must come from the page itself: by its Origin, where the browser
  sends one, and by a token that is in a cookie and in the form. The token lives in the browser, so
  a form that was filled in before the server restarted is accepted.
Who the client is comes after: `signin.py`.
"""

import asyncio
import ipaddress
import logging
import re
import secrets
from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from fastapi import HTTPException, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as ASGIMessage

from askmeans._util.message import Message
from askmeans.web.limits import BODY_SECONDS, MOST_HEADER_BYTES, RateLimit, rate_limit_key

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
MOST_BYTES = 64 * 1024
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
    """The middleware around the application."""

    def __init__(
        self,
        app: ASGIApp,
        public_hosts: frozenset[str] = frozenset(),
        *,
        is_proxied: bool = False,
        uploads: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self._app = app
        self._public_hosts = public_hosts
        self._is_proxied = is_proxied
        self._uploads = uploads  # paths that take files, and the most bytes of each
        self._addresses = RateLimit(ADDRESS_RATE, ADDRESS_BURST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on with a token; add headers to the response."""
        if scope["type"] == "websocket":  # there are none
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        is_secure = bool(self._public_hosts)
        name = cookie_name(TOKEN_COOKIE, secure=is_secure)
        # The header may hold anything that other pages of this machine have set.
        token = cookie_parser(headers.get("cookie", "")).get(name, "")
        is_new = not _TOKEN.fullmatch(token)
        if is_new:
            token = secrets.token_urlsafe(32)
        scope.setdefault("state", {}).update(
            secure=is_secure, token=token, cookie_token=None if is_new else token
        )

        async def send_with_headers(message: ASGIMessage) -> None:
            if message["type"] == "http.response.start":
                response = MutableHeaders(scope=message)
                for header, value in HEADERS.items():
                    response.setdefault(header, value)
                response.setdefault("cache-control", "no-store")
                if self._has_certificate(scope, headers):
                    response.setdefault(*TRANSPORT)
                if is_new:
                    response.append("set-cookie", set_cookie(TOKEN_COOKIE, token, secure=is_secure))
                if is_secure:
                    message["headers"] = [_secured(*header) for header in message["headers"]]
            await send(message)

        most = self._uploads.get(scope["path"], MOST_BYTES)
        refusal = (
            _refuse_long_head(scope)
            or self._refuse_client(scope, headers)
            or self._refuse_host(headers)
            or _refuse_foreign_form(scope["method"], headers, most)
        )
        if refusal is not None:
            await refusal(scope, receive, send_with_headers)
            return
        await self._app(scope, limited_receive(receive, most), send_with_headers)

    def _has_certificate(self, scope: Scope, headers: Headers) -> bool:
        """Whether a request came encrypted to this server itself, by one of its names."""
        direct = scope["scheme"] == "https" and not self._is_proxied
        return direct and hostname(headers.get("host", "")) in self._public_hosts

    def _refuse_client(self, scope: Scope, headers: Headers) -> PlainTextResponse | None:
        """Refuse a client by its address, encryption or number of requests."""
        address = (scope.get("client") or ("",))[0]
        if not self._public_hosts:
            return _refuse_remote(address, headers)
        if scope["path"] == HEALTH and is_loopback(address) and scope["scheme"] != "https":
            return None  # a monitor beside the server, past the proxy
        if scope["scheme"] != "https":
            if self._is_proxied:
                _log.warning(
                    "A request must come from the address --proxy-address, with X-Forwarded-For "
                    "and X-Forwarded-Proto: https. Got one from %s; see docs/security.md.", address,
                )  # fmt: skip
            return PlainTextResponse("This page is encrypted: use https://.", 403)
        forwarded_for = headers.get("x-forwarded-for", "").strip()
        if self._is_proxied and not (forwarded_for and _is_address(address)):
            _log.warning("The proxy must send X-Forwarded-For with the client's address.")
            return PlainTextResponse("This page must be called through its proxy.", 403)
        if not self._addresses.allows(rate_limit_key(address)):
            return PlainTextResponse(
                "Too many requests from your address. Try again in a moment.", 429,
                headers={"retry-after": "1"},
            )  # fmt: skip
        return None

    def _refuse_host(self, headers: Headers) -> PlainTextResponse | None:
        """Refuse a name that is not the page's."""
        if hostname(headers.get("host", "")) in LOOPBACK | self._public_hosts:
            return None
        text = "This page is for this machine only: use http://127.0.0.1."
        if self._public_hosts:
            text = "This page has another name. Use the address that you were given."
        return PlainTextResponse(text, 400)


def cookie_name(name: str, *, secure: bool) -> str:
    """A cookie's name; browsers take `__Host-` from this host alone, encrypted, for all paths."""
    return f"__Host-{name}" if secure else name


def set_cookie(name: str, value: str, *, secure: bool, seconds: int | None = None) -> str:
    """The header that sets a cookie, which scripts do not see; 0 seconds removes it."""
    age = "" if seconds is None else f"; Max-Age={seconds}"
    full_name = cookie_name(name, secure=secure)
    return f"{full_name}={value}; Path=/; HttpOnly; SameSite=Lax{age}{'; Secure' if secure else ''}"


def _secured(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """A header; a cookie for encrypted connections only, whoever set it."""
    if name.lower() == b"set-cookie" and not value.endswith(b"; Secure"):
        value += b"; Secure"
    return name, value


def check_token(request: Request, token: str | None) -> None:
    """Refuse a request without the token of its own cookie.

    A program that signs in by a header needs none: no other site can send that.
    """
    if getattr(request.state, "by_header", False):
        return
    cookie = request.state.cookie_token
    if (
        cookie is None
        or token is None
        or not secrets.compare_digest(cookie.encode(), token.encode())
    ):
        raise HTTPException(
            403, Message("This form is not of this page any more. Reload, and try again.")
        )


def _refuse_long_head(scope: Scope) -> PlainTextResponse | None:
    """Refuse a long head; the server's own limit is for one that comes in pieces."""
    size = len(scope.get("raw_path") or b"") + len(scope.get("query_string", b""))
    size += sum(len(name) + len(value) + 4 for name, value in scope["headers"])
    if size <= MOST_HEADER_BYTES:
        return None
    return PlainTextResponse(f"A request's head must have at most {MOST_HEADER_BYTES} bytes.", 431)


def _refuse_remote(address: str, headers: Headers) -> PlainTextResponse | None:
    """Refuse a client that is not on this machine, or is forwarded."""
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
    """Whether an address is of this machine; the path of a Unix socket is not."""
    if not _is_address(address):
        return False
    parsed = ipaddress.ip_address(address)
    return (getattr(parsed, "ipv4_mapped", None) or parsed).is_loopback


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _refuse_foreign_form(method: str, headers: Headers, most: int) -> PlainTextResponse | None:
    """Refuse a change that another page sends, or that is too long."""
    if method in _SAFE:
        return None
    host, origin = headers.get("host", ""), headers.get("origin")
    try:
        is_foreign = origin is not None and urlsplit(origin).netloc.lower() != host.lower()
    except ValueError:  # such as http://[
        return PlainTextResponse("The header Origin must be an address.", 400)
    if is_foreign or headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return PlainTextResponse("Only this page itself may send this.", 403)
    length = headers.get("content-length", "0")
    if not _DIGITS.fullmatch(length) or int(length) > most:
        return PlainTextResponse(_too_large(most), 413)
    return None


def _too_large(most: int) -> str:
    """What is said of a body that is too long."""
    if most > MOST_BYTES:
        return Message(
            "This file is too large: at most {most} MB. Send a part of it.", most=most // 1_000_000
        )
    return Message(
        "This is too long to be sent at once: at most {most} bytes. Shorten it.", most=most
    )


def limited_receive(receive: Receive, most: int = MOST_BYTES) -> Receive:
    """Receive no more bytes than allowed, whatever was announced, and in time.

    A form must come within some seconds; of a file, each piece.
    """
    n_bytes, is_complete = 0, False
    clock = asyncio.get_running_loop().time
    end = clock() + BODY_SECONDS

    async def limited() -> ASGIMessage:
        nonlocal n_bytes, is_complete, end
        if is_complete:  # the next message is that the client has gone, whenever that is
            return await receive()
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, Message("Sending took too long. Try again.")) from None
        n_bytes += len(message.get("body", b""))
        if n_bytes > most:
            raise HTTPException(413, _too_large(most))
        if most > MOST_BYTES:
            end = clock() + BODY_SECONDS
        is_complete = not message.get("more_body", False)
        return message

    return limited


def hostname(host: str) -> str:
    """The name in a Host header, without the port; none where there is more, such as a path."""
    match = _HOST.fullmatch(host)
    return match[1].strip("[]").lower() if match else ""
