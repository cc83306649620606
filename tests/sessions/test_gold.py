"""Gold questions: mixed in unmarked, free of charge, and what people said to them."""

from dataclasses import replace

import pytest

from askmeans.exceptions import KeyConflictError, ParameterError, SessionError
from askmeans.queries import Answer
from askmeans.sessions.assignment import GOLD_EVERY

NAMES = ["a", "b", "c"]
KNOWN = {7: (1.0, 0.0, 0.0), 8: (0.0, 1.0, 0.0)}


def gold(told=KNOWN):
    return [Answer(round=0, kind="group", items=(row,), cluster=None, repeat=0, value=value)
            for row, value in told.items()]  # fmt: skip


@pytest.fixture
def session(make):
    made = make(strategy="auto", ask="group", cluster_names=NAMES)
    assert made.add_gold(gold()).new == 2
    return made


def answer(session, n, name="Ada", value=0):
    """Answer so many questions; the rows asked about, and the receipts."""
    rows, receipts = [], []
    for _ in range(n):
        (question,) = session.ask(annotator=name)
        rows.append(question.items[0])
        receipts.append(session.tell(question.id, value, annotator=name))
    return rows, receipts


def test_everybody_gets_a_gold_question_as_every_tenth_and_each_once(session):
    for name in ("Ada", "Bo"):
        rows, receipts = answer(session, 3 * GOLD_EVERY - 1 if name == "Ada" else 10, name)
        places = [place for place, row in enumerate(rows, start=1) if row in KNOWN]
        assert places == [GOLD_EVERY, 2 * GOLD_EVERY][: len(rows) // GOLD_EVERY]
        assert not any(receipt.late for receipt in receipts)


def test_a_gold_question_looks_like_any_other(session):
    rows, _ = answer(session, GOLD_EVERY - 1)
    (question,) = session.ask(annotator="Ada")
    assert question.items[0] in KNOWN
    assert session.ask(annotator="Ada") == [question]  # as long as it is not answered
    other = session.question(1 if question.id != 1 else 2)
    assert (question.kind, question.cluster, question.repeat) == (
        other.kind, other.cluster, other.repeat
    )  # fmt: skip
    assert session.tell(question.id, 0, annotator="Ada").gold is None
    assert rows


@pytest.mark.parametrize("ask", ["group", "membership"])
def test_what_is_asked_as_gold_is_no_example_of_its_group_unless_the_owner_pins_it(make, ask):
    session = make(strategy="auto", ask=ask, cluster_names=NAMES)
    asked = session.ask(3, annotator="Bo")
    for question in asked:
        session.tell(question.id, 1 if ask == "group" else 1.0, annotator="Bo")
    (row,) = asked[0].items
    known = gold({row: (0.0, 1.0, 0.0), **KNOWN})
    if ask == "membership":
        known = [replace(a, kind=ask, cluster=0, value=1.0) for a in known]
    session.add_gold(known)
    session.result()
    n = len(session.rows)
    shown = {r for group in session.groups for r in session.exemplars(group.number, n=n)}
    assert shown.isdisjoint({row, *KNOWN})
    assert shown
    session.pin(1, row)
    assert session.exemplars(1, n=n)[0] == row


def test_gold_questions_cost_no_budget(make):
    session = make(strategy="auto", ask="group", cluster_names=NAMES, budget=GOLD_EVERY)
    session.add_gold(gold())
    rows, _ = answer(session, GOLD_EVERY + 1)
    assert len(set(rows) & KNOWN.keys()) == 1
    assert session.status().answered == GOLD_EVERY
    assert session.ask(annotator="Ada") == []


def test_known_answers_are_evidence_and_are_not_asked_by_the_policy(session):
    memberships = session.result().memberships
    assert [memberships[row].argmax() for row in KNOWN] == [0, 1]
    rows, _ = answer(session, GOLD_EVERY - 1)
    assert not set(rows) & KNOWN.keys()


def test_the_report_tells_how_far_everybody_is_off(session, again):
    answer(session, 2 * GOLD_EVERY, "Ada", {0: 0.75, 1: 0.25})
    answer(session, GOLD_EVERY, "Bo", 0)
    for seen in (session, again(session)):
        report = seen.gold_report()
        assert report["Ada"].questions == 2
        assert report["Ada"].difference == pytest.approx((0.25 + 0.75) / 2)
        assert (report["Bo"].questions, report["Bo"].difference) in {(1, 0.0), (1, 1.0)}
    assert "gold" not in session.agreement().by_person


def test_feedback_is_given_where_the_owner_wants_it(session):
    session.set_option("gold_feedback", True)
    _, receipts = answer(session, GOLD_EVERY)
    assert [receipt.gold for receipt in receipts[:-1]] == [None] * (GOLD_EVERY - 1)
    assert receipts[-1].gold in KNOWN.values()


def test_an_answer_to_a_gold_question_can_be_undone_and_given_again(session):
    rows, receipts = answer(session, GOLD_EVERY)
    undone = session.undo(annotator="Ada")
    assert undone.question.id == receipts[-1].question
    assert [question.items[0] for question in session.ask(annotator="Ada")] == rows[-1:]


def test_gold_that_is_there_stays_and_what_is_none_is_refused(session, make):
    assert session.add_gold(gold()) == session.add_gold(gold())
    again = session.add_gold(gold({7: (0.0, 0.0, 1.0), 9: (0.0, 0.0, 1.0)}))
    assert (again.new, again.there, again.otherwise) == (1, 0, 1)
    before = session.last_event
    twice = [*gold({10: (1.0, 0.0, 0.0)}), *gold({10: (0.0, 1.0, 0.0)})]
    with pytest.raises(KeyConflictError):
        session.add_gold(twice)
    with pytest.raises(SessionError, match="must say something"):
        session.add_gold(gold({11: (float("nan"),) * 3}))
    pair = Answer(round=0, kind="pair", items=(0, 1), cluster=None, repeat=0, value=1.0)
    with pytest.raises(SessionError, match=r"kind that the session asks \(group\)"):
        session.add_gold([pair])
    with pytest.raises(SessionError, match="default strategy"):
        make("plan.db").add_gold([])
    assert session.last_event == before
    with pytest.raises(ParameterError, match="somebody's own name"):
        session.ask(annotator="gold")
