"""Pairs of many annotators, most of whom guess: groups and annotators are estimated together."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from askmeans import Stratified
from askmeans.queries import Answer, Answers

N, K = 60, 3


def crowd(seed, *, guessing, each=50, annotators=20):
    """Answers of annotators: the first ones guess at their own rate, the others slip."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(N) % K)
    answers = []
    for who in range(annotators):
        often = rng.random()
        for _ in range(each):
            a, b = sorted(rng.choice(N, 2, replace=False).tolist())
            right = float(y[a] == y[b])
            if who < guessing:
                value = float(rng.random() < often)
            else:
                value = 1.0 - right if rng.random() < 0.1 else right
            answers.append(Answer(round=0, kind="pair", items=(a, b), cluster=None, repeat=0,
                                  value=value, annotator=f"a{who}"))  # fmt: skip
    return y, answers


def clustering(answers, n=N):
    X = np.random.default_rng(0).normal(size=(n, 4))
    rng = np.random.default_rng(0)
    policy = Stratified().policy(X, K, fuzzifier=2.0, rng=rng, ask="similarity")
    policy.learn(Answers.of(answers, K))
    return policy.clustering()


def ari(y, result):
    return adjusted_rand_score(y, result.memberships.argmax(axis=1))


def test_annotators_who_guess_are_recognised_and_count_little():
    y, answers = crowd(0, guessing=11)
    result = clustering(answers)
    assert ari(y, result) > 0.9
    rates = result.diagnostics.similarity["annotators"]
    youden = [r["same_right"] + r["different_right"] - 1.0 for r in rates.values()]
    assert np.mean(youden[:11]) < 0.3 < 0.6 < np.mean(youden[11:])


def test_without_their_names_the_same_answers_tell_less():
    y, answers = crowd(0, guessing=11)
    named = ari(y, clustering(answers))
    one = [replace(answer, annotator="me") for answer in answers]
    assert ari(y, clustering(one)) < named - 0.1


def test_confidence_is_the_probability_where_nobody_decides():
    _, answers = crowd(0, guessing=11, each=30)
    result = clustering(answers)
    assert np.allclose(result.confidence, result.memberships.max(axis=1))


def test_groups_that_somebody_named_keep_their_numbers():
    y, answers = crowd(1, guessing=10)
    named = [
        Answer(round=0, kind="group", items=(int(i),), cluster=None, repeat=0,
               value=tuple(np.eye(K)[y[i]].tolist()), annotator="me")
        for i in range(9)
    ]  # fmt: skip
    assert (clustering([*named, *answers]).memberships.argmax(axis=1) == y).mean() > 0.9


@pytest.mark.parametrize("n_annotators", [1, 3])
def test_few_answers_without_contradictions_are_no_crowd(n_annotators):
    y = np.arange(12) % K
    pairs = [(a, b) for a in range(3) for b in range(12) if a < b]
    answers = [
        Answer(round=0, kind="pair", items=pair, cluster=None, repeat=0,
               value=float(y[pair[0]] == y[pair[1]]), annotator=f"a{place % n_annotators}")
        for place, pair in enumerate(pairs)
    ]  # fmt: skip
    result = clustering(answers, 12)
    assert ari(y, result) == 1.0
    assert "annotators" not in result.diagnostics.similarity
