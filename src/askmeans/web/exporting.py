"""Exports as downloads: the tables that `askmeans export` writes."""

import csv
import io
import json

from askmeans.sessions import Session
from askmeans.sessions.tables import answers_table, centers_table, memberships_table

__all__ = ["EXPORTS", "export"]

EXPORTS = {
    "memberships.csv": "Memberships",
    "centers.csv": "Centres",
    "answers.csv": "Answers",
    "all.json": "All of it, as JSON",
}


def export(session: Session, file: str) -> tuple[str, str]:
    """The media type and the text of one of the files."""
    result = session.result()
    tables = {
        "memberships": memberships_table(result),
        "centers": centers_table(session, result),
        "answers": answers_table(session),
    }
    if file == "all.json":
        account = {"complete": result.complete, "state": str(result.state)}
        whole = {name: table.records() for name, table in tables.items()}
        return "application/json", json.dumps({**account, **whole}, indent=1) + "\n"
    table = tables[file.removesuffix(".csv")]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return "text/csv; charset=utf-8", text.getvalue()
