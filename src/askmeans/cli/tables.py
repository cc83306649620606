"""Data files: read, checked, scaled; every refusal says which column or row and what to do."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans.checks import check_magnitude
from askmeans.exceptions import DataError
from askmeans.files import whole_file
from askmeans.text import as_csv

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Column",
    "check_column",
    "choose_features",
    "column_kinds",
    "item_ids",
    "listed_columns",
    "plain",
    "read_table",
    "scale_warning",
    "scaled",
    "scaling",
    "write_frame",
    "write_text",
]

Floats = NDArray[np.float64]

_WILD = 100.0  # features whose spreads differ by more are worth a warning
_FEW = 50  # values that a categorical column has at most, and one for two rows; else it is text
_MANY = 10  # rows from which numbers without a gap are taken for a numbering
_NAMED = 8  # columns named together, before "and ... more"
_KEYS = {"id", "ids", "uuid", "guid"}  # words in the name of what is an id, even if it repeats
_NUMBERINGS = {"index", "idx", "key", "pk", "no", "nr", "row", "rowid", "serial"}  # if it does not


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """What becomes of a column: `use` is "feature", "shown" or "left out", `why` may be empty."""

    name: str
    use: str
    why: str


def read_table(path: Path, id_column: str | None) -> "pd.DataFrame":
    """A data frame from a CSV, Parquet or Arrow file; ids stay as they are written ("007")."""
    if not path.is_file():
        found = "a folder" if path.is_dir() else "nothing"
        raise DataError(f"{path} must be a file. Got {found} there; give the path of your data.")
    try:
        import pandas as pd
        import pyarrow.feather
    except ImportError as error:
        raise DataError(
            "Reading data files needs pandas and pyarrow. Got neither or one; "
            'install them with: pip install "askmeans[tables]"'
        ) from error
    kind = path.suffix.lower()
    try:
        if kind in (".csv", ".txt", ".tsv"):
            separator = "\t" if kind == ".tsv" else ","
            frame = pd.read_csv(path, sep=separator)
            if id_column in frame.columns:
                as_written = pd.read_csv(
                    path, sep=separator, usecols=[id_column], dtype=str, keep_default_na=False
                )
                frame[id_column] = as_written[id_column]
        elif kind in (".parquet", ".pq"):
            frame = pd.read_parquet(path)
        elif kind in (".arrow", ".feather", ".ipc"):
            frame = pyarrow.feather.read_feather(path)
        else:
            raise DataError(
                f"The ending of {path.name} must be one of .csv, .tsv, .parquet, .arrow or "
                f".feather. Got {kind or 'none'!r} instead."
            )
    except (ValueError, OSError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} could not be read ({error}).") from error
    if frame.empty:
        raise DataError(f"{path} must have rows and columns. Got {frame.shape} instead.")
    frame.columns = pd.Index([str(name) for name in frame.columns])
    if frame.columns.duplicated().any():
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"Columns must differ by name. Got {twice!r} twice; rename one.")
    return frame


def column_kinds(
    frame: "pd.DataFrame",
    *,
    features: Sequence[str] | None = None,
    apart: Mapping[str, str] | None = None,
    shown: Sequence[str] | None = None,
) -> list[Column]:
    """What becomes of each column of a table: a feature, shown to people, or left out, and why.

    Without `features`, numeric columns are features, but for ids and constants. `apart` names
    columns that are something else, with what they are; `shown` those that people see (None: all).
    """
    for name in features or ():
        check_column(frame, name)
    columns = []
    for name in frame.columns:
        visible = shown is None or name in shown
        if features is not None and name in features:
            why = ""
        elif apart is not None and name in apart:
            why = apart[name]
        else:
            why = "not among --features" if features is not None else _why_no_feature(frame[name])
        if not why:
            columns.append(Column(name=name, use="feature", why=""))
        else:
            columns.append(Column(name=name, use="shown" if visible else "left out", why=why))
    return columns


def _why_no_feature(column: "pd.Series[Any]") -> str:
    """Why nobody would cluster by this column unless told to; empty where they would."""
    kind, values = column.dtype.kind, column.dropna()
    if kind == "b":
        return "true or false; name it in --features to cluster by it"
    if kind in "Mm":
        return "times; encode them as numbers to cluster by them"
    try:
        n_values = values.nunique()
    except TypeError:
        return "neither numbers nor words"
    if not n_values:
        return "empty"
    if kind not in "fiu":
        if column.dtype == object and all(isinstance(value, int) for value in values):
            return "numbers too large to compute with"
        if n_values <= min(_FEW, len(column) // 2):
            return f"categorical, {n_values} values; encode them as numbers to cluster by them"
        return "text"
    if n_values <= 1 < len(column):
        return "constant"
    if str(column.name).startswith("Unnamed:"):
        return "a saved index"
    return "an id" if _names_rows(str(column.name), values, n_values) else ""


def _names_rows(name: str, values: "pd.Series[Any]", n_values: int) -> bool:
    """Whether whole numbers name the rows, by the column's name or as a count without a gap."""
    numbers = values.to_numpy(dtype=np.float64)
    if not (np.isfinite(numbers) & (numbers == np.floor(numbers))).all():
        return False
    words = set(re.split(r"[\W_]+", re.sub("([a-z])([A-Z])", r"\1 \2", name).lower()))
    if words & _KEYS:
        return True
    distinct = n_values == len(values)
    counts = n_values >= _MANY and numbers.max() - numbers.min() == n_values - 1
    return distinct and (counts or bool(words & _NUMBERINGS))


