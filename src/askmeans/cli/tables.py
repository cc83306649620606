"""What commands share about tables: the options on columns, and results written to files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from askmeans._util.files import whole_file
from askmeans._util.text import as_csv
from askmeans.cli.options import TableOptions, listed
from askmeans.cli.printing import complain
from askmeans.exceptions import DataError
from askmeans.tables import Items, read_items
from askmeans.tables.encoders import Number
from askmeans.tables.reading import RawTable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["check_unused", "embed_option", "plain", "read_with", "with_kinds", "write_frame",
           "write_text"]  # fmt: skip

_WILD = 100.0  # features whose spreads differ by more are worth a warning


def read_with(options: TableOptions, table: RawTable, show: Sequence[str] | None) -> Items:
    """The items of a table; what a person should know is said on standard error."""
    text, image = options.text or (), options.image or ()
    if show is not None and options.show is not None:
        show = [*show, *(name for name in (*text, *image) if name not in show)]
    items = read_items(
        table, id=options.id, text=text, image=image, vectors=options.vectors, show=show,
        features=with_kinds(listed(options.features), table), embed=embed_option(options.embed),
        metric=options.metric, scale=options.scale, missing=options.missing,
    )  # fmt: skip
    for note in [*items.notes, *_scale_warning(items, options.scale)]:
        complain(f"warning: {note}")
    return items


def embed_option(given: Sequence[str] | None) -> Any:
    """What --embed says: a function for all texts, or COLUMN=FUNCTION for each."""
    if not given:
        return None
    parts = [word.partition("=") for word in given]
    if len(given) == 1 and not parts[0][1]:
        return given[0]
    if not all(column and function for column, _, function in parts):
        raise DataError(
            "--embed must be one function, or COLUMN=FUNCTION for each column. Got "
            f"{', '.join(given)} instead."
        )
    return {column: function for column, _, function in parts}


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


def _scale_warning(items: Items, how: str) -> list[str]:
    """A sentence when one feature will drown the others."""
    names = [e.column for e in items.recipe.encoders if isinstance(e, Number)]
    places = [items.recipe.feature_names.index(name) for name in names]
    spreads = items.features[:, places].std(axis=0)
    if how != "none" or (spreads > 0).sum() < 2:
        return []
    wide, narrow = int(spreads.argmax()), int(np.where(spreads > 0, spreads, np.inf).argmin())
    if spreads[wide] <= _WILD * spreads[narrow]:
        return []
    return [
        f"features differ wildly in scale ({names[wide]} varies by {spreads[wide]:.3g}, "
        f"{names[narrow]} by {spreads[narrow]:.3g}), so {names[wide]} decides alone; consider "
        "--scale robust."
    ]


def check_unused(files: Sequence[Path], *, force: bool) -> None:
    """Refuse a missing folder, and to overwrite any of these, unless told to."""
    if not files[0].absolute().parent.is_dir():
        raise DataError(
            f"{files[0].parent} must be a folder for the results. Got none; make it first, or use "
            "another --out."
        )
    there = [path for path in files if path.exists()]
    if there and not force:
        raise DataError(
            f"{there[0]} must not exist yet, or it would be overwritten. Got a file there; use "
            "--out for another place, or --force."
        )


def write_frame(frame: "pd.DataFrame", path: Path) -> None:
    """Write a CSV."""
    write_text(as_csv(list(frame.columns), frame.itertuples(index=False, name=None)), path)


def write_text(text: str, path: Path) -> None:
    """Write a file so that a crash leaves the old one or the new one, nothing half done."""
    with whole_file(path) as file:
        file.write(text.encode())
