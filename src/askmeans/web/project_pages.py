"""The pages about a folder of projects: the list, and new projects, for the owner of the server.

Open to all are the page that says how to come in, static files and the health check; a project's
own pages know whom to let in. Everything else is for the owner (`home_signin.py`).
"""

import logging
import math
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, HTTPException, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import (
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.staticfiles import StaticFiles

from askmeans import __version__
from askmeans._util.message import Message
from askmeans.exceptions import AskmeansError
from askmeans.sessions.authors import check_annotator
from askmeans.sessions.people import LONGEST_NAME
from askmeans.web.app import add_handlers, check_access, protect
from askmeans.web.context import NO_TITLE, TITLES
from askmeans.web.draft_columns import USES
from askmeans.web.drafts import MOST_COLUMNS, Draft, Drafts, Plan
from askmeans.web.errors import RefusalError, explain, status_of
from askmeans.web.forms import Form, SentForm, is_script
from askmeans.web.guard import check_token
from askmeans.web.home_signin import HomeKey, HomeSignIn
from askmeans.web.languages import check_language, localize
from askmeans.web.projects import PATH, ProjectRoutes, Projects, root_of
from askmeans.web.rendering import HOME_STYLES, STATIC, STYLES, templates
from askmeans.web.signin import (
    ENDED,
    INVALID_TOKEN,
    TOKEN_IN_LINK,
    Failure,
    count_wrong_token,
    set_signin_cookie,
    signin_cookie_name,
    start_path,
)
from askmeans.web.uploads import MOST_UPLOAD, read_upload

_log = logging.getLogger("askmeans.web")
_MOST_GROUPS = 50
_ROWS = 15  # for groups, without script
_CRASHED = Message("Something went wrong here. The log says more.")
_INVALID = Message(
    "This link or token is not that of this server, or it ended. Open the link that the server "
    "printed last; after a month, start it again for a new one."
)
_GONE = Message("This project was not finished, and its file is gone. Choose the file again.")


def create_projects_app(
    folder: str | Path,
    token: str,
    *,
    address: str = "http://127.0.0.1/",
    until: float = math.inf,
    person: str = "",
    public_hosts: Sequence[str] = (),
    proxies: Sequence[str] = (),
    language: str | None = None,
    remember_person: Callable[[str], None] = lambda _: None,
) -> FastAPI:
    """The projects of a folder, as an ASGI application; `token` lets its owner in `until` then."""
    hosts, trusted = check_access(public_hosts, proxies)
    home = Path(folder)
    projects, drafts = Projects(home), Drafts(home)
    projects.address, projects.person = address, person
    key = HomeKey(token, projects, until)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        drafts.close()
        projects.close()

    app = FastAPI(title="askmeans", version=__version__, lifespan=lifespan, docs_url=None,
                  redoc_url=None, openapi_url=None)  # fmt: skip
    app.state.projects = projects
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    _add_start(app, projects, key, remember_person)
    _add_no_project(app, projects)
    _add_drafts(app, drafts)
    add_handlers(app, _refusal, _failure)
    app.add_middleware(HomeSignIn, key=key, projects=projects)
    app.add_middleware(ProjectRoutes, projects=projects)
    code = check_language(language, "web.create_projects_app")
    protect(app, hosts, trusted, {"/new": MOST_UPLOAD}, language=code)
    return app


def _page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """A page of the server's owner."""
    person = getattr(request.state, "person", None)
    here = f"{request.scope['path']}?{request.url.query}".rstrip("?")
    common = {
        "token": request.state.token,
        "annotator": person and person.name,
        "styles": HOME_STYLES,
        "layout": "plain.html",
        "path": request.scope["path"],
        "self_link": here if request.method == "GET" else f"{values.get('root', '')}/",
    }
    html = templates.get_template(template).render({**common, **values})
    return HTMLResponse(html, status)


def _add_start(
    app: FastAPI, projects: Projects, key: HomeKey, remember_person: Callable[[str], None]
) -> None:
    """The list of projects, the owner's name, and signing in."""

    @app.get("/healthz")
    def healthz() -> Response:
        return PlainTextResponse("ok")

    @app.get("/")
    def start(request: Request) -> Response:
        if not projects.person:
            return RedirectResponse("/name", 303)
        listed = [(each, datetime.fromtimestamp(each.at, UTC)) for each in projects.all()]
        return _page(request, "projects.html", projects=listed, folder=projects.home.name)

    @app.get("/open/{name}")
    def open_project(request: Request, name: str) -> Response:
        """Lead into a project, as its owner."""
        owned = projects.owner_token(name)
        if owned is None:
            raise HTTPException(404)
        context, token = owned
        person = context.session.people.person_of(token)
        path = start_path(context.session, person) if person else "/"
        response = RedirectResponse(context.root + path, 303)
        set_signin_cookie(request, response, signin_cookie_name(context.session), token)
        return response

    @app.get("/name")
    def show_name(request: Request) -> Response:
        return _page(request, "home_name.html", person=projects.person)

    @app.post("/name")
    def set_name(form: SentForm) -> Response:
        name = check_annotator(" ".join(form.text("name").split())[:LONGEST_NAME], person=True)
        projects.person = name
        remember_person(name)
        return RedirectResponse("/", 303)

    @app.get("/signin")
    def show_signin(request: Request, wrong: bool = False) -> Response:
        return _page(request, "signin.html", error_message=_INVALID if wrong else "", is_home=True)

    @app.post("/signin")
    def submit_signin(request: Request, form: SentForm) -> Response:
        text = form.text("link")
        link = TOKEN_IN_LINK.search(text)
        if key.fits(request, text if link is None else link[1]):
            return key.let_in(request)
        return _page(request, "signin.html", 401, error_message=_INVALID, is_home=True)

    @app.post("/signout")
    def sign_out(request: Request, form: SentForm) -> Response:  # noqa: ARG001 - its token counts
        return key.sign_out(request)


def _add_no_project(app: FastAPI, projects: Projects) -> None:
    """What is open to all below the path of a project, where there is none."""
    app.mount("/p/{key}/static", StaticFiles(directory=STATIC))

    def page(request: Request, key: str, error_message: str, status: int = 200) -> Response:
        return _page(request, "signin.html", status, root=root_of(key), styles=STYLES,
                     error_message=error_message)  # fmt: skip

    @app.get("/p/{key}/signin")
    def show(request: Request, key: str, wrong: bool = False, ended: bool = False) -> Response:
        return page(request, key, INVALID_TOKEN if wrong else ENDED if ended else "")

    @app.post("/p/{key}/signin")
    def submit(request: Request, key: str, form: SentForm) -> Response:
        form.text("link")
        failure = count_wrong_token(projects.failed_signins, request)
        return page(request, key, INVALID_TOKEN, 429 if failure is Failure.RATE_LIMITED else 401)


def _add_drafts(app: FastAPI, drafts: Drafts) -> None:
    """New projects."""

    def draft_of(number: str) -> Draft:
        draft = drafts.get(number)
        if draft is None:
            raise HTTPException(404, _GONE)
        return draft

    @app.get("/new")
    def new(request: Request) -> Response:
        return _page(request, "new.html", trouble="")

    @app.post("/new")
    async def send(request: Request) -> Response:
        """Receive a file, or pasted lines."""
        draft = await run_in_threadpool(drafts.new)
        try:
            fields, file = await read_upload(request, draft.folder)
            check_token(request, fields.get("token"))
            if file is None:
                raise RefusalError(Message("Choose a file first, or paste some lines."))
        except BaseException:
            draft.stage = None
            drafts.remove(draft)
            raise
        drafts.read(draft, file)
        return RedirectResponse(f"/new/{draft.id}", 303)

    @app.get("/new/{number}")
    def show(request: Request, number: str) -> Response:
        draft = draft_of(number)
        if draft.made is not None:
            drafts.remove(draft)
            return RedirectResponse(f"/open/{quote(draft.made.stem)}", 303)
        if draft.stage is not None:
            return _page(request, "making.html", draft=draft)
        if not draft.is_read:
            return _page(request, "new.html", 422, trouble=draft.trouble)
        return _columns_page(request, draft)

    @app.get("/new/{number}/picture/{place}")
    def picture(number: str, place: int) -> Response:
        draft = draft_of(number)
        if not 0 <= place < len(draft.pictures):
            raise HTTPException(404)
        return Response(draft.picture(place), media_type="image/jpeg")

    @app.post("/new/{number}")
    def make(form: SentForm, number: str) -> Response:
        draft = draft_of(number)
        drafts.make(draft, _plan_of(form, draft))
        return RedirectResponse(f"/new/{number}", 303)

    @app.post("/new/{number}/remove")
    def remove(form: SentForm, number: str) -> Response:  # noqa: ARG001 - its token counts
        drafts.remove(draft_of(number))
        return RedirectResponse("/", 303)


def _columns_page(request: Request, draft: Draft) -> Response:
    """The values of the form for a new project."""
    plan = draft.plan or Plan(title=draft.title, n_clusters=4)
    groups = [*zip(plan.names, plan.descriptions, strict=True)]
    groups += [("", "")] * (_ROWS - len(groups))
    return _page(
        request, "columns.html", draft=draft, plan=plan, groups=groups, uses=USES,
        columns=draft.columns[:MOST_COLUMNS], n_more=max(0, len(draft.columns) - MOST_COLUMNS),
    )  # fmt: skip


def _plan_of(form: Form, draft: Draft) -> Plan:
    """The choices of a form."""
    names, lines = form.numbered("group-"), form.numbered("about-")
    named = [number for number in sorted(names) if number < _MOST_GROUPS]
    uses, kinds = form.numbered("use-"), form.numbered("kind-")
    columns = dict(enumerate(draft.columns[:MOST_COLUMNS]))
    title = re.sub(r"[/\\\s]+", " ", form.get("title") or "").strip()[:80] or draft.title
    n = (form.get("n") or "").strip()
    return Plan(
        title=title,
        n_clusters=len(named) or (int(n) if n.isascii() and n.isdigit() and len(n) < 4 else 0),
        names=tuple(names[number] for number in named),
        descriptions=tuple(lines.get(number, "") for number in named),
        uses={columns[n].column.name: use for n, use in uses.items()
              if n in columns and use in USES},
        kinds={columns[n].column.name: kind for n, kind in kinds.items()
               if n in columns and kind in columns[n].kinds},
    )  # fmt: skip


def _refusal(request: Request, status: int, text: str) -> Response:
    """A sentence as a page, or as text for our script."""
    if is_script(request):
        return PlainTextResponse(localize(text), status)
    if request.scope["path"] == "/new":  # a file
        return _page(request, "new.html", status, trouble=text)
    values: dict[str, Any] = {"text": text, "title": TITLES.get(status, NO_TITLE)}
    match = PATH.fullmatch(request.scope["path"])
    if match is not None:  # as where there is such a project
        values |= {"root": root_of(match[1]), "styles": STYLES}
    return _page(request, "error.html", status, **values)


def _failure(request: Request, error: AskmeansError) -> Response:
    """An error as a refusal."""
    return _refusal(request, status_of(error), explain(error))
