"""Questions that were answered, as answers come and go."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askmeans.queries import Answer, Answers, GroupQueries, MembershipQueries
from askmeans.queries.answers import AskedQuestions

kinds = st.sampled_from([("membership", (3,), 1), ("group", (3,), None), ("pair", (2, 7), None),
                         ("membership", (4,), 0), ("triplet", (1, 2, 3), None)])  # fmt: skip


def table(listed):
    return Answers.of(
        [
            Answer(round=1, kind=kind, items=items, cluster=cluster, repeat=repeat,
                   value=(0.2, 0.8) if kind == "group" else 0.5)
            for (kind, items, cluster), repeat in listed
        ],
        2,
    )  # fmt: skip


some_answers = st.lists(st.tuples(kinds, st.integers(0, 1)), max_size=6).map(table)


@given(st.lists(some_answers, min_size=1, max_size=4))
def test_it_has_the_questions_of_the_last_answers_whatever_came_before(tables):
    asked = AskedQuestions()
    for answers in tables:
        asked.update(answers)
    questions = {answer.question for answer in tables[-1]}
    assert len(asked) == len(questions)
    assert asked.n_items == len({item for question in questions for item in question.items})
    for answers in tables:
        assert all((answer.question in asked) == (answer.question in questions)
                   for answer in answers)  # fmt: skip


@pytest.fixture
def rows_looked_at(monkeypatch):
    """How many questions of batches were made, so far."""
    counted = [0]
    for kind in (MembershipQueries, GroupQueries):
        made = kind.questions

        def counting(self, made=made):
            counted[0] += len(self)
            return made(self)

        monkeypatch.setattr(kind, "questions", counting)
    return counted


def test_an_answer_more_or_less_costs_one_question(rows_looked_at):
    items = np.arange(5000)
    asked = AskedQuestions()
    asked.update(Answers([(1, GroupQueries(items[:-1], 2), np.zeros((4999, 2)))]))
    rows_looked_at[0] = 0
    asked.update(Answers([(1, GroupQueries(items, 2), np.zeros((5000, 2)))]))
    assert rows_looked_at[0] == 1
    assert len(asked) == asked.n_items == 5000
    asked.update(Answers([(1, GroupQueries(items[:-2], 2), np.zeros((4998, 2)))]))
    assert rows_looked_at[0] == 1
    assert len(asked) == 4998


def test_a_digest_tells_answers_apart_and_not_how_they_came():
    said = np.array([0.1, 0.9, 0.4])
    whole = Answers([(1, MembershipQueries([1, 2, 3], [0, 1, 0]), said)])
    parts = Answers([(1, MembershipQueries([1], [0]), said[:1]),
                     (2, MembershipQueries([2, 3], [1, 0]), said[1:])])  # fmt: skip
    assert whole.digest() == parts.digest()
    others = [
        whole.first(2),
        Answers([(1, MembershipQueries([1, 2, 4], [0, 1, 0]), said)]),
        Answers([(1, MembershipQueries([1, 2, 3], [0, 1, 1]), said)]),
        Answers([(1, MembershipQueries([1, 2, 3], [0, 1, 0], repeat=1), said)]),
        Answers([(1, MembershipQueries([1, 2, 3], [0, 1, 0]), said[::-1])]),
        Answers([(1, GroupQueries([1, 2, 3], 1), said[:, None])]),
        Answers.of([Answer(round=1, kind=a.kind, items=a.items, cluster=a.cluster, repeat=0,
                           value=a.value, annotator="you") for a in whole]),
    ]  # fmt: skip
    assert len({answers.digest() for answers in [whole, *others]}) == 8
