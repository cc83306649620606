"""The command line: thin, over the library; heavy imports only where a command needs them."""

import errno
import platform
import sys
import warnings
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from askmeans.cli import session_commands
from askmeans.cli.printing import complain
from askmeans.clients import from_client
from askmeans.exceptions import AskmeansError

__all__ = ["app", "main"]

app = typer.Typer(
    name="askmeans",
    help="Fuzzy clustering with questions.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

STOPPED = session_commands.STOPPED

Json = session_commands.Json
Ask = session_commands.Ask


class StrategyName(StrEnum):
    """Which of the strategies."""

    auto = "auto"
    stratified = "stratified"
    two_phase = "two-phase"
    sequential = "sequential"
    two_clusters = "two-clusters"


class EngineName(StrEnum):
    """Where the work is done."""

    memory = "memory"
    disk = "disk"
    dask = "dask"
    gpu = "gpu"


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


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for all it writes.", file_okay=False)] = Path(
        "demo"
    ),
    data: Annotated[
        bool,
        typer.Option("--data", help="Only write example data: messages to a shop, and pictures."),
    ] = False,
    web: Annotated[
        bool, typer.Option("--web", help="Be the expert yourself, on a page in the browser.")
    ] = False,
    port: Annotated[
        int, typer.Option(help="The page's port; 0 for any that is free.")
    ] = session_commands.PORT,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open the page in a browser.")
    ] = False,
) -> None:
    """Cluster drawn faces by their moods with questions to a simulated expert; draw a picture."""
    if data:
        from askmeans.cli.example_data import write_data

        for path in write_data(out):
            typer.echo(path)
        return
    if web:
        from askmeans.cli.serve import run_demo

        run_demo(out, port, open_browser=not no_browser)
        return
    from askmeans.cli.demo import run

    run(out)


@app.command()
def plan(
    k: Annotated[int, typer.Option("-k", "--clusters", help="Number of clusters.")],
    data: Annotated[
        Path | None, typer.Argument(help="A data file, for the number of items.")
    ] = None,
    n: Annotated[
        int | None, typer.Option("-n", "--items", help="Number of items, where there is no DATA.")
    ] = None,
    ask: Annotated[Ask, typer.Option(help="What is asked.")] = Ask.membership,
    budget: Annotated[
        int | None, typer.Option(help="Most questions; without it, each strategy's own sizes.")
    ] = None,
    seconds_per_question: Annotated[
        float, typer.Option(help="How long an answer takes, for the minutes.")
    ] = 5.0,
    json: Json = False,
) -> None:
    """Tell what asking will cost: questions, rounds, minutes, and the error to expect."""
    from askmeans.cli.plan import run

    run(data, n, k, ask.value, budget, seconds_per_question, as_json=json)


