"""Files and frames of every make give the same table."""

import io
import json
import sys

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from PIL import Image

from askmeans.exceptions import DataError, MissingExtraError
from askmeans.tables import read_items
from askmeans.tables.reading import read_table

FRAME = pd.DataFrame({"name": ["Zoë", "Åsa", "Jörg"], "size": [1.5, 2.5, 3.5], "n": [1, 2, 3]})


def write(path):
    """The frame in the format of the path's ending."""
    writers = {
        ".csv": lambda p: FRAME.to_csv(p, index=False),
        ".tsv": lambda p: FRAME.to_csv(p, index=False, sep="\t"),
        ".parquet": FRAME.to_parquet,
        ".feather": FRAME.to_feather,
        ".jsonl": lambda p: FRAME.to_json(p, orient="records", lines=True),
        ".json": lambda p: FRAME.to_json(p, orient="records"),
        ".xlsx": lambda p: FRAME.to_excel(p, index=False),
    }
    writers[path.suffix](path)
    return path


@pytest.mark.parametrize(
    "ending", [".csv", ".tsv", ".parquet", ".feather", ".jsonl", ".json", ".xlsx"]
)
def test_every_format_gives_the_same_table(tmp_path, ending):
    table = read_table(write(tmp_path / f"d{ending}"))
    pd.testing.assert_frame_equal(table.frame, FRAME, check_dtype=False)
    assert (table.folder, table.notes) == (tmp_path, [])


@pytest.mark.parametrize(
    "make",
    [
        lambda: FRAME,
        lambda: pl.DataFrame(FRAME.to_dict("list")),
        lambda: pa.table(FRAME.to_dict("list")),
        lambda: datasets.Dataset.from_dict(FRAME.to_dict("list")),
        lambda: FRAME.to_dict("list"),
        lambda: FRAME.to_dict("records"),
    ],
)
def test_every_frame_gives_the_same_table(make):
    pd.testing.assert_frame_equal(read_table(make()).frame, FRAME, check_dtype=False)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_separator_and_encoding_are_found_out(tmp_path, separator, encoding):
    FRAME.to_csv(tmp_path / "d.csv", index=False, sep=separator, encoding=encoding)
    table = read_table(tmp_path / "d.csv")
    pd.testing.assert_frame_equal(table.frame, FRAME, check_dtype=False)
    told = ["d.csv is not UTF-8 and was read as cp1252; if letters look wrong, save it as UTF-8."]
    assert table.notes == (told if encoding == "cp1252" else [])


def test_bytes_that_no_windows_file_has_are_read_too(tmp_path):
    (tmp_path / "d.csv").write_bytes(b"a,b\n\x81x,1\n\xe9y,2\n")
    table = read_table(tmp_path / "d.csv")
    assert table.frame["a"].tolist() == ["\x81x", "éy"]
    assert "was read as latin-1" in table.notes[0]


def test_numbers_with_a_decimal_comma_are_numbers(tmp_path):
    (tmp_path / "d.csv").write_text("a;b;c\n1,5;1.234,5;x,y\n2;7;z\n")
    frame = read_table(tmp_path / "d.csv").frame
    assert frame["a"].tolist() == [1.5, 2.0]
    assert frame["b"].tolist() == [1234.5, 7.0]
    assert frame["c"].tolist() == ["x,y", "z"]


def test_codes_with_leading_zeros_stay_as_they_are_written(tmp_path):
    (tmp_path / "d.csv").write_text("zip,price\n01067,0.5\n,12\n81541,0\n")
    frame = read_table(tmp_path / "d.csv").frame
    assert frame["zip"].fillna("none").tolist() == ["01067", "none", "81541"]
    assert frame["price"].tolist() == [0.5, 12.0, 0.0]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("a,b\n1.5,x\n-,-\n2,y\n", [1.5, None, 2.0]),
        ("a;b\n1.234,5;x\nk.A.;-\n2;y\n", [1234.5, None, 2.0]),
        ("a,b\n2024-01-31,x\n?,-\n2024-02-01,y\n", ["2024-01-31", None, "2024-02-01"]),
    ],
)
def test_signs_for_missing_numbers_and_dates_are_gaps_and_words_are_not(
    tmp_path, written, expected
):
    (tmp_path / "d.csv").write_text(written)
    frame = read_table(tmp_path / "d.csv").frame
    assert [None if pd.isna(value) else value for value in frame["a"]] == expected
    assert frame["b"].tolist() == ["x", "-", "y"]


