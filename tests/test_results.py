"""What comes out: memberships of any items, by the learnt links."""

import dataclasses
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from askmeans import Stratified, TwoPhase, run
from askmeans.exceptions import AskmeansWarning
from askmeans.fuzzy import closed_form_memberships
from askmeans.fuzzy.scores import Link, Scorer
from askmeans.oracles import NoisyOracle, TableOracle
from askmeans.paper import by_similarity
from askmeans.queries import Answers
from askmeans.results import Clustering, Diagnostics, Predictor, Result

CENTERS = np.array([[0.0], [10.0]])
IDENTITY = Link(knots=np.empty(0), values=np.empty(0))


def predictor(*links, order="relative"):
    return Predictor(scorer=Scorer(centers=CENTERS, order=order), links=links)


def test_without_answers_the_closed_form_predicts():
    X = np.array([[-3.0], [0.0], [4.0], [25.0]])
    expected = closed_form_memberships(X, CENTERS, 2.0)
    assert_allclose(predictor(IDENTITY, IDENTITY)(X), expected, atol=1e-12)


def test_results_are_shown_in_a_line_however_large_they_are():
    clustering = Clustering(centers=np.zeros((3, 2)), memberships=np.full((5000, 3), 1 / 3),
                            predictor=None, complete=True)  # fmt: skip
    result = Result(clustering=replace(clustering, complete=False), n_queries=62, n_queries_raw=80,
                    n_rounds=7, history=Answers())  # fmt: skip
    assert repr(clustering) == "Clustering(5000 items, 3 clusters, complete)"
    expected = "Result(5000 items, 3 clusters, 62 questions in 7 rounds, not complete)"
    assert repr(result) == expected
    assert repr(predictor(IDENTITY, IDENTITY)) == "Predictor(2 clusters, order='relative')"


def test_every_cluster_goes_through_its_own_link_and_rows_sum_to_one():
    always = Link(knots=np.array([0.0]), values=np.array([0.9]))
    never = Link(knots=np.array([0.0]), values=np.array([0.3]))
    assert_allclose(predictor(always, never)(np.array([[7.0]])), [[0.8, 0.2]])


def test_distances_go_through_links_too():
    near = Link(knots=np.array([-10.0, 0.0]), values=np.array([0.0, 1.0]))
    assert_allclose(predictor(near, near, order="distance")(np.array([[2.0]])), [[0.8, 0.2]])


@pytest.mark.parametrize("record", [Predictor, Clustering, Diagnostics, Result])
def test_records_are_frozen(record):
    assert record.__dataclass_params__.frozen
    assert all(field.kw_only for field in dataclasses.fields(record))


# ---- diagnostics ------------------------------------------------------------------------------


def test_diagnostics_are_a_dict_at_the_boundary_without_what_does_not_apply():
    account = Diagnostics(beta=0.5, noise=0.0, notes=("look",), queries_raw={"strata": 3})
    assert account.to_dict() == {
        "beta": 0.5, "noise": 0.0, "notes": ["look"], "queries_raw": {"strata": 3},
    }  # fmt: skip
    assert Diagnostics().to_dict() == {"notes": []}
    with pytest.raises(dataclasses.FrozenInstanceError):
        account.beta = 1.0


@pytest.mark.parametrize("strategy", [TwoPhase(sample_size=20), Stratified(max_items=10)])
@pytest.mark.parametrize("similar", [False, True])
def test_what_was_warned_of_is_noted_in_the_result(strategy, similar):
    rng = np.random.default_rng(0)
    X, U = rng.normal(size=(40, 2)), np.zeros((40, 3))
    U[:, 0] = rng.random(40)
    U[:, 1] = 1.0 - U[:, 0]
    plan = strategy.plan(X, 3, fuzzifier=2.0, rng=rng)
    if similar:
        oracle = NoisyOracle(TableOracle(U), std=0.2, random_state=0)
        plan = by_similarity(plan, 40, 3, rng=rng, noisy=True, route="pairwise")
    else:
        oracle = TableOracle(U)
    with pytest.warns(AskmeansWarning) as caught:
        found = run(plan, oracle).clustering
    said = {str(one.message) for one in caught if issubclass(one.category, AskmeansWarning)}
    assert said <= set(found.diagnostics.notes)
    assert said


def test_a_notebook_shows_the_size_of_every_cluster_and_what_was_asked():
    X = np.array([[0.0], [1.0], [9.0]])
    result = run(Stratified().policy(X, 2, fuzzifier=2.0, rng=np.random.default_rng(0)),
                 TableOracle.from_labels([0, 0, 1]))  # fmt: skip
    shown = result._repr_html_()
    assert f"questions {result.n_queries}," in shown
    assert "<td>0</td><td>0.67</td><td>2</td>" in shown
    assert "items 3" in result.clustering._repr_html_()
