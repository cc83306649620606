"""Strict parsing: an answer is of the form asked for, or none."""

import math

import pytest

from askmeans.exceptions import AnswerError
from askmeans.llm.replies import parsed
from askmeans.queries import Question

GROUP, NUMBER = Question("group", (0,)), Question("membership", (0,), 0)
PAIR, RELATIVE = Question("pair", (0, 1)), Question("relative", (0, 1, 2))


@pytest.mark.parametrize(("text", "row"), [
    ('{"group": "B"}', (0.0, 1.0, 0.0)),
    (' \n{"group":"A"}\n', (1.0, 0.0, 0.0)),
    ('{"group": "none"}', (0.0, 0.0, 0.0)),
    ('{"shares": {"A": 0.7, "C": 0.3}}', (0.7, 0.0, 0.3)),
    ('{"shares": {"A": 0.5}}', (0.5, 0.0, 0.0)),
    ('{"shares": {"A": 0.5, "none": 0.5}}', (0.5, 0.0, 0.0)),
])  # fmt: skip
def test_a_row_is_read(text, row):
    assert parsed(text, GROUP, 3) == pytest.approx(row)


@pytest.mark.parametrize("question", [GROUP, NUMBER, PAIR, RELATIVE])
def test_null_is_cannot_say(question):
    key = {"group": "group", "membership": "membership", "pair": "similarity",
           "relative": "more_like"}[question.kind]  # fmt: skip
    value = parsed(f'{{"{key}": null}}', question, 2)
    assert all(map(math.isnan, value)) if isinstance(value, tuple) else math.isnan(value)


def test_numbers_and_comparisons_are_read():
    assert parsed('{"membership": 0.25}', NUMBER, 2) == 0.25
    assert parsed('{"similarity": 1}', PAIR, 1) == 1.0
    assert [parsed(f'{{"more_like": "{w}"}}', RELATIVE, 1) for w in ("b", "c", "both")] == [
        1,
        0,
        0.5,
    ]


@pytest.mark.parametrize("text", [
    "", "B", '"B"', "5", "[]", '["B"]', "null", "{}", '{"group": "D"}', '{"group": "b"}',
    '{"group": 1}', '{"group": ["A"]}', '{"group": true}', '{"group": {"A": 1}}', '{"answer": "A"}',
    '{"group": "A", "reason": "because"}', '{"group": "A", "group": "B"}',
    '{"group": "A"} and more', 'Sure: {"group": "A"}', '```json\n{"group": "A"}\n```',
    '{"shares": {}}', '{"shares": {"A": 0.9, "B": 0.9}}', '{"shares": {"A": -0.1}}',
    '{"shares": {"A": null}}', '{"shares": {"Z": 1}}', '{"shares": {"A": NaN}}',
    '{"shares": {"A": "1"}}', '{"shares": {"A": true}}', "{'group': 'A'}", '{"group": "A"',
    "[" * 100_000, '{"membership": 0.5}',
])  # fmt: skip
def test_anything_else_is_refused(text):
    with pytest.raises(AnswerError):
        parsed(text, GROUP, 3)


@pytest.mark.parametrize("text", ['{"membership": 5}', '{"membership": -0.1}',
                                  '{"membership": "0.5"}', '{"membership": Infinity}',
                                  '{"membership": true}', '{"membership": [0.5]}'])  # fmt: skip
def test_numbers_outside_0_and_1_are_refused(text):
    with pytest.raises(AnswerError):
        parsed(text, NUMBER, 2)
