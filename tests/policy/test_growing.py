"""A number of clusters that grows by evidence, and what is asked again when it does."""

import math

import numpy as np
import pytest

from askmeans import ActiveFuzzyKMeans, oracles, run
from askmeans.exceptions import ParameterError
from askmeans.oracles import CallbackOracle, TableOracle
from askmeans.policy.growing import filled, renumbered, to_ask_again, without_replaced
from askmeans.queries import Answer, Ledger, Question
from askmeans.spec import PlanSpec

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::askmeans.exceptions.{name}")
    for name in ("MoreClustersWarning", "MissingClusterWarning")
]
LABELS = np.repeat(np.arange(5), 16)
CORNERS = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0], [20.0, 20.0]])
X = CORNERS[LABELS] + np.random.default_rng(0).normal(size=(80, 2))


def grown(truth, oracle=None, **options):
    """A fit that finds out how many groups there are; of so many."""
    rows = truth > LABELS
    oracle = oracle or TableOracle.from_labels(LABELS[rows])
    model = ActiveFuzzyKMeans(
        "auto", oracle=oracle, ask="group", random_state=0, **{"budget": 70, **options}
    )
    return model.fit(X[rows]), LABELS[rows]


def answer(value, repeat=0, item=7):
    return Answer(round=0, kind="group", items=(item,), cluster=None, repeat=repeat, value=value)


def test_a_row_has_nothing_or_says_nothing_of_later_groups():
    assert filled((0.5, 0.5), 3) == (0.5, 0.5, 0.0)
    assert math.isnan(filled((0.5, 0.25), 3)[2])
    assert filled((0.0, 1.0), 2) == (0.0, 1.0)


def test_only_what_is_in_no_group_is_asked_again_and_its_answer_takes_the_place():
    nan = math.nan
    old, new = answer((0.0, 0.0, nan)), answer((0.0, 0.0, 1.0), repeat=1)
    others = [answer((1.0, 0.0, 0.0), item=1), answer((0.75, 0.0, nan), item=2),
              answer((nan, nan, nan), item=3), answer((0.0, 0.0, 0.0), item=4)]  # fmt: skip
    assert to_ask_again([old, *others]) == [Question("group", (7,), None, 1)]
    assert without_replaced([old, *others]) == [old, *others]
    assert without_replaced([old, *others, new]) == [*others, new]
    assert to_ask_again([new]) == []
    assert renumbered([*others, new])[-1].question == Question("group", (7,), None, 0)
    unsure = answer((nan, nan, nan), repeat=1)
    assert without_replaced([old, unsure]) == [old, unsure]
    assert to_ask_again([old, unsure]) == []  # somebody who cannot say is not asked for ever


@pytest.mark.parametrize("truth", [2, 3, 5])
def test_as_many_groups_are_found_as_there_are(truth):
    model, labels = grown(truth)
    assert model.n_clusters_ == truth == model.memberships_.shape[1]
    assert model.cluster_centers_.shape == (truth, 2)
    assert (model.labels_ == labels).mean() > 0.95
    again = [a for a in model.history_ if a.repeat]
    assert bool(again) == (truth > 2)
    before = {a.items for a in model.history_ if sum(a.value) == 0.0}
    assert {a.items for a in again} <= before  # nothing else is asked again
    assert {len(a.value) for a in model.history_} == set(range(2, truth + 1))


def test_a_function_may_know_how_many_there_are():
    labels = LABELS[LABELS < 3]

    class Expert:  # asks a function, which names only groups that there are
        def answer(self, queries):
            k = queries.n_clusters
            function = CallbackOracle(group=lambda i: int(labels[i]) if labels[i] < k else ())
            return function.answer(queries)

    model = ActiveFuzzyKMeans("auto", oracle=Expert(), ask="group", budget=50, random_state=0)
    assert model.fit(X[LABELS < 3]).n_clusters_ == 3


def test_a_stopped_run_goes_on_from_its_ledger_as_if_never_stopped():
    def policy():
        return PlanSpec.checked("me", n_clusters=2, ask="group").make_growing(X, 5)

    oracle = oracles.TableOracle.from_labels(LABELS)
    whole, ledger = run(policy(), oracle, budget=40), Ledger()
    for budget in (7, 11, 22):
        last = run(policy(), oracle, budget=budget, ledger=ledger)
    assert [a.question for a in last.history] == [a.question for a in whole.history]
    np.testing.assert_array_equal(last.clustering.memberships, whole.clustering.memberships)


def test_two_groups_are_the_least():
    model, _ = grown(2, budget=1)
    assert model.n_clusters_ == 2


@pytest.mark.parametrize(
    "options", [{"ask": "membership"}, {"oracle": None, "ask": "group"}, {"ask": "similarity"}]
)
def test_the_number_follows_from_answers_about_groups_only(options):
    given = {"oracle": TableOracle.from_labels(LABELS)} | options
    with pytest.raises(ParameterError, match=r"'n_clusters' parameter .* Got \"auto\""):
        ActiveFuzzyKMeans("auto", **given).fit(X)
