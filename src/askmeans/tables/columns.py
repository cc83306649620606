"""The kind of each column, and its use: a feature, shown to people, or left out."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from askmeans._util.message import Message
from askmeans.exceptions import DataError, ParameterError
from askmeans.tables.formats import date_format, number_format
from askmeans.tables.reading import IMAGE_SUFFIXES, check_column

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("number", "category", "boolean", "date", "text", "image", "vector")

# Heuristics of the detection; the user's own names of kinds and uses take precedence.
_MIN_NUMBERING = 10  # rows: fewer consecutive numbers may be a rating
_LISTED = 40  # columns in the table for people
_SAMPLE = 1000  # values that decide between text, category and date
_MIN_WORDS = 2.0  # mean words of a text
_MIN_CHARACTERS = 6.0  # mean characters of a text in a script without spaces: about three words
_KEYS = {"id", "ids", "uuid", "guid"}  # words in the name of an id column, even if values repeat
_NUMBERINGS = {"index", "idx", "key", "pk", "no", "nr", "row", "rowid", "serial"}  # if unique
_LABELS = {"label", "labels", "class", "classes", "topic", "topics", "target", "targets",
           "category", "categories", "group", "groups", "cluster", "truth", "gold", "answer",
           "annotation", "species", "diagnosis"}  # fmt: skip
_LABEL_KINDS = ("category", "boolean", "number")
_MAX_LABELS = 50  # distinct values of a label column
# Thai, Lao, Burmese, Japanese and Chinese are written without spaces.
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """The kind and use of a column."""

    name: str
    kind: str  # one of KINDS, or id, constant, empty, other
    use: str  # "feature" (and shown, unless `show` leaves it out), "shown" or "left out"
    why: str  # the reason, or a remark for the user; may be empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Kinds and uses named by the user; None and () leave them to the detection."""

    id: str | None = None
    text: tuple[str, ...] = ()
    image: tuple[str, ...] = ()
    vectors: str | None = None
    show: tuple[str, ...] | None = None
    features: Mapping[str, str | None] | None = None  # the kind of each; None detects it
    others: bool = True  # whether unnamed columns become features


def describe_columns(frame: "pd.DataFrame", roles: Roles, folder: Path | None) -> list[Column]:
    """Return the kind and use of every column; unknown names are refused."""
    named = [*roles.text, *roles.image, *(roles.show or ()), *(roles.features or ())]
    for name in (*named, *filter(None, (roles.id, roles.vectors))):
        check_column(frame, name)
    for name, kind in (roles.features or {}).items():
        if kind is not None and kind not in KINDS:
            raise ParameterError(
                f"The 'features' parameter must call column {name!r} one of {', '.join(KINDS)}. "
                f"Got {kind!r} instead."
            )
    columns = [_described(frame[name], roles, folder) for name in frame.columns]
    labels = {name for name in frame.columns if _are_labels(frame[name])}
    content = [c.kind for c in columns if c.use == "feature" and c.kind in ("text", "image")]
    if roles.features is None and content:  # which other columns would drown out
        what = "texts" if "text" in content else "pictures"
        others = {c.name for c in columns if c.kind not in ("text", "image")}
        why = f"beside the {what}; name it as a feature to cluster by it"
        columns = _demoted(columns, others, why, roles)
    if roles.show is None:
        why = "looks like labels, so it is hidden; --show shows it"
        columns = [
            replace(c, use="left out", why=why) if c.use == "shown" and c.name in labels else c
            for c in columns
        ]
    if roles.features is None:
        # Known groups are no features, unless a table has nothing else.
        why = "looks like labels; name it as a feature to cluster by it"
        known = {c.name for c in columns if c.name in labels and c.kind in _LABEL_KINDS}
        rest = _demoted(columns, known, why, roles)
        columns = rest if any(c.use == "feature" for c in rest) else columns
    return columns


