"""Logs for operators: a line of JSON for every request and error; no answer, token or name.

Rules of this file:
- Of a request its method and path are logged, never its query, headers, cookies or body.
- Of an exception its type and place in the code are logged, not its message: that may quote.
"""

import json
import logging
import sys
import time
import traceback
from datetime import UTC, datetime
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askmeans.sessions.authors import from_client

_log = logging.getLogger("askmeans.requests")
_FIELDS = ("method", "path", "status", "ms", "address")


class RequestLog:
    """The middleware that logs each request, and names the client in the session's log."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and log it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500
        address = (scope.get("client") or ("here",))[0]

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            with from_client(f"page from {address}"):
                await self._app(scope, receive, note_status)
        finally:
            ms = round(1000.0 * (time.perf_counter() - began), 1)
            values = (scope["method"], scope["path"], status, ms, address)
            _log.info("request", extra=dict(zip(_FIELDS, values, strict=True)))


class _JsonFormatter(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in _FIELDS if hasattr(record, name)}
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])
            line["where"] = [f"{f.filename}:{f.lineno} {f.name}" for f in frames]
        return json.dumps(line, default=str)


def log_as_json() -> None:
    """Write requests and whatever else is logged to standard error, as lines of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    _log.setLevel(logging.INFO)
