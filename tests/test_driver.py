"""The loop between plan and oracle: order, counts, budget, stops and failures."""

import contextlib
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from soaking import in_soak

from askmeans.driver import run
from askmeans.exceptions import (
    AnswerError,
    OracleError,
    ParameterError,
    PlanError,
    QueryError,
    StopAsking,
)
from askmeans.oracles import CallbackOracle
from askmeans.queries import Ledger, MembershipQueries, PairQueries, TripletQueries
from askmeans.results import Clustering


def asking(*batches):
    """A plan that asks these batches; its predictor is what came back."""
    received, complete = [], True
    try:
        for batch in batches:
            answers = yield batch
            received.append(answers)
    except StopAsking as stop:
        received.append(stop.answers)
        complete = False
    return Clustering(
        centers=np.empty((0, 0)), memberships=np.empty((0, 0)), predictor=received,
        complete=complete,
    )  # fmt: skip


def about(*items):
    """Questions about these items and cluster 0."""
    return MembershipQueries(items, [0] * len(items))


def received(result):
    """What the plan was sent, as lists."""
    return [answers.tolist() for answers in result.clustering.predictor]


class Expert:
    """Answers item / 100 and keeps every batch it was asked; fails or stops when told to."""

    def __init__(self, fails_at=None, error=None):
        self.batches = []
        self.fails_at = fails_at
        self.error = error

    @property
    def asked(self):
        return [item for batch in self.batches for item in batch.items.tolist()]

    def answer(self, queries):
        self.batches.append(queries)
        if len(self.batches) == self.fails_at:
            raise self.error
        return queries.items / 100


class Says:
    """Gives the same answers whatever it is asked."""

    def __init__(self, answers, noisy=None):
        self.answers = answers
        if noisy is not None:
            self.noisy = noisy

    def answer(self, _queries):
        return self.answers


# Answers and counts


def test_answers_reach_the_plan_in_the_order_of_its_questions():
    result = run(asking(about(7, 3), about(5, 7, 1)), Expert())
    assert received(result) == [[0.07, 0.03], [0.05, 0.07, 0.01]]
    assert result.complete


def test_a_question_is_asked_once_however_often_the_plan_puts_it():
    expert = Expert()
    result = run(asking(about(1, 2, 1), about(2, 1), about(3, 2, 3)), expert)
    assert [batch.items.tolist() for batch in expert.batches] == [[1, 2], [3]]
    assert received(result) == [[0.01, 0.02, 0.01], [0.02, 0.01], [0.03, 0.02, 0.03]]


def test_raw_distinct_and_rounds_are_counted():
    result = run(asking(about(1, 2, 1), about(2, 1), about(3, 2, 3)), Expert())
    assert (result.n_queries_raw, result.n_queries, result.n_rounds) == (8, 3, 2)


def test_questions_beyond_the_budget_are_not_counted():
    result = run(asking(about(1, 2, 1), about(2, 3, 4, 2)), Expert(), budget=3)
    assert (result.n_queries_raw, result.n_queries, result.n_rounds) == (6, 3, 2)


def test_the_history_tells_every_answer_with_its_round():
    result = run(asking(about(1, 2, 1), about(2, 1), about(3)), Expert())
    told = [(record.round, record.items, record.value) for record in result.history]
    assert told == [(1, (1,), 0.01), (1, (2,), 0.02), (2, (3,), 0.03)]


def test_a_repeat_is_asked_anew_and_costs_budget():
    first, again = about(1), MembershipQueries([1], [0], repeat=1)
    expert = Expert()
    result = run(asking(first, again, first), expert, budget=2)
    assert expert.asked == [1, 1]
    assert (result.n_queries, result.complete) == (2, True)


