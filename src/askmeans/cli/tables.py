"""Tables that commands read: as items, as advice, as candidates of files larger than memory."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from askmeans._util.arrays import Floats, Rows
from askmeans.cli.options import TableOptions, comma_list
from askmeans.cli.output import complain
from askmeans.exceptions import DataError, MissingExtraError, ParameterError
from askmeans.spec import SIMILARITIES
from askmeans.tables import Items, read_items
from askmeans.tables.encoders import Number
from askmeans.tables.large import (
    ParquetTable,
    is_parquet,
    read_candidates,
    sample_candidates,
)
from askmeans.tables.reading import RawTable, check_column
from askmeans.tables.texts import Text

if TYPE_CHECKING:
    import pandas as pd

    from askmeans.sessions import Session

# Mean number of words of short texts: of 7 words (M-CID) .85 are right by wordllama after six cards
# per group, .82 by topics; of 8 words .92 and .83 (Stack Overflow), .62 and .62 (scipy).
_SHORT = 12
_RATIO = 100.0  # of the features' spreads, from which on a warning is given


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


def hints(items: Items, table: RawTable) -> list[str]:
    """Options that would suit a table: a column of ids; an embedding for texts of few words."""
    lines = []
    ids = [c.name for c in items.recipe.columns if c.kind == "id" and table.frame[c.name].is_unique]
    if items.recipe.id is None and ids:
        lines.append(f"hint: items go by the numbers of their rows; --id {ids[0]} names them.")
    for encoder in items.recipe.encoders:
        if not isinstance(encoder, Text) or encoder.column not in items.shown.columns:
            continue
        languages = sorted(filter(None, encoder.means))
        words = items.shown[encoder.column].fillna("").astype(str).str.split()
        length = float(words.map(len).mean())
        if languages:
            lines.append(
                f"hint: {encoder.column} has texts in {', '.join(languages)}; --embed "
                "sentence-transformers:MODEL with a model of several languages compares meanings."
            )
        elif length < _SHORT:
            lines.append(
                f"hint: {encoder.column} has {length:.0f} words on average; --embed wordllama "
                '(pip install "askmeans[text]") compares meanings of short texts.'
            )
    return lines


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


# ---- advice -------------------------------------------------------------------------------------


def without_advice(table: RawTable, advice: Sequence[str] | None) -> RawTable:
    """The table without what other classifiers or old labels say: no features, shown to nobody."""
    columns = [column for word in advice or () for column in _columns(word)]
    for column in columns:
        check_column(table.frame, column)
    return replace(table, frame=table.frame.drop(columns=columns)) if columns else table


def label_names(
    table: RawTable, advice: Sequence[str] | None, n_clusters: int | str
) -> list[str] | None:
    """The labels of a column of --advice in sorted order, where there is one for each group."""
    for word in advice or ():
        if len(_columns(word)) == 1:
            labels = sorted(set(table.frame[word].dropna().astype(str)))
            if len(labels) == n_clusters:
                return labels
    return None


def advice_of(
    table: RawTable, rows: Rows, advice: Sequence[str] | None, names: Sequence[str],
    ask: str,
) -> dict[str, Floats]:  # fmt: skip
    """For each --advice a row of shares for each item, NaN where it says nothing."""
    if advice and ask in SIMILARITIES:
        raise ParameterError(
            f"--advice must be left out with --ask {ask}: similarities do not tell which group is "
            f"which. Got {', '.join(advice)}; leave it out."
        )
    frame = table.frame.iloc[rows]
    return {
        word: _of_labels(frame[word], names) if len(_columns(word)) == 1
        else _of_scores(frame[_columns(word)], names)
        for word in advice or ()
    }  # fmt: skip


def add_advice(session: "Session", advice: dict[str, Floats]) -> None:
    """Add advice to a new session."""
    for name, shares in advice.items():
        known = np.flatnonzero(~np.isnan(shares).any(axis=1))
        numbers = [group.number for group in session.groups]
        session.advisers.add(
            name,
            {int(row): dict(zip(numbers, shares[row].tolist(), strict=True)) for row in known},
        )


def _columns(word: str) -> list[str]:
    """The columns of one --advice."""
    return comma_list(word) or []


def _of_labels(labels: "pd.Series", names: Sequence[str]) -> Floats:
    """Rows of labels, which are names of groups."""
    numbers = {name: number for number, name in enumerate(names)}
    known = labels.notna().to_numpy()
    words = labels.astype(str).tolist()
    other = sorted({word for word, is_there in zip(words, known, strict=True) if is_there}
                   - numbers.keys())  # fmt: skip
    if other:
        raise DataError(
            f"Column {labels.name!r} must have names of groups to be advice: {', '.join(names)}. "
            f"Got {', '.join(other[:5])}; name the groups with --names, or correct the column."
        )
    table = np.full((len(words), len(names)), np.nan)
    for row in np.flatnonzero(known):
        table[row] = 0.0
        table[row, numbers[words[row]]] = 1.0
    return table


def _of_scores(frame: "pd.DataFrame", names: Sequence[str]) -> Floats:
    """Rows of scores, one for each group, divided by their sums."""
    try:
        scores = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"Columns {', '.join(frame.columns)} must be scores of groups. Got '{error}'."
        ) from error
    if scores.shape[1] != len(names) or (scores < 0.0).any() or np.isinf(scores).any():
        raise DataError(
            f"--advice must have a column of scores from 0 for each of {len(names)} groups, in "
            f"their order, or one column of labels. Got {', '.join(frame.columns)} with values "
            f"from {np.nanmin(scores):g} to {np.nanmax(scores):g}."
        )
    sums = scores.sum(axis=1, keepdims=True)
    return np.where(sums > 0.0, scores / np.where(sums > 0.0, sums, 1.0), np.nan)
