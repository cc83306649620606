"""ActiveFuzzyKMeans asking about similarities: as good as memberships, exact or on a scale."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.preprocessing import StandardScaler
from soaking import in_soak

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans
from askmeans.exceptions import RankError
from askmeans.metrics import membership_error
from askmeans.oracles import QuantizedOracle, TableOracle

LOADERS = {"iris": (load_iris, 3), "wine": (load_wine, 3), "breast cancer": (load_breast_cancer, 2)}


@pytest.fixture(scope="module")
def data():
    """Standardised data and the memberships that fuzzy k-means finds in it."""
    found = {}
    for name, (load, k) in LOADERS.items():
        X = StandardScaler().fit_transform(load().data)
        U = FuzzyKMeans(k, n_init=5, tol=1e-8, random_state=0).fit(X).memberships_
        found[name] = X, U
    return found


def fitted(X, U, *, oracle=None, seed=0, **parameters):
    oracle = oracle or TableOracle(U)
    model = ActiveFuzzyKMeans(U.shape[1], oracle=oracle, random_state=seed, **parameters)
    return model.fit(X)


def mean_error(X, U, **parameters):
    """The mean membership error, on average over 8 seeds."""
    return np.mean(
        [
            membership_error(U, fitted(X, U, seed=seed, **parameters).memberships_, how="mean")
            for seed in range(8)
        ]
    )


@pytest.mark.parametrize("name", [in_soak("iris"), in_soak("wine"), in_soak("breast cancer")])
def test_similarities_find_what_memberships_find(data, name):
    X, U = data[name]
    by_memberships = mean_error(X, U)
    assert mean_error(X, U, ask="similarity") < by_memberships + 0.02


@pytest.mark.filterwarnings(
    "ignore::askmeans.exceptions.LittleInformationWarning"
)  # Wine: so it is
@pytest.mark.soak
@pytest.mark.parametrize("name", LOADERS)
def test_a_five_point_scale_of_similarities_loses_little(data, name):
    X, U = data[name]
    rough = QuantizedOracle(TableOracle(U), levels=5)
    by_memberships = mean_error(X, U)
    assert mean_error(X, U, ask="similarity", levels=5, oracle=rough) < by_memberships + 0.06


@pytest.mark.parametrize("name", ["iris", in_soak("wine"), in_soak("breast cancer")])
def test_only_pairs_and_triplets_are_asked_and_the_diagnostics_count_them(data, name):
    model = fitted(*data[name], ask="similarity")
    kinds = [answer.kind for answer in model.history_]
    seen = model.diagnostics_["similarity"]
    assert "membership" not in kinds
    assert kinds.count("triplet") == seen["triplets"] == (0 if name == "breast cancer" else 20)
    assert kinds.count("pair") == seen["bootstrap_pairs"] + seen["row_pairs"]
    assert len(kinds) == model.n_queries_
    assert seen["suggested_clusters"] == LOADERS[name][1]


def test_pairwise_asks_pairs_only(data):
    model = fitted(*data["iris"], ask="pairwise")
    assert {answer.kind for answer in model.history_} == {"pair"}
    assert "ambiguity" in model.diagnostics_["similarity"]


@pytest.mark.filterwarnings("ignore::askmeans.exceptions.MissingClusterWarning")
@pytest.mark.parametrize("budget", [56, *map(in_soak, (57, 80, 150, 400))])
@pytest.mark.parametrize("levels", [None, in_soak(101)])
def test_a_budget_is_a_ceiling(data, budget, levels):
    model = fitted(*data["iris"], ask="similarity", budget=budget, levels=levels)
    assert model.n_queries_ <= budget
    assert_allclose(model.memberships_.sum(axis=1), 1.0)


@pytest.mark.parametrize("levels", [None, 5])
def test_a_small_budget_gives_a_result_and_loses_no_answer(data, levels):
    model = fitted(*data["iris"], ask="similarity", budget=25, levels=levels)
    assert model.n_queries_ == len(model.history_) == 25
    assert_allclose(model.memberships_.sum(axis=1), 1.0)


@pytest.mark.parametrize("seed", [0, in_soak(1)])
def test_clusters_that_coincide_are_refused(data, seed):
    X, U = (array[::12] for array in data["iris"])
    split = np.column_stack([U[:, :2], U[:, 2] / 2, U[:, 2] / 2])
    with pytest.raises(RankError, match="ask for 3 clusters"):
        fitted(X, split, ask="similarity", seed=seed)


def test_one_cluster_needs_no_similarity(data):
    X, _ = data["iris"]
    model = fitted(X, np.ones((len(X), 1)), ask="similarity")
    assert model.n_queries_ == 0
    assert (model.memberships_ == 1.0).all()
