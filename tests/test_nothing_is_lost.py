"""An answer that somebody gave is never thrown away, whatever happens next."""

import io

import numpy as np
import pytest

from askmeans import ActiveFuzzyKMeans, TwoPhase, oracles, run
from askmeans.exceptions import AnswerError, OracleError, ParameterError

X = np.arange(30.0)[:, None]


def plan():
    return TwoPhase(sample_size=20).plan(X, 2, fuzzifier=2.0, rng=np.random.default_rng(0))


def test_answers_before_a_bad_one_are_kept():
    calls = []

    def membership(item, _cluster):
        calls.append(item)
        return 50.0 if len(calls) == 9 else item / 30

    with pytest.raises(AnswerError, match=r"\[0, 1\].* Got 50.0") as caught:
        run(plan(), oracles.CallbackOracle(membership=membership))
    assert len(calls) == 9  # nobody is asked on in vain
    assert caught.value.result.n_queries == 8


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_answers_before_a_journal_failed_are_kept(error):
    noted = []

    def journal(_question, value):
        noted.append(value)
        if len(noted) == 5:
            raise error

    typed = io.StringIO("0.5\n" * 40)
    oracle = oracles.ConsoleOracle(X, journal=journal, stdin=typed, stdout=io.StringIO())
    if isinstance(error, KeyboardInterrupt):
        result = run(plan(), oracle)
    else:
        with pytest.raises(OracleError, match="disk full") as caught:
            run(plan(), oracle)
        result = caught.value.result
    assert result.n_queries == 5  # the fifth, too: it had been given
    assert not result.complete


def test_cannot_say_before_a_stop_is_an_answer():
    typed = io.StringIO("0.2\n?\n?\n0.1\nq\n")
    result = run(plan(), oracles.ConsoleOracle(X, stdin=typed, stdout=io.StringIO()))
    values = [answer.value for answer in result.history]
    np.testing.assert_array_equal(values, [0.2, np.nan, np.nan, 0.1])


def test_what_is_no_plan_is_refused_before_anybody_is_asked():
    message = r"'plan' parameter of run .* policy\(\) of a strategy"
    with pytest.raises(ParameterError, match=message):
        run(TwoPhase(), oracles.CallbackOracle())


def test_an_expert_who_knows_other_clusters_is_refused():
    expert = oracles.TableOracle.from_labels(np.arange(30) % 3)
    with pytest.raises(ParameterError, match=r"'oracle' parameter .* 2 clusters. .* \(30, 3\)"):
        ActiveFuzzyKMeans(2, oracle=expert).fit(X)


def test_a_strategys_class_is_not_a_strategy():
    expert = oracles.TableOracle.from_labels(np.arange(30) % 2)
    with pytest.raises(ParameterError, match="'strategy' parameter"):
        ActiveFuzzyKMeans(2, oracle=expert, strategy=TwoPhase).fit(X)
