"""`askmeans export`: memberships, centres and answers so far, keyed by the user's ids."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askmeans._util.files import atomic_file
from askmeans.cli.options import SessionOptions
from askmeans.cli.output import check_format, check_unused, complain, say, write_frames, write_text
from askmeans.exceptions import ParameterError, StoreVersionError
from askmeans.results import expected_wrong_text, without_traces
from askmeans.sessions import Session, SessionResult
from askmeans.sessions.store import output_stem
from askmeans.sessions.tables import Table, result_tables, stored_answers, tables_as_json
from askmeans.tables.exchange import (
    LabelledItem,
    argilla_records,
    huggingface_table,
    label_studio_config,
    label_studio_tasks,
)

if TYPE_CHECKING:
    import pandas as pd

_TOOLS = ("label-studio", "argilla", "huggingface")  # formats of other tools


def run(options: SessionOptions, out: Path | None, format: str, *, force: bool) -> None:  # noqa: A002 - the option's name
    """Write the result so far; of a session that this version cannot open, the answers."""
    try:
        _write_result(options, out, format, force=force)
    except StoreVersionError as error:
        if format in _TOOLS:
            raise
        table = stored_answers(options.database, options.name)  # refuses another schema, too
        complain(f"warning: {error}")
        file = Path(f"{_stem(options, out)}.answers.{format}")
        check_unused([file], force=force)
        if format == "json":
            write_text(json.dumps({"answers": table.records()}, indent=1) + "\n", file)
        else:
            _write(table, file)
        path = str(file.absolute())
        say(json.dumps({"files": {"answers": path}}) if options.as_json else f"answers: {path}")


def _stem(options: SessionOptions, out: Path | None) -> Path:
    """What the files' names begin with."""
    name, stem = options.name, out or output_stem(options.database)
    if name is None or out is not None:
        return stem
    if Path(name).name != name:
        raise ParameterError(
            "The files are named after the session, so its name must be a file's. "
            f"Got {name!r}; name the files with --out."
        )
    return stem.with_name(f"{stem.name}-{name}")


def _write_result(options: SessionOptions, out: Path | None, format: str, *, force: bool) -> None:  # noqa: A002 - the option's name
    """Write the result so far."""
    with options.open() as session:
        files = _files(_stem(options, out), format)
        check_unused(list(files.values()), force=force)
        result = session.result()
        if format in _TOOLS:
            _write_for_tool(session, result, files, format)
        elif format == "json":
            write_text(tables_as_json(session, result), files["all"])
        else:
            for name, table in result_tables(session, result).items():
                _write(table, files[name])
        paths = {key: str(path.absolute()) for key, path in files.items()}
        values = {"complete": result.complete, "basis": result.basis, "files": paths}
        written = [f"{key}: {path}" for key, path in paths.items()]
        options.show(session, values, *_result_lines(result), *written)


def _result_lines(result: SessionResult) -> list[str]:
    """Lines about the result and the questions left."""
    n_items = len(result.memberships)
    lines = [f"{n_items} items, {result.n_queries} answers; {result.state}, "
             f"{result.missing.low} to {result.missing.high} questions left."]  # fmt: skip
    if result.expected_wrong is not None:
        band = result.expected_wrong_band
        lines.append(expected_wrong_text(result.expected_wrong, n_items, band))
    if result.without_answers:
        lines.append(result.without_answers)
    return lines


def _files(stem: Path, format: str) -> dict[str, Path]:  # noqa: A002 - the option's name
    """Where the tables go."""
    if format in _TOOLS:
        return _tool_files(stem, format)
    if format == "json":
        return {"all": Path(f"{stem}.json")}
    files = {key: Path(f"{stem}.{key}.{format}") for key in ("memberships", "centers", "answers")}
    check_format(files["memberships"])
    return files


def _frame(table: Table) -> "pd.DataFrame":
    """A table of the session as a frame."""
    import pandas as pd

    frame = pd.DataFrame(table.rows, columns=pd.Index(table.columns))
    for name in frame.columns:  # shares are text: a Parquet column has one type
        if any(isinstance(value, str) for value in frame[name]):
            frame[name] = [None if pd.isna(value) else str(value) for value in frame[name]]
    return frame


def _write(table: Table, path: Path) -> None:
    """A CSV, Excel or Parquet file; a crash leaves the old one or the new one."""
    if path.suffix == ".csv":
        write_text(table.to_csv(), path)
    elif path.suffix == ".xlsx":
        with atomic_file(path) as file:
            file.write(table.to_excel())
    else:
        write_frames([_frame(table)], path)


def _tool_files(stem: Path, format: str) -> dict[str, Path]:  # noqa: A002 - the option's name
    """Where a tool's files go."""
    if format == "label-studio":
        return {"tasks": Path(f"{stem}.{format}.json"), "interface": Path(f"{stem}.{format}.xml")}
    ending = "json" if format == "argilla" else "parquet"
    return {"records": Path(f"{stem}.{format}.{ending}")}


def _write_for_tool(
    session: Session,
    result: SessionResult,
    files: dict[str, Path],
    format: str,  # noqa: A002 - the option's name
) -> None:
    """Write the items, the result so far and the answers as a tool reads them."""
    groups = list(result.group_names)
    items = _labelled(session, result)
    if format == "label-studio":
        write_text(json.dumps(label_studio_tasks(items), indent=1) + "\n", files["tasks"])
        write_text(label_studio_config(items, groups), files["interface"])
    elif format == "argilla":
        write_text(json.dumps(argilla_records(items), indent=1) + "\n", files["records"])
    else:
        import pyarrow.parquet as pq

        with atomic_file(files["records"]) as file:
            pq.write_table(huggingface_table(items, groups), file)


def _labelled(session: Session, result: SessionResult) -> list[LabelledItem]:
    """Every item with its displayed values, memberships and answers."""
    groups = list(result.group_names)
    names = session.groups.all_names
    answers: dict[int, dict[str, dict[str, float]]] = {}
    for receipt in session.history.answers():
        if receipt.kind == "skip" or receipt.question is None or receipt.value is None:
            continue
        question = session.question(receipt.question)
        shares = answers.setdefault(question.items[0], {}).setdefault(receipt.annotator, {})
        value: Any = receipt.value
        if question.kind == "membership" and question.cluster is not None:
            shares[names[question.cluster]] = float(value)
        elif question.kind == "group":
            for name, share in zip(names, value, strict=False):
                shares[name] = shares.get(name, 0.0) + float(share)
    items = []
    for row, memberships in enumerate(without_traces(result.memberships).tolist()):
        item = session.item(row)
        data = dict(item.fields)
        data |= {} if item.text is None else {"text": item.text}
        data |= {} if item.image is None else {"image": item.image}
        items.append(
            LabelledItem(
                id=item.id,
                data=data,
                memberships=dict(zip(groups, memberships, strict=True)),
                answers=answers.get(row, {}),
            )
        )
    return items
