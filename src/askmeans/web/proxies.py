"""Behind a proxy: who calls and how, as the proxy tells it; nobody else is believed."""

import ipaddress
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from askmeans.exceptions import ParameterError

__all__ = ["Forwarded", "Networks", "as_networks"]

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
