"""Arrays of other libraries give numpy's results, in their own kind; nothing but the standard."""

import array_api_strict as xp
import numpy as np
import pytest
from scipy.sparse import load_npz
from sklearn.datasets import make_blobs

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans
from askmeans.exceptions import DataError, ParameterError
from askmeans.fuzzy.engines.array_api import RowsOf, to_numpy
from askmeans.oracles import TableOracle


@pytest.fixture(scope="module", name="X")
def blobs():
    return make_blobs(400, n_features=5, centers=4, random_state=0)[0]


def fit(X, weights=None, **parameters):
    model = FuzzyKMeans(n_clusters=4, random_state=0, tol=1e-8, **parameters)
    return model.fit(X, sample_weight=weights)


@pytest.mark.parametrize("fuzzifier", [2.0, 1.7, "auto"])
def test_fits_are_those_of_numpy(X, fuzzifier):
    mine, right = fit(xp.asarray(X), fuzzifier=fuzzifier), fit(X, fuzzifier=fuzzifier)
    np.testing.assert_allclose(to_numpy(mine.cluster_centers_), right.cluster_centers_, atol=1e-6)
    np.testing.assert_allclose(to_numpy(mine.memberships_), right.memberships_, atol=1e-6)
    np.testing.assert_array_equal(to_numpy(mine.labels_), right.labels_)
    assert mine.objective_ == pytest.approx(right.objective_)


def test_results_are_arrays_of_the_same_kind_and_float_type(X):
    items = xp.asarray(X, dtype=xp.float32)
    model = fit(items)
    for found in (model.cluster_centers_, model.memberships_, model.transform(items)):
        assert type(found) is type(items)
        assert found.dtype == xp.float32
    assert model.labels_.dtype == model.predict(items).dtype == xp.int32


def test_single_precision_is_near_double(X):
    mine, right = fit(xp.asarray(X, dtype=xp.float32)), fit(X)
    np.testing.assert_allclose(to_numpy(mine.memberships_), right.memberships_, atol=1e-4)


def test_many_features_take_the_products_of_matrices():
    wide = make_blobs(200, n_features=60, centers=4, random_state=1)[0]
    mine, right = fit(xp.asarray(wide), fuzzifier=1.2), fit(wide, fuzzifier=1.2)
    np.testing.assert_allclose(to_numpy(mine.memberships_), right.memberships_, atol=1e-6)


@pytest.mark.parametrize("own", [True, False])
def test_weights_count(X, own):
    weights = np.arange(len(X)) % 3.0
    mine = fit(xp.asarray(X), xp.asarray(weights) if own else weights)
    right = fit(X, weights)
    np.testing.assert_allclose(to_numpy(mine.cluster_centers_), right.cluster_centers_, atol=1e-6)


def test_new_items_of_either_kind(X):
    model, right = fit(xp.asarray(X)), fit(X)
    for items in (X[:7], xp.asarray(X[:7])):
        np.testing.assert_allclose(
            to_numpy(model.predict_proba(items)), right.predict_proba(X[:7]), atol=1e-6
        )
        np.testing.assert_array_equal(to_numpy(model.predict(items)), right.predict(X[:7]))
        np.testing.assert_allclose(
            to_numpy(model.transform(items)), right.transform(X[:7]), atol=1e-6
        )
        assert model.score(items) == pytest.approx(right.score(X[:7]))


@pytest.mark.parametrize("init", ["k-means||", "fuzzy++", "random"])
def test_every_seeding(X, init):
    mine, right = fit(xp.asarray(X), init=init), fit(X, init=init)
    np.testing.assert_allclose(to_numpy(mine.cluster_centers_), right.cluster_centers_, atol=1e-6)


def test_starting_centers_may_live_elsewhere(X):
    mine, right = fit(xp.asarray(X), init=xp.asarray(X[:4])), fit(X, init=X[:4])
    np.testing.assert_allclose(to_numpy(mine.cluster_centers_), right.cluster_centers_, atol=1e-6)


def test_cosine_takes_directions(X):
    mine, right = fit(xp.asarray(X), metric="cosine"), fit(X, metric="cosine")
    np.testing.assert_allclose(to_numpy(mine.memberships_), right.memberships_, atol=1e-6)


def test_data_far_out_keeps_its_digits(X):
    mine, right = fit(xp.asarray(X + 2.0**30)), fit(X + 2.0**30)
    np.testing.assert_allclose(to_numpy(mine.memberships_), right.memberships_, atol=1e-4)


def test_items_on_centers_belong_to_them_alone():
    items = xp.asarray(np.eye(3).repeat(2, axis=0))
    model = FuzzyKMeans(n_clusters=3, random_state=0).fit(items)
    np.testing.assert_allclose(to_numpy(model.memberships_).max(axis=1), 1.0)


def test_numbers_that_are_none_are_refused(X):
    bad = X.copy()
    bad[3, 2] = np.nan
    with pytest.raises(DataError, match="finite"):
        fit(xp.asarray(bad))


def test_new_numbers_that_are_none_are_refused(X):
    model = fit(xp.asarray(X))
    bad = xp.asarray(np.where(np.arange(len(X))[:, None] == 3, np.inf, X))
    for call in (model.predict, model.score):
        with pytest.raises(DataError, match="finite"):
            call(bad)


