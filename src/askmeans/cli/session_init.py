"""`askmeans init` and `askmeans add`: a data file becomes a session, or more rows of one."""

from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

from askmeans._util.checks import check_positive, check_seed
from askmeans._util.progress import stage
from askmeans.cli.options import Which, listed, named_words
from askmeans.cli.predict import Place, read_candidates
from askmeans.cli.printing import complain, say
from askmeans.cli.session_commands import INIT_STAGES, AddOptions, InitOptions
from askmeans.cli.sessions import named, opened, show_json
from askmeans.cli.tables import embed_option, read_with
from askmeans.exceptions import DataError
from askmeans.sessions import Session, create
from askmeans.sessions.config import Config
from askmeans.sessions.store import shown
from askmeans.spec import SIMILARITIES
from askmeans.tables import Recipe, apply_recipe, listed_columns
from askmeans.tables.columns import Column
from askmeans.tables.encoders import Number, Scaling

__all__ = ["add_rows", "recipe_of", "run"]


def run(options: InitOptions) -> None:
    """Read, make the session, and print what to expect."""
    check_positive(options.seconds_per_question, "seconds_per_question", "askmeans init")
    check_seed(options.seed, "seed", "askmeans init")
    database, data = named_words(options.words, "DB", "DATA")
    n_clusters, annotations, target = options.n_clusters, options.n_annotations, options.target
    place = Place(data=data, engine=options.engine, scheduler=options.scheduler)
    with stage("reading", 2, INIT_STAGES):
        table, id_column = read_candidates(place, options.table.id, options.seed)
    with stage(f"encoding {len(table.frame):,} rows", 3, INIT_STAGES):
        items = read_with(replace(options.table, id=id_column), table, listed(options.table.show))
    if not options.as_json:
        say(f"database: {shown(database)}")
        say(listed_columns(items.recipe.columns))
    with stage("grouping and saving", 4, INIT_STAGES):
        session = create(
            database,
            items,
            n_clusters=n_clusters,
            cluster_names=listed(options.names),
            ask=options.ask,
            strategy=options.strategy,
            budget=options.budget,
            target=target,
            levels=options.levels,
            annotations=annotations,
            fuzzifier=options.fuzzifier,
            random_state=options.seed,
            name=options.name,
        )
    with closing(session):
        _report(options, session, len(items.ids), items.recipe.columns)


def _report(options: InitOptions, session: Session, n: int, columns: list[Column]) -> None:
    """Print what the session will take."""
    from askmeans.sessions.results import expected

    forecast = expected(session.config.make_strategy(), n, session.config)
    questions = None if forecast is None else forecast.n_queries
    if questions is not None and options.budget is not None:
        questions = min(questions, options.budget)
    answers = None if questions is None else questions * session.config.annotations
    minutes = None if answers is None else answers * options.seconds_per_question / 60.0
    rounds = None if forecast is None else forecast.n_rounds
    error = None if forecast is None else forecast.expected_error
    if options.as_json:
        show_json(
            session,
            {
                "n_items": n,
                "n_clusters": session.config.n_clusters,
                "features": session.config.feature_names,
                "columns": [asdict(column) for column in columns],
                "scale": options.table.scale,
                "strategy": session.config.strategy,
                "questions": questions,
                "rounds": rounds,
                "minutes": minutes,
                "expected_error": error,
                "cluster_names": session.cluster_names,
            },
        )
        return
    say(f"session: {session.name}, {n} items, {session.config.n_clusters} clusters")
    say(f"scale: {options.table.scale}")
    if questions is None:
        say("No forecast for this strategy.")
    else:
        say(
            f"expect about {questions} questions in {rounds} rounds, {minutes:.0f} minutes at "
            f"{options.seconds_per_question:g} seconds a question"
        )
    if session.config.ask not in SIMILARITIES:
        say(f"clusters: {'; '.join(session.cluster_names)}")
    database = named(named_words(options.words, "DB", "DATA")[0])
    say(f"next: askmeans serve {database} (in the browser), or askmeans answer {database} (here)")


def add_rows(options: AddOptions) -> None:
    """Add the rows of a file to a session, with features made as those of the first rows."""
    database, data = named_words(options.words, "DB", "DATA")
    which = Which(database=database, name=options.name, as_json=options.as_json)
    with opened(which) as session:
        recipe = recipe_of(session.config, session.rows.columns)
        items = apply_recipe(
            recipe, Path(data), id=options.id, vectors=options.vectors,
            embed=embed_option(options.embed),
        )  # fmt: skip
        for note in items.notes:
            complain(f"warning: {note}")
        before = len(session.rows)
        numbered = [str(row) for row in range(len(items.ids))]  # the file has no column of ids
        named = options.id is not None or (recipe.id is not None and items.ids != numbered)
        session.add_rows(
            items.features.astype(session.rows.base.dtype), items=items.shown,
            ids=items.ids if named else None,
        )  # fmt: skip
        count = len(session.rows) - before
        if options.as_json:
            show_json(session, {"added": count, "n_items": len(session.rows)})
        else:
            say(f"{count} rows added; {len(session.rows)} items now, every answer kept.")


def recipe_of(config: Config, shown: list[str]) -> Recipe:
    """How a session's features were made; sessions of older versions had numbers only."""
    if config.recipe is not None:
        return Recipe.from_json(config.recipe)
    if config.feature_names is None:
        raise DataError("The session must know its features' names. Got none; add_rows does it.")
    names = config.feature_names
    middles, widths = config.units or ([0.0] * len(names), [1.0] * len(names))
    encoders = [
        Number(
            column=name,
            scaling=Scaling(low=None, high=None, middle=middle, width=width, fill=middle),
        )
        for name, middle, width in zip(names, middles, widths, strict=True)
    ]
    return Recipe(
        columns=[], encoders=[*encoders], weights=[1.0] * len(names), shown=shown, id=None
    )
