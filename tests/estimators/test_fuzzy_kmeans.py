"""FuzzyKMeans: what it finds, what it accepts, and what it refuses."""

import os
import pickle
import subprocess
import sys
import textwrap

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans, metrics
from askmeans.exceptions import CollapseWarning, DataError, DataTypeError, ParameterError
from askmeans.fuzzy import closed_form_memberships, objective, weighted_centers


@pytest.fixture(scope="module")
def iris():
    return load_iris().data


@pytest.fixture
def frame():
    return load_iris(as_frame=True).data


# --- What it finds ---


@pytest.mark.parametrize(
    ("load", "k", "accuracy"),
    [(load_iris, 3, 0.8933), (load_wine, 3, 0.6854), (load_breast_cancer, 2, 0.8541)],
)
def test_matched_accuracy_on_raw_data_is_the_known_one(load, k, accuracy):
    data = load()  # paper note N2
    model = FuzzyKMeans(k, n_init=5, random_state=0).fit(data.data)
    assert metrics.matched_accuracy(data.target, model.labels_) == pytest.approx(accuracy, abs=5e-5)


def test_attributes_agree_with_each_other_and_with_the_model(iris):
    model = FuzzyKMeans(3, fuzzifier=1.6, tol=1e-9, random_state=0).fit(iris)
    U = closed_form_memberships(iris, model.cluster_centers_, 1.6)
    assert_allclose(model.memberships_, U, atol=1e-12)
    assert_allclose(weighted_centers(iris, U, 1.6), model.cluster_centers_, atol=1e-7)
    assert_allclose(model.objective_, objective(iris, model.cluster_centers_, U, 1.6))
    assert (model.labels_ == U.argmax(axis=1)).all()
    assert len(model.objective_history_) == model.n_iter_ + 1
    assert model.objective_history_[-1] == model.objective_
    assert model.fuzzifier_ == 1.6


def test_methods_on_the_training_items_return_what_fit_found(iris):
    model = FuzzyKMeans(3, random_state=0).fit(iris)
    assert (model.predict(iris) == model.labels_).all()
    assert (model.predict_proba(iris) == model.memberships_).all()
    assert (FuzzyKMeans(3, random_state=0).fit_predict(iris) == model.labels_).all()
    assert model.score(iris) == pytest.approx(-model.objective_)
    distances = np.linalg.norm(iris[:, None] - model.cluster_centers_, axis=2)
    assert_allclose(model.transform(iris), distances, rtol=1e-12)


def test_score_counts_weights(iris):
    model = FuzzyKMeans(3, random_state=0).fit(iris)
    weights = np.zeros(150)
    weights[7] = 3.0
    assert model.score(iris, sample_weight=weights) == pytest.approx(3 * model.score(iris[7:8]))


def test_the_same_seed_gives_the_same_fit(iris):
    fits = [FuzzyKMeans(4, init="random", random_state=3).fit(iris) for _ in range(2)]
    assert (fits[0].cluster_centers_ == fits[1].cluster_centers_).all()
    other = FuzzyKMeans(4, init="random", random_state=4).fit(iris)
    assert not (fits[0].cluster_centers_ == other.cluster_centers_).all()


@pytest.mark.parametrize("state", [np.random.default_rng(0), np.random.RandomState(0), None, 7])
def test_every_kind_of_random_state_is_taken(iris, state):
    assert FuzzyKMeans(3, random_state=state).fit(iris).memberships_.shape == (150, 3)


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), scale=st.sampled_from([1e-5, 0.3, 1e4]))
def test_permuting_items_permutes_and_scaling_data_scales(seed, scale):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2)) + 5.0 * rng.integers(0, 3, size=(60, 1))
    order = rng.permutation(60)
    plain = FuzzyKMeans(3, random_state=0).fit(X)
    permuted = FuzzyKMeans(3, random_state=0).fit(X[order])
    scaled = FuzzyKMeans(3, random_state=0).fit(X * scale)
    assert_allclose(permuted.memberships_, plain.memberships_[order], atol=1e-9)
    assert_allclose(scaled.cluster_centers_, plain.cluster_centers_ * scale, rtol=1e-9)
    assert_allclose(scaled.memberships_, plain.memberships_, atol=1e-9)


def test_a_weight_is_a_number_of_copies(iris):
    counts = np.random.default_rng(0).integers(0, 3, size=150)
    weighted = FuzzyKMeans(3, random_state=0).fit(iris, sample_weight=counts)
    repeated = FuzzyKMeans(3, random_state=0).fit(np.repeat(iris, counts, axis=0))
    assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=1e-9)