def test_a_plan_may_mix_kinds_of_question():
    oracle = CallbackOracle(membership=lambda *_: 0.1, pair=lambda *_: 0.2, triplet=lambda *_: 0.3)
    plan = asking(about(0), PairQueries([[0, 1], [1, 0]]), TripletQueries([[0, 1, 2]]), about(0))
    result = run(plan, oracle)
    assert received(result) == [[0.1], [0.2, 0.2], [0.3], [0.1]]
    assert [record.kind for record in result.history] == ["membership", "pair", "triplet"]


def test_a_plan_that_asks_nothing_gives_its_result():
    expert = Expert()
    result = run(asking(), expert, budget=0)
    assert result.complete
    assert (result.n_queries, result.n_queries_raw, result.n_rounds) == (0, 0, 0)
    assert expert.batches == []


def test_an_empty_batch_is_answered_without_asking_anybody():
    expert = Expert()
    result = run(asking(about(), about(4)), expert)
    assert received(result) == [[], [0.04]]
    assert (len(expert.batches), result.n_rounds) == (1, 1)


# Budget

SIZES = (1, 3, 5, 1, 7)
N_DISTINCT = sum(SIZES)


def batches_of_odd_sizes():
    """Batches of new items, each with one that was asked before."""
    ends = np.cumsum(SIZES)
    return [about(*range(end - size, end), 0) for size, end in zip(SIZES, ends, strict=True)]


@pytest.mark.parametrize("budget", range(N_DISTINCT + 3))
def test_a_budget_is_never_overdrawn_and_always_used(budget):
    expert = Expert()
    result = run(asking(*batches_of_odd_sizes()), expert, budget=budget)
    assert expert.asked == list(range(min(budget, N_DISTINCT)))
    assert result.n_queries == len(result.history) == min(budget, N_DISTINCT)
    assert result.complete == (budget >= N_DISTINCT)
    assert all(len(batch) for batch in expert.batches)
    told = np.concatenate(received(result))
    assert not np.isnan(told[: result.n_queries]).any()


@given(
    st.lists(st.lists(st.integers(0, 9), max_size=9), max_size=6),
    st.one_of(st.none(), st.integers(0, 12)),
)
def test_any_plan_under_any_budget_asks_the_first_different_questions(items, budget):
    expert = Expert()
    result = run(asking(*[about(*batch) for batch in items]), expert, budget=budget)
    wanted = list(dict.fromkeys(item for batch in items for item in batch))
    assert expert.asked == wanted[:budget]
    assert result.complete == (expert.asked == wanted)
    assert result.n_rounds == len(expert.batches)
    for batch, told in zip(items, received(result), strict=False):
        expected = [item / 100 if item in expert.asked else np.nan for item in batch]
        assert_array_equal(told, expected)


def test_a_spent_budget_hands_the_open_batch_over_with_nan_for_the_rest():
    result = run(asking(about(1, 2), about(3, 1, 4, 3, 5)), Expert(), budget=3)
    assert_array_equal(received(result)[1], [0.03, 0.01, np.nan, 0.03, np.nan])
    assert not result.complete


def test_a_budget_that_just_suffices_completes():
    assert run(asking(about(1, 2), about(2, 1, 1)), Expert(), budget=2).complete


def test_the_diagnostics_say_what_ended_the_run():
    def stopped(oracle, budget=None):
        return run(
            asking(about(1, 2), about(3)), oracle, budget=budget
        ).clustering.diagnostics.stopped

    assert stopped(Expert()) == "precision"
    assert stopped(Expert(), budget=3) == "precision"
    assert stopped(Expert(), budget=2) == "budget"
    assert stopped(Expert(2, StopAsking(np.array([np.nan])))) == "interrupted"
    assert stopped(Expert(2, KeyboardInterrupt())) == "interrupted"
    with pytest.raises(OracleError) as caught:
        stopped(Expert(2, RuntimeError("gone")))
    assert caught.value.result.clustering.diagnostics.stopped == "interrupted"


