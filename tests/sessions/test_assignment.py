"""Several annotators: leases in database time, late answers, several annotations, states."""

import sqlite3
import threading

import pytest

from askmeans.exceptions import KeyConflictError, ParameterError, SessionError
from askmeans.sessions import SessionState
from askmeans.sessions.assignment import MAX_HELD, Assignment


def test_two_annotators_never_hold_the_same_question(make, again):
    session = make()
    other = again(session)
    mine, theirs = session.ask(5, annotator="ann"), other.ask(5, annotator="bob")
    assert not set(mine) & set(theirs)
    assert len(mine) == len(theirs) == 5


def test_asking_again_returns_ones_own_open_questions(make, again):
    session = make()
    first = session.ask(3, annotator="ann")
    assert session.ask(annotator="ann") == first[:1]
    assert again(session).ask(3, annotator="ann") == first
    session.tell(first[0].id, 0.5, annotator="ann")
    assert session.ask(2, annotator="ann") == first[1:]


def test_asking_again_renews_the_lease(make):
    session = make()
    session.ask(annotator="ann")
    (before,) = session.runtime.store.leases(1)[1]
    session.ask(annotator="ann")
    (after,) = session.runtime.store.leases(1)[1]
    assert after.until > before.until
    assert after.until - session.runtime.store.leases(1)[0] <= session.config.lease_seconds


def test_an_ended_lease_lets_others_have_the_question(make, end_leases):
    session = make()
    (question,) = session.ask(annotator="ann")
    assert session.ask(annotator="bob") != [question]
    end_leases(session)
    assert session.ask(annotator="cy") == [question]
    assert session.ask(annotator="ann") != [question]  # it is somebody else's now


def test_who_leaves_lets_others_have_the_questions_and_may_still_answer(make, again):
    session = make()
    mine = session.ask(3, annotator="ann")
    other = session.ask(annotator="bob")
    session.leave(annotator="ann")
    assert again(session).ask(2, annotator="cy") == mine[:2]
    assert session.ask(annotator="bob") == other  # bob has not left
    assert session.ask(annotator="ann") == mine[2:]  # what nobody took
    assert session.tell(mine[0].id, 0.5, annotator="ann").counts


def test_status_tells_who_holds_what_and_how_long(make, again):
    session = make()
    mine = session.ask(2, annotator="ann")
    (theirs,) = again(session).ask(annotator="bob")
    report = session.status()
    assert [(each.annotator, each.question) for each in report.holding] == [
        ("ann", mine[0].id), ("ann", mine[1].id), ("bob", theirs.id),
    ]  # fmt: skip
    assert all(590 < each.seconds <= 600 for each in report.holding)
    assert report.holders == (
        f"ann has questions {mine[0].id}, {mine[1].id}, for up to 10 min more",
        f"bob has question {theirs.id}, for up to 10 min more",
    )
    session.tell(mine[0].id, 0.5, annotator="ann")
    session.leave(annotator="bob")
    assert [each.question for each in session.status().holding] == [mine[1].id]
    session.ask(9, annotator="ann")
    assert "and 4 more, for" in session.status().holders[0]


def test_a_lease_can_be_short_and_is_renewed_as_long_as_it_is_held(make, again, end_leases):
    session = make()
    (question, *_) = session.ask(annotator="ann", lease_seconds=5.0)

    def left():
        return {round(each.seconds) for each in session.status().holding}

    assert left() <= {4, 5}
    again(session).renew(annotator="ann", lease_seconds=90.0)
    assert left() <= {88, 89, 90}
    session.renew(annotator="bob")  # who holds nothing
    session.renew(annotator="ann")
    assert min(left()) > 590
    session.renew(annotator="ann", lease_seconds=1e9)  # never longer than the session's
    assert max(left()) <= 600
    end_leases(session)
    assert session.ask(annotator="bob") == [question]
    session.renew(annotator="ann")  # too late: it is bob's
    assert {each.annotator for each in session.status().holding} == {"bob"}
    for call in (session.ask, session.renew):
        with pytest.raises(ParameterError, match="'lease_seconds'"):
            call(lease_seconds=0)


def test_somebody_whose_lease_ended_gets_the_question_back_if_nobody_took_it(make, end_leases):
    session = make()
    *_, question = session.ask(4, annotator="ann")
    for other in session.ask(3, annotator="ann"):
        session.tell(other.id, 0.5, annotator="ann")
    end_leases(session)
    assert session.ask(annotator="ann") == [question]


