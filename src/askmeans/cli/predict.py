"""`askmeans predict`: memberships of all rows of a file, by what a session's answers taught."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans._util.arrays import Floats
from askmeans._util.checks import check_number
from askmeans._util.progress import stage, work_bar
from askmeans.cli.data import PredictOptions
from askmeans.cli.output import check_format, check_unused, complain, write_frames
from askmeans.cli.tables import DataFile, embed_option
from askmeans.estimators.writing import largest
from askmeans.exceptions import DataError, ParameterError
from askmeans.results import without_traces
from askmeans.sessions.config import Config
from askmeans.tables import Recipe, apply_recipe
from askmeans.tables.encoders import Number, Scaling
from askmeans.tables.items import item_ids
from askmeans.tables.large import ROW, ParquetTable, is_parquet
from askmeans.tables.reading import RawTable, check_column, read_table

if TYPE_CHECKING:
    import pandas as pd

    from askmeans.sessions import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """Memberships of the rows of a frame; travels to other processes."""

    recipe: Recipe
    predictor: Any
    names: Sequence[str]
    rows: dict[str, int]  # of the session's items, by id
    features: NDArray[np.floating]  # of those items
    memberships: Floats  # of those items, as answered
    id_column: str | None
    embed: Any
    folder: Path  # from which paths of images start
    top: int | None

    def __call__(self, frame: "pd.DataFrame", start: int) -> "pd.DataFrame":
        """One row an item: its id, and its memberships or the largest of them."""
        import pandas as pd

        key = self.recipe.id or ROW  # the column that the session's items are named by
        if key not in frame.columns:
            names: Any = np.arange(start, start + len(frame))
            if key != ROW and self.id_column is not None:  # called otherwise in this file
                check_column(frame, self.id_column)
                names = frame[self.id_column]
            frame = frame.assign(**{key: names})
        table = RawTable(frame=frame, folder=self.folder, notes=[])
        items = apply_recipe(self.recipe, table, id=self.id_column or key, embed=self.embed)
        U = self.predictor(np.asarray(items.features, np.float64))
        self._restore(U, items.features, item_ids(frame, key), by_number=key == ROW)
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

    def _restore(
        self, U: Floats, features: NDArray[np.floating], ids: list[str], *, by_number: bool
    ) -> None:
        """Put the session's memberships of its own items in the place of the predicted ones.

        Numbers of rows name an item in the same data only, so there the features must agree.
        """
        places = np.array([place for place, name in enumerate(ids) if name in self.rows], np.intp)
        rows = np.array([self.rows[ids[place]] for place in places], np.intp)
        if by_number:
            same = np.isclose(features[places], self.features[rows], rtol=1e-4, atol=1e-5)
            places, rows = places[same.all(axis=1)], rows[same.all(axis=1)]
        U[places] = self.memberships[rows]


def run(options: PredictOptions) -> None:
    """Write the memberships of all rows of a file."""
    if options.top is not None:
        check_number(options.top, "top", "askmeans predict", integer=True, minimum=1)
    file = DataFile(data=options.data, engine=options.engine, scheduler=options.scheduler)
    out = _out(options, file)
    check_unused([out], force=options.force)
    with options.session.open() as session:
        recipe = recipe_of(session.config, session.rows.shown)
        function = _predicted(session, recipe, file.path, options)
        with file.table() as table:
            if options.engine == "dask":  # whose workers write a folder
                out.parent.mkdir(parents=True, exist_ok=True)
            n_rows = _write(table, function, file.path, out)
        line = f"{n_rows:,} items, {len(function.names)} groups: {out.absolute()}"
        options.session.show(session, {"n_items": n_rows, "file": str(out.absolute())}, line)


def _predicted(
    session: "Session", recipe: Recipe, data: Path, options: PredictOptions
) -> Predicted:
    """The function from rows to memberships, by the answers so far."""
    result = session.result()
    for note in filter(None, (result.without_answers, *result.notes)):
        complain(f"warning: {note}")
    return Predicted(
        recipe=recipe,
        predictor=result.clustering.predictor,
        names=result.group_names,
        rows={name: row for row, name in enumerate(result.ids)},
        features=session.rows.matrix,
        memberships=result.memberships,
        id_column=options.id,
        embed=embed_option(options.embed),
        folder=data if data.is_dir() and not is_parquet(data) else data.parent,
        top=options.top,
    )


def _out(options: PredictOptions, file: DataFile) -> Path:
    """The file to write, or the folder that the workers of a cluster write."""
    is_folder = options.engine == "dask"
    ending = "parquet" if is_folder else "csv"
    out = options.out or file.path.with_name(f"{file.path.stem}.memberships.{ending}")
    if not is_folder:
        check_format(out)
    elif out.suffix not in ("", ".parquet"):
        raise ParameterError(
            "--out must name a folder with --engine dask, whose workers write Parquet files there. "
            f"Got {out.name!r:.80} instead; leave the ending out."
        )
    return out


def _write(table: Any, function: Predicted, data: Path, out: Path) -> int:
    """Write all rows, and return their number."""
    if table is None:
        recipe = function.recipe
        texts = [column.name for column in recipe.columns if column.kind == "text"]
        frame = read_table(data, function.id_column or recipe.id).with_texts(texts).frame
        with stage(f"encoding {len(frame):,} rows"):
            memberships = function(frame, 0)
        write_frames([memberships], out)
        return len(frame)
    with work_bar("rows", table.n_rows) as advance:
        if isinstance(table, ParquetTable):
            write_frames(table.parts(function, advance), out)
        else:  # of a cluster
            table.write(function, out, advance)
    return int(table.n_rows)


def recipe_of(config: Config, shown: list[str]) -> Recipe:
    """The recipe of a session's features; for one of numbers alone, their scaling."""
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
