"""What operators see: a line for every request, as JSON; no answer, no token, nobody's name.

Rules of this file:
- A request is told by its method and path, never by its query, headers, cookies or body.
- Of an exception its type and its place in the code are told, not its message: that may quote.
"""

import json
import logging
import sys
import time
import traceback
from datetime import UTC, datetime
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askmeans.sessions.clients import from_client

__all__ = ["RequestLog", "log_as_json"]

_log = logging.getLogger("askmeans.requests")
_TOLD = ("method", "path", "status", "ms", "address")


class RequestLog:
    """The outermost middleware: tells of each request, and tells events where they come from."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and tell how it went."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500
        address = (scope.get("client") or ("here",))[0]

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            with from_client(f"page from {address}"):
                await self._app(scope, receive, noting)
        finally:
            told = (scope["method"], scope["path"], status,
                    round(1000.0 * (time.perf_counter() - began), 1), address)  # fmt: skip
            _log.info("request", extra=dict(zip(_TOLD, told, strict=True)))


class _Lines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in _TOLD if hasattr(record, name)}
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])
            line["where"] = [f"{f.filename}:{f.lineno} {f.name}" for f in frames]
        return json.dumps(line, default=str)


def log_as_json() -> None:
    """Write all that is logged, requests among it, to standard error as lines of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    _log.setLevel(logging.INFO)