def _demoted(columns: list[Column], names: set[str], why: str, roles: Roles) -> list[Column]:
    """The columns, of which these are shown and no features."""
    return [
        replace(c, use=_shown(c.name, roles), why=why)
        if c.use == "feature" and c.name in names else c
        for c in columns
    ]  # fmt: skip


def _shown(name: str, roles: Roles) -> str:
    """The use of a column that is not a feature."""
    return "shown" if roles.show is None or name in roles.show else "left out"


def _are_labels(values: "pd.Series[Any]") -> bool:
    """Whether a column has few values and a name such as "label": annotators should not see it."""
    if not _words_of(str(values.name)) & _LABELS:
        return False
    present = values.dropna()
    if values.dtype.kind == "f" and not (present == present.round()).all():
        return False  # measurements, not names
    try:
        n_values = present.nunique()
    except TypeError:
        return False
    return 1 < int(n_values) <= min(_MAX_LABELS, len(present) / 2)


def _described(values: "pd.Series[Any]", roles: Roles, folder: Path | None) -> Column:
    """Describe one column: as the user named it, else as detected."""
    name = str(values.name)
    if name == roles.id:
        kind, why = "id", "the items' ids"
    elif name == roles.vectors:
        kind, why = "vector", ""
    elif name in roles.image:
        kind, why = "image", ""
    elif name in roles.text:
        kind, why = "text", ""
    else:
        kind, why = _detected_kind(values, folder)
    use = _shown(name, roles)
    if roles.features is not None and name in roles.features:
        kind, use, why = roles.features[name] or kind, "feature", ""
        kind = kind if kind in KINDS else _forced_kind(values)
    elif name == roles.vectors:
        use = "feature"
    elif kind in KINDS and kind != "vector":
        if roles.features is not None:
            why = "not among the features named"
        elif roles.others:
            use = "feature"
        else:
            why = "the vectors are the features"
    if kind == "text" and (name in roles.text or use == "feature"):
        _check_text(values)
    return Column(name=name, kind=kind, use=use, why=why)


def _check_text(values: "pd.Series[Any]") -> None:
    """Refuse numbers and dates as a text column."""
    if values.dtype.kind in "fiubMm":
        raise DataError(
            f"Column {values.name!r} must have words to be a text. Got {values.dtype} instead; "
            "leave it out of the text columns: it is a feature as it is.",
            user_message=Message(
                "The column “{column}” has no words, so it is no text. Choose another kind for it.",
                column=values.name,
            ),
        )


def _forced_kind(values: "pd.Series[Any]") -> str:
    """The kind of an id or constant column that the user named as a feature."""
    if values.dtype.kind in "fiu":
        return "number"
    if values.dtype.kind in "OTU" or isinstance(values.iloc[0], str):
        return "category"
    raise DataError(
        f"Column {values.name!r} must have numbers, words, dates or images to cluster by. Got "
        f"{values.dtype} instead; leave it out of the features, or encode it.",
        user_message=Message(
            "Items cannot be sorted by the column “{column}”. Choose another use for it.",
            column=values.name,
        ),
    )


def _detected_kind(column: "pd.Series[Any]", folder: Path | None) -> tuple[str, str]:
    """Detect the kind of an unnamed column, with a remark."""
    kind, values = column.dtype.kind, column.dropna()
    if values.empty:
        return "empty", Message("no values")
    if kind == "m":
        return "other", Message("durations; make them numbers to cluster by them")
    first = values.iloc[0]
    if isinstance(first, list | tuple | np.ndarray):
        if not all(isinstance(number, int | float | np.number) for number in first):
            why = Message("lists of words; join them to a text to cluster by them")
            return "other", why
        return "vector", f"lists of {len(first)}; name it as the vectors to cluster by it"
    if isinstance(first, dict | bytes):
        if isinstance(first, bytes) or {"bytes", "path"} <= first.keys():
            return "image", "pictures in the table"
        return "other", Message("neither numbers nor words")
    try:
        n_values = values.nunique()
    except TypeError:
        return "other", Message("neither numbers nor words")
    if str(column.dtype) == "category":
        return (
            ("constant", Message("one value")) if n_values <= 1 < len(column) else ("category", "")
        )
    if kind == "O" and all(isinstance(value, int) for value in values):
        if all(isinstance(value, bool) for value in values):
            kind = "b"
        else:
            return "other", Message("integers above 64 bits")
    if n_values <= 1 < len(column):
        if len(values) == len(column):
            return "constant", Message("one value")
        return "constant", Message("one value, or missing")
    if kind == "b":
        return "boolean", ""
    if kind == "M":
        return "date", ""
    if kind in "fiu":
        if str(column.name).startswith("Unnamed:"):
            return "id", "a saved index"
        if _names_rows(str(column.name), values, n_values):
            return "id", "numbers the rows"
        return "number", ""
    return _text_kind(values.astype(str), n_values, folder)