def test_cannot_say_costs_budget():
    plan, oracle = asking(about(1), about(2), about(3)), CallbackOracle(membership=lambda *_: None)
    result = run(plan, oracle, budget=2)
    assert_array_equal(received(result), [[np.nan]] * 3)
    assert (result.n_queries, result.complete) == (2, False)


@pytest.mark.parametrize("budget", [-1, 2.0, "3", True, np.nan])
def test_a_budget_that_is_no_whole_number_is_refused_before_the_plan_starts(budget):
    plan, expert = asking(about(1)), Expert()
    with pytest.raises(ParameterError, match="'budget' parameter of run must be an int"):
        run(plan, expert, budget=budget)
    assert expert.batches == []
    assert next(plan).items.tolist() == [1]  # still usable


# Answers held already


def test_a_ledger_filled_before_is_not_asked_again_and_costs_nothing():
    ledger = Ledger()
    ledger.record(about(1, 2), [0.5, 0.25])
    expert = Expert()
    result = run(asking(about(1, 3), about(2, 4)), expert, budget=2, ledger=ledger)
    assert expert.asked == [3, 4]
    assert received(result) == [[0.5, 0.03], [0.25, 0.04]]
    assert (result.n_queries, result.complete) == (2, True)
    assert [record.value for record in result.history] == [0.5, 0.25, 0.03, 0.04]


def test_a_run_that_was_stopped_goes_on_where_it_was_with_the_same_ledger():
    ledger, first, second = Ledger(), Expert(), Expert()
    assert not run(asking(*batches_of_odd_sizes()), first, budget=6, ledger=ledger).complete
    result = run(asking(*batches_of_odd_sizes()), second, ledger=ledger)
    assert first.asked + second.asked == list(range(N_DISTINCT))
    assert result.complete
    assert received(result) == received(run(asking(*batches_of_odd_sizes()), Expert()))


def test_a_ledger_that_knows_everything_needs_no_budget():
    ledger = Ledger()
    run(asking(about(1, 2)), Expert(), ledger=ledger)
    expert = Expert()
    assert run(asking(about(2), about(1)), expert, budget=0, ledger=ledger).complete
    assert expert.batches == []


# Stops


def test_an_oracle_that_stops_keeps_what_was_answered():
    ledger = Ledger()
    expert = Expert(fails_at=2, error=StopAsking(np.array([np.nan, 0.5, np.nan])))
    result = run(asking(about(1), about(2, 3, 2, 4), about(5)), expert, ledger=ledger)
    assert_array_equal(received(result)[1], [np.nan, 0.5, np.nan, np.nan])
    assert not result.complete
    assert result.n_queries == 2
    assert [record.items for record in result.history] == [(1,), (3,)]
    assert ledger.unanswered(about(2, 3, 4)).items.tolist() == [2, 4]  # asked another time


def test_what_an_oracle_answered_before_it_stopped_costs_budget_and_no_more():
    ledger = Ledger()
    stops = Expert(fails_at=1, error=StopAsking(np.array([0.5, np.nan, 0.5])))
    assert run(asking(about(1, 2, 3, 4)), stops, budget=3, ledger=ledger).n_queries == 2


def test_an_interrupted_oracle_gives_the_result_so_far():
    expert = Expert(fails_at=2, error=KeyboardInterrupt())
    result = run(asking(about(1, 2), about(2, 3), about(4)), expert)
    assert not result.complete
    assert result.n_queries == 2
    assert_array_equal(received(result)[1], [0.02, np.nan])
    assert len(expert.batches) == 2


# Failures


@pytest.mark.parametrize(
    "error", [RuntimeError("line lost"), StopIteration("none left"), OSError("line lost")]
)
def test_an_oracle_that_fails_is_an_oracle_error_that_holds_cause_and_result(error):
    expert = Expert(fails_at=2, error=error)
    with pytest.raises(OracleError, match=r"Expert failed after 2 answers \(.*(lost|left)") as told:
        run(asking(about(1, 2), about(2, 3), about(4)), expert)
    assert told.value.__cause__ is error
    result = told.value.result
    assert not result.complete
    assert result.n_queries == len(result.history) == 2
    assert_array_equal(received(result)[1], [0.02, np.nan])


