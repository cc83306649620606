"""Running the page: on a port that is free, with a link that lets its owner in, in a browser."""

import ctypes
import gc
import getpass
import html
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
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from askmeans._util.checks import check_number
from askmeans.exceptions import AskmeansError, ParameterError
from askmeans.queries import ME
from askmeans.sessions import Session
from askmeans.sessions.served import Served, recall, remember
from askmeans.web.app import create_app
from askmeans.web.guard import LOOPBACK
from askmeans.web.limits import HEADER_SECONDS, MOST_HEADER_BYTES, BoundedProtocol
from askmeans.web.logs import log_as_json

__all__ = ["Access", "serve"]

PORT = 8420
_WEEK = 7 * 24 * 3600.0
# Seconds for which a thread that computes may keep the others waiting; an answer waits a hundred
# times, at each statement to the database and each look at its files.
_SWITCH = 0.0001
_M_ARENA_MAX, _M_MMAP_THRESHOLD = -8, -3  # of malloc.h


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How others than this machine reach the page: encrypted, and by names that are known.

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
) -> None:
    """Serve the page of a session until it is interrupted, and print a link that lets you in.

    The link is the one of the time before while it is valid for a week more: it is kept in a file
    of yours alone (in $XDG_STATE_HOME/askmeans or ~/.local/state/askmeans).

    Parameters
    ----------
    url : str or Path
        The session's database: a path, sqlite:///PATH or postgresql://USER@HOST/NAME.
    name : str or None, default=None
        The session's name; None where there is only one.
    host : str, default="127.0.0.1"
        The address to listen at: of this machine itself, or with `access` any.
    port : int, default=8420
        The port; 0 for any that is free.
    open_browser : bool, default=True
        Open the page in the browser.
    json_logs : bool, default=False
        Write a line of JSON for every request and error to standard error: method, path, status,
        milliseconds and address; no answer, no token, nobody's name. No link is printed then: what
        is printed may be kept with the logs. `People.invite` makes one.
    access : Access, default=Access()
        How others than this machine reach it.

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
    _bound_memory()
    app = create_app(url, name, public_hosts=access.public_hosts, proxies=access.proxies)
    session: Session = app.state.context.session
    try:
        listening = _listen(host, int(port))
        address = _address(host, listening.getsockname()[1], access)
        before = recall(session)
        token = before.token if before else None
        link = address
        if not json_logs:
            token = _start_up_token(session, token)
            link = f"{address}?token={token}"
        remember(session, Served(address=address, token=token))
    except BaseException:
        app.state.context.close()
        raise
    sys.stdout.write(f"page: {link} (Ctrl-C stops it; every answer is kept)\n")
    sys.stdout.flush()
    config = uvicorn.Config(
        app, log_level="warning", server_header=False, timeout_graceful_shutdown=2,
        access_log=False,  # it would tell queries
        log_config=None if json_logs else uvicorn.config.LOGGING_CONFIG,
        proxy_headers=False,  # `guard.py` believes the right ones
        http=BoundedProtocol, ws="none", timeout_keep_alive=int(HEADER_SECONDS),
        h11_max_incomplete_event_size=MOST_HEADER_BYTES,
        ssl_certfile=access.certificate, ssl_keyfile=access.key,
    )  # fmt: skip
    if json_logs:
        log_as_json()
    threading.Thread(target=_settle, args=(session,), daemon=True).start()
    with ExitStack() as stack:
        stack.callback(listening.close)
        if open_browser:  # it may take a moment to start; connections wait at the socket until then
            file = stack.enter_context(_redirect(link))
            threading.Thread(target=webbrowser.open, args=(file.as_uri(),), daemon=True).start()
        with suppress(KeyboardInterrupt):  # said again by uvicorn after it has shut down
            uvicorn.Server(config).run(sockets=[listening])


def _bound_memory() -> None:
    """Have glibc keep little of what models take for a moment and give back.

    By itself it keeps a heap for each of many threads, and in them what large arrays left.
    """
    with suppress(OSError, AttributeError, TypeError):  # another library has no such call
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_ARENA_MAX, 2)
        mallopt(_M_MMAP_THRESHOLD, 2**20)


def _settle(session: Session) -> None:
    """Get ready for many people at once, in a process that does nothing else."""
    sys.setswitchinterval(_SWITCH)
    with suppress(AskmeansError):  # whoever asks is told
        session.warm_up()
    gc.collect()
    gc.freeze()  # what stays is not looked through again: 0.1 s, at every twentieth answer


def _start_up_token(session: Session, before: str | None) -> str:
    """A token for whoever starts the page, under the name they have on this machine.

    It is the one they had before, while that lets them in for a week more: pages that are open go
    on, and a list of links has no dozens of them that nobody knows.
    """
    try:
        name = getpass.getuser()
    except (OSError, KeyError):
        name = ME
    if before is not None and _still_lets_in(session, before, name):
        return before
    try:
        return session.people.invite(name, role="owner", annotator="askmeans serve")
    except AskmeansError:  # no name of ours
        return session.people.invite(ME, role="owner", annotator="askmeans serve")


def _still_lets_in(session: Session, token: str, name: str) -> bool:
    """Whether a token is a valid one of this owner, and will be for a week."""
    person = session.people.person_of(token)
    if person is None or person.role != "owner" or person.name not in (name, ME):
        return False
    (until,) = (each.until for each in session.people.invites() if each.number == person.invite)
    return until > time.time() + _WEEK


@contextmanager
def _redirect(link: str) -> Iterator[Path]:
    """A file of our own that leads to a link: a browser's arguments are seen by all users here."""
    folder = Path(tempfile.mkdtemp(prefix="askmeans-"))  # nobody else may look into it
    try:
        file = folder / "open.html"
        told = html.escape(link)
        file.write_text(
            f'<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0; url={told}"><a href="{told}">askmeans</a>\n'
        )
        yield file
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _address(host: str, port: int, access: Access) -> str:
    """Where people find the page."""
    if access.proxies:
        return f"https://{access.public_hosts[0]}/"
    shown = access.public_hosts[0] if access.public_hosts else host
    shown = f"[{shown}]" if ":" in shown else shown
    return f"{'https' if access.certificate else 'http'}://{shown}:{port}/"


