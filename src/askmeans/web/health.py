"""Whether the page can serve: `/healthz`, for whoever watches over it."""

import logging

from fastapi import FastAPI
from starlette.responses import JSONResponse, Response

from askmeans.exceptions import StoreError
from askmeans.sessions import Session

__all__ = ["add_health"]

_log = logging.getLogger("askmeans.web")


def add_health(app: FastAPI, session: Session) -> None:
    """Add the route: 200 where the database answers, 503 where it does not; and no more."""

    @app.get("/healthz", include_in_schema=False)
    def healthz() -> Response:
        try:
            session.last_event  # noqa: B018 - it is read from the database
        except StoreError as error:
            _log.error("/healthz %s", error)
            return JSONResponse({"status": "the database does not answer"}, 503)
        return JSONResponse({"status": "ok"})
