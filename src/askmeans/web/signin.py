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
import time
from contextlib import ExitStack, suppress
from enum import Enum
from urllib.parse import quote, urlencode

from fastapi import APIRouter, HTTPException, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from askmeans._util.message import Message
from askmeans.exceptions import AskmeansError, StoreError
from askmeans.queries import ME
from askmeans.sessions import Person, Session
from askmeans.sessions.served import Served, recall, remember
from askmeans.web.context import AppContext, is_api, redirect
from askmeans.web.forms import SentForm, is_script
from askmeans.web.guard import cookie_name, set_cookie
from askmeans.web.languages import localize, prefer, speak
from askmeans.web.limits import RateLimit, rate_limit_key

PUBLIC_PATHS = frozenset({"/signin", "/healthz"})
ANNOTATOR_PATHS = frozenset({
    "/", "/welcome", "/answer", "/undo", "/stop", "/renew", "/leave", "/name", "/practice",
    "/history", "/history/change", "/help", "/signout", "/api/openapi.json", "/api/status",
    "/api/ask", "/api/answers", "/api/undo", "/api/history",
})  # fmt: skip
# Also for annotators if the owner shows them the results.
RESULT_PATHS = frozenset({"/results", "/results/part", "/items", "/find", "/api/result"})
TOKEN_IN_LINK = re.compile(r"[?&]token=([\w-]*)", re.ASCII)  # with any other parameters
_SIGNIN_COOKIE = re.compile(r"(__Host-)?askmeans_(home|signin)_[0-9a-f]{12}", re.ASCII)
_WEEK = 7 * 24 * 3600.0
COOKIE_SECONDS = 400 * 24 * 3600  # the most that browsers keep a cookie; the token may end before
INVALID_TOKEN = Message(
    "This link or token is not valid any more, or never was. Ask for a new one."
)
ENDED = Message(
    "Your link ended. What you answered is saved. Open a newer link of yours, or ask for one."
)
_SIGNED_OUT = Message(
    "You are not signed in here any more: you signed out, or your link ended. Nothing was saved. "
    "Open your link again, or ask for a new one."
)
_NO_TOKEN = "Sign in first: with the cookie of the page, or with the header Authorization: Bearer."


class Failure(Enum):
    """Why a request has no sender."""

    UNKNOWN = "no token, or a wrong one"
    ENDED = "a cookie of a link that ended"
    RATE_LIMITED = "the client tried too many wrong tokens"


def signin_cookie_name(session: Session) -> str:
    """The name of a session's sign-in cookie.

    Browsers send cookies to every port of a host, so each session served there needs a name of its
    own; sessions of one name differ by their data or their seed.
    """
    identity = (session.name, session.fingerprint, session.config.seed)
    return f"askmeans_signin_{hashlib.sha256(repr(identity).encode()).hexdigest()[:12]}"


