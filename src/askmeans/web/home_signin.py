"""Who may see a folder of projects: the owner of the server, by its token, and nobody else.

The token stands in a link once, then in a cookie. Who is not signed in is led to the same sign-in
page, whether there is such a project or not.
"""

import hashlib
import re
import secrets
import time

from fastapi import HTTPException, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from askmeans._util.message import Message
from askmeans.queries import ME
from askmeans.sessions import Person
from askmeans.web.context import is_api
from askmeans.web.forms import is_script
from askmeans.web.guard import cookie_name
from askmeans.web.languages import localize
from askmeans.web.projects import PATH, Projects, root_of
from askmeans.web.signin import (
    COOKIE_SECONDS,
    Failure,
    count_wrong_token,
    expire_signins,
    presents_token,
    refuse_sender,
    set_signin_cookie,
)

_PUBLIC = re.compile(r"/healthz|(/p/[^/]+)?/(signin|static/.*)", re.DOTALL)


class HomeKey:
    """The token of a server, which identifies its owner by a cookie until it ends."""

    def __init__(self, token: str, projects: Projects, until: float) -> None:
        self._token = token
        self._until = until
        self._failed = projects.failed_signins
        digest = hashlib.sha256(str(projects.home).encode()).hexdigest()[:12]
        self._cookie = f"askmeans_home_{digest}"

    def fits(self, request: Request, token: str) -> bool:
        """Whether this is the token; a client with many wrong attempts must wait."""
        is_same = secrets.compare_digest(token.encode(), self._token.encode())
        if is_same and time.time() < self._until:
            return True
        is_wrong = bool(token) and not is_same
        if is_wrong and count_wrong_token(self._failed, request) is Failure.RATE_LIMITED:
            raise HTTPException(429, Message("Too many wrong tokens. Try again in a minute."))
        return False

    def is_in(self, request: Request) -> bool:
        """Whether the owner sent a request, by their cookie."""
        name = cookie_name(self._cookie, secure=request.state.secure)
        return self.fits(request, request.cookies.get(name, ""))

    def let_in(self, request: Request) -> Response:
        """Store the token in a cookie that scripts cannot read."""
        return self._redirect(request, "/", self._token, COOKIE_SECONDS)

    def sign_out(self, request: Request) -> Response:
        """Delete the cookie, and those of the projects."""
        response = self._redirect(request, "/signin", "", 0)
        expire_signins(request, response)
        return response

    def _redirect(self, request: Request, path: str, token: str, seconds: int) -> Response:
        response = RedirectResponse(path, 303, headers={"referrer-policy": "no-referrer"})
        set_signin_cookie(request, response, self._cookie, token, seconds)
        return response


class HomeSignIn:
    """The middleware that admits only the owner of the server."""

    def __init__(self, app: ASGIApp, key: HomeKey, projects: Projects) -> None:
        self._app = app
        self._key = key
        self._projects = projects

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request of the owner; redirect others to the sign-in page."""
        path = scope.get("path", "")
        response: Response | None = None
        if scope["type"] == "http" and not _PUBLIC.fullmatch(path):
            try:
                response = self._refusal(Request(scope))
            except HTTPException as error:
                response = PlainTextResponse(localize(error.detail), error.status_code)
        await (response or self._app)(scope, receive, send)

    def _refusal(self, request: Request) -> Response | None:
        """The redirect of a link with a token, or of a person who is not the owner."""
        token = request.query_params.get("token")
        if token is not None and request.method in ("GET", "HEAD"):
            if self._key.fits(request, token):
                return self._key.let_in(request)
            return self._no_project(request) or RedirectResponse("/signin?wrong=1", 303)
        if self._key.is_in(request):
            person = self._projects.person or ME
            request.state.person = Person(name=person, role="owner", invite=0)
            return None
        response = self._no_project(request)
        if response is not None:
            return response
        if is_script(request):
            return PlainTextResponse(
                localize(Message("You are not signed in here any more. Open your link.")), 401
            )
        return RedirectResponse("/signin", 303)

    def _no_project(self, request: Request) -> Response | None:
        """The refusal below the path of a project, as that of one that exists."""
        match = PATH.fullmatch(request.scope["path"])
        if match is None:
            return None
        if match[2] == "/healthz" and presents_token(request, match[2]):
            return JSONResponse({"status": "ok"})
        below = Request({**request.scope, "path": match[2]})
        by_link = "token" in request.query_params and not is_api(below)
        failure = Failure.UNKNOWN
        if request.headers.get("authorization", "").lower().startswith("bearer "):
            failure = count_wrong_token(self._projects.failed_signins, request)
        response = refuse_sender(below, failure, by_link=by_link)
        if "location" in response.headers:
            response.headers["location"] = root_of(match[1]) + response.headers["location"]
        return response