def _text_kind(values: "pd.Series[Any]", n_values: int, folder: Path | None) -> tuple[str, str]:
    """Detect images, dates, numbers, texts, ids or categories in strings."""
    some = values.iloc[:_SAMPLE]
    if folder is not None and _are_images(some, folder):
        return "image", "paths of images"
    pattern = date_format(some)
    if pattern is not None:
        return "date", "" if pattern.is_unambiguous else "the day is taken to come before the month"
    if number_format(some) is not None and number_format(values) is not None:
        return "number", f"written as {some.iloc[0].strip()}"
    words = float(np.mean([len(value.split()) for value in some]))
    signs = float(np.mean([sum(map(len, UNSPACED.findall(value))) for value in some]))
    if (words >= _MIN_WORDS or signs >= _MIN_CHARACTERS) and n_values > len(values) / 2:
        return "text", ""
    if n_values == len(values) > 1:
        absent = folder is not None and some.str.lower().str.endswith(IMAGE_SUFFIXES).all()
        return "id", "paths of missing images" if absent else "a different value in every row"
    return "category", f"{n_values} values"


def _are_images(values: Iterable[str], folder: Path) -> bool:
    """Whether all have suffixes of images, and one of the files exists."""
    paths = list(values)
    if not all(path.lower().endswith(IMAGE_SUFFIXES) for path in paths):
        return False
    return any((folder / path).is_file() for path in paths if "\0" not in path)


def _names_rows(name: str, values: "pd.Series[Any]", n_values: int) -> bool:
    """Whether integers are ids, by the column's name or as consecutive numbers."""
    numbers = values.to_numpy(dtype=np.float64)
    if not (np.isfinite(numbers) & (numbers == np.floor(numbers))).all():
        return False
    words = _words_of(name)
    if words & _KEYS:
        return True
    distinct = n_values == len(values)
    counts = n_values >= _MIN_NUMBERING and numbers.max() - numbers.min() == n_values - 1
    return distinct and (counts or bool(words & _NUMBERINGS))


def _words_of(name: str) -> set[str]:
    """The words in a column's name."""
    return set(re.split(r"[\W_]+", re.sub("([a-z])([A-Z])", r"\1 \2", name).lower()))


def listed_columns(columns: Sequence[Column]) -> str:
    """A table of the first 40 columns: name, kind, use and remark."""
    rows = [("column", "kind", "use", "")]
    rows += [(_short(c.name), c.kind, c.use, c.why) for c in columns[:_LISTED]]
    widths = [max(len(row[j]) for row in rows) for j in range(3)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]])
        for row in rows
    ]
    rest = columns[_LISTED:]
    if rest:
        counts = {use: sum(c.use == use for c in rest) for use in ("feature", "shown", "left out")}
        totals = ", ".join(f"{count} {use}" for use, count in counts.items() if count)
        lines.append(f"and {len(rest)} more columns: {totals}")
    return "\n".join(line.rstrip() for line in lines)


def _short(name: str) -> str:
    """Cut a long name for the table."""
    return name if len(name) <= 30 else name[:29] + "…"
