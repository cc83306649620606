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
    made = make(ask="group", cluster_names=NAMES)
    assert made.people.add_gold(gold()).new == 2
    return made


def answer(session, n, name="Ada", value=0):
    """Answer so many questions; the rows asked about, and the receipts."""
    rows, receipts = [], []
    for _ in range(n):
        (question,) = session.ask(annotator=name)
        rows.append(question.items[0])
        receipts.append(session.tell(question.id, value, annotator=name))
    return rows, receipts


def until_gold(session, name="Ada", value=0):
    """Answer until a gold question is asked; the rows before it, and that question."""
    rows = []
    while True:
        (question,) = session.ask(annotator=name)
        if question.items[0] in KNOWN:
            return rows, question
        rows.append(question.items[0])
        session.tell(question.id, value, annotator=name)


def places_of_gold(session, name, n=30, at_once=1):
    """Where gold questions are among the first n of somebody, from 0; and the numbers of all."""
    rows, numbers = [], []
    while len(rows) < n:
        for question in session.ask(min(at_once, n - len(rows)), annotator=name):
            rows.append(question.items[0])
            numbers.append(question.id)
            session.tell(question.id, 0, annotator=name)
    return [place for place, row in enumerate(rows) if row in MANY], numbers


MANY = dict.fromkeys(range(20, 32), (1.0, 0.0, 0.0))
WIDE = [[float(row)] for row in range(300)]


@pytest.fixture
def wide(make):
    made = make(X=WIDE, ask="group", cluster_names=NAMES)
    made.people.add_gold(gold(MANY))
    return made