def test_a_file_of_lines_has_one_text_per_line_and_no_names(tmp_path):
    (tmp_path / "d.txt").write_text('the "first, line\n\nanother; line\n')
    table = read_table(tmp_path / "d.txt")
    assert table.frame["text"].tolist() == ['the "first, line', "another; line"]
    assert table.notes == ["d.txt is read as one text per line, without a header."]
    (tmp_path / "named.txt").write_text("message\nthe first line\nanother line\n")
    assert list(read_table(tmp_path / "named.txt").frame.columns) == ["message"]


def test_one_column_of_texts_is_not_cut_at_its_commas(tmp_path):
    (tmp_path / "d.csv").write_text('text\nhello, world\n"late; again, sorry"\nfine\n')
    assert read_table(tmp_path / "d.csv").frame["text"].tolist() == [
        "hello, world", "late; again, sorry", "fine"
    ]  # fmt: skip


def test_ids_stay_as_they_are_written(tmp_path):
    (tmp_path / "d.csv").write_text("key,x\n007,1\nNA,2\n")
    assert read_table(tmp_path / "d.csv", "key").frame["key"].tolist() == ["007", "NA"]


def test_a_folder_of_images_is_a_table_of_their_paths(tmp_path):
    (tmp_path / "b").mkdir()
    for name in ("b/2.jpg", "1.png"):
        Image.new("RGB", (4, 4)).save(tmp_path / name)
    (tmp_path / "notes.txt").write_text("no image")
    table = read_table(tmp_path)
    assert table.frame["image"].tolist() == ["1.png", "b/2.jpg"]
    assert table.folder == tmp_path


def test_names_of_columns_are_words_that_differ(tmp_path):
    pd.DataFrame({1: [1.0], 2: [2.0]}).to_parquet(tmp_path / "numbers.parquet")
    assert list(read_table(tmp_path / "numbers.parquet").frame.columns) == ["1", "2"]
    with pytest.raises(DataError, match=r"Columns must differ by name. Got '1' twice"):
        read_table(pd.DataFrame([[1, 2]], columns=[1, "1"]))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("d.doc", b"", r"must be one of \.csv, .* Got '\.doc'"),
        ("d.csv", b"a,b\n", "must have rows and columns"),
        ("empty.csv", b"\n", "must have a header and rows. Got an empty file"),
        ("d.csv", b"a,b\n1,2\n3,4,5\n", "must have equally many values in every line.*quotes"),
        ("d.parquet", b"no", "could not be read"),
        ("d.jsonl", b"{", "could not be read"),
        ("d.xlsx", b"no", "could not be read"),
        ("folder", None, "or a folder of images .* Got a folder without any"),
        ("nothing.csv", None, "must be a file. Got nothing there"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_sentence(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    elif "." not in name:
        (tmp_path / name).mkdir()
    with pytest.raises(DataError, match=message):
        read_table(tmp_path / name)


@pytest.mark.parametrize("data", [3, np.eye(2), {"a": [1], "b": [1, 2]}, [], [1, "a"]])
def test_what_is_no_table_is_refused(data):
    with pytest.raises(DataError, match=r"must be a path|equally many values"):
        read_table(data)


def test_one_record_is_a_table_too(tmp_path):
    (tmp_path / "d.json").write_text(json.dumps({"a": 1, "b": "x"}))
    assert read_table(tmp_path / "d.json").frame.shape == (1, 2)


def picture():
    """The bytes of an image."""
    file = io.BytesIO()
    Image.new("RGB", (4, 4)).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize(
    ("module", "extra", "options"),
    [
        ("pandas", "tables", {}),
        ("pyarrow", "tables", {}),
        ("PIL", "image", {"data": {"photo": [picture(), picture()]}}),
        ("wordllama", "text", {"data": {"t": ["one bee", "two gnus"]}, "embed": "wordllama"}),
    ],
)
def test_a_missing_library_is_told_with_the_command_that_installs_it(
    monkeypatch, module, extra, options
):
    data = options.pop("data", {"x": [1.0, 2.0]})
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf'pip install "askmeans\[{extra}\]"'):
        read_items(data, **options)


def test_a_workbook_without_its_library_is_told_so(monkeypatch, tmp_path):
    pd.DataFrame({"x": [1.0, 2.0]}).to_excel(tmp_path / "d.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r'pip install "askmeans\[excel\]", or save'):
        read_items(tmp_path / "d.xlsx")
