"""Questions asked several times: every kind, every average, around and inside other wrappers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from last_bits import same_but_for_rounding
from numpy.testing import assert_allclose

from askmeans import TwoPhase, run
from askmeans.exceptions import ParameterError, PlanError, StopAsking
from askmeans.oracles import NoisyOracle, TableOracle
from askmeans.paper import by_similarity, repeated
from askmeans.paper.repeated import aggregate
from askmeans.queries import GroupQueries, MembershipQueries, PairQueries, TripletQueries
from askmeans.results import Clustering

nan = np.nan
U = np.random.default_rng(0).dirichlet(np.ones(3), size=40)


def listening(batches, heard):
    """A plan that asks these batches and keeps what it is told."""
    complete = True
    for queries in batches:
        try:
            heard.append((yield queries))
        except StopAsking as stop:
            heard.append(stop.answers)
            complete = False
            break
    return Clustering(centers=np.zeros((3, 1)), memberships=U, predictor=None, complete=complete)


BATCHES = (
    MembershipQueries([0, 1, 1], [0, 1, 2]),
    PairQueries([[0, 1], [3, 2]]),
    TripletQueries([[4, 5, 6]]),
)


def test_every_question_of_every_kind_is_asked_so_many_times_and_averaged():
    heard = []
    oracle = NoisyOracle(TableOracle(U), std=0.2)
    result = run(repeated(listening(BATCHES, heard), 4), oracle)
    assert result.n_queries == 4 * 6
    assert sorted({answer.repeat for answer in result.history}) == [0, 1, 2, 3]
    values = np.array([answer.value for answer in result.history])
    assert_allclose(heard[0], values[:12].reshape(4, 3).mean(axis=0))
    assert_allclose(heard[2], values[20:].mean())
    assert_allclose(heard[1], values[12:20].reshape(4, 2).mean(axis=0))
    assert result.clustering.diagnostics.repeats == 4


def test_group_answers_are_averaged_entry_by_entry():
    heard = []
    oracle = NoisyOracle(TableOracle(U), std=0.2)
    result = run(repeated(listening([GroupQueries([0, 5], 3)], heard), 4), oracle)
    values = np.array([answer.value for answer in result.history])
    assert heard[0].shape == (2, 3)
    assert_allclose(heard[0], values.reshape(4, 2, 3).mean(axis=0))


def test_after_a_stop_group_answers_are_averaged_and_the_rest_is_not_reached():
    heard = []
    plan = repeated(listening([GroupQueries([0, 5], 3)], heard), 2)
    asked = next(plan)
    answers = np.full(asked.shape, nan)
    answers[0] = U[0]
    with pytest.raises(StopIteration):
        plan.throw(StopAsking(answers))
    assert_allclose(heard[0], [U[0], [nan] * 3])


@pytest.mark.parametrize(
    ("how", "expected"),
    [("mean", 0.4), ("median", 0.2), ("median-of-means", 0.15)],
)
def test_averages(how, expected):
    each = np.array([[0.1], [0.2], [0.2], [0.5], [1.0]])
    if how == "median-of-means":  # groups of 2, 2 and 1: means .15, .35 and 1
        expected = 0.35
    assert_allclose(aggregate(each, how), [expected])


@pytest.mark.parametrize("how", ["mean", "median", "median-of-means"])
def test_unknown_answers_are_left_out_of_every_average(how):
    each = np.array([[0.5, nan, nan], [nan, nan, 0.2], [0.5, nan, 0.4]])
    assert_allclose(aggregate(each, how), [0.5, nan, 0.3])


@given(
    st.lists(st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3), min_size=1, max_size=12),
    st.sampled_from(["mean", "median", "median-of-means"]),
)
def test_an_average_lies_between_the_answers_and_one_answer_is_itself(rows, how):
    each = np.array(rows)
    averages = aggregate(each, how)
    assert (averages >= each.min(axis=0) - 1e-12).all()
    assert (averages <= each.max(axis=0) + 1e-12).all()
    assert_allclose(aggregate(each[:1], how), each[0])


def test_a_median_forgives_one_wrong_answer_of_three():
    each = np.array([[0.2, 0.2], [0.22, 0.9], [0.21, 0.22]])
    assert_allclose(aggregate(each, "median"), [0.21, 0.22])


def test_a_stop_averages_what_there_is():
    heard = []
    result = run(repeated(listening(BATCHES, heard), 3), TableOracle(U), budget=4)
    assert not result.complete
    assert_allclose(heard[0], U[[0, 1, 1], [0, 1, 2]])  # all once, before any twice


def test_a_plan_that_goes_on_after_a_stop_is_refused():
    def deaf():
        while True:
            try:
                yield MembershipQueries([0, 1], [0, 0])
            except StopAsking:
                yield MembershipQueries([2], [0])

    with pytest.raises(PlanError, match="must return when StopAsking"):
        run(repeated(deaf(), 2), TableOracle(U), budget=1)


def test_repeats_of_repeats_are_all_different_questions():
    heard = []
    plan = repeated(repeated(listening(BATCHES[:1], heard), 2), 3)
    result = run(plan, NoisyOracle(TableOracle(U), std=0.1))
    assert result.n_queries == 3 * 6
    assert len({(a.items, a.cluster, a.repeat) for a in result.history}) == 18


@pytest.mark.parametrize("outside", [True, False])
def test_it_composes_with_similarity_questions(outside):
    def plan(rng):
        return TwoPhase(sample_size=15).plan(U[:, :2], 3, fuzzifier=2.0, rng=rng)

    rng = np.random.default_rng(0)
    once = run(by_similarity(plan(rng), 40, 3, rng=rng), TableOracle(U))
    rng = np.random.default_rng(0)
    inner = plan(rng)
    if outside:
        wrapped = repeated(by_similarity(inner, 40, 3, rng=rng), 2)
    else:  # memberships that follow from the same similarities do not differ
        wrapped = by_similarity(repeated(inner, 2), 40, 3, rng=rng)
    result = run(wrapped, TableOracle(U))
    assert result.n_queries == once.n_queries * (2 if outside else 1)
    assert_allclose(result.clustering.memberships, once.clustering.memberships)


def test_exact_answers_repeated_change_nothing():
    def plan():
        return TwoPhase(sample_size=15).plan(
            U[:, :2], 3, fuzzifier=2.0, rng=np.random.default_rng(0)
        )

    once, thrice = run(plan(), TableOracle(U)), run(repeated(plan(), 3), TableOracle(U))
    same_but_for_rounding(once.clustering.memberships, thrice.clustering.memberships)
    assert thrice.n_queries == 3 * once.n_queries


def test_what_is_no_number_of_times_is_refused_before_anything_is_asked():
    for times in (0, 1.5, True):
        with pytest.raises(ParameterError, match="'times' parameter of repeated"):
            repeated(listening(BATCHES, []), times)
    with pytest.raises(ParameterError, match="'how' parameter of repeated"):
        repeated(listening(BATCHES, []), how="mode")
