"""Every option and argument that several commands take, and how a command is declared.

A command is a function. Its parameters are arguments and options, as Typer reads them; a parameter
that is a record (a dataclass) stands for the options in its fields. The first argument is DB where
a command has one; it may be left out where the variable ASKMEANS_DB names it.
"""

import functools
import inspect
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option
from typer.core import TyperCommand

from askmeans.exceptions import ParameterError

if TYPE_CHECKING:
    from askmeans.sessions import Session

STOPPED = 3  # exit code of an interrupted run, or of one without questions
VARIABLE = "ASKMEANS_DB"
PORT = 8420

HEADINGS = {  # of `askmeans --help`, and the commands below each in their order
    "Start": ("demo", "plan", "fit", "init", "serve"),
    "Answer": ("answer", "ask", "tell", "undo", "status", "panel"),
    "Groups": ("groups",),
    "People": ("invite", "agreement", "adjudicate", "gold", "pseudonym"),
    "Data": ("add", "import", "export", "predict"),
    "Admin": ("budget", "pause", "audit", "backup", "copy", "upgrade"),
}
_HEADING_OF = {name: heading for heading, names in HEADINGS.items() for name in names}

app = typer.Typer(
    name="askmeans",
    help="Fuzzy clustering with questions.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

# Arguments.
Database = Annotated[
    str, Argument(envvar=VARIABLE, metavar="DB", help="Path or URL of the database.")
]
NewData = Annotated[str, Argument(metavar="DATA", help="A file with the same columns.")]
QuestionNumber = Annotated[str, Argument(metavar="QUESTION", help="The number of the question.")]
Value = Annotated[
    str,
    Argument(
        metavar="VALUE",
        help="0 to 1, 25%, '?' cannot say, or 'skip'; of a group question a group's number (from "
        "1) or name, shares (A:.7,B:.3), 'none', '?' or 'skip'.",
    ),
]

# Options.
Name = Annotated[str | None, Option(help="The session's name, where DB has several.")]
Json = Annotated[bool, Option("--json", help="Print JSON, for machines.")]
Annotator = Annotated[str, Option(help="Name of the annotator.")]
Clusters = Annotated[int, Option("-k", "--clusters", help="Number of clusters.")]
AskName = Literal["group", "membership", "similarity", "pairwise", "relative"]
Ask = Annotated[
    AskName | None,
    Option(
        help="The kind of question. group: to which group does an item belong (the default, but "
        "with the paper's strategies); membership: how much does it belong to one cluster; "
        "similarity: how similar are two or three items; pairwise: two only; relative: which of "
        "two is an item more like."
    ),
]
Budget = Annotated[int | None, Option(help="Most questions to answer; default: no limit.")]
Id = Annotated[str | None, Option(help="Column that names the items; default: the row number.")]
Features = Annotated[
    str | None,
    Option(
        help="Columns to cluster by, a,b,c; b:category sets the kind of a column. "
        "Default: all that are suitable."
    ),
]
Vectors = Annotated[
    str | None,
    Option(
        metavar="FILE", help="Vectors of your own: FILE.npy, .npz, a table, or a column of lists."
    ),
]
Embed = Annotated[
    list[str] | None,
    Option(
        metavar="FUNCTION",
        help="Encoder of texts or images: wordllama, sentence-transformers:MODEL, openai:MODEL (at "
        "OPENAI_BASE_URL), package.module:function, or COLUMN=FUNCTION for each.",
    ),
]
Reader = Annotated[
    Literal["disk", "dask"],
    Option("--engine", help="disk: this machine reads DATA; dask: a cluster reads Parquet."),
]
Scheduler = Annotated[
    str | None, Option(help="Address of a Dask scheduler; default: workers here.")
]
Seconds = Annotated[float, Option(help="Time per answer, for the forecast in minutes.")]
Out = Annotated[
    Path | None, Option(help="Path of the results without ending; default: beside DATA or DB.")
]
Top = Annotated[int | None, Option(help="Write only this many strongest groups per item.")]
Force = Annotated[bool, Option("--force", help="Overwrite existing results.")]
Port = Annotated[int, Option(help="The page's port; 0 for any that is free.")]
NoBrowser = Annotated[bool, Option("--no-browser", help="Do not open the page in a browser.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """The session of a command, and the form of its output."""

    database: Database
    name: Name = None
    as_json: Json = False

    @contextmanager
    def open(self) -> "Iterator[Session]":
        """The session, after its database's path was printed."""
        from askmeans import sessions
        from askmeans.cli.output import say_database

        if not self.as_json:
            say_database(self.database)
        with sessions.open(self.database, self.name) as session:
            yield session

    def show(self, session: "Session", values: Any, *lines: str) -> None:
        """Print the values, a mapping or a record, as JSON with --json, else the lines."""
        from askmeans.cli.output import json_text, say

        if self.as_json:
            if is_dataclass(values) and not isinstance(values, type):
                values = asdict(values)
            lines = (json_text({"database": session.url, "session": session.name, **values}),)
        for line in lines:
            say(line)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """How the columns of a table are used."""

    features: Features = None
    show: Annotated[str | None, Option(help="Columns that people see, a,b,c; default: all.")] = None
    text: Annotated[list[str] | None, Option(help="Column of running text; repeatable.")] = None
    image: Annotated[list[str] | None, Option(help="Column with paths of images; repeatable.")] = (
        None
    )
    vectors: Vectors = None
    embed: Embed = None
    metric: Annotated[
        Literal["euclidean", "cosine"], Option(help="Whether the length of vectors counts.")
    ] = "euclidean"
    id: Id = None
    scale: Annotated[
        Literal["none", "standard", "robust"], Option(help="How numbers are made comparable.")
    ] = "robust"
    missing: Annotated[
        Literal["fill", "drop", "refuse"],
        Option(help="Missing values: filled in, their rows dropped, or refused."),
    ] = "fill"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionOptions:
    """What decides which questions are asked, in a fit as in a session."""

    ask: Ask = None
    budget: Budget = None
    levels: Annotated[int | None, Option(help="Number of points of the answers' scale.")] = None
    fuzzifier: Annotated[float, Option(help="How soft the clusters are, from 1.")] = 2.0
    seed: Annotated[int, Option(help="Seed of the choice of questions.")] = 0
    names: Annotated[str | None, Option(help="Names of the clusters, a,b,c.")] = None
    no_names: Annotated[
        bool,
        Option("--no-names", help="Do not learn from the names of groups of texts."),
    ] = False
    advice: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN",
            help="What another classifier or old labels say: a column of names of groups, or "
            "a,b,c, scores of each group. Answers decide how much it counts; repeatable.",
        ),
    ] = None


class _DatabaseCommand(TyperCommand):
    """A command whose first argument is DB, which ASKMEANS_DB may replace."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the variable's database in front where an argument is missing."""
        words = [each.name for each in self.params if each.param_type_name == "argument"]
        database = os.environ.get(VARIABLE)
        if database and "database" in words:
            values = self.make_parser(ctx).parse_args(list(args))[0]
            n_typed = sum(isinstance(values.get(word), str) for word in words)
            if n_typed in (0, len(words) - 1):  # what follows DB comes whole or not at all
                args = [database, *args]
        return super().parse_args(ctx, args)


def command(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add a command; if it returns False, the exit code is 3."""
    parameters = inspect.signature(function).parameters.values()

    @functools.wraps(function)
    def run(**values: Any) -> None:
        from askmeans.sessions.authors import from_client

        arguments = {each.name: _value(each.annotation, each.name, values) for each in parameters}
        with from_client(f"command line on {platform.node()}"):
            finished = function(**arguments)
        if finished is False:
            raise typer.Exit(STOPPED)

    flat = [option for each in parameters for option in _flattened(each.annotation, each)]
    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]  # Typer reads it
    name = function.__name__.rstrip("_")
    app.command(name, cls=_DatabaseCommand, rich_help_panel=_HEADING_OF[name])(run)
    app.registered_commands.sort(key=lambda each: list(_HEADING_OF).index(each.name or ""))
    return function


def _flattened(kind: Any, parameter: Parameter) -> Iterator[Parameter]:
    """A parameter as Typer reads it; of a record, one for each field."""
    if not is_dataclass(kind):
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        return
    for field in fields(kind):
        default = Parameter.empty if field.default is MISSING else field.default
        one = Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=field.type)
        yield from _flattened(field.type, one)


def _value(kind: Any, name: str, values: dict[str, Any]) -> Any:
    """The value of a parameter; a record is made of the values of its fields."""
    if not is_dataclass(kind):
        return values[name]
    parts = {field.name: _value(field.type, field.name, values) for field in fields(kind)}
    return kind(**parts)  # type: ignore[operator]  # a class


def changed_options(record: Any) -> list[str]:
    """The options of a record that differ from their defaults, by the names of their fields."""
    names = []
    for field in fields(record):
        value = getattr(record, field.name)
        if is_dataclass(value):
            names += changed_options(value)
        elif field.default is not MISSING and value != field.default:
            names.append(field.name)
    return names


def refuse_options(names: Sequence[str], why: str) -> None:
    """Refuse options that have no effect, if there are any."""
    if names:
        typed = ", ".join(f"--{name.replace('_', '-')}" for name in names)
        raise ParameterError(f"{typed} must be left out {why}. Got {typed}; leave it out.")


def comma_list(text: str | None) -> list[str] | None:
    """The words of a list written with commas."""
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]
