"""`askmeans init`: a data file becomes a session."""

from dataclasses import asdict, replace

from askmeans._util.checks import check_positive, check_seed
from askmeans._util.progress import stage
from askmeans.cli.options import comma_list
from askmeans.cli.output import say, show_json, typed_database
from askmeans.cli.start import INIT_STAGES, InitOptions
from askmeans.cli.tables import DataFile, read_candidates, read_with
from askmeans.sessions import Session, create
from askmeans.sessions.store import shown
from askmeans.spec import SIMILARITIES
from askmeans.tables import listed_columns
from askmeans.tables.columns import Column

__all__ = ["run"]


def run(options: InitOptions) -> None:
    """Read, make the session, and print what to expect."""
    check_positive(options.seconds_per_question, "seconds_per_question", "askmeans init")
    questions = options.questions
    check_seed(questions.seed, "seed", "askmeans init")
    n_clusters, annotations, target = options.n_clusters, options.n_annotations, options.target
    file = DataFile(data=options.data, engine=options.engine, scheduler=options.scheduler)
    with stage("reading", 2, INIT_STAGES):
        table, id_column = read_candidates(file, options.table.id, questions.seed)
    with stage(f"encoding {len(table.frame):,} rows", 3, INIT_STAGES):
        items = read_with(
            replace(options.table, id=id_column), table, comma_list(options.table.show)
        )
    if not options.as_json:
        say(f"database: {shown(options.database)}")
        say(listed_columns(items.recipe.columns))
    with stage("grouping and saving", 4, INIT_STAGES):
        session = create(
            options.database,
            items,
            n_clusters=n_clusters,
            cluster_names=comma_list(questions.names),
            ask=questions.ask,
            strategy=questions.strategy,
            budget=questions.budget,
            target=target,
            levels=questions.levels,
            annotations=annotations,
            fuzzifier=questions.fuzzifier,
            random_state=questions.seed,
            name=options.name,
        )
    with session:
        _report(options, session, len(items.ids), items.recipe.columns)


def _report(options: InitOptions, session: Session, n: int, columns: list[Column]) -> None:
    """Print what the session will take."""
    from askmeans.sessions.results import expected

    forecast = expected(session.config.make_strategy(), n, session.config)
    count = None if forecast is None else forecast.n_queries
    if count is not None and session.config.budget is not None:
        count = min(count, session.config.budget)
    answers = None if count is None else count * session.config.annotations
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
                "questions": count,
                "rounds": rounds,
                "minutes": minutes,
                "expected_error": error,
                "cluster_names": session.groups.names,
            },
        )
        return
    say(f"session: {session.name}, {n} items, {session.config.n_clusters} clusters")
    say(f"scale: {options.table.scale}")
    if count is None:
        say("No forecast for this strategy.")
    else:
        say(
            f"expect about {count} questions in {rounds} rounds, {minutes:.0f} minutes at "
            f"{options.seconds_per_question:g} seconds a question"
        )
    if session.config.ask not in SIMILARITIES:
        say(f"clusters: {'; '.join(session.groups.names)}")
    database = typed_database(options.database)
    say(f"next: askmeans serve {database} (in the browser), or askmeans answer {database} (here)")
