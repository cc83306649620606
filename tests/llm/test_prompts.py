"""Items stand in prompts as data, whatever is in them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from injections import INJECTIONS

from askmeans.exceptions import DataError
from askmeans.llm.prompts import Prompts, encoded, labels
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
