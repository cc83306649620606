"""A session's parameters: what decides which questions come, now and as it was stored before."""

import json

import pytest

from askmeans import Sequential, TwoClusters, TwoPhase
from askmeans.exceptions import ParameterError
from askmeans.sessions.config import Config
from askmeans.spec import PlanSpec


def config(**options):
    given = {
        "n_clusters": 2, "ask": "membership", "strategy": "auto", "budget": None,
        "levels": None, "annotations": 1, "fuzzifier": 2.0, "random_state": 3,
        "lease_seconds": 60.0, "cluster_names": None,
    }  # fmt: skip
    return Config.of_create(**(given | options))


def test_what_decides_the_questions_comes_back_from_what_is_stored():
    made = config(levels=5, target=0.1, annotations=(2, 3))
    assert Config.from_json(json.loads(json.dumps(made.to_json()))) == made
    assert made.to_json().keys() >= PlanSpec(n_clusters=2).to_json().keys()


@pytest.mark.parametrize(
    "strategy", [TwoPhase(), Sequential(), TwoClusters(), "two-phase", "sequential", "clever"]
)
def test_strategies_of_the_paper_are_refused(strategy):
    message = r"'strategy' parameter of sessions.create must be .* ActiveFuzzyKMeans, askmeans.run"
    with pytest.raises(ParameterError, match=message):
        config(strategy=strategy)
