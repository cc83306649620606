"""The commands about sessions: their options; what they do is in `sessions.py` and its kin."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]

STOPPED = 3  # exit code of a run that was interrupted
VARIABLE = "ASKMEANS_DB"
PORT = 8420

Database = Annotated[
    str, typer.Argument(envvar=VARIABLE, metavar="DB", help="Path or URL of the database.")
]
Name = Annotated[str | None, typer.Option(help="Which session, where DB holds several.")]
Annotator = Annotated[str, typer.Option(help="Who answers.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


Texts = Annotated[
    list[str] | None, typer.Option(help="Column of running text; may be given several times.")
]
Images = Annotated[
    list[str] | None, typer.Option(help="Column with paths of images; may be given several times.")
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
Shown = Annotated[str | None, typer.Option(help="Columns people see, a,b,c; default: all.")]
Features = Annotated[
    str | None,
    typer.Option(
        help="Columns to cluster by, a,b,c; b:category says of what kind it is. "
        "Default: all that are fit for it."
    ),
]
Id = Annotated[
    str | None, typer.Option(help="Column that names the items; default: the row number.")
]


class ReaderName(StrEnum):
    """Who reads a data file."""

    disk = "disk"
    dask = "dask"


Reader = Annotated[
    ReaderName,
    typer.Option(
        "--engine",
        help="Who reads DATA: this machine, or 'dask': a cluster, Parquet that it holds.",
    ),
]
Scheduler = Annotated[
    str | None, typer.Option(help="Address of a Dask scheduler; default: workers here.")
]


class Metric(StrEnum):
    """Whether the length of vectors counts."""

    euclidean = "euclidean"
    cosine = "cosine"


class Scale(StrEnum):
    """How numbers are made comparable."""

    none = "none"
    standard = "standard"
    robust = "robust"


class Missing(StrEnum):
    """What becomes of missing values."""

    fill = "fill"
    drop = "drop"
    refuse = "refuse"


MetricOption = Annotated[Metric, typer.Option(help="Whether the length of vectors counts.")]
ScaleOption = Annotated[Scale, typer.Option(help="How numbers are made comparable.")]
MissingOption = Annotated[
    Missing,
    typer.Option(help="Missing values: filled in, their rows dropped, or refused."),
]


class Ask(StrEnum):
    """What is asked."""

    group = "group"
    membership = "membership"
    similarity = "similarity"
    pairwise = "pairwise"
    relative = "relative"


class Format(StrEnum):
    """How results are written."""

    csv = "csv"
    parquet = "parquet"
    json = "json"
    label_studio = "label-studio"
    argilla = "argilla"
    huggingface = "huggingface"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(init)
    app.command()(ask)
    app.command()(tell)
    app.command()(undo)
    app.command()(answer)
    app.command()(serve)
    app.command()(invite)
    app.command()(status)
    app.command()(export)
    app.command("import")(import_)
    app.command()(add)
    app.command()(predict)
    app.command()(rename)
    app.command()(groups)
    app.command()(budget)
    app.command()(pause)
    app.command()(upgrade)
    app.command()(backup)
    app.command()(copy)
    app.command()(agreement)
    app.command()(adjudicate)
    app.command()(gold)
    app.command()(panel)
    app.command()(audit)
    app.command()(pseudonym)


def _database_and(words: list[str] | None, what: str) -> tuple[str, str | None]:
    """DB and perhaps something more; DB may be left out where ASKMEANS_DB says it."""
    given = list(words or ())
    if len(given) < 2 and os.environ.get(VARIABLE):
        given = [os.environ[VARIABLE], *given]
    if not 1 <= len(given) <= 2:
        raise typer.BadParameter(f"expected DB and perhaps {what} (DB may be {VARIABLE} instead)")
    return given[0], given[1] if len(given) == 2 else None


def _words(words: list[str], *names: str) -> list[str]:
    """DB and what follows it; DB may be left out where ASKMEANS_DB says it."""
    if len(words) == len(names) - 1 and os.environ.get(VARIABLE):
        words = [os.environ[VARIABLE], *words]
    if len(words) != len(names):
        raise typer.BadParameter(f"expected {' '.join(names)} (DB may be {VARIABLE} instead)")
    return words


def _clusters(text: str) -> int | str:
    """The number of clusters, or auto."""
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError as error:
        told = f"'{text[:60]}' is no whole number, nor 'auto'."
        raise typer.BadParameter(told, param_hint="'-k' / '--clusters'") from error


def _annotations(text: str) -> int | tuple[int, int]:
    """A number of people, or from how many to how many."""
    least, dash, most = text.partition("-")
    try:
        return (int(least), int(most)) if dash else int(least)
    except ValueError as error:
        told = f"'{text[:60]}' is no number, nor two as in 2-4."
        raise typer.BadParameter(told, param_hint="'--annotations'") from error


def _listed(text: str | None) -> list[str] | None:
    """The words of a list written with commas."""
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]


def init(
    words: Annotated[
        list[str], typer.Argument(metavar="[DB] DATA", help="The database, and a data file.")
    ],
    k: Annotated[
        str,
        typer.Option(
            "-k",
            "--clusters",
            help="Number of clusters; 'auto': two, and one more whenever the answers speak of it.",
        ),
    ],
    ask: Annotated[
        Ask | None,
        typer.Option(
            help="What is asked; default: to which group an item belongs, with the paper's "
            "strategies how much it belongs to one cluster."
        ),
    ] = None,
    show: Shown = None,
    text: Texts = None,
    image: Images = None,
    vectors: Vectors = None,
    embed: Embed = None,
    metric: MetricOption = Metric.euclidean,
    id: Id = None,  # noqa: A002 - the option's name
    features: Features = None,
    scale: ScaleOption = Scale.robust,
    missing: MissingOption = Missing.fill,
    strategy: Annotated[str, typer.Option(help="How questions are chosen.")] = "auto",
    budget: Annotated[int | None, typer.Option(help="Most different questions to answer.")] = None,
    levels: Annotated[
        int | None, typer.Option(help="How many points the answers' scale has.")
    ] = None,
    annotations: Annotated[
        str,
        typer.Option(
            help="How many people answer each question; 2-4: two, up to four where they disagree; "
            "1-3: one, more where models expected another answer."
        ),
    ] = "1",
    fuzzifier: Annotated[float, typer.Option(help="How soft the clusters are, from 1.")] = 2.0,
    seed: Annotated[int, typer.Option(help="Seed of the questions' choice.")] = 0,
    names: Annotated[str | None, typer.Option(help="Names of the clusters, a,b,c.")] = None,
    name: Annotated[str, typer.Option(help="The session's name.")] = "main",
    seconds_per_question: Annotated[
        float, typer.Option(help="How long an answer takes, for the minutes.")
    ] = 5.0,
    engine: Reader = ReaderName.disk,
    scheduler: Scheduler = None,
    json: Json = False,
) -> None:
    """Make a session: people answer over days, and nothing is lost."""
    from askmeans.cli.predict import Place
    from askmeans.cli.session_init import InitOptions, run
    from askmeans.cli.tables import TableOptions

    database, data = _words(words, "DB", "DATA")
    run(
        InitOptions(
            database=database,
            place=Place(data=data, engine=engine.value, scheduler=scheduler),
            n_clusters=_clusters(k),
            ask=None if ask is None else ask.value,
            table=TableOptions(
                id=id,
                text=text or (),
                image=image or (),
                vectors=vectors,
                show=_listed(show),
                features=_listed(features),
                embed=embed or (),
                metric=metric.value,
                scale=scale.value,
                missing=missing.value,
            ),
            strategy=strategy,
            budget=budget,
            levels=levels,
            annotations=_annotations(annotations),
            fuzzifier=fuzzifier,
            seed=seed,
            cluster_names=_listed(names),
            name=name,
            seconds_per_question=seconds_per_question,
            as_json=json,
        )
    )


def ask(
    database: Database,
    n: Annotated[int, typer.Option("-n", "--questions", help="How many at most.")] = 1,
    annotator: Annotator = "me",
    name: Name = None,
    json: Json = False,
) -> None:
    """Print questions, leased to the annotator for a while."""
    from askmeans.cli import sessions

    if not sessions.ask(database, name, n, annotator, as_json=json):
        raise typer.Exit(STOPPED)


def tell(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[DB] QUESTION VALUE",
            help="VALUE: 0 to 1, 25%, '?' cannot say, or 'skip'; of a group question its number or "
            "name, shares (A:.7,B:.3), 'none', '?' or 'skip'.",
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

    database, question, value = _words(words, "DB", "QUESTION", "VALUE")
    sessions.tell(database, name, question, value, annotator, key, as_json=json)


def undo(
    database: Database,
    question: Annotated[
        int | None, typer.Option(help="The question whose answer is taken back; default: the last.")
    ] = None,
    annotator: Annotator = "me",
    name: Name = None,
    json: Json = False,
) -> None:
    """Take back the annotator's last answer, and tell which questions that makes void."""
    from askmeans.cli import sessions

    sessions.undo(database, name, question, annotator, as_json=json)