def test_a_late_answer_is_kept_marked_and_used(make, end_leases):
    session = make()
    (question,) = session.ask(annotator="ann")
    end_leases(session)
    receipt = session.tell(question.id, 0.25, annotator="ann")
    assert receipt.late
    assert session.result().history[0].value == 0.25
    assert session.status().annotators["ann"] == {"answer": 1, "late": 1}


def test_an_answer_after_somebody_elses_is_kept_and_moves_up_when_that_is_undone(make, end_leases):
    session = make()
    (question,) = session.ask(annotator="ann")
    end_leases(session)
    assert session.ask(annotator="bob") == [question]
    session.tell(question.id, 0.75, annotator="bob")
    late = session.tell(question.id, 0.25, annotator="ann")
    assert late.late
    assert session.result().history[0].value == 0.75  # the first stands
    assert session.status().answered == 1
    session.undo(annotator="bob")
    assert session.result().history[0].value == 0.25  # nothing was thrown away
    assert session.ask(annotator="cy") != [question]


def test_one_undoes_only_ones_own(make):
    session = make()
    (question,) = session.ask(annotator="ann")
    session.tell(question.id, 0.5, annotator="ann")
    with pytest.raises(SessionError, match="of 'bob'"):
        session.undo(annotator="bob")
    with pytest.raises(SessionError, match="of 'bob' to question"):
        session.undo(question.id, annotator="bob")


def test_an_undone_question_is_ones_own_again_and_nobody_elses(make):
    session = make()
    first, second = session.ask(2, annotator="ann")
    session.tell(first.id, 0.5, annotator="ann")
    session.undo(annotator="ann")
    assert not {first, second} & set(session.ask(99, annotator="bob"))
    assert session.ask(annotator="ann") == [first]


def test_what_one_skips_the_other_gets(make):
    session = make()
    (question,) = session.ask(annotator="ann")
    session.skip(question.id, annotator="ann")
    assert session.ask(annotator="bob") == [question]


def test_states_are_told_apart(make, kit):
    session = make(budget=20)

    def states():
        return [session.status(annotator=name).state for name in ("ann", "bob", None)]

    assert states() == [SessionState.ASKING] * 3
    few = make("few.db", budget=1)
    few.ask(annotator="ann")
    assert few.status(annotator="bob").state is SessionState.WAITING
    assert few.ask(annotator="bob") == []
    held = session.ask(20, annotator="ann")
    assert session.status().leased == len(held)
    session.settings.pause()
    assert states() == [SessionState.PAUSED] * 3
    session.settings.resume()
    kit.answer(session, annotator="ann")
    assert states() == [SessionState.SPENT] * 3
    done = make("b.db")
    kit.answer(done)
    assert done.status().state is SessionState.DONE
    assert len({str(state) for state in SessionState}) == len(SessionState)


def test_several_annotations_are_wanted_of_different_people(make):
    session = make(annotations=3)
    (question,) = session.ask(annotator="ann")
    assert session.ask(annotator="bob") == [question]  # three may hold it at once
    assert session.ask(annotator="cy") == [question]
    assert session.ask(annotator="dan") != [question]
    for name, value in (("ann", 0.9), ("bob", 0.2)):
        session.tell(question.id, value, annotator=name)
        assert question.id in session.runtime.open()
        assert session.ask(annotator=name) != [question]
    session.tell(question.id, 0.3, annotator="cy")
    assert question.id not in session.runtime.open()
    assert [answer.value for answer in session.result().history] == [0.9, 0.2, 0.3]
    assert session.status().answered == 1  # one question, whoever answers it


def test_nobody_answers_the_same_question_twice(make):
    session = make(annotations=2)
    (question,) = session.ask()
    session.tell(question.id, 0.5)
    with pytest.raises(KeyConflictError):
        session.tell(question.id, 0.6)
    assert session.tell(question.id, 0.5).repeated


