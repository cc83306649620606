"""Names proposed by a model: from examples and words, checked, never more than a proposal."""

import json

import pytest
from injections import INJECTIONS

from askmeans.exceptions import AnswerError
from askmeans.llm import GroupSample, propose_names
from askmeans.llm.names import typical_words

GROUPS = [GroupSample(name="Group A", examples=("apple",), words=("sweet",)),
          GroupSample(name="Group B", examples=({"tool": "saw"},))]  # fmt: skip
GOOD = {"A": {"name": "Fruit", "description": "Eaten."},
        "B": {"name": "Tools", "description": "Used."}}  # fmt: skip


def proposing(*replies):
    left = list(replies)

    def client(messages, **_):
        client.asked.append(messages)
        return left.pop(0) if len(left) > 1 else left[0]

    client.asked = []
    return client


def test_each_group_gets_a_name_and_a_line():
    client = proposing(json.dumps(GOOD))
    proposals = propose_names(client, GROUPS, guidelines="Sort the shed.")
    assert [(each.group, each.name, each.description) for each in proposals] == [
        (0, "Fruit", "Eaten."), (1, "Tools", "Used.")
    ]  # fmt: skip
    ((system, user),) = client.asked
    assert "Sort the shed." in system["content"]
    assert json.loads(user["content"])["A"] == {
        "name": "Group A", "examples": [{"text": "apple"}], "words": ["sweet"]
    }  # fmt: skip


@pytest.mark.parametrize("reply", [
    "no", "[]", "{}", json.dumps({"A": GOOD["A"]}), json.dumps(GOOD | {"C": GOOD["A"]}),
    json.dumps({"A": GOOD["A"], "B": GOOD["A"]}), json.dumps({"A": "Fruit", "B": "Tools"}),
    json.dumps(GOOD | {"B": {"name": "x" * 50, "description": "d"}}),
    json.dumps(GOOD | {"B": {"name": "\x1b[31m", "description": "d"}}),
    json.dumps(GOOD | {"B": {"name": "", "description": "d"}}),
    json.dumps(GOOD | {"B": {"name": "n", "description": "d" * 300}}),
])  # fmt: skip
def test_what_is_no_proposal_is_refused_after_a_second_try(reply):
    client = proposing(reply)
    with pytest.raises(AnswerError, match="propose a name for each group"):
        propose_names(client, GROUPS)
    assert len(client.asked) == 2
    assert propose_names(proposing(reply, json.dumps(GOOD)), GROUPS)


def test_hostile_examples_are_data():
    client = proposing(json.dumps(GOOD))
    groups = [GroupSample(name=INJECTIONS[5], examples=tuple(INJECTIONS)), GROUPS[1]]
    propose_names(client, groups)
    ((system, user),) = client.asked
    assert "CANARY" not in system["content"]
    assert json.loads(user["content"])["A"]["examples"] == [{"text": t} for t in INJECTIONS]
    assert user["content"].isprintable()


def test_typical_words_are_those_of_a_group_and_not_of_all():
    texts = ["the red apple", "the apple pie", "the old saw", "the saw and the hammer"]
    assert typical_words(texts, [0, 0, 1, 1], n=1) == [["apple"], ["saw"]]
    assert typical_words([], []) == []
    assert not any("the" in words for words in typical_words(texts, [0, 0, 1, 1]))
