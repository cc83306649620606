"""What every request passes first: host, origin, size; and what every response carries.

Rules of this file:
- The names by which the page may be called are those of this machine: another name that leads
  here (DNS rebinding) is refused.
- Who calls is on this machine, too, by the address that the server tells and without the headers
  by which a proxy forwards others; unless `public_hosts` says that somebody else lets people in.
- A request that changes something must come from the page itself, by its Origin where the browser
  sends one, and by a token that is in a cookie and in the form. The token lives in the browser, so
  that a form filled in before the server was started anew is still taken.
"""

import ipaddress
import logging
import re
import secrets
from urllib.parse import urlsplit

from fastapi import HTTPException, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADERS", "LOOPBACK", "MOST_BYTES", "Guard", "check_token"]

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
_log = logging.getLogger("askmeans.web")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
_DIGITS = re.compile(r"[0-9]{1,10}")


class Guard:
    """The middleware around the whole application."""

    def __init__(self, app: ASGIApp, public_hosts: frozenset[str] = frozenset()) -> None:
        self._app = app
        self._public = public_hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on with a token; add the headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        token = _token_of(headers)
        fresh = token is None
        if token is None:
            token = secrets.token_urlsafe(32)
        scope.setdefault("state", {})["token"] = token
        scope["state"]["cookie_token"] = None if fresh else token

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    answer.setdefault(name, value)
                answer.setdefault("cache-control", "no-store")
                if fresh:
                    answer.append(
                        "set-cookie", f"{TOKEN_COOKIE}={token}; Path=/; HttpOnly; SameSite=Lax"
                    )
            await send(message)

        refusal = None if self._public else _stranger(scope, headers)
        refusal = refusal or _refusal(scope["method"], headers, LOOPBACK | self._public)
        if refusal is not None:
            await refusal(scope, receive, send_with_headers)
            return
        await self._app(scope, _limited(receive), send_with_headers)


def check_token(request: Request, told: str | None) -> None:
    """Refuse what does not carry the token of its own cookie."""
    kept = request.state.cookie_token
    if kept is None or told is None or not secrets.compare_digest(kept.encode(), told.encode()):
        raise HTTPException(403, "This form is not of this page any more. Reload, and try again.")


def _stranger(scope: Scope, headers: Headers) -> PlainTextResponse | None:
    """Refuse who is not on this machine, or speaks for somebody else."""
    address = (scope.get("client") or ("",))[0]
    forwarded = [name for name in FORWARDED if name in headers]
    if _is_loopback(address) and not forwarded:
        return None
    got = f"the header {forwarded[0]!r}" if forwarded else f"the address {address!r}"
    _log.warning(
        "A client must be on this machine, and not be forwarded. Got %s; where a server of your "
        "own signs people in, create_app(..., public_hosts=[...]) lets them in.", got,
    )  # fmt: skip
    return PlainTextResponse("This page is for this machine only.", 403)


def _is_loopback(address: str) -> bool:
    """Whether an address is of this machine itself; what is none (a socket's path) is not."""
    try:
        told = ipaddress.ip_address(address)
    except ValueError:
        return False
    return (getattr(told, "ipv4_mapped", None) or told).is_loopback


def _refusal(method: str, headers: Headers, hosts: frozenset[str]) -> PlainTextResponse | None:
    """Why a request is not let in."""
    host = headers.get("host", "")
    if _hostname(host) not in hosts:
        return PlainTextResponse("This page is for this machine only: use http://127.0.0.1.", 400)
    if method in _SAFE:
        return None
    origin = headers.get("origin")
    try:
        foreign = origin is not None and urlsplit(origin).netloc.lower() != host.lower()
    except ValueError:  # such as http://[
        return PlainTextResponse("The header Origin must be an address.", 400)
    if foreign or headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return PlainTextResponse("Only this page itself may send this.", 403)
    length = headers.get("content-length", "0")
    if not _DIGITS.fullmatch(length) or int(length) > MOST_BYTES:
        return PlainTextResponse(f"A request must have at most {MOST_BYTES} bytes.", 413)
    return None


def _limited(receive: Receive) -> Receive:
    """Receive no more bytes than allowed, whatever was announced."""
    seen = 0

    async def limited() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MOST_BYTES:
            raise HTTPException(413, f"A request must have at most {MOST_BYTES} bytes.")
        return message

    return limited


def _hostname(host: str) -> str:
    """The name in a Host header, without the port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _token_of(headers: Headers) -> str | None:
    """The token in the cookie, if there is one; whatever other pages of this machine have set."""
    kept = cookie_parser(headers.get("cookie", "")).get(TOKEN_COOKIE, "")
    return kept if _TOKEN.fullmatch(kept) else None
