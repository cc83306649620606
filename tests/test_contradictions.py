"""Answers that cannot all be true are found, and so is who gave them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from strange_oracles import hostile

from askmeans.contradictions import find_contradictions, find_suspects
from askmeans.exceptions import ParameterError
from askmeans.oracles import CrowdOracle, NoisyOracle, TableOracle
from askmeans.queries import (
    Answers,
    GroupQueries,
    MembershipQueries,
    PairQueries,
    RelativeQueries,
    TripletQueries,
)
from askmeans.queries.answers import AnswerBatch
from askmeans.queries.questions import expected_answers


def history(*batches):
    return Answers([(1, queries, np.array(answers)) for queries, answers in batches])


def named(queries, answers, annotators):
    values = np.asarray(answers, dtype=float)
    return Answers([AnswerBatch(round=1, queries=queries, values=values, annotators=annotators)])


def test_expected_answers_are_those_of_a_table():
    U = np.random.default_rng(0).dirichlet(np.ones(3), size=9)
    cases = {
        MembershipQueries([0, 8], [2, 1]): [U[0, 2], U[8, 1]],
        GroupQueries([4], 3): [U[4]],
        PairQueries([[0, 8]]): [(U[0] * U[8]).sum()],
        TripletQueries([[1, 2, 3]]): [(U[1] * U[2] * U[3]).sum()],
        RelativeQueries([[1, 2, 3], [1, 3, 2]]): [
            U[1] @ U[2] > U[1] @ U[3],
            U[1] @ U[3] > U[1] @ U[2],
        ],
    }
    for queries, told in cases.items():
        assert_allclose(expected_answers(queries, U), told)
        assert_allclose(TableOracle(U).answer(queries), told)


def test_of_two_that_are_as_like_half_is_expected():
    assert expected_answers(RelativeQueries([[0, 1, 2]]), np.eye(3)).tolist() == [0.5]


def test_who_calls_the_wrong_one_more_alike_is_suspect_and_nobody_else():
    U = np.eye(2)[[0, 0, 1]]
    said = np.where(np.arange(40) % 4 == 3, 0.0, 1.0)
    queries, names = (
        RelativeQueries([[0, 1, 2]] * 40, repeat=range(40)),
        ("ann", "bob", "cyd", "dan"),
    )
    assert find_suspects(named(queries, said, names * 10), U).annotators == ("dan",)


def test_true_answers_contradict_nothing():
    U = np.random.default_rng(0).dirichlet(np.ones(3), size=9)
    pairs = PairQueries([[0, 1], [0, 2], [1, 2]])
    rows = MembershipQueries(np.repeat(np.arange(9), 3), np.tile(np.arange(3), 9))
    table = TableOracle(U)
    batches = [(q, table.answer(q)) for q in (rows, pairs, TripletQueries([[0, 1, 2]]))]
    assert find_contradictions(history(*batches), 3) == []


def test_repeats_rows_and_triplets_that_cannot_be_true_are_listed_worst_first():
    told = history(
        (MembershipQueries([0, 0], [1, 1], repeat=[0, 1]), [0.1, 0.9]),
        (MembershipQueries([5, 5], [0, 1]), [0.9, 0.7]),
        (MembershipQueries([6, 6, 6], [0, 1, 2]), [0.2, 0.2, 0.2]),
        (PairQueries([[2, 1]]), [0.25]),
        (TripletQueries([[3, 2, 1]]), [0.35]),
    )
    found = find_contradictions(told, 3)
    assert [(one.kind, one.answers) for one in found] == [
        ("repeats", (0, 1)), ("row", (2, 3)), ("row", (4, 5, 6)), ("triplet", (8, 7))
    ]  # fmt: skip
    assert_allclose([one.excess for one in found], [0.8, 0.6, 0.4, 0.1])


def test_what_noise_explains_is_no_contradiction():
    told = history(
        (MembershipQueries([0, 0], [1, 1], repeat=[0, 1]), [0.4, 0.6]),
        (MembershipQueries([5, 5], [0, 1]), [0.6, 0.6]),
    )
    assert len(find_contradictions(told, 3)) == 2
    assert find_contradictions(told, 3, noise=0.1) == []
    with pytest.raises(ParameterError, match="'noise' parameter"):
        find_contradictions(told, 3, noise=-1.0)


def test_unknown_answers_contradict_nothing():
    told = history((MembershipQueries([0, 0, 0], [0, 1, 2]), [0.5, np.nan, 0.5]))
    assert find_contradictions(told, 3) == []
    assert not find_suspects(told, np.full((1, 3), 1 / 3)).answers[1]


@pytest.mark.parametrize("how", ["random", "flipped"])
def test_a_hostile_annotator_is_flagged_with_all_answers_and_nobody_else(how):
    U = np.random.default_rng(0).dirichlet(np.full(3, 0.5), size=150)
    table = TableOracle(U)
    for seed in range(5):
        honest = NoisyOracle(table, std=0.1, random_state=seed)
        crowd = CrowdOracle([honest] * 9 + [hostile(U, how, seed)], random_state=seed)
        queries = MembershipQueries(np.repeat(np.arange(150), 2), np.tile([0, 1], 150))
        answers, names = crowd.answer(queries), tuple(crowd.who(queries))
        suspects = find_suspects(named(queries, answers, names), U)
        assert suspects.annotators == ("annotator 9",)
        assert suspects.answers.tolist() == [name == "annotator 9" for name in names]


def test_without_names_single_answers_far_off_are_flagged():
    U = np.random.default_rng(0).dirichlet(np.ones(2), size=50)
    queries = MembershipQueries(np.arange(50), np.zeros(50, dtype=int))
    answers = U[:, 0] + 0.02 * np.random.default_rng(1).normal(size=50)
    answers[7] = answers[7] + 0.5
    found = find_suspects(history((queries, answers)), U)
    assert np.flatnonzero(found.answers).tolist() == [7]
    assert found.annotators == ()
