"""Text that neither a terminal nor a spreadsheet obeys, and that comes back to the letter."""

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from askmeans._util.text import as_csv, csv_cell, csv_value, html_table, is_clean, printable

TEXTS = st.text(alphabet=st.one_of(st.sampled_from("'=+-@\t\r\n ,\"1.e"), st.characters()))


@pytest.mark.parametrize(
    "text", ["=1+1", "+x", "-x", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1"]
)
def test_no_spreadsheet_takes_a_cell_for_a_formula(text):
    assert csv_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["-1", "+1.5", "-.5", "-1e-07", "2", "a=b", "'tis", "", " =1"])
def test_numbers_and_plain_words_stay_as_they_are(text):
    assert csv_cell(text) == csv_value(text) == text


@given(TEXTS)
@example("'=x")
@example("''-1")
def test_a_cell_comes_back_to_the_letter(text):
    assert csv_value(csv_cell(text)) == text


@given(st.lists(TEXTS, min_size=2, max_size=2))
@example(["a\rb", " a"])
@example(['"', "a\r\nb"])
def test_a_table_comes_back_to_the_letter(row):
    text = as_csv(["=x", "y"], [row])
    header, read = csv.reader(io.StringIO(text, newline=""))
    assert header == ["'=x", "y"]
    assert [csv_value(cell) for cell in read] == row


def test_numbers_are_written_with_all_their_digits_and_none_as_nothing():
    assert as_csv(["a", "b", "c"], [[-0.1, None, True]]) == "a,b,c\n-0.1,,True\n"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b31m", "\\x9b31m"),
        ("a\rb\x07", "a\\rb\\x07"),
        ("\u202egnp", "\\u202egnp"),
        ("half \ud800", "half \\ud800"),
        ("two\nlines\tand é 日本", "two\nlines\tand é 日本"),
    ],
)
def test_what_a_terminal_would_obey_is_written_as_an_escape(text, safe):
    assert printable(text) == safe


@pytest.mark.parametrize("name", ["a\nb", "a\tb", "\x1b", "a\x00", "\u200b", "\u2028", "\udcff"])
def test_a_name_with_what_nobody_sees_is_not_clean(name):
    assert not is_clean(name)
    assert is_clean("Zoë O'Neill 👩‍🔬 ")


def test_whatever_a_table_holds_is_text():
    evil = "<script>alert('x')</script>"
    shown = html_table(evil, [(evil, evil)], [[evil], [evil]])
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;") == 5


def test_numbers_have_two_digits_and_none_is_left_out():
    shown = html_table("Result", [("error", 0.12345), ("budget", None)], [["a"], [2], [0.5]])
    assert "error 0.12" in shown
    assert "budget" not in shown
    assert "<td>2</td>" in shown
    assert "<td>0.50</td>" in shown
