"""An oracle at the terminal: what it shows, what it takes for an answer, how it stops."""

import io
import math
import os
import re
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from askmeans.exceptions import DataError, ParameterError, QueryError, StopAsking
from askmeans.oracles import ConsoleOracle
from askmeans.queries import (
    GroupQueries,
    MembershipQueries,
    PairQueries,
    RelativeQueries,
    TripletQueries,
)
from askmeans.testing import OracleContract

FRUIT = ["apple", "pear", "plum", "leek", "carrot", "onion"]
PROMPT = "[0..1, ?, u, q] "


class Person(io.StringIO):
    """Reads the question on the screen and answers by the items' numbers."""

    def __init__(self, screen):
        super().__init__()
        self.screen = screen

    def readline(self):
        question = self.screen.getvalue().rpartition("Question")[2]
        items = [int(number) for number in re.findall(r"item (\d+):", question)]
        if "To which group" in question:
            return f"{items[0] % 3}\n"
        if "more like a or like b" in question:
            return "a\n" if items[1] < items[2] else "both\n"
        return f"{sum(items) / 100}\n"


class TestConsoleOracle(OracleContract):
    kinds = (*OracleContract.kinds, "relative")

    def make_oracle(self):
        screen = io.StringIO()
        items = [f"thing {i}" for i in range(self.n_items)]
        return ConsoleOracle(items, stdin=Person(screen), stdout=screen)


def console(replies, items=FRUIT, **options):
    """An oracle whose person will type these lines, and the screen."""
    screen = io.StringIO()
    lines = io.StringIO("".join(f"{reply}\n" for reply in replies))
    return ConsoleOracle(items, stdin=lines, stdout=screen, **options), screen


def ask(replies, queries, **options):
    """Answers to a batch, and all that was shown."""
    oracle, screen = console(replies, **options)
    return oracle.answer(queries).tolist(), screen.getvalue()


def about(*items, cluster=0):
    return MembershipQueries(items, [cluster] * len(items))


# What is an answer


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("0", 0.0), ("1", 1.0), ("0.25", 0.25), (".5", 0.5), ("1.0", 1.0), ("1e-1", 0.1),
        ("25%", 0.25), ("25 %", 0.25), ("0%", 0.0), ("100%", 1.0), ("1%", 0.01), ("0.5%", 0.005),
        ("0,5", 0.5), ("12,5%", 0.125), ("  0.75\t", 0.75),
    ],
)  # fmt: skip
def test_numbers_and_percentages_are_answers(reply, value):
    answers, screen = ask([reply], about(0))
    assert answers == pytest.approx([value])
    assert "is not an answer" not in screen


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "much",
        "101",
        "2",
        "25",  # a percentage has its sign: a slip is not taken for one
        "101%",
        "-0.1",
        "-5%",
        "1e9",
        "nan",
        "inf",
        "%",
        "0.5.1",
        "??",
        "0 5",
        "qq",
    ],
)
def test_what_is_no_answer_is_said_so_and_asked_again(reply):
    answers, screen = ask([reply, "0.5"], about(0))
    assert answers == [0.5]
    assert f"{reply!r} is not an answer. Type a number from 0 to 1" in screen
    assert screen.count("Question 1 of 1") == 2


@given(st.integers(0, 100))
def test_every_percentage_may_be_typed_in_three_ways(percent):
    fraction = f"{percent / 100:.2f}"
    for reply in (f"{percent}%", fraction, fraction.replace(".", ",")):
        assert_allclose(ask([reply], about(0))[0], [percent / 100])


def test_a_question_mark_means_cannot_say():
    answers, _ = ask(["?", "0.5"], about(0, 1))
    assert_array_equal(answers, [np.nan, 0.5])


# Undo and stop


def test_undo_asks_the_question_before_again():
    answers, screen = ask(["0.1", "0.2", "u", "0.3", "0.4"], about(0, 1, 2))
    assert answers == [0.1, 0.3, 0.4]
    shown = re.findall(r"Question (\d) of 3", screen)
    assert shown == ["1", "2", "3", "2", "3"]


