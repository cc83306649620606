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
from askmeans.queries import ME

_QUESTION = "group"  # name of the question in other tools
_ITEM = "item_id"  # in a task's data, besides Label Studio's own id
_MODEL = "askmeans"

Label = tuple[str, str, Mapping[str, float]]  # an item, who labelled it, its shares by group


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
            {"result": [_choice(shares, who)], "was_cancelled": False}
            for who, shares in item.answers.items()
            if any(shares.values())
        ]
        tasks.append({"data": data, "predictions": [prediction], "annotations": annotations})
    return tasks


def argilla_user(annotator: str) -> str:
    """An annotator's id in Argilla."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, annotator))


def argilla_records(items: Iterable[LabelledItem]) -> list[dict[str, Any]]:
    """Write records for `argilla.Record.from_dict`, with a label question called group."""
    records = []
    for item in items:
        metadata = {f"membership_{j}": share for j, share in enumerate(item.memberships.values())}
        responses = [
            {"value": _strongest(shares), "user_id": argilla_user(who)}
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


def read_labels(path: Path, groups: Sequence[str]) -> dict[tuple[str, str], Mapping[str, float]]:
    """Read labels from a file of one of the three tools; choices must be names of groups.

    A .json file of Label Studio (JSON or JSON-MIN) or Argilla, or a .parquet file with `id` and
    `soft_label` or `label`. The result has shares by the item's id and the annotator, "me" where
    the file names none; of several labels by one annotator the last counts.
    """
    check_file(path)
    if path.suffix.lower() in (".parquet", ".pq"):
        labels = _from_parquet(path, groups)
    else:
        try:
            records = parse_json(path.read_text(encoding="utf-8-sig"))
            read: Callable[[Any], list[Label]] = _from_label_studio_min
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
    for name, _, shares in labels:
        unknown = [group for group in shares if group not in groups]
        if unknown:
            raise DataError(
                f"{path} must contain the groups {', '.join(groups)} only. Got {unknown[0]!r} for "
                f"item {name!r}; rename the group in one of both."
            )
    return {(name, who): shares for name, who, shares in labels}


def _from_label_studio(task: Mapping[str, Any]) -> list[Label]:
    """Read the annotations of a task, but for cancelled ones."""
    labels = []
    for annotation in task.get("annotations", ()):
        choices = [part for part in annotation["result"] if part["type"] == "choices"]
        if choices and not annotation.get("was_cancelled"):
            meta = choices[0].get("meta", {})
            shares = meta.get("shares") or _even(choices[0]["value"]["choices"])
            who = meta.get("annotator") or _user(annotation.get("completed_by"))
            labels.append((str(task["data"][_ITEM]), who, shares))
    return labels


def _from_label_studio_min(task: Mapping[str, Any]) -> list[Label]:
    """Read a task in the format JSON-MIN."""
    chosen = task.get(_QUESTION)
    if chosen is None:
        return []
    names = chosen["choices"] if isinstance(chosen, dict) else [chosen]
    return [(str(task[_ITEM]), _user(task.get("annotator")), _even(names))]


def _from_argilla(record: Mapping[str, Any]) -> list[Label]:
    """Read the responses to the question called group."""
    labels: list[Label] = []
    for response in record["responses"].get(_QUESTION, ()):
        value = response["value"]
        shares = _even(value if isinstance(value, list) else [value])
        labels.append((str(record["id"]), _user(response.get("user_id")), shares))
    return labels


def _from_parquet(path: Path, groups: Sequence[str]) -> list[Label]:
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
    labels: list[Label] = []
    for row in rows:
        soft, hard = row.get("soft_label"), row.get("label")
        if soft is not None:
            labels.append((str(row["id"]), ME, dict(zip(names, soft, strict=True))))
        elif hard is not None and hard != -1:
            label = names[hard] if isinstance(hard, int) else hard
            labels.append((str(row["id"]), ME, {label: 1.0}))
    return labels


def _user(user: Any) -> str:
    """An annotator's name: an email address, or the number or id in the other tool."""
    if isinstance(user, Mapping):
        user = user.get("email") or user.get("id")
    return ME if user is None else str(user)


def _choice(shares: Mapping[str, float], annotator: str | None = None) -> dict[str, Any]:
    """Write the strongest group as a choice, with the shares and the annotator beside it."""
    who = {} if annotator is None else {"annotator": annotator}
    return {
        "from_name": _QUESTION,
        "to_name": "item",
        "type": "choices",
        "value": {"choices": [_strongest(shares)]},
        "meta": {"shares": dict(shares), **who},
    }


def _strongest(shares: Mapping[str, float]) -> str:
    """The group with the largest share; of several, the first."""
    return max(shares, key=lambda name: shares[name])


def _even(names: Sequence[str]) -> dict[str, float]:
    """Equal shares of the chosen groups."""
    return dict.fromkeys(map(str, names), 1.0 / len(names)) if names else {}


def _plain(value: Any) -> Any:
    """Convert a value to a type that an Arrow column accepts."""
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _arrow_name(kind: Any) -> str:
    """The name of an Arrow type in `datasets`."""
    return {"double": "float64", "float": "float32", "large_string": "string"}.get(
        str(kind), str(kind)
    )
