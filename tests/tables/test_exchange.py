"""Labels to other tools and back, read by those tools' own libraries where they install."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import argilla
import datasets
import pyarrow.parquet as pq
import pytest

from askmeans.exceptions import DataError
from askmeans.tables.exchange import (
    LabelledItem,
    argilla_records,
    argilla_user,
    huggingface_table,
    label_studio_config,
    label_studio_tasks,
    read_labels,
)

GROUPS = ['small & "cheap"', "large"]
ITEMS = [
    LabelledItem(
        id="a", data={"text": "a pea", "weight": 1.5},
        memberships=dict(zip(GROUPS, (0.75, 0.25), strict=True)),
        answers={"ann": dict(zip(GROUPS, (0.75, 0.25), strict=True))},
    ),
    LabelledItem(
        id="b", data={"text": "a leek", "weight": None},
        memberships=dict(zip(GROUPS, (0.0, 1.0), strict=True)), answers={},
    ),
]  # fmt: skip


def written(path, records):
    """A JSON file of records."""
    path.write_text(json.dumps(records))
    return path


def test_tasks_of_label_studio_have_the_published_form_and_come_back(tmp_path):
    first, second = label_studio_tasks(ITEMS)
    assert first["data"]["text"] == "a pea"
    (prediction,) = first["predictions"]
    assert (prediction["model_version"], prediction["score"]) == ("askmeans", 0.75)
    (choice,) = prediction["result"]
    assert choice["type"] == "choices"
    assert choice["value"] == {"choices": [GROUPS[0]]}
    interface = ET.fromstring(label_studio_config(ITEMS, GROUPS))
    (control,) = interface.iter("Choices")
    assert (choice["from_name"], choice["to_name"]) == (control.get("name"), control.get("toName"))
    assert [one.get("value") for one in control] == GROUPS
    shown = interface.find("Text")
    assert (shown.get("name"), shown.get("value")) == (choice["to_name"], "$text")
    assert second["annotations"] == []
    labels = read_labels(written(tmp_path / "t.json", [first, second]), GROUPS)
    assert labels == {("a", "ann"): ITEMS[0].answers["ann"]}


def test_a_column_called_as_ours_does_not_take_the_place_of_the_id(tmp_path):
    item = replace(ITEMS[0], data={"text": "a pea", "item_id": "order 7"})
    tasks = label_studio_tasks([item])
    assert list(read_labels(written(tmp_path / "t.json", tasks), GROUPS)) == [("a", "ann")]


def test_what_label_studio_writes_itself_is_read(tmp_path):
    task = {
        "id": 7, "data": {"item_id": "b", "text": "a leek"}, "predictions": [],
        "annotations": [
            {"id": 1, "completed_by": 3, "was_cancelled": False, "result": [
                {"id": "x", "from_name": "group", "to_name": "item", "type": "choices",
                 "origin": "manual", "value": {"choices": ["large"]}}]},
            {"id": 2, "completed_by": {"email": "d@x.org"}, "was_cancelled": False, "result": [
                {"id": "y", "from_name": "group", "to_name": "item", "type": "choices",
                 "origin": "manual", "value": {"choices": [GROUPS[0]]}}]},
            {"id": 3, "completed_by": 5, "was_cancelled": True, "result": []},
        ],
    }  # fmt: skip
    labels = read_labels(written(tmp_path / "t.json", [task]), GROUPS)
    assert labels == {("b", "3"): {"large": 1.0}, ("b", "d@x.org"): {GROUPS[0]: 1.0}}
    short = [
        {"id": 7, "item_id": "b", "group": "large", "annotator": 3},
        {"id": 8, "item_id": "a", "group": {"choices": ["large", GROUPS[0]]}},
        {"id": 9, "item_id": "c"},
    ]
    labels = read_labels(written(tmp_path / "m.json", short), GROUPS)
    assert {label: shares["large"] for label, shares in labels.items()} == {
        ("b", "3"): 1.0, ("a", "me"): 0.5,
    }  # fmt: skip


def test_records_are_argillas_own_and_come_back(tmp_path):
    records = [argilla.Record.from_dict(record) for record in argilla_records(ITEMS)]
    assert records[0].id == "a"
    assert records[0].fields["text"] == "a pea"
    suggestion = records[0].suggestions["group"]
    assert (suggestion.value, suggestion.score) == (GROUPS[0], 0.75)
    assert records[0].responses["group"][0].value == GROUPS[0]
    again = [record.to_dict() for record in records]
    labels = read_labels(written(tmp_path / "r.json", again), GROUPS)
    assert labels == {("a", argilla_user("ann")): {GROUPS[0]: 1.0}}


def test_hugging_face_reads_soft_labels_as_a_sequence_and_they_come_back(tmp_path):
    pq.write_table(huggingface_table(ITEMS, GROUPS), tmp_path / "h.parquet")
    dataset = datasets.Dataset.from_parquet(str(tmp_path / "h.parquet"), cache_dir=str(tmp_path))
    assert dataset.features["label"].names == GROUPS
    assert dataset.features["soft_label"].feature == datasets.Value("float32")
    assert dataset[0]["soft_label"] == [0.75, 0.25]
    assert (dataset[1]["label"], dataset[1]["weight"]) == (1, None)
    dataset.to_parquet(str(tmp_path / "again.parquet"))
    labels = read_labels(tmp_path / "again.parquet", GROUPS)
    assert list(labels.values()) == [dict(item.memberships) for item in ITEMS]


def test_hard_labels_of_a_dataset_are_read_too(tmp_path):
    names = datasets.ClassLabel(names=["large", GROUPS[0]])
    features = datasets.Features({"id": datasets.Value("string"), "label": names})
    rows = {"id": ["a", "b"], "label": [1, -1]}
    datasets.Dataset.from_dict(rows, features).to_parquet(str(tmp_path / "h.parquet"))
    assert read_labels(tmp_path / "h.parquet", GROUPS) == {("a", "me"): {GROUPS[0]: 1.0}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no", "must be a JSON file of Label Studio tasks or Argilla records"),
        ("[]", "must be a JSON file"),
        ('[{"data": {}, "annotations": [{"result": [{"type": "choices", "value": '
         '{"choices": ["x"]}}]}]}]', "must be a JSON file"),
        ('[{"item_id": "a", "group": "huge"}]', "Got 'huge' for item 'a'; rename the group"),
    ],
)  # fmt: skip
def test_files_that_are_none_are_refused_with_a_sentence(tmp_path, content, message):
    (tmp_path / "f.json").write_text(content)
    with pytest.raises(DataError, match=message):
        read_labels(tmp_path / "f.json", GROUPS)


@pytest.mark.parametrize("name", ["nothing.json", "nothing.parquet"])
def test_a_file_that_is_not_there_is_refused_with_a_sentence(tmp_path, name):
    with pytest.raises(DataError, match="must be a file"):
        read_labels(tmp_path / name, GROUPS)


def test_a_parquet_file_without_labels_is_refused(tmp_path):
    datasets.Dataset.from_dict({"x": [1]}).to_parquet(str(tmp_path / "h.parquet"))
    with pytest.raises(DataError, match="must have the columns id and soft_label"):
        read_labels(tmp_path / "h.parquet", GROUPS)
    (tmp_path / "h.parquet").write_bytes(b"no")
    with pytest.raises(DataError, match="could not be read"):
        read_labels(tmp_path / "h.parquet", GROUPS)