def answer(database: Database, annotator: Annotator = "me", name: Name = None) -> None:
    """Answer in the terminal, until all is asked or you stop (exit code 3)."""
    from askmeans.cli.answer import run

    if not run(database, name, annotator):
        raise typer.Exit(STOPPED)


def serve(
    database: Database,
    host: Annotated[
        str, typer.Option(help="Address to listen at; others than loopback only encrypted.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 for any that is free.")] = PORT,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open the page in a browser.")
    ] = False,
    log_json: Annotated[
        bool,
        typer.Option(
            "--log-json", help="Log requests and errors as JSON, without answers; print no link."
        ),
    ] = False,
    public_host: Annotated[
        list[str] | None,
        typer.Option(help="Name by which others call the page; may be given several times."),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="Certificate (PEM), to encrypt for others.")
    ] = None,
    key: Annotated[Path | None, typer.Option(help="The certificate's key (PEM).")] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="All come through a proxy, which encrypts.")
    ] = False,
    proxy_address: Annotated[
        list[str] | None,
        typer.Option(help="The proxy's address or network; default: this machine."),
    ] = None,
    name: Name = None,
) -> None:
    """Open a page on which people answer in the browser, and see the clusters take shape."""
    from askmeans.cli.serve import make_access, run

    access = make_access(public_host, certificate, key, proxy_address, behind_proxy=behind_proxy)
    run(
        database, name, (host, port), open_browser=not no_browser, json_logs=log_json,
        access=access,
    )  # fmt: skip


