"""What more cards would bring follows from how the error fell so far."""

import pytest

from askmeans.results import ErrorEstimate
from askmeans.web.forecasting import outlook_of


def curve(*pairs):
    return [ErrorEstimate(answers=n, error=e, low=e / 2, high=2 * e) for n, e in pairs]


def test_before_any_estimate_there_is_no_outlook():
    assert outlook_of([], n_questions=10, precision=0.1) is None


def test_an_error_that_halves_with_twice_the_answers_goes_on_so():
    found = outlook_of(curve((5, 0.4), (10, 0.2), (20, 0.1)), n_questions=10**6, precision=None)
    assert found.more == 20
    assert found.after == pytest.approx(0.05, rel=0.01)


def test_an_error_that_rose_is_not_foretold_to_rise_on():
    found = outlook_of(curve((5, 0.1), (10, 0.2), (20, 0.3)), n_questions=10**6, precision=None)
    assert found.after == pytest.approx(0.3, rel=0.01)
    assert found.brings_little


def test_too_few_estimates_fall_with_the_root_of_the_answers():
    found = outlook_of(curve((20, 0.2)), n_questions=10**6, precision=None)
    assert found.after == pytest.approx(0.2 * 0.5**0.5, rel=0.01)


def test_no_more_is_asked_than_there_is_and_then_nothing_is_left():
    found = outlook_of(curve((20, 0.2)), n_questions=25, precision=None)
    assert (found.more, found.after) == (5, 0.0)
    assert outlook_of(curve((25, 0.2)), n_questions=25, precision=None).more == 0


@pytest.mark.parametrize(("precision", "good"), [(0.1, False), (0.3, True), (None, False)])
def test_it_is_good_enough_below_the_precision(precision, good):
    assert outlook_of(curve((9, 0.2)), n_questions=50, precision=precision).is_good is good
