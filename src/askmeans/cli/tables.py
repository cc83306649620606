"""Data files: read, checked, scaled; every refusal says which column or row and what to do."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from askmeans.exceptions import DataError
from askmeans.files import whole_file

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "check_column",
    "choose_features",
    "item_ids",
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
    return frame


def choose_features(
    frame: "pd.DataFrame",
    features: list[str] | None,
    left_out: list[str],
    impute: str | None,
    ids: list[str],
) -> "pd.DataFrame":
    """The columns to cluster by, as numbers without gaps."""
    if features is None:
        numeric = frame.select_dtypes("number").columns
        index = [name for name in numeric if str(name).startswith("Unnamed:")]  # a saved index
        features = [str(name) for name in numeric if name not in [*left_out, *index]]
        if not features:
            raise DataError(
                "The data must have a numeric column to cluster by. "
                f"Got columns {', '.join(map(str, frame.columns))}; encode some as numbers, and "
                "check that the file is separated by commas."
            )
    for name in features:
        check_column(frame, name)
    if len(set(features)) < len(features) or frame.columns.duplicated().any():
        raise DataError(
            "Columns must differ by name. Got "
            f"{', '.join(map(str, features))} of {', '.join(map(str, frame.columns))}; name each "
            "one once."
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
            columns = [name for name in features if missing[name].any()]
            shown = ", ".join(ids[row] for row in rows[:10]) + (" ..." if len(rows) > 10 else "")
            raise DataError(
                f"Column {', '.join(columns)} must have no missing values. Got some in "
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
    write_text(frame.to_csv(index=False), path)


def write_text(text: str, path: Path) -> None:
    """Write a file so that a crash leaves the old one or the new one, nothing half done."""
    with whole_file(path) as file:
        file.write(text.encode())
