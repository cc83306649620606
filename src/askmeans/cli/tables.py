"""Tables of commands: read as items, candidates of a large file, and results written to files."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from askmeans._util.excel import MOST_ROWS, write_sheet
from askmeans._util.files import atomic_file
from askmeans._util.text import as_csv
from askmeans.cli.options import TableOptions, comma_list
from askmeans.cli.output import complain
from askmeans.exceptions import DataError, MissingExtraError, ParameterError
from askmeans.tables import Items, read_items
from askmeans.tables.encoders import Number
from askmeans.tables.large import (
    ParquetTable,
    is_parquet,
    read_candidates,
    sample_candidates,
)
from askmeans.tables.reading import RawTable
from askmeans.tables.texts import Text

if TYPE_CHECKING:
    import pandas as pd

# Mean number of words of short texts: of 7 words (M-CID) .85 are right by wordllama after six cards
# per group, .82 by topics; of 8 words .92 and .83 (Stack Overflow), .62 and .62 (scipy).
_SHORT = 12
_RATIO = 100.0  # of the features' spreads, from which on a warning is given

Frames = Iterable["pd.DataFrame"]


def read_with(options: TableOptions, table: RawTable, show: Sequence[str] | None) -> Items:
    """The items of a table; notes for people go to standard error."""
    text, image = options.text or (), options.image or ()
    if show is not None and options.show is not None:
        show = [*show, *(name for name in (*text, *image) if name not in show)]
    items = read_items(
        table, id=options.id, text=text, image=image, vectors=options.vectors, show=show,
        features=with_kinds(comma_list(options.features), table), embed=embed_option(options.embed),
        metric=options.metric, scale=options.scale, missing=options.missing,
    )  # fmt: skip
    for note in [*items.notes, *_scale_warning(items, options.scale)]:
        complain(f"warning: {note}")
    for embedding in {id(e): e for e in items.functions.values() if hasattr(e, "tokens")}.values():
        complain(
            f"{embedding.name}: {embedding.new:,} texts sent, {embedding.tokens:,} tokens; further "
            "ones were known from before."
        )
    return items


def embed_option(functions: Sequence[str] | None) -> Any:
    """The value of --embed: a function for all texts, or COLUMN=FUNCTION for each."""
    if not functions:
        return None
    parts = [word.partition("=") for word in functions]
    if len(functions) == 1 and not parts[0][1]:
        return _embedding(functions[0])
    if not all(column and function for column, _, function in parts):
        raise DataError(
            "--embed must be one function, or COLUMN=FUNCTION for each column. Got "
            f"{', '.join(functions)} instead."
        )
    return {column: _embedding(function) for column, _, function in parts}


def _embedding(name: str) -> Any:
    """An embedding by its name; that of an endpoint is made here, as tables need no network."""
    kind, _, model = name.partition(":")
    if kind != "openai" or not model:
        return name
    from askmeans.llm import text_embedding

    return text_embedding(model)


def embedding_hints(items: Items) -> list[str]:
    """An embedding that texts want which share few words: short ones, or of several languages."""
    hints = []
    for encoder in items.recipe.encoders:
        if not isinstance(encoder, Text) or encoder.column not in items.shown.columns:
            continue
        languages = sorted(filter(None, encoder.means))
        words = items.shown[encoder.column].fillna("").astype(str).str.split()
        length = float(words.map(len).mean())
        if languages:
            hints.append(
                f"hint: {encoder.column} has texts in {', '.join(languages)}; --embed "
                "sentence-transformers:MODEL with a model of several languages compares meanings."
            )
        elif length < _SHORT:
            hints.append(
                f"hint: {encoder.column} has {length:.0f} words on average; --embed wordllama "
                '(pip install "askmeans[text]") compares meanings of short texts.'
            )
    return hints


def with_kinds(features: Sequence[str] | None, table: RawTable) -> dict[str, str | None] | None:
    """The columns of --features, and the kind of those that are written COLUMN:KIND."""
    if features is None:
        return None
    kinds: dict[str, str | None] = {}
    for word in features:
        name, _, kind = word.rpartition(":")
        known = word in table.frame.columns or name not in table.frame.columns
        column = word if known else name
        if column in kinds:
            raise DataError(
                f"Columns must differ by name. Got {', '.join(features)}; name each one once."
            )
        kinds[column] = None if known else kind
    return kinds


def _scale_warning(items: Items, how: str) -> list[str]:
    """A sentence when one feature will drown the others."""
    names = [e.column for e in items.recipe.encoders if isinstance(e, Number)]
    places = [items.recipe.feature_names.index(name) for name in names]
    spreads = items.features[:, places].std(axis=0)
    if how != "none" or (spreads > 0).sum() < 2:
        return []
    wide, narrow = int(spreads.argmax()), int(np.where(spreads > 0, spreads, np.inf).argmin())
    if spreads[wide] <= _RATIO * spreads[narrow]:
        return []
    return [
        f"features differ wildly in scale ({names[wide]} varies by {spreads[wide]:.3g}, "
        f"{names[narrow]} by {spreads[narrow]:.3g}), so {names[wide]} decides alone; consider "
        "--scale robust."
    ]


def check_unused(files: Sequence[Path], *, force: bool) -> None:
    """Refuse a missing folder; without `force`, also to overwrite any of these."""
    if not files[0].absolute().parent.is_dir():
        raise DataError(
            f"{files[0].parent} must be a folder for the results. Got none; make it first, or use "
            "another --out."
        )
    existing = [path for path in files if path.exists()]
    if existing and not force:
        raise DataError(
            f"{existing[0]} must not exist yet, or it would be overwritten. Got a file there; use "
            "--out for another place, or --force."
        )


def write_text(text: str, path: Path) -> None:
    """Write a file so that a crash leaves the old one or the new one, nothing half done."""
    with atomic_file(path) as file:
        file.write(text.encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
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


def read_rows(file: DataFile, id_column: str | None, seed: int) -> tuple[RawTable, str | None]:
    """The rows that may be asked about, and the column of their ids (`read_candidates`)."""
    if file.engine != "dask":
        with workers(file.engine, file.scheduler):
            return read_candidates(file.path, id_column, seed)
    with file.table() as table:
        return sample_candidates(table, file.path.parent, id_column, seed)


def workers(
    engine: str, scheduler: str | None, *, memory: int | None = None
) -> AbstractContextManager[Any]:
    """The cluster of --engine dask, at the scheduler's address or made here; nothing for others."""
    if engine != "dask":
        if scheduler is not None:
            raise ParameterError(
                "The 'scheduler' parameter must be left out without --engine dask. "
                f"Got {scheduler!r} instead."
            )
        return nullcontext()
    try:
        from askmeans.fuzzy.engines.dask import connected
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            '--engine dask needs Dask: pip install "askmeans[dask]".'
        ) from error
    return connected(scheduler, memory=memory)


