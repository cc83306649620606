"""A folder of projects: each is a session in a database, opened by its first request."""

import re
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askmeans import sessions
from askmeans.exceptions import AskmeansError, StoreVersionError
from askmeans.sessions import Session
from askmeans.sessions.served import Served, recall, remember
from askmeans.web.app import session_app
from askmeans.web.context import FAILED_BURST, FAILED_RATE, AppContext
from askmeans.web.errors import explain
from askmeans.web.limits import RateLimit
from askmeans.web.signin import owner_token, presents_token

PATH = re.compile(r"/p/([^/]+)(/.*)?", re.DOTALL)
_SUFFIXES = (".db", ".sqlite")
SETTLE_SECONDS = 0.3  # as of create_app


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project in the list of the start page."""

    key: str  # in addresses
    title: str
    file: Path
    session: str  # its name in the database
    n_items: int = 0
    groups: tuple[str, ...] = ()
    n_answers: int = 0
    at: float = 0.0  # when its file was changed last
    trouble: str = ""  # why it cannot be opened

    @property
    def root(self) -> str:
        """The path of its pages."""
        return root_of(self.key)


class Projects:
    """The projects of a folder, and the applications of those that are open."""

    def __init__(self, home: Path) -> None:
        self.home = home.resolve()
        self.address = "http://127.0.0.1/"  # where it is served
        self.person = ""  # the name of the owner, once they gave it
        self.failed_signins = RateLimit(FAILED_RATE, FAILED_BURST)  # anywhere: none is a hint
        self._lock = threading.Lock()
        self._listed: dict[Path, tuple[object, list[Project]]] = {}  # by the state of the file
        self._apps: dict[str, tuple[Project, int, FastAPI]] = {}  # and the inode of the file

    def all(self) -> list[Project]:
        """All projects, the last used first."""
        listed = {}
        for file in self._files():
            state = _state_of(file)
            known = self._listed.get(file)
            listed[file] = known if known and known[0] == state else (state, _projects_in(file))
        self._listed = listed
        projects = [each for _, several in listed.values() for each in several]
        return sorted(projects, key=lambda each: -each.at)

    def app(self, key: str) -> FastAPI | None:
        """The application of a project; None for an unknown key."""
        with self._lock:
            if key in self._apps:
                project, inode, app = self._apps[key]
                if project.file.exists() and project.file.stat().st_ino == inode:
                    return app
                self._apps.pop(key)  # it was removed or replaced
                app.state.context.close()
        opened = self._find(key)  # without the lock, which every request needs
        if opened is None:
            return None
        with self._lock:
            if key in self._apps:  # by another request
                return self._apps[key][2]
            session = sessions.open(opened.file, opened.session)
            context = AppContext(session, SETTLE_SECONDS, root=opened.root, home="/")
            context.failed_signins = self.failed_signins
            app = session_app(context)
            self._apps[key] = opened, opened.file.stat().st_ino, app
        app.state.context.thumbnails.make_soon()
        threading.Thread(target=_warm_up, args=(session,), daemon=True).start()
        return app

    def owner_token(self, key: str) -> tuple[AppContext, str] | None:
        """A project, and a token by which the owner of the folder owns it."""
        app = self.app(key)
        if app is None:
            return None
        context: AppContext = app.state.context
        last = recall(context.session)
        token = owner_token(context.session, last.token if last else None, self.person)
        served = Served(address=f"{self.address}{context.root[1:]}/", token=token)
        remember(context.session, served)
        return context, token

    def close(self) -> None:
        """Close all open projects."""
        with self._lock:
            for _, _, app in self._apps.values():
                app.state.context.close()
            self._apps.clear()

    def _find(self, key: str) -> Project | None:
        """A project that is to be opened; files with other names are left alone."""
        for file in self._files():
            if key == _key_of(file) or key.startswith(f"{_key_of(file)}:"):
                for own, session in _sessions_in(file).items():
                    if own == key:
                        return Project(key=key, title=file.stem, file=file, session=session)
        return None

    def _files(self) -> list[Path]:
        """Files that may be databases of askmeans, without hidden files and links."""
        return [
            path for path in self.home.iterdir()
            if path.suffix in _SUFFIXES and path.name[0] != "." and path.is_file()
            and not path.is_symlink()
        ]  # fmt: skip


class ProjectRoutes:
    """Forwards a request to the project in its path, as a proxy does."""

    def __init__(self, app: ASGIApp, projects: Projects) -> None:
        self._app = app
        self._projects = projects

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request without the project's part of its path."""
        match = PATH.fullmatch(scope.get("path", ""))
        if scope["type"] != "http" or match is None:
            await self._app(scope, receive, send)
            return
        if match[2] is None:  # addresses within a page are relative to a folder
            await RedirectResponse(f"{root_of(match[1])}/", 303)(scope, receive, send)
            return
        project, path = None, match[2]
        if presents_token(Request(scope), path):  # strangers open no file, so they measure none
            with suppress(AskmeansError):  # the start page says why
                project = await run_in_threadpool(self._projects.app, match[1])
        if project is None:
            await self._app(scope, receive, send)
            return
        root = project.state.context.root.encode()

        async def send_below_root(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [_below(root, *header) for header in message["headers"]]
            await send(message)

        inner = {**scope, "path": path, "raw_path": quote(path).encode()}
        await project(inner, receive, send_below_root)


def _below(root: bytes, name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """A header; a redirect leads to the project's own pages."""
    is_local = name.lower() == b"location" and value.startswith(b"/")
    return name, root + value if is_local else value


def _warm_up(session: Session) -> None:
    """Load a project while its first page is read."""
    with suppress(AskmeansError):  # a request meets the same error, and reports it
        session.warm_up()


def _state_of(file: Path) -> tuple[object, ...]:
    """Times of the files that change with a database: itself and its write-ahead log."""
    states = []
    for path in (file, file.with_name(f"{file.name}-wal")):
        with suppress(FileNotFoundError):
            stat = path.stat()
            states.append((stat.st_ino, stat.st_size, stat.st_mtime))
    return tuple(states)


def root_of(key: str) -> str:
    """The path of a project's pages."""
    return f"/p/{quote(key, safe='')}"


def _key_of(file: Path) -> str:
    """The key of a file's only project; with more, their names follow it."""
    return file.stem if file.suffix == ".db" else file.name


def _sessions_in(file: Path) -> dict[str, str]:
    """Names of the sessions in a file, by key; none if it is no database of askmeans."""
    key = _key_of(file)
    try:
        names = sessions.names(file)
    except StoreVersionError:
        raise
    except AskmeansError:
        return {}
    return {key if len(names) == 1 else f"{key}:{name}": name for name in names}


def _projects_in(file: Path) -> list[Project]:
    """The projects in a file."""
    try:
        keys = _sessions_in(file)
    except StoreVersionError as error:
        return [Project(key=_key_of(file), title=file.stem, file=file, session="",
                        trouble=explain(error))]  # fmt: skip
    return [_project(file, name, key) for key, name in keys.items()]


def _project(file: Path, name: str, key: str) -> Project:
    """Describe a session as a project."""
    title = file.stem if name == "main" else name
    at = max(path.stat().st_mtime for path in (file, file.with_name(f"{file.name}-wal"))
             if path.exists())  # fmt: skip
    try:
        with sessions.open(file, name) as session:
            return Project(
                key=key, title=title, file=file, session=name, at=at, n_items=len(session.rows),
                groups=tuple(session.groups.names), n_answers=len(session.history.answers()),
            )  # fmt: skip
    except AskmeansError as error:
        return Project(key=key, title=title, file=file, session=name, at=at,
                       trouble=explain(error))  # fmt: skip
