"""The command line: thin, over the library; heavy imports only where a command needs them."""

import errno
import re
import sys
import warnings
from typing import Annotated, Any

import typer

from askmeans.cli import (  # noqa: F401 - they add their commands
    admin,
    answering,
    data,
    groups,
    people,
    start,
)
from askmeans.cli.options import app
from askmeans.cli.output import complain
from askmeans.exceptions import AskmeansError

__all__ = ["app", "main"]

# A parameter in a message of the library; of a group or a strategy it is no option.
_PARAMETER = re.compile(
    r"The '(?P<name>\w+)' parameter"
    r"(?: of (?:askmeans \w+|sessions\.\w+|(?:Session|People|Settings)\.\w+|forecast))?(?= (?!of ))"
)
_ALIASES = {  # options that go by other names in Python
    "clusters": ("n_clusters", "k"),
    "n_clusters": ("k",),
    "cluster_names": ("names",),
    "n": ("number",),
    "audit_share": ("share",),
}

# Errors of the system about a file: the rule that was broken, and the remedy.
_FILE_ERRORS = {
    errno.EISDIR: ("must be a file", "it is a folder; name a file"),
    errno.EACCES: ("and its folder must be yours to use", "allow it (chmod), or name another"),
    errno.EPERM: ("and its folder must be yours to use", "allow it (chmod), or name another"),
    errno.EROFS: ("must be where files can be written", "name another place"),
    errno.ENOSPC: ("must have room", "free some space on its disk"),
}


def _version(show: bool) -> None:
    """Print the version and end."""
    if show:
        from askmeans import __version__

        typer.echo(f"askmeans {__version__}")
        raise typer.Exit


@app.callback()
def callback(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Fuzzy clustering with questions."""


def main(arguments: list[str] | None = None) -> Any:
    """Run a command; our own errors are one sentence on standard error and exit code 1."""
    warnings.showwarning = _show_warning
    try:
        return app(arguments)
    except AskmeansError as error:
        complain(_with_options(str(error), sys.argv[1:] if arguments is None else arguments))
    except OSError as error:
        message = str(error)
        if error.filename is not None and error.errno in _FILE_ERRORS:
            rule, remedy = _FILE_ERRORS[error.errno]
            message = f"{error.filename} {rule}. Got '{error.strerror}'; {remedy}."
        complain(message)
    sys.exit(1)


def _with_options(message: str, arguments: list[str]) -> str:
    """An error that names options of the command instead of parameters in Python."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # of a group
    command = next((commands[word] for word in arguments if word in commands), None)
    options = {} if command is None else {each.name: each for each in command.params}

    def as_typed(match: re.Match[str]) -> str:
        for name in (match["name"], *_ALIASES.get(match["name"], ())):
            if name in options:
                option = options[name]
                return str(option.metavar) if option.opts[0] == name else str(option.opts[0])
        return match[0]

    return _PARAMETER.sub(as_typed, message)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning in one line on standard error, without the place in the code."""
    complain(f"warning: {message}")
