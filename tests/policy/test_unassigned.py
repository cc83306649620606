"""Items that belong to none of the clusters, asked about by the default strategy."""

import warnings

import numpy as np
import pytest

from askmeans import ActiveFuzzyKMeans
from askmeans.exceptions import MissingClusterWarning, MoreClustersWarning
from askmeans.oracles import CallbackOracle

CORNERS = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]])


def groups(k, n_each=15):
    """Items around k corners; the expert knows the first two of them, or three."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(k), n_each)
    return CORNERS[labels] + rng.normal(size=(len(labels), 2)), labels


def fitted(X, labels, k, **parameters):
    """A model of k clusters, told 0 of each where an item's label is no cluster."""
    expert = CallbackOracle(membership=lambda item, cluster: float(labels[item] == cluster))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingClusterWarning)
        return ActiveFuzzyKMeans(k, oracle=expert, random_state=0, **parameters).fit(X)


def told(model):
    """What was answered, by item."""
    rows: dict[int, dict[int, float]] = {}
    for answer in model.history_:
        rows.setdefault(answer.items[0], {})[answer.cluster] = answer.value
    return rows


@pytest.mark.filterwarnings("ignore::askmeans.exceptions.MoreClustersWarning")
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("levels", [None, 5])
def test_nothing_and_nothing_is_not_turned_into_certainty_at_any_stop(k, levels):
    X, labels = groups(k + 1)
    for budget in (2, 3, 5, 8, 14):
        model = fitted(X, labels, k, budget=budget, levels=levels)
        for item, row in told(model).items():
            if sum(row.values()) == 0.0 and len(row) >= k - 1:
                assert model.memberships_[item].max() < 0.99


@pytest.mark.parametrize("k", [2, 3])
def test_items_of_none_of_the_clusters_belong_to_none_and_a_cluster_is_missed(k):
    X, labels = groups(k + 1)
    with pytest.warns(MoreClustersWarning, match=f"none of the {k} clusters.*{k + 1} clusters"):
        model = fitted(X, labels, k, budget=20 * k)
    rows = told(model)
    nowhere = [item for item, row in rows.items() if labels[item] == k and len(row) == k]
    assert len(nowhere) >= 3
    assert (model.memberships_[nowhere] == 0.0).all()
    assert model.diagnostics_["unassigned"] == pytest.approx(len(nowhere) / len(rows), abs=0.1)


def test_items_that_belong_somewhere_are_no_reason_to_warn():
    X, labels = groups(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MoreClustersWarning)
        model = fitted(X, labels, 3)
    assert model.diagnostics_["unassigned"] == 0.0
    assert (model.memberships_.argmax(axis=1) == labels).all()


def test_a_last_entry_that_would_be_all_is_asked_and_one_that_would_be_little_is_not():
    X, labels = groups(3)
    rows = told(fitted(X, labels, 3))
    for row in rows.values():
        values = list(row.values())
        assert len(values) < 3 or sum(values[:2]) == 0.0
    found_last = [row for row in rows.values() if len(row) == 3]
    assert found_last, "the names alone take one such row"
    assert len(found_last) < len(rows) / 2


def test_a_row_that_somebody_cannot_finish_is_likely_and_not_known():
    X, labels = groups(2)

    def answer(item, cluster):
        return None if cluster == 1 else float(labels[item] == cluster)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingClusterWarning)
        model = ActiveFuzzyKMeans(
            2, oracle=CallbackOracle(membership=answer), budget=20, random_state=0
        ).fit(X)
    rows = {a.items[0] for a in model.history_ if a.cluster == 0 and a.value == 0.0}
    assert rows
    for item in rows:
        assert 0.5 <= model.memberships_[item, 1] < 0.99
