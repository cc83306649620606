"""A plan as a policy: rounds, medians, going on, starting anew, failing, stopping."""

import math

import numpy as np
import pytest
from last_bits import same_but_for_rounding

from askmeans import TwoPhase, oracles, run
from askmeans.exceptions import PlanError, RankError, StopAsking
from askmeans.policy.adapter import PlanPolicy
from askmeans.queries import Answer, Answers, MembershipQueries, Question, batches_of
from askmeans.results import Clustering

RNG = np.random.default_rng(0)
U = RNG.dirichlet([0.6, 0.6, 0.6], size=40)
X = U[:, :2] + 0.01 * RNG.normal(size=(40, 2))
EXPERT = oracles.TableOracle(U)
STRATEGY = TwoPhase(sample_size=6)

pytestmark = pytest.mark.filterwarnings("ignore::askmeans.exceptions.MissingClusterWarning")


def make_plan():
    return STRATEGY.plan(X, 3, fuzzifier=2.0, rng=np.random.default_rng(0))


def said(question, annotator="me", value=None):
    """An answer of the expert, or of somebody else."""
    if value is None:
        (batch,) = batches_of([question], 3)
        value = float(EXPERT.answer(batch)[0])
    return Answer(
        round=0, kind=question.kind, items=question.items, cluster=question.cluster,
        repeat=question.repeat, value=value, annotator=annotator,
    )  # fmt: skip


def answered(policy, records=(), count=10**6):
    """Answer what is proposed, one by one; all records."""
    records = list(records)
    while len(records) < count:
        policy.learn(Answers.of(records))
        proposed = policy.propose(1)
        if not proposed:
            break
        records.append(said(proposed[0]))
    policy.learn(Answers.of(records))
    return records


@pytest.fixture
def policy():
    return PlanPolicy(make_plan, 3)


def test_it_asks_and_finds_exactly_what_a_run_of_the_plan_does(policy):
    expected = run(make_plan(), EXPERT)
    records = answered(policy)
    assert [r.question for r in records] == [r.question for r in expected.history]
    assert policy.settled
    assert policy.stopped == "precision"
    found = policy.result()
    assert list(found.history) == list(expected.history)
    assert (found.complete, found.n_queries, found.n_queries_raw, found.n_rounds) == (
        expected.complete, expected.n_queries, expected.n_queries_raw, expected.n_rounds,
    )  # fmt: skip
    same_but_for_rounding(policy.clustering().memberships, expected.clustering.memberships)


def test_run_drives_it_as_it_drives_the_plan(policy):
    expected = run(make_plan(), EXPERT)
    found = run(policy, EXPERT)
    assert [r.question for r in found.history] == [r.question for r in expected.history]
    same_but_for_rounding(found.clustering.memberships, expected.clustering.memberships)


def test_nothing_is_proposed_while_the_rest_of_a_round_is_pending(policy):
    first = policy.propose(100)
    assert len(first) == policy.batch_size > 1
    assert policy.propose(1, pending=set(first[:1])) == first[1:2]
    assert policy.propose(1, pending=set(first)) == []
    policy.learn(Answers.of(said(question) for question in first[1:]))
    assert policy.propose(100) == first[:1]
    assert policy.round == 1


def test_it_goes_on_with_the_same_plan_while_what_it_was_told_holds(policy, monkeypatch):
    made = []
    original = policy._make_plan
    monkeypatch.setattr(policy, "_make_plan", lambda: made.append(1) or original())
    records = answered(policy)
    assert made == []
    policy.learn(Answers.of(records[:-1]))  # of a round that was sent: anew
    assert made == [1]
    assert policy.propose(5) == [records[-1].question]


def test_what_is_undone_and_said_again_leads_to_the_same_questions(policy):
    records = answered(policy)
    fresh = PlanPolicy(make_plan, 3)
    fresh.learn(Answers.of([*records[1:], records[0]]))
    assert fresh.settled
    same_but_for_rounding(fresh.clustering().memberships, policy.clustering().memberships)