@pytest.mark.parametrize(
    "weights", [np.ones(3), -np.ones(400), np.zeros(400), np.full(400, np.nan)]
)
def test_weights_of_any_library_are_checked(X, weights):
    with pytest.raises(DataError, match="sample_weight"):
        fit(xp.asarray(X), xp.asarray(weights))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_of_weight_0_are_left_out_whatever_is_in_them(X):
    weights = np.where(np.arange(len(X)) % 7 == 0, 0.0, 1.0)
    far = np.where(weights[:, None] == 0.0, 1e25, X)
    start = fit(X).cluster_centers_
    mine = fit(xp.asarray(far, dtype=xp.float32), xp.asarray(weights), init=start, max_iter=20)
    right = fit(X, weights, init=start, max_iter=20)
    np.testing.assert_allclose(to_numpy(mine.cluster_centers_), right.cluster_centers_, atol=1e-3)


def test_tight_clusters_far_apart_keep_their_memberships():
    rng = np.random.default_rng(0)
    items = (rng.integers(0, 2, (300, 1)) * 1000 + rng.normal(size=(300, 64))).astype(np.float32)
    centers = items[[0, 1, 2, 3]].astype(np.float64)
    model = FuzzyKMeans(4, init=centers, fuzzifier=1.05, max_iter=1, tol=0).fit(items)
    mine, right = model.predict_proba(xp.asarray(items)), model.predict_proba(items)
    np.testing.assert_allclose(to_numpy(mine), right, atol=1e-3)


def test_a_card_is_not_used_for_data_that_is_elsewhere(X):
    with pytest.raises(ParameterError, match="device"):
        fit(xp.asarray(X), device="cuda")


def test_what_is_no_matrix_of_numbers_is_refused():
    with pytest.raises(DataError, match="matrix of numbers"):
        fit(xp.asarray([1.0, 2.0]))
    with pytest.raises(DataError, match="matrix of numbers"):
        fit(xp.asarray([[True], [False]]))


def test_integers_are_read_as_numbers():
    items = xp.asarray([[0], [1], [9], [10]])
    found = FuzzyKMeans(n_clusters=2, random_state=0).fit(items).cluster_centers_
    assert found.dtype == xp.float64


def test_a_fitted_model_refuses_other_features(X):
    with pytest.raises(DataError, match="5 features"):
        fit(xp.asarray(X)).predict(xp.asarray(X[:, :3]))


def test_questions_about_items_that_live_elsewhere(X):
    labels = make_blobs(400, n_features=5, centers=4, random_state=0)[1]
    oracle = TableOracle.from_labels(labels)
    model = ActiveFuzzyKMeans(4, oracle=oracle, ask="group", budget=20, random_state=0)
    found = model.fit(xp.asarray(X)).memberships_
    assert type(found) is type(xp.asarray(X))
    assert (to_numpy(found).argmax(axis=1) == labels).mean() > 0.95
    assert type(model.predict_proba(xp.asarray(X[:3]))) is type(found)


def test_memberships_take_no_memory_until_they_are_looked_at(X, tmp_path, monkeypatch):
    model = fit(xp.asarray(X))
    made = []
    monkeypatch.setattr(RowsOf, "materialised", lambda self: made.append(self.shape))
    model.write_memberships(tmp_path / "top.parquet", top=1)
    assert made == []
    _ = model.memberships_
    assert made == [(400, 4)]


def test_a_model_that_is_kept_has_its_memberships_and_not_the_items(X):
    model = fit(xp.asarray(np.hstack([X, np.zeros((400, 200))])))
    state = model.__getstate__()
    assert state["memberships_"].shape == (400, 4)
    assert state["labels_"].shape == (400,)
    kept = sum(getattr(value, "size", 0) for value in state.values())
    assert kept < 400 * 20  # memberships, labels and centres, not 400 rows of 205 features


def test_a_later_fit_forgets_the_memberships_of_an_earlier_one(X):
    model = fit(xp.asarray(X))
    _ = model.memberships_
    assert model.fit(xp.asarray(X[:300])).memberships_.shape == (300, 4)
    assert model.fit(X[:200]).memberships_.shape == (200, 4)
    with pytest.raises(AttributeError, match="no attribute 'nothing_'"):
        _ = model.nothing_


def test_parts_of_a_stream_are_of_the_host(X):
    with pytest.raises(DataError, match="partial_fit must be a numpy array"):
        FuzzyKMeans(4).partial_fit(xp.asarray(X))


@pytest.mark.parametrize("spread", [5.0, 100.0])
def test_tight_clusters_far_apart_keep_their_objective_in_single_precision(spread):
    rng = np.random.default_rng(0)
    near = spread * rng.normal(size=(4, 64))
    items = (near[rng.integers(4, size=2000)] + rng.normal(size=(2000, 64))).astype(np.float32)
    right = fit(items.astype(np.float64), init=near)
    assert fit(xp.asarray(items), init=near).objective_ == pytest.approx(right.objective_, rel=1e-5)


def test_memberships_are_written_from_where_they_are(X, tmp_path):
    model = fit(xp.asarray(X))
    written = np.load(model.write_memberships(tmp_path / "all.npy"))
    np.testing.assert_array_equal(written, to_numpy(model.memberships_))
    strongest = load_npz(model.write_memberships(tmp_path / "top.npz", top=1)).toarray()
    np.testing.assert_allclose(strongest.max(axis=1), written.max(axis=1))
    assert (strongest > 0).sum() == len(X)
