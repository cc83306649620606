"""Who sent a request, by a token in a link, a cookie or a header; and what they may do.

Rules of this file:
- Open to all are the page that says how to come in, static files, and the health check.
- A token in an address is used once: the response sets a cookie and leads to the address without
  it.
- Annotators may do what is listed here; what is not listed, and what will be added, is for owners.
- The token is looked up with every request, so that a revoked one ends at once; the invitation is
  checked again in each write (`People.acting_as`), since a request may take its time.
"""

import hashlib
import re
from contextlib import ExitStack
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from askmeans.exceptions import AskmeansError
from askmeans.sessions import Person, Session
from askmeans.web.context import AppContext, is_api
from askmeans.web.forms import SentForm, is_script
from askmeans.web.guard import cookie_name, set_cookie
from askmeans.web.limits import rate_limit_key

__all__ = ["SignIn", "add_signin", "cookie_of", "refuse_ended"]

OPEN = frozenset({"/signin", "/healthz"})
ANNOTATORS = frozenset({
    "/", "/welcome", "/answer", "/undo", "/stop", "/renew", "/leave", "/name", "/practice",
    "/history", "/help", "/signout", "/api/openapi.json", "/api/status", "/api/ask",
    "/api/answers", "/api/undo", "/api/history",
})  # fmt: skip
RESULTS = frozenset({"/results", "/results/part", "/find", "/api/result"})  # if the owner allows it
_LINK = re.compile(r"[?&]token=([\w-]*)", re.ASCII)  # with any other parameters
_DAYS = 400  # the most that browsers keep a cookie; the token may end before
_WRONG = "This link or token is not valid any more, or never was. Ask for a new one."
_SIGNED_OUT = (
    "You are not signed in here any more: you signed out, or your link ended. Nothing was saved. "
    "Open your link again, or ask for a new one."
)
_NO_TOKEN = "Sign in first: with the cookie of the page, or with the header Authorization: Bearer."


def cookie_of(session: Session) -> str:
    """The name of the cookie: two sessions on one machine, at two ports, share all cookies."""
    identity = (session.name, session.fingerprint, session.config.seed)
    return f"askmeans_signin_{hashlib.sha256(repr(identity).encode()).hexdigest()[:12]}"


class SignIn:
    """The middleware inside the guard: no request goes further without a token."""

    def __init__(self, app: ASGIApp, context: AppContext) -> None:
        self._app = app
        self._context = context
        self._cookie = cookie_of(context.session)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request with the person who sent it, or refuse it."""
        path = scope.get("path", "")
        if scope["type"] != "http" or path in OPEN or path.startswith("/static/"):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        try:
            refusal = await self._refusal(request)
        except AskmeansError as error:  # the database cannot be reached
            refusal = self._context.failure(request, error)
        session = self._context.session
        with ExitStack() as stack:
            stack.enter_context(session.reading_once())
            person = getattr(request.state, "person", None)
            if person is not None:
                stack.enter_context(session.people.acting_as(person))
            await (refusal or self._app)(scope, receive, send)

    async def _refusal(self, request: Request) -> Response | None:
        """Why a request goes no further, or where it is redirected."""
        token = None if is_api(request) else request.query_params.get("token")
        if token is not None and request.method in ("GET", "HEAD"):
            return await self._come_in(request, token)
        person = await self._person(request)
        if person is None:
            return _refuse_unknown(request)
        if not self._context.requests_of_people.allows(person.name):
            response = _refuse(request, 429, "Too many requests. Try again in a moment.")
            response.headers["retry-after"] = "1"
            return response
        request.state.person = person
        if person.role != "owner" and not await run_in_threadpool(self._may, request):
            text = "This is for owners of the session. Ask one of them."
            return await run_in_threadpool(self._context.refusal, request, 403, text)
        return None

    async def _person(self, request: Request) -> Person | None:
        """Who sent a request, by a header or a cookie."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        request.state.by_header = scheme.lower() == "bearer"
        if not request.state.by_header:
            token = request.cookies.get(cookie_name(self._cookie, secure=request.state.secure), "")
        return await self._person_of(request, token.strip()) if token else None

    async def _person_of(self, request: Request, token: str) -> Person | None:
        """Whose token it is; a client that tries many wrong ones must wait."""
        person = await run_in_threadpool(self._context.session.people.person_of, token)
        if person is None and not self._context.failed_signins.allows(_client(request)):
            request.state.too_many = True
        return person

    async def _come_in(self, request: Request, token: str) -> Response:
        """Take the token of a link, and lead to the same address without it."""
        person = await self._person_of(request, token)
        if person is None and await self._person(request) is None:
            return _refuse_unknown(request, is_wrong=True)
        rest = [pair for pair in request.query_params.multi_items() if pair[0] != "token"]
        path = quote(request.scope["path"])
        path = f"/{path.lstrip('/')}"  # never to //another.example
        if path == "/" and not rest and person is not None:
            path = await run_in_threadpool(_first_page, self._context.session, person)
        response = RedirectResponse(path + (f"?{urlencode(rest)}" if rest else ""), 303)
        if person is not None:
            _set_token(request, response, self._cookie, token)
        response.headers["referrer-policy"] = "no-referrer"
        return response

    def _may(self, request: Request) -> bool:
        """Whether an annotator may go there."""
        path = str(request.scope["path"])  # as it is routed; `url` depends on the header Host, too
        if path in ANNOTATORS or path.startswith(("/image/", "/api/items/")):
            return True
        if path in RESULTS or path.startswith("/items/"):
            return self._context.sees_results(request)
        return False


