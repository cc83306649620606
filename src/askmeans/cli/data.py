"""The commands about rows, answers and results: add, import, export, predict."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from askmeans._util.progress import stage
from askmeans.cli.options import (
    Embed,
    Force,
    Id,
    NewData,
    Out,
    Reader,
    Scheduler,
    SessionOptions,
    Top,
    Vectors,
    command,
)
from askmeans.cli.output import complain


@command
def add(
    options: SessionOptions,
    data: NewData,
    id: Id = None,  # noqa: A002 - the option's name
    vectors: Vectors = None,
    embed: Embed = None,
) -> None:
    """Add rows to a session; they get memberships from the answers so far."""
    from askmeans.cli.predict import recipe_of
    from askmeans.cli.tables import embed_option
    from askmeans.tables import apply_recipe

    with options.open() as session:
        recipe = recipe_of(session.config, session.rows.shown)
        embed = embed_option(embed)
        with stage(f"encoding {Path(data).name}"):
            items = apply_recipe(recipe, Path(data), id=id, vectors=vectors, embed=embed)
        for note in items.notes:
            complain(f"warning: {note}")
        before = len(session.rows)
        numbered = [str(row) for row in range(len(items.ids))]  # the file has no column of ids
        named = id is not None or (recipe.id is not None and items.ids != numbered)
        session.add_rows(
            items.features.astype(session.rows.base.dtype), items=items.table,
            ids=items.ids if named else None,
        )  # fmt: skip
        count = len(session.rows) - before
        n_items = len(session.rows)
        line = f"{count} rows added; {n_items} items now, every answer kept."
        options.show(session, {"added": count, "n_items": n_items}, line)


@command
def import_(
    options: SessionOptions,
    file: Annotated[
        Path,
        Argument(metavar="FILE", help="Known answers: a CSV, or JSON or Parquet of another tool."),
    ],
) -> None:
    """Import known answers; they cost no budget, and their questions are not asked."""
    from askmeans.cli.answer_files import session_answers

    with options.open() as session:
        answers = session_answers(session, file)
        report = session.import_answers(answers)
        lines = [f"{report.new} answers imported, {report.existing} were there already."]
        if report.conflicting:
            lines.append(f"{report.conflicting} had another answer here; those answers stay.")
        options.show(session, {"read": len(answers), **asdict(report)}, *lines)


@command
def export(
    options: SessionOptions,
    out: Out = None,
    format: Annotated[  # noqa: A002 - the option's name
        Literal["csv", "xlsx", "parquet", "json", "label-studio", "argilla", "huggingface"],
        Option(help="The format of the files."),
    ] = "csv",
    force: Force = False,
) -> None:
    """Write your columns with groups and memberships; centres and answers, too."""
    from askmeans.cli.export import run

    run(options, out, format, force=force)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictOptions:
    """The options of `askmeans predict`."""

    session: SessionOptions
    data: NewData
    out: Annotated[
        Path | None,
        Option(help="FILE.csv, .parquet or .xlsx to write; default: a CSV beside DATA."),
    ] = None
    top: Top = None
    id: Id = None
    embed: Embed = None
    engine: Reader = "disk"
    scheduler: Scheduler = None
    force: Force = False


@command
def predict(options: PredictOptions) -> None:
    """Write the memberships of all rows of a file; nothing is added to the session."""
    from askmeans.cli.predict import run

    run(options)
