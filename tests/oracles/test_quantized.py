"""An oracle on a scale of a few points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from askmeans.exceptions import ParameterError, QueryError, StopAsking
from askmeans.oracles import CallbackOracle, NoisyOracle, QuantizedOracle, TableOracle
from askmeans.queries import GroupQueries, MembershipQueries, RelativeQueries
from askmeans.testing import OracleContract


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


def test_cannot_say_stays_cannot_say():
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
