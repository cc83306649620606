"""Labels to and from other tools: Label Studio's JSON, Argilla's records, Hugging Face's Parquet.

These are plain values, so no tool has to be installed. Formats without a field for shares over
several groups get the strongest group.
"""

import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from askmeans._util.checks import check_file
from askmeans._util.files import broken_as_value_errors, parse_json
from askmeans.exceptions import DataError

_QUESTION = "group"  # name of the question in other tools
_ITEM = "item_id"  # in a task's data, besides Label Studio's own id
_MODEL = "askmeans"

ItemShares = tuple[str, Mapping[str, float]]  # an item and its shares by group


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledItem:
    """An item with its shown data, its memberships by group, and the answers by annotator."""

    id: str
    data: Mapping[str, Any]
    memberships: Mapping[str, float]
    answers: Mapping[str, Mapping[str, float]]


def label_studio_config(items: Sequence[LabelledItem], groups: Sequence[str]) -> str:
    """Write a labelling interface for these tasks, with one choice of the groups."""
    shown = "image" if items and "image" in items[0].data else "text"
    tag = "Image" if shown == "image" else "Text"
    choices = "\n".join(f"    <Choice value={quoteattr(name)}/>" for name in groups)
    return (
        f'<View>\n  <{tag} name="item" value="${shown}"/>\n'
        f'  <Choices name="{_QUESTION}" toName="item" choice="single">\n{choices}\n'
        "  </Choices>\n</View>\n"
    )


def label_studio_tasks(items: Iterable[LabelledItem]) -> list[dict[str, Any]]:
    """Write tasks for Label Studio: predictions are the result, annotations the answers."""
    tasks = []
    for item in items:
        data = {"memberships": dict(item.memberships), **item.data, _ITEM: item.id}
        if "image" not in data:
            words = [f"{name} = {value}" for name, value in item.data.items() if value is not None]
            data.setdefault("text", ", ".join(words) or item.id)
        prediction = {"model_version": _MODEL, "score": max(item.memberships.values()),
                      "result": [_choice(item.memberships)]}  # fmt: skip
        annotations = [
            {"result": [_choice(shares)], "was_cancelled": False}
            for shares in item.answers.values()
            if any(shares.values())
        ]
        tasks.append({"data": data, "predictions": [prediction], "annotations": annotations})
    return tasks


def argilla_records(items: Iterable[LabelledItem]) -> list[dict[str, Any]]:
    """Write records for `argilla.Record.from_dict`, with a label question called group."""
    records = []
    for item in items:
        metadata = {f"membership_{j}": share for j, share in enumerate(item.memberships.values())}
        responses = [
            {"value": _strongest(shares), "user_id": str(uuid.uuid5(uuid.NAMESPACE_OID, who))}
            for who, shares in item.answers.items()
            if any(shares.values())
        ]
        fields = {name: str(value) for name, value in item.data.items() if value is not None}
        suggestion = {"value": _strongest(item.memberships), "agent": _MODEL,
                      "score": max(item.memberships.values())}  # fmt: skip
        records.append(
            {
                "id": item.id,
                "fields": fields or {"text": item.id},
                "metadata": metadata,
                "suggestions": {_QUESTION: suggestion},
                "responses": {_QUESTION: responses} if responses else {},
                "vectors": {},
                "status": "completed" if responses else "pending",
            }
        )
    return records


def huggingface_table(items: Sequence[LabelledItem], groups: Sequence[str]) -> Any:
    """Write an Arrow table with the features of `datasets`: label and soft_label."""
    import pyarrow as pa

    columns = list(dict.fromkeys(name for item in items for name in item.data))
    table: dict[str, Any] = {"id": [item.id for item in items]}
    table |= {name: [_plain(item.data.get(name)) for item in items] for name in columns}
    for name in ("label", "soft_label"):
        if name in table:
            table[f"{name}_"] = table.pop(name)
    strongest = [list(groups).index(_strongest(item.memberships)) for item in items]
    table["label"] = pa.array(strongest, pa.int64())
    soft = [[item.memberships[name] for name in groups] for item in items]
    table["soft_label"] = pa.array(soft, pa.list_(pa.float32()))
    arrow = pa.table(table)
    features: dict[str, Any] = {
        name: {"dtype": _arrow_name(arrow.schema.field(name).type), "_type": "Value"}
        for name in arrow.column_names
    }
    features["label"] = {"names": list(groups), "_type": "ClassLabel"}
    features["soft_label"] = {"feature": {"dtype": "float32", "_type": "Value"}, "_type": "List"}
    metadata = json.dumps({"info": {"features": features}})
    return arrow.replace_schema_metadata({"huggingface": metadata})