def listed_columns(columns: Sequence[Column]) -> str:
    """A short table of the columns: one line for each use, reasons in brackets."""
    lines = []
    for use, title in (("feature", "features"), ("shown", "shown"), ("left out", "left out")):
        groups: dict[str, list[str]] = {}
        for column in columns:
            if column.use == use:
                groups.setdefault(column.why, []).append(column.name)
        parts = []
        for why, names in groups.items():
            more = len(names) - _NAMED
            text = ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
            parts.append(f"{text} ({why})" if why else text)
        if parts:
            lines.append(f"{title}: {'; '.join(parts)}")
    return "\n".join(lines)


def choose_features(
    frame: "pd.DataFrame",
    features: list[str] | None,
    columns: Sequence[Column],
    impute: str | None,
    ids: list[str],
) -> "pd.DataFrame":
    """The columns to cluster by, as numbers without gaps: those named, or those fit for it."""
    if features is None:
        features = [column.name for column in columns if column.use == "feature"]
        if not features:
            told = "; ".join(f"{column.name} ({column.why})" for column in columns[:_NAMED])
            raise DataError(
                f"The data must have a numeric column to cluster by. Got {told}; name columns in "
                "--features, encode some as numbers, and check that commas separate the columns."
            )
    if len(set(features)) < len(features):
        raise DataError(
            f"Columns must differ by name. Got {', '.join(features)}; name each one once."
        )
    chosen = frame[features]
    for name in features:
        if chosen[name].dtype.kind not in "fiub":
            raise DataError(
                f"Column {name!r} must be numeric to cluster by. Got {chosen[name].dtype} instead; "
                "leave it out of --features, or encode it."
            )
    missing = chosen.isna()
    if missing.to_numpy().any():
        if impute is None:
            rows = np.flatnonzero(missing.any(axis=1))
            gaps = [name for name in features if missing[name].any()]
            shown = ", ".join(ids[row] for row in rows[:10]) + (" ..." if len(rows) > 10 else "")
            raise DataError(
                f"Column {', '.join(gaps)} must have no missing values. Got some in "
                f"{len(rows)} rows ({shown}); drop them, or use --impute median."
            )
        empty = [name for name in features if missing[name].all()]
        if empty:
            raise DataError(
                f"Column {', '.join(empty)} must have values. Got none; leave it out of --features."
            )
        chosen = chosen.fillna(chosen.median())
    numbers = chosen.astype(np.float64)
    infinite = np.isinf(numbers.to_numpy())
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise DataError(
            f"Column {features[column]!r} must be finite. Got infinity in row {ids[row]}; drop or "
            "mend such rows."
        )
    for name in features:
        check_magnitude(numbers[[name]].to_numpy(), f"Column {name!r}")
    return numbers


def item_ids(frame: "pd.DataFrame", column: str | None) -> list[str]:
    """What the items are called: a column's values, which must differ, or row numbers."""
    if column is None:
        return [str(row) for row in range(len(frame))]
    check_column(frame, column)
    ids = [str(value) for value in frame[column]]
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = next(name for name in ids if name in seen or seen.add(name))  # type: ignore[func-returns-value]  # add returns None, which is the point
        raise DataError(
            f"Column {column!r} must name every item differently. Got {twice!r} twice; "
            "use another --id."
        )
    return ids


def check_column(frame: "pd.DataFrame", name: str) -> None:
    """Refuse a column that is not there."""
    if name not in frame.columns:
        raise DataError(
            f"There must be a column {name!r}. Got {', '.join(map(str, frame.columns))}."
        )


def plain(value: Any) -> Any:
    """What JSON can say of it: no infinity, no numpy; of an array, its mean and its largest."""
    if isinstance(value, np.ndarray):
        return {"mean": float(value.mean()), "largest": float(value.max())}
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def scaled(X: Floats, how: str) -> Floats:
    """Features in comparable units; constant ones stay where they are."""
    if how == "none":
        return X
    middle, width = scaling(X, how)
    return (X - middle) / width


def scaling(X: Floats, how: str) -> tuple[Floats, Floats]:
    """What features are made comparable by: middle and width of each."""
    if how == "none":
        return np.zeros(X.shape[1]), np.ones(X.shape[1])
    if how == "standard":
        middle, width = X.mean(axis=0), X.std(axis=0)
    else:
        low, middle, high = np.percentile(X, [25, 50, 75], axis=0)
        width = high - low
    return middle, np.where(width > 0.0, width, 1.0)


def scale_warning(frame: "pd.DataFrame", how: str) -> str | None:
    """A sentence when one feature will drown the others."""
    spreads = frame.std()
    spreads = spreads[spreads > 0]
    if how != "none" or len(spreads) < 2 or spreads.max() / spreads.min() <= _WILD:
        return None
    wide, narrow = spreads.idxmax(), spreads.idxmin()
    return (
        f"features differ wildly in scale ({wide} varies by {spreads.max():.3g}, {narrow} by "
        f"{spreads.min():.3g}), so {wide} decides alone; consider --scale standard."
    )


def write_frame(frame: "pd.DataFrame", path: Path) -> None:
    """Write a CSV."""
    write_text(as_csv(list(frame.columns), frame.itertuples(index=False, name=None)), path)


def write_text(text: str, path: Path) -> None:
    """Write a file so that a crash leaves the old one or the new one, nothing half done."""
    with whole_file(path) as file:
        file.write(text.encode())
