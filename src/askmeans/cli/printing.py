"""What commands print: all of it passes through here, so that no data speaks to the terminal."""

import sys

from askmeans._util.text import printable

__all__ = ["complain", "say", "write"]


def say(text: str) -> None:
    """A line on standard output, at once."""
    write(text + "\n")


def write(text: str) -> None:
    """Text on standard output, at once."""
    sys.stdout.write(printable(text))
    sys.stdout.flush()


def complain(text: str) -> None:
    """A line on standard error that begins with our name."""
    sys.stderr.write(printable(f"askmeans: {text}\n"))
