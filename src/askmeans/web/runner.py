"""`askmeans serve`: the page on a port, with a link for its owner, opened in a browser."""

import ctypes
import gc
import html
import secrets
import shutil
import socket
import ssl
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from askmeans._util.checks import check_number
from askmeans._util.progress import stage
from askmeans.exceptions import AskmeansError, ParameterError
from askmeans.sessions import Session
from askmeans.sessions.served import Served, recall, remember, served_file
from askmeans.web.app import create_app
from askmeans.web.guard import LOOPBACK
from askmeans.web.languages import check_language
from askmeans.web.limits import HEADER_SECONDS, MOST_HEADER_BYTES, BoundedProtocol
from askmeans.web.logs import log_as_json
from askmeans.web.project_pages import create_projects_app
from askmeans.web.signin import owner_token

PORT = 8420
# Seconds for which a thread that computes may hold the interpreter. An answer gives it up a hundred
# times: at each statement to the database and each look at its files.
_SWITCH_INTERVAL = 0.0001
_WEEK, _MONTH = 7 * 24 * 3600.0, 30 * 24 * 3600.0
_M_ARENA_MAX, _M_MMAP_THRESHOLD = -8, -3  # of malloc.h


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How other machines reach the page: the names they call it by, and who encrypts.

    Parameters
    ----------
    public_hosts : tuple of str, default=()
        Names by which people call it, without a port: "questions.example.org".
    certificate : Path or None, default=None
        The certificate's file (PEM, with its chain), where the page itself encrypts.
    key : Path or None, default=None
        The certificate's key.
    proxies : tuple of str, default=()
        Addresses or networks of the proxy that encrypts instead.

    Examples
    --------
    >>> Access(public_hosts=("questions.example.org",), proxies=("127.0.0.1",)).proxies
    ('127.0.0.1',)
    """

    public_hosts: tuple[str, ...] = ()
    certificate: Path | None = None
    key: Path | None = None
    proxies: tuple[str, ...] = ()


def serve(
    url: str | Path,
    name: str | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    open_browser: bool = True,
    json_logs: bool = False,
    access: Access = Access(),  # noqa: B008 - frozen
    language: str | None = None,
) -> None:
    """Serve a session, or a folder of them, until interrupted, and print a link that signs you in.

    The link is the previous one while it is valid for a week more: it is kept in a file that only
    you can read (in $XDG_STATE_HOME/askmeans or ~/.local/state/askmeans).

    Parameters
    ----------
    url : str or Path
        The session's database: a path, sqlite:///PATH or postgresql://USER@HOST/NAME. Or a folder:
        then the page begins with the projects in it, and makes new ones.
    name : str or None, default=None
        The session's name; None where there is only one.
    host : str, default="127.0.0.1"
        The address to listen at: of this machine, or with `access` any.
    port : int, default=8420
        The port; 0 for any that is free.
    open_browser : bool, default=True
        Open the page in the browser.
    json_logs : bool, default=False
        Write a line of JSON for every request and error to standard error: method, path, status,
        milliseconds and address; no answer, token or name. No link is printed then, since the
        output may be kept with the logs: `People.invite` makes one.
    access : Access, default=Access()
        How other machines reach it.
    language : {"ar", "de", "en", "es", "fr", "zh-Hans"} or None, default=None
        The language of the page, where neither an owner of the session nor the person chose
        another; None for that of each browser.

    Raises
    ------
    ParameterError
        If others could reach the address unencrypted or under any name, or the port cannot be used.
    NoSessionError
        If there is no such database or session.

    Examples
    --------
    >>> serve("fruit.db", host="0.0.0.0")
    Traceback (most recent call last):
        ...
    askmeans.exceptions.ParameterError: The 'host' parameter of askmeans serve must be ...
    """
    check_number(port, "port", "askmeans serve", integer=True)
    _check_access(host, access)
    check_language(language, "askmeans serve")
    _limit_arenas()
    if Path(url).is_dir():
        if name is not None:
            raise ParameterError(
                "The 'name' parameter of askmeans serve must be left out with a folder, whose page "
                f"lists all sessions. Got {name!r:.60}; name a database."
            )
        app, listening, link = _projects(
            Path(url), host, int(port), access, language, json_logs=json_logs
        )
    else:
        app, listening, link = _session(
            url, name, host, int(port), access, language, json_logs=json_logs
        )
    sys.stdout.write(f"page: {link} (Ctrl-C stops it; every answer is kept)\n")
    sys.stdout.flush()
    if not Path(url).is_dir():
        session = app.state.context.session
        threading.Thread(target=_warm_up, args=(session,), daemon=True).start()
    config = uvicorn.Config(
        app, log_level="warning", server_header=False, timeout_graceful_shutdown=2,
        access_log=False,  # it would contain queries
        log_config=None if json_logs else uvicorn.config.LOGGING_CONFIG,
        proxy_headers=False,  # the application trusts its own proxies only
        http=BoundedProtocol, ws="none", timeout_keep_alive=int(HEADER_SECONDS),
        h11_max_incomplete_event_size=MOST_HEADER_BYTES,
        ssl_certfile=access.certificate, ssl_keyfile=access.key,
    )  # fmt: skip
    if json_logs:
        log_as_json()
    sys.setswitchinterval(_SWITCH_INTERVAL)
    with ExitStack() as stack:
        stack.callback(listening.close)
        if open_browser:  # it may take a moment to start; connections wait at the socket until then
            file = stack.enter_context(redirect_file(link))
            threading.Thread(target=webbrowser.open, args=(file.as_uri(),), daemon=True).start()
        with suppress(KeyboardInterrupt):  # uvicorn raises it again after it has shut down
            uvicorn.Server(config).run(sockets=[listening])


def _session(
    url: str | Path,
    name: str | None,
    host: str,
    port: int,
    access: Access,
    language: str | None,
    *,
    json_logs: bool,
) -> tuple[FastAPI, socket.socket, str]:
    """The application of a session, its socket, and the link that lets its owner in."""
    app = create_app(
        url, name, public_hosts=access.public_hosts, proxies=access.proxies, language=language
    )
    session: Session = app.state.context.session
    try:
        listening = listen(host, port)
        address = _address(host, listening.getsockname()[1], access)
        last = recall(session)
        token, link = last.token if last else None, address
        if not json_logs:
            token = owner_token(session, token)
            link = f"{address}?token={token}"
        remember(session, Served(address=address, token=token))
    except BaseException:
        app.state.context.close()
        raise
    return app, listening, link


def _projects(
    folder: Path, host: str, port: int, access: Access, language: str | None, *, json_logs: bool
) -> tuple[FastAPI, socket.socket, str]:
    """The application of a folder with projects, its socket, and the link for its owner."""
    listening = listen(host, port)
    address = _address(host, listening.getsockname()[1], access)
    last, now = recall(folder), time.time()
    token, until = (last.token, last.until) if last else (None, 0.0)
    if token is None or until < now + _WEEK:
        token, until = secrets.token_urlsafe(32), now + _MONTH
    served = Served(address=address, token=token, person=last.person if last else None, until=until)
    remember(folder, served)
    app = create_projects_app(
        folder, token, address=address, until=until, person=served.person or "",
        public_hosts=access.public_hosts, proxies=access.proxies, language=language,
        remember_person=lambda name: remember(folder, replace(served, person=name)),
    )  # fmt: skip
    if json_logs:
        return app, listening, f"{address} (its link is in {served_file(folder)})"
    return app, listening, f"{address}?token={token}"


def _limit_arenas() -> None:
    """Have glibc return memory that models use for a moment.

    By default it keeps a heap for each of many threads, with what large arrays left there.
    """
    with suppress(OSError, AttributeError, TypeError):  # another library has no such call
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_ARENA_MAX, 2)
        mallopt(_M_MMAP_THRESHOLD, 2**20)


def _warm_up(session: Session) -> None:
    """Get ready for many people at once, in a process that does nothing else."""
    with suppress(AskmeansError), stage("fitting models for the first questions"):
        session.warm_up()  # a request meets the same errors, and reports them
    gc.collect()
    gc.freeze()  # what stays is not collected again: 0.1 s, at every twentieth answer


@contextmanager
def redirect_file(link: str) -> Iterator[Path]:
    """A private file that leads to a link: all users of a machine see a browser's arguments."""
    folder = Path(tempfile.mkdtemp(prefix="askmeans-"))  # only this user can read it
    try:
        file = folder / "open.html"
        url = html.escape(link)
        file.write_text(
            f'<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0; url={url}"><a href="{url}">askmeans</a>\n'
        )
        yield file
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _address(host: str, port: int, access: Access) -> str:
    """The address at which people open the page."""
    if access.proxies:
        return f"https://{access.public_hosts[0]}/"
    name = access.public_hosts[0] if access.public_hosts else host
    name = f"[{name}]" if ":" in name else name
    return f"{'https' if access.certificate else 'http'}://{name}:{port}/"