class Role(StrEnum):
    """What somebody may do."""

    owner = "owner"
    annotator = "annotator"


def invite(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DB] [NAME]", help="The database, and whom to invite."),
    ] = None,
    role: Annotated[Role, typer.Option(help="What they may do.")] = Role.annotator,
    days: Annotated[float, typer.Option(help="How long the link lets them in.")] = 30,
    revoke: Annotated[
        str | None,
        typer.Option(metavar="NAME|NUMBER", help="End a person's invitations, or one of them."),
    ] = None,
    address: Annotated[
        str, typer.Option(help="Where the page is, for the link.")
    ] = f"http://127.0.0.1:{PORT}",
    name: Name = None,
    json: Json = False,
) -> None:
    """Make a link for one person; without NAME, list all with their last use."""
    from askmeans.cli import invite as inviting

    database, person = _database_and(words, "NAME")
    if revoke is not None:
        if person is not None:
            raise typer.BadParameter("expected DB and --revoke NAME, without another name")
        inviting.revoke(database, name, revoke)
    elif person is None:
        inviting.invites(database, name, as_json=json)
    else:
        inviting.invite(database, name, person, role.value, days, address=address)


def status(
    database: Database,
    annotator: Annotated[
        str | None, typer.Option(help="For whom the state is told; default: for anybody.")
    ] = None,
    name: Name = None,
    json: Json = False,
) -> None:
    """Tell where a session stands: answered, left, rounds, who answered, estimated error."""
    from askmeans.cli import sessions

    sessions.status(database, name, annotator, as_json=json)


def export(
    database: Database,
    out: Annotated[
        Path | None, typer.Option(help="Where results go, without ending; default: beside DB.")
    ] = None,
    format: Annotated[Format, typer.Option(help="How they are written.")] = Format.csv,  # noqa: A002 - the option's name
    force: Annotated[bool, typer.Option("--force", help="Overwrite results.")] = False,
    name: Name = None,
    json: Json = False,
) -> None:
    """Write memberships, centres and answers so far, keyed by id."""
    from askmeans.cli.export import run

    run(database, name, out, format.value, force=force, as_json=json)


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

    database, file = _words(words, "DB", "FILE")
    sessions.take_in(database, name, Path(file), as_json=json)


def add(
    words: Annotated[
        list[str], typer.Argument(metavar="[DB] DATA", help="A data file with the same columns.")
    ],
    id: Id = None,  # noqa: A002 - the option's name
    vectors: Vectors = None,
    embed: Embed = None,
    name: Name = None,
    json: Json = False,
) -> None:
    """Add rows: they get memberships from what the answers taught, and no answer is lost."""
    from askmeans.cli.session_init import AddOptions, add_rows

    database, data = _words(words, "DB", "DATA")
    add_rows(
        AddOptions(
            database=database, name=name, data=Path(data), id_column=id, vectors=vectors,
            embed=embed or [], as_json=json,
        )
    )  # fmt: skip


