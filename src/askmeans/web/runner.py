"""Running the page: on this machine only, on a port that is free, in a browser."""

import socket
import sys
import threading
import webbrowser
from pathlib import Path

import uvicorn

from askmeans.checks import check_number
from askmeans.exceptions import ParameterError
from askmeans.web.app import create_app
from askmeans.web.guard import LOOPBACK
from askmeans.web.logs import log_as_json

__all__ = ["serve"]

PORT = 8420


def serve(
    url: str | Path,
    name: str | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    open_browser: bool = True,
    json_logs: bool = False,
) -> None:
    """Serve the page of a session until it is interrupted.

    Parameters
    ----------
    url : str or Path
        The session's database: a path, sqlite:///PATH or postgresql://USER@HOST/NAME.
    name : str or None, default=None
        The session's name; None where there is only one.
    host : str, default="127.0.0.1"
        An address of this machine itself: "127.0.0.1", "::1" or "localhost".
    port : int, default=8420
        The port; 0 for any that is free.
    open_browser : bool, default=True
        Open the page in the browser.
    json_logs : bool, default=False
        Write a line of JSON for every request and error to standard error: method, path, status,
        milliseconds and address; no answer, no token, nobody's name.

    Raises
    ------
    ParameterError
        If the address is another one, or the port cannot be used.
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
    _check_host(host)
    app = create_app(url, name)
    try:
        listening = _listen(host, int(port))
    except BaseException:
        app.state.context.close()
        raise
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listening.getsockname()[1]}/"
    sys.stdout.write(f"page: {address} (Ctrl-C stops it; every answer is kept)\n")
    sys.stdout.flush()
    if open_browser:  # it may take a moment to start; connections wait at the socket until then
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    config = uvicorn.Config(
        app, log_level="warning", server_header=False, timeout_graceful_shutdown=2,
        access_log=False,  # it would tell queries
        log_config=None if json_logs else uvicorn.config.LOGGING_CONFIG,
    )  # fmt: skip
    if json_logs:
        log_as_json()
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        pass  # said again by uvicorn after it has shut down
    finally:
        listening.close()


def _check_host(host: str) -> None:
    """Refuse addresses that others can reach."""
    if host not in LOOPBACK:
        raise ParameterError(
            "The 'host' parameter of askmeans serve must be an address of this machine itself: "
            f"127.0.0.1, ::1 or localhost. Got {host!r} instead; to serve others, sign-in, "
            "invitations and encryption are missing so far."
        )


def _listen(host: str, port: int) -> socket.socket:
    """A socket at the address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
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
