"""Read a file or data frame into a pandas frame; separators and encodings are detected."""

import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askmeans._util.checks import check_file
from askmeans._util.files import broken_as_value_errors, parse_json
from askmeans._util.message import Message
from askmeans.exceptions import DataError, MissingExtraError
from askmeans.tables.formats import date_format, number_format

if TYPE_CHECKING:
    import pandas as pd

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff")

_SEPARATORS = (",", ";", "\t", "|")
_NO_SEPARATOR = "\x1f"  # ASCII's unit separator, absent from texts: one column
_MAX_UNPACKED = 1_000_000_000  # bytes of a workbook, which takes several times that in memory
_WORKBOOK = "[Content_Types].xml"  # a member of every workbook's archive
_LINES = 50  # of a CSV, that decide its separator
_SAMPLE = 1000  # rows that decide whether numbers are codes
# Marks of missing numbers and dates, besides pandas' own.
_MISSING = {"-", "--", "\u2013", "\u2014", "?", ".", "n.a.", "k.A.", "unknown"}
_NOT_AVAILABLE = [  # pandas' own marks, besides the empty string
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
    "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
]  # fmt: skip
_NUMBER = {  # by its decimal sign; digits after a leading zero are a code
    ",": r"-?(?!0\d)(?:\d{1,3}(?:\.?\d{3})*|\d+)(?:,\d+)?",
    ".": r"-?(?!0\d)\d+(?:\.\d*)?(?:[eE][-+]?\d+)?",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RawTable:
    """A frame as read, the folder of its file, and remarks for the user."""

    frame: "pd.DataFrame"
    folder: Path | None
    notes: list[str]
    # Columns of strings as written, where "NA", "null" and the like count as missing in `frame`.
    written: Mapping[str, "pd.Series[Any]"] = field(default_factory=dict)

    def with_texts(self, names: Iterable[str]) -> "RawTable":
        """Return the table with these columns as texts, in which only empty strings are missing."""
        texts = {name: self.written[name] for name in names if name in self.written}
        return replace(self, frame=self.frame.assign(**texts)) if texts else self


def read_table(data: Any, id: str | None = None) -> RawTable:  # noqa: A002 - the public parameter's name
    """Read a file, a folder of images, or a data frame of any library; ids stay strings."""
    if isinstance(data, RawTable):
        return data
    pd = _pandas()
    notes: list[str] = []
    written: dict[str, Any] = {}
    folder = None
    if isinstance(data, str | Path):
        path = Path(data).expanduser()
        folder = path if path.is_dir() else path.parent
        frame = _images_in(path) if path.is_dir() else _read_file(path, id, notes, written)
        name = str(path)
    else:
        frame, name = _as_frame(data), "The data"
    if frame.empty:
        raise DataError(
            f"{name} must have rows and columns. Got {frame.shape} instead.",
            user_message=Message("There are no rows below the header. Choose another file."),
        )
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise DataError(
            f"Columns must differ by name. Got {twice[0]!r} twice; rename one.",
            user_message=Message(
                "Two columns are called “{column}”. Rename one, and choose the file again.",
                column=twice[0],
            ),
        )
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index(drop=True)
    return RawTable(frame=frame, folder=folder, notes=notes, written=written)


def check_column(frame: "pd.DataFrame", name: str) -> None:
    """Refuse an unknown column."""
    if name not in frame.columns:
        raise DataError(
            f"There must be a column {name!r}. "
            f"The columns are {', '.join(map(str, frame.columns))}."
        )


def _pandas() -> Any:
    """Import pandas and pyarrow."""
    try:
        import pandas as pd
        import pyarrow as pa  # noqa: F401 - Parquet, Arrow and polars need it
    except ImportError as error:
        raise MissingExtraError(
            "Reading data files needs pandas and pyarrow. "
            'Install them with: pip install "askmeans[tables]"'
        ) from error
    return pd


def _as_frame(data: Any) -> "pd.DataFrame":
    """Convert a frame of polars, pyarrow or datasets, or columns and records of plain Python."""
    pd = _pandas()
    if isinstance(data, pd.DataFrame):
        return data
    if hasattr(data, "to_pandas"):  # polars, pyarrow, datasets
        frame = data.to_pandas()
        if isinstance(frame, pd.DataFrame):
            return frame
    if isinstance(data, Mapping) or (
        isinstance(data, list) and data and all(isinstance(row, Mapping) for row in data)
    ):
        try:
            return pd.DataFrame(data)
        except ValueError as error:
            raise DataError(f"Columns must have equally many values. Got '{error}'.") from error
    if isinstance(data, list) and data and all(isinstance(row, str) for row in data):
        return pd.DataFrame({"text": data})
    got = "an empty list" if isinstance(data, list) and not data else type(data).__name__
    raise DataError(
        "The data must be a path, a data frame (pandas, polars, pyarrow, datasets), a list of "
        f"texts, records, or columns by name. Got {got} instead.",
        user_message=Message("There are no rows in it. Choose another file, or paste some lines."),
    )


def _images_in(folder: Path) -> "pd.DataFrame":
    """List the images in a folder and its subfolders."""
    paths = sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.suffix.lower() in IMAGE_SUFFIXES and path.is_file()
    )
    if not paths:
        raise DataError(
            f"{folder} must be a file, or a folder of images ({', '.join(IMAGE_SUFFIXES)}). "
            "Got a folder without any; give the path of your data."
        )
    return _pandas().DataFrame({"image": paths})


