"""Tables for notebooks."""

from askmeans._util.html import html_table


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