def read_labels(path: Path, groups: Sequence[str]) -> dict[str, Mapping[str, float]]:
    """Read labels from a file of one of the three tools; choices must be names of groups.

    A .json file of Label Studio (JSON or JSON-MIN) or Argilla, or a .parquet file with `id` and
    `soft_label` or `label`. The result has the shares of each item, by its id; several labels of
    one item are averaged.
    """
    check_file(path)
    if path.suffix.lower() in (".parquet", ".pq"):
        labels = _from_parquet(path, groups)
    else:
        try:
            records = parse_json(path.read_text(encoding="utf-8-sig"))
            read: Callable[[Any], list[ItemShares]] = _from_label_studio_min
            if "fields" in records[0] and "responses" in records[0]:
                read = _from_argilla
            elif "data" in records[0]:
                read = _from_label_studio
            labels = [label for record in records for label in read(record)]
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(
                f"{path} must be a JSON file of Label Studio tasks or Argilla records. Got "
                f"'{error!r:.80}'; export it as JSON."
            ) from error
    for name, shares in labels:
        unknown = [group for group in shares if group not in groups]
        if unknown:
            raise DataError(
                f"{path} must contain the groups {', '.join(groups)} only. Got {unknown[0]!r} for "
                f"item {name!r}; rename the group in one of both."
            )
    together: dict[str, list[Mapping[str, float]]] = {}
    for name, shares in labels:
        together.setdefault(name, []).append(shares)
    return {name: _mean(rows) for name, rows in together.items()}


def _from_label_studio(task: Mapping[str, Any]) -> list[ItemShares]:
    """Read the annotations of a task, but for cancelled ones."""
    labels = []
    for annotation in task.get("annotations", ()):
        choices = [part for part in annotation["result"] if part["type"] == "choices"]
        if choices and not annotation.get("was_cancelled"):
            shares = choices[0].get("meta", {}).get("shares")
            shares = shares or _even(choices[0]["value"]["choices"])
            labels.append((str(task["data"][_ITEM]), shares))
    return labels


def _from_label_studio_min(task: Mapping[str, Any]) -> list[ItemShares]:
    """Read a task in the format JSON-MIN."""
    chosen = task.get(_QUESTION)
    if chosen is None:
        return []
    names = chosen["choices"] if isinstance(chosen, dict) else [chosen]
    return [(str(task[_ITEM]), _even(names))]


def _from_argilla(record: Mapping[str, Any]) -> list[ItemShares]:
    """Read the responses to the question called group."""
    values = [response["value"] for response in record["responses"].get(_QUESTION, ())]
    return [(str(record["id"]), _even(v if isinstance(v, list) else [v])) for v in values]


def _from_parquet(path: Path, groups: Sequence[str]) -> list[ItemShares]:
    """Read the labelled rows of a Parquet file."""
    import pyarrow.parquet as pq

    try:
        with broken_as_value_errors():
            table = pq.read_table(path)
            metadata = parse_json((table.schema.metadata or {}).get(b"huggingface", b"{}").decode())
            features = metadata.get("info", {}).get("features", {})
            names = features.get("label", {}).get("names", groups)
            rows = table.to_pylist()
    except (OSError, ValueError) as error:
        raise DataError(f"{path} could not be read ({error}).") from error
    if "id" not in table.column_names or not {"label", "soft_label"} & {*table.column_names}:
        raise DataError(
            f"{path} must have the columns id and soft_label, or id and label. Got "
            f"{', '.join(table.column_names)}."
        )
    labels: list[ItemShares] = []
    for row in rows:
        soft, hard = row.get("soft_label"), row.get("label")
        if soft is not None:
            labels.append((str(row["id"]), dict(zip(names, soft, strict=True))))
        elif hard is not None and hard != -1:
            labels.append((str(row["id"]), {names[hard] if isinstance(hard, int) else hard: 1.0}))
    return labels


def _choice(shares: Mapping[str, float]) -> dict[str, Any]:
    """Write the strongest group as a choice, with the shares beside it."""
    return {
        "from_name": _QUESTION,
        "to_name": "item",
        "type": "choices",
        "value": {"choices": [_strongest(shares)]},
        "meta": {"shares": dict(shares)},
    }


def _strongest(shares: Mapping[str, float]) -> str:
    """The group with the largest share; of several, the first."""
    return max(shares, key=lambda name: shares[name])


def _even(names: Sequence[str]) -> dict[str, float]:
    """Equal shares of the chosen groups."""
    return dict.fromkeys(map(str, names), 1.0 / len(names)) if names else {}


def _mean(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean share of each group."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: sum(row.get(name, 0.0) for row in rows) / len(rows) for name in names}


def _plain(value: Any) -> Any:
    """Convert a value to a type that an Arrow column accepts."""
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _arrow_name(kind: Any) -> str:
    """The name of an Arrow type in `datasets`."""
    return {"double": "float64", "float": "float32", "large_string": "string"}.get(
        str(kind), str(kind)
    )
