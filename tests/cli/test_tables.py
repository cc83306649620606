"""A file that is broken, or not what its ending says, ends a command in a sentence."""

import io
import json
import re
import zipfile

import numpy as np
import pandas as pd
import pytest

NESTED = "[" * 100_000 + "]" * 100_000
TEXTS = [{"id": f"m{row}", "size": row % 7 + row / 90} for row in range(30)]


@pytest.fixture
def folder(tmp_path, askmeans):
    """A session, and a file that is nested as deeply as no file of ours."""
    (tmp_path / "data.json").write_text(json.dumps(TEXTS))
    askmeans("init", "s.db", "data.json", "-k", "2", "--id", "id", cwd=tmp_path)
    (tmp_path / "nested.json").write_text('[{"id": "m1", "size": ' + NESTED + "}]")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "init n.db nested.json -k 2", "add s.db nested.json", "import s.db nested.json",
        "gold s.db nested.json", "predict s.db nested.json",
        "init n.db data.json -k 2 --vectors nested.json", "fit nested.json -k 2 --expert none",
    ],
)  # fmt: skip
def test_json_that_is_nested_deeply_is_refused_in_a_sentence(folder, askmeans, command):
    end = askmeans(*command.split(), cwd=folder, ok=False)
    assert end.returncode == 1
    assert "nested.json" in end.stderr
    assert "nested too deeply" in end.stderr


def workbook():
    """A spreadsheet's file."""
    file = io.BytesIO()
    pd.DataFrame(TEXTS).to_excel(file, index=False)
    return file.getvalue()


def packed(*parts, unpacked=None):
    """An archive of these, whose last part is said to have so many bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts:
            archive.writestr(name, content)
        if unpacked is not None:
            archive.filelist[-1].file_size = unpacked
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (lambda: workbook()[:3000], r"d.xlsx could not be read \(File is not a zip file\)"),
        (lambda: packed(("data.xlsx", workbook())), "an archive with data.xlsx in it; unpack it"),
        (lambda: packed(), "an archive with nothing in it"),
        (lambda: packed(("[Content_Types].xml", "<a>")), "d.xlsx could not be read"),
        (lambda: packed(("[Content_Types].xml", ""), ("big", ""), unpacked=1_100_000_000),
         "must have at most 1 GB when unpacked. Got 1.1 GB; save the sheet as CSV"),
    ],
)  # fmt: skip
def test_a_broken_or_too_large_workbook_is_refused_in_a_sentence(
    tmp_path, askmeans, content, sentence
):
    (tmp_path / "d.xlsx").write_bytes(content())
    end = askmeans("init", "n.db", "d.xlsx", "-k", "2", cwd=tmp_path, ok=False)
    assert end.returncode == 1
    assert re.search(sentence, end.stderr), end.stderr


def test_a_workbook_whose_words_grow_is_refused_in_a_sentence(tmp_path, askmeans):
    steps = "".join(f'<!ENTITY a{j + 1} "{f"&a{j};" * 10}">' for j in range(9))
    entities = f'<!DOCTYPE worksheet [<!ENTITY a0 "ha">{steps}]>'
    with zipfile.ZipFile(io.BytesIO(workbook())) as parts:
        content = {name: parts.read(name) for name in parts.namelist()}
    sheet = content["xl/worksheets/sheet1.xml"].decode().replace("m1<", "&a9;<")
    content["xl/worksheets/sheet1.xml"] = entities + sheet
    (tmp_path / "d.xlsx").write_bytes(packed(*content.items()))
    end = askmeans("init", "n.db", "d.xlsx", "-k", "2", cwd=tmp_path, ok=False)
    assert "d.xlsx could not be read (Unable to read workbook" in end.stderr
    assert end.returncode == 1


def array_file(header):
    """A .npy file with this header."""
    line = header.encode("latin-1")
    line += b" " * (63 - (len(line) + 10) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(line).to_bytes(2, "little") + line + bytes(24)


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), ",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (10000000000000000, 2), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 2), }",
        "'''",
    ],
)
def test_a_malformed_npy_file_is_refused_in_a_sentence(folder, askmeans, header):
    (folder / "v.npy").write_bytes(array_file(header))
    for command in ("init n.db data.json -k 2 --vectors v.npy", "fit v.npy -k 2 --engine disk"):
        end = askmeans(*command.split(), cwd=folder, ok=False)
        assert end.returncode == 1
        assert "v.npy must be a .npy file of numbers" in end.stderr


def test_vectors_nested_in_different_depths_are_refused_in_a_sentence(folder, askmeans):
    rows = [{"v": [1, [2]]}, {"v": [3, 4]}, {"v": [5, 6]}]
    (folder / "v.json").write_text(json.dumps(rows))
    end = askmeans("init", "n.db", "v.json", "-k", "2", "--vectors", "v", cwd=folder, ok=False)
    assert "must hold numbers in rows of equal length" in end.stderr
    assert end.returncode == 1


def test_an_npz_file_without_ids_in_a_row_is_refused_in_a_sentence(folder, askmeans):
    np.savez(folder / "v.npz", ids="one", vectors=np.ones((30, 2)))
    end = askmeans(
        "init", "n.db", "data.json", "-k", "2", "--vectors", "v.npz", cwd=folder, ok=False
    )
    assert "with 'ids' and 'vectors'" in end.stderr
    assert end.returncode == 1
