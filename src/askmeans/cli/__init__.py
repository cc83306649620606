"""The command line: thin, over the library; heavy imports only where a command needs them."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="askmeans",
    help="Fuzzy clustering with questions.",
    no_args_is_help=True,
    add_completion=False,
)


@app.callback()
def main() -> None:
    """Fuzzy clustering with questions."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.", file_okay=False)] = Path(
        "demo"
    ),
) -> None:
    """Cluster Iris softly, show what was found, draw a picture."""
    from askmeans.cli.demo import run

    run(out)