class SignIn:
    """The middleware inside the guard: no request goes further without a token."""

    def __init__(self, app: ASGIApp, context: AppContext) -> None:
        self._app = app
        self._context = context
        self._cookie = signin_cookie_name(context.session)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request with the person who sent it, or refuse it."""
        path = scope.get("path", "")
        if path.startswith("/api/"):
            speak("en")
        if scope["type"] != "http" or path in PUBLIC_PATHS or path.startswith("/static/"):
            await self._app(scope, receive, send)
            return
        prefer(self._owners_language)
        request = Request(scope)
        person: Person | None = None
        response: Response | None = None
        try:
            sender = await self._authenticate(request)
            if isinstance(sender, Person):
                person = request.state.person = sender
                response = await self._authorize(request, person)
            else:
                response = sender
        except AskmeansError as error:  # the database cannot be reached
            response = self._context.failure(request, error)
        session = self._context.session
        with ExitStack() as stack:
            stack.enter_context(session.reading_once())  # a request sees one state of the log
            if person is not None:
                stack.enter_context(session.people.acting_as(person))
            await (response or self._app)(scope, receive, send)

    def _owners_language(self) -> str:
        """The language of the session's settings; none where the database cannot be reached."""
        with suppress(StoreError):
            return str(self._context.session.settings.options["language"])
        return ""

    async def _authenticate(self, request: Request) -> Person | Response:
        """The person who sent a request; else a redirect (a token in the address) or a refusal."""
        token = None if is_api(request) else request.query_params.get("token")
        if token is not None and request.method in ("GET", "HEAD"):
            return await self._sign_in_by_link(request, token)
        sender = await self._sender(request)
        if isinstance(sender, Failure):
            return refuse_sender(request, sender)
        if not self._context.requests_of_people.allows(sender.name):
            response = _refuse(request, 429, Message("Too many requests. Try again in a moment."))
            response.headers["retry-after"] = "1"
            return response
        return sender

    async def _authorize(self, request: Request, person: Person) -> Response | None:
        """A refusal where an annotator asks for what is for owners."""
        if person.role == "owner" or await run_in_threadpool(self._is_for_annotators, request):
            return None
        text = Message("This is for owners of the session. Ask one of them.")
        return await run_in_threadpool(self._context.refusal, request, 403, text)

    async def _sender(self, request: Request) -> Person | Failure:
        """Who sent a request, by a header or a cookie; notes which of them in `by_header`."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        request.state.by_header = scheme.lower() == "bearer"
        if not request.state.by_header:
            token = request.cookies.get(cookie_name(self._cookie, secure=request.state.secure), "")
        if not token:
            return Failure.UNKNOWN
        sender = await self._look_up(request, token.strip())
        is_ended = sender is Failure.UNKNOWN and not request.state.by_header
        return Failure.ENDED if is_ended else sender

    async def _look_up(self, request: Request, token: str) -> Person | Failure:
        """Whose token it is; wrong tokens are counted for the client."""
        return await run_in_threadpool(_person_of, self._context, request, token)

    async def _sign_in_by_link(self, request: Request, token: str) -> Response:
        """Take the token of a link, and lead to the same address without it."""
        owner = await self._look_up(request, token)
        if isinstance(owner, Failure):
            sender = await self._sender(request)
            if isinstance(sender, Failure):
                limited = Failure.RATE_LIMITED in (owner, sender)
                failure = Failure.RATE_LIMITED if limited else Failure.UNKNOWN
                return refuse_sender(request, failure, by_link=True)
        rest = [pair for pair in request.query_params.multi_items() if pair[0] != "token"]
        path = quote(request.scope["path"])
        path = f"/{path.lstrip('/')}"  # never to //another.example
        if path == "/" and not rest and isinstance(owner, Person):
            path = await run_in_threadpool(start_path, self._context.session, owner)
        response = RedirectResponse(path + (f"?{urlencode(rest)}" if rest else ""), 303)
        if isinstance(owner, Person):
            set_signin_cookie(request, response, self._cookie, token)
        response.headers["referrer-policy"] = "no-referrer"
        return response

    def _is_for_annotators(self, request: Request) -> bool:
        """Whether an annotator may go there."""
        path = str(request.scope["path"])  # as it is routed; `url` depends on the header Host, too
        if path in ANNOTATOR_PATHS or path.startswith(("/image/", "/api/items/")):
            return True
        if path in RESULT_PATHS or path.startswith("/items/"):
            return self._context.sees_results(request)
        return False


def add_signin(router: APIRouter, context: AppContext) -> None:
    """The page that says how to come in, and signing out."""
    cookie = signin_cookie_name(context.session)

    @router.get("/signin")
    def show_signin_page(request: Request, wrong: bool = False, ended: bool = False) -> Response:
        text = INVALID_TOKEN if wrong else ENDED if ended else ""
        return _signin_page(context, request, text)

    @router.post("/signin")
    def submit_signin(request: Request, form: SentForm) -> Response:
        """A link or its token, pasted."""
        text = form.text("link")
        link = TOKEN_IN_LINK.search(text)
        token = text if link is None else link[1]
        person = _person_of(context, request, token)
        if isinstance(person, Failure):
            status = 429 if person is Failure.RATE_LIMITED else 401
            return _signin_page(context, request, INVALID_TOKEN, status)
        response = RedirectResponse(start_path(context.session, person), 303)
        set_signin_cookie(request, response, cookie, token)
        return response

    @router.post("/name")
    def set_name(request: Request, form: SentForm) -> Response:
        """The user who started the page says who they are: their link gets this name."""
        context.check_form(form)
        person, people = request.state.person, context.session.people
        if not is_unnamed(person):
            raise HTTPException(
                403, Message("Your link decides your name. Ask for a link of another name.")
            )
        text, status = context.attempt(
            lambda: people.invite(" ".join(form.text("name").split()), role="owner")
        )
        if status >= 400:
            return redirect("/name", text, failed=True)
        old = request.cookies.get(cookie_name(cookie, secure=request.state.secure))
        last = recall(context.session)
        if last and last.token == old:
            remember(context.session, Served(address=last.address, token=text))
        people.revoke(person.invite)
        response = RedirectResponse("/welcome", 303)
        set_signin_cookie(request, response, cookie, text)
        return response

    @router.post("/signout")
    def sign_out(request: Request, form: SentForm) -> Response:  # noqa: ARG001 - its token counts
        response = RedirectResponse("/signin", 303)
        set_signin_cookie(request, response, cookie, "", 0)
        if context.home:  # its cookie opens every project
            expire_signins(request, response)
        return response


def owner_token(session: Session, last: str | None, name: str = "") -> str:
    """A token for the user who starts the page: the last one, while it is valid for a week more.

    Open pages go on, and the list of invitations does not fill up. Without a name the page asks.
    """
    person = None if last is None else session.people.person_of(last)
    if last and person and person.role == "owner" and name in ("", person.name):
        until = next(
            each.until for each in session.people.invites() if each.number == person.invite
        )
        if until > time.time() + _WEEK:
            return last
    return session.people.invite(name or ME, role="owner", annotator="askmeans serve")


def is_unnamed(person: Person) -> bool:
    """Whether it is the user who started the page, and did not say who they are."""
    return person.role == "owner" and person.name == ME


def refuse_ended(context: AppContext, request: Request, text: str) -> Response:
    """A refusal where the invitation ended during the request."""
    if is_api(request) or is_script(request):
        return _refuse(request, 401, text)
    return _signin_page(context, request, text, 401)


def _person_of(context: AppContext, request: Request, token: str) -> Person | Failure:
    """Whose token it is; a client that tries many wrong ones must wait."""
    person = context.session.people.person_of(token)
    if person is not None:
        return person
    return count_wrong_token(context.failed_signins, request)


def count_wrong_token(failed: RateLimit, request: Request) -> Failure:
    """Count a wrong token of a client: why it is refused."""
    client = rate_limit_key(request.client.host if request.client else "")
    return Failure.UNKNOWN if failed.allows(client) else Failure.RATE_LIMITED


def start_path(session: Session, person: Person) -> str:
    """The page after signing in: the welcome for those who have not answered yet."""
    if session.history.answers(annotator=person.name):
        return "/"
    return "/name" if is_unnamed(person) else "/welcome"


def _signin_page(
    context: AppContext, request: Request, error_message: str, status: int = 200
) -> Response:
    """The page that says how to sign in."""
    return context.page(request, "signin.html", status_code=status, error_message=error_message)


def set_signin_cookie(
    request: Request, response: Response, cookie: str, token: str, seconds: int = COOKIE_SECONDS
) -> None:
    """Keep a token in the browser, where scripts do not see it; for 0 seconds to remove it."""
    header = set_cookie(cookie, token, secure=request.state.secure, seconds=seconds)
    response.headers.append("set-cookie", header)


def expire_signins(request: Request, response: Response) -> None:
    """Delete the cookies of a start page and of all its projects."""
    for name in filter(_SIGNIN_COOKIE.fullmatch, request.cookies):
        bare = name.removeprefix("__Host-")
        header = set_cookie(bare, "", secure=name != bare, seconds=0)
        response.headers.append("set-cookie", header)


def presents_token(request: Request, path: str) -> bool:
    """Whether a request has a token that could be one of a project, true or not."""
    return (
        "authorization" in request.headers
        or "token" in request.query_params
        or any(map(_SIGNIN_COOKIE.fullmatch, request.cookies))
        or (path == "/signin" and request.method == "POST")
    )


def refuse_sender(request: Request, failure: Failure, *, by_link: bool = False) -> Response:
    """A refusal without a valid token: 401 to programs and scripts, a page to people."""
    if failure is Failure.RATE_LIMITED:
        return _refuse(request, 429, Message("Too many wrong tokens. Try again in a minute."))
    if is_api(request) or is_script(request):
        response = _refuse(request, 401, _NO_TOKEN if is_api(request) else _SIGNED_OUT)
        response.headers["www-authenticate"] = "Bearer"
        return response
    ended = "?ended=1" if failure is Failure.ENDED else ""
    return RedirectResponse("/signin?wrong=1" if by_link else f"/signin{ended}", 303)


def _refuse(request: Request, status: int, text: str) -> Response:
    """A refusal in a sentence."""
    if is_api(request):
        return JSONResponse({"detail": text}, status)
    return PlainTextResponse(localize(text), status)
