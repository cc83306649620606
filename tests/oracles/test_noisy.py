"""Oracles whose answers are off: the errors' distribution and causes, and the points of a scale."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from askmeans.exceptions import ParameterError, QueryError, StopAsking
from askmeans.oracles import CallbackOracle, NoisyOracle, QuantizedOracle, TableOracle
from askmeans.queries import (
    GroupQueries,
    MembershipQueries,
    PairQueries,
    RelativeQueries,
    TripletQueries,
)
from askmeans.testing import OracleContract

N = 40_000  # questions that statistics are taken over


class TestNoisyOracle(OracleContract):
    kinds = (*OracleContract.kinds, "relative")

    def make_oracle(self):
        return NoisyOracle(TableOracle(np.eye(self.n_clusters)[np.arange(self.n_items) % 3]), std=1)


class TestUnclippedNoisyOracle(OracleContract):
    kinds = (*OracleContract.kinds, "relative")

    def make_oracle(self):
        return NoisyOracle(
            TableOracle.from_labels(np.arange(self.n_items) % 3),
            std=1.0,
            clip=False,
        )


def errors(queries=None, std=0.1, **options):
    """The errors of answers that should all be 0.5."""
    queries = (
        MembershipQueries(np.arange(N), np.zeros(N, dtype=int)) if queries is None else queries
    )
    half = CallbackOracle(membership=lambda *_: 0.5, pair=lambda *_: 0.5, triplet=lambda *_: 0.5)
    return NoisyOracle(half, std=std, clip=False, **options).answer(queries) - 0.5


@pytest.mark.parametrize("std", [0.01, 0.1, 2.0])
def test_errors_have_mean_zero_and_the_standard_deviation_asked_for(std):
    found = errors(std=std)
    # 4 standard errors each; that of the deviation is at most that of a normal law
    assert abs(found.mean()) < 4 * std / np.sqrt(N)
    assert abs(found.std() - std) < 4 * std / np.sqrt(2 * N)


def test_errors_follow_a_normal_distribution():
    normal, uniform = stats.norm(0.0, 0.1), stats.uniform(-np.sqrt(0.03), 2 * np.sqrt(0.03))
    assert stats.kstest(errors(), normal.cdf).pvalue > 0.01
    assert stats.kstest(errors(), uniform.cdf).pvalue < 1e-9  # the test separates them


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (MembershipQueries(np.arange(N), [0] * N), MembershipQueries(np.arange(1, N + 1), [0] * N)),
        (MembershipQueries(np.arange(N), [0] * N), MembershipQueries(np.arange(N), [1] * N)),
        (MembershipQueries(np.arange(N), [0] * N), MembershipQueries([0] * N, np.arange(N))),
        (
            MembershipQueries(np.arange(N), [0] * N),
            MembershipQueries(np.arange(N), [0] * N, repeat=1),
        ),
        (
            MembershipQueries(np.arange(N), [N + 9] * N),
            PairQueries(np.column_stack([np.arange(N), [N + 9] * N])),
        ),
    ],
    ids=["next item", "next cluster", "swapped", "repeat", "kind"],
)
def test_errors_of_different_questions_have_nothing_to_do_with_each_other(one, other):
    correlation = np.corrcoef(errors(one), errors(other))[0, 1]
    assert abs(correlation) < 4 / np.sqrt(N)


def test_no_two_questions_share_their_error():
    items, clusters = np.divmod(np.arange(N), 8)
    assert len(np.unique(errors(MembershipQueries(items, clusters)))) == N


@pytest.mark.parametrize("seeds", [(0, 1), (1, 2), (0, 2**63 - 1), (5, 2**63 + 4)])
def test_another_seed_gives_other_errors_and_the_same_seed_the_same(seeds):
    first, second = (errors(random_state=seed) for seed in seeds)
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / np.sqrt(N)
    assert_array_equal(errors(random_state=seeds[0]), first)


@given(st.permutations(range(8)), st.integers(0, 8))
def test_errors_do_not_depend_on_the_order_of_asking(order, cut):
    queries = PairQueries([[i, i + 1] for i in range(8)], repeat=[0, 1] * 4)
    oracle = NoisyOracle(TableOracle(np.full((9, 2), 0.5)), std=0.1)
    together = oracle.answer(queries)
    order = np.array(order)
    parts = [oracle.answer(queries.take(part)) for part in (order[cut:], order[:cut])]
    assert_array_equal(np.concatenate(parts), together[np.r_[order[cut:], order[:cut]]])


def test_similarity_has_the_same_error_in_any_order_of_its_items():
    assert len(set(errors(PairQueries([[3, 8], [8, 3]])))) == 1
    assert len(set(errors(TripletQueries([[1, 2, 3], [3, 1, 2], [2, 1, 3]])))) == 1


def test_each_repeat_has_its_own_error():
    queries = MembershipQueries([4] * 5 + [5], [1] * 6, repeat=[0, 1, 2, 3, 4, 0])
    assert len(set(errors(queries))) == 6


def test_clipped_answers_stay_in_range_and_unclipped_ones_say_that_they_may_not():
    queries = MembershipQueries(np.arange(1000) % 2, [0] * 1000, repeat=np.arange(1000))
    expert = TableOracle([[1.0, 0.0], [0.0, 1.0]])
    clipped, free = NoisyOracle(expert, std=0.2), NoisyOracle(expert, std=0.2, clip=False)
    assert (clipped.noisy, free.noisy) == (False, True)
    assert free.answer(queries).min() < -0.1
    assert free.answer(queries).max() > 1.1
    assert_array_equal(clipped.answer(queries), np.clip(free.answer(queries), 0.0, 1.0))


def test_no_noise_leaves_answers_as_they_are():
    expert, queries = TableOracle([[0.25, 0.75], [1.0, 0.0]]), MembershipQueries([0, 1], [1, 1])
    assert NoisyOracle(expert, std=0.0).answer(queries).tolist() == [0.75, 0.0]


def test_cannot_say_stays_cannot_say():
    oracle = NoisyOracle(CallbackOracle(membership=lambda item, _: None if item else 0.5), std=0.1)
    assert np.isnan(oracle.answer(MembershipQueries([1, 0], [0, 0]))).tolist() == [True, False]


def test_answers_before_a_stop_carry_their_errors_and_the_reason():
    def tires(item, _cluster):
        return 0.5 if item < 2 else 1 / 0

    queries = MembershipQueries([0, 1, 2], [0, 0, 0])
    with pytest.raises(StopAsking) as stop:
        NoisyOracle(CallbackOracle(membership=tires), std=0.1).answer(queries)
    assert_array_equal(stop.value.answers, [*(errors(queries)[:2] + 0.5), np.nan])
    assert isinstance(stop.value.__cause__, ZeroDivisionError)


def test_a_noisy_oracle_refuses_what_its_oracle_refuses():
    with pytest.raises(QueryError, match="clusters 0 to 1"):
        NoisyOracle(TableOracle([[0.5, 0.5]]), std=0.1).answer(MembershipQueries([0], [2]))


@pytest.mark.parametrize(
    "wrong",
    [{"std": -0.1}, {"std": np.nan}, {"std": "0.1"},
     {"std": 0.1, "random_state": -1}, {"std": 0.1, "random_state": None},
     {"std": 0.1, "random_state": 0.5}],
    ids=str,
)  # fmt: skip
def test_parameters_that_break_their_rule_are_refused_by_name(wrong):
    name = list(wrong)[-1]
    with pytest.raises(ParameterError, match=f"'{name}' parameter of NoisyOracle must"):
        NoisyOracle(TableOracle([[1.0]]), **wrong)


def test_an_entry_of_a_row_has_the_error_of_a_question_about_it_alone():
    U = np.full((5, 3), 1 / 3)
    oracle = NoisyOracle(TableOracle(U), std=0.05)
    together = oracle.answer(GroupQueries([4, 2], 3, repeat=1))
    for place, item in enumerate((4, 2)):
        alone = oracle.answer(MembershipQueries([item] * 3, range(3), repeat=1))
        assert_array_equal(together[place], alone)


def test_noise_turns_some_relative_answers_round_and_leaves_nothing_in_between():
    labels = np.arange(300) % 2
    three = np.column_stack([np.arange(2, 302) % 300, np.full(300, 0), np.full(300, 1)])
    queries = RelativeQueries(three[(three[:, 0] > 1)])
    exact = TableOracle.from_labels(labels)
    for clip in (True, False):
        answers = NoisyOracle(exact, std=0.5, clip=clip).answer(queries)
        assert set(answers.tolist()) == {0.0, 0.5, 1.0}
        assert 0.02 < (np.abs(answers - exact.answer(queries)) == 1.0).mean() < 0.2


class TestQuantizedOracle(OracleContract):
    kinds = (*OracleContract.kinds, "relative")

    def make_oracle(self):
        U = np.random.default_rng(0).dirichlet(np.ones(self.n_clusters), size=self.n_items)
        return QuantizedOracle(TableOracle(U), levels=5)


def rounded(values, levels):
    """What somebody with so many levels answers who means these values."""
    values = np.asarray(values, dtype=float)
    exact = CallbackOracle(membership=lambda item, _: values[item])
    queries = MembershipQueries(np.arange(len(values)), np.zeros(len(values), dtype=int))
    return QuantizedOracle(exact, levels=levels).answer(queries)


@pytest.mark.parametrize(
    ("levels", "values", "expected"),
    [
        (2, [0.0, 0.499, 0.5, 0.501, 1.0], [0, 0, 1, 1, 1]),
        (5, [0.12, 0.125, 0.375, 0.625, 0.87, 0.875], [0, 0.25, 0.5, 0.75, 0.75, 1]),
        (11, [0.049, 0.05, 0.15, 0.25, 0.35, 0.45], [0, 0.1, 0.2, 0.3, 0.4, 0.5]),
        (11, [0.55, 0.65, 0.75, 0.85, 0.95, 0.949], [0.6, 0.7, 0.8, 0.9, 1, 0.9]),
    ],
)
def test_answers_go_to_the_nearest_point_and_half_steps_up(levels, values, expected):
    assert_allclose(rounded(values, levels), expected, rtol=1e-15)


@pytest.mark.parametrize("levels", [2, 3, 4, 5, 7, 11, 101])
def test_points_of_the_scale_stay_and_every_half_step_goes_up(levels):
    points = np.linspace(0.0, 1.0, levels)
    assert_array_equal(rounded(points, levels), np.arange(levels) / (levels - 1))
    halves = (points[1:] + points[:-1]) / 2
    assert_allclose(rounded(halves, levels), points[1:])


@given(st.floats(0.0, 1.0), st.integers(2, 50))
def test_an_answer_is_on_the_scale_and_at_most_half_a_step_off(value, levels):
    answer = rounded([value], levels)[0]
    steps = levels - 1
    assert answer * steps == pytest.approx(round(answer * steps), abs=1e-9)
    assert abs(answer - value) <= 0.5 / steps + 1e-9
    assert 0.0 <= answer <= 1.0


def test_cannot_say_is_on_every_scale():
    assert_array_equal(rounded([np.nan, 0.6], 2), [np.nan, 1.0])


def test_answers_that_noise_put_outside_end_on_the_scale():
    noisy = NoisyOracle(TableOracle([[1.0, 0.0]]), std=3.0, clip=False)
    oracle = QuantizedOracle(noisy, levels=3)
    answers = oracle.answer(MembershipQueries([0] * 99, [0] * 99, repeat=np.arange(99)))
    assert set(answers) == {0.0, 0.5, 1.0}
    assert not getattr(oracle, "noisy", False)


def test_answers_before_a_stop_are_on_the_scale_and_the_reason_is_kept():
    def tires(item, _cluster):
        return 0.3 if item < 1 else 1 / 0

    oracle = QuantizedOracle(CallbackOracle(membership=tires), levels=5)
    with pytest.raises(StopAsking) as stop:
        oracle.answer(MembershipQueries([0, 1], [0, 0]))
    assert_array_equal(stop.value.answers, [0.25, np.nan])
    assert isinstance(stop.value.__cause__, ZeroDivisionError)


def test_a_rough_oracle_refuses_what_its_oracle_refuses():
    with pytest.raises(QueryError, match="clusters 0 to 1"):
        QuantizedOracle(TableOracle([[0.5, 0.5]]), levels=5).answer(MembershipQueries([0], [2]))


@pytest.mark.parametrize("levels", [1, 0, -3, 2.0, None, "5", True])
def test_fewer_than_two_levels_are_refused(levels):
    with pytest.raises(ParameterError, match=r"'levels' .*QuantizedOracle must be an int .*\[2, "):
        QuantizedOracle(TableOracle([[1.0]]), levels=levels)


def test_rows_are_rounded_entry_by_entry():
    oracle = QuantizedOracle(TableOracle([[0.6, 0.3, 0.1]]), levels=5)
    assert oracle.answer(GroupQueries([0], 3)).tolist() == [[0.5, 0.25, 0.0]]


def test_a_tie_between_two_stays_a_tie_on_any_scale():
    oracle = QuantizedOracle(TableOracle(np.full((3, 2), 0.5)), levels=2)
    assert oracle.answer(RelativeQueries([[0, 1, 2]])).tolist() == [0.5]
