"""`askmeans init` and `askmeans add`: a data file becomes a session, or more rows of one."""

from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from askmeans.checks import check_positive, check_seed
from askmeans.cli.printing import complain, say
from askmeans.cli.sessions import opened, show_json
from askmeans.cli.tables import (
    Column,
    check_column,
    choose_features,
    column_kinds,
    item_ids,
    listed_columns,
    read_table,
    scale_warning,
    scaling,
)
from askmeans.exceptions import DataError
from askmeans.sessions import Session, create
from askmeans.sessions.display import IMAGE_TYPES
from askmeans.sessions.store import file_of

__all__ = ["InitOptions", "add_rows", "run"]

_NAMED = 3  # missing images that are named


@dataclass(frozen=True, slots=True, kw_only=True)
class InitOptions:
    """What the command line was given."""

    database: str
    data: Path
    n_clusters: int
    ask: str
    show: list[str] | None
    text: str | None
    image: str | None
    id_column: str | None
    features: list[str] | None
    scale: str
    impute: str | None
    strategy: str
    budget: int | None
    levels: int | None
    annotations: int
    fuzzifier: float
    seed: int
    cluster_names: list[str] | None
    name: str
    seconds_per_question: float
    as_json: bool


def run(options: InitOptions) -> None:
    """Read, make the session, and print what to expect."""
    check_positive(options.seconds_per_question, "seconds_per_question", "askmeans init")
    check_seed(options.seed, "seed", "askmeans init")
    frame = read_table(options.data, options.id_column)
    ids = item_ids(frame, options.id_column)
    shown = options.show
    if shown is not None:
        extra = [name for name in (options.text, options.image) if name and name not in shown]
        shown = [*shown, *extra]
        for name in shown:
            check_column(frame, name)
    meant = {
        options.id_column: "the items' ids", options.text: "running text", options.image: "images"
    }  # fmt: skip
    apart = {name: what for name, what in meant.items() if name}
    columns = column_kinds(frame, features=options.features, apart=apart, shown=shown)
    chosen = choose_features(frame, options.features, columns, options.impute, ids)
    warning = scale_warning(chosen, options.scale)
    if warning:
        complain(f"warning: {warning}")
    X = chosen.to_numpy()
    middle, width = scaling(X, options.scale)
    if not options.as_json:
        say(f"database: {file_of(options.database)}")
    session = create(
        options.database,
        (X - middle) / width if options.scale != "none" else X,
        n_clusters=options.n_clusters,
        items=frame if shown is None else frame[shown],
        cluster_names=options.cluster_names,
        ask=options.ask,
        strategy=options.strategy,
        budget=options.budget,
        levels=options.levels,
        annotations=options.annotations,
        fuzzifier=options.fuzzifier,
        random_state=options.seed,
        name=options.name,
        ids=ids if options.id_column else None,
        text=options.text,
        image=options.image,
        folder=options.data.parent,
        feature_names=[str(name) for name in chosen.columns],
        units=np.array([middle, width]),
    )
    with closing(session):
        _tell_missing_images(session, options.image)
        _report(options, session, len(X), columns)


def _tell_missing_images(session: Session, column: str | None) -> None:
    """Warn of images that nobody will see."""
    if column is None:
        return
    rows = [row for row in range(len(session.rows)) if session.rows.image_file(row) is None]
    if rows:
        items = [session.item(row) for row in rows[:_NAMED]]
        named = ", ".join(f"{item.id}: {item.image or 'none'}" for item in items)
        complain(
            f"warning: column {column!r} must have paths of images in {session.rows.folder} "
            f"({', '.join(IMAGE_TYPES)}). Got {len(rows)} of {len(session.rows)} that are not "
            f"there ({named}{', ...' if len(rows) > _NAMED else ''}); put them there."
        )


def _report(options: InitOptions, session: Session, n: int, columns: list[Column]) -> None:
    """Print what the session will take."""
    from askmeans.sessions.results import expected

    forecast = expected(session.config.make_strategy(), n, session.config)
    questions = None if forecast is None else forecast.n_queries
    if questions is not None and options.budget is not None:
        questions = min(questions, options.budget)
    answers = None if questions is None else questions * options.annotations
    minutes = None if answers is None else answers * options.seconds_per_question / 60.0
    rounds = None if forecast is None else forecast.n_rounds
    error = None if forecast is None else forecast.expected_error
    if options.as_json:
        show_json(
            session,
            {
                "n_items": n,
                "n_clusters": options.n_clusters,
                "features": session.config.feature_names,
                "columns": [asdict(column) for column in columns],
                "scale": options.scale,
                "strategy": session.config.strategy,
                "questions": questions,
                "rounds": rounds,
                "minutes": minutes,
                "expected_error": error,
                "cluster_names": session.cluster_names,
            },
        )
        return
    say(f"session: {session.name}, {n} items, {options.n_clusters} clusters")
    say(listed_columns(columns))
    say(f"scale: {options.scale}")
    if questions is None:
        say("No forecast for this strategy.")
    else:
        say(
            f"expect about {questions} questions in {rounds} rounds, {minutes:.0f} minutes at "
            f"{options.seconds_per_question:g} seconds a question"
        )
    if options.ask == "membership":
        say(f"clusters: {'; '.join(session.cluster_names)}")
    say(f"next: askmeans answer {options.database}")


def add_rows(
    database: str, name: str | None, data: Path, id_column: str | None, *, as_json: bool
) -> None:
    """Add the rows of a file to a session."""
    with closing(opened(database, name, as_json=as_json)) as session:
        frame = read_table(data, id_column)
        ids = item_ids(frame, id_column)
        config = session.config
        if config.feature_names is None:
            raise DataError(
                "The session must know its features' names. Got none; add_rows does it."
            )
        for feature in config.feature_names:
            check_column(frame, feature)
        chosen = choose_features(frame, config.feature_names, [], None, ids)
        X = chosen.to_numpy()
        if config.units is not None:
            middle, width = np.array(config.units)
            X = (X - middle) / width
        columns = [column for column in session.rows.columns if column in frame.columns]
        missing = sorted(set(session.rows.columns) - set(columns))
        if missing:
            raise DataError(
                f"{data} must have the columns people see. Got none called {', '.join(missing)}."
            )
        before = len(session.rows)
        session.add_rows(X, items=frame[columns], ids=ids if id_column else None)
        count = len(session.rows) - before
        if as_json:
            show_json(session, {"added": count, "n_items": len(session.rows)})
        else:
            say(f"{count} rows added; {len(session.rows)} items now, every answer kept.")