def predict(
    words: Annotated[
        list[str], typer.Argument(metavar="[DB] DATA", help="A data file with the same columns.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="The Parquet file to write; default: beside DATA.")
    ] = None,
    top: Annotated[
        int | None, typer.Option(help="Write so many strongest groups per item only.")
    ] = None,
    id: Id = None,  # noqa: A002 - the option's name
    embed: Embed = None,
    engine: Reader = ReaderName.disk,
    scheduler: Scheduler = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    name: Name = None,
    json: Json = False,
) -> None:
    """Write the memberships of all rows of a file, by what the answers taught; nothing is added."""
    from askmeans.cli.predict import Place, PredictOptions
    from askmeans.cli.predict import predict as run

    database, data = _words(words, "DB", "DATA")
    run(
        PredictOptions(
            database=database,
            name=name,
            place=Place(data=data, engine=engine.value, scheduler=scheduler),
            id_column=id,
            embed=embed or (),
            top=top,
            out=out,
            force=force,
            as_json=json,
        )
    )


def rename(
    words: Annotated[
        list[str], typer.Argument(metavar="[DB] CLUSTER NAME", help="A cluster's number and name.")
    ],
    name: Name = None,
) -> None:
    """Rename a group."""
    from askmeans.cli import sessions

    database, cluster, text = _words(words, "DB", "CLUSTER", "NAME")
    sessions.rename(database, name, cluster, text)


def groups(
    database: Database,
    add: Annotated[str | None, typer.Option(help="Add a group of this name.")] = None,
    merge: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Make two groups one, by number or name: the first goes on."),
    ] = None,
    rename: Annotated[
        tuple[str, str] | None, typer.Option(help="A group, by number or name, and its new name.")
    ] = None,
    describe: Annotated[
        tuple[str, str] | None,
        typer.Option(help="A group, by number or name, and a line on what belongs there."),
    ] = None,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take back the last group added or merged.")
    ] = False,
    annotator: Annotator = "me",
    name: Name = None,
    json: Json = False,
) -> None:
    """List the groups; add, merge, rename and describe them at any time: no answer is lost."""
    from askmeans.cli import sessions

    move = sessions.Regroup(
        add=add, merge=merge, rename=rename, describe=describe, undo=undo,
    )  # fmt: skip
    sessions.groups(database, name, move, annotator, as_json=json)


def budget(
    words: Annotated[
        list[str], typer.Argument(metavar="[DB] N", help="Most different questions to answer.")
    ],
    name: Name = None,
) -> None:
    """Allow another number of questions: those answered so far are among them."""
    from askmeans.cli import sessions

    database, number = _words(words, "DB", "N")
    sessions.budget(database, name, number)


def pause(
    database: Database,
    off: Annotated[bool, typer.Option("--off", help="Hand out questions again.")] = False,
    name: Name = None,
) -> None:
    """Hand out no questions until `askmeans pause --off`; answers are still taken."""
    from askmeans.cli import sessions

    sessions.pause(database, name, off=off)


def upgrade(database: Database) -> None:
    """Bring a database of an older askmeans up to date, after a backup beside it."""
    from askmeans.cli import sessions

    sessions.upgrade(database)


def backup(
    words: Annotated[
        list[str], typer.Argument(metavar="[DB] FILE", help="A new file for the copy.")
    ],
) -> None:
    """Write a whole copy of a database to a new file, also while people answer."""
    from askmeans.cli import sessions

    database, file = _words(words, "DB", "FILE")
    sessions.backup(database, Path(file))


def copy(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Path or URL of a database.")],
    target: Annotated[
        str, typer.Argument(metavar="DST", help="A new file, or a PostgreSQL without sessions.")
    ],
) -> None:
    """Copy all sessions to another database, from SQLite to PostgreSQL or back, without loss."""
    from askmeans.cli import sessions

    sessions.copy(source, target)


def audit(database: Database, name: Name = None, json: Json = False) -> None:
    """List all that happened in a session: when, who, from which client, and what."""
    from askmeans.cli import auditing

    auditing.audit(database, name, as_json=json)