def test_undo_goes_back_as_far_as_the_first_question_and_says_so():
    answers, screen = ask(["0.1", "?", "U", "u", "u", "0.7", "0.8", "0.9"], about(0, 1, 2))
    assert answers == [0.7, 0.8, 0.9]
    assert screen.count("Nothing to undo") == 1


def test_undo_does_not_reach_into_the_batch_before():
    oracle, screen = console(["0.1", "u", "0.9"])
    assert oracle.answer(about(0)).tolist() == [0.1]
    assert oracle.answer(about(1)).tolist() == [0.9]
    assert "Nothing to undo: earlier answers led" in screen.getvalue()


@pytest.mark.parametrize("last", [["q"], ["Q"], []], ids=["q", "Q", "end of input"])
def test_a_stop_keeps_the_answers_so_far(last):
    oracle, screen = console(["0.1", "u", "0.2", "0.3", *last])
    with pytest.raises(StopAsking) as stop:
        oracle.answer(about(0, 1, 2, 3))
    assert_array_equal(stop.value.answers, [0.2, 0.3, np.nan, np.nan])
    assert stop.value.__cause__ is None
    assert screen.getvalue().endswith("Stopped; your answers are kept.\n")


def test_what_was_undone_before_a_stop_is_not_kept():
    oracle, _ = console(["0.1", "0.2", "u", "q"])
    with pytest.raises(StopAsking) as stop:
        oracle.answer(about(0, 1, 2))
    assert_array_equal(stop.value.answers, [0.1, np.nan, np.nan])


def test_ctrl_c_is_a_stop():
    class Interrupts(io.StringIO):
        def readline(self):
            return super().readline() or self.interrupt()

        def interrupt(self):
            raise KeyboardInterrupt

    oracle = ConsoleOracle(FRUIT, stdin=Interrupts("0.1\n"), stdout=io.StringIO())
    with pytest.raises(StopAsking) as stop:
        oracle.answer(about(0, 1))
    assert_array_equal(stop.value.answers, [0.1, np.nan])


def test_a_journal_is_told_every_answer_at_once_and_what_is_undone():
    told = []

    def journal(question, value):
        assert len(question) == 1
        told.append((question.items[0], value))

    oracle, _ = console(["0.1", "rubbish", "0.2", "u", "?", "q"], journal=journal)
    with pytest.raises(StopAsking):
        oracle.answer(about(4, 2, 3))
    assert told[:3] == [(4, 0.1), (2, 0.2), (2, None)]
    assert told[3] == (2, pytest.approx(np.nan, nan_ok=True))
    assert len(told) == 4


# What is shown


def test_help_is_shown_once():
    oracle, screen = console(["0.1", "0.2"])
    oracle.answer(about(0))
    oracle.answer(about(1))
    assert screen.getvalue().startswith("Type a number from 0 to 1 or a percentage")
    assert screen.getvalue().count("Type a number") == 1


def test_a_question_shows_its_items_and_ends_with_the_prompt():
    _, screen = ask(["0.1"], PairQueries([[3, 1]]))
    question = "How similar are these two? (1: surely all of one group; 0: surely not) "
    assert "  item 3: leek\n  item 1: pear\n" + question + PROMPT in screen
    _, screen = ask(["0.1"], TripletQueries([[5, 0, 2]]))
    assert "item 5: onion\n  item 0: apple\n  item 2: plum\nHow similar are these three?" in screen
    _, screen = ask(["0.1"], about(4, cluster=2))
    assert "  item 4: carrot\nHow much does it belong to cluster 3? " + PROMPT in screen


def test_rows_of_a_data_frame_are_shown_with_their_names_whatever_its_index():
    frame = pd.DataFrame(
        {"name": ["Ann", "Bob"], "age": [31, 47], "height": [1.5, 1.75]}, index=[100, 0]
    )
    _, screen = ask(["0.1"], PairQueries([[0, 1]]), items=frame)
    assert "item 0: name = Ann, age = 31, height = 1.5\n" in screen
    assert "item 1: name = Bob, age = 47, height = 1.75\n" in screen


