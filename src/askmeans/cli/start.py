"""The commands to start with, and their options: demo, plan, fit, init, serve."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Argument, Option

from askmeans._util.progress import stage
from askmeans.cli.options import (
    PORT,
    VARIABLE,
    AskName,
    Budget,
    Clusters,
    Features,
    Force,
    Json,
    Name,
    NoBrowser,
    Out,
    Port,
    QuestionOptions,
    Reader,
    Scheduler,
    Seconds,
    SessionOptions,
    TableOptions,
    Top,
    command,
)
from askmeans.cli.output import say, say_database
from askmeans.exceptions import ParameterError

_THIS_MACHINE = ("127.0.0.1", "::1")  # the proxy's addresses by default


@command
def demo(
    out: Annotated[Path, Option(help="Folder for all files.", file_okay=False)] = Path("demo"),
    data: Annotated[
        bool, Option("--data", help="Only write example data: messages to a shop, and pictures.")
    ] = False,
    web: Annotated[
        bool, Option("--web", help="Be the expert yourself, on a page in the browser.")
    ] = False,
    port: Port = PORT,
    no_browser: NoBrowser = False,
) -> None:
    """Cluster drawn faces by mood with the answers of a simulated expert; draw a picture."""
    if data:
        from askmeans.cli.example_data import write_data

        for path in write_data(out):
            typer.echo(path)
    elif web:
        from askmeans.cli.example_data import make_faces_session

        database = out / "faces.db"
        if not database.exists():
            make_faces_session(database)
        serve(ServeOptions(database=str(database), port=port, no_browser=no_browser))
    else:
        from askmeans.cli.demo import run

        run(out)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """The options of `askmeans plan`."""

    data: Annotated[
        Path | None, Argument(metavar="DATA", help="A data file, for the number of items.")
    ] = None
    k: Clusters
    n: Annotated[int | None, Option("-n", "--items", help="Number of items, instead of DATA.")] = (
        None
    )
    ask: Annotated[AskName, Option(help="The kind of question, as in fit.")] = "membership"
    budget: Budget = None
    features: Features = None
    seconds_per_question: Seconds = 5.0
    as_json: Json = False


@command
def plan(options: PlanOptions) -> None:
    """Forecast the cost of asking: questions, rounds, minutes, and the expected error."""
    from askmeans.cli.plan import run

    run(options)


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """The options of `askmeans fit`."""

    data: Annotated[
        Path, Argument(metavar="DATA", help="A file, one row per item, or a folder of images.")
    ]
    n_clusters: Clusters
    expert: Annotated[
        str | None,
        Option(
            help="Who answers: 'console' (you, the default; in a session beside DATA), "
            "'labels:COLUMN' (simulated), or 'none'."
        ),
    ] = None
    table: TableOptions
    questions: QuestionOptions
    strategy: Annotated[
        Literal["auto", "two-phase", "sequential", "two-clusters"],
        Option(help="How questions are chosen; all but auto are the paper's."),
    ] = "auto"
    answers: Annotated[
        Path | None, Option(help="A file of known answers; these questions are not asked.")
    ] = None
    out: Out = None
    plot: Annotated[bool, Option("--plot", help="Draw a picture as well.")] = False
    force: Force = False
    engine: Annotated[
        Literal["memory", "disk", "dask", "gpu"],
        Option(help="Where the data is: memory, disk (read in blocks), dask or gpu."),
    ] = "memory"
    scheduler: Scheduler = None
    memory: Annotated[str | None, Option(help="Memory for other engines; default: 1GiB.")] = None
    top: Top = None
    as_json: Json = False


@command
def fit(options: FitOptions) -> bool:
    """Cluster the rows of a file softly with the answers of an expert."""
    if options.engine != "memory":
        from askmeans.cli.fit_large import run_large

        run_large(options)
        return True
    from askmeans.cli.fit import run

    return run(options)


@dataclass(frozen=True, slots=True, kw_only=True)
class InitOptions:
    """The options of `askmeans init`."""

    session: SessionOptions
    data: Annotated[str, Argument(metavar="DATA", help="A data file.")]
    k: Annotated[
        str,
        Option(
            "-k",
            "--clusters",
            help="Number of clusters; 'auto': two at first, more where answers suggest it.",
        ),
    ]
    table: TableOptions
    questions: QuestionOptions
    good_enough: Annotated[
        str | None,
        Option(
            metavar="SHARE",
            help="Share of wrong items below which the result is good enough, as in 5% or "
            "0.05. Default: 1%, where answers are all or nothing.",
        ),
    ] = None
    annotations: Annotated[
        str,
        Option(
            help="Number of people who answer each question. 2-4: two, up to four where they "
            "disagree. 1-3: one, more where models expect another answer."
        ),
    ] = "1"
    seconds_per_question: Seconds = 5.0
    engine: Reader = "disk"
    scheduler: Scheduler = None

    @property
    def n_clusters(self) -> int | str:
        """The number of clusters, or auto."""
        try:
            return self.k if self.k == "auto" else int(self.k)
        except ValueError as error:
            message = f"'{self.k[:60]}' must be a whole number, or 'auto'."
            raise typer.BadParameter(message, param_hint="'-k' / '--clusters'") from error

    @property
    def target(self) -> float | None:
        """The share of wrong items below which the result is good enough."""
        if self.good_enough is None:
            return None
        number, percent, rest = self.good_enough.partition("%")
        try:
            share = float(number) / (100.0 if percent else 1.0)
        except ValueError:
            share = 0.0
        if rest.strip() or not 0.0 < share <= 1.0:
            message = f"'{self.good_enough[:60]}' must be a share above 0, as in 5% or 0.05."
            raise typer.BadParameter(message, param_hint="'--good-enough'")
        return share

    @property
    def n_annotations(self) -> int | tuple[int, int]:
        """A number of people, or the least and the largest."""
        least, dash, most = self.annotations.partition("-")
        try:
            return (int(least), int(most)) if dash else int(least)
        except ValueError as error:
            message = f"'{self.annotations[:60]}' must be a number, or two as in 2-4."
            raise typer.BadParameter(message, param_hint="'--annotations'") from error


@command
def init(options: InitOptions) -> None:
    """Create a session from a data file, in which people answer over days."""
    with stage("1 of 4: starting"):
        from askmeans.cli.init import run

    run(options)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The options of `askmeans serve`."""

    database: Annotated[
        str,
        Argument(
            envvar=VARIABLE, metavar="DB",
            help="Path or URL of the database, or a folder with projects; default: this folder.",
        ),
    ] = "."  # fmt: skip
    host: Annotated[str, Option(help="Address to listen at; all but loopback need encryption.")] = (
        "127.0.0.1"
    )
    port: Port = PORT
    no_browser: NoBrowser = False
    log_json: Annotated[
        bool, Option("--log-json", help="Log requests and errors as JSON; print no link.")
    ] = False
    public_host: Annotated[
        list[str] | None, Option(help="Name of the page for other machines; repeatable.")
    ] = None
    certificate: Annotated[Path | None, Option(help="Certificate (PEM) for encryption.")] = None
    key: Annotated[Path | None, Option(help="The certificate's key (PEM).")] = None
    behind_proxy: Annotated[
        bool, Option("--behind-proxy", help="All requests come through a proxy that encrypts.")
    ] = False
    proxy_address: Annotated[
        list[str] | None, Option(help="The proxy's address or network; default: this machine.")
    ] = None
    language: Annotated[
        str | None,
        Option(help="Language of the page: ar, de, en, es, fr or zh-Hans; default: the browser's."),
    ] = None
    name: Name = None


@command
def serve(options: ServeOptions) -> None:
    """Serve the page on which people answer in the browser and see the results.

    Without DB, or with a folder, it begins with the projects there, and makes new ones of files.
    """
    from askmeans.web import Access
    from askmeans.web import serve as serve_page

    if options.proxy_address and not options.behind_proxy:
        raise ParameterError(
            "The 'proxy_address' parameter of askmeans serve must come with --behind-proxy. "
            f"Got {', '.join(options.proxy_address)} without."
        )
    access = Access(
        public_hosts=tuple(options.public_host or ()),
        certificate=options.certificate,
        key=options.key,
        proxies=tuple(options.proxy_address or _THIS_MACHINE) if options.behind_proxy else (),
    )
    if Path(options.database).is_dir():
        say(f"projects: {Path(options.database).resolve()}")
    else:
        say_database(options.database)
    serve_page(
        options.database, options.name, host=options.host, port=options.port,
        open_browser=not options.no_browser, json_logs=options.log_json, access=access,
        language=options.language,
    )  # fmt: skip
