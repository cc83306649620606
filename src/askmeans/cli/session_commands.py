"""The commands about sessions, and their options; what they do is in `sessions.py` and its kin."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from askmeans.cli.options import (
    PORT,
    STOPPED,
    Annotator,
    AskName,
    ClusterNames,
    Database,
    Embed,
    Fuzzifier,
    Id,
    Json,
    Name,
    NoBrowser,
    Reader,
    Scheduler,
    Seconds,
    Seed,
    TableOptions,
    Vectors,
    Which,
    command,
    database_and,
    named_words,
)

__all__ = ["INIT_STAGES", "AddOptions", "InitOptions", "PredictOptions", "Regroup", "ServeOptions"]

INIT_STAGES = 4  # starting, reading, encoding, grouping and saving

DatabaseAndData = Annotated[
    list[str], typer.Argument(metavar="[DB] DATA", help="A data file with the same columns.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class InitOptions:
    """What `askmeans init` is told."""

    words: Annotated[
        list[str], typer.Argument(metavar="[DB] DATA", help="The database, and a data file.")
    ]
    k: Annotated[
        str,
        typer.Option(
            "-k",
            "--clusters",
            help="Number of clusters; 'auto': two, and one more whenever the answers speak of it.",
        ),
    ]
    ask: Annotated[
        AskName | None,
        typer.Option(
            help="What is asked; default: to which group an item belongs, with the paper's "
            "strategies how much it belongs to one cluster."
        ),
    ] = None
    table: TableOptions
    strategy: Annotated[str, typer.Option(help="How questions are chosen.")] = "auto"
    budget: Annotated[int | None, typer.Option(help="Most different questions to answer.")] = None
    good_enough: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="When you may stop: fewer items than this are probably in the wrong group, as in "
            "5% or 0.05. Default: 1%, where answers are all or nothing.",
        ),
    ] = None
    levels: Annotated[int | None, typer.Option(help="How many points the answers' scale has.")] = (
        None
    )
    annotations: Annotated[
        str,
        typer.Option(
            help="How many people answer each question; 2-4: two, up to four where they disagree; "
            "1-3: one, more where models expected another answer."
        ),
    ] = "1"
    fuzzifier: Fuzzifier = 2.0
    seed: Seed = 0
    names: ClusterNames = None
    name: Annotated[str, typer.Option(help="The session's name.")] = "main"
    seconds_per_question: Seconds = 5.0
    engine: Reader = "disk"
    scheduler: Scheduler = None
    as_json: Json = False

    @property
    def n_clusters(self) -> int | str:
        """The number of clusters, or auto."""
        if self.k == "auto":
            return self.k
        try:
            return int(self.k)
        except ValueError as error:
            told = f"'{self.k[:60]}' is no whole number, nor 'auto'."
            raise typer.BadParameter(told, param_hint="'-k' / '--clusters'") from error

    @property
    def target(self) -> float | None:
        """The share of wrong items below which it is good enough."""
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
        """A number of people, or from how many to how many."""
        least, dash, most = self.annotations.partition("-")
        try:
            return (int(least), int(most)) if dash else int(least)
        except ValueError as error:
            told = f"'{self.annotations[:60]}' is no number, nor two as in 2-4."
            raise typer.BadParameter(told, param_hint="'--annotations'") from error


@command
def init(options: InitOptions) -> None:
    """Make a session: people answer over days, and nothing is lost."""
    from askmeans._util.progress import stage

    with stage("starting", 1, INIT_STAGES):
        from askmeans.cli.session_init import run

    run(options)


@command
def ask(
    n: Annotated[int, typer.Option("-n", "--questions", help="How many at most.")] = 1,
    annotator: Annotator = "me",
    *,
    which: Which,
) -> None:
    """Print questions, leased to the annotator for a while."""
    from askmeans.cli import sessions

    if not sessions.ask(which, n, annotator):
        raise typer.Exit(STOPPED)


@command
def tell(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[DB] QUESTION VALUE",
            help="VALUE: 0 to 1, 25%, '?' cannot say, or 'skip'; of a group question its number "
            "(from 1) or name, shares (A:.7,B:.3), 'none', '?' or 'skip'.",
        ),
    ],
    annotator: Annotator = "me",
    key: Annotated[
        str | None, typer.Option(help="Your key of this answer: twice the same is harmless.")
    ] = None,
    name: Name = None,
    json: Json = False,
) -> None:
    """Answer a question; the answer is on disk when this returns."""
    from askmeans.cli import sessions

    database, question, value = named_words(words, "DB", "QUESTION", "VALUE")
    which = Which(database=database, name=name, as_json=json)
    sessions.tell(which, question, value, annotator, key)


@command
def undo(
    question: Annotated[
        int | None, typer.Option(help="The question whose answer is taken back; default: the last.")
    ] = None,
    annotator: Annotator = "me",
    *,
    which: Which,
) -> None:
    """Take back the annotator's last answer, and tell which questions that makes void."""
    from askmeans.cli import sessions

    sessions.undo(which, question, annotator)


