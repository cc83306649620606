"""Data on disk: the same results as in memory, in blocks as small as the memory allowed."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from askmeans import ActiveFuzzyKMeans, FuzzyKMeans
from askmeans.exceptions import DataError, ParameterError
from askmeans.fuzzy.engines.disk import as_bytes, open_disk


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(5)
    X = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[np.arange(9000) % 3]
    return (X + rng.normal(size=X.shape)).astype(np.float32)


def stored(X, folder, kind):
    if kind == "npy":
        np.save(folder / "X.npy", X)
        return folder / "X.npy"
    frame = pd.DataFrame(X, columns=["a", "b"])
    if kind == "parquet":
        frame.to_parquet(folder / "X.parquet", row_group_size=2000)
        return folder / "X.parquet"
    (folder / "parts").mkdir()
    for part, rows in enumerate(np.array_split(np.arange(len(X)), 3)):
        frame.iloc[rows].to_parquet(folder / "parts" / f"{part}.parquet", row_group_size=1700)
    return folder / "parts"


@pytest.mark.parametrize("kind", ["npy", "parquet", "folder"])
@pytest.mark.parametrize("fuzzifier", [2.0, 1.5])
def test_a_fit_of_data_on_disk_is_that_of_the_same_data_in_memory(blobs, tmp_path, kind, fuzzifier):
    path = stored(blobs, tmp_path, kind)
    here = FuzzyKMeans(3, fuzzifier=fuzzifier, random_state=1).fit(blobs)
    there = FuzzyKMeans(3, fuzzifier=fuzzifier, memory="1MiB", random_state=1).fit(str(path))
    assert_allclose(there.cluster_centers_, here.cluster_centers_, atol=1e-6)
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-6)
    assert there.memberships_.shape == (9000, 3)
    assert_allclose(np.asarray(there.memberships_), here.memberships_, atol=1e-6)
    assert (np.asarray(there.labels_) == here.labels_).all()
    assert there.score(path) == pytest.approx(here.score(blobs), rel=1e-6)


def test_rows_of_lazy_memberships_are_those_of_the_array(blobs, tmp_path):
    model = FuzzyKMeans(3, random_state=1).fit(stored(blobs, tmp_path, "folder"))
    U = np.asarray(model.memberships_)
    for key in (5, slice(10, 20, 3), [8000, 3, 3], -1, (slice(0, 4), 1), (7, 2)):
        assert_allclose(model.memberships_[key], U[key], atol=1e-7)
    chosen = np.arange(9000) % 4000 == 7
    assert_allclose(model.memberships_[chosen], U[chosen], atol=1e-7)
    with pytest.raises(IndexError):
        model.memberships_[9000]


def test_lazy_memberships_show_what_they_are_and_no_numbers(blobs, tmp_path):
    np.save(tmp_path / "X.npy", blobs)
    shown = repr(FuzzyKMeans(3, random_state=1).fit(tmp_path / "X.npy").memberships_)
    assert shown == "LazyRows(shape=(9000, 3), dtype=float32; indexing computes rows)"


def test_a_block_is_a_small_share_of_the_memory_allowed(blobs, tmp_path):
    path = stored(np.repeat(blobs, 20, axis=0), tmp_path, "npy")
    engine = open_disk(path, memory=2**21)
    sizes = engine.map(lambda X, _: X.nbytes)
    assert max(sizes) <= 2**21 // 8
    assert sum(sizes) == 180_000 * 2 * 4


def test_a_memory_map_is_passed_over_in_blocks_where_memory_is_given(blobs, tmp_path):
    X = np.load(stored(blobs, tmp_path, "npy"), mmap_mode="r")
    lazy = FuzzyKMeans(3, memory="10MB", random_state=1).fit(X)
    held = FuzzyKMeans(3, random_state=1).fit(X)
    assert not isinstance(lazy.memberships_, np.ndarray)
    assert isinstance(held.memberships_, np.ndarray)
    assert_allclose(np.asarray(lazy.memberships_), held.memberships_, atol=1e-6)


def test_weights_and_directions_count_on_disk_too(blobs, tmp_path):
    path, weights = stored(blobs, tmp_path, "parquet"), np.arange(9000) % 3
    for options in ({}, {"metric": "cosine"}):
        here = FuzzyKMeans(3, random_state=1, **options).fit(blobs, sample_weight=weights)
        there = FuzzyKMeans(3, random_state=1, **options).fit(path, sample_weight=weights)
        assert_allclose(there.cluster_centers_, here.cluster_centers_, atol=1e-5)


def test_names_of_columns_are_remembered_and_others_refused(blobs, tmp_path):
    path = stored(blobs, tmp_path, "parquet")
    model = FuzzyKMeans(3, random_state=1).fit(path)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    other = tmp_path / "other.parquet"
    pd.DataFrame({"b": [1.0], "a": [2.0]}).to_parquet(other)
    with pytest.raises(DataError, match=r"feature names should match .* Got b, a instead of a, b"):
        model.predict(other)
    pd.DataFrame({"a": [1.0]}).to_parquet(other)
    with pytest.raises(DataError, match="X has 1 features, but FuzzyKMeans is expecting 2"):
        model.predict_proba(other)


def test_new_data_on_disk_is_predicted_when_looked_at(blobs, tmp_path):
    model = FuzzyKMeans(3, random_state=1).fit(blobs)
    np.save(tmp_path / "new.npy", blobs[:100])
    path = tmp_path / "new.npy"
    assert (np.asarray(model.predict(path)) == model.predict(blobs[:100])).all()
    assert_allclose(np.asarray(model.transform(path)), model.transform(blobs[:100]), rtol=1e-6)


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda f: pd.DataFrame({"a": ["x"]}).to_parquet(f / "X.parquet"), "columns of numbers"),
        (lambda f: pd.DataFrame({"a": [1.0, np.nan]}).to_parquet(f / "X.parquet"), "Got NaN"),
        (lambda f: pd.DataFrame({"a": []}, dtype=float).to_parquet(f / "X.parquet"), "must have r"),
        (lambda f: np.save(f / "X.npy", np.array([object()])), "must be a .npy file of numbers"),
        (lambda f: np.save(f / "X.npy", np.zeros(4)), "must be a matrix"),
        (lambda f: (f / "X.csv").write_text("a\n1\n"), "path of a .npy or .parquet file"),
        (lambda f: (f / "X").mkdir(), "folder with .parquet files"),
    ],
)
def test_files_that_cannot_be_used_are_refused(tmp_path, write, message):
    write(tmp_path)
    path = next(tmp_path.iterdir())
    with pytest.raises(DataError, match=message):
        FuzzyKMeans(1).fit(path)


def test_whole_numbers_are_clustered_as_floats(tmp_path):
    X = np.array([[0], [1], [9], [10]])
    np.save(tmp_path / "X.npy", X)
    model = FuzzyKMeans(2, random_state=0).fit(tmp_path / "X.npy")
    assert sorted(model.cluster_centers_.ravel().round().tolist()) == [0.0, 10.0]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1GiB", 2**30),
        ("500MB", 5e8),
        ("2 gib", 2**31),
        ("1500.5kb", 1500500),
        (10**6, 10**6),
        ("12000000", 12e6),
    ],
)
def test_memory_is_read_in_bytes(text, size):
    assert as_bytes(text, "me") == size


@pytest.mark.parametrize("text", ["", "many", "1TBx", -1, 0, True, 1.5, "1.2.3GB", "0GB"])
def test_memory_that_is_none_is_refused(text):
    with pytest.raises(ParameterError, match=r"'memory' parameter of FuzzyKMeans must be"):
        FuzzyKMeans(2, memory=text).fit([[0.0], [1.0]])


@pytest.mark.parametrize("text", [64, "64", "999kB", 10**6 - 1])
def test_memory_that_no_block_fits_into_is_refused_with_the_least_and_the_remedy(text):
    message = r"of 1MB at least. Got .* bytes; write the unit, or leave it out for 1GiB"
    with pytest.raises(ParameterError, match=message):
        FuzzyKMeans(2, memory=text).fit([[0.0], [1.0]])


@pytest.mark.parametrize("name", ["nothing.parquet", "nothing.npy"])
def test_a_file_that_is_not_there_is_told_as_everywhere(tmp_path, name):
    fitted = FuzzyKMeans(2, random_state=0).fit([[0.0], [1.0], [9.0]])
    for use in (FuzzyKMeans(2).fit, ActiveFuzzyKMeans(2).fit, fitted.predict):
        with pytest.raises(DataError, match="Got nothing there; give the path"):
            use(tmp_path / name)
