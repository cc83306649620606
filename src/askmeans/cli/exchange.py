"""Sessions to and from other labelling tools: what `export` and `import` do with their files."""

import json
from pathlib import Path
from typing import Any

from askmeans._util.files import whole_file
from askmeans.cli.tables import write_text
from askmeans.exceptions import DataError
from askmeans.queries import Answer
from askmeans.results import without_traces
from askmeans.sessions import Session, SessionResult
from askmeans.tables.exchange import (
    LabelledItem,
    argilla_records,
    huggingface_table,
    label_studio_config,
    label_studio_tasks,
    read_labels,
)

__all__ = ["FORMATS", "exchange_files", "labels_as_answers", "write_exchange"]

FORMATS = ("label-studio", "argilla", "huggingface")


def exchange_files(stem: Path, format: str) -> dict[str, Path]:  # noqa: A002 - the option's name
    """Where a tool's files go."""
    if format == "label-studio":
        return {"tasks": Path(f"{stem}.{format}.json"), "interface": Path(f"{stem}.{format}.xml")}
    ending = "json" if format == "argilla" else "parquet"
    return {"records": Path(f"{stem}.{format}.{ending}")}


def write_exchange(
    session: Session,
    result: SessionResult,
    files: dict[str, Path],
    format: str,  # noqa: A002 - the option's name
) -> None:
    """Write the items, the result so far and the answers as a tool reads them."""
    groups = list(result.cluster_names)
    items = _labelled(session, result)
    if format == "label-studio":
        write_text(json.dumps(label_studio_tasks(items), indent=1) + "\n", files["tasks"])
        write_text(label_studio_config(items, groups), files["interface"])
    elif format == "argilla":
        write_text(json.dumps(argilla_records(items), indent=1) + "\n", files["records"])
    else:
        import pyarrow.parquet as pq

        with whole_file(files["records"]) as file:
            pq.write_table(huggingface_table(items, groups), file)


def labels_as_answers(session: Session, path: Path) -> list[Answer]:
    """What a tool's file says, as answers to the questions that this session asks."""
    groups = session.group_names  # by their numbers; merged ones have a name together
    rows = {name: row for row, name in enumerate(session.rows.ids())}
    answers = []
    for label in read_labels(path, groups):
        if label.id not in rows:
            raise DataError(
                f"{path} must be about the session's items. Got {label.id!r}, which is none of "
                "them; export from the same session, or give items the same ids."
            )
        left = dict(label.shares)
        shares = tuple(float(left.pop(name, 0.0)) for name in groups)
        items = (rows[label.id],)
        if session.config.ask == "group":
            answers.append(
                Answer(round=0, kind="group", items=items, cluster=None, repeat=0, value=shares)
            )
            continue
        answers += [
            Answer(round=0, kind="membership", items=items, cluster=j, repeat=0, value=share)
            for j, share in enumerate(shares)
            if groups.index(groups[j]) == j
        ]
    return answers


def _labelled(session: Session, result: SessionResult) -> list[LabelledItem]:
    """Every item with what people see, its memberships and its answers."""
    groups = list(result.cluster_names)
    numbered = session.group_names
    said: dict[int, dict[str, dict[str, float]]] = {}
    for receipt in session.history():
        if receipt.kind == "skip" or receipt.question is None or receipt.value is None:
            continue
        question = session.question(receipt.question)
        shares = said.setdefault(question.items[0], {}).setdefault(receipt.annotator, {})
        value: Any = receipt.value
        if question.kind == "membership" and question.cluster is not None:
            shares[numbered[question.cluster]] = float(value)
        elif question.kind == "group":
            for name, share in zip(numbered, value, strict=False):
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
                answers=said.get(row, {}),
            )
        )
    return items
