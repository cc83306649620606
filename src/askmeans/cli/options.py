"""Options that several commands take, and how a record stands for the options it has fields of."""

import functools
import inspect
import os
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import Parameter
from typing import Annotated, Any, Literal

import typer

__all__ = ["Database", "Json", "Name", "TableOptions", "Which", "app", "command", "database_and",
           "listed", "named_words"]  # fmt: skip

STOPPED = 3  # exit code of a run that was interrupted
VARIABLE = "ASKMEANS_DB"
PORT = 8420

HEADINGS = {  # of `askmeans --help`, and the commands below each in their order
    "Start": ("demo", "plan", "fit", "init", "serve"),
    "Answer": ("answer", "ask", "tell", "undo", "status", "panel"),
    "Groups": ("groups", "rename"),
    "People": ("invite", "agreement", "adjudicate", "gold", "pseudonym"),
    "Data": ("add", "import", "export", "predict"),
    "Admin": ("budget", "pause", "audit", "backup", "copy", "upgrade"),
}
_ORDER = [name for names in HEADINGS.values() for name in names]

app = typer.Typer(
    name="askmeans",
    help="Fuzzy clustering with questions.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

AskName = Literal["group", "membership", "similarity", "pairwise", "relative"]
Database = Annotated[
    str, typer.Argument(envvar=VARIABLE, metavar="DB", help="Path or URL of the database.")
]
Name = Annotated[str | None, typer.Option(help="Which session, where DB holds several.")]
Annotator = Annotated[str, typer.Option(help="Who answers.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Id = Annotated[
    str | None, typer.Option(help="Column that names the items; default: the row number.")
]
Vectors = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Vectors of your own: FILE.npy, .npz, a table, or a column of lists."
    ),
]
Embed = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FUNCTION",
        help="What makes vectors of texts or images: package.module:function, wordllama, or "
        "COLUMN=FUNCTION for each.",
    ),
]
Reader = Annotated[
    Literal["disk", "dask"],
    typer.Option(
        "--engine",
        help="Who reads DATA: this machine, or 'dask': a cluster, Parquet that it holds.",
    ),
]
Scheduler = Annotated[
    str | None, typer.Option(help="Address of a Dask scheduler; default: workers here.")
]
Fuzzifier = Annotated[float, typer.Option(help="How soft the clusters are, from 1.")]
Seed = Annotated[int, typer.Option(help="Seed of the questions' choice.")]
ClusterNames = Annotated[str | None, typer.Option(help="Names of the clusters, a,b,c.")]
Seconds = Annotated[float, typer.Option(help="How long an answer takes, for the minutes.")]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Do not open the page in a browser.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Which session of which database, and whether what is printed is for machines."""

    database: Database
    name: Name = None
    as_json: Json = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """What a command is told about a table's columns."""

    features: Annotated[
        str | None,
        typer.Option(
            help="Columns to cluster by, a,b,c; b:category says of what kind it is. "
            "Default: all that are fit for it."
        ),
    ] = None
    show: Annotated[str | None, typer.Option(help="Columns people see, a,b,c; default: all.")] = (
        None
    )
    text: Annotated[
        list[str] | None, typer.Option(help="Column of running text; may be given several times.")
    ] = None
    image: Annotated[
        list[str] | None,
        typer.Option(help="Column with paths of images; may be given several times."),
    ] = None
    vectors: Vectors = None
    embed: Embed = None
    metric: Annotated[
        Literal["euclidean", "cosine"], typer.Option(help="Whether the length of vectors counts.")
    ] = "euclidean"
    id: Id = None
    scale: Annotated[
        Literal["none", "standard", "robust"], typer.Option(help="How numbers are made comparable.")
    ] = "robust"
    missing: Annotated[
        Literal["fill", "drop", "refuse"],
        typer.Option(help="Missing values: filled in, their rows dropped, or refused."),
    ] = "fill"


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Add a command; a parameter that is a record stands for options, one for each field."""
    taken = inspect.signature(function).parameters.values()

    @functools.wraps(function)
    def run(**given: Any) -> None:
        function(**{each.name: _gathered(each.annotation, each.name, given) for each in taken})

    flat = [option for each in taken for option in _options(each.annotation, each)]
    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]  # Typer reads it
    name = function.__name__.rstrip("_")
    app.command(name, rich_help_panel=_heading(name))(run)
    app.registered_commands.sort(key=lambda each: _ORDER.index(each.name or ""))
    return function


def _heading(name: str) -> str:
    """Under which heading `askmeans --help` lists a command."""
    return next(heading for heading, names in HEADINGS.items() if name in names)


def _options(kind: Any, parameter: Parameter) -> Iterator[Parameter]:
    """A parameter as Typer takes it; of a record, one for each field."""
    if not is_dataclass(kind):
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        return
    for field in fields(kind):
        default = Parameter.empty if field.default is MISSING else field.default
        one = Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=field.type)
        yield from _options(field.type, one)


def _gathered(kind: Any, name: str, given: dict[str, Any]) -> Any:
    """The value of a parameter: a record of the values of its fields, or what was given."""
    if not is_dataclass(kind):
        return given[name]
    values = {field.name: _gathered(field.type, field.name, given) for field in fields(kind)}
    return kind(**values)  # type: ignore[operator]  # a class


def named_words(words: list[str], *names: str) -> list[str]:
    """DB and what follows it; DB may be left out where ASKMEANS_DB says it."""
    if len(words) == len(names) - 1 and os.environ.get(VARIABLE):
        words = [os.environ[VARIABLE], *words]
    if len(words) != len(names):
        raise typer.BadParameter(f"expected {' '.join(names)} (DB may be {VARIABLE} instead)")
    return words


def database_and(words: list[str] | None, what: str) -> tuple[str, str | None]:
    """DB and perhaps something more; DB may be left out where ASKMEANS_DB says it."""
    given = list(words or ())
    if len(given) < 2 and os.environ.get(VARIABLE):
        given = [os.environ[VARIABLE], *given]
    if not 1 <= len(given) <= 2:
        raise typer.BadParameter(f"expected DB and perhaps {what} (DB may be {VARIABLE} instead)")
    return given[0], given[1] if len(given) == 2 else None


def listed(text: str | None) -> list[str] | None:
    """The words of a list written with commas."""
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]
