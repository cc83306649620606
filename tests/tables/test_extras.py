"""What is said where an optional library is missing: one line with the command to install it."""

import io
import sys

import pandas as pd
import pytest
from PIL import Image

from askmeans.exceptions import MissingExtraError
from askmeans.tables import read_items


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