def test_one_weight_for_all_changes_nothing(iris):
    plain = FuzzyKMeans(3, random_state=0).fit(iris)
    weighted = FuzzyKMeans(3, random_state=0).fit(iris, sample_weight=2.5)
    assert_allclose(weighted.cluster_centers_, plain.cluster_centers_, rtol=1e-9)
    assert weighted.objective_ == pytest.approx(2.5 * plain.objective_)


def test_a_warm_start_begins_at_the_centers_given(iris):
    first = FuzzyKMeans(3, random_state=0, tol=1e-10).fit(iris)
    again = FuzzyKMeans(3, init=first.cluster_centers_[[2, 0, 1]]).fit(iris)
    assert again.n_iter_ == 1
    assert_allclose(again.cluster_centers_, first.cluster_centers_[[2, 0, 1]], atol=1e-6)


def test_one_cluster_holds_everything_and_its_center_is_the_mean(iris):
    model = FuzzyKMeans(1).fit(iris)
    assert (model.memberships_ == 1.0).all()
    assert_allclose(model.cluster_centers_[0], iris.mean(axis=0))


def test_as_many_clusters_as_items_puts_a_center_on_each():
    X = np.array([[0.0], [1.0], [5.0]])
    model = FuzzyKMeans(3, random_state=0).fit(X)
    assert_allclose(np.sort(model.cluster_centers_, axis=0), X, atol=1e-9)
    assert_allclose(model.memberships_.max(axis=1), 1.0)


# --- Collapse ---


def planted(d, seed=0, k=5, n=1000):
    """Clusters that lie well apart: centres ~ N(0, 1.5^2 I), items ~ N(centre, I)."""
    rng = np.random.default_rng(seed)
    truth = 1.5 * rng.normal(size=(k, d))
    y = np.arange(n) % k
    return truth[y] + rng.normal(size=(n, d)), y, truth


@pytest.mark.parametrize("d", [16, 32])
def test_a_collapse_is_told_with_its_remedy(d):
    X, y, truth = planted(d, k=8)
    with pytest.warns(CollapseWarning, match=r'smaller fuzzifier .*fuzzifier="auto"'):
        model = FuzzyKMeans(8, init=truth).fit(X)
    assert adjusted_rand_score(y, model.labels_) < 0.6
    remedy = FuzzyKMeans(8, fuzzifier=1.3, init=truth).fit(X)  # and no warning, which would fail
    assert adjusted_rand_score(y, remedy.labels_) > 0.97


@pytest.mark.parametrize("d", [16, 32, 64, 256])
@pytest.mark.parametrize("k", [3, 5, 8])
def test_auto_fuzzifier_recovers_the_structure(d, k):
    # 5 seeds each, 5 starts: the true labels are found to an ARI of .97 every time.
    for seed in range(5):
        X, y, _ = planted(d, seed, k)
        model = FuzzyKMeans(k, fuzzifier="auto", n_init=5, random_state=seed).fit(X)
        assert adjusted_rand_score(y, model.labels_) > 0.97
        assert 1.05 <= model.fuzzifier_ <= 2.0


def test_auto_fuzzifier_does_not_take_clusters_on_their_way_to_merge():
    # Three groups along one of 100 features: at 2 they merge, but slower than max_iter allows.
    for seed in (0, 1, 4):
        rng = np.random.default_rng(seed)
        y = np.arange(900) % 3
        X = rng.normal(size=(900, 100))
        X[:, 0] += 8 * y
        model = FuzzyKMeans(3, fuzzifier="auto", n_init=5, random_state=0).fit(X)
        assert adjusted_rand_score(y, model.labels_) > 0.95


def test_auto_fuzzifier_is_the_usual_two_where_that_is_safe(iris):
    assert FuzzyKMeans(3, fuzzifier="auto", random_state=0).fit(iris).fuzzifier_ == 2.0


def test_auto_fuzzifier_separates_clusters_within_clusters():
    # The bound looks at the whole data and sees a line; the three clusters at either end merge at
    # fuzzifier 2, so only trying tells.
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(6, 24)) + np.repeat([[-30.0], [30.0]], 3, axis=0)
    y = np.arange(900) % 6
    X = truth[y] + rng.normal(size=(900, 24))
    model = FuzzyKMeans(6, fuzzifier="auto", n_init=10, random_state=0).fit(X)
    assert model.fuzzifier_ < 1.9
    assert adjusted_rand_score(y, model.labels_) > 0.95


