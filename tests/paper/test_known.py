"""What a plan has been told: nothing twice, nothing that follows, nothing lost at a stop."""

import numpy as np
import pytest

from askmeans.exceptions import StopAsking
from askmeans.paper.known import KnownMemberships

U = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.0, 1.0, 0.0], [0.2, 0.2, 0.6]])


def asked(asking, table=U):
    """The first batch of a part of a plan as (item, cluster) pairs, and what it returns."""
    try:
        queries = next(asking)
    except StopIteration as end:
        return [], end.value
    pairs = list(zip(queries.items.tolist(), queries.clusters.tolist(), strict=True))
    with pytest.raises(StopIteration) as end:
        asking.send(table[queries.items, queries.clusters])
    return pairs, end.value.value


def ask(answers, *pairs, table=U, phase="search"):
    items, clusters = np.array(pairs).T
    return asked(answers.ask(items, clusters, phase), table)


def ask_rows(answers, items, clusters=(0, 1, 2), table=U):
    return asked(answers.ask_rows(np.array(items), np.array(clusters), "sampling"), table)


def test_answers_come_back_in_the_order_asked():
    answers = KnownMemberships(3, faithful=False)
    pairs, values = ask(answers, (3, 2), (0, 0), (3, 2))
    assert pairs == [(3, 2), (0, 0), (3, 2)]
    assert values.tolist() == [0.6, 0.5, 0.6]
    assert answers.items.tolist() == [3, 0]
    np.testing.assert_array_equal(answers.values, [[np.nan, np.nan, 0.6], [0.5, np.nan, np.nan]])


def test_what_is_known_is_not_asked_again():
    answers = KnownMemberships(3, faithful=False)
    ask(answers, (0, 0), (1, 1))
    pairs, values = ask(answers, (1, 1), (2, 1), (0, 0))
    assert pairs == [(2, 1)]
    assert values.tolist() == [0.1, 1.0, 0.5]
    assert ask(answers, (1, 1)) == ([], [0.1])


def test_the_last_entry_of_a_row_follows_note_n16():
    answers = KnownMemberships(3, faithful=False)
    ask(answers, (0, 0), (0, 2))
    pairs, values = ask(answers, (0, 1))
    assert pairs == []
    assert values == pytest.approx(0.3)
    two = KnownMemberships(2, faithful=False)
    ask(two, (0, 1), table=np.array([[0.25, 0.75]]))
    assert two.values.tolist() == [[0.25, 0.75]]


def test_an_entry_that_follows_is_never_negative():
    answers = KnownMemberships(3, faithful=False)
    ask(answers, (0, 0), (0, 1), table=np.array([[0.7, 0.7, 0.0]]))
    assert answers.values[0, 2] == 0.0


def test_an_entry_that_follows_is_not_made_of_rounding():
    answers = KnownMemberships(4, faithful=False)
    ask(answers, (0, 0), (0, 1), (0, 2), table=np.array([[0.7, 0.2, 0.1, 0.0]]))
    assert 1.0 - np.sum([0.7, 0.2, 0.1]) > 0.0
    assert answers.values[0, 3] == 0.0


def test_whole_rows_are_asked_without_their_last_entry():
    answers = KnownMemberships(3, faithful=False)
    pairs, rows = ask_rows(answers, [3, 1])
    assert pairs == [(3, 0), (3, 1), (1, 0), (1, 1)]
    np.testing.assert_allclose(rows, U[[3, 1]])


def test_part_of_a_row_is_asked_in_full():
    answers = KnownMemberships(3, faithful=False)
    pairs, rows = ask_rows(answers, [3, 1], clusters=[2, 0])
    assert pairs == [(3, 2), (3, 0), (1, 2), (1, 0)]
    np.testing.assert_allclose(rows, U[[3, 1]][:, [2, 0]])


