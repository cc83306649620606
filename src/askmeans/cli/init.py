"""`askmeans init`: a data file becomes a session."""

from dataclasses import asdict, replace

from askmeans._util.checks import check_positive, check_seed
from askmeans._util.progress import stage
from askmeans.cli.options import comma_list
from askmeans.cli.output import say, typed_database
from askmeans.cli.start import InitOptions
from askmeans.cli.tables import (
    DataFile,
    add_advice,
    advice_of,
    hints,
    label_names,
    read_rows,
    read_with,
    without_advice,
)
from askmeans.sessions import Session, create
from askmeans.sessions.config import FEWEST
from askmeans.sessions.group_numbers import unique_names
from askmeans.sessions.store import display_url
from askmeans.spec import SIMILARITIES
from askmeans.tables.columns import Column


def run(options: InitOptions) -> None:
    """Read, make the session, and print what to expect."""
    check_positive(options.seconds_per_question, "seconds_per_question", "askmeans init")
    questions = options.questions
    check_seed(questions.seed, "seed", "askmeans init")
    n_clusters, annotations, target = options.n_clusters, options.n_annotations, options.target
    file = DataFile(data=options.data, engine=options.engine, scheduler=options.scheduler)
    with stage("2 of 4: reading"):
        table, id_column = read_rows(file, options.table.id, questions.seed)
    names = comma_list(questions.names) or label_names(table, questions.advice, n_clusters)
    with stage(f"3 of 4: encoding {len(table.frame):,} rows"):
        items = read_with(
            replace(options.table, id=id_column), without_advice(table, questions.advice),
            comma_list(options.table.show),
        )  # fmt: skip
    groups = names or unique_names({}, FEWEST if n_clusters == "auto" else int(n_clusters))
    advice = advice_of(table, items.rows, questions.advice, groups, questions.ask or "group")
    if not options.session.as_json:
        say(f"database: {display_url(options.session.database)}")
        say(str(items.recipe))
        for hint in hints(items, table):
            say(hint)
    with stage("4 of 4: grouping and saving"):
        session = create(
            options.session.database,
            items,
            n_clusters=n_clusters,
            cluster_names=names,
            use_names=not questions.no_names,
            ask=questions.ask,
            budget=questions.budget,
            target=target,
            levels=questions.levels,
            annotations=annotations,
            fuzzifier=questions.fuzzifier,
            random_state=questions.seed,
            name=options.session.name or "main",
        )
    with session:
        add_advice(session, advice)
        _report(options, session, len(items.ids), items.recipe.columns)


def _report(options: InitOptions, session: Session, n: int, columns: list[Column]) -> None:
    """Print what the session will take."""
    config, per_question = session.config, options.seconds_per_question
    forecast = config.forecast(n)
    lines = [f"session: {session.name}, {n} items, {config.n_clusters} clusters",
             f"scale: {options.table.scale}"]  # fmt: skip
    count = minutes = rounds = error = None
    if forecast is None:
        lines.append("No forecast for so few items.")
    else:
        count, rounds, error = forecast.n_queries, forecast.n_rounds, forecast.expected_error
        count = count if config.budget is None else min(count, config.budget)
        minutes = count * config.annotations * per_question / 60.0
        lines.append(
            f"expect about {count} questions in {rounds} rounds, {minutes:.0f} minutes at "
            f"{per_question:g} seconds a question"
        )
    if config.ask not in SIMILARITIES:
        lines.append(f"clusters: {'; '.join(session.groups.names)}")
    database = typed_database(options.session.database)
    lines.append(
        f"next: askmeans serve {database} (in the browser), or askmeans answer {database} (here)"
    )
    values = {
        "n_items": n,
        "n_clusters": config.n_clusters,
        "features": config.feature_names,
        "columns": [asdict(column) for column in columns],
        "scale": options.table.scale,
        "questions": count,
        "rounds": rounds,
        "minutes": minutes,
        "expected_error": error,
        "cluster_names": session.groups.names,
    }
    options.session.show(session, values, *lines)