def test_fewer_distinct_items_than_clusters_is_told():
    with pytest.warns(CollapseWarning, match="fewer clusters than 3"):
        model = FuzzyKMeans(3, random_state=0).fit([[0.0], [0.0], [4.0], [4.0]])
    assert_allclose(model.memberships_.sum(axis=1), 1.0)


def test_ending_early_is_told(iris):
    with pytest.warns(ConvergenceWarning, match="max_iter=1 iterations"):
        FuzzyKMeans(3, max_iter=1, random_state=0).fit(iris)


# --- What it accepts ---


def test_tables_of_every_kind_give_the_same_fit_and_keep_their_names(frame):
    expected = FuzzyKMeans(3, random_state=0).fit(frame.to_numpy())
    table = pa.Table.from_pandas(frame)
    for X in (frame, pl.from_pandas(frame), table, frame.to_numpy().tolist()):
        model = FuzzyKMeans(3, random_state=0).fit(X)
        assert_allclose(model.memberships_, expected.memberships_, rtol=1e-12)
        assert_allclose(model.predict_proba(X), expected.memberships_, rtol=1e-12)
        if not isinstance(X, list):
            assert model.feature_names_in_.tolist() == frame.columns.tolist()


def test_names_in_another_order_are_refused(frame):
    model = FuzzyKMeans(3, random_state=0).fit(frame)
    with pytest.raises(DataError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]])


def test_a_transformed_frame_is_a_frame_when_asked_for(frame):
    model = FuzzyKMeans(3, random_state=0).set_output(transform="pandas").fit(frame)
    distances = model.transform(frame)
    assert isinstance(distances, pd.DataFrame)
    assert distances.columns.tolist() == ["fuzzykmeans0", "fuzzykmeans1", "fuzzykmeans2"]