def test_one_question_in_ten_is_gold_at_places_that_differ(wide):
    found = {name: places_of_gold(wide, name)[0] for name in ("Ada", "Bo", "Cy")}
    for places in found.values():
        assert [place // GOLD_EVERY for place in places] == [0, 1, 2]
    assert len({tuple(places) for places in found.values()}) == 3
    assert len({place % GOLD_EVERY for places in found.values() for place in places}) > 3
    assert len({place % GOLD_EVERY for place in found["Ada"]}) > 1


@pytest.mark.parametrize("at_once", [1, 7, 30])
def test_places_of_gold_follow_from_the_seed_whatever_is_asked_at_once(make, wide, at_once):
    same = make("same.db", X=WIDE, ask="group", cluster_names=NAMES)
    same.people.add_gold(gold(MANY))
    assert places_of_gold(same, "Ada", at_once=at_once)[0] == places_of_gold(wide, "Ada")[0]


def test_gold_questions_are_numbered_in_order_like_others(wide, again):
    other, numbers = again(wide), {"Ada": [], "Bo": []}
    for _ in range(25):
        for session, name in ((wide, "Ada"), (other, "Bo")):
            (question,) = session.ask(annotator=name)
            assert question.repeat == session.question(question.id).repeat == 0
            assert not session.tell(question.id, 0, annotator=name).late
            numbers[name].append(question.id)
    assert numbers["Ada"] == sorted(numbers["Ada"])
    assert numbers["Bo"] == sorted(numbers["Bo"])
    assert sorted(numbers["Ada"] + numbers["Bo"]) == list(range(13, 63))  # one after the other


def test_gold_questions_are_counted_as_others_are(session):
    for _ in range(2 * GOLD_EVERY):
        before = session.status()
        (question,) = session.ask(annotator="Ada")
        asked = session.status()
        assert asked.open - before.open == asked.leased - before.leased == 1
        session.tell(question.id, 0, annotator="Ada")
        after = session.status()
        assert (after.open, after.leased) == (before.open, before.leased)
        assert after.without_gold().answered == before.without_gold().answered + 1
        assert after.left.high == before.left.high - 1
        assert after.held == 2
    assert (after.answered, after.checked) == (18, 2)


def test_with_a_budget_no_count_shows_which_questions_were_gold(make):
    session = make(ask="group", cluster_names=NAMES, budget=GOLD_EVERY)
    session.people.add_gold(gold())
    for place in range(GOLD_EVERY):
        shown = session.status().without_gold()
        left = GOLD_EVERY - place
        assert (shown.answered, shown.budget) == (place, GOLD_EVERY)
        assert (shown.left.low, shown.left.high) == (left, left)
        assert f"at most {left} by the budget" in shown.left.basis
        answer(session, 1)
    assert session.status().checked > 0


def test_each_gold_question_is_asked_once_of_everybody(session, again):
    for name in ("Ada", "Bo"):
        rows, receipts = answer(session, 2 * GOLD_EVERY, name)
        assert len(rows) == len(set(rows))
        assert not any(receipt.late for receipt in receipts)
    seen = again(session)
    (report,) = {score.questions for score in seen.people.gold_report().values()}
    assert report == 2 == seen.people.agreement().questions


def test_a_gold_question_looks_like_any_other(session):
    _, question = until_gold(session)
    assert session.ask(annotator="Ada") == [question]  # as long as it is not answered
    other = session.question(1 if question.id != 1 else 2)
    assert (question.kind, question.cluster, question.repeat) == (
        other.kind, other.cluster, other.repeat
    )  # fmt: skip
    assert session.tell(question.id, 0, annotator="Ada").gold is None
    assert sum(row in KNOWN for row in answer(session, 2 * GOLD_EVERY)[0]) <= 2


@pytest.mark.parametrize("ask", ["group", "membership"])
def test_what_is_asked_as_gold_is_no_example_of_its_group_unless_the_owner_pins_it(make, ask):
    session = make(ask=ask, cluster_names=NAMES)
    asked = session.ask(3, annotator="Bo")
    for question in asked:
        session.tell(question.id, 1 if ask == "group" else 1.0, annotator="Bo")
    (row,) = asked[0].items
    known = gold({row: (0.0, 1.0, 0.0), **KNOWN})
    if ask == "membership":
        known = [replace(a, kind=ask, cluster=0, value=1.0) for a in known]
    session.people.add_gold(known)
    session.result()
    n = len(session.rows)
    shown = {r for group in session.groups for r in session.exemplars(group.number, n=n)}
    assert shown.isdisjoint({row, *KNOWN})
    assert shown
    session.groups.pin(1, row)
    assert session.exemplars(1, n=n)[0] == row


def test_gold_questions_cost_no_budget(make):
    session = make(ask="group", cluster_names=NAMES, budget=GOLD_EVERY)
    session.people.add_gold(gold())
    rows, _ = answer(session, GOLD_EVERY + 1)
    assert len(set(rows) & KNOWN.keys()) == 1
    assert session.status().answered == GOLD_EVERY
    assert session.ask(annotator="Ada") == []


def test_known_answers_are_evidence_and_are_not_asked_by_the_policy(session):
    memberships = session.result().memberships
    assert [memberships[row].argmax() for row in KNOWN] == [0, 1]
    rows, _ = answer(session, 2 * GOLD_EVERY)
    assert sum(row in KNOWN for row in rows) <= 2


def test_the_report_tells_how_far_everybody_is_off(session, again):
    answer(session, 2 * GOLD_EVERY, "Ada", {0: 0.75, 1: 0.25})
    answer(session, GOLD_EVERY, "Bo", 0)
    for seen in (session, again(session)):
        report = seen.people.gold_report()
        assert report["Ada"].questions == 2
        assert report["Ada"].difference == pytest.approx((0.25 + 0.75) / 2)
        assert (report["Bo"].questions, report["Bo"].difference) in {(1, 0.0), (1, 1.0)}
    assert "gold" not in session.people.agreement().by_person


def test_feedback_is_given_where_the_owner_wants_it(session):
    session.settings.set_option("gold_feedback", True)
    rows, receipts = answer(session, GOLD_EVERY)
    for row, receipt in zip(rows, receipts, strict=True):
        assert receipt.gold == KNOWN.get(row)


def test_an_answer_to_a_gold_question_can_be_undone_and_given_again(session):
    _, question = until_gold(session)
    receipt = session.tell(question.id, 0, annotator="Ada")
    undone = session.undo(annotator="Ada")
    assert undone.question.id == receipt.question
    assert session.ask(annotator="Ada") == [question]


def test_gold_that_is_there_stays_and_what_is_none_is_refused(session):
    assert session.people.add_gold(gold()) == session.people.add_gold(gold())
    again = session.people.add_gold(gold({7: (0.0, 0.0, 1.0), 9: (0.0, 0.0, 1.0)}))
    assert (again.new, again.existing, again.conflicting) == (1, 0, 1)
    before = session.history.last_event
    twice = [*gold({10: (1.0, 0.0, 0.0)}), *gold({10: (0.0, 1.0, 0.0)})]
    with pytest.raises(KeyConflictError):
        session.people.add_gold(twice)
    with pytest.raises(SessionError, match="must say something"):
        session.people.add_gold(gold({11: (float("nan"),) * 3}))
    pair = Answer(round=0, kind="pair", items=(0, 1), cluster=None, repeat=0, value=1.0)
    with pytest.raises(SessionError, match=r"kind that the session asks \(group\)"):
        session.people.add_gold([pair])
    assert session.history.last_event == before
    with pytest.raises(ParameterError, match="a person's own name"):
        session.ask(annotator="gold")
