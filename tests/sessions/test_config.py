"""A session's parameters: what decides which questions come, now and as it was stored before."""

import pytest

from askmeans import TwoPhase
from askmeans.exceptions import SessionError, StoredSettingWarning
from askmeans.sessions.config import Config
from askmeans.spec import PlanSpec


def config(**options):
    given = {
        "n_clusters": 2, "ask": "membership", "strategy": TwoPhase(sample_size=9), "budget": None,
        "levels": None, "annotations": 1, "fuzzifier": 2.0, "random_state": 3,
        "lease_seconds": 60.0, "cluster_names": None,
    }  # fmt: skip
    return Config.checked(**(given | options))


def test_what_decides_the_questions_comes_back_from_what_is_stored():
    stored = Config.from_json(config(strategy="auto", levels=5).to_json())
    assert stored.spec() == PlanSpec.checked("me", n_clusters=2, levels=5, seed=3)


def test_levels_of_a_session_with_a_paper_strategy_only_say_which_answers_there_are():
    coarse = config(levels=5)
    assert coarse.levels == 5
    assert coarse.spec() == config().spec()


def test_noise_of_a_paper_strategy_in_an_old_database_is_dropped_with_a_note():
    values = config().to_json()
    values["strategy"] |= {"noise": "auto", "levels": 5}
    with pytest.warns(StoredSettingWarning, match="assumes? exact answers"):
        assert Config.from_json(values).spec() == config().spec()


def test_a_strategy_of_another_version_is_refused():
    values = config().to_json()
    values["strategy"] = {"kind": "Clever"}
    with pytest.raises(SessionError, match="install the version"):
        Config.from_json(values).spec()