def _read_file(
    path: Path, id_column: str | None, notes: list[str], written: dict[str, "pd.Series[Any]"]
) -> "pd.DataFrame":
    """Read a file by its suffix; `written` gets strings as written in the file."""
    check_file(path)
    pd = _pandas()
    readers: dict[str, Callable[[Path], Any]] = {
        ".parquet": pd.read_parquet, ".pq": pd.read_parquet,
        ".arrow": pd.read_feather, ".feather": pd.read_feather, ".ipc": pd.read_feather,
        ".jsonl": _read_json, ".ndjson": _read_json, ".json": _read_json,
        **dict.fromkeys((".xlsx", ".xlsm", ".xls"), partial(_read_excel, written=written)),
    }  # fmt: skip
    kind = path.suffix.lower()
    try:
        if kind in (".csv", ".txt", ".tsv"):
            return _read_csv(path, id_column, notes, written)
        if kind not in readers:
            raise DataError(
                f"The suffix of {path.name} must be one of .csv, .tsv, .txt, "
                f"{', '.join(readers)}. Got {kind or 'none'!r} instead.",
                user_message=Message(
                    "{file} is not of a kind that can be read. Choose a CSV, Excel, Parquet or "
                    "JSON file, or a zip file of pictures.",
                    file=path.name,
                ),
            )
        with broken_as_value_errors():
            return readers[kind](path)
    except (ValueError, OSError) as error:
        if isinstance(error, DataError):
            raise
        why = " ".join(str(error).split())
        raise DataError(
            f"{path} could not be read ({why}); save or export it again.",
            user_message=Message(
                "{file} could not be read: it is damaged, or of another kind than its name says. "
                "Save or export it again.",
                file=path.name,
            ),
        ) from error


def _read_json(path: Path) -> "pd.DataFrame":
    """Read JSON lines or a list of records."""
    text = path.read_text(encoding="utf-8-sig")
    try:
        records = parse_json(text)
    except ValueError:
        records = [parse_json(line) for line in text.splitlines() if line.strip()]
    if isinstance(records, dict) and not any(isinstance(v, list) for v in records.values()):
        records = [records]  # one line
    return _as_frame(records)


