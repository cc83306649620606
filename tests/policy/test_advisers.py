"""Language models beside people: weighed by how they agree with them, never taken at their word."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from askmeans import Stratified
from askmeans.exceptions import MissingClusterWarning
from askmeans.oracles import TableOracle
from askmeans.policy.advisers import Advice, audit_order
from askmeans.queries import Answers, GroupQueries, batches_of
from askmeans.queries.answers import AnswerBatch

K = 3
LABELS = np.arange(150) % K
TRUTH = np.eye(K)[LABELS]


def model_says(rows, name="model: m", items=None):
    items = np.arange(len(rows)) if items is None else items
    return Advice.of_table(name, items, np.asarray(rows, dtype=float))


def people_say(items, rows=TRUTH):
    return AnswerBatch(round=1, queries=GroupQueries(items, K), values=rows[items])


def blurred(seed=0, apart=1.0):
    """Items whose features tell little of their group."""
    rng = np.random.default_rng(seed)
    return apart * np.eye(4)[LABELS] + rng.normal(size=(len(LABELS), 4))


def policy_of(X, ask="group", audit=0.0, advice=()):
    policy = Stratified(precision=1e-9, max_items=None).policy(
        X, K, fuzzifier=2.0, rng=np.random.default_rng(0), ask=ask
    )
    policy.change_settings(audit=audit, target=None)
    policy.advice = tuple(advice)
    return policy


def result(X, *evidence):
    policy = policy_of(X, advice=[one for one in evidence if isinstance(one, Advice)])
    policy.learn(Answers([one for one in evidence if isinstance(one, AnswerBatch)]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingClusterWarning)
        return policy.clustering()


def error(clustering):
    return (clustering.memberships.argmax(axis=1) != LABELS).mean()


def confused(share=0.8, seed=1):
    """Right in so many items, else it names the next group."""
    right = np.random.default_rng(seed).random(len(LABELS)) < share
    return np.eye(K)[np.where(right, LABELS, (LABELS + 1) % K)]


ASKED = np.arange(40)


def test_people_and_a_model_that_is_often_right_are_better_than_either_alone():
    X = blurred()
    together = result(X, model_says(confused()), people_say(ASKED))
    assert error(together) < 0.8 * error(result(X, people_say(ASKED)))
    assert error(together) < 0.2
    assert together.diagnostics.annotators["model: m"]["weight"] > 0.2


def test_a_model_at_chance_ends_with_weight_near_zero_and_that_is_told():
    X = blurred()
    rows = np.eye(K)[np.random.default_rng(3).integers(0, K, len(LABELS))]
    together = result(X, model_says(rows), people_say(ASKED))
    assert together.diagnostics.annotators["model: m"]["weight"] < 0.05
    assert any("hardly more than chance" in note for note in together.diagnostics.notes)
    alone = result(X, people_say(ASKED))
    assert error(together) <= error(alone) + 0.03


@pytest.mark.parametrize("shift", [1, 2])
def test_a_model_that_always_names_another_group_does_no_harm(shift):
    X = blurred()
    rows = np.eye(K)[(LABELS + shift) % K]
    together = result(X, model_says(rows), people_say(ASKED))
    assert error(together) <= error(result(X, people_say(ASKED)))
    assert together.diagnostics.annotators["model: m"]["agreement"] == 0.0


def test_a_silent_model_changes_nothing_to_the_last_bit():
    X = blurred()
    silent = model_says(np.full((len(LABELS), K), np.nan))
    together, alone = result(X, silent, people_say(ASKED)), result(X, people_say(ASKED))
    assert_array_equal(together.memberships, alone.memberships)
    assert "model: m" not in together.diagnostics.annotators


def test_what_people_said_stands_whatever_models_say():
    wrong = model_says(np.eye(K)[(LABELS + 1) % K])
    together = result(blurred(), wrong, people_say(ASKED))
    assert_allclose(together.memberships[ASKED], np.eye(K)[LABELS[ASKED]], atol=1e-9)


def test_before_people_answer_the_result_rests_on_the_model():
    found = result(blurred(apart=0.0), model_says(confused(1.0)))
    assert error(found) < 0.03


def test_models_answers_are_neither_counted_nor_taken_for_asked():
    X, ahead = blurred(), model_says(confused())
    policy = policy_of(X, advice=[ahead])
    policy.learn(Answers([people_say(ASKED)]))
    alone = policy_of(X)
    alone.learn(Answers([people_say(ASKED)]))
    assert policy.round == alone.round
    assert not policy.settled
    proposed = [question.items[0] for question in policy.propose(200)]
    assert sorted(proposed) == list(range(len(ASKED), len(LABELS)))


def test_the_same_answers_give_the_same_questions_however_they_came():
    X, ahead = blurred(), model_says(confused())
    at_once, bit_by_bit = (policy_of(X, audit=0.2, advice=[ahead]) for _ in range(2))
    for end in (5, 11, 25, 40):
        bit_by_bit.learn(Answers([people_say(ASKED[:end])]))
        bit_by_bit.propose(1)
    at_once.learn(Answers([people_say(ASKED)]))
    assert at_once.propose(20) == bit_by_bit.propose(20)


def test_people_get_what_model_and_policy_disagree_on_first():
    X = blurred(apart=6.0)  # the features tell the groups apart
    rows = np.eye(K)[LABELS].copy()
    odd = np.array([100, 121, 140])
    rows[odd] = np.eye(K)[(LABELS[odd] + 1) % K]
    policy = policy_of(X, advice=[model_says(rows)])
    policy.learn(Answers([people_say(ASKED)]))
    assert {question.items[0] for question in policy.propose(3)} == set(odd)


ODD = np.arange(60, 150, 9)


def said_otherwise(of_odd):
    """A model that is right but for ten items, of which it says this."""
    rows = TRUTH.copy()
    rows[ODD] = of_odd[ODD]
    return rows


@pytest.mark.parametrize(("apart", "said"), [
    (1.0, [said_otherwise((TRUTH + np.roll(TRUTH, 1, axis=1)) / 2)]),  # it is unsure
    (1.0, [TRUTH, said_otherwise(np.roll(TRUTH, 1, axis=1))]),  # another model says otherwise
    (6.0, [said_otherwise(np.roll(TRUTH, 1, axis=1))]),  # what is expected is otherwise
], ids=["unsure", "models disagree", "policy disagrees"])  # fmt: skip
def test_people_get_the_cards_that_matter_most(apart, said):
    models = [model_says(rows, f"model: {n}") for n, rows in enumerate(said)]
    policy = policy_of(blurred(apart=apart), advice=models)
    policy.learn(Answers([people_say(ASKED)]))
    first = {question.items[0] for question in policy.propose(10)}
    assert len(first & set(ODD.tolist())) >= 5  # of 110 items; by chance it is 1
    policy.advice = (model_says(TRUTH),)
    first = {question.items[0] for question in policy.propose(10)}
    assert len(first & set(ODD.tolist())) <= 4  # it is for what the models say


@pytest.mark.parametrize("n", [0, 3, 6])
def test_a_model_that_nobody_knows_yet_changes_no_card(n):
    X = blurred()[LABELS < 2]  # two groups: both have names soon
    said = np.eye(2)[np.random.default_rng(3).integers(0, 2, len(X))]
    proposed = []
    for models in ((), (model_says(said),)):
        policy = Stratified(precision=1e-9, max_items=None).policy(
            X, 2, fuzzifier=2.0, rng=np.random.default_rng(0), ask="group"
        )
        rows = np.eye(2)[LABELS[LABELS < 2]]
        people = AnswerBatch(round=1, queries=GroupQueries(np.arange(n), 2), values=rows[:n])
        policy.advice = models
        policy.learn(Answers([people] if n else []))
        proposed.append(policy.propose(10))
    assert proposed[0] == proposed[1]


def test_audits_are_of_items_that_a_model_answered():
    X, some = blurred(), np.arange(60, 150, 3)
    policy = policy_of(X, audit=1.0, advice=[model_says(confused()[some], items=some)])
    policy.learn(Answers([people_say(ASKED)]))
    order = [item for item in audit_order(len(X), policy.settings.seed) if item in some]
    assert [question.items[0] for question in policy.propose(30)] == order
    assert len(policy.propose(110)) == 110  # and when these have ended, the others


def test_so_many_questions_are_random_audits_as_the_share_says():
    X, ahead = blurred(), model_says(confused())
    policy = policy_of(X, audit=0.25, advice=[ahead])
    policy.learn(Answers([people_say(ASKED)]))
    proposed = [question.items[0] for question in policy.propose(40)]
    order = [item for item in audit_order(len(X), policy.settings.seed) if item not in ASKED]
    assert set(order[:9]) <= set(proposed)
    assert not set(order[:9]) <= set(proposed[:30])
    alone = policy_of(X, audit=0.25)
    alone.learn(Answers([people_say(ASKED)]))
    without = policy_of(X)
    without.learn(Answers([people_say(ASKED)]))
    assert alone.propose(10) == without.propose(10)  # nobody to audit


def test_items_added_later_leave_the_random_order_of_the_others_as_it_is():
    before, after = audit_order(100, 7), audit_order(130, 7)
    assert [item for item in after if item < 100] == before
    assert sorted(after) == list(range(130))
    assert audit_order(100, 8) != before


def test_soft_answers_of_a_model_move_soft_memberships():
    rng = np.random.default_rng(5)
    truth = rng.dirichlet(np.ones(K), len(LABELS))
    X = rng.normal(size=(len(LABELS), 4))  # tell nothing
    said = np.clip(truth + 0.03 * rng.normal(size=truth.shape), 0.0, 1.0)
    said /= said.sum(axis=1, keepdims=True)
    together = result(X, model_says(said), people_say(ASKED, truth))
    alone = result(X, people_say(ASKED, truth))
    off = [np.abs(found.memberships - truth).mean() for found in (together, alone)]
    assert off[0] < 0.6 * off[1]


def test_two_models_with_other_confusions_are_better_than_one():
    X = blurred(apart=0.5)
    first, second = confused(0.75, seed=1), np.roll(confused(0.75, seed=2), 0, axis=1)
    one = result(X, model_says(first), people_say(ASKED))
    both = result(X, model_says(first), model_says(second, "model: n"), people_say(ASKED))
    assert error(both) < error(one)
    assert {"model: m", "model: n"} <= set(both.diagnostics.annotators)


def test_models_are_weighed_where_single_memberships_are_asked_too():
    X = blurred()
    policy = policy_of(X, ask="membership", advice=[model_says(confused())])
    oracle, said = TableOracle.from_labels(LABELS), []
    for _ in range(12):
        policy.learn(Answers(said))
        said += [
            AnswerBatch(round=1, queries=queries, values=oracle.answer(queries))
            for queries in batches_of(policy.propose(5), K)
        ]
    policy.learn(Answers(said))
    weight = policy.clustering().diagnostics.annotators["model: m"]["weight"]
    assert weight > 0.2


def test_items_beyond_the_pool_are_moved_too(monkeypatch):
    monkeypatch.setattr("askmeans.policy.pool.LARGEST", 60)
    X = blurred(apart=0.3)
    together = result(X, model_says(confused(0.95)), people_say(ASKED))
    assert error(together) < 0.15


def test_none_of_these_is_advice_too():
    rows = np.eye(K)[LABELS].copy()
    rows[5] = 0.0
    assert model_says(rows).shares[5].tolist() == [0.0, 0.0, 0.0, 1.0]


def test_a_table_is_advice_where_its_rows_are_not_silent():
    table = np.array([[0.2, 0.8], [np.nan, np.nan], [0.5, 0.0]])
    advice = Advice.of_table("forest", np.array([7, 3, 1]), table)
    assert advice.items.tolist() == [1, 7]
    assert_allclose(advice.shares, [[0.5, 0.0, 0.5], [0.2, 0.8, 0.0]])
