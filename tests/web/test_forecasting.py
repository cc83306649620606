"""How many wrong items more cards would fix follows from how their number fell so far."""

import pytest

from askmeans.results import ErrorEstimate
from askmeans.web.forecasting import outlook_of


def curve(*pairs):
    return [
        ErrorEstimate(answers=n, error=0.1, low=0.0, high=0.2, wrong=wrong,
                      wrong_band=None if wrong is None else (0, round(2 * wrong)))
        for n, wrong in pairs
    ]  # fmt: skip


def outlook(*pairs, n_questions=10**6, target=None, is_good=False):
    return outlook_of(
        curve(*pairs), n_items=n_questions, n_questions=n_questions, target=target, is_good=is_good
    )


def test_before_any_estimate_there_is_no_outlook():
    assert outlook() is None


def test_answers_that_allow_no_estimate_give_no_outlook():
    assert outlook((3, None)) is None
    assert [each.answers for each in outlook((3, None), (6, 40.0)).curve] == [6]


def test_wrong_items_that_halve_with_twice_the_answers_go_on_so():
    found = outlook((5, 400.0), (10, 200.0), (20, 100.0))
    assert found.more == 20
    assert found.after == pytest.approx(50.0, rel=0.01)
    assert found.fixed == 50


def test_a_number_that_rose_is_not_foretold_to_rise_on():
    found = outlook((5, 100.0), (10, 200.0), (20, 300.0))
    assert found.after == pytest.approx(300.0, rel=0.01)
    assert found.brings_little


def test_too_few_estimates_fall_with_the_root_of_the_answers():
    assert outlook((20, 200.0)).after == pytest.approx(200.0 * 0.5**0.5, rel=0.01)


def test_a_share_of_unasked_items_that_stays_falls_by_what_is_asked_alone():
    """Half of the unasked items are wrong, whatever is answered: 20 cards fix ten of them."""
    found = outlook((20, 40.0), (40, 30.0), (60, 20.0), n_questions=100)
    assert (found.after, found.fixed) == (pytest.approx(10.0), 10)


def test_no_more_is_asked_than_there_is_and_then_nothing_is_left():
    found = outlook((20, 2.0), n_questions=25)
    assert (found.more, found.after) == (5, 0.0)
    assert outlook((25, 2.0), n_questions=25).more == 0


def test_sentences_count_items_and_state_the_goal_in_items_too():
    found = outlook((61, 78.3), n_questions=252, target=0.05)
    assert found.sentence == "About 78 of 252 are probably in the wrong group (0 to 160)."
    assert found.target == 0.05
    assert outlook((61, 78.3)).target is None


def test_a_session_that_is_good_enough_is_so_by_its_own_rule():
    assert outlook((61, 78.3), is_good=True).is_good
    early = outlook((5, 0.0), target=0.5)
    assert (early.is_good, early.is_early) == (False, True)
    assert not outlook((61, 78.3), n_questions=252, target=0.05).is_early