def _check_access(host: str, access: Access) -> None:
    """Refuse addresses that others can reach unencrypted, and incomplete settings."""
    certificate, key = access.certificate, access.key
    if (certificate is None) != (key is None):
        raise ParameterError(
            "The 'certificate' and 'key' parameters of askmeans serve must come together. Got "
            f"{certificate} and {key}."
        )
    if certificate is not None and access.proxies:
        raise ParameterError(
            "The 'certificate' parameter of askmeans serve must not come with --behind-proxy: the "
            "proxy encrypts. Got both; leave one out."
        )
    if certificate is not None and key is not None:
        _check_certificate(certificate, key)
    is_encrypted = certificate is not None or bool(access.proxies)
    if is_encrypted and not access.public_hosts:
        raise ParameterError(
            "The 'public_hosts' parameter of askmeans serve must name what people call the page, "
            "where others reach it. Got none; add --public-host questions.example.org."
        )
    if host not in LOOPBACK and not is_encrypted:
        raise ParameterError(
            "The 'host' parameter of askmeans serve must be an address of this machine: "
            f"127.0.0.1, ::1 or localhost. Got {host!r} instead; to serve others, encrypt: with "
            "--certificate and --key, or --behind-proxy, and --public-host."
        )
    if access.public_hosts and not is_encrypted:
        raise ParameterError(
            "The 'public_hosts' parameter of askmeans serve must come with --certificate and "
            f"--key, or --behind-proxy. Got {', '.join(access.public_hosts)} and neither."
        )


def _check_certificate(certificate: Path, key: Path) -> None:
    """Refuse files that cannot encrypt, before anybody is invited."""
    for file in (certificate, key):
        if not file.is_file():
            raise ParameterError(
                "The 'certificate' and 'key' parameters of askmeans serve must be files. "
                f"{file} is not a file."
            )
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as error:  # ssl's own errors are OSErrors
        raise ParameterError(
            "The 'certificate' and 'key' parameters of askmeans serve must be a certificate and "
            "its own key, in PEM, readable and without a password. "
            f"Got {certificate} and {key} ({error})."
        ) from error


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at an address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Without the protocol's number asyncio leaves Nagle's algorithm on: 40 ms for every response.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(128)
    except (OSError, OverflowError) as error:
        listening.close()
        raise ParameterError(
            f"The 'port' parameter of askmeans serve must be free. Got {port} on {host} "
            f"({error}); use another --port, or --port 0 for any."
        ) from error
    return listening
