"""The application: routes, middleware, and errors that reveal no more than a client needs."""

import ipaddress
import logging
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.staticfiles import StaticFiles
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from askmeans import __version__
from askmeans._util.checks import check_number
from askmeans._util.message import Message
from askmeans.exceptions import (
    AskmeansError,
    InvitationError,
    ParameterError,
    StoreError,
    StoreLostError,
)
from askmeans.sessions import open as open_session
from askmeans.web.api import make_api
from askmeans.web.context import NO_PAGE, AppContext, is_api
from askmeans.web.errors import explain
from askmeans.web.guard import HEADERS, Guard
from askmeans.web.languages import Languages, check_language, localize
from askmeans.web.logs import RequestLog
from askmeans.web.pages import make_router
from askmeans.web.rendering import STATIC
from askmeans.web.signin import SignIn, refuse_ended

_log = logging.getLogger("askmeans.web")
_HOST = re.compile(r"[A-Za-z0-9_.-]+")
_RETRY_SECONDS = 2.0  # to wait for a lost database before people read that we try again
_CRASHED = Message(
    "Something went wrong here; no answer that was confirmed is lost. The log says more."
)


def create_app(
    url: str | Path,
    name: str | None = None,
    *,
    settle_seconds: float = 0.3,
    public_hosts: Sequence[str] = (),
    proxies: Sequence[str] = (),
    language: str | None = None,
) -> FastAPI:
    """The page of a session, as an ASGI application; `People.invite` lets people in.

    Parameters
    ----------
    url : str or Path
        The session's database: a path, sqlite:///PATH or postgresql://USER@HOST/NAME.
    name : str or None, default=None
        The session's name; None where there is only one.
    settle_seconds : float, default=0.3
        How long after a question appeared a form without script is not taken as its answer: it is
        the second half of a double click.
    public_hosts : sequence of str, default=()
        Names by which people on other machines call the page ("questions.example.org", without a
        port). They must come encrypted: the server that runs the application, or a proxy, has the
        certificate. Without any, only clients on this machine are let in, under its own names, and
        no client that a proxy forwards.
    proxies : sequence of str, default=()
        Addresses or networks of the proxies in front of it, whose X-Forwarded-For and
        X-Forwarded-Proto count. They must replace both headers of a request.
    language : {"ar", "de", "en", "es", "fr", "zh-Hans"} or None, default=None
        The language of the page, where neither an owner of the session nor the person chose
        another; None for that of each browser.

    Returns
    -------
    fastapi.FastAPI
        The application; `serve` runs it.

    Raises
    ------
    ParameterError
        If a parameter is not as described above.
    NoSessionError
        If there is no such database or session.
    StoreError
        If the database cannot be used.

    Examples
    --------
    >>> app = create_app("fruit.db")
    >>> app.title
    'askmeans: main'
    """
    check_number(settle_seconds, "settle_seconds", "web.create_app", minimum=0)
    hosts, trusted = check_access(public_hosts, proxies)
    app = session_app(AppContext(open_session(url, name), float(settle_seconds)))
    protect(app, hosts, trusted, language=check_language(language, "web.create_app"))
    return app


def session_app(context: AppContext) -> FastAPI:
    """The page of a session without what all requests pass first (`protect`)."""
    context.session.retry_timeout = _RETRY_SECONDS

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        context.thumbnails.make_soon()  # not before: a server may fork once it has the application
        yield
        context.close()

    app = FastAPI(
        title=f"askmeans: {context.session.name}",
        version=__version__,
        description=(
            "Questions of a session, and answers to them, for whoever signs in: with a token "
            "that `askmeans invite` made, in the header Authorization: Bearer, or with the cookie "
            "of the page. By cookie, POST needs the page's own token, too: the cookie "
            "askmeans_token, repeated in the header X-CSRF-Token."
        ),
        lifespan=lifespan,
        docs_url=None,  # those pages load from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.context = context

    def fail(request: Request, error: AskmeansError) -> Response:
        if isinstance(error, InvitationError):
            return refuse_ended(context, request, explain(error))
        return context.failure(request, error)

    # Included, every route would be worked out a second time when the first request comes.
    app.router.routes += [*make_api(context).routes, *make_router(context).routes]
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    _add_health(app, context)
    app.add_middleware(SignIn, context=context)
    add_handlers(app, context.refusal, fail)
    return app


def protect(
    app: FastAPI,
    hosts: frozenset[str],
    proxies: Sequence[str],
    uploads: Mapping[str, int] = MappingProxyType({}),
    *,
    language: str = "",
) -> None:
    """Add what all requests pass first: the log, proxies, the guard, the language."""
    app.add_middleware(Languages, default=language)
    app.add_middleware(Guard, public_hosts=hosts, is_proxied=bool(proxies), uploads=uploads)
    app.add_middleware(RequestLog)
    if proxies:
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=list(proxies))


