"""Crowds: who answers follows from the question."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from strange_oracles import hostile

from askmeans import Stratified, run
from askmeans.exceptions import AnswerError, ParameterError, StopAsking
from askmeans.oracles import (
    CrowdOracle,
    NoisyOracle,
    QuantizedOracle,
    RememberingOracle,
    TableOracle,
)
from askmeans.queries import MembershipQueries
from askmeans.queries.questions import batches_of
from askmeans.testing import OracleContract

U = np.random.default_rng(0).dirichlet(np.ones(3), size=60)
X = np.random.default_rng(1).normal(size=(60, 2))
rows = MembershipQueries(np.repeat(np.arange(60), 3), np.tile(np.arange(3), 60))


def places(crowd, queries):
    """Who answers each question, as numbers."""
    return np.array([int(name.removeprefix("annotator ")) for name in crowd.who(queries)])


class TestCrowdOracle(OracleContract):
    kinds = (*OracleContract.kinds, "relative")
    n_items = len(U)

    def make_oracle(self):
        return CrowdOracle(
            [TableOracle(U), QuantizedOracle(TableOracle(U), levels=5), TableOracle(U)]
        )


def test_every_question_goes_to_one_annotator_by_share():
    crowd = CrowdOracle([TableOracle(U)] * 3, shares=[6, 3, 1], random_state=1)
    counts = [crowd.who(rows).count(f"annotator {place}") / len(rows) for place in range(3)]
    assert_allclose(counts, [0.6, 0.3, 0.1], atol=0.1)
    assert crowd.who(rows) == crowd.who(rows)
    again = MembershipQueries(rows.items, rows.clusters, repeat=1)
    assert crowd.who(again) != crowd.who(rows)


def test_each_annotator_gives_the_answers_that_went_to_them():
    crowd = CrowdOracle([TableOracle(U), hostile(U)])
    truth, who = U[rows.items, rows.clusters], places(crowd, rows)
    assert_allclose(crowd.answer(rows), np.where(who == 1, 1.0 - truth, truth))


def test_a_history_names_who_answered_through_every_wrapper():
    crowd = CrowdOracle([TableOracle(U)] * 2)
    for oracle in (
        crowd,
        NoisyOracle(crowd, std=0.1),
        QuantizedOracle(crowd, levels=5),
        RememberingOracle(crowd),
    ):
        policy = Stratified(max_items=12).policy(
            X, 3, fuzzifier=2.0, rng=np.random.default_rng(0), ask="group"
        )
        told = run(policy, oracle, budget=12).history
        assert [answer.annotator for answer in told] == [
            name
            for queries in batches_of((answer.question for answer in told), 3)
            for name in crowd.who(queries)
        ]
        assert {answer.annotator for answer in told} == {"annotator 0", "annotator 1"}


def test_a_crowd_is_noisy_when_somebody_is():
    quiet = NoisyOracle(TableOracle(U), std=0.1)
    loud = NoisyOracle(TableOracle(U), std=0.1, clip=False)
    assert not CrowdOracle([quiet]).noisy
    assert CrowdOracle([quiet, loud]).noisy


def test_an_annotator_who_stops_stops_the_crowd_with_the_answers_so_far():
    class Tired:
        def answer(self, queries):
            raise StopAsking(np.full(len(queries), np.nan))

    with pytest.raises(StopAsking) as stop:
        CrowdOracle([TableOracle(U), Tired()]).answer(rows)
    assert 0 < np.isnan(stop.value.answers).sum() < len(rows)


class Fails:
    def __init__(self, error):
        self.error = error

    def answer(self, queries):  # noqa: ARG002 - fails whatever is asked
        raise self.error


def test_an_annotator_who_fails_does_not_take_the_others_answers_along():
    crowd = CrowdOracle([TableOracle(U), Fails(RuntimeError("lost the line"))])
    with pytest.raises(StopAsking) as stop:
        crowd.answer(rows)
    assert isinstance(stop.value.__cause__, RuntimeError)
    told = places(crowd, rows) == 0
    assert_allclose(stop.value.answers[told], U[rows.items, rows.clusters][told])
    assert (stop.value.reached == told).all()


def test_what_an_annotator_reached_is_passed_on():
    class Tired:
        def answer(self, queries):
            raise StopAsking(np.full(len(queries), np.nan), np.arange(len(queries)) < 2)

    crowd = CrowdOracle([TableOracle(U), NoisyOracle(Tired(), std=0.1)])
    with pytest.raises(StopAsking) as stop:
        crowd.answer(rows)
    hers = stop.value.reached[places(crowd, rows) == 1]
    assert hers[:2].all()
    assert not hers[2:].any()


def test_an_annotator_with_the_wrong_number_of_answers_is_refused():
    class Short:
        def answer(self, queries):  # noqa: ARG002 - says the same to everything
            return np.array([0.5])

    with pytest.raises(StopAsking) as stop:
        CrowdOracle([TableOracle(U), Short()]).answer(rows)
    assert isinstance(stop.value.__cause__, AnswerError)
    assert "Annotator 1 of CrowdOracle (Short)" in str(stop.value.__cause__)


def test_what_is_no_crowd_is_refused():
    with pytest.raises(ParameterError, match="must have at least one oracle"):
        CrowdOracle([])
    with pytest.raises(ParameterError, match="must have 1 numbers from 0 up"):
        CrowdOracle([TableOracle(U)], shares=[-1.0])
    with pytest.raises(ParameterError, match="finite"):
        CrowdOracle([TableOracle(U)] * 2, shares=[np.inf, 1.0])