def check_format(path: Path) -> None:
    """Refuse a suffix that names no format, or one whose package is missing."""
    kind = path.suffix.lower()
    if kind not in _WRITERS:
        raise ParameterError(
            "--out must end in .csv, .parquet or .xlsx: the ending says how the table is written. "
            f"Got {path.name!r:.80} instead."
        )
    if kind == ".xlsx":
        try:
            import openpyxl  # noqa: F401
        except ImportError as error:
            raise MissingExtraError(
                f"Writing {path.name} needs openpyxl. Got none; install it with: "
                'pip install "askmeans[excel]", or write a .csv.'
            ) from error


def write_frames(frames: Frames, path: Path) -> None:
    """Write frames of the same columns one below the other; a crash leaves nothing half done."""
    with atomic_file(path) as file:
        _WRITERS[path.suffix.lower()](frames, file)


def _write_csv(frames: Frames, file: BinaryIO) -> None:
    """A CSV; without a suffix, too."""
    for number, frame in enumerate(frames):
        text = as_csv(list(frame.columns), frame.itertuples(index=False, name=None))
        file.write((text.partition("\n")[2] if number else text).encode())


def _write_parquet(frames: Frames, file: BinaryIO) -> None:
    """A Parquet file, a row group for each frame."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for frame in frames:
        table = pa.Table.from_pandas(frame, preserve_index=False)
        writer = writer or pq.ParquetWriter(file, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def _write_excel(frames: Frames, file: BinaryIO) -> None:
    """A sheet of Excel."""
    from openpyxl.utils.exceptions import IllegalCharacterError

    def rows() -> Iterator[Sequence[object]]:
        n_rows = 0
        for frame in frames:
            if not n_rows:
                yield list(map(str, frame.columns))
                n_rows = 1
            n_rows += len(frame)
            if n_rows > MOST_ROWS:
                raise DataError(
                    f"A sheet of Excel has at most {MOST_ROWS - 1:,} rows below its header. Got "
                    "more; use --out with a name that ends in .csv or .parquet."
                )
            yield from frame.itertuples(index=False, name=None)

    try:
        write_sheet("memberships", rows(), file)
    except IllegalCharacterError as error:
        raise DataError(
            "Excel takes no control characters. Got an id or a name with one; use --out with "
            "a name that ends in .csv or .parquet."
        ) from error


_WRITERS: dict[str, Callable[[Frames, BinaryIO], None]] = {
    "": _write_csv, ".csv": _write_csv, ".parquet": _write_parquet, ".pq": _write_parquet,
    ".xlsx": _write_excel,
}  # fmt: skip