def test_questions_of_later_rounds_followed_from_an_answer(policy):
    first = policy.propose(100)
    records = answered(policy, count=len(first) + 4)
    later = policy.later_than(first[0])
    assert {r.question for r in records[len(first) :]} <= set(later)
    assert not set(first) & set(later)
    assert policy.later_than(records[-1].question) == []  # its round is open
    assert policy.later_than(Question("pair", (0, 1))) == []


@pytest.mark.parametrize("step", [1, 3, 8])
def test_a_question_counts_with_the_median_of_those_who_could_say(policy, step):
    first = policy.propose(100)
    values = {"a": 0.9, "b": math.nan, "c": 0.3, "d": 0.2}
    records = [said(first[0], name, value) for name, value in values.items()]
    records += [said(first[1], name, math.nan) for name in values]
    for end in range(step, len(records) + step, step):
        policy.learn(Answers.of(records[:end]))
    told = {answer.question: answer.value for answer in policy.result().history}
    assert told[first[0]] == 0.3
    assert math.isnan(told[first[1]])


def test_there_is_a_result_at_any_time(policy):
    empty = policy.result()
    assert (empty.complete, empty.n_queries, empty.n_rounds) == (False, 0, 0)
    records = answered(policy, count=8)
    part = policy.result()
    assert part.n_queries == 8
    assert not part.complete
    assert policy.clustering().memberships.shape == (40, 3)
    assert answered(policy, records)[:8] == records  # and the plan goes on


def failing(error):
    """A plan that fails after its first round if that was answered so; it can be stopped before."""

    def plan():
        try:
            answers = yield MembershipQueries([0, 1], [0, 0])
        except StopAsking:
            return Clustering(
                centers=X[:3], memberships=U, predictor=lambda rows: rows, complete=True
            )
        if answers[0] < 0.5:
            raise error
        return (yield from make_plan())

    return plan


def test_a_plan_that_cannot_go_on_says_so_until_an_answer_is_another():
    policy = PlanPolicy(failing(RankError("no three clusters")), 3)
    first, second = policy.propose(2)
    low, high = said(first, value=0.0), said(first, value=1.0)
    policy.learn(Answers.of([low, said(second, value=0.0)]))
    with pytest.raises(RankError, match="no three clusters"):
        policy.propose(1)
    assert isinstance(policy.failure, RankError)
    assert not policy.settled
    assert (policy.result().n_queries, policy.result().complete) == (2, False)  # stopped before
    policy.learn(Answers.of([high, said(second, value=0.0)]))
    assert policy.failure is None
    assert policy.propose(1)


def test_a_fault_of_the_plan_is_a_plan_error():
    policy = PlanPolicy(failing(ZeroDivisionError("0")), 3)
    policy.learn(Answers.of([said(question, value=0.0) for question in policy.propose(2)]))
    with pytest.raises(PlanError, match=r"failed in round 2 \(ZeroDivisionError"):
        policy.propose(1)


def test_an_interrupt_within_a_step_does_not_end_the_plan(policy):
    first = policy.propose(100)
    table = Answers.of(said(question) for question in first)
    original = policy._make_plan

    def interrupted():
        plan = original()
        yield next(plan)
        raise KeyboardInterrupt

    policy = PlanPolicy(interrupted, 3)
    with pytest.raises(KeyboardInterrupt):
        policy.learn(table)
    policy._make_plan = original
    assert policy.round == 2
    assert policy.propose(1)


def test_answers_to_other_questions_change_nothing(policy):
    first = policy.propose(100)
    other = Question("membership", (39,), 2)
    policy.learn(Answers.of([said(other), said(Question("pair", (1, 2)), value=0.5)]))
    assert [q for q in policy.propose(100) if q != other] == [q for q in first if q != other]