def test_answers_given_before_a_function_failed_are_in_the_result():
    def membership(item, _cluster):
        return {1: 0.1, 2: 0.2, 3: "much"}[item]

    with pytest.raises(OracleError, match=r"failed after 2 answers \(ValueError") as told:
        run(asking(about(1), about(2, 3)), CallbackOracle(membership=membership))
    assert_array_equal(received(told.value.result)[1], [0.2, np.nan])
    with pytest.raises(OracleError, match="failed after 1 answers") as told:
        run(asking(about(2, 5)), CallbackOracle(membership=membership))
    assert isinstance(told.value.__cause__, KeyError)
    assert told.value.result.history[0].value == 0.2


def test_an_error_of_ours_stays_what_it_is_and_holds_the_result():
    oracle = CallbackOracle(membership=lambda *_: 0.5)
    with pytest.raises(QueryError, match="pass pair=") as told:
        run(asking(about(1), PairQueries([[0, 1]])), oracle)
    assert told.value.result.n_queries == 1
    assert not told.value.result.complete


@pytest.mark.parametrize("answer", [-0.01, 1.01, 25, np.inf, -np.inf])
def test_an_answer_out_of_range_is_refused_and_what_came_before_is_kept(answer):
    class Slips(Expert):
        def answer(self, queries):
            return [answer if item == 3 else 0.5 for item in queries.items]

    with pytest.raises(AnswerError, match=r"lie in \[0, 1\].*Got .* from Slips") as told:
        run(asking(about(1, 2), about(4, 3)), Slips())
    assert [record.items for record in told.value.result.history] == [(1,), (2,)]


@pytest.mark.parametrize("answers", [[0.5], [0.5] * 3, 0.5, None, [[0.5], [0.5]], []])
def test_another_number_of_answers_than_questions_is_refused(answers):
    with pytest.raises(AnswerError, match=r"Says.answer .* each of the 2 questions. Got shape"):
        run(asking(about(1, 2)), Says(answers))


def test_a_stop_with_answers_that_are_none_is_refused_too():
    with pytest.raises(AnswerError, match="each of the 2 questions"):
        run(asking(about(1, 2)), Expert(fails_at=1, error=StopAsking(np.array([0.5]))))


@pytest.mark.parametrize("answers", [[0.0, 1.0], [True, False], [np.nan, 0.5], (1, 0)])
def test_answers_in_range_of_any_type_are_taken(answers):
    result = run(asking(about(1, 2)), Says(answers))
    assert_array_equal(received(result)[0], np.array(answers, dtype=float))


def test_a_noisy_oracle_may_leave_the_range_but_not_the_numbers():
    assert received(run(asking(about(1, 2)), Says([-0.5, 1.5], noisy=True))) == [[-0.5, 1.5]]
    with pytest.raises(AnswerError, match="Got inf"):
        run(asking(about(1, 2)), Says([np.inf, 0.5], noisy=True))
    with pytest.raises(AnswerError, match=r"set noisy = True"):
        run(asking(about(1, 2)), Says([-0.5, 1.5], noisy=False))


# The plan is closed


def nothing_wrong():
    return Expert()


def interrupted():
    return Expert(fails_at=1, error=KeyboardInterrupt())


def failing():
    return Expert(fails_at=1, error=RuntimeError())


def exiting():
    return Expert(fails_at=1, error=SystemExit())


@pytest.mark.parametrize("oracle", [nothing_wrong, interrupted, failing, exiting])
def test_a_plans_finally_block_has_run_when_run_ends(oracle):
    closed = []

    def plan():
        try:
            return (yield from asking(about(1)))
        finally:
            closed.append(True)

    waiting = plan()
    with contextlib.suppress(OracleError, SystemExit):
        run(waiting, oracle())
    assert closed == [True]
    assert waiting.gi_frame is None