def test_a_row_of_one_entry_needs_no_question():
    answers = KnownMemberships(1, faithful=False)
    pairs, rows = ask_rows(answers, [0, 5], clusters=[0])
    assert pairs == []
    assert rows.tolist() == [[1.0], [1.0]]


def test_faithful_answers_ask_every_entry_every_time():
    answers = KnownMemberships(3, faithful=True)
    assert len(ask_rows(answers, [3, 1])[0]) == 6
    assert len(ask_rows(answers, [3, 1])[0]) == 6
    ask(answers, (0, 0), (0, 1))
    assert np.isnan(answers.look_up(np.array([0]), np.array([2])))  # it would follow
    assert len(ask_rows(KnownMemberships(1, faithful=True), [0, 1], clusters=[0])[0]) == 2


def test_what_nobody_could_say_is_unknown_and_not_asked_again():
    silent = np.full((4, 3), np.nan)
    answers = KnownMemberships(3, faithful=False)
    _, values = ask(answers, (0, 0), table=silent)
    assert np.isnan(values).all()
    pairs, values = ask(answers, (0, 0), (1, 0))
    assert pairs == [(1, 0)]
    assert np.isnan(values[0])
    assert values[1] == 0.1


def test_an_item_never_asked_about_is_unknown():
    assert np.isnan(KnownMemberships(3, faithful=False).look_up(np.array([7]), np.array([1]))).all()


def test_many_items_find_room():
    table = np.random.default_rng(0).dirichlet(np.ones(3), size=1000)
    answers = KnownMemberships(3, faithful=False)
    for start in range(0, 1000, 37):
        ask_rows(answers, range(start, min(start + 37, 1000)), table=table)
    np.testing.assert_allclose(answers.values, table)
    assert answers.items.tolist() == list(range(1000))


def test_questions_are_counted_by_phase_raw_and_distinct_note_n12():
    answers = KnownMemberships(3, faithful=True)
    ask(answers, (0, 0), (0, 0), (1, 0), phase="sampling")
    ask(answers, (0, 0), (2, 0), phase="search")
    ask(answers, (2, 0), phase="search")
    assert answers.raw == {"sampling": 3, "search": 3}
    assert answers.distinct == {"sampling": 2, "search": 1}
    assert answers.rounds == {"sampling": 1, "search": 1}  # rounds that bring something new


def test_a_stop_keeps_and_counts_what_was_answered_and_no_more():
    answers = KnownMemberships(3, faithful=False)
    asking = answers.ask(np.array([0, 1, 2]), np.array([0, 0, 0]), "search")
    next(asking)
    with pytest.raises(StopAsking):
        asking.throw(StopAsking(np.array([0.5, 0.1, np.nan])))
    assert answers.items.tolist() == [0, 1]
    assert answers.look_up(np.array([0, 1]), np.array([0, 0])).tolist() == [0.5, 0.1]
    assert np.isnan(answers.look_up(np.array([2]), np.array([0])))
    assert answers.raw == {"search": 2}
    assert answers.distinct == {"search": 2}


def test_a_stop_before_the_first_answer_counts_no_round():
    answers = KnownMemberships(3, faithful=False)
    asking = answers.ask(np.array([0]), np.array([0]), "search")
    next(asking)
    with pytest.raises(StopAsking):
        asking.throw(StopAsking(np.array([np.nan])))
    assert answers.raw.total() == answers.distinct.total() == answers.rounds.total() == 0


def test_cannot_say_before_a_stop_is_an_answer():
    answers = KnownMemberships(3, faithful=False)
    asking = answers.ask(np.array([0, 1, 2]), np.array([0, 0, 0]), "search")
    next(asking)
    with pytest.raises(StopAsking):
        asking.throw(StopAsking(np.array([0.5, np.nan, np.nan]), np.array([True, True, False])))
    assert answers.raw == answers.distinct == {"search": 2}
    assert next(answers.ask(np.array([1, 2]), np.array([0, 0]), "search")).items.tolist() == [2]
