"""Ctrl-C waits while a plan works, and passes while somebody is asked."""

import os
import signal
import threading

import numpy as np
import pytest

from askmeans import TwoPhase, oracles, run
from askmeans.driver import Interrupts

# As under a parent that ignores Ctrl-C (a background job, some CI runners): tests set the handler.
pytestmark = pytest.mark.usefixtures("background_job", "ctrl_c")


@pytest.fixture
def background_job():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


def press_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_waits_until_it_is_allowed():
    with Interrupts() as interrupts:
        press_ctrl_c()  # nothing happens
        with pytest.raises(KeyboardInterrupt), interrupts.allowed():
            pytest.fail("the one waiting comes before anything is asked")


def test_ctrl_c_passes_while_somebody_is_asked():
    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt), interrupts.allowed():
        press_ctrl_c()


def test_a_second_ctrl_c_passes_at_once():
    with Interrupts():
        press_ctrl_c()
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()


def test_afterwards_ctrl_c_is_what_it_was():
    with Interrupts():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        press_ctrl_c()


def test_a_handler_of_somebody_else_is_left_alone():
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        with Interrupts():
            press_ctrl_c()
        assert seen == [1]
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_do_not_touch_signals():
    errors = []

    def work():
        try:
            with Interrupts():
                pass
        except ValueError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert errors == []


def test_ctrl_c_while_a_plan_computes_still_gives_the_result_so_far():
    X = np.arange(40.0)[:, None]
    inner = TwoPhase(sample_size=10).plan(X, 2, fuzzifier=2.0, rng=np.random.default_rng(0))

    def pressing():  # presses Ctrl-C between the first answers and the next question
        queries = next(inner)
        while True:
            answers = yield queries
            press_ctrl_c()
            try:
                queries = inner.send(answers)
            except StopIteration as end:
                return end.value
            try:
                yield queries
            except BaseException as stop:
                try:
                    inner.throw(stop)
                except StopIteration as end:
                    return end.value

    result = run(pressing(), oracles.TableOracle.from_labels([0] * 13 + [1] * 27))
    assert not result.complete
    assert {answer.round for answer in result.history} == {1}  # the second round never came
    assert np.allclose(result.clustering.memberships.sum(axis=1), 1.0)