def test_whole_numbers_of_a_data_frame_are_shown_as_such():
    frame = pd.DataFrame({"age": [31, 47], "height": [1.5, 1.75]})
    assert "item 1: age = 47, height = 1.75\n" in ask(["0.1"], about(1), items=frame)[1]


@pytest.mark.parametrize(
    ("items", "line"),
    [
        (np.array([[1.0, 2.5], [3.0, 4.0]]), "item 1: 3.0, 4.0\n"),
        ([(1, "a"), (2, "b")], "item 1: 2, b\n"),
        (pd.Series(["red", "blue"], index=[7, 8]), "item 1: blue\n"),
        ([10, 20], "item 1: 20\n"),
        (("one", "two"), "item 1: two\n"),
        ((word for word in ("one", "two")), "item 1: two\n"),
    ],
    ids=["array", "tuples", "series", "numbers", "tuple", "iterator"],
)
def test_items_of_every_form_are_shown_in_a_line(items, line):
    assert line in ask(["0.1"], about(1), items=items)[1]


def test_clusters_go_by_their_names_where_they_have_some():
    oracle, screen = console(["1", "0"], cluster_names=["fruit", "vegetables"])
    oracle.answer(about(0, cluster=1))
    oracle.answer(about(1, cluster=1))
    assert screen.getvalue().count("How much does it belong to vegetables?") == 2
    assert "items like" not in screen.getvalue()


def test_a_cluster_without_a_name_among_names_is_refused_before_anything_is_asked():
    oracle, screen = console(["1", "1"], cluster_names=["fruit", "vegetables"])
    with pytest.raises(QueryError, match="Got 2 names and a question about cluster 2"):
        oracle.answer(MembershipQueries([0, 0], [0, 2]))
    assert screen.getvalue() == ""
    assert oracle.answer(about(0, cluster=1)).tolist() == [1.0]


def last_question(screen):
    return screen.getvalue().rpartition("How much does it belong to ")[2].removesuffix(PROMPT)


def test_clusters_without_names_go_by_the_three_items_placed_in_them_most():
    oracle, screen = console([".5", ".9", ".49", ".9", ".6", "?", "0"])
    oracle.answer(about(3, 4, 0, 1, 2))
    oracle.answer(about(5))
    assert last_question(screen) == "cluster 1 (items like: pear; carrot; plum)? "
    oracle.answer(about(5, cluster=1))  # another cluster has its own
    assert last_question(screen) == "cluster 2? "


def test_typical_items_come_from_at_least_half_a_membership():
    oracle, screen = console([".49", ".5", "0", "1"])
    oracle.answer(about(0))
    oracle.answer(about(1))
    assert last_question(screen) == "cluster 1? "
    oracle.answer(about(2))
    assert last_question(screen) == "cluster 1 (items like: pear)? "


def test_typical_items_are_shown_within_a_batch_and_taken_back_by_undo():
    _, screen = ask(["1", "1", "u", "0", "1"], about(0, 1, 2))
    apple, both = "cluster 1 (items like: apple)? ", "cluster 1 (items like: apple; pear)? "
    shown = re.findall(r"belong to (.*\? )\[", screen)
    assert shown == ["cluster 1? ", apple, both, apple, apple]


def test_exemplars_tell_what_a_cluster_is_before_anybody_has_answered():
    oracle, screen = console(["0", "1", "0"], exemplars=[[0, 1, 2], [3, 4, 5]],
                             cluster_names=["Group A", "Group B"])  # fmt: skip
    oracle.answer(about(4, cluster=0))
    first = screen.getvalue()
    greeting = first.partition("Question")[0]
    for cluster, rows in (("Group A", (0, 1, 2)), ("Group B", (3, 4, 5))):
        shown = "".join(f"    {row}: {FRUIT[row]}\n" for row in rows)
        assert f"  {cluster}\n{shown}" in greeting
    assert last_question(screen) == "Group A (items like: apple; pear; plum)? "
    oracle.answer(about(4, cluster=1))  # never the item itself
    assert last_question(screen) == "Group B (items like: leek; onion)? "
    oracle.answer(about(3, cluster=1))  # what answers place there comes first
    assert last_question(screen) == "Group B (items like: carrot; onion)? "