def test_memory_maps_are_read_in_place(tmp_path, iris):
    path = tmp_path / "items.npy"
    np.save(path, iris)
    mapped = np.load(path, mmap_mode="r")
    model = FuzzyKMeans(3, random_state=0).fit(mapped)
    assert_allclose(model.memberships_, FuzzyKMeans(3, random_state=0).fit(iris).memberships_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_float_type_is_kept(iris, dtype):
    model = FuzzyKMeans(3, random_state=0).fit(iris.astype(dtype))
    assert model.cluster_centers_.dtype == dtype
    assert model.memberships_.dtype == dtype
    assert model.predict_proba(iris.astype(dtype)).dtype == dtype
    assert model.transform(iris.astype(dtype)).dtype == dtype
    exact = FuzzyKMeans(3, random_state=0).fit(iris)
    assert_allclose(model.memberships_, exact.memberships_, atol=1e-5)


def test_the_float_type_of_tables_is_kept(frame):
    single = frame.astype(np.float32)
    for X in (
        single,
        single.astype("Float32"),
        pl.from_pandas(single),
        pa.Table.from_pandas(single),
    ):
        model = FuzzyKMeans(3, random_state=0).fit(X)
        assert model.cluster_centers_.dtype == np.float32
        assert model.predict_proba(X).dtype == np.float32


def test_large_fuzzifiers_leave_the_seeds():
    X = load_iris().data
    model = FuzzyKMeans(3, fuzzifier=10.0, n_init=3, random_state=0).fit(X)
    assert model.n_iter_ > 2
    nearest = np.linalg.norm(X[:, None] - model.cluster_centers_, axis=2).min(axis=0)
    assert (nearest > 1e-6).all()  # no centre sits on an item


def test_small_integer_types_are_numbers_of_clusters(iris):
    assert FuzzyKMeans(np.uint8(3), random_state=0).fit(iris).memberships_.shape == (150, 3)


def test_integers_become_floats():
    model = FuzzyKMeans(2, random_state=0).fit(np.array([[0], [1], [8], [9]]))
    assert model.cluster_centers_.dtype == np.float64


def test_the_callers_arrays_are_left_alone(iris):
    X, weights, init = iris.copy(), np.ones(150), iris[:3].copy()
    FuzzyKMeans(3, init=init).fit(X, sample_weight=weights)
    assert (iris == X).all()
    assert (weights == 1).all()
    assert (init == iris[:3]).all()


def test_it_works_in_pipelines_and_grid_searches(iris):
    pipeline = make_pipeline(StandardScaler(), FuzzyKMeans(random_state=0))
    search = GridSearchCV(pipeline, {"fuzzykmeans__n_clusters": [2, 3, 5]}, cv=3).fit(iris)
    assert search.best_params_ == {"fuzzykmeans__n_clusters": 5}  # the objective falls with k


def test_copies_by_clone_pickle_and_joblib_fit_and_predict_alike(tmp_path, iris):
    model = FuzzyKMeans(3, fuzzifier=1.5, random_state=0).fit(iris)
    assert_allclose(clone(model).fit(iris).memberships_, model.memberships_)
    assert (pickle.loads(pickle.dumps(model)).predict_proba(iris) == model.memberships_).all()
    joblib.dump(model, tmp_path / "model")
    assert (joblib.load(tmp_path / "model").predict(iris) == model.labels_).all()


def test_fits_run_in_joblib_processes(iris):
    fits = joblib.Parallel(n_jobs=2)(
        joblib.delayed(FuzzyKMeans(3, random_state=seed).fit)(iris) for seed in range(4)
    )
    assert fits[2].objective_ == FuzzyKMeans(3, random_state=2).fit(iris).objective_


def test_four_threads_fit_at_once_without_harm():
    # In a process of its own: numba's workqueue layer, were it used, would abort the process.
    code = """
        import threading
        import numpy as np
        from askmeans import FuzzyKMeans

        X = np.random.default_rng(0).normal(size=(50_000, 8))
        expected = FuzzyKMeans(4, fuzzifier=1.2, max_iter=5, tol=0.0, random_state=0).fit(X)
        failures = []

        def work():
            for _ in range(5):
                model = FuzzyKMeans(4, fuzzifier=1.2, max_iter=5, tol=0.0, random_state=0).fit(X)
                if not (model.cluster_centers_ == expected.cluster_centers_).all():
                    failures.append(model)

        threads = [threading.Thread(target=work) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        print(len(failures), "failures")
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_THREADING_LAYER": "workqueue"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0 failures\n"


# --- What it refuses ---


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"n_clusters": 0},
            r"'n_clusters' parameter of FuzzyKMeans must be an int .*\[1, inf\). Got 0",
        ),
        ({"n_clusters": 2.0}, r"'n_clusters' parameter .* must be an int .* Got 2.0 instead"),
        ({"n_clusters": True}, "Got True instead"),
        ({"n_clusters": 151}, "must be at most n_samples=150. Got 151 instead; ask for fewer"),
        ({"fuzzifier": 1.0}, r"'fuzzifier' parameter of FuzzyKMeans .*\(1, inf\). Got 1.0 instead"),
        ({"fuzzifier": 0.5}, "Got 0.5 instead"),
        ({"fuzzifier": np.nan}, "Got nan instead"),
        ({"fuzzifier": np.inf}, "Got inf instead"),
        ({"fuzzifier": "soft"}, "Got 'soft' instead"),
        ({"fuzzifier": None}, "Got None instead"),
        (
            {"init": "kmeans"},
            r"'init' parameter .* among \{'k-means\+\+', 'fuzzy\+\+', 'random', 'k-means\|\|'\}",
        ),
        ({"init": [[1.0] * 4] * 2}, r"\(n_clusters, n_features\) = \(3, 4\) .* Got shape \(2, 4\)"),
        ({"init": [[np.nan] * 4] * 3}, "'init' parameter .* must be finite"),
        ({"init": [["a"] * 4] * 3}, "'init' parameter .* or an array of numbers"),
        ({"n_init": 0}, "'n_init' parameter .* Got 0 instead"),
        ({"max_iter": 0}, "'max_iter' parameter .* Got 0 instead"),
        ({"max_iter": -1}, "'max_iter' parameter .* Got -1 instead"),
        ({"tol": -1e-9}, "'tol' parameter .* must be a float .* Got -1e-09 instead"),
        ({"tol": "small"}, "'tol' parameter .* Got 'small' instead"),
        (
            {"algorithm": "elkan"},
            r"'algorithm' parameter .* among \{'auto', 'lloyd'\}. Got 'elkan'",
        ),
    ],
)
def test_a_parameter_that_breaks_its_rule_is_named(iris, parameters, message):
    with pytest.raises(ParameterError, match=message):
        FuzzyKMeans(**{"n_clusters": 3, **parameters}).fit(iris)


@pytest.mark.parametrize("state", [1.5, "seed"])
def test_a_seed_that_is_none_is_refused(iris, state):
    with pytest.raises(ParameterError, match=r"'random_state' parameter .* must be an int"):
        FuzzyKMeans(3, random_state=state).fit(iris)


def test_a_negative_seed_is_refused(iris):
    with pytest.raises(ParameterError, match=r"'random_state' parameter .* Got -1 instead"):
        FuzzyKMeans(3, random_state=-1).fit(iris)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[np.nan, 1.0], [1.0, 2.0]], "Input X contains NaN"),
        ([[np.inf, 1.0], [1.0, 2.0]], "Input X contains infinity"),
        (np.empty((0, 2)), "0 sample"),
        (np.empty((3, 0)), "0 feature"),
        ([["a", "b"], ["c", "d"]], "could not convert string to float"),
        ([1.0, 2.0, 3.0], "Expected 2D array, got 1D array instead"),
        (np.zeros((2, 2, 2)), "dim 3"),
        ([[1.0, 2.0], [3.0]], "inhomogeneous"),
        (np.array([[1.0 + 2.0j], [3.0]]), "Complex data not supported"),
        ([[1.0 + 2.0j], [3.0]], "not 'complex'"),
        ([[{"width": 1.0}], [3.0]], "not 'dict'"),
        ([[10**400], [1]], "too large to convert to float"),
        ([[1.7e308], [1.6e308]], "X must have a mean that a float64 can hold"),
    ],
)
def test_data_that_cannot_be_used_is_refused(X, message):
    with pytest.raises(DataError, match=message):
        FuzzyKMeans(2).fit(X)


def test_sparse_data_is_refused_not_silently_made_dense():
    with pytest.raises(DataTypeError, match=r"dense data is required.*toarray"):
        FuzzyKMeans(2).fit(sp.csr_array([[0.0, 1.0], [1.0, 0.0]]))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0] * 149 + [-0.5], "must not be negative. Got -0.5 instead"),
        ([1.0] * 149 + [np.nan], "must be finite"),
        ([0.0] * 150, "above 0 for some row"),
        ([1.0] * 149, r"must have shape \(150,\).* Got shape \(149,\) instead"),
        (np.ones((150, 1)), r"Got shape \(150, 1\) instead"),
        (["heavy"] * 150, "one number per row"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(iris, weights, message):
    with pytest.raises(DataError, match=message):
        FuzzyKMeans(3).fit(iris, sample_weight=weights)


def test_new_items_need_the_features_of_the_old(iris):
    model = FuzzyKMeans(3, random_state=0).fit(iris)
    with pytest.raises(DataError, match="3 features, but FuzzyKMeans is expecting 4"):
        model.predict_proba(iris[:, :3])
    with pytest.raises(DataError, match="NaN"):
        model.predict([[np.nan] * 4])


@pytest.mark.parametrize("method", ["predict", "predict_proba", "transform", "score"])
def test_asking_before_fitting_is_refused(iris, method):
    with pytest.raises(NotFittedError):
        getattr(FuzzyKMeans(3), method)(iris)


def test_a_refused_fit_leaves_the_last_one_as_it_was(iris):
    model = FuzzyKMeans(3, random_state=0).fit(iris)
    before = model.memberships_.copy()
    with pytest.raises(DataError):
        model.fit(np.full((5, 4), np.nan))
    with pytest.raises(DataError):
        model.fit(iris[:, :2], sample_weight=[-1.0] * 150)
    assert (model.memberships_ == before).all()
    assert (model.predict_proba(iris) == before).all()


def test_names_are_forgotten_when_the_next_data_has_none(frame):
    model = FuzzyKMeans(3, random_state=0).fit(frame)
    assert not hasattr(model.fit(frame.to_numpy()), "feature_names_in_")


def test_several_starts_from_one_array_are_told_to_be_one(iris):
    with pytest.warns(RuntimeWarning, match="n_init=1 is used"):
        FuzzyKMeans(3, init=iris[[0, 60, 120]], n_init=4).fit(iris)


@pytest.mark.parametrize("make", [lambda frame: frame, pl.from_pandas, pa.Table.from_pandas])
@pytest.mark.parametrize("model", [FuzzyKMeans(2), ActiveFuzzyKMeans(2)])
def test_a_table_with_words_is_refused_with_what_makes_features(make, model):
    frame = pd.DataFrame({"text": ["a", "b", "c"], "size": [1, 2, 3],
                          "day": pd.date_range("2024", periods=3)})  # fmt: skip
    with pytest.raises(DataError, match=r"words or dates in text, day; .*tables\.read_items\(X\)"):
        model.fit(make(frame))


@pytest.mark.parametrize("empty", [pd.DataFrame(), pd.DataFrame({"a": []}), pl.DataFrame()])
def test_an_empty_table_is_called_so(empty):
    with pytest.raises(DataError, match=r"Got an empty table of shape \(0, \d\)"):
        FuzzyKMeans(2).fit(empty)
