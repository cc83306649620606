"""Streams in parts, and memberships that go to disk."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import load_npz

from askmeans import FuzzyKMeans
from askmeans.exceptions import DataError, ParameterError


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(5)
    X = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])[rng.integers(3, size=3000)]
    return X + rng.normal(size=X.shape)


def in_order(centers):
    return centers[np.lexsort(centers.T.round(0))]


def test_parts_of_a_stream_lead_to_the_centers_of_the_whole(blobs):
    whole = FuzzyKMeans(3, random_state=0).fit(blobs)
    stream = FuzzyKMeans(3, random_state=0)
    for part in np.array_split(blobs, 15):
        assert stream.partial_fit(part) is stream
    assert_allclose(in_order(stream.cluster_centers_), in_order(whole.cluster_centers_), atol=0.15)
    assert stream.memberships_.shape == (200, 3)


def test_what_was_seen_weighs_more_than_a_new_part(blobs):
    stream = FuzzyKMeans(3, random_state=0).partial_fit(blobs)
    before = stream.cluster_centers_.copy()
    stream.partial_fit(blobs[:30] + 2.0)
    moved = np.abs(stream.cluster_centers_ - before).max()
    assert 0.0 < moved < 0.2


def test_a_part_may_have_fewer_items_than_clusters_once_something_was_seen(blobs):
    with pytest.raises(ParameterError, match="at most n_samples=2"):
        FuzzyKMeans(3).partial_fit(blobs[:2])
    stream = FuzzyKMeans(3, random_state=0).partial_fit(blobs)
    assert stream.partial_fit(blobs[:1]).labels_.shape == (1,)


def test_weights_count_in_a_stream(blobs):
    twice, heavy = (FuzzyKMeans(3, random_state=0).partial_fit(blobs) for _ in range(2))
    part = blobs[:300] + 1.0
    twice.partial_fit(np.repeat(part, 2, axis=0))
    heavy.partial_fit(part, sample_weight=np.full(300, 2.0))
    assert_allclose(twice.cluster_centers_, heavy.cluster_centers_, atol=1e-6)


def test_fit_forgets_the_stream_and_other_features_are_refused(blobs):
    stream = FuzzyKMeans(3, random_state=0).partial_fit(blobs)
    with pytest.raises(DataError, match="features"):
        stream.partial_fit(blobs[:, :1])
    stream.fit(blobs[:100, :1])
    assert stream.partial_fit(blobs[:50, :1]).n_features_in_ == 1
    fresh = FuzzyKMeans(3, random_state=0).partial_fit(blobs[:50, :1])
    assert_allclose(stream.cluster_centers_, fresh.cluster_centers_)


def test_all_memberships_are_written_as_parquet_array_or_sparse(blobs, tmp_path):
    model = FuzzyKMeans(3, random_state=0).fit(blobs)
    path = model.write_memberships(tmp_path / "U.parquet")
    assert_allclose(pd.read_parquet(path).to_numpy(), model.memberships_)
    assert list(pd.read_parquet(path).columns) == ["cluster_0", "cluster_1", "cluster_2"]
    assert_allclose(np.load(model.write_memberships(tmp_path / "U.npy")), model.memberships_)
    assert_allclose(
        load_npz(model.write_memberships(tmp_path / "U.npz")).toarray(), model.memberships_
    )
    assert len(list(tmp_path.iterdir())) == 3  # nothing half done is left


def test_the_strongest_clusters_alone_are_written(blobs, tmp_path):
    model = FuzzyKMeans(3, random_state=0).fit(blobs)
    frame = pd.read_parquet(model.write_memberships(tmp_path / "U.parquet", top=2))
    assert list(frame.columns) == ["cluster_1", "membership_1", "cluster_2", "membership_2"]
    assert (frame["cluster_1"] == model.labels_).all()
    assert_allclose(frame["membership_2"], np.sort(model.memberships_, axis=1)[:, 1])
    sparse = load_npz(model.write_memberships(tmp_path / "U.npz", top=1))
    assert sparse.nnz == 3000
    assert (sparse.toarray().argmax(axis=1) == model.labels_).all()


@pytest.mark.parametrize("kind", ["disk", "dask"])
def test_memberships_of_data_elsewhere_are_written_in_parts(blobs, tmp_path, kind):
    np.save(tmp_path / "X.npy", blobs)
    X = tmp_path / "X.npy" if kind == "disk" else da.from_array(blobs, chunks=(700, 2))
    model = FuzzyKMeans(3, random_state=0).fit(X)
    found = pd.read_parquet(model.write_memberships(tmp_path / "U.parquet"))
    assert_allclose(found.to_numpy(), model.predict_proba(blobs), atol=1e-9)
    found = np.load(model.write_memberships(tmp_path / "new.npy", X=blobs[:10]))
    assert_allclose(found, model.predict_proba(blobs[:10]))


@pytest.mark.parametrize(("name", "top"), [("U.csv", None), ("U.npy", 2), ("U.npz", 0)])
def test_files_and_counts_that_cannot_be_written_are_refused(blobs, tmp_path, name, top):
    model = FuzzyKMeans(3, random_state=0).fit(blobs)
    with pytest.raises(ParameterError, match="of write_memberships must"):
        model.write_memberships(tmp_path / name, top=top)
    assert list(tmp_path.iterdir()) == []
