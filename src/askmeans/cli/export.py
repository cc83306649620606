"""`askmeans export`: memberships, centres and answers so far, keyed by the user's ids."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from askmeans._util.files import whole_file
from askmeans.cli.exchange import FORMATS, exchange_files, write_exchange
from askmeans.cli.options import Which
from askmeans.cli.printing import say
from askmeans.cli.sessions import opened, show_json
from askmeans.cli.tables import check_unused, write_text
from askmeans.exceptions import ParameterError
from askmeans.results import expected_wrong_text
from askmeans.sessions import Session, SessionResult
from askmeans.sessions.store import stem_of
from askmeans.sessions.tables import Table, answers_table, centers_table, memberships_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["run"]


def run(which: Which, out: Path | None, format: str, *, force: bool) -> None:  # noqa: A002 - the option's name
    """Write the result so far."""
    name = which.name
    with opened(which) as session:
        stem = out or stem_of(which.database)
        if name is not None and out is None:
            if Path(name).name != name:
                raise ParameterError(
                    "A session's files are called after it where its name can be a file's. "
                    f"Got {name!r}; say with --out where they go."
                )
            stem = stem.with_name(f"{stem.name}-{name}")
        files = _files(stem, format)
        check_unused(list(files.values()), force=force)
        result = session.result()
        if format in FORMATS:
            write_exchange(session, result, files, format)
            _say(session, result, files, as_json=which.as_json)
            return
        tables = {
            "memberships": memberships_table(session, result),
            "centers": centers_table(session, result),
            "answers": answers_table(session),
        }
        if format == "json":
            whole = {key: table.records() for key, table in tables.items()}
            account = {"complete": result.complete, "state": str(result.state),
                       "basis": result.basis}  # fmt: skip
            write_text(json.dumps({**account, **whole}, indent=1) + "\n", files["all"])
        else:
            for key, table in tables.items():
                _write(table, files[key])
        _say(session, result, files, as_json=which.as_json)


def _say(session: Session, result: SessionResult, files: dict[str, Path], *, as_json: bool) -> None:
    """What was written, and how far the session is."""
    if as_json:
        paths = {key: str(path.absolute()) for key, path in files.items()}
        show_json(session, {"complete": result.complete, "basis": result.basis, "files": paths})
        return
    say(
        f"{len(result.memberships)} items, {result.n_queries} answers; {result.state}, "
        f"{result.missing.low} to {result.missing.high} questions left."
    )
    if result.expected_wrong is not None:
        n_items, band = len(result.memberships), result.expected_wrong_band
        say(expected_wrong_text(result.expected_wrong, n_items, band))
    if result.without_answers:
        say(result.without_answers)
    for key, path in files.items():
        say(f"{key}: {path.absolute()}")


def _files(stem: Path, format: str) -> dict[str, Path]:  # noqa: A002 - the option's name
    """Where the tables go."""
    if format in FORMATS:
        return exchange_files(stem, format)
    if format == "json":
        return {"all": Path(f"{stem}.json")}
    return {key: Path(f"{stem}.{key}.{format}") for key in ("memberships", "centers", "answers")}


def _frame(table: Table) -> "pd.DataFrame":
    """A table of the session as a frame."""
    import pandas as pd

    frame = pd.DataFrame(table.rows, columns=pd.Index(table.columns))
    for name in frame.columns:  # shares are text: a Parquet column has one type
        if any(isinstance(value, str) for value in frame[name]):
            frame[name] = [None if pd.isna(value) else str(value) for value in frame[name]]
    return frame


def _write(table: Table, path: Path) -> None:
    """A CSV or Parquet file; a crash leaves the old one or the new one."""
    if path.suffix == ".csv":
        write_text(table.to_csv(), path)
        return
    with whole_file(path) as file:
        _frame(table).to_parquet(file, index=False)