def _read_excel(path: Path, written: dict[str, "pd.Series[Any]"]) -> "pd.DataFrame":
    """Read the first sheet of a workbook."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as parts:
            names = parts.namelist()
            unpacked = sum(part.file_size for part in parts.infolist())
        if _WORKBOOK not in names:
            inside = names[0] if names else "nothing"
            raise DataError(
                f"{path} must be a workbook. Got an archive with {inside:.60} in it; unpack it.",
                user_message=Message(
                    "{file} is no workbook, but an archive. Unpack it, and choose a file of it.",
                    file=path.name,
                ),
            )
        if unpacked > _MAX_UNPACKED:
            raise DataError(
                f"{path} must have at most 1 GB when unpacked. Got {unpacked / 1e9:.1f} GB; save "
                "the sheet as CSV.",
                user_message=Message(
                    "{file} is larger than 1 GB when unpacked. Save the sheet as CSV.",
                    file=path.name,
                ),
            )
    pd = _pandas()
    try:
        frame = pd.read_excel(path, keep_default_na=False, na_values=[""])
    except ImportError as error:
        raise MissingExtraError(
            f"Reading {path.name} needs openpyxl. Install it with: "
            'pip install "askmeans[excel]", or save the sheet as CSV.'
        ) from error
    for name in frame.columns:
        missing = frame[name].isin(_NOT_AVAILABLE)
        if missing.any():
            written[str(name)] = frame[name]
            frame[name] = frame[name].mask(missing).infer_objects()
    return frame


def _read_csv(
    path: Path, id_column: str | None, notes: list[str], written: dict[str, "pd.Series[Any]"]
) -> "pd.DataFrame":
    """Read a CSV file of any usual separator and encoding."""
    pd = _pandas()
    text, encoding = _decoded(path.read_bytes())
    if not text.strip():
        raise DataError(
            f"{path} must have a header and rows. Got an empty file.",
            user_message=Message("{file} is empty. Choose another file.", file=path.name),
        )
    if encoding not in ("utf-8-sig", "utf-16"):
        notes.append(
            Message(
                "{file} is not UTF-8 and was read as {encoding}; if letters look wrong, save it as "
                "UTF-8.",
                file=path.name,
                encoding=encoding,
            )
        )
    separator = "\t" if path.suffix.lower() == ".tsv" else _separator(text)
    if path.suffix.lower() == ".txt" and separator == _NO_SEPARATOR:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if " " in lines[0]:
            notes.append(
                Message("{file} is read as one text per line, without a header.", file=path.name)
            )
            return pd.DataFrame({"text": lines})

    def read(**options: Any) -> Any:
        return pd.read_csv(io.StringIO(text), sep=separator, skipinitialspace=True, **options)

    try:
        frame, words = read(), read(dtype=str, keep_default_na=False)
    except pd.errors.ParserError as error:
        raise DataError(
            f"{path} must have equally many values in every line. Got '{str(error).strip()}'; put "
            "values that contain the separator into quotes.",
            user_message=Message(
                "The lines of {file} have different numbers of values. Put values that contain the "
                "separator into quotes.",
                file=path.name,
            ),
        ) from error
    decimal = "," if separator == ";" else "."
    for name in frame.columns:
        is_numeric, missing = frame[name].dtype.kind in "fiub", frame[name].isna()
        if name == id_column:
            frame[name] = words[name]
        elif is_numeric and words[name].head(_SAMPLE).str.match(r"0\d").any():
            frame[name] = words[name].mask(missing)  # codes, such as 01067
        elif not is_numeric:
            if missing.any():
                written[str(name)] = words[name].mask(words[name] == "")
            frame[name] = _plain_numbers(_without_signs(frame[name], decimal), decimal)
    return frame


def _decoded(raw: bytes) -> tuple[str, str]:
    """Decode a file; return the text and the encoding."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16"), "utf-16"
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return raw.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return raw.decode("latin-1"), "latin-1"


def _separator(text: str) -> str:
    """Detect the separator: the one with the most columns, equally many in most lines."""
    head = text[: 2**16]
    if len(text) > len(head):
        head = head.rpartition("\n")[0]
    best, columns = _NO_SEPARATOR, 1
    for separator in _SEPARATORS:
        try:
            rows = [row for row in csv.reader(io.StringIO(head), delimiter=separator) if row]
        except csv.Error:
            continue
        widths = [len(row) for row in rows[:_LINES]]
        if widths and widths[0] > columns and widths.count(widths[0]) > len(widths) / 2:
            best, columns = separator, widths[0]
    return best


def _without_signs(column: "pd.Series[Any]", decimal: str) -> "pd.Series[Any]":
    """Mask marks of missing values in numbers or dates; leave other columns unchanged."""
    if column.dtype.kind in "fiub":
        return column
    gaps = column.astype("str").str.strip().isin(_MISSING)
    rest = column[~gaps].dropna().astype("str")
    if not gaps.any() or rest.empty:
        return column
    known = _are_numbers(rest, decimal) or number_format(rest) or date_format(rest.iloc[:_SAMPLE])
    return column.mask(gaps) if known else column


def _plain_numbers(column: "pd.Series[Any]", decimal: str) -> "pd.Series[Any]":
    """Convert strings of numbers to floats; leave other columns unchanged."""
    values = column.dropna()
    if column.dtype.kind in "fiub" or values.empty or not _are_numbers(values, decimal):
        return column
    if decimal == ",":
        column = column.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
    return column.astype("float64")


def _are_numbers(values: "pd.Series[Any]", decimal: str) -> bool:
    """Whether all are plain numbers with this decimal sign."""
    pattern = re.compile(_NUMBER[decimal])
    return all(pattern.fullmatch(str(value).strip()) for value in values)