def pseudonym(
    words: Annotated[
        list[str], typer.Argument(metavar="[DB] PERSON", help="Whose name is replaced.")
    ],
    pseudonym: Annotated[
        str | None, typer.Option("--as", help="What takes its place; default: person 1 and so on.")
    ] = None,
    annotator: Annotated[str, typer.Option(help="Who replaces it.")] = "me",
    name: Name = None,
) -> None:
    """Replace a person's name in a session's log and exports, and log that it was done."""
    from askmeans.cli import auditing

    database, person = _words(words, "DB", "PERSON")
    auditing.pseudonymize(database, name, person, pseudonym, annotator)


def agreement(
    database: Database,
    n: Annotated[int, typer.Option("-n", "--questions", help="How many to list at most.")] = 10,
    name: Name = None,
    json: Json = False,
) -> None:
    """Tell how far people agree, who differs from whom, and on which questions."""
    from askmeans.cli import opinions

    opinions.agreement(database, name, n, as_json=json)


def adjudicate(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[DB] QUESTION VALUE",
            help="As for tell; VALUE 'back' takes a decision back.",
        ),
    ],
    annotator: Annotated[str, typer.Option(help="Who decides.")] = "me",
    name: Name = None,
    json: Json = False,
) -> None:
    """Decide a question that people answered differently: the decision counts instead."""
    from askmeans.cli import opinions

    database, question, value = _words(words, "DB", "QUESTION", "VALUE")
    opinions.adjudicate(database, name, (question, value), annotator, as_json=json)


def panel(
    database: Database,
    model: Annotated[
        str | None, typer.Option(metavar="URL", help="An OpenAI-compatible endpoint to ask.")
    ] = None,
    model_name: Annotated[str | None, typer.Option(help="Which model there.")] = None,
    share: Annotated[
        float | None,
        typer.Option(help="Part of people's questions about random items, to audit models."),
    ] = None,
    items: Annotated[
        int | None, typer.Option(help="How many items, at random; default: all.", min=1)
    ] = None,
    votes: Annotated[int, typer.Option(help="How often each item is asked about.")] = 1,
    max_cost: Annotated[
        float | None,
        typer.Option(help="Money to spend at most, earlier runs included; needs --prices."),
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Tokens to use at most, earlier runs included.")
    ] = None,
    prices: Annotated[
        str | None, typer.Option(metavar="IN,OUT", help="What a million tokens cost.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="File of raw answers; default: beside DB.")
    ] = None,
    concurrency: Annotated[int, typer.Option(help="Requests at a time.")] = 8,
    key_variable: Annotated[
        str, typer.Option(help="Environment variable that has the key.")
    ] = "OPENAI_API_KEY",
    logprobs: Annotated[
        bool, typer.Option("--logprobs", help="Take probabilities of answers as shares.")
    ] = False,
    extra: Annotated[
        str | None,
        typer.Option(metavar="JSON", help="Sent with every request; null for what is not."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Ask about items that the model answered, too.")
    ] = False,
    forecast: Annotated[
        bool, typer.Option("--forecast", help="Say what it would cost, and ask nothing.")
    ] = False,
    names: Annotated[
        bool, typer.Option("--names", help="Propose names and descriptions; changes nothing.")
    ] = False,
    name: Name = None,
    json: Json = False,
) -> None:
    """Let a language model answer ahead, and tell how much rests on whom."""
    from askmeans.cli.panel import PanelOptions, run

    done = run(
        PanelOptions(
            database=database, name=name, url=model, model=model_name, share=share, items=items,
            votes=votes, max_cost=max_cost, max_tokens=max_tokens, prices=prices, cache=cache,
            concurrency=concurrency, key_variable=key_variable, logprobs=logprobs, extra=extra,
            again=again, forecast=forecast, names=names, as_json=json,
        )
    )  # fmt: skip
    if not done:
        raise typer.Exit(STOPPED)


def gold(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DB] [FILE]",
            help="The database, and a CSV of known answers: item (an id) and value (a group).",
        ),
    ] = None,
    feedback: Annotated[
        bool | None,
        typer.Option(
            "--feedback/--no-feedback", help="Whether people are told the known answer after it."
        ),
    ] = None,
    name: Name = None,
    json: Json = False,
) -> None:
    """Mix questions whose answers are known with the others, unmarked; tell how people did.

    It needs the default strategy: a plan of the paper asks its own questions only.
    """
    from askmeans.cli import opinions

    database, file = _database_and(words, "FILE")
    opinions.gold(database, name, None if file is None else Path(file), feedback, as_json=json)
