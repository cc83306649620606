"""Small HTML tables for notebooks; whatever they hold is text, never markup."""

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["html_table"]


def html_table(
    title: str, facts: Iterable[tuple[str, object]], rows: Sequence[Sequence[object]] = ()
) -> str:
    """Facts by name under a title, None left out, and a table whose first row is its header.

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
    """A value as people read it."""
    return escape(f"{value:.2f}" if isinstance(value, float) else str(value))
