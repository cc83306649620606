"""Messages: strings in English that remember what they were made of."""

import copy
import json
import pickle

import pytest

from askmeans._util.message import Message, Number, Percent, joined, listed, plural_message


def test_a_message_is_its_english_text():
    message = Message("There are {n_items} items in {group}.", n_items=1200, group="{plums}")
    assert message == "There are 1,200 items in {plums}."
    assert json.dumps(message) == '"There are 1,200 items in {plums}."'
    assert message.template == "There are {n_items} items in {group}."


def test_braces_of_a_sentence_without_values_stay():
    assert Message("Check {number} of {all}") == "Check {number} of {all}"


@pytest.mark.parametrize(("n", "text"), [(0, "0 items"), (1, "1 item"), (2000, "2,000 items")])
def test_a_number_decides_between_the_two_forms(n, text):
    assert plural_message("{n} item", "{n} items", n) == text


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_a_copy_can_be_translated_as_well(copied):
    message = plural_message("{n} item in {group}", "{n} items in {group}", 3, group="a {b}")
    twin = copied(message)
    assert (twin, twin.template, twin.plural, twin.values) == (
        message, message.template, message.plural, message.values,
    )  # fmt: skip


def test_numbers_lists_and_shares_are_written_in_english():
    assert Message("{share}, {number}", share=Percent(0.125), number=Number(0.5)) == "12.5 %, 0.5"
    assert (listed(["a"]), listed(["a", "b", "c"]), joined(["a", "b"])) == (
        "a",
        "a, b and c",
        "a, b",
    )
