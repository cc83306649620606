"""`askmeans predict`: memberships of all rows of a file, by what a session's answers taught.

And how `init` and `predict` open tables beyond memory: candidates for questions are a random
sample of the rows, which the database keeps; all other rows stay where they are.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.checks import check_number
from askmeans._util.progress import work_bar
from askmeans.cli.frames import check_format, write_frames
from askmeans.cli.options import Which, named_words
from askmeans.cli.printing import complain, say
from askmeans.cli.session_commands import PredictOptions
from askmeans.cli.sessions import opened, show_json
from askmeans.cli.tables import check_unused, embed_option
from askmeans.cli.workers import workers
from askmeans.estimators.candidates import candidate_rows
from askmeans.estimators.writing import largest
from askmeans.exceptions import DataError, ParameterError
from askmeans.results import without_traces
from askmeans.tables import Recipe, apply_recipe
from askmeans.tables.large import ParquetTable, is_parquet
from askmeans.tables.reading import RawTable, read_table

if TYPE_CHECKING:
    import pandas as pd

    from askmeans.sessions import Session

__all__ = ["Place", "read_candidates", "run"]

Floats = NDArray[np.float64]

ROW = "row"  # the id of rows without one: their number in the file


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A data file, or its address where a cluster reads it, and who reads it."""

    data: str
    engine: str = "disk"
    scheduler: str | None = None

    @property
    def path(self) -> Path:
        """The file, where it is one of this machine."""
        return Path(self.data)

    @contextmanager
    def table(self) -> Iterator[Any]:
        """The table of a Parquet file, read by the part; None for another kind of file."""
        with workers(self.engine, self.scheduler):
            if self.engine == "dask":
                from askmeans.fuzzy.engines.dask import DaskTable

                yield DaskTable(self.data)
            else:
                yield ParquetTable(self.path) if is_parquet(self.path) else None


def read_candidates(place: Place, id_column: str | None, seed: int) -> tuple[RawTable, str | None]:
    """The rows that may be asked about, and the column of their ids.

    All rows of a file that is read whole; of Parquet at most 50,000 at random, called by their
    numbers where no column names them.
    """
    with place.table() as table:
        if table is None:
            return read_table(place.path, id_column), id_column
        rows = candidate_rows(table.n_rows, seed)
        frame = table.take(rows)
    if len(rows) < table.n_rows:
        complain(
            f"{len(rows):,} of {table.n_rows:,} rows are candidates for questions; "
            "`askmeans predict` tells the memberships of all."
        )
        if id_column is None:
            id_column = ROW
            frame = _numbered(frame, ROW, rows)
    return replace(read_table(frame, id_column), folder=place.path.parent), id_column


def _numbered(frame: "pd.DataFrame", column: str, rows: NDArray[np.intp]) -> "pd.DataFrame":
    """The rows with their numbers in the file as a column."""
    if column in frame.columns:
        raise DataError(
            f"Rows are numbered in a column {column!r}, which the data has already. "
            f"Got it; say --id {column} if it names the items, or rename it."
        )
    return frame.assign(**{column: rows})


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """Memberships of the rows of a frame; travels to other processes."""

    recipe: Recipe
    predictor: Any
    names: Sequence[str]
    own: dict[str, Floats]  # of the session's items, by id
    id_column: str | None
    embed: Any
    folder: Path  # from which paths of images start
    top: int | None

    def __call__(self, frame: "pd.DataFrame", start: int) -> "pd.DataFrame":
        """One row an item: its id, and its memberships or the largest of them."""
        import pandas as pd

        id_column = self.id_column or self.recipe.id or ROW
        if id_column not in frame.columns:
            frame = frame.assign(**{id_column: np.arange(start, start + len(frame))})
        table = RawTable(frame=frame, folder=self.folder, notes=[])
        items = apply_recipe(self.recipe, table, id=id_column, embed=self.embed)
        U = self.predictor(np.asarray(items.features, np.float64))
        for place, name in enumerate(items.ids):
            if name in self.own:
                U[place] = self.own[name]
        U = without_traces(U)
        ids = {"id": items.ids}
        if self.top is None:
            return pd.DataFrame(ids | {name: U[:, j] for j, name in enumerate(self.names)})
        groups, strongest = largest(U, self.top)
        columns: dict[str, Any] = {}
        for place in range(groups.shape[1]):
            columns[f"group_{place + 1}"] = np.array(self.names, dtype=object)[groups[:, place]]
            columns[f"membership_{place + 1}"] = strongest[:, place]
        return pd.DataFrame(ids | columns)


def run(options: PredictOptions) -> None:
    """Write the memberships of all rows of a file."""
    from askmeans.cli.session_init import recipe_of

    if options.top is not None:
        check_number(options.top, "top", "askmeans predict", integer=True, minimum=1)
    database, data = named_words(options.words, "DB", "DATA")
    place = Place(data=data, engine=options.engine, scheduler=options.scheduler)
    out = _out(options, place)
    check_unused([out], force=options.force)
    which = Which(database=database, name=options.name, as_json=options.as_json)
    with opened(which) as session:
        recipe = recipe_of(session.config, session.rows.columns)
        function = _predicted(session, recipe, place.path, options)
        with place.table() as table:
            if options.engine == "dask":  # whose workers write a folder
                out.parent.mkdir(parents=True, exist_ok=True)
            n_rows = _write(table, function, place.path, out)
        if options.as_json:
            show_json(session, {"n_items": n_rows, "file": str(out.absolute())})
        else:
            say(f"{n_rows:,} items, {len(function.names)} groups: {out.absolute()}")


def _predicted(
    session: "Session", recipe: Recipe, data: Path, options: PredictOptions
) -> Predicted:
    """What the answers so far say of rows."""
    result = session.result()
    for note in filter(None, (result.without_answers, *result.notes)):
        complain(f"warning: {note}")
    return Predicted(
        recipe=recipe,
        predictor=result.clustering.predictor,
        names=result.cluster_names,
        own=dict(zip(result.ids, result.memberships, strict=True)),
        id_column=options.id,
        embed=embed_option(options.embed),
        folder=data if data.is_dir() and not is_parquet(data) else data.parent,
        top=options.top,
    )


def _out(options: PredictOptions, place: Place) -> Path:
    """The file to write, or the folder that the workers of a cluster write."""
    is_folder = options.engine == "dask"
    ending = "parquet" if is_folder else "csv"
    out = options.out or place.path.with_name(f"{place.path.stem}.memberships.{ending}")
    if not is_folder:
        check_format(out)
    elif out.suffix not in ("", ".parquet"):
        raise ParameterError(
            "--out must name a folder with --engine dask, whose workers write Parquet files there. "
            f"Got {out.name!r:.80} instead; leave the ending out."
        )
    return out


def _write(table: Any, function: Predicted, data: Path, out: Path) -> int:
    """Write all rows, and tell how many there are."""
    if table is None:
        recipe = function.recipe
        whole = read_table(data, function.id_column or recipe.id)
        frame = whole.with_texts(c.name for c in recipe.columns if c.kind == "text").frame
        write_frames([function(frame, 0)], out)
        return len(frame)
    with work_bar("rows", table.n_rows) as advance:
        if isinstance(table, ParquetTable):
            write_frames(table.parts(function, advance), out)
        else:  # of a cluster
            table.write(function, out, advance)
    return int(table.n_rows)