@command
def answer(database: Database, annotator: Annotator = "me", name: Name = None) -> None:
    """Answer in the terminal, until all is asked or you stop (exit code 3)."""
    from askmeans.cli.answer import run

    if not run(Which(database=database, name=name), annotator):
        raise typer.Exit(STOPPED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What `askmeans serve` is told."""

    database: Database
    host: Annotated[
        str, typer.Option(help="Address to listen at; others than loopback only encrypted.")
    ] = "127.0.0.1"
    port: Annotated[int, typer.Option(help="The port; 0 for any that is free.")] = PORT
    no_browser: NoBrowser = False
    log_json: Annotated[
        bool,
        typer.Option(
            "--log-json", help="Log requests and errors as JSON, without answers; print no link."
        ),
    ] = False
    public_host: Annotated[
        list[str] | None,
        typer.Option(help="Name by which others call the page; may be given several times."),
    ] = None
    certificate: Annotated[
        Path | None, typer.Option(help="Certificate (PEM), to encrypt for others.")
    ] = None
    key: Annotated[Path | None, typer.Option(help="The certificate's key (PEM).")] = None
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="All come through a proxy, which encrypts.")
    ] = False
    proxy_address: Annotated[
        list[str] | None,
        typer.Option(help="The proxy's address or network; default: this machine."),
    ] = None
    name: Name = None


@command
def serve(options: ServeOptions) -> None:
    """Open a page on which people answer in the browser, and see the clusters take shape."""
    from askmeans.cli.serve import run

    run(options)


@command
def invite(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DB] [NAME]", help="The database, and whom to invite."),
    ] = None,
    role: Annotated[
        Literal["owner", "annotator"], typer.Option(help="What they may do.")
    ] = "annotator",
    days: Annotated[float, typer.Option(help="How long the link lets them in.")] = 30,
    revoke: Annotated[
        str | None,
        typer.Option(metavar="NAME|NUMBER", help="End a person's invitations, or one of them."),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(help="Where the page is, for the link; default: where it was served last."),
    ] = None,
    name: Name = None,
    json: Json = False,
) -> None:
    """Make a link for one person; without NAME, list all with their last use."""
    from askmeans.cli import invite as inviting

    database, person = database_and(words, "NAME")
    which = Which(database=database, name=name, as_json=json and revoke is None and person is None)
    if revoke is not None:
        if person is not None:
            raise typer.BadParameter("expected DB and --revoke NAME, without another name")
        inviting.revoke(which, revoke)
    elif person is None:
        inviting.invites(which)
    else:
        inviting.invite(which, person, role, days, address=address)


@command
def status(
    annotator: Annotated[
        str | None, typer.Option(help="For whom the state is told; default: for anybody.")
    ] = None,
    *,
    which: Which,
) -> None:
    """Tell where a session stands: answered, left, rounds, who answered, how many are wrong."""
    from askmeans.cli import sessions

    sessions.status(which, annotator)


@command
def export(
    out: Annotated[
        Path | None, typer.Option(help="Where results go, without ending; default: beside DB.")
    ] = None,
    format: Annotated[  # noqa: A002 - the option's name
        Literal["csv", "parquet", "json", "label-studio", "argilla", "huggingface"],
        typer.Option(help="How they are written."),
    ] = "csv",
    force: Annotated[bool, typer.Option("--force", help="Overwrite results.")] = False,
    *,
    which: Which,
) -> None:
    """Write memberships, centres and answers so far, keyed by id."""
    from askmeans.cli.export import run

    run(which, out, format, force=force)


@command
def import_(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[DB] FILE",
            help="Answers held already: a CSV, or JSON or Parquet of another tool.",
        ),
    ],
    name: Name = None,
    json: Json = False,
) -> None:
    """Take in answers held already: they cost no budget and are not asked."""
    from askmeans.cli import sessions

    database, file = named_words(words, "DB", "FILE")
    sessions.take_in(Which(database=database, name=name, as_json=json), Path(file))


@dataclass(frozen=True, slots=True, kw_only=True)
class AddOptions:
    """What `askmeans add` is told."""

    words: DatabaseAndData
    id: Id = None
    vectors: Vectors = None
    embed: Embed = None
    name: Name = None
    as_json: Json = False


@command
def add(options: AddOptions) -> None:
    """Add rows: they get memberships from what the answers taught, and no answer is lost."""
    from askmeans.cli.session_init import add_rows

    add_rows(options)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictOptions:
    """What `askmeans predict` is told."""

    words: DatabaseAndData
    out: Annotated[
        Path | None,
        typer.Option(help="FILE.csv, .parquet or .xlsx to write; default: a CSV beside DATA."),
    ] = None
    top: Annotated[
        int | None, typer.Option(help="Write so many strongest groups per item only.")
    ] = None
    id: Id = None
    embed: Embed = None
    engine: Reader = "disk"
    scheduler: Scheduler = None
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False
    name: Name = None
    as_json: Json = False


@command
def predict(options: PredictOptions) -> None:
    """Write the memberships of all rows of a file, by what the answers taught; nothing is added."""
    from askmeans.cli.predict import run

    run(options)


@command
def rename(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[DB] GROUP NAME", help="A group's number or name, and its new name."
        ),
    ],
    name: Name = None,
) -> None:
    """Rename a group."""
    from askmeans.cli import sessions

    database, group, text = named_words(words, "DB", "GROUP", "NAME")
    sessions.rename(Which(database=database, name=name), group, text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Regroup:
    """What is done to the groups."""

    add: Annotated[str | None, typer.Option(help="Add a group of this name.")] = None
    merge: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Make two groups one, by number or name: the first goes on."),
    ] = None
    rename: Annotated[
        tuple[str, str] | None, typer.Option(help="A group, by number or name, and its new name.")
    ] = None
    describe: Annotated[
        tuple[str, str] | None,
        typer.Option(help="A group, by number or name, and a line on what belongs there."),
    ] = None
    remove: Annotated[
        str | None,
        typer.Option(help="Remove a group, by number or name: what was put there is in none."),
    ] = None
    undo: Annotated[
        bool, typer.Option("--undo", help="Take back the last group added, merged or removed.")
    ] = False


@command
def groups(move: Regroup, annotator: Annotator = "me", *, which: Which) -> None:
    """List the groups; add, merge, remove, rename, describe them at any time: no answer is lost."""
    from askmeans.cli import sessions

    sessions.groups(which, move, annotator)


@command
def budget(
    words: Annotated[
        list[str], typer.Argument(metavar="[DB] N", help="Most different questions to answer.")
    ],
    name: Name = None,
) -> None:
    """Allow another number of questions: those answered so far are among them."""
    from askmeans.cli import sessions

    database, number = named_words(words, "DB", "N")
    sessions.budget(Which(database=database, name=name), number)


@command
def pause(
    database: Database,
    off: Annotated[bool, typer.Option("--off", help="Hand out questions again.")] = False,
    name: Name = None,
) -> None:
    """Hand out no questions until `askmeans pause --off`; answers are still taken."""
    from askmeans.cli import sessions

    sessions.pause(Which(database=database, name=name), off=off)


@command
def upgrade(database: Database) -> None:
    """Bring a database of an older askmeans up to date, after a backup beside it."""
    from askmeans.cli import sessions

    sessions.upgrade(database)


@command
def backup(
    words: Annotated[
        list[str], typer.Argument(metavar="[DB] FILE", help="A new file for the copy.")
    ],
) -> None:
    """Write a whole copy of a database to a new file, also while people answer."""
    from askmeans.cli import sessions

    database, file = named_words(words, "DB", "FILE")
    sessions.backup(database, Path(file))


@command
def copy(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Path or URL of a database.")],
    target: Annotated[
        str, typer.Argument(metavar="DST", help="A new file, or a PostgreSQL without sessions.")
    ],
) -> None:
    """Copy all sessions to another database, from SQLite to PostgreSQL or back, without loss."""
    from askmeans.cli import sessions

    sessions.copy(source, target)
