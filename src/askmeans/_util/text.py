"""Text from people and files, made safe for terminals, spreadsheets and notebooks."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

# Characters that are not allowed in names, as a character class: control characters, line and
# paragraph separators, characters that reverse the direction of writing, spaces without width. (The
# joiners U+200C and U+200D are part of words and of emoji.)
UNSEEN = r"\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
_UNCLEAN = re.compile(rf"[{UNSEEN}\ud800-\udfff]")  # nor lone surrogates, halves of a character
_UNSAFE = re.compile(rf"(?![\t\n])[{UNSEEN}\ud800-\udfff]")
# Beginnings that spreadsheets interpret as a formula (OWASP's list, full-width forms included);
# leading apostrophes count, so that `csv_value` inverts `csv_cell` exactly.
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def printable(text: str) -> str:
    r"""The text with control sequences of terminals escaped; line breaks and tabs stay.

    Everything from data that is printed goes through here.

    >>> print(printable("red: \x1b[31m"))
    red: \x1b[31m
    """
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def is_clean(name: str) -> bool:
    r"""Whether a name has no invisible characters but spaces.

    >>> is_clean("Zoë"), is_clean("a\nb")
    (True, False)
    """
    return _UNCLEAN.search(name) is None


def is_blank(text: str) -> bool:
    """Whether a text says nothing: it has fewer than two different letters, digits or pictures.

    >>> [is_blank(text) for text in ("", "???", "1111", "no", "\N{PARTY POPPER}!")]
    [True, True, True, False, False]
    """
    if any(unicodedata.category(char) == "So" for char in text):
        return False
    return len({char for char in text.casefold() if char.isalnum()}) < 2


def csv_cell(text: str) -> str:
    """The text as a cell of a CSV file that no spreadsheet interprets as a formula; numbers stay.

    >>> csv_cell("=1+1"), csv_cell("-1.5"), csv_cell("a")
    ("'=1+1", '-1.5', 'a')
    """
    return f"'{text}" if _is_formula(text) else text


def csv_value(cell: str) -> str:
    """The inverse of `csv_cell`.

    >>> csv_value("'=1+1"), csv_value("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _is_formula(cell[1:]) else cell


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""A table as CSV, lines ending in "\n": texts through `csv_cell`, None as an empty cell.

    >>> as_csv(["id", "x"], [["=a", 0.5], ["b, c", None]])
    'id,x\n\'=a,0.5\n"b, c",\n'
    """
    lines = (",".join(map(_quoted, row)) for row in (columns, *rows))
    return "".join(f"{line}\n" for line in lines)


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet might interpret it as a formula."""
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None


def _quoted(value: object) -> str:
    """A value between commas; unlike Python's own writer, a lone carriage return is quoted."""
    cell = "" if value is None else csv_cell(value) if isinstance(value, str) else str(value)
    if any(letter in cell for letter in ',"\r\n'):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def html_table(
    title: str, facts: Iterable[tuple[str, object]], rows: Sequence[Sequence[object]] = ()
) -> str:
    """A title, named facts without those that are None, and a table with a header row.

    >>> html_table("<b>", [("items", 3), ("budget", None)])
    '<p><strong>&lt;b&gt;</strong>: items 3</p>'
    """
    known = [(name, value) for name, value in facts if value is not None]
    listed = ", ".join(f"{escape(name)} {_cell(value)}" for name, value in known)
    parts = [f"<p><strong>{escape(title)}</strong>{': ' if listed else ''}{listed}</p>"]
    if rows:
        header = "".join(f"<th>{_cell(each)}</th>" for each in rows[0])
        lines = ("".join(f"<td>{_cell(each)}</td>" for each in row) for row in rows[1:])
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        parts.append(f"<table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>")
    return "".join(parts)


def _cell(value: object) -> str:
    """A value as text, floats with two digits."""
    return escape(f"{value:.2f}" if isinstance(value, float) else str(value))
