"""The command line: thin, over the library; heavy imports only where a command needs them."""

import errno
import platform
import sys
import warnings
from typing import Annotated, Any

import typer

from askmeans.cli import (  # noqa: F401 - they add their commands
    data_commands,
    session_commands,
    team_commands,
)
from askmeans.cli.options import app
from askmeans.cli.printing import complain
from askmeans.exceptions import AskmeansError
from askmeans.sessions.clients import from_client

__all__ = ["app", "main"]

# What the system says about a file: the rule that was broken, and the remedy.
_ABOUT_FILES = {
    errno.EISDIR: ("must be a file", "it is a folder; name a file"),
    errno.EACCES: ("and its folder must be yours to use", "allow it (chmod), or name another"),
    errno.EPERM: ("and its folder must be yours to use", "allow it (chmod), or name another"),
    errno.EROFS: ("must be where files can be written", "name another place"),
    errno.ENOSPC: ("must have room", "free some space on its disk"),
}


def _version(wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        from askmeans import __version__

        typer.echo(f"askmeans {__version__}")
        raise typer.Exit


@app.callback()
def callback(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Fuzzy clustering with questions."""


def main(arguments: list[str] | None = None) -> Any:
    """Run a command; our own errors are one sentence on standard error and exit code 1."""
    warnings.showwarning = _say_warning
    try:
        with from_client(f"command line on {platform.node()}"):
            return app(arguments)
    except AskmeansError as error:
        complain(str(error))
    except OSError as error:
        told = str(error)
        if error.filename is not None and error.errno in _ABOUT_FILES:
            rule, remedy = _ABOUT_FILES[error.errno]
            told = f"{error.filename} {rule}. Got '{error.strerror}'; {remedy}."
        complain(told)
    sys.exit(1)


def _say_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning in one line on standard error, without the place in the code."""
    complain(f"warning: {message}")