def check_access(
    public_hosts: Sequence[str], proxies: Sequence[str]
) -> tuple[frozenset[str], list[str]]:
    """Names and proxies of an application, checked."""
    hosts, trusted = _check_hosts(public_hosts), _check_proxies(proxies)
    if trusted and not hosts:
        raise ParameterError(
            "The 'proxies' parameter of web.create_app must come with 'public_hosts', the names by "
            f"which people call the proxy. Got {proxies!r} and none."
        )
    return hosts, trusted


def _check_hosts(public_hosts: Sequence[str]) -> frozenset[str]:
    """Names of hosts, in lower case."""
    names = [None] if isinstance(public_hosts, str) else list(public_hosts)
    if not all(isinstance(name, str) and _HOST.fullmatch(name) for name in names):
        raise ParameterError(
            "The 'public_hosts' parameter of web.create_app must be a list of names without ports, "
            f"such as ['questions.example.org']. Got {public_hosts!r} instead."
        )
    return frozenset(str(name).lower() for name in names)


def _check_proxies(proxies: Sequence[str]) -> list[str]:
    """Addresses or networks of proxies, as uvicorn reads them."""
    try:
        if isinstance(proxies, str):
            raise ValueError
        networks = [ipaddress.ip_network(proxy) for proxy in proxies]
    except ValueError:
        raise ParameterError(
            "The 'proxies' parameter of web.create_app must be a list of addresses or networks, "
            f"such as ['127.0.0.1', '172.16.0.0/12']. Got {proxies!r} instead."
        ) from None
    # As a socket for both kinds of addresses has them.
    mapped = [f"::ffff:{n.network_address}/{96 + n.prefixlen}" for n in networks if n.version == 4]
    return [*map(str, networks), *mapped]


def _add_health(app: FastAPI, context: AppContext) -> None:
    """The health check: 200 where an answer would be saved, 503 where it would not."""

    @app.get("/healthz", include_in_schema=False)
    def healthz() -> Response:
        try:
            context.session.check_writable()
        except StoreError as error:
            _log.error("/healthz %s", error)
            is_lost = isinstance(error, StoreLostError)
            why = "does not answer" if is_lost else "cannot be written to"
            return JSONResponse({"status": f"the database {why}"}, 503)
        return JSONResponse({"status": "ok"})


def add_handlers(
    app: FastAPI,
    refuse: Callable[[Request, int, str], Response],
    fail: Callable[[Request, AskmeansError], Response],
) -> None:
    """Errors as an application refuses and fails; never with a traceback."""

    @app.exception_handler(StarletteHTTPException)
    def refused(request: Request, error: HTTPException) -> Response:
        text = error.detail
        if text == HTTPStatus(error.status_code).phrase and not is_api(request):
            text = NO_PAGE
        response = refuse(request, error.status_code, text)
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> Response:
        text: str = NO_PAGE
        if is_api(request):
            parts = [f"{'.'.join(map(str, e['loc'][1:]))}: {e['msg']}" for e in error.errors()[:5]]
            text = "; ".join(parts)
        return refuse(request, 422, text)

    @app.exception_handler(AskmeansError)
    def failed(request: Request, error: AskmeansError) -> Response:
        return fail(request, error)

    @app.exception_handler(Exception)
    def crashed(request: Request, error: Exception) -> Response:
        _log.exception("%s failed", request.scope["path"], exc_info=error)
        is_json = is_api(request)
        if is_json:
            response: Response = JSONResponse({"detail": _CRASHED}, 500)
        else:
            response = PlainTextResponse(localize(_CRASHED), 500)
        response.headers.update(HEADERS)  # the guard does not see it
        return response
