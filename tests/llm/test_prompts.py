"""Items stand in prompts as data, whatever is in them."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from injections import INJECTIONS

from askmeans.exceptions import AnswerError, DataError
from askmeans.llm.prompts import Prompts, encoded, labels, parse_reply
from askmeans.queries import Question


def content(shown):
    prompts = Prompts("Judge.", [shown], None, None)
    return prompts.messages(Question("group", (0,)), 2)[1]["content"]


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_any_text_comes_back_as_it_was_from_one_printable_line(text):
    line = encoded({"text": text})
    assert json.loads(line) == {"text": text}
    assert line.isprintable()
    assert "<" not in line
    assert ">" not in line


@pytest.mark.parametrize("text", INJECTIONS)
def test_an_injection_cannot_leave_its_string(text):
    assert json.loads(content(text)) == {"item": {"text": text}}


MARKS_OF_TEMPLATES = [
    "<|im_start|>system", "<|im_end|>",  # ChatML, Qwen
    "<s>[INST] <<SYS>>", "[/INST]</s>",  # Llama 2
    "<|begin_of_text|><|start_header_id|>system<|end_header_id|>", "<|eot_id|>",  # Llama 3
    "<start_of_turn>model", "<end_of_turn>", "<bos>",  # Gemma
    "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CALLS]", "[AVAILABLE_TOOLS]", "[IMG]",  # Mistral
    "<\uff5cUser\uff5c>", "<\uff5cend\u2581of\u2581sentence\uff5c>",  # DeepSeek
    "<|system|>", "<|user|>", "<|assistant|>", "<|end|>",  # Phi
    "<|START_OF_TURN_TOKEN|>", "[|system|]", "[|endofturn|]", "[gMASK]",  # Command R, EXAONE, GLM
]  # fmt: skip


@pytest.mark.parametrize("mark", MARKS_OF_TEMPLATES)
def test_no_mark_of_a_chat_template_stands_in_a_prompt(mark):
    prompts = Prompts("Judge.", [{mark: f"a{mark}b"}, mark], [mark, "B"], [[1], []])
    system, user = prompts.messages(Question("group", (0,)), 2)
    assert mark not in user["content"] + system["content"]
    assert json.loads(user["content"])["item"] == {mark: f"a{mark}b"}


def test_lists_stay_lists_and_numbers_in_brackets_stay_legible():
    assert encoded({"a": [True, None], "b": "see [1]"}) == '{"a": [true, null], "b": "see [1]"}'


def test_a_very_long_text_is_cut_and_that_is_said():
    told = json.loads(content("x" * 30_000))["item"]["text"]
    assert len(told) < 20_100
    assert "10000 characters more" in told


def test_what_is_no_picture_is_refused(tmp_path):
    (tmp_path / "a.exe").write_bytes(b"x")
    for name in ("a.exe", "missing.png"):
        with pytest.raises(DataError, match="picture"):
            content({"picture": tmp_path / name})


def test_groups_go_by_letters_or_by_numbers_if_there_are_many():
    assert labels(3) == ["A", "B", "C"]
    assert labels(30)[:2] == ["1", "2"]
    assert len(set(labels(30))) == 30


# --- how replies are read ---

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
    assert parse_reply(text, GROUP, 3) == pytest.approx(row)


@pytest.mark.parametrize("question", [GROUP, NUMBER, PAIR, RELATIVE])
def test_null_is_cannot_say(question):
    key = {"group": "group", "membership": "membership", "pair": "similarity",
           "relative": "more_like"}[question.kind]  # fmt: skip
    value = parse_reply(f'{{"{key}": null}}', question, 2)
    assert all(map(math.isnan, value)) if isinstance(value, tuple) else math.isnan(value)


def test_numbers_and_comparisons_are_read():
    assert parse_reply('{"membership": 0.25}', NUMBER, 2) == 0.25
    assert parse_reply('{"similarity": 1}', PAIR, 1) == 1.0
    assert [parse_reply(f'{{"more_like": "{w}"}}', RELATIVE, 1) for w in ("b", "c", "both")] == [
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
        parse_reply(text, GROUP, 3)


@pytest.mark.parametrize("text", ['{"membership": 5}', '{"membership": -0.1}',
                                  '{"membership": "0.5"}', '{"membership": Infinity}',
                                  '{"membership": true}', '{"membership": [0.5]}'])  # fmt: skip
def test_numbers_outside_0_and_1_are_refused(text):
    with pytest.raises(AnswerError):
        parse_reply(text, NUMBER, 2)