def test_an_exemplar_that_answers_place_elsewhere_is_none():
    oracle, screen = console(["1", "0"], exemplars=[[0, 1, 2], [3, 4, 5]])
    oracle.answer(about(1, cluster=1))
    oracle.answer(about(4, cluster=0))
    assert last_question(screen) == "cluster 1 (items like: apple; plum)? "


def test_items_go_by_their_ids_where_they_have_some():
    ids = [f"f{row}" for row in range(6)]
    _, screen = ask([".1"], about(4), ids=ids, exemplars=[[0, 1], [3]])
    assert "  item f4: carrot\n" in screen
    assert "(items like: f0: apple; f1: pear)?" in screen


@pytest.mark.parametrize(
    ("levels", "off", "on", "value"),
    [
        (5, ".3", ".25", 0.25), (5, "99%", "100%", 1.0), (4, ".35", "33%", 1 / 3),
        (2, ".5", "1", 1.0), (101, "0.125", "0.13", 0.13),
    ],
)  # fmt: skip
def test_an_answer_between_two_points_of_the_scale_is_refused(levels, off, on, value):
    answers, screen = ask([off, on], about(0), levels=levels)
    assert answers == [value]
    assert "This is not a point of the scale. It is 0" in screen
    assert screen.count("Question 1 of 1") == 2
    assert math.isnan(ask(["?"], about(0), levels=levels)[0][0])


def test_a_scale_of_one_point_is_refused():
    with pytest.raises(ParameterError, match=r"'levels' parameter of ConsoleOracle .* Got 1"):
        ConsoleOracle(FRUIT, levels=1)


def test_no_items_are_refused():
    for nothing in ([], pd.DataFrame({"a": []}), np.empty((0, 3))):
        with pytest.raises(DataError, match="items must not be empty"):
            ConsoleOracle(nothing)


def test_an_item_that_is_not_there_is_refused_before_anything_is_asked():
    oracle, screen = console(["1"])
    with pytest.raises(QueryError, match=r"items 0 to 5. Got item 6"):
        oracle.answer(about(0, 6))
    assert screen.getvalue() == ""


def test_a_question_is_on_the_screen_before_its_answer_is_read():
    class Buffered(io.StringIO):
        shown = 0

        def flush(self):
            self.shown = len(self.getvalue())

    class Reader(io.StringIO):
        def readline(self):
            assert screen.getvalue()[: screen.shown].endswith(PROMPT)
            return "0.5\n"

    screen = Buffered()
    assert len(ConsoleOracle(FRUIT, stdin=Reader(), stdout=screen).answer(about(0, 1))) == 2


def test_the_terminal_of_the_moment_is_used_unless_told_otherwise(monkeypatch, capsys):
    oracle = ConsoleOracle(FRUIT)
    monkeypatch.setattr(sys, "stdin", io.StringIO("0.5\n"))
    assert oracle.answer(about(0)).tolist() == [0.5]
    assert "item 0: apple" in capsys.readouterr().out


# In a real terminal

SCRIPT = """
import numpy as np
from askmeans import TwoPhase, run
from askmeans.oracles import ConsoleOracle

X = np.arange(8.0)[:, None]
plan = TwoPhase(sample_size=40).plan(X, 2, fuzzifier=2.0, rng=np.random.default_rng(0))
result = run(plan, ConsoleOracle([f"thing {i}" for i in range(8)]))
print("complete:", result.complete)
print("answers:", [record.value for record in result.history])
print("rows:", result.clustering.memberships.shape[0])
"""