def _check_access(host: str, access: Access) -> None:
    """Refuse addresses that others can reach unencrypted, and settings that say half of it."""
    if (access.certificate is None) != (access.key is None):
        raise ParameterError(
            "The 'certificate' and 'key' parameters of askmeans serve must come together. Got "
            f"{access.certificate} and {access.key}."
        )
    encrypted = access.certificate is not None or access.proxies
    if access.certificate is not None and access.proxies:
        raise ParameterError(
            "The 'certificate' parameter of askmeans serve must not come with --behind-proxy: the "
            "proxy encrypts. Got both; leave one out."
        )
    if access.certificate is not None and access.key is not None:
        _check_certificate(access.certificate, access.key)
    if encrypted and not access.public_hosts:
        raise ParameterError(
            "The 'public_hosts' parameter of askmeans serve must name what people call the page, "
            "where others reach it. Got none; add --public-host questions.example.org."
        )
    if host not in LOOPBACK and not encrypted:
        raise ParameterError(
            "The 'host' parameter of askmeans serve must be an address of this machine itself: "
            f"127.0.0.1, ::1 or localhost. Got {host!r} instead; to serve others, encrypt: with "
            "--certificate and --key, or --behind-proxy, and --public-host."
        )
    if access.public_hosts and not encrypted:
        raise ParameterError(
            "The 'public_hosts' parameter of askmeans serve must come with --certificate and "
            f"--key, or --behind-proxy. Got {', '.join(access.public_hosts)} and neither."
        )


def _check_certificate(certificate: Path, key: Path) -> None:
    """Refuse what does not encrypt, before anybody is invited."""
    for file in (certificate, key):
        if not file.is_file():
            raise ParameterError(
                "The 'certificate' and 'key' parameters of askmeans serve must be files. "
                f"Got {file}, which is none."
            )
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as error:  # ssl's own errors are OSErrors
        raise ParameterError(
            "The 'certificate' and 'key' parameters of askmeans serve must be a certificate and "
            "its own key, in PEM, readable and without a password. "
            f"Got {certificate} and {key} ({error})."
        ) from error


def _listen(host: str, port: int) -> socket.socket:
    """A socket at the address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Without the protocol's number asyncio leaves Nagle's algorithm on: 40 ms for every reply.
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