@app.command()
def fit(
    data: Annotated[Path, typer.Argument(help="A file, one row per item, or a folder of images.")],
    k: Annotated[int, typer.Option("-k", "--clusters", help="Number of clusters.")],
    expert: Annotated[
        str | None,
        typer.Option(
            help="Who answers: 'console' (you are asked), 'labels:COLUMN' (simulated), or 'none'."
        ),
    ] = None,
    features: session_commands.Features = None,
    show: session_commands.Shown = None,
    text: session_commands.Texts = None,
    image: session_commands.Images = None,
    vectors: session_commands.Vectors = None,
    embed: session_commands.Embed = None,
    metric: session_commands.MetricOption = session_commands.Metric.euclidean,
    id: session_commands.Id = None,  # noqa: A002 - the option's name
    scale: session_commands.ScaleOption = session_commands.Scale.robust,
    missing: session_commands.MissingOption = session_commands.Missing.fill,
    strategy: Annotated[
        StrategyName, typer.Option(help="How questions are chosen.")
    ] = StrategyName.auto,
    ask: Annotated[
        Ask | None,
        typer.Option(
            help="What is asked: to which group an item belongs (the default, but for the paper's "
            "strategies), how much it belongs to one cluster, or how similar items are; 'pairwise' "
            "asks about two at a time only, 'relative' which of two an item is more like."
        ),
    ] = None,
    budget: Annotated[int | None, typer.Option(help="Most different questions to ask.")] = None,
    repeats: Annotated[
        int, typer.Option(help="How often a question is asked on average, at most.")
    ] = 1,
    levels: Annotated[
        int | None, typer.Option(help="How many points the scale of the answers has.")
    ] = None,
    fuzzifier: Annotated[float, typer.Option(help="How soft the clusters are, from 1.")] = 2.0,
    seed: Annotated[int, typer.Option(help="Seed of the questions' choice.")] = 0,
    names: Annotated[str | None, typer.Option(help="Names of the clusters, a,b,c.")] = None,
    answers: Annotated[
        Path | None,
        typer.Option(help="File of answers held already; new ones are saved to it as they come."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where results go, without ending; default: beside DATA.")
    ] = None,
    plot: Annotated[bool, typer.Option("--plot", help="Draw a picture, too.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite results.")] = False,
    engine: Annotated[
        EngineName,
        typer.Option(
            help="Where the work is done: 'memory', 'disk' (blocks of a file), 'dask' or 'gpu'."
        ),
    ] = EngineName.memory,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler; default: workers here.")
    ] = None,
    memory: Annotated[
        str | None, typer.Option(help="Memory for --engine disk, dask or gpu; default: 1GiB.")
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            help="Write so many strongest clusters per item; with --engine disk, dask or gpu."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Cluster the rows of a file softly, asking an expert."""
    from askmeans.cli.fit import Options, run
    from askmeans.cli.tables import TableOptions
    from askmeans.exceptions import ParameterError
    from askmeans.spec import default_ask

    table = TableOptions(
        id=id,
        text=text or (),
        image=image or (),
        vectors=vectors,
        show=_split(show),
        features=_split(features),
        embed=embed or (),
        metric=metric.value,
        scale=scale.value,
        missing=missing.value,
    )
    if engine is not EngineName.memory:
        from askmeans.cli.fit_large import LargeOptions, run_large

        asking = (budget, answers, levels, ask, names, plot or None, None if repeats == 1 else 1)
        if expert not in (None, "none") or any(value is not None for value in asking):
            raise ParameterError(
                f"With --engine {engine.value} nobody is asked: --expert, --ask, --budget, "
                "--repeats, --levels, --answers, --names and --plot must be left out. Got one of "
                "them; askmeans init and predict (or ActiveFuzzyKMeans) ask about such data."
            )
        run_large(
            LargeOptions(
                data=data,
                n_clusters=k,
                engine=engine.value,
                scheduler=scheduler,
                memory=memory,
                table=table,
                fuzzifier=fuzzifier,
                seed=seed,
                top=top,
                out=out,
                force=force,
                as_json=json,
            )
        )
        return
    if (scheduler, memory, top) != (None, None, None):
        raise ParameterError(
            "--scheduler, --memory and --top must be left out with --engine memory. Got one of "
            "them; use --engine disk, dask or gpu."
        )
    ended = run(
        Options(
            data=data,
            n_clusters=k,
            expert=expert or "console",
            table=table,
            strategy=strategy.value,
            ask=default_ask(strategy.value) if ask is None else ask.value,
            budget=budget,
            repeats=repeats,
            levels=levels,
            fuzzifier=fuzzifier,
            seed=seed,
            cluster_names=_split(names),
            answers=answers,
            out=out,
            plot=plot,
            force=force,
            as_json=json,
        )
    )
    if not ended:
        raise typer.Exit(STOPPED)


@app.command()
def reproduce(
    out: Annotated[Path, typer.Option(help="Folder for the report.", file_okay=False)],
    quick: Annotated[
        bool, typer.Option("--quick", help="A look in two minutes: fewer runs, smaller data.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed; the same one gives the same tables.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(help="Processes that share the work; default: one per core.")
    ] = None,
) -> None:
    """Run the paper's experiments: tables, figures, and its claims checked."""
    from askmeans.cli.reproduce import run

    run(out, quick=quick, seed=seed, jobs=jobs)


session_commands.register(app)


def main(arguments: list[str] | None = None) -> Any:
    """Run a command; our own errors are one sentence on standard error and exit code 1."""
    warnings.showwarning = _say_warning
    try:
        with from_client(f"command line on {platform.node()}"):
            return app(arguments)
    except AskmeansError as error:
        complain(str(error))
        sys.exit(1)
    except OSError as error:
        complain(_about_a_file(error))
        sys.exit(1)


def _about_a_file(error: OSError) -> str:
    """What the system says about a file, as a sentence with a remedy."""
    rules = {
        errno.EISDIR: ("must be a file", "it is a folder; name a file"),
        errno.EACCES: ("and its folder must be yours to use", "allow it (chmod), or name another"),
        errno.EPERM: ("and its folder must be yours to use", "allow it (chmod), or name another"),
        errno.EROFS: ("must be where files can be written", "name another place"),
        errno.ENOSPC: ("must have room", "free some space on its disk"),
    }
    if error.filename is None or error.errno not in rules:
        return str(error)
    rule, remedy = rules[error.errno]
    return f"{error.filename} {rule}. Got '{error.strerror}'; {remedy}."


def _say_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning in one line on standard error, without the place in the code."""
    complain(f"warning: {message}")


def _split(text: str | None) -> list[str] | None:
    """The words of a list written with commas."""
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]
