"""Comparisons as evidence: few questions, whatever the answers are, and every kind together."""

import threading
import warnings

import numpy as np
import pytest
from last_bits import same_but_for_rounding
from sklearn.datasets import load_iris, load_wine
from soaking import in_soak

from askmeans import ActiveFuzzyKMeans, Stratified, run
from askmeans.exceptions import MoreClustersWarning, RankError
from askmeans.metrics import match_clusters, matched_accuracy, membership_error
from askmeans.oracles import QuantizedOracle, TableOracle
from askmeans.queries import Answers, GroupQueries, MembershipQueries, PairQueries, batches_of


def shapes(seed, n=60, k=3):
    """Items of groups that their features do not tell."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 4)), rng.permutation(np.arange(n) % k)


def policy(X, k, *, ask="similarity", seed=0, **options):
    rng = np.random.default_rng(seed)
    strategy = Stratified(max_items=None, **options)
    return strategy.policy(X, k, fuzzifier=2.0, rng=rng, ask=ask)


class Slipping:
    """Says one half now and then, by mistake, or the opposite."""

    def __init__(self, oracle, share, seed, *, turned=False):
        self.oracle, self.share, self.rng = oracle, share, np.random.default_rng(seed)
        self.turned = turned

    def answer(self, queries):
        answers = self.oracle.answer(queries).copy()
        wrong = self.rng.random(len(answers)) < self.share
        answers[wrong] = 1.0 - answers[wrong] if self.turned else 0.5
        return answers


@pytest.mark.parametrize("seed", [0, in_soak(1), in_soak(2)])
def test_pairs_that_are_the_same_or_different_sort_items_whose_features_tell_nothing(seed):
    X, y = shapes(seed)
    result = run(policy(X, 3, seed=seed), TableOracle.from_labels(y), budget=110)
    assert matched_accuracy(y, result.clustering.memberships.argmax(axis=1)) == 1.0


@pytest.mark.soak
def test_answers_in_between_by_mistake_do_not_throw_it():
    X, y = shapes(0)
    oracle = Slipping(TableOracle.from_labels(y), 0.05, 0)
    result = run(policy(X, 3, levels=5), oracle, budget=180)
    assert matched_accuracy(y, result.clustering.memberships.argmax(axis=1)) >= 0.97


def test_a_single_answer_that_nothing_bears_out_is_checked():
    y = np.arange(60) % 3
    blobs = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])[y]
    X = blobs + np.random.default_rng(1).normal(size=(60, 2))
    oracle = Slipping(TableOracle.from_labels(y), 0.1, 1, turned=True)
    result = run(policy(X, 3, seed=1, levels=5, ask="pairwise"), oracle, budget=60)
    assert matched_accuracy(y, result.clustering.memberships.argmax(axis=1)) >= 0.98


def test_one_answer_in_between_changes_nothing_in_how_it_goes_on():
    X, y = shapes(1)
    U = np.eye(3)[y]
    U[7] = [0.5, 0.5, 0.0]
    result = run(policy(X, 3), TableOracle(U), budget=115)
    assert membership_error(U, result.clustering.memberships, how="mean") < 0.01


@pytest.mark.soak
def test_few_comparisons_on_five_points_are_nearly_as_good_as_memberships():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    X = centers[np.arange(120) % 3] + rng.normal(size=(120, 2))
    distances = np.square(X[:, None] - centers).sum(axis=2)
    U = 1.0 / distances / (1.0 / distances).sum(axis=1, keepdims=True)
    oracle = QuantizedOracle(TableOracle(U), levels=5)
    errors = []
    for ask in ("membership", "similarity"):
        model = ActiveFuzzyKMeans(3, oracle=oracle, ask=ask, levels=5, budget=60, random_state=0)
        errors.append(membership_error(U, model.fit(X).memberships_, how="mean"))
    assert errors[1] < 1.5 * errors[0]


def test_exact_answers_give_exact_rows_of_all_that_were_asked_about():
    rng = np.random.default_rng(0)
    U, X = rng.dirichlet(np.ones(3), size=100), rng.normal(size=(100, 3))
    result = run(policy(X, 3), TableOracle(U), budget=120)
    F = result.clustering.memberships
    F = F[:, match_clusters(U, F)]
    asked = {item for answer in result.history for item in answer.items}
    exact = np.abs(F - U).max(axis=1) < 1e-6
    assert {answer.kind for answer in result.history} == {"pair", "triplet"}
    assert exact.sum() >= len(asked) - 1 >= 25  # of the last one the row may not be complete


def test_clusters_that_answers_cannot_tell_apart_are_an_error_with_the_result_so_far():
    rng = np.random.default_rng(0)
    U = rng.dirichlet(np.ones(2), size=14)
    halves = np.column_stack([U[:, 0], U[:, 1] / 2, U[:, 1] / 2])
    tested = policy(rng.normal(size=(14, 3)), 3)
    with pytest.raises(RankError, match=r"must tell 3 clusters apart\. Got .* rank 2") as caught:
        run(tested, TableOracle(halves))
    assert caught.value.result.clustering.memberships.shape == (14, 3)


def test_every_kind_of_answer_counts_in_any_order():
    X, y = shapes(2)
    U = np.eye(3)[y]
    oracle = TableOracle(U)
    first = [GroupQueries(np.arange(6), 3), PairQueries([[0, 10], [1, 11], [2, 12], [0, 13]]),
             MembershipQueries([20, 21], [0, 1])]  # fmt: skip
    for order in (first, first[::-1]):
        tested = policy(X, 3)
        answers = [(1, queries, oracle.answer(queries)) for queries in order]
        tested.learn(Answers(answers))
        F = tested.clustering().memberships
        assert F[:6].argmax(axis=1).tolist() == y[:6].tolist()  # named as those say who named them
        same = [
            item for anchor, item in ((0, 10), (1, 11), (2, 12), (0, 13)) if y[anchor] == y[item]
        ]
        assert F[same].argmax(axis=1).tolist() == y[same].tolist()
        more = batches_of(tested.propose(60), 3)
        answers += [(2, queries, oracle.answer(queries)) for queries in more]
        tested.learn(Answers(answers))
        assert tested.propose(1)


def test_items_unlike_all_groups_tell_of_another():
    y = np.arange(120) % 4
    X = 6.0 * np.eye(4)[y] + np.random.default_rng(0).normal(size=(120, 4))
    tested = policy(X, 3)
    with pytest.warns(MoreClustersWarning, match="a cluster may be missing"):
        result = run(tested, TableOracle.from_labels(y), budget=60)
    assert result.clustering.diagnostics.suggested_clusters == 4


@pytest.mark.soak
def test_items_unlike_all_groups_and_each_other_tell_of_several():
    y = np.arange(120) % 5
    X = 6.0 * np.eye(5)[y] + np.random.default_rng(0).normal(size=(120, 5))
    with pytest.warns(MoreClustersWarning, match="Ask for 5 clusters"):
        result = run(policy(X, 3), TableOracle.from_labels(y), budget=80)
    assert result.clustering.diagnostics.suggested_clusters == 5


def test_ten_people_hold_ten_comparisons_of_different_items():
    X, _ = shapes(3)
    tested, pending = policy(X, 3), set()
    for _ in range(10):
        (question,) = tested.propose(1, pending)
        pending.add(question)
    assert len(pending) == 10
    first = min({question.items[0] for question in pending} | {59})
    others = [set(question.items) - {first} for question in pending]
    assert len({frozenset(other) for other in others}) == 10


@pytest.mark.parametrize("ask", ["similarity", in_soak("pairwise"), in_soak("relative")])
def test_the_same_answers_give_the_same_proposals_whatever_came_in_between(ask):
    X, y = shapes(4)
    oracle = TableOracle.from_labels(y)
    result = run(policy(X, 3, ask=ask), oracle, budget=40)
    fresh, used = policy(X, 3, ask=ask), policy(X, 3, ask=ask)
    for count in (3, 31, 12, 40):
        used.learn(result.history.first(count))
        used.propose(2)
    fresh.learn(result.history)
    assert used.propose(8) == fresh.propose(8)
    same_but_for_rounding(used.clustering().memberships, fresh.clustering().memberships)


def test_who_asks_while_all_answers_are_being_learnt_waits_for_them(monkeypatch):
    U = np.random.default_rng(0).dirichlet([0.6, 0.6, 0.6], size=12)
    told = run(policy(U[:, :2], 3), TableOracle(U), budget=42).history  # every pair that is wanted
    alone, late = policy(U[:, :2], 3), policy(U[:, :2], 3)
    alone.learn(told)
    late.learn(told)
    asked = []
    other = threading.Thread(target=lambda: asked.extend(late.propose(1)))
    is_spent = type(late).is_spent

    def slowly(policy, ranking):
        if other.ident is None:
            other.start()
            other.join(0.3)  # long enough to be asked something, if that were possible by now
        return is_spent(policy, ranking)

    monkeypatch.setattr(type(late), "is_spent", slowly)
    late.propose(1)
    other.join()
    assert asked == alone.propose(1)


def test_pairs_alone_ask_no_triplets():
    rng = np.random.default_rng(0)
    U = rng.dirichlet(np.ones(3), size=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = run(policy(rng.normal(size=(60, 2)), 3, ask="pairwise"), TableOracle(U), budget=60)
    assert {answer.kind for answer in result.history} == {"pair"}


def test_a_pair_that_nobody_can_compare_is_not_asked_again():
    X, _ = shapes(5)
    tested = policy(X, 3)
    (question,) = tested.propose(1)
    tested.learn(Answers([(1, PairQueries([question.items]), np.array([np.nan]))]))
    assert question not in tested.propose(200)


# MPCKMeans, raw features: Iris .95 / .96, Wine .95 / .97 at 10 / 20 questions. Five seeds.
@pytest.mark.soak
@pytest.mark.parametrize(
    ("load", "budget", "bar"),
    [
        (load_iris, 10, 0.95),
        (load_iris, 20, 0.96),
        (load_wine, 10, 0.95),
        (load_wine, 20, 0.97),
    ],
)
def test_few_pairs_sort_raw_items_better_than_mpckmeans(load, budget, bar):
    X, y = load(return_X_y=True)
    right = []
    for seed in range(5):
        model = ActiveFuzzyKMeans(
            3, oracle=TableOracle.from_labels(y), ask="pairwise", budget=budget,
            strategy=Stratified(precision=1e-9), random_state=seed,
        ).fit(X)  # fmt: skip
        right.append(matched_accuracy(y, model.labels_))
    assert np.mean(right) >= bar


def test_which_side_people_take_sorts_items_that_features_tell_half():
    X, y = load_iris(return_X_y=True)
    model = ActiveFuzzyKMeans(
        3, oracle=TableOracle.from_labels(y), ask="relative", budget=60, random_state=0
    ).fit(X[:, ::2])
    assert matched_accuracy(y, model.labels_) > 0.9
    assert model.memberships_.max(axis=1).mean() > 0.9  # groups, not degrees


@pytest.mark.parametrize("seed", [in_soak(0), 1])  # with 1, a group has no typical item
def test_sides_and_ties_sort_items_whose_features_tell_nothing(seed):
    X, y = shapes(seed)
    result = run(policy(X, 3, seed=seed, ask="relative"), TableOracle.from_labels(y), budget=90)
    assert matched_accuracy(y, result.clustering.memberships.argmax(axis=1)) == 1.0


def test_anchors_that_nobody_tells_apart_are_replaced():
    X, y = shapes(8)  # all that features call typical are of one group
    result = run(policy(X, 3, seed=8, ask="relative"), TableOracle.from_labels(y), budget=100)
    assert matched_accuracy(y, result.clustering.memberships.argmax(axis=1)) > 0.95