@pytest.mark.usefixtures("ctrl_c")
def test_a_person_at_a_terminal_answers_presses_ctrl_c_and_gets_a_result(tmp_path):
    import pexpect

    path = tmp_path / "asks.py"
    path.write_text(SCRIPT)
    child = pexpect.spawn(
        sys.executable, [str(path)], env=os.environ | {"TERM": "dumb"}, encoding="utf-8", timeout=60
    )
    child.expect_exact("Type a number from 0 to 1")
    for number, reply in ((1, "0.25"), (2, "lots"), (2, "75%"), (3, "u"), (2, "?"), (3, "1")):
        child.expect_exact(f"Question {number} of ")
        child.expect_exact(PROMPT)
        child.sendline(reply)
    child.expect_exact("Question 4 of ")
    child.expect_exact(PROMPT)
    child.sendintr()
    child.expect_exact("Stopped; your answers are kept.")
    child.expect_exact("complete: False")
    child.expect_exact("answers: [0.25, nan, 1.0]")
    child.expect_exact("rows: 8")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_a_group_is_told_by_number_name_shares_none_or_not_at_all():
    names = ["fruit", "Root, dug up", "leaf"]
    replies = ["1", "root, dug up", "FRUIT:.7, leaf:30%", "none", "?", "2:.5"]
    answers, shown = ask(replies, GroupQueries(range(6), 3), cluster_names=names)
    nan = math.nan
    assert_array_equal(
        answers,
        [[1, 0, 0], [0, 1, 0], [0.7, 0, 0.3], [0, 0, 0], [nan, nan, nan], [0, 0.5, 0]],
    )
    assert "To which group does it belong? [group, shares, none, ?, u, q] " in shown
    assert "    2  Root, dug up\n" in shown


@pytest.mark.parametrize(
    "reply", ["7", "3", "kale", "fruit:.7,kale:.3", "fruit:.9,leaf:.9", "", ".5"]
)
def test_what_names_no_group_is_asked_again(reply):
    answers, shown = ask([reply, "leaf"], GroupQueries([0], 2), cluster_names=["fruit", "leaf"])
    assert answers == [[0.0, 1.0]]
    assert "is not an answer" in shown


def test_shares_between_two_points_of_the_scale_are_asked_again():
    answers, shown = ask(["1:.7,2:.3", "1:.5,2:.5"], GroupQueries([0], 2), levels=3)
    assert answers == [[0.5, 0.5]]
    assert "not a point of the scale" in shown


def test_an_undone_group_is_told_to_the_journal_and_answered_again():
    kept = []
    oracle, _ = console(
        ["1", "u", "2", "?"], journal=lambda query, value: kept.append((query.kind, value))
    )
    oracle.answer(GroupQueries([0, 1], 2))
    assert kept[:3] == [("group", (1.0, 0.0)), ("group", None), ("group", (0.0, 1.0))]
    assert kept[3][0] == "group"
    assert np.isnan(kept[3][1]).all()


def test_groups_without_names_show_the_items_placed_in_them():
    oracle, screen = console(["1", "2", "1"])
    oracle.answer(GroupQueries([0, 3], 2))
    oracle.answer(GroupQueries([1], 2))
    last = screen.getvalue().rpartition("Question")[2]
    assert "1  cluster 1 (items like: apple)" in last
    assert "2  cluster 2 (items like: leek)" in last


def test_a_stop_among_groups_keeps_those_answered():
    oracle, _ = console(["1", "?", "q"])
    with pytest.raises(StopAsking) as stopped:
        oracle.answer(GroupQueries([0, 1, 2], 2))
    assert stopped.value.reached.tolist() == [True, True, False]


def test_a_group_question_needs_a_name_for_every_group():
    oracle, _ = console(["0"], cluster_names=["fruit"])
    with pytest.raises(QueryError, match="a name for every cluster"):
        oracle.answer(GroupQueries([0], 2))


def test_of_two_that_an_item_is_more_like_the_reply_is_a_b_or_both():
    queries = RelativeQueries([[0, 1, 3]] * 4, repeat=[0, 1, 2, 3])
    answers, shown = ask(["a", "2", "B", "both", "?"], queries, levels=2)
    assert_array_equal(answers, [1.0, 0.0, 0.5, math.nan])
    assert "  item 0: apple\n  a: item 1: pear\n  b: item 3: leek\n" in shown
    assert "Is the first more like a or like b? [a, b, both, ?, u, q]" in shown
    assert "'2' is not an answer. Type a or b" in shown
    assert "The scale is" not in shown
