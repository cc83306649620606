"""The commands without a session, and their options: demo, plan, fit."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from askmeans.cli.options import (
    PORT,
    STOPPED,
    AskName,
    ClusterNames,
    Fuzzifier,
    Json,
    NoBrowser,
    Scheduler,
    Seconds,
    Seed,
    TableOptions,
    command,
)

__all__ = ["FitOptions", "PlanOptions"]


@command
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
    port: Annotated[int, typer.Option(help="The page's port; 0 for any that is free.")] = PORT,
    no_browser: NoBrowser = False,
) -> None:
    """Cluster drawn faces by their moods with questions to a simulated expert; draw a picture."""
    if data:
        from askmeans.cli.example_data import write_data

        for path in write_data(out):
            typer.echo(path)
    elif web:
        from askmeans.cli.serve import run_demo

        run_demo(out, port, open_browser=not no_browser)
    else:
        from askmeans.cli.demo import run

        run(out)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """What `askmeans plan` is told."""

    k: Annotated[int, typer.Option("-k", "--clusters", help="Number of clusters.")]
    data: Annotated[Path | None, typer.Argument(help="A data file, for the number of items.")] = (
        None
    )
    n: Annotated[
        int | None, typer.Option("-n", "--items", help="Number of items, where there is no DATA.")
    ] = None
    features: Annotated[
        str | None,
        typer.Option(
            help="Columns to cluster by, as for init; checked, and told with their kinds."
        ),
    ] = None
    ask: Annotated[AskName, typer.Option(help="What is asked.")] = "membership"
    budget: Annotated[
        int | None, typer.Option(help="Most questions; without it, each strategy's own sizes.")
    ] = None
    seconds_per_question: Seconds = 5.0
    as_json: Json = False


@command
def plan(options: PlanOptions) -> None:
    """Tell what asking will cost: questions, rounds, minutes, and the error to expect."""
    from askmeans.cli.plan import run

    run(options)


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """What `askmeans fit` is told."""

    data: Annotated[Path, typer.Argument(help="A file, one row per item, or a folder of images.")]
    n_clusters: Annotated[int, typer.Option("-k", "--clusters", help="Number of clusters.")]
    expert: Annotated[
        str | None,
        typer.Option(
            help="Who answers: 'console' (you are asked), 'labels:COLUMN' (simulated), or 'none'."
        ),
    ] = None
    table: TableOptions
    strategy: Annotated[
        Literal["auto", "stratified", "two-phase", "sequential", "two-clusters"],
        typer.Option(help="How questions are chosen."),
    ] = "auto"
    ask: Annotated[
        AskName | None,
        typer.Option(
            help="What is asked: to which group an item belongs (the default, but for the paper's "
            "strategies), how much it belongs to one cluster, or how similar items are; 'pairwise' "
            "asks about two at a time only, 'relative' which of two an item is more like."
        ),
    ] = None
    budget: Annotated[int | None, typer.Option(help="Most different questions to ask.")] = None
    repeats: Annotated[
        int, typer.Option(help="How often a question is asked on average, at most.")
    ] = 1
    levels: Annotated[
        int | None, typer.Option(help="How many points the scale of the answers has.")
    ] = None
    fuzzifier: Fuzzifier = 2.0
    seed: Seed = 0
    names: ClusterNames = None
    answers: Annotated[
        Path | None,
        typer.Option(help="File of answers held already; new ones are saved to it as they come."),
    ] = None
    out: Annotated[
        Path | None, typer.Option(help="Where results go, without ending; default: beside DATA.")
    ] = None
    plot: Annotated[bool, typer.Option("--plot", help="Draw a picture, too.")] = False
    force: Annotated[bool, typer.Option("--force", help="Overwrite results.")] = False
    engine: Annotated[
        Literal["memory", "disk", "dask", "gpu"],
        typer.Option(
            help="Where the work is done: 'memory', 'disk' (blocks of a file), 'dask' or 'gpu'."
        ),
    ] = "memory"
    scheduler: Scheduler = None
    memory: Annotated[
        str | None, typer.Option(help="Memory for --engine disk, dask or gpu; default: 1GiB.")
    ] = None
    top: Annotated[
        int | None,
        typer.Option(
            help="Write so many strongest clusters per item; with --engine disk, dask or gpu."
        ),
    ] = None
    as_json: Json = False


@command
def fit(options: FitOptions) -> None:
    """Cluster the rows of a file softly, asking an expert."""
    if options.engine != "memory":
        from askmeans.cli.fit_large import run_large

        run_large(options)
        return
    from askmeans.cli.fit import run

    if not run(options):
        raise typer.Exit(STOPPED)
