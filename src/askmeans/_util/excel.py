"""Sheets of Excel in which texts are texts and never formulas."""

from collections.abc import Iterable, Sequence
from typing import BinaryIO

MOST_ROWS = 2**20  # of a sheet, its header included, by the format's specification


def write_sheet(title: str, rows: Iterable[Sequence[object]], file: BinaryIO) -> None:
    """Write a workbook of one sheet; openpyxl's IllegalCharacterError for a control character."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    sheet = book.create_sheet(title)

    def cell(value: object) -> object:
        if not isinstance(value, str):
            return value
        made = WriteOnlyCell(sheet, value)
        made.data_type = "s"
        return made

    for row in rows:
        sheet.append([cell(value) for value in row])
    book.save(file)