def test_threads_of_one_process_share_a_session(make, kit):
    session = make()
    asked: dict[str, list[int]] = {}

    def work(name):
        asked[name] = [question.id for question in kit.answer(session, 10, annotator=name)]

    threads = [threading.Thread(target=work, args=(f"t{i}",)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    every = [number for numbers in asked.values() for number in numbers]
    assert len(every) == len(set(every)) == session.status().answered


def test_what_was_handed_out_may_be_answered_though_others_spent_the_budget(make, kit):
    session = make(budget=17)
    first = kit.answer(session, 6)
    held = session.ask(annotator="ann")
    assert len(held) == 1
    before = session.status().answered
    session.undo(first[0].id)
    session.tell(first[0].id, 1.0 - kit.knows(first[0]))
    kit.answer(session)
    # What somebody holds is kept for them.
    unanswered = {question.id for question in held} - {
        r.question for r in session.history.answers()
    }
    assert session.status().answered <= 17 - len(unanswered)
    assert not any(session.tell(question.id, 0.5, annotator="ann").late for question in held)
    assert before < session.status().answered <= 17


def test_an_answer_to_what_was_handed_out_is_kept_late_beyond_the_budget(make, kit, end_leases):
    session = make(budget=4)
    held = session.ask(2, annotator="ann")
    (skipped,) = session.ask(annotator="bob")
    session.skip(skipped.id, annotator="bob")
    end_leases(session)
    kit.answer(session)
    assert session.status().state is SessionState.SPENT
    session.undo(held[0].id)
    assert session.tell(held[0].id, 0.5).late is False
    for question in held:
        assert session.tell(question.id, 0.25, annotator="ann").late
    assert session.tell(skipped.id, 0.25, annotator="bob").late
    assert session.status().answered == 4
    other = make("b.db", budget=3)
    *held, beyond = other.ask(3, annotator="ann")
    end_leases(other)
    other.settings.set_budget(2)
    kit.answer(other, 1)
    other.tell(beyond.id, 0.5, annotator="bob")
    receipt = other.tell(held[1].id, 0.5, annotator="ann")
    assert receipt.late
    assert other.status().answered == 3


def test_a_clock_set_back_blocks_no_question(make):
    session = make()
    (question,) = session.ask(annotator="ann")
    with sqlite3.connect(session.url) as connection:  # as if it were given tomorrow
        connection.execute("UPDATE askmeans_leases SET until = until + 86400")
    connection.close()
    assert session.status().leased == 0
    assert session.ask(annotator="bob") == [question]
    assert session.tell(question.id, 0.5, annotator="ann").late


def test_whoever_undid_and_answers_again_takes_the_old_place(make, again, end_leases):
    session = make()
    (question,) = session.ask(annotator="ann")
    end_leases(session)
    session.ask(annotator="bob")
    session.tell(question.id, 0.75, annotator="bob")
    session.tell(question.id, 0.25, annotator="ann")
    undone = session.undo(question.id, annotator="bob")
    assert (undone.reopened, undone.value_now) == (False, 0.25)
    assert not session.tell(question.id, 0.5, annotator="bob").late
    for seen in (session, again(session)):
        told = {answer.annotator: answer.value for answer in seen.result().history}
        assert told == {"ann": 0.25, "bob": 0.5}


def test_an_answer_after_an_undo_does_not_displace_what_was_answered_meanwhile(make, end_leases):
    session = make()
    (question,) = session.ask(annotator="ann")
    session.tell(question.id, 0.75, annotator="ann")
    undone = session.undo(annotator="ann")
    assert (undone.reopened, undone.value_now) == (True, None)
    end_leases(session)
    assert session.ask(annotator="bob") == [question]
    session.tell(question.id, 0.25, annotator="bob")
    assert session.tell(question.id, 0.5, annotator="ann").late
    assert session.result().history[0].value == 0.25


def test_a_second_key_of_the_same_answer_is_used_up_by_it(make, again):
    session = make()
    (question,) = session.ask()
    first = session.tell(question.id, 0.25, key="a")
    same = session.tell(question.id, 0.25, key="b")  # a double click
    assert (same.repeated, same.event) == (True, first.event)
    assert len(session.history.answers()) == 1
    session.undo()
    for seen in (session, again(session)):
        with pytest.raises(KeyConflictError, match="one answer only"):
            seen.tell(question.id, 0.75, key="b")
        with pytest.raises(KeyConflictError, match="taken back"):
            seen.tell(question.id, 0.25, key="b")
    assert session.history.answers() == []


@pytest.mark.parametrize(("ask", "budget"), [("membership", 60), ("group", 40)])
def test_ten_annotators_always_get_a_question_while_the_budget_lasts(make, kit, ask, budget):
    team = [f"t{number}" for number in range(10)]
    session = make(budget=budget, ask=ask)
    asked, failures, gate = [], [], threading.Barrier(len(team))

    def work(name):
        gate.wait()
        while True:
            questions = session.ask(annotator=name)
            if not questions:
                break
            if name not in {one for one, _ in asked}:
                gate.wait()  # everybody holds one before anybody answers
            asked.append((name, questions[0]))
            session.tell(questions[0].id, kit.knows(questions[0]), annotator=name)
        # Nothing only where others hold or have answered all that the budget allows; an answer
        # between the two counts of a status is in neither, so that it is looked at again.
        reports = (session.status() for _ in range(10))
        if not any(report.answered + report.leased == budget for report in reports):
            failures.append(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in team]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len({question for _, question in asked}) == len(asked) == budget
    assert session.status().answered == budget
    assert {name for name, _ in asked} == set(team)


def test_everybody_holds_a_question_of_the_default_strategy_about_another_item(make):
    session = make(ask="group")
    held = [session.ask(annotator=f"t{number}") for number in range(12)]
    assert len({question.items for (question,) in held}) == 12
    few = make("b.db", X=[[0.0], [1.0], [9.0]], n_clusters=2, ask="group")
    first = [few.ask(annotator=f"t{number}") for number in range(4)]
    assert [len(questions) for questions in first] == [1, 1, 1, 0]  # with k = 2 one entry is enough
    assert few.status(annotator="t3").state is SessionState.WAITING


def test_who_comes_second_gets_the_next_question_without_choosing_anew(make, again):
    one = make(cluster_names=["a", "b", "c"])
    other = again(one)
    one.ask(annotator="cy")  # something is with somebody already
    one.learning.catch_up()
    mine = Assignment(one.runtime, one.learning)
    chosen, spare = mine.choose(1, "ann")
    assert [other.ask(annotator="bob")[0].items] == [question.items for question in chosen]
    (number,) = mine.hand_out(chosen, spare, "ann", 60.0)
    assert one.runtime.question(number) == spare[0]
    assert mine.hand_out(chosen, [], "dan", 60.0) is None


def test_nobody_holds_so_much_that_others_get_nothing(make, again):
    session = make(ask="group", cluster_names=["a", "b", "c"],
                   X=[[float(row)] for row in range(60)])  # fmt: skip
    held = session.ask(100, annotator="ann")
    assert len(held) == MAX_HELD < 60
    assert session.ask(100, annotator="ann") == held
    others = again(session).ask(100, annotator="bob")
    assert len(others) == 60 - MAX_HELD
    assert not set(held) & set(others)


@pytest.mark.parametrize("options", [{"budget": 8}, {"X": [[0.0], [1.0], [2.0], [9.0]]}])
def test_who_has_nothing_else_takes_over_the_oldest_of_who_holds_several(make, again, options):
    session = make(ask="group", cluster_names=["a", "b", "c"], **options)
    other = again(session)
    first = session.ask(2, annotator="ann")
    held = session.ask(100, annotator="ann")  # all that there is; the first are no older now
    assert held[:2] == first
    (taken,) = other.ask(annotator="bob")
    assert taken == held[-1]  # of those leased at once the one that is answered last
    assert other.ask(annotator="bob") == [taken]
    assert session.ask(100, annotator="ann") == held[:-1]
    assert session.history.questions_of("ann") == {question.id for question in held}
    assert session.status().leased == len(held)
    other.renew(annotator="ann", lease_seconds=5.0)  # now hers are older than those of bob
    other.ask(2, annotator="bob")
    (next_,) = session.ask(annotator="cy")
    assert next_ in held[:-1]
    names = [f"t{number}" for number in range(len(held))]
    got = [session.ask(annotator=name) for name in names]
    assert [] in got  # everybody has one to look at, and nobody takes that away
    mine = [each for each in session.status().holding if each.annotator == "ann"]
    assert len(mine) == 1
    late = session.tell(taken.id, 0, annotator="ann")  # nobody's answer is lost
    assert late.late
    assert late.counts
    assert not other.tell(taken.id, 0, annotator="bob").repeated
