"""Answers from before, examples and advice in `fit`: evidence that costs no question."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from askmeans import ActiveFuzzyKMeans
from askmeans.exceptions import DataError, MissingClusterWarning, ParameterError
from askmeans.oracles import TableOracle
from askmeans.queries import Answer

K, N, D = 4, 160, 6
LABELS = np.arange(N) % K
CENTERS = 2.0 * np.eye(K, D)


def items(seed=0, apart=1.0):
    rng = np.random.default_rng(seed)
    return apart * CENTERS[LABELS] + rng.normal(size=(N, D))


def fitted(X, budget=None, **evidence):
    oracle = None if budget is None else TableOracle.from_labels(LABELS)
    model = ActiveFuzzyKMeans(K, oracle=oracle, ask="group", budget=budget, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingClusterWarning)
        return model.fit(X, **evidence)


def accuracy(model):
    return float((model.labels_ == LABELS).mean())


EXAMPLES = CENTERS, np.arange(K)


def test_without_an_oracle_examples_name_and_place_the_clusters():
    X = items()
    model = fitted(X, examples=EXAMPLES)
    assert accuracy(model) > 0.75
    assert model.n_queries_ == 0
    assert not model.complete_
    assert len(model.history_) == 0
    wrong = (model.labels_ != LABELS).sum()
    assert 0.5 * wrong < model.diagnostics_["expected_wrong"] < 4.0 * wrong


def test_examples_help_while_answers_are_few_and_are_neither_items_nor_questions():
    X = items(apart=0.7)
    plain, with_examples = fitted(X, 8), fitted(X, 8, examples=EXAMPLES)
    assert accuracy(with_examples) > accuracy(plain) + 0.05
    assert with_examples.n_queries_ == 8
    assert len(with_examples.memberships_) == N
    assert {item for answer in with_examples.history_ for item in answer.items} <= set(range(N))
    asked = [answer.items[0] for answer in with_examples.history_]
    assert_array_equal(with_examples.memberships_[asked], np.eye(K)[LABELS[asked]])


def test_misleading_examples_fade():
    shuffled = CENTERS, np.roll(np.arange(K), 1)
    assert accuracy(fitted(items(), examples=shuffled)) < 0.2
    gains = [
        accuracy(fitted(items(seed), 30, examples=shuffled)) - accuracy(fitted(items(seed), 30))
        for seed in range(3)
    ]
    assert np.mean(gains) > -0.02


def test_soft_examples_beside_few_answers():
    model = fitted(items(), 6, examples=(np.tile(CENTERS, (3, 1)), np.full((12, K), 0.25)))
    assert np.isfinite(model.memberships_).all()


def test_examples_may_be_memberships_or_labels_in_sorted_order():
    X = items()
    by_number = fitted(X, examples=EXAMPLES).memberships_
    assert_array_equal(by_number, fitted(X, examples=(CENTERS, np.eye(K))).memberships_)
    assert_array_equal(by_number, fitted(X, examples=(CENTERS, list("abcd"))).memberships_)


def test_some_clusters_may_have_no_example():
    model = fitted(items(), 12, examples=(CENTERS[:1], [0]))
    assert accuracy(model) > 0.7


def test_predictions_of_new_items_rest_on_examples_too():
    model = fitted(items(), examples=EXAMPLES)
    new = items(seed=1)
    assert (model.predict(new) == LABELS).mean() > 0.75


def test_advice_moves_items_and_a_row_of_nan_is_silent():
    X = items(apart=0.3)
    right = np.random.default_rng(1).random(N) < 0.8
    table = np.eye(K)[np.where(right, LABELS, (LABELS + 1) % K)]
    table[::5] = np.nan
    together, alone = fitted(X, 30, advice={"old": table}), fitted(X, 30)
    assert accuracy(together) > accuracy(alone) + 0.1
    assert together.diagnostics_["annotators"]["old"]["answers"] == N - N // 5
    assert together.n_queries_ == 30


def test_without_an_oracle_the_result_rests_on_advice():
    model = fitted(items(apart=0.0), advice={"old": np.eye(K)[LABELS]})
    assert accuracy(model) > 0.95


def test_examples_and_advice_may_come_together():
    X = items(apart=0.5)
    advice = {"old": np.eye(K)[LABELS]}
    both = fitted(X, examples=EXAMPLES, advice=advice)
    assert accuracy(both) > accuracy(fitted(X, examples=EXAMPLES))
    assert_allclose(both.memberships_.sum(axis=1), 1.0)


@pytest.mark.parametrize(("evidence", "message"), [
    ({"examples": CENTERS}, "must be a pair"),
    ({"examples": (CENTERS, [0, 1, 2, 9])}, "numbers of clusters from 0 to 3"),
    ({"examples": (CENTERS, np.eye(3))}, r"shape \(4, 4\)"),
    ({"examples": (CENTERS, 2.0 * np.eye(K))}, "at most 1"),
    ({"examples": (CENTERS, np.full((K, K), np.nan))}, "Got NaN"),
    ({"advice": np.eye(N, K)}, "must be a mapping"),
    ({"advice": {"old": np.eye(3)}}, r"shape \(160, 4\)"),
    ({"advice": {"old": 2.0 * np.eye(N, K)}}, "at most 1"),
])  # fmt: skip
def test_bad_evidence_is_refused(evidence, message):
    with pytest.raises(ParameterError, match=message):
        fitted(items(), 8, **evidence)


def test_examples_must_have_the_features_of_the_items():
    with pytest.raises(DataError, match="6 features"):
        fitted(items(), 8, examples=(CENTERS[:, :3], np.arange(K)))


@pytest.mark.parametrize("changed", [
    {"ask": "pairwise"}, {"strategy": "two-phase", "ask": "membership"}, {"n_clusters": "auto"},
])  # fmt: skip
def test_evidence_needs_questions_that_name_clusters_and_the_default_strategy(changed):
    model = ActiveFuzzyKMeans(K, oracle=TableOracle.from_labels(LABELS), ask="group")
    with pytest.raises(ParameterError, match="'examples' and 'advice'"):
        model.set_params(**changed).fit(items(), examples=EXAMPLES)


def pair(i, j, value, annotator="me"):
    return Answer(round=0, kind="pair", items=(i, j), cluster=None, repeat=0, value=value,
                  annotator=annotator)  # fmt: skip


def test_answers_from_before_are_learnt_from_and_not_asked_again():
    X = items()
    before = fitted(X, budget=30)
    assert_array_equal(fitted(X, answers=before.history_).memberships_, before.memberships_)
    more = fitted(X, budget=20, answers=before.history_)
    assert more.n_queries_ == 20
    assert len({answer.question for answer in more.history_}) == 50


def test_pairs_of_a_crowd_are_weighed_by_annotator_without_an_oracle():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    answers = []
    for _ in range(1500):
        i, j = rng.choice(60, 2, replace=False).tolist()
        who = int(rng.integers(6))
        same = y[i] == y[j] if who < 2 else rng.random() < 0.5  # two of six know
        answers.append(pair(i, j, float(same), f"worker {who}"))
    model = ActiveFuzzyKMeans(2, ask="pairwise", random_state=0)
    model.fit(rng.normal(size=(60, 2)), answers=answers)
    right = (model.labels_ == y).mean()
    assert max(right, 1.0 - right) > 0.9
    assert len(model.diagnostics_["similarity"]["annotators"]) == 6


def share_of_the_first_too_large(seed):
    """Of items without an answer, after 80 were compared with one of the first group."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1, 2], [120, 40, 40]))
    X = np.column_stack([1.6 * y + rng.normal(0, 0.6, 200), rng.normal(size=200)])
    first, second, third = (np.flatnonzero(y == group)[:3].tolist() for group in range(3))
    asked = [(first[0], second[0]), (first[0], third[0]), (second[0], third[0])]
    asked += [(own[0], other) for own in (second, third) for other in own[1:]]
    asked += [(first[0], item) for item in range(80) if item != first[0]]
    answers = [pair(i, j, float(y[i] == y[j])) for i, j in dict.fromkeys(asked)]
    model = ActiveFuzzyKMeans(3, ask="pairwise", random_state=0).fit(X, answers=answers)
    return model.memberships_[80:, model.labels_[first[0]]].mean() - (y[80:] == 0).mean()


def test_items_that_pairs_only_place_outside_a_group_keep_it_from_seeming_larger():
    assert abs(np.mean([share_of_the_first_too_large(seed) for seed in range(3)])) < 0.04


@pytest.mark.parametrize(
    ("answers", "parameters"),
    [
        ([pair(0, N, 1.0)], {}),
        ([pair(0, 1, 2.0)], {}),
        ([(0, 1, 1.0)], {}),
        ([pair(0, 1, 1.0)], {"strategy": "two-phase", "ask": "membership"}),
    ],
)
def test_bad_answers_are_refused(answers, parameters):
    model = ActiveFuzzyKMeans(K, **({"ask": "group"} | parameters))
    with pytest.raises(ParameterError, match="'answers' parameter"):
        model.fit(items(), answers=answers)