def add_signin(router: APIRouter, context: AppContext) -> None:
    """The page that says how to come in, and signing out."""
    cookie, people = cookie_of(context.session), context.session.people

    @router.get("/signin")
    def signin(request: Request, wrong: bool = False) -> Response:
        return _page(context, request, _WRONG if wrong else "")

    @router.post("/signin")
    def sign_in(request: Request, form: SentForm) -> Response:
        """A link or its token, pasted."""
        text = form.text("link")
        link = _LINK.search(text)
        token = text if link is None else link[1]
        person = people.person_of(token)
        if person is None:
            allowed = context.failed_signins.allows(_client(request))
            return _page(context, request, _WRONG, 401 if allowed else 429)
        response = RedirectResponse(_first_page(context.session, person), 303)
        _set_token(request, response, cookie, token)
        return response

    @router.post("/signout")
    def sign_out(request: Request, form: SentForm) -> Response:  # noqa: ARG001 - its token counts
        response = RedirectResponse("/signin", 303)
        header = set_cookie(cookie, "", secure=request.state.secure, seconds=0)
        response.headers.append("set-cookie", header)
        return response


def refuse_ended(context: AppContext, request: Request, text: str) -> Response:
    """A refusal where the invitation ended during the request."""
    if is_api(request) or is_script(request):
        return _refuse(request, 401, text)
    return _page(context, request, text, 401)


def _first_page(session: Session, person: Person) -> str:
    """Where a person goes who comes in: first to the welcome, if they have not answered yet."""
    return "/" if session.history.answers(annotator=person.name) else "/welcome"


def _page(context: AppContext, request: Request, trouble: str, status: int = 200) -> Response:
    """How to come in."""
    return context.page(request, "signin.html", status_code=status, trouble=trouble)


def _set_token(request: Request, response: Response, cookie: str, token: str) -> None:
    """Keep a token in the browser, where scripts do not see it."""
    seconds = _DAYS * 24 * 3600
    header = set_cookie(cookie, token, secure=request.state.secure, seconds=seconds)
    response.headers.append("set-cookie", header)


def _refuse_unknown(request: Request, *, is_wrong: bool = False) -> Response:
    """A refusal without a valid token: 401 to programs and scripts, a page to people."""
    if getattr(request.state, "too_many", False):
        return _refuse(request, 429, "Too many wrong tokens. Try again in a minute.")
    if is_api(request) or is_script(request):
        response = _refuse(request, 401, _NO_TOKEN if is_api(request) else _SIGNED_OUT)
        response.headers["www-authenticate"] = "Bearer"
        return response
    return RedirectResponse("/signin?wrong=1" if is_wrong else "/signin", 303)


def _refuse(request: Request, status: int, text: str) -> Response:
    """A refusal in a sentence."""
    if is_api(request):
        return JSONResponse({"detail": text}, status)
    return PlainTextResponse(text, status)


def _client(request: Request) -> str:
    """The client of a request, as limits count it."""
    return rate_limit_key(request.client.host if request.client else "")