def test_a_plan_that_goes_on_asking_when_told_to_stop_is_closed_and_reported():
    closed = []

    def deaf():
        try:
            while True:
                try:
                    yield about(1, 2)
                except StopAsking:
                    continue
        finally:
            closed.append(True)

    with pytest.raises(PlanError, match="must return when StopAsking"):
        run(deaf(), Expert(), budget=1)
    assert closed == [True]


def test_a_plan_that_fails_by_itself_is_not_blamed_on_the_oracle():
    def broken():
        yield about(1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(broken(), Expert())


def test_a_plan_deaf_to_stops_does_not_hide_why_the_oracle_failed():
    def plain():
        yield about(1)

    failure = RuntimeError("line lost")
    with pytest.raises(PlanError, match="Got it back instead") as told:
        run(plain(), Expert(fails_at=1, error=failure))
    assert told.value.__cause__ is failure


# Progress

SCRIPT = """
import numpy as np
from askmeans.driver import run
from askmeans.exceptions import StopAsking
from askmeans.queries import MembershipQueries
from askmeans.results import Clustering

class Expert:
    def answer(self, queries):
        print("asked", len(queries))
        return np.full(len(queries), 0.5)

def plan():
    complete = True
    try:
        for start in range(3):
            yield MembershipQueries([start, start + 1, start], [0, 0, 0])
    except StopAsking:
        complete = False
    return Clustering(centers=None, memberships=None, predictor=None, complete=complete)

result = run(plan(), Expert(), budget={budget}, progress=True)
print("done", result.n_queries, result.complete)
"""
PLAIN_OUTPUT = "asked 2\nasked 1\nasked 1\ndone 4 True\n"


@pytest.fixture
def script(tmp_path):
    """Where a script is that runs a plan of four questions with a progress bar."""

    def write(budget):
        path = tmp_path / "asks.py"
        path.write_text(textwrap.dedent(SCRIPT).format(budget=budget))
        return str(path)

    return write


@pytest.mark.parametrize(
    "forced", [in_soak({}), in_soak({"FORCE_COLOR": "1"}), {"TTY_COMPATIBLE": "1"}]
)
def test_progress_is_silent_in_a_pipe(script, forced):
    done = subprocess.run(
        [sys.executable, script(9)], env=os.environ | forced,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == PLAIN_OUTPUT
    assert done.stderr == ""


def in_a_terminal(command):
    """Everything a command shows in a pseudo-terminal."""
    import pexpect

    env = os.environ | {"TERM": "xterm"}
    child = pexpect.spawn(command[0], command[1:], env=env, encoding="utf-8", timeout=60)
    shown = child.read()
    child.close()
    assert child.exitstatus == 0, shown
    return shown


@pytest.mark.parametrize(("budget", "end"), [(9, "4/9"), in_soak(3, "3/3"), in_soak(None, "4/?")])
def test_progress_shows_a_bar_of_answers_in_a_terminal(script, budget, end):
    shown = in_a_terminal([sys.executable, script(budget)])
    assert "answers" in shown
    assert end in shown
    assert f"done {min(budget or 4, 4)} {budget != 3}" in shown


def test_progress_leaves_standard_output_alone_where_that_is_a_file(script, tmp_path):
    output = tmp_path / "output.txt"
    shown = in_a_terminal(["/bin/sh", "-c", f"'{sys.executable}' '{script(9)}' > '{output}'"])
    assert "4/9" in shown
    assert output.read_text() == PLAIN_OUTPUT


def test_no_progress_is_shown_unless_asked_for(script, tmp_path):
    path = tmp_path / "quiet.py"
    with open(script(9)) as loud:
        path.write_text(loud.read().replace(", progress=True", ""))
    assert in_a_terminal([sys.executable, str(path)]).replace("\r", "") == PLAIN_OUTPUT
