"""The core of exact answers: what to ask for it, and what follows."""

import numpy as np
from numpy.testing import assert_allclose

from askmeans.metrics import match_clusters
from askmeans.oracles import TableOracle
from askmeans.policy.similarity.exact import core_of, numbers, solved
from askmeans.queries import Answers, PairQueries, Question, batches_of


def answered(U, k, *, triplets=True, n=40):
    """The core after everything that it wanted was answered, and the answers."""
    oracle, told = TableOracle(U), {}
    for _ in range(20):
        core = core_of(told, list(range(n)), k, triplets=triplets, seed=0)
        if not core.wanted:
            break
        for queries in batches_of(core.wanted, k):
            told.update(zip(queries.questions(), oracle.answer(queries).tolist(), strict=True))
    return core, told


def test_exact_rows_follow_from_pairs_and_triplets_of_three_items_per_cluster():
    U = np.random.default_rng(0).dirichlet(np.ones(3), size=40)
    core, told = answered(U, 3)
    items = list(core.rows)
    F = np.array(list(core.rows.values()))
    assert_allclose(F[:, match_clusters(U[items], F)], U[items], atol=1e-8)
    assert len(core.anchors) == 3
    assert sum(question.kind == "pair" for question in told) <= 66


def test_a_row_beside_the_anchors_is_solved_and_one_beside_too_few_is_not():
    U = np.random.default_rng(1).dirichlet(np.ones(3), size=40)
    core, told = answered(U, 3)
    new = [item for item in range(40) if item not in core.rows][:2]
    beside = [(new[0], anchor) for anchor in core.anchors] + [(new[1], core.anchors[0])]
    queries = PairQueries(beside)
    told |= dict(zip(queries.questions(), TableOracle(U).answer(queries).tolist(), strict=True))
    found = solved(core, told, new)
    assert list(found) == new[:1]
    F = np.array(list(core.rows.values()))
    order = match_clusters(U[list(core.rows)], F)
    assert_allclose(found[new[0]][order], U[new[0]], atol=1e-8)


def test_answers_that_no_exact_rows_explain_are_noisy():
    rng = np.random.default_rng(0)
    core, _ = answered(rng.dirichlet(np.ones(5), size=40), 2)
    assert core.noisy
    assert not core.rows


def test_clusters_that_coincide_are_a_failure():
    U = np.random.default_rng(0).dirichlet(np.ones(2), size=40)
    core, _ = answered(np.column_stack([U[:, 0], U[:, 1] / 2, U[:, 1] / 2]), 3)
    assert "rank 2" in str(core.failure)


def test_repeats_count_by_their_mean_and_who_cannot_say_does_not_count():
    queries = PairQueries([[0, 1], [1, 0], [0, 2]], repeat=[0, 1, 0])
    told = numbers(Answers([(1, queries, np.array([0.25, 0.75, np.nan]))]))
    assert told[Question("pair", (0, 1))] == 0.5
    assert np.isnan(told[Question("pair", (0, 2))])


def test_too_few_items_have_no_core():
    assert core_of({}, [0, 1, 2], 2, triplets=True, seed=0).wanted == ()
